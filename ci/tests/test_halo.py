"""The halo exchange from the command line to the run file: any number of ranks, any tile, checked."""

import pytest
from conftest import only, verified_runs


@pytest.fixture
def halo(bench):
    """A short one, with its run file; keyword `code` is the status that is expected."""

    def run(*arguments, code=0, **options):
        usual = {"--launches": 1, "--runs": 2, "--bind": "none", "--json": "run.json"}
        words = [word for pair in usual.items() if pair[0] not in arguments for word in pair]
        done = bench("halo", *words, *arguments, **options)
        assert done.code == code, done
        return done

    return run


# By the number of ranks: to which others a rank's edges go, and how many of them.
GRIDS = {1: {}, 2: {(0, 1): 2}, 3: {(0, 1): 1, (0, 2): 1}, 4: {(0, 1): 2, (0, 2): 2},
         6: {(0, 1): 1, (0, 2): 1, (0, 3): 2}}


def assert_right(case, edge, ranks, steps=10, runs=2):
    assert case["state"] == "measured", case["reason"]
    # Of each rank each run, and the one that warms up.
    assert case["verified"] == verified_runs(case)
    assert {"wall_ms", "throughput_GBps"} <= case["metrics"].keys()
    assert [phase["name"] for phase in case["phases"]] == ["pack", "stencil", "shuffle", "UCX, while computing"]
    assert 0.5 < sum(phase["share"] or 0 for phase in case["phases"]) <= 1.001
    exchange = case["exchange"]
    edges = sum(GRIDS[ranks].values())
    # These two are written with six digits, as all medians are.
    assert exchange["input_bytes"] == pytest.approx(8 * edge * edge * ranks * steps, rel=1e-5)
    assert exchange["bytes"] == pytest.approx(8 * edge * edges * ranks * steps, rel=1e-5)
    from_0 = {(pair["src"], pair["dst"]): pair for pair in case["pairs"] if pair["src"] == 0 and pair["messages"]}
    assert from_0.keys() == GRIDS[ranks].keys()
    for pair, count in GRIDS[ranks].items():
        assert from_0[pair]["messages"] == runs * steps * count
        assert from_0[pair]["bytes"] == runs * steps * count * 8 * edge


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_sizes_are_an_axis(halo, transport):
    done = halo("-n", 2, "--size", "64,300", "--transports", transport, "--require", transport)
    assert [case["key"] for case in done.file["cases"]] == [
        f"halo/tag/host-host/{transport}/{size}/ranks=2" for size in (64, 300)]
    for case, edge in zip(done.file["cases"], (64, 300)):
        assert_right(case, edge, ranks=2)
        assert case["path"]["carried_by"] == {transport: 1.0}
        assert case["exchange"]["alone_GBps"] > 0
    for words in ("stencil", "from->to", "0->1"):
        assert words in done.out


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("ranks", "edge"), [(1, 33), (4, 1), (3, 2), (2, 3), (4, 50), (6, 17)])
@pytest.mark.parametrize("way", [[], ["--bulk-synchronous"]], ids=["overlap", "bulk"])
def test_any_number_of_ranks_and_any_tile(halo, ranks, edge, way):
    transport = [] if ranks == 1 else ["--transports", "shm"]
    assert_right(only(halo("-n", ranks, "--size", edge, *transport, *way).file["cases"]), edge, ranks)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "way", [["--no-pool", "--no-calibrate", "--no-transfer-log"], ["--connect-by", "sockaddr"]], ids=" ".join
)
def test_ways(halo, way):
    case = only(halo("-n", 2, "--size", 100, "--steps", 3, "--transports", "tcp", *way).file["cases"])
    assert case["state"] == "measured"
    assert case["verified"] == verified_runs(case)
    assert "/steps=3" in case["key"]


def test_strong_scaling_divides_the_domain(halo):
    done = halo("-n", "1,4", "--size", 100, "--scaling", "strong", "--transports", "shm")
    sizes = {case["parameters"]["ranks"]: case["parameters"]["size"] for case in done.file["cases"]}
    assert sizes[4] == 50
    # Of two by two ranks those across a corner send each other nothing.
    assert "0->1" in done.out and "0->3" not in done.out


@pytest.mark.thinned(3)
@pytest.mark.parametrize("mistake", ["corrupt", "drop", "misroute"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_mistakes_are_noticed(halo, mistake, ranks):
    done = halo("-n", ranks, "--size", 64, "--transports", "shm", "--inject", mistake, code=4)
    case = only(done.file["cases"])
    assert case["state"] == "failed"
    # A wrong element reaches one other of the tile in the last step; a column reaches all of its rows.
    count = 1 if mistake == "corrupt" else 64
    assert case["reason"] == f"rank {ranks - 1}: {count} of 4096 elements are not what 10 steps make of them"
    assert case["verified"]["errors"] > 0
    assert case["reason"] in done.complaints[0]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--size", "0"], "--size: count '0': expected a whole number from 1 to 2^53"),
        (["--size", "1M"], "--size: tiles of 1000000 rows and columns in each of 2 ranks are more than"),
        (["--steps", "0"], "--steps"),
        (["--inject", "drop", "-n", "1"], "needs at least two ranks"),
        (["-m", "host,cuda"], "--memory"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(bench, arguments, words):
    done = bench("halo", *arguments)
    assert done.code == 2, done
    assert words in only(done.complaints)
