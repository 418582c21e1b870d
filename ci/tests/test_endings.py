"""Runs that end otherwise than planned: wrong data, Ctrl-C."""

import contextlib
import os
import re
import signal
import time

import pytest
from conftest import CROWDED, LONG_S, drawn, held_at, never_drawn, only, quick, shared_segments, wait_until


@pytest.mark.release_only
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


# A rank is in the middle of a sample, and stays there.
UNDER_WAY = {
    "p2p": (
        # Of each run the receiver posts 4 messages, 2 signals: this is in the fourth.
        1, "64 MiB, one pair at once, round 0", 3 * 6 + 4,
        ["p2p", "-n", 2, "-s", "64MiB", "--concurrent", "one", "--iterations", 4, "--runs", 20],
        {"bandwidth_GBps": 3, "message_rate_per_s": 3},
    ),
    "pingpong": (
        0, "64 MiB: bandwidth", 0,
        ["pingpong", "-s", "64MiB", "--iterations", 6],
        {"latency_us": 6},
    ),
    "merge": (
        1, "run 2", 0,
        ["merge", "-n", 2, "--rows", "100K", "--runs", 20],
        {"wall_ms": 2, "throughput_GBps": 2, "exchange_GBps": 2},
    ),
    "transpose": (
        1, "run 2", 0,
        ["transpose", "-n", 2, "--size", 1000, "--chunk-size", 500, "--runs", 20],
        {"wall_ms": 2, "throughput_GBps": 2, "exchange_GBps": 2},
    ),
}


REASONS = {signal.SIGINT: "stopped by Ctrl-C", signal.SIGTERM: "terminated by SIGTERM",
           signal.SIGHUP: "ended by SIGHUP: the terminal was closed"}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("number", REASONS)
@pytest.mark.parametrize("benchmark", UNDER_WAY)
def test_a_sample_under_way_is_given_up(fault, benchmark, number):
    rank, phase, after, command, finished = UNDER_WAY[benchmark]
    running = fault.run("hold", rank, phase, after=after, command=[
        *command, "--transports", "shm", "--launches", 2, "--warmup-runs", 0, "--bind", "none", "--json", "run.json"])
    fault.acted_at()
    running.signal(number)
    done = fault.finish_in_time()
    assert done.code == 130, done
    assert "ending; once more ends at once" in done.err.splitlines()
    run = done.file
    assert run["run"]["state"] == "interrupted"
    assert run["run"]["reason"] == REASONS[number]
    case = only(run["cases"])
    assert case["state"] == "measured", case["reason"]
    launch = only(case["launches"])
    assert (launch["launch"], launch["src"], launch["dst"]) == (0, 0, 1)
    assert {name: len(samples) for name, samples in launch["samples"].items()} == finished
    assert case["labels"] == launch["path"]["labels"] == ["interrupted"]
    assert re.search(r"^  transport used +unknown: the run was ended before", done.out, re.MULTILINE), done
    assert re.search(r"^  labels +interrupted$", done.out, re.MULTILINE), done
    assert "--check off" not in done.out
    fault.assert_nothing_is_left()


def test_ctrl_c_keeps_the_cases_before(fault):
    running = fault.run(
        "hold", 0, "64 B: first message", "--transports", "tcp", "--transports", "shm", "--launches", "3"
    )
    fault.acted_at()
    # `timeout -s INT` signals a process and its group: two that come together are one.
    for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
        running.signal(number)
    done = fault.finish_in_time()
    assert done.code == 130, done
    run = done.file
    assert run["run"]["state"] == "interrupted"
    # Whichever a thread took first.
    assert run["run"]["reason"] in ("stopped by Ctrl-C", "terminated by SIGTERM")
    assert [case["state"] for case in run["cases"]] == ["measured", "skipped", "skipped", "skipped"]
    assert run["cases"][1]["reason"] and run["cases"][2]["reason"]
    fault.assert_nothing_is_left()


def test_ctrl_c_twice_ends_at_once(fault):
    running = fault.run("hold", 0, "8 B: latency", "--transports", "tcp")
    fault.acted_at()
    running.signal_taken(signal.SIGINT)
    time.sleep(0.1)  # what comes at once is the same one
    running.signal(signal.SIGINT)
    done = fault.finish_in_time()
    assert done.code == 130, done
    fault.assert_nothing_is_left()


def test_termination_while_ranks_meet(fault):
    running = fault.run("hold", 1, "starting", command=[
        "merge", "-n", 12, "--rows", "1K", "--transports", "tcp", "--bind", "none", "--json", "run.json"])
    fault.acted_at()
    running.signal(signal.SIGTERM)
    done = fault.finish_in_time()
    assert done.code == 130, done
    assert done.file["run"]["state"] == "interrupted"
    fault.assert_nothing_is_left()


def test_termination_while_many_ranks_start(start):
    running = start("merge", "-n", 100, "--rows", "1K", "--transports", "shm", "--bind", "none", "--json", "run.json")
    wait_until(lambda: len(running.processes()) > 20, step_s=0.001)
    running.signal(signal.SIGTERM)
    signalled = time.monotonic()
    done = running.finish()
    assert done.code == 130, done
    # 100 s when each rank was let start, and then waited for.
    assert done.ended_at - signalled < LONG_S
    assert done.file["run"]["state"] == "interrupted"
    running.wait_until_gone()


def test_a_stop_waits_for_no_reader(start):
    """Of what it says: the pipe is full, and nobody takes anything out of it."""
    running = start("pingpong", "-s", "8", "--transports", "tcp", "--iterations", 100_000_000, "--json", "run.json")
    wait_until(lambda: len(running.processes()) == 3)
    pipe = os.open(f"/proc/{running.pid}/fd/2", os.O_WRONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(pipe, b" " * 4096)
    os.close(pipe)
    running.signal(signal.SIGTERM)
    assert running.process.wait(LONG_S) == 130
    running.wait_until_gone()


def test_sigterm_does_not_hide_why_a_run_failed(fault, tmp_path):
    """Launchers send it to who is left of a failed job, which may not have printed its reason yet."""
    held = held_at("rename", "pingpong", tmp_path) | {"HOLD_SAYS": "run.json finished_utc"}
    environment = fault.environment("kill", 1, "8 B: latency")
    environment |= held | {"LD_PRELOAD": f"{held['LD_PRELOAD']}:{environment['LD_PRELOAD']}"}
    ended_by_sigterm(fault.start("pingpong", *quick([]), "--csv", "run.csv", environment=environment), tmp_path / "held")


def test_a_failed_run_says_it_once(fault, tmp_path):
    """It draws its page when the signal comes."""
    environment = fault.environment("kill", 1, "8 B: latency") | never_drawn(tmp_path)
    ended_by_sigterm(fault.start("pingpong", *quick([]), "--html", "page.html", environment=environment), tmp_path / "drawing")


def ended_by_sigterm(failed, file):
    """A run whose rank 1 was killed, once there is `file`."""
    wait_until(file.exists, what=lambda: failed.finish(1))
    failed.signal(signal.SIGTERM)
    done = failed.finish(LONG_S)
    assert done.code == 130, done
    assert "rank 1 on" in only(done.complaints) and "was killed by signal 9" in only(done.complaints), done
    failed.wait_until_gone()


def start_held(start, environment):
    return start("pingpong", *quick(["--sizes", "8", "--transports", "tcp", *CROWDED]), environment=environment)


def held_while_ucx_is_loaded(start, folder, whom):
    """A run of which `whom` stays where UCX has just made the System V segment that it removes again before main."""
    return start_held(start, held_at("shmget", whom, folder))


@pytest.mark.release_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_ucx_is_loaded(start, tmp_path, number):
    running = held_while_ucx_is_loaded(start, tmp_path, "pingpong")
    wait_until(lambda: shared_segments({running.pid}))
    running.signal(number)
    (tmp_path / "go-on").touch()
    assert running.finish(LONG_S).code == -number
    assert not shared_segments({running.pid})


@pytest.mark.release_only
def test_a_supervisor_dies_while_its_ranks_load_ucx(start, tmp_path):
    running = held_while_ucx_is_loaded(start, tmp_path, "rank")
    wait_until(lambda: len(shared_segments(running.processes())) == 2)
    all_of_it = running.processes()
    running.signal(signal.SIGKILL)
    running.process.wait(LONG_S)
    (tmp_path / "go-on").touch()
    running.wait_until_gone()
    assert not shared_segments(all_of_it)


@pytest.mark.release_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_program_ends_while_its_probe_loads_ucx(start, tmp_path, number):
    running = held_while_ucx_is_loaded(start, tmp_path, "__probe")
    wait_until((tmp_path / "held").exists)
    all_of_it = running.processes()
    assert only(shared_segments(all_of_it))
    running.signal(number)
    # Of the other signals it has only a second.
    time.sleep(drawn(0, 500, 100) / 1000 if number == signal.SIGKILL else 0)
    (tmp_path / "go-on").touch()
    running.finish(LONG_S)
    running.wait_until_gone()
    assert not shared_segments(all_of_it)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_program_ends_while_its_probe_has_shared_memory(start, tmp_path, number):
    """As UCX has it where it opens an RDMA device."""
    running = start_held(start, held_at("uct_component_query", "__probe", tmp_path) | {"HOLD_SEGMENT": "1"})
    wait_until((tmp_path / "held").exists)
    all_of_it = running.processes()
    assert only(shared_segments(all_of_it))
    running.signal(number)
    running.finish(LONG_S)
    running.wait_until_gone()
    assert not shared_segments(all_of_it)
