"""Outputs that do not fit, or may not stand, where they were asked for."""

import json
import os
import shutil
import subprocess

import pytest
from conftest import PROGRAM, QUICK, only, quick


@pytest.fixture
def disk(tmp_path):
    """disk(SIZE) mounts an empty file system of so many bytes."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(size):
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder]
        if not shutil.which("mount") or subprocess.run(command, capture_output=True, timeout=20).returncode != 0:
            pytest.skip("a file system of the test's own needs root")
        return folder

    yield mount
    subprocess.run(["umount", "-l", folder], capture_output=True, timeout=20)


@pytest.fixture
def spare(tmp_path, monkeypatch):
    folder = tmp_path / "spare"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def fill(folder):
    """Until nothing more fits."""
    with open(folder / "filler", "wb", buffering=0) as filler:
        with pytest.raises(OSError):
            while filler.write(bytes(4096)) == 4096:
                pass
            raise OSError


def run_without(option):
    return [word for name, value in QUICK.items() if name != option for word in (name, value)]


def test_a_disk_that_is_too_small_is_said_before(bench, disk):
    folder = disk("16k")
    done = bench("pingpong", *quick(["--transports", "shm", "--sizes", "8", "--json", folder / "run.json"]))
    assert done.code == 2, done
    assert "are free there, and this run needs at least" in only(done.complaints)
    assert done.out == "" and not list(folder.iterdir())


def test_a_disk_that_fills_up_meanwhile(fault, disk, spare):
    folder = disk("1m")
    running = fault.run("hold", 0, "64 B: first message", command=[
        "pingpong", *run_without("--json"), "--transports", "shm", "--sizes", "8,64", "--json", folder / "run.json"])
    fault.acted_at()
    fill(folder)
    fault.go_on()
    done = running.finish()
    assert done.code == 5, done
    file = only(list(spare.glob("*/run.json")))
    # Its last page may have room for all but the whole file.
    assert only(done.complaints).replace("run.json.partial", "run.json") == (
        f"ucx-bench: cannot write '{folder}/run.json': No space left on device: the run goes on in '{file}'")
    run = json.loads(file.read_text())
    assert run["run"]["state"] == "complete"
    assert [case["state"] for case in run["cases"]] == ["measured", "measured"]
    # The table, and where the run is; nothing by halves.
    assert "\n  64 B " in done.out and f"results: {file}" in done.err
    assert [left.name for left in folder.iterdir()] == ["filler"]


def test_an_output_that_does_not_fit_is_kept_elsewhere(pingpong, bench, disk, spare):
    whole = pingpong("--transports", "shm", "--sizes", "8,64", "--csv", "whole.csv").folder / "whole.csv"
    folder = disk("64k")
    fill(folder)
    done = bench("report", "run.json", "--csv", folder / "run.csv")
    assert done.code == 5, done
    kept = only(list(spare.glob("*/run.csv")))
    assert kept.read_text() == whole.read_text()
    assert only(done.complaints).endswith(f"; it is in '{kept}'") and "\n  64 B " in done.out
    assert [left.name for left in folder.iterdir()] == ["filler"]


def test_no_page_by_halves(pingpong, bench, disk):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    pingpong("--transports", "shm", "--sizes", "8")
    folder = disk("64k")
    fill(folder)
    done = bench("report", "run.json", "--quiet", "--html", folder / "page.html")
    assert done.code == 2, done
    assert "No space left on device" in done.err
    assert [left.name for left in folder.iterdir()] == ["filler"]


def test_a_folder_that_cannot_be_written_to(bench, disk):
    folder = disk("64k")
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True, timeout=20)
    done = bench("pingpong", *run_without("--json"), "--transports", "shm", "--sizes", "8", folder=folder)
    assert done.code == 2, done
    assert only(done.complaints) == (f"ucx-bench: cannot write to '{folder}/ucx-bench-runs', where runs are kept "
                                     "without --json: Read-only file system; give --json FILE")


@pytest.mark.parametrize("arguments", [
    ["--help"], ["--version"], ["list", "rules"], ["topo"], ["compare", "run.json", "--with-itself"], ["advise", "run.json"],
])
def test_a_full_stdout_is_no_success(pingpong, tmp_path, arguments):
    if "run.json" in arguments:
        pingpong("--transports", "tcp", "--sizes", "8", "--launches", 2)
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, text=True, timeout=60)
    assert done.returncode == 5, done
    assert done.stderr == "ucx-bench: cannot write to stdout: No space left on device\n"


def test_one_file_is_of_one_run(bench, fault):
    running = fault.run("hold", 0, "8 B: first message", command=[
        "pingpong", *quick(["--transports", "shm", "--sizes", "8", "--json", "run.json"])])
    fault.acted_at()
    second = bench("pingpong", *quick(["--transports", "shm", "--sizes", "64", "--json", "run.json"]))
    fault.go_on()
    done = running.finish()
    assert second.code == 2 and done.code == 0, (second, done)
    run = json.loads((done.folder / "run.json").read_text())
    assert only(second.complaints) == (
        f"ucx-bench: 'run.json' is being written by run {run['run']['id']}; choose another path with --json")
    assert only(run["cases"])["parameters"]["bytes"] == 8


@pytest.mark.parametrize("option", ["--json", "--csv"])
def test_a_link_to_a_file_that_is_not_there_yet(pingpong, tmp_path, option):
    (tmp_path / "link").symlink_to("made")
    given = {"--json": "run.json", option: "link"}
    pingpong("--transports", "shm", "--sizes", "8", *[word for pair in given.items() for word in pair])
    assert (tmp_path / "link").is_symlink() and (tmp_path / "made").stat().st_size > 100


def test_a_named_pipe_gets_the_whole_run(start, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    running = start("pingpong", *quick(["--transports", "shm", "--sizes", "8", "--json", "pipe"]))
    run = json.loads((tmp_path / "pipe").read_text())
    done = running.finish()
    assert done.code == 0 and run["run"]["state"] == "complete", done


def test_a_named_pipe_that_nobody_reads(pingpong, tmp_path, spare):
    os.mkfifo(tmp_path / "pipe")
    done = pingpong("--transports", "shm", "--sizes", "8", "--json", "pipe", code=5)
    kept = only(list(spare.glob("*/pipe")))
    assert only(done.complaints) == f"ucx-bench: cannot write 'pipe': Nobody reads this pipe: the run goes on in '{kept}'"
    assert json.loads(kept.read_text())["run"]["state"] == "complete"
