"""What the tests of dashboard.py share: a folder of invented runs, and pages made of it."""

import argparse
import html
import json
import re
import shutil
import subprocess
import sys

import pytest

import synthetic_tree
from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import dashboard

RUNS, SERIES = 24, 32
# The part of `compare` that tests here need: everything is unchanged but what is named on its own command line.
COMPARE = """#!{python} -IS
import json, sys
if sys.argv[1:] == ["dashboard", "/dev/stdin", "--impossible"]:
    runs = [json.load(open(json.loads(line))) for line in sys.stdin]
    sys.exit(print(json.dumps([{{case["key"]: "too fast" for case in run["cases"] if "too fast" in case["labels"]}} for run in runs])))
if sys.argv[1] == "dashboard":  # --streams: a segment for each minor version of UCX and topology
    places, before, segments = [], {{}}, {{}}
    for head in map(json.loads, sys.stdin):
        if "tags" not in head["run"]:
            places.append({{"damage": "'the run' has no tags"}})
            continue
        run, ucx = head["run"], head["ucx"]["version"]
        place = {{"machine": head["machine"]["id"], "branch": run["tags"].get("branch", ""), "what": " ".join(run["command"][1:3]),
            "side": run.get("ab", {{}}).get("side", ""), "segment": 0, "differs": [], "environment": "UCX " + ucx}}
        key = place["what"], place["side"]
        known = segments.setdefault(key, [])
        environment = ucx.split(".")[:2], head["machine"].get("topology_hash")
        known += [] if environment in known else [environment]
        place["segment"] = known.index(environment)
        if before.setdefault(key, ucx) != ucx:
            place["differs"] = ["UCX " + before[key] + " -> " + ucx]
        before[key] = ucx
        places.append(place)
    sys.exit(print(json.dumps(places)))
if sys.argv[1] == "report":
    sys.exit(print(json.dumps({{"findings": [{{"id": "max-time", "severity": "warning", "subject": "run", "evidence": "cut short",
        "next": "give it more time"}}]}})))
itself = sys.argv[3] == "--with-itself"
open(sys.argv[0] + ".asked", "a").write(" ".join(sys.argv) + "\\n")
base, new = (json.load(open(file)) for file in (sys.argv[2], sys.argv[2 if itself else 3]))
rows = []
for case in new["cases"]:
    for name, metric in case["metrics"].items():
        if case["benchmark"] == "canary":
            continue
        old = next((c["metrics"].get(name) for c in base["cases"] if c["key"] == case["key"]), None)
        newest = sys.argv[3].endswith("{newest:05}.json")
        lost = newest and case["parameters"]["transports"] == ["tcp"] and name == "latency_us"
        verdict = "regressed" if lost else "unchanged" if old else "new"
        rows.append({{"key": case["key"], "metric": name, "better": metric["better"], "verdict": verdict,
            "base": old and old["p50"], "new": metric["p50"], "matched_base": old and old["p50"],
            "matched_new": metric["p50"], "ratio": 1.2 if lost else 1.0, "floor": 0.01,
            "interval": [1.1, 1.3] if lost else [0.99, 1.01], "base_launches": 8, "new_launches": 8,
            "by": "duets" if "ab" in new["run"] else "launches", "in_turns": None,
            "reason": "time-sliced" if "time-sliced" in case["labels"] else None,
            "p": 0.5 if itself else 0.001, "p_corrected": 0.002, "why": ""}})
print(json.dumps({{"alpha": 0.01, "tests": len(rows), "incomparable": "", "host_changed": "", "canaries": [],
    "differences": ["commit a -> b"], "series": rows}}))
"""


def program_in(folder):
    file = folder / "compare"
    file.write_text(COMPARE.format(python=sys.executable, newest=RUNS - 1))
    file.chmod(0o755)
    return file


@pytest.fixture
def program(tmp_path):
    return program_in(tmp_path)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """With its index: what a page asks of each run is asked once for all tests."""
    folder = tmp_path_factory.mktemp("made") / "runs"
    synthetic_tree.write_tree(folder, RUNS, SERIES)
    made(folder, program_in(folder.parent))
    return folder


@pytest.fixture
def runs(made_once, tmp_path):
    """A folder of runs that a test may change."""
    shutil.copytree(made_once, tmp_path / "runs")
    return tmp_path / "runs"


def files_of(folder):
    return sorted(folder.rglob("0*.json"))


def change(file, how):
    run = json.loads(file.read_text())
    how(run)
    file.write_text(json.dumps(run))


def made(folder, program, base=None):
    """In this process: a new one for each page would take most of the time."""
    page = folder.parent / "page.html"
    page.write_text(dashboard.page_of(argparse.Namespace(tree=folder, html=page, base=base, otava=None, program=program)))
    return page.read_text(encoding="utf-8")


def as_a_program(*arguments):
    command = [sys.executable, ROOT / "scripts/dashboard.py", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page).group(1))


def text_of(page):
    """What is read, without the script's data."""
    page = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def left_out(page):
    section = page[page.index('id="left-out"') :]
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td></tr>", section)
    return {html.unescape(file): html.unescape(why) for file, why in rows}
