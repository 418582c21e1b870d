"""The pipelines that users copy: what they run is run here, in a shell, on a suite of one case."""

import json
import os
import re
import subprocess

import pytest
from conftest import PROGRAM, ROOT, clean_environment, only

yaml = pytest.importorskip("yaml", reason="PyYAML is missing: run ./scripts/setup/python")
PIPELINES = ROOT / "ci/pipelines"
SUITE = """launches = 1
[[case]]
args = "pingpong --transports shm --sizes 8 --iterations 10 --warmup-runs 0 --bind none --no-memory-copy"
"""


def jobs():
    github = yaml.safe_load((PIPELINES / "github-actions.yml").read_text())
    gitlab = yaml.safe_load((PIPELINES / "gitlab-ci.yml").read_text())
    return only(list(github["jobs"].values())), only([job for job in gitlab.values() if "script" in job])


@pytest.fixture
def place(ucx_copies, tmp_path):
    """A repository with a suite, a "build" of UCX that differs from the one before, and the program in PATH."""
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci/suite.toml").write_text(SUITE)
    build = tmp_path / "ci/build"
    # The second build is of a merge that left UCX as it was where IS_SAME is set.
    build.write_text(f'#!/bin/bash\nrm -rf "$1" && cp -r {ucx_copies[0]} "$1"\n'
                     '[ ! -d ucx-base ] || [ "$IS_SAME" ] || printf 0 >> "$1/lib/libucp.so.0"\n')
    build.chmod(0o700)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/ucx-bench").symlink_to(PROGRAM)
    return tmp_path


def shell(script, folder, **variables):
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=folder, capture_output=True, text=True,
                          timeout=120, env=clean_environment() | {"PATH": path} | variables)


def page_can_be_drawn(done):
    if done.returncode == 3 and "setup/python" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    return done.returncode == 0


def in_turns(place):
    """Both runs of a comparison, which took turns."""
    runs = [json.loads(file.read_text()) for file in place.glob("ucx-bench-runs/[0-9]*.json")]
    assert sorted(run["run"]["ab"]["side"] for run in runs) == ["base", "new"]
    assert {run["run"]["ab"]["other"] for run in runs} == {run["run"]["id"] for run in runs}


def test_github(place):
    job = jobs()[0]
    steps = {step["name"]: step for step in job["steps"] if "name" in step}
    assert all(re.fullmatch(r"(actions/[\w/-]+|benchmark-action/github-action-benchmark)@v\d+", step["uses"]) for step in job["steps"] if "uses" in step)
    assert list(steps) == ["Build", "Base", "Compare", "Page", "Times", "Rates", "The next base"]
    caches = [step["with"] for step in job["steps"] if "cache" in step.get("uses", "")]
    assert [cache["path"] for cache in caches] == ["ucx-base\nucx-bench-runs\nucx-bench-history\n"] * 2 and caches[0]["key"] == caches[1]["key"]
    assert caches[0]["key"].startswith(caches[0]["restore-keys"])
    summary = place / "summary.md"
    variables = {"GITHUB_STEP_SUMMARY": str(summary)}
    first = "\n".join(steps[name]["run"] for name in ("Build", "Compare", "Page", "The next base"))
    done = shell(first, place, **variables)
    assert done.returncode == 0 and summary.read_text() == "no base to compare with yet\n", done
    summary.unlink()
    done = shell(steps["Build"]["run"] + "\n" + steps["Compare"]["run"], place, IS_SAME="1", **variables)
    assert done.returncode == 0 and summary.read_text() == "the same UCX as the base: nothing to compare\n", done
    done = shell(steps["Build"]["run"] + "\n" + steps["Compare"]["run"], place, **variables)
    assert done.returncode == 0, done  # one launch gives no verdict
    assert "### " in summary.read_text() and "inconclusive" in summary.read_text()
    in_turns(place)
    assert page_can_be_drawn(shell(steps["Page"]["run"], place))
    for name, tool in (("Times", "customSmallerIsBetter"), ("Rates", "customBiggerIsBetter")):
        fed = steps[name]["with"]
        assert fed["tool"] == tool and fed["external-data-json-path"].startswith("ucx-bench-history/")
        figures = json.loads((place / fed["output-file-path"]).read_text())
        assert figures and all({"name", "unit", "value"} <= figure.keys() for figure in figures)
    kept = only([step for step in job["steps"] if "upload-artifact" in step.get("uses", "")])["with"]["path"]
    assert all((place / name).exists() for name in kept.split())


def test_forks_do_not_run_on_the_runners():
    """Their merge requests bring a ci/build of their own."""
    github, gitlab = jobs()
    assert "github.event.pull_request.head.repo.full_name == github.repository" in github["if"] and "self-hosted" in github["runs-on"]
    merged = only([rule for rule in gitlab["rules"] if "merge_request_event" in rule["if"]])
    assert "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID" in merged["if"]
    for file in PIPELINES.iterdir():
        text = file.read_text()
        assert "# WARNING: " in text.partition("\nucx-bench:")[0].partition("\nname:")[0] and "forks" in text


def test_gitlab(place):
    job = jobs()[1]
    assert job["cache"]["paths"] == ["ucx-base", "ucx-bench-runs"]
    assert [rule["variables"]["BASE_POLICY"] for rule in job["rules"]] == ["pull", "pull-push"]
    script = "\n".join(job["script"])
    variables = job["rules"][0]["variables"]
    done = shell(script, place, **variables)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "no base to compare with yet", done
    done = shell(script, place, IS_SAME="1", **variables)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "the same UCX as the base: nothing to compare", done
    done = shell(script, place, **variables)
    assert page_can_be_drawn(done), done
    assert "inconclusive" in done.stdout
    in_turns(place)
    assert json.loads((place / "ucx-bench-verdict.json").read_text())["schema"] == "ucx-bench/comparison/1"
    assert all((place / name).exists() for name in job["artifacts"]["paths"])
