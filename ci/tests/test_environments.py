"""Hosts and containers that keep something from a run: said by what it is, and nothing else breaks."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import PROGRAM, clean_environment, only, quick

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="namespaces need root and unshare")

# argv: numbers of system calls, "--", a program: those fail with EPERM, as a container's filter has it.
DENYING = """
import ctypes, os, struct, sys
end = sys.argv.index("--")
instruction = lambda *of: struct.pack("HBBI", *of)
filter = instruction(0x20, 0, 0, 0)
for number in map(int, sys.argv[1:end]):
    filter += instruction(0x15, 0, 1, number) + instruction(0x06, 0, 0, 0x00050001)
filter += instruction(0x06, 0, 0, 0x7FFF0000)
room = ctypes.create_string_buffer(filter)
program = struct.pack("HxxxxxxP", len(filter) // 8, ctypes.addressof(room))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execvp(sys.argv[end + 1], sys.argv[end + 1:])
"""
CMA_CALLS = {"x86_64": ["310", "311"], "aarch64": ["270", "271"]}  # process_vm_readv and process_vm_writev


@pytest.fixture
def within(tmp_path):
    """within(WORDS, ARGUMENTS…): the program as those words start it."""

    def run(words, *arguments):
        probe = subprocess.run([*words, shutil.which("true")], capture_output=True, text=True, timeout=20)
        if probe.returncode != 0:
            pytest.skip(f"not here: {probe.stderr.strip()}")
        return subprocess.run([*words, PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                              cwd=tmp_path, env=clean_environment() | {"UCXBENCH_NO_MEMORY_COPY": "true"})

    return run


def findings(done, folder):
    return {finding["id"]: finding for finding in json.loads((folder / "run.json").read_text())["findings"]}


def test_a_name_as_long_as_linux_allows(within, tmp_path):
    name = "n" * 64
    named = ["unshare", "--uts", "sh", "-c", f'echo {name} > /proc/sys/kernel/hostname; exec "$@"', "sh"]
    assert within(named, "list", "rules").returncode == 0
    done = within(named, "pingpong", *quick(["--transports", "shm,tcp", "--sizes", "8"]))
    assert done.returncode == 0, done
    assert only(json.loads((tmp_path / "run.json").read_text())["machine"]["hosts"])["name"] == name


def test_a_filter_of_system_calls_that_has_no_cma(within, tmp_path):
    calls = CMA_CALLS.get(os.uname().machine)
    if calls is None:
        pytest.skip("system calls have other numbers here")
    denied = [sys.executable, "-c", DENYING, *calls, "--"]
    for command in (["doctor"], ["pingpong", *quick(["--transports", "shm", "--sizes", "8"])]):
        done = within(denied, *command, *(["--json", "run.json"] if command == ["doctor"] else []))
        assert done.returncode in (0, 1), done
        said = findings(done, tmp_path)["cma-blocked"]
        assert "(process_vm_readv: Operation not permitted)" in said["evidence"], said


@pytest.mark.parametrize("call, name, said", [(0, "process_vm_readv", "UCX uses cma, which the kernel forbids"),
                                              (1, "process_vm_writev", "UCX cannot use cma")])
def test_a_filter_of_one_of_the_two_calls_of_cma(within, tmp_path, call, name, said):
    """UCX tries to write, and then reads."""
    calls = CMA_CALLS.get(os.uname().machine)
    if calls is None:
        pytest.skip("system calls have other numbers here")
    within([sys.executable, "-c", DENYING, calls[call], "--"], "doctor", "--json", "run.json")
    evidence = findings(None, tmp_path)["cma-blocked"]["evidence"]
    assert evidence.startswith(f"{said} ({name}: Operation not permitted)"), evidence


def test_no_shared_memory_of_posix(within, tmp_path):
    without = ["unshare", "--mount", "sh", "-c", (
        'mkdir -p dev && mount -t tmpfs none dev && for each in null zero full random urandom; do cp -a /dev/$each dev; done'
        ' && mount --move dev /dev && exec "$@"'), "sh"]
    done = within(without, "doctor", "--json", "run.json")
    assert "there is no /dev/shm" in findings(done, tmp_path)["small-shm"]["evidence"]
    done = within(without, "pingpong", *quick(["--transports", "shm", "--sizes", "8"]))
    assert done.returncode == 0, done


@pytest.mark.parametrize("words, why", [
    ("true", "lo is down"), ("ip link set lo up && ip address delete 127.0.0.1/8 dev lo", "lo has no IPv4 address"),
])
def test_no_network_interface_for_tcp(within, words, why):
    if not shutil.which("ip"):
        pytest.skip("no command ip (iproute2)")
    alone = ["unshare", "--net", "sh", "-c", f'{words}; exec "$@"', "sh"]
    done = within(alone, "pingpong", *quick(["--transports", "tcp", "--sizes", "8"]))
    assert done.returncode == 3, done
    line = only([line for line in done.stderr.splitlines() if line.startswith("cannot run here: ")])
    assert line.startswith("cannot run here: tcp: no network interface that UCX ") and line.endswith(f": {why}"), line


def test_ranks_in_namespaces_of_their_own(within, tmp_path):
    apart = "unshare --fork --pid --mount-proc"
    within(apart.split(), "--version")  # or skips
    done = within([], "pingpong", *quick(["--transports", "shm", "--sizes", "8", "--wrap", apart]))
    assert done.returncode == 0, done
    assert "(pid): UCX has no cma between them" in findings(done, tmp_path)["own-namespaces"]["evidence"]
