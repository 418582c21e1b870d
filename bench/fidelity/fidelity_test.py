"""The statistics, parsing and order of runs of fidelity.py, without either tool."""

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time

import pytest

import fidelity
import intervals
import joins
import paired
import proof
import report
import tools
from cells import SETTINGS, Cell, choose
from turns import BLOCKS_PER_VISIT, Comparison

LATENCY = Cell("tcp", "tag", "latency", "8B")
BANDWIDTH = Cell("tcp", "tag", "bandwidth", "8B")
CSV = """iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
20000,3.230,989.619,291.635,0.01,2048.00,1010,3429
"""


@pytest.mark.parametrize("count, rank", [(6, 1), (8, 1), (9, 2), (12, 3), (20, 6), (60, 22)])
def test_interval_has_the_ranks_of_the_tables(count, rank):
    values = list(range(1, count + 1))
    random.Random(1).shuffle(values)
    assert intervals.order_statistics_interval(values) == (rank, count + 1 - rank)


def test_no_interval_below_six():
    assert intervals.order_statistics_interval([1.0] * 5) is None
    assert intervals.describe([])["median"] is None
    assert intervals.describe([1.0] * 5)["half_width"] is None


def test_interval_covers_the_median_of_two_modes():
    source = random.Random(7)
    covered = 0
    for _ in range(2000):
        values = [source.gauss(source.choice((0.7, 1.0, 1.0, 1.4)), 0.01) for _ in range(15)]
        low, high = intervals.order_statistics_interval(values)
        covered += low <= 1.0 <= high
    assert covered >= 0.95 * 2000


@pytest.mark.parametrize(
    "metric, low, high, expected",
    [
        ("latency", 0.995, 1.005, "agrees"),
        ("latency", 0.971, 1.009, "agrees"),
        ("latency", 0.965, 1.000, "differs"),
        ("latency", 1.10, 1.12, "differs"),
        ("latency", 0.975, 1.029, "inconclusive"),
        ("bandwidth", 0.955, 0.985, "agrees"),
        ("bandwidth", 0.90, 0.99, "inconclusive"),
    ],
)
def test_verdict(metric, low, high, expected):
    ratios = [low, high] * 10
    assert intervals.verdict(metric, ratios) == expected
    straddles = (metric, low) == ("latency", 0.965)
    assert intervals.is_settled(metric, ratios, 8) == (expected != "inconclusive" and not straddles)
    assert not intervals.is_settled(metric, ratios, 30)


def test_verdict_without_enough():
    assert intervals.verdict("latency", []) == "not reached"
    assert intervals.verdict("latency", [1.0] * 5) == "inconclusive"


def test_a_tool_against_itself_stays_within_a_visit():
    assert intervals.neighbours([[1.0, 2.0, 4.0], [8.0], []]) == [0.5, 0.5]


def test_reads_perftest():
    assert tools.parse_perftest("warning, above\n" + CSV) == {
        "latency": 3.230,
        "bandwidth": pytest.approx(2.147483648),  # 2048 MiB/s
        "rate": 3429,
    }


@pytest.mark.parametrize(
    "text", ["", "nothing\nhere\n", CSV.splitlines()[0], CSV.replace("3.230", "x"), CSV.replace("50.0_", "99.0_")]
)
def test_unreadable_perftest(text):
    with pytest.raises(tools.Failed, match="ucx_perftest"):
        tools.parse_perftest(text)


def test_reads_our_run_file():
    sample = [os.environ["REPORT_SAMPLE"], "result", "json"]
    run = json.loads(subprocess.run(sample, check=True, capture_output=True, timeout=60).stdout)
    run["cases"] = run["cases"][:1]
    metrics = run["cases"][0]["metrics"]
    metrics |= {"bandwidth_sender_GBps": {"p50": 1.5}, "bandwidth_GBps": {"p50": 1.4}, "message_rate_per_s": {"p50": 3e6}}
    assert tools.parse_ours(run, LATENCY) == metrics["latency_us"]["p50"]
    assert tools.parse_ours(run, BANDWIDTH) == 1.5
    assert tools.parse_ours(run, Cell("tcp", "get", "bandwidth", "8B")) == 1.4
    assert tools.parse_ours(run, Cell("tcp", "fadd", "rate", "8B")) == 3e6
    run["cases"][0] |= {"state": "failed", "reason": "rank 1 was killed"}
    with pytest.raises(tools.Failed, match="failed: rank 1 was killed"):
        tools.parse_ours(run, LATENCY)


def test_environment_is_the_same_for_both_and_nothing_is_inherited(monkeypatch):
    monkeypatch.setenv("UCX_RNDV_THRESH", "1")
    ours, theirs = tools.environment("tcp"), tools.environment("tcp", "/lib")
    assert "UCX_RNDV_THRESH" not in ours
    assert theirs.pop("LD_LIBRARY_PATH") == "/lib"
    ours.pop("LD_LIBRARY_PATH", None)
    assert ours == theirs
    assert ours["UCX_TLS"] == "tcp" and ours["UCX_NET_DEVICES"] == "lo"


def test_cells():
    everything = choose(None)
    assert len({cell.key for cell in everything}) == len(everything) == 2 * (4 * 10 + 5 + 3 * 4)
    assert [cell.key for cell in choose(["shm/bandwidth/8B/put"])] == ["shm/put/bandwidth/8B"]
    assert len(choose(["tag/8B", "stream"])) == 4 + 10
    with pytest.raises(ValueError, match="no '9B'"):
        choose(["tcp/9B"])
    assert [cell.test for cell in choose(["tcp/tag/8B"])] == ["tag_lat", "tag_bw"]
    assert [cell.test for cell in choose(["tcp/put/8B", "tcp/get/8B"])] == ["ucp_put_lat", "ucp_put_bw", "ucp_get", "ucp_get"]
    assert [cell.test for cell in choose(["shm/4B/rate"])] == ["ucp_fadd", "ucp_swap", "ucp_cswap"]


@pytest.mark.parametrize(
    "cell, theirs, ours",
    [
        ("get/bandwidth/8B", ["-O", 32], ["--window", 32]),
        ("get/latency/8B", [], ["--measure", "latency"]),
        ("fadd/rate/4B", ["-O", 32], ["--measure", "bandwidth"]),
    ],
)
def test_both_tools_are_told_the_same(cell, theirs, ours):
    (cell,) = choose([f"tcp/{cell}"])
    test = tools.Perftest("ucx_perftest", None, None).test(cell)
    assert test == ["-t", cell.test, "-s", cell.bytes, "-n", cell.iterations, *theirs, "-v", "-f"]
    command = tools.OurTool("ucx-bench").command(cell)
    assert command[command.index(ours[0]) + 1] == ours[1]


class Tool:
    """A number without noise; notes in `order` when it was asked, as the metric's first letter."""

    def __init__(self, value, order, upper=False, wrong_run=None):
        self.value, self.order, self.upper, self.wrong_run = value, order, upper, wrong_run

    def measure(self, cell):
        self.order.append(cell.metric[0].upper() if self.upper else cell.metric[0])
        if len(self.order) == self.wrong_run:
            raise tools.Failed("ucx-bench: not done after 60 s")
        return self.value


def pairs_enough(most):
    return lambda cell, record: len(record.rounds()) >= most or intervals.is_settled(
        cell.metric, record.ratios("ours", "theirs"), 8)


def compare(cells, ours=1.0, order=None, wrong_run=None, most=60, **limits):
    order = [] if order is None else order
    both = {"ours": Tool(ours, order, True, wrong_run), "theirs": Tool(1.0, order, False, wrong_run)}
    return finished(Comparison(dict.fromkeys(cells, both), pairs_enough(most), **limits))


def finished(comparison):
    for _ in comparison.run():
        pass
    return comparison


def test_runs_in_a_b_b_a_order_for_each_cell():
    order = []
    comparison = compare([LATENCY, BANDWIDTH], order=order)
    assert "".join(order) == "LllL" * BLOCKS_PER_VISIT + "BbbB" * BLOCKS_PER_VISIT
    assert comparison.records[LATENCY].ratios("ours", "theirs") == [1.0] * 8


def test_three_take_turns_there_and_back():
    order = []

    class Named:
        def __init__(self, name):
            self.name = name

        def measure(self, _):
            order.append(self.name)
            return 1.0

    finished(Comparison({LATENCY: {name: Named(name) for name in "ABC"}}, lambda _, record: len(record.rounds()) >= 4))
    assert "".join(order) == "ABCCBA" * 2


def test_ends_at_the_most_pairs():
    noise = Tool(1.0, [])
    noise.measure = lambda cell: random.uniform(1, 3)
    comparison = finished(Comparison({LATENCY: {"ours": noise, "theirs": Tool(1.0, [])}}, pairs_enough(14)))
    assert len(comparison.records[LATENCY].ratios("ours", "theirs")) == 14


def test_a_failure_costs_its_block():
    record = compare([LATENCY], wrong_run=6).records[LATENCY]
    assert record.reasons == {"theirs": "ucx-bench: not done after 60 s"}
    assert len(record.values("ours")) == 10
    assert len(record.ratios("ours", "theirs")) == 8  # three blocks of the first visit, one of a second


class Broken:
    def measure(self, *_):
        raise tools.Failed("no")


def test_gives_up_on_a_cell_that_keeps_failing():
    comparison = finished(Comparison(dict.fromkeys([LATENCY, BANDWIDTH], {"ours": Broken(), "theirs": Broken()}),
                                     pairs_enough(60)))
    assert {count for record in comparison.records.values() for count in record.failures.values()} == {3}
    assert report.cell_record(LATENCY, comparison.records[LATENCY])["verdict"] == "not reached"


def test_one_that_keeps_failing_is_left_out_and_the_others_go_on():
    tools_of = {"ours": Tool(1.0, []), "broken": Broken(), "theirs": Tool(2.0, [])}
    record = finished(Comparison({LATENCY: tools_of}, lambda _, record: len(record.rounds()) >= 10)).records[LATENCY]
    assert record.failures == {"ours": 0, "broken": 3, "theirs": 0}
    assert record.ratios("ours", "theirs") == [0.5] * 10 and record.values("broken") == []


def test_time_over_is_said():
    comparison = compare([LATENCY], budget_s=-1)
    assert comparison.is_late and comparison.records[LATENCY].rounds() == []


def a_result(ours):
    comparison = compare([LATENCY, BANDWIDTH], ours)
    result = {
        "machine": {"id": "vm-1", "cpu_model": "CPU", "cores": 2, "kernel": "6.1",
            "tcp_congestion_control": "cubic", "load_1min_before": 0.0},
        "ucx_perftest": {"program": "ucx_perftest", "buffers_written_once": True, "progress_in_barrier": True},
        "settings": SETTINGS,
        "ucx": {"version": "1.13.1", "library": "/lib/libucp.so.0"},
        "ucx_bench": {"commit": "1a2b3c4d5e6f", "dirty": False, "flags": "-O3"},
        "command": "bench/fidelity/fidelity.py",
    }
    return fidelity.finish(result, comparison, "complete")


def test_record(tmp_path):
    where = report.save(a_result(1.04), tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["vm-1-ucx-1.13.1.json", "vm-1-ucx-1.13.1.md"]
    table = where.read_text()
    assert "1 agrees, 1 differs of 2 cells" in table
    assert "`UCX_TLS=posix,cma UCX_ALLOC_PRIO=mmap`" in table
    assert "it makes progress all the time in its barrier" in table
    assert "buffers are written once" in table and "congestion control cubic" in table
    assert "| tcp/tag/latency/8B | 1.040 | 1.000 | µs | 1.040 | 1.040–1.040 | 1.000–1.000 | 8 | differs |" in table
    cells = json.loads((tmp_path / "vm-1-ucx-1.13.1.json").read_text())["cells"]
    pairs = [pair for visit in cells[0]["visits"] for pair in visit["pairs_ours_theirs"]]
    assert len(pairs) == 8
    assert statistics.median(ours / theirs for ours, theirs in pairs) == cells[0]["ratio"]["median"]


def test_a_record_has_no_path_to_the_source_tree():
    library = report.ROOT / ".ucx/libucx-cu12==1.22.0/libucx/lib/libucp.so.0"
    run = {
        "machine": {"id": "vm-1", "labels": [], "hosts": [{"cpu_model": "CPU", "cores": 2, "kernel": "6.1"}]},
        "ucx": {"version": "1.22.0", "library": str(library)},
        "build": dict.fromkeys(("version", "commit", "dirty", "compiler", "flags"), "-"),
    }
    argv = [f"--ucx-bench={report.ROOT}/build/release/bin/ucx-bench", "--perftest", f"{report.ROOT}/a b", "--output", f"/old{report.ROOT}/x"]
    record = report.provenance(run, "bench/fidelity/fidelity.py", argv)
    assert record["ucx"]["library"] == ".ucx/libucx-cu12==1.22.0/libucx/lib/libucp.so.0"
    assert record["command"] == f"bench/fidelity/fidelity.py --ucx-bench=build/release/bin/ucx-bench --perftest 'a b' --output /old{report.ROOT}/x"


def test_a_record_of_the_plain_loop_is_another_file(tmp_path):
    where = report.save(a_result(1.0) | {"instead_of_ucx_bench": "plain+send-books"}, tmp_path)
    assert where.name == "vm-1-ucx-1.13.1-plain-send-books.md"
    assert where.read_text().startswith("# plain+send-books loop")


def test_the_record_of_proof_names_the_largest_difference(tmp_path):
    where = proof.save(a_result(0.98), tmp_path)
    assert where.name == "vm-1-ucx-1.13.1-proof.md"
    assert "no difference is larger than 2.0%" in where.read_text()
    result = a_result(1.0)
    result["cells"][0]["ratio"]["ci95"] = None
    assert "too few pairs" in proof.markdown(result)


def test_a_program_that_does_not_prove_is_noticed():
    tool = tools.AfterProof("ucx-bench")
    tool.run = lambda *_: {"cases": [{"path": {"protocols": [{"use": "latency"}]}}, {"path": {"protocols": []}}]}
    with pytest.raises(tools.Unfit, match="does not say what carried"):
        tool.measure(LATENCY)


def test_the_plain_loop_measures_tag_bandwidth_only():
    with pytest.raises(tools.Unfit, match="not tcp/tag/latency/8B"):
        tools.PlainLoop("plain_loop", []).measure(LATENCY)


@pytest.mark.parametrize(
    "wrong", [["--cells", "9B"], ["--perftest", "/nowhere"], ["--max-pairs", "61"], ["--budget", "0"], ["--budget", "nan"]]
)
def test_usage(wrong, capsys):
    with pytest.raises(SystemExit) as status:
        fidelity.arguments(["--ucx-bench", "true", "--perftest", "true", *wrong])
    assert status.value.code == 2
    assert wrong[0] in capsys.readouterr().err


def test_a_process_ends_with_its_limit_and_with_us():
    process = tools.start(["sleep", "30"], tools.environment("tcp"))
    with pytest.raises(tools.Failed, match="not done after 0.1 s"):
        tools.output(process, "sleep", limit_s=0.1)
    tools.end(process)
    assert process.returncode == -signal.SIGKILL

    script = "import sys, tools; print(tools.start(['sleep', '30'], tools.environment('tcp')).pid); sys.stdout.flush(); input()"
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.path.dirname(tools.__file__)},
    )
    child = int(parent.stdout.readline())
    until(lambda: comm_of(child) == "sleep")  # setpriv has asked for the signal
    parent.kill()
    parent.communicate()
    until(lambda: not is_running(child))


def until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def comm_of(pid):
    with open(f"/proc/{pid}/comm") as file:
        return file.read().strip()


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_failing_tool_says_its_last_line():
    process = tools.start(["sh", "-c", "echo first >&2; echo why >&2; echo ----- >&2; exit 3"], tools.environment("tcp"))
    with pytest.raises(tools.Failed, match="it: status 3: why"):
        tools.output(process, "it")


def test_a_server_answers_each_line_and_ends_with_its_reason():
    script = "import sys; print(0.5, flush=True); sys.stdin.readline(); print(0.25, flush=True); sys.stdin.readline(); sys.exit('why')"
    server = tools.Server("it", [sys.executable, "-c", script], None)
    try:
        assert server.ask() == 0.25
        with pytest.raises(tools.Failed, match="it: status 1: why"):
            server.ask()
    finally:
        server.end()
    with pytest.raises(tools.Failed, match="it: it ended"):
        tools.Server("it", ["true"], None)


class Joiner:
    """Takes `seconds` for any join."""

    run = None

    def __init__(self, seconds):
        self.seconds = seconds

    def measure(self, join):
        return self.seconds * len(join.cpus)

    def end(self):
        pass


def test_joins_are_compared_in_turns(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(joins, "Ours", lambda _: Joiner(0.5))
    monkeypatch.setattr(joins, "Engine", lambda name: Joiner({"duckdb": 1.0, "polars": 2.0}[name]))
    monkeypatch.setattr(joins, "version", lambda _: "1.0")
    monkeypatch.setattr(report, "provenance", lambda *_: a_result(1.0))
    assert joins.main(["--rounds", "5", "--rows", "1000000", "--ucx-bench", "true", "--output", str(tmp_path)]) == 0
    table = (tmp_path / "vm-1-ucx-1.13.1-joins.md").read_text()
    assert "| 1 | 4.0 | duckdb | 2.0 | 2.00 | 2.00–2.00 | 6 |" in table
    assert "| 2 | 2.0 | polars | 0.5 | 4.00 | 4.00–4.00 | 6 |" in table
    assert capsys.readouterr().out.startswith("# ucx-bench merge against DuckDB and Polars")


def test_two_ways_are_paired(monkeypatch, tmp_path):
    def run(_, *arguments):
        wall = 3.0 if "--slow" in arguments else 2.0
        return {"cases": [{"key": "k", "state": "measured", "reason": "", "metrics": {"wall_ms": {"p50": wall}}}]}

    monkeypatch.setattr(paired, "run_file", run)
    monkeypatch.setattr(report, "provenance", lambda *_: a_result(1.0))
    assert paired.main(["it", "merge --slow", "merge", "--pairs", "6", "--ucx-bench", "true", "--output", str(tmp_path)]) == 0
    text = (tmp_path / "vm-1-ucx-1.13.1-it.md").read_text()
    assert "wall_ms: A / B is 1.500, with 95 % confidence 1.500 to 1.500" in text
    assert "| 3.000 | 2.000 | 1.500 | 1.500–1.500 | – | 6 |" in text
    assert paired.main(["it", "merge", "merge", "--metric", "nothing", "--ucx-bench", "true", "--output", str(tmp_path)]) == 3
