"""The merge in GPU memory on the emulated driver, over UCX's own cuda_ipc: the kernels'
own source, compiled for the host, does the work."""

import pytest
from conftest import only
from emulated_gpu import (  # noqa: F401
    BY_ITSELF,
    HAS_KERNELS,
    assert_says_no_kernels,
    assert_workload,
    emulated,
    needs_both,
    needs_kernels,
)

RANKS, ROWS, RUNS = 2, 100_000, 2
# 32·L·(N−1)/N per rank, and by far most rows go in messages that are large enough for cuda_ipc.
EXCHANGED = RANKS * 32 * ROWS * (RANKS - 1) // RANKS

# Where how the bytes go is not looked at: the emulated kernels take most of the time.
FEW = ["--rows", "5K", "--no-calibrate"]


@pytest.fixture
def merge(emulated):  # noqa: F811
    def run(*arguments, code=0, memory="cuda", transports="tcp,nvlink", **emulator):
        rows = [] if "--rows" in arguments else ["--rows", ROWS]
        return emulated(
            "merge", "-n", RANKS, *rows, "--memory", memory, "--transports", transports,
            "--warmup-runs", 0, "--runs", RUNS, *arguments, code=code, **emulator,
        )

    return run


def assert_right(done):
    return assert_workload(done)


@pytest.mark.skipif(HAS_KERNELS, reason="built with CUDA kernels")
def test_a_build_without_kernels_says_so(bench):
    done = bench("merge", "--memory", "cuda", "--transports", "tcp")
    assert_says_no_kernels(done)


@needs_both
@needs_kernels
def test_rows_go_by_cuda_ipc(merge):
    done = merge("--no-calibrate", **BY_ITSELF)
    assert_right(done)
    assert done.bytes["ipc_opens"] >= RANKS
    assert RUNS * EXCHANGED * 0.9 < done.bytes["d2d_ipc_bytes"] < RUNS * EXCHANGED * 1.1
    # Counts and sums come to the host, rows do not.
    assert done.bytes["d2h_bytes"] < EXCHANGED // 10


@needs_both
@needs_kernels
def test_one_gpu_for_both_is_no_nvlink(merge):
    done = merge("--require", "nvlink", "--rows", "20K", code=1, CUDA_EMULATOR_GPUS="1")
    assert {"same-gpu", "time-sliced", "emulated-gpu"} == set(only(done.file["cases"])["labels"])
    assert "a copy inside one GPU" in done.err


@needs_both
@needs_kernels
@pytest.mark.parametrize("memory", ["cuda", "managed"])
def test_without_cuda_ipc_they_are_staged(merge, memory):
    done = merge(*FEW, memory=memory, transports="tcp")
    assert_right(done)
    assert done.bytes["ipc_opens"] == 0 and done.bytes["d2d_ipc_bytes"] == 0


@needs_both
@needs_kernels
@pytest.mark.parametrize(
    "shape",
    [
        ["--payload-columns", "3", "--frames"],
        ["--skew", "1.2", "--bulk-synchronous"],
        ["--generator", "dask", "--no-pool"],
        ["--frac-match", "0", "--batches", "1"],
    ],
    ids=" ".join,
)
def test_shapes(merge, shape):
    assert_right(merge(*shape, *FEW))


@needs_both
@needs_kernels
def test_a_pool_holds_everything(merge):
    usual, pooled = merge(*FEW), merge(*FEW, "--rmm-pool-size", "64MiB")
    assert_right(pooled)
    # Without it the tables, the hash table and what arrives have a pool each.
    saved = usual.bytes["device_allocations"] - pooled.bytes["device_allocations"]
    assert saved == RANKS * 2


@needs_both
@needs_kernels
@pytest.mark.parametrize(
    "mistake, words",
    [
        ("corrupt", "keys changed on their way"),
        ("drop", "arrived at rank 1"),
        ("misroute", "whose keys belong to another rank"),
    ],
)
def test_mistakes_are_noticed(merge, mistake, words):
    done = merge("--inject", mistake, *FEW, code=4)
    assert words in " ".join(done.err.split())
