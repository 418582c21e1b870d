"""What a run writes, in every format, and that `report` writes the same from the file alone."""

import csv
import io
import json
import re
import shutil

import pytest
from conftest import quick

FORMATS = ["table", "csv", "markdown", "gbench", "smaller-is-better", "bigger-is-better", "bencher"]


@pytest.fixture(scope="module")
def measured_once(bench_once):
    sets = ["--transports", "tcp", "--transports", "nvlink", "--sizes", "8,1KiB", "--launches", "2"]
    return bench_once("pingpong", *quick([*sets, *(word for form in FORMATS[1:] for word in (f"--{form}", f"run.{form}"))]))


@pytest.fixture
def measured(measured_once, tmp_path):
    """One run, and its files in each test's own folder."""
    shutil.copytree(measured_once.folder, tmp_path, dirs_exist_ok=True)
    return measured_once


def said(bench, *arguments):
    done = bench("report", "run.json", *arguments)
    assert done.code == 0, done
    assert done.err == ""
    return done.out


def test_report_repeats_the_run(measured, bench, tmp_path):
    assert said(bench) == measured.out
    for form in FORMATS[1:]:
        written = (tmp_path / f"run.{form}").read_bytes()
        assert said(bench, f"--{form}", "-").encode() == written
        assert bench("report", "run.json", f"--{form}", "again", "--quiet").out == ""
        assert (tmp_path / "again").read_bytes() == written
    assert json.loads(said(bench, "--json", "-")) == measured.file


@pytest.mark.parametrize("form", ["json", *FORMATS[1:]])
@pytest.mark.release_only
def test_to_stdout_there_is_nothing_else(bench, form):
    done = bench(
        "pingpong", "--transports", "tcp", "--sizes", "8", "--launches", "1", "--iterations", "80",
        "--bind", "none", f"--{form}", "-",
    )
    assert done.code == 0
    if form == "csv":
        rows = list(csv.reader(io.StringIO(done.out)))
        assert len(rows) > 1 and len({len(row) for row in rows}) == 1
    elif form == "markdown":
        assert done.out.count("\n|") >= 3
    else:
        assert json.loads(done.out, parse_constant=lambda name: pytest.fail(name))


def test_csv_is_tidy(measured, tmp_path):
    rows = list(csv.DictReader((tmp_path / "run.csv").open()))
    assert all(None not in row and None not in row.values() for row in rows)
    keys = {case["key"] for case in measured.file["cases"]}
    assert {row["key"] for row in rows} <= keys


def test_gbench_has_a_repetition_per_launch(measured, tmp_path):
    document = json.loads((tmp_path / "run.gbench").read_text())
    assert document["context"]
    latency = [b for b in document["benchmarks"] if b.get("run_type") == "iteration"]
    assert {b["repetition_index"] for b in latency} == {0, 1}


def test_the_table(measured):
    assert "pingpong tag, host to host, over tcp" in measured.out
    assert re.search(r"^ +8 B +[\d.]+ ", measured.out, re.MULTILINE)
    assert "skipped" in measured.out and "nvlink" in measured.out
    assert max(map(len, measured.out.splitlines())) <= 100


def test_a_step_summary_is_appended_to(pingpong, bench, tmp_path):
    summary = tmp_path / "summary"
    summary.write_text("before\n")
    environment = {"GITHUB_STEP_SUMMARY": str(summary)}
    pingpong("--transports", "tcp", "--sizes", "8", "--markdown", summary, environment=environment)
    once = summary.read_text()
    assert once.startswith("before\n") and "|" in once
    bench("report", "run.json", "--markdown", summary, environment=environment)
    assert summary.read_text() == once + once.removeprefix("before\n")


@pytest.mark.release_only
def test_plot(measured, bench, tmp_path):
    done = bench("plot", "run.json", "-o", "run.svg")
    if done.code == 3:
        pytest.skip(done.err.strip())
    assert done.code == 0, done
    assert "<svg" in (tmp_path / "run.svg").read_text()


def test_plot_of_a_workload(bench, tmp_path):
    bench(
        "merge", "-n", "1,2", "--rows", "100K", "--launches", 1, "--runs", 1, "--bind", "none",
        "--transports", "shm", "--ignore-size", "64KiB", "--json", "run.json",
    )
    done = bench("plot", "run.json", "-o", "run.svg")
    if done.code == 3:
        pytest.skip(done.err.strip())
    assert done.code == 0, done
    picture = (tmp_path / "run.svg").read_text()
    for part in ("weak scaling, 3.20 MB of input per rank", "2 ranks, shm", "partition", "of at least 64 KiB"):
        assert part in picture


def test_a_page_of_a_run_and_again_from_its_file(pingpong, bench, tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    pingpong("--transports", "tcp", "--sizes", "8,1KiB", "--html", "run.html")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "pingpong tag, host to host, over tcp" in page
    assert said(bench, "--html", "-") == page


def test_no_page_loses_no_result(pingpong, tmp_path):
    done = pingpong(
        "--transports", "tcp", "--sizes", "8", "--html", "run.html", code=3,
        environment={"UCXBENCH_PYTHON": "/nowhere/python"},
    )
    assert only_measured(done.file) and not (tmp_path / "run.html").exists()
    assert "/nowhere/python" in done.err and "pingpong tag" in done.out


def only_measured(run):
    return run["cases"] and all(case["state"] == "measured" for case in run["cases"])


def test_every_view_has_the_same_findings(pingpong, bench, tmp_path):
    """Also of a file without any, as an older version or a run that was killed leaves it."""
    run = pingpong("--transports", "tcp", "--sizes", "8").file
    assert [finding["id"] for finding in run["findings"]]
    (tmp_path / "old.json").write_text(json.dumps(run | {"findings": []}))
    words = "1 launch gives no 95 % interval"
    for option in ("--markdown", "--html", "--json"):
        done = bench("report", "old.json", option, "-")
        if option == "--html" and done.code == 3:
            continue  # Jinja2 is missing
        assert done.code == 0 and words in done.out, done
    assert words in " ".join(bench("report", "old.json").out.split())
