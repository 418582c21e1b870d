"""On a machine with a GPU, which all ranks share if it is the only one: the workloads with their
kernels, checked, also under compute-sanitizer."""

import ctypes.util
import os
import pathlib
import shutil

import pytest
from conftest import only, verified_runs
from emulated_gpu import UCX, needs_kernels

pytestmark = [
    pytest.mark.skipif(not pathlib.Path("/dev/nvidiactl").exists(), reason="no NVIDIA GPU here"),
    pytest.mark.skipif(UCX is None, reason="no UCX with CUDA: run ./scripts/setup/ucx-wheel"),
    needs_kernels,
]
SANITIZER = shutil.which("compute-sanitizer", path=f"{os.defpath}:/usr/local/cuda/bin")


@pytest.fixture
def workload(bench):
    """workload(COMMAND, ARGUMENTS…): two ranks, and two measured runs that must be right."""

    def run(command, *arguments, code=0, **options):
        done = bench(
            command, "-n", 2, "--memory", "cuda", "--launches", 1, "--runs", 2, "--bind", "none",
            "--json", "run.json", *arguments,
            environment={"LD_LIBRARY_PATH": f"{UCX}/lib"}, **options,
        )
        assert done.code == code, done
        case = only(done.file["cases"])
        assert "emulated-gpu" not in case["labels"]
        if code == 0:
            assert case["state"] == "measured", case["reason"]
            assert case["verified"] == verified_runs(case)
        return case

    return run


@pytest.mark.parametrize("transports", ["tcp,nvlink", "tcp"])
@pytest.mark.parametrize(
    "shape",
    [[], ["--skew", 1.2], ["--payload-columns", 3, "--frames"], ["--frac-match", 1, "--no-pool"]],
    ids=lambda shape: " ".join(map(str, shape)) or "usual",
)
def test_merge(workload, transports, shape):
    workload("merge", "--rows", "10M", "--transports", transports, *shape)


@pytest.mark.parametrize("transports", ["tcp,nvlink", "tcp"])
@pytest.mark.parametrize(
    "shape",
    [
        [],
        ["--result", "sum"],
        ["--size", 9999, "--chunk-size", 1001, "--no-pool"],
        ["--size", 777, "--chunk-size", 100, "--result", "sum", "--bulk-synchronous"],
    ],
    ids=lambda shape: " ".join(map(str, shape)) or "usual",
)
def test_transpose(workload, transports, shape):
    workload("transpose", "--transports", transports, *shape)


@pytest.mark.skipif(not ctypes.util.find_library("cusolver"), reason="no cuSOLVER here")
@pytest.mark.parametrize("transports", ["tcp,nvlink", "tcp"])
@pytest.mark.parametrize("shape", [["--columns", "64"], ["--columns", "7", "--rows", "1001"]], ids=" ".join)
def test_svd(workload, transports, shape):
    workload("svd", "--transports", transports, *shape)


@pytest.mark.parametrize("result", ["keep", "sum"])
@pytest.mark.parametrize(
    ("mistake", "words"),
    [("corrupt", "has wrong elements"), ("drop", "was never made"), ("misroute", "was made with tile")],
)
def test_mistakes_of_the_transpose_are_noticed(workload, mistake, words, result):
    case = workload("transpose", "--transports", "tcp,nvlink", "--result", result, "--inject", mistake,
                    code=4)
    assert words in case["reason"]


@pytest.mark.parametrize(
    "memory", ["cuda:async", "cuda:vmm", "managed:gpu", "managed:host", "managed:read", "cuda:async,host"]
)
@pytest.mark.parametrize("command", [["pingpong", "--iterations", 20], ["p2p", "-n", 2, "--runs", 1, "--iterations", 4]])
def test_kinds_of_memory(bench, command, memory):
    done = bench(*command, "--memory", memory, "--transports", "tcp,nvlink", "--sizes", "1MiB,64MiB", "--launches", 1,
                 "--bind", "none", "--json", "run.json", environment={"LD_LIBRARY_PATH": f"{UCX}/lib"})
    assert done.code == 0, done
    for case in done.file["cases"]:
        assert case["state"] == "measured" and case["verified"]["errors"] == 0, case["reason"]


def test_fabric_handles_or_why_not(bench):
    done = bench("pingpong", "--memory", "cuda:fabric", "--transports", "tcp,nvlink", "--sizes", "1MiB", "--launches", 1,
                 "--bind", "none", "--json", "run.json", environment={"LD_LIBRARY_PATH": f"{UCX}/lib"})
    case = only(done.file["cases"])
    assert case["state"] == "measured" or "IMEX channel" in case["reason"], done


@pytest.mark.skipif(SANITIZER is None, reason="no compute-sanitizer here")
@pytest.mark.parametrize("tool", ["memcheck", "racecheck", "synccheck"])
@pytest.mark.parametrize(
    "command",
    [
        ["merge", "--rows", "100K"],
        ["transpose", "--size", 777, "--chunk-size", 100],
        ["transpose", "--size", 777, "--chunk-size", 100, "--result", "sum"],
    ],
    ids=lambda command: " ".join(map(str, command)),
)
def test_compute_sanitizer(workload, tool, command):
    # UCX asks by calls that fail: whether memory is mapped, whether it may have fabric handles.
    calls = " --report-api-errors no" if tool == "memcheck" else ""
    wrap = f"{SANITIZER} --tool {tool}{calls} --error-exitcode 86"
    workload(*command, "--transports", "tcp", "--wrap", wrap, limit_s=300)
