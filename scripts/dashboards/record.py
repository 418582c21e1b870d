"""Of a run file, what a dashboard keeps: where and when it ran, and every metric's median and interval."""

import hashlib
import json
import math

from dashboards.kept import check_record, time_of
from plots.common import interval_in, metric_of

MOST_PROBLEMS = 5  # named of one run; the others are counted


class Skipped(Exception):
    """Why a run cannot stand on the page."""


def head_of(run):
    """A run file without what is large, from which ucx-bench says where the run stands."""
    hosts = [{name: value for name, value in host.items() if name not in ("gpus", "nics")} for host in run["machine"]["hosts"]]
    environment = {name: value for name, value in run["ucx"]["environment"].items() if name != "effective"}
    return {
        "schema": run["schema"], "run": run["run"], "build": {}, "machine": {**run["machine"], "hosts": hosts[:1]},
        "ucx": {**run["ucx"], "environment": environment},
        "ranks": [{"rank": rank["rank"], "device": rank["device"]} for rank in run["ranks"] if rank.get("device")][:1],
        "cases": [], "findings": [], "topology": {},
    }


def measured(value):
    """What can be drawn and compared: a positive, finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0


def rounded(value, digits=6):
    return float(f"{value:.{digits}g}")


def values_of(metric, where, problems):
    """[median, low, high], the interval as the tables have it, null of one launch; None for what is no number."""
    p50 = metric["p50"]
    if p50 is None:
        return None
    if not measured(p50):
        problems.append(f"{where}: {p50!r} is no measured value")
        return None
    try:
        interval = interval_in(metric)
        if interval is not None and not all(map(measured, interval[:2])):
            raise ValueError(f"{interval[:2]} are no measured values")
    except ValueError as error:
        problems.append(f"{where}: {error}")
        interval = None
    return [rounded(p50), *(map(rounded, interval[:2]) if interval else (None, None))]


def fingerprint(parameters):
    """The same where one run says null and another, of an older or newer version, says nothing."""
    said = {name: value for name, value in parameters.items() if value is not None}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:8]


def shown_of(case):
    """By metric, its title, its unit, and which direction is better: "lower" or "higher"."""
    return {metric["name"]: {name: metric[name] for name in ("title", "unit", "better")} for metric in case["shows"]["metrics"]}


def cases_of(run, shown, problems):
    """`shown` gets what cases say of their metrics: cases of one run may differ in it, but most say the same."""
    cases = {}
    for case in run["cases"]:
        if case["key"] in cases:
            raise ValueError(f"the case '{case['key']}' is there twice")
        # Times of ranks that take turns on one GPU are no figures to follow.
        metrics = {} if "time-sliced" in case["labels"] else {
            name: values for name, metric in case["metrics"].items()
            if metric_of(case, name)["judged"] and (values := values_of(metric, f"{case['key']} {name}", problems))
        }
        if (own := shown_of(case)) not in shown:
            shown.append(own)
        cases[case["key"]] = {
            "state": case["state"], "reason": case["reason"], "parameters": fingerprint(case["parameters"]),
            "canary": case["shows"]["kind"] == "canary", "metrics": metrics, "shown": shown.index(own),
            "pairs": any(len(launch.get("workload", {}).get("pairs", [])) > 1 for launch in case["launches"]),
        }
    return cases


def check_clock(run, now):
    started, finished = run["run"]["started_utc"], run["run"]["finished_utc"]
    if finished is not None and time_of(finished) < time_of(started):
        raise Skipped(f"its clock went backwards: it began {started} and ended {finished}")
    if time_of(started) > now + 86400:
        raise Skipped(f"its clock is wrong: it began {started}, which is in the future")


def record_of(run, now):
    """A record, as plain JSON. Raises Skipped, or KeyError and its like where the file is damaged."""
    check_clock(run, now)
    problems, shown = [], []
    record = {
        "id": run["run"]["id"],
        "started": run["run"]["started_utc"],
        "state": run["run"]["state"],
        "reason": run["run"].get("reason") or "",
        "machine": run["machine"]["id"],
        "command": run["run"]["command"],
        "commit": run["build"]["commit"],
        "dirty": run["build"]["dirty"],
        "labels": sorted({*run["machine"]["labels"], *(label for case in run["cases"] for label in case["labels"])}),
        "head": head_of(run),
        "other": run["run"].get("ab", {}).get("other"),
        "cases": cases_of(run, shown, problems),
        "shown": shown,
        "problems": problems[:MOST_PROBLEMS] + (
            [f"and {len(problems) - MOST_PROBLEMS} more values"] if len(problems) > MOST_PROBLEMS else []),
    }
    check_record(record)
    return record
