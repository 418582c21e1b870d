"""page.py makes one page from the run file alone, and says in one line what it cannot."""

import html.parser
import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import ROOT


def page(*arguments, **environment):
    command = [sys.executable, ROOT / "scripts/page.py", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **environment})


class Page(html.parser.HTMLParser):
    """What is seen, by tag, and what would be fetched."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.fetched, self.svgs, self.links, self.ids = [], [], [], 0, set(), set()
        self.feed(text)
        self.text = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.svgs += tag == "svg"
        self.ids.add(values.get("id"))
        if tag == "a":
            self.links.add(values["href"])
        elif tag in ("script", "link", "img", "iframe", "object") or "src" in values:
            self.fetched.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)


def made(file, tmp_path):
    out = tmp_path / "page.html"
    done = page(file, "-o", out)
    assert done.returncode == 0, done.stderr
    text = out.read_text(encoding="utf-8")
    assert "url(http" not in text and "@import" not in text
    return Page(text)


@pytest.mark.parametrize("which", ["result", "pairs", "workload"])
def test_needs_nothing_but_itself(run_file, tmp_path, which):
    seen = made(run_file(which=which), tmp_path)
    assert not seen.fetched and not seen.open
    assert {link.removeprefix("#") for link in seen.links} <= seen.ids
    assert seen.svgs >= 1


def test_shows_each_measured_number(run_file, tmp_path):
    file = run_file()
    run = json.loads(file.read_text())
    seen = made(file, tmp_path)
    shown = 0
    for case in run["cases"]:
        if case["state"] == "measured" and "latency_us" in case["metrics"]:
            assert f"{case['metrics']['latency_us']['p50']:.4g}" in seen.text
            shown += 1
        elif case["state"] != "measured":
            assert case["reason"] in seen.text
    assert shown


def test_the_worst_finding_comes_first(run_file, tmp_path):
    def find(run):
        common = {"subject": "run", "cost_ms": None}
        run["findings"] = [
            {"id": "b", "severity": "note", "evidence": "little", "next": "nothing", **common},
            {"id": "a", "severity": "error", "evidence": "tcp carried it", "next": "ucx-bench list transports", **common},
        ]

    seen = made(run_file(find), tmp_path)
    assert seen.text.index("tcp carried it") < seen.text.index("little") < seen.text.rindex("Results")
    assert "ucx-bench list transports" in seen.text


def test_a_path_that_was_not_asked_for_is_marked(run_file, tmp_path):
    def elsewhere(run):
        case = next(case for case in run["cases"] if case["state"] == "measured")
        case["path"] |= {"verdict": "other", "carried_by": {"tcp": 1.0}}

    assert "(not as asked)" in made(run_file(elsewhere), tmp_path).text
    assert "(not as asked)" not in made(run_file(), tmp_path).text


def test_benchmarks_of_a_suite_are_told_apart_by_name_and_canaries_are_no_case(run_file, tmp_path):
    def add(run):
        case = json.loads(json.dumps(next(case for case in run["cases"] if case["state"] == "measured")))
        case["benchmark"], case["parameters"]["skew"] = "other", 0.5
        run["cases"].append(case)
        run["cases"].append({**case, "benchmark": "canary", "key": "canary/memcpy", "parameters": {}})

    text = made(run_file(add), tmp_path).text
    assert "other tag" in text and "over tcp, skew" not in text
    assert "canary/memcpy: " in text and "canary ," not in text


def test_names_are_text(run_file, tmp_path):
    def name(run):
        run["machine"]["id"] = "<script>alert(1)</script>"
        run["run"]["command"] = ["ucx-bench", "<b>"]

    seen = made(run_file(name), tmp_path)
    assert "<script>alert(1)</script>" in seen.text and not seen.fetched


def test_what_is_unknown_is_no_zero(run_file, tmp_path):
    def forget(run):
        for case in run["cases"]:
            for metric in case["metrics"].values():
                metric["ci95"] = metric["p99"] = None
        run["machine"]["hosts"][0]["governor"] = None

    seen = made(run_file(forget), tmp_path)
    assert "governor ?" in seen.text


def test_many_pairs_are_folded(run_file, tmp_path):
    def multiply(run):
        case = next(case for case in run["cases"] if len(case.get("pairs") or []) > 1)
        pair = case["pairs"][0]
        case["pairs"] = [{**pair, "src": i, "dst": j, "p50_GBps": 1 + i + j / 100} for i in range(30) for j in range(30) if i != j]
        case["parameters"]["ranks"] = 30

    seen = made(run_file(multiply, which="pairs"), tmp_path)
    assert "670 faster ones are in the run file" in seen.text


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


def test_limits_say_whose_word_they_are(run_file, tmp_path):
    row = {"class": "NV2", "path": "nvlink", "resource": "NVLinks GPU0 -> GPU3", "GBps": 50, "complete": True,
           "source": "specification", "detail": "NVLink 2", "expected_GBps": 50, "share_GBps": None, "pairs": 8,
           "min_GBps": 40.5, "p50_GBps": 42.5}
    unknown = {**row, **dict.fromkeys(("path", "resource", "GBps", "source", "detail"))}

    def change(run):
        run["cases"][0]["limits"] = [row, unknown]

    text = made(run_file(change), tmp_path).text
    assert "NV2 nvlink 8 42.50 50 NVLinks GPU0 -> GPU3 specification: NVLink 2" in text
    assert "NV2 ? 8 42.50 ? ? ?" in text
