"""What the newest run's launches look like in a row: steady, drifting, in two modes, or with outliers.

Drift and modes are what `compare` has found; outliers are a rule of thumb for the eye, no verdict.
"""

import statistics

LEAST = 8  # launches
AWAY = 6  # robust standard deviations from the median
ROBUST = 0.6745  # median absolute deviations in a standard deviation of a normal distribution


def shape_of(row, medians):
    """A word and its reason, of a row of the comparison (None without one) and the launches' medians."""
    if row is None or not medians:
        return "?", "compare has not looked at these launches"
    if row.get("new_drift"):
        return "drifting", f"{100 * row['new_drift']:+.1f} % from the first launch to the last"
    if modes := row.get("new_modes"):
        return "bimodal", f"{modes['share_high']:.0%} of the launches lie around {modes['high']:.4g}, the others " \
                          f"around {modes['low']:.4g}"
    values = [value for value in medians if value]
    if len(values) < LEAST:
        return "?", f"{len(values)} launches; {LEAST} say something"
    middle = statistics.median(values)
    deviation = statistics.median(abs(value - middle) for value in values) / ROBUST
    far = sum(abs(value - middle) > AWAY * deviation for value in values) if deviation else 0
    if far:
        return "outliers", f"{far} of {len(values)} launches are {AWAY} robust standard deviations away"
    return "steady", f"{len(values)} launches without drift, modes or outliers"
