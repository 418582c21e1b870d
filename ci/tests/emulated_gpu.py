"""Runs of the program on the emulated CUDA driver and the UCX with CUDA that scripts/setup/ucx-wheel
fetches."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import ROOT, only, verified_runs

EMULATOR = pathlib.Path(os.environ.get("CUDA_EMULATOR", "/nowhere"))
UCX = next(iter(sorted(ROOT.glob(".ucx/libucx-cu*/libucx"))), None)
MIB = 1 << 20
# UCX 1.22 takes a second in each process to write its hooks over the code of the C library and of the
# driver: for every function it waits 50 ms. A test that is about them, or that frees memory and goes
# on, has BY_ITSELF, as UCX has it: with the other way it does not see what is freed.
HOOKS, BY_ITSELF = ({"UCX_MEM_MMAP_HOOK_MODE": mode, "UCX_MEM_CUDA_HOOK_MODE": mode} for mode in ("reloc", "bistro"))
LIBRARIES = {"LD_LIBRARY_PATH": f"{UCX}/lib:{EMULATOR}", **HOOKS}


def hooks(command):
    """Of a benchmark, by what it does with memory."""
    return BY_ITSELF if command in ("cold", "kv", "moe") else {}


needs_emulator = pytest.mark.skipif(not EMULATOR.is_dir(), reason="no emulated CUDA driver was built")
needs_both = pytest.mark.skipif(
    not EMULATOR.is_dir() or UCX is None,
    reason="no emulated CUDA driver, or no UCX with CUDA: run ./scripts/setup/ucx-wheel",
)
HAS_KERNELS = os.environ.get("TESTED_CUDA_KERNELS") == "ON"
needs_kernels = pytest.mark.skipif(not HAS_KERNELS, reason="built without CUDA kernels")


def combined_ucx(version="*"):
    """The folder of the UCX with InfiniBand and CUDA that scripts/setup/ucx-combined makes, if there is one of
    this version."""
    return next((file.parent for file in sorted(ROOT.glob(f".ucx/combined-{version}/.complete"))), None)


@pytest.fixture
def own_loopback():
    """Arguments that give the ranks a loopback device of their own, as root: its counters, by which
    TCP's part is judged, then see no other program."""
    name = f"ucxbench{os.getpid()}_alone"

    def ip(*arguments):
        return subprocess.run(["ip", *arguments], capture_output=True, timeout=20).returncode == 0

    if not shutil.which("ip") or not ip("netns", "add", name):
        yield []
        return
    ip("-n", name, "link", "set", "lo", "up")
    yield ["--wrap", f"ip netns exec {name}", "--net-devices", "lo"]
    ip("netns", "delete", name)


@pytest.fixture
def emulated(bench, tmp_path):
    """emulated(ARGUMENTS…): the program on the emulator; the sum of its ranks' reports is in
    `.bytes`."""

    def run(*arguments, code=0, **emulator):
        folder = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        environment = {
            **LIBRARIES,
            "CUDA_EMULATOR_REPORT": str(folder / "report"),
            "CUDA_EMULATOR_GPU_BYTES": str(4 << 30),
            **emulator,
        }
        usual = ["--launches", "1", "--bind", "none", "--json", "run.json"]
        done = bench(*arguments, *usual, environment=environment, folder=folder)
        assert done.code == code, done
        reports = [json.loads(file.read_text()) for file in folder.glob("report.*")]
        ranks = [report for report in reports if report["device_allocations"]]
        done.bytes = {key: sum(report[key] for report in ranks) for key in (ranks or [{}])[0]}
        return done

    return run


def assert_workload(done):
    """Its only case, which was right and left nothing."""
    case = only(done.file["cases"])
    assert case["state"] == "measured", case["reason"]
    assert case["verified"] == verified_runs(case)
    assert "emulated-gpu" in case["labels"]
    assert done.bytes["kernel_launches"] > 0
    assert done.bytes["illegal_accesses"] == 0 and done.bytes["forks"] == 0
    assert done.bytes["left_allocated_bytes"] == 0
    return case


def assert_says_no_kernels(done):
    assert done.code == 3
    assert "built without CUDA kernels" in " ".join((done.out + done.err).split())
