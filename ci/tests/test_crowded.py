"""More ranks than CPUs: by themselves they sleep until they have something to do. And whose turn it is not sleeps anyway."""

import os
import pathlib

import pytest
from conftest import SHORT, in_some_attempt, only, wait_until
from fault_scene import rank_of

QUICK = ["--launches", 1, "--bind", "none", "--json", "run.json"]
COMMANDS = {
    "p2p": ["p2p", "-n", 4, "-s", "8,100001", "--iterations", 16, "--runs", 1],
    "merge": ["merge", "-n", 4, "--rows", "20K", "--runs", 1],
    "transpose": ["transpose", "-n", 4, "--size", 600, "--chunk-size", 50, "--runs", 1],
    "halo": ["halo", "-n", 4, "--size", 64, "--runs", 1],
    "cold": ["cold", "-n", 3, "-s", "4KiB,100001", "--iterations", 3],
}


@pytest.fixture
def one_cpu():
    """For this process and those that it starts."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    yield
    os.sched_setaffinity(0, allowed)


def asleep_ms(case):
    return [record["overheads"]["asleep_ms"] for record in case["launches"] if "asleep_ms" in record["overheads"]]


@pytest.mark.parametrize("transport", ["tcp", "shm"])
@pytest.mark.parametrize("command", COMMANDS)
def test_more_ranks_than_cpus_sleep(bench, one_cpu, command, transport):
    concurrent = ["--concurrent", "one,disjoint,all"] if command == "p2p" else []
    done = bench(*COMMANDS[command], *QUICK, *concurrent, "--transports", transport, "--require", transport)
    assert done.code == 0, done
    run = done.file
    ranks = COMMANDS[command][2]
    assert run["run"]["crowded"] == [{"progress_mode": "event", "ranks": ranks, "cpus": 1}]
    assert "oversubscribed" in run["machine"]["labels"]
    assert f"event ({ranks} ranks on 1 CPU)" in done.out
    for case in run["cases"]:
        assert case["state"] == "measured", case["reason"]
        assert case["verified"]["errors"] == 0 and case["verified"]["checked"] > 0
        assert "/progress-mode=event" in case["key"]
        if command != "cold":
            assert only(asleep_ms(case)) > 0


@pytest.mark.parametrize("command", ["p2p", "halo"])
def test_poll_polls(bench, one_cpu, command):
    done = bench(command, "-n", 2, *COMMANDS[command][3:], *QUICK, "--transports", "tcp", "--progress-mode", "poll")
    assert done.code == 0, done
    for case in done.file["cases"]:
        assert case["state"] == "measured", case["reason"]
        assert "progress-mode" not in case["key"] and asleep_ms(case) == []
    assert "poll (2 ranks on 1 CPU): polling ranks take turns" in done.err


@pytest.mark.parametrize("command", ["p2p", "kv", "halo", "cold"])
def test_ranks_that_a_wrapper_puts_on_one_cpu_are_labelled(bench, command):
    """Whatever was planned: each rank says where it may run."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("there is one CPU")
    for allowed, labelled in ((cpus[:1], True), (cpus[:2], False)):
        done = bench(command, *SHORT[command], *([] if command == "kv" else ["-n", 2]), *QUICK, "--transports", "tcp",
                     "--progress-mode", "event", "--wrap", f"taskset -c {','.join(map(str, allowed))}")
        assert done.code == 0, done
        assert "crowded" not in done.file["run"]
        assert ("oversubscribed" in done.file["machine"]["labels"]) == labelled, done.file["ranks"]
        assert ("oversubscribed" in done.out) == labelled, done


def test_as_many_ranks_as_cpus_poll(bench, one_cpu):
    done = bench("--dry-run", "merge", "-n", "1,2", "--rows", "1K", "--transports", "shm")
    assert done.code == 0, done
    assert "/ranks=1" in done.out and "/progress-mode=event/ranks=2" in done.out
    assert "/progress-mode=event/ranks=1" not in done.out


def test_other_modes_are_pingpongs(bench):
    done = bench("p2p", "--progress-mode", "thread")
    assert done.code == 2 and "--progress-mode: 'thread': here ranks wait by poll or event" in only(done.complaints)


def cpu_ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.parametrize("mode", ["poll", "event"])
def test_a_rank_whose_turn_it_is_not_uses_next_to_no_cpu(start, mode):
    """Its processor's time beside that of one that sends, whatever the machine."""
    running = start("p2p", "-n", 3, "-s", "1MiB", "--concurrent", "one", "--iterations", 1_000_000,
                    "--transports", "tcp", "--progress-mode", mode, *QUICK)

    def ranks():
        return {rank_of(pid): pid for pid in running.ranks()}

    wait_until(lambda: len(ranks()) == 3)
    sends, _, waits = (ranks()[rank] for rank in range(3))

    def slept_while_the_other_sent(_):
        began = cpu_ticks(sends), cpu_ticks(waits)
        wait_until(lambda: cpu_ticks(sends) >= began[0] + 50)
        return cpu_ticks(waits) - began[1] <= 5

    # The first time may be that of their start.
    assert in_some_attempt(slept_while_the_other_sent)
