"""Ways of communicating held against each other: bars for each load, the best on top.

A bar is a way's median with its interval, of a workload parted into computing and communicating; beside it
stand how many times the best one's it is, and how much of its limit it reached.
"""

from plots.common import COLORS, draw_grid, interval, interval_in, percent, positive, significant, title_of, unit_text, what_intervals_are, words

BAR_HEIGHT = 0.28  # inches
ROOM = 1.7  # inches, for titles and the axis
PARTS = (("computing_ms", "computing", COLORS[0]), ("communicating_ms", "communicating", COLORS[5]))


class Bars:
    """One part of the picture; `height` in inches."""

    def __init__(self, entry):
        self.title = f"{words(entry['title'])}: {words(entry['about'])}, {words(entry['row'])}"
        self.unit = unit_text(words(entry["unit"]))
        self.better = words(entry["better"])
        self.ways = [
            {
                "name": words(way["way"]),
                "p50": positive(way["p50"]),
                "interval": interval_in(way),
                "beside": beside(way),
                "parts": [float(way[name]) for name, _, _ in PARTS if name in way],
            }
            for way in entry["ways"]
        ]
        self.height = ROOM + BAR_HEIGHT * len(self.ways)

    def draw(self, figure, runs):
        axes = figure.subplots()
        places = range(len(self.ways))
        split = all(way["parts"] for way in self.ways)
        if split:
            left = [0.0] * len(self.ways)
            for at, (_, label, color) in enumerate(PARTS):
                widths = [way["parts"][at] for way in self.ways]
                axes.barh(places, widths, left=left, color=color, height=0.7, label=label)
                left = [before + width for before, width in zip(left, widths)]
            axes.plot([way["p50"] for way in self.ways], places, "k|", markersize=12, label="whole run, all ranks")
            axes.legend(loc="lower right", fontsize=9)
        else:
            axes.barh(places, [way["p50"] for way in self.ways], color=COLORS[0], height=0.7)
        ends = []
        for place, way in zip(places, self.ways):
            ends.append(max(way["p50"], sum(way["parts"]), *(way["interval"] or ())[:2]))
            if way["interval"]:
                axes.plot(way["interval"][:2], [place, place], color="black", linewidth=1.2)
        longest = max(ends)
        for place, end, way in zip(places, ends, self.ways):
            axes.text(end + 0.01 * longest, place, way["beside"], va="center", fontsize=9)
        axes.set_xlim(0, 1.45 * longest)
        axes.set_yticks(list(places), [way["name"] for way in self.ways])
        axes.invert_yaxis()
        drawn = what_intervals_are(way["interval"] for way in self.ways)
        axes.set_xlabel(f"{self.unit}, median over launches{f' with its {drawn}' if drawn else ''}; {self.better} is better")
        axes.set_title(self.title, fontsize=11)
        draw_grid(axes)
        figure.suptitle(title_of(runs, []), fontsize=12)


def beside(way):
    """"1.52 x [1.49, 1.60], 43 % of peak"."""
    ratio, low_high, share = positive(way["ratio"]), interval(way["ratio_ci95"]), way.get("limit_share")
    text = f"{significant(ratio)} x"
    if low_high:
        text += f" [{significant(low_high[0])}, {significant(low_high[1])}]"
    return text + (f", {percent(share)} of peak{' (above)' if share > 1 else ''}" if share is not None else "")


def read(run, _file):
    return [Bars(entry) for entry in run.get("ablation") or [] if entry["shown"]]


def parts(bars):
    return bars
