"""One slow pair of ranks among many: whatever judges two runs finds it, names it, and says so by its status."""

import copy
import json
import random
import statistics
import subprocess
import sys

import pytest
from conftest import CROWDED, only

LAUNCHES = 12
# Two runs of one kind, by what they are of: a metric that each launch has of every pair, and one of them.
SHORT = ["--launches", 1, "--transports", "tcp", "--bind", "none", *CROWDED, "--json", "run.json"]
KINDS = {
    "p2p": (["-n", 8, "--concurrent", "one", "--sizes", 64, "--iterations", 20, "--runs", 1], "bandwidth_GBps", (3, 5)),
    "pingpong": (["-n", 8, "--sizes", 8, "--iterations", 80, "--warmup-runs", 0], "latency_us", (4, 5)),
    # Its messages are too small for rates of their own.
    "merge": (["-n", 4, "--rows", 2000, "--runs", 2], "pair_us", (3, 1)),
    "halo": (["-n", 4, "--size", 64, "--runs", 2], "pair_GBps", (3, 1)),
    "incast": (["-n", 5, "--sizes", "4KiB", "--iterations", 200, "--runs", 1], "pair_GBps", (0, 4)),
    "kv": (["--prefill", 4, "--decode", 2, "--op", "get", "--block", "4KiB", "--descriptors", 200, "--sessions", 1,
            "--rounds", 2], "pair_GBps", (3, 5)),
}

OF_PAIRS = {"pair_GBps": "p50_GBps", "pair_us": "delivery_p50_us"}


@pytest.fixture(scope="module")
def measured(bench_once):
    """measured(BENCHMARK): a run of it, as JSON, of one launch."""
    known = {}

    def run(benchmark):
        if benchmark not in known:
            known[benchmark] = bench_once(benchmark, *KINDS[benchmark][0], *SHORT).file
        return known[benchmark]

    return run


def values_of(record, metric):
    """By pair of ranks, what holds the value that a launch has of it."""
    if metric in OF_PAIRS:
        return {(of["src"], of["dst"]): (of, OF_PAIRS[metric]) for of in record["workload"].get("pairs", [])}
    of = record["quantiles"].get(metric)
    return {(record["src"], record["dst"]): (of, "p50")} if of else {}


def recorded(run, name, folder, metric, pair=None, factor=1.0, launches=LAUNCHES):
    """The run with so many launches, all values alike but for a noise of 1 %, those of one pair `factor` times as large."""
    made, noise = copy.deepcopy(run), random.Random(name)
    made["run"]["id"] = name
    # The hosts of a cluster, four ranks to each.
    for rank in made["ranks"]:
        rank["host"] = f"node{rank['rank'] // 4}"
    for case in made["cases"]:
        first, case["launches"] = case["launches"], []
        for launch in range(launches):
            case["launches"] += (more := copy.deepcopy(first))
            for record in more:
                record["launch"] = launch
                for of in [*record["quantiles"], *({metric} & OF_PAIRS.keys())]:
                    for place, (holder, key) in values_of(record, of).items():
                        slow = factor if (of, place) == (metric, pair) else 1
                        holder[key] = 100 * slow * noise.gauss(1, 0.01)
        for of, values in case["metrics"].items():
            values["launch_medians"] = [
                statistics.median(record["quantiles"][of]["p50"] for record in case["launches"]
                                  if record["launch"] == launch and of in record["quantiles"])
                for launch in range(launches)]
    file = folder / f"{name}.json"
    file.write_text(json.dumps(made))
    return file


def changed(comparison):
    return [row for row in comparison["series"] if row["verdict"] in ("regressed", "improved")]


@pytest.mark.parametrize("benchmark", KINDS)
def test_it_is_found_named_and_trips_the_gate(bench, measured, tmp_path, benchmark):
    _, metric, pair = KINDS[benchmark]
    factor = 4 if metric.endswith("_us") else 0.25
    base = recorded(measured(benchmark), "base", tmp_path, metric)
    same = recorded(measured(benchmark), "same", tmp_path, metric)
    slow = recorded(measured(benchmark), "slow", tmp_path, metric, pair, factor)
    done = bench("compare", base, slow, "--json", "verdict.json", "--markdown", "verdict.md", "--fail-on", "regression")
    assert done.code == 1, done
    comparison = json.loads((tmp_path / "verdict.json").read_text())
    row = only(changed(comparison))
    assert (row["pair"]["src"], row["pair"]["dst"]) == pair and row["metric"] == metric
    assert row["ratio"] == pytest.approx(factor, rel=0.05)
    hosts = [f"node{rank // 4}" for rank in pair]
    assert [row["pair"]["src_host"], row["pair"]["dst_host"]] == hosts
    # Of the others the worst stands for all.
    others = only([of for of in comparison["series"]
                   if of["pair"] and of["metric"] == metric and of["verdict"] == "unchanged"])
    pairs = {place for case in measured(benchmark)["cases"] for record in case["launches"]
             for place in values_of(record, metric)}
    assert others["pair"]["stands_for"] == len(pairs) - 1
    assert f"pair {pair[0]}->{pair[1]}" in bench("compare", base, slow).out
    assert f"pair {pair[0]}-" in (tmp_path / "verdict.md").read_text()
    done = bench("compare", base, same, "--json", "-", "--fail-on", "regression,inconclusive")
    assert done.code == 0 and not changed(json.loads(done.out)), done


def test_with_too_few_launches_it_is_undecided(bench, measured, tmp_path):
    _, metric, pair = KINDS["p2p"]
    base = recorded(measured("p2p"), "base", tmp_path, metric, launches=7)
    slow = recorded(measured("p2p"), "slow", tmp_path, metric, pair, 0.25, launches=7)
    done = bench("compare", base, slow, "--json", "verdict.json", "--fail-on", "inconclusive")
    assert done.code == 6, done
    comparison = json.loads((tmp_path / "verdict.json").read_text())
    row = only([row for row in comparison["series"] if row["verdict"] == "inconclusive" and row["metric"] == metric])
    assert (row["pair"]["src"], row["pair"]["dst"]) == pair
    assert row["launches_wanted"] == 9 and row["reason"] == "launches"
    # The row of all pairs together keeps its verdict.
    assert [row["verdict"] for row in comparison["series"] if not row["pair"] and row["metric"] == metric] == ["unchanged"]


NEEDED = "import jinja2, numpy"


@pytest.mark.skipif(subprocess.run([sys.executable, "-c", NEEDED], capture_output=True).returncode != 0,
                    reason="a Python module of scripts/requirements.txt is missing")
def test_pages_and_dashboards_show_it(bench, measured, tmp_path):
    _, metric, pair = KINDS["p2p"]
    tree = tmp_path / "runs/machine/2026-01"
    tree.mkdir(parents=True)
    files = []
    for day, (name, factor) in enumerate([("first", 1.0), ("second", 1.0), ("third", 0.25)], 1):
        run = copy.deepcopy(measured("p2p"))
        run["run"] |= {"started_utc": f"2026-01-0{day}T00:00:00Z", "finished_utc": f"2026-01-0{day}T00:01:00Z"}
        files.append(recorded(run, name, tree, metric, pair, factor))
    python = {"UCXBENCH_PYTHON": sys.executable}
    for words in (["dashboard", "runs", "--html", "page.html"], ["compare", *files[1:], "--html", "page.html"]):
        done = bench(*words, environment=python)
        assert done.code == 0, done
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert "pair 3-&gt;5 (node0-&gt;node1)" in page and "worst of 55" in page
        (tmp_path / "page.html").unlink()
        if words[0] == "dashboard":
            assert "1 regressed" in page.partition("</title>")[0]
