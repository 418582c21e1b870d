"""ucx-bench doctor: what the rules see before anything is measured."""

import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import PROGRAM, clean_environment


def examined(bench, *arguments, **options):
    done = bench("doctor", "--json", "run.json", *arguments, **options)
    assert done.code in (0, 1), done
    findings = done.file["findings"]
    serious = [found["id"] for found in findings if found["severity"] != "note"]
    assert done.code == (1 if serious else 0)
    reasons = ", ".join(dict.fromkeys(serious))
    last = done.out.rstrip("\n").split("\n")[-1]
    assert last == (f"not fit to measure: {reasons}" if serious else "fit to measure")
    return done, serious


def test_says_what_is_here(bench):
    done, _ = examined(bench)
    assert "UCX" in done.out and "machine" in done.out and "transports" in done.out
    found = done.file
    assert found["cases"] == [] and found["ucx"]["transports"]["tcp"] is None
    assert found["topology"]["hash"]


def test_little_shared_memory_is_found(tmp_path):
    script = f"mount -t tmpfs -o size=64m tmpfs /dev/shm && exec '{PROGRAM}' doctor --json '{tmp_path}/doctor.json'"
    command = ["unshare", "--mount", "sh", "-c", script]
    allowed = os.geteuid() == 0 and shutil.which("unshare")
    if not allowed or subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace can be made here: needs root")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=clean_environment())
    assert done.returncode == 1, done.stderr
    findings = {found["id"]: found for found in json.loads((tmp_path / "doctor.json").read_text())["findings"]}
    assert "64 MiB" in findings["small-shm"]["evidence"]
    assert done.stdout.index("machine") < done.stdout.index("[small-shm]")
    assert re.search(r"^not fit to measure: (.*, )?small-shm(,|$)", done.stdout.split("\n")[-2])
