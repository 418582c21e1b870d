"""Change points in the history of a series: E-divisive, with the decisions kept as runs are appended.

The statistic is that of Matteson and James (2014), the significance Student's t test, as in Apache Otava
(formerly Hunter; Fleming et al., 2023). Two things differ. Otava looks at a whole history at once, so that a point
may move or vanish later; here every run is looked at once, when it is the newest, and what was found then stays.
And p is corrected for the number of places tried, since the best of them is tested.
"""

import dataclasses
import math

import numpy as np
from scipy.special import stdtr

WINDOW = 50  # runs looked at, as in Otava
FOLLOWING = 3  # runs after it that confirm a change
SEGMENT = FOLLOWING + 1  # the least on either side of a confirmed change
ALPHA = 0.0001  # a tenth of Otava's, since every run is a further chance of a false alarm
LEAST_CHANGE = 0.005
LEAST_NOISES = 2
FAR_OUT = 3  # Tukey's fences, in interquartile ranges from the quartiles
QUARTILES_APART = 1.349  # of a normal distribution, in standard deviations


@dataclasses.dataclass(frozen=True)
class ChangePoint:
    index: int  # of the first value at the new level
    before: float  # median since the change before it
    after: float  # median until the change after it
    p: float  # when it was found, corrected for the places tried
    provisional: bool  # fewer than three values follow: it may still move or vanish


def floor_of(middle, noise):
    """The least change that counts at that level, with that standard deviation."""
    return np.maximum(LEAST_CHANGE * np.abs(middle), LEAST_NOISES * noise)


def energies(window):
    """E-divisive's statistic of every split into the first 2, 3, … values and the others, at least 2."""
    n = len(window)
    sums = np.abs(window[:, None] - window).cumsum(axis=0).cumsum(axis=1)
    left = np.arange(2, n - 1)
    right = n - left
    twice_within_left = sums.diagonal()[1 : n - 2]
    to_all = sums[1 : n - 2, -1]
    between = to_all - twice_within_left
    twice_within_right = sums[-1, -1] - to_all - between
    return (2 * between - twice_within_left * right / (left - 1) - twice_within_right * left / (right - 1)) / n


def t_test(left, right):
    """Two-sided p that both have one mean, and the standard deviation within them, taken as one."""
    freedom = len(left) + len(right) - 2
    difference = abs(right.mean() - left.mean())
    deviation = math.sqrt((left.var() * len(left) + right.var() * len(right)) / freedom)
    if deviation == 0:
        return float(difference == 0), 0.0
    t = difference / (deviation * math.sqrt(1 / len(left) + 1 / len(right)))
    return float(2 * stdtr(freedom, -t)), deviation


def without_spikes(window):
    """Values far outside of the quartiles are drawn near, so that one of them hides no change."""
    ranked = np.sort(window)
    low, middle, high = ranked[len(window) // 4], ranked[len(window) // 2], ranked[-1 - len(window) // 4]
    reach = FAR_OUT * max(high - low, LEAST_CHANGE * abs(middle))
    return np.minimum(np.maximum(window, low - reach), high + reach)


def change_in(window):
    """(values before it, p) of the most likely change in a window; None if there is none that counts."""
    if len(window) < SEGMENT + 2:
        return None
    calm = without_spikes(window)
    place = SEGMENT + int(np.argmax(energies(calm)[SEGMENT - 2 :]))
    p, noise = t_test(calm[:place], calm[place:])
    p *= len(window) - SEGMENT - 1
    if p > ALPHA:
        return None
    before, after = np.median(window[:place]), np.median(window[place:])
    return (place, p) if abs(after - before) > floor_of(before, noise) else None


def restless(points):
    """By number of points, whether a full window that ends there may have a change: its last ones are away."""
    looked_at = np.ones(len(points) + 1, dtype=bool)
    if len(points) >= WINDOW:
        windows = np.lib.stride_tricks.sliding_window_view(points, WINDOW)
        low, middle, high = np.quantile(windows, [0.25, 0.5, 0.75], axis=1)
        last = np.median(windows[:, -SEGMENT:], axis=1)
        looked_at[WINDOW:] = np.abs(last - middle) > floor_of(middle, (high - low) / QUARTILES_APART) / 2
    return looked_at


def places_of(points):
    """(place, p) of all changes, the last one perhaps provisional."""
    found, start, look = [], 0, restless(points)
    for end in range(1, len(points) + 1):
        if end - start >= WINDOW and not look[end]:
            continue
        first = max(start, end - WINDOW)
        change = change_in(points[first:end])
        if change is None:
            continue
        place, p = first + change[0], change[1]
        if end - place >= SEGMENT:
            found.append((place, p))
            start = place
        elif end == len(points):
            found.append((place, p))
    return found


def change_points(values):
    """Of a series in the order of its runs. None and what is not finite is no value, and keeps its index.

    A change needs p at most 0.0001 and a difference of the medians on both sides above 0.5 % and above twice the
    standard deviation within them. One value at a new level is a spike, two or three are provisional; from four on
    (the first and three that follow) the place is final: it depends on nothing that comes later.
    """
    places = [i for i, value in enumerate(values) if value is not None and math.isfinite(value)]
    points = np.array([values[i] for i in places], dtype=float)
    found = places_of(points)
    edges = [0, *(place for place, _ in found), len(points)]
    return [
        ChangePoint(
            index=places[place],
            before=float(np.median(points[edges[i] : place])),
            after=float(np.median(points[place : edges[i + 2]])),
            p=p,
            provisional=len(points) - place < SEGMENT,
        )
        for i, (place, p) in enumerate(found)
    ]
