"""The transpose in GPU memory on the emulated driver, over UCX's own cuda_ipc: the kernels'
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

RANKS, SIZE, CHUNK, RUNS, CALIBRATIONS = 2, 1000, 500, 2, 4  # of which one compares every tile
# 8n²(N−1)/N, in tiles of 2 MB.
EXCHANGED = 8 * SIZE * SIZE * (RANKS - 1) // RANKS


@pytest.fixture
def transpose(emulated):  # noqa: F811
    def run(*arguments, code=0, memory="cuda", transports="tcp,nvlink", size=SIZE, chunk=CHUNK,
            ranks=RANKS, **emulator):
        return emulated(
            "transpose", "-n", ranks, "--size", size, "--chunk-size", chunk, "--memory", memory,
            "--transports", transports, "--warmup-runs", 0, "--runs", RUNS, *arguments, code=code,
            **emulator,
        )

    return run


def assert_right(done, ranks=RANKS):
    return assert_workload(done)


@pytest.mark.skipif(HAS_KERNELS, reason="built with CUDA kernels")
def test_a_build_without_kernels_says_so(bench):
    done = bench("transpose", "--memory", "cuda", "--transports", "tcp")
    assert_says_no_kernels(done)


@needs_both
@needs_kernels
@pytest.mark.parametrize("result", ["keep", "sum"])
def test_tiles_go_by_cuda_ipc(transpose, own_loopback, result):  # noqa: F811
    done = transpose("--require", "nvlink", "--result", result, *own_loopback)
    case = assert_right(done)
    # The counters of the NVLinks are read of both GPUs, and count whole KiB.
    assert case["path"]["carried_by"] == {"nvlink": pytest.approx(1, abs=1e-3)}
    assert done.bytes["ipc_opens"] >= RANKS
    # Every tile once in each exchange, and nothing else.
    assert done.bytes["d2d_ipc_bytes"] == (RUNS + CALIBRATIONS) * EXCHANGED
    # Sums come to the host, elements only where the exchange alone is verified.
    assert done.bytes["d2h_bytes"] < CALIBRATIONS * EXCHANGED + EXCHANGED // 100
    # Each tile is generated, and in each run added: if it is kept, two that are both here at once,
    # and it is read once more.
    chunks = SIZE // CHUNK
    own = chunks // RANKS
    added = own * (chunks - own) + (own * (own + 1) // 2 if result == "keep" else own * own)
    checked = own * chunks if result == "keep" else 0
    assert done.bytes["kernel_launches"] == RANKS * (own * chunks + RUNS * (added + checked))
    # The GPU computes, and nobody times what UCX does beside it.
    shares = {phase["name"]: phase["share"] for phase in case["phases"]}
    assert shares["add"] > 0 and shares["UCX, while computing"] is None


@needs_both
@needs_kernels
@pytest.mark.parametrize("memory", ["cuda", "managed"])
def test_without_cuda_ipc_they_are_staged(transpose, memory):
    done = transpose("--no-calibrate", memory=memory, transports="tcp")
    assert_right(done)
    assert done.bytes["ipc_opens"] == 0 and done.bytes["d2d_ipc_bytes"] == 0


@needs_both
@needs_kernels
@pytest.mark.parametrize(  # test_transpose.py has all of both results on the CPU
    ("ranks", "size", "chunk", "result"),
    [(1, 311, 40, "keep"), (2, 401, 100, "sum"), (3, 311, 40, "sum"), (3, 64, 64, "keep")],
)
def test_any_number_of_ranks_and_any_shape(transpose, ranks, size, chunk, result):
    transports = "tcp,nvlink" if ranks > 1 else "self"
    done = transpose("--no-calibrate", "--result", result, ranks=ranks, size=size, chunk=chunk, transports=transports)
    assert_right(done, ranks)


@needs_both
@needs_kernels
@pytest.mark.parametrize(
    "way",
    [["--no-pool"], ["--bulk-synchronous"], ["--rmm-pool-size", "64MiB", "--result", "sum"]],
    ids=" ".join,
)
def test_ways(transpose, way):
    done = transpose("--no-calibrate", *way)
    assert_right(done)
    assert done.bytes["d2d_ipc_bytes"] == RUNS * EXCHANGED


@needs_both
@needs_kernels
@pytest.mark.parametrize("result", ["keep", "sum"])
@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        ("corrupt", "has wrong elements"),
        ("drop", "was never made"),
        ("misroute", "was made with tile (2, 2) of x in the place of"),
    ],
)
def test_mistakes_are_noticed(transpose, mistake, words, result):
    done = transpose("--no-calibrate", "--inject", mistake, "--result", result, ranks=3, size=300, chunk=100, code=4)
    case = only(done.file["cases"])
    assert case["state"] == "failed"
    assert "rank 2: tile (2, " in case["reason"]
    assert words in case["reason"]
    assert case["verified"]["errors"] > 0
    assert done.bytes["illegal_accesses"] == 0
