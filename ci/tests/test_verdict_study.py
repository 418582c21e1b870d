"""The study of whether compare is right: on synthetic launches whose truth is known, and in short real
comparisons with a planted loss. Its recorded result is in results/verdict-study.json."""

import argparse
import collections
import json
import math
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys

import numpy
import pytest
from conftest import LONG_S, PROGRAM, ROOT, SCHEMA, SHIM, in_some_attempt, wait_until

STUDY = ROOT / "ci/verdict-study"
sys.path.insert(0, str(STUDY))

import duet_verdicts  # noqa: E402
import going_on  # noqa: E402
import link  # noqa: E402
import planted_run  # noqa: E402
import resample  # noqa: E402
import study as study_program  # noqa: E402
import table  # noqa: E402
import turns  # noqa: E402
import unchanged_runs  # noqa: E402
import verdicts  # noqa: E402
from launches import Recording, Unfit  # noqa: E402

SLOW_SHIM = pathlib.Path(SHIM).with_name("libslow.so")
METRICS = {"latency_us": "lower", "bandwidth_GBps": "higher"}


def case(benchmark, key):
    return {
        "key": key, "benchmark": benchmark, "parameters": {}, "state": "measured", "reason": "", "metrics": {},
        "launches": [], "path": {}, "pairs": [], "verified": {"checked": 0, "errors": 0}, "peak_buffer_bytes": 0,
        "labels": ["synthetic"],
    }


def synthetic_run(name, launches):
    """An invented run; `launches` has one row of each launch, in the order of METRICS and cases, as a
    recording's begin."""
    cases = [case("pingpong", f"pingpong/tag/host-host/{of}/8B") for of in ("tcp", "shm")]
    cases.append(case("canary", "canary/memcpy"))
    columns = iter(zip(*launches))
    for invented_case in cases:
        metrics = {"copy_GBps": "higher"} if invented_case["benchmark"] == "canary" else METRICS
        for metric in sorted(metrics):
            values = list(next(columns))
            invented_case["metrics"][metric] = {"better": metrics[metric], "launch_medians": values}
        invented_case["launches"] = [{"launch": number} for number in range(len(launches))]
    return {
        "schema": "ucx-bench/run/1",
        "run": {"id": name, "started_utc": "2026-01-02T03:04:05Z", "finished_utc": "2026-01-02T03:04:06Z",
                "command": ["/home/of/ucx-bench", "--quiet"], "state": "complete", "tags": {}},
        "build": {"version": "0.1.0", "commit": None, "dirty": None, "compiler": "?", "flags": "?"},
        "machine": {"id": "invented", "labels": ["synthetic"], "topology_hash": None, "hosts": [
            {"name": "invented", "kernel": None, "cpu_model": None, "cores": None, "numa_nodes": None, "gpus": [],
             "nics": []}]},
        "ucx": {"version": None, "library": None, "environment": {"asked": {}, "inherited": {}, "effective": {}}},
        "ranks": [], "cases": cases, "findings": [], "topology": {},
    }


def synthetic(launches=150, noise=0.001, drift=0.0):
    """A recording of an invented machine without any change but noise, and a slow wave of this height."""
    rng = random.Random("synthetic")
    recording = None
    for turn in range(launches // 5):
        rows = [
            [10 * math.exp(rng.gauss(0, noise) + drift * math.sin((5 * turn + i) / 8)) for _ in range(5)]
            for i in range(5)
        ]
        run = synthetic_run(f"turn {turn}", rows)
        recording = recording or Recording.begun_with(run)
        recording.add(run)
    return recording


def synthetic_comparisons(how):
    """As `shaped` records them: one of nothing, and one with everything 10 % slower in B."""
    each = resample.LAUNCHES // 2
    rows = synthetic(10 * each).rows
    recording = Recording.begun_with(synthetic_run("begin", rows[:5]))
    everything = set(recording.cases)
    sides = [(number, slowdown, side) for number, slowdown in ((1, 0), (2, 0.1)) for side in "ABBA"]
    for place, (number, slowdown, side) in enumerate(sides):
        turn = rows[each * place:each * (place + 1)]
        changed = recording.slowed(turn, slowdown if side == "B" else 0, everything)
        recording.add(synthetic_run(f"{number} {place}", changed), comparison=number, side=side, slowdown=slowdown,
                      how="nothing changed" if how == "shim, all cases" and slowdown == 0 else how)
    return recording


def study(*arguments, code=0):
    done = subprocess.run([sys.executable, STUDY / "study.py", *map(str, arguments), "--ucx-bench", PROGRAM],
                          capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == code, done
    return done


def test_the_bound_is_the_one_of_the_tables():
    # "Rule of three": 1 − 0.05^(1/n) for no alarm; the others are beta.ppf(0.95, k + 1, n − k) of scipy 1.16.3.
    assert verdicts.upper95(0, 500) == pytest.approx(1 - 0.05 ** (1 / 500), rel=1e-6)
    assert verdicts.upper95(1, 1000) == pytest.approx(0.0047349936, rel=1e-6)
    assert verdicts.upper95(5, 20) == pytest.approx(0.4555824040, rel=1e-6)
    assert verdicts.lower95(20, 20) == pytest.approx(0.05 ** (1 / 20), rel=1e-6)
    assert verdicts.upper95(700, 1000) == pytest.approx(0.7238772288, rel=1e-6)
    assert verdicts.upper95(7, 7) == 1 and verdicts.upper95(0, 0) is None


def test_draws_are_contiguous_and_balanced():
    drawn = resample.draws(resample.TURNS, 60, 300, "seed", 10)
    assert len(set(drawn)) == 300 and drawn == resample.draws(resample.TURNS, 60, 300, "seed", 10)
    assert {start for start, _ in drawn} == set(range(41))
    for _, pattern in drawn:
        fours = [pattern[i:i + 4] for i in range(0, 20, 4)]
        assert set(fours) <= {"ABBA", "BAAB"} and pattern.count("A") == 10
    rows = [[i] for i in range(60)]
    base, new = resample.split(rows, 7, "ABBA" * 5)
    assert base[:3] == [[7], [10], [11]] and sorted(base + new) == rows[7:27]
    # All there are, where there are fewer.
    assert sorted(resample.draws(resample.BLOCKS, 7, 300, "seed", 3)) == [(0, "AAABBB"), (1, "AAABBB")]
    assert {pattern for _, pattern in resample.draws(resample.HALVES, 21, 300, "seed", 5)} == {"AABBBBBAAA"}
    assert resample.draws(resample.TURNS, 19, 300, "seed", 10) == []


def test_studied_is_what_a_suite_measures(bench, tmp_path):
    (tmp_path / "suite.toml").write_text('[[case]]\nargs = "pingpong --transports shm --sizes 8 --iterations 1"\n')
    assert f", {resample.LAUNCHES} launches of each;" in bench("suite", "suite.toml", "--dry-run").err
    text = (STUDY / "suite.toml").read_text()
    assert f"launches = {resample.LAUNCHES}\n" in text
    assert f"launches = {resample.LAUNCHES // 2}\n" in (STUDY / "shaped.toml").read_text()


def test_runs_made_of_launches_are_runs(tmp_path):
    recording = synthetic()
    recording.save(tmp_path / "launches.json")
    again = Recording.load(tmp_path / "launches.json")
    assert again.rows == recording.rows and again.series == recording.series
    run = again.run_of(again.rows[3:8], "some")
    assert run["run"]["command"] == ["ucx-bench", "--quiet"]
    assert not [error.message for error in SCHEMA.iter_errors(run)]
    assert run["cases"][0]["metrics"]["latency_us"]["launch_medians"] == [row[1] for row in again.rows[3:8]]
    slow = again.slowed(again.rows, 0.25, {"pingpong/tag/host-host/shm/8B"})
    ratios = [now / was for now, was in zip(slow[0][:5], again.rows[0])]
    assert ratios == pytest.approx([1, 1, 0.8, 1.25, 1])
    blind = again.without_canaries()
    assert [each.metric for each in blind.series if not each.is_given] == sorted(METRICS) * 2
    assert len(blind.rows[0]) == len(blind.series)


def test_a_planted_loss_is_found_and_nothing_else(tmp_path):
    synthetic().save(tmp_path / "launches.json")
    synthetic_comparisons("shim, all cases").save(tmp_path / "real.json")
    synthetic_comparisons("shaped link").save(tmp_path / "shaped.json")
    out = tmp_path / "result.json"
    study("judge", "--folder", tmp_path, "--draws", 12, "--slowdowns", "0.01,20", "--output", out)
    result = json.loads(out.read_text())
    assert result["machine"]["labels"] == ["synthetic"]
    aa = result["aa"]
    # What was measured for it is independent, windows over the same launches are not.
    assert (aa["comparisons"], aa["false_alarms"]) == (1, 0) and aa["upper95"] == pytest.approx(0.95, rel=1e-6)
    turns_of = aa["layouts"][resample.TURNS]
    assert (turns_of["comparisons"], turns_of["false_alarms"], turns_of["upper95"]) == (12, 0, None)
    assert turns_of["disjoint"]["comparisons"] == 3
    assert turns_of["disjoint"]["upper95"] == pytest.approx(1 - 0.05 ** (1 / 3), rel=1e-6)
    found = {(row["how"], row["slowdown"]): (row["detected"], row["of"]) for row in result["power"]}
    assert found["resampled, one case", 0.2] == found["resampled, all cases", 0.2] == (12, 12)
    assert found["resampled, one case", 0.0001][0] == 0
    for layout in (resample.BLOCKS, resample.UNEQUAL):
        assert found[f"resampled, all cases, {layout}", 0.2] == (12, 12)
    assert all(row["lower95"] is None for row in result["power"] if row["windows"])
    for how in ("shim, all cases", "shaped link"):
        assert found[how, 0.1] == (1, 1)
    assert {how: counts["comparisons"] for how, counts in aa["real"].items()} == {"nothing changed": 1, "shaped link": 1}
    seen = next(row["changes_seen"] for row in result["power"] if row["how"] == "shim, all cases")
    assert seen["pingpong/tag/host-host/shm/8B latency_us"] == pytest.approx(0.1, abs=0.005)
    assert found["shaped link, resampled, all cases", 0.2] == (12, 12)
    more = {(row["launches"], row["how"]): row["detected"] for row in result["by_launches"]}
    assert set(more) == {(n, f"resampled, {which}") for n in resample.COUNTS for which in ("one case", "all cases")}
    assert more[50, "resampled, all cases"] == 12
    text = out.with_suffix(".md").read_text()
    assert "| A B B A | 12 windows | 0 | - |" in text
    assert "| 20 % | resampled, one case | 12 windows | 100 % | - |" in text


def placed(recording):
    """A recording as of a host that moves processors: three of five launches are far, and twice as slow."""
    moved = None
    for turn in range(len(recording.rows) // 5):
        measured = [recording.rows[5 * turn + i][:5] for i in range(5)]
        rows = [[value * (2 if i % 3 else 1) for value in row] for i, row in enumerate(measured)]
        run = synthetic_run(f"turn {turn}", rows)
        for invented_case in run["cases"]:
            given = [{"apart_ns": 220 if i % 3 else 50, "work_ns": 90} for i in range(5)]
            invented_case["launches"] = [{"launch": i, "processors": [each, each]} for i, each in enumerate(given)]
        moved = moved or Recording.begun_with(run)
        moved.add(run)
    return moved


def test_what_the_host_gave_is_kept_and_counts(tmp_path):
    recording = placed(synthetic(noise=0.01))
    recording.save(tmp_path / "launches.json")
    recording = Recording.load(tmp_path / "launches.json")
    everything = set(recording.cases)
    slow = recording.slowed(recording.rows, 0.05, everything)
    rows = [row for i, row in enumerate(recording.rows[:32]) if i % 4 in (0, 3)]
    worse = [row for i, row in enumerate(slow[:32]) if i % 4 in (1, 2)]
    run = recording.run_of(worse, "new")
    assert not [error.message for error in SCHEMA.iter_errors(run)]
    assert run["cases"][0]["launches"][0]["processors"] == [{"apart_ns": 220, "work_ns": 90}] * 2
    comparison = verdicts.sides(PROGRAM, recording, rows, worse, in_turns=True)
    assert {alarm["key"] for alarm in verdicts.alarms(comparison, ("regressed",))} == everything
    assert "50 ns apart in " in comparison["placements"]
    for metric in comparison["series"]:
        assert metric["ratio"] == pytest.approx(1.05 if metric["metric"] == "latency_us" else 1 / 1.05, abs=0.01)
    # Without it, what the processors do hides the loss.
    for row in rows + worse:
        row[:] = [None if each.is_given else value for each, value in zip(recording.series, row)]
    blind = verdicts.sides(PROGRAM, recording, rows, worse, in_turns=True)
    assert not verdicts.alarms(blind)


def test_a_loss_is_seen_where_placements_were_met_unequally():
    """Near launches are mostly A's, far ones, twice as slow, mostly B's: 20 % are 20 %."""
    recording = placed(synthetic(noise=0.01))
    rng = random.Random(1)
    base, new = resample.unequal(rng, recording, recording.rows[:48])
    sides = [collections.Counter(row[next(i for i, each in enumerate(recording.series) if each.is_given)]
                                 for row in side) for side in (base, new)]
    assert sides[0][50] > 2 * sides[1][50] and sides[1][220] > sides[0][220]
    row, = resample.power_in((resample.UNEQUAL,), PROGRAM, recording, (0.2,), 10)
    assert (row["detected"], row["of"]) == (10, 10) and row["seen"] == pytest.approx(1, abs=0.05)


def test_drift_hurts_those_that_do_not_take_turns():
    """A study that cannot see a false alarm would be worth nothing."""
    found = resample.false_alarms(PROGRAM, synthetic(drift=0.05).without_canaries(), 12)
    assert found[resample.BLOCKS]["false_alarms"] > 0
    assert found[resample.TURNS]["false_alarms"] == 0


def test_recordings_are_of_one_thing(tmp_path):
    recording = synthetic(10)
    other = synthetic_run("other", recording.rows[:5])
    other["ucx"]["version"] = "1.99"
    with pytest.raises(Unfit, match="UCX None -> 1.99"):
        recording.add(other)
    recording = placed(recording)
    recording.add(synthetic_run("on a busy host", recording.rows[:5]))
    assert recording.rows[-5] == recording.rows[0][:5] + [None] * 12
    (tmp_path / "launches.json").write_text("{")
    assert "is not whole JSON" in study("judge", "--folder", tmp_path, code=3).stderr
    assert "record it first" in study("judge", "--folder", tmp_path / "none", code=3).stderr
    synthetic(30).save(tmp_path / "launches.json")
    assert "a comparison takes 48" in study("judge", "--folder", tmp_path, code=3).stderr
    assert "not a list of percentages" in study("judge", "--slowdowns", "0", code=2).stderr


def test_the_table_in_the_documents_is_of_the_recorded_result():
    recorded = ROOT / "results/verdict-study.json"
    if not recorded.exists():
        pytest.skip("results/verdict-study.json: the study has not been recorded yet")
    assert recorded.with_suffix(".md").read_text() == table.markdown(json.loads(recorded.read_text()))


def test_the_table_of_duets_is_of_the_recorded_result():
    recorded = ROOT / "results/duet-study.json"
    assert recorded.with_suffix(".md").read_text() == duet_verdicts.markdown(json.loads(recorded.read_text()))


def test_a_planted_run_counts_what_was_found_and_what_was_not_planted():
    assert planted_run.words({(8, "bandwidth_GBps"): 7}) == "131072=0/0,8=0/7,1024=0/0,65536=0/0"
    assert not set(planted_run.SIZES["tcp"]) & set(planted_run.SIZES["shm"])
    row = {"metric": "latency_us", "p_corrected": 0.001, "base_launches": 17, "interval": [1.03, 1.07], "ratio": 1.05}
    frame = dict.fromkeys(("machine", "UCX", "commit"), "-")
    result = {"ended_utc": "-", "frame": frame, "load_1min_before": 0, "seconds": 1, "slowdown": 0.05,
              "planted": {"a latency_us": {"percent": 4.9}, "b latency_us": {"percent": 5.1}},
              "rows": [row | {"key": "a", "verdict": "regressed"}, row | {"key": "b", "verdict": "inconclusive"},
                       row | {"key": "c", "verdict": "improved"}, row | {"key": "d", "verdict": "unchanged"}]}
    made = planted_run.markdown(result)
    assert "Found: 1. False alarms: 1." in made and "| `a latency_us` | 4.90 % | +5.00 % |" in made
    assert "Intervals that have what was planted: 2 of 2." in made
    result["planted"]["b latency_us"]["percent"] = 8
    missed = planted_run.markdown(result)
    assert "Intervals that have what was planted: 1 of 2." in missed and "| +3.00 to +7.00 % | **no** |" in missed
    rate = row | {"metric": "bandwidth_GBps", "interval": [0.94, 0.96]}
    assert planted_run.holds(rate, 5) and not planted_run.holds(rate, 3)
    assert "`c latency_us`" in made and "`d latency_us`" not in made
    recorded = ROOT / "results/planted-run.json"
    assert recorded.with_suffix(".md").read_text() == planted_run.markdown(json.loads(recorded.read_text()))


def test_unchanged_runs_count_runs_not_rows():
    row = {"key": "a", "metric": "latency_us", "ratio": 1.02}
    run = {"seconds": 6, "rows": [row | {"verdict": "unchanged"}, row | {"verdict": "inconclusive"}]}
    alarm = {"seconds": 6, "rows": [row | {"verdict": "regressed"}, row | {"verdict": "improved"}]}
    result = {"ended_utc": "-", "load_1min_before": 0, "frame": dict.fromkeys(("machine", "UCX", "commit"), "-")}
    made = unchanged_runs.markdown(result | {"runs": [run] * 298 + [run]})
    assert "Runs with a false alarm: 0, so fewer than 1 % of such runs" in made
    made = unchanged_runs.markdown(result | {"runs": [run] * 19 + [alarm]})
    assert "Runs with a false alarm: 1, so fewer than 22 % of such runs" in made and "`a latency_us`: +2.00 %" in made
    recorded = ROOT / "results/unchanged-runs.json"
    assert recorded.with_suffix(".md").read_text() == unchanged_runs.markdown(json.loads(recorded.read_text()))


def test_what_goes_on_is_simulated_within_the_time():
    """Rows of 6 % noise beside quiet ones: a loss of 5 % is found where 24 duets do not suffice."""
    noise = [(0.06, 0.06), *[(0.003, 0.003)] * 11]
    plans = going_on.PLANS.values()
    assert [sum(map(plan.share, plan.looks)) for plan in plans] == pytest.approx([1, 1])
    found = []
    for plan in plans:
        rng = numpy.random.default_rng(1)
        suites = [going_on.suite(rng, plan, noise, 0, 0.05) for _ in range(20)]
        found.append(sum(hit for hit, _, _ in suites))
        assert all(time <= 1 for _, _, time in suites)
    assert found[0] < 10 < 15 <= found[1]


SUITE = """launches = 2
[[case]]
args = "pingpong --transports shm --sizes 8 --measure latency --iterations 50 --warmup-runs 0 --no-memory-copy"
"""


def record(folder, lines, launches):
    session = turns.Session(folder / "launches.json", lines.append)
    session.record(launches, lambda: turns.one_turn(PROGRAM, folder / "suite.toml"))


def test_turns_are_recorded_and_gone_on_with(tmp_path):
    (tmp_path / "suite.toml").write_text(SUITE)
    lines = []
    for launches in (1, 3):
        record(tmp_path, lines, launches)
    recording = Recording.load(tmp_path / "launches.json")
    assert [len(turn["launches"]) for turn in recording.turns] == [2, 2]
    assert recording.cases == ["pingpong/tag/host-host/shm/8B/measure=latency"]
    assert lines[-1] == "4 of 3 launches, about 0 min left"
    (tmp_path / "suite.toml").write_text(SUITE.replace("8 ", "16 "))
    with pytest.raises(Unfit, match="the suite"):
        record(tmp_path, lines, 5)


def test_an_interrupted_recording_leaves_nothing_behind(start, tmp_path):
    recording = start(STUDY / "study.py", "record", "--folder", tmp_path, "--ucx-bench", PROGRAM, program=sys.executable)

    def measuring():  # the study, the supervisor and two ranks
        assert recording.process.poll() is None, recording.finish()
        return len(recording.processes()) >= 4

    wait_until(measuring, limit_s=4 * LONG_S)  # it loads much of Python first
    recording.signal(signal.SIGINT)
    done = recording.finish()
    assert done.code == 130 and "interrupted; the same command goes on" in done.err, done
    recording.wait_until_gone()


def medians(recording, rows, metric):
    column = next(i for i, each in enumerate(recording.series) if each.metric == metric)
    return [row[column] for row in rows]


# What compare says of launches that are so much slower is asked of synthetic ones above: here, that what
# is planted gets to where it is recorded.
def test_a_loss_is_planted_from_outside(tmp_path):
    (tmp_path / "suite.toml").write_text(SUITE)

    def attempt(number):
        folder = tmp_path / str(number)
        study("real", "--folder", folder, "--suite", tmp_path / "suite.toml", "--shim", SLOW_SHIM, "--unchanged", 0,
              "--planted", 1, "--slowdowns", 900)
        recording = Recording.load(folder / "real.json").without_canaries()
        assert turns.kinds_of(recording) == [("shim, all cases", 9.0)]
        (base, new), = turns.comparisons_of(recording, "shim, all cases", 9.0)
        assert len(base) == len(new) == 2
        return min(medians(recording, new, "latency_us")) > 1.5 * max(medians(recording, base, "latency_us"))

    assert in_some_attempt(attempt)


def test_a_link_is_made_slower(tmp_path, monkeypatch):
    if os.geteuid() != 0 or not shutil.which("tc"):
        pytest.skip("a shaped link needs root and the command tc (iproute2)")
    usual = (STUDY / "shaped.toml").read_text()
    (tmp_path / "shaped.toml").write_text(usual.replace("launches = 12", "launches = 1"))
    monkeypatch.setattr(study_program, "HERE", tmp_path)

    def attempt(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        options = argparse.Namespace(folder=folder, ucx_bench=PROGRAM, unchanged=0, planted=1, slowdowns=(1.0,))
        try:
            study_program.shaped(options)
        except Unfit as why:
            if "no shaped link here" in str(why):
                pytest.skip(str(why))
            raise
        recording = Recording.load(folder / "shaped.json").without_canaries()
        (base, new), = turns.comparisons_of(recording, "shaped link", 1.0)
        assert len(base) == len(new) == 2
        rate = link.RATE / 8e9
        # No machine sends more than the link takes, beside what its bucket holds; but a receiver that comes late
        # finds what has been sent already.
        slower = max(medians(recording, new, "bandwidth_GBps")) < 0.6 * rate
        return slower and min(medians(recording, base, "bandwidth_GBps")) > 0.75 * rate

    assert in_some_attempt(attempt)
