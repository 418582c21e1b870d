"""What messages between each two ranks reached: a map of all pairs, a row per sender."""

import math

from plots.common import number, significant, size_text

MOST_PANELS = 4
MOST_RANKS_WITH_NUMBERS = 12
MOST_RANKS_IN_HALF = 8  # whose numbers can be read in half the width of a picture
MOST_TICKS = 16
NOTHING = "#d9d9d9"
MOST_RANKS = 1024  # that --ranks takes


def checked_ranks(ranks):
    if not isinstance(ranks, int) or not 1 <= ranks <= MOST_RANKS:
        raise ValueError(f"{str(ranks)[:40]!r} ranks")
    return ranks


def rates_of(case, ranks):
    """{(from, to): (p25, p50, p75)}; None for a pair without."""
    rates = {}
    for pair in case["pairs"]:
        src, dst = ends = pair["src"], pair["dst"]
        if not (isinstance(src, int) and isinstance(dst, int) and 0 <= src < ranks and 0 <= dst < ranks):
            raise ValueError(f"a pair {src}->{dst} among {ranks} ranks")
        quartiles = pair["p25_GBps"], pair["p50_GBps"], pair["p75_GBps"]
        rates[ends] = None if None in quartiles else tuple(map(number, quartiles))
    return rates


class Panel:
    def __init__(self, name, case):
        self.name = name
        self.case = case
        self.numbers = case.ranks <= MOST_RANKS_WITH_NUMBERS
        self.wide = self.numbers and case.ranks > MOST_RANKS_IN_HALF
        self.height = 1.3 + min(4.3, 1.2 + 0.6 * case.ranks)  # inches
        self.fastest = max((quartiles[1] for quartiles in case.pairs.values() if quartiles), default=0)

    def draw(self, axes):
        import numpy
        from matplotlib.colors import ListedColormap

        ranks = self.case.ranks
        rates = numpy.full((ranks, ranks), numpy.nan)
        nothing = numpy.full_like(rates, numpy.nan)
        for ends, quartiles in self.case.pairs.items():
            if quartiles:
                rates[ends] = quartiles[1]
            else:
                nothing[ends] = 0
        axes.imshow(nothing, cmap=ListedColormap([NOTHING]), aspect="auto", interpolation="nearest")
        # From 0: a scale that begins with the slowest pair makes small differences look large.
        image = axes.imshow(
            rates, cmap="viridis", vmin=0, vmax=self.fastest or 1, aspect="auto", interpolation="nearest"
        )
        if self.fastest:
            axes.figure.colorbar(image, ax=axes, label="GB/s")
        if self.numbers:
            self.write_numbers(axes)
        ticks = range(0, ranks, math.ceil(ranks / MOST_TICKS))
        axes.set_xticks(ticks)
        axes.set_yticks(ticks)
        axes.set_ylabel("from (row)")
        axes.set_xlabel("to (column)")
        axes.set_title(self.name, fontsize=11)

    def write_numbers(self, axes):
        """The median and below it the quartiles, as large as fits into a cell."""
        texts = {
            ends: (significant(of[1]), f"{significant(of[0], 2)}–{significant(of[2], 2)}") if of else ("–", "")
            for ends, of in self.case.pairs.items()
        }
        width = (640 if self.wide else 300) / self.case.ranks  # of a cell, in points
        # A character is some 0.6 of its size wide, and a tenth stays free.
        longest = max((len(below) for _, below in texts.values()), default=0)
        size = min(9, 1.5 * width / max(1, longest))
        for ends, (median, below) in texts.items():
            row, column = ends
            # White on viridis' dark end.
            dark = below and self.case.pairs[ends][1] < 0.6 * self.fastest
            common = {"color": "white" if dark else "black", "ha": "center"}
            axes.text(column, row, median, fontsize=size + 2, va="bottom" if below else "center", **common)
            axes.text(column, row, below, fontsize=size, va="top", **common)


def rows_of(cases):
    """[(name, case)] as rows of panels."""
    panels = [Panel(name, case) for name, case in cases[:MOST_PANELS]]
    columns = 1 if any(panel.wide for panel in panels) else 2
    return [panels[at : at + columns] for at in range(0, len(panels), columns)]


def note_of(cases):
    """What the figures are."""
    if not cases:
        return "one rank: nothing was exchanged"
    shown = [case for _, case in cases[:MOST_PANELS]]
    numbers = any(case.ranks <= MOST_RANKS_WITH_NUMBERS for case in shown)
    sizes = sizes_of(shown)
    note = "GB/s between ranks: p50" + (", below it p25–p75," if numbers else "")
    note += f" of logged messages of at least {sizes} (--ignore-size)"
    if any(None in case.pairs.values() for case in shown):
        note += f"; {'–' if numbers else 'grey'}: none"
    return note + left_out(cases)


def no_rates(cases):
    """Instead, where none has a figure."""
    sizes = sizes_of(case for _, case in cases)
    return f"pairs of ranks have no rates: when they were under way is known of too few logged messages of at least {sizes} (--ignore-size)"


def sizes_of(cases):
    return ", ".join(dict.fromkeys(size_text(case.ignore_bytes) for case in cases))


def left_out(cases):
    more = len(cases) - MOST_PANELS
    return f"; {more} more in the run files" if more > 0 else ""
