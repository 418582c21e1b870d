"""The newest run of each stream against its base: the program itself compares, nothing is judged here."""

import dataclasses
import json
import math
import subprocess

from pages.sections import VERDICTS

LIMIT_S = 120


@dataclasses.dataclass
class Comparison:
    """Of a stream's newest run; `trouble` says why there is none."""

    new: object  # Run
    base: object = None  # Run, or None
    result: dict = dataclasses.field(default_factory=dict)  # ucx-bench/comparison/1
    trouble: str = ""

    @property
    def rows(self):
        return self.result.get("series", [])

    def counts(self):
        found = [row["verdict"] for row in self.rows]
        return {verdict: found.count(verdict) for verdict in VERDICTS}

    def worst(self):
        """Sorts what needs a look before what does not."""
        counts = self.counts()
        return (-counts["regressed"], -counts["missing"], -counts["inconclusive"], not self.trouble)


def told(program, *words):
    """The JSON that ucx-bench writes, or (None, why it writes none)."""
    try:
        done = subprocess.run([program, *map(str, words), "--json", "-"], capture_output=True, text=True, timeout=LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, f"'{program} {words[0]}' did not run: {error}"
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return None, lines[-1] if lines else f"'{program} {words[0]}' ended with status {done.returncode}"
    try:
        return json.loads(done.stdout), ""
    except ValueError:
        return None, f"'{program} {words[0]}' wrote no JSON"


def compared(stream, program, known=(), base=None):
    """`base` is a Run that is taken whatever it is. The base of `ab` is its other side, one of the `known` runs."""
    new = stream.runs[-1]
    if stream.side == "base" and base is None:
        return Comparison(new, trouble="the base side of ab: its verdict is that of the new side")
    turns = next((run for run in known if stream.side == "new" and run.id == new.other), None)
    base = base or turns or stream.base_of_newest()
    if base is None:
        alone = len(stream.runs) == 1
        why = "its only run so far" if alone else "no complete run before it has its environment: see the lane below"
        return Comparison(new, trouble=f"nothing to compare with: {why}")
    if base.id == new.id:
        return Comparison(new, trouble="it is the base itself")
    # The two sides of ab differ on purpose.
    result, trouble = told(program, "compare", base.path, new.path, *(["--across-environments"] if base is turns else []))
    if trouble:
        return Comparison(new, base, trouble=trouble)
    if result["incomparable"]:
        return Comparison(new, base, result, f"incomparable: {result['incomparable']}")
    return Comparison(new, base, result)


def findings_of(program, run):
    """What ucx-bench report says of a run, as everywhere else; (None, why) where it says nothing."""
    result, trouble = told(program, "report", run.path)
    return (None, trouble) if result is None else (result["findings"], "")


def effect(row):
    """The change in units of what the series' own noise lets count; None where nothing was compared."""
    if row["ratio"] is None or not row["floor"]:
        return None
    return abs(math.log(row["ratio"])) / row["floor"]


def by_effect(rows):
    """The largest first, and those without one last."""
    return sorted(rows, key=lambda row: -(effect(row) or -1))
