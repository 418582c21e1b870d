"""Several threads of a rank, with a worker each or one for all, and several endpoints: pingpong --threads, --workers, --endpoints."""

import os

import pytest
from conftest import only, quick

SETS = ["--transports", "tcp", "--transports", "shm"]
SHORT = ["--sizes", "100001", "--iterations", 10, "--check", "full"]


@pytest.fixture(scope="module")
def threads(bench_once):
    words = ["--api", "tag,put", "--threads", "1,2", "--workers", "shared,own", *SETS, *SHORT]
    return bench_once("pingpong", *quick(words))


def test_each_combination_that_differs_is_a_case(threads):
    keys = [case["key"] for case in threads.file["cases"]]
    assert keys == [
        f"pingpong/{api}/host-host/{transports}/100001B{rest}"
        for transports in ("tcp", "shm")
        for api in ("tag", "put")
        for rest in ("", "/threads=2/workers=shared", "/threads=2")
    ], keys
    assert "2 threads, one worker" in threads.out and "2 threads, a worker each" in threads.out


def test_every_thread_is_measured_and_verified(threads):
    checked = {}
    for case in threads.file["cases"]:
        assert case["state"] == "measured", case["reason"]
        of = case["parameters"]
        record = only(case["launches"])
        assert record["messages"] == record["iterations"] == 10 * of["threads"]
        assert case["verified"]["errors"] == 0
        # As many for each thread as for one alone.
        alone = checked.setdefault((of["api"], *of["transports"]), case["verified"]["checked"])
        assert case["verified"]["checked"] == alone * of["threads"]
        assert case["metrics"]["message_rate_per_s"]["p50"] > 0
        assert case["path"]["carried_by"] in ({only(of["transports"]): 1.0}, {}), case["path"]
        # Only those in which no thread was alone; of one thread that is each.
        latencies = case["metrics"].get("latency_us", {}).get("samples_seen", 0)
        assert latencies == 10 if of["threads"] == 1 else latencies <= 20


def test_more_threads_than_cpus_are_named(bench):
    """Of one CPU, whatever there are here."""
    cpu = min(os.sched_getaffinity(0))
    done = bench("pingpong", "-n", 1, "--transports", "self", "--threads", 2, *SHORT, "--launches", 1, "--bind", cpu, "--json", "run.json")
    assert done.code == 0, done
    assert done.file["run"]["crowded"] == [{"progress_mode": "poll", "ranks": 1, "cpus": 1, "threads": 2}]
    assert "oversubscribed" in done.file["machine"]["labels"]
    assert "poll (1 rank of 2 threads on 1 CPU)" in done.err and "polling threads take turns" in done.err


def test_threads_that_have_a_cpu_each_are_not(bench):
    """Each is bound to one of those that the rank was given."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        pytest.skip("there is one CPU")
    done = bench("pingpong", "-n", 1, "--transports", "self", "--threads", 2, *SHORT, "--launches", 1, "--bind", "none",
                 "--wrap", f"taskset -c {cpus[0]},{cpus[1]}", "--json", "run.json")
    assert done.code == 0, done
    assert only(done.file["ranks"])["cpus"] == cpus
    assert "oversubscribed" not in done.file["machine"]["labels"]


def test_endpoints_take_turns(pingpong):
    run = pingpong("--api", "tag,stream,am", "--endpoints", "1,3", "--bidirectional", "--transports", "tcp", *SHORT).file
    assert [case["parameters"]["endpoints"] for case in run["cases"]] == [1, 3] * 3
    for case in run["cases"]:
        assert case["state"] == "measured" and case["verified"]["errors"] == 0, case["reason"]
        assert ("/endpoints=3" in case["key"]) == (case["parameters"]["endpoints"] == 3)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--workers", "shared"], ["--workers shared", "nothing to share", "--threads"]),
        (["--threads", "2", "--comm", "sockets"], ["--threads 2", "of UCX alone"]),
        (["--threads", "2", "--progress-mode", "event"], ["--threads 2", "--progress-mode poll"]),
        (["--threads", "2", "--memory", "cuda"], ["--threads 2", "host memory"]),
        (["--threads", "2", "--buffers", "cold"], ["--threads 2", "warm"]),
        (["--threads", "2", "--expected"], ["--threads 2", "--expected"]),
        (["--threads", "64", "--endpoints", "8"], ["--threads 64", "256 connections"]),
        (["--threads", "65"], ["--threads", "64"]),
        (["--endpoints", "2", "--api", "put"], ["--endpoints 2", "tag, stream or am"]),
        (["--endpoints", "2", "--comm", "sockets"], ["--endpoints 2", "of UCX alone"]),
    ],
)
def test_what_has_no_meaning_is_refused(bench, arguments, words):
    done = bench("pingpong", *arguments, "--transports", "tcp", "--json", "run.json")
    assert done.code == 2 and not (done.folder / "run.json").exists(), done
    assert len(done.err.strip().splitlines()) == 1, done.err
    for word in words:
        assert word in done.err
