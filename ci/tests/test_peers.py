"""scripts/peers: one short whole run beside ucx_perftest. Its parts are tested in bench/fidelity."""

import json
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
    if not shutil.which("ucx_perftest"):
        pytest.skip("ucx_perftest is not installed (Debian: ucx-utils)")
    command = [sys.executable, SCRIPT, "--only", "ucx_perftest", "--quick", "--ucx-bench", PROGRAM]
    for name, file in outputs.items():
        command += [f"--{name}", file]
    done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "tcp/tag/latency/8B, round 2 of 2: ucx_perftest" in done.stderr
    result = json.loads(outputs["json"].read_text())
    assert result["schema"] == "ucx-bench/peers/1" and result["state"] == "complete"
    assert [peer["name"] for peer in result["peers"]] == ["ucx-bench", "ucx_perftest"]
    assert [cell["key"] for cell in result["cells"]] == [
        f"tcp/tag/{metric}/{size}" for metric in ("latency", "bandwidth") for size in ("8B", "64KiB", "1MiB")]
    for cell in result["cells"]:
        failure = cell["figures"]["ucx_perftest"]["failure"]
        if failure and "not the same UCX" in failure:
            pytest.skip(failure)
        assert failure is None and cell["figures"]["ucx-bench"]["failure"] is None
        assert [sorted(of) for of in cell["rounds"]] == [["ucx-bench", "ucx_perftest"]] * 2
        assert all(value > 0 for of in cell["rounds"] for value in of.values())
        assert cell["figures"]["ucx-bench"]["ratio"]["pairs"] == 2
    assert "| ucx_perftest |" in outputs["markdown"].read_text()
    assert "latency over tcp" in outputs["html"].read_text()
