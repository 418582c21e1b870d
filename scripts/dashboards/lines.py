"""Streams of runs that can be compared, and the lines of values through each of them."""

import collections
import dataclasses
import functools
import json

import runfile
from dashboards import changes

LAST = 20  # runs whose samples stand on the page


@dataclasses.dataclass(eq=False)
class Stream:
    """Runs of one machine and branch that were asked the same; ucx-bench says which, and where a segment begins."""

    machine: str
    branch: str
    what: str
    side: str  # of ab: "base" or "new"; else empty
    runs: list = dataclasses.field(default_factory=list)

    @property
    def name(self):
        what = self.what + (f", {self.side}" if self.side else "")
        return f"{what} on {self.machine}" + (f", branch {self.branch}" if self.branch else "")

    @functools.cached_property
    def segments(self):
        """The places of the runs of each environment, which may go and return; that of the newest run is last."""
        found = {}
        for i, run in enumerate(self.runs):
            found.setdefault(run.segment, []).append(i)
        return sorted(found.values(), key=lambda places: places[-1])


@dataclasses.dataclass(eq=False)
class Line:
    """One metric of one case with one set of parameters; values by run, None where there is none."""

    stream: Stream
    key: str
    metric: str
    parameters: str
    title: str
    unit: str
    better: str  # "lower" or "higher"
    canary: bool
    values: list  # of [median, low, high]
    notes: dict = dataclasses.field(default_factory=dict)  # by run: "skipped: no GPU"
    changes: list = dataclasses.field(default_factory=list)  # indices are those of runs
    number: int = 0  # on the page

    @property
    def id(self):
        return f"{self.key} {self.metric}"


def place(runs, problems, program):
    """Asks ucx-bench where each run stands, and returns those that do; raises NotARun where it does not say."""
    if not runs:
        return []
    heads = "".join(json.dumps(run.head) + "\n" for run in runs)
    placed = []
    places = runfile.asked_of(program, ["dashboard", "/dev/stdin", "--streams"], heads)
    for run, found in zip(runs, places, strict=True):
        if "damage" in found:
            problems.append((run.path.name, found["damage"].removeprefix("'the run' ")))
        else:
            run.place = found
            placed.append(run)
    return placed


def streams_of(runs):
    streams = {}
    for run in runs:
        key = tuple(run.place[name] for name in ("machine", "branch", "what", "side"))
        streams.setdefault(key, Stream(*key)).runs.append(run)
    return [stream for _, stream in sorted(streams.items())]


def units_of(stream):
    """By case and a metric's title, the unit that most runs have; the newest of equals."""
    found = collections.defaultdict(collections.Counter)
    for i, run in enumerate(stream.runs):
        for key, case in run.cases.items():
            for metric in case["metrics"]:
                shown = run.shown_of(key, metric)
                found[key, shown["title"]][shown["unit"]] += 1 + i / (len(stream.runs) ** 2 + 1)
    return {key: counts.most_common(1)[0][0] for key, counts in found.items()}


def lines_of(stream, problems):
    """All lines of a stream; values in another unit are left out and named once for each run."""
    units, lines = units_of(stream), {}
    for i, run in enumerate(stream.runs):
        changed = []
        for key, case in run.cases.items():
            for metric, values in case["metrics"].items():
                shown = run.shown_of(key, metric)
                usual = units[key, shown["title"]]
                if shown["unit"] != usual:
                    changed.append(f"{key} {shown['title']} in {shown['unit']}, not {usual}")
                    continue
                of = (key, metric, case["parameters"])
                if of not in lines:
                    lines[of] = Line(stream, *of, **shown, canary=case["canary"], values=[None] * len(stream.runs))
                lines[of].values[i] = values
        if changed:
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            problems.append((run.path.name, f"the unit changed: {changed[0]}{more}; these values are left out"))
    for line in lines.values():
        annotate(line)
    return list(lines.values())


def by_stream(found, program):
    """{Stream: its lines}. Of the tree's runs those stay that ucx-bench can place."""
    found.runs = place(found.runs, found.problems, program)
    return {stream: lines_of(stream, found.problems) for stream in streams_of(found.runs)}


def leave_out(lines, without_figure):
    """What a machine cannot give, and the like, is no level: of (Run, key, metric)."""
    for line in lines:
        for i, run in enumerate(line.stream.runs):
            if (run, line.key, line.metric) in without_figure and line.values[i] is not None:
                line.values[i], line.notes[i] = None, "no figure that counts, left out: see the findings of the run"


def annotate(line):
    """Why runs have no value, from the line's first one on."""
    started = False
    for i, run in enumerate(line.stream.runs):
        started = started or line.values[i] is not None
        if line.values[i] is not None or not started:
            continue
        case = run.cases.get(line.key)
        if case is None:
            line.notes[i] = "missing" + (f": the run {run.state}" if run.state != "complete" else "")
        elif case["parameters"] != line.parameters:
            line.notes[i] = "measured with other parameters"
        elif case["state"] != "measured":
            line.notes[i] = f"{case['state']}: {case['reason'] or 'no reason given'}"
        else:
            line.notes[i] = case["reason"] or "no value"


def find_changes(line):
    """Within each segment by itself: what differs across is no change of the program."""
    for segment in line.stream.segments:
        places = [i for i in segment if line.values[i] is not None]
        for found in changes.change_points([line.values[i][0] for i in places]):
            line.changes.append(dataclasses.replace(found, index=places[found.index]))


def worse(line, change):
    return (change.after > change.before) == (line.better == "lower")


def standing_losses(line):
    """Change points for the worse in the newest segment, unless the line, or its last value, is back where it was
    before."""
    newest = line.stream.segments[-1]
    latest = [change for change in line.changes if change.index in newest]
    if not latest:
        return []
    now, last = latest[-1].after, next(line.values[i][0] for i in reversed(newest) if line.values[i])
    return [change for change in latest if worse(line, change)
            and (now > change.before) == (line.better == "lower") and now != change.before
            and abs(last - change.before) > abs(last - change.after)]
