"""plot.py draws from the run file alone, and says in one line what it cannot."""

import os
import subprocess
import sys

import pytest

from conftest import ROOT, printed

MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


def plot(*arguments, **environment):
    command = [sys.executable, ROOT / "scripts/plot.py", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )


def refused(status, *arguments, **environment):
    done = plot(*arguments, **environment)
    assert done.returncode == status, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ""
    return done.stderr


@pytest.mark.parametrize("suffix", MAGIC)
def test_draws(run_file, tmp_path, suffix):
    out = tmp_path / f"out{suffix}"
    done = plot(run_file(), "-o", out)
    assert done.returncode == 0, done.stderr
    assert out.read_bytes().startswith(MAGIC[suffix])


def svg_text(*runs, out):
    done = plot(*runs, "-o", out)
    assert done.returncode == 0, done.stderr
    return [line for line in out.read_text().splitlines() if "<!--" in line]


def test_shows_units_machine_versions_and_a_curve_per_set(run_file, tmp_path):
    text = "\n".join(svg_text(run_file(), out=tmp_path / "out.svg"))
    for part in ("message size", "latency (µs)", "GB/s", "node07", "UCX 1.13.1", "commit 1a2b3c4d5e", "tcp", "shm"):
        assert part in text
    assert "-- ib --" not in text  # skipped: nothing to draw
    assert "progress mode" not in text  # the same everywhere


def test_compares_progress_modes(run_file, tmp_path):
    def with_mode(mode):
        def change(run):
            run["cases"] = [case for case in run["cases"] if case["parameters"]["transports"] == ["tcp"]]
            for case in run["cases"]:
                case["parameters"]["progress_mode"] = mode

        return change

    files = [run_file(with_mode(mode), f"{mode}.json") for mode in ("poll", "event", "periodic:100us")]
    text = "\n".join(svg_text(*files, out=tmp_path / "out.svg"))
    for mode in ("poll", "event", "periodic:100us"):
        assert f"progress mode {mode}" in text


def test_labels_and_names_stand_as_they_are(run_file, tmp_path):
    def change(run):
        run["machine"].update(id="$\\node$", labels=["vm", "oversubscribed"])
        run["cases"][0]["labels"] = ["same-gpu", "emulated-gpu"]

    text = "\n".join(svg_text(run_file(change), out=tmp_path / "out.svg"))
    assert "labels: vm, oversubscribed, same-gpu, emulated-gpu" in text
    assert "$\\node$" in text


def test_same_run_gives_the_same_bytes(run_file, tmp_path):
    run = run_file()
    first, second = tmp_path / "1.svg", tmp_path / "2.svg"
    assert plot(run, "-o", first).returncode == plot(run, "-o", second).returncode == 0
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    "content, said",
    [
        (b'{"schema": "ucx-bench/run/1", "run"', "is not whole JSON"),
        (b"", "is not whole JSON"),
        (b"\x7fELF\x02\xff", "is not JSON text"),
        (b"[" * 100000, "is not whole JSON"),
        (b"[]", "is not a ucx-bench run"),
        (b'{"context": {}, "benchmarks": []}', "is not a ucx-bench run"),
        (b'{"schema": "ucx-bench/run/x"}', "is not a ucx-bench run"),
        (b'{"schema": "ucx-bench/run/2"}', "was made by a newer ucx-bench"),
        (b'{"schema": "ucx-bench/run/1"}', "is a damaged ucx-bench run"),
        (b'{"schema": "ucx-bench/run/1", "cases": [3]}', "is a damaged ucx-bench run"),
    ],
)
def test_refuses_what_is_not_a_run(tmp_path, content, said):
    file = tmp_path / "run.json"
    file.write_bytes(content)
    assert said in refused(2, file, "-o", tmp_path / "out.png")


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run["cases"][0].update(metrics=3),
        lambda run: run["cases"][0].update(labels=[{}]),
        lambda run: run["cases"][0]["parameters"].update(bytes="8"),
        lambda run: run["cases"][0]["metrics"]["latency_us"].update(p50="1"),
        lambda run: run["cases"][0]["metrics"]["latency_us"].update(p50=float("nan")),
        lambda run: run["cases"][0]["metrics"]["latency_us"].update(p50=10**400),
        lambda run: run["cases"][0]["metrics"]["latency_us"].update(ci95=[1]),
        lambda run: run["cases"][0]["metrics"]["latency_us"].update(ci95=["a", "b"]),
        lambda run: run["machine"].pop("labels"),
        lambda run: run.update(build=None),
    ],
)
def test_refuses_a_damaged_run(run_file, tmp_path, change):
    assert "is a damaged ucx-bench run" in refused(2, run_file(change), "-o", tmp_path / "out.png")


def test_refuses_the_rest(run_file, tmp_path):
    run = run_file()
    assert "cannot read" in refused(2, tmp_path / "none.json")
    assert "must end in" in refused(2, run, "-o", tmp_path / "out.bmp")
    assert "cannot write" in refused(2, run, "-o", tmp_path / "none" / "out.png")
    assert "see ucx-bench plot --help" in refused(2)
    empty = run_file(lambda run: run.update(cases=[c for c in run["cases"] if not c["metrics"]]))
    assert "no measured case" in refused(2, empty)


def test_names_the_set_up_without_matplotlib(run_file, tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('no matplotlib')")
    assert "./scripts/setup/python" in refused(3, run_file(), PYTHONPATH=str(tmp_path))
