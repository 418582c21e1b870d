"""The help of every command: within 100 columns, with examples that work."""

import re
import shlex

import pytest
from conftest import ROOT, commands

RECORDED = {name: next((ROOT / "results/runs").glob(f"*/*/{name}-host.json")) for name in ("pingpong", "merge")}
# What examples leave open is short here; what they give stays.
SHORT = {"LAUNCHES": "1", "RUNS": "1", "WARMUP_RUNS": "0", "BIND": "none", "PROGRESS_MODE": "event"}
SHORT |= {"TRANSPORTS": "shm", "NO_CALIBRATE": "true"}
OF_ONE = {"pingpong": {"MAX_TIME": "20ms"}, "p2p": {"ITERATIONS": "16"}, "cold": {"ITERATIONS": "2"},
          "loggp": {"ITERATIONS": "5"}, "soak": {"ROUNDS": "1", "SEED": "4"}}
# Have their settings from elsewhere.
OTHERS = ("check", "ab", "suite", "versions")
# Files that examples name.
SUITE = 'launches = 1\n[[case]]\nargs = "pingpong --transports shm --sizes 8 --iterations 80 --bind none --no-memory-copy"\n'
SITE = '[[expect]]\ntransports = "shm"\nmax_us = 1e9\n'


def examples_of(text):
    found = re.search(r"^Examples?:\n((?:  .*\n)+)", text, re.M)
    return [shlex.split(line)[1:] for line in found[1].splitlines()] if found else []


def test_help_is_narrow(bench):
    for command in ([], *([name] for name in commands(bench))):
        done = bench(*command, "--help")
        assert done.code == 0, done
        assert [line for line in done.out.splitlines() if len(line) > 100] == [], command


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "dask.json").write_bytes((ROOT / "ci/tests/dask-transfers.json").read_bytes())
    (tmp_path / "suite.toml").write_text(SUITE)
    (tmp_path / "topo.txt").write_bytes((ROOT / "harness/analysis/fixtures/dgx1-p100.txt").read_bytes())
    (tmp_path / "run.json").write_bytes(RECORDED["pingpong"].read_bytes())
    (tmp_path / "base.json").write_bytes(RECORDED["pingpong"].read_bytes())
    new = RECORDED["pingpong"].read_text().replace('"id": "', '"id": "new-', 1)
    (tmp_path / "new.json").write_text(new)
    runs = tmp_path / "results/runs"
    runs.mkdir(parents=True)
    (runs / "merge.json").write_bytes(RECORDED["merge"].read_bytes())
    return tmp_path


def test_examples_are_understood(bench, folder):
    """The first option that is not known is ours: so all before it are."""
    for command in commands(bench):
        examples = examples_of(bench(command, "--help").out)
        assert 1 <= len(examples) <= 2, command
        for words in examples:
            assert words[0] == command, words
            done = bench(*words, "--no-such-option")
            assert done.code == 2 and "unknown option '--no-such-option'" in done.err, done


def test_an_example_that_does_not_work_is_found(bench):
    """The check above is one: an option that is misspelled comes first."""
    done = bench("pingpong", "--quik", "--no-such-option")
    assert done.code == 2 and "unknown option '--quik'" in done.err, done


def test_examples_work(bench, folder):
    """Nothing but what a build of before, a fetched UCX, a GPU, or a fit machine would give is missing here."""
    for command in commands(bench):
        text = bench(command, "--help").out
        measures = "--launches" in text and command not in OTHERS
        for at, words in enumerate(examples_of(text)):
            if "../before/ucx-bench" in words:
                continue
            if words[0] == "tune" or (at > 0 and measures and "--json" not in words):  # would take long
                words.insert(0, "--dry-run")
            if "pypi:1.22.0" in words and not (ROOT / ".ucx/libucx-cu12==1.22.0").exists():
                continue
            if "--expect" in words:
                (folder / "site.toml").write_text(SITE)
            if "merge.json" in words:
                assert bench("merge", "--rows", "1K", "--launches", 1, "--transports", "shm", "--json", "merge.json").code == 0
            short = {} if command in OTHERS else SHORT | OF_ONE.get(command, {})
            done = bench(*words, environment={f"UCXBENCH_{name}": value for name, value in short.items()})
            allowed = {0} | ({1} if command == "doctor" else set()) | ({3} if "cuda" in words or command == "copies" else set())
            # A busy machine needs more time than the example gives.
            allowed |= {6} if "--write-expect" in words else set()
            assert done.code in allowed, (words, done)
