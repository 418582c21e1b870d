"""Whole runs of `ucx-bench ab` in which nothing changed, each of one case with as few duets as can raise an alarm: many
of them bound the rate of false alarms, since runs share nothing."""

import datetime
import json
import os
import pathlib
import tempfile
import time

from duets import SIZES, TRANSPORTS, duets_of
from launches import Unfit, identity
from planted_run import kept, made_on
from turns import ab, environments
from verdicts import upper95

SCHEMA = "ucx-bench/unchanged-runs/1"
# Of 10 duets the smallest p is 2/2^10, which is below alpha for two rows.
DUETS = 10
KINDS = [(transport, size) for size in SIZES.values() for transport in TRANSPORTS]


def one_run(program, transport, size):
    with tempfile.TemporaryDirectory(prefix="verdict-study-") as name:
        suite = pathlib.Path(name, "suite.toml")
        suite.write_text(f'launches = {DUETS}\n[[case]]\nargs = "pingpong --transports {transport} --sizes {size} '
                         f'--max-time {DUETS * 100}ms"\n')
        begin = time.monotonic()
        base, new, rows = ab(program, suite, environments({}, {"SIDE": "new"}))
        seconds = time.monotonic() - begin
    found = {"seconds": round(seconds, 1), "rows": kept(rows),
             "duets": {name: [duet[0] for duet in duets] for name, duets in duets_of(base, new).items()}}
    return identity(base), found


def record(program, file, count, say):
    """Goes on with what the file has."""
    result = {"schema": SCHEMA, "frame": None, "load_1min_before": round(os.getloadavg()[0], 1), "runs": []}
    if file.exists():
        result = json.loads(file.read_text(encoding="utf-8"))
    while len(result["runs"]) < count:
        frame, found = one_run(program, *KINDS[len(result["runs"]) % len(KINDS)])
        if result["frame"] not in (None, frame):
            raise Unfit(f"'{file}' is of {result['frame']}, this is {frame}; record into another file")
        result |= {"frame": frame, "ended_utc": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
        result["runs"].append(found)
        new = file.with_name(file.name + ".new")
        new.write_text(json.dumps(result, separators=(",", ":")) + "\n", encoding="utf-8")
        os.replace(new, file)
        if len(result["runs"]) % 10 == 0:
            say(f"{len(result['runs'])} of {count} runs, {len(alarms_of(result))} alarms")
    return result


def alarms_of(result):
    """Numbers of the runs with an alarm."""
    return [number for number, run in enumerate(result["runs"])
            if any(row["verdict"] in ("regressed", "improved") for row in run["rows"])]


def markdown(result):
    runs, alarms = result["runs"], alarms_of(result)
    rows = [row for run in runs for row in run["rows"]]
    bound = upper95(len(alarms), len(runs))
    lines = [
        f"{made_on(result)}, {sum(run['seconds'] for run in runs) / 60:.0f} minutes: {len(runs)} runs of `ab` "
        f"in which nothing changed, each of one case with two rows and {DUETS} duets.",
        "",
        f"Runs with a false alarm: {len(alarms)}, so fewer than {100 * bound:.2g} % of such runs have one (95 %, Clopper and Pearson). "
        f"`--alpha` allows 0.5 %.",
        "",
        f"Rows called unchanged: {sum(row['verdict'] == 'unchanged' for row in rows)} of {len(rows)}; inconclusive: "
        f"{sum(row['verdict'] == 'inconclusive' for row in rows)}.",
    ]
    lines += ["", *(f"- `{row['key']} {row['metric']}`: {100 * (row['ratio'] - 1):+.2f} %" for number in alarms
                    for row in runs[number]["rows"] if row["verdict"] in ("regressed", "improved"))] if alarms else []
    return "\n".join([*lines, "", "`ci/verdict-study/study.py unchanged-runs`", ""])
