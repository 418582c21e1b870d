"""Whatever is damaged is refused in one line or left out by name, and nothing of it is shown as another's."""

import argparse
import json
import random
import re
import shutil

import pytest

import synthetic_tree
from conftest import PROGRAM, ROOT, printed
from damage import KEY, spoiled
from logs import keep_two_ranks, log_of
from made_pages import data_of, files_of, left_out, program_in
from test_comparison import COMPARISON
from test_topology import TOPOLOGY
from test_versions import VERSIONS

import comparison
import dashboard
import page
import runfile
import topology
import versions
from dashboards import kept, tree

SEEDS = range(25)
RUNS = 3


def page_or_refusal(make, *files):
    """Whether there is a page, which can be written; else one line that names a file."""
    try:
        make().encode()
        return True
    except runfile.NotARun as refusal:
        told = str(refusal)
    assert "\n" not in told and any(str(file) in told for file in files), told
    return False


def page_of(file):
    run = runfile.load(file, PROGRAM)
    return page.page_of(run | page.findings_in(file), str(file), file.parent)


def comparison_of(file):
    runs = [file.parent / name for name in ("base.json", "new.json")]
    return comparison.page_of(runfile.written_by("ucx-bench compare --json", comparison.SCHEMA, file), runs, PROGRAM, file)


def versions_of(file):
    return versions.page_of(runfile.written_by("ucx-bench versions --json", versions.SCHEMA, file), file)


def run_of(which):
    return lambda: json.loads(printed(which, "json"))


@pytest.mark.parametrize(("whole", "draw"), [
    (run_of("result"), page_of), (run_of("pairs"), page_of), (run_of("workload"), page_of),
    (lambda: TOPOLOGY, topology.drawn), (lambda: COMPARISON, comparison_of), (lambda: VERSIONS, versions_of)])
def test_a_page_of_a_damaged_file(tmp_path, whole, draw):
    whole, file = whole(), tmp_path / "file.json"
    for name in ("base.json", "new.json"):
        (tmp_path / name).write_text(printed("workload", "json"))
    drawn = 0
    for seed in SEEDS:
        file.write_bytes(spoiled(whole, random.Random(seed)))
        drawn += page_or_refusal(lambda: draw(file), file)
    assert 0 < drawn < len(SEEDS)


def test_a_page_of_a_damaged_log(run_file, tmp_path):
    file, log, whole = run_file(keep_two_ranks, which="workload"), tmp_path / "run.transfers.bin", log_of(2)
    for seed in SEEDS:
        chance = random.Random(seed)
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 1, 20))):
            damaged[chance.randrange(8, len(whole))] = chance.choice((0, 1, 127, 255))
        log.write_bytes(damaged[: chance.choice((len(whole), chance.randrange(len(whole))))])
        assert page_or_refusal(lambda: page_of(file), file)


def figures_of(page):
    """By run, the values of all lines."""
    data, found = data_of(page), {}
    for line in data["lines"]:
        for run, value in zip(data["streams"][line["s"]]["runs"], line["v"], strict=True):
            found.setdefault(run[1], []).append(value)
    return {run: sorted(value for value in values if value is not None) for run, values in found.items()}


@pytest.fixture(scope="module")
def whole_tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "runs"
    synthetic_tree.write_tree(folder, RUNS, 4)
    return folder


@pytest.fixture
def dashboard_of(whole_tree, tmp_path):
    """The page of the invented runs, after a change to their folder."""
    made_by = program_in(tmp_path)

    def make(change=lambda folder: None):
        folder = tmp_path / "runs"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole_tree, folder)
        change(folder)
        return dashboard.page_of(argparse.Namespace(tree=folder, html=tmp_path / "page.html", base=None, otava=None, program=made_by))

    return make


def spoil(file, seed):
    file.write_bytes(spoiled(json.loads(file.read_text()), random.Random(seed)))


def test_a_dashboard_outlives_each_of_its_files(dashboard_of):
    whole, named = figures_of(dashboard_of()), 0
    assert len(whole) == RUNS
    for seed in range(10):
        spoiled_run = f"-{seed % RUNS:08x}"
        page = dashboard_of(lambda folder: spoil(files_of(folder)[seed % RUNS], seed))
        told = figures_of(page)
        assert all(told[run] == values for run, values in whole.items() if not run.endswith(spoiled_run))
        named += 'id="left-out"' in page and len(left_out(page)) > 0
    assert named > 2


def test_a_damaged_index_is_made_anew(dashboard_of, whole_tree):
    whole = figures_of(dashboard_of())
    tree.load(whole_tree)
    index = (whole_tree / tree.INDEX).read_text()
    for seed in range(60):
        (whole_tree / tree.INDEX).write_bytes(spoiled(json.loads(index), random.Random(seed)))
        for run in tree.load(whole_tree).runs:
            kept.check_record(run.record)
    for odd in ({"version": tree.VERSION, "files": []}, {"version": tree.VERSION, "files": {"a": {"stamp": [], "record": {}}}}):
        (whole_tree / tree.INDEX).write_text(json.dumps(odd))
        assert figures_of(dashboard_of()) == whole


def test_a_damaged_study_is_named(dashboard_of):
    study = json.loads((ROOT / "results/verdict-study.json").read_text())
    study["machine"]["id"] = synthetic_tree.MACHINE
    for seed in range(4):
        dashboard_of(lambda folder: (folder.parent / dashboard.STUDY).write_bytes(spoiled(study, random.Random(seed))))


def test_no_key_of_a_run_can_stand_twice(tmp_path):
    """Wherever it stands."""
    text, file = printed("workload", "json"), tmp_path / "run.json"
    keys = list(KEY.finditer(text))
    for key in keys[:: len(keys) // 100]:
        file.write_text(text[: key.start()] + key.group() + " 7, " + text[key.start() :])
        with pytest.raises(runfile.NotARun, match=f"the key '{key.group()[1:-2]}' stands twice"):
            runfile.load(file)


def test_scripts_read_json_in_one_place():
    others = [file.name for file in (ROOT / "scripts").rglob("*.py")
              if file.parent.name != "tests" and re.search(r"json\.loads?\(|yaml\.(safe_)?load\(", file.read_text(encoding="utf-8"))]
    assert sorted(others) == ["jsontext.py", "triage.py"]
