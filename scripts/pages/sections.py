"""What a page says, from the run file alone: plain rows for the template. What is unknown is "?"."""

from plots.common import carriers, interval_in, metric_of, percent, significant, unit_text, words

SEVERITIES = ("error", "warning", "note")
# What a title says by its value alone.
PLAIN = ("api", "comm", "transports")
# Of a case's bytes: what else was counted is no payload.
NEARLY_ALL = 0.99


def known(value, digits=4):
    if value is None or value == "":
        return "?"
    if isinstance(value, float):
        return significant(value, digits) if value else "0"
    return words(value)


def without_unknown(head, rows):
    """A table less the columns of which nothing is known: {"head", "rows"}."""
    kept = [at for at in range(len(head)) if not rows or any(row[at] not in ("?", "–") for row in rows)]
    return {"head": [head[at] for at in kept], "rows": [[row[at] for at in kept] for row in rows]}


def between(interval):
    return "–" if interval is None else f"{known(interval[0])} to {known(interval[1])}"


def interval_text(of):
    return between(of) + (" (range)" if of and of.kind == "range" else "")


def findings_of(run):
    """[(severity, its findings)], the worst first; last, as "quality", those on how far figures can be trusted."""
    groups = {name: [] for name in (*SEVERITIES, "quality")}
    for found in run["findings"]:
        groups["quality" if found.get("of_quality") else found["severity"]].append(found)
    return [(name, of) for name, of in groups.items() if of]


def metric_title(metric):
    return f"{metric['title']}, {unit_text(metric['unit'])}"


def is_shown(case, name):
    return metric_of(case, name)["shown"] != "kept"


def is_canary(case):
    return case["shows"]["kind"] == "canary"


def carried(case):
    path = case.get("path") or {}
    if not (by := carriers(path)):
        return "–" if case["shows"]["ranks"] == 1 else "?"
    return ", ".join(name if share >= NEARLY_ALL else f"{name} {percent(share)}" for name, share in by.items())


def help_of_target(case):
    """Of put, get and atomic operations, where it is known."""
    progress = {launch["path"].get("target_progress") for launch in case["launches"] if launch.get("path")}
    state = next((state for state in ("needed", "not needed") if state in progress), None)
    return f"; target's CPU {state}" if state else ""


def differing_axes(cases):
    """{name: label} of the axes in which the cases differ."""
    values, labels = {}, {}
    for case in cases:
        for axis in case["shows"]["axes"]:
            values.setdefault(axis["name"], set()).add(words(axis["value"]))
            labels[axis["name"]] = axis["label"]
    return {name: labels[name] for name, of in values.items() if len(of) > 1}


def row_names(cases, differing):
    """By what they, and others that were not measured, differ in."""
    return [", ".join(axis["text"] for axis in case["shows"]["axes"] if axis["name"] in differing) for case in cases]


def common_axes(cases, differing):
    """In words, what no row of these cases says."""
    return [axis["text"] for axis in cases[0]["shows"]["axes"] if axis["name"] not in differing]


# Of a metric: head, field, text.
COLUMNS = (("p50", "p50", known), ("95 % CI", "interval", interval_text), ("p99", "p99", known), ("max", "max", known))


def columns_of(metrics):
    """p50, and what else any of them has; the largest one only beside p99. The head of ranges says that they are."""
    has = {field: any(value_of(metric, field) is not None for metric in metrics) for _, field, _ in COLUMNS}
    has["max"] = has["p99"]
    kinds = {of.kind for metric in metrics if (of := interval_in(metric))}
    alone = ("range", "interval", between)
    return [alone if column[1] == "interval" and kinds == {"range"} else column
            for column in COLUMNS if column[1] == "p50" or has[column[1]]]


def value_of(metric, field):
    return interval_in(metric) if field == "interval" else metric.get(field)


def table_of(cases, differing):
    """Of the measured cases of one block, whose cases differ so."""
    names = {metric["name"]: metric_title(metric) for case in cases for metric in case["shows"]["metrics"]
             if metric["name"] in case["metrics"] and is_shown(case, metric["name"])}
    columns = {name: columns_of([case["metrics"][name] for case in cases if name in case["metrics"]]) for name in names}
    rows = []
    for case, row_name in zip(cases, row_names(cases, differing)):
        cells = []
        for name in names:
            metric = case["metrics"].get(name)
            cells += [text(value_of(metric, field)) if metric else "–" for _, field, text in columns[name]]
        checked = case.get("verified") or {}
        count = checked.get("checked", 0)
        verified = f"{count - checked.get('errors', 0)}/{count}" if count else "not checked"
        rows.append({"name": row_name, "cells": cells, "path": carried(case) + help_of_target(case),
                     "verdict": (case.get("path") or {}).get("verdict", "unknown"),
                     "verified": verified, "wrong": bool(checked.get("errors"))})
    return {"axes": ", ".join(differing.values()), "metrics": [(title, [head for head, _, _ in columns[name]]) for name, title in names.items()], "rows": rows}


def differing_fields(keys):
    """Beside those that every title has, what tells sets of cases apart."""
    names = dict.fromkeys(name for key in keys for name in key)
    return [name for name in names
            if len({key.get(name) for key in keys}) > 1 and name not in (*PLAIN, "memory", "net_devices")]


def fields_of(case):
    """What the cases of a block have in common."""
    axes = [axis["name"] for axis in case["shows"]["axes"]]
    return {name: words(value) for name, value in case["parameters"].items() if name not in axes and value is not None}


def reasons_of(cases, known_path):
    """How what carried them is known, or why it is not."""
    return sorted({case["path"]["why"] for case in cases if case["path"].get("why") and bool(case["path"].get("carried_by")) == known_path})


def blocks_of(run):
    """A table per set of cases that differ only in their axes, titled by what differs between the sets."""
    groups = {}
    for case in run["cases"]:
        if not is_canary(case):
            groups.setdefault(case["shows"]["block"], []).append(case)
    blocks = []
    for cases in groups.values():
        case, fields = cases[0], fields_of(cases[0])
        differing = differing_fields([fields_of(others[0]) for others in groups.values()
                                      if others[0]["benchmark"] == case["benchmark"]])
        title = case["shows"]["title"]
        title += "".join(f", {name.replace('_', ' ')} {fields[name]}" for name in differing if name in fields)
        measured = [case for case in cases if case["state"] == "measured" and case["metrics"]]
        axes = differing_axes(cases)
        title = ", ".join([title, *common_axes(cases, axes)])
        others = {}
        for case in cases:
            if case not in measured:
                others.setdefault((case["state"], case["reason"]), []).append(case["key"])
        blocks.append({
            "title": title,
            "launches": max((len({entry["launch"] for entry in case["launches"]}) for case in measured), default=0),
            "table": table_of(measured, axes) if measured else None,
            "scaled": len({case["shows"]["ranks"] for case in measured if case.get("phases")}) > 1,
            "phases": [[name, *phase_cells(phase)] for case, name in zip(measured, row_names(measured, axes)) for phase in case.get("phases") or []],
            "known_by": reasons_of(measured, True), "unknown_since": reasons_of(measured, False),
            "others": [{"state": state, "reason": reason or "no reason given", "keys": keys}
                       for (state, reason), keys in others.items()],
        })
    return blocks


def phase_cells(phase):
    share = phase["share"]
    of = {name: interval_text(interval_in({"interval": (phase.get("intervals") or {}).get(name)})) for name in ("median_ms", "slowest_ms")}
    return [phase["name"], known(phase["median_ms"]), of["median_ms"], "?" if share is None else percent(share),
            known(phase["slowest_rank"]), known(phase["slowest_ms"]), of["slowest_ms"]]


def launches_of(run, blocks):
    """What p50 and its interval are of: "6 launches; …"; empty where nothing was measured."""
    numbers = sorted({block["launches"] for block in blocks if block["launches"]})
    if not numbers:
        return ""
    told = " to ".join(dict.fromkeys(str(number) for number in (numbers[0], numbers[-1])))
    told += f" launch{'' if numbers[-1] == 1 else 'es'}; p50 is the median of {'the' if numbers[-1] == 1 else 'their'} samples"
    kinds = {of.kind for case in run["cases"] for metric in case["metrics"].values() if (of := interval_in(metric))}
    if not kinds:
        told += "; of one launch there is no interval"
    if "range" in kinds:
        told += ", range from the lowest to the highest launch"
    if "ci95" in kinds:
        told += ", 95 % CI the confidence interval of the launches' medians"
        told += " (of six to eight launches: their range)" if any(6 <= number <= 8 for number in numbers) else ""
    return told


def labels_of(run):
    """What its figures do not stand for."""
    return list(dict.fromkeys([*run["machine"]["labels"], *(label for case in run["cases"] for label in case["labels"])]))


def canaries_of(run):
    """What the host did without UCX, before each round of a suite."""
    return [[case["key"].partition("/")[2], metric_title(metric_of(case, name)), known(metric["p50"]), interval_text(interval_in(metric))]
            for case in run["cases"] if is_canary(case) for name, metric in case["metrics"].items()]


def benchmarks_of(run):
    return list(dict.fromkeys(case["benchmark"] for case in run["cases"] if not is_canary(case))) or ["nothing"]


def case_of(entry):
    """What a row of a comparison is of: the case, and the pair of ranks where it is of one; older files have none."""
    pair = entry.get("pair")
    return f"{entry['key']} {pair['text']}" if pair else entry["key"]
