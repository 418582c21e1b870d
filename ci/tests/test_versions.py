"""ucx-bench versions: several installations of UCX beside the first."""

import json
import pathlib

import pytest
from conftest import only

SUITE = """launches = 2
[[case]]
args = "pingpong --transports shm --sizes 8 --measure latency --no-memory-copy"
"""


@pytest.fixture
def installed(tmp_path):
    """This machine's UCX, under another prefix."""
    found = [file for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
             for file in pathlib.Path(folder).glob("libucp.so.0")]
    if not found:
        pytest.skip("no UCX of the distribution")
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy/lib").symlink_to(found[0].parent)
    (tmp_path / "suite.toml").write_text(SUITE)
    return tmp_path / "copy"


def test_the_same_ucx_twice(bench, installed):
    done = bench("versions", "suite.toml", "--ucx", "here=/usr", "--ucx", f"copy={installed}", "--folder", ".", "--json", "v.json")
    assert done.code == 0, done
    versions = json.loads((done.folder / "v.json").read_text())
    assert versions["schema"] == "ucx-bench/versions/1" and [of["name"] for of in versions["versions"]] == ["here", "copy"]
    assert versions["versions"][0]["ucx"] == versions["versions"][1]["ucx"] is not None
    assert versions["command"][1:] == ["versions", "suite.toml", *versions["command"][3:]] and versions["machine"]["id"] and versions["build"]["commit"]
    row = only(versions["rows"])
    assert row["key"].startswith("pingpong/tag/host-host/shm/8B") and row["metric"] == "latency_us"
    cell = row["cells"]["copy"]
    assert cell["verdict"] == "inconclusive" and cell["why"] and cell["base"] > 0 and cell["new"] > 0  # two launches say nothing
    assert "lanes " in cell["before"] and cell["before"] == cell["after"]
    line = only([line for line in done.out.splitlines() if "shm/8B" in line])
    assert "inconclusive" in line
    # Each side ran on its own installation.
    runs = [json.loads((done.folder / versions["versions"][1][of]).read_text()) for of in ("base_run", "run")]
    assert str(installed) in json.dumps(runs[1]["run"]["ab"]) and str(installed) not in json.dumps(runs[0]["run"]["ab"]["environment"])


def test_no_change_is_looked_for_no_further(bench, installed):
    done = bench("versions", "suite.toml", "--ucx", "a=/usr", "--ucx", f"b={installed}", "--folder", ".",
                 "--bisect", "pingpong/tag/host-host/shm/8B/measure=latency")
    assert done.code == 0 and "no significant change of pingpong/tag/host-host/shm/8B/measure=latency from a to b" in done.out, done


@pytest.mark.parametrize("options, words", [
    ([], "give two versions at least"),
    (["a=/usr", "b=/none"], "no libucp.so.0 in '/none/lib'"),
    (["a=/usr", "a=/usr"], "two have the name a"),
    (["a=/usr", "=/usr"], "expected NAME=PREFIX, or pypi:VERSION"),
    (["a=/usr", "pypi:0.1"], "no UCX 0.1 in scripts/setup/ucx-wheels.txt, which has 1.14.1"),
])
def test_refusals(bench, installed, options, words):
    done = bench("versions", "suite.toml", *[word for option in options for word in ("--ucx", option)])
    assert done.code == 2 and words in only(done.complaints), done
