"""What `peers.py` compares: each can say what it measures, why it cannot run here, and its command."""

import functools
import json
import pathlib
import re
import shutil
import subprocess

import carried
import joins
import tools
from cells import SETTINGS, WINDOW, Cell
from options import ROOT
from peer_cells import MATCH, Load, LocalJoin, few
from tools import Failed, done

HERE = pathlib.Path(__file__).resolve().parent
SET_UP_S = 900
DASK_LIMIT_S = 180
DASK_RUNS = 3


class Environment:
    """A virtual environment with locked packages, set up when it is first needed."""

    def __init__(self, requirements, folder):
        self.requirements, self.folder = requirements, folder

    @functools.cached_property
    def missing(self):
        """Why there is none, or None."""
        command = [ROOT / "scripts/setup/python", f"bench/fidelity/{self.requirements}", self.folder]
        try:
            made = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=SET_UP_S)
        except subprocess.TimeoutExpired:
            return f"{self.folder} was not set up in {SET_UP_S} s"
        return None if made.returncode == 0 else f"no {self.folder}: {made.stderr.strip().splitlines()[-1]}"

    @property
    def python(self):
        return ROOT / self.folder / "bin/python"

    def version_of(self, module, package):
        """Failed where it cannot be imported."""
        if self.missing:
            raise Failed(self.missing)
        asks = f"import {module}, importlib.metadata as of; print(of.version('{package}'))"
        return done([self.python, "-c", asks], f"import {module}").split()[-1]


JOINS = Environment("joins-requirements.txt", ".venv-joins")
PYTHON = Environment("peers-requirements.txt", ".venv-peers")


class Peer:
    """`family` is what --only names, `layer` what the table says of it, `about` what is special about
    its figures."""

    family, layer, about = "", "", ""

    def version(self):
        """Its version; Failed, with the reason, where it cannot run."""
        raise NotImplementedError

    def covers(self, cell):
        raise NotImplementedError

    def measure(self, cell):
        raise NotImplementedError

    def command(self, cell):
        raise NotImplementedError

    def note(self, cell):
        """What else is to be said of its last figure."""
        return ""

    def end(self):
        pass

    def carry(self, cell, transports):
        """Of one run of a cell, what carried its messages, as far as that can be known."""
        vars(self).setdefault("found", {}).setdefault(cell, set()).add(transports)

    def carried_by(self, cell):
        """Of all its runs; None where it sent nothing."""
        return " or ".join(sorted(vars(self).get("found", {}).get(cell, ()))) or None


def carried_in(run):
    """Of our last case, the transports of its proof."""
    return "+".join(sorted(run["cases"][-1]["path"].get("carried_by") or {})) or carried.UNKNOWN


class Ours(Peer):
    name = family = "ucx-bench"
    layer = "ours"

    def __init__(self, program):
        self.tool, self.join = tools.OurTool(program), joins.Ours(program)

    def version(self):
        return done([self.tool.program, "--version"], self.name).strip().splitlines()[0]

    def covers(self, cell):
        return True

    def command(self, cell):
        if isinstance(cell, Cell):
            return self.tool.command(cell)
        if isinstance(cell, LocalJoin):
            return self.join.command(cell)
        amount = ["--rows", cell.amount, "--frac-match", MATCH, "--generator", "dask"] \
            if cell.benchmark == "merge" else ["--size", cell.amount, "--chunk-size", cell.amount // 4]
        return [self.tool.program, cell.benchmark, "-n", 2, *amount, "--transports", cell.transport, "--bind", "0,1",
                "--launches", 1, "--runs", 3, "--no-calibrate", "--no-transfer-log"]

    def measure(self, cell):
        if isinstance(cell, Cell):
            run = self.tool.run(cell)
            self.carry(cell, carried_in(run))
            return tools.parse_ours(run, cell)
        run = tools.run_file(*self.command(cell))
        if not isinstance(cell, LocalJoin):
            self.carry(cell, carried_in(run))
        return cell.bytes / tools.wall_seconds(run) / 1e9


class OurSockets(Ours):
    """The same workloads without UCX."""

    name, family, layer = "ucx-bench sockets", "sockets", "ours, without UCX"
    about = "--comm sockets"

    def covers(self, cell):
        return isinstance(cell, Load)

    def command(self, cell):
        return [*super().command(cell), "--comm", "sockets"]


class Perftest(Peer):
    name = family = "ucx_perftest"
    layer = "UCX"
    about = "its 50th percentile of the last 2048; bandwidth over all messages"

    def __init__(self, program, preload):
        self.program, self.preload, self.tool = program, preload, None

    def version(self):
        found = shutil.which(self.program)
        if not found:
            raise Failed(f"no program {self.program} (Debian: ucx-utils)")
        self.program = found
        return "of the same UCX"

    def use(self, library):
        self.tool = tools.Perftest(self.program, library, self.preload)

    def covers(self, cell):
        return isinstance(cell, Cell)

    def command(self, cell):
        return [self.program, "127.0.0.1", *self.tool.test(cell)]

    def measure(self, cell):
        with carried.asked_of_ucx() as (settings, said):
            value = self.tool.measure(cell, settings)
            self.carry(cell, said(cell.bytes))
        return value


def mpirun(transport, over_ucx, command, ranks=2):
    """Of Open MPI: each rank on its CPU, and gone if mpirun is killed."""
    if over_ucx:
        how = ["--mca", "pml", "ucx", "--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any"]
    else:
        how = ["--mca", "pml", "ob1", "--mca", "btl", "self,tcp" if transport == "tcp" else "self,vader"]
        how += ["--mca", "btl_tcp_if_include", "lo"] if transport == "tcp" else []
    start = ["mpirun", "--allow-run-as-root", "--oversubscribe" if ranks > 2 else "--nooversubscribe", "--bind-to", "none", *how]
    parts = []
    for rank in range(ranks):
        parts += [*([":"] if rank else []), "-n", 1, "setpriv", "--pdeathsig", "KILL",
                  "taskset", "-c", rank if ranks == 2 else "0,1", *command]
    return start + parts


def open_mpi_version():
    if not shutil.which("mpirun"):
        raise Failed("no mpirun (Debian: openmpi-bin)")
    said = done(["mpirun", "--version"], "mpirun").splitlines()[0]
    if "Open MPI" not in said:
        raise Failed(f"mpirun is not Open MPI's: {said}")
    return said.split()[-1]


def parse_osu(text, size):
    """The figure of one size: µs of osu_latency, MB/s of osu_bw."""
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2 and words[0] == str(size):
            try:
                return float(words[1])
            except ValueError:
                break
    raise Failed(f"OSU printed no figure of {size} bytes")


class OverMpi(Peer):
    """`over_ucx`: Open MPI's messages go through UCX, else through its own transports."""

    def __init__(self, over_ucx):
        self.over_ucx = over_ucx
        self.name = self.family + (" over UCX" if over_ucx else "")

    def covers(self, cell):
        return isinstance(cell, Cell) and cell.api == "tag"

    def printed(self, cell):
        env = tools.environment(cell.transport)
        if self.over_ucx:
            return by_ucx(self, cell, env)
        # One of its own transports was allowed: no other can have carried anything.
        self.carry(cell, cell.transport)
        return done(self.command(cell), self.name, env)


@functools.cache
def osu_folder():
    """Of osu_latency and osu_bw: "" if they are on PATH, else built from source when first asked for."""
    if all(map(shutil.which, ("osu_latency", "osu_bw"))):
        return ""
    return done([ROOT / "scripts/setup/osu"], "scripts/setup/osu", limit_s=SET_UP_S).splitlines()[-1] + "/"


class Osu(OverMpi):
    family, layer = "osu", "MPI"
    about = "mean, not median, of the iterations"
    banner = ""  # of its last run: the program, with its version

    def version(self):
        mpi = open_mpi_version()
        osu_folder()
        return f"Open MPI {mpi}"

    def command(self, cell):
        program = "osu_latency" if cell.metric == "latency" else "osu_bw"
        test = [osu_folder() + program, *([] if cell.metric == "latency" else ["-W", WINDOW])]
        iterations = cell.iterations if cell.metric == "latency" else max(cell.iterations // WINDOW, 10)
        test += ["-m", f"{cell.bytes}:{cell.bytes}", "-i", iterations, "-x", max(iterations // 10, 10)]
        return mpirun(cell.transport, self.over_ucx, test)

    def measure(self, cell):
        self.banner = ""
        text = self.printed(cell)
        value = parse_osu(text, cell.bytes)
        self.banner = "".join(re.findall(r"^# (OSU .*)", text, re.MULTILINE)[:1])
        return value if cell.metric == "latency" else value / 1e3  # its MB are 10⁶ bytes

    def note(self, cell):
        return self.banner


def parse_echo(text):
    try:
        return json.loads(text.splitlines()[-1])["one_way_us"]
    except (IndexError, KeyError, TypeError, ValueError):
        raise Failed(f"no figure in '{text.strip()[-80:]}'") from None


class Mpi4py(OverMpi):
    family, layer = "mpi4py", "mpi4py"
    about = "Send and Recv of NumPy arrays"

    def version(self):
        mpi = open_mpi_version()
        return f"{PYTHON.version_of('mpi4py.MPI', 'mpi4py')}, Open MPI {mpi}"

    def covers(self, cell):
        return super().covers(cell) and cell.metric == "latency"

    def command(self, cell):
        echo = [PYTHON.python, HERE / "peer_echo.py", "mpi4py", cell.bytes, few(cell), "0,1"]
        return mpirun(cell.transport, self.over_ucx, echo)

    def measure(self, cell):
        return parse_echo(self.printed(cell))


def with_tcp(cell):
    """UCX's settings for whoever connects by IP address and asks for error handling: over shared memory, too, TCP makes
    the connection, and UCX is told to handle errors of shared memory, which it would not use otherwise."""
    env = tools.environment(cell.transport)
    if cell.transport != "tcp":
        env |= {"UCX_TLS": f"tcp,{SETTINGS[cell.transport]['UCX_TLS']}", "UCX_NET_DEVICES": "lo"} | carried.ERROR_HANDLING
    return env


def by_ucx(peer, cell, env, limit_s=tools.LIMIT_S):
    """What a program over UCX printed; UCX's own tables of its protocols say what carried that."""
    with carried.asked_of_ucx() as (settings, said):
        text = done(peer.command(cell), peer.name, env | settings, limit_s)
        peer.carry(cell, said(cell.bytes if isinstance(cell, Cell) else None))
    return text


def parse_send_recv(text):
    """The median in µs as UCXX's send_recv prints it: half of an iteration."""
    found = re.search(r"Latency \(median\)\D*(\d+) ns", text)
    if not found:
        raise Failed("UCXX's send_recv printed no median")
    return int(found[1]) / 1e3


class Ucxx(Peer):
    family, layer = "ucxx", "UCXX"

    def __init__(self, backend):
        self.backend, self.name = backend, f"ucxx {backend}"
        self.about = ("send_recv: both messages of an iteration are under way at once, so it is not halved"
                      if backend == "core" else "send_recv")

    def version(self):
        return PYTHON.version_of("ucxx", "ucxx-cu12")

    def covers(self, cell):
        return isinstance(cell, Cell) and cell.api == "tag" and cell.metric == "latency"

    def command(self, cell):
        return [PYTHON.python, "-m", "ucxx.benchmarks.send_recv", "--backend", f"ucxx-{self.backend}",
                "--progress-mode", "polling", "--reuse-alloc", "--no-detailed-report", "-n", cell.bytes,
                "--n-iter", few(cell), "--n-warmup-iter", few(cell) // 10 + 10,
                "--server-address", "127.0.0.1", "-b", 1, "-c", 0]

    def measure(self, cell):
        half = parse_send_recv(by_ucx(self, cell, with_tcp(cell)))
        return 2 * half if self.backend == "core" else half


class DaskMessages(Peer):
    """What Dask's workers send each other with, alone."""

    family, layer = "dask", "framework"

    def __init__(self, protocol):
        self.protocol, self.name = protocol, f"dask {protocol}"
        self.about = "distributed.comm, without scheduler and tasks"

    def version(self):
        version = PYTHON.version_of("distributed", "distributed")
        if self.protocol == "ucx":
            version += f", distributed-ucxx {PYTHON.version_of('distributed_ucxx', 'distributed-ucxx-cu12')}"
        return version

    def covers(self, cell):
        # Its own TCP is no transport of shared memory.
        return isinstance(cell, Cell) and cell.api == "tag" and cell.metric == "latency" \
            and (cell.transport == "tcp" or self.protocol == "ucx")

    def command(self, cell):
        return [PYTHON.python, HERE / "peer_echo.py", "dask", cell.bytes, few(cell), "0,1", self.protocol]

    def printed(self, cell, env, limit_s=tools.LIMIT_S):
        if self.protocol == "ucx":
            return by_ucx(self, cell, env, limit_s)
        self.carry(cell, "tcp")  # sockets, as its addresses say
        return done(self.command(cell), self.name, env, limit_s)

    def measure(self, cell):
        return parse_echo(self.printed(cell, with_tcp(cell)))


def parse_dask(text):
    """[(seconds, bytes that workers received)] of its runs."""
    try:
        lines = [line for line in text.splitlines() if line.startswith("{")]  # UCX warns on stdout, too
        return [(of["seconds"], of["received_bytes"]) for of in map(json.loads, lines)]
    except (KeyError, TypeError, ValueError):
        raise Failed(f"no figures in '{text.strip()[-80:]}'") from None


class DaskLoad(DaskMessages):
    """Two workers of one thread each; scheduler and client run on the same CPUs."""

    def __init__(self, protocol):
        super().__init__(protocol)
        if protocol == "mpi":
            self.about = "started by dask-mpi; messages go over TCP, not MPI"
        else:
            self.about = "two workers, the scheduler and the client on the same CPUs"
        self.name += " workers"
        self.received = {}  # bytes of the last run of each cell

    def version(self):
        if self.protocol != "mpi":
            return super().version()
        return (f"{PYTHON.version_of('distributed', 'distributed')}, "
                f"dask-mpi {PYTHON.version_of('dask_mpi', 'dask-mpi')}, Open MPI {open_mpi_version()}")

    def covers(self, cell):
        return isinstance(cell, Load)

    def command(self, cell):
        load = [PYTHON.python, HERE / "peer_dask.py", cell.benchmark, cell.amount, DASK_RUNS, self.protocol]
        if self.protocol == "mpi":  # a scheduler, a client, and two workers
            return mpirun(cell.transport, False, load, ranks=4)
        return ["taskset", "-c", "0,1", *load]

    def measure(self, cell):
        runs = parse_dask(self.printed(cell, tools.environment(cell.transport), DASK_LIMIT_S))
        if len(runs) != DASK_RUNS or not all(received for _, received in runs):
            raise Failed(f"{self.name}: {len(runs)} runs, of which {sum(of == 0 for _, of in runs)} moved no bytes")
        self.received[cell] = runs[-1][1]
        return cell.bytes / sorted(seconds for seconds, _ in runs)[len(runs) // 2] / 1e9

    def note(self, cell):
        return f"{self.received[cell] / 1e6:.0f} MB went between workers" if cell in self.received else ""


class Engine(Peer):
    layer = "engine"
    about = "one process, so many threads as CPUs"

    def __init__(self, name):
        self.name = self.family = name
        self.tool = joins.Engine(name, JOINS.python)

    def version(self):
        return JOINS.version_of(self.name, self.name)

    def covers(self, cell):
        return isinstance(cell, LocalJoin)

    def command(self, cell):
        return self.tool.command(cell)

    def measure(self, cell):
        return cell.bytes / self.tool.measure(cell) / 1e9

    def end(self):
        self.tool.end()


def all_peers(ucx_bench, perftest, preload):
    """Ours first; UCX's own, to which ping-pongs are compared, second."""
    return [
        Ours(ucx_bench), Perftest(perftest, preload), OurSockets(ucx_bench),
        Osu(False), Osu(True), Ucxx("core"), Ucxx("async"), Mpi4py(False), Mpi4py(True),
        DaskMessages("tcp"), DaskMessages("ucx"), DaskLoad("tcp"), DaskLoad("ucx"), DaskLoad("mpi"),
        Engine("duckdb"), Engine("polars"),
    ]
