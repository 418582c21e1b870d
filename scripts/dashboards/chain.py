"""With what the newest run of a stream is compared, row by row: the last run in which the row had not lost.

The runs of the newest run's environment are gone through, oldest first, also where another one came in between. `compare` judges each row of each of them twice: against
its base, the last run in which it was good, and against its anchor, the run at which its level began, so that a loss
which comes slowly is found, too. A row that regressed keeps its base until a run is as good as that, or until
triage.yaml accepts the new level, which then begins another chain. A run in which its case failed, or has a figure that no
machine gives, has no figure of it: it is no base, and recovers nothing.
"""

import dataclasses

from dashboards import triage

MOST_RUNS = 400  # of an environment, the last ones: a year of nights
CONFIRMED = 3  # runs in a row whose gain, or whose missing verdict, moves a base
OF_PAIRS = ("pair_GBps", "pair_us")  # have rows of pairs of ranks, and no other: of cases with one record for all ranks
# Beside the verdicts of `compare`: which of the two runs has no figure that counts.
FLAWED_BASE, IMPOSSIBLE = "flawed base", "impossible"
RECENT = 20  # complete runs: a row that none of them has is no longer missed


@dataclasses.dataclass
class Standing:
    """Of one row, before the next run."""

    base: object  # Run: the last in which the row was good
    anchor: object  # Run: where its level began
    seen: int = 0  # the last run that had it, of those gone through
    proven: bool = False  # a run was found as good as the base
    since: object = None  # Run: the first that regressed, of a loss that stands
    failing: object = None  # Run: the first of those in a row whose case failed
    gains: int = 0  # runs in a row that improved on the base
    doubts: int = 0  # runs in a row without a verdict, while the base is not proven

    def begin(self, run):
        self.base = self.anchor = run
        self.proven, self.since, self.gains, self.doubts = False, None, 0, 0

    def judge(self, run, near, far, accepted):
        """`near` is the verdict against the base, `far` that against the anchor."""
        if "failed" in (near, far):
            self.failing = self.failing or run
            return None
        self.failing = None
        if near == FLAWED_BASE:
            return self.begin(run)
        if near == IMPOSSIBLE:
            return None
        if "regressed" in (near, far):
            if accepted:
                return self.begin(run)
            self.since = self.since or run
            self.gains = self.doubts = 0
            if near != "regressed":
                self.base = self.anchor  # no night lost anything that counts, all of them together did
        elif near == "unchanged":
            self.base, self.proven, self.since, self.gains, self.doubts = run, True, None, 0, 0
        elif near == "improved":
            self.since, self.doubts, self.gains = None, 0, self.gains + 1
            # One lucky run is no level that all others have to reach.
            if self.gains == CONFIRMED:
                self.begin(run)
        elif not self.proven and self.since is None:
            self.doubts += 1
            if self.doubts == CONFIRMED:
                self.begin(run)


def rows_of(run):
    """(key, metric, fingerprint of the parameters): other parameters begin another row."""
    return [(key, metric, case["parameters"]) for key, case in run.cases.items() if not case["canary"]
            for metric in [*case["metrics"], *(OF_PAIRS if case["metrics"] and case["pairs"] else [])]]


class Chain:
    """Of the runs of a stream's newest environment, without the newest run. `judged(base, new)` gives {(key, metric): verdict};
    `accepts(row id, Run)` says whether the level of that run is accepted."""

    def __init__(self, stream, judged, accepts):
        self.rows = {}
        self.without_figure = set()  # of (Run, key, metric): what it has is no level
        newest = stream.runs[-1]
        self.runs = [run for run in stream.runs[:-1]
                     if run.segment == newest.segment and run.state == "complete"][-MOST_RUNS:]
        for number, run in enumerate(self.runs):
            self.go_on(number, run, judged, accepts)

    def go_on(self, number, run, judged, accepts):
        verdicts = {}

        def verdict(base, row):
            if base.id not in verdicts:
                verdicts[base.id] = judged(base, run)
            return verdicts[base.id].get(row[:2])

        for row in rows_of(run):
            if row not in self.rows:
                self.rows[row] = Standing(run, run)
            else:
                of, near = self.rows[row], verdict(self.rows[row].base, row)
                if near in (IMPOSSIBLE, FLAWED_BASE):
                    self.without_figure.add((run if near == IMPOSSIBLE else of.base, *row[:2]))
                of.judge(run, near, verdict(of.anchor, row), accepts(f"{row[0]} {row[1]}", run))
            self.rows[row].seen = number
        for (key, _, parameters), of in self.rows.items():
            case = run.cases.get(key)
            if case and case["state"] == "failed" and case["parameters"] == parameters:
                of.failing, of.seen = of.failing or run, number

    def awaited(self, new):
        """{(key, metric): Standing} of what the newest run has, or should have."""
        has = set(rows_of(new))
        found = {row[:2]: of for row, of in self.rows.items() if row in has}
        for row, of in self.rows.items():
            case = new.cases.get(row[0])
            # Measured with other parameters it is another row, not a missing one.
            replaced = case and case["metrics"] and case["parameters"] != row[2]
            if row[:2] not in found and not replaced and of.seen >= len(self.runs) - RECENT:
                found[row[:2]] = of
        return found


def accepting(entries):
    """What triage.yaml accepts: a row's level in a run."""

    def accepts(row_id, run):
        entry = triage.entry_of(entries, row_id)
        return entry is not None and entry.state == "accepted" and entry.covers(run)

    return accepts
