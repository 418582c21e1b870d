"""What nvcc made of the kernels in every fat binary, for every architecture: registers, shared memory, spills."""

import glob
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig
from typing import NamedTuple

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = ("merge", "transpose")
NVCC = os.environ.get("NVCC")
# Beside nvcc, or PyPI's, of which pip makes no program on the PATH.
CUOBJDUMP = next(
    filter(
        None,
        [
            shutil.which("cuobjdump", path=f"{pathlib.Path(NVCC or '/').parent}:{os.environ['PATH']}"),
            *glob.glob(f"{sysconfig.get_path('purelib')}/nvidia/*/bin/cuobjdump"),
        ],
    ),
    None,
)
pytestmark = [
    pytest.mark.skipif(not NVCC, reason="built without nvcc"),
    pytest.mark.skipif(not CUOBJDUMP, reason="cuobjdump is missing: scripts/setup/python fetches it"),
]

# Of every architecture: CUDA Programming Guide, "Technical Specifications per Compute Capability".
REGISTERS = 65536  # of a multiprocessor
REGISTERS_AT_ONCE = 8  # so many of each thread are given out together
STATIC_SHARED_BYTES = 48 << 10  # of a block


class Made(NamedTuple):
    """A kernel for one architecture: bytes, and registers of a thread."""

    registers: int
    stack: int
    shared: int
    local: int


def read(dump):
    """By kernel and architecture, from what cuobjdump says."""
    made, architecture, kernel = {}, None, None
    for line in dump.splitlines():
        if found := re.match(r"arch = (sm_\w+)", line):
            architecture = found[1]
        elif found := re.match(r"\s*Function (\w+):", line):
            kernel = found[1]
        elif found := re.search(r"REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)", line):
            made[kernel, architecture] = Made(*map(int, found.groups()))
    return made


def dumped(image):
    return subprocess.run(
        [CUOBJDUMP, "--dump-resource-usage", image], capture_output=True, text=True, check=True, timeout=60
    ).stdout


def wrong(made, kernels, architectures, threads):
    """What must not be, in words. `threads`: that a multiprocessor is to have at once."""
    wanted = {(kernel, architecture) for kernel in kernels for architecture in architectures}
    found = [f"{kernel}, {architecture}: missing" for kernel, architecture in sorted(wanted - made.keys())]
    for (kernel, architecture), resources in made.items():
        where = f"{kernel}, {architecture}"
        if resources.stack or resources.local:
            found.append(f"{where}: {resources.stack} B of stack and {resources.local} B of local memory: registers spill")
        if -(-resources.registers // REGISTERS_AT_ONCE) * REGISTERS_AT_ONCE * threads > REGISTERS:
            found.append(f"{where}: {resources.registers} registers are too many for {threads} threads")
        if resources.shared > STATIC_SHARED_BYTES:
            found.append(f"{where}: {resources.shared} B of shared memory are more than {STATIC_SHARED_BYTES}")
    return found


def in_source(pattern, path):
    found = re.findall(pattern, (ROOT / "workloads" / path).read_text(), re.MULTILINE)
    assert found, f"{path} has no {pattern}"
    return found


def kernels_of(workload):
    return in_source(r"^UCXBENCH_KERNEL\((\w+),", f"{workload}/cuda_kernels.cu")


def threads_of(workload):
    """Of a multiprocessor, as the launch bounds of every kernel ask."""
    (threads,) = in_source(r"block_threads = (\d+);", f"{workload}/cuda_arguments.hpp")
    (blocks,) = in_source(r"__launch_bounds__\(block_threads, (\d+)\)", "common/cuda_device.cuh")
    return int(threads) * int(blocks)


def asked_for(folder):
    """The architectures that the build names to nvcc (cmake/Cuda.cmake)."""
    empty = folder / "empty.cu"
    empty.touch()
    steps = subprocess.run(
        [NVCC, "--dryrun", "-fatbin", "-arch=all-major", empty], capture_output=True, text=True, check=True, timeout=60
    ).stderr
    return set(re.findall(r"\bptxas\b.* -arch=(sm_\w+)", steps))


@pytest.mark.parametrize("workload", WORKLOADS)
def test_nothing_spills(workload, tmp_path):
    made = read(dumped(f"{os.environ['FAT_BINARIES']}/{workload}/{workload}_kernels.fatbin"))
    architectures = asked_for(tmp_path)
    assert len(architectures) > 1
    print(f"{'kernel':24}{'for':>8}{'registers':>11}{'shared B':>10}{'spilt B':>9}")
    for (kernel, architecture), resources in sorted(made.items()):
        print(f"{kernel:24}{architecture:>8}{resources.registers:11}{resources.shared:10}{resources.stack + resources.local:9}")
    assert not wrong(made, kernels_of(workload), architectures, threads_of(workload))


def test_spills_and_missing_kernels_are_found(tmp_path):
    """Launch bounds that leave a thread 32 registers, for one architecture."""
    path = "workloads/common/cuda_device.cuh"
    source = (ROOT / path).read_text()
    planted = tmp_path / path
    planted.parent.mkdir(parents=True)
    planted.write_text(source.replace("(block_threads, 4)", "(block_threads, 8)"))
    assert planted.read_text() != source
    image = tmp_path / "spilling.fatbin"
    subprocess.run(
        [NVCC, "-fatbin", "-std=c++20", "-arch=sm_90", "-I", tmp_path, "-I", ROOT, "-o", image,
         ROOT / "workloads/transpose/cuda_kernels.cu"],
        capture_output=True, text=True, check=True, timeout=120,
    )
    found = "\n".join(wrong(read(dumped(image)), kernels_of("transpose"), {"sm_80", "sm_90"}, 2048))
    assert re.search(r"transpose_add_both, sm_90: [1-9]\d* B of stack .* registers spill", found)
    assert "transpose_add, sm_80: missing" in found
    assert "transpose_generate, sm_90" not in found


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((64, 0, 49152, 0), None),
        ((65, 0, 0, 0), "65 registers are too many for 1024 threads"),
        ((32, 0, 49153, 0), "49153 B of shared memory"),
        ((32, 8, 0, 0), "8 B of stack"),
        ((32, 0, 0, 4), "4 B of local memory"),
    ],
)
def test_limits(numbers, words):
    dump = "arch = sm_90\n Function k:\n  REG:{} STACK:{} SHARED:{} LOCAL:{} CONSTANT[0]:1".format(*numbers)
    found = wrong(read(dump), ["k"], ["sm_90"], 1024)
    assert len(found) == (words is not None)
    assert words is None or words in found[0]
