"""From peak to achieved bandwidth: one stage for each figure that has a source."""

import dataclasses
import statistics

from plots.common import by_at_once, measured, number, over, promised, row_name

NO_LINKS = "peak of the links"
CALIBRATED = "calibrated peak"


@dataclasses.dataclass(frozen=True)
class Waterfall:
    """Stages as (name, GB/s), from the promise to the end."""

    name: str
    stages: tuple  # those that have a source


def of_workload(case, ranks):
    """All ranks together: what the exchange reaches alone, beside computing, and over the whole run."""
    exchange, metrics = case["exchange"], case["metrics"]
    found = [
        (NO_LINKS, exchange.get("limit_GBps")),
        *([(CALIBRATED, exchange["calibrated_GBps"])] if exchange.get("calibrated_GBps") else []),
        ("exchange alone, nothing computed", exchange.get("alone_GBps")),
        ("exchange while computing", metrics.get("exchange_GBps", {}).get("p50")),
        ("end to end: the same bytes over the whole run", exchange["bytes"] / metrics["wall_ms"]["p50"] * 1e-6),
    ]
    what = row_name(case) if "ranks" in row_name(case) else f"{ranks} ranks, {row_name(case)}"
    return made(f"{case['benchmark']}, {what}, {over(case)}, all ranks together", found)


def rows_of(case):
    """{what a limit is of: its row}; {None: the median pair} where no limit is known."""
    if case is None:
        return {}
    if limits := promised(case):
        return {(row["class"], row["path"], row["GBps"], row["expected_GBps"]): row for row in limits}
    rates = [pair["p50_GBps"] for pair in case["pairs"] if pair.get("p50_GBps") is not None]
    return {None: {"p50_GBps": statistics.median(rates)}} if rates else {}


def calibrated_of(case):
    """What copies in host memory let its pairs reach; None where that is not known."""
    return next((row["GBps"] for row in case.get("limits") or [] if row.get("source") == "calibrated"), None)


def of_pairs(alone, together):
    """The median pair of each class, alone (`alone`) and with all others under way (`together`); either is None
    where that was not measured."""
    case = alone or together
    rows = [axis["text"] for axis in case["shows"]["axes"] if axis.get("unit") != "pairs"]
    title = ", ".join([case["benchmark"], *rows, over(case)])
    of_alone, of_together = rows_of(alone), rows_of(together)
    found = []
    for key in dict.fromkeys([*of_alone, *of_together]):
        pairs_class, path, carries, promise = key or (None, None, None, None)
        stages = [(NO_LINKS, promise)]
        # Where it is the expected path, it is the same figure.
        if key and carries != promise:
            stages.append((f"what {path or 'the path used'} can carry", carries))
        if not key and (calibrated := calibrated_of(case)):
            stages.append((CALIBRATED, calibrated))
        for name, of, rows in (("one pair alone", alone, of_alone), ("all pairs at once", together, of_together)):
            if of:
                stages.append((name, rows.get(key, {}).get("p50_GBps")))
        found.append(made(title + (f", {pairs_class} pairs" if key else ", median pair"), stages))
    return found


def made(name, found):
    return Waterfall(
        name=name,
        stages=tuple((stage, number(value)) for stage, value in found if value is not None),
    )


def read(run):
    """Those with at least two stages."""
    all_of = []
    for case in measured(run, "workload"):
        if case.get("exchange") and case["exchange"].get("bytes"):
            all_of.append(of_workload(case, case["shows"]["ranks"]))
    for found in by_at_once(run):
        all_of += of_pairs(found.get("one") or found.get("disjoint"), found.get("all"))
    return [waterfall for waterfall in all_of if len(waterfall.stages) > 1]
