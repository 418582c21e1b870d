"""Input per second over ranks, against the line of ranks that each add as much as the first ones did."""

from plots.common import draw_grid, legend_below, significant, unit_text, what_intervals_are

MOST_TICKS = 8
LEAST_TICKS = 3  # of the rates
IDEAL = {"linestyle": (0, (1, 2)), "linewidth": 1, "alpha": 0.7}
INTERVAL = {"marker": "_", "markersize": 9, "linewidth": 1.2}


def panels_of(curves, styles):
    """One for weak and one for strong scaling, of the curves with several numbers of ranks."""
    by_kind = {}
    for key, cases in curves.items():
        if len({case.ranks for case in cases}) > 1:
            by_kind.setdefault(cases[0].scaling, {})[key] = cases
    return [Panel(kind, of, styles) for kind, of in by_kind.items()]


def ticks_of(ranks):
    if len(ranks) <= MOST_TICKS:
        return sorted(ranks)
    return [2**exponent for exponent in range(max(ranks).bit_length()) if 2**exponent >= min(ranks)]


class Panel:
    def __init__(self, kind, curves, styles):
        self.kind = kind
        self.curves = curves
        self.styles = styles
        self.height = 4 + 0.2 * len(curves)  # inches; the legend has a row for each
        self.cases = [case for cases in curves.values() for case in cases]
        self.rate = self.cases[0].rate

    def title(self):
        """What stays the same; in numbers if all curves have that."""
        weak = self.kind == "weak"
        sizes = [case.input_bytes and case.input_bytes / (case.ranks if weak else 1) for case in self.cases]
        # A few rows that do not divide by the ranks make no difference here.
        known = all(sizes) and max(sizes) < 1.01 * min(sizes)
        what = f"{significant(max(sizes) * 1e-6)} MB of input" if known else "the same input"
        return f"{self.kind} scaling, {what} {'per rank' if weak else 'in all'}; {self.rate['better']} is better"

    def draw(self, axes):
        from matplotlib.lines import Line2D
        from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

        for key, cases in self.curves.items():
            x, y = [case.ranks for case in cases], [case.input_GBps for case in cases]
            axes.plot(x, y, markersize=5.5, linewidth=1.6, **self.styles[key])
            color = self.styles[key]["color"]
            axes.plot([x[0], x[-1]], [y[0], y[0] * x[-1] / x[0]], color=color, **IDEAL)
            for case in cases:
                if case.interval:
                    axes.plot([case.ranks] * 2, case.interval[:2], color=color, **INTERVAL)
        axes.set_title(self.title(), fontsize=11)
        axes.set_xlabel("ranks")
        axes.set_ylabel(f"{self.rate['title']} ({unit_text(self.rate['unit'])}), median over launches")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        ticks = ticks_of({case.ranks for case in self.cases})
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
        low, high = axes.get_ylim()
        log = LogLocator(subs=(1, 2, 5), numticks=12)
        seen = [tick for tick in log.tick_values(low, high) if low <= tick <= high]
        axes.yaxis.set_major_locator(log if len(seen) >= LEAST_TICKS else MaxNLocator(5))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        draw_grid(axes)
        explained = [Line2D([], [], color="black", label="ideal: linear in ranks", **IDEAL)]
        if drawn := what_intervals_are(case.interval for case in self.cases):
            explained.append(Line2D([], [], color="black", label=drawn, **INTERVAL))
        legend_below(axes, explained)
