"""Recorded messages, of ours and of Dask's, are replayed over other devices than they were recorded on."""

import json
import re
import statistics

import pytest
from conftest import CROWDED, ROOT, only, verified_runs

DASK = ROOT / "ci/tests/dask-transfers.json"
SHORT = ["--launches", 1, "--runs", 2, "--bind", "none", "--json", "run.json", *CROWDED]
PHASES = ["gaps", "transferring", "waiting"]


@pytest.fixture(scope="module")
def recorded(bench_once):
    """The run file of a run with a case of two and of three ranks."""
    done = bench_once("moe", "--tokens", 300, "--experts", 6, "--top-k", 3, "--token-size", 256, "--routing", "uniform",
                      "-n", "2,3", "--transports", "shm", "--launches", 1, "--runs", 3, "--bind", "none", *CROWDED,
                      "--json", "moe.json")
    return done.folder / "moe.json"


def bytes_of_pairs(case, runs):
    return {(pair["src"], pair["dst"]): pair["bytes"] / runs for pair in case["pairs"]}


def assert_played(case, ranks):
    assert case["state"] == "measured", case["reason"]
    assert case["verified"] == verified_runs(case)
    # The last one is what all workloads have: what UCX took of phases that compute.
    assert [phase["name"] for phase in case["phases"]][:-1] == PHASES
    assert [phase["kind"] for phase in case["phases"]] == ["gap", "exchanging", "not-ready", "moving"]
    assert sum(phase["share"] for phase in case["phases"][:-1]) == pytest.approx(1, abs=1e-4)
    # Waiting for ranks that are not ready is no communication.
    exchange, mean = case["exchange"], {phase["name"]: statistics.mean(phase["by_rank_ms"]) for phase in case["phases"][:-1]}
    assert exchange["not_ready_ms"] == pytest.approx(mean["waiting"], rel=1e-3, abs=1e-3)
    assert exchange["exposed_ms"] == pytest.approx(mean["transferring"], rel=1e-3, abs=1e-3)
    return case["parameters"]


def assert_annotated(run):
    for case in run["cases"]:
        for phase in case["phases"][:-1]:
            assert statistics.median(phase["by_rank_ms"]) == pytest.approx(phase["median_ms"], rel=1e-4)
        assert case["phases"][-1]["median_ms"] is None, "nothing computes in a replay"
        for pair in case["pairs"]:
            assert 8 <= pair["p50_bytes"] <= pair["p99_bytes"] <= pair["bytes"]
            assert pair["class"] == "memory"
            assert {"recorded_GBps", "under_way_GBps", "waiting_ms"} <= pair.keys()
            assert all(pair[name] is None or pair[name] > 0 for name in ("recorded_GBps", "under_way_GBps"))
    # Configurations are compared, the best one first, with the recorded run too.
    entry = only([entry for entry in run["ablation"] if entry["metric"] == "wall_ms"])
    assert entry["parts"] == PHASES
    ways = entry["ways"]
    assert {way["way"] for way in ways} == {"tcp by ucx", "tcp by sockets"}
    recorded_ms = run["cases"][0]["parameters"]["recorded_ms"]
    for way in ways:
        assert way["recorded_ratio"] == pytest.approx(way["p50"] / recorded_ms, rel=1e-4)
        assert {"gaps_ms", "transferring_ms", "waiting_ms"} <= way.keys() and "computing_ms" not in way


def test_a_run_of_ours(bench, recorded):
    was = next(case for case in json.loads(recorded.read_text())["cases"] if case["parameters"]["ranks"] == 3)
    done = bench("replay", recorded, "--case", "ranks=3", "--transports", "tcp", "--comm", "ucx,sockets", *SHORT)
    assert done.code == 0, done
    assert len(done.file["cases"]) == 2
    for case in done.file["cases"]:
        parameters = assert_played(case, ranks=3)
        assert bytes_of_pairs(case, 2) == bytes_of_pairs(was, 3)
        assert parameters["ranks"] == 3
        walls = [wall for launch in was["launches"] for wall in launch["samples"]["wall_ms"]]
        # Of its middle run, from the first rank's begin to the last one's end: a rank may begin later than
        # another by the time that it waits for its processor.
        assert min(walls) * 0.9 < parameters["recorded_ms"] < max(walls) * 3
        sockets = "/comm=sockets" if parameters["comm"] == "sockets" else ""
        assert case["key"] == (f"replay/tag/host-host/tcp/{parameters['traffic']}{sockets}/progress-mode=event/ranks=3")
    assert re.search(r"recorded +[\d.]+ ms; this run took [\d.]+ x that", done.out)
    assert_annotated(done.file)
    for title in ("configurations, replay", "those that waited longest first", "messages under way, vs. peak of the path"):
        assert title in done.out
    assert max(len(line) for line in done.out.splitlines()) <= 100
    # What was played has a log of its own.
    again = bench("replay", "run.json", "--case", "comm=sockets", "--as-fast-as-possible", "--transports", "shm", *SHORT[:-4],
                  "--json", "again.json", *CROWDED)
    assert again.code == 0, again
    case = only(json.loads((again.folder / "again.json").read_text())["cases"])
    assert_played(case, ranks=3)
    assert "/gaps=none/" in case["key"]
    assert bytes_of_pairs(case, 2) == bytes_of_pairs(was, 3)
    assert case["phases"][0]["median_ms"] == 0


def test_a_log_of_dask(bench):
    log = json.loads(DASK.read_text())
    workers = sorted({*log, *(entry["who"] for entries in log.values() for entry in entries)})
    received = {}
    for worker, entries in log.items():
        for entry in entries:
            pair = workers.index(entry["who"]), workers.index(worker)
            received[pair] = received.get(pair, 0) + entry["total"]
            asked = pair[::-1]
            received[asked] = received.get(asked, 0) + 8
    done = bench("replay", DASK, "--as-fast-as-possible", "--transports", "shm", *SHORT)
    assert done.code == 0, done
    case = only(done.file["cases"])
    parameters = assert_played(case, ranks=len(workers))
    assert {pair: size for pair, size in bytes_of_pairs(case, 2).items() if size} == received
    assert parameters["traffic_bytes"] == sum(received.values())
    entries = [entry for entries in log.values() for entry in entries]
    took_s = max(entry["stop"] for entry in entries) - min(entry["start"] for entry in entries)
    assert parameters["recorded_ms"] == pytest.approx(took_s * 1e3, rel=1e-3)


def test_a_recorded_pause_is_no_hang(bench, tmp_path):
    # The second rank has nothing to do for longer than --timeout, and then the first one hasn't.
    entry = {"who": "b", "total": 1 << 20}
    log = {"a": [{**entry, "start": start, "stop": start + 0.01} for start in (0, 3)], "b": [], "c": [
        {**entry, "start": 0, "stop": 0.01}]}
    (tmp_path / "pause.json").write_text(json.dumps(log))
    once = ["--launches", 1, "--runs", 1, "--warmup-runs", 0, "--no-calibrate", *SHORT[4:]]
    done = bench("replay", tmp_path / "pause.json", "--timeout", "1s", "--transports", "shm", *once)
    assert done.code == 0, done
    assert only(done.file["cases"])["parameters"]["recorded_ms"] == pytest.approx(3010)


def test_the_recorded_length_is_said_before(bench, tmp_path):
    hours = [{"who": "b", "start": start, "stop": start + 1, "total": 1 << 20} for start in (0, 36000)]
    bad = {**hours[0], "stop": -1}
    (tmp_path / "night.json").write_text(json.dumps({"a": [*hours, bad]}))
    done = bench("replay", tmp_path / "night.json", "--dry-run", "--transports", "shm", "--launches", 1, "--runs", 1)
    assert done.code == 0, done
    assert "takes at least 20.0 h" in done.out, done
    assert done.err.count("1 of 3 entries cannot be (first entry 2 of 'a')") == 1, done
    assert done.err.count("no list of b") == 1, done


def test_mistakes_are_noticed(bench, recorded):
    done = bench("replay", recorded, "--case", "ranks=2", "--inject", "corrupt", "--transports", "shm", *SHORT)
    assert done.code == 4
    case = only(done.file["cases"])
    assert re.match(r"rank 1: message \d+ from rank 0 is wrong at byte \d+ of \d+$", case["reason"]), case["reason"]


def test_refusals(bench, recorded, tmp_path):
    (tmp_path / "other.json").write_text('{"x": 3}')
    (tmp_path / "no.txt").write_text("hello")
    damaged = tmp_path / "moe.json"
    damaged.write_bytes(recorded.read_bytes())
    log = recorded.with_suffix(".transfers.bin").read_bytes()
    damaged.with_suffix(".transfers.bin").write_bytes(log[:len(log) // 2])
    for arguments, words in [
        ([], "LOG: give the run file of a workload, or a dump of Dask's "),
        (["gone.json"], "cannot read 'gone.json': No such file or directory; give a run file, or a dump of Dask's log"),
        (["other.json"], "LOG 'other.json': 'x' is not a list"),
        (["no.txt"], "LOG 'no.txt': neither a run file nor a dump of Dask's transfer_incoming_log: "),
        (["moe.json"], "moe.transfers.bin: the transfer log is cut off at byte "),
        ([recorded], "--case '' matches several of the cases in its transfer log: moe/tag/host-host/shm/300/"),
        ([recorded, "--case", "ranks=7"], "--case 'ranks=7' matches none of the cases in its transfer log: moe/"),
        ([recorded.with_suffix(".transfers.bin")], "moe.transfers.bin': give the run file that this log belongs to"),
    ]:
        done = bench("replay", *arguments, "--transports", "shm")
        assert done.code == 2, done
        assert words in only(done.complaints), done
