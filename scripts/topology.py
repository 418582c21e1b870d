#!/usr/bin/env python3
"""Draws the wiring of a machine from what ucx-bench topo --format json writes.

The tree hangs from the host; NVLinks run below the devices. A line is as wide as the link's specified
capacity one way; what is unknown is thin and dashed. With loads, which a run's page has, its colour and a
number say how much of that was used, in the busier direction. Exit status: 0 drawn, 2 unusable input or output,
3 matplotlib is missing.
"""

import io
import json
import pathlib
import re

from commandline import Parser, write_text

# Okabe and Ito's palette; every class also has a line style of its own.
LINKS = {
    "PCIe": ("#0072B2", "-"),
    "NVLink": ("#009E73", "-"),
    "NVLink-C2C": ("#CC79A7", "-"),
    "socket": ("#D55E00", "-."),
    "internal": ("#999999", ":"),
}
KINDS = {
    "host": "#ffffff",
    "socket": "#f0f0f0",
    "numa": "#f0f0f0",
    "host-bridge": "#ffffff",
    "bridge": "#ffffff",
    "gpu": "#cfe8dd",
    "nic": "#f6d9c8",
    "switch": "#cfe8dd",
}
NARROWEST, WIDEST = 1.2, 7.0  # points
UNUSED = "#c4c4c4"


def read(topology):
    """The title, the devices by name, and the links that are drawn."""
    devices = {device["name"]: device for device in topology["devices"] if device["kind"] in KINDS}
    links = [link for link in topology["links"] if {link["from"], link["to"]} <= devices.keys()]
    return f"{topology['source'] or '?'}, hash {topology['hash']}", devices, links


def load(name, parser):
    try:
        return read(json.loads(pathlib.Path(name).read_text(encoding="utf-8")))
    except OSError as error:
        parser.fail(2, f"cannot read '{name}': {error.strerror}")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        parser.fail(2, f"'{name}' is not a topology ({type(error).__name__}: {error})")


def children_of(devices):
    children = {name: [] for name in devices}
    for name, device in devices.items():
        if device["parent"] in children:
            children[device["parent"]].append(name)
    return children


def place(devices):
    """(x, y) of each device: leaves side by side, above them what they hang from."""
    children = children_of(devices)
    depth = {}

    def measure(name, level):
        depth[name] = level
        for child in children[name]:
            measure(child, level + 1)

    switches = [name for name, device in devices.items() if device["kind"] == "switch"]
    roots = [name for name in devices if devices[name]["parent"] is None and name not in switches]
    for root in roots:
        measure(root, 0)
    deepest = max(depth.values(), default=0)
    positions, next_x = {}, 0

    def settle(name):
        nonlocal next_x
        for child in children[name]:
            settle(child)
        below = [positions[child][0] for child in children[name]]
        leaf = devices[name]["kind"] in ("gpu", "nic")
        if not below:
            below, next_x = [next_x], next_x + 1
        positions[name] = (sum(below) / len(below), 0 if leaf else deepest - depth[name])

    for root in roots:
        settle(root)
    middle = (max(next_x, len(switches)) - 1) / 2
    for index, name in enumerate(switches):
        positions[name] = (middle + (index - (len(switches) - 1) / 2) * 2, -2.2)
    return positions


def label_of(device):
    lines = [device["name"]]
    for key in ("alias", "model"):
        if device[key] and device["kind"] in ("gpu", "nic", "socket"):
            lines.append(device[key] if len(device[key]) < 22 else device[key][:20] + "…")
    if device["kind"] == "numa" and device["cpu_affinity"] and device["cpu_affinity"] not in device["name"]:
        lines.append(f"CPUs {device['cpu_affinity']}")
    return "\n".join(lines)


def undirected(links):
    """One entry for both directions."""
    seen = {}
    for link in links:
        seen.setdefault((frozenset((link["from"], link["to"])), link["class"]), link)
    return seen.values()


def color_of(part):
    import matplotlib

    # Its pale end would vanish on white.
    return matplotlib.colormaps["viridis_r"](0.15 + 0.85 * min(part, 1))


def draw_links(axes, links, positions, most, loads):
    from matplotlib.patches import FancyArrowPatch

    for link in undirected(links):
        color, style = LINKS.get(link["class"], ("#000000", "-"))
        capacity = link["spec_GBps"]
        width = NARROWEST + (WIDEST - NARROWEST) * capacity / most if capacity else NARROWEST
        start, end = positions[link["from"]], positions[link["to"]]
        if capacity is None and link["class"] != "internal":
            style = "--"
        part = None
        if loads is not None:
            part = loads.get((frozenset((link["from"], link["to"])), link["class"]))
            color = UNUSED if part is None else color_of(part)
        flat = link["class"] == "NVLink" and start[1] == end[1]
        # To the right it bends down: matplotlib's sign of an arc depends on the direction.
        bend = (0.35 if start[0] < end[0] else -0.35) if flat else 0
        axes.add_patch(
            FancyArrowPatch(
                start, end, arrowstyle="-", color=color, linestyle=style, linewidth=width, zorder=1,
                alpha=0.85, connectionstyle=f"arc3,rad={bend}",
            )
        )
        if part is not None:
            x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
            # The middle of an arc; a unit is about twice as wide as high.
            y -= abs(bend) * abs(end[0] - start[0])
            axes.text(x, y, f"{part:.0%}".replace("%", " %"), ha="center", va="center", zorder=3, fontsize=7,
                      bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8})


def loads_of(used, devices):
    """{(both ends, class): the part of its capacity that was used, in the busier direction}; of links whose capacity
    is not known none."""
    switches = [name for name, device in devices.items() if device["kind"] == "switch"]
    parts = {}
    for entry in used:
        if not entry["GBps"]:
            continue
        # Switches are one: each has the same part of what goes through them.
        ends = [switches if entry[end] == "NVSwitches" else [entry[end]] for end in ("from", "to")]
        for one in ends[0]:
            for other in ends[1]:
                key = frozenset((one, other)), entry["class"]
                parts[key] = max(parts.get(key, 0), entry["used_GBps"] / entry["GBps"])
    return parts


def legend_of(axes, links, loads):
    from matplotlib.lines import Line2D

    present = [name for name in LINKS if any(link["class"] == name for link in links)]
    entries = []
    for name in present:
        known = [link["spec_GBps"] for link in links if link["class"] == name and link["spec_GBps"]]
        rates = ", " + " to ".join(dict.fromkeys(f"{rate:.4g}" for rate in (min(known), max(known)))) + " GB/s" if known else ""
        if name != "internal" and not known:
            rates = ", capacity unknown"
        color, style = LINKS[name]
        style = style if known or name == "internal" else "--"
        color = color if loads is None else UNUSED
        entries.append(Line2D([], [], color=color, linestyle=style, linewidth=2.5, label=name + rates))
    if entries:
        if loads is not None:
            entries += [Line2D([], [], color=color_of(part), linewidth=4, label=f"{part:.0%} used".replace("%", " %"))
                        for part in (0, 0.5, 1)]
        axes.legend(handles=entries, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=min(3, len(entries)), frameon=False)


def draw(title, devices, links, loads=None):
    """`loads` as loads_of() has them; None where nobody has measured."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "ucx-bench", "svg.fonttype": "none"})
    positions = place(devices)
    xs, ys = [x for x, _ in positions.values()], [y for _, y in positions.values()]
    most = max((link["spec_GBps"] for link in links if link["spec_GBps"]), default=1)
    figure, axes = plt.subplots(
        figsize=(max(8, 1.25 * (max(xs) - min(xs) + 1.5)), max(3, 0.95 * (max(ys) - min(ys) + 2))),
        layout="constrained",
    )
    draw_links(axes, links, positions, most, loads)
    for name, (x, y) in positions.items():
        axes.text(
            x, y, label_of(devices[name]), ha="center", va="center", zorder=2, fontsize=8,
            bbox={"boxstyle": "round,pad=0.3", "facecolor": KINDS[devices[name]["kind"]], "edgecolor": "#333333"},
        )
    arcs = any(link["class"] == "NVLink" for link in links)
    axes.set_xlim(min(xs) - 0.8, max(xs) + 0.8)
    axes.set_ylim(min(ys) - (1.9 if arcs and min(ys) == 0 else 0.7), max(ys) + 0.6)
    axes.set_axis_off()
    axes.set_title(f"{title}\nline width: capacity one way" + ("" if loads is None else "; colour: how much of it was used"), fontsize=10)
    legend_of(axes, links, loads)
    return figure


def fitting(svg):
    """As large as the window, whatever it was drawn as."""
    return re.sub(r'(<svg [^>]*?)width="[^"]*" height="[^"]*" ', r"\1", svg, count=1)


def main():
    parser = Parser("topology", "topo", prog="ucx-bench topo --format svg", description="The wiring of a machine.")
    parser.add_argument("topology", metavar="TOPOLOGY.json", help="what ucx-bench topo --format json wrote")
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="the picture; - is stdout")
    arguments = parser.parse_args()
    title, devices, links = load(arguments.topology, parser)
    with parser.making(arguments.output, "-o"):
        drawn = io.StringIO()
        draw(title, devices, links).savefig(drawn, format="svg", metadata={"Date": None})
        write_text(arguments.output, fitting(drawn.getvalue()))


if __name__ == "__main__":
    main()
