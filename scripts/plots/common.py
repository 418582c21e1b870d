"""What every picture needs: values that are checked, curves told apart, titles, text for numbers."""

import dataclasses
import functools
import math
import typing

import literal

# Okabe and Ito's palette: told apart by colour-blind readers; yellow is left out, too pale on white.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
LINES = ["-", "--", ":", "-."]
# What tells curves apart by colour first; all else by line and marker.
BY_COLOR = ["transports", "comm", "progress_mode", "file", "api", "memory"]
# Of a curve, these say by their value alone what they are.
PLAIN = ("transports", "comm", "api", "file", "scaling", "figures")
UNITS = {"us": "µs"}
MOST = 2**63  # more than any size that ucx-bench takes


def number(value):
    """A time, a rate or a count as measured; what is none makes the file a damaged one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < MOST:
        raise ValueError(f"{str(value)[:40]!r} is no measured number")
    return float(value)


def positive(value):
    if number(value) == 0:
        raise ValueError("0 is no measured time or rate")
    return float(value)


def interval(value):
    if value is None:
        return None
    low, high = value
    return number(low), number(high)


class Interval(typing.NamedTuple):
    """Of a median over launches."""

    low: float
    high: float
    kind: str  # ci95, or range: of launches that are too few for 95 %


def interval_in(summary):
    """Of a median, None where there is none; files of before have the 95 % ones alone."""
    of = summary.get("interval")
    if "interval" not in summary and summary.get("ci95") is not None:
        low, high = summary["ci95"]
        of = {"low": low, "high": high, "kind": "ci95"}
    if of is None:
        return None
    found = Interval(of["low"], of["high"], of["kind"])
    if not all(isinstance(end, (int, float)) and -MOST < end < MOST for end in found[:2]) or found.kind not in ("ci95", "range"):
        raise ValueError(f"{str(of)[:40]!r} is no interval")
    return found


def what_intervals_are(intervals):
    """Of those that a picture draws, in words; empty where it draws none."""
    kinds = {of.kind for of in intervals if of}
    if kinds == {"range"}:
        return "range of the launches"
    return "95 % confidence interval" + (", or range of fewer than six launches" if "range" in kinds else "") if kinds else ""


def carriers(path):
    """{what carried bytes, of cuda_ipc also what they crossed: its share}; a set's member nvlink only allows cuda_ipc."""
    ipc = "cuda_ipc" + (f" ({path['medium']})" if path.get("medium") else "")
    by = {ipc if name == "nvlink" else name: share for name, share in (path.get("carried_by") or {}).items()}
    return by | ({"unknown": path["unknown_share"]} if "unknown_share" in path else {})


def words(value):
    if isinstance(value, list):
        return "+".join(words(part) for part in value)
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def promised(case):
    """The rows of a case's limits by a specification, or of unknown ones; what was calibrated is another matter."""
    return [row for row in case.get("limits") or [] if row.get("source") != "calibrated"]


def measured(run, kind):
    """The cases of that kind."""
    return [case for case in run["cases"] if case["state"] == "measured" and case["shows"]["kind"] == kind]


def row_name(case):
    """What a case is called in its table: "4 KiB, one pair"."""
    return ", ".join(axis["text"] for axis in case["shows"]["axes"] if "follows" not in axis)


def size_axis(case):
    """The axis of message sizes; None where there is none."""
    return next((axis for axis in case["shows"]["axes"] if axis.get("unit") == "B"), None)


def metric_of(case, name):
    """What the case says of a metric."""
    return next((metric for metric in case["shows"]["metrics"] if metric["name"] == name), None)


def unit_text(unit):
    return UNITS.get(unit, unit)


def by_at_once(run):
    """[{"one": case, "all": case}] of matrices that differ in nothing but the pairs that send at the same time."""
    found = {}
    for case in measured(run, "matrix"):
        same = tuple(words(axis["value"]) for axis in case["shows"]["axes"] if axis.get("unit") != "pairs")
        found.setdefault((case["shows"]["block"], same), {})[case["shows"]["at_once"]] = case
    return list(found.values())


@functools.cache
def pyplot():
    """As every picture needs it: all text of one is literal."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    set_text = plt.Text.set_text
    plt.Text.set_text = lambda text, words: set_text(text, literal.for_terminal(str("" if words is None else words)).replace("\r\n", "\n"))
    # Names come from files: a dollar sign is one.
    plain_text = {"text.parse_math": False}
    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "ucx-bench", "axes.axisbelow": True, **plain_text})
    return plt


def percent(share):
    """As ucx-bench rounds it: "43 %", "<1 %" for less that is not 0."""
    return "<1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def significant(value, digits=3):
    """0.0209, 10.0, 285: at least so many digits, but whole numbers whole."""
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = digits - 1 - math.floor(math.log10(rounded)) if rounded > 0 else 0
    return f"{value:.{max(0, decimals)}f}"


def size_text(size):
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size:g} B"


def ucx_of(run):
    """Its version, or which ranks have which: "1.13.1 (rank 0 on node0), 1.22.0 (rank 1 on node1)"."""
    versions = run["ucx"].get("versions")
    if not versions:
        return words(run["ucx"].get("version") or "?")
    return ", ".join(f"{words(of['version'])} ({'rank' if len(of['ranks']) == 1 else 'ranks'} "
                     f"{', '.join(map(words, of['ranks']))} on {', '.join(map(words, of['hosts']))})" for of in versions)


@dataclasses.dataclass(frozen=True)
class Provenance:
    """Where a run comes from; its labels say what its figures do not stand for."""

    machine: str
    ucx: str
    commit: str
    labels: str

    @classmethod
    def of(cls, run):
        labels = list(run["machine"]["labels"])
        for case in run["cases"]:
            labels += case["labels"]
        return cls(
            machine=words(run["machine"].get("id") or "?"),
            ucx=ucx_of(run),
            commit=words(run["build"].get("commit") or "?")[:10],
            labels=", ".join(dict.fromkeys(labels)),
        )


def parameters_of(case):
    """Files of before there was --comm do not say that UCX moved their messages. What a transport set
    did not carry is not drawn as if it had."""
    parameters = {name: value for name, value in case["parameters"].items() if (name, value) != ("comm", "ucx")}
    if case["path"].get("verdict") in ("partly", "other") and "transports" in parameters:
        carriers = " and ".join(words(name) for name in case["path"].get("carriers") or ["something else"])
        parameters["transports"] = f"{words(parameters['transports'])} ({carriers} carried it)"
    return parameters


def over(case):
    """What carried the messages: the transports, and by what if that was not UCX ("tcp by sockets")."""
    parameters = parameters_of(case)
    return words(parameters["transports"]) + (f" by {words(parameters['comm'])}" if "comm" in parameters else "")


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
            fields[name] if name in PLAIN else f"{name.replace('_', ' ')} {fields[name]}"
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


def title_of(runs, keys, also=()):
    """Two lines: what was measured, with the fields `also` if all have them in common; and where."""

    def each(field):
        return " | ".join(dict.fromkeys(getattr(run, field) or "none" for run in runs))

    def common(name):
        values = {dict(key).get(name) for key in keys}
        return values.pop() if len(values) == 1 else None

    what = [common("benchmark") or "ucx-bench", common("api")]
    memory = common("memory")
    first = " ".join(part for part in what if part) + (f", {memory.replace('+', ' to ')}" if memory else "")
    first += "".join(f", {name} {common(name)}" for name in also if common(name))
    second = f"{each('machine')},  UCX {each('ucx')},  ucx-bench commit {each('commit')}"
    if any(run.labels for run in runs):
        second += f",  labels: {each('labels')}"
    return f"{first}\n{second}"


def draw_rows(figure, rows, heights):
    """Panels row by row; one that is alone and not wide stands in the middle."""
    grid = figure.add_gridspec(len(rows), 1, height_ratios=heights)
    for place, panels in zip(grid, rows):
        cells = place.subgridspec(1, len(panels))
        if len(panels) == 1 and not panels[0].wide:
            cells = [place.subgridspec(1, 3, width_ratios=(1, 2, 1))[1]]
        for cell, panel in zip(cells, panels):
            panel.draw(figure.add_subplot(cell))


def draw_grid(axes):
    axes.grid(True, which="major", color="#d0d0d0", linewidth=0.7)
    axes.grid(True, which="minor", color="#ececec", linewidth=0.4)


def legend_below(axes, handles=()):
    """Under the axis label, in as many columns as fit below the axes; `handles` after the axes' own."""
    handles = [*axes.get_legend_handles_labels()[0], *handles]
    longest = max(len(handle.get_label()) for handle in handles)
    characters = 150 // axes.get_subplotspec().get_gridspec().ncols
    rows = math.ceil(len(handles) / max(1, characters // (longest + 8)))
    axes.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        borderaxespad=4.5,
        ncols=math.ceil(len(handles) / rows),
        frameon=False,
        fontsize=9,
    )
