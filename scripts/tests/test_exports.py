"""What other tools get: by their documented formats here, and by the tools themselves where they are.

GITHUB_ACTION_BENCHMARK: the folder of a release of that action. OTAVA: the program of apache-otava.
"""

import csv
import dataclasses
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

import jsonschema
import pytest

from conftest import ROOT, printed

sys.path.insert(0, str(ROOT / "scripts"))

from dashboards import otava  # noqa: E402

ACTION = pathlib.Path(os.environ.get("GITHUB_ACTION_BENCHMARK", "/nowhere"), "dist/src/index.js")
OTAVA = os.environ.get("OTAVA") or shutil.which("otava")
WHICH = ["result", "pairs", "workload"]

# https://bencher.dev/bmf.json, which lets other names be anything: here they may not be there.
BENCHER = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {name: {"type": "number"} for name in ("value", "lower_value", "upper_value")},
            "required": ["value"],
            "additionalProperties": False,
        },
    },
}


@pytest.mark.parametrize("which", WHICH)
def test_bencher_has_its_form(which):
    benchmarks = json.loads(printed(which, "bencher"))
    jsonschema.validate(benchmarks, BENCHER)
    assert benchmarks
    for key, measures in benchmarks.items():
        assert 0 < len(key) <= 1024 and measures
        for name, metric in measures.items():
            assert 0 < len(name) <= 64  # as Bencher's reference says
            assert metric.get("lower_value", 0) <= metric["value"] <= metric.get("upper_value", math.inf)


@pytest.mark.parametrize("which", WHICH)
def test_rows_for_the_github_action_have_its_form(which):
    names = []
    for form in ("smaller-is-better", "bigger-is-better"):
        for row in json.loads(printed(which, form)):
            names.append(row["name"])
            assert isinstance(row["value"], (int, float)) and row["unit"] in ("us", "ms", "GB/s", "1/s")
            assert {*row} <= {"name", "unit", "value", "range", "extra"}
            # As the action reads it to convert units.
            assert "range" not in row or math.isfinite(float(re.fullmatch(r"± (\d.*)", row["range"])[1]))
    assert len(names) == len(set(names)) > 0
    cases = json.loads(printed(which, "bencher")).items()  # whose names end in their labels
    metrics = {f"{key.partition(' [')[0]}/{name}" for key, of in cases for name in of}
    assert set(names) == metrics


def run_action(folder, file, tool):
    """The whole action, without a network: its history is a file."""
    commit = {"id": file.stem, "message": "m", "url": "http://localhost/", "timestamp": "2026-01-02T03:04:05Z"}
    event = folder / "event.json"
    event.write_text(json.dumps({"head_commit": {**commit, "author": {}, "committer": {}},
                                 "repository": {"html_url": "http://localhost/"}}))
    inputs = {"name": "ucx-bench", "tool": tool, "output-file-path": file, "external-data-json-path": folder / "data.json",
              "save-data-file": "true", "fail-on-alert": "true", "alert-threshold": "110%", "fail-threshold": "110%",
              "auto-push": "false", "comment-always": "false", "comment-on-alert": "false", "summary-always": "false",
              "skip-fetch-gh-pages": "true", "gh-pages-branch": "none", "benchmark-data-dir-path": "none",
              "go-force-package-suffix": "false"}
    environment = {**os.environ, **{f"INPUT_{name.upper()}": str(value) for name, value in inputs.items()},
                   "GITHUB_EVENT_PATH": str(event), "GITHUB_REPOSITORY": "of/none"}
    return subprocess.run(["node", ACTION], env=environment, cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.mark.skipif(not ACTION.exists(), reason="GITHUB_ACTION_BENCHMARK names no release of that action")
@pytest.mark.skipif(not shutil.which("node"), reason="no node")
@pytest.mark.parametrize("form, tool, worse", [
    ("smaller-is-better", "customSmallerIsBetter", 1.3), ("bigger-is-better", "customBiggerIsBetter", 1 / 1.3),
])
def test_the_github_action_knows_better_from_worse(tmp_path, form, tool, worse):
    rows = json.loads(printed("result", form))
    for name, factor in (("base", 1), ("better", 1 / worse), ("worse", 1)):
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps([{**row, "value": row["value"] * factor} for row in rows]))
        done = run_action(tmp_path, file, tool)
        assert done.returncode == (name == "worse"), done.stdout + done.stderr
    assert rows[0]["name"] in done.stdout
    kept, = json.loads((tmp_path / "data.json").read_text())["entries"].values()
    assert [entry["benches"][0]["range"] for entry in kept][:1] == [rows[0]["range"]]


def history():
    """Invented: 60 runs, slower from the 40th on; one case is not measured in the 20th."""
    runs = [(1.79e9 + 3600 * i, f"{i:040x}", f"run {i}") for i in range(60)]
    wobble = [1 + 0.01 * math.sin(7 * i * i) for i in range(60)]
    times = [wobble[i] * (100 if i < 40 else 110) for i in range(60)]
    rates = [8 * w for w in wobble]
    return otava.History("suite small.toml on vm-1, branch main", runs, {
        "pingpong/tag/host-host/tcp+shm/8B latency_us": ("lower", times),
        "pingpong/tag/host-host/tcp+shm/8B bandwidth_GBps": ("higher", rates),
        "merge/2/rows=1M, skew=0 wall_ms": ("lower", [None if i == 20 else time for i, time in enumerate(times)]),
        "never measured_us": ("lower", [None] * 60),
    })


def read_back(folder):
    text = (folder / "otava.yaml").read_text()
    return json.loads("".join(line for line in text.splitlines(keepends=True) if not line.startswith("#")))


def test_otava_gets_a_column_per_series_and_no_empty_field(tmp_path):
    names = otava.write(tmp_path / "out", [history()])
    assert names == ["suite-small.toml-on-vm-1-branch-main-1", "suite-small.toml-on-vm-1-branch-main-2"]
    tests = read_back(tmp_path / "out")["tests"]
    tables = {name: list(csv.DictReader((tmp_path / "out" / of["file"]).open())) for name, of in tests.items()}
    assert [len(rows) for rows in tables.values()] == [60, 59]
    for name, rows in tables.items():
        assert {*tests[name]["metrics"], "time", "commit", "run"} == {*rows[0]}
        assert all(field for row in rows for field in row.values())
    assert tables[names[0]][0]["time"] == "2026-09-21T14:13:20Z"
    assert "run 20" not in [row["run"] for row in tables[names[1]]]
    directions = [metric["direction"] for metric in tests[names[0]]["metrics"].values()]
    assert directions == [-1, 1]


def test_otava_gets_each_segment_by_itself():
    run = types.SimpleNamespace
    runs = [run(time=1.79e9 + i, commit="c", id=str(i)) for i in range(5)]
    stream = run(name="suite on vm-1", runs=runs, segments=[[0, 1, 2], [3, 4]])
    values = [[1.0, None, None], None, [3.0, 2.5, 3.5], [4.0, None, None], [5.0, None, None]]
    line = run(stream=stream, id="a latency_us", better="lower", parameters="1234", values=values)
    other = run(stream=stream, id="a latency_us", better="lower", parameters="5678", values=values)
    first, second = otava.histories_of([line, other])
    assert [run for _, _, run in first.runs] == ["0", "1", "2"] and [run for _, _, run in second.runs] == ["3", "4"]
    assert first.series == {"a latency_us": ("lower", [1.0, None, 3.0]),
                            "a latency_us (5678)": ("lower", [1.0, None, 3.0])}


@pytest.mark.skipif(not OTAVA, reason="no otava on the PATH, and OTAVA is not set")
def test_otava_finds_the_change(tmp_path):
    names = otava.write(tmp_path, [history(), dataclasses.replace(history(), name="another")])
    command = [OTAVA, "analyze", "all", "--config-file", "otava.yaml", "--since", "2026-01-01", "--until", "2027-01-01",
               "--output", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    decoder, found, at = json.JSONDecoder(), {}, 0
    while at < len(done.stdout.rstrip()):
        of, end = decoder.raw_decode(done.stdout[at:].lstrip())
        at += len(done.stdout[at:]) - len(done.stdout[at:].lstrip()) + end
        found.update(of)
    assert list(found) == names
    for changes in found.values():
        change, = changes
        assert "1790144000" in str(change["time"])
