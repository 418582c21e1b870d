"""soak: what is clean is said to be, and a leak of memory or open files in a rank or in the program is found."""

import pathlib
import re
import shutil
import signal

import pytest
from conftest import SHIM, only, wait_until

MISDELIVER_SHIM = pathlib.Path(SHIM).with_name("libmisdeliver.so")
LEAK_SHIM = pathlib.Path(SHIM).with_name("libleak.so")
# Enough to judge what grows from round to round.
ROUNDS = 14


def find_round(bench_once, plays):
    return next(number for number in range(300) if plays(bench_once("--dry-run", "soak", "--seed", 1, "--round", number).out))


@pytest.fixture(scope="module")
def a_round(bench_once):
    """The number of one that plays p2p over UCX on two ranks, with enough messages for a leak to show."""
    def plays(command):
        over_ucx = not re.search(r"--comm (?!ucx)|sockaddr", command) and re.search(r"--iterations (\d\d|[89])", command)
        return over_ucx and re.search(r"ucx-bench p2p .*--memory host.* --ranks 2 .*--transports (tcp|shm)\b", command)

    return find_round(bench_once, plays)


def test_all_that_is_drawn_is_verified(bench):
    drawn = [bench("--dry-run", "soak", "--seed", seed, "--round", 0).out for seed in (75, 271, 431, 595, 600)]
    assert all("--check full" in command for command in drawn), drawn


def test_where_nothing_could_run(bench):
    """That verifies nothing."""
    number = next(number for number in range(300) if "--memory cuda" in bench("--dry-run", "soak", "--seed", 1, "--round", number).out)
    done = bench("soak", "--seed", 1, "--round", number, environment={"CUDA_VISIBLE_DEVICES": ""})
    assert done.code == 3 and "1 rounds: 0 measured and verified, 0 failed, 1 could not run here" in done.out, done


def test_a_leak_in_a_rank(bench, a_round):
    done = bench("soak", "--seed", 1, "--round", a_round, environment={"LD_PRELOAD": str(LEAK_SHIM), "LEAK_IN": "ranks"})
    assert done.code == 1, done
    assert len(done.complaints) == 2, done
    for what, said in zip(("memory", "open files"), done.complaints):
        assert said.startswith(f"ucx-bench: round {a_round}: a rank's {what} grew with its work: "), done
    assert f"again: ucx-bench soak --seed 1 --round {a_round}\n" in done.err
    assert "1 rounds: 0 measured and verified, 1 failed, 0 could not run here; in 1 of them" in done.out, done


def test_wrong_data_of_more_work(bench, a_round, tmp_path):
    """The command is right, and is wrong with eight times the work."""
    def play(action, first):
        return bench("soak", "--seed", 1, "--round", a_round, environment={
            "LD_PRELOAD": str(MISDELIVER_SHIM), "MISDELIVER_ACTION": action, "MISDELIVER_FROM": str(first), "MISDELIVER_PHASE": "",
            "MISDELIVER_COUNT": "", "MISDELIVER_FOLDER": str(counts)})

    counts = tmp_path / "counts"
    counts.mkdir()
    assert play("nothing", 0).code == 0
    messages = sorted(int(file.read_text().split()[0]) for file in counts.iterdir())
    assert len(messages) == 4 and messages[1] < messages[2], messages
    done = play("elsewhere", messages[1])
    assert done.code == 4 and "1 rounds: 0 measured and verified, 1 failed, 0 could not run here; in 0 of them" in done.out, done


def test_an_interrupted_round_has_not_failed(start, a_round, tmp_path):
    fault = {"LD_PRELOAD": SHIM, "FAULT_ACTION": "hang", "FAULT_RANK": "1", "FAULT_PHASE": "connecting",
             "FAULT_FOLDER": str(tmp_path), "FAULT_AFTER": "0", "FAULT_CALL": "", "FAULT_LATE_US": "0"}
    running = start("soak", "--seed", 1, "--round", a_round, environment=fault)
    wait_until((tmp_path / "acted").exists)
    running.signal(signal.SIGINT)
    done = running.finish()
    assert done.code == 130, done
    assert "1 rounds: 0 measured and verified, 0 failed, 0 could not run here, 1 interrupted; in 0 of them" in done.out, done


def test_ranks_of_mpirun_are_seen(bench, bench_once):
    """They are its children, not the program's."""
    if not shutil.which("mpirun"):
        pytest.skip("no mpirun")
    def plays(command):
        elsewhere = re.search(r"sockaddr|rdmacm|thread|event", command)
        return not elsewhere and re.search(r"--comm mpi\b.*--memory host .*--transports (tcp|shm|auto)\b", command)

    number = find_round(bench_once, plays)
    done = bench("soak", "--seed", 1, "--round", number)
    if "1 could not run here" in done.out:
        pytest.skip(done.out)
    assert done.code == 0 and "in 1 of them ranks were compared" in done.out, done


def test_the_same_without_a_leak(bench, a_round, tmp_path):
    done = bench("soak", "--seed", 1, "--round", a_round)
    assert done.code == 0 and done.err == "", done
    assert "1 rounds: 1 measured and verified, 0 failed, 0 could not run here; in 1 of them ranks were compared" in done.out
    assert not list(tmp_path.iterdir())


def test_a_leak_in_the_program(bench):
    done = bench("soak", "--seed", 2, "--rounds", ROUNDS, limit_s=900, environment={"LD_PRELOAD": str(LEAK_SHIM), "LEAK_IN": "program"})
    assert done.code == 1, done
    assert [re.sub(r" grew.*", "", said) for said in done.complaints] == [
        "ucx-bench: this program's memory", "ucx-bench: this program's open files"], done
    assert f"again: ucx-bench soak --seed 2 --rounds {ROUNDS}\n" in done.err
    assert f"{ROUNDS} rounds: " in done.out and "open files of this program: " in done.out


def test_what_goes_wrong_is_said_with_how_to_see_it_again(bench, a_round, tmp_path):
    """A rank that is killed."""
    fault = {"LD_PRELOAD": SHIM, "FAULT_ACTION": "kill", "FAULT_RANK": "1", "FAULT_PHASE": "connecting",
             "FAULT_FOLDER": str(tmp_path), "FAULT_AFTER": "0", "FAULT_CALL": "", "FAULT_LATE_US": "0"}
    done = bench("soak", "--seed", 1, "--round", a_round, environment=fault)
    assert done.code == 5, done
    file = f"ucx-bench-soak/1-{a_round}.json"
    assert only(done.complaints).endswith(f"in phase \"connecting\"; its run file is '{file}'"), done
    assert re.search(rf"\n  ucx-bench p2p --.*\n  again: ucx-bench soak --seed 1 --round {a_round}\n", done.err)
    assert (tmp_path / file).exists()
    assert "1 rounds: 0 measured and verified, 1 failed, 0 could not run here" in done.out
