"""The transpose from the command line to the run file: any number of ranks, any shape, checked."""

import pytest
from conftest import only, verified_runs


@pytest.fixture
def transpose(bench):
    """A short transpose, with its run file; keyword `code` is the status that is expected."""

    def run(*arguments, code=0, **options):
        usual = {"--launches": 1, "--runs": 2, "--bind": "none", "--json": "run.json"}
        words = [word for pair in usual.items() if pair[0] not in arguments for word in pair]
        done = bench("transpose", *words, *arguments, **options)
        assert done.code == code, done
        return done

    return run


def rows_of_ranks(size, chunk, ranks):
    """Balanced runs of chunk rows."""
    chunks = -(-size // chunk)
    bounds = [min(size, rank * chunks // ranks * chunk) for rank in range(ranks + 1)]
    return [end - begin for begin, end in zip(bounds, bounds[1:])]


def assert_right(case, size, chunk, ranks, runs=2):
    assert case["state"] == "measured", case["reason"]
    # Of each rank each run, and the one that warms up.
    assert case["verified"] == verified_runs(case)
    assert {"wall_ms", "throughput_GBps"} <= case["metrics"].keys()
    assert [p["name"] for p in case["phases"]] == ["add", "shuffle", "UCX, while computing"]
    assert 0.5 < sum(phase["share"] or 0 for phase in case["phases"]) <= 1.001
    rows = rows_of_ranks(size, chunk, ranks)
    # These two are written with six digits, as all medians are.
    crossing = 8 * (size * size - sum(own * own for own in rows))
    assert case["exchange"]["input_bytes"] == pytest.approx(8 * size * size, rel=1e-5)
    assert case["exchange"]["bytes"] == pytest.approx(crossing, rel=1e-5)
    assert len(case["pairs"]) == ranks * (ranks - 1)
    for pair in case["pairs"]:
        assert pair["bytes"] == runs * 8 * rows[pair["src"]] * rows[pair["dst"]]


@pytest.mark.parametrize("result", ["keep", "sum"])
@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_two_ranks(transpose, transport, result):
    done = transpose("-n", 2, "--size", 2000, "--chunk-size", 500, "--transports", transport,
                     "--result", result, "--require", transport)
    case = only(done.file["cases"])
    suffix = "/result=sum" if result == "sum" else ""
    assert case["key"] == f"transpose/tag/host-host/{transport}/2K/chunk-size=500/ranks=2{suffix}"
    assert_right(case, 2000, 500, ranks=2)
    assert [pair["messages"] for pair in case["pairs"]] == [2 * 4] * 2  # tiles, in each of two runs
    assert case["exchange"]["alone_GBps"] > 0
    assert case["path"]["carried_by"] == {transport: 1.0}
    for words in ("add", "shuffle", "from->to", "0->1"):
        assert words in done.out


@pytest.mark.thinned(2)
@pytest.mark.parametrize("result", ["keep", "sum"])
@pytest.mark.parametrize(
    ("ranks", "size", "chunk"),
    [(1, 1001, 250), (2, 1001, 250), (2, 5, 1), (3, 777, 100), (3, 64, 64), (5, 1000, 250)],
)
def test_any_number_of_ranks_and_any_shape(transpose, ranks, size, chunk, result):
    transport = [] if ranks == 1 else ["--transports", "shm"]
    done = transpose("-n", ranks, "--size", size, "--chunk-size", chunk, "--result", result, *transport)
    case = only(done.file["cases"])
    assert_right(case, size, chunk, ranks)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "way",
    [
        ["--bulk-synchronous"],
        ["--bulk-synchronous", "--result", "sum"],
        ["--no-pool", "--no-calibrate", "--no-transfer-log"],
        ["--connect-by", "sockaddr", "--transports", "tcp"],
    ],
    ids=" ".join,
)
def test_ways(transpose, way):
    transport = [] if "--transports" in way else ["--transports", "shm"]
    done = transpose("-n", 2, "--size", 700, "--chunk-size", 150, *transport, *way)
    case = only(done.file["cases"])
    assert case["state"] == "measured"
    assert case["verified"] == verified_runs(case)


@pytest.mark.thinned(2)
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
    done = transpose("-n", 3, "--size", 900, "--chunk-size", 300, "--transports", "shm",
                     "--result", result, "--inject", mistake, code=4)
    case = only(done.file["cases"])
    assert case["state"] == "failed"
    assert "rank 2: tile (2, " in case["reason"]
    assert words in case["reason"]
    assert case["verified"]["errors"] > 0
    assert words in done.complaints[0]


@pytest.mark.release_only
def test_memory_stays_within_its_bound(transpose):
    case = only(transpose("-n", 2, "--size", 4000, "--chunk-size", 1000, "--runs", 1,
                          "--transports", "shm").file["cases"])
    assert case["peak_buffer_bytes"] <= 3.5 * case["exchange"]["input_bytes"] / 2


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--size", "0"], "--size: count '0': expected a whole number from 1 to 2^53"),
        (["--size", "1M"], "--size: an array of 1000000 rows is more than the available memory; at most "),
        (["--size", "4P"], "--size"),
        (["--size", "1000"], "--chunk-size: 2500 is more than the array's size, 1000"),
        (["--chunk-size", "2"], "more than 1024 chunks; at least 10"),
        (["--result", "kept"], "did you mean 'keep'?"),
        (["--inject", "rust"], "--inject"),
        (["--inject", "drop", "-n", "1"], "needs at least two ranks"),
        (["-m", "host,cuda"], "--memory"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(bench, arguments, words):
    done = bench("transpose", *arguments)
    assert done.code == 2, done
    assert only(done.complaints)
    assert words in done.complaints[0]


@pytest.mark.release_only
@pytest.mark.parametrize("phase", ["making the array", "the exchange alone", "run 1"])
def test_a_killed_rank_ends_the_run(fault, phase):
    fault.run(
        "kill", 1, phase,
        command=["transpose", "-n", 3, "--launches", 1, "--size", 1000, "--chunk-size", 100,
                 "--bind", "none", "--runs", 3, "--transports", "shm", "--json", "run.json"],
    )
    done = fault.finish_in_time()
    assert done.code == 5, done
    for said in ("rank 1", phase, "killed by signal 9 (Killed)"):
        assert said in only(done.complaints)
    fault.assert_nothing_is_left()
