"""What first messages cost: every cell of size, peers and buffers, what was counted in each, and
failures. GPU memory is in test_gpu.py."""

import pytest
from conftest import QUICK, only, quick

ITERATIONS = 3
WARM_UP = 3  # messages of a known buffer before each first one
METRICS = {
    "pool": {"allocate_us", "pool_first_message_us", "first_message_us", "steady_us"},
    "own": {"allocate_us", "registration_us", "first_message_us", "steady_us"},
    "fresh": {"allocate_us", "release_us", "first_message_us"},
}
# Messages compared, with each peer.
CHECKED = {
    "pool": 2 * (WARM_UP + 1) + ITERATIONS,
    "own": WARM_UP + 1 + ITERATIONS,
    "fresh": ITERATIONS * (WARM_UP + 1),
}


@pytest.fixture
def cold(bench):
    def run(*arguments, code=0, **options):
        done = bench("cold", *quick(["--iterations", ITERATIONS, *arguments], QUICK), **options)
        assert done.code == code, done
        return done

    return run


@pytest.mark.release_only
def test_a_process_first_registration_is_nobodys_cost(cold):
    """It takes ten times what all later ones take, whatever their size and peers."""
    cases = cold("-n", 3, "--transports", "shm", "--sizes", "4KiB", "--launches", 6).file["cases"]
    took = [case["metrics"]["registration_us"] for case in cases if case["parameters"]["buffers"] == "own"]
    first, later = (metric["p50"] for metric in took)
    assert first < 4 * later


@pytest.mark.parametrize("transports", ["shm", "tcp"])
def test_every_cell(cold, transports):
    done = cold("-n", 3, "--transports", transports, "--sizes", "4KiB,300000", "--require", transports)
    run = done.file
    assert [case["key"].replace("/progress-mode=event", "") for case in run["cases"]] == [
        f"cold/tag/host-host/{transports}/{size}/peers={peers}/buffers={buffers}"
        for size in ("4KiB", "300000B") for peers in (1, 2) for buffers in METRICS
    ]
    assert [rank["rank"] for rank in run["ranks"]] == [0, 1, 2]
    for case in run["cases"]:
        assert case["state"] == "measured", case["reason"]
        buffers, peers = case["parameters"]["buffers"], case["parameters"]["peers"]
        assert case["path"]["carried_by"] == {transports: 1}
        assert case["metrics"].keys() == METRICS[buffers]
        assert case["verified"] == {"checked": peers * CHECKED[buffers], "errors": 0}
        assert [(l["src"], l["dst"]) for l in case["launches"]] == [(0, to + 1) for to in range(peers)]
        for launch in case["launches"]:
            counts = {name: len(values) for name, values in launch["samples"].items()}
            each = ITERATIONS if buffers == "fresh" else 1
            expected = dict.fromkeys(METRICS[buffers], each)
            assert counts == expected | ({"steady_us": ITERATIONS} if buffers != "fresh" else {})
            assert launch["cold"]["context_us"] > 0 and launch["cold"]["connect_us"] > 0
        for metric in case["metrics"].values():
            assert 0 < metric["min"] <= metric["p50"] <= metric["max"]


def rows_of(table):
    lines = [line.split() for line in table.splitlines()]
    return [words[:3] for words in lines if words[1:2] in (["B"], ["KiB"]) and words[2].isdigit()]


def test_the_table(cold, bench):
    done = cold("-n", 3, "--transports", "shm", "--sizes", "8,4KiB")
    assert rows_of(done.out) == [["8", "B", "1"], ["8", "B", "2"], ["4", "KiB", "1"], ["4", "KiB", "2"]]
    words = " ".join(done.out.split())
    assert "pool break-even 1 peer: 8 B " in words and "2 peers: 8 B " in words
    assert "cold cost context " in words and "latency" not in words
    # From the file, whose numbers are rounded.
    assert rows_of(bench("report", "run.json").out) == rows_of(done.out)


@pytest.mark.release_only
def test_launches(cold):
    run = cold("--transports", "shm", "--sizes", "64", "--launches", 6).file
    for case in run["cases"]:
        assert [launch["launch"] for launch in case["launches"]] == list(range(6))
        for metric in case["metrics"].values():
            assert len(metric["launch_medians"]) == 6 and metric["ci95"] is not None


def test_progress_counts_a_case_once(cold):
    done = cold("-n", 3, "--transports", "shm", "--sizes", "64", "--progress", "bar")
    assert "6/6" in done.err and "7/6" not in done.err


def test_a_set_that_cannot_run_is_skipped(cold, bench):
    done = cold("--transports", "shm", "--memory", "cuda", code=3)
    assert {case["state"] for case in done.file["cases"]} == {"skipped"}


def short(*arguments):
    return ["cold", *quick([*arguments, "--sizes", "8,64"], QUICK)]


def test_a_flipped_bit(fault):
    done = fault.run(
        "corrupt", 0, "64 B, buffers own: messages", command=short("--transports", "shm")
    ).finish()
    assert done.code == 4, done
    bad = only([case for case in done.file["cases"] if case["state"] == "failed"])
    assert bad["key"].endswith("64B/peers=1/buffers=own") and bad["verified"]["errors"] == 1
    assert "byte offset 5 of 64: rank 1 received from rank 0" in bad["reason"]
    fault.assert_nothing_is_left()


@pytest.mark.release_only
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_a_lost_rank(fault, rank):
    """Whoever it is, also one that only waits for its turn."""
    phase = "64 B, buffers pool" if rank < 2 else "64 B, buffers pool: allocating"
    done = fault.run("kill", rank, phase, command=short("-n", "3", "--transports", "tcp")).finish()
    assert done.code == 5, done
    assert done.file["run"]["state"] == "failed"
    assert any(case["state"] == "measured" for case in done.file["cases"])
    fault.assert_nothing_is_left()
