"""Two runs side by side: cases that belong together, what they took, and their timelines on one scale."""

import literal
from pages import drawings, timeline
from pages.sections import is_canary, is_shown, known, labels_of, metric_title
from plots.common import metric_of, words

# By these the two may differ and yet be the same load: before and after a change of transport.
OF_HOW = ("comm", "transports", "net_devices", "connect_by", "memory", "devices", "no_pool", "pool_bytes", "api", "progress_mode")
MOST_ROWS = 400
MOST_DRAWINGS = 6


def measured(run):
    return [index for index, case in enumerate(run["cases"]) if case["state"] == "measured" and not is_canary(case)]


def load_of(case):
    fields = {name: words(value) for name, value in case["parameters"].items() if name not in OF_HOW}
    return case["benchmark"], tuple(sorted(fields.items()))


def by(indexes, key):
    found = {}
    for index in indexes:
        found.setdefault(key(index), []).append(index)
    return found


def matched(base, new):
    """[(index in base, index in new)]: of one key; else of one load, where each run has it once."""
    of_base, of_new = measured(base), measured(new)
    keys = {new["cases"][index]["key"]: index for index in of_new}
    both = [(index, keys[base["cases"][index]["key"]]) for index in of_base if base["cases"][index]["key"] in keys]
    left = set(of_base) - {index for index, _ in both}
    right = set(of_new) - {index for _, index in both}
    loads = by(sorted(right), lambda index: load_of(new["cases"][index]))
    for load, indexes in by(sorted(left), lambda index: load_of(base["cases"][index])).items():
        if len(indexes) == len(loads.get(load, [])) == 1:
            both.append((indexes[0], loads[load][0]))
    return both


def title_of(before, after):
    return before["key"] if before["key"] == after["key"] else f"{before['key']} → {after['key']}"


def ratio(before, after):
    return f"{after / before:.2f} ×" if before and after is not None else "?"


def metrics_of(base, new, both):
    """A row per metric that both have: [case, metric, base, new, new by base]."""
    rows = []
    for at, then in both:
        before, after = base["cases"][at], new["cases"][then]
        for name in before["metrics"]:
            if name not in after["metrics"] or not is_shown(before, name):
                continue
            values = before["metrics"][name]["p50"], after["metrics"][name]["p50"]
            rows.append([title_of(before, after), metric_title(metric_of(before, name)), known(values[0]), known(values[1]), ratio(*values)])
    return rows


def exchanges_of(base, new, both):
    """How long messages were under way in each run, and how long nothing else was done: the mean rank's."""
    rows = []
    for at, then in both:
        before, after = base["cases"][at], new["cases"][then]
        for name, title in (("busy_ms", "messages under way, ms"), ("exposed_ms", "waiting for them, ms")):
            values = [(case.get("exchange") or {}).get(name) for case in (before, after)]
            if drawings.is_exchange(before) and drawings.is_exchange(after) and None not in values:
                rows.append([title_of(before, after), title, *map(known, values), ratio(*values)])
    return rows


def timelines_of(base, new, folders, both):
    """Two charts per pair of cases, on one scale, and why there are not more."""
    pairs = [pair for pair in both if all(drawings.is_exchange(run["cases"][index]) for run, index in zip((base, new), pair))]
    shown = pairs[:MOST_DRAWINGS]
    logs = [drawings.timelines_of(run, folder, [pair[side] for pair in shown])
            for side, (run, folder) in enumerate(zip((base, new), folders))]
    drawn = []
    for pair in shown:
        if all(index in found for index, (found, _) in zip(pair, logs)):
            named = [(f"{side}: {drawings.name_of(run['cases'][index])}", found[index])
                     for side, run, index, (found, _) in zip(("base", "new"), (base, new), pair, logs)]
            drawn += timeline.charts_of(named)
    of_base, of_new = (reasons for _, reasons in logs)
    both_lack = [reason for reason in of_base if reason in of_new]
    reasons = [f"Both runs: {reason[0].lower()}{reason[1:]}" for reason in both_lack]
    reasons += [f"{side}: {reason}" for side, (_, of) in zip(("base", "new"), logs) for reason in of if reason not in both_lack]
    if len(pairs) > len(shown):
        reasons.append(f"{len(pairs) - len(shown)} more pairs of cases are in the transfer logs.")
    return drawn, reasons


def runs_of(base, new):
    """What the two runs are: [what, base, new]."""
    rows = [("run", "run", "id"), ("begun", "run", "started_utc"), ("machine", "machine", "id"),
            ("topology", "machine", "topology_hash"), ("commit", "build", "commit"), ("UCX", "ucx", "version")]
    found = [[title, *(known(run[part].get(name)) for run in (base, new))] for title, part, name in rows]
    found.append(["command", *(literal.for_shell(run["run"]["command"]) for run in (base, new))])
    found.append(["caveats", *(", ".join(labels_of(run)) or "none" for run in (base, new))])
    return found
