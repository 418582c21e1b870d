"""One whole `ucx-bench ab` of 48 rows, four of which are slower by fixed work (ci/shims/work.cpp)."""

import datetime
import os
import pathlib
import statistics
import tempfile
import time

from duets import FixedWork, duets_of, iteration_ns
from launches import identity
from turns import ab, environments, run_program, whole_run

SCHEMA = "ucx-bench/planted-run/1"
# The shim knows messages by their size, so no size is measured over both.
SIZES = {"tcp": [8, 24, 32, 128, 512, 2048, 3072, 8192, 32768, 49152, 131072, 524288],
         "shm": [16, 48, 64, 256, 1024, 1536, 4096, 16384, 65536, 98304, 262144, 1048576]}
PLANTED = ((131072, "latency_us"), (8, "bandwidth_GBps"), (1024, "latency_us"), (65536, "bandwidth_GBps"))
LAUNCHES = 24
SUITE = "".join(
    f'[[case]]\nargs = "pingpong --transports {transport} --sizes {",".join(map(str, sizes))} --max-time 10s"\n'
    for transport, sizes in SIZES.items())
LIMIT_S = 1200
KEPT = ("key", "metric", "verdict", "ratio", "interval", "p_corrected", "base_launches")


def kept(rows):
    return [{name: row[name] for name in KEPT} for row in rows]


def made_on(result):
    frame = result["frame"]
    return (f"Machine {frame['machine']}, UCX {frame['UCX']}, ucx-bench {frame['commit'][:12]}, ended {result['ended_utc']}, "
            f"load {result['load_1min_before']} before")


def words(work):
    """What is in the shim's table has fences on both sides, also without work."""
    counts = {}
    for size, metric in PLANTED:
        counts.setdefault(size, {})[metric] = work.get((size, metric), 0)
    return ",".join(f"{size}={of.get('latency_us', 0)}/{of.get('bandwidth_GBps', 0)}" for size, of in counts.items())


def row_of(run, size, metric):
    """The case and its level in ns of an iteration."""
    case = next(case for case in run["cases"] if case["parameters"]["bytes"] == size)
    return case["key"], iteration_ns(metric, size, case["metrics"][metric]["p50"])


def measured(program, shim, slowdown, say):
    fixed_work = FixedWork(shim)
    with tempfile.TemporaryDirectory(prefix="verdict-study-") as name:
        folder = pathlib.Path(name)
        suite, quick = folder / "suite.toml", folder / "quick.toml"
        suite.write_text(f"launches = {LAUNCHES}\n{SUITE}")
        quick.write_text("launches = 3\n" + SUITE.replace("--max-time 10s", "--max-time 1250ms"))
        say("levels of the rows, then the work that is planted")
        run_program(program, ["suite", quick, "--json", folder / "quick.json"], {"LD_PRELOAD": shim, "WORK": words({})})
        levels = whole_run(folder / "quick.json")
        planted, work = {}, {}
        for size, metric in PLANTED:
            key, iteration = row_of(levels, size, metric)
            count = work[size, metric] = fixed_work.count_of(slowdown * iteration)
            planted[f"{key} {metric}"] = {"multiplications": count, "ns": round(fixed_work.cost(count), 1)}
            say(f"{key} {metric}: {fixed_work.cost(count):.1f} ns of {iteration:.0f}")
        sides = [{"LD_PRELOAD": shim, "WORK": words(of)} for of in ({}, work)]
        load, begin = round(os.getloadavg()[0], 1), time.monotonic()
        base, new, rows = ab(program, suite, environments(*sides), LIMIT_S)
        seconds = time.monotonic() - begin
    duets = duets_of(base, new)
    for size, metric in PLANTED:
        name = f"{row_of(base, size, metric)[0]} {metric}"
        iteration = iteration_ns(metric, size, statistics.median(level for _, level, _ in duets[name]))
        planted[name]["percent"] = round(100 * planted[name]["ns"] / iteration, 2)
    return {
        "schema": SCHEMA,
        "ended_utc": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "frame": identity(base), "load_1min_before": load, "seconds": round(seconds),
        "slowdown": slowdown, "planted": planted,
        "rows": kept(rows),
        # Of each duet the logarithm of new over base, and both sides' medians.
        "duets": duets,
    }


def holds(row, planted):
    """Whether the row's interval has the change that so many per cent more time make; None without an interval."""
    if not row["interval"]:
        return None
    change = 1 + planted / 100
    low, high = row["interval"]
    return low <= (change if row["metric"] == "latency_us" else 1 / change) <= high


def markdown(result):
    rows = {f"{row['key']} {row['metric']}": row for row in result["rows"]}
    changed = {name for name, row in rows.items() if row["verdict"] in ("regressed", "improved")}
    held = {name: bool(holds(rows[name], of["percent"])) for name, of in result["planted"].items()}
    lines = [
        f"{made_on(result)}, {result['seconds']} s: {len(rows)} rows, {len(result['planted'])} of them slower by about "
        f"{100 * result['slowdown']:g} %.",
        "",
        "An interval is of the look at which its row stopped; all of them hold together with a chance of 99.5 %. The planted "
        "share is of the base's median in the same duets.",
        "",
        f"Found: {len(changed & set(result['planted']))}. False alarms: {len(changed - set(result['planted']))}. Intervals "
        f"that have what was planted: {sum(held.values())} of {len(held)}.",
        "",
        "| row | planted | found | interval | has it | duets | verdict |", "|---|--:|--:|---|---|--:|---|",
    ]
    for name in [*result["planted"], *sorted(changed - set(result["planted"]))]:
        row = rows[name]
        planted = result["planted"].get(name, {"percent": 0})["percent"]
        low, high = row["interval"] or (None, None)
        interval = f"{100 * (low - 1):+.2f} to {100 * (high - 1):+.2f} %" if low else "-"
        lines.append(f"| `{name}` | {planted:.2f} % | {100 * (row['ratio'] - 1):+.2f} % | {interval} | "
                     f"{'–' if held.get(name) is None else 'yes' if held[name] else '**no**'} | {row['base_launches']} | {row['verdict']} |")
    widths = [row["interval"][1] - row["interval"][0] for name, row in rows.items()
              if name not in result["planted"] and row["interval"]]
    if widths:
        lines += ["", f"Half the width of the other rows' intervals: median {50 * statistics.median(widths):.2f} %."]
    return "\n".join([*lines, "", "`ci/verdict-study/study.py planted-run`", ""])
