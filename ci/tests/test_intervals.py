"""Every printed median has an interval, or says why not: in the run file, tables, Markdown and pages of all recorded
runs. A run that was disturbed from half-way is not called good."""

import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = sorted((ROOT / "results" / "runs").rglob("*.json"))
WITH_CASES = [file for file in RECORDED if '"cases"' in file.read_text(encoding="utf-8")]
# Heads of columns of medians over launches.
MEDIAN = re.compile(r"p50|median|median, ms|ms|here|alone|both ways|measured|0->1|one way")
# Beside it stands how far pairs are apart, which is what the table is about.
OF_PAIRS = re.compile(r"p50")


def told(bench, file):
    done = bench("report", file, "--json", "-", "--quiet")
    assert done.code == 0, done
    return json.loads(done.out)


def assert_interval(interval, launches, where):
    """One launch has none."""
    if launches < 2:
        assert interval is None, where
    else:
        assert interval["low"] <= interval["high"] and interval["kind"] == ("ci95" if launches >= 6 else "range"), where


@pytest.mark.parametrize("file", WITH_CASES, ids=lambda file: file.stem)
def test_every_median_of_a_run_file_has_an_interval(bench, file):
    medians = 0
    for case in told(bench, file)["cases"]:
        launches = len({launch["launch"] for launch in case["launches"]})
        for name, metric in case["metrics"].items():
            assert_interval(metric["interval"], len(metric["launch_medians"]), (case["key"], name))
            medians += 1
        for phase in case["phases"]:
            for name in ("median_ms", "slowest_ms"):
                if phase[name] is not None:
                    assert_interval(phase["intervals"][name], launches, (case["key"], phase["name"]))
        for pair in case["pairs"]:
            for name in ("latency_p50_us", "p50_GBps", "goodput_GBps"):
                if pair.get(name) is not None:
                    assert_interval(pair["intervals"][name], launches, (case["key"], pair))
        for name in ("alone_GBps", "busy_ms", "exposed_ms"):
            if case["exchange"].get(name) is not None:
                assert_interval(case["exchange"]["intervals"][name], launches, (case["key"], name))
    assert medians > 0, file


def tables_of(markdown):
    """[(what stands above it, its heads)]"""
    found, above = [], ""
    lines = markdown.splitlines()
    for line, below in zip(lines, [*lines[1:], ""]):
        if below.startswith("| ---"):
            found.append((above, [cell.strip().rpartition("<br>")[2] for cell in line.strip("|").split("|")]))
        if line.startswith("### "):
            above = line
        elif line and not line.startswith("|"):
            above += "\n" + line
    return found


@pytest.mark.parametrize("file", WITH_CASES, ids=lambda file: file.stem)
def test_every_median_of_a_table_has_an_interval_beside_it(bench, file):
    done = bench("report", file, "--markdown", "-", "--quiet")
    assert done.code == 0, done
    tables = tables_of(done.out)
    assert tables, done
    for above, heads in tables:
        if "(no interval)" in above or heads[0] in ("class", "configuration"):
            continue
        # Below each row of first messages stands one of intervals.
        if "of which" in done.out and heads[:2] == ["size", "peers"]:
            assert "| 95% CI |" in done.out or "| range |" in done.out, done
            continue
        for head, beside in zip(heads, [*heads[1:], ""]):
            if MEDIAN.fullmatch(head):
                assert beside in ("95% CI", "range") or OF_PAIRS.fullmatch(head) and beside == "p75", (head, beside, above)


@pytest.mark.parametrize("launches", [2, 5, 6, 8, 12])
def test_a_run_that_was_disturbed_from_half_way_is_not_good(bench, tmp_path, launches):
    """What a program that takes the CPUs from half-way on does to the rates of launches."""
    run = json.loads((ROOT / "results/runs/vm-60992029/2026-11/pingpong-host.json").read_text(encoding="utf-8"))
    run["machine"]["labels"], run["findings"] = [], []
    case = next(case for case in run["cases"] if "bandwidth_GBps" in case["metrics"])
    metric = case["metrics"]["bandwidth_GBps"]
    medians = [0.52 if 2 * at < launches else 0.18 for at in range(launches)]
    metric |= {"launch_medians": medians, "p50": sorted(medians)[launches // 2], "ci95": [0.18, 0.52] if launches >= 6 else None}
    case["metrics"] = {"bandwidth_GBps": metric}
    run["cases"] = [case]
    (tmp_path / "hog.json").write_text(json.dumps(run))
    done = bench("report", "hog.json")
    assert done.code == 0 and re.search(r"quality +poor: .*(launches far apart|wide 95 % intervals)", done.out), done
