"""Times and rates over message size.

One curve per transport set, and per API, progress mode, file … where these differ; the legend names
only what differs. Points are medians over launches, the band is their 95 % confidence interval, of few launches their range. A thin
line is the LogGP model, where the run has one. What UCX expected (--expected) is a curve beside the
measured one, with lines where it changes the protocol.
"""

import math

from plots.common import draw_grid, interval_in, number, parameters_of, size_axis, size_text, styles_of, title_of, unit_text, what_intervals_are, words

MOST_PANELS = 2


def panel_of(metric):
    """(name, title, label of the axis)"""
    title = f"{words(metric['about'])}, {words(metric['better'])} is better"
    return words(metric["name"]), title, f"{words(metric['title'])} ({unit_text(words(metric['unit']))})"


def models_of(run):
    """What LogGP says of a case's metric, with the number of the range: {(key, metric): (range, value)}"""
    models = {}
    for entry in run.get("loggp_fits", []):
        for at, of in enumerate(entry["ranges"]):
            for size in of["sizes"]:
                for metric in "latency_us", "message_us":
                    models[size["key"], metric] = at, size[f"model_{metric}"]
    return models


def estimate_of(case, metric):
    """What UCX expected, in the metric's unit, and where its protocol begins: (value, (size, protocol)); None where it is not known."""
    use = metric["name"].partition("_")[0]
    row = next((row for row in case["path"].get("protocols") or [] if row.get("use") == use and row.get("expected_us")), None)
    if row is None or metric["name"] not in ("latency_us", "bandwidth_GBps"):
        return None
    us = number(row["expected_us"])
    value = us if metric["unit"] == "us" else number(size_axis(case)["value"]) / us / 1e3
    return value, (number(row["from"]), words(row["protocol"])) if row.get("from") is not None else None


def read(run, file):
    """[(fields that identify a curve, {panel: [(size, median, interval or None, (range, model) or None, where UCX's protocol
    begins or None)]})]"""
    curves, models = {}, models_of(run)
    estimated = any(row.get("expected_us") for case in run["cases"] for row in case["path"].get("protocols") or [])
    for case in run["cases"]:
        axis = size_axis(case)
        if case["shows"]["kind"] != "curve" or not case["metrics"] or not axis or not axis["value"]:
            continue
        parameters = {name: value for name, value in parameters_of(case).items() if name != axis["name"]}
        fields = {"file": file, "benchmark": case["benchmark"], **parameters}

        def points_of(figures, fields=fields):
            also = {"figures": figures} if estimated else {}
            return curves.setdefault(tuple((name, words(value)) for name, value in {**fields, **also}.items()), {})

        for metric in case["shows"]["metrics"]:
            of = case["metrics"].get(metric["name"])
            if metric["shown"] == "drawn" and of and of["p50"] and number(of["p50"]):
                size = int(number(axis["value"]))
                model = models.get((case["key"], metric["name"]))
                points_of("measured").setdefault(panel_of(metric), []).append((size, of["p50"], interval_in(of), model, None))
                if estimate := estimate_of(case, metric):
                    points_of("expected by UCX").setdefault(panel_of(metric), []).append((size, estimate[0], None, None, estimate[1]))
    return [(key, points) for key, points in curves.items() if points]


def size_ticks(low, high):
    """At most nine powers of two that cover the sizes."""
    first, last = low.bit_length() - 1, (high - 1).bit_length()
    step = max(1, -(-(last - first) // 8))
    return [2**exponent for exponent in range(first, last + 1, step)]


def protocols(curves, panel):
    """[(size, protocol)] that UCX takes from this size of the panel on, the smallest size first; of several sets nothing, since
    nobody could tell whose they are."""
    marked = [points[panel] for points in curves.values() if any(point[4] for point in points.get(panel, []))]
    if len(marked) != 1:
        return []
    least = min(point[0] for point in marked[0])
    return sorted({(max(least, point[4][0]), point[4][1]) for point in marked[0] if point[4]})


def thresholds(curves, panel):
    """Those protocols that begin between two sizes."""
    sizes = [point[0] for points in curves.values() for point in points.get(panel, [])]
    return [of for of in protocols(curves, panel) if of[0] > min(sizes)]


def draw_panel(axes, panel, curves, styles):
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    sizes = []
    for key, points in curves.items():
        if panel not in points:
            continue
        ordered = sorted(points[panel], key=lambda point: point[0])
        x, y = [point[0] for point in ordered], [point[1] for point in ordered]
        axes.plot(x, y, markersize=4.5, linewidth=1.6, **styles[key])
        low, high = zip(*(point[2][:2] if point[2] else (math.nan, math.nan) for point in ordered))
        axes.fill_between(x, low, high, color=styles[key]["color"], alpha=0.2, linewidth=0)
        for at in {point[3][0] for point in ordered if point[3]}:
            model = [(point[0], point[3][1]) for point in ordered if point[3] and point[3][0] == at]
            axes.plot(*zip(*model), color="black", linewidth=0.7, label="_LogGP")
        sizes += x
    for begin, protocol in protocols(curves, panel):
        if begin > min(sizes):
            axes.axvline(begin, color="#808080", linewidth=0.8, linestyle=":")
        axes.text(begin, 0.99, f" {protocol}", rotation=90, va="top", fontsize=7, color="#606060", transform=axes.get_xaxis_transform())
    _, title, label = panel
    axes.set_title(title, fontsize=11)
    axes.set_ylabel(label)
    axes.set_xlabel("message size")
    if not sizes:
        axes.text(0.5, 0.5, "not measured", ha="center", transform=axes.transAxes)
        return
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = size_ticks(min(sizes), max(sizes))
    axes.set_xticks(ticks, [size_text(tick) for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_major_locator(LogLocator(numticks=12))
    axes.yaxis.set_minor_formatter(NullFormatter())
    draw_grid(axes)


class Curves:
    """The part of a picture that shows what depends on the message size; `height` in inches."""

    def __init__(self, curves):
        self.curves = curves
        self.styles = styles_of(list(curves))
        self.panels = list(dict.fromkeys(panel for points in curves.values() for panel in points))[:MOST_PANELS]
        # Columns of the legend that fit into 1200 pixels; its rows make the picture taller.
        longest = max(len(style["label"]) for style in self.styles.values())
        self.columns = max(1, min(len(self.styles), 130 // (longest + 9)))
        self.height = 5.3 + 0.22 * math.ceil(len(self.styles) / self.columns)

    def draw(self, figure, runs):
        places = figure.subplots(1, len(self.panels), squeeze=False)[0]
        for axes, panel in zip(places, self.panels):
            draw_panel(axes, panel, self.curves, self.styles)
        figure.suptitle(title_of(runs, list(self.curves)), fontsize=12)
        lines = {line.get_label(): line for axes in places for line in axes.get_lines() if not line.get_label().startswith("_")}
        band = what_intervals_are(p[2] for points in self.curves.values() for of in points.values() for p in of)
        figure.legend(
            lines.values(),
            lines.keys(),
            loc="outside lower center",
            ncols=self.columns,
            frameon=False,
            title="median over launches" + (f"; band: its {band}" if band else ""),
            title_fontsize=10,
        )


def parts(found):
    return [Curves(dict(found))] if found else []
