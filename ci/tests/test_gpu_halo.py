"""The halo exchange in GPU memory on the emulated driver, over UCX's own cuda_ipc: the kernels'
own source, compiled for the host, does the work."""

import pytest
from conftest import only
from emulated_gpu import (  # noqa: F401
    HAS_KERNELS,
    assert_says_no_kernels,
    assert_workload,
    emulated,
    needs_both,
    needs_kernels,
    own_loopback,
)

RANKS, SIZE, STEPS, RUNS, CALIBRATIONS = 2, 256, 2, 1, 4  # of which one compares every edge
EDGES = 2  # of each rank's four, that go to the other


@pytest.fixture
def halo(emulated):  # noqa: F811
    def run(*arguments, code=0, **emulator):
        return emulated(
            "halo", "-n", RANKS, "--size", SIZE, "--steps", STEPS, "--memory", "cuda",
            "--transports", "tcp,nvlink", "--warmup-runs", 0, "--runs", RUNS, *arguments, code=code,
            **emulator,
        )

    return run


@pytest.mark.skipif(HAS_KERNELS, reason="built with CUDA kernels")
def test_a_build_without_kernels_says_so(bench):
    assert_says_no_kernels(bench("halo", "--memory", "cuda", "--transports", "tcp"))


@needs_both
@needs_kernels
def test_edges_go_by_cuda_ipc(halo, own_loopback):  # noqa: F811
    done = halo("--ucx", "UCX_RNDV_THRESH=1K", *own_loopback)
    case = assert_workload(done)
    # Edges are small: over tcp as many bytes say that they are there as a part of the edges would have.
    assert case["path"]["verdict"] == "unknown" and "a rendezvous by another lane says as much" in case["path"]["why"]
    # Every edge once in each exchange.
    assert done.bytes["d2d_ipc_bytes"] == (RUNS + CALIBRATIONS) * STEPS * RANKS * EDGES * 8 * SIZE


@needs_both
@needs_kernels
@pytest.mark.parametrize("mistake", ["corrupt", "drop", "misroute"])
def test_mistakes_are_noticed(halo, mistake, own_loopback):  # noqa: F811
    done = halo("--inject", mistake, *own_loopback, code=4)
    assert f"elements are not what {STEPS} steps make of them" in only(done.file["cases"])["reason"]
