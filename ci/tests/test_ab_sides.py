"""What the two sides of a comparison really load and set is said first, recorded, and refused where it is equal."""

import json
import shutil

import pytest
from conftest import PROGRAM, only
from test_ab import CASE, files


@pytest.fixture
def compared(bench, tmp_path, ucx_copies):
    """compared(OPTIONS…): `ab` of one case, with nothing but these options between its sides."""
    (tmp_path / "suite.toml").write_text(f'launches = 1\n[[case]]\nargs = "{CASE}"\n')
    shutil.copy(PROGRAM, tmp_path / "copy")
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH=/nowhere exec {PROGRAM} "$@"\n')
    wrapper.chmod(0o700)

    def run(*options, before=(), **more):
        return bench(*before, "ab", "suite.toml", "--folder", "runs", *options, **more)

    return run


NO_OTHER_FILE = "both sides load the same UCX "
EQUAL = "both sides are the same build of ucx-bench, "
UNREADABLE = " cannot read this value: Invalid value for RNDV_THRESH: 'soon'. Expected: "
PREFIX = "--base-ucx PREFIX or --new-ucx PREFIX"


@pytest.mark.parametrize(("options", "words"), [
    (["--new-env", "LD_LIBRARY_PATH=/nowhere/lib"], ["--new-env LD_LIBRARY_PATH=/nowhere/lib: " + NO_OTHER_FILE, PREFIX]),
    (["--base-env", "LD_LIBRARY_PATH=/nowhere/lib"], ["--base-env LD_LIBRARY_PATH=/nowhere/lib: " + NO_OTHER_FILE, PREFIX]),
    # Neither does what else differs make two libraries of one.
    (["--new-env", "LD_LIBRARY_PATH=/nowhere", "--new-env", "UCX_RNDV_THRESH=16k"], [NO_OTHER_FILE, PREFIX]),
    (["--new-env", "LD_PRELOAD=/nowhere/libucp.so.0"], ["--new-env LD_PRELOAD=/nowhere/libucp.so.0: " + NO_OTHER_FILE]),
    (["--new-env", "UCX_MODULE_DIR=/nowhere"], ["--new-env UCX_MODULE_DIR=/nowhere: there is no such folder", "--new-ucx PREFIX"]),
    (["--new-ucx", "same"], ["--new-ucx same: " + NO_OTHER_FILE]),
    (["--base-ucx", "same", "--new-ucx", "same"], ["there is nothing to compare", "--new-ucx PREFIX"]),
    (["--new-ucx", "nowhere"], ["--new-ucx nowhere: no libucp.so.0 in 'nowhere/lib' or lib64"]),
    (["--new-ucx", "other", "--new-env", "LD_LIBRARY_PATH=/a"], ["--new-ucx other sets it; give one of them"]),
    (["--new", "./wrapper", "--new-ucx", "other"], ["--new-ucx other: ./wrapper loads /", " instead"]),
    (["--base", "./copy"], [EQUAL, "--new-ucx PREFIX"]),
    (["--new", "./wrapper"], [EQUAL, "--new-ucx PREFIX"]),
    (["--new-env", "UCX_RNDV_THRESH=auto"], [EQUAL]),  # which it is anyway
    (["--new-env", "UCX_CONFIG_DIR=/nowhere"], [EQUAL]),
    (["--new-env", "UCX_RNDV_THRES=16k"], ["--new-env UCX_RNDV_THRES=16k: UCX ", "has no such variable: did you mean 'UCX_RNDV_THRESH'?"]),
    (["--base-env", "UCX_RNDV_THRES=16k", "--new-env", "SIDE=new"], ["--base-env UCX_RNDV_THRES=16k: UCX "]),
    (["--new-env", "UCX_RNDV_THRESH=soon"], ["--new-env UCX_RNDV_THRESH=soon: UCX ", UNREADABLE]),
    (["--new-env", "UCX_TLS=tcp"], ["--new-env UCX_TLS=tcp: the suite's cases set UCX_TLS themselves"]),
])
def test_sides_that_do_not_differ_as_asked(compared, tmp_path, options, words):
    done = compared(*options)
    assert done.code == 2, done
    complaint = only(done.complaints)
    assert all(word in complaint for word in words), complaint
    assert not (tmp_path / "runs").exists()


def test_each_sides_ucx_is_said_first_and_recorded(compared, tmp_path, ucx_copies):
    done = compared("--new-ucx", "other")
    assert done.code == 0, done
    other = str(ucx_copies[1] / "lib/libucp.so.0")
    lines = done.err.splitlines()
    said = [at for at, line in enumerate(lines) if line.startswith("  UCX ")]
    assert len(said) == 2 and said[1] < next(at for at, line in enumerate(lines) if line.startswith("launch "))
    assert other not in lines[said[0]] and f": {other} (" in lines[said[1]]
    for at in said:
        assert all(f"{name} (build " in lines[at] for name in ("libuct.so.0", "libucs.so.0")) and ", modules in /" in lines[at]
    found = files(tmp_path)
    for side, run in ((side, run) for side, (_, run) in found.items()):
        ucx = run["run"]["ab"]["ucx"]
        assert ucx["version"] == run["ucx"]["version"] and ucx["library"] == run["ucx"]["library"]
        # What the ranks loaded is what was said before.
        assert all(run["ucx"]["libraries"][name] == ucx["libraries"][name] for name in ("libucp.so.0", "libuct.so.0", "libucs.so.0"))
        assert (ucx["library"] == other) == (side == "new") and ucx["modules"].startswith("/")
    assert "nothing was decided: 1 of 1 row is inconclusive" in " ".join(done.out.split())


@pytest.mark.parametrize("quiet", [{}, {"UCX_LOG_LEVEL": "error"}, {"UCX_LOG_FILE": "ucx.log"},
                                   {"UCX_WARN_UNUSED_ENV_VARS": "n"}])
def test_a_setting_that_ucx_knows_and_does_not_use_is_told(compared, tmp_path, quiet):
    done = compared("--new-env", "UCX_TCP_TX_SEG_SIZE=9k", environment=quiet)  # of a case over shared memory
    assert done.code == 0, done
    lines = done.err.splitlines()
    told = only([at for at, line in enumerate(lines) if line.startswith("--new-env UCX_TCP_TX_SEG_SIZE=9k: UCX ")])
    assert "does not use it in these cases" in lines[told]
    assert told < next(at for at, line in enumerate(lines) if line.startswith("launch 1/1"))
    assert "UCX uses in new none of UCX_TCP_TX_SEG_SIZE" in " ".join(done.out.split())
    found = files(tmp_path)
    assert found["new"][1]["run"]["ab"]["unused"] == ["UCX_TCP_TX_SEG_SIZE"] and "unused" not in found["base"][1]["run"]["ab"]


def test_a_setting_that_a_case_uses_is_not_called_unused(compared):
    done = compared("--new-env", "UCX_RNDV_THRESH=16k", before=["--dry-run"])
    assert done.code == 0 and "does not use" not in done.err, done


def test_what_a_wrapper_sets_is_said_first(compared, tmp_path):
    wrapper = tmp_path / "sets"
    wrapper.write_text(f'#!/bin/sh\nUCX_RNDV_THRESH=16k exec {PROGRAM} "$@"\n')
    wrapper.chmod(0o700)
    done = compared("--new", "./sets", before=["--dry-run"])
    assert done.code == 0, done
    assert only([line for line in done.out.splitlines() if line.startswith("new: ")]) == "new: UCX_RNDV_THRESH=16k ./sets"


def test_files_of_one_build_are_told(compared):
    done = compared("--new-ucx", "other", before=["--dry-run"])
    assert done.code == 0, done
    assert "the files of libucp.so.0 differ between base and new, but their build ids are equal" in done.err


def test_what_ucx_cannot_know_is_a_difference(compared):
    done = compared("--new-env", "SIDE=new", before=["--dry-run"])
    assert done.code == 0 and done.out.count("\n  UCX ") == 2, done


def test_a_build_that_tells_no_plan_is_asked_for_its_ucx(compared, tmp_path):
    older = tmp_path / "older"
    # Its last two words are --json FILE.
    older.write_text(f'#!/bin/bash\n[[ " $* " != *" --json "* ]] || set -- "${{@:1:$#-2}}"\nexec {PROGRAM} "$@"\n')
    older.chmod(0o700)
    done = compared("--base", "./older", "--new-env", "LD_LIBRARY_PATH=/nowhere")
    assert done.code == 2 and "--new-env LD_LIBRARY_PATH=/nowhere: " + NO_OTHER_FILE in only(done.complaints), done


def test_a_misspelt_setting_of_a_case(bench):
    done = bench("pingpong", "--ucx", "UCX_RNDV_THRES=16k", "--dry-run")
    assert done.code == 2 and "--ucx UCX_RNDV_THRES=16k: UCX " in only(done.complaints)
    done = bench("--dry-run", "tune", "pingpong", "--transports", "tcp", "--sizes", "8", "--try", "UCX_RNDV_THRES=16k")
    assert done.code == 2 and "--try UCX_RNDV_THRES=16k: UCX " in only(done.complaints), done


def test_a_value_that_ucx_cannot_read_is_refused_before_anything_starts(bench, tmp_path):
    def refused(*words, **more):
        done = bench("--dry-run", *words, **more)
        assert done.code == 2 and UNREADABLE in only(done.complaints), done
        return only(done.complaints)

    setting = "UCX_RNDV_THRESH=soon"
    assert f"--ucx {setting}: UCX " in refused("pingpong", "--ucx", setting)
    (tmp_path / "suite.toml").write_text(f'[[case]]\nargs = "{CASE} --ucx {setting}"\n')
    assert f"--ucx {setting}: UCX " in refused("suite", "suite.toml")
    assert f"in the environment, {setting}: UCX " in refused("pingpong", environment={"UCX_RNDV_THRESH": "soon"})
    done = bench("--dry-run", "pingpong", "--ucx", "UCX_RNDV_THRESH=64k", environment={"UCX_RNDV_THRESH": "soon"})
    assert done.code == 0, done  # which wins
    assert f"--try {setting}: UCX " in refused("tune", "pingpong", "--transports", "tcp", "--try", setting)


def test_a_plan_is_data_too(bench):
    done = bench("--dry-run", "pingpong", "--transports", "tcp", "--sizes", "8", "--launches", 2, "--json", "-")
    plan = json.loads(done.out)
    assert plan["schema"] == "ucx-bench/plan/1" and plan["seconds"] > 0 and plan["launches"] == 2
    assert only(plan["plans"])["cases"] == ["pingpong/tag/host-host/tcp/8B"]
    assert plan["ucx"]["settings"]["UCX_TLS"] and plan["libraries"]["libucp.so.0"]["path"].endswith("libucp.so.0")


@pytest.mark.parametrize("command", ["pingpong", "suite"])
def test_a_dry_run_leaves_a_recorded_run(bench, tmp_path, command):
    (tmp_path / "run.json").write_text("a recorded run")
    (tmp_path / "suite.toml").write_text('[[case]]\nargs = "pingpong --transports tcp --sizes 8"\n')
    words = {"pingpong": ["--transports", "tcp", "--sizes", "8"], "suite": ["suite.toml"]}[command]
    done = bench("--dry-run", command, *words, "--json", "run.json")
    assert done.code == 0 and "pingpong/tag/host-host/tcp/8B" in done.out, done
    assert (tmp_path / "run.json").read_text() == "a recorded run"
