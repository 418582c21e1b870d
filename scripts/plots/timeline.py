"""What each rank did in the median run: its phases, and below them, in red, while messages were under way."""

import textwrap

from plots.common import COLORS, pyplot, significant
from plots.phases import HATCHES

TRANSFERS = "#D55E00"
WAITING = "#d9d9d9"
PHASES = [color for color in COLORS if color != TRANSFERS]
MOST_RANKS = 16
STEPS = 600  # of time, in each of which the longest phase is drawn
# Waiting for messages: nothing is computed.
NOT_COMPUTING = ("shuffle",)


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


def stretches(edges, chosen):
    """[(begin, width)] of neighbouring steps that are chosen."""
    import numpy

    steps = numpy.flatnonzero(numpy.diff(numpy.concatenate(([0], chosen.astype(int), [0]))))
    return [(edges[begin], edges[end] - edges[begin]) for begin, end in zip(steps[::2], steps[1::2])]


def waited(rank):
    return sum(float((ends - begins).sum()) for name, (begins, ends) in rank.phases.items() if name in NOT_COMPUTING)


def shown_ranks(ranks):
    """All of them, or some from the one that waited least to the one that waited most."""
    if len(ranks) <= MOST_RANKS:
        return list(ranks)
    ordered = sorted(ranks, key=lambda rank: waited(ranks[rank]))
    return [ordered[round(at * (len(ordered) - 1) / (MOST_RANKS - 1))] for at in range(MOST_RANKS)]


class Panel:
    """One case's."""

    def __init__(self, name, timeline):
        self.name = name
        self.timeline = timeline
        self.ranks = shown_ranks(timeline.ranks)
        self.height = 0.9 + 0.36 * len(self.ranks)  # inches

    def draw(self, axes, colors, longest_ms):
        import numpy

        edges = numpy.linspace(0, longest_ms, STEPS + 1)
        for row, rank in enumerate(self.ranks):
            of = self.timeline.ranks[rank]
            names = list(of.phases)
            parts = numpy.array([covered(edges, of.phases[name]) for name in names])
            longest = parts.argmax(axis=0)
            for at, name in enumerate(names):
                color, hatch = colors[name]
                axes.broken_barh(
                    stretches(edges, (longest == at) & (parts[at] > 0)), (row - 0.4, 0.42),
                    facecolor=color, hatch=hatch, edgecolor="white", linewidth=0,
                )
            # As high as the part of the step with a message under way, in quarters.
            quarters = numpy.round(covered(edges, of.transfers) * 4).astype(int)
            for level in (1, 2, 3, 4):
                high = 0.3 * level / 4
                axes.broken_barh(stretches(edges, quarters == level), (row + 0.38 - high, high), color=TRANSFERS, linewidth=0)
        axes.set_yticks(range(len(self.ranks)), [f"rank {rank}" for rank in self.ranks], fontsize=9)
        axes.set_ylim(len(self.ranks) - 0.5, -0.5)
        axes.set_xlim(0, longest_ms)
        axes.grid(True, axis="x", color="#d0d0d0", linewidth=0.7)
        title = f"{self.name}: {significant(self.timeline.wall_ms)} ms"
        if len(self.ranks) < len(self.timeline.ranks):
            title += f"; {len(self.ranks)} of {len(self.timeline.ranks)} ranks, above the one that waited least"
        axes.set_title("\n".join(textwrap.wrap(title, 110)), fontsize=11, loc="left")


def draw(timelines):
    """[(name, Timeline)], one below the other, on one scale."""
    plt = pyplot()
    from matplotlib.patches import Patch

    panels = [Panel(name, timeline) for name, timeline in timelines]
    names = list(dict.fromkeys(name for _, timeline in timelines for rank in timeline.ranks.values() for name in rank.phases))
    computing = [name for name in names if name not in NOT_COMPUTING]
    colors = {name: (PHASES[at % len(PHASES)], HATCHES[at % len(HATCHES)]) for at, name in enumerate(computing)}
    colors |= {name: (WAITING, "") for name in names if name in NOT_COMPUTING}
    heights = [panel.height for panel in panels]
    figure, places = plt.subplots(
        len(panels), 1, figsize=(12, sum(heights) + 0.5), height_ratios=heights, sharex=True, squeeze=False,
        layout="constrained",
    )
    longest_ms = max(timeline.end_ms for _, timeline in timelines)
    for panel, (axes,) in zip(panels, places):
        panel.draw(axes, colors, longest_ms)
    places[-1][0].set_xlabel("ms after the run began")
    legend = [Patch(facecolor=color, hatch=hatch, edgecolor="white", label=f"{name} (waiting)" if name in NOT_COMPUTING else name)
              for name, (color, hatch) in colors.items()]
    legend.append(Patch(facecolor=TRANSFERS, label="below: messages under way"))
    figure.legend(handles=legend, loc="outside lower center", ncols=min(6, len(legend)), frameon=False, fontsize=9)
    return figure
