"""Runs that end otherwise than planned: wrong data, Ctrl-C."""

import signal

import pytest


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("transports", ["tcp", "shm"])
def test_a_flipped_bit(fault, rank, transports):
    running = fault.run("corrupt", rank, "64 B: verification", "--transports", transports)
    done = running.finish()
    assert done.code == 4, done
    good, bad = done.file["cases"]
    assert good["state"] == "measured" and good["verified"]["errors"] == 0
    assert bad["state"] == "failed" and bad["verified"]["errors"] == 1
    assert bad["verified"]["checked"] > 1
    where = f"byte offset 5 of 64: rank {1 - rank} received from rank {rank} by tag"
    assert where in bad["reason"]
    assert any(where in line for line in done.complaints), done
    fault.assert_nothing_is_left()


def test_ctrl_c_once_ends_after_the_repetition(fault):
    running = fault.run(
        "hold", 0, "64 B: first message", "--transports", "tcp", "--transports", "shm", "--launches", "3"
    )
    fault.acted_at()
    running.signal_taken(signal.SIGINT)
    fault.go_on()
    done = running.finish()
    assert done.code == 130, done
    run = done.file
    assert run["run"]["state"] == "interrupted"
    states = [case["state"] for case in run["cases"]]
    assert states[0] == "measured" and states[2:] == ["skipped", "skipped"]
    assert run["cases"][2]["reason"]
    fault.assert_nothing_is_left()


def test_ctrl_c_twice_ends_at_once(fault):
    running = fault.run("hold", 0, "8 B: latency", "--transports", "tcp")
    fault.acted_at()
    running.signal_taken(signal.SIGINT)
    running.signal(signal.SIGINT)
    # The rank, which is held, does not take part in that.
    done = fault.finish_in_time()
    assert done.code == 130, done
    assert done.file["run"]["state"] == "interrupted"
    fault.assert_nothing_is_left()


def test_termination_ends_at_once(fault):
    running = fault.run("hold", 1, "8 B: latency", "--transports", "shm")
    fault.acted_at()
    running.signal(signal.SIGTERM)
    done = fault.finish_in_time()
    assert done.code == 130, done
    assert done.file["run"]["state"] == "interrupted"
    fault.assert_nothing_is_left()
