"""What UCX itself and the kernel said while ranks ran, recorded and found."""

import os
import re
import shutil
import subprocess

import pytest
from conftest import only


def found(done, rule):
    return [finding for finding in done.file["findings"] if finding["id"] == rule]


def test_what_ucx_warns_of(pingpong):
    done = pingpong("--transports", "shm", "--sizes", "8", "--launches", 2, environment={"UCX_NO_SUCH_SETTING": "7"})
    warning = only([warning for warning in done.file["ucx"]["warnings"] if "UCX_NO_SUCH_SETTING" in warning["line"]])
    assert warning["line"].startswith("WARN ") and warning["ranks"] == [0, 1]
    assert warning["count"] >= 4  # of two ranks in two launches
    finding = only([finding for finding in found(done, "ucx-warnings") if "UCX_NO_SUCH_SETTING" in finding["evidence"]])
    assert finding["subject"] == "UCX in ranks 0, 1" and " times: WARN " in finding["evidence"]
    # As before, the user sees it too.
    passed_on = [line for line in done.err.splitlines() if "UCX  WARN" in line and "UCX_NO_SUCH_SETTING" in line]
    assert len(passed_on) == warning["count"]


def test_check_and_ab_say_what_ucx_warns_of(bench, tmp_path):
    """pingpong's finding says it, and lines of UCX's own on stderr."""
    case = "pingpong --transports shm --sizes 8 --measure latency --iterations 50 --no-memory-copy"
    (tmp_path / "suite.toml").write_text(f'launches = 1\n[[case]]\nargs = "{case}"\n')
    (tmp_path / "site.toml").write_text('ranks = 2\n[[expect]]\ntransports = "shm"\nmax_us = 1e9\n')
    strange = {"UCX_NO_SUCH_SETTING": "7"}
    checked = bench("check", "--expect", "site.toml", "--max-time", "10min", environment=strange)
    assert checked.code == 0 and re.search(r"^warning +UCX in ranks 0, 1 +.*UCX_NO_SUCH_SETTING", checked.out, re.M), checked
    both = bench("ab", "suite.toml", "--folder", ".", "--base-env", "A=1", "--new-env", "A=2", environment=strange)
    assert both.code == 0 and "UCX says on both sides: WARN unused env variable: UCX_NO_SUCH_SETTING" in both.out, both


def test_where_ucx_is_quiet(pingpong):
    done = pingpong("--transports", "shm", "--sizes", "8")
    assert "warnings" not in done.file["ucx"], done.file["ucx"]["warnings"]
    assert not found(done, "ucx-warnings")


@pytest.fixture
def narrow_loopback():
    """A network namespace of its own, whose loopback drops what comes faster than it sends."""
    name = f"ucxbench{os.getpid()}_narrow"

    def run(*command):
        return subprocess.run(command, capture_output=True, timeout=20).returncode == 0

    if not shutil.which("ip") or not shutil.which("tc") or not run("ip", "netns", "add", name):
        pytest.skip("network namespaces need root, and the commands ip and tc (iproute2)")
    run("ip", "-n", name, "link", "set", "lo", "up")
    narrow = run("ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "lo", "root", "tbf",
                 "rate", "500mbit", "burst", "70k", "limit", "200k")  # less than a first congestion window
    if narrow:
        yield ["--wrap", f"ip netns exec {name}", "--net-devices", "lo", "--measure", "bandwidth", "--sizes", "1MiB",
               "--window", 4, "--iterations", 3]
    run("ip", "netns", "delete", name)
    if not narrow:
        pytest.skip("this kernel has no tbf queue")


@pytest.mark.release_only
def test_counters_that_grew(pingpong, narrow_loopback):
    done = pingpong(*narrow_loopback, "--transports", "tcp", "--launches", 2)
    counter = only([counter for counter in done.file["machine"]["error_counters"] if counter["name"] == "tcp/RetransSegs"])
    assert counter["before"] < counter["after"]
    # Not of the namespace that the supervisor, and every other program, lives in.
    assert counter["network_namespace"] != os.readlink("/proc/self/ns/net")
    finding = only(found(done, "congestion"))
    assert finding["subject"].startswith("tcp on ") and "RetransSegs +" in finding["evidence"]
    assert "during the run" in finding["evidence"]


def test_counters_that_did_not(pingpong, narrow_loopback):
    done = pingpong(*narrow_loopback, "--transports", "shm")
    assert "error_counters" not in done.file["machine"], done.file["machine"]["error_counters"]
    assert not found(done, "congestion") and not found(done, "error-counters")
