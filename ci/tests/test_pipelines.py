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
args = "pingpong --transports shm --sizes 8 --iterations 10 --warmup-runs 0 --bind none"
"""


def jobs():
    github = yaml.safe_load((PIPELINES / "github-actions.yml").read_text())
    gitlab = yaml.safe_load((PIPELINES / "gitlab-ci.yml").read_text())
    return only(list(github["jobs"].values())), only([job for job in gitlab.values() if "script" in job])


@pytest.fixture
def place(tmp_path):
    """A repository with a suite, the program in PATH, and a curl that fetches base.json, if it is there."""
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci/suite.toml").write_text(SUITE)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/ucx-bench").symlink_to(PROGRAM)
    curl = tmp_path / "bin/curl"
    curl.write_text('#!/bin/bash\nwhile [[ $1 != --output ]]; do shift; done\ncp base.json "$2"\n')
    curl.chmod(0o700)
    return tmp_path


def shell(script, folder, **variables):
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=folder, capture_output=True, text=True,
                          timeout=120, env=clean_environment() | {"PATH": path} | variables)


def page_can_be_drawn(done):
    if done.returncode == 3 and "setup/python" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    return done.returncode == 0


def test_github(place):
    job = jobs()[0]
    steps = {step["name"]: step for step in job["steps"] if "name" in step}
    assert all(re.fullmatch(r"actions/[\w/-]+@v\d+", step["uses"]) for step in job["steps"] if "uses" in step)
    assert list(steps) == ["Base", "Measure", "Compare", "Page", "The next base"]
    caches = [step["with"] for step in job["steps"] if "cache" in step.get("uses", "")]
    assert [cache["path"] for cache in caches] == ["ucx-bench-base.json"] * 2 and caches[0]["key"] == caches[1]["key"]
    assert caches[0]["key"].startswith(caches[0]["restore-keys"])
    done = shell(steps["Measure"]["run"], place)
    assert done.returncode == 0, done
    done = shell(steps["The next base"]["run"] + "\n" + steps["Measure"]["run"], place)
    assert done.returncode == 0, done
    summary = place / "summary.md"
    summary.write_text("before\n")
    done = shell(steps["Compare"]["run"], place, GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 0, done  # one launch gives no verdict
    assert summary.read_text().startswith("before\n### ") and "inconclusive" in summary.read_text()
    assert page_can_be_drawn(shell(steps["Page"]["run"], place))
    kept = only([step for step in job["steps"] if "upload-artifact" in step.get("uses", "")])["with"]["path"]
    assert all((place / name).exists() for name in kept.split())


def test_gitlab(place):
    job = jobs()[1]
    script = "\n".join(job["script"])
    variables = {"CI_DEFAULT_BRANCH": "main", "CI_JOB_TOKEN": "x", "CI_API_V4_URL": "x", "CI_PROJECT_ID": "1"}
    variables |= only([rule["variables"] for rule in job["rules"] if "variables" in rule])
    done = shell(script, place, **variables)
    assert page_can_be_drawn(done), done
    assert done.stdout.splitlines()[-1] == "no run of main to compare with"
    (place / "ucx-bench-new.json").rename(place / "base.json")
    done = shell(script, place, **variables)
    assert done.returncode == 0, done
    assert "inconclusive" in done.stdout
    assert json.loads((place / "ucx-bench-verdict.json").read_text())["schema"] == "ucx-bench/comparison/1"
    assert all((place / name).exists() for name in job["artifacts"]["paths"])
