"""The A/A control: each run's own launches in turns, compared. Nothing changed, so every change is a false alarm."""

import dataclasses

from dashboards import verdicts
from dashboards.lines import LAST
from pages import charts

CHANCE = 0.05  # of an uncorrected p below itself, where launches are independent
LEAST = 4  # launches of a half: with three no p is as small


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
    # Of pairs of ranks only the worst is told, whose p is the smallest of many.
    tested = [row["p"] for row in result["series"]
              if row["p"] is not None and not row.get("pair") and min(row["base_launches"], row["new_launches"]) >= LEAST]
    alarms = sum(row["verdict"] in ("regressed", "improved") for row in result["series"])
    return {"tests": len(tested), "below": sum(p < CHANCE for p in tested), "alarms": alarms, "alpha": result["alpha"]}


def controls_of(found, stream, program):
    """Of its last complete runs, oldest first."""
    runs = [run for run in stream.runs if run.state == "complete"][-LAST:]
    known = [(run, found.remembered(run, "control", lambda run=run: counted(program, run))) for run in runs]
    return [Control(run, **of) for run, of in known if of and of["tests"]]


def chart_of(controls):
    """The share of tests below CHANCE by run, and where it should be; a run with a false alarm is marked."""
    places = range(len(controls))
    return {
        "title": "tests of a run against itself with p below 5 %", "about": "", "x": "run", "y": {"unit": "%", "log": False},
        "names": [control.run.started[:10] for control in controls],
        "series": [
            {"name": "share of tests", "color": 0, "scatter": True, "points": [[at, 100 * controls[at].share] for at in places]},
            {"name": f"chance: {100 * CHANCE:g} %", **charts.PEAK, "points": [[at, 100 * CHANCE] for at in places]},
        ],
        "lost": [[at, "✕"] for at in places if controls[at].alarms],
    }


def told(found, stream, program):
    """What the page says of a stream; None where no run could be compared with itself."""
    controls = controls_of(found, stream, program)
    if not controls:
        return None
    tests, below = (sum(getattr(control, name) for control in controls) for name in ("tests", "below"))
    return {"runs": len(controls), "alarms": sum(control.alarms > 0 for control in controls), "alpha": controls[-1].alpha,
            "tests": tests, "below": below, "share": below / tests, "chance": CHANCE, "chart": chart_of(controls)}
