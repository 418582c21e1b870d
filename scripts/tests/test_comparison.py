"""comparison.py puts two runs side by side, and says in one line what it cannot."""

import json
import sys

import pytest

from conftest import ROOT, as_a_script, document, named, older
from logs import keep_two_ranks, log_of
from seen import Page

sys.path.insert(0, str(ROOT / "scripts"))
from comparison import page_of

KEY = "merge/tag/host-host/tcp/1M/ranks=2"
ROW = ["regressed", KEY, "time, ms", "100.0", "200.0", "+100.0 %", "+90.0 to +110.0 %", "0.5 %", "0.0001", "", "10 launches"]
VERDICTS = {"counts": [["regressed", 1]], "rows": [ROW]}
COMPARISON = {"schema": "ucx-bench/comparison/1", "alpha": 0.01, "tests": 1, "incomparable": "", "host_changed": "",
              "lost": None, "differences": ["UCX 1.13.1 -> 1.22.0"], "canaries": []}


@pytest.fixture
def two_runs(run_file, tmp_path):
    """Writes an invented workload twice, each in a folder with its log; `change` is made to the new one."""

    def write(change=lambda run: None, new_log=log_of(2, end=15.0)):
        files = []
        for name, log in (("base", log_of(2)), ("new", new_log)):
            (tmp_path / name).mkdir()
            file = run_file(keep_two_ranks, which="workload").rename(tmp_path / name / "run.json")
            run = json.loads(file.read_text())
            of = run["cases"][1]["exchange"]
            of["busy_ms"], of["exposed_ms"] = (20.0, 4.0) if name == "base" else (10.0, None)
            if name == "new":
                change(run)
                older(run)
            file.write_text(json.dumps(run))
            if log:
                (tmp_path / name / "run.transfers.bin").write_bytes(log)
            files.append(file)
        return files

    return write


def test_that_nothing_was_decided_is_said(two_runs):
    files, last = two_runs(), "nothing was decided: 1 of 1 row is inconclusive; use more launches"
    assert last in made(files, nothing_decided=last).text
    assert "nothing was decided" not in made(files, nothing_decided=None).text


def made(files, verdicts=VERDICTS, **changes):
    text = page_of(COMPARISON | changes, verdicts, [named(file) for file in files])
    assert "url(http" not in text
    page = Page(text)
    assert not page.fetched and not page.open
    return page


def test_the_runs_are_side_by_side_on_one_scale(two_runs):
    page = made(two_runs())
    key = KEY
    assert f"{key} messages under way, ms 20.00 10.00 0.50 ×" in page.text
    assert "waiting for them" not in page.text  # the new run does not know
    timelines = [chart for chart in page.charts if chart.get("kind") == "timeline"]
    assert [chart["title"] for chart in timelines] == [f"base: {key} over tcp", f"new: {key} over tcp"]
    assert f"base: {key} over tcp : 10.0 ms" in page.text and f"new: {key} over tcp : 15.0 ms" in page.text
    assert [chart["end_ms"] for chart in timelines] == [15.0, 15.0]
    assert "1 regressed" in page.text and f"regressed {key} time, ms 100.0 200.0 +100.0 % +90.0 to +110.0 %" in page.text
    assert f"{key} throughput, GB/s" in page.text and "UCX 1.13.1 -> 1.22.0" in page.text


def test_a_load_is_the_same_over_another_transport(two_runs):
    def over_shm(run):
        for case in run["cases"]:
            case["key"] = case["key"].replace("tcp", "shm")
            case["parameters"] |= {"transports": ["shm"], "net_devices": ""}

    text = made(two_runs(over_shm)).text
    title = "merge/tag/host-host/tcp/1M/ranks=2 → merge/tag/host-host/shm/1M/ranks=2"
    assert f"{title} messages under way, ms 20.00 10.00 0.50 ×" in text


def test_another_load_is_not(two_runs):
    def larger(run):
        for case in run["cases"]:
            case["key"] = case["key"].replace("1M", "2M")
            case["parameters"]["rows"] = 2000000

    page = made(two_runs(larger))
    assert "exchange" not in page.ids and not page.charts


def test_without_a_log_the_figures_remain(two_runs):
    page = made(two_runs(new_log=None))
    assert "new: No timeline: run.transfers.bin is missing." in page.text
    assert "0.50 ×" in page.text and not page.charts


def test_says_why_there_is_no_verdict(two_runs):
    page = made(two_runs(), {"counts": [], "rows": []}, incomparable="other machines: a, b")
    assert "No verdict: other machines: a, b" in page.text and "There is no metric to judge." in page.text


def test_what_befell_the_new_run_is_said_first(two_runs):
    page = made(two_runs(), lost="the new run failed: rank 1 was killed")
    assert ": two runs the new run failed: rank 1 was killed ; 1 regressed " in page.text


def test_says_where_it_cannot_write(two_runs, tmp_path):
    file = document(tmp_path / "asked", comparison=COMPARISON, verdicts=VERDICTS, runs=[named(run) for run in two_runs()])
    done = as_a_script("comparison.py", file, "-o", tmp_path / "no/page.html")
    assert done.returncode == 2 and "choose another path with --html" in done.stderr
