"""Two recorded runs: a verdict per case, and the exit status that CI asks for."""

import copy
import importlib.util
import json
import sys

import pytest
from conftest import only, quick
from junit_xml import junit_cases


@pytest.fixture(scope="module")
def measured(bench_once):
    return bench_once("pingpong", *quick(["--transports", "tcp", "--sizes", "8,1KiB", "--launches", 2])).file


@pytest.fixture
def run(measured):
    """A real run, as JSON; its launches are multiplied to as many as a verdict needs."""
    return copy.deepcopy(measured)


def recorded(run, name, folder, factor=1.0, launches=12, **changes):
    """The same run with so many launches, all within 1 %, latencies of 8 B `factor` times as long."""
    made = copy.deepcopy(run)
    made["run"]["id"] = name
    for case in made["cases"]:
        for metric, values in case["metrics"].items():
            slower = factor if case["parameters"]["bytes"] == 8 and metric == "latency_us" else 1
            values["launch_medians"] = [
                values["p50"] * slower * (1 + 0.01 * ((7 * i + len(name)) % launches) / launches) for i in range(launches)
            ]
    made["machine"].update(changes)
    file = folder / f"{name}.json"
    file.write_text(json.dumps(made))
    return file


def test_a_loss_is_found_and_trips_the_gate(bench, run, tmp_path):
    base, slow = recorded(run, "base", tmp_path), recorded(run, "slow", tmp_path, factor=1.2)
    done = bench("compare", base, slow)
    assert done.code == 0, done
    assert done.out.splitlines()[0] == "1 regressed, 3 unchanged"
    assert "+20" in done.out
    assert bench("compare", base, slow, "--fail-on", "regression").code == 1
    assert bench("compare", slow, base, "--fail-on", "regression").code == 0
    run["run"]["started_utc"] = "2020-01-01T00:00:00Z"
    older = recorded(run, "older", tmp_path)
    done = bench("compare", slow, older)
    assert "1 improved" in done.out and "'slow.json', the base, was measured after 'older.json'" in done.err.replace(
        f"{tmp_path}/", ""), done
    assert not bench("compare", older, slow).err


def test_a_run_with_itself(bench, run, tmp_path):
    file = recorded(run, "one", tmp_path, launches=24)
    made = json.loads(file.read_text())
    for metric in (metric for case in made["cases"] for metric in case["metrics"].values()):
        # As if B's launches, 1, 2, 5, 6, 9 …, were slower.
        metric["launch_medians"] = [
            (1.3 if i % 4 in (1, 2) else 1) * (10 + 0.01 * (7 * i % 5)) for i in range(24)]
    file.write_text(json.dumps(made))
    done = bench("compare", file, "--with-itself")
    assert done.code == 0 and done.out.splitlines()[0] == "2 regressed, 2 improved", done
    assert "one run against itself, launches interleaved (A B B A): any change is a false alarm" in done.out
    rows = json.loads(bench("compare", file, "--with-itself", "--json", "-").out)["series"]
    assert {(row["base_launches"], row["new_launches"]) for row in rows} == {(12, 12)}
    single = recorded(run, "single", tmp_path, launches=1)
    refused = bench("compare", single, "--with-itself")
    assert refused.code == 2 and "'single.json' has one launch" in refused.err.replace(f"{tmp_path}/", ""), refused
    assert bench("compare", file, file, "--with-itself").err == (
        "ucx-bench: --with-itself: expected one run, not two\n")
    done = bench("compare", file)
    assert done.code == 2 and "expected a second run, NEW.json, or --with-itself" in done.err


def test_formats(bench, run, tmp_path):
    base, slow = recorded(run, "base", tmp_path), recorded(run, "slow", tmp_path, factor=1.2)
    done = bench("compare", base, slow, "--json", "-", "--markdown", "c.md")
    assert done.code == 0, done
    comparison = json.loads(done.out)
    assert comparison["schema"] == "ucx-bench/comparison/1" and comparison["tests"] == 4
    worst = comparison["series"][0]
    assert (worst["key"], worst["metric"], worst["verdict"]) == (
        "pingpong/tag/host-host/tcp/8B", "latency_us", "regressed")
    assert {row["metric"]: row["better"] for row in comparison["series"]} == {
        "latency_us": "lower", "bandwidth_GBps": "higher"}
    assert worst["ratio"] == pytest.approx(1.2, rel=0.02)
    assert worst["interval"][0] < worst["ratio"] < worst["interval"][1]
    assert worst["p_corrected"] < 0.01
    assert (tmp_path / "c.md").read_text().startswith("### 1 regressed, 3 unchanged\n")
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    bench("compare", base, slow, "--markdown", summary, environment={"GITHUB_STEP_SUMMARY": str(summary)})
    assert summary.read_text().startswith("before\n### 1 regressed")


def test_each_output_says_what_carried_a_row(bench, run, tmp_path):
    base = recorded(run, "base", tmp_path)
    for case in run["cases"]:
        for launch in case["launches"]:
            launch["path"]["carried_by"] = {"shm": 1.0}
    slow = recorded(run, "slow", tmp_path, factor=1.2)
    page = ["html"] if all(map(importlib.util.find_spec, ("jinja2", "numpy"))) else []
    outputs = {name: tmp_path / f"c.{name}" for name in ["json", "markdown", "junit", *page]}
    done = bench("compare", base, slow, *(part for name, file in outputs.items() for part in (f"--{name}", file)),
                 environment={"UCXBENCH_PYTHON": sys.executable})
    assert done.code == 0, done
    texts = {"table": done.out} | {name: file.read_text() for name, file in outputs.items()}
    for name, text in texts.items():
        said = "transport used: base tcp, new shm: 4 of 4 rows, the first pingpong/tag/host-host/tcp/8B "
        assert said in " ".join(text.split()), (name, text)
    rows = json.loads(texts["json"])["series"]
    assert all(row["transport_used"] == {"base": "tcp", "new": "shm"} for row in rows)
    assert {row["verdict"]: row["reason"] for row in rows} == {"regressed": "transport", "unchanged": None}
    for name in ["junit", *page]:
        assert "other transport: base tcp, new shm" in texts[name], name
    assert " transport\n" in done.out and "| transport |" in texts["markdown"]


def test_junit_has_a_case_for_each_row(bench, run, tmp_path):
    base, slow = recorded(run, "base", tmp_path), recorded(run, "slow", tmp_path, factor=1.2)
    assert bench("compare", base, slow, "--junit", "c.xml").code == 0
    cases = junit_cases(tmp_path / "c.xml")
    lost = cases.pop(("pingpong/tag/host-host/tcp/8B", "latency_us"))
    assert (lost.tag, lost.get("type")) == ("failure", "regressed") and "change, % median +20" in lost.text
    assert "transport_used base tcp, new tcp" in lost.text
    assert len(cases) == 3 and not any(cases.values())
    few = recorded(run, "few", tmp_path, launches=3)
    assert bench("compare", few, recorded(run, "other", tmp_path, launches=3), "--junit", "c.xml").code == 0
    ends = junit_cases(tmp_path / "c.xml").values()
    assert [end.tag for end in ends] == ["skipped"] * 4 and "nothing was decided" in (tmp_path / "c.xml").read_text()
    other = recorded(run, "elsewhere", tmp_path, id="another-machine")
    assert bench("compare", base, other, "--junit", "c.xml").code == 0
    assert only(list(junit_cases(tmp_path / "c.xml").values())).get("type") == "incomparable"


def test_too_few_launches_say_how_many_it_takes(bench, run, tmp_path):
    base = recorded(run, "base", tmp_path, launches=3)
    slow = recorded(run, "slow", tmp_path, factor=2, launches=3)
    done = bench("compare", base, slow, "--fail-on", "regression,inconclusive")
    assert done.code == 6, done
    assert " ".join(done.out.split()).count("! 4 rows: too few launches for a verdict among 4 tests: use --launches 7") == 1
    last = "nothing was decided: 4 of 4 rows are inconclusive; 4 rows: too few launches for a verdict among 4 tests: use --launches 7"
    assert " ".join(done.out.split()).endswith("! " + last), done
    # Who has the table elsewhere still sees it, whatever the status.
    for options in (["--json", "-"], ["--markdown", "-"], ["--quiet"]):
        globally = [option for option in options if option == "--quiet"]
        done = bench(*globally, "compare", base, slow, *[option for option in options if option not in globally], "--fail-on", "regression")
        assert done.code == 0 and done.err.splitlines()[-1] == last, done


def test_missing_cases_and_other_machines(bench, run, tmp_path):
    base, other = recorded(run, "base", tmp_path), recorded(run, "other", tmp_path, id="another-machine")
    done = bench("compare", base, other)
    assert done.code == 0 and done.out.startswith("incomparable: measured on different machines, ")
    assert bench("compare", base, other, "--fail-on", "inconclusive").code == 6
    fewer = json.loads(base.read_text())
    fewer["run"]["id"] = "fewer"
    del fewer["cases"][1]
    (tmp_path / "fewer.json").write_text(json.dumps(fewer))
    done = bench("compare", base, tmp_path / "fewer.json", "--fail-on", "missing")
    assert done.code == 6, done
    assert "2 missing, 2 unchanged" in done.out
    assert "2 new" in bench("compare", tmp_path / "fewer.json", base).out


def test_where_nothing_is_to_compare_nothing_is_decided(bench, run, tmp_path):
    base = recorded(run, "base", tmp_path)
    for name in ("none", "neither"):
        changed(base, tmp_path, name, lambda made: made["cases"].clear())
    for new in ("base", "neither"):
        done = bench("compare", tmp_path / "none.json", tmp_path / f"{new}.json", "--fail-on", "regression,missing,inconclusive")
        assert done.code == 6 and "! nothing was decided: " in done.out, done


def changed(file, folder, name, change):
    """The same run, changed by a function, under another name."""
    run = json.loads(file.read_text())
    run["run"]["id"] = name
    change(run)
    (folder / f"{name}.json").write_text(json.dumps(run))
    return folder / f"{name}.json"


def test_another_ucx_is_no_regression_of_the_program(bench, run, tmp_path):
    base = recorded(run, "base", tmp_path)
    later = changed(base, tmp_path, "later", lambda made: made["ucx"].update(version="9.1.0"))
    done = bench("compare", base, later)
    assert done.code == 0, done
    assert done.out.startswith("incomparable: measured in different environments, UCX ")
    assert "--across-environments" in done.out.splitlines()[0]
    assert bench("compare", base, later, "--fail-on", "inconclusive").code == 6
    done = bench("compare", base, later, "--across-environments")
    assert done.out.splitlines()[0] == "4 unchanged" and " -> 9.1.0" in done.out


def test_drift_is_said(bench, run, tmp_path):
    def drift(made):
        for case in made["cases"]:
            values = case["metrics"]["latency_us"]
            values["launch_medians"] = [values["p50"] * (1 + 0.03 * i) for i in range(12)]

    base = recorded(run, "base", tmp_path)
    done = bench("compare", base, changed(base, tmp_path, "warm", drift), "--json", "-")
    rows = [row for row in json.loads(done.out)["series"] if row["metric"] == "latency_us"]
    assert len(rows) == 2
    for row in rows:
        assert row["verdict"] == "inconclusive" and "new run drifted by" in row["why"]
        assert row["base_drift"] is None and row["new_drift"] == pytest.approx(0.33, abs=0.05)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["base.json", "nowhere.json"], "nowhere.json"),
        (["base.json", "cut.json"], "cut.json"),
        (["base.json", "base.json"], "are one and the same run"),
        (["base.json", "same.json", "--fail-on", "regresion"], "did you mean 'regression'?"),
        (["base.json", "same.json", "--floor", "5"], "expected a percentage such as 0.5%"),
        (["base.json", "same.json", "--alpha", "0"], "--alpha"),
        (["base.json", "same.json", "--json", "-", "--markdown", "-"], "only one output can be stdout"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(bench, run, tmp_path, arguments, words):
    text = recorded(run, "base", tmp_path).read_text()
    (tmp_path / "cut.json").write_text(text[: len(text) // 2])
    recorded(run, "same", tmp_path)
    done = bench("compare", *arguments)
    assert done.code == 2, done
    assert words in only(done.complaints)
