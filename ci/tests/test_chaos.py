"""A random command in which something goes wrong at a random moment, many times: it ends, leaves nothing, and what was
measured can be read. See ci/chaos."""

import contextlib
import dataclasses
import json
import os
import random
import shlex
import shutil
import signal
import time

import pytest
from conftest import PROGRAM, SANITIZED, Started, orphans_in_dev_shm, wait_until
from test_fault_matrix import Pool, can_have_hosts, rank_of
from test_hosts import PORT, ip

SEED = os.environ.get("CHAOS_SEED") or str(random.randrange(1_000_000))
ROUNDS = int(os.environ.get("CHAOS_ROUNDS") or (8 if SANITIZED else 24))
ONLY = os.environ.get("CHAOS_ROUND")
# Nothing that works takes so long, on any machine; what a time-out of the program ends (a minute) hangs.
HARD_LIMIT_S = 50
# No command here takes longer, so that a fault may also come too late.
LATEST_S = 1.5

COMMANDS = {
    "pingpong": lambda draw: ["--sizes", f"{draw.randint(1, 100)},{draw.randint(1, 100_000)}", "--iterations",
                              draw.randint(20, 200), "--warmup-runs", draw.randint(0, 1)],
    "p2p": lambda draw: ["--sizes", draw.randint(1, 200_000), "--iterations", draw.randint(4, 50), "--runs", 1],
    "cold": lambda draw: ["--sizes", draw.randint(1, 100_000), "--iterations", draw.randint(2, 10)],
    "merge": lambda draw: ["--rows", draw.randint(100, 20_000), "--runs", draw.randint(1, 3)],
    "transpose": lambda draw: ["--size", 60 * draw.randint(1, 10), "--chunk-size", 20, "--runs", draw.randint(1, 3)],
    "halo": lambda draw: ["--size", draw.randint(16, 200), "--runs", draw.randint(1, 3)],
}
# What happens, and with which statuses the program may end then; with 0, or as it would have, where it came too late.
LOST, ENDED = {0, 5}, {0, 130}
FAULTS = {
    "kill a rank": LOST, "crash a rank": LOST, "abort a rank": LOST, "stop a rank": LOST,
    "stop a rank for a moment": {0}, "stop the program for a moment": {0},
    "kill the program": {0, -signal.SIGKILL}, "Ctrl-C": ENDED, "Ctrl-C twice": ENDED, "SIGTERM": ENDED,
    "remove the folder": LOST | {2}, "nothing": {0},
}
FAR_FAULTS = {"kill the other host's program": LOST | {3}, "cut the link": LOST | {3}, "Ctrl-C on the other host": ENDED | {3}}
TO_RANKS = {"kill": signal.SIGKILL, "crash": signal.SIGSEGV, "abort": signal.SIGABRT, "stop": signal.SIGSTOP}


@dataclasses.dataclass
class Round:
    number: int

    def __post_init__(self):
        draw = random.Random(f"{SEED}/{self.number}")
        self.far = can_have_hosts() and draw.random() < 0.4
        ranks = draw.choice([2, 4])
        name = draw.choice(list(COMMANDS))
        transports = "tcp" if self.far else draw.choice(["tcp", "shm"])
        self.words = [name, *map(str, COMMANDS[name](draw)), "-n", str(ranks), "--transports", transports, "--launches",
                      str(draw.randint(1, 2)), "--bind", "none",
                      # More than that may take each other's CPUs for a minute.
                      "--progress-mode", draw.choice(["event", "poll"]) if ranks == 2 else "event"]
        statuses = FAULTS | (FAR_FAULTS if self.far else {})
        self.fault = draw.choice(list(statuses))
        self.statuses = statuses[self.fault]
        self.after_s = draw.uniform(0, LATEST_S)
        self.draw = draw

    def __str__(self):
        place = " on two hosts" if self.far else ""
        return (f"{shlex.join(self.words)}{place}: {self.fault} after {self.after_s:.3f} s; again: "
                f"ci/chaos --seed {SEED} --round {self.number}")

    def play(self, folder, hosts):
        self.folder, self.hosts = folder, hosts
        self.started = []
        (folder / "spare").mkdir(parents=True)
        (folder / "results").mkdir()
        try:
            self.begin()
            if self.fault in FAR_FAULTS:
                # For a host that has left before, the first waits for 10 minutes.
                wait_until(lambda: self.ranks() or self.started[0].process.poll() is not None)
            time.sleep(self.after_s)
            self.act()
            ends = [one.finish(HARD_LIMIT_S) for one in self.started]
            for one in self.started:
                one.wait_until_gone()
            self.check(ends)
        finally:
            for one in self.started:
                for pid in one.processes():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            if self.fault == "cut the link":
                ip("-n", hosts.name("switch"), "link", "set", "to1", "master", "bridge")

    def begin(self):
        environment = {"TMPDIR": str(self.folder / "spare")}
        words = [PROGRAM, *self.words, "--json", self.folder / "results" / "run.json"]
        if not self.far:
            self.started.append(Started(words[1:], self.folder, environment))
            return
        token = self.folder / "token"
        token.write_text("5c" * 32)
        token.chmod(0o600)
        address = ["--token-file", token, "--listen", f"10.203.8.1:{PORT}", "--hosts", 2]
        program = shutil.which("ip")
        self.started.append(Started(self.hosts.on(0, *words, *address), self.folder, environment, program))
        address = ["--token-file", token, "--connect", f"10.203.8.1:{PORT}"]
        self.started.append(Started(self.hosts.on(1, PROGRAM, self.words[0], *address), self.folder, environment, program))

    def act(self):
        what, _, whom = self.fault.partition(" ")
        first = self.started[0].process
        if self.fault.startswith("Ctrl-C") or self.fault == "SIGTERM":
            to = self.started[-1 if "other" in self.fault else 0].process
            to.send_signal(signal.SIGTERM if self.fault == "SIGTERM" else signal.SIGINT)
            if "twice" in self.fault:
                time.sleep(0.1)
                to.send_signal(signal.SIGINT)
        elif "a rank" in whom:
            self.act_on_a_rank(what)
        elif what == "kill":
            self.started[-1 if "other" in whom else 0].process.kill()
        elif what == "stop":
            self.pause(first.send_signal)
        elif what == "cut":
            ip("-n", self.hosts.name("switch"), "link", "set", "to1", "nomaster")
        elif what == "remove":
            shutil.rmtree(self.folder / "results")

    def act_on_a_rank(self, what):
        ranks = self.ranks()
        if not ranks:
            return  # not yet, or no more
        pid = self.draw.choice(sorted(ranks))
        with contextlib.suppress(ProcessLookupError):
            if "moment" in self.fault:
                self.pause(lambda number: os.kill(pid, number))
            else:
                os.kill(pid, TO_RANKS[what])

    def ranks(self):
        return [pid for one in self.started for pid in one.processes() if rank_of(pid) is not None]

    @staticmethod
    def pause(send):
        send(signal.SIGSTOP)
        time.sleep(0.3)
        send(signal.SIGCONT)

    def check(self, ends):
        first = ends[0]
        if first.code in (-signal.SIGINT, -signal.SIGTERM) and not first.err:
            return  # it had not begun
        assert first.code in self.statuses, first
        for end in ends:
            assert "Traceback" not in end.err and "unexpected" not in end.err, end
            # One that waits for the first host, which never came, says so.
            killed = (-signal.SIGKILL, -signal.SIGINT)
            assert end.code in (0, 2, 3, 5, 130, *killed), end
            assert end.code in (0, 130, *killed) or len(end.complaints) >= 1, end
        files = [*(self.folder / "results").glob("run.json"), *self.folder.glob("spare/*/run.json")]
        for file in files:
            report = Started(["report", file.name, "--json", "whole.json"], file.parent, {}).finish(HARD_LIMIT_S)
            assert report.code == 0, (report, first)
            run = json.loads((file.parent / "whole.json").read_text())
            assert first.code != 0 or run["run"]["state"] == "complete", first
        assert files or first.code != 0, first


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    pool = Pool(tmp_path_factory.mktemp("slurm"))
    folder = tmp_path_factory.mktemp("rounds")
    numbers = [int(ONLY)] if ONLY else range(ROUNDS)
    before = orphans_in_dev_shm()
    print(f"ci/chaos --seed {SEED} --rounds {len(numbers)}", flush=True)
    yield {number: pool.submit(play, Round(number), folder / str(number), pool) for number in numbers}
    pool.end()
    wait_until(lambda: not orphans_in_dev_shm() - before, lambda: f"seed {SEED}: {orphans_in_dev_shm() - before}")


def play(chosen, folder, pool):
    with pool.hosts("two hosts" if chosen.far else "local") as hosts:
        chosen.play(folder, hosts)


@pytest.mark.parametrize("number", [int(ONLY)] if ONLY else range(ROUNDS))
def test_round(rounds, number):
    try:
        rounds[number].result()
    except BaseException as error:
        raise AssertionError(f"{Round(number)}\n{error}") from error
