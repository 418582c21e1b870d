"""page.py makes one page from the run file alone, and says in one line what it cannot."""

import copy
import json
import os
import pathlib
import subprocess
import sys

import jsonschema
import pytest
import synthetic_run

from conftest import ROOT, document, load, named
from pages import charts, drawings
from seen import Page, made, page_of, synthetic


def page(file, *arguments, **environment):
    asked = document(file.with_suffix(".page"), **named(file))
    command = [sys.executable, ROOT / "scripts/page.py", asked, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **environment})


@pytest.mark.parametrize("which", ["result", "pairs", "workload"])
def test_needs_nothing_but_itself(run_file, which):
    seen = made(run_file(which=which))
    assert not seen.fetched and not seen.open
    assert {link.removeprefix("#") for link in seen.links} <= seen.ids


def test_begins_with_the_verdict_of_a_check(run_file):
    file = run_file()
    run = json.loads(file.read_text())
    limit = {"place": "site.toml:3", "transports": "tcp", "memory": "host", "class": None, "limit": "min_GBps",
             "expected": 2.0, "measured": 1.25, "src": 0, "dst": 1, "host": None, "peer": None, "why": None}
    run["run"]["check"] = {"file": "site.toml", "verdict": "missed",
                           "limits": [{**limit, "verdict": "met"}, {**limit, "verdict": "missed"}]}
    file.write_text(json.dumps(run))
    text = " ".join(made(file).text.split())
    assert "FAIL: 1 of 2 limits of site.toml met" in text
    assert "FAIL tcp, host: min_GBps 2.0, measured 1.250 [site.toml:3]" in text and "PASS tcp, host" in text
    assert text.index("FAIL: 1 of 2") < text.index("2 ranks")


def test_shows_each_measured_number(run_file):
    file = run_file()
    run = json.loads(file.read_text())
    seen = made(file)
    shown = 0
    for case in run["cases"]:
        if case["state"] == "measured" and "latency_us" in case["metrics"]:
            assert f"{case['metrics']['latency_us']['p50']:.4g}" in seen.text
            shown += 1
        elif case["state"] != "measured":
            assert case["reason"] in seen.text
    assert shown


def test_findings_stand_below_the_results_the_worst_first_and_of_quality_last(run_file):
    def find(run):
        common = {"subject": "run", "cost_ms": None}
        run["findings"] = [
            {"id": "few-launches", "severity": "warning", "evidence": "3 launches", "next": "", "of_quality": True, **common},
            {"id": "b", "severity": "note", "evidence": "little", "next": "nothing", **common},
            {"id": "a", "severity": "error", "evidence": "tcp carried it", "next": "ucx-bench list transports", **common},
        ]

    seen = made(run_file(find))
    places = [seen.text.index(words) for words in ("verified", "tcp carried it", "little", "3 launches")]
    assert places == sorted(places)
    assert "ucx-bench list transports" in seen.text


def test_ways_of_communicating_stand_in_a_table(run_file):
    def change(run):
        best = {"key": "a", "way": "shm by ucx", "p50": 2, "ci95": None, "ratio": 1, "ratio_ci95": None, "limit_share": None}
        other = {"key": "b", "way": "tcp by sockets", "p50": 3.04, "ci95": [3, 3.1], "ratio": 1.52, "ratio_ci95": [1.49, 1.6],
                 "limit_share": 0.43}
        entry = {"title": "pingpong tag, host to host", "row": "8 B", "metric": "latency_us", "about": "latency", "unit": "us",
                 "better": "lower"}
        run["ablation"] = [entry | {"shown": True, "ways": [best, other]}, entry | {"shown": False, "row": "9 B", "ways": [best, other]}]

    seen = made(run_file(change)).text
    assert "Configurations: pingpong tag, host to host: latency, 8 B" in seen and "9 B" not in seen
    assert "tcp by sockets 3.040 3 to 3.100 1.52 1.490 to 1.600 43 %" in seen
    assert "communicating, ms" not in seen


def test_the_parts_of_a_time_stand_beside_it(run_file):
    def change(run):
        way = {"key": "a", "way": "shm", "p50": 2, "ci95": None, "ratio": 1, "ratio_ci95": None, "limit_share": None}
        ways = [way | {"idle_ms": 0.5, "late_ms": 1.5}, way | {"way": "tcp", "idle_ms": 0.5, "late_ms": 3.5}]
        run["ablation"] = [{"title": "made up", "row": "2 ranks", "metric": "wall_ms", "about": "time", "unit": "ms",
                            "better": "lower", "shown": True, "parts": ["late", "idle"], "ways": ways}]

    seen = made(run_file(change)).text
    assert "late, ms idle, ms" in seen and "tcp 2 1 3.50 0.500" in seen


def test_a_path_that_was_not_asked_for_is_marked(run_file):
    def elsewhere(run):
        case = next(case for case in run["cases"] if case["state"] == "measured")
        case["path"] |= {"verdict": "other", "carried_by": {"tcp": 1.0}}

    assert "(not as asked)" in made(run_file(elsewhere)).text
    assert "(not as asked)" not in made(run_file()).text


def test_benchmarks_of_a_suite_are_told_apart_by_name_and_canaries_are_no_case(run_file):
    def add(run):
        case = json.loads(json.dumps(next(case for case in run["cases"] if case["state"] == "measured")))
        case["key"], case["benchmark"], case["parameters"]["skew"] = "other/8B", "other", 0.5
        run["cases"].append(case)
        run["cases"].append({**case, "benchmark": "canary", "key": "canary/memcpy", "parameters": {}})

    text = made(run_file(add)).text
    assert "other tag" in text and "over tcp, skew" not in text
    assert "Host reference Measured without UCX" in text and "memcpy latency" in text and "canary ," not in text


def test_names_are_text(run_file):
    def name(run):
        run["machine"]["id"] = "<script>alert(1)</script>"
        run["run"]["command"] = ["ucx-bench", "<b>"]

    seen = made(run_file(name))
    assert "<script>alert(1)</script>" in seen.text and not seen.fetched


def test_what_is_unknown_is_no_zero(run_file):
    def forget(run):
        for case in run["cases"]:
            for metric in case["metrics"].values():
                metric["ci95"] = metric["p99"] = None
        run["machine"]["hosts"][0]["governor"] = None

    seen = made(run_file(forget))
    assert "not known governor" in seen.text and "governor 0" not in seen.text


def test_writes_a_file_and_stdout(run_file, tmp_path):
    assert page(run_file(), "-o", tmp_path / "page.html").stdout == ""
    assert page(run_file()).stdout == (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda run: run.pop("findings"), "is a damaged ucx-bench run"),
        (lambda run: run["cases"][0].pop("path", run["cases"][0].pop("state")), "is a damaged ucx-bench run"),
        (lambda run: run["machine"].pop("labels"), "is a damaged ucx-bench run"),
    ],
)
def test_refuses_what_is_no_run(run_file, tmp_path, change, words):
    done = page(run_file(change), "-o", tmp_path / "page.html")
    assert done.returncode == 2 and not (tmp_path / "page.html").exists()
    assert words in done.stderr and len(done.stderr.splitlines()) == 1


def test_says_where_it_cannot_write(run_file, tmp_path):
    done = page(run_file(), "-o", tmp_path / "no/page.html")
    assert done.returncode == 2 and "choose another path with --html" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_says_what_is_missing(run_file, tmp_path):
    pathlib.Path(tmp_path, "jinja2.py").write_text("raise ImportError('No module named jinja2')")
    done = page(run_file(), PYTHONPATH=str(tmp_path))
    assert done.returncode == 3 and "No module named jinja2" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_all_rows_have_in_common_is_said_above_them(run_file):
    def one_size(run):
        run["cases"] = [case for case in run["cases"] if case["shows"]["axes"][0]["text"] == "8 B"]

    def one_measured(run):
        for case in run["cases"]:
            if case["shows"]["axes"][0]["text"] != "8 B":
                case |= {"state": "skipped", "reason": "no time"}

    assert "over tcp, 8 B" in made(run_file(one_size)).text
    assert "over tcp, 8 B" not in made(run_file()).text
    assert "over tcp, 8 B" not in made(run_file(one_measured)).text


def test_one_size_is_no_curve(run_file):
    def keep_one(run):
        run["cases"] = run["cases"][:1]

    assert made(run_file()).charts and not made(run_file(keep_one)).charts


def test_a_stage_that_reached_much_more_than_the_one_before_is_no_percentage():
    assert [drawings.left_of(value, 2.0) for value in (0.5, 3.0, 66.0)] == ["25 %", "150 %", "33 ×"]


def test_stages_without_a_source_are_left_out(run_file):
    text = made(run_file(which="workload")).text
    assert "peak of the links" not in text and "exchange alone, nothing computed" in text


def test_links_have_the_colour_of_what_crossed_them(run_file):
    def wire(run):
        run["topology"] = synthetic_run.topology()
        nvlink = {"class": "NVLink", "GBps": 300.0}
        run["cases"][0]["links"] = [
            {"from": "GPU0", "to": "NVSwitches", **nvlink, "used_GBps": 246.0},
            {"from": "NVSwitches", "to": "GPU0", **nvlink, "used_GBps": 12.0},
            {"from": "pci00", "to": "GPU1", "class": "PCIe", "GBps": None, "used_GBps": 3.0},
        ]

    text = made(run_file(wire)).text
    assert "used by " in text and "colour: how much of it was used" in text
    assert "GPU0 – NVSwitch0: NVLink, 300.0 GB/s one way, 82 % used" in text
    assert text.count(" % used") == 1 + 3  # of the legend
    assert "colour" not in made(run_file(lambda run: run.update(topology=synthetic_run.topology()))).text


def test_ranks_say_which_gpu(run_file):
    def place(run):
        run["ranks"][0] |= {"device": {"index": 3, "name": "H200", "pci": "0000:3b:00.0", "memory_bytes": 1, "driver": 1},
                            "cpus": "16-19"}
        run["ranks"][1] |= {"cpus": [2, 3]}

    text = made(run_file(place)).text
    assert "16-19 0 3, H200, 0000:3b:00.0 lo" in text and "2, 3 0 – lo" in text


def test_without_the_library_there_are_tables_and_a_line_that_says_so(run_file, monkeypatch):
    from pages import library

    monkeypatch.setattr(library, "SCRIPT", pathlib.Path("/none/dygraph.min.js"))
    file = run_file()
    text = page_of(load(file), str(file), file.parent)
    assert "No plots: libjs-dygraphs was not installed" in text and "<script id=" not in text and "<figure" not in text
    assert "p50" in text


def test_the_peak_of_the_path_is_drawn_over_sizes(run_file):
    row = {"class": "NV2", "path": "nvlink", "resource": "NVLinks", "GBps": 50, "complete": True, "source": "specification",
           "detail": "", "expected_GBps": 50, "share_GBps": None, "pairs": 8, "min_GBps": 1.0, "p50_GBps": 2.0}

    def change(run):
        for case in run["cases"]:
            case["limits"] = [row, {**row, "path": "memory", "GBps": 80, "source": "calibrated"}]

    [chart] = [chart for chart in made(run_file(change)).charts if chart["y"]["unit"] == "GB/s"]
    assert [of["name"] for of in chart["series"] if of.get("peak")] == ["peak of nvlink: 50.0 GB/s"]


def test_a_calibrated_peak_is_of_each_size(run_file):
    def change(run):
        for case in run["cases"]:
            size = next(axis["value"] for axis in case["shows"]["axes"] if axis.get("unit") == "B")
            case["limits"] = [{"path": "shm", "GBps": 200 if size == 8 else 50, "source": "calibrated"}]

    run = json.loads(run_file().read_text())
    change(run)
    [chart] = [chart for chart in charts.of_run(run, "run.json") if chart["y"]["unit"] == "GB/s"]
    [peak] = [of for of in chart["series"] if of.get("peak")]
    assert peak["name"] == "peak of shm (calibrated): 50.0 to 200 GB/s"
    assert peak["points"] == sorted([size, 200 if size == 8 else 50] for size, _ in peak["points"]) and len(peak["points"]) > 1


def test_a_plot_has_the_title_of_its_own_metric(run_file):
    def change(run):
        run["cases"] += [copy.deepcopy(case) for case in run["cases"]]
        for case in run["cases"][len(run["cases"]) // 2 :]:
            case["parameters"]["api"] = "get"
            for metric in case["shows"]["metrics"]:
                if metric["name"] == "latency_us":
                    metric |= {"title": "time of one get", "about": "time of get, with its answer"}

    run = json.loads(run_file().read_text())
    change(run)
    titles = {chart["title"]: chart["about"].partition(";")[0] for chart in charts.of_run(run, "run.json") if chart["y"]["unit"] == "µs"}
    assert titles == {"latency": "one-way latency, lower is better", "time of one get": "time of get, with its answer, lower is better"}


@pytest.mark.parametrize("ranks", [2, 16])
def test_synthetic_runs_are_runs(ranks, tmp_path):
    run = synthetic_run.run_of(ranks)
    schema = json.loads((ROOT / "results/schema/run-1.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(run)
    assert run["machine"]["labels"] == ["synthetic"] and all(case["labels"] == ["synthetic"] for case in run["cases"])
    seen = Page(page_of(synthetic(ranks, tmp_path), "synthetic", ROOT))
    assert [chart["title"] for chart in seen.charts] == ["latency", "bandwidth"]
    assert "r0 r1" in seen.text and "exchange alone, nothing computed" in seen.text
