"""What `ucx-bench ab` finds by going on with undecided cases in the time that decided ones leave, simulated with the
noise of recorded duets (results/duet-study.json). It plans, looks and chooses as harness/analysis/comparison/looks.hpp
and going_on.hpp do. A duet is drawn from Student's t distribution with the recorded robust and usual standard deviation:
with the plan that the recording was judged by, it finds what was found there."""

import functools
import math

import numpy as np
from scipy import optimize, stats

ROWS, LAUNCHES, ALPHA, FLOOR, MATTERS, UNPROMISING = 48, 24, 0.005, 0.005, 0.05, 0.2
LOSSES = (0.01, 0.02, 0.05)
# A variance far above the robust one is of a few duets far off: a tail as heavy as this one's finds what was found.
HEAVIEST = 1.3


class Plan:
    def __init__(self, looks, of_all):
        self.looks, self.of_all, self.most = looks, of_all, looks[-1]

    def spent(self, after):
        if after <= LAUNCHES:
            return self.of_all * (after / LAUNCHES) ** 3
        return self.of_all + (1 - self.of_all) * (after - LAUNCHES) / (self.most - LAUNCHES)

    def share(self, look):
        at = self.looks.index(look)
        return self.spent(look) - (self.spent(self.looks[at - 1]) if at else 0)


PLANS = {"24 duets at most": Plan([16, 24], 1), "undecided cases go on": Plan([17, 24, 36, 48, 72], 0.7)}


@functools.cache
def shape_of(robust, usual):
    """(degrees of freedom, scale)"""
    def too_heavy(degrees):
        return math.sqrt(degrees / (degrees - 2)) * stats.norm.ppf(0.75) / stats.t.ppf(0.75, degrees) - usual / robust

    degrees = 1000.0 if usual < 1.03 * robust else HEAVIEST if usual > 3 * robust else optimize.brentq(too_heavy, 2.01, 1000)
    return degrees, robust * stats.norm.ppf(0.75) / stats.t.ppf(0.75, degrees)


@functools.cache
def lower_tail(duets):
    shares = np.ones(1)
    for rank in range(1, duets + 1):
        more = np.zeros(len(shares) + rank)
        more[:len(shares)] += shares / 2
        more[rank:] += shares / 2
        shares = more
    return np.cumsum(shares)


def p_of(logs):
    """Of each row of `logs`, by the signed-rank test."""
    duets = logs.shape[1]
    ranks = np.argsort(np.argsort(np.abs(logs), axis=1), axis=1) + 1
    positive = (ranks * (logs > 0)).sum(axis=1)
    return np.minimum(1, 2 * lower_tail(duets)[np.minimum(positive, duets * (duets + 1) // 2 - positive)])


def estimates(logs):
    one, other = np.triu_indices(logs.shape[1])
    return np.median((logs[:, one] + logs[:, other]) / 2, axis=1)


def within(logs, bound, level):
    """Whether the interval leaves no room for more: the test refuses both bounds, one from above and one from below."""
    low, high = math.log1p(-bound), math.log1p(bound)
    middle = np.median(logs, axis=1)
    return (p_of(logs - low) <= level) & (p_of(logs - high) <= level) & (low < middle) & (middle < high)


def corrected(p):
    order = np.argsort(p)
    holm = np.empty(len(p))
    holm[order] = np.maximum.accumulate(np.minimum(1, p[order] * (len(p) - np.arange(len(p)))))
    return holm


def affordable(plan, done, following, left):
    within_time = [look for look in plan.looks if done < look <= done + left]
    if not within_time:
        return 0
    beside_it = (left - (within_time[-1] - done)) / (following - done)
    return 1 + min(int(beside_it), math.ceil(beside_it / 2))


def suite(rng, plan, noise, changed, loss):
    """(whether the loss in row `changed` was found, whether there was another alarm, time as a share of all launches of all
    cases, which are equally long). Rows 2n and 2n+1 are of one case."""
    shapes = [shape_of(*noise[row % len(noise)]) for row in range(ROWS)]
    logs = np.array([scale * rng.standard_t(degrees, plan.most) for degrees, scale in shapes])
    logs[changed] += math.log1p(loss)
    case_of = np.arange(ROWS) // 2
    measured = np.ones(ROWS // 2, bool)
    p, settled, found = np.ones(ROWS), np.zeros(ROWS, bool), np.zeros(ROWS, bool)
    budget = LAUNCHES * len(measured)
    spent = done = 0
    for pause in sorted({*plan.looks, *range(LAUNCHES, plan.most, LAUNCHES // 4)}):
        spent += measured.sum() * (pause - done)
        done = pause
        rows = np.flatnonzero(measured[case_of] & ~settled)
        now = logs[rows, :done]
        alone = p_of(now)
        if done in plan.looks:
            share = plan.share(done)
            p[rows] = np.minimum(p[rows], alone / share)
            sure = rows[corrected(p)[rows] < ALPHA]
            found[sure[np.abs(estimates(logs[sure, :done])) > FLOOR]] = True
            level = ALPHA * share
            dull = (alone > UNPROMISING) & within(now, MATTERS, level) if plan.most > LAUNCHES else False
            settled[rows] = found[rows] | within(now, 2 * FLOOR, level) | dull
        least = np.full(len(measured), 2.0)
        still = ~settled[rows]
        np.minimum.at(least, case_of[rows[still]], alone[still])
        if done < LAUNCHES:
            measured = least <= 1
        elif done < plan.most:
            following = min([look for look in plan.looks if look > done] + [done + LAUNCHES // 4])
            order = [case for case in np.argsort(least, kind="stable") if least[case] <= 1]
            measured = np.zeros(len(measured), bool)
            measured[order[:affordable(plan, done, following, budget - spent)]] = True
        if not measured.any():
            break
    return found[changed], found.sum() > found[changed], spent / budget


def simulated(unchanged, draws):
    """By plan and loss: in how many of so many suites the loss was found, for each row, and the rest of suite()."""
    names = sorted(unchanged)
    noise = tuple((unchanged[name]["robust_sd_percent"] / 100, unchanged[name]["sd_percent"] / 100) for name in names)
    rng = np.random.default_rng(1)
    result = []
    for how, plan in PLANS.items():
        for loss in LOSSES:
            by_row, alarms, times = {}, 0, []
            for row, name in enumerate(names):
                suites = [suite(rng, plan, noise, row, loss) for _ in range(draws)]
                by_row[name] = [int(sum(found for found, _, _ in suites)), draws]
                alarms += int(sum(other for _, other, _ in suites))
                times += [float(time) for _, _, time in suites]
            result.append({"plan": how, "looks": plan.looks, "slowdown": loss, "by_row": by_row, "other_alarms": alarms,
                           "mean_time": round(sum(times) / len(times), 3), "longest_time": round(max(times), 3)})
    return result
