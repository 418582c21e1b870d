#!/usr/bin/env python3
"""Draws latency and bandwidth over message size from run files of ucx-bench.

One curve per transport set, and per API, progress mode, file … where these differ; the legend names
only what differs. Points are medians over launches, the band is their 95 % confidence interval.
Exit status: 0 drawn, 2 unusable input or output, 3 matplotlib is missing.
"""

import argparse
import math
import pathlib
import sys

import runfile

# Okabe and Ito's palette: told apart by colour-blind readers; yellow is left out, too pale on white.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
LINES = ["-", "--", ":", "-."]
PANELS = [
    ("latency_us", "one-way latency, lower is better", "latency (µs)"),
    ("bandwidth_GBps", "bandwidth one way as received, higher is better", "bandwidth (GB/s)"),
]
# What tells curves apart by colour first; all else by line and marker.
BY_COLOR = ["transports", "progress_mode", "file", "api"]
FORMATS = (".png", ".svg", ".pdf")


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"plot: {message}; see ucx-bench plot --help\n")


def fail(status, line):
    print(f"plot: {line}", file=sys.stderr)
    sys.exit(status)


def words(value):
    if isinstance(value, list):
        return "+".join(words(part) for part in value)
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def curves_of(run, file):
    """{fields that identify a curve: {metric: [(bytes, median, interval or None)]}}"""
    curves = {}
    for case in run["cases"]:
        parameters = dict(case["parameters"])
        size = parameters.pop("bytes", None)
        if not case["metrics"] or not size:
            continue
        fields = {"file": file, "benchmark": case["benchmark"], **parameters}
        key = tuple((name, words(value)) for name, value in fields.items())
        points = curves.setdefault(key, {})
        for metric, *_ in PANELS:
            of = case["metrics"].get(metric)
            if of and of["p50"] and of["p50"] > 0:
                points.setdefault(metric, []).append((size, of["p50"], of["ci95"]))
    return {key: points for key, points in curves.items() if points}


def collect(files):
    runs, curves = [], {}
    stems = [pathlib.Path(file).stem for file in files]
    for file, stem in zip(files, stems):
        run = runfile.load(file)
        try:
            curves.update(curves_of(run, stem if stems.count(stem) == 1 else str(file)))
            runs.append(run)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise runfile.NotARun(
                f"'{file}' is a damaged ucx-bench run ({type(error).__name__}: {error}); "
                "give it as ucx-bench --json wrote it"
            )
    return runs, curves


def styles_of(keys):
    """A label and a line style per curve, from the fields in which the curves differ."""
    names = list(dict.fromkeys(name for key in keys for name, _ in key))
    differing = [name for name in names if len({dict(key).get(name) for key in keys}) > 1]
    # One file per setting needs no file names.
    if len({tuple(field for field in key if field[0] != "file") for key in keys}) == len(keys):
        differing = [name for name in differing if name != "file"]
    # Devices follow from the transports unless the same set ran on several.
    if len({tuple(field for field in key if field[0] != "net_devices") for key in keys}) == len(keys):
        differing = [name for name in differing if name != "net_devices"]
    by_color = next((name for name in BY_COLOR if name in differing), None)
    rest = [name for name in differing if name != by_color]
    colors, others, styles = {}, {}, {}
    for key in keys:
        fields = dict(key)
        color = colors.setdefault(fields.get(by_color), len(colors))
        other = others.setdefault(tuple(fields.get(name) for name in rest), len(others))
        shown = differing or ["transports"]
        shown = sorted(shown, key=lambda name: (name != by_color, names.index(name)))
        label = ", ".join(
            fields[name] if name in ("transports", "api", "file") else f"{name.replace('_', ' ')} {fields[name]}"
            for name in shown
            if name in fields
        )
        styles[key] = {
            "label": label,
            "color": COLORS[color % len(COLORS)],
            "marker": MARKERS[(color + other) % len(MARKERS)],
            "linestyle": LINES[other % len(LINES)],
        }
    return styles


def title_of(runs, keys):
    def each(pick):
        return " | ".join(dict.fromkeys(pick(run) for run in runs))

    def common(name):
        values = {dict(key).get(name) for key in keys}
        return values.pop() if len(values) == 1 else None

    what = [common("benchmark") or "ucx-bench", common("api")]
    memory = common("memory")
    first = " ".join(part for part in what if part) + (f", {memory.replace('+', ' to ')}" if memory else "")
    second = (
        f"{each(lambda run: run['machine'].get('id') or '?')},  "
        f"UCX {each(lambda run: run['ucx'].get('version') or '?')},  "
        f"ucx-bench commit {each(lambda run: (run['build'].get('commit') or '?')[:10])}"
    )
    return first, second


def size_text(size):
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size:g} B"


def size_ticks(low, high):
    """At most nine powers of two that cover the sizes."""
    first, last = low.bit_length() - 1, (high - 1).bit_length()
    step = max(1, -(-(last - first) // 8))
    return [2**exponent for exponent in range(first, last + 1, step)]


def draw_panel(axes, metric, title, ylabel, curves, styles):
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    sizes = []
    for key, points in curves.items():
        if metric not in points:
            continue
        ordered = sorted(points[metric], key=lambda point: point[0])
        x, y = [point[0] for point in ordered], [point[1] for point in ordered]
        axes.plot(x, y, markersize=4.5, linewidth=1.6, **styles[key])
        low, high = zip(*(interval or (math.nan, math.nan) for _, _, interval in ordered))
        axes.fill_between(x, low, high, color=styles[key]["color"], alpha=0.2, linewidth=0)
        sizes += x
    axes.set_title(title, fontsize=11)
    axes.set_ylabel(ylabel)
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
    axes.grid(True, which="major", color="#d0d0d0", linewidth=0.7)
    axes.grid(True, which="minor", color="#ececec", linewidth=0.4)


def draw(runs, curves, out):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "ucx-bench", "axes.axisbelow": True})
    styles = styles_of(list(curves))
    # Columns of the legend that fit into 1200 pixels; its rows make the picture taller.
    columns = max(1, min(len(styles), 130 // (max(len(style["label"]) for style in styles.values()) + 9)))
    height = 5.3 + 0.22 * math.ceil(len(styles) / columns)
    figure, panels = plt.subplots(1, 2, figsize=(12, height), dpi=100, layout="constrained")
    for axes, panel in zip(panels, PANELS):
        draw_panel(axes, *panel, curves, styles)
    first, second = title_of(runs, list(curves))
    figure.suptitle(f"{first}\n{second}", fontsize=12)
    lines = {line.get_label(): line for axes in panels for line in axes.get_lines()}
    banded = any(p[2] for points in curves.values() for of in points.values() for p in of)
    figure.legend(
        lines.values(),
        lines.keys(),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        title="median over launches" + ("; band: its 95 % confidence interval" if banded else ""),
        title_fontsize=10,
    )
    plain = {"Date": None} if out.suffix == ".svg" else {"CreationDate": None} if out.suffix == ".pdf" else {}
    figure.savefig(out, metadata=plain)


def main():
    parser = Parser(prog="ucx-bench plot", description="Latency and bandwidth over message size.")
    parser.add_argument("runs", metavar="RUN.json", nargs="+", help="files written by ucx-bench --json")
    parser.add_argument("-o", "--output", metavar="FILE", help="a .png, .svg or .pdf; default: RUN.png")
    arguments = parser.parse_args()
    out = pathlib.Path(arguments.output or pathlib.Path(arguments.runs[0]).with_suffix(".png"))
    if out.suffix not in FORMATS:
        fail(2, f"cannot draw '{out}': the name must end in {', '.join(FORMATS)}")
    try:
        runs, curves = collect(arguments.runs)
        if not curves:
            fail(2, f"nothing to draw: no measured case in {', '.join(arguments.runs)}")
        draw(runs, curves, out)
    except runfile.NotARun as error:
        fail(2, error)
    except OSError as error:
        fail(2, f"cannot write '{out}': {error.strerror}; choose another path with -o")
    except ImportError as error:
        fail(3, f"cannot run here: {error}; run ./scripts/setup/python in the source tree or set UCXBENCH_PYTHON")
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
