"""ucx-bench tune: settings that make a benchmark faster are found and confirmed, or nothing is written."""

import json
import pathlib
import signal

import pytest
from conftest import CROWDED, SHIM, only, wait_until

DELAY_SHIM = pathlib.Path(SHIM).with_name("libdelay.so")
CASE = ["pingpong", "--transports", "shm", "--sizes", 8, "--measure", "latency", "--check", "off", "--warmup-runs", 0, "--no-memory-copy",
        *CROWDED]
ROW = "pingpong/tag/host-host/shm/8B/measure=latency/progress-mode=event latency_us"
# All the time that a busy machine takes.
LONG = ["--max-time", "30min"]
LONG_S = 900
# Every message waits, unless this is set.
SLOW = {"LD_PRELOAD": str(DELAY_SHIM), "DELAY_US": "300", "DELAY_UNLESS": "UCX_ADAPTIVE_PROGRESS=n"}


def test_what_is_planted_is_found_proved_and_written(bench, tmp_path):
    (tmp_path / "twice.toml").write_text(f'[[case]]\nargs = "{" ".join(map(str, CASE))}"\n')
    (tmp_path / "suite.toml").write_text('[[case]]\nargs = "pingpong --transports tcp --sizes 8 --measure latency --max-time 60ms --progress-mode event"\n')
    tries = [word for setting in ("UCX_SHM_DEVICES=none", "UCX_ADAPTIVE_PROGRESS=y", "UCX_ADAPTIVE_PROGRESS=n") for word in ("--try", setting)]
    words = ["tune", *CASE, *tries, "--suite", "suite.toml", *LONG, "-o", "tuned.env", "-o", "dask.yaml", "-o", "ucx.conf", "--folder", "runs"]
    done = bench(*words, limit_s=LONG_S, environment=SLOW)
    assert done.code == 0, done
    # One that UCX refuses ends neither the search nor, as the other side of a duet, the default.
    left_out = only([line for line in done.err.splitlines() if line.startswith("UCX_SHM_DEVICES=none: left out: ")])
    assert "starting UCX" in left_out and "No such device" in left_out
    written = {name: (done.folder / name).read_text() for name in ("tuned.env", "dask.yaml", "ucx.conf")}
    plain = {name: [line for line in text.splitlines() if not line.startswith("#")] for name, text in written.items()}
    assert plain["tuned.env"] == ["export UCX_ADAPTIVE_PROGRESS='n'"]
    assert plain["dask.yaml"] == ["distributed-ucxx:", "  environment:", '    adaptive-progress: "n"']
    assert plain["ucx.conf"] == ["UCX_ADAPTIVE_PROGRESS=n"]
    helps = only([line for line in done.out.splitlines() if line.startswith(f"  helps {ROW}: ")])
    # Confirmed with cold buffers, and with what else is in the suite.
    assert f"  helps {ROW.replace('8B/', '8B/buffers=cold/')}: " in done.out
    assert "  helps pingpong/tag/host-host/tcp/8B/measure=latency/progress-mode=event latency_us: " in done.out
    assert float(helps.removeprefix(f"  helps {ROW}: ").split()[0]) > 1.1 and "improved" in done.out
    for text in written.values():
        assert helps.strip() in text and "fresh launches compared with the default" in text
    # Confirmed by launches of their own.
    base, new = sorted((done.folder / "runs").glob("*.json"))
    assert json.loads(new.read_text())["run"]["ab"]["environment"] == {"UCX_ADAPTIVE_PROGRESS": "n"}
    assert len(json.loads(base.read_text())["cases"][0]["launches"]) >= 9
    # Another time, nothing is measured again.
    (done.folder / "tuned.env").unlink()
    again = bench(*words, environment=SLOW)
    assert again.code == 0 and "3 settings already measured" in again.err, again
    assert again.out == done.out and sorted((done.folder / "runs").glob("*.json")) == [base, new]
    assert plain["tuned.env"] == [line for line in (done.folder / "tuned.env").read_text().splitlines() if not line.startswith("#")]
    twice = bench("tune", *CASE, *tries, "--suite", "twice.toml")
    assert twice.code == 2 and "would be measured twice" in only(twice.complaints), twice
    other = bench("tune", *CASE, "--api", "stream", *tries, "-o", "tuned.env")
    assert other.code == 2 and "belongs to a search with another command" in only(other.complaints), other


def test_an_interrupted_confirmation_goes_on(start, tmp_path):
    words = ["tune", *CASE, "--try", "UCX_ADAPTIVE_PROGRESS=n", *LONG, "-o", "tuned.env", "--folder", "runs"]

    def runs():
        return {path: path.stat().st_mtime_ns for path in sorted((tmp_path / "runs").glob("*.json"))}

    def both_written_since(before):
        return len(runs()) == 2 and not runs().items() & before.items()

    for end, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)):
        before = runs()
        running = start(*words, environment=SLOW)
        wait_until(lambda before=before: both_written_since(before), limit_s=200)
        running.signal(end)
        assert running.finish().code == code
        running.wait_until_gone()
    kept = list(runs())
    done = start(*words, environment=SLOW).finish(LONG_S)
    assert done.code == 0 and "of 24 launches of each side are already measured" in done.err, done
    assert list(runs()) == kept and (tmp_path / "tuned.env").exists()
    base, new = (json.loads(path.read_text()) for path in kept)
    for run in (base, new):
        assert run["run"]["state"] == "complete" and len(set(run["run"]["ab"]["turns"])) == len(run["run"]["ab"]["turns"])
        for case in run["cases"]:
            launches = [launch["launch"] for launch in case["launches"]]
            assert launches == sorted(set(launches))
    assert base["run"]["ab"]["other"] == new["run"]["id"]


def test_a_gain_without_time_to_confirm_it_is_written_with_that_remark(bench):
    done = bench("tune", *CASE, "--try", "UCX_ADAPTIVE_PROGRESS=n", "--max-time", "1s", "-o", "tuned.env", "--folder", "runs", environment=SLOW)
    assert done.code == 0, done
    remark = only([line for line in done.out.splitlines() if line.startswith("not confirmed: 0 of ")])
    assert " duets fit into the time; add --max-time " in remark and remark == done.out.splitlines()[-1]
    text = (done.folder / "tuned.env").read_text()
    assert f"# {remark}" in text and "times as fast" in text and "export UCX_ADAPTIVE_PROGRESS='n'" in text
    assert "nothing written" not in done.out and "refuted" not in done.out + text


def test_what_ucx_does_not_use_is_no_candidate(bench):
    """Though every message is faster with it."""
    faster = SLOW | {"DELAY_UNLESS": "UCX_TCP_TX_SEG_SIZE=9k"}
    words = ["tune", *CASE, "--try", "UCX_TCP_TX_SEG_SIZE=9k", "-o", "tuned.env"]
    done = bench(*words, environment=faster)
    assert done.code == 0 and "UCX_TCP_TX_SEG_SIZE=9k: left out: UCX does not use it in these cases" in done.err, done
    assert "nothing written: there is no setting that UCX uses in these cases" in done.out
    assert not list(done.folder.glob("tuned*"))
    done = bench("--dry-run", *words, "--try", "UCX_RNDV_THRESH=64k,UCX_TCP_RX_SEG_SIZE=9k")
    assert "1 setting to compare" in done.out and done.out.endswith("  UCX_RNDV_THRESH=64k\n"), done


def test_no_gain_writes_nothing(bench):
    slower = SLOW | {"UCX_ADAPTIVE_PROGRESS": "n"}
    done = bench("tune", *CASE, "--try", "UCX_ADAPTIVE_PROGRESS=y", "-o", "tuned.env", environment=slower)
    assert done.code == 0 and "nothing written: no setting was faster than the default" in done.out, done
    assert not (done.folder / "tuned.env").exists()


def test_settings_that_cannot_be_measured_are_not_called_slower(bench):
    done = bench("tune", *CASE, "--try", "UCX_SHM_DEVICES=none", "-o", "tuned.env")
    assert done.code == 3 and not (done.folder / "tuned.env").exists(), done
    said = done.complaints[-1]
    assert "nothing written: no setting was measured; 1 could not be measured, the first is UCX_SHM_DEVICES=none: " in said, done
    assert "no setting was faster" not in done.out, done


@pytest.mark.parametrize("words, said", [
    ([], "expected a benchmark with its options"),
    (["pingpong", "--no-such"], "unknown option '--no-such'"),
    (["pingpong", "-o", "tuned.txt"], "expected a name that ends with .env"),
    (["pingpong", "--try", "RNDV=1"], "--try"),
    (["pingpong", "--max-time", "soon"], "--max-time: "),
    (["pingpong", "--suite", "none.toml"], "none.toml"),
    (["nothing"], "unknown command 'nothing'"),
])
def test_refusals(bench, words, said):
    done = bench("tune", *words)
    assert done.code == 2 and said in only(done.complaints), done


def test_dry_run_says_what_would_be_tried(bench):
    done = bench("--dry-run", "tune", "pingpong", "--transports", "tcp")
    assert done.code == 0 and "UCX_RNDV_SCHEME=put_zcopy" in done.out and "UCX_TCP_RX_SEG_SIZE=128k UCX_TCP_TX_SEG_SIZE=64k" in done.out
    assert "POSIX" not in done.out and not list(done.folder.iterdir())
