"""Pairs of ranks: as tables whose cells are shaded by their rate, or, of many ranks, as plain data that fields.js draws."""

import array
import base64
import math
import sys

from plots import matrix, workload
from plots.common import significant, size_text

MOST_RANKS = 32  # of a table
MOST_CELLS = 256  # to a side of a map; of more ranks a cell is several
MOST_MAPS = 4
NONE, LEVELS = 0, 65535


def palest(rates):
    """The rate of the palest shade. Shades go with the rate's logarithm, so that one fast pair does not make all others
    pale, over a decade at least, so that small differences look small."""
    rates = [rate for rate in rates if rate]
    return min(min(rates), max(rates) / 10) if rates else 0.1


def cell(rate, low, top, title=""):
    """Text, shade from 7 to 70 % for rates from `low` to `top`, and a title; ranks without a rate to each other have none."""
    if rate is None:
        return {"text": "–", "shade": 0, "title": title}
    darkness = math.log(rate / low) / math.log(top / low) if rate else 0
    return {"text": significant(rate, 3), "shade": round(7 + 63 * darkness), "title": title}


def cases_of(run, file):
    """[(title, case of a picture)]: all matrices, and of workloads those with the most ranks."""
    found = [(case.name, case) for case in matrix.read(run, file)]
    for part in workload.parts(workload.read(run, file)):
        found += [(f"{name}, messages of at least {size_text(case.ignore_bytes)}", case) for name, case in part.largest]
    return found


def known(cases):
    """Those with a rate, and the titles of the others."""
    rated = [(name, case) for name, case in cases if any(case.pairs.values())]
    return rated, [name for name, case in cases if not any(case.pairs.values())]


def table_of(name, case):
    rates = [of[1] for of in case.pairs.values() if of]
    low, top = palest(rates), max(rates) or 1

    def at(ends):
        of = case.pairs.get(ends)
        return cell(of and of[1], low, top, f"p25 to p75: {significant(of[0])} to {significant(of[2])} GB/s" if of else "")

    ranks = range(case.ranks)
    return {"title": name, "names": [f"r{rank}" for rank in ranks], "rows": [[at((src, dst)) for dst in ranks] for src in ranks]}


def tables_of(cases):
    return [table_of(name, case) for name, case in cases if case.ranks <= MOST_RANKS]


def packed(rates, low, high):
    """Two bytes for each, in base64: levels on a log scale from low to high, which keeps four digits of each."""
    span = math.log(high / low) or 1
    levels = array.array("H", (NONE if not rate else 1 + round(math.log(rate / low) / span * (LEVELS - 1)) for rate in rates))
    if sys.byteorder == "big":
        levels.byteswap()
    return base64.b64encode(levels.tobytes()).decode()


def map_of(title, ranks, rates, unit="GB/s"):
    """Of {(from, to): rate or None}. "by": ranks to a side of a cell, which has the slowest of their pairs."""
    by = -(-ranks // MOST_CELLS)
    side = -(-ranks // by)
    slowest = [None] * (side * side)
    for (src, dst), rate in rates.items():
        at = src // by * side + dst // by
        if rate and (slowest[at] is None or rate < slowest[at]):
            slowest[at] = rate
    known_rates = [rate for rate in slowest if rate]
    low, high = min(known_rates, default=1), max(known_rates, default=1)
    return {"kind": "map", "title": title, "unit": unit, "low": low, "high": high, "palest": palest(known_rates),
            "least": significant(palest(known_rates)), "most": significant(high), "ranks": ranks, "by": by, "side": side, "rates": packed(slowest, low, high)}


def maps_of(cases):
    """Of what is too large for a table, and how many more there would be."""
    large = [(name, case) for name, case in cases if case.ranks > MOST_RANKS]
    maps = [map_of(name, case.ranks, {ends: of and of[1] for ends, of in case.pairs.items()}) for name, case in large[:MOST_MAPS]]
    return maps, len(large) - len(maps)
