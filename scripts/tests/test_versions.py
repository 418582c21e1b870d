"""versions.py draws what `ucx-bench versions --json` writes, and says in one line what it cannot."""

import json

import pytest

from conftest import ROOT, as_a_script


def cell(verdict, ratio, **more):
    empty = dict.fromkeys(("interval", "p_corrected", "why", "before", "after"))
    return {"verdict": verdict, "base": 200.0, "new": ratio and 200 * ratio, "ratio": ratio, "by": "duets", **empty, **more}


VERSIONS = {
    "schema": "ucx-bench/versions/1", "suite": "suite.toml",
    "versions": [{"name": name, "libraries": f"/opt/{name}/lib", "ucx": name, "run": None, "base_run": None, "problem": problem,
                  "failed": {"pingpong/tcp/1MiB": "no connection"} if name == "1.20" else {}}
                 for name, problem in (("1.13", None), ("1.18", None), ("1.20", "no route"))],
    "rows": [
        {"key": "pingpong/tcp/1MiB", "metric": "latency_us", "better": "lower", "cells": {
            "1.18": cell("regressed", 4.2, interval=[4.0, 4.4], before="lanes tcp/lo", after="eager fragments <b>")}},
        {"key": "pingpong/shm/8B", "metric": "bandwidth_GBps", "better": "higher", "cells": {
            "1.18": cell("inconclusive", 1.02, why="too few launches", interval=[0.98, 1.07], new=190.0), "1.20": cell("missing", None, why="no route to lo")}},
    ],
}


@pytest.fixture
def page(tmp_path):
    def make(versions, status=0):
        (tmp_path / "versions.json").write_text(versions if isinstance(versions, str) else json.dumps(versions))
        done = as_a_script("versions.py", tmp_path / "versions.json", "-o", "-")
        assert done.returncode == status, done.stderr
        return done.stdout or done.stderr

    return make


def test_a_change_is_coloured_and_what_is_open_is_not(page):
    text = page(VERSIONS)
    assert '<td class="worse shade-85" title="regressed, by duets: 200 to 840, interval +300.0% to +340.0%">+320.0%</td>' in text
    assert '<td class="better shade-0" title="inconclusive, by duets: 200 to 204, interval -2.0% to +7.0%; too few launches">+2.0% ?</td>' in text
    assert 'title="no route to lo">missing</td>' in text and 'title="no connection">failed</td>' in text
    assert "<td>lanes tcp/lo</td><td>eager fragments &lt;b&gt;</td>" in text and "no route" in text
    assert "<td>1.20</td><td>pingpong/tcp/1MiB</td><td>no connection</td>" in text


def test_a_change_of_one_duet_is_no_figure(page):
    alone = cell("inconclusive", 1.02, why="one duet")
    rows = [VERSIONS["rows"][0] | {"cells": {"1.18": alone}}]
    text = page(VERSIONS | {"rows": rows})
    assert 'title="inconclusive, by duets: 200 to 204, without an interval; one duet">– ?</td>' in text and "+2.0" not in text


def test_says_which_version_has_no_verdict(page):
    versions = [version | ({"nothing_decided": "nothing was decided: 2 of 2 rows are inconclusive"} if version["name"] == "1.18" else {})
                for version in VERSIONS["versions"]]
    assert "1.18: nothing was decided: 2 of 2 rows" in page(VERSIONS | {"versions": versions})
    assert "nothing was decided" not in page(VERSIONS)


def test_figures_of_the_record_agree_with_its_changes():
    for file in (ROOT / "results/versions").glob("*.json"):
        for row in json.loads(file.read_text())["rows"]:
            for name, of in row["cells"].items():
                assert of["ratio"] is None or of["new"] == pytest.approx(of["base"] * of["ratio"], rel=1e-4), (file.name, row["key"], name)


def test_says_who_made_it_where_that_is_known(page):
    made = {"started_utc": "2026-11-24T04:00:00Z", "command": ["ucx-bench", "versions", "s.toml"], "machine": {"id": "vm-1"},
            "build": {"version": "0.1.0", "commit": "0123456789abcdef", "dirty": False}}
    assert "On vm-1, 2026-11-24T04:00:00Z, by ucx-bench 0123456789ab: ucx-bench versions s.toml" in page(VERSIONS | made)
    assert "by ucx-bench" not in page(VERSIONS)
