"""Pictures of base and new: curves over size as SVG, pairs of ranks as tables whose cells are shaded."""

import math

from markupsafe import Markup, escape

from plots.common import measured, promised, row_name, significant, size_axis, size_text, unit_text

WIDTH, HEIGHT = 520, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 34, 40
LEAST_SIZES = 3
MOST_PANELS = 24
MOST_RANKS = 32
LOST = 0.05  # of a pair's rate, to be named with its rank


def tag(name, text="", **attributes):
    values = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    return f"<{name}{values}>{escape(text)}</{name}>"


class Axes:
    """Logarithmic both ways."""

    def __init__(self, sizes, values):
        self.x = math.log2(min(sizes)), math.log2(max(sizes))
        low, high = math.log10(min(values)), math.log10(max(values))
        margin = max(0.05, (high - low) * 0.06)
        self.y = low - margin, high + margin

    def at(self, size, value):
        x = (math.log2(size) - self.x[0]) / (self.x[1] - self.x[0])
        y = (math.log10(value) - self.y[0]) / (self.y[1] - self.y[0])
        return round(LEFT + x * (WIDTH - LEFT - RIGHT), 1), round(HEIGHT - BOTTOM - y * (HEIGHT - TOP - BOTTOM), 1)

    def ticks(self):
        """Of values: 1, 2 and 5 times powers of ten, and fewer where these are many."""
        steps = (1, 2, 5) if self.y[1] - self.y[0] < 2.5 else (1,)
        powers = range(math.floor(self.y[0]), math.ceil(self.y[1]) + 1)
        found = [step * 10.0**power for power in powers for step in steps]
        return [value for value in found if self.y[0] <= math.log10(value) <= self.y[1]]


def grid(axes, sizes, unit):
    parts = []
    for value in axes.ticks():
        _, y = axes.at(sizes[0], value)
        parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
        parts.append(tag("text", f"{value:g}", x=LEFT - 6, y=y + 4, class_="tick end"))
    step = math.ceil(len(sizes) / 7)
    for size in sizes[::step]:
        x, _ = axes.at(size, 10 ** axes.y[0])
        parts.append(tag("text", size_text(size), x=x, y=HEIGHT - BOTTOM + 16, class_="tick middle"))
    return parts + [tag("text", unit, x=LEFT, y=TOP - 6, class_="tick end")]


def curve(axes, points, which):
    """Band, line and markers of {size: [median, low, high]}."""
    parts, known = [], [(size, of) for size, of in points.items() if of[1] is not None]
    if len(known) > 1:
        edge = [axes.at(size, of[2]) for size, of in known] + [axes.at(size, of[1]) for size, of in reversed(known)]
        parts.append(tag("polygon", points=" ".join(f"{x},{y}" for x, y in edge), class_=f"band {which}"))
    line = [axes.at(size, of[0]) for size, of in points.items()]
    parts.append(tag("polyline", points=" ".join(f"{x},{y}" for x, y in line), class_=f"curve {which}"))
    for (x, y), (size, of) in zip(line, points.items()):
        shape = {"cx": x, "cy": y, "r": 3} if which == "new" else {"x": x - 3, "y": y - 3, "width": 6, "height": 6}
        title = f"{which}, {size_text(size)}: {significant(of[0], 4)}"
        parts.append(f'<{"circle" if which == "new" else "rect"} class="dot {which}"'
                     + "".join(f' {key}="{value}"' for key, value in shape.items())
                     + f"><title>{escape(title)}</title></{'circle' if which == 'new' else 'rect'}>")
    return parts


def protocols_of(cases, use):
    """{size: protocol} of the new run, as UCX names it."""
    found = {}
    for size, case in cases.items():
        rows = [row for row in case["path"].get("protocols") or [] if row.get("use") in (use, None)]
        if rows:
            found[size] = rows[0]["protocol"]
    return found


def switches(axes, protocols):
    parts, before = [], None
    for size, protocol in protocols.items():
        if before is not None and protocol != before:
            x, _ = axes.at(size, 10 ** axes.y[0])
            parts.append(tag("line", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM, class_="switch"))
            parts.append(tag("text", protocol.partition(",")[0], x=x + 3, y=TOP + 10, class_="tick"))
        before = protocol
    return parts


def panel(name, metric, points, cases):
    """`metric` as a case shows it, `points` by "base" and "new", `cases` of the new run by size."""
    values = [value for of in points.values() for point in of.values() for value in point if value]
    roofs = [limit["GBps"] for case in cases.values() for limit in promised(case) if limit.get("GBps")]
    roof = max(roofs) if roofs and metric["unit"] == "GB/s" else None
    sizes = sorted({size for of in points.values() for size in of})
    axes = Axes(sizes, values + ([roof] if roof else []))
    parts = grid(axes, sizes, unit_text(metric["unit"]))
    parts += switches(axes, protocols_of(cases, metric["name"].partition("_")[0]))
    if roof:
        _, y = axes.at(sizes[0], roof)
        parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="roof"))
        text = f"what links carry: {significant(roof, 3)}"
        parts.append(tag("text", text, x=WIDTH - RIGHT, y=y - 4, class_="tick end"))
    for which in ("base", "new"):
        if len(points.get(which, {})) > 0:
            parts += curve(axes, points[which], which)
    title = f"{name}, {metric['title']}"
    parts.append(tag("text", title, x=LEFT + 30, y=TOP - 14, class_="title"))
    label = f"{title} over message size, base and new"
    return Markup(f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>')


def blocks_of(runs):
    """{(which run, key of a case of a curve): block}; the block of the new run where both have the case."""
    own = {which: {case["key"]: case["shows"]["block"] for case in measured(run, "curve")} for which, run in runs.items()}
    same = {block: own["new"][key] for key, block in own.get("base", {}).items() if key in own["new"]}
    return {(which, key): block if which == "new" else same.get(block, block)
            for which, of in own.items() for key, block in of.items()}


def common_key(keys):
    """The parts that are the same in all."""
    return "/".join(parts[0] for parts in zip(*(key.split("/") for key in keys)) if len(set(parts)) == 1)


def curves_of(runs):
    """Panels of {"base": run, "new": run}, and how many more there would be."""
    found, keys, blocks = {}, {}, blocks_of(runs)
    for which, run in runs.items():
        for case in measured(run, "curve"):
            size = size_axis(case)
            if not size or not size["value"]:
                continue
            block = blocks[which, case["key"]]
            keys.setdefault(block, []).append(case["key"])
            for metric in case["shows"]["metrics"]:
                of = case["metrics"].get(metric["name"])
                if metric["shown"] == "drawn" and of and of["p50"]:
                    _, points, cases = found.setdefault((block, metric["name"]), (metric, {}, {}))
                    points.setdefault(which, {})[size["value"]] = [of["p50"], *(of["ci95"] or (None, None))]
                    if which == "new":
                        cases[size["value"]] = case
    panels = []
    for (block, _), (metric, points, cases) in found.items():
        if max(len(of) for of in points.values()) >= LEAST_SIZES:
            ordered = {which: dict(sorted(of.items())) for which, of in points.items()}
            panels.append((common_key(keys[block]), metric, ordered, dict(sorted(cases.items()))))
    return [panel(*drawn) for drawn in panels[:MOST_PANELS]], max(0, len(panels) - MOST_PANELS)


def ranks_of(run):
    """The ranks in order of their NUMA nodes, and their names."""

    def place(rank):
        return rank["host"], rank["numa_node"] is None, rank["numa_node"], rank["rank"]

    names = {}
    for rank in sorted(run["ranks"], key=place):
        device = rank.get("device")
        gpu = f" GPU{device['index']}" if device else ""
        node = "?" if rank["numa_node"] is None else rank["numa_node"]
        names[rank["rank"]] = f"r{rank['rank']}{gpu}, NUMA {node}"
    return names


def matrices_of(runs):
    """For every matrix of the new run, three tables: base, new, difference in %."""
    tables = []
    names = ranks_of(runs["new"])
    rates = {which: {case["key"]: {(pair["src"], pair["dst"]): pair for pair in case["pairs"]}
                     for case in measured(run, "matrix")} for which, run in runs.items()}
    for case in measured(runs["new"], "matrix"):
        order = [rank for rank in names if rank < case["shows"]["ranks"]][:MOST_RANKS]
        old, new = rates.get("base", {}).get(case["key"], {}), rates["new"][case["key"]]
        top = max((pair.get("p50_GBps") or 0 for pair in [*old.values(), *new.values()]), default=0) or 1
        tables.append({
            "key": case["key"],
            "about": row_name(case),
            "left_out": case["shows"]["ranks"] - len(order), "names": [names[rank] for rank in order],
            "slower": slower_ranks(order, names, old, new),
            "base": [[cell(old.get((src, dst)), top) for dst in order] for src in order] if old else None,
            "new": [[cell(new.get((src, dst)), top) for dst in order] for src in order],
            "difference": [[difference(old.get((src, dst)), new.get((src, dst))) for dst in order] for src in order]
                          if old else None,
        })
    return tables


def slower_ranks(order, names, old, new):
    """Those all of whose pairs have lost, in either direction, unless that is so of every rank."""
    found = []
    for rank in order:
        both = [(old[ends]["p50_GBps"], pair["p50_GBps"]) for ends, pair in new.items()
                if rank in ends and old.get(ends, {}).get("p50_GBps") and pair.get("p50_GBps") is not None]
        if len(both) > 2 and all(after < before * (1 - LOST) for before, after in both):
            found.append(names[rank])
    return found if len(found) < len(order) else []


def cell(pair, top):
    """Text, shade from 0 to 100 and a title. Ranks without a rate to each other have none."""
    rate = (pair or {}).get("p50_GBps")
    if rate is None:
        return {"text": "–" if pair is None else "?", "shade": 0, "title": ""}
    about = ", ".join(str(pair[name]) for name in ("class", "path") if pair.get(name))
    return {"text": significant(rate, 3), "shade": round(70 * rate / top), "title": about}


def difference(old, new):
    before, after = (old or {}).get("p50_GBps"), (new or {}).get("p50_GBps")
    if not before or after is None:
        return {"text": "–", "shade": 0, "sign": ""}
    change = after / before - 1
    text = f"{100 * change:+.0f} %" if abs(change) >= 0.005 else "0 %"
    return {"text": text, "shade": min(70, round(abs(change) * 200)),
            "sign": "worse" if change < 0 else "better"}
