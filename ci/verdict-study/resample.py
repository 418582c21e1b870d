"""Comparisons drawn from recorded launches: how often an alarm is raised where nothing changed, how often
a planted loss is found, and how much of it is seen. Windows that overlap share launches: counts over them
say how the rules behave on these launches, and bound nothing."""

import collections
import concurrent.futures
import functools
import math
import os
import random
import statistics

import verdicts

LAUNCHES = 24  # a side: what `suite` measures unless it is told otherwise
COUNTS = (10, 16, 24, 50)
ALPHAS = (0.005, 0.002, 0.001)  # besides compare's own
SEED = "ucx-bench verdict study"


def in_fours(rng, launches):
    """A B B A or B A A B, drawn anew for every four launches."""
    return "".join(rng.choice(("ABBA", "BAAB")) for _ in range(launches // 2))


TURNS, HALVES, BLOCKS = "A B B A", "A B B A of half a side each", "all A, all B"
UNEQUAL = "placements met unequally, 18 and 6 against 6 and 18"
LAYOUTS = {
    TURNS: in_fours,
    HALVES: lambda _, launches: "A" * (launches // 2) + "B" * launches + "A" * (launches - launches // 2),
    BLOCKS: lambda _, launches: "A" * launches + "B" * launches,
}


def draws(layout, recorded, count, seed, launches=LAUNCHES):
    """(first launch, side of each): every contiguous window is as likely; none is drawn twice. Fewer
    than `count` where there are no more."""
    rng = random.Random(f"{SEED}, {layout}, {seed}")
    starts = range(recorded - 2 * launches + 1)
    drawn = {}
    tries = 0
    while starts and len(drawn) < count and tries < 50 * count:
        tries += 1
        drawn[rng.choice(starts), LAYOUTS[layout](rng, launches)] = None
    return list(drawn)


def split(rows, start, pattern):
    window = list(zip(rows[start:start + len(pattern)], pattern))
    return [[row for row, side in window if side == wanted] for wanted in "AB"]


def unequal(rng, recording, rows):
    """(base, new), each case on its own: of the half of its launches whose processors were nearer to each
    other and faster the base has three quarters, of the other half a quarter."""
    given = {key: [i for i, each in enumerate(recording.series) if each.key == key and each.is_given]
             for key in {each.key for each in recording.series}}
    quarter = len(rows) // 8
    chosen = {}
    for key, columns in sorted(given.items()):
        order = rng.sample(rows, len(rows))
        if columns:
            order.sort(key=lambda row: math.prod(row[i] or 1 for i in columns))
        better, worse = (rng.sample(half, len(half)) for half in (order[:len(rows) // 2], order[len(rows) // 2:]))
        sides = better[quarter:] + worse[:quarter], better[:quarter] + worse[quarter:]
        chosen[key] = [rng.sample(side, len(side)) for side in sides]
    return [[[chosen[each.key][side][launch][i] for i, each in enumerate(recording.series)]
             for launch in range(len(rows) // 2)] for side in (0, 1)]


def in_parallel(calls):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda call: call(), calls))


def unchanged(program, recording, drawn, in_turns):
    rows = recording.rows
    return in_parallel([
        functools.partial(verdicts.sides, program, recording, *split(rows, start, pattern), in_turns)
        for start, pattern in drawn
    ])


def alarm_counts(comparisons, windows=True):
    """Of comparisons without a change: per run, all cases together. No bound where they share launches."""
    count = sum(bool(verdicts.alarms(comparison)) for comparison in comparisons)
    return {
        "comparisons": len(comparisons),
        "windows": windows,
        "false_alarms": count,
        "upper95": None if windows else verdicts.upper95(count, len(comparisons)),
        "below_alpha": by_alpha([verdicts.alarms(comparison) for comparison in comparisons]),
        "canary_alarms": sum(bool(comparison["host_changed"]) for comparison in comparisons),
        "verdicts": verdicts.count_verdicts(comparisons),
    }


def by_alpha(found):
    """In how many runs something would have been found with a smaller --alpha: the same, but for those
    whose p is not as small."""
    return {str(alpha): sum(any(s["p_corrected"] < alpha for s in alarms) for alarms in found) for alpha in ALPHAS}


def false_alarms(program, recording, count):
    """By layout, also without canaries, which hide alarms where they alarm themselves; the usual one in
    windows that share no launch, too. Shuffled launches are independent of each other, as the test
    supposes, whatever the host did meanwhile."""
    recorded, window = len(recording.rows), 2 * LAUNCHES
    found = {}
    for layout in LAYOUTS:
        drawn = draws(layout, recorded, count, "unchanged")
        comparisons = unchanged(program, recording, drawn, layout == TURNS)
        blind = unchanged(program, recording.without_canaries(), drawn, layout == TURNS)
        found[layout] = alarm_counts(comparisons) | {"without_canaries": alarm_counts(blind)}
    rng = random.Random(f"{SEED}, apart")
    apart = [(start, in_fours(rng, LAUNCHES)) for start in range(0, recorded - window + 1, window)]
    shuffled = [rng.sample(recording.rows, window) for _ in range(count)]
    found[f"any {window} launches, shuffled"] = alarm_counts(in_parallel([
        functools.partial(verdicts.sides, program, recording, rows[:LAUNCHES], rows[LAUNCHES:], in_turns=False)
        for rows in shuffled
    ]))
    found[TURNS]["disjoint"] = alarm_counts(unchanged(program, recording, apart, in_turns=True), windows=False)
    rng = random.Random(f"{SEED}, unequal")
    found[UNEQUAL] = alarm_counts(in_parallel([
        functools.partial(verdicts.sides, program, recording, *unequal(rng, recording, window_of(rng, recording)),
                          in_turns=False)
        for _ in range(count)
    ]))
    return found


def window_of(rng, recording):
    start = rng.randrange(len(recording.rows) - 2 * LAUNCHES + 1)
    return recording.rows[start:start + 2 * LAUNCHES]


def counted(comparisons, planted, slowdown, windows=True):
    """Of comparisons in which these cases are worse. Found: one of their metrics is called regressed. Seen:
    the share of the loss, on logarithms, that is the median of what compare estimates."""
    found = [
        [loss for loss in verdicts.alarms(comparison, ("regressed",)) if loss["key"] in keys]
        for comparison, keys in zip(comparisons, planted)
    ]
    detected = sum(map(bool, found))
    words = collections.Counter()
    for comparison, keys in zip(comparisons, planted):
        words.update(verdicts.count_verdicts([comparison], keys))
    by_case = {}
    for losses, keys in zip(found, planted):
        for key in keys:
            hits = by_case.setdefault(key, [0, 0])
            hits[0] += any(loss["key"] == key for loss in losses)
            hits[1] += 1
    shares = [abs(math.log(each["ratio"])) * (1 if (each["ratio"] > 1) == (each["better"] == "lower") else -1)
              / math.log1p(slowdown)
              for comparison, keys in zip(comparisons, planted) for each in comparison["series"]
              if each["key"] in keys and each["ratio"] is not None]
    return {
        "detected": detected,
        "of": len(comparisons),
        "windows": windows,
        "seen": statistics.median(shares) if shares else None,
        "lower95": None if windows else verdicts.lower95(detected, len(comparisons)),
        "below_alpha": by_alpha(found),
        "canary_alarms": sum(bool(comparison["host_changed"]) for comparison in comparisons),
        "verdicts": dict(words),
        "by_case": by_case,
    }


def changes_seen(comparisons):
    """By case and metric: the median over comparisons of the change that compare saw, 0.05 being new =
    1.05 base. What was planted from outside need not come through everywhere."""
    ratios = {}
    for comparison in comparisons:
        for each in comparison["series"]:
            if each["ratio"] is not None:
                ratios.setdefault(f"{each['key']} {each['metric']}", []).append(each["ratio"])
    return {name: statistics.median(values) - 1 for name, values in sorted(ratios.items())}


def planted_in_draws(program, recording, slowdown, count, which, layout=TURNS, launches=LAUNCHES):
    """`which(rng)` are the cases that are worse in one comparison."""
    rng = random.Random(f"{SEED}, {slowdown}")
    rows = recording.rows
    if layout == UNEQUAL:
        pairs = [unequal(rng, recording, window_of(rng, recording)) for _ in range(count)]
    else:
        pairs = [split(rows, *drawn) for drawn in draws(layout, len(rows), count, slowdown, launches)]
    planted = [which(rng) for _ in pairs]

    def compared(place):
        base, new = pairs[place]
        worse = recording.slowed(new, slowdown, planted[place])
        return verdicts.sides(program, recording, base, worse, in_turns=layout == TURNS)

    return counted(in_parallel([functools.partial(compared, place) for place in range(len(pairs))]), planted, slowdown)


def power(program, recording, slowdowns, count, how, launches=LAUNCHES):
    """A loss in one case, drawn for each comparison, and in all of them."""
    ways = {"one case": lambda rng: {rng.choice(recording.cases)}, "all cases": lambda rng: set(recording.cases)}
    return [
        {"slowdown": slowdown, "how": f"{how}, {name}"}
        | planted_in_draws(program, recording, slowdown, count, which, launches=launches)
        for name, which in ways.items()
        for slowdown in slowdowns
    ]


def power_in(layouts, program, recording, slowdowns, count):
    """A loss in all cases of sides that did not take turns, or met placements unequally often."""
    return [
        {"slowdown": slowdown, "how": f"resampled, all cases, {layout}"}
        | planted_in_draws(program, recording, slowdown, count, lambda _: set(recording.cases), layout)
        for layout in layouts
        for slowdown in slowdowns
    ]


def by_launches(program, recording, slowdown, count):
    """What more launches a side would find of one loss."""
    return [
        {"launches": launches} | row
        for launches in COUNTS if 2 * launches <= len(recording.rows)
        for row in power(program, recording, (slowdown,), count, "resampled", launches)
    ]
