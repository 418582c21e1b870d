"""A folder of runs as one page, its verdicts being those of `compare`."""

import json
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT, only
from test_compare import measured, recorded, run  # noqa: F401  (fixtures)

NEEDED = "import jinja2, numpy"
pytestmark = pytest.mark.skipif(subprocess.run([sys.executable, "-c", NEEDED], capture_output=True).returncode != 0,
                                reason="a Python module of scripts/requirements.txt is missing")


@pytest.fixture
def tree(run, tmp_path):  # noqa: F811
    """Three runs on three days, the last of which has lost a fifth at 8 B."""
    folder = tmp_path / "runs/machine/2026-01"
    folder.mkdir(parents=True)
    for day, (name, factor) in enumerate([("first", 1.0), ("second", 1.0), ("third", 1.2)], 1):
        run["run"] |= {"started_utc": f"2026-01-0{day}T00:00:00Z", "finished_utc": f"2026-01-0{day}T00:01:00Z"}
        recorded(run, name, folder, factor=factor)
    return tmp_path / "runs"


@pytest.fixture
def interpreter():
    return {"UCXBENCH_PYTHON": sys.executable}


def test_verdicts_are_those_of_compare(bench, tree, tmp_path, interpreter):
    done = bench("dashboard", "runs", "--html", "page.html", environment=interpreter)
    assert done.code == 0, done
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>ucx-bench: 1 regressed, 3 unchanged</title>" in page
    second, third = (tree / f"machine/2026-01/{name}.json" for name in ("second", "third"))
    [lost] = [row for row in json.loads(bench("compare", second, third, "--json", "-").out)["series"]
              if row["verdict"] == "regressed"]
    assert f"{100 * (lost['ratio'] - 1):+.1f} %" in page and f"<td>{lost['p_corrected']:.2g}</td>" in page
    assert 'href="./runs/machine/2026-01/second.json"' in page


def test_a_loss_stands_until_it_is_recovered_or_accepted(bench, tree, run, tmp_path, interpreter):  # noqa: F811
    """By the program's own verdicts: lost on the third day, as slow on the fourth, recovered on the fifth."""
    def page_of(day, factor):
        run["run"] |= {"started_utc": f"2026-01-0{day}T00:00:00Z", "finished_utc": f"2026-01-0{day}T00:01:00Z"}
        recorded(run, f"day-{day}", tree / "machine/2026-01", factor=factor)
        assert bench("dashboard", "runs", environment=interpreter).code == 0
        return (tmp_path / "dashboard.html").read_text(encoding="utf-8")

    page = page_of(4, 1.2)
    assert "<title>ucx-bench: 1 regressed, 3 unchanged</title>" in page
    assert "regressed since 2026-01-03" in page and "base: 2026-01-02" in page and "last good run: 2026-01-02" in page
    (tree / "triage.yaml").write_text("- {id: '*', state: accepted, reason: a header, owner: ann, expiry: 2999-01-01}\n")
    assert "<title>ucx-bench: 4 unchanged</title>" in page_of(4, 1.2)
    (tree / "triage.yaml").unlink()
    assert "<title>ucx-bench: 4 unchanged</title>" in page_of(5, 1.0)


@pytest.mark.release_only
def test_another_question_is_another_stream(bench, tree, tmp_path, interpreter):
    for name, words in (("first", "tcp"), ("second", "tcp"), ("third", "shm")):
        file = tree / f"machine/2026-01/{name}.json"
        made = json.loads(file.read_text())
        made["run"].pop("asked", None)  # as an older version wrote it
        made["run"]["command"] = ["ucx-bench", "pingpong", "--transports", words, "--json", f"{name}.json"]
        if words == "shm":
            for case in made["cases"]:
                case["key"] = case["key"].replace("/tcp/", "/shm/")
        file.write_text(json.dumps(made))
    done = bench("dashboard", "runs", "--html", "page.html", environment=interpreter)
    assert done.code == 0, done
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "2 kinds of run in" in page and "<title>ucx-bench: 4 unchanged in 1 of 2 kinds of run</title>" in page
    assert "pingpong --transports shm on" in page and "nothing to compare with: its only run so far" in page


@pytest.mark.release_only
def test_a_base_of_ones_own(bench, tree, tmp_path, interpreter):
    first = tree / "machine/2026-01/first.json"
    shutil.copy(tree / "machine/2026-01/third.json", tmp_path / "third.json")
    done = bench("dashboard", "runs", "--base", first, environment=interpreter)
    assert done.code == 0, done
    assert "base: 2026-01-01 00:00" in (tmp_path / "dashboard.html").read_text(encoding="utf-8")
    done = bench("dashboard", "runs", "--base", "third.json", environment=interpreter)
    assert "it is the base itself" in (tmp_path / "dashboard.html").read_text(encoding="utf-8")


def test_the_history_for_otava(bench, tree, tmp_path, interpreter):
    done = bench("dashboard", "runs", "--otava", "history", environment=interpreter)
    assert done.code == 0, done
    assert "test_groups" in (tmp_path / "history/otava.yaml").read_text(encoding="utf-8")
    rows = only(list((tmp_path / "history").glob("*.csv"))).read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("time,commit,run,") and len(rows) == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["runs", "--otava", "machine.txt/x"], "cannot write 'machine.txt/x': "),
     (["nowhere"], "'nowhere' is not a directory; give one with runs, such as results/runs"),
     (["runs", "--base", "nowhere.json"], "cannot read 'nowhere.json'"),
     (["runs", "--html", "no/page.html"], "cannot write 'no/page.html'")],
)
def test_refusals(bench, tree, tmp_path, interpreter, arguments, words):
    (tmp_path / "machine.txt").write_text("no folder")
    done = bench("dashboard", *arguments, environment=interpreter)
    assert done.code == 2, done
    assert words in only(done.err.splitlines())


def test_needs_a_folder(bench):
    done = bench("dashboard")
    assert done.code == 2 and "tree" in only(done.complaints)


@pytest.mark.release_only
def test_the_recorded_runs_of_this_repository_have_a_page(bench, tmp_path, interpreter):
    shutil.copytree(ROOT / "results/runs", tmp_path / "runs")
    done = bench("dashboard", "runs", environment=interpreter)
    assert done.code == 0, done
    page = (tmp_path / "dashboard.html").read_text(encoding="utf-8")
    assert "left out</a>" not in page and "vm-60992029" in page
