"""Where the time of a run goes: each case a bar of its phases, and a mark where the run ended."""

import textwrap

from plots.common import COLORS, legend_below, significant

# Beside the colours, for print and for colour-blind readers; of lines, since an SVG describes every dot.
HATCHES = ["", "///", "---", "xxx", "\\\\\\", "+++", "|||"]
WHOLE_RUN = {"color": "black", "linestyle": "none", "marker": "|", "markeredgewidth": 2}


class Panel:
    wide = True

    def __init__(self, bars):
        self.bars = bars  # [(label, case)]
        self.height = 1.7 + 0.45 * len(bars)  # inches

    def draw(self, axes):
        from matplotlib.lines import Line2D

        rows = range(len(self.bars))
        ends = [0.0] * len(self.bars)
        names = dict.fromkeys(name for _, case in self.bars for name in case.phases)
        for at, name in enumerate(names):
            widths = [case.phases.get(name, 0.0) for _, case in self.bars]
            axes.barh(
                rows,
                widths,
                left=ends,
                height=0.66,
                label=name,
                color=COLORS[at % len(COLORS)],
                hatch=HATCHES[at % len(HATCHES)],
                edgecolor="white",
                linewidth=0.5,
            )
            ends = [end + width for end, width in zip(ends, widths)]
        walls = [case.wall_ms for _, case in self.bars]
        axes.plot(walls, rows, markersize=24, **WHOLE_RUN)
        for row, wall, end in zip(rows, walls, ends):
            axes.annotate(
                f"{significant(wall)} ms",
                (max(wall, end), row),
                xytext=(6, 0),
                textcoords="offset points",
                verticalalignment="center",
                fontsize=9,
            )
        axes.set_yticks(rows, [textwrap.fill(name, 30) for name, _ in self.bars])
        axes.set_ylim(len(self.bars) - 0.4, -0.6)
        axes.set_xlim(0, 1.2 * max(walls + ends))
        axes.set_xlabel("ms, medians over runs and launches")
        axes.set_title("phases: median rank; whole run: all ranks", fontsize=11)
        axes.grid(True, axis="x", color="#d0d0d0", linewidth=0.7)
        legend_below(axes, [Line2D([], [], markersize=10, label="whole run", **WHOLE_RUN)])
