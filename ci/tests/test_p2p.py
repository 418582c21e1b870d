"""Every ordered pair of ranks, alone and at once, from the command line to the run file."""

import os

import pytest
from conftest import MEMORY_COPY, checked_window, only

SHORT = ["--launches", 1, "--iterations", 4, "--bind", "none", "--json", "run.json"]
QUICK = [*SHORT, "--runs", 2]
ONE_RUN = [*SHORT, "--runs", 1]


def all_pairs(ranks):
    return [(src, dst) for src in range(ranks) for dst in range(ranks) if src != dst]


@pytest.mark.parametrize("transport", ["tcp", "shm"])
def test_every_pair_is_measured(bench, transport):
    done = bench("p2p", "-n", 3, "-s", "64KiB,1MiB", "--concurrent", "one,disjoint,all", "--transports", transport,
                 "--require", transport, *QUICK)
    # The counters speak only while one pair is alone; shm and tcp each have one kind of lane.
    assert done.code == 0, done
    cases = done.file["cases"]
    # Where ranks outnumber the CPUs, they sleep: test_crowded.py.
    assert [case["key"].replace("/progress-mode=event", "") for case in cases] == [
        f"p2p/tag/host-host/{transport}/{size}/concurrent={concurrent}/ranks=3"
        for size in ("64KiB", "1MiB") for concurrent in ("one", "disjoint", "all")
    ]
    for case in cases:
        assert case["state"] == "measured", case["reason"]
        assert case["verified"] == {"checked": 6 * (2 + checked_window(case["parameters"]["bytes"])), "errors": 0}
        assert [(pair["src"], pair["dst"]) for pair in case["pairs"]] == all_pairs(3)
        for pair in case["pairs"]:
            assert 0 < pair["p25_GBps"] <= pair["p50_GBps"] <= pair["p75_GBps"]
            assert pair["messages"] == 2 * 4
        assert [(launch["src"], launch["dst"]) for launch in case["launches"]] == all_pairs(3)
        assert case["path"]["carried_by"] == {transport: 1.0}
    alone = cases[0]
    if transport == "tcp":
        assert alone["path"]["bytes_by_counter"]["tcp/lo"] >= alone["path"]["payload_bytes"]
    for words in ("src\\dst", "one pair", "disjoint pairs", "all pairs", "both ways"):
        assert words in done.out


def rates(run):
    """Every rate that the file has, of each pair and launch, by metric."""
    return [(name, of["max"]) for case in run["cases"] for launch in case["launches"]
            for name, of in launch["quantiles"].items()]


def test_a_stream_begins_before_its_first_message_can_have_come(bench):
    """Eight small messages take a way forth and back of TCP at least, even where a rank gets its processor late."""
    done = bench("p2p", "-n", 2, "-s", 8, "--transports", "tcp", "--launches", 2, "--iterations", 8, "--json", "run.json")
    assert done.code == 0, done
    of_file = rates(done.file)
    assert {name for name, _ in of_file} >= {"bandwidth_GBps", "message_rate_per_s"}
    for name, most in of_file:
        # 8 messages in 1 us: no loopback answers in that.
        assert name == "together_GBps" or most < {"bandwidth_GBps": 0.064, "message_rate_per_s": 8e6}[name], done


def test_small_messages_are_counted_by_a_rate_over_a_time(bench):
    done = bench("p2p", "-n", 2, "-s", 8, "--transports", "shm", "--launches", 1, "--runs", 1, "--json", "run.json")
    assert done.code == 0, done
    for case in done.file["cases"]:
        assert case["parameters"]["iterations"] is None
        rate = case["metrics"]["message_rate_per_s"]["p50"]
        assert rate * 8e-9 == pytest.approx(case["metrics"]["bandwidth_GBps"]["p50"], rel=1e-3)
        # What came in 20 ms, or a little later where the processor was away.
        for pair in case["launches"]:
            if case["parameters"]["concurrent"] == "one":
                assert pair["messages"] / pair["quantiles"]["message_rate_per_s"]["p50"] > 0.019
    assert "msg/s" in done.out


@pytest.mark.release_only
def test_streams_that_did_not_overlap_have_no_sum(bench):
    """More ranks than processors, and few messages: streams come one after the other."""
    done = bench("p2p", "-n", 8, "-s", "1MiB", "--transports", "shm", "--concurrent", "all", *ONE_RUN)
    assert done.code == 0, done
    case = only(done.file["cases"])
    times = case["launches"][0]["overheads"]
    assert 0 <= times["streams_common_ms"] <= times["streams_span_ms"]
    if "together_GBps" not in case["metrics"]:
        assert any(finding["id"] == "short-streams" for finding in done.file["findings"])
        return
    # Never more than all bytes by the time that all of it took.
    a_run = sum(pair["bytes"] for pair in case["pairs"])
    assert case["metrics"]["together_GBps"]["min"] <= a_run / (times["streams_span_ms"] * 1e6) * (1 + 1e-5)  # six digits


def copied_in_caches(copies, most):
    """The fastest with buffers of `most` bytes or more, out of all sizes that are measured."""
    by_size = {size["bytes"]: size["copy_GBps"] for size in copies["by_size"]}
    assert most in by_size and min(by_size) == 8192 and all(rate > 0 for rate in by_size.values())
    return max([copies["copy_GBps"], *(rate for size, rate in by_size.items() if size >= most)])


@pytest.mark.release_only
def test_shared_memory_and_tcp_stand_against_copies_of_memory(bench):
    """memcpy outside UCX, in the same run, between two buffers that are together as large as a message: from one core to
    the other, one core alone, and all of the ranks' with one copy or two of each byte."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("no copy between two cores can be measured: this process may use one CPU")
    words = ["p2p", "-n", 2, "-s", "1MiB", "--concurrent", "one,all", "--transports", "shm", "--transports", "tcp"]
    unbound = bench(*words, *QUICK, environment=MEMORY_COPY)
    assert unbound.code == 0 and all(case["limits"] == [] for case in unbound.file["cases"]), unbound
    done = bench(*words, *["auto" if word == "none" else word for word in QUICK], environment=MEMORY_COPY)
    assert done.code == 0, done
    copies = done.file["machine"]["hosts"][0]["memory_copy"]
    between = max(size["copy_GBps"] for size in only(copies["between_cores"])["by_size"] if size["bytes"] >= 512 * 1024)
    assert len(copies["one_core"]["cpus"]) == 1 and copies["one_core"]["cpus"][0] in copies["all_cores"]["cpus"]
    one_core, all_cores = (copied_in_caches(copies[of], 512 * 1024) for of in ("one_core", "all_cores"))
    by_copies = [pytest.approx(min(between, one_core, all_cores / number), rel=1e-3) for number in (1, 2)]
    shm, tcp = (done.file["cases"][at : at + 2] for at in (0, 2))
    for path, case in [*(("shm", case) for case in shm), *(("tcp", case) for case in tcp)]:
        row = only(case["limits"])
        assert (row["source"], row["class"], row["path"], row["pairs"]) == ("calibrated", "memory", path, 2)
        assert row["GBps"] in by_copies and row["resource"].startswith(("host memory", "cores of ranks 0 and 1"))
        for pair in case["pairs"]:
            assert pair["calibrated_GBps"] == row["GBps"] and "limit_GBps" not in pair
    assert shm[0]["limits"][0]["share_GBps"] is None
    assert 0 < shm[1]["limits"][0]["share_GBps"] <= shm[1]["limits"][0]["GBps"]
    for case in tcp:
        assert case["limits"][0]["GBps"] == by_copies[1] and not case["limits"][0]["complete"]
    markdown = bench("report", "run.json", "--markdown", "-").out
    for text in (done.out, markdown):
        assert "vs. peak of the path, 1 MiB, one pair at a time" in text and "calibrated: memcpy of" in text


def test_copies_are_measured_only_where_they_are_asked_for(bench):
    for words in ["--transports", "tcp"], ["--transports", "shm", "--no-memory-copy"]:
        done = bench("p2p", "-n", 2, "-s", "1KiB", "--concurrent", "one", *words, *QUICK, environment=MEMORY_COPY)
        assert done.code == 0, done
        assert "memory_copy" not in done.file["machine"]["hosts"][0]


def test_many_ranks_list_the_slowest(bench):
    done = bench("p2p", "-n", 5, "-s", "4KiB", "--concurrent", "disjoint", "--transports", "shm",
                 "--connect-by", "address", *QUICK)
    assert done.code == 0, done
    assert len(only(done.file["cases"])["pairs"]) == 20
    assert "the slowest" in done.out and "of the median pair" in done.out


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-n", 1], "p2p needs at least two"),
        (["--concurrent", "two"], "--concurrent: unknown choice of pairs 'two': known: one, disjoint, all"),
        (["-n", 64, "-s", "1TiB"], "--sizes"),
        (["--window", 0], "--window"),
    ],
)
def test_refusals(bench, arguments, words):
    done = bench("p2p", *arguments)
    assert done.code == 2, done
    assert words in only(done.complaints)


def test_a_killed_rank_ends_the_run(fault):
    fault.run("kill", 1, "1 MiB, one pair at once, round 3",
              command=["p2p", "-n", 3, "-s", "1MiB", "--transports", "shm", *QUICK])
    done = fault.finish_in_time()
    assert done.code == 5, done
    for said in ("rank 1", "round 3", "killed by signal 9 (Killed)"):
        assert said in only(done.complaints)
    fault.assert_nothing_is_left()
