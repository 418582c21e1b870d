"""Runs the two tools, one at a time, with the same pinning and settings, and reads their numbers."""

import contextlib
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import tempfile
import time

from cells import SETTINGS, WINDOW

LIMIT_S = 60  # of one run of either tool: the longest takes about 3 s
MIB = 1 << 20
# The side that sends first, or sends at all, is on CPU 0 under both tools.
LEAD_CPU, FOLLOW_CPU = 0, 1


class Failed(Exception):
    """One run gave no number."""


class Unfit(Exception):
    """The two tools cannot be compared here."""


def environment(transport, library_folder=None):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("UCX_")}
    clean |= SETTINGS[transport] | {"UCX_HANDLE_ERRORS": "none"}
    if library_folder:
        clean["LD_LIBRARY_PATH"] = str(library_folder)
    return clean


def start(command, env, stdin=subprocess.DEVNULL):
    """A process that ends with this one, whatever ends this one; its group is its own."""
    return subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", *map(str, command)],
        env=env,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def end(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # also what a process left behind that has ended itself
    process.communicate()


def output(process, name, limit_s=LIMIT_S):
    """What a process printed; Failed unless it ended well in time."""
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise Failed(f"{name}: not done after {limit_s:g} s") from None
    if process.returncode != 0:
        said = [line.strip() for line in (out + "\n" + err).splitlines() if any(map(str.isalpha, line))]
        raise Failed(f"{name}: status {process.returncode}: {said[-1] if said else 'no message'}")
    return out


def done(command, name, env=None, limit_s=LIMIT_S):
    """What a command printed; Failed unless it ended well in time."""
    process = start(command, env)
    try:
        return output(process, name, limit_s)
    finally:
        end(process)


class Server:
    """A process that holds its data, and says a number each time that it is sent a line; the first
    one unasked."""

    def __init__(self, name, command, env):
        self.name = name
        self.process = start(command, env, stdin=subprocess.PIPE)
        try:
            self.answer()
        except BaseException:
            self.end()
            raise

    def ask(self):
        print(file=self.process.stdin, flush=True)
        return self.answer()

    def answer(self):
        out = self.process.stdout
        if not select.select([out], [], [], LIMIT_S)[0]:
            raise Failed(f"{self.name}: no answer after {LIMIT_S} s")
        line = out.readline()
        if not line:
            output(self.process, self.name)
            raise Failed(f"{self.name}: it ended")
        return float(line)

    def end(self):
        end(self.process)


def run_file(program, *arguments, env=None):
    """The run file that one call of ucx-bench writes; Failed unless it ended well."""
    with tempfile.TemporaryDirectory(prefix="fidelity-") as folder:
        file = pathlib.Path(folder, "run.json")
        done([program, "--quiet", *arguments, "--json", file], "ucx-bench", env)
        return json.loads(file.read_text())


def parse_perftest(csv):
    """{"latency": one-way µs, "bandwidth": GB/s, "rate": 1/s} of the client's output under -v -f."""
    lines = csv.splitlines()
    for names, values in zip(lines, lines[1:]):
        if names.startswith("iterations,"):
            row = dict(zip(names.split(","), values.split(",")))
            try:
                return {
                    "latency": float(row["50.0_percentile_lat"]),
                    "bandwidth": float(row["overall_bw"]) * MIB / 1e9,  # it means MiB/s
                    "rate": float(row["overall_mr"]),
                }
            except (KeyError, ValueError) as error:
                raise Failed(f"ucx_perftest: cannot read '{values}' under '{names}'") from error
    raise Failed("ucx_perftest printed no result")


def parse_ours(run, cell):
    """The cell's of the last case in our run file; the bandwidth of who posts, as theirs is."""
    case = run["cases"][-1]
    if case["state"] != "measured":
        raise Failed(f"ucx-bench: {case['state']}: {case['reason']}")
    bandwidth = "bandwidth_GBps" if cell.is_answered else "bandwidth_sender_GBps"
    names = {"latency": "latency_us", "bandwidth": bandwidth, "rate": "message_rate_per_s"}
    return case["metrics"][names[cell.metric]]["p50"]


def wall_seconds(run):
    """Of a workload's only case: the median of its runs."""
    case = run["cases"][0]
    if case["state"] != "measured":
        raise Failed(f"ucx-bench: {case['state']}: {case['reason']}")
    return case["metrics"]["wall_ms"]["p50"] / 1e3


def library_of(pid):
    """The libucp that a process has loaded."""
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        path = pathlib.Path(line.split(maxsplit=5)[-1])
        if path.name.startswith("libucp.so"):
            return str(path)
    return None


def is_listening(port):
    ending = f":{port:04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in pathlib.Path(table).read_text().splitlines()[1:]:
            _, local, _, state = line.split()[:4]
            if local.endswith(ending) and state == "0A":
                return True
    return False


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class OurTool:
    def __init__(self, program):
        self.program = program

    def command(self, cell, sizes=None):
        """One launch of a cell, or of these sizes."""
        arguments = ["pingpong", "--transports", cell.transport]
        arguments += ["--api", cell.api, "--sizes", sizes or cell.bytes]
        arguments += ["--measure", "latency" if cell.metric == "latency" else "bandwidth"]
        arguments += ["--launches", 1, "--iterations", cell.iterations, "--window", WINDOW]
        arguments += ["--bind", f"{LEAD_CPU},{FOLLOW_CPU}"]
        for name, value in SETTINGS[cell.transport].items():
            arguments += ["--ucx", f"{name}={value}"]
        return [self.program, *arguments]

    def run(self, cell, sizes=None):
        return run_file(*self.command(cell, sizes), env=environment(cell.transport))

    def measure(self, cell):
        return parse_ours(self.run(cell), cell)


class AfterProof(OurTool):
    """Ours, measuring a cell in processes that have proved what carried a smaller size just before."""

    def measure(self, cell):
        run = self.run(cell, f"{cell.bytes // 2},{cell.bytes}")
        if not all(case["path"].get("protocols") for case in run["cases"]):
            raise Unfit("this ucx-bench does not say what carried the messages")
        return parse_ours(run, cell)


class PlainLoop:
    """plain_loop.cpp in the place of ours: tag bandwidth with UCX's calls alone, and what `words` add."""

    def __init__(self, program, words):
        self.program = program
        self.words = words

    def measure(self, cell):
        if cell.test != "tag_bw":
            raise Unfit(f"plain_loop measures tag bandwidth, not {cell.key}")
        command = [self.program, cell.bytes, cell.iterations, LEAD_CPU, FOLLOW_CPU, *self.words]
        return json.loads(done(command, "plain_loop", environment(cell.transport)))["sender_GBps"]


class Perftest:
    def __init__(self, program, library, preload, ucx="0.0"):
        self.program = program
        # An eager message into the receive buffer, as ours does. Before it never did.
        self.copies_am = tuple(map(int, ucx.split(".")[:2])) >= (1, 15)
        self.library = library  # ours: theirs must be the same file
        self.preload = preload  # perftest_shim.cpp, or None

    def test(self, cell):
        more = ["-y"] if cell.api == "am" and self.copies_am else []
        more += ["-O", WINDOW] if cell.is_answered and cell.metric != "latency" else []
        return ["-t", cell.test, "-s", cell.bytes, "-n", cell.iterations, *more, "-v", "-f"]

    def measure(self, cell, settings=None):
        """ucx_perftest's number of a cell, with more settings of UCX. In a latency test its server sends first, in others its client
        does; the client reports both."""
        server_leads = cell.metric == "latency" and not cell.is_answered
        cpus = [LEAD_CPU, FOLLOW_CPU] if server_leads else [FOLLOW_CPU, LEAD_CPU]
        # Named, since without it a ucx_perftest from elsewhere quietly takes the system's libraries.
        env = environment(cell.transport, pathlib.Path(self.library).parent) | (settings or {})
        if self.preload:
            env["LD_PRELOAD"] = str(self.preload)
        port = free_port()
        common = [self.program, "-p", port]
        server = start([*common, "-c", cpus[0]], env)
        client = None
        try:
            self._await_server(server, port)
            client = start([*common, "127.0.0.1", "-c", cpus[1], *self.test(cell)], env)
            result = parse_perftest(output(client, "ucx_perftest"))
            output(server, "ucx_perftest's server", limit_s=5)
            return result[cell.metric]
        finally:
            for process in filter(None, (client, server)):
                end(process)

    def _await_server(self, server, port):
        deadline = time.monotonic() + 10
        while not is_listening(port):
            if server.poll() is not None or time.monotonic() > deadline:
                raise Failed("ucx_perftest's server does not listen")
            time.sleep(0.002)
        loaded = library_of(server.pid)
        if loaded is None or not os.path.samefile(loaded, self.library):
            raise Unfit(f"not the same UCX: ucx-bench runs on {self.library}, {self.program} on {loaded}")
