"""One cause for many cases: what the rows that lost, and no others, have in common."""

import itertools
import re
import shlex

import literal
from plots.common import size_axis, size_text, words

PLAIN = ("benchmark", "transports", "api", "metric")  # said by their value alone
STARTS_PROGRAMS = {"--wrap", "--base", "--new"}
LEAST = 2  # rows that have a cause in common


def facts_of(key, metric, case):
    """What may be common to rows: plain values, and the message size. `case` is None where the run lacks it."""
    facts = {"benchmark": key.partition("/")[0], "metric": metric}
    if case is None:
        return facts, None
    size = size_axis(case)
    parameters = {name: words(value) for name, value in case["parameters"].items()
                  if value is not None and not (size and name == size["name"])}
    return {**facts, **parameters}, size and size["value"]


def conditions(lost, kept):
    """Up to two fields with their values, then a bound of the size; the fewest first. What all rows have tells none
    apart."""
    everywhere = set.intersection(*(set(facts.items()) for facts, _ in (*lost, *kept)))
    fields = dict.fromkeys(pair for facts, _ in lost for pair in facts.items() if pair not in everywhere)
    sizes = sorted({size for _, size in lost if size})
    bounds = [(None, None), *((low, None) for low in sizes), *((None, high) for high in reversed(sizes))]
    for count in (0, 1, 2):
        for chosen in itertools.combinations(fields, count):
            for bound in bounds:
                yield chosen, bound


def holds(condition, fact):
    (fields, (low, high)), (facts, size) = condition, fact
    if any(facts.get(name) != value for name, value in fields):
        return False
    return (low is None or (size or 0) >= low) and (high is None or (size is not None and size <= high))


def in_words(condition):
    fields, (low, high) = condition
    said = (value if name in PLAIN else f"{name.replace('_', ' ')} {value}" for name, value in fields)
    return f"all {' '.join(said) or 'cases'}" + (f" ≥ {size_text(low)}" if low else "") + (
        f" ≤ {size_text(high)}" if high else "")


def causes_of(lost, kept):
    """[(words, number of rows)] of facts of rows: again and again what holds for most of those left that lost,
    and for none that is known to be as before. Rows without a verdict are in neither list."""
    found = []
    while len(lost) >= LEAST:
        best, covered = None, []
        for condition in conditions(lost, kept):
            hit = [fact for fact in lost if holds(condition, fact)]
            if len(hit) > len(covered) and not any(holds(condition, fact) for fact in kept):
                best, covered = condition, hit
        if len(covered) < LEAST:
            break
        found.append((in_words(best), len(covered)))
        lost = [fact for fact in lost if not holds(best, fact)]
    return found


def commit_of(run):
    """Its first digits; None if a run file says something else, which must not get into a shell."""
    return str(run.commit)[:12] if re.fullmatch("[0-9a-f]{7,64}", str(run.commit)) else None


def suspects(old, new):
    """The command that lists the commits between two runs; None if there are none, or nobody knows."""
    base, head = (commit_of(run) for run in (old, new))
    return f"git log --oneline {base}..{head}" if base and head and base != head else None


def measures_only(command):
    """Whether a run file's command is ucx-bench's, and starts no other program: else nobody is told to type it."""
    words = {word.partition("=")[0] for word in command}
    return command[:1] != [] and command[0].rpartition("/")[2] == "ucx-bench" and not words & STARTS_PROGRAMS


def commands_of(base, new, since=None):
    """Ready to be typed: the suspects, the run again, and the search for the commit; `since` is the first run that had
    lost."""
    since = since or new
    again = list(map(str, new.command))
    if not measures_only(again):
        log = suspects(base, since)
        return [("suspects", log)] if log else []
    if "--json" in again:
        at = again.index("--json")
        del again[at : at + 2]
    again = literal.for_shell([*again, "--json", "again.json"])
    judge = f"{literal.for_shell(['ucx-bench', 'compare', str(base.path)])} again.json --fail-on regression"
    commands = [("again", f"{again} && {judge}")]
    if log := suspects(base, since):
        script = shlex.quote(f"scripts/setup/build release ucx-bench && {again} && {judge}")
        bisect = f"git bisect start {commit_of(since)} {commit_of(base)} && git bisect run sh -c {script}"
        commands = [("suspects", log), *commands, ("the commit", bisect)]
    return commands
