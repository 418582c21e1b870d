"""The wiring of a machine as SVG: what stands where, for wiring.svg.j2. Lengths are pixels at full size."""

from plots.common import significant

# Okabe and Ito's palette; every class also has a line style of its own. A page's style has colours for dark windows.
LINKS = {
    "PCIe": ("#0072b2", ""),
    "NVLink": ("#009e73", ""),
    "NVLink-C2C": ("#cc79a7", ""),
    "socket": ("#d55e00", "10 4 2 4"),
    "internal": ("#999999", "2 3"),
}
FILLS = {"socket": "#f0f0f0", "numa": "#f0f0f0", "gpu": "#cfe8dd", "switch": "#cfe8dd", "nic": "#f6d9c8"}
OTHER, UNUSED, UNKNOWN = "#000000", "#a8a8a4", "7 4"
SHADES = ((86, 180, 233), (230, 159, 0), (176, 58, 16))  # hardly used, half used, used up
NARROWEST, WIDEST = 1.5, 8.0  # of a line
LETTER, LINE, PADDING, GAP, LEVEL, MARGIN = 7, 15, 6, 12, 66, 14
LEGEND_LINE, LEGEND_GAP = 30, 24
BEND = 0.55  # of its length, how far the middle of an arc's control lies below
MOST_LETTERS = 24


def color_of(part):
    at = min(part, 1) * (len(SHADES) - 1)
    first = min(int(at), len(SHADES) - 2)
    return "#" + "".join(f"{round(low + (high - low) * (at - first)):02x}" for low, high in zip(*SHADES[first : first + 2]))


def of_class(name):
    return name.replace(" ", "-")


def models_of(devices):
    """{kind: the model that all of a kind have}; it is told once."""
    found = {}
    for device in devices.values():
        found.setdefault(device["kind"], []).append(device["model"])
    return {kind: of[0] for kind, of in found.items() if kind in ("gpu", "nic", "socket") and of[0] and len(of) > 1 and len(set(of)) == 1}


def label_of(device, models):
    lines = [device["name"]]
    if device["kind"] in ("gpu", "nic", "socket"):
        lines.append(device["alias"])
        if device["kind"] not in models:
            lines.append(device["model"])
    if device["kind"] == "numa" and device["cpu_affinity"] and device["cpu_affinity"] not in device["name"]:
        lines.append(f"CPUs {device['cpu_affinity']}")
    return [line if len(line) <= MOST_LETTERS else line[: MOST_LETTERS - 1] + "…" for line in lines if line]


def about(device):
    """All that is known of it."""
    known = [device["name"], device["alias"], device["model"], device["pci"], device["state"]]
    return ", ".join(part for part in known if part)


def width_of(text):
    return LETTER * len(text)


def boxes_of(devices, positions, models):
    """Of each device what is drawn, at column x of level y."""
    boxes = {}
    for name, (x, y) in positions.items():
        lines = label_of(devices[name], models)
        boxes[name] = {"x": x, "y": y, "lines": lines, "kind": devices[name]["kind"], "fill": FILLS.get(devices[name]["kind"], "#ffffff"),
                       "about": about(devices[name]), "width": max(map(width_of, lines)) + 2 * PADDING, "height": LINE * len(lines) + PADDING}
    return boxes


def spread(boxes):
    """Columns and levels become pixels: columns as wide as the widest two neighbours of a level need."""
    levels = {}
    for box in boxes.values():
        levels.setdefault(box["y"], []).append(box)
    column = 1
    for level in levels.values():
        level.sort(key=lambda box: box["x"])
        for left, right in zip(level, level[1:]):
            column = max(column, ((left["width"] + right["width"]) / 2 + GAP) / (right["x"] - left["x"]))
    top = max(levels)
    left = min(column * box["x"] - box["width"] / 2 for box in boxes.values())
    for box in boxes.values():
        box["x"] = round(column * box["x"] - left, 1)
        box["y"] = round((top - box["y"]) * LEVEL, 1)


def undirected(links):
    """One entry for both directions."""
    seen = {}
    for link in links:
        seen.setdefault((frozenset((link["from"], link["to"])), link["class"]), link)
    return seen.values()


def line_of(link, boxes, most, loads):
    color, dash = LINKS.get(link["class"], (OTHER, ""))
    capacity, start, end = link["spec_GBps"], boxes[link["from"]], boxes[link["to"]]
    told = [f"{link['from']} – {link['to']}: {link['class']}"]
    told.append(f"{significant(capacity, 4)} GB/s one way" if capacity else "" if link["class"] == "internal" else "capacity unknown")
    part = None
    if loads is not None:
        part = loads.get((frozenset((link["from"], link["to"])), link["class"]))
        color = UNUSED if part is None else color_of(part)
    share = "" if part is None else f"{part:.0%}".replace("%", " %")
    bend = BEND * abs(start["x"] - end["x"]) if link["class"] == "NVLink" and start["y"] == end["y"] else 0
    middle = (start["x"] + end["x"]) / 2, (start["y"] + end["y"]) / 2
    return {
        "path": f"M{start['x']} {start['y']}Q{middle[0]:.1f} {middle[1] + bend:.1f} {end['x']} {end['y']}", "color": color,
        "dash": UNKNOWN if capacity is None and link["class"] != "internal" else dash,
        "width": round(NARROWEST + (WIDEST - NARROWEST) * capacity / most if capacity else NARROWEST, 1),
        "class": "used" if loads is not None else of_class(link["class"]), "share": share, "middle": (round(middle[0], 1), round(middle[1] + bend / 2, 1)),
        "about": ", ".join(part for part in [*told, f"{share} used" if share else ""] if part), "lowest": middle[1] + bend / 2,
    }


def legend_of(links, models, loads):
    """[(class, text, line)]"""
    entries = []
    for name, (color, dash) in LINKS.items():
        of = [link["spec_GBps"] for link in links if link["class"] == name]
        if not of:
            continue
        known = [rate for rate in of if rate]
        text = name + (", " + " to ".join(dict.fromkeys(f"{rate:.4g}" for rate in (min(known), max(known)))) + " GB/s" if known else "")
        if name != "internal" and not known:
            text, dash = f"{name}, capacity unknown", UNKNOWN
        used = loads is not None
        entries.append({"class": "used" if used else of_class(name), "text": text, "color": UNUSED if used else color, "dash": dash})
    if loads is not None:
        entries += [{"class": "used", "text": f"{part:.0%} used".replace("%", " %"), "color": color_of(part), "dash": ""} for part in (0, 0.5, 1)]
    entries += [{"class": "", "text": f"{kind.upper() if kind != 'socket' else kind}: {model}", "color": "", "dash": ""} for kind, model in models.items()]
    return entries


def placed(entries, width, top):
    """In rows of that width; the height below the last row."""
    x, y = 0, top
    for entry in entries:
        line = LEGEND_LINE if entry["color"] else 0
        needed = line + width_of(entry["text"])
        if x and x + needed > width:
            x, y = 0, y + LINE + 4
        entry |= {"x": x, "y": y, "text_x": x + line + (4 if line else 0), "end": x + line}
        x += needed + LEGEND_GAP
    return y + LINE


def drawing(title, devices, links, positions, loads=None):
    """Of wiring.svg.j2; `positions` {name: (column, level)}, `loads` as topology.loads_of has them, None where nobody
    has measured."""
    models = models_of(devices)
    boxes = boxes_of(devices, positions, models)
    spread(boxes)
    titles = [title, "line width: capacity one way" + ("" if loads is None else "; colour: how much of it was used")]
    most = max((link["spec_GBps"] for link in links if link["spec_GBps"]), default=1)
    lines = [line_of(link, boxes, most, loads) for link in undirected(links)]
    entries = legend_of(links, models, loads)
    width = max([box["x"] + box["width"] / 2 for box in boxes.values()] + [width_of(text) for text in titles]
                + [LEGEND_LINE + width_of(entry["text"]) for entry in entries])
    lowest = max([box["y"] + box["height"] / 2 for box in boxes.values()] + [line["lowest"] for line in lines])
    above = LINE * len(titles) + LINE + max(box["height"] for box in boxes.values()) / 2
    height = above + placed(entries, width, lowest + 2 * LINE)
    return {"titles": titles, "boxes": list(boxes.values()), "lines": lines, "entries": entries, "above": above,
            "width": round(width + 2 * MARGIN), "height": round(height + 2 * MARGIN), "line": LINE, "margin": MARGIN}
