"""What a page says of pairs of ranks: against their limits, both ways, as tables and, of many ranks, as maps."""

import array
import base64
import json

import pytest

from conftest import ROOT
from pages import figures, heat
from seen import Page, made, page_of, synthetic


def test_many_pairs_are_folded(run_file):
    def multiply(run):
        case = next(case for case in run["cases"] if len(case.get("pairs") or []) > 1)
        pair = case["pairs"][0]
        case["pairs"] = [{**pair, "src": i, "dst": j, "p50_GBps": 1 + i + j / 100} for i in range(30) for j in range(30) if i != j]
        case["parameters"]["ranks"] = 30

    seen = made(run_file(multiply, which="pairs"))
    assert "670 faster ones are in the run file" in seen.text


def test_limits_say_whose_word_they_are(run_file):
    row = {"class": "NV2", "path": "nvlink", "resource": "NVLinks GPU0 -> GPU3", "GBps": 50, "complete": True,
           "source": "specification", "detail": "NVLink 2", "expected_GBps": 50, "share_GBps": None, "pairs": 8,
           "min_GBps": 40.5, "p50_GBps": 42.5}
    unknown = {**row, **dict.fromkeys(("path", "resource", "GBps", "source", "detail"))}

    def change(run):
        run["cases"][0]["limits"] = [row, unknown]

    text = made(run_file(change)).text
    assert "NV2 nvlink 8 40.50 42.50 50 85 % 50 85 % NVLinks GPU0 -> GPU3 specification: NVLink 2" in text
    assert "NV2 ? 8 40.50 42.50 ? ? 50 85 % ? ?" in text


def test_what_was_calibrated_stands_beside_and_more_is_said(run_file):
    row = {"class": "memory", "path": "shm", "resource": "host memory", "GBps": 8.0, "complete": True, "source": "calibrated",
           "detail": "memcpy of 16.0 GB/s", "expected_GBps": None, "share_GBps": 6.0, "pairs": 2, "min_GBps": 9.0, "p50_GBps": 10.0}

    def change(run):
        copies = {"cpus": [0], "bytes": 1 << 26, "copy_GBps": 12.0, "by_size": [{"bytes": 8192, "copy_GBps": 70.0}, {"bytes": 32768, "copy_GBps": None}]}
        run["machine"]["hosts"][0]["memory_copy"] = {"one_core": copies, "all_cores": {**copies, "cpus": [0, 1], "copy_GBps": 16.0}}
        case = run["cases"][0]
        case["limits"] = [row]
        for pair in case["pairs"]:
            pair |= {"p50_GBps": 10.0, "calibrated_GBps": 8.0, "calibrated_share_GBps": 5.0}

    text = made(run_file(change, which="pairs")).text
    assert "memory shm 2 9.000 10.00 8.000 125 % (above) 6.000 host memory calibrated: memcpy of 16.0 GB/s" in text
    assert "8.000 125 % (above) 5.000 200 %" in text
    assert "12.00 GB/s on one core, 16.00 on 2; in caches up to 70.00 and 70.00" in text


def test_a_replay_says_what_the_log_has_and_where_ranks_wait(run_file):
    def change(run):
        case = run["cases"][0]
        phases = [("idle", "gap", [1.0, 2.0]), ("sending", "exchanging", [1.0, 3.0]), ("late", "exchanging", [2.0, 5.0]),
                  ("UCX, while computing", "moving", [0.0, 0.0])]
        case["phases"] = [{"name": name, "kind": kind, "median_ms": 2.0, "share": 0.3, "slowest_rank": 0, "slowest_ms": 3.0, "by_rank_ms": by_rank, "intervals": {}}
                          for name, kind, by_rank in phases]
        case["pairs"] = [{"src": src, "dst": 1 - src, "bytes": 1000, "messages": 2, "p50_GBps": 1.0, "class": "memory", "path": "shm",
                          "calibrated_GBps": 8.0, "waiting_ms": 4.5 * (1 - src), "p50_bytes": 8, "p99_bytes": 992,
                          "recorded_GBps": None, "under_way_GBps": 4.0} for src in (0, 1)]

    text = made(run_file(change, which="pairs")).text
    assert "8 992 cannot tell 4.000 50 %" in text
    assert "case rank idle sending late % late most for rank" in text
    assert "1 2.00 3.00 5.00 50 % 0" in text
    assert "0 1.00 1.00 2.00 50 % –" in text


def test_pairs_stand_against_their_limits_and_alone_against_all_at_once(run_file):
    limit = {"class": "NV1", "path": "tcp", "resource": "PCIe", "GBps": 10.0, "complete": True, "source": "specification",
             "detail": "PCIe 3", "expected_GBps": 20.0, "share_GBps": None, "pairs": 2, "min_GBps": 4.0, "p50_GBps": 4.5}

    def pair(src, dst, rate):
        return {"src": src, "dst": dst, "bytes": 2_000_000, "messages": 7, "p25_GBps": 1.0, "p50_GBps": rate, "p75_GBps": 6.0,
                "class": "NV1", "path": "tcp", "limit_GBps": 10.0}

    def change(run):
        run["cases"] = run["cases"][:1]
        alone = run["cases"][0]
        alone["parameters"] |= {"concurrent": "one", "ranks": 2}
        alone |= {"key": "p2p/one", "benchmark": "p2p", "limits": [limit], "pairs": [pair(0, 1, 4.0), pair(1, 0, 5.0)]}
        together = json.loads(json.dumps(alone))
        together["parameters"]["concurrent"] = "all"
        together |= {"key": "p2p/all", "pairs": [pair(0, 1, 3.0), pair(1, 0, 2.0)]}
        run["cases"].append(together)

    text = made(run_file(change, which="pairs")).text
    assert "0 1 7 2.000 1.000 4.000 6.000 NV1 tcp 10.00 40 % 20.00 20 % 3.000 75 %" in text
    assert "p2p/all 0 ↔ 1 3.000 2.000 67 % p2p/one 0 ↔ 1 4.000 5.000 80 %" in text
    assert "what tcp can carry" in text and "10.0 GB/s, 50 %" in text
    assert "all pairs at once" in text and "2.50 GB/s" not in text


def rates_of(charts):
    """Of the one map: GB/s, as fields.js reads them."""
    [chart] = [chart for chart in charts if chart.get("kind") == "map"]
    levels = array.array("H", base64.b64decode(chart["rates"]))
    return [level and chart["low"] * (chart["high"] / chart["low"]) ** ((level - 1) / 65534) for level in levels]


def test_a_run_of_many_ranks_is_folded(tmp_path):
    text = page_of(synthetic(256, tmp_path), "synthetic", ROOT)
    assert len(text.encode()) < 1_500_000
    seen = Page(text)
    assert "synthetic" in seen.text
    assert "200 pairs, the slowest first, rates in GB/s; 65080 faster ones are in the run file" in seen.text
    assert "32 hosts, host0 to host31" in seen.text and "host17" not in seen.text.split("Machine")[-1]
    assert "<details><summary>256 ranks and where they ran" in text  # closed
    assert len(rates_of(seen.charts)) == 256 * 256 and "<td" not in text.split('id="pairs"')[1].split("Directional")[0]


def map_of(ranks, rate):
    return heat.map_of("p2p", ranks, {(src, dst): rate(src, dst) for src in range(ranks) for dst in range(ranks) if src != dst})


def test_one_fast_pair_leaves_the_others_their_shades():
    def shades(*rates):
        return [heat.cell(rate, heat.palest(rates), max(rates))["shade"] for rate in rates]

    assert shades(1.0, 2.0, 100.0) == [7, 16, 70]
    assert shades(9.0, 10.0) == [67, 70]  # what differs little looks alike


def test_a_map_has_every_rate():
    def rate(src, dst):
        return 0.0123 * 1.5 ** (src - dst / 3)

    chart = map_of(40, rate)
    expected = [0 if src == dst else pytest.approx(rate(src, dst), rel=1e-3) for src in range(40) for dst in range(40)]
    assert rates_of([chart]) == expected and chart["by"] == 1


def test_a_cell_of_a_large_map_has_the_slowest_of_its_pairs():
    def rate(src, dst):
        return 1.0 if (src, dst) == (511, 3) else 20.0

    chart = map_of(600, rate)
    assert (chart["by"], chart["side"]) == (3, 200)
    rates = rates_of([chart])
    assert rates[170 * 200 + 1] == pytest.approx(1) and rates.count(max(rates)) == 200 * 200 - 1


def test_pairs_that_sent_nothing_are_left_out(run_file):
    def silence(run):
        case = next(case for case in run["cases"] if len(case.get("pairs") or []) > 1)
        case["pairs"] = [{**pair, "bytes": 0, "p25_GBps": None, "p50_GBps": None, "p75_GBps": None, "goodput_GBps": None} for pair in case["pairs"]]
        run["cases"] = [case]

    seen = made(run_file(silence, which="workload"))
    assert "pairs" not in seen.ids and "#pairs" not in seen.links


def test_a_sweep_names_hosts_and_maps_their_rails(run_file):
    def end(host, share, z=0.0, slow=None):
        return {"host": host, "pairs": 6, "p50_GBps": 10 * share, "share": share, "sends": share, "receives": 1.0, "z": z, "slow": slow}

    def rail(rank, share):
        return {**end(f"node{rank // 2}", share), "rank": rank, "rail": rank % 2, "devices": f"mlx5_{rank % 2}:1"}

    def change(run):
        run["cases"][0]["sweep"] = {
            "against": "limit",
            "hosts": [{**end("node2", 0.4, -46.0, "sends"), "ranks": 2}, {**end("node0", 0.9), "ranks": 2}, {**end("node1", 0.9), "ranks": 2}],
            "rails": [rail(rank, 0.4 if rank > 3 else 0.9) for rank in (5, 4, 0, 1, 2, 3)],
            "links": [{"from": "node0", "to": "node1", "p50_GBps": 2.5, "share": 0.25, "of_expected": 0.28, "z": -30.0}],
        }

    seen = made(run_file(change, which="pairs"))
    assert "node2 6 4.000 40 % 40 % 100 % -46.0 sends" in seen.text
    assert "Shares are of the limit" in seen.text
    assert "node0 node1 2.500 25 % 28 % -30.0" in seen.text
    assert "host rail 0 (mlx5_0:1) rail 1 (mlx5_1:1) node0 90 % 90 % node1 90 % 90 % node2 40 % 40 %" in seen.text
    assert "Slow ranks of other hosts" not in seen.text


def test_pairs_of_a_base_are_beside_the_same_ones():
    of_base = {(0, 1): "a to b", (1, 0): "b to a", (1, 2): "b to c"}
    assert figures.renumbered(of_base, None) == of_base
    assert figures.renumbered(of_base, [[0, 1], [1, 0]]) == {(1, 0): "a to b", (0, 1): "b to a"}
