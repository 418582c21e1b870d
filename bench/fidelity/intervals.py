"""The statistics of a comparison by pairs, and its verdict."""

import math
import statistics

# The goal: the whole interval of ours / theirs inside 1 ± this.
AGREEMENT = {"latency": 0.03, "bandwidth": 0.05, "rate": 0.05}
# A wider interval can neither confirm nor deny that.
WIDEST = 0.02


def order_statistics_interval(values, confidence=0.95):
    """(low, high) around the median with at least this confidence, from ranks alone: exact for any
    distribution, also for one with two modes, which hosts have. None below six values."""
    ordered = sorted(values)
    n = len(ordered)
    outside = 0.0  # probability that the median lies below the rank-th smallest value
    rank = 0
    while 2 * (outside + math.comb(n, rank) / 2**n) <= 1 - confidence:
        outside += math.comb(n, rank) / 2**n
        rank += 1
    return (ordered[rank - 1], ordered[n - rank]) if rank > 0 else None


def describe(ratios):
    """Median and interval of ratios, each None where there are too few."""
    interval = order_statistics_interval(ratios)
    return {
        "pairs": len(ratios),
        "median": statistics.median(ratios) if ratios else None,
        "ci95": list(interval) if interval else None,
        "half_width": (interval[1] - interval[0]) / 2 if interval else None,
    }


def neighbours(visits):
    """A tool against itself: each of its runs over the next one of the same visit. About as many as
    the pairs with another, and as close in time, but not independent of each other."""
    return [before / after for values in visits for before, after in zip(values, values[1:])]


def is_inside(metric, interval):
    return 1 - AGREEMENT[metric] <= interval[0] and interval[1] <= 1 + AGREEMENT[metric]


def is_settled(metric, ratios, fewest):
    """More pairs would not change the verdict: the interval is narrow and on one side of the goal's
    bounds."""
    interval = order_statistics_interval(ratios) if len(ratios) >= fewest else None
    if interval is None or (interval[1] - interval[0]) / 2 >= WIDEST:
        return False
    low, high = 1 - AGREEMENT[metric], 1 + AGREEMENT[metric]
    return is_inside(metric, interval) or interval[1] < low or high < interval[0]


def verdict(metric, ratios):
    if not ratios:
        return "not reached"
    interval = order_statistics_interval(ratios)
    if interval is None or (interval[1] - interval[0]) / 2 >= WIDEST:
        return "inconclusive"
    return "agrees" if is_inside(metric, interval) else "differs"
