"""Drawings of a page: the wiring as SVG; bars as numbers for the template; timelines as plain data."""

import topology
import transferlog
from pages import timeline
from plots import waterfall
from plots.common import carriers, measured, over, percent, row_name, significant, size_axis, words

MOST_TIMELINES = 6  # in one drawing
MOST_WIRINGS = 4
MOST_STAGES = 8


def of_topology(run):
    """[(title, drawing)]: what the largest messages of each kind of traffic put on the links; without any, the bare
    wiring."""
    wiring = run.get("topology") or {}
    if not wiring.get("devices"):
        return []
    title, devices, links = topology.read(wiring)
    loaded = {}
    for case in run["cases"]:
        if case.get("links"):
            same = case["benchmark"], over(case), case["shows"]["at_once"]
            if same not in loaded or amount_of(case) >= amount_of(loaded[same]):
                loaded[same] = case
    drawn = []
    for case in list(loaded.values())[:MOST_WIRINGS]:
        drawn.append((case["key"], topology.draw(title, devices, links, topology.loads_of(case["links"], devices))))
    return drawn or [(None, topology.draw(title, devices, links))]


def amount_of(case):
    """How much is under way: the message size, else the ranks."""
    size = size_axis(case)
    return size["value"] if size else case["shows"]["ranks"]


def left_of(value, before):
    """"43 %"; "33 ×" where it is much more than before, which has then met a busier host."""
    if not before:
        return ""
    return percent(value / before) if value < 2 * before else f"{significant(value / before, 2)} ×"


def of_stages(run):
    """Bars of each: [{"name", "rows": [{"name", "rate", "left", "width", "lost"}]}], widths in % of the largest stage."""
    told = []
    for found in waterfall.read(run)[:MOST_STAGES]:
        most, before, rows = max(value for _, value in found.stages) or 1, None, []
        for name, value in found.stages:
            rows.append({
                "name": name, "rate": f"{significant(value)} GB/s", "left": left_of(value, before),
                "width": round(100 * value / most, 1), "lost": round(100 * max(0, (before or 0) - value) / most, 1),
            })
            before = value
        told.append({"name": found.name, "rows": rows})
    return told


def of_phases(run):
    """Bars of each case's phases: [{"name", "wall", "parts": [{"name", "ms", "width", "color"}]}], widths in % of the
    longest case."""
    cases = [case for case in measured(run, "workload") if case.get("phases") and case["metrics"].get("wall_ms")]
    colors = timeline.colors_of({phase["name"]: phase["kind"] for case in cases for phase in case["phases"]})
    most = max((max(case["metrics"]["wall_ms"]["p50"] or 0, sum(phase["median_ms"] or 0 for phase in case["phases"]))
                for case in cases), default=0) or 1
    bars = [{"name": case["key"], "wall": case["metrics"]["wall_ms"]["p50"],
             "parts": [{"name": phase["name"], "ms": phase["median_ms"], "color": colors[phase["name"]],
                        "width": round(100 * phase["median_ms"] / most, 2)} for phase in case["phases"] if phase["median_ms"]]}
            for case in cases]
    return {"names": list(colors.items()), "bars": bars}


def is_exchange(case):
    """Whether ranks of a workload sent each other something."""
    shows = case["shows"]
    return case["state"] == "measured" and shows["kind"] == "workload" and shows["ranks"] > 1


def timelines_of(run, folder, indexes):
    """{index of a case: its Timeline} and, where that is not all, the reasons."""
    file = transferlog.file_of(run, folder)
    if not indexes or file is None:
        return {}, ["No timeline: the run has no transfer log."] if indexes else []
    found, reasons = {}, []
    try:
        sections = transferlog.sections_of(file)
        for index in indexes:
            try:
                found[index] = transferlog.timeline_of(run, index, file, sections)
            except transferlog.NoLog as why:
                reasons.append(str(why))
    except transferlog.NoLog as why:
        reasons.append(str(why))
    return found, [f"No timeline: {reason}." for reason in dict.fromkeys(reasons)]


def of_time(run, folder):
    """A chart of each workload's largest number of ranks, those of one load on one scale, and why there are not more."""
    by_load = {}
    for index, case in enumerate(run["cases"]):
        if is_exchange(case):
            by_load.setdefault(case["benchmark"], {}).setdefault(case["shows"]["ranks"], []).append(index)
    largest = [indexes[max(indexes)] for indexes in by_load.values()]
    found, reasons = timelines_of(run, folder, [index for indexes in largest for index in indexes[:MOST_TIMELINES]])
    charts = []
    for indexes in largest:
        by_axes = {}
        for index in indexes:
            if index in found:
                case = run["cases"][index]
                by_axes.setdefault(row_name(case), []).append((name_of(case), found[index]))
        for named in by_axes.values():
            charts += timeline.charts_of(named)
        if (more := len(indexes) - MOST_TIMELINES) > 0:
            reasons.append(f"{more} more case{'' if more == 1 else 's'} {'is' if more == 1 else 'are'} in the transfer log.")
    return charts, reasons


def name_of(case):
    return f"{case['key']} over {words(list(by))}" if (by := carriers(case["path"])) else case["key"]
