"""A run in which something goes wrong, as fault_matrix.py has it, and what must come of it."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import fault_matrix
from conftest import CROWDED, LONG_S, PROGRAM, QUICK, Fault, Started, held_at, only, wait_until
from fault_matrix import LAUNCHERS, MOMENTS
from namespaces import AS_ROOT, IP, PORT, ip, token_in


class Scene:
    """A run that reaches a moment, and what came of it."""

    def __init__(self, case, folder, hosts):
        self.fault, self.moment, self.place, self.transport = case
        self.folder, self.hosts = folder, hosts
        self.rank, self.words = MOMENTS[self.moment]
        self.inside = bool(self.fault.action)  # the rank does it itself
        self.started = []
        self.output = folder / "results"
        self.output.mkdir()
        self.mounted = False
        (folder / "spare").mkdir()

    def begin(self):
        self.watch = Fault(None, self.folder)
        words = ["pingpong", *(word for pair in (QUICK | {"--json": self.output / "run.json", "--warmup-runs": 1}).items()
                               for word in pair), *CROWDED, "--sizes", "8,64", "--transports", self.transport]
        environment = self.environment() | {"TMPDIR": str(self.folder / "spare")}
        if self.place == "local":
            self.start(PROGRAM, words, environment)
        elif self.place == "mpirun":
            agents = [PROGRAM, *words, "-n", 2]
            self.start(IP, [*self.hosts.by_mpirun(self.folder, 2), "-np", 2, *agents], environment | AS_ROOT)
        elif self.place == "srun":
            agents = ["srun", "-N", 2, "--mpi=pmix", PROGRAM, *words, "-n", 2]
            self.start(IP, self.hosts.slurm.on(0, *agents), environment | self.hosts.slurm.environment)
        else:
            token = token_in(self.folder)
            address = ["--token-file", token, "--listen", f"10.203.8.1:{PORT}", "--hosts", 2, "-n", 2]
            self.start(IP, self.hosts.on(0, PROGRAM, *words, *address), environment)
            address = ["--token-file", token, "--connect", f"10.203.8.1:{PORT}"]
            self.start(IP, self.hosts.on(1, PROGRAM, "pingpong", *address), environment)
        self.first = self.watch.running = self.started[0]

    def start(self, program, words, environment):
        folder = self.folder / f"at{len(self.started)}"
        folder.mkdir()
        self.started.append(Started(words, folder, environment, program))

    def environment(self):
        if self.rank is not None:
            # A link between two hosts is what this one is at the end of.
            return self.watch.environment(self.fault.action or "hold", self.rank, self.words)
        pids = self.folder / "pids"
        pids.mkdir()
        return held_at("rename", "pingpong", pids) | {"HOLD_SAYS": f"{self.output}/{self.words}"}

    def reach(self):
        """When it happens, or everything is held and it can be done."""
        if self.rank is not None:
            return self.watch.acted_at()
        held = self.folder / "pids" / "held"
        wait_until(lambda: held.exists() and held.read_text().endswith("\n"), lambda: [program.finish(1) for program in self.started])
        return None

    def agent(self, host):
        """The process that supervises that host's ranks."""
        if self.rank is None:
            held = (self.folder / "pids" / "held").read_text().strip()
            holds = [pid for program in self.started for pid in program.processes() if own_number(pid) == held]
            # Two hosts of Slurm may have the same number for a process.
            return only([pid for pid in holds if self.place != "srun" or b"SLURM_PROCID=0\0" in environment_of(pid)])
        if self.place == "two hosts":
            return self.started[host].pid
        ranks = {rank_of(pid): pid for pid in self.first.processes()}
        return parent_of(ranks[host])

    def act(self):
        """What no rank does itself. Returns when it was done."""
        done_at = time.monotonic()
        if self.fault.action == "kill-parent" or self.fault.name.startswith("the first"):
            os.kill(self.agent(0), signal.SIGKILL)
        elif self.fault.name.startswith("another"):
            os.kill(self.agent(1), signal.SIGKILL)
        elif self.fault.name.endswith("run is killed"):
            self.first.process.kill()
        elif self.fault.name.endswith("down"):
            ip("-n", self.hosts.name(1), "link", "set", "eth7", "down")
        elif self.fault.name.endswith("everything"):
            ip("-n", self.hosts.name("switch"), "link", "set", "to1", "nomaster")
        elif self.fault.name == "the disk is full":
            with open(self.output / "filler", "wb", buffering=0) as filler, contextlib.suppress(OSError):
                while filler.write(bytes(4096)) == 4096:
                    pass
        elif self.fault.name.endswith("removed"):
            shutil.rmtree(self.output)
        self.watch.go_on()
        return done_at

    @contextlib.contextmanager
    def surroundings(self):
        with contextlib.ExitStack() as after:
            after.callback(self.end)
            if self.fault.name == "the disk is full":
                subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", self.output], check=True, timeout=20)
                after.callback(lambda: subprocess.run(["umount", "-l", self.output], capture_output=True, timeout=20))
            if self.place == "srun":
                after.callback(self.hosts.slurm.settle)
            if "link" in self.fault.name:
                after.callback(self.mend_link)
            yield

    def mend_link(self):
        ip("-n", self.hosts.name(1), "link", "set", "eth7", "up")
        ip("-n", self.hosts.name("switch"), "link", "set", "to1", "master", "bridge")
        wait_until(lambda: "state UP" in ip("-n", self.hosts.name(1), "link", "show", "eth7"))

    def kill_all(self):
        for program in self.started:
            program.kill_all()

    def end(self):
        for program in self.started:
            program.end()

    def play_from_start(self):
        """Of what is wrong before anything begins: how long it took to the end."""
        words = [PROGRAM, "pingpong", *self.fault.options, "--json", self.output / "run.json"]
        if self.place == "local":
            small = 'mount -t tmpfs -o size=64k none /dev/shm && exec "$@"'
            self.start(shutil.which("unshare"), ["--mount", "sh", "-c", small, "sh", *words], {})
        else:
            words = self.hosts.on(0, *words, "--token-file", token_in(self.folder))
            if "taken" in self.fault.name:  # by another one, which waits
                self.start(IP, words, {})
                assert "waiting 10 min" in self.started[0].process.stderr.readline().decode()
            self.start(IP, words, {})
        begun = time.monotonic()
        done = self.started[-1].finish(LONG_S)
        self.kill_all()
        assert done.code == self.fault.code, done
        assert re.search(self.fault.says, done.err + done.out.replace("\n", "")), done
        for program in self.started:
            program.wait_until_gone()
        assert not list(self.output.glob("*.tmp"))
        return done.ended_at - begun

    def play(self):
        """Everything that is asked of it. Returns how long it took from the fault to the end of all."""
        if self.fault.options:
            with self.surroundings():
                return self.play_from_start()
        with self.surroundings():
            self.begin()
            happened = self.reach()
            if not self.inside or self.rank is None:
                happened = self.act()
            launched = self.place in LAUNCHERS
            if launched:
                ended = self.ours_are_gone_at()
            if "link" in self.fault.name and launched:
                self.kill_all()  # the launcher, and its daemon there, which wait for each other for ever
            ends = [program.finish(LONG_S) for program in self.started]
            for program in self.started:
                program.wait_until_gone()
            if not launched:
                ended = time.monotonic()
            took_s = ended - happened
            if self.rank is not None:
                self.watch.assert_nothing_is_left()
            self.check(ends)
        return took_s

    def ours_are_gone_at(self):
        """A launcher takes seconds to end, whatever it has started."""
        wait_until(lambda: not any(is_ours(pid) for pid in self.first.processes()), step_s=0.05)
        return time.monotonic()

    def check(self, ends):
        first = ends[0]
        assert "Traceback" not in first.err, first
        # Launchers have statuses of their own.
        launched = self.place in LAUNCHERS
        code = first.code != 0 if launched else first.code
        assert code == (self.fault.code != 0 if launched else self.fault.code), first
        run = self.whole_run(first)
        if self.fault.says:
            host = os.uname().nodename if self.place == "local" else f"node{self.rank}"
            # Of a rank that reports its case nothing but the phase before is known.
            phase = ".*" + (re.escape(self.words) if self.rank == 1 else "")
            said = self.fault.says.format(rank=self.rank, host=host, phase=phase)
            # A launcher that is killed keeps to itself what it was told to print. srun reads no more once all tasks have
            # ended, if one of them was killed (slurm_step_launch_wait_finish in Slurm's src/api/step_launch.c).
            cut = launched and "link" in self.fault.name
            may_be_cut = self.place == "srun" and self.fault.name.endswith("agent is killed")
            complaints = [run["run"]["reason"]] if cut or (may_be_cut and not first.complaints) else first.complaints
            assert len(complaints) == 1 and re.search(said, complaints[0]), (run["run"], first)

    def whole_run(self, first):
        """What a report makes of what is there."""
        folder = self.output
        if "goes on in" in self.fault.says:
            folder = only(list((self.folder / "spare").iterdir()))
        report = Started(["report", "run.json", "--json", "whole.json"], folder, {}).finish(LONG_S)
        assert report.code == 0, (report, first)
        run = json.loads((folder / "whole.json").read_text())
        states = [case["state"] for case in run["cases"]]
        if self.fault.code == 0 or "goes on in" in self.fault.says:
            assert states == ["measured", "measured"] and run["run"]["state"] == "complete", (run["run"], first)
        else:
            # What is written when the program is killed is all there.
            allowed = ("complete", "interrupted") if self.rank is None else ("failed", "interrupted")
            assert run["run"]["state"] in allowed, (run["run"], first)
            assert len(states) == 2
            assert states[0] == "measured" or self.moment not in fault_matrix.FIRST_CASE_IS_MEASURED, (states, first)
        return run


def is_ours(pid):
    with contextlib.suppress(OSError):
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return words[0] == PROGRAM.encode()
    return False


def rank_of(pid):
    with contextlib.suppress(OSError):
        for entry in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if entry.startswith(b"UCXBENCH_INTERNAL_RANK="):
                return int(entry.split(b"=")[1])
    return None


def parent_of(pid):
    return int(re.search(r"PPid:\s*(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])


def own_number(pid):
    """By which it knows itself: Slurm's daemons number their processes anew."""
    with contextlib.suppress(OSError):
        return re.search(r"NSpid:.*?(\d+)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)[1]
    return None


def environment_of(pid):
    return pathlib.Path(f"/proc/{pid}/environ").read_bytes()
