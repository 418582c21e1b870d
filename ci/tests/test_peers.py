"""scripts/peers: one short whole run beside ucx_perftest. Its parts are tested in bench/fidelity."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import PROGRAM, ROOT, clean_environment

SCRIPT = ROOT / "bench/fidelity/peers.py"


@pytest.fixture
def outputs(tmp_path):
    return {name: tmp_path / f"peers.{name}" for name in ("json", "markdown", "html")}


def test_a_quick_run_beside_ucx_perftest(outputs):
    pytest.importorskip("jinja2", reason="jinja2 is missing: run ./scripts/setup/python")
    perftest = shutil.which("ucx_perftest")
    if not perftest:
        pytest.skip("ucx_perftest is not installed (Debian: ucx-utils)")
    command = [sys.executable, SCRIPT, "--only", "ucx_perftest", "--quick", "--ucx-bench", PROGRAM]
    for name, file in outputs.items():
        command += [f"--{name}", file]
    done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    result = json.loads(outputs["json"].read_text())
    loaded = re.search(r"libucp\S* => (\S+)", subprocess.run(["ldd", perftest], capture_output=True, text=True, timeout=30).stdout)
    if not loaded or os.path.realpath(loaded[1]) != result["ucx"]["library"]:
        pytest.skip("ucx_perftest is of another UCX than this ucx-bench")
    assert "tcp/tag/latency/8B, round 2 of 2: ucx_perftest" in done.stderr
    assert result["schema"] == "ucx-bench/peers/1" and result["state"] == "complete"
    assert [peer["name"] for peer in result["peers"]] == ["ucx-bench", "ucx_perftest"]
    assert [cell["key"] for cell in result["cells"]] == [
        f"tcp/tag/{metric}/{size}" for metric in ("latency", "bandwidth") for size in ("8B", "64KiB", "1MiB")]
    for cell in result["cells"]:
        assert not any(figure["failure"] for figure in cell["figures"].values())
        assert [sorted(of) for of in cell["rounds"]] == [["ucx-bench", "ucx_perftest"]] * 2
        assert all(value > 0 for of in cell["rounds"] for value in of.values())
        assert cell["figures"]["ucx-bench"]["ratio"]["pairs"] == 2
        # UCX before 1.16 prints nothing of its protocols.
        assert [cell["figures"][name]["carried_by"] in said for name, said in (
            ("ucx-bench", ["tcp"]), ("ucx_perftest", ["tcp", "unknown"]))] == [True, True]
    assert "| ucx_perftest |" in outputs["markdown"].read_text()
    assert "latency over tcp" in outputs["html"].read_text()
