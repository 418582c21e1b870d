"""What the rules see in a run stands in its file and ends every report of it."""

import os
import re

import pytest

from conftest import CROWDED, ROOT, in_some_attempt, only


def ids(findings):
    return [finding["id"] for finding in findings]


def test_every_rule_is_documented(bench):
    done = bench("list", "rules")
    assert done.code == 0 and not done.err
    header, *lines = done.out.splitlines()
    assert header.split() == ["rule", "severity", "when"] and all(len(line) <= 100 for line in lines)
    listed = [line.split()[:2] for line in lines]
    page = (ROOT / "docs/method/findings.md").read_text()
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `")]
    documented = [[rule.strip(" `"), severity.strip()] for rule, severity in rows]
    assert sorted(row for row in documented if row[1] in ("error", "warning", "note")) == sorted(listed)


def test_findings_are_recorded_and_come_last(pingpong, bench):
    done = pingpong("--transports", "tcp", "--sizes", "8")
    found = done.file["findings"]
    launches = only([finding for finding in found if finding["id"] == "few-launches"])
    assert launches["severity"] == "note" and launches["cost_ms"] is None
    assert launches["evidence"] == "1 launch gives no 95 % interval"
    words = " ".join(done.out.split())
    assert done.out.startswith("pingpong tag") and "quality" in words and launches["evidence"] in words
    assert "[few-launches]" not in words and re.search(r"\d (more )?findings?: ucx-bench report", words)
    assert bench("report", "run.json").out == done.out
    for command in (["report", "run.json", "--findings"], ["--verbose", "report", "run.json"]):
        every = bench(*command).out
        assert [finding["id"] for finding in found] == re.findall(r"\[([\w-]+)\]\n", every), every
    markdown = bench("report", "run.json", "--markdown", "-").out
    assert markdown.startswith("### pingpong tag") and "few-launches" in markdown


def test_findings_of_a_file_are_found_by_the_rules_of_today(pingpong, bench, tmp_path):
    pingpong("--transports", "tcp", "--sizes", "8")
    file = tmp_path / "run.json"
    text = file.read_text()
    file.write_text(text.replace("few-launches", "other-rule"))
    other = bench("report", "run.json", "--findings").out
    begin = text.index('"findings": [')
    end = text.index('\n  ],', begin)
    file.write_text(text[:begin] + '"findings": [' + text[end:])
    for out in (other, bench("report", "run.json", "--findings").out):
        assert "[few-launches]" in out and "other-rule" not in out


def test_what_the_host_gave_to_the_ranks_processors(pingpong):
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")

    def seen_with(bind):
        run = pingpong("--transports", "shm", "--sizes", "8", "--bind", bind.format(*cpus), *CROWDED).file
        return [seen for launch in run["cases"][0]["launches"] for seen in launch.get("processors", ()) if seen]

    def both_were_free(_):
        seen = seen_with("{0},{1}")
        assert all(each["apart_ns"] > 0 and each["work_ns"] > 10 for each in seen)
        return seen

    # Somebody else may have one of them for all of the time, once.
    assert in_some_attempt(both_were_free, attempts=20)
    # Ranks that are not bound have none of their own, and two on one CPU have but one.
    assert not seen_with("none") and not seen_with("{0},{0}")


@pytest.mark.parametrize("bind, expected", [("{0},{0}", True), ("{0},{1}", False)])
def test_ranks_on_one_cpu(pingpong, bind, expected):
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    done = pingpong("--transports", "shm", "--sizes", "8", "--bind", bind.format(*cpus), *CROWDED)
    assert ("shared-cpus" in ids(done.file["findings"])) == expected
