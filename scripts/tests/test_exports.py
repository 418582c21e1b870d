"""What other tools get: by their documented formats here, and by the tools themselves where they are.

GITHUB_ACTION_BENCHMARK: the folder of a release of that action.
"""

import json
import math
import os
import pathlib
import re
import shutil
import subprocess

import jsonschema
import pytest

from conftest import printed

ACTION = pathlib.Path(os.environ.get("GITHUB_ACTION_BENCHMARK", "/nowhere"), "dist/src/index.js")
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
