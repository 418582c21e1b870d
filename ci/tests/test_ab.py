"""A suite with two builds or in two environments, in turns, then compared."""

import json
import pathlib
import re
import shutil
import signal
import sys

import pytest
from conftest import PROGRAM, SCHEMA, SHIM, only

DELAY_SHIM = pathlib.Path(SHIM).with_name("libdelay.so")
CASE = ("pingpong --transports shm --sizes 8 --measure latency --iterations 5 --warmup-runs 0 --check off --bind none "
        "--progress-mode event --no-memory-copy")
KEY = "pingpong/tag/host-host/shm/8B"  # followed by what is unusual in CASE


def ab(folder, *options, launches=2, cases=(CASE,), **limits):
    lines = [f"launches = {launches}"] + [f'{name} = "{value}"' for name, value in limits.items()]
    lines += [line for case in cases for line in ("[[case]]", f'args = "{case}"')]
    (folder / "suite.toml").write_text("\n".join(lines) + "\n")
    # Without any difference between its sides it would be refused.
    different = [] if {"--new-env", "--new-ucx"} & set(options) else ["--new-env", "SIDE=new"]
    return ["ab", "suite.toml", *([] if "--folder" in options else ["--folder", "runs"]), *options, *different]


def files(folder):
    """The run files by side, sound by the schema."""
    found = {}
    for path in (folder / "runs").iterdir():
        run = json.loads(path.read_text())
        assert not list(SCHEMA.iter_errors(run)), path
        found[run["run"]["ab"]["side"]] = (path, run)
    return found


def launches_of(run):
    return [launch["launch"] for launch in only([c for c in run["cases"] if c["key"].startswith(KEY)])["launches"]]


def test_two_builds_take_turns(bench, tmp_path):
    shutil.copy(PROGRAM, tmp_path / "old")
    done = bench(*ab(tmp_path, "--base", "./old", launches=3))
    assert done.code == 0, done
    lines = [line for line in done.err.splitlines() if line.startswith("launch ")]
    assert "left" not in lines[0] and all(re.search(r", about .*\d.* left$", line) for line in lines[1:])
    assert [line.partition(",")[0] for line in lines] == [f"launch {turn}" for turn in ("1/3 base", "1/3 new", "2/3 new", "2/3 base", "3/3 base", "3/3 new")]
    (base_path, base), (new_path, new) = (files(tmp_path)[side] for side in ("base", "new"))
    assert base["run"]["ab"]["turns"] == [0, 3, 4] and new["run"]["ab"]["turns"] == [1, 2, 5]
    assert base["run"]["ab"]["program"] == "./old" and pathlib.Path(new["run"]["ab"]["program"]).is_absolute()
    assert base["run"]["ab"]["other"] == new["run"]["id"] and new["run"]["ab"]["other"] == base["run"]["id"]
    for run in (base, new):
        assert run["run"]["state"] == "complete" and run["run"]["command"][1] == "ab"
        assert launches_of(run) == [0, 1, 2]
        for case in run["cases"]:
            assert case["state"] == "measured" and len(case["launches"]) == 3
            assert all(len(metric["launch_medians"]) == 3 for metric in case["metrics"].values())
        assert sum(case["benchmark"] == "canary" for case in run["cases"]) == 2
    for path in (base_path, new_path):
        assert f"results: {path.relative_to(tmp_path)}" in done.err
    assert bench("compare", base_path, new_path).out == done.out
    assert "launches for a verdict among" in " ".join(done.out.split())
    assert "above the first [[case]] of the suite file" in " ".join(done.out.split())


# Measures, and then says of each launch what it did not measure: whether the machine is steady is no
# question of these tests. What really was slower, was so by at least DELAY_US.
STEADY = f"""#!{sys.executable}
import json, os, pathlib, subprocess, sys
words = sys.argv[1:]
status = subprocess.run([{PROGRAM!r}, *words]).returncode
file = pathlib.Path(words[words.index("--json") + 1]) if "--json" in words else None
if status != 0 or "--dry-run" in words or file is None or not file.is_file():
    sys.exit(status)
delay_us = float(os.environ.get("DELAY_US", 0))
run = json.loads(file.read_text())
for case in run["cases"]:
    for launch in case["launches"]:
        launch.pop("processors", None)
        for metric, samples in launch["samples"].items():
            slow = delay_us > 0 and metric == "latency_us"
            assert not slow or min(samples) >= delay_us, samples
            value = (20 if slow else 10) + 0.001 * launch["launch"]
            launch["samples"][metric] = [value]
            launch["quantiles"][metric] = dict.fromkeys(launch["quantiles"][metric], value)
file.write_text(json.dumps(run))
"""


@pytest.mark.release_only
def test_what_is_slower_has_regressed(bench, tmp_path):
    for name in ("base", "new"):
        (tmp_path / name).write_text(STEADY)
        (tmp_path / name).chmod(0o700)
    slow = ["--base", "./base", "--new", "./new", "--new-env", f"LD_PRELOAD={DELAY_SHIM}", "--new-env", "DELAY_US=1000"]
    # Of messages so large the proof of the transport needs few.
    large = CASE.replace("--sizes 8", "--sizes 64KiB")
    done = bench(*ab(tmp_path, *slow, launches=6, cases=(large,)), "--fail-on", "regression", "--json", "verdict.json")
    assert done.code == 1, done
    row = only(json.loads((tmp_path / "verdict.json").read_text())["series"])
    assert row["key"].startswith("pingpong/tag/host-host/shm/64KiB")
    assert (row["metric"], row["verdict"]) == ("latency_us", "regressed")
    assert row["ratio"] == pytest.approx(2, rel=1e-3)
    new = files(tmp_path)["new"][1]
    assert new["run"]["ab"]["environment"]["DELAY_US"] == "1000"
    differs = json.loads((tmp_path / "verdict.json").read_text())["differences"]
    assert f"LD_PRELOAD not set -> {DELAY_SHIM}" in differs and "DELAY_US not set -> 1000" in differs
    assert any(line.startswith(f"library libdelay.so not loaded -> {DELAY_SHIM}") for line in differs), differs


def test_max_time_is_of_each_run(bench, tmp_path):
    done = bench(*ab(tmp_path, launches=50, max_time="1ms"))
    assert done.code == 0, done
    for _, run in files(tmp_path).values():
        assert launches_of(run) == [0]
        assert "both have 1 of 50" in run["run"]["left_out"]
        assert any(finding["id"] == "max-time" for finding in run["findings"])


def test_a_turn_that_fails_keeps_what_was_measured(bench, tmp_path):
    (tmp_path / "pids").mkdir()
    kill = {"LD_PRELOAD": SHIM, "FAULT_ACTION": "kill", "FAULT_RANK": "1", "FAULT_PHASE": "8 B: latency",
            "FAULT_FOLDER": tmp_path / "pids"}
    options = [word for name, value in kill.items() for word in ("--new-env", f"{name}={value}")]
    done = bench(*ab(tmp_path, *options))
    assert done.code == 5, done
    line = only(done.complaints)
    assert line.startswith("ucx-bench: launch 1/2 new ended with status 5: rank 1 on ") and "signal 9" in line
    found = files(tmp_path)
    assert found["base"][1]["run"]["state"] == "failed" and launches_of(found["base"][1]) == [0]
    assert not any(path.name.startswith(".") for path in (tmp_path / "runs").iterdir())


def test_ctrl_c_keeps_what_there_is(fault, tmp_path):
    running = fault.run("hold", 0, "16 B: first message",
                        command=ab(tmp_path, cases=(CASE, CASE.replace("--sizes 8", "--sizes 16"))))
    fault.acted_at()
    running.signal(signal.SIGINT)
    done = fault.finish_in_time()
    assert done.code == 130, done
    base = only(list(files(tmp_path).values()))[1]
    assert base["run"]["state"] == "interrupted" and launches_of(base) == [0]
    fault.assert_nothing_is_left()


def test_its_death_ends_the_other_program(fault, tmp_path):
    running = fault.run("hold", 0, "8 B: latency", command=ab(tmp_path))
    fault.acted_at()
    running.signal(signal.SIGKILL)
    running.finish()
    fault.assert_nothing_is_left()


def test_each_turn_is_added_to_a_journal(bench, tmp_path):
    (tmp_path / "kills").write_text(f"""#!{sys.executable}
import os, signal, subprocess, sys
if "3/3" in sys.argv:
    os.kill(os.getppid(), signal.SIGKILL)
sys.exit(subprocess.run([{PROGRAM!r}, *sys.argv[1:]]).returncode)
""")
    (tmp_path / "kills").chmod(0o700)
    done = bench(*ab(tmp_path, "--new", "./kills", launches=3))
    assert done.code == -signal.SIGKILL
    for side, turns in (("base", [0, 3, 4]), ("new", [1, 2])):
        file = only([path for path in (tmp_path / "runs").glob("*.json") if side in path.name])
        # As it began.
        assert launches_of(json.loads(file.read_text())) == [0]
        assert bench("report", file, "--json", "whole.json").code == 0
        whole = json.loads((tmp_path / "whole.json").read_text())
        assert launches_of(whole) == list(range(len(turns)))
        assert whole["run"]["state"] == "interrupted" and whole["run"]["ab"]["turns"] == turns


def test_dry_run_measures_nothing(bench, tmp_path):
    done = bench("--dry-run", *ab(tmp_path, "--new-env", "UCX_RNDV_THRESH=8192"))
    assert done.code == 0, done
    assert done.out.startswith("base: ") and done.out.count(KEY) == 2
    assert done.out.count("\neach of 2 launches takes ") == 2
    assert "\nnew: UCX_RNDV_THRESH=8192 " in done.out
    assert not (tmp_path / "runs").exists()


def test_a_setting_that_would_count_for_nothing(bench, tmp_path):
    done = bench(*ab(tmp_path, "--new-env", "UCX_TLS=tcp"))
    assert done.code == 2, done
    assert "--new-env UCX_TLS=tcp: the suite's cases set UCX_TLS themselves" in only(done.complaints)


def old_build(folder):
    program = folder / "old"
    program.write_text("#!/bin/sh\necho \"ucx-bench: unknown command 'suite'; see ucx-bench --help\" >&2\nexit 2\n")
    program.chmod(0o700)
    return "./old"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--base", "./nowhere"], "cannot run './nowhere': No such file"),
        (["--base", "false"], "--base false: cannot measure this suite: it ended with status 1; give a build"),
        (["--base", old_build], "it ended with status 2: unknown command 'suite'; see ucx-bench --help; give a build"),
        (["--new", "true"], "'true' measured nothing; give a build of ucx-bench"),
        (["--new-env", "UCX_X"], "--new-env 'UCX_X': expected KEY=VALUE"),
        (["--new-env", "A B=1"], "KEY of letters, digits and _"),
        (["--base-env", "UCXBENCH_LAUNCHES=1"], "--base-env UCXBENCH_LAUNCHES: what ucx-bench does stands in the suite"),
        (["--fail-on", "loss"], "--fail-on: unknown verdict 'loss'"),
        (["--folder", "suite.toml"], "suite.toml': Not a directory; choose another folder"),
        (["--json", "missing/x.json"], "--json missing/x.json"),
    ],
    ids=lambda value: str(value[0]) + "=" + str(value[1]) if isinstance(value, list) else "",
)
def test_refusals(bench, tmp_path, options, words):
    options = [option(tmp_path) if callable(option) else option for option in options]
    done = bench(*ab(tmp_path, *options))
    assert done.code == 2, done
    assert words in only(done.complaints)


def test_sides_without_a_difference_are_refused(bench, tmp_path):
    (tmp_path / "same").symlink_to(PROGRAM)
    ab(tmp_path)
    for options in (["--base", "./same"], ["--base-env", "A=1", "--new-env", "A=1"]):
        done = bench("ab", "suite.toml", "--folder", "runs", *options)
        assert done.code == 2, done
        assert "in the same environment: there is nothing to compare; give --base" in only(done.complaints)
    done = bench("ab", "suite.toml", "--new-env", "B=2", environment={"B": "2"})
    assert done.code == 2 and "there is nothing to compare" in only(done.complaints)
    assert not (tmp_path / "runs").exists()


def test_a_wrong_suite_is_refused_before_anything_runs(bench, tmp_path):
    done = bench(*ab(tmp_path, cases=("pingpong --sizs 8",)))
    assert done.code == 2 and "suite.toml:2: case 1: unknown option '--sizs'" in only(done.complaints)
    done = bench("suite", "suite.toml", "--launch", "3/2")
    assert done.code == 2 and "--launch '3/2': expected one of so many, as 3/10" in only(done.complaints)


def test_one_launch_of_a_suite(bench, tmp_path):
    ab(tmp_path, launches=10)
    done = bench("suite", "suite.toml", "--launch", "2/3", "--json", "run.json")
    assert done.code == 0, done
    assert [launch["launch"] for case in done.file["cases"] for launch in case["launches"]] == [1, 1, 1]
