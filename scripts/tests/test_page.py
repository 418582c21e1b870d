"""page.py makes one page from the run file alone, and says in one line what it cannot."""

import html.parser
import json
import os
import pathlib
import subprocess
import sys

import jsonschema
import pytest
import synthetic_run

from browser import said_by
from conftest import PROGRAM, ROOT
from logs import RECEIVE, keep_two_ranks, log_of, records, section

sys.path.insert(0, str(ROOT / "scripts"))
import runfile
from page import page_of


def page(file, *arguments, **environment):
    command = [sys.executable, ROOT / "scripts/page.py", *map(str, (file, file, *arguments)), "--program", PROGRAM]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **environment})


class Page(html.parser.HTMLParser):
    """What is seen, by tag, and what would be fetched."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.fetched, self.svgs, self.links, self.ids = [], [], [], 0, set(), set()
        self.charts, self.policies = [], []
        self.feed(text)
        self.text = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.svgs += tag == "svg"
        self.ids.add(values.get("id"))
        if tag == "a":
            self.links.add(values["href"])
        elif tag in ("img", "iframe", "object") or "src" in values or tag == "link" and values["href"] != "data:,":
            self.fetched.append(tag)
        if "data-chart" in values:
            self.charts.append(json.loads(values["data-chart"]))
        if tag == "meta":
            self.policies.append(values.get("content", "") if "http-equiv" in values else "")
        if tag not in ("meta", "br", "link", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" not in self.open and "script" not in self.open:
            self.texts.append(data)


def made(file):
    seen = Page(page_of(runfile.load(file, PROGRAM), str(file), file.parent))
    # The browser itself then fetches nothing, whatever stands in the page.
    assert any(policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';") for policy in seen.policies)
    return seen


@pytest.mark.parametrize("which", ["result", "pairs", "workload"])
def test_needs_nothing_but_itself(run_file, which):
    seen = made(run_file(which=which))
    assert not seen.fetched and not seen.open
    assert {link.removeprefix("#") for link in seen.links} <= seen.ids


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


def test_a_path_that_was_not_asked_for_is_marked(run_file):
    def elsewhere(run):
        case = next(case for case in run["cases"] if case["state"] == "measured")
        case["path"] |= {"verdict": "other", "carried_by": {"tcp": 1.0}}

    assert "(not as asked)" in made(run_file(elsewhere)).text
    assert "(not as asked)" not in made(run_file()).text


def test_benchmarks_of_a_suite_are_told_apart_by_name_and_canaries_are_no_case(run_file):
    def add(run):
        case = json.loads(json.dumps(next(case for case in run["cases"] if case["state"] == "measured")))
        case["benchmark"], case["parameters"]["skew"] = "other", 0.5
        run["cases"].append(case)
        run["cases"].append({**case, "benchmark": "canary", "key": "canary/memcpy", "parameters": {}})

    text = made(run_file(add)).text
    assert "other tag" in text and "over tcp, skew" not in text
    assert "canary/memcpy: " in text and "canary ," not in text


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
    assert "governor ?" in seen.text


def test_many_pairs_are_folded(run_file):
    def multiply(run):
        case = next(case for case in run["cases"] if len(case.get("pairs") or []) > 1)
        pair = case["pairs"][0]
        case["pairs"] = [{**pair, "src": i, "dst": j, "p50_GBps": 1 + i + j / 100} for i in range(30) for j in range(30) if i != j]
        case["parameters"]["ranks"] = 30

    seen = made(run_file(multiply, which="pairs"))
    assert "670 faster ones are in the run file" in seen.text


def test_writes_a_file_and_stdout(run_file, tmp_path):
    assert page(run_file(), "-o", tmp_path / "page.html").stdout == ""
    assert page(run_file()).stdout == (tmp_path / "page.html").read_text()


def test_findings_are_what_the_program_says(run_file, tmp_path):
    (tmp_path / "findings.json").write_text(json.dumps({"findings": [
        {"id": "a-rule", "severity": "note", "subject": "run", "evidence": "seen now", "cost_ms": None, "next": "look"}]}))
    command = [sys.executable, ROOT / "scripts/page.py", tmp_path / "findings.json", run_file(lambda run: run.update(findings=[]))]
    assert "seen now" in Page(subprocess.run(command, capture_output=True, text=True, timeout=120).stdout).text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda run: run.pop("findings"), "is a damaged ucx-bench run"),
        (lambda run: run["cases"][0].pop("path", run["cases"][0].pop("state")), "is a damaged ucx-bench run"),
        (lambda run: run["machine"].pop("labels"), "is a damaged ucx-bench run"),
        (lambda run: run.update(cases=3), "is a damaged ucx-bench run"),
        (lambda run: run.update(schema="ucx-bench/run/2"), "a newer ucx-bench"),
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


def test_limits_say_whose_word_they_are(run_file):
    row = {"class": "NV2", "path": "nvlink", "resource": "NVLinks GPU0 -> GPU3", "GBps": 50, "complete": True,
           "source": "specification", "detail": "NVLink 2", "expected_GBps": 50, "share_GBps": None, "pairs": 8,
           "min_GBps": 40.5, "p50_GBps": 42.5}
    unknown = {**row, **dict.fromkeys(("path", "resource", "GBps", "source", "detail"))}

    def change(run):
        run["cases"][0]["limits"] = [row, unknown]

    text = made(run_file(change)).text
    assert "NV2 nvlink 8 40.50 42.50 50 85 % 50 85 % ? NVLinks GPU0 -> GPU3 specification: NVLink 2" in text
    assert "NV2 ? 8 40.50 42.50 ? ? 50 85 % ? ? ?" in text


def test_what_was_calibrated_stands_beside_and_more_is_said(run_file):
    row = {"class": "memory", "path": "shm", "resource": "host memory", "GBps": 8.0, "complete": True, "source": "calibrated",
           "detail": "memcpy of 16.0 GB/s", "expected_GBps": None, "share_GBps": 6.0, "pairs": 2, "min_GBps": 9.0, "p50_GBps": 10.0}

    def change(run):
        copies = {"cpus": [0], "bytes": 1, "copy_GBps": 12.0}
        run["machine"]["hosts"][0]["memory_copy"] = {"one_core": copies, "all_cores": {**copies, "cpus": [0, 1], "copy_GBps": 16.0}}
        case = run["cases"][0]
        case["limits"] = [row]
        for pair in case["pairs"]:
            pair |= {"p50_GBps": 10.0, "calibrated_GBps": 8.0, "calibrated_share_GBps": 5.0}

    text = made(run_file(change, which="pairs")).text
    assert "memory shm 2 9.000 10.00 8.000 125 % (above) ? ? 6.000 host memory calibrated: memcpy of 16.0 GB/s" in text
    assert "8.000 125 % (above) 5.000 200 %" in text
    assert "12.00 GB/s on one core, 16.00 on 2" in text


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
    assert "0 1 7 2.000 1.000 4.000 6.000 ? NV1 tcp 10.00 40 % 20.00 20 % 3.000 75 %" in text
    assert "p2p/all 0 ↔ 1 3.000 2.000 67 % p2p/one 0 ↔ 1 4.000 5.000 80 %" in text
    assert "what tcp can carry" in text and "10.0 GB/s, 50 %" in text
    assert "all pairs at once" in text and "2.50 GB/s" not in text


def with_log(run):
    run["run"]["transfers"] = "run.transfers.bin"


def test_the_timeline_is_of_the_median_launch(run_file, tmp_path):
    # Launch medians grow with the launch's number: of six the third is the lower median.
    (tmp_path / "run.transfers.bin").write_bytes(log_of(2))
    text = made(run_file(with_log, which="workload")).text
    assert "merge/tag/host-host/tcp/1M/ranks=2" not in text.split("Timeline of the median run")[1].split("Pairs")[0]
    assert "has nothing of merge/tag/host-host/tcp/1M/ranks=4" in text  # the largest number of ranks

    text = made(run_file(keep_two_ranks, which="workload")).text
    drawn = text.split("Timeline of the median run")[1].split("Directional asymmetry")[0]
    assert "ranks=2 over tcp: 10.0 ms" in drawn and "rank 1" in drawn
    assert "shuffle (waiting)" in drawn and "messages under way" in drawn and "No timeline" not in text


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (None, "run.transfers.bin is missing"),
        (b"UCXTRF02", "'run.transfers.bin' is not a transfer log of ucx-bench"),
        (log_of(2)[:-1], "cut off at byte"),
        (b"UCXTRF01" + section(2, 2, 0, b"")[:-3], "cut off at byte"),
        (b"UCXTRF01" + section(2, 2, 0, records((RECEIVE, 0, 5, 3, 4))), "has no whole run of"),
        (log_of(9), "has nothing of"),
    ],
)
def test_a_log_that_cannot_be_read_is_named(run_file, tmp_path, log, words):
    if log is not None:
        (tmp_path / "run.transfers.bin").write_bytes(log)
    text = made(run_file(with_log, which="workload")).text
    assert "No timeline: " in text and words in text


def test_a_log_is_never_looked_for_elsewhere(run_file, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "elsewhere.transfers.bin").write_bytes(log_of(2))

    def elsewhere(run):
        run["run"]["transfers"] = "../elsewhere.transfers.bin"

    file = run_file(elsewhere, which="workload").rename(tmp_path / "a/run.json")
    assert "elsewhere.transfers.bin is missing" in made(file).text


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
    assert "82 %" in text and text.count(" % used") == 3  # of the legend
    assert "colour" not in made(run_file(lambda run: run.update(topology=synthetic_run.topology()))).text


def test_ranks_say_which_gpu(run_file):
    def place(run):
        run["ranks"][0] |= {"device": {"index": 3, "name": "H200", "pci": "0000:3b:00.0", "memory_bytes": 1, "driver": 1},
                            "cpus": "16-19"}
        run["ranks"][1] |= {"cpus": [2, 3]}

    text = made(run_file(place)).text
    assert "16-19 0 3, H200, 0000:3b:00.0 lo" in text and "2, 3 0 – lo" in text


def synthetic(ranks, tmp_path):
    file = tmp_path / "synthetic.json"
    file.write_text(json.dumps(synthetic_run.run_of(ranks)))
    return runfile.load(file, PROGRAM)


def test_a_run_of_many_ranks_is_folded(tmp_path):
    text = page_of(synthetic(256, tmp_path), "synthetic", ROOT)
    assert len(text.encode()) < 5_000_000
    seen = Page(text)
    assert "synthetic" in seen.text
    assert "200 pairs, the slowest first; 65080 faster ones are in the run file" in seen.text
    assert "32 hosts, host0 to host31" in seen.text and "host17" not in seen.text.split("Machine")[-1]
    assert "<details><summary>256 ranks and where they ran" in text  # closed
    assert "data:image/png" in text  # the map of pairs, which would be 65280 cells


@pytest.mark.parametrize("ranks", [2, 16])
def test_synthetic_runs_are_runs(ranks, tmp_path):
    run = synthetic_run.run_of(ranks)
    schema = json.loads((ROOT / "results/schema/run-1.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(run)
    assert run["machine"]["labels"] == ["synthetic"] and all(case["labels"] == ["synthetic"] for case in run["cases"])
    seen = Page(page_of(synthetic(ranks, tmp_path), "synthetic", ROOT))
    assert [chart["title"] for chart in seen.charts] == ["latency", "bandwidth"]
    assert "r0 r1" in seen.text and "exchange alone, nothing computed" in seen.text


POINT = """<script>{
const told = [], plot = document.querySelector(".plot"), canvas = [...plot.querySelectorAll("canvas")].pop();
const legend = () => plot.querySelector(".legend").textContent;
const box = canvas.getBoundingClientRect();
const mouse = (kind, part) => canvas.dispatchEvent(new MouseEvent(kind, { bubbles: true, clientX: box.left + part * box.width, clientY: box.top + 60, view: window }));
mouse("mousemove", 0.99);
told.push(legend());
plot.focus();
plot.dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true }));
told.push(legend());
const ticks = () => [...plot.querySelectorAll(".dygraph-axis-label-x")].map((label) => label.textContent);
told.push(ticks());
mouse("mousedown", 0.6);
mouse("mousemove", 0.8);
mouse("mousemove", 1);
mouse("mouseup", 1);
told.push(ticks());
mouse("dblclick", 0.5);
told.push(ticks());
const table = [...document.querySelectorAll("table")].find((one) => one.tHead?.rows.length === 2 && one.tBodies[0].rows.length === 3);
table.tHead.rows[1].querySelectorAll("button")[0].click();
table.tHead.rows[1].querySelectorAll("button")[0].click();
told.push(table.tBodies[0].rows[0].cells[0].textContent, csvOf(table).split("\\n").slice(1, 3));
document.body.textContent = JSON.stringify(told);
}</script>"""


def test_plots_are_hovered_and_zoomed_and_tables_sorted_in_a_browser(tmp_path):
    text = page_of(synthetic(2, tmp_path), "synthetic", ROOT)
    last, first, ticks, zoomed, whole, size, lines = said_by(text, POINT, tmp_path)
    assert last.startswith("1 MiB") and "µs (" in last and first.startswith("8 B")
    assert ticks == whole == ["8 B", "1 KiB", "1 MiB"] and zoomed == ["1 MiB"]
    assert lines[0].endswith("transport used,verified") and lines[1].startswith(size)


def test_without_the_library_there_are_tables_and_a_line_that_says_so(run_file, monkeypatch):
    from pages import library

    monkeypatch.setattr(library, "SCRIPT", pathlib.Path("/none/dygraph.min.js"))
    file = run_file()
    text = page_of(runfile.load(file, PROGRAM), str(file), file.parent)
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


DRAG = """<script>{
const svg = document.querySelector(".drawing svg"), whole = svg.getAttribute("viewBox"), box = svg.getBoundingClientRect();
const mouse = (kind, part) => svg.dispatchEvent(new MouseEvent(kind, { bubbles: true, clientX: box.left + part * box.width, clientY: box.top + box.height / 2 }));
mouse("mousedown", 0.25);
mouse("mouseup", 0.75);
const half = svg.getAttribute("viewBox");
mouse("dblclick", 0.5);
document.body.textContent = JSON.stringify([whole, half, svg.getAttribute("viewBox")].map((text) => text.split(" ").map(Number)));
}</script>"""


def test_a_drawing_is_enlarged_in_a_browser(tmp_path):
    run = synthetic(2, tmp_path)
    run["topology"] = synthetic_run.topology()
    whole, half, again = said_by(page_of(run, "synthetic", ROOT), DRAG, tmp_path)
    assert whole == again and half[2:] == pytest.approx([whole[2] / 2, whole[3] / 2], rel=0.01)
    assert half[0] == pytest.approx(whole[2] / 4, rel=0.01)
