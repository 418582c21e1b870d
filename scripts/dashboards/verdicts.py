"""The newest run of each stream against its bases: the program itself compares, nothing is judged here."""

import collections
import dataclasses
import math
import subprocess

import jsontext
from dashboards import chain, triage
from pages.sections import VERDICTS, case_of, counted

LIMIT_S = 120
LOSSES = ("failed", "regressed")
LETTERS = {"failed": "f", "regressed": "r", "improved": "i", "inconclusive": "?", "unchanged": "=", "new": "+",
           chain.FLAWED_BASE: "b", chain.IMPOSSIBLE: "x"}
WORDS = {letter: verdict for verdict, letter in LETTERS.items()}


@dataclasses.dataclass
class Comparison:
    """Of a stream's newest run; `trouble` says why there is none."""

    new: object  # Run
    base: object = None  # Run, or None; where rows have several, that of most that regressed, else of most
    result: dict = dataclasses.field(default_factory=dict)  # ucx-bench/comparison/1
    trouble: str = ""
    without_figure: set = dataclasses.field(default_factory=set)  # of (Run, key, metric): what it has is no level

    @property
    def rows(self):
        return self.result.get("series", [])

    def counts(self):
        judged = [row for row in self.rows if not row["excused"]]
        return {verdict: counted(judged, verdict) for verdict in VERDICTS}

    def excused(self):
        return sum(row["excused"] for row in self.rows)

    def worst(self):
        """Sorts what needs a look before what does not."""
        counts = self.counts()
        return (-sum(counts[verdict] for verdict in LOSSES), -counts["missing"], -counts["inconclusive"], not self.trouble)


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
        return jsontext.parsed(done.stdout), ""
    except ValueError:
        return None, f"'{program} {words[0]}' wrote no JSON"


def of_two(program, base, new, across=False):
    """(what `compare` says, "") or ({}, why it says nothing)."""
    result, trouble = told(program, "compare", base.path, new.path, *(["--across-environments"] if across else []))
    if trouble:
        return {}, trouble
    return result, f"incomparable: {result['incomparable']}" if result["incomparable"] else ""


def by_name(series):
    """{(key, metric): its rows}: of the case as a whole, and of pairs of ranks."""
    rows = collections.defaultdict(list)
    for row in series:
        rows[row["key"], row["metric"]].append(row)
    return rows


def verdict_of(rows):
    """One verdict of such rows: no run is good in which a pair lost; and none is known to be, while of a pair nobody knows."""
    if not rows:
        return None
    pairs, whole = ({row["verdict"] for row in rows if bool(row.get("pair")) == of_pair} for of_pair in (True, False))
    for loss in LOSSES:
        if loss in pairs | whole:
            return loss
    if whole and whole != {"unchanged"}:
        return next(iter(whole))
    return "inconclusive" if pairs & {"inconclusive", "missing"} else "unchanged"


def verdict_for_chain(rows):
    """The same for a chain: also that either run has no figure, from which no level follows."""
    verdict = verdict_of(rows)
    if verdict in LOSSES:
        return verdict
    if rows and any(row.get("base_is_flawed") for row in rows):
        return chain.FLAWED_BASE
    return chain.IMPOSSIBLE if is_impossible(rows or []) else verdict


def is_impossible(rows):
    """Of the new run."""
    return any(row.get("reason") == chain.IMPOSSIBLE and not row.get("base_is_flawed") for row in rows)


class Judge:
    """What `compare` says of two runs of the tree, asked once for each two: the index keeps a letter for each row."""

    def __init__(self, found, program):
        self.found, self.program = found, program

    def __call__(self, base, new):
        if base.id == new.id:
            return {}
        rows = chain.rows_of(new)
        letters = self.found.remembered(new, f"against {base.id}", lambda: self.ask(rows, base, new))
        return {row[:2]: WORDS[letter] for row, letter in zip(rows, letters or "") if letter in WORDS}

    def ask(self, rows, base, new):
        result, trouble = of_two(self.program, base, new)
        if trouble:
            return None
        found = by_name(result["series"])
        return "".join(LETTERS.get(verdict_for_chain(found.get(row[:2])), " ") for row in rows)


def is_excused(row, entries, run):
    """Lost, and said in triage.yaml to be right."""
    if row["verdict"] not in (*LOSSES, "missing"):
        return False
    entry = triage.entry_of(entries, f"{case_of(row)} {row['metric']}")
    return entry is not None and entry.excuses(run)


def kept(rows, standing, base, new):
    """Rows of the newest run with what stands: since when they are worse, and against which run."""
    since, told = standing.since, []
    began = {"failed": standing.failing or new, "regressed": since or new}
    undecided = since and verdict_of(rows) == "inconclusive"
    for row in rows:
        row = dict(row)
        if undecided and row["verdict"] == "inconclusive":
            row |= {"verdict": "regressed", "undecided": True}
        told.append(row | {"base_run": base, "since": began.get(row["verdict"])})
    return told


def by_chain(new, links, program):
    """The newest run's rows, each against its own base."""
    awaited = links.awaited(new)
    often = collections.Counter(of.base for of in awaited.values()) or collections.Counter([links.runs[-1]])
    usual = max(often, key=lambda run: (often[run], run.time))
    wanted = {usual, *(run for of in awaited.values() for run in (of.base, of.anchor))}
    asked = {run: of_two(program, run, new) for run in wanted}
    found = {run: by_name(result.get("series", [])) for run, (result, trouble) in asked.items() if not trouble}
    if usual not in found:
        return Comparison(new, usual, asked[usual][0], trouble=asked[usual][1])
    rows = []
    for name, of in awaited.items():
        near, far = (found.get(run, {}).get(name) for run in (of.base, of.anchor))
        slowly = verdict_of(far) in LOSSES and verdict_of(near) not in LOSSES
        rows += kept((far if slowly else near) or [], of, of.anchor if slowly else of.base, new)
    rows += [row for name, of in found[usual].items() if name not in awaited for row in of if row["verdict"] != "missing"]
    lost = collections.Counter(row["base_run"] for row in rows if row["verdict"] in LOSSES and row.get("base_run"))
    shown = max(lost, key=lambda run: (lost[run], run.time)) if lost else usual
    # Of ranks that take turns on one GPU there is no row.
    result = asked[shown][0] | {"series": [row for row in rows if row.get("reason") != "time-sliced"]}
    impossible = {(new, *name) for name, of in by_name(rows).items() if is_impossible(of)}
    return Comparison(new, shown, result, without_figure=links.without_figure | impossible)


def compared(stream, program, found, entries=(), base=None):
    """`base` is a Run that is taken whatever it is. The base of `ab` is its other side, one of the runs found. Else each
    row has its own, by the chain."""
    new = stream.runs[-1]
    if stream.side == "base" and base is None:
        return Comparison(new, trouble="the base side of ab: its verdict is that of the new side")
    turns = next((run for run in found.runs if stream.side == "new" and run.id == new.other), None)
    if base and base.id == new.id:
        return Comparison(new, trouble="it is the base itself")
    if base or turns:
        # The two sides of ab differ on purpose.
        result, trouble = of_two(program, base or turns, new, across=base is None)
        comparison = Comparison(new, base or turns, result, trouble)
    elif (links := chain.Chain(stream, Judge(found, program), chain.accepting(entries))).runs:
        comparison = by_chain(new, links, program)
    else:
        alone = len(stream.runs) == 1
        why = "its only run so far" if alone else "no complete run before it has its environment: see the lane below"
        return Comparison(new, trouble=f"nothing to compare with: {why}")
    for row in comparison.rows:
        row["excused"] = is_excused(row, entries, row.get("since") or new)
    return comparison


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
