import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def printed(which, form):
    """What the C++ code writes for an invented run."""
    command = [os.environ["REPORT_SAMPLE"], which, form]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


@pytest.fixture(params=["result", "pairs", "workload"])
def any_run(request):
    return json.loads(printed(request.param, "json"))


@pytest.fixture
def run_file(tmp_path):
    """Writes a changed copy of an invented run and returns its path."""

    def write(change=lambda run: None, name="run.json", which="result"):
        run = json.loads(printed(which, "json"))
        change(run)
        file = tmp_path / name
        file.write_text(json.dumps(run))
        return file

    return write
