"""No rate of any benchmark, device and API is above what could come (shims/pace.cpp), and no time is by a clock that was set
(shims/step.cpp)."""

import itertools
import json
import pathlib
import shutil

import pytest
from conftest import CROWDED, SHIM, only
from test_ab import ab, files

PACE_SHIM, STEP_SHIM = (pathlib.Path(SHIM).with_name(f"lib{name}.so") for name in ("pace", "step"))
BYTES = 1024
MESSAGE_US = 300
# So few that all of them find room on the way to a rank that is held.
MESSAGES = 60
SHORT = ["--launches", 1, "--bind", "none", "--json", "run.json"]
PAIR = ["pingpong", "--sizes", BYTES, "--measure", "bandwidth", "--iterations", MESSAGES, "--warmup-runs", 0, "--check", "off"]
SEVERAL = [*CROWDED, *SHORT]


@pytest.fixture
def paced(bench, tmp_path):
    """Runs that with these ranks held after what they say."""

    def run(*arguments, held="1", after_clock_us=0):
        (tmp_path / "next").write_bytes(bytes(8))
        done = bench(*arguments, environment={"LD_PRELOAD": str(PACE_SHIM), "PACE_BYTES": str(BYTES), "PACE_US": str(MESSAGE_US),
                                              "PACE_HELD": held, "PACE_FOLDER": str(tmp_path),
                                              "PACE_CLOCK_US": str(after_clock_us)})
        assert done.code == 0, done
        return done

    return run


def most_of(metric):
    per_s = 1e6 / MESSAGE_US
    return per_s * BYTES * 1e-9 if metric.endswith("_GBps") else per_s if metric.endswith("_per_s") else None


def assert_no_rate_is_too_high(run, metrics):
    """Those metrics have rates, as others may."""
    for case in run["cases"]:
        assert case["state"] == "measured", case["reason"]
        rates = {name: values for launch in case["launches"] for name, values in launch["samples"].items() if most_of(name)}
        assert rates.keys() >= metrics, (case["key"], rates)
        for name, values in rates.items():
            assert max(values) <= most_of(name), (case["key"], name, values)


@pytest.mark.parametrize("arguments", [["--comm", "ucx", "--api", "tag,stream,am,put,get", "--transports", "tcp"],
                                       ["--comm", "ucx", "--api", "tag,stream,am,put,get", "--transports", "shm"],
                                       ["--comm", "sockets", "--api", "tag,stream", "--transports", "tcp"],
                                       ["--comm", "mpi", "--transports", "tcp"],
                                       ["--comm", "ucx", "--threads", 2, "--transports", "tcp"],
                                       ["--comm", "ucx", "--endpoints", 2, "--transports", "shm"]])
def test_of_a_pair(paced, arguments):
    if "mpi" in arguments and not shutil.which("mpirun"):
        pytest.skip("there is no Open MPI")
    done = paced(*PAIR, *SHORT, "--bidirectional", *arguments)
    assert_no_rate_is_too_high(done.file, {"bandwidth_GBps", "message_rate_per_s", "bandwidth_bidirectional_GBps"})


def test_of_a_duet(paced, tmp_path):
    case = f"{' '.join(map(str, PAIR))} --transports shm --progress-mode poll --no-memory-copy"
    paced(*ab(tmp_path, launches=1, cases=[case]))
    for _, run in files(tmp_path).values():
        assert run["run"]["ab"]["side_by_side"]
        assert_no_rate_is_too_high(run, {"bandwidth_GBps", "message_rate_per_s"})


def test_of_atomic_operations(paced):
    done = paced("pingpong", "--sizes", 8, *PAIR[3:], *SHORT, "--api", "fadd", "--transports", "shm")
    assert_no_rate_is_too_high(done.file, {"message_rate_per_s"})


@pytest.mark.parametrize("concurrent", ["one", "disjoint", "all"])
def test_of_many_pairs(paced, concurrent):
    done = paced("p2p", "-n", 3, "-s", BYTES, "--iterations", MESSAGES, "--runs", 1, "--warmup-runs", 0, "--concurrent", concurrent,
                 "--transports", "tcp", *SEVERAL, held="1,2")
    assert_no_rate_is_too_high(done.file, {"bandwidth_GBps", "message_rate_per_s"})


def test_of_an_incast(paced):
    done = paced("incast", "-n", 4, "-s", BYTES, "--iterations", MESSAGES, "--runs", 1, "--warmup-runs", 0, "--transports", "tcp",
                 *SEVERAL, held="2")
    assert_no_rate_is_too_high(done.file, {"incast_GBps", "outcast_GBps"})


# One of the two who post begins when the other has ended. It may lose its processor between two clocks, too; who sleeps reads
# them before.
@pytest.mark.parametrize("after_clock_us", [0, 20_000])
@pytest.mark.parametrize(("op", "prefill", "held"), [("get", 1, "2"), ("put", 2, "1")])
def test_of_several_origins(paced, op, prefill, held, after_clock_us):
    done = paced("kv", "--op", op, "--block", BYTES, "--descriptors", MESSAGES, "--prefill", prefill, "--decode", 3 - prefill,
                 "--sessions", 1, "--rounds", 2, "--transports", "shm", *SHORT,
                 "--progress-mode", "poll" if after_clock_us else "event", held=held, after_clock_us=after_clock_us)
    assert_no_rate_is_too_high(done.file, {"first_round_GBps", "later_round_GBps", "descriptors_per_s"})


# Two pairs of ranks, one of which begins when the other has ended.
def test_of_a_workload(paced, tmp_path):
    workers = [f"tcp://127.0.0.1:{port}" for port in range(1, 5)]
    message = {"start": 1.0, "stop": 1.001, "total": MESSAGES * BYTES}
    log = {worker: [message | {"who": workers[at - 1]}] if at in (1, 3) else [] for at, worker in enumerate(workers)}
    (tmp_path / "dask.json").write_text(json.dumps(log))
    done = paced("replay", "dask.json", "--as-fast-as-possible", "--runs", 2, "--warmup-runs", 0, "--transports", "shm",
                 *SEVERAL, held="2,3")
    assert_no_rate_is_too_high(done.file, {"throughput_GBps", "exchange_GBps"})
    assert only(done.file["cases"])["exchange"]["alone_GBps"] <= most_of("alone_GBps")


# By workload: a load whose messages are paced but for few. Where a rank is late, what it receives has come before it looks.
LOADS = {
    "merge": ["--rows", 600, "--batches", 1],
    "transpose": ["--size", 64, "--chunk-size", 16],
    "halo": ["--size", BYTES // 8, "--steps", 3],
    "moe": ["--tokens", 8, "--experts", 8, "--top-k", 2, "--token-size", BYTES, "--routing", "uniform"],
    "svd": ["--rows", 100, "--columns", 16],
    "replay": ["dask.json", "--as-fast-as-possible"],
}


@pytest.mark.parametrize(("workload", "comm"), [*itertools.product(LOADS, ["ucx", "sockets"]), ("merge", "mpi")])
def test_of_pairs_of_a_workload(paced, tmp_path, workload, comm):
    if comm == "mpi" and not shutil.which("mpirun"):
        pytest.skip("there is no Open MPI")
    workers = [f"tcp://127.0.0.1:{port}" for port in (1, 2, 3)]
    log = {to: [{"who": of, "start": 1.0, "stop": 1.001, "total": 4 * BYTES} for of in workers if of != to] for to in workers}
    (tmp_path / "dask.json").write_text(json.dumps(log))
    # Open MPI has nothing to sleep on.
    ranks = ["--progress-mode", "poll", "-n", 2] if comm == "mpi" else CROWDED if workload == "replay" else [*CROWDED, "-n", 3]
    done = paced(workload, *LOADS[workload], *ranks, "--runs", 3, "--warmup-runs", 0, "--no-calibrate", "--ignore-size", BYTES,
                 "--no-memory-copy", "--comm", comm, "--transports", "tcp", *SHORT)
    case = only(done.file["cases"])
    assert case["metrics"]["exchange_GBps"]["max"] <= most_of("exchange_GBps"), case["metrics"]
    pairs = [pair for pair in case["pairs"] if pair["messages"]]
    for pair in pairs:
        rates = [pair[name] for name in ("p25_GBps", "p50_GBps", "p75_GBps", "goodput_GBps") if pair[name] is not None]
        assert all(0 < rate <= most_of("_GBps") for rate in rates), pairs
        # Of each pair something is known, whoever was late.
        assert pair["delivery_p50_us"] > 0, pairs
    assert any(pair["p50_GBps"] for pair in pairs), pairs


# In the calibration, between it and what is timed, and in the middle; of one rank, of whom the other knows, and of both.
@pytest.mark.parametrize("ranks", ["0", "0,1"])
@pytest.mark.parametrize(("at", "ms"), [("begin", 2), (1, 200), (60, 200)])
def test_a_clock_that_is_set_is_refused(bench, at, ms, ranks):
    done = bench("pingpong", "--sizes", 8, "--transports", "tcp", "--iterations", MESSAGES, *SHORT,
                 environment={"LD_PRELOAD": str(STEP_SHIM), "STEP_AT": str(at), "STEP_MS": str(ms), "STEP_RANKS": ranks})
    assert done.code == 5, done
    run = done.file["run"]
    assert run["state"] == "failed" and "clock" in run["reason"] and "%" in run["reason"], run
    assert run["reason"] in done.err.replace("\n", " "), done
    assert only(done.file["cases"])["state"] == "failed"


@pytest.mark.parametrize("arguments", [["transpose", "-n", 2, "--size", 64, "--chunk-size", 64], ["transpose", "-n", 1, "--size", 64, "--chunk-size", 64],
                                       ["merge", "-n", 1, "--rows", 1000], ["svd", "-n", 1, "--rows", 64, "--columns", 8]])
def test_what_no_byte_went_over_has_no_rate_and_was_not_used(bench, arguments):
    """Of one tile the second rank has none, and one rank sends nothing."""
    done = bench(*arguments, "--runs", 2, "--transports", "self" if 1 in arguments else "tcp", *SHORT)
    assert done.code == 0, done
    case = only(done.file["cases"])
    assert case["exchange"]["bytes"] == 0 and case["exchange"]["alone_GBps"] is None
    assert "exchange_GBps" not in case["metrics"]
    assert "carried_by" not in case["path"] and case["path"]["verdict"] == "unknown"
    assert "transport used" not in done.out, done
