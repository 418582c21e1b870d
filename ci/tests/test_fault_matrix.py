"""What goes wrong, when and where (fault_matrix.py): said in time, nothing is left, what was measured is kept."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import queue
import re
import shutil
import threading
import time

import fault_matrix
import pytest
from conftest import SANITIZED
from fault_matrix import FAULTS, cases, name_of
from fault_scene import Scene
from namespaces import WHY_NOT, Hosts
from test_slurm import NEEDED, Slurm

FULL = os.environ.get("FAULT_MATRIX") == "full"
# They wait most of their time.
AT_ONCE = 4
# Of so many runs one must be as fast as documented: a busy machine may hold up any.
ATTEMPTS = 8


class Pool:
    """Does several things at once, each on hosts of its own where it needs any; one at a time by Slurm."""

    def __init__(self, folder):
        self.sets = queue.Queue()
        self.numbers = list(range(AT_ONCE))  # of sets that are not made yet
        self.made = []
        self.lock = threading.Lock()
        self.by_slurm = threading.Lock()
        self.slurm = Slurm(Hosts(2, AT_ONCE, own_clocks=False), folder)
        self.pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE)

    def submit(self, *what):
        return self.pool.submit(*what)

    @contextlib.contextmanager
    def hosts(self, place):
        if place == "srun":
            with self.by_slurm:
                yield self.hosts_with_slurm()
            return
        borrowed = None if place == "local" else self.borrow()
        try:
            yield borrowed
        finally:
            if borrowed:
                self.sets.put(borrowed)

    def hosts_with_slurm(self):
        hosts = self.slurm.hosts
        if hosts not in self.made:
            self.made.append(hosts)
            hosts.make()
            hosts.slurm = self.slurm
            self.slurm.begin()
        return hosts

    def borrow(self):
        with self.lock:
            if self.sets.empty() and self.numbers:
                hosts = Hosts(2, self.numbers.pop(), own_clocks=False)
                self.made.append(hosts)  # others append to it meanwhile
                hosts.make()
                return hosts
        return self.sets.get()

    def end(self):
        self.pool.shutdown(cancel_futures=True)
        self.slurm.end()
        for hosts in self.made:
            hosts.remove()


def play(case, folder, pool):
    """How long it took from the fault to the end, each time until it was as fast as documented."""
    fault, _, place, _ = case
    took_s = []
    with pool.hosts(place) as hosts:
        while len(took_s) < ATTEMPTS:
            scene = folder / str(len(took_s))
            scene.mkdir(parents=True)
            took_s.append(Scene(case, scene, hosts).play())
            if took_s[-1] <= fault.limit_s[place != "local"] or SANITIZED or goes_on(fault):
                break
    return took_s


def goes_on(fault):
    return fault.code == 0 or "goes on" in fault.says


@pytest.fixture(scope="module")
def played(request, tmp_path_factory):
    """By the name of each case that is wanted, what becomes of it; and where its time is noted."""
    pool = Pool(tmp_path_factory.mktemp("slurm"))
    folder = tmp_path_factory.mktemp("scenes")
    wanted = [item.callspec.params["case"] for item in request.session.items if hasattr(item, "callspec")]
    noted_s = {}
    began = time.monotonic()
    yield {name_of(case): pool.submit(play, case, folder / str(number), pool)
           for number, case in enumerate(wanted) if not why_not(case)}, noted_s
    pool.end()
    if FULL and len(wanted) == len(CASES):
        fault_matrix.RECORD.parent.mkdir(exist_ok=True)
        record = {"machine": machine(), "cases": len(noted_s), "at_once": AT_ONCE,
                  "wall_s": round(time.monotonic() - began), "took_s": dict(sorted(noted_s.items()))}
        fault_matrix.RECORD.write_text(json.dumps(record, indent=1) + "\n")


def machine():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{len(os.sched_getaffinity(0))} CPUs, {model[1] if model else 'unknown'}, Linux {os.uname().release}"


def why_not(case):
    fault, _, place, _ = case
    if place != "local" and WHY_NOT:
        return WHY_NOT
    if place == "mpirun" and not shutil.which("mpirun"):
        return "no mpirun (Open MPI)"
    if place == "srun" and not all(map(shutil.which, NEEDED)):
        return "no Slurm"
    if fault.name.endswith("full") and os.geteuid() != 0:
        return "a file system of the test's own needs root"
    if SANITIZED and fault.action == "segv":
        return "a sanitizer ends a rank that crashes by itself"
    if SANITIZED and fault.action == "oom":
        return "a sanitizer's memory has no limit"
    if SANITIZED and fault.action.startswith("step:"):
        return "a sanitizer asks for the time before anything else runs"
    return ""


# With sanitizers some: what the others do is the same C++.
CASES = cases(FULL)[:: 3 if SANITIZED else 1]


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_fault(played, case):
    if why_not(case):
        pytest.skip(why_not(case))
    futures, noted_s = played
    took_s = futures[name_of(case)].result()
    noted_s[name_of(case)] = round(min(took_s), 2)
    fault, _, place, _ = case
    assert SANITIZED or goes_on(fault) or min(took_s) <= fault.limit_s[place != "local"], took_s


def test_the_page_has_the_matrix():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    page = fault_matrix.PAGE.read_text()
    assert page == fault_matrix.page_with_table(page), "python3 ci/tests/fault_matrix.py writes it anew"
