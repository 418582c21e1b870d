import copy
import json
import os
import pathlib
import runpy
import signal
import subprocess
import sys
import tempfile
import traceback

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
PROGRAM = os.environ.get("REPORT_SAMPLE")  # reads, judges and writes as ucx-bench does


def printed(which, form):
    """What the C++ code writes for an invented run."""
    command = [os.environ["REPORT_SAMPLE"], which, form]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def told(*words):
    """The JSON that PROGRAM prints."""
    done = subprocess.run([PROGRAM, *map(str, words)], check=True, capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout)


def load(file):
    """A run as scripts get it from ucx-bench; one without what its cases show is read by that."""
    run = json.loads(file.read_text())
    return run if all("shows" in case for case in run["cases"]) else told("report", file)


def named(file):
    """The same, as a part of what a script draws."""
    return {"run": load(file), "file": str(file), "folder": str(file.parent)}


def document(file, /, **content):
    """Writes to `file` what a script draws."""
    file.write_text(json.dumps(content))
    return file


def as_a_script(name, *arguments):
    """What a script of scripts/ prints and returns, in a process that has this one's modules: importing matplotlib takes
    longer than most pictures."""
    command = [str(ROOT / "scripts" / name), *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = os.fork()
        if child == 0:
            os._exit(run_as_main(command, out, err))
        _, status = os.waitpid(child, 0)
        texts = [stream.seek(0) or stream.read() for stream in (out, err)]
    return subprocess.CompletedProcess(command, os.waitstatus_to_exitcode(status), *texts)


def run_as_main(command, out, err):
    """In a process that ends with what this returns, or by a signal after ten minutes."""
    signal.alarm(600)
    for number, stream in ((1, out), (2, err)):
        os.dup2(stream.fileno(), number)
    sys.stdout, sys.stderr, sys.argv = out, err, command
    status = 1
    try:
        runpy.run_path(command[0], run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
    out.flush()
    err.flush()
    return status


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
