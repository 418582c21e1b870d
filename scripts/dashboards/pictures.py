"""Pictures of a dashboard's cards: the last runs as a line, and runs compared with themselves."""

from markupsafe import Markup, escape

from pages import charts

WIDTH, HEIGHT, MARGIN = 180, 30, 3
LEAST_SPAN = 0.04  # of the drawing's height: noise stays small


def spark(times, segments):
    """Up is slower; the line breaks where runs begin that are not compared with those before."""
    known = [time for time in times if time is not None]
    if len(known) < 2:
        return ""
    middle, span = (max(known) + min(known)) / 2, max(LEAST_SPAN, max(known) - min(known))
    stretches, before = [], None
    for at, (time, segment) in enumerate(zip(times, segments)):
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


def control_chart(control):
    """The share of tests below chance by run, and where it should be; a run with a false alarm is marked."""
    points, chance = control["points"], 100 * control["chance"]
    return {
        "title": "tests of a run against itself with p below 5 %", "about": "", "x": "run", "y": {"unit": "%", "log": False},
        "names": [point["day"] for point in points],
        "series": [
            {"name": "share of tests", "color": 0, "scatter": True, "points": [[at, 100 * point["share"]] for at, point in enumerate(points)]},
            {"name": f"chance: {chance:g} %", **charts.PEAK, "points": [[at, chance] for at in range(len(points))]},
        ],
        "lost": [[at, "✕"] for at, point in enumerate(points) if point["alarm"]],
    }
