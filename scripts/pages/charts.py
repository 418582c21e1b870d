"""Plots of a page as plain data, which page.js draws: curves over size, throughput over ranks.

A chart is {"title", "x": what stands on its axis, "y": {"unit", "log"}, "series", "marks"}; a point of a series is
[x, y] or, with its interval, [x, y, low, high]; a mark is [x, text].
"""

from plots import curves, scaling, workload
from plots.common import COLORS, LINES, promised, significant, size_axis, styles_of, unit_text, what_intervals_are, words

DASHES = dict(zip(LINES, ([], [8, 4], [2, 3], [8, 3, 2, 3])))
PEAK = {"color": -1, "dash": [10, 4], "peak": True}
MOST_PEAKS = 4


def point(x, value, interval):
    return [x, value, *(interval or ())[:2]]


def style_of(style):
    return {"name": style["label"], "color": COLORS.index(style["color"]), "dash": DASHES[style["linestyle"]]}


def peaks_of(cases, xs):
    """What paths carry at each size, by specification or, where none is known, as calibrated; the largest ones."""
    specified = [limit for case in cases for limit in promised(case) if limit.get("GBps")]
    found = {}
    for case in cases:
        size = size_axis(case)["value"]
        for row in promised(case) if specified else case.get("limits") or []:
            if not row.get("GBps") or size not in xs:
                continue
            name = " ".join(part for part in ("peak of", row.get("path"), "" if specified else "(calibrated)") if part)
            by_size = found.setdefault(name if name != "peak of" else "peak", {})
            by_size[size] = max(row["GBps"], by_size.get(size, 0))
    largest = sorted(found.items(), key=lambda of: -max(of[1].values()))[:MOST_PEAKS]
    return [{"name": f"{name}: {range_of(by_size.values())} GB/s", "points": [[x, by_size[x]] for x in sorted(by_size)], **PEAK}
            for name, by_size in largest]


def range_of(values):
    return " to ".join(dict.fromkeys(significant(value, 3) for value in (min(values), max(values))))


def chart(title, about, x, unit, series, marks=(), bands=""):
    """`bands`: what the intervals of its points are, in words."""
    about = "; ".join(part for part in (about, bands and f"band: {bands}") if part)
    return {"title": title, "about": about, "x": x, "y": {"unit": unit_text(unit), "log": True},
            "series": [of for of in series if of["points"]], "marks": list(marks)}


def sizes_of(series):
    return sorted({at[0] for of in series for at in of["points"]})


def over_size(run, file):
    """A chart per metric that is drawn."""
    found = dict(curves.read(run, file))
    if not found:
        return []
    styles, made = styles_of(list(found)), []
    drawn = [case["shows"] for case in run["cases"] if case["shows"]["kind"] == "curve"]
    metrics = {curves.panel_of(metric): metric for shows in drawn for metric in shows["metrics"]}
    for panel in dict.fromkeys(panel for points in found.values() for panel in points):
        _, about, _ = panel
        series = [{**style_of(styles[key]), "points": [point(*of[:3]) for of in sorted(points[panel], key=lambda of: of[0])]}
                  for key, points in found.items() if panel in points]
        if max(len(of["points"]) for of in series) < 2:
            continue  # no curve: the table says it
        unit = words(metrics[panel]["unit"])
        if unit == "GB/s":
            series += peaks_of([case for case in run["cases"] if case["shows"]["kind"] == "curve" and size_axis(case)], sizes_of(series))
        bands = what_intervals_are(of[2] for points in found.values() for of in points.get(panel, []))
        made.append(chart(words(metrics[panel]["title"]), about, "size", unit, series, curves.thresholds(found, panel), bands))
    return made


def over_ranks(run, file):
    """A chart per kind of scaling; the ideal line is what the first ranks did, times the others."""
    made, by_benchmark = [], {}
    for case in workload.read(run, file):
        by_benchmark.setdefault(dict(case.fields)["benchmark"], []).append(case)
    for benchmark, cases in by_benchmark.items():
        by_key = workload.curves_of(cases)
        for panel in scaling.panels_of(by_key, styles_of(list(by_key))):
            series = []
            for key, of in panel.curves.items():
                style = style_of(panel.styles[key])
                series.append({**style, "points": [point(case.ranks, case.input_GBps, case.interval) for case in of]})
                first = of[0]
                series.append({**style, "name": f"ideal: {style['name']}", "dash": [2, 3], "thin": True,
                               "points": [[case.ranks, first.input_GBps * case.ranks / first.ranks] for case in of]})
            bands = what_intervals_are(case.interval for case in panel.cases)
            made.append(chart(f"{benchmark} {panel.rate['title']}", panel.title(), "ranks", panel.rate["unit"], series, (), bands))
    return made


def of_run(run, file):
    return over_size(run, file) + over_ranks(run, file)
