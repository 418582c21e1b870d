"""The A/A control: each run's own launches in turns, compared. Nothing changed, so every change is a false alarm."""

import dataclasses

from markupsafe import Markup, escape

from dashboards import verdicts
from dashboards.figures import tag
from dashboards.lines import LAST

CHANCE = 0.05  # of an uncorrected p below itself, where launches are independent
LEAST = 4  # launches of a half: with three no p is as small
WIDTH, HEIGHT = 520, 130
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 12, 24


@dataclasses.dataclass
class Control:
    """Of one run."""

    run: object
    tests: int
    below: int  # tests whose own p is below CHANCE
    alarms: int  # called regressed or improved
    alpha: float

    @property
    def share(self):
        return self.below / self.tests


def counted(program, run):
    """For the index, as plain JSON; None where `compare` says nothing."""
    result, _ = verdicts.told(program, "compare", run.path, "--with-itself")
    if result is None:
        return None
    tested = [row["p"] for row in result["series"]
              if row["p"] is not None and min(row["base_launches"], row["new_launches"]) >= LEAST]
    alarms = sum(row["verdict"] in ("regressed", "improved") for row in result["series"])
    return {"tests": len(tested), "below": sum(p < CHANCE for p in tested), "alarms": alarms, "alpha": result["alpha"]}


def controls_of(found, stream, program):
    """Of its last complete runs, oldest first."""
    runs = [run for run in stream.runs if run.state == "complete"][-LAST:]
    known = [(run, found.remembered(run, "control", lambda run=run: counted(program, run))) for run in runs]
    return [Control(run, **of) for run, of in known if of and of["tests"]]


def dot(control, x, y):
    title = escape(f"{control.run.started[:10]}: {control.below} of {control.tests} below 5 %"
                   + (f", {control.alarms} called a change" if control.alarms else ""))
    if control.alarms:
        return f'<text class="lost" x="{x}" y="{y + 4}">✕<title>{title}</title></text>'
    return f'<circle class="dot new" cx="{x}" cy="{y}" r="3"><title>{title}</title></circle>'


def picture(controls):
    """The share of tests below CHANCE by run, and where it should be."""
    most = max(0.1, *(control.share for control in controls))
    height = HEIGHT - TOP - BOTTOM

    def y_of(share):
        return round(TOP + height * (1 - share / (1.1 * most)), 1)

    parts = []
    for share in (0, most):
        parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y_of(share), y2=y_of(share), class_="grid"))
        parts.append(tag("text", f"{100 * share:.0f} %", x=LEFT - 6, y=y_of(share) + 4, class_="tick end"))
    parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y_of(CHANCE), y2=y_of(CHANCE), class_="roof"))
    parts.append(tag("text", f"{100 * CHANCE:g} %: chance", x=WIDTH - RIGHT, y=y_of(CHANCE) - 4, class_="tick end"))
    step = (WIDTH - LEFT - RIGHT) / len(controls)
    for place, control in enumerate(controls):
        parts.append(dot(control, round(LEFT + step * (place + 0.5), 1), y_of(control.share)))
    for control, x, side in ((controls[0], LEFT, ""), (controls[-1], WIDTH - RIGHT, " end")):
        parts.append(tag("text", control.run.started[:10], x=x, y=HEIGHT - 6, class_="tick" + side))
    label = "share of tests of a run against itself with p below 5 %, by run"
    return Markup(f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>')


def told(found, stream, program):
    """What the page says of a stream; None where no run could be compared with itself."""
    controls = controls_of(found, stream, program)
    if not controls:
        return None
    tests, below = (sum(getattr(one, name) for one in controls) for name in ("tests", "below"))
    return {"runs": len(controls), "alarms": sum(one.alarms > 0 for one in controls), "alpha": controls[-1].alpha,
            "tests": tests, "below": below, "share": below / tests, "chance": CHANCE, "picture": picture(controls)}
