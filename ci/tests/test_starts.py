"""How the program is started and how ranks end: streams that cannot be written to, ignored signals, limits, names."""

import json
import pathlib
import re
import signal
import subprocess

import pytest
from conftest import PROGRAM, SHIM, clean_environment, only, quick

RUN = ["pingpong", *quick(["--transports", "shm", "--sizes", "8", "--json", "run.json"])]


def shell(folder, redirected, command=RUN, before=""):
    words = " ".join(f"'{word}'" for word in [PROGRAM, *map(str, command)])
    return subprocess.run(["bash", "-c", f"{before} {words} {redirected}; exit ${{PIPESTATUS[0]}}"], cwd=folder,
                          env=clean_environment(), capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("redirected", ["2>&-", "2>/dev/full", ">&-", ">/dev/full", "<&- >&- 2>&-", "| head -c 1", "2>&1 | head -c 1"])
def test_what_cannot_be_written_to_changes_no_run(tmp_path, redirected):
    done = shell(tmp_path, redirected)
    assert done.returncode == 0, done
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["run"]["state"] == "complete" and run["cases"][0]["state"] == "measured"
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]
    if redirected == ">/dev/full":
        assert "the table cannot be written to stdout: No space left on device; ucx-bench report run.json" in done.stderr


@pytest.mark.parametrize("redirected", ["2>&-", "2>/dev/full"])
@pytest.mark.parametrize("command", [["--version"], ["list", "rules"], ["doctor"], ["pingpong", "--siezs", 8], ["--dry-run", "p2p"]])
def test_without_a_stderr_a_command_ends_as_with_one(tmp_path, command, redirected):
    assert shell(tmp_path, redirected, command).returncode == shell(tmp_path, "", command).returncode


@pytest.mark.parametrize("command", [RUN, ["doctor"]])
def test_a_parent_that_ignores_the_end_of_children(tmp_path, command):
    usual = shell(tmp_path, "", command)
    done = subprocess.run([PROGRAM, *map(str, command)], cwd=tmp_path, env=clean_environment(), capture_output=True, text=True,
                          timeout=120, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert done.returncode == usual.returncode, done


def test_a_run_that_outlives_its_terminal(fault):
    """As under nohup; elsewhere the end of a terminal ends the run (test_endings.py)."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        running = fault.run("hold", 0, "8 B: first message", command=RUN)
    finally:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    fault.acted_at()
    running.signal(signal.SIGHUP)
    fault.go_on()
    assert running.finish().code == 0


def test_a_limit_on_the_size_of_files(tmp_path):
    done = shell(tmp_path, "", before="ulimit -f 4;")
    assert done.returncode in (2, 5), done
    assert re.search("^ucx-bench: .*File too large", done.stderr, re.MULTILINE), done


def test_an_address_with_colons_is_shown_as_it_is_given(start):
    running = start("pingpong", "--hosts", 2, "--listen", "[::1]:0")
    try:
        while not (line := running.process.stderr.readline().decode()).startswith("waiting"):
            assert line, running.described()
        assert re.search(r"--connect \[::1\]:\d+$", line.strip()), line
    finally:
        running.signal(signal.SIGTERM)
        running.finish()


def test_a_rank_that_crashes_after_its_report_keeps_its_data(bench):
    shim = pathlib.Path(SHIM).with_name("libbad_end.so")
    done = bench(*RUN, environment={"LD_PRELOAD": str(shim)})
    assert done.code == 0, done
    assert all(case["state"] == "measured" for case in done.file["cases"])
    found = only([finding for finding in done.file["findings"] if finding["id"] == "bad-end"])
    assert "rank 1 on " in found["evidence"] and "was killed by signal 11" in found["evidence"], found
