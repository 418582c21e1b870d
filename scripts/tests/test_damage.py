"""Whatever is damaged is refused in one line or left out by name, and nothing of it is shown as another's."""

import json
import random
import re
import shutil

import pytest

import synthetic_tree
from conftest import ROOT, load, printed
from damage import another_value, spoiled
from logs import keep_two_ranks, log_of
from made_pages import data_of, files_of, left_out, made

import page
import runfile

SEEDS = range(25)
RUNS = 3


def page_or_refusal(run, folder):
    """Whether there is a page, which can be written; else one line that names the file."""
    try:
        page.page_of(run, "run.json", folder).encode()
        return True
    except runfile.NotARun as refusal:
        assert "\n" not in str(refusal) and "run.json" in str(refusal)
    return False


@pytest.mark.parametrize("which", ["result", "pairs", "workload"])
def test_a_page_of_a_damaged_run(tmp_path, which):
    """ucx-bench hands on what a run file has of its machine, ranks and the like."""
    whole = json.loads(printed(which, "json"))
    drawn = sum(page_or_refusal(json.loads(another_value(whole, random.Random(seed))), tmp_path) for seed in SEEDS)
    assert drawn


def test_a_page_of_a_damaged_log(run_file, tmp_path):
    file, log, whole = run_file(keep_two_ranks, which="workload"), tmp_path / "run.transfers.bin", log_of(2)
    for seed in SEEDS:
        chance = random.Random(seed)
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 1, 20))):
            damaged[chance.randrange(8, len(whole))] = chance.choice((0, 1, 127, 255))
        log.write_bytes(damaged[: chance.choice((len(whole), chance.randrange(len(whole))))])
        assert page_or_refusal(load(file), tmp_path)


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
    def make(change=lambda folder: None):
        folder = tmp_path / "runs"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole_tree, folder)
        change(folder)
        return made(folder)

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


def test_a_damaged_study_is_named(dashboard_of):
    study = json.loads((ROOT / "results/verdict-study.json").read_text())
    study["machine"]["id"] = synthetic_tree.MACHINE
    for seed in range(4):
        dashboard_of(lambda folder: (folder.parent / "verdict-study.json").write_bytes(spoiled(study, random.Random(seed))))


def test_scripts_read_json_in_one_place():
    others = [file.name for file in (ROOT / "scripts").rglob("*.py")
              if file.parent.name != "tests" and re.search(r"json\.loads?\(", file.read_text(encoding="utf-8"))]
    assert sorted(others) == ["runfile.py"]
