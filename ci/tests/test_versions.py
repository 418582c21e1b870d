"""ucx-bench versions: several installations of UCX beside the first."""

import json

import pytest
from conftest import only

SUITE = """launches = 2
[[case]]
args = "pingpong --transports shm --sizes 8 --measure latency --no-memory-copy"
"""


@pytest.fixture
def installed(ucx_copies, tmp_path):
    """Another UCX, which is as fast as this machine's."""
    (tmp_path / "suite.toml").write_text(SUITE)
    return ucx_copies[1]


def test_two_that_are_as_fast(bench, installed):
    done = bench("versions", "suite.toml", "--ucx", "here=/usr", "--ucx", f"copy={installed}", "--folder", ".", "--json", "v.json",
                 environment={"UCX_NO_SUCH_SETTING": "7"})
    assert done.code == 0, done
    versions = json.loads((done.folder / "v.json").read_text())
    for of in versions["versions"]:
        assert "UCX_NO_SUCH_SETTING" in only(of["ucx_warnings"])
        assert f"{of['name']}: UCX says: WARN unused env variable: UCX_NO_SUCH_SETTING" in " ".join(done.out.split())
    assert versions["schema"] == "ucx-bench/versions/1" and [of["name"] for of in versions["versions"]] == ["here", "copy"]
    assert versions["versions"][0]["ucx"] == versions["versions"][1]["ucx"] is not None
    # What each loads is said before anything is measured, and recorded.
    here, copy = (of["loaded"] for of in versions["versions"])
    assert copy["library"] == str(installed / "lib/libucp.so.0") != here["library"]
    lines = done.err.splitlines()
    said = only([at for at, line in enumerate(lines) if line.startswith(f"copy: UCX {copy['version']}: {copy['library']} ")])
    assert lines[said - 1].startswith(f"here: UCX {here['version']}: {here['library']} ")
    assert said < next(at for at, line in enumerate(lines) if line.startswith("launch "))
    assert versions["command"][1:] == ["versions", "suite.toml", *versions["command"][3:]] and versions["machine"]["id"] and versions["build"]["commit"]
    row = only(versions["rows"])
    assert row["key"].startswith("pingpong/tag/host-host/shm/8B") and row["metric"] == "latency_us"
    cell = row["cells"]["copy"]
    assert cell["verdict"] == "inconclusive" and cell["why"] and cell["base"] > 0 and cell["new"] > 0  # two launches say nothing
    assert "lanes " in cell["before"] and cell["before"] == cell["after"]
    line = only([line for line in done.out.splitlines() if line.lstrip().startswith("pingpong/tag/host-host/shm/8B")])
    assert "inconclusive" in line
    # Each side ran on its own installation.
    runs = [json.loads((done.folder / versions["versions"][1][of]).read_text()) for of in ("base_run", "run")]
    assert [run["run"]["ab"]["ucx"]["library"] for run in runs] == [here["library"], copy["library"]]


CASE = "pingpong/tag/host-host/shm/8B/measure=latency"


def test_what_has_no_verdict_is_not_called_unchanged(bench, installed):
    done = bench("versions", "suite.toml", "--ucx", "a=/usr", "--ucx", f"b={installed}", "--folder", ".", "--bisect", CASE)
    assert done.code == 6 and "no significant change" not in done.out, done  # two launches say nothing
    assert f"{CASE}: nothing was decided\n  UCX b: latency_us is inconclusive: " in done.out, done


def test_a_version_that_does_not_start_is_not_called_unchanged(bench, installed):
    (installed / "lib/libucp.so.0").write_text("no library")
    for words in (["--bisect", CASE], []):
        done = bench("versions", "suite.toml", "--ucx", "a=/usr", "--ucx", f"b={installed}", "--folder", ".", *words)
        assert done.code == 3 and "no significant change" not in done.out and "b: " in done.out, done
        assert ("nothing was decided\n  UCX b: --new " in done.out) == bool(words), done


def test_a_case_that_the_suite_has_not(bench, installed):
    done = bench("versions", "suite.toml", "--ucx", "a=/usr", "--ucx", f"b={installed}", "--folder", "runs", "--bisect", CASE + "x")
    assert done.code == 2 and CASE + "x" in only(done.complaints) and not (done.folder / "runs").exists(), done


def test_one_ucx_under_two_names(bench, installed, tmp_path):
    same = installed.with_name("same")
    for first, again in (("/usr", same), (same, "/usr"), (installed, installed)):
        done = bench("versions", "suite.toml", "--ucx", f"a={first}", "--ucx", f"b={again}", "--folder", "runs")
        assert done.code == 2 and f"--ucx b={again}: it is the same UCX as a (" in only(done.complaints), done
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("options, words", [
    ([], "give two versions at least"),
    (["a=/usr", "b=/none"], "no libucp.so.0 in '/none/lib'"),
    (["a=/usr", "a=/usr"], "two have the name a"),
    (["a=/usr", "=/usr"], "expected NAME=PREFIX, or pypi:VERSION"),
    (["a=/usr", "pypi:0.1"], "no UCX 0.1 in scripts/setup/ucx-wheels.txt, which has 1.14.1"),
])
def test_refusals(bench, tmp_path, options, words):
    (tmp_path / "suite.toml").write_text(SUITE)
    done = bench("versions", "suite.toml", *[word for option in options for word in ("--ucx", option)])
    assert done.code == 2 and words in only(done.complaints), done
