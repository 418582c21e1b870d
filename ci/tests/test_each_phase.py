"""Ctrl-C and SIGTERM in each phase of each command: the program is held in the phase, whatever it waits for there.

What ranks do is in test_endings.py."""

import os
import signal
import socket

import pytest
from conftest import LONG_S, MEMORY_COPY, QUICK_PINGPONG, REACHED_S, SANITIZED, held_at, never_drawn, only, quick, wait_until

PINGPONG = ["pingpong", *quick([], QUICK_PINGPONG | {"--launches": 2, "--transports": "shm", "--sizes": 8})]
SUITE = "launches = 2\n[[case]]\nargs = \"pingpong --transports shm --sizes 8 --iterations 80 --warmup-runs 0 --no-memory-copy\"\n"
SITE = "ranks = 2\n[[expect]]\ntransports = \"shm\"\nmin_GBps = 0.001\n"


class Phase:
    """`begin(run, folder)` prepares `folder`, starts the command by run(environment) and returns once it is in the phase."""

    def __init__(self, command, begin, keeps=()):
        self.command, self.begin, self.keeps = command, begin, keeps


def at_call(command, call, keeps=(), says="", busy=False, program=None, more=None):
    """At a call of `program`, a word of its command line; with what is asked of the run file then."""

    def begin(run, folder):
        environment = held_at(call, program or command[0], folder) | {"HOLD_SAYS": says} | (more or {})
        run(environment | ({"HOLD_BUSY": "1"} if busy else {}))
        wait_until((folder / "held").exists, what=lambda: "it was never there")

    return Phase(command, begin, keeps)


def at_file(command):
    """Where it reads the file "pipe", to which nobody writes."""

    def begin(run, folder):
        os.mkfifo(folder / "pipe")
        run({})

        def is_read():
            try:
                os.open(folder / "pipe", os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                return False
            return True

        wait_until(is_read, what=lambda: "nobody reads it")

    return Phase(command, begin)


def drawing(command, keeps=()):
    """While Python draws."""

    def begin(run, folder):
        run(never_drawn(folder))
        wait_until((folder / "drawing").exists, what=lambda: "nothing is drawn")

    return Phase(command, begin, keeps)


def saying(command, words):
    def begin(run, folder):
        running = run({})
        # Its stderr is a pipe, of which nothing else is read before.
        assert words in running.process.stderr.readline().decode(), running.finish()

    return Phase(command, begin)


def with_a_silent_peer():
    listener = socket.create_server(("127.0.0.1", 0))
    accepted = []

    def begin(run, folder):
        run({})
        listener.settimeout(REACHED_S)
        accepted.append(listener.accept())

    return Phase(["pingpong", "--connect", f"127.0.0.1:{listener.getsockname()[1]}", "--token-file", "token"], begin)


TOKEN = ["--token-file", "token"]
AB = ["ab", "suite.toml", "--folder", "runs", "--new-env", "SIDE=new"]
PHASES = {
    # What is read before anything else.
    "options file": at_file([*PINGPONG, "--config", "pipe"]),
    "suite file": at_file(["suite", "pipe"]),
    "suite file of ab": at_file(["ab", "pipe", "--new-env", "SIDE=new"]),
    "site file": at_file(["check", "--expect", "pipe"]),
    "run of report": at_file(["report", "pipe"]),
    "run of compare": at_file(["compare", "pipe", "pipe"]),
    "run of advise": at_file(["advise", "pipe"]),
    "run of plot": at_file(["plot", "pipe"]),
    "another machine's topology": at_file(["topo", "--import", "pipe"]),
    # What this machine is asked.
    "probe of version": at_call(["--version"], "uct_component_query", program="__probe"),
    "probe of list": at_call(["list", "transports"], "uct_component_query", program="__probe"),
    "probe of doctor": at_call(["doctor"], "uct_component_query", program="__probe"),
    "probe of a dry run": at_call(["--dry-run", *PINGPONG], "uct_component_query", program="__probe"),
    "probe of pingpong": at_call(PINGPONG, "uct_component_query", program="__probe"),
    "probe of suite": at_call(["suite", "suite.toml"], "uct_component_query", program="__probe"),
    "probe of check": at_call(["check", "--expect", "site.toml"], "uct_component_query", program="__probe"),
    "probe of a side of ab": at_call(AB, "uct_component_query", program="__probe"),
    "topology in doctor": at_call(["doctor"], "hwloc_topology_load", program="__probe"),
    "topology": at_call(["topo"], "hwloc_topology_load"),
    # The second machine.
    "name of the listener": at_call(["pingpong", "--connect", "far:1", *TOKEN], "getaddrinfo"),
    "name to listen on": at_call(["pingpong", "--listen", "far:1", *TOKEN], "getaddrinfo"),
    "listening": saying(["pingpong", "--listen", "127.0.0.1:0", *TOKEN, "--transports", "tcp"], "waiting 10 min for"),
    "handshake": with_a_silent_peer(),
    # Around launches.
    "trying its file": at_call(PINGPONG, "remove"),
    "first file": at_call(PINGPONG, "rename", busy=True),
    "first file of ab": at_call(AB, "rename", busy=True),
    "copying speed": at_call(PINGPONG, "sched_setaffinity", busy=True, more=MEMORY_COPY),
    "copying speed again": at_call(PINGPONG, "sched_setaffinity", ["measured"], "run.json.partial launch_time", busy=True,
                                   more=MEMORY_COPY),
    "canary": at_call(["suite", "suite.toml", "--json", "run.json"], "socketpair", busy=True),
    "whole file": at_call(PINGPONG, "rename", ["measured"], "run.json.partial finished_utc", busy=True),
    # Pages.
    "page of pingpong": drawing([*PINGPONG, "--html", "page.html"], ["measured"]),
    "page of doctor": drawing(["doctor", "--html", "page.html"]),
    "page of report": drawing(["report", "recorded.json", "--html", "page.html"]),
    "page of compare": drawing(["compare", "recorded.json", "other.json", "--html", "page.html"]),
    "picture": drawing(["plot", "recorded.json"]),
    "picture of the topology": drawing(["topo", "--format", "svg"]),
    "dashboard": drawing(["dashboard", "."]),
}


@pytest.fixture(scope="module")
def recorded(bench_once):
    return (bench_once(*PINGPONG).folder / "run.json").read_text(encoding="utf-8")


def each_with_both():
    """With sanitizers two phases of three, by one signal each."""
    both = [(phase, number) for phase in PHASES for number in (signal.SIGINT, signal.SIGTERM)]
    return [pair for at, pair in enumerate(both) if not SANITIZED or at % 6 in (0, 3)]


@pytest.mark.parametrize("phase,number", each_with_both())
def test_it_ends(start, bench, recorded, tmp_path, phase, number):
    of = PHASES[phase]
    (tmp_path / "suite.toml").write_text(SUITE)
    (tmp_path / "site.toml").write_text(SITE)
    (tmp_path / "token").write_text("0123456789abcdef0123456789abcdef\n")
    (tmp_path / "token").chmod(0o600)
    (tmp_path / "recorded.json").write_text(recorded)
    (tmp_path / "other.json").write_text(recorded.replace('"id": "', '"id": "other-'))
    started = []

    def run(environment):
        started.append(start(*of.command, environment=environment))
        return started[0]

    of.begin(run, tmp_path)
    running = only(started)
    running.signal(number)
    done = running.finish(LONG_S)
    assert done.code == 130, done
    # One line says so at once, whatever has to be ended before.
    words = "stopped by Ctrl-C" if number == signal.SIGINT else "terminated by SIGTERM"
    assert f"ucx-bench: {words}" in done.err or "ending; once more ends at once" in done.err, done
    running.wait_until_gone()
    left = [file for file in tmp_path.rglob("*") if file.suffix == ".tmp" or file.name == "run.json" and not file.stat().st_size]
    assert not left, left
    if of.keeps:
        report = bench("report", "run.json", "--json", "whole.json")
        assert report.code == 0, report
        assert only(report.folder.joinpath("whole.json").read_text().split('"state": "measured"')[1:2])
