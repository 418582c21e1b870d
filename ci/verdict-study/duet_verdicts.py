"""What `ucx-bench compare` says of recorded duets, put together as suites of the size of ci/suite.toml, with the
looks that `ucx-bench ab` takes at them: single tests, false alarms of runs that share no duet, and losses found."""

import functools
import math
import random
import statistics

import resample
import verdicts
from duets import LAUNCHES, SIZES, TRANSPORTS, Recording, is_rate, iteration_ns, key_of
from launches import Unfit, quantiles

ROWS = 48
DUETS = 24
LOOKS = [16, 24]  # harness/analysis/comparison/looks.hpp: of so many rows
ALONE = 12  # duets of a row that is judged alone
SEED = "ucx-bench verdict study, duets"


def run_of(frame, name, other, looks, rows):
    """`rows`: (key, metric, better, [one side's median of each duet])."""
    cases = {}
    for key, metric, better, values in rows:
        case = cases.setdefault(key, {
            "key": key, "benchmark": "pingpong", "parameters": {}, "state": "measured", "reason": "", "metrics": {},
            "launches": [], "path": {}, "pairs": [], "verified": {"checked": 0, "errors": 0}, "peak_buffer_bytes": 0,
            "labels": []})
        case["metrics"][metric] = quantiles(values) | {"ci95": None, "better": better, "launch_medians": values}
        case["launches"] = [{
            "launch": number, "src": 0, "dst": 1, "iterations": 1, "messages": 0, "warmup": 0,
            "cold": {"context_us": None, "connect_us": None, "first_message_us": None},
            "quantiles": {metric: quantiles([value])}, "samples": {metric: [value]}, "overheads": {}, "lanes": [],
            "duet": {"id": f"{number:016x}", "first": "base",
                     "blocks": {metric: {"quads": "A", "iterations": 1, "values": [value, value]}}},
        } for number, value in enumerate(values)]
    return {
        "schema": "ucx-bench/run/1",
        "run": {"id": name, "started_utc": "2026-01-02T03:04:05Z", "finished_utc": "2026-01-02T03:04:06Z",
                "command": ["ucx-bench"], "state": "complete", "tags": {"made_of": "duets of a verdict study"},
                "ab": {"side": name, "program": "ucx-bench", "environment": {}, "turns": [], "side_by_side": True,
                       "other": other} | ({"looks": looks} if looks else {})},
        "build": {"version": "0.1.0", "commit": frame["commit"], "dirty": None, "compiler": "?", "flags": "?"},
        "machine": {"id": frame["machine"], "labels": [], "topology_hash": None, "hosts": [
            {"name": "?", "kernel": frame["kernel"], "cpu_model": None, "cores": None, "numa_nodes": None, "gpus": [],
             "nics": []}]},
        "ucx": {"version": frame["UCX"], "library": None,
                "environment": {"asked": {}, "inherited": {}, "effective": {}}},
        "ranks": [], "cases": list(cases.values()), "findings": [], "topology": {},
    }


def logs_of(recording, slowdown):
    return {name: [duet[0] for duet in duets] for name, duets in sorted(recording.values(slowdown).items())}


def verdicts_of(program, frame, rows, looks):
    """Of each of `rows`, (name, logarithms of its duets), what compare says."""
    sides = []
    for side, other in (("base", "new"), ("new", "base")):
        sides.append(run_of(frame, side, other, looks, [
            (f"pingpong/{number}/{name.split()[0]}", name.split()[1], "higher" if is_rate(name) else "lower",
             [math.exp(log) if side == "new" else 1.0 for log in logs]) for number, (name, logs) in enumerate(rows)]))
    found = {int(row["key"].split("/")[1]): row for row in verdicts.compared(program, *sides)["series"]}
    return [found[number] for number in range(len(rows))]


def in_parallel(program, frame, suites, looks):
    return resample.in_parallel([functools.partial(verdicts_of, program, frame, rows, looks) for rows in suites])


def is_alarm(row):
    return row["verdict"] in verdicts.ALARMS


def drawn(rng, unchanged, planted_row, planted):
    """ROWS rows, each kind as often as any other, of whole duets drawn with replacement; the first of `planted_row`
    has its duets from `planted`."""
    kinds = sorted(unchanged, key=lambda name: (name != planted_row, name))
    return [(kinds[number % len(kinds)],
             rng.choices(planted if number == 0 else unchanged[kinds[number % len(kinds)]], k=DUETS))
            for number in range(ROWS)]


def power(program, recording, slowdown, how, draws):
    """In how many suites the loss in one row was found, and any other alarm."""
    unchanged = logs_of(recording, 0)
    if how == "fixed work":
        planted = logs_of(recording, slowdown)
    else:
        planted = {name: [log + math.log1p(slowdown) * (-1 if is_rate(name) else 1) for log in logs]
                   for name, logs in unchanged.items()}
    rng = random.Random(f"{SEED}, {slowdown}, {how}")
    names = [name for name in unchanged for _ in range(draws)]
    found = in_parallel(program, recording.data["frame"],
                        [drawn(rng, unchanged, name, planted[name]) for name in names], LOOKS)
    by_row = {name: [0, 0] for name in unchanged}
    for name, (first, *_) in zip(names, found):
        by_row[name][0] += first["verdict"] == "regressed"
        by_row[name][1] += 1
    return {"slowdown": slowdown, "how": how, "by_row": by_row,
            "other_alarms": sum(any(map(is_alarm, others)) for _, *others in found),
            "mean_duets_of_planted": round(statistics.fmean(first["base_launches"] for first, *_ in found), 2),
            "mean_duets_of_others": round(statistics.fmean(row["base_launches"] for _, *others in found for row in others), 2)}


def independent_runs(program, recording, duets, looks, rows_of):
    """Runs of nothing that share no duet."""
    runs = rows_of(logs_of(recording, 0), duets)
    found = in_parallel(program, recording.data["frame"], runs, looks)
    alarms = sum(any(map(is_alarm, rows)) for rows in found)
    return {"runs": len(runs), "rows": len(runs[0]) if runs else 0, "duets": duets, "looks": looks,
            "false_alarms": alarms, "upper95": verdicts.upper95(alarms, len(runs))}


def all_kinds(unchanged, duets):
    count = min(map(len, unchanged.values())) // duets
    return [[(name, logs[run * duets:(run + 1) * duets]) for name, logs in unchanged.items()] for run in range(count)]


def one_kind(unchanged, duets):
    return [[(name, logs[at:at + duets])] for name, logs in unchanged.items()
            for at in range(0, len(logs) - duets + 1, duets)]


def single_tests(program, recording):
    """Rows of nothing that share no duet, each judged alone without looks."""
    found = in_parallel(program, recording.data["frame"], one_kind(logs_of(recording, 0), ALONE), [])
    p = [rows[0]["p"] for rows in found]
    counts = {f"{level:g}": sum(value < level for value in p) for level in (0.2, 0.1, 0.05, 0.02, 0.01, 0.005)}
    return {"tests": len(p), "duets": ALONE, "below": {
        level: {"count": count, "expected": round(float(level) * len(p), 1), "upper95": verdicts.upper95(count, len(p))}
        for level, count in counts.items()}}


def noise_of(duets):
    logs = [duet[0] for duet in duets]
    middle = statistics.median(logs)
    return {
        "duets": len(logs),
        "median_percent": round(100 * middle, 3),
        "sd_percent": round(100 * statistics.stdev(logs), 3),
        "robust_sd_percent": round(100 * statistics.median(abs(log - middle) for log in logs) / 0.6745, 3),
        "base_sd_percent": round(100 * statistics.stdev(math.log(duet[1]) for duet in duets), 2),
    }


def planted_of(recording, slowdown):
    """Of each row, the loss that its fixed work is of the level without it in the same duets, and what was seen."""
    found = {}
    for name, duets in sorted(recording.values(slowdown).items()):
        size = next(size for size in SIZES if any(name.startswith(key_of(t, size) + " ") for t in TRANSPORTS))
        work = recording.data["work"][f"{slowdown:g}"][name]
        iteration = iteration_ns(name.split()[1], size, statistics.median(duet[1] for duet in duets))
        seen = statistics.median(duet[0] for duet in duets) * (-1 if is_rate(name) else 1)
        found[name] = work | {"iteration_ns": round(iteration, 1), "duets": len(duets),
                              "planted_percent": round(100 * work["ns"] / iteration, 2),
                              "seen_percent": round(100 * math.expm1(seen), 2)}
    return found


def judge(program, file, draws):
    recording = Recording(file, None)
    if not recording.turns:
        raise Unfit(f"'{file}' holds no duets; record them first (study.py duets)")
    losses = sorted({turn["slowdown"] for turn in recording.turns} - {0})
    loads = [turn["load_1min_before"] for turn in recording.turns]
    return {
        "schema": "ucx-bench/duet-study/1",
        "judged_by": verdicts.version_of(program),
        "recorded": recording.data["frame"] | {
            "turns": len(recording.turns), "started_utc": recording.turns[0]["started_utc"],
            "last_turn_began_utc": recording.turns[-1]["started_utc"],
            "load_1min": {"least": min(loads), "median": statistics.median(loads), "most": max(loads)},
            "seconds_a_duet": round(statistics.median(turn["seconds"] for turn in recording.turns)
                                    / LAUNCHES / len(SIZES) / len(TRANSPORTS), 2)},
        "suite": {"rows": ROWS, "duets": DUETS, "looks": LOOKS},
        "unchanged": {name: noise_of(duets) for name, duets in sorted(recording.values(0).items())},
        "single_tests": single_tests(program, recording),
        "independent_runs": [independent_runs(program, recording, DUETS, LOOKS, all_kinds),
                             independent_runs(program, recording, DUETS, [13, DUETS], one_kind),
                             independent_runs(program, recording, ALONE, [], one_kind)],
        "planted": {f"{loss:g}": planted_of(recording, loss) for loss in losses},
        "power": [power(program, recording, loss, how, draws) for how in ("scaled", "fixed work") for loss in losses],
    }


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1),
            *("| " + " | ".join(row) + " |" for row in rows), ""]


def markdown(result):
    recorded, load = result["recorded"], result["recorded"]["load_1min"]
    percent = "{:.3g} %".format
    lines = [
        f"Machine {recorded['machine']}, UCX {recorded['UCX']}, ucx-bench {recorded['commit'][:12]}; "
        f"{recorded['started_utc']} to {recorded['last_turn_began_utc']}, {recorded['turns']} turns of {LAUNCHES} duets a "
        f"case, {recorded['seconds_a_duet']} s a duet (both metrics); load average {load['least']:g} to {load['most']:g}, "
        f"median {load['median']:g}. Judged by the compare of {result['judged_by']}.", ""]
    lines += table(["nothing changed", "duets", "median", "SD", "robust SD", "SD of base's levels"], [
        [f"`{name}`", str(row["duets"]), f"{row['median_percent']:+.2f} %", percent(row["sd_percent"]),
         percent(row["robust_sd_percent"]), percent(row["base_sd_percent"])] for name, row in result["unchanged"].items()])
    lines += ["Runs of nothing that share no duet:", ""]
    lines += table(["rows", "duets", "looks after", "runs", "with a false alarm", "95 % bound"], [
        [str(runs["rows"]), str(runs["duets"]), ", ".join(map(str, runs["looks"] or [runs["duets"]])), str(runs["runs"]),
         str(runs["false_alarms"]), "-" if runs["upper95"] is None else percent(100 * runs["upper95"])]
        for runs in result["independent_runs"]])
    tests = result["single_tests"]
    lines += [f"Single tests of {tests['duets']} duets of nothing, {tests['tests']} that share none:", ""]
    lines += table(["p below", *tests["below"]], [
        ["expected", *(f"{below['expected']:g}" for below in tests["below"].values())],
        ["found", *(str(below["count"]) for below in tests["below"].values())]])
    planted = result["planted"]
    lines += ["Planted by fixed work, of the level without it in the same duets, and seen (median; duets):", ""]
    lines += table(["row", *(f"{100 * float(loss):g} %" for loss in planted)], [
        [f"`{name}`", *(f"{rows[name]['planted_percent']:.2f} → {rows[name]['seen_percent']:+.2f} ({rows[name]['duets']})"
                        for rows in planted.values())] for name in result["unchanged"]])
    suite, found = result["suite"], result["power"]
    suites = [sum(of for _, of in loss["by_row"].values()) for loss in found]
    lines += [f"Found in one row of {suite['rows']} by {suite['duets']} duets at most, looks after "
              f"{' and '.join(map(str, suite['looks']))}:", ""]
    lines += table(["row", *(f"{100 * loss['slowdown']:g} % {loss['how']}" for loss in found)], [
        *([f"`{name}`", *(f"{100 * loss['by_row'][name][0] / loss['by_row'][name][1]:.0f} %" for loss in found)]
          for name in result["unchanged"]),
        ["all", *(f"{100 * sum(hits for hits, _ in loss['by_row'].values()) / of:.0f} %" for loss, of in zip(found, suites))],
        ["suites with another alarm", *(f"{loss['other_alarms']} of {of}" for loss, of in zip(found, suites))],
        ["mean duets of the changed row", *(f"{loss['mean_duets_of_planted']:g}" for loss in found)],
        ["mean duets of the others", *(f"{loss['mean_duets_of_others']:g}" for loss in found)]])
    return "\n".join(lines + simulated(result))


def simulated(result):
    """A table for each plan, if there are any."""
    lines, plans = [], {}
    for loss in result.get("simulated", []):
        plans.setdefault(loss["plan"], []).append(loss)
    for how, found in plans.items():
        draws = next(of for _, of in found[0]["by_row"].values())
        lines += [f"Simulated with this noise, {draws} suites for each figure: {how}, looks after "
                  f"{', '.join(map(str, found[0]['looks']))}:", ""]
        lines += table(["row", *(f"{100 * loss['slowdown']:g} %" for loss in found)], [
            *([f"`{name}`", *(f"{100 * loss['by_row'][name][0] / draws:.0f} %" for loss in found)] for name in result["unchanged"]),
            ["rows with 95 % at least", *(f"{sum(hits >= 0.95 * of for hits, of in loss['by_row'].values())} of "
                                          f"{len(loss['by_row'])}" for loss in found)],
            ["suites with another alarm", *(f"{loss['other_alarms']} of {draws * len(loss['by_row'])}" for loss in found)],
            ["time, of 24 launches of all cases: mean, longest",
             *(f"{100 * loss['mean_time']:.0f} %, {100 * loss['longest_time']:.0f} %" for loss in found)]])
    return lines
