"""Active messages, put, get and atomic operations: --api, from the command line to the run file."""

import pytest
from conftest import assert_sound, only, quick

SETS = ["--transports", "tcp", "--transports", "shm"]
ATOMIC = ["fadd", "swap", "cswap"]


@pytest.fixture(scope="module")
def operations(bench_once):
    words = ["--api", "am,put,get,atomic", *SETS, "--sizes", "1,4,8,100001", "--check", "full"]
    return bench_once("pingpong", *quick(words))


def cases_of(run, api, transports):
    return [case for case in run["cases"] if case["key"].startswith(f"pingpong/{api}/host-host/{transports}/")]


@pytest.mark.parametrize("transports", ["tcp", "shm"])
@pytest.mark.parametrize("api", ["am", "put", "get"])
def test_messages_and_transfers(operations, api, transports):
    cases = cases_of(operations.file, api, transports)
    assert [case["parameters"]["bytes"] for case in cases] == [1, 4, 8, 100001]
    for case in cases:
        assert_sound(case, rates=case["parameters"]["bytes"] > 8)
        assert ("completion_us" in case["metrics"]) == (api == "put")
        # Who asks has it: there is no other bandwidth.
        assert ("bandwidth_sender_GBps" in case["metrics"]) == (api != "get") or case["parameters"]["bytes"] <= 8
        if "bandwidth_sender_GBps" in case["metrics"] and api == "put":
            # Not what a target sees that was away while all came.
            assert case["metrics"]["bandwidth_GBps"]["max"] <= case["metrics"]["bandwidth_sender_GBps"]["max"]
        assert case["path"]["carried_by"] in ({transports: 1.0}, {}), case["path"]


@pytest.mark.parametrize("transports", ["tcp", "shm"])
@pytest.mark.parametrize("api", ATOMIC)
def test_atomic_operations_have_two_widths(operations, api, transports):
    """Of the sizes asked for those that are one, rates instead of bandwidths, every value right."""
    cases = cases_of(operations.file, api, transports)
    assert [case["parameters"]["bytes"] for case in cases] == [4, 8]
    for case in cases:
        assert case["state"] == "measured", case["reason"]
        assert case["verified"]["errors"] == 0 and case["verified"]["checked"] >= 34
        assert {"latency_us", "message_rate_per_s"} <= case["metrics"].keys()
        assert not any(name.startswith("bandwidth") for name in case["metrics"])
        assert not any(metric["name"].startswith("bandwidth") for metric in case["shows"]["metrics"])


def test_the_targets_help_is_known_of_operations_alone(operations):
    for case in operations.file["cases"]:
        one_sided = case["parameters"]["api"] != "am"
        assert ("target_progress" in only(case["launches"])["path"]) == one_sided
        if one_sided and case["parameters"]["transports"] == ["tcp"]:
            assert only(case["launches"])["path"]["target_progress"] == "needed"
    assert "target's CPU needed" in operations.out


def test_the_table_says_what_a_time_is(operations):
    for words in ("time of one get, us", "time of one cswap, us", "latency one way, us"):
        assert words in operations.out


def test_both_ways_and_alone(pingpong):
    """A rank with itself, and bandwidth both ways."""
    run = pingpong("-n", 1, "--api", "am,put,get,atomic", "--sizes", "8,5000").file
    assert len(run["cases"]) == 3 * 2 + 3
    both = pingpong("--bidirectional", "--api", "am,put,get", *SETS, "--sizes", "70001", "--no-pool").file
    for case in [*run["cases"], *both["cases"]]:
        assert case["state"] == "measured" and case["verified"]["errors"] == 0, case["reason"]
    for case in both["cases"]:
        assert "bandwidth_bidirectional_GBps" in case["metrics"]


def test_a_timer_moves_operations(pingpong):
    run = pingpong("--progress-mode", "periodic:1ms", "--api", "put,get,fadd", "--sizes", "8", "--transports", "tcp").file
    for case in run["cases"]:
        assert case["state"] == "measured" and case["verified"]["errors"] == 0, case["reason"]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--api", "put", "--progress-mode", "event"], ["--api put", "nothing wakes", "--progress-mode poll"]),
        (["--api", "get", "--progress-mode", "thread"], ["--api get", "nothing wakes", "--progress-mode poll"]),
        (["--api", "atomic", "--sizes", "16,1KiB"], ["--api fadd", "4 or 8 bytes", "--sizes 4,8"]),
        (["--api", "swap", "--bidirectional"], ["--api swap", "no bandwidth", "--bidirectional"]),
        (["--api", "cswap", "--memory", "cuda"], ["--api cswap", "host memory", "--memory"]),
        (["--api", "atomics"], ["--api", "'atomics'"]),
    ],
)
def test_what_has_no_meaning_is_refused(bench, arguments, words):
    done = bench("pingpong", *arguments, "--transports", "tcp", "--json", "run.json")
    assert done.code == 2 and not (done.folder / "run.json").exists(), done
    for word in words:
        assert word in done.err
