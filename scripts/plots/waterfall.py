"""From peak to achieved bandwidth: one bar per stage that has a source."""

import dataclasses
import statistics
import textwrap

from plots.common import COLORS, by_at_once, measured, number, percent, promised, pyplot, significant, words

MOST = 8
NO_LINKS = "what links promise"
CALIBRATED = "what this run calibrated"


@dataclasses.dataclass(frozen=True)
class Waterfall:
    """Stages as (name, GB/s), from the promise to the end."""

    name: str
    stages: tuple
    left_out: tuple  # names of stages without a source


def of_workload(case, ranks):
    """All ranks together: what the exchange reaches alone, beside computing, and over the whole run."""
    exchange, metrics = case["exchange"], case["metrics"]
    found = [
        (NO_LINKS, exchange.get("limit_GBps")),
        *([(CALIBRATED, exchange["calibrated_GBps"])] if exchange.get("calibrated_GBps") else []),
        ("exchange alone, nothing computed", exchange.get("alone_GBps")),
        ("exchange while computing", metrics.get("exchange_GBps", {}).get("p50")),
        ("end to end: the same bytes by the whole run", exchange["bytes"] / metrics["wall_ms"]["p50"] * 1e-6),
    ]
    where = f"{ranks} ranks, {words(case['parameters']['transports'])}"
    return made(f"{case['benchmark']}, {where}, all together", found)


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
    title = ", ".join([case["benchmark"], *rows, words(case["parameters"]["transports"])])
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
        left_out=tuple(stage for stage, value in found if value is None),
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


def draw_one(axes, waterfall):
    stages = waterfall.stages
    most = max(value for _, value in stages) or 1
    for row, (name, value) in enumerate(stages):
        axes.barh(row, value, height=0.6, color=COLORS[0])
        text = f"{significant(value)} GB/s"
        if row > 0:
            before = stages[row - 1][1]
            if before > value:
                axes.barh(row, before - value, left=value, height=0.6, facecolor="none", edgecolor="#8a8a8a", hatch="///",
                          linewidth=0.5)
            if before:
                text += f", {percent(value / before)}"
        axes.annotate(text, (max(value, stages[row - 1][1] if row else 0), row), xytext=(6, 0),
                      textcoords="offset points", va="center", fontsize=9)
    axes.set_yticks(range(len(stages)), [textwrap.fill(name, 26) for name, _ in stages], fontsize=9)
    axes.set_ylim(len(stages) - 0.5, -0.5)
    axes.set_xlim(0, 1.5 * most)
    title = textwrap.fill(waterfall.name, 60)
    if waterfall.left_out:
        title += "\n" + textwrap.fill(f"no source for: {', '.join(waterfall.left_out)}", 60)
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel("GB/s", fontsize=9)
    axes.tick_params(axis="x", labelsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw(waterfalls):
    plt = pyplot()
    shown = waterfalls[:MOST]
    columns = min(2, len(shown))
    rows = -(-len(shown) // columns)
    stages = [max(len(waterfall.stages) for waterfall in shown[at * columns : (at + 1) * columns]) for at in range(rows)]
    figure, places = plt.subplots(
        rows, columns, figsize=(12, sum(1.3 + 0.45 * count for count in stages)), squeeze=False, layout="constrained",
        height_ratios=[1 + count for count in stages],
    )
    for place in places.ravel()[len(shown) :]:
        place.set_visible(False)
    for axes, waterfall in zip(places.ravel(), shown):
        draw_one(axes, waterfall)
    more = len(waterfalls) - len(shown)
    figure.supxlabel("hatched: what is lost from the stage above; %: what is left of it" + (f"; {more} more in the run file" if more else ""),
                     fontsize=9)
    return figure
