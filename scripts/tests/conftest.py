import copy
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
PROGRAM = os.environ.get("REPORT_SAMPLE")  # reads older run files as ucx-bench report does


def printed(which, form):
    """What the C++ code writes for an invented run."""
    command = [os.environ["REPORT_SAMPLE"], which, form]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def older(run):
    """The run as before its cases said what they show: reading it asks PROGRAM."""
    for case in run["cases"]:
        case.pop("shows", None)


@pytest.fixture(params=["result", "pairs", "workload"])
def any_run(request):
    return json.loads(printed(request.param, "json"))


@pytest.fixture
def run_file(tmp_path):
    """Writes a changed copy of an invented run and returns its path."""

    def write(change=lambda run: None, name="run.json", which="result"):
        run = json.loads(printed(which, "json"))
        before = copy.deepcopy([case["parameters"] for case in run["cases"]])
        change(run)
        if isinstance(run.get("cases"), list) and [case["parameters"] for case in run["cases"]] != before:
            older(run)
        file = tmp_path / name
        file.write_text(json.dumps(run))
        return file

    return write
