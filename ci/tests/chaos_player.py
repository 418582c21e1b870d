"""Plays rounds of ci/chaos, in namespaces of its own where it is told so: for each number that comes, a line with what was
wrong, in JSON, or null. See test_chaos.py."""

import contextlib
import dataclasses
import json
import os
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time

from conftest import LONG_S, MEMORY_COPY, NO_MEMORY_COPY, PROGRAM, Started, of_processes, segments, wait_until
from fault_scene import is_ours, parent_of, rank_of
from namespaces import AS_ROOT, IP, PORT, WHY_NOT, Hosts, ip, token_in

SEED = os.environ["CHAOS_SEED"]
LAUNCHER = os.environ.get("CHAOS_LAUNCHER")
# Nothing that waits for events takes so long, on any machine; what a time-out of the program ends (a minute) hangs.
HARD_LIMIT_S = 50
# Each message of ranks that poll waits for a turn on the CPUs, behind all that wants them, too.
POLLING_LIMIT_S = 200
# No command here takes longer, so that a fault may also come too late.
LATEST_S = 1
MPIRUN_TAKES_S = 1

COMMANDS = {
    # Few iterations: where ranks poll and programs take turns on the CPUs, each message waits for a turn.
    "pingpong": lambda draw: ["--sizes", f"{draw.randint(1, 100)},{draw.randint(1, 100_000)}", "--iterations",
                              draw.randint(5, 30), "--warmup-runs", draw.randint(0, 1)],
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
        self.place = LAUNCHER or draw.choices(["local", "two hosts", "mpirun"], [12, 7, 1])[0]
        if WHY_NOT or self.place == "mpirun" and not shutil.which("mpirun"):
            self.place = "local"
        self.rank_count = draw.choice([2, 4])
        name = draw.choice(list(COMMANDS))
        transports = draw.choice(["tcp", "shm"]) if self.place == "local" else "tcp"
        self.words = [name, *map(str, COMMANDS[name](draw)), "-n", str(self.rank_count), "--transports", transports,
                      "--launches", str(draw.randint(1, 2)), "--bind", "none"]
        # More ranks that poll may take each other's CPUs for minutes.
        mode = draw.choice(["event", "poll"]) if self.rank_count == 2 else "event"
        self.words += ["--progress-mode", mode]
        self.limit_s = POLLING_LIMIT_S if mode == "poll" else HARD_LIMIT_S
        statuses = FAULTS | (FAR_FAULTS if self.place != "local" else {})
        if self.place == "mpirun":  # it passes on that it continues, and loses its way where it still starts
            del statuses["stop the program for a moment"]
        self.fault = draw.choice(list(statuses))
        self.statuses = statuses[self.fault]
        self.after_s = draw.uniform(0, LATEST_S + (MPIRUN_TAKES_S if self.place == "mpirun" else 0))
        # They would be half of all the work, and so take half of all faults.
        self.copies = draw.choice([MEMORY_COPY, NO_MEMORY_COPY, NO_MEMORY_COPY, NO_MEMORY_COPY])
        self.draw = draw

    def __str__(self):
        place = "" if self.place == "local" else f" on two hosts, by {'two shells' if self.place == 'two hosts' else 'mpirun'}"
        launcher = f" --launcher {LAUNCHER}" if LAUNCHER else ""
        return (f"{shlex.join(self.words)}{place}: {self.fault} after {self.after_s:.3f} s; again: "
                f"ci/chaos --seed {SEED}{launcher} --round {self.number}")

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
            if self.fault == "cut the link" and self.place == "mpirun":
                # It waits for its daemon there for ever.
                wait_until(lambda: not any(is_ours(pid) for pid in self.started[0].processes()), step_s=0.1)
                self.kill_all()
            ends = [program.finish(self.limit_s) for program in self.started]
            for program in self.started:
                program.wait_until_gone()
            self.check(ends)
        finally:
            self.kill_all()
            if self.fault == "cut the link":
                ip("-n", hosts.name("switch"), "link", "set", "to1", "master", "bridge")

    def kill_all(self):
        for program in self.started:
            program.kill_all()

    def begin(self):
        environment = self.copies | {"TMPDIR": str(self.folder / "spare")}
        words = [PROGRAM, *self.words, "--json", self.folder / "results" / "run.json"]
        if self.place == "local":
            self.started.append(Started(words[1:], self.folder, environment))
        elif self.place == "mpirun":
            launcher = self.hosts.by_mpirun(self.folder, 2)
            self.started.append(Started([*launcher, "-np", 2, *words], self.folder, environment | AS_ROOT, IP))
        else:
            token = token_in(self.folder)
            address = ["--token-file", token, "--listen", f"10.203.8.1:{PORT}", "--hosts", 2]
            self.started.append(Started(self.hosts.on(0, *words, *address), self.folder, environment, IP))
            address = ["--token-file", token, "--connect", f"10.203.8.1:{PORT}"]
            self.started.append(Started(self.hosts.on(1, PROGRAM, self.words[0], *address), self.folder, environment, IP))

    def act(self):
        what, _, whom = self.fault.partition(" ")
        first = self.started[0].process
        if "other host" in self.fault:
            self.act_on_the_other_host()
        elif self.fault.startswith("Ctrl-C") or self.fault == "SIGTERM":
            first.send_signal(signal.SIGTERM if self.fault == "SIGTERM" else signal.SIGINT)
            if "twice" in self.fault:
                time.sleep(0.1)
                first.send_signal(signal.SIGINT)
        elif "a rank" in whom:
            self.act_on_a_rank(what)
        elif what == "kill":
            first.kill()
        elif what == "stop":
            self.pause(first.send_signal)
        elif what == "cut":
            ip("-n", self.hosts.name("switch"), "link", "set", "to1", "nomaster")
        elif what == "remove":
            # With what is finished by then: the fault may come when the program has only to exit.
            (self.folder / "results").rename(self.folder / "removed")

    def act_on_the_other_host(self):
        number = signal.SIGKILL if self.fault.startswith("kill") else signal.SIGINT
        if self.place == "two hosts":
            self.started[-1].process.send_signal(number)
            return
        with contextlib.suppress(OSError):  # it has ended
            for pid in self.ranks():
                if rank_of(pid) == self.rank_count - 1:
                    os.kill(parent_of(pid), number)

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
        return [pid for program in self.started for pid in program.ranks()]

    @staticmethod
    def pause(send):
        send(signal.SIGSTOP)
        time.sleep(0.3)
        send(signal.SIGCONT)

    def check(self, ends):
        first = ends[0]
        if first.code in (-signal.SIGINT, -signal.SIGTERM) and not first.err:
            return  # it had not begun
        if self.place == "mpirun":  # which has statuses of its own
            assert (first.code == 0) in {status == 0 for status in self.statuses}, first
            assert "Traceback" not in first.err and "unexpected" not in first.err, first
        else:
            assert first.code in self.statuses, first
            self.check_words(ends)
        files = [*self.folder.glob("re*/run.json"), *self.folder.glob("spare/*/run.json")]
        if first.code == -signal.SIGKILL or "remove" in self.fault:
            # An empty one: it only tried whether it can write there.
            files = [file for file in files if file.stat().st_size > 0]
        for file in files:
            report = Started(["report", file.name, "--json", "whole.json"], file.parent, {}).finish(HARD_LIMIT_S)
            assert report.code == 0, (report, first)
            run = json.loads((file.parent / "whole.json").read_text())
            assert first.code != 0 or run["run"]["state"] == "complete", first
        assert files or first.code != 0, first

    @staticmethod
    def check_words(ends):
        for end in ends:
            assert "Traceback" not in end.err and "unexpected" not in end.err, end
            # One that waits for the first host, which never came, says so.
            killed = (-signal.SIGKILL, -signal.SIGINT)
            assert end.code in (0, 2, 3, 5, 130, *killed), end
            assert end.code in (0, 130, *killed) or len(end.complaints) >= 1, end


def left():
    """What there is in these namespaces beside this process, and its parent, which is their first."""
    for pid, status in of_processes("status"):
        if pid not in (1, os.getpid()) and b"State:\tZ" not in status:
            yield status.decode()
    yield from os.listdir("/dev/shm")
    yield from segments()


def remove_what_loading_left(chosen):
    """UCX has a segment while it is loaded, Open MPI one of mode 700 while it starts, on each host: of who is killed then it
    stays."""
    for _, segment, mode, size, creator, *_ in segments():
        of_ucx = chosen.fault == "kill the program" and int(creator) == chosen.started[0].pid
        of_open_mpi = chosen.place == "mpirun" and mode == "700"
        if int(size) == os.sysconf("SC_PAGE_SIZE") and (of_ucx or of_open_mpi):
            subprocess.run(["ipcrm", "-m", segment], check=True, timeout=20)


def play(number, folder, made):
    chosen = Round(number)
    try:
        if chosen.place != "local" and not made:
            made.append(Hosts(2, own_clocks=False))
            made[0].make()
        chosen.play(folder / str(number), made[0] if made else None)
        if os.environ.get("CHAOS_ALONE"):
            remove_what_loading_left(chosen)
            wait_until(lambda: not any(left()), lambda: list(left()), limit_s=LONG_S)
    except BaseException as error:
        return f"{chosen}\n{type(error).__name__}: {error}"
    return None


def main():
    made = []
    for line in sys.stdin:
        print(json.dumps(play(int(line), pathlib.Path(sys.argv[1]), made)), flush=True)


if __name__ == "__main__":
    main()
