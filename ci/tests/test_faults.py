"""A rank or the supervisor dies or stops where fault_matrix.py does not have it, or hangs: said in time, and nothing is left."""

import os
import re
import signal
import time

import pytest
from conftest import CROWDED, drawn, only

# Of those that fault_matrix.py has not.
KILLS = [
    (phase, rank, transports)
    for phase in ("64 B: bandwidth", "64 B: verification", "closing")
    for rank, transports in ((0, "tcp"), (1, "shm"))
]
FORKING = """sh -c '"$@"; exit $?' sh"""


def host():
    return os.uname().nodename


def assert_failed(done, rank, phase, words):
    """Exit 5, and one line as well as the file name rank, host, phase and cause."""
    assert done.code == 5, done
    assert "Traceback" not in done.err
    complaint = only(done.complaints)
    run = done.file["run"]
    assert run["state"] == "failed"
    for said in (complaint, run["reason"]):
        assert f"rank {rank} on {host()}" in said
        assert words in said
        assert phase in said
    for case in done.file["cases"]:
        assert case["state"] == "measured" or words in case["reason"]
    # What was measured before is kept.
    if phase.startswith("64 B") or phase == "closing":
        assert done.file["cases"][0]["state"] == "measured"


@pytest.mark.thinned(3)
@pytest.mark.parametrize("phase, rank, transports", KILLS)
def test_killed_rank(fault, phase, rank, transports):
    fault.run("kill", rank, phase, "--transports", transports)
    done = fault.finish_in_time()
    assert_failed(done, rank, phase, "killed by signal 9 (Killed)")
    fault.assert_nothing_is_left()


@pytest.mark.thinned(3)
@pytest.mark.parametrize("phase", ["64 B: latency", "64 B: bandwidth"])
@pytest.mark.parametrize("transports", ["tcp", "shm"])
def test_killed_in_the_middle_of_a_loop(fault, phase, transports):
    """Rank 1 posts 100 receives, and in the latency loop as many sends: it dies at one of its own."""
    # Few: where programs take turns on the CPUs, each message waits for the next turn.
    fault.run("kill", 1, phase, "--transports", transports, "--iterations", "100", after=drawn(2, 99, 50))
    done = fault.finish_in_time()
    assert_failed(done, 1, phase, "killed by signal 9 (Killed)")
    fault.assert_nothing_is_left()


@pytest.mark.parametrize("action, words", [("kill", "status 137"), ("stop", "no sign of life")])
def test_under_a_forking_wrapper(fault, action, words):
    fault.run(action, 1, "64 B: latency", "--transports", "tcp", "--wrap", FORKING)
    done = fault.finish_in_time()
    assert_failed(done, 1, "64 B: latency", words)
    fault.assert_nothing_is_left()


@pytest.mark.thinned(5)
# What UCX makes has a name, or an id, for a moment before it takes that away again.
@pytest.mark.parametrize("wrap", ["", FORKING], ids=["direct", "wrapped"])
@pytest.mark.parametrize("action", ["kill", "kill-parent", "stop"])
@pytest.mark.parametrize("transport, call", [("posix", "shm_open"), ("sysv", "shmget")])
def test_while_shared_memory_has_a_name(fault, transport, call, action, wrap):
    running = fault.run(
        action, 1, "starting UCX", "--transports", "shm", "--ucx", f"UCX_TLS={transport},cma",
        *(["--wrap", wrap] if wrap else []), call=call,
    )
    fault.acted_at()
    if action == "stop":
        fault.wait_until_stopped()
        running.signal(signal.SIGKILL)
    done = running.finish()
    supervisor_lives = action == "kill" or (wrap and action == "kill-parent")
    assert done.code == (5 if supervisor_lives else -signal.SIGKILL), done
    fault.assert_nothing_is_left()


@pytest.mark.thinned(2)
# While it starts ranks, makes them meet, lets them alone, and waits for their ends.
@pytest.mark.parametrize("phase", ["starting UCX", "connecting", "64 B: latency", "closing"])
def test_stopped_supervisor_goes_on(fault, phase):
    """Whoever stops the supervisor may continue it: a pause, of whatever length, is no fault."""
    running = fault.run("stop-parent", 1, phase, "--transports", "tcp", *CROWDED)
    fault.acted_at()
    time.sleep(1.5)
    running.signal(signal.SIGCONT)
    done = running.finish()
    assert done.code == 0, done
    assert [case["state"] for case in done.file["cases"]] == ["measured", "measured"]
    fault.assert_nothing_is_left()


@pytest.mark.release_only
# Not the sender of few small messages over shm: it needs nothing from UCX for them. Where the other
# rank polls, it takes a CPU while it waits.
@pytest.mark.parametrize(
    "phase, rank, transports, mode",
    [
        ("connecting", 0, "shm", "event"),
        ("connecting", 1, "tcp", "event"),
        ("64 B: latency", 0, "shm", "event"),
        ("64 B: latency", 1, "tcp", "event"),
        ("64 B: bandwidth", 1, "shm", "event"),
        ("64 B: bandwidth", 1, "tcp", "poll"),
    ],
)
def test_hanging_rank(fault, phase, rank, transports, mode):
    """Alive, but UCX no longer moves: only the time-out can tell."""
    # Longer than a rank on a busy machine takes for any step of its own.
    fault.run("hang", rank, phase, "--transports", transports, "--timeout", "4s", "--progress-mode", mode)
    done = fault.finish_in_time()
    assert done.code == 5, done
    assert "4 s" in only(done.complaints)
    assert phase in only(done.complaints)
    assert done.file["run"]["state"] == "failed"
    # What it was doing, beside the run file.
    assert "; what it was doing is in 'run.stacks.txt'" in only(done.complaints)
    stacks = (done.folder / "run.stacks.txt").read_text()
    assert f"rank {rank} on {host()} in phase " in stacks
    # There is a limit to the time that stacks take.
    assert re.search(r" main - |eu-stack is not here|no time was left|not done in time|not permitted", stacks), stacks
    fault.assert_nothing_is_left()


def test_the_last_rank_of_many(fault):
    fault.run("kill", 7, "64 B: latency", "-n", "8", *CROWDED, "--transports", "tcp")
    done = fault.finish_in_time()
    assert_failed(done, 7, "64 B: latency", "killed by signal 9 (Killed)")
    fault.assert_nothing_is_left()
