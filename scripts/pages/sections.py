"""What a page says, from the run file alone: plain rows for the template. What is unknown is "?"."""

from plots.common import metric_of, percent, significant, size_text, unit_text, words

SEVERITIES = ("error", "warning", "note")
# What a title says by its value alone.
PLAIN = ("api", "transports")
# Of a case's bytes: what else was counted is no payload.
NEARLY_ALL = 0.99
VERDICTS = ("regressed", "improved", "inconclusive", "missing", "new", "unchanged")


def known(value, digits=4):
    if value is None or value == "":
        return "?"
    if isinstance(value, float):
        return significant(value, digits) if value else "0"
    return words(value)


def between(interval):
    return "–" if interval is None else f"{known(interval[0])} to {known(interval[1])}"


def findings_of(run):
    """[(severity, its findings)], the worst first; last, as "quality", those on how far figures can be trusted."""
    groups = {name: [] for name in (*SEVERITIES, "quality")}
    for found in run["findings"]:
        groups["quality" if found.get("of_quality") else found["severity"]].append(found)
    return [(name, of) for name, of in groups.items() if of]


def metric_title(metric):
    return f"{metric['title']}, {unit_text(metric['unit'])}"


def metric_titles(*runs):
    """{(key of a case, metric): its title}"""
    return {(case["key"], metric["name"]): metric_title(metric)
            for run in runs for case in run["cases"] for metric in case["shows"]["metrics"]}


def is_shown(case, name):
    return metric_of(case, name)["shown"] != "kept"


def is_canary(case):
    return case["shows"]["kind"] == "canary"


def carried(case):
    path = case.get("path") or {}
    by = path.get("carried_by") or {}
    if not by:
        return "–" if case["shows"]["ranks"] == 1 else "?"
    return ", ".join(name if share >= NEARLY_ALL else f"{name} {percent(share)}" for name, share in by.items())


def row_names(cases):
    """By what the cases differ in."""
    values = {}
    for case in cases:
        for axis in case["shows"]["axes"]:
            values.setdefault(axis["name"], set()).add(words(axis["value"]))
    differing = [name for name, of in values.items() if len(of) > 1]
    return [", ".join(axis["text"] for axis in case["shows"]["axes"] if axis["name"] in differing) for case in cases]


def cells_of(metric):
    return [known(metric["p50"]), between(metric.get("ci95")), known(metric.get("p99")), known(metric.get("max"))]


def table_of(cases):
    """Of the cases of one block."""
    names = {name: metric_title(metric_of(case, name)) for case in cases for name in case["metrics"] if is_shown(case, name)}
    tails = {name: any(case["metrics"].get(name, {}).get("p99") is not None for case in cases) for name in names}
    rows = []
    for case, row_name in zip(cases, row_names(cases)):
        cells = []
        for name in names:
            metric = case["metrics"].get(name)
            width = 4 if tails[name] else 2
            cells += cells_of(metric)[:width] if metric else ["–"] * width
        checked = case.get("verified") or {}
        verified = f"{checked.get('checked', 0) - checked.get('errors', 0)}/{checked.get('checked', 0)}"
        rows.append({"name": row_name, "cells": cells, "path": carried(case),
                     "verdict": (case.get("path") or {}).get("verdict", "unknown"),
                     "verified": verified, "wrong": bool(checked.get("errors"))})
    return {"metrics": [(title, 4 if tails[name] else 2) for name, title in names.items()], "rows": rows}


def differing_fields(keys):
    """Beside those that every title has, what tells sets of cases apart."""
    names = dict.fromkeys(name for key in keys for name in key)
    return [name for name in names
            if len({key.get(name) for key in keys}) > 1 and name not in (*PLAIN, "memory", "net_devices")]


def fields_of(case):
    """What the cases of a block have in common."""
    axes = [axis["name"] for axis in case["shows"]["axes"]]
    return {name: words(value) for name, value in case["parameters"].items() if name not in axes and value is not None}


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
        others = {}
        for case in cases:
            if case not in measured:
                others.setdefault((case["state"], case["reason"]), []).append(case["key"])
        blocks.append({
            "title": title,
            "launches": max((len({entry["launch"] for entry in case["launches"]}) for case in measured), default=0),
            "table": table_of(measured) if measured else None,
            "scaled": len({case["shows"]["ranks"] for case in measured if case.get("phases")}) > 1,
            "phases": [(name, case["phases"]) for case, name in zip(measured, row_names(measured)) if case.get("phases")],
            "reasons": sorted({case["path"].get("why") for case in measured if case["path"].get("why")}),
            "others": [{"state": state, "reason": reason or "no reason given", "keys": keys}
                       for (state, reason), keys in others.items()],
        })
    return blocks


def launches_of(blocks):
    """What p50 and its interval are of: "6 launches; …"; empty where nothing was measured."""
    numbers = sorted({block["launches"] for block in blocks if block["launches"]})
    if not numbers:
        return ""
    ranged = ", which of six to eight is their range" if any(6 <= number <= 8 for number in numbers) else ""
    counted = " to ".join(dict.fromkeys(str(number) for number in (numbers[0], numbers[-1])))
    return f"{counted} launch{'' if numbers[-1] == 1 else 'es'}; p50 with the 95 % confidence interval of the launches' medians{ranged}"


def labels_of(run):
    """What its figures do not stand for."""
    return list(dict.fromkeys([*run["machine"]["labels"], *(label for case in run["cases"] for label in case["labels"])]))


def canaries_of(run):
    """What the host did outside UCX, before each round of a suite."""
    return [
        f"{case['key']}: {metric_title(metric_of(case, name))} {known(metric['p50'])}, 95 % CI {between(metric.get('ci95'))}"
        for case in run["cases"] if is_canary(case) for name, metric in case["metrics"].items()
    ]


def benchmarks_of(run):
    return list(dict.fromkeys(case["benchmark"] for case in run["cases"] if not is_canary(case))) or ["nothing"]


def devices_of(wiring):
    shown = [device for device in wiring.get("devices", []) if device["kind"] in ("gpu", "nic", "numa")]
    return [[known(device.get(name)) for name in ("name", "alias", "kind", "model", "pci", "state", "numa_node",
                                                   "cpu_affinity")] for device in shown]


def copies_of(memory):
    """"8.123 GB/s on one core, 12.34 on 2"."""
    one, all_of = memory["one_core"], memory["all_cores"]
    return f"{known(one['copy_GBps'])} GB/s on one core, {known(all_of['copy_GBps'])} on {len(all_of['cpus'])}"


def facts_of(host):
    """Of a host: what is a value, in words; devices have a table of their own."""
    facts = []
    for name, value in host.items():
        if name == "memory_copy":
            value = copies_of(value)
        if isinstance(value, (dict, list)):
            continue
        if name == "memory_bytes" and value:
            name, value = "memory", size_text(value)
        facts.append((name.replace("_", " "), known(value)))
    return facts


def ranks_of(run):
    """A row per rank: where it ran."""
    rows = []
    for rank in run["ranks"]:
        cpus, gpu = rank["cpus"], rank.get("device")
        if gpu:
            gpu = ", ".join(known(gpu.get(name)) for name in ("index", "name", "pci"))
        rows.append([known(rank["rank"]), known(rank["host"]), known(rank["pid"]),
                     ", ".join(map(str, cpus)) if isinstance(cpus, list) else known(cpus),
                     known(rank["numa_node"]), gpu or "–", known(rank["net_devices"])])
    return rows


def hosts_of(run):
    """[(names, facts)]: hosts that are equal but for their name and load stand together."""
    kinds = {}
    for host in run["machine"]["hosts"]:
        facts = facts_of({name: value for name, value in host.items() if name != "name"})
        same = tuple(fact for fact in facts if not fact[0].startswith("load"))
        kinds.setdefault(same, (facts, []))[1].append(known(host.get("name")))
    return [(", ".join(names) if len(names) < 3 else f"{len(names)} hosts, {names[0]} to {names[-1]}",
             facts if len(names) == 1 else same) for same, (facts, names) in kinds.items()]


def settings_of(environment):
    """What was set, per set of transports; what was inherited; and all that UCX used, told apart only
    where sets differ."""
    effective = environment.get("effective") or {}
    common = {}
    for settings in effective.values():
        for name, value in settings.items():
            common.setdefault(name, set()).add(value)
    return {
        "asked": environment.get("asked") or {},
        "inherited": environment.get("inherited") or {},
        "effective": [(name, " | ".join(sorted(map(str, values)))) for name, values in sorted(common.items())],
    }


def verdicts_of(comparison, titles):
    """Of ucx-bench compare: how many of each, and a row per metric; `titles` as metric_titles of both runs."""
    series = comparison["series"]
    found = [entry["verdict"] for entry in series]
    rows = []
    for entry in series:
        ratio, interval = entry["ratio"], entry["interval"]
        both = entry["base"] is not None and entry["new"] is not None
        rows.append([
            entry["verdict"], entry["key"], titles.get((entry["key"], entry["metric"]), entry["metric"]), known(entry["matched_base"]),
            known(entry["matched_new"]),
            f"{100 * (ratio - 1):+.1f} %" if both and ratio is not None else "–",
            f"{100 * (interval[0] - 1):+.1f} to {100 * (interval[1] - 1):+.1f} %" if interval else "–",
            f"{100 * entry['floor']:.1f} %" if both else "–", f"{entry['p_corrected']:.2g}" if both else "–", entry["why"],
        ])
    return {"counts": [(word, found.count(word)) for word in VERDICTS if word in found],
            "rows": [row for row in rows if row[0] != "inconclusive"], "folded": [row for row in rows if row[0] == "inconclusive"]}
