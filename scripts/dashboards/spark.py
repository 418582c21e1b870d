"""A line of the last runs of a kind, and what to do about the newest one, in one sentence."""

import statistics

from markupsafe import Markup, escape

from dashboards.lines import LAST

WIDTH, HEIGHT, MARGIN = 180, 30, 3
LEAST_SPAN = 0.04  # of the drawing's height: noise stays small


def times_of(stream, lines):
    """Of each of the last runs what its middle row took, by that row's median of these runs; None without any."""
    first = max(0, len(stream.runs) - LAST)
    ratios = [[] for _ in stream.runs[first:]]
    for line in lines:
        values = [value and value[0] for value in line.values[first:]]
        known = [value for value in values if value]
        if line.canary or not known:
            continue
        middle = statistics.median(known)
        for of, value in zip(ratios, values):
            if value:
                of.append(value / middle if line.better == "lower" else middle / value)
    return [statistics.median(of) if of else None for of in ratios]


def drawn(stream, lines):
    """Up is slower; the line breaks where runs begin that are not compared with those before."""
    times = times_of(stream, lines)
    known = [time for time in times if time is not None]
    if len(known) < 2:
        return ""
    first, middle = len(stream.runs) - len(times), (max(known) + min(known)) / 2
    span = max(LEAST_SPAN, max(known) - min(known))
    stretches, before = [], None
    for at, time in enumerate(times):
        segment = stream.runs[first + at].segment
        if time is None or segment != before:
            stretches.append([])
        before = segment
        if time is not None:
            x = MARGIN + at * (WIDTH - 2 * MARGIN) / (len(times) - 1)
            y = HEIGHT / 2 - (time - middle) / span * (HEIGHT - 2 * MARGIN)
            stretches[-1].append((round(x, 1), round(y, 1)))
    parts = [f'<polyline points="{" ".join(f"{x},{y}" for x, y in of)}"/>' for of in stretches if len(of) > 1]
    x, y = next(of for of in reversed(stretches) if of)[-1]
    change = f", the newest {100 * (times[-1] - 1):+.1f} %" if times[-1] else ""
    title = escape(f"time of the middle row in the last {len(times)} runs against their median, up is slower{change}")
    return Markup(f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}"><title>{title}</title>'
                  f'{"".join(parts)}<circle cx="{x}" cy="{y}" r="2.5"/></svg>')


def counted(number):
    return f"{number} row{'' if number == 1 else 's'}"


def to_do(stream, comparison, rows, causes, history, steps):
    """The first of these that applies."""
    by = {verdict: [row for row in rows if row["verdict"] == verdict and not row["excused"]] for verdict in ("failed", "regressed", "missing")}
    counts = comparison.counts()
    if not comparison.rows and stream.side == "base":
        return "Nothing to do here: see the card of the new side."
    if not comparison.rows and comparison.new.state != "complete":
        return f"Measure again: the newest run is {comparison.new.state}."
    if not comparison.rows:
        return "Choose another base with --base." if comparison.base else "Measure the same once more: the next run has a verdict."
    if by["failed"]:
        worst = by["failed"][0]
        return f"Find out why {counted(len(by['failed']))} failed, first {worst['key']} {worst['metric']}: {worst['why']}."
    if by["regressed"]:
        worst = by["regressed"][0]
        since = f", since {worst['since'].started[:10]}" if worst["since"] else ""
        common = f"; what they share: {causes[0][0]}" if causes else ""
        return f"Look into {counted(len(by['regressed']))} that regressed, first {worst['key']} {worst['metric']} ({worst['delta']}){since}{common}."
    if by["missing"]:
        return f"Find out why the new run lacks {counted(len(by['missing']))} that the base run has."
    if history:
        return f"Look into {counted(len(history[0]['rows']) + history[0]['left_out'])} that have been worse since {history[0]['day']}."
    if counts["inconclusive"]:
        return f"{steps[0] if steps else counted(counts['inconclusive']) + ' inconclusive: measure again with more launches'}."
    return "Nothing to do" + (f": {counted(counts['improved'])} improved." if counts["improved"] else ".")
