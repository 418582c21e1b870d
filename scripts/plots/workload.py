"""Workloads: how they scale, where their time goes, what passes between ranks.

Above, input per second over ranks where several numbers of ranks were measured, beside every case's
phases; below, the pairs of ranks of the largest cases.
"""

import dataclasses

from plots import pairs, phases, scaling
from plots.common import draw_rows, interval_in, Interval, measured, metric_of, number, parameters_of, positive, styles_of, title_of, ucx_of, words

TITLE_HEIGHT = 0.8  # inches


@dataclasses.dataclass(frozen=True)
class Case:
    """A measured case; rates in GB/s, times in ms, medians over launches."""

    file: str
    fields: tuple  # of (name, value as text): what it has in common with other numbers of ranks
    ranks: int
    scaling: str  # weak: the same input per rank; strong: the same in all
    rate: dict  # what the run says of input_GBps: "title", "unit", "better"
    input_GBps: float
    interval: Interval | None  # of input_GBps
    input_bytes: float | None  # of all ranks
    wall_ms: float
    phases: dict  # name: ms
    pairs: dict  # (from, to): (p25, p50, p75), or None without messages of at least ignore_bytes
    ignore_bytes: int
    amount: str  # the field that says how large it is; empty where none does


def take_scaling(case, parameters):
    """weak or strong, strong where the case does not say; the load becomes what was asked for all numbers of ranks."""
    scaling = case["shows"].get("scaling") or {"kind": "strong"}
    kind = scaling["kind"]
    if kind not in ("weak", "strong"):
        raise ValueError(f"{words(kind)[:40]!r} scaling")
    parameters["scaling"] = f"{kind} scaling"
    if "amount" in scaling:
        parameters[words(scaling["amount"])] = scaling["asked"]
    return kind


def read(run, file):
    cases = []
    where = {"machine": words(run["machine"].get("id")), "UCX": ucx_of(run)}
    for case in measured(run, "workload"):
        ranks = pairs.checked_ranks(case["shows"]["ranks"])
        parameters = {name: value for name, value in parameters_of(case).items() if name != "ranks"}
        rate = case["metrics"]["throughput_GBps"]
        kind = take_scaling(case, parameters)
        input_bytes = case["exchange"].get("input_bytes")
        fields = {"benchmark": words(case["benchmark"]), **where, **parameters}
        cases.append(
            Case(
                file=file,
                fields=tuple((name, words(value)) for name, value in fields.items() if value is not None),
                ranks=ranks,
                scaling=kind,
                rate={name: words(text) for name, text in metric_of(case, "throughput_GBps").items()},
                input_GBps=positive(rate["p50"]),
                interval=interval_in(rate),
                input_bytes=None if input_bytes is None else number(input_bytes),
                wall_ms=positive(case["metrics"]["wall_ms"]["p50"]),
                phases={words(phase["name"]): number(phase["median_ms"]) for phase in case["phases"] if phase["median_ms"] is not None},
                pairs=pairs.rates_of(case, ranks),
                ignore_bytes=int(number(parameters.get("ignore_bytes", 0))),
                amount=words((case["shows"].get("scaling") or {}).get("amount", "")),
            )
        )
    return cases


def curves_of(cases):
    """{fields: its cases by ranks}; several files are one curve unless they measured the same."""
    again = len({(case.fields, case.ranks) for case in cases}) < len(cases)
    curves = {}
    for case in cases:
        file = (("file", case.file),) if again else ()
        curves.setdefault(file + case.fields, []).append(case)
    return {key: sorted(of, key=lambda case: case.ranks) for key, of in curves.items()}


class Workload:
    """The part of a picture that shows one workload; `height` in inches."""

    def __init__(self, cases):
        self.curves = curves_of(cases)
        self.styles = styles_of(list(self.curves))
        self.bars = [(self.name(key, case), case) for key, of in self.curves.items() for case in of]
        several = [(self.name(key, of[-1]), of[-1]) for key, of in self.curves.items() if of[-1].ranks > 1]
        self.largest = [(name, case) for name, case in several if any(case.pairs.values())]
        self.note = pairs.no_rates(several) if several and not self.largest else pairs.note_of(self.largest)
        self.rows = self.arranged()
        self.height = TITLE_HEIGHT + sum(self.row_heights())

    def name(self, key, case):
        return f"{case.ranks} rank{'s' * (case.ranks > 1)}, {self.styles[key]['label']}"

    def arranged(self):
        """The panels, row by row."""
        over_ranks = scaling.panels_of(self.curves, self.styles)
        where = phases.Panel(self.bars)
        above = [[*over_ranks, where]] if len(over_ranks) == 1 else [over_ranks, [where]]
        return [row for row in above if row] + pairs.rows_of(self.largest)

    def row_heights(self):
        return [max(panel.height for panel in row) for row in self.rows]

    def draw(self, figure, runs):
        draw_rows(figure, self.rows, self.row_heights())
        figure.suptitle(title_of(runs, list(self.curves), also=dict.fromkeys(case.amount for _, case in self.bars if case.amount)), fontsize=12)
        figure.supxlabel(self.note, fontsize=10)


def parts(cases):
    by_benchmark = {}
    for case in cases:
        by_benchmark.setdefault(dict(case.fields)["benchmark"], []).append(case)
    return [Workload(of) for of in by_benchmark.values()]
