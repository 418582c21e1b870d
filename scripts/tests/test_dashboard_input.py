"""What dashboard.py makes of files that cannot be used, of the index, of triage and of wrong arguments."""

import datetime
import os
import pathlib

import pytest

import synthetic_tree
from made_pages import (RUNS, SERIES, as_a_program, change, data_of, files_of, left_out, made, made_once, program,
                        runs, text_of)

from dashboards import tree, triage


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda file: file.write_text(file.read_text()[:5000]), "is not whole JSON"),
        (lambda file: file.write_bytes(b"\xff\xfe\x00"), "is not JSON text"),
        (lambda file: change(file, lambda run: run.update(schema="ucx-bench/run/2")), "made by a newer ucx-bench"),
        (lambda file: change(file, lambda run: run.pop("machine")), "is a damaged ucx-bench run"),
        (lambda file: change(file, lambda run: run["run"].update(
            finished_utc="2024-01-01T00:00:00Z")), "went backwards"),
        (lambda file: change(file, lambda run: run["run"].update(
            started_utc="2999-01-01T00:00:00Z", finished_utc=None)), "is in the future"),
        (lambda file: change(file, lambda run: run["run"].update(
            id="2025-01-01T00:00:00Z-00000000")), "has the run id 2025-01-01T00:00:00Z-00000000 of"),
    ],
)
def test_one_bad_file_among_many_is_named(runs, program, damage, words):
    file = files_of(runs)[5]
    damage(file)
    page = made(runs, program)
    assert f"{RUNS - 1} runs" in text_of(page) and "1 left out" in text_of(page)
    assert words in left_out(page)[file.relative_to(runs).as_posix()]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 0.0, "fast", True])
def test_a_value_that_is_none_is_left_out_alone(runs, program, value):
    file = files_of(runs)[5]
    change(file, lambda run: run["cases"][0]["metrics"]["latency_us"].update(p50=value))
    page = made(runs, program)
    found = data_of(page)
    assert f"{RUNS} runs" in text_of(page)
    assert "is no measured value; it is left out" in left_out(page)[file.relative_to(runs).as_posix()]
    assert sum(line["v"][5] is None for line in found["lines"]) == 1


def test_times_of_ranks_that_take_turns_on_a_gpu_have_no_row(runs, program):
    for file in files_of(runs)[5], files_of(runs)[-1]:
        change(file, lambda run: run["cases"][0].update(labels=["same-gpu", "time-sliced"]))
    found = data_of(made(runs, program))
    for which in 5, -1:
        assert sum(line["v"][which] is None for line in found["lines"]) == 2


def test_a_unit_that_changed_is_named_and_left_out(runs, program):
    def to_ms(run):
        metrics = run["cases"][0]["metrics"]
        metrics["latency_ms"] = metrics.pop("latency_us")
        run["cases"][0]["shows"]["metrics"][0] |= {"name": "latency_ms", "unit": "ms"}

    file = files_of(runs)[5]
    change(file, to_ms)
    page = made(runs, program)
    assert "latency in ms, not us" in left_out(page)[file.name]
    assert len(data_of(page)["lines"]) == SERIES


def test_the_index_saves_reading(runs):
    (runs / tree.INDEX).unlink()
    assert tree.load(runs).read == RUNS
    again = tree.load(runs)
    assert again.read == 0 and len(again.runs) == RUNS
    synthetic_tree.write_tree(runs, RUNS + 1, SERIES, first=RUNS)
    assert tree.load(runs).read == 1
    files_of(runs)[3].unlink()
    assert len(tree.load(runs).runs) == RUNS
    os.utime(files_of(runs)[4], (1, 1))
    assert tree.load(runs).read == 1
    files_of(runs)[4].write_text("{")
    assert [tree.load(runs).read for _ in range(2)] == [1, 1]
    files_of(runs)[4].unlink()
    for broken in ("{", "[]", '{"version": 0, "files": {}}'):
        (runs / tree.INDEX).write_text(broken)
        assert tree.load(runs).read == RUNS - 1


def test_what_stands_beside_the_runs_is_no_run(runs):
    (runs / "machine.json").write_text('{"schema": "ucx-bench/machine/1"}')
    (runs / "list.json").write_text("[1]")
    found = tree.load(runs)
    assert len(found.runs) == RUNS and [name for name, _ in found.problems] == ["list.json"]


TRIAGED = "- {{id: '{id}', state: {state}, reason: a header, owner: ann, expiry: {expiry}}}\n"


def test_triage_marks_rows_until_it_expires(runs, program):
    row = "pingpong/tag/host-host/tcp/8B latency_us"
    entry = {"id": row, "state": "accepted", "expiry": "2999-01-01"}
    (runs / triage.FILE).write_text(TRIAGED.format(**entry))
    page = made(runs, program)
    assert 'title="a header">accepted, ann</span>' in page and "1 excused in triage.yaml" in text_of(page)
    (runs / triage.FILE).write_text(TRIAGED.format(**entry | {"expiry": "2020-01-01"}))
    page = made(runs, program)
    assert "accepted expired" in text_of(page) and "excused in" not in text_of(page)
    (runs / triage.FILE).write_text(TRIAGED.format(**entry | {"id": "*/tcp/*"}))
    assert "8 excused in triage.yaml" in text_of(made(runs, program))
    (runs / triage.FILE).write_text(TRIAGED.format(**entry | {"id": "pingpong/no"}))
    assert "is for no row" in left_out(made(runs, program))[triage.FILE]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- [", "invalid YAML"),
        ("- {id: a, state: open, id: b}", "the key 'id' stands twice"),
        ("- &a [x, x]\n- [*a, *a]", "it has an alias"),
        ("[" * 5000, "invalid YAML"),
        (TRIAGED.format(id="a", state="open", expiry="2030-01-01").replace("ann", "[ann]"), "has more than a text"),
        ("a: b", "is not a list of entries"),
        ("- word", "entry 1 is no entry"),
        ("- {id: a, state: open}", "has no reason, owner, expiry"),
        (TRIAGED.format(id="a", state="done", expiry="2030-01-01"), "has the state 'done': one of open"),
        (TRIAGED.format(id="a", state="open", expiry="soon"), "has the expiry 'soon': a day such as"),
    ],
)
def test_bad_triage_is_named(tmp_path, text, words):
    (tmp_path / triage.FILE).write_text(text)
    entries, problems = triage.load(tmp_path, datetime.date(2026, 1, 1))
    assert not entries and words in problems[0][1]


def test_a_program_that_cannot_compare_is_named(runs, program):
    text = program.read_text().replace("itself = ", "sys.exit('ucx-bench: it has gone')\nitself = ")
    program.write_text(text)
    assert "ucx-bench: it has gone" in text_of(made(runs, program))


def test_without_the_program_there_is_no_page(runs, tmp_path):
    done = as_a_program(runs, "--html", tmp_path / "page.html", "--program", tmp_path / "nothing")
    assert done.returncode == 2 and "dashboard --streams' did not run" in done.stderr
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "'nowhere' is not a directory; give one with runs"),
        (["empty"], "has no runs: give a folder of files written by ucx-bench --json"),
        (["runs", "--base", "nowhere.json"], "cannot read 'nowhere.json'"),
        (["runs", "--html", "no/page.html"], "choose another path with --html"),
    ],
)
def test_refusals(runs, program, arguments, words, monkeypatch):
    monkeypatch.chdir(runs.parent)
    (runs.parent / "empty").mkdir()
    done = as_a_program("--html", "page.html", "--program", program, *arguments)
    assert done.returncode == 2 and words in done.stderr
    assert len(done.stderr.splitlines()) == 1 and not pathlib.Path("page.html").exists()
