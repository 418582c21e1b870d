"""The rows of a stream's table: every line, with what the comparison and its history say of it."""

from dashboards import lines as of_lines
from dashboards import shape, triage, verdicts
from pages.sections import by_what, case_of, known, metric_title
from plots.common import significant

MARKS = {"failed": "✕", "regressed": "▼", "improved": "▲", "inconclusive": "?", "missing": "∅", "new": "+", "unchanged": "="}
ORDER = ("failed", "regressed", "missing", "improved", "new", "unchanged", "inconclusive")
NO_VERDICT = "not compared"


def percent(ratio, digits=1):
    return "–" if ratio is None else f"{100 * (ratio - 1):+.{digits}f} %"


def compared_cells(row):
    interval = row["interval"]
    effect = verdicts.effect(row)
    return {
        "base": known(row["matched_base"]), "new": known(row["matched_new"]), "delta": percent(row["ratio"] if row["interval"] else None),
        "interval": "–" if not interval else f"{percent(interval[0])[:-2]} to {percent(interval[1])}",
        "p": "–" if row["p_corrected"] is None else f"{row['p_corrected']:.2g}",
        "floor": "–" if row["floor"] is None else f"{100 * row['floor']:.1f} %",
        "effect": "–" if effect is None else significant(effect, 2), "why": row["why"],
        "better": row["better"], "by": by_what(row), "in_turns": row.get("in_turns"),
    }


def plain_cells(line):
    value = line.values[-1]
    return {"base": "–", "new": known(value[0]) if value else "–", "delta": "–", "interval": "–", "p": "–",
            "floor": "–", "effect": "–", "better": line.better, "by": "–", "in_turns": None,
            "why": "" if value else line.notes.get(len(line.values) - 1, "")}


def losses_of(line, entry):
    """The change points of the newest segment that are for the worse, still stand, and are not excused. The host
    reference is nothing that a program can lose."""
    found = of_lines.standing_losses(line) if line and not line.canary else []
    return [change for change in found if not (entry and entry.excuses(line.stream.runs[change.index]))]


def history_of(line, losses):
    told = []
    for change in losses:
        day = line.stream.runs[change.index].started[:10]
        text = f"{percent(change.after / change.before)} since {day}"
        told.append(text + (", provisional" if change.provisional else ""))
    return told


def base_of(row, comparison):
    return (row and row.get("base_run")) or comparison.base


def standing_of(row, comparison):
    """In words, since when a row that regressed or failed is worse, and than which run."""
    if not row or not row.get("since"):
        return []
    base = base_of(row, comparison)
    told = f"{row['verdict']} since {said_of(row['since'])}; last good {said_of(base)}"
    return [f"{told}; this run does not say otherwise: {row['why']}" if row.get("undecided") else told]


def said_of(run):
    return f"{run.started[:10]} (commit {(run.commit or '?')[:10]})"


def line_of(row, lines, stream, comparison):
    """The newest run's line, or the base's where the newest run has none; a pair of ranks has none of its own."""
    if row.get("pair"):
        return None
    base = base_of(row, comparison)
    places = [len(stream.runs) - 1]
    places += [stream.runs.index(base)] if base in stream.runs else []
    for place in places:
        for line in lines.get((row["key"], row["metric"]), []):
            if line.values[place] is not None:
                return line
    return None


def medians_by_line(run):
    """Of the newest run in full: the launches' medians."""
    if run is None:
        return {}
    return {(case["key"], name): metric["launch_medians"] for case in run["cases"]
            for name, metric in case["metrics"].items()}


def title_of(runs, key, metric):
    """As the newest of these runs that has it says."""
    return next((metric_title(shown) for run in reversed(runs) if (shown := run.shown_of(key, metric))), metric)


def rows_of(stream, lines, comparison, newest, entries):
    """Regressed, missing and improved ones first, each sorted by effect over noise; lines without a comparison follow."""
    named, medians = {}, medians_by_line(newest)
    for line in lines:
        named.setdefault((line.key, line.metric), []).append(line)
    rows, runs = [], ([comparison.base] if comparison.base else []) + stream.runs
    ordered = sorted(verdicts.by_effect(comparison.rows), key=lambda row: ORDER.index(row["verdict"]))
    found = [(row, line_of(row, named, stream, comparison)) for row in ordered]
    used = {id(line) for _, line in found}
    found += [(None, line) for line in lines if id(line) not in used and not line.canary]
    found += [(None, line) for line in lines if id(line) not in used and line.canary]
    for row, line in found:
        key, metric = (row["key"], row["metric"]) if row else (line.key, line.metric)
        name = case_of(row) if row else key
        word, why = shape.shape_of(row, medians.get((name, metric)))
        verdict = row["verdict"] if row else NO_VERDICT
        entry = triage.entry_of(entries, f"{name} {metric}")
        losses = losses_of(line, entry)
        rows.append({
            **(compared_cells(row) if row else plain_cells(line)),
            "id": f"{name} {metric}", "key": name, "metric": title_of(runs, key, metric), "verdict": verdict,
            "mark": MARKS.get(verdict, "·"), "shape": word, "shape_why": why,
            "history": standing_of(row, comparison) + history_of(line, losses),
            "since": row and row.get("since"), "base_run": base_of(row, comparison) if row else None,
            "excused": bool(row and row["excused"]), "triage": entry, "losses": losses,
            "line": line, "canary": bool(line) and line.canary,
        })
    return rows
