"""The SVD by a QR tree from the command line to the run file: any number of ranks, checked."""

import ctypes.util

import pytest
from conftest import only, verified_runs

HAS_LAPACK = any(ctypes.util.find_library(name) for name in ("lapack", "openblas"))
needs_lapack = pytest.mark.skipif(not HAS_LAPACK, reason="LAPACK is missing: run ./scripts/setup/packages check")


@pytest.fixture
def svd(bench):
    """A short one, with its run file; keyword `code` is the status that is expected."""

    def run(*arguments, code=0, **options):
        usual = {"--launches": 1, "--runs": 2, "--rows": 300, "--columns": 10, "--bind": "none", "--json": "run.json"}
        words = [word for pair in usual.items() if pair[0] not in arguments for word in pair]
        done = bench("svd", *words, *arguments, **options)
        assert done.code == code, done
        return done

    return run


# By the number of ranks: who gives its factor to whom, level by level.
TREES = {1: [], 2: [[(1, 0)]], 3: [[(1, 0)], [(2, 0)]], 4: [[(1, 0), (3, 2)], [(2, 0)]],
         5: [[(1, 0), (3, 2)], [(2, 0)], [(4, 0)]], 8: [[(1, 0), (3, 2), (5, 4), (7, 6)], [(2, 0), (6, 4)], [(4, 0)]]}


def assert_right(case, rows, columns, ranks, runs=2):
    assert case["state"] == "measured", case["reason"]
    # Of each rank each run, and the one that warms up.
    assert case["verified"] == verified_runs(case)
    levels = [f"level {level}" for level in range(1, len(TREES[ranks]) + 1)]
    device = "UCX" if case["parameters"]["comm"] == "ucx" else case["parameters"]["comm"]
    assert [phase["name"] for phase in case["phases"]] == [
        "local QR", *levels, "SVD of R", "vectors", "shuffle", f"{device}, while computing"]
    assert 0.5 < sum(phase["share"] or 0 for phase in case["phases"]) <= 1.001
    edges = [edge for level in TREES[ranks] for edge in level]
    up, down = 8 * columns * (columns + 1) // 2, 8 * columns * columns
    # These two are written with six digits, as all medians are.
    assert case["exchange"]["input_bytes"] == pytest.approx(8 * rows * columns * ranks, rel=1e-5)
    assert case["exchange"]["bytes"] == pytest.approx((up + down) * len(edges), rel=1e-5)
    went = {(pair["src"], pair["dst"]): (pair["messages"], pair["bytes"]) for pair in case["pairs"] if pair["messages"]}
    assert went == {(child, parent): (runs, runs * up) for child, parent in edges} | {
        (parent, child): (runs, runs * down) for child, parent in edges}


@needs_lapack
def test_columns_are_an_axis(svd):
    done = svd("-n", 2, "--columns", "2,33", "--transports", "tcp", "--transports", "shm")
    cases = {case["key"]: case for case in done.file["cases"]}
    assert sorted(cases) == [f"svd/tag/host-host/{transport}/300/columns={columns}/ranks=2"
                             for transport in ("shm", "tcp") for columns in (2, 33)]
    for case in cases.values():
        assert_right(case, 300, case["parameters"]["columns"], ranks=2)
        assert case["exchange"]["alone_GBps"] > 0
    assert any(name.startswith(("liblapack", "libopenblas")) for name in done.file["ucx"]["libraries"])
    for words in ("SVD of R", "level 1", "from->to"):
        assert words in done.out


@needs_lapack
@pytest.mark.parametrize(("ranks", "rows", "columns"), [(1, 5, 5), (3, 64, 64), (4, 2000, 40), (5, 50, 3), (8, 40, 7)])
def test_any_number_of_ranks_and_any_shape(svd, ranks, rows, columns):
    way = [] if ranks == 1 else ["--comm", "sockets", "--transports", "shm", "--progress-mode", "event"]
    done = svd("-n", ranks, "--rows", rows, "--columns", columns, *way)
    assert_right(only(done.file["cases"]), rows, columns, ranks)


@needs_lapack
def test_strong_scaling_divides_the_rows(svd):
    done = svd("-n", "2,3", "--scaling", "strong", "--transports", "shm", "--progress-mode", "event")
    assert {case["parameters"]["ranks"]: case["parameters"]["rows"] for case in done.file["cases"]} == {2: 150, 3: 100}


@needs_lapack
@pytest.mark.parametrize("mistake", ["corrupt", "drop", "misroute"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_mistakes_are_noticed(svd, mistake, ranks):
    done = svd("-n", ranks, "--transports", "shm", "--progress-mode", "event", "--inject", mistake, code=4)
    case = only(done.file["cases"])
    assert case["state"] == "failed"
    assert case["reason"].startswith("rank 0: singular value 0 is ") and " instead of 2, by more than " in case["reason"]
    assert case["reason"] in done.complaints[0]


def test_without_lapack_it_says_so(svd, tmp_path):
    """What is no library is in the way of each that there may be."""
    for name in ("liblapack.so.3", "libopenblas.so.0"):
        (tmp_path / name).write_text("")
    done = svd("-n", 2, "--transports", "shm", environment={"LD_LIBRARY_PATH": str(tmp_path)}, code=3)
    case = only(done.file["cases"])
    assert case["state"] == "skipped" and "LAPACK" in case["reason"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rows", "40", "--columns", "50"], "--rows: 40 in a rank are fewer than 50 columns"),
        (["--rows", "1G"], "--rows: 1000000000 of 10 columns in each of 2 ranks are more than"),
        (["--rows", "3G"], "--rows: 3000000000 in a rank; LAPACK's integers allow 2000000000"),
        (["--columns", "1"], "--columns: '1': expected a whole number, 2 to 4096"),
        (["--inject", "drop", "-n", "1"], "needs at least two ranks"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(bench, arguments, words):
    done = bench("svd", "--columns", 10, *arguments) if "--columns" not in arguments else bench("svd", *arguments)
    assert done.code == 2, done
    assert words in only(done.complaints)
