"""What every command makes of a run whose program was killed: its file as it began, and the journal beside it."""

import shutil
import signal

import pytest
from conftest import only

SAYS = "the run was interrupted, or still goes on: it has what was measured so far"


@pytest.fixture
def killed(fault, tmp_path):
    """run.json with its journal: 8 B is measured, 64 B is not; other.json, the same of another run."""
    running = fault.run("kill-parent", 0, "64 B: latency", "--transports", "shm")
    done = running.finish()
    assert done.code == -signal.SIGKILL
    assert done.file["run"]["journal"] == "run.json.partial"
    assert [case["state"] for case in done.file["cases"]] == ["skipped", "skipped"]
    run_id = done.file["run"]["id"]
    for end in ("", ".partial"):
        text = (tmp_path / f"run.json{end}").read_text()
        (tmp_path / f"other.json{end}").write_text(text.replace(run_id, "another").replace("run.json.", "other.json."))
    return tmp_path


def test_reports(killed, bench):
    for name in ("run.json", "run.json.partial"):
        done = bench("report", name)
        assert done.code == 0 and only(done.complaints) == f"ucx-bench: 'run.json': {SAYS}", done
        assert " 8 B  " in done.out and "the run is interrupted" in " ".join(done.out.split()), done
    for output in ("--csv", "--markdown", "--gbench", "--json"):
        done = bench("report", "run.json", output, "-")
        assert done.code == 0 and "8B" in done.out.replace(" ", ""), done


def test_comparisons(killed, bench):
    done = bench("compare", "run.json", "other.json")
    # Of one launch there is no verdict.
    assert done.code == 0 and done.out.startswith("2 inconclusive"), done
    assert sum(SAYS in line for line in done.complaints) == 2, done
    done = bench("advise", "run.json")
    assert done.code == 0 and SAYS in only(done.complaints), done


@pytest.mark.release_only
def test_pictures_and_pages(killed, bench):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    for name in ("run.json", "run.json.partial"):
        done = bench("plot", name, "-o", "run.svg")
        assert done.code == 0 and (killed / "run.svg").stat().st_size > 0, done
        done = bench("report", name, "--quiet", "--html", "run.html")
        assert done.code == 0 and "the run is interrupted" in (killed / "run.html").read_text(encoding="utf-8"), done
    (killed / "runs").mkdir()
    for end in ("", ".partial"):
        shutil.copy(killed / f"run.json{end}", killed / "runs")
    done = bench("dashboard", "runs", "--html", "runs.html")
    assert done.code == 0, done
    assert "pingpong" in (killed / "runs.html").read_text(encoding="utf-8")


def test_a_cut_line_is_left_out_and_a_broken_one_is_refused(killed, bench):
    journal = killed / "run.json.partial"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines) + lines[-1][: len(lines[-1]) // 2])
    assert bench("report", "run.json").code == 0
    journal.write_text("".join(lines) + "{\n")
    for command in (["report", "run.json"], ["plot", "run.json", "-o", "run.svg"]):
        done = bench(*command)
        assert done.code == 2, done
        assert f"'run.json.partial' is a damaged journal of a run (line {len(lines) + 1}: " in only(done.complaints)
