"""What the tests of the whole program share: running it, and looking for what it left behind."""

import contextlib
import functools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time
import uuid

import jsonschema
import pytest

pytest.register_assert_rewrite("fault_scene")

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["TESTED_PROGRAM"]
SHIM = os.environ["FAULT_SHIM"]
NO_FORK_SHIM = pathlib.Path(SHIM).with_name("libno_fork.so")
HOLD_SHIM = pathlib.Path(SHIM).with_name("libhold.so")
SANITIZED = bool(os.environ.get("TESTED_SANITIZERS"))
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "results/schema/run-1.schema.json").read_text())
)

# For what is to happen at once. Far more than a busy machine and sanitizers need, and less than the
# time-outs of the program (a minute): what only a time-out ends is not in time.
LONG_S = 30
# For a state that a run reaches by its work, as a launch or two.
REACHED_S = 120

# So many messages of 8 B take far more than 50 steps of the clock, even where all of them have come
# before the receiver gets its processor; of fewer there might be no rate.
QUICK = {"--launches": 1, "--iterations": 80, "--bind": "none", "--json": "run.json"}
# Each case warms up for a tenth of a second on both CPUs; test_pingpong.py has those that do.
QUICK_PINGPONG = QUICK | {"--warmup-runs": 0}
# Timing copies of memory takes longer than all else that most runs of tests do: only those that look
# at what comes of it have it.
NO_MEMORY_COPY, MEMORY_COPY = ({"UCXBENCH_NO_MEMORY_COPY": no} for no in ("true", "false"))
# What makes a run of a benchmark short.
SHORT = {
    "pingpong": ["--sizes", "8", "--iterations", 80],
    "p2p": ["--sizes", "64KiB", "--iterations", 5],
    "cold": ["--sizes", "8,64KiB", "--iterations", 10],
    "transpose": ["--size", 250, "--chunk-size", 100],
    "merge": ["--rows", "10K"],
    "halo": ["--size", 64],
    "svd": ["--rows", 500, "--columns", 8],
    "moe": ["--tokens", 100, "--routing", "uniform"],
    "kv": ["--tokens", 16, "--sessions", 1],
    "replay": [ROOT / "ci/tests/dask-transfers.json"],
    "loggp": ["--sizes", "8,64,512"],
    "incast": ["-n", 3, "--sizes", "64KiB", "--runs", 1],
}
# Ranks beyond the CPUs sleep instead of taking each other's time.
CROWDED = ["--progress-mode", "event"]
# How UCX 1.13, and one with a threshold for each kind of peer, say UCX_RNDV_THRESH=1K.
RNDV_FROM_1K = ("1K", "intra:1K,inter:1K")


def drawn(low, high, usual):
    """What a fault's timing is: the usual one, or any, with TESTED_AT_RANDOM=1."""
    return random.randint(low, high) if os.environ.get("TESTED_AT_RANDOM") else usual


def clean_environment():
    """Nothing of the caller's that changes what is measured, and what sanitizers need."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("UCX_", "UCXBENCH_", "FAULT_"))}
    for name in ("NO_COLOR", "CLICOLOR_FORCE", "GITHUB_STEP_SUMMARY"):
        kept.pop(name, None)
    kept["TERM"] = "dumb"
    if SANITIZED:
        kept["UCX_MEM_EVENTS"] = "n"
        kept["ASAN_OPTIONS"] = kept.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return kept


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "release_only: skipped with sanitizers, where other tests run the same C++, as their coverage shows")
    config.addinivalue_line(
        "markers", "thinned(n): with sanitizers one of n sets of parameters, which differ in little that C++ sees")


def pytest_collection_modifyitems(items):
    if not SANITIZED:
        return
    seen = {}
    for item in items:
        if item.get_closest_marker("release_only"):
            item.add_marker(pytest.mark.skip(reason="release only: other tests run its C++ with sanitizers"))
        elif thinned := item.get_closest_marker("thinned"):
            at = seen[item.originalname] = seen.get(item.originalname, -1) + 1
            if at % thinned.args[0]:
                item.add_marker(pytest.mark.skip(reason="with sanitizers one of several"))


def wait_until(state, what=lambda: "it never was so", step_s=0.02, limit_s=REACHED_S):
    """Returns once `state()` is true; `what()` says what there was instead."""
    deadline = time.monotonic() + limit_s
    while not state():
        assert time.monotonic() < deadline, what()
        time.sleep(step_s)


def in_some_attempt(attempt, attempts=10):
    """For a bound on how fast something is, which a busy machine may exceed, but not each time: whether
    one of so many attempts is true. What is too slow by itself never is."""
    return any(attempt(number) for number in range(attempts))


def held_at(call, command, folder):
    """The environment in which `command` stays at its first such call: see shims/hold.cpp."""
    return {"LD_PRELOAD": str(HOLD_SHIM), "HOLD_CALL": call, "HOLD_COMMAND": command, "HOLD_FOLDER": str(folder)}


def never_drawn(folder):
    """The environment in which Python never ends to draw, and has started a program, too; where it does, `folder` has the
    file "drawing"."""
    python = folder / "python"
    python.write_text("#!/bin/sh\nsleep 600 &\ntouch drawing\nwait\n")
    python.chmod(0o700)
    return {"UCXBENCH_PYTHON": str(python)}


@functools.cache
def measuring_commands():
    """The commands that measure cases of their own, as the program names them."""
    listed = subprocess.run([PROGRAM, "list", "benchmarks", "--format", "json"], env=clean_environment(), check=True,
                            stdout=subprocess.PIPE)
    return [each["name"] for each in json.loads(listed.stdout)]


class Finished:
    """A run that is over, or whose output so far is looked at."""

    def __init__(self, code, out, err, folder, ended_at):
        self.code, self.out, self.err, self.folder, self.ended_at = code, out, err, folder, ended_at

    @property
    def file(self):
        """The run file, which must be what the schema says."""
        run = json.loads(
            (self.folder / "run.json").read_text(), parse_constant=lambda name: pytest.fail(name)
        )
        errors = [f"{e.json_path}: {e.message}" for e in SCHEMA.iter_errors(run)]
        assert not errors, errors
        return run

    @property
    def complaints(self):
        return [line for line in self.err.splitlines() if line.startswith("ucx-bench: ")]

    def __repr__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Started:
    def __init__(self, arguments, folder, environment, program=PROGRAM):
        self.folder = folder
        self.mark = f"MARK_OF_TEST={uuid.uuid4()}"
        name, value = self.mark.split("=")
        usual = NO_MEMORY_COPY if {*arguments} & {*measuring_commands()} else {}
        self.process = subprocess.Popen(
            [program, *map(str, arguments)],
            cwd=folder,
            env=clean_environment() | {name: value} | usual | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    @property
    def pid(self):
        return self.process.pid

    def signal(self, number):
        self.process.send_signal(number)

    def signal_taken(self, number):
        """Sends it, and returns when it was taken: two of a kind that are pending at once are one."""
        self.signal(number)
        wait_until(lambda: not pending(self.pid, number), step_s=0.001)

    def finish(self, limit_s=240):
        try:
            out, err = self.process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            self.kill_all()
            out, err = self.process.communicate(timeout=20)
            pytest.fail(f"still running after {limit_s} s\n{(out + err).decode(errors='replace')}")
        # As bytes until here: a carriage return must stay one.
        text = [stream.decode(errors="replace") for stream in (out, err)]
        return Finished(self.process.returncode, *text, self.folder, time.monotonic())

    def processes(self):
        """Whatever carries this run's mark, however it was started."""
        return [pid for pid, environment in of_processes("environ") if self.mark.encode() in environment]

    def ranks(self):
        """Those of them that are ranks."""
        return [pid for pid, environment in of_processes("environ")
                if self.mark.encode() in environment and b"UCXBENCH_INTERNAL_RANK=" in environment]

    def kill_all(self):
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def end(self):
        self.kill_all()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.communicate(timeout=10)

    def wait_until_gone(self):
        # What waits for ranks that take long to die has two minutes.
        wait_until(lambda: not self.processes(), what=self.described, limit_s=150)

    def described(self):
        statuses = []
        for pid in self.processes():
            with contextlib.suppress(OSError):
                statuses.append(pathlib.Path(f"/proc/{pid}/status").read_text())
        return statuses


def of_processes(file):
    """Each living process with what its file in /proc holds."""
    # A pattern that names the file, too, would fail at a process that ends meanwhile.
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            yield int(folder.name), (folder / file).read_bytes()


def pending(pid, number):
    """Whether a signal waits to be taken."""
    masks = re.findall(r"(?:Sig|Shd)Pnd:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text())
    return any(int(mask, 16) & 1 << (number - 1) for mask in masks)


def segments():
    """System V segments: (key, number, mode, size, creator, …)"""
    return [row.split() for row in pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]


def shared_segments(creators):
    """Those that one of these processes made."""
    return [segment for _, segment, _, _, creator, *_ in segments() if int(creator) in creators]


def orphans_in_dev_shm():
    """Files there that no living process has mapped."""
    mapped = {name for _, maps in of_processes("maps") for name in re.findall(r"/dev/shm/(\S+)", os.fsdecode(maps))}
    files = {file.name for file in pathlib.Path("/dev/shm").iterdir() if file.is_file()}
    return files - mapped


@pytest.fixture
def start(tmp_path):
    """start(ARGUMENTS…) in an empty folder; ends what the test left running."""
    started = []

    def run(*arguments, environment=None, folder=tmp_path, program=PROGRAM):
        folder.mkdir(exist_ok=True)
        started.append(Started(arguments, folder, environment or {}, program))
        return started[-1]

    yield run
    for program in started:
        program.end()


@pytest.fixture
def bench(start):
    """bench(ARGUMENTS…): runs the program to its end."""

    def run(*arguments, limit_s=240, **options):
        return start(*arguments, **options).finish(limit_s)

    return run


def commands(bench):
    """All of them, as the program names them."""
    found = re.findall(r"^  (\w+) ", bench("--help").out.partition("Subcommands:")[2], re.M)
    assert len(found) > 20
    return found


@pytest.fixture(scope="module")
def bench_once(tmp_path_factory):
    """bench_once(ARGUMENTS…): as `bench`, with status 0, for what several tests of a file look at."""

    def run(*arguments):
        done = Started(arguments, tmp_path_factory.mktemp("shared"), {}).finish()
        assert done.code == 0, done
        return done

    return run


@pytest.fixture
def pingpong(bench):
    """A short ping-pong, with its run file; keyword `code` is the status that is expected."""

    def run(*arguments, code=0, **options):
        done = bench("pingpong", *quick(arguments), **options)
        assert done.code == code, done
        return done

    return run


def quick(arguments, options=QUICK_PINGPONG):
    """With what makes a run short, where the test says nothing else."""
    given = dict(zip(arguments, arguments[1:]))
    usual = [word for pair in options.items() if pair[0] not in given for word in pair]
    return [*usual, *arguments]


@pytest.fixture
def ucx_copies(tmp_path):
    """Prefixes of copies of this machine's UCX: "same", byte for byte, and "other", whose libucp has one byte more."""
    found = [file.parent for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
             for file in pathlib.Path(folder).glob("libucp.so.0")]
    if not found:
        pytest.skip("no UCX of the distribution")
    for name in ("same", "other"):
        libraries = tmp_path / name / "lib"
        shutil.copytree(found[0] / "ucx", libraries / "ucx")
        for file in found[0].glob("libuc[mpst].so.0"):
            shutil.copy(file, libraries)
    with (tmp_path / "other/lib/libucp.so.0").open("ab") as library:
        library.write(b"0")
    return tmp_path / "same", tmp_path / "other"


def only(cases):
    assert len(cases) == 1, cases
    return cases[0]


def checked_window(size, window=8):
    """Messages of a stream's last window, of which each is checked: those that fit 4 MiB, two at least."""
    return min(window, max(2, (4 << 20) // (-(-size // 64) * 64)))


def verified_runs(case):
    """What a workload's case says of its checks: of each rank one for each run and each exchange alone, and one more of all messages
    of an exchange in which places are used again."""
    p = case["parameters"]
    alone = p["calibrations"] + (case["benchmark"] in ("transpose", "halo")) if p["ranks"] > 1 and p["calibrations"] else 0
    return {"checked": p["ranks"] * (alone + p["warmup_runs"] + p["runs"]), "errors": 0}


def assert_sound(case, errors=0, rates=True):
    """A measured case has samples of every metric, all payloads right. Without `rates`: of messages
    so small and few that there may be none."""
    assert case["state"] == "measured", case["reason"]
    assert case["verified"]["errors"] == errors
    assert case["verified"]["checked"] > 0
    of = {"latency": {"latency_us"}, "bandwidth": {"bandwidth_GBps", "message_rate_per_s"}}
    for measured in case["parameters"]["measure"] if rates else ["latency"]:
        assert of[measured] <= case["metrics"].keys()
    for metric in case["metrics"].values():
        assert 0 < metric["min"] <= metric["p50"] <= metric["max"]


class Fault:
    """A run in which one thing happens at a chosen point, and what it left."""

    def __init__(self, start, folder):
        self.start, self.folder = start, folder
        self.shared_before = orphans_in_dev_shm()

    def run(self, action, rank, phase, *arguments, after=0, call="", command=None, folder=None):
        """In a short ping-pong, or in `command`."""
        self.running = self.start(
            *(command or ["pingpong", *quick([*arguments, "--sizes", "8,64"])]),
            environment=self.environment(action, rank, phase, after, call),
            folder=folder or self.folder,
        )
        return self.running

    def environment(self, action, rank, phase, after=0, call=""):
        """What makes it happen."""
        pids = self.folder / "pids"
        pids.mkdir(parents=True)
        steps = [pathlib.Path(SHIM).with_name("libstep.so")] if action.startswith("step:") else []
        return {
            "LD_PRELOAD": ":".join(map(str, [SHIM, *steps])), "FAULT_ACTION": action, "FAULT_RANK": str(rank),
            "FAULT_PHASE": phase, "FAULT_AFTER": str(after), "FAULT_CALL": call,
            "FAULT_FOLDER": str(pids), "FAULT_LATE_US": str(drawn(0, 50_000, 0)),
        }

    def acted_at(self):
        """When it happened."""
        file = self.folder / "pids" / "acted"

        def acted():
            assert self.running.process.poll() is None or file.exists(), self.running.finish()
            return file.exists() and file.read_text().endswith("\n")

        wait_until(acted, what=lambda: f"the fault never happened: {self.running.finish(1)}", step_s=0.005)
        happened, self.pid = file.read_text().split()
        return float(happened)

    def took_s(self):
        """The run to its end, and how long after the fault that was."""
        happened = self.acted_at()
        done = self.running.finish()
        return done, done.ended_at - happened

    def finish_in_time(self):
        """The run to its end, which was no time-out's."""
        done, seconds = self.took_s()
        assert seconds < LONG_S, done
        return done

    def wait_until_stopped(self):
        """The rank is about to stop itself when it says that it acts."""
        self.acted_at()
        status = pathlib.Path(f"/proc/{self.pid}/status")
        wait_until(lambda: "State:\tT" in status.read_text(), step_s=0.001)

    def go_on(self):
        """After "hold"."""
        (self.folder / "pids" / "go-on").touch()

    def assert_nothing_is_left(self):
        # A listening socket does not outlive the processes that hold it.
        self.running.wait_until_gone()
        ranks = {int(file.name) for file in (self.folder / "pids").glob("[0-9]*")}
        assert ranks
        # A segment goes a moment after the last process that had it attached; files of other programs, where
        # ci/tests/run could not give these tests a /dev/shm of their own, come and go.
        def left():
            return [*shared_segments(ranks), *(orphans_in_dev_shm() - self.shared_before)]

        wait_until(lambda: not left(), what=left, limit_s=LONG_S)


@pytest.fixture
def fault(start, tmp_path):
    return Fault(start, tmp_path)
