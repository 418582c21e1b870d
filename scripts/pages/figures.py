"""Base and new: curves over size as charts, pairs of ranks as tables whose cells are shaded."""

from pages import charts, heat
from plots.common import interval_in, measured, row_name, size_axis, what_intervals_are

LEAST_SIZES = 3
MOST_PANELS = 24
MOST_MAPS = 2
LOST = 0.05  # of a pair's rate, to be named with its rank
STYLES = {"base": {"name": "base", "color": 5, "dash": [6, 4], "square": True}, "new": {"name": "new", "color": 0, "dash": []}}


def protocols_of(cases, use):
    """{size: protocol} of the new run, as UCX names it."""
    found = {}
    for size, case in cases.items():
        rows = [row for row in case["path"].get("protocols") or [] if row.get("use") in (use, None)]
        if rows:
            found[size] = rows[0]["protocol"]
    return found


def switches(protocols):
    """Where UCX takes another protocol: [[size, protocol]]"""
    found, before = [], None
    for size, protocol in protocols.items():
        if before is not None and protocol != before:
            found.append([size, protocol.partition(",")[0]])
        before = protocol
    return found


def panel(name, metric, points, cases):
    """`metric` as a case shows it, `points` by "base" and "new", `cases` of the new run by size."""
    series = [{**STYLES[which], "points": [charts.point(size, *of) for size, of in points.get(which, {}).items()]}
              for which in STYLES]
    if metric["unit"] == "GB/s":
        series += charts.peaks_of(cases.values(), charts.sizes_of(series))
    marks = switches(protocols_of(cases, metric["name"].partition("_")[0]))
    bands = what_intervals_are(interval for of in points.values() for _, interval in of.values())
    return charts.chart(f"{name}, {metric['title']}", "", "size", metric["unit"], series, marks, bands)


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
                    points.setdefault(which, {})[size["value"]] = (of["p50"], interval_in(of))
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


def renumbered(pairs, base_ranks):
    """Pairs of the base run by what the new run calls their ranks, [[new, base], …]; as they are without that."""
    if base_ranks is None:
        return pairs
    new_of = {base: new for new, base in base_ranks}
    return {(new_of[src], new_of[dst]): pair for (src, dst), pair in pairs.items() if src in new_of and dst in new_of}


def matrices_of(runs, base_ranks):
    """For every matrix of the new run tables of base, new and difference in %; of many ranks maps, of the first ones.
    `base_ranks`: what the comparison says of ranks that have another number in the base run."""
    shown, maps = [], 0
    names = ranks_of(runs["new"])
    rates = {which: {case["key"]: {(pair["src"], pair["dst"]): pair for pair in case["pairs"]}
                     for case in measured(run, "matrix")} for which, run in runs.items()}
    for case in measured(runs["new"], "matrix"):
        order = [rank for rank in names if rank < case["shows"]["ranks"]]
        old = renumbered(rates.get("base", {}).get(case["key"], {}), base_ranks.get(case["key"]))
        new = rates["new"][case["key"]]
        large = len(order) > heat.MOST_RANKS
        maps += large
        if maps > MOST_MAPS and large:
            continue
        shown.append({
            "key": case["key"], "about": row_name(case), "names": [names[rank] for rank in order],
            "slower": slower_ranks(names, old, new), "maps": maps_of(len(order), old, new) if large else [],
            "tables": [] if large else tables_of(order, old, new),
        })
    return shown


def tables_of(order, old, new):
    rates = [pair.get("p50_GBps") or 0 for pair in [*old.values(), *new.values()]]
    ends = heat.palest(rates), max(rates, default=0) or 1
    tables = [("new, GB/s", [[cell(new.get((src, dst)), *ends) for dst in order] for src in order])]
    if old:
        tables.insert(0, ("base, GB/s", [[cell(old.get((src, dst)), *ends) for dst in order] for src in order]))
        tables.append(("difference", [[difference(old.get((src, dst)), new.get((src, dst))) for dst in order] for src in order]))
    return tables


def maps_of(ranks, old, new):
    rates = {ends: pair.get("p50_GBps") for ends, pair in new.items()}
    both = {ends: 100 * rate / old[ends]["p50_GBps"] for ends, rate in rates.items()
            if rate is not None and ends in old and old[ends].get("p50_GBps")}
    maps = [heat.map_of("new", ranks, rates)]
    return maps + [heat.map_of("new in % of base", ranks, both, "% of base")] if both else maps


def slower_ranks(names, old, new):
    """Those all of whose pairs have lost, in either direction, unless that is so of every rank."""
    lost, judged = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for ends, pair in new.items():
        before, after = old.get(ends, {}).get("p50_GBps"), pair.get("p50_GBps")
        if not before or after is None:
            continue
        for rank in set(ends):
            judged[rank] += 1
            lost[rank] += after < before * (1 - LOST)
    found = [names[rank] for rank in names if judged[rank] > 2 and lost[rank] == judged[rank]]
    return found if len(found) < sum(map(bool, judged.values())) else []


def cell(pair, low, top):
    rate = (pair or {}).get("p50_GBps")
    about = ", ".join(str((pair or {})[name]) for name in ("class", "path") if (pair or {}).get(name))
    return heat.cell(rate, low, top, about) if rate is not None or pair is None else {"text": "?", "shade": 0, "title": ""}


def difference(old, new):
    before, after = (old or {}).get("p50_GBps"), (new or {}).get("p50_GBps")
    if not before or after is None:
        return {"text": "–", "shade": 0, "sign": ""}
    change = after / before - 1
    text = f"{100 * change:+.0f} %" if abs(change) >= 0.005 else "0 %"
    return {"text": text, "shade": min(70, round(abs(change) * 200)),
            "sign": "worse" if change < 0 else "better"}
