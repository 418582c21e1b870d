"""The merge from the command line to the run file: any number of ranks, any shape, checked."""

import pytest
from conftest import only, verified_runs


@pytest.fixture
def merge(bench):
    """A short merge, with its run file; keyword `code` is the status that is expected."""

    def run(*arguments, code=0, **options):
        usual = {"--launches": 1, "--runs": 2, "--bind": "none", "--json": "run.json"}
        words = [word for pair in usual.items() if pair[0] not in arguments for word in pair]
        done = bench("merge", *words, *arguments, **options)
        assert done.code == code, done
        return done

    return run


def assert_right(case, ranks, runs=2):
    assert case["state"] == "measured", case["reason"]
    # Of each rank each run, and the one that warms up.
    assert case["verified"] == verified_runs(case)
    assert {"wall_ms", "throughput_GBps"} <= case["metrics"].keys()
    assert [(phase["name"], phase["kind"]) for phase in case["phases"]] == [
        ("partition", "computing"), ("shuffle", "waiting"), ("build", "computing"), ("probe", "computing"),
        ("UCX, while computing", "moving")]
    # Phases do not overlap and leave nothing out but the steps between them.
    assert 0.5 < sum(phase["share"] or 0 for phase in case["phases"]) <= 1.001
    assert len(case["pairs"]) == ranks * (ranks - 1)


@pytest.mark.release_only
@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_two_ranks(merge, transport):
    done = merge("-n", 2, "--rows", "200K", "--transports", transport, "--require", transport)
    case = only(done.file["cases"])
    assert case["key"] == f"merge/tag/host-host/{transport}/200K/ranks=2"
    assert_right(case, ranks=2)
    # 32·L·(N−1)/N per rank and direction, if the hash spreads evenly.
    expected = 2 * 32 * 200_000 / 2
    assert case["exchange"]["bytes"] == pytest.approx(expected, rel=0.02)
    assert case["exchange"]["alone_GBps"] > 0
    assert case["exchange"]["transfers_dropped"] == 0
    # Two runs, two tables, four batches, and a message with the counts of each table.
    assert [pair["messages"] for pair in case["pairs"]] == [2 * 2 * (4 + 1)] * 2
    assert sum(pair["bytes"] for pair in case["pairs"]) >= 2 * case["exchange"]["bytes"]
    assert case["path"]["carried_by"] == {transport: 1.0}
    for words in ("partition", "probe", "from->to", "0->1", "x the input of a rank", "exchange"):
        assert words in done.out


@pytest.mark.parametrize("ranks", [1, 3, 5])
def test_any_number_of_ranks(merge, ranks):
    transport = [] if ranks == 1 else ["--transports", "shm"]
    case = only(merge("-n", ranks, "--rows", "20K", *transport).file["cases"])
    assert_right(case, ranks)
    if ranks == 1:
        assert case["exchange"]["bytes"] == 0
        assert case["exchange"]["alone_GBps"] is None


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "shape",
    [
        ["--frac-match", 0],
        ["--frac-match", 1, "--batches", 1],
        ["--rows", 3, "--batches", 7],
        ["--payload-columns", 0],
        ["--payload-columns", 3, "--frames"],
        ["--generator", "dask", "--bulk-synchronous"],
        ["--skew", 1.2],
        ["--no-pool", "--no-calibrate", "--no-transfer-log"],
        ["--connect-by", "sockaddr", "--transports", "tcp"],
    ],
    ids=lambda shape: " ".join(map(str, shape)),
)
def test_shapes(merge, shape):
    usual = [] if "--rows" in shape else ["--rows", "10K"]
    usual += [] if "--transports" in shape else ["--transports", "shm"]
    assert_right(only(merge("-n", 2, *usual, *shape).file["cases"]), ranks=2)


def test_frames_are_more_messages(merge):
    counts = {}
    for framing in ([], ["--frames"]):
        done = merge("-n", 2, "--rows", "10K", "--payload-columns", 2, "--transports", "shm", *framing)
        counts[len(framing)] = only(done.file["cases"])["pairs"][0]["messages"]
    # Per run and table: the counts, and for each of four batches one message, or a header and a
    # message for each of three columns.
    assert counts == {0: 2 * 2 * (1 + 4), 1: 2 * 2 * (1 + 4 * 4)}


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        ("corrupt", "build keys changed on their way from rank 0 to rank 1"),
        ("drop", "rows that rank 0 sent, 0 arrived at rank 1"),
        ("misroute", "rank 1 got 2 rows whose keys belong to another rank"),
    ],
)
def test_mistakes_are_noticed(merge, mistake, words):
    done = merge("-n", 3, "--rows", "10K", "--transports", "shm", "--inject", mistake, code=4)
    case = only(done.file["cases"])
    assert case["state"] == "failed"
    assert words in case["reason"]
    assert case["verified"]["errors"] > 0
    assert words in done.complaints[0]


def test_scaling_is_one_table(merge):
    done = merge("-n", "1,2", "--rows", "20K", "--transports", "shm")
    cases = {case["parameters"]["ranks"]: case for case in done.file["cases"]}
    for ranks in (1, 2):
        assert_right(cases[ranks], ranks)
    assert "efficiency" in done.out
    assert done.out.count("merge tag, host to host, over shm\n") == 1


@pytest.mark.release_only
def test_memory_stays_within_its_bound(merge):
    case = only(merge("-n", 2, "--rows", "1M", "--runs", 1, "--transports", "shm").file["cases"])
    assert case["peak_buffer_bytes"] <= 3.5 * case["exchange"]["input_bytes"] / 2


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rows", "0"], "--rows: count '0': expected a whole number from 1 to 2^53"),
        (["--rows", "many"], "expected a count such as 1000, 10K (10 000), 2.5M or 1G"),
        (["--rows", "100G"], "fit"),
        (["--frac-match", "1.5"], "--frac-match"),
        (["--generator", "dusk"], "did you mean 'dask'?"),
        (["--inject", "rust"], "--inject"),
        (["--inject", "drop", "-n", "1"], "needs at least two ranks"),
        (["--generator", "dask", "--skew", "1"], "--skew"),
        (["--generator", "dask", "--rows", "2", "-n", "3"], "--rows"),
        (["-m", "host,cuda"], "--memory"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(bench, arguments, words):
    done = bench("merge", *arguments)
    assert done.code == 2, done
    assert only(done.complaints)
    assert words in done.complaints[0]


@pytest.mark.release_only
@pytest.mark.parametrize("phase", ["making the tables", "the exchange alone", "run 1"])
def test_a_killed_rank_ends_the_run(fault, phase):
    fault.run(
        "kill", 1, phase,
        command=["merge", "-n", 3, "--launches", 1, "--rows", "100K", "--bind", "none", "--runs", 3,
                 "--transports", "shm", "--json", "run.json"],
    )
    done = fault.finish_in_time()
    assert done.code == 5, done
    for said in ("rank 1", phase, "killed by signal 9 (Killed)"):
        assert said in only(done.complaints)
    fault.assert_nothing_is_left()


def test_the_page_has_a_timeline_from_the_log_beside_the_run(merge, bench, tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    (tmp_path / "runs").mkdir()
    merge("-n", 2, "--rows", "100K", "--transports", "shm", "--json", "runs/run.json", "--html", "run.html")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    drawn = page[page.index("Timeline of the median run") :]
    assert "shuffle (waiting)" in drawn and "2 ranks: time in each phase" in drawn and "No timeline" not in page
    assert "peak of the links" not in page and "exchange while computing" in page
    assert bench("report", "runs/run.json", "--html", "-").out == page
    (tmp_path / "runs/run.transfers.bin").unlink()
    assert "No timeline: run.transfers.bin is missing." in bench("report", "runs/run.json", "--html", "-").out


@pytest.mark.release_only
def test_two_runs_side_by_side(merge, bench, tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    load = ["-n", 2, "--rows", "100K"]
    merge(*load, "--transports", "tcp", "--json", "base.json")
    merge(*load, "--transports", "shm", "--json", "new.json")
    done = bench("compare", "base.json", "new.json", "--html", "page.html")
    assert done.code == 0 and "missing" in done.out, done
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "host/tcp/100K/ranks=2 → merge/tag/host-host/shm/100K/ranks=2" in page and "messages under way, ms" in page
    assert page.count("2 ranks: time in each phase") == 2 and "base: merge" in page and "new: merge" in page
    done = bench("compare", "base.json", "new.json", "--html", "-", "--fail-on", "missing")
    assert done.code == 6 and done.out == page
