"""The SVD in GPU memory on the emulated driver, over UCX's own cuda_ipc: a stand-in for cuSOLVER lets
the host's LAPACK compute on the emulated memory."""

import pytest
from conftest import only, verified_runs
from emulated_gpu import LIBRARIES, emulated, needs_both, own_loopback  # noqa: F401
from test_svd import needs_lapack

ROWS, COLUMNS, RUNS, CALIBRATIONS = 300, 40, 1, 3
# The triangle that goes up an edge of the tree, and the square that comes back.
UP, DOWN = 8 * COLUMNS * (COLUMNS + 1) // 2, 8 * COLUMNS * COLUMNS

pytestmark = [needs_both, needs_lapack]


@pytest.fixture
def svd(emulated):  # noqa: F811
    def run(*arguments, code=0, **emulator):
        return emulated(
            "svd", "--rows", ROWS, "--columns", COLUMNS, "--transports", "tcp,nvlink",
            "--warmup-runs", 0, "--runs", RUNS, *arguments, code=code, **emulator,
        )

    return run


@pytest.mark.parametrize(("ranks", "memory"), [(2, "cuda"), (3, "cuda:async"), (2, "managed")])
def test_every_rank_computes_on_its_gpu(svd, ranks, memory, own_loopback):  # noqa: F811
    done = svd("-n", ranks, "--memory", memory, "--ucx", "UCX_RNDV_THRESH=1K", *own_loopback)
    case = only(done.file["cases"])
    assert case["state"] == "measured", case["reason"]
    assert case["verified"] == verified_runs(case)
    assert "emulated-gpu" in case["labels"]
    assert "libcusolver.so.12" in done.file["ucx"]["libraries"]
    assert done.bytes["illegal_accesses"] == 0 and done.bytes["forks"] == 0
    assert done.bytes["left_allocated_bytes"] == 0
    if memory == "cuda":
        assert done.bytes["d2d_ipc_bytes"] == (RUNS + CALIBRATIONS) * (ranks - 1) * (UP + DOWN)


@pytest.mark.parametrize("mistake", ["corrupt", "drop", "misroute"])
def test_mistakes_are_noticed(svd, mistake):
    done = svd("-n", 2, "--memory", "cuda", "--inject", mistake, code=4)
    reason = only(done.file["cases"])["reason"]
    assert reason.startswith("rank 0: singular value 0 is ") and " instead of 2, by more than " in reason


def test_without_cusolver_it_says_so(svd, tmp_path):
    """What is no library is in the way of each that there may be."""
    broken = tmp_path / "broken"
    broken.mkdir()
    for name in ("libcusolver.so.12", "libcusolver.so.11"):
        (broken / name).write_text("")
    done = svd("-n", 2, "--memory", "cuda", code=3,
               LD_LIBRARY_PATH=f"{broken}:{LIBRARIES['LD_LIBRARY_PATH']}")
    case = only(done.file["cases"])
    assert case["state"] == "skipped" and "no cuSOLVER (" in case["reason"]
