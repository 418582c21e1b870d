"""Google Benchmark's own compare.py reads our benchmark JSON.

GBENCH_COMPARE: where it is, else where Debian's libbenchmark-tools has it. It needs SciPy, older ones pandas too.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import printed

TOOL = pathlib.Path(os.environ.get("GBENCH_COMPARE", "/usr/share/benchmark/compare.py"))


def test_rows_have_what_its_readers_need():
    written = json.loads(printed("result", "gbench"))
    rows = written["benchmarks"]
    assert {row["run_type"] for row in rows} == {"iteration", "aggregate"}
    for row in rows:
        if row.get("error_occurred"):  # as Google Benchmark has it, without times
            assert row["error_message"] and not {"real_time", "cpu_time"} & {*row}
            continue
        assert row["real_time"] > 0 and row["cpu_time"] > 0 and row["time_unit"] == "us"
    missing = written["context"]["not_measured"]
    assert missing["pingpong/tag/host-host/ib/8B"].startswith("skipped: cannot run here: ib")
    assert missing["pingpong/tag/host-host/shm/1MiB"].startswith("failed: rank 1 was killed")


def compare(*arguments):
    return subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True, timeout=300)


@pytest.mark.skipif(not TOOL.exists(), reason=f"no {TOOL} (Debian: libbenchmark-tools)")
def test_compare_accepts_it(tmp_path):
    tried = compare("--help")
    if tried.returncode:
        pytest.skip(f"compare.py cannot run: {tried.stderr.splitlines()[-1]}")
    files = []
    for which in ("result", "pairs"):
        files.append(tmp_path / f"{which}.json")
        files[-1].write_text(printed(which, "gbench"))
    for base, other in ((files[0], files[0]), (files[0], files[1])):
        done = compare("--no-color", "benchmarks", base, other)
        assert done.returncode == 0, done.stderr
        assert "pingpong/tag/host-host/tcp/8B/latency_us" in done.stdout
        assert "pingpong/tag/host-host/tcp/8B/bandwidth_GBps_median" in done.stdout
