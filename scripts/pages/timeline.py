"""What each rank did in the median run, as plain data that fields.js draws: its phases, and below them how much of the
time messages were under way.

A rank's phases are [first step, steps, part] one after the other in one list, its messages [first step, steps, quarters]
likewise; where several phases share a step, the longest one has it.
"""

from plots.common import COLORS, significant

WAITING = "--wait"
TRANSFERS = 1  # of COLORS
PHASES = [at for at in range(len(COLORS)) if at != TRANSFERS]
MOST_RANKS = 16
# Of time; the fewer ones where so many parts would make a large page.
STEPS = (4000, 1000)
MOST_NUMBERS = 60_000
QUARTERS = 4


def waits(kind):
    """Whether ranks wait for messages in such a phase, with nothing to compute."""
    return kind == "waiting"


def colors_of(kinds):
    """Of {phase: its kind} {phase: the style's variable}, the same in bars and in timelines."""
    others = [name for name, kind in kinds.items() if not waits(kind)]
    return {name: WAITING if waits(kind) else f"--color-{PHASES[others.index(name) % len(PHASES)]}" for name, kind in kinds.items()}


def covered(edges, intervals):
    """How much of each step the intervals, which do not overlap, cover: 0 to 1."""
    import numpy

    begins, ends = intervals
    order = numpy.argsort(begins)
    times = numpy.column_stack((begins[order], ends[order])).ravel()
    until = numpy.cumsum(ends[order] - begins[order])
    total = numpy.column_stack((until - (ends[order] - begins[order]), until)).ravel()
    if not len(times):
        return numpy.zeros(len(edges) - 1)
    return numpy.diff(numpy.interp(edges, times, total)) / numpy.diff(edges)


def stretches(values):
    """[begin, length, value, …] of neighbouring steps of one value, which is not negative."""
    import numpy

    begins = numpy.flatnonzero(numpy.diff(values, prepend=-2))
    lengths = numpy.diff(begins, append=len(values))
    kept = values[begins] >= 0
    return numpy.column_stack((begins, lengths, values[begins]))[kept].ravel().tolist()


def length_of(intervals):
    begins, ends = intervals
    return float((ends - begins).sum())


def waited(rank, kinds):
    return sum(length_of(intervals) for name, intervals in rank.phases.items() if waits(kinds.get(name)))


def shown_ranks(timeline):
    """All of them, or some from the one that waited least to the one that waited most."""
    ranks = timeline.ranks
    if len(ranks) <= MOST_RANKS:
        return list(ranks)
    ordered = sorted(ranks, key=lambda rank: waited(ranks[rank], timeline.kinds))
    return [ordered[round(at * (len(ordered) - 1) / (MOST_RANKS - 1))] for at in range(MOST_RANKS)]


def row_of(rank, names, edges):
    import numpy

    parts = numpy.array([covered(edges, rank.phases[name]) if name in rank.phases else numpy.zeros(len(edges) - 1) for name in names])
    longest = numpy.where(parts.max(axis=0) > 0, parts.argmax(axis=0), -1)
    quarters = numpy.ceil(covered(edges, rank.transfers) * QUARTERS - 1e-6).astype(int)
    return {"phases": stretches(longest), "messages": stretches(numpy.where(quarters, quarters, -1))}


def rows_of(ranks, names, end_ms):
    """Of (rank, what it did), and the number of steps."""
    import numpy

    for steps in STEPS:
        edges = numpy.linspace(0, end_ms, steps + 1)
        rows = [{"name": f"rank {rank}", **row_of(of, names, edges)} for rank, of in ranks]
        if sum(len(row["phases"]) + len(row["messages"]) for row in rows) <= MOST_NUMBERS:
            break
    return rows, steps


def charts_of(timelines):
    """Of each (name, Timeline) a chart, all over the same time, and a row per rank for a table: ms of each phase, and of
    messages under way."""
    names = list(dict.fromkeys(name for _, timeline in timelines for rank in timeline.ranks.values() for name in rank.phases))
    known = {name: kind for _, timeline in timelines for name, kind in timeline.kinds.items()}
    kinds = {name: known.get(name) for name in names}
    parts = [{"name": f"{name} (waiting)" if waits(kinds[name]) else name, "color": color} for name, color in colors_of(kinds).items()]
    end_ms = max(timeline.end_ms for _, timeline in timelines)
    made = []
    for name, timeline in timelines:
        shown = shown_ranks(timeline)
        rows, steps = rows_of([(rank, timeline.ranks[rank]) for rank in shown], names, end_ms)
        about = f"{significant(timeline.end_ms)} ms"
        if len(shown) < len(timeline.ranks):
            about += f"; {len(shown)} of {len(timeline.ranks)} ranks, from the one that waited least to the one that waited most"
        if timeline.uncertainty_us is None:
            about += "; the clocks of its hosts are not known: each one's ranks begin at 0"
        elif timeline.uncertainty_us:
            about += f"; clocks of its hosts to within ± {significant(timeline.uncertainty_us)} µs (bars at the begin of rows)"
        chart = {"kind": "timeline", "title": name, "parts": parts, "messages": f"--color-{TRANSFERS}", "end_ms": end_ms,
                 "steps": steps, "rows": rows, "uncertainty_ms": (timeline.uncertainty_us or 0) * 1e-3}
        made.append({"about": about, "chart": chart, "rows": table_of(timeline, names)})
    return made


def table_of(timeline, names):
    return [[f"{rank}", *(significant(length_of(of.phases[name])) if name in of.phases else "–" for name in names),
             significant(length_of(of.transfers))] for rank, of in timeline.ranks.items()]
