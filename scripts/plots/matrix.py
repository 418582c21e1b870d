"""What every rank reached to every other: a map for each set, size and choice of pairs."""

import dataclasses

from plots import pairs
from plots.common import draw_rows, measured, over, parameters_of, row_name, title_of, words

TITLE_HEIGHT = 0.8  # inches


@dataclasses.dataclass(frozen=True)
class Case:
    """A measured case; rates in GB/s, medians over launches and streams."""

    name: str
    fields: tuple  # of (name, value as text)
    ranks: int
    pairs: dict  # (from, to): (p25, p50, p75)


def read(run, file):
    cases = []
    for case in measured(run, "matrix"):
        parameters = parameters_of(case)
        ranks = pairs.checked_ranks(case["shows"]["ranks"])
        fields = {"file": file, "benchmark": case["benchmark"], **parameters}
        when = "once" if case["shows"]["at_once"] == "all" else "a time"
        cases.append(
            Case(
                name=f"{row_name(case)} at {when}, {over(case)}",
                fields=tuple((field, words(value)) for field, value in fields.items() if value is not None),
                ranks=ranks,
                pairs=pairs.rates_of(case, ranks),
            )
        )
    return cases


class Matrices:
    """The part of a picture that shows them; `height` in inches."""

    def __init__(self, cases):
        several = len({dict(case.fields)["file"] for case in cases}) > 1
        self.named = [
            (f"{case.name}, {dict(case.fields)['file']}" if several else case.name, case) for case in cases
        ]
        self.rows = pairs.rows_of(self.named)
        self.height = TITLE_HEIGHT + sum(self.row_heights())

    def row_heights(self):
        return [max(panel.height for panel in row) for row in self.rows]

    def draw(self, figure, runs):
        draw_rows(figure, self.rows, self.row_heights())
        figure.suptitle(title_of(runs, [case.fields for _, case in self.named]), fontsize=12)
        note = "GB/s received: p50 of launches and streams"
        if any(panel.numbers for row in self.rows for panel in row):
            note += ", below it p25–p75"
        figure.supxlabel(note + pairs.left_out(self.named), fontsize=10)


def parts(cases):
    return [Matrices(cases)] if cases else []
