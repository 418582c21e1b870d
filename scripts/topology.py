#!/usr/bin/env python3
"""Draws the wiring of a machine from what ucx-bench topo --format json writes.

The tree hangs from the host; NVLinks run below the devices. A line is as wide as the link's specified
capacity one way; what is unknown is thin and dashed. With loads, which a run's page has, its colour and a
number say how much of that was used, in the busier direction. Exit status: 0 drawn, 2 unusable input or output,
3 Jinja2 is missing.
"""

import runfile
from commandline import Parser, write_text

KINDS = ("host", "socket", "numa", "host-bridge", "bridge", "gpu", "nic", "switch")


def read(topology):
    """The title, the devices by name, and the links that are drawn."""
    devices = {device["name"]: device for device in topology["devices"] if device["kind"] in KINDS}
    links = [link for link in topology["links"] if {link["from"], link["to"]} <= devices.keys()]
    return f"{topology['source'] or '?'}, hash {topology['hash']}", devices, links


def drawn(name):
    """SVG of the file of that name."""
    try:
        return draw(*read(runfile.read(name)))
    except runfile.DAMAGE as error:
        raise runfile.NotARun(f"'{name}' is not a topology ({type(error).__name__}: {error})")


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


def draw(title, devices, links, loads=None):
    """SVG, as large as its window; `loads` as loads_of() has them, None where nobody has measured."""
    from pages import template, wiring

    return template.filled("wiring.svg.j2", wiring.drawing(title, devices, links, place(devices), loads))


def main():
    parser = Parser("topology", "topo", prog="ucx-bench topo --format svg", description="The wiring of a machine.")
    parser.add_argument("topology", metavar="TOPOLOGY.json", help="what ucx-bench topo --format json wrote")
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="the picture; - is stdout")
    arguments = parser.parse_args()
    with parser.making(arguments.output, "-o"):
        write_text(arguments.output, '<?xml version="1.0" encoding="utf-8"?>\n' + drawn(arguments.topology))


if __name__ == "__main__":
    main()
