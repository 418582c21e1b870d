"""Pairs of ranks as tables whose cells are shaded by their rate."""

from plots import matrix, pairs, workload
from plots.common import significant, size_text

MOST_RANKS = 32  # of a table; more are drawn


def cell(rate, top, title=""):
    """Text, shade from 0 to 70 % and a title; ranks without a rate to each other have none."""
    if rate is None:
        return {"text": "–", "shade": 0, "title": title}
    return {"text": significant(rate, 3), "shade": round(70 * rate / top), "title": title}


def cases_of(run, file):
    """[(title, case of a picture)]: all matrices, and of workloads those with the most ranks."""
    found = [(case.name, case) for case in matrix.read(run, file)]
    for part in workload.parts(workload.read(run, file)):
        found += [(f"{name}, messages of at least {size_text(case.ignore_bytes)}", case) for name, case in part.largest]
    return found


def table_of(name, case):
    top = max((of[1] for of in case.pairs.values() if of), default=0) or 1

    def at(ends):
        of = case.pairs.get(ends)
        return cell(of and of[1], top, f"p25 to p75: {significant(of[0])} to {significant(of[2])}" if of else "")

    ranks = range(case.ranks)
    return {"title": name, "names": [f"r{rank}" for rank in ranks], "rows": [[at((src, dst)) for dst in ranks] for src in ranks]}


def tables_of(cases):
    return [table_of(name, case) for name, case in cases if case.ranks <= MOST_RANKS]


def large_of(cases):
    """Rows of panels of a picture, of what is too large for a table."""
    return pairs.rows_of([(name, case) for name, case in cases if case.ranks > MOST_RANKS])
