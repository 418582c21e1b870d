"""No script knows a benchmark by its name: what a case shows, its run file says."""

import json
import re
import subprocess

import pytest

from conftest import PROGRAM, ROOT, load
from made_pages import made, made_once, runs, text_of  # noqa: F401 (fixtures)
from seen import Page
from test_plot import picture

from page import page_of

MADE_UP = "made-up"
EXCEPT = ("tests", "setup")
MODEL = "loggp_fits"  # of curves, whichever benchmark measured them


def names():
    """Of all benchmarks: each has a folder that registers it."""
    found = {}
    for file in [*ROOT.glob("bench/*/benchmark.cpp"), *ROOT.glob("workloads/*/benchmark.cpp")]:
        found[re.search(r'register_benchmark\(\{\s*\.name = "([^"]+)"', file.read_text()).group(1)] = file
    assert len(found) >= 5
    return found


def scripts():
    for file in sorted((ROOT / "scripts").rglob("*")):
        if file.suffix in (".py", ".j2", ".js", ".css") and file.relative_to(ROOT / "scripts").parts[0] not in EXCEPT:
            yield file


def test_no_script_names_a_benchmark():
    word = re.compile(rf"(?<![A-Za-z])({'|'.join(names())})(?![A-Za-z])")
    named = [f"{file.relative_to(ROOT)}: {line.strip()}" for file in scripts()
             for line in file.read_text(encoding="utf-8").splitlines() if word.search(line.replace(MODEL, ""))]
    assert not named


def call_it_made_up(run):
    """As a benchmark of tomorrow would write it, with a parameter and an axis that nobody has heard of."""
    for case in run["cases"]:
        name = case["benchmark"]
        case["benchmark"], case["key"] = MADE_UP, case["key"].replace(f"{name}/", f"{MADE_UP}/", 1)
        shows = case["shows"]
        shows["title"] = shows["title"].replace(name, MADE_UP)
        for parameter in ("rows", "runs", "ignore_bytes"):
            case["parameters"].pop(parameter, None)
        case["parameters"]["edge"] = 64
        if shows["kind"] == "workload":
            shows["axes"].append({"name": "edge", "label": "edge", "value": 64, "text": "edge 64"})
            shows["scaling"] = {"kind": "weak", "amount": "edge", "asked": "64"}


@pytest.fixture
def made_up(run_file):
    def write(which):
        file = run_file(which=which)
        run = json.loads(file.read_text())
        call_it_made_up(run)
        file.write_text(json.dumps(run))
        return file

    return write


@pytest.mark.parametrize("which", ["result", "workload"])
def test_a_made_up_benchmark_has_a_page(made_up, which):
    file = made_up(which)
    text = Page(page_of(load(file), str(file), file.parent)).text
    assert f"{MADE_UP} tag, host to host, over tcp" in text


def test_a_made_up_benchmark_is_drawn(made_up, tmp_path):
    curves = picture(made_up("result"), out=tmp_path / "curves.svg")
    assert f"{MADE_UP} tag" in curves and "message size" in curves
    workload = picture(made_up("workload"), out=tmp_path / "workload.svg")
    assert f"{MADE_UP} tag, host to host, edge 64" in workload and "weak scaling" in workload and "4 ranks" in workload


def test_a_made_up_benchmark_stands_on_the_dashboard(runs):  # noqa: F811 (fixtures)
    for file in runs.rglob("0*.json"):
        run = json.loads(file.read_text())
        call_it_made_up(run)
        file.write_text(json.dumps(run))
    page = text_of(made(runs))
    assert f"{MADE_UP}/tag/host-host/shm, latency" in page and f"all {MADE_UP} " not in page


def test_the_program_reads_a_made_up_benchmark(made_up, tmp_path):
    """Tables and comparisons are tried in harness/report; here what older programs would not know."""
    file = made_up("workload")
    again = subprocess.run([PROGRAM, "report", file], capture_output=True, text=True, timeout=60, check=True).stdout
    shown, expected = ([case["shows"] for case in run["cases"]] for run in (json.loads(again), json.loads(file.read_text())))
    assert shown == expected
