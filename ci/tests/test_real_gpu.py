"""On a machine with a GPU, which all ranks share if it is the only one: the merge with its kernels,
checked, also under compute-sanitizer."""

import os
import pathlib
import shutil

import pytest
from conftest import only
from emulated_gpu import UCX

pytestmark = [
    pytest.mark.skipif(not pathlib.Path("/dev/nvidiactl").exists(), reason="no NVIDIA GPU here"),
    pytest.mark.skipif(UCX is None, reason="no UCX with CUDA: run ./scripts/setup/ucx-wheel"),
    pytest.mark.skipif(
        os.environ.get("TESTED_CUDA_KERNELS") != "ON", reason="built without CUDA kernels"
    ),
]
SANITIZER = shutil.which("compute-sanitizer", path=f"{os.defpath}:/usr/local/cuda/bin")


@pytest.fixture
def merge(bench):
    def run(*arguments, **options):
        done = bench(
            "merge", "-n", 2, "--memory", "cuda", "--launches", 1, "--runs", 2, "--bind", "none",
            "--json", "run.json", *arguments,
            environment={"LD_LIBRARY_PATH": f"{UCX}/lib"}, **options,
        )
        assert done.code == 0, done
        case = only(done.file["cases"])
        assert case["state"] == "measured", case["reason"]
        assert case["verified"] == {"checked": 4, "errors": 0}
        assert "emulated-gpu" not in case["labels"]

    return run


@pytest.mark.parametrize("transports", ["tcp,nvlink", "tcp"])
@pytest.mark.parametrize(
    "shape",
    [[], ["--skew", 1.2], ["--payload-columns", 3, "--frames"], ["--frac-match", 1, "--no-pool"]],
    ids=lambda shape: " ".join(map(str, shape)) or "usual",
)
def test_merge(merge, transports, shape):
    merge("--rows", "10M", "--transports", transports, *shape)


@pytest.mark.skipif(SANITIZER is None, reason="no compute-sanitizer here")
@pytest.mark.parametrize("tool", ["memcheck", "racecheck", "synccheck"])
def test_compute_sanitizer(merge, tool):
    wrap = f"{SANITIZER} --tool {tool} --error-exitcode 86"
    merge("--rows", "100K", "--transports", "tcp", "--wrap", wrap, limit_s=300)
