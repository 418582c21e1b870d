"""What the page says, stream by stream, from the records and the program's comparisons."""

import collections
import math
import statistics

import runfile
from dashboards import causes, control, details, inlined, lines as of_lines, rows as of_rows, spark, triage, verdicts
from pages import figures

WORST_SHOWN = 12  # rows named on the first screen
# Of these rows there is nothing to look at first.
FOLDED = ("inconclusive", of_rows.NO_VERDICT)


def headline(comparisons):
    """The verdict in words."""
    counts = collections.Counter()
    for comparison in comparisons:
        counts.update(comparison.counts())
    judged = sum(bool(comparison.rows) for comparison in comparisons)
    if not judged:
        return "nothing to compare yet", "none"
    told = [f"{counts[verdict]} {verdict}" for verdict in verdicts.VERDICTS if counts[verdict]]
    if excused := sum(comparison.excused() for comparison in comparisons):
        told.append(f"{excused} excused")
    order = ("failed", "regressed", "missing", "inconclusive", "improved")
    worst = next((verdict for verdict in order if counts[verdict]), "unchanged")
    place = "" if len(comparisons) == judged else f" in {judged} of {len(comparisons)} kinds of run"
    return ", ".join(told) + place, worst


def nothing_decided(comparisons):
    """Where no row of any kind of run has a verdict: so many have none, in words; else empty."""
    rows = [row["verdict"] for comparison in comparisons for row in comparison.rows]
    if not rows or {*verdicts.LOSSES, "improved", "unchanged"} & set(rows):
        return ""
    of_rows = f" of {len(rows)} row{'' if len(rows) == 1 else 's'} {'is' if len(rows) == 1 else 'are'}"
    told = [f"{count}{{}} {word}" for word in ("inconclusive", "missing", "new") if (count := rows.count(word))]
    return (f"nothing was decided: {', '.join(told).replace('{}', of_rows, 1).replace('{}', '')}; "
            "what to do stands below the verdicts of each kind of run")


def next_steps(comparison):
    """What to do for what has no verdict: what `compare` says of all such rows, then reasons of single ones."""
    found = collections.Counter(row["why"] for row in comparison.rows if row["verdict"] in ("inconclusive", "missing")
                                and row["why"] and row.get("launches_wanted") is None)
    plain = comparison.result.get("plain_medians")
    return ([plain] if plain else []) + comparison.result.get("next_steps", []) + [
        f"{count} row{'' if count == 1 else 's'}: {why}" for why, count in found.most_common(6)]


def last_good(stream, comparison, rows):
    """The last run before anything that stands as a loss; None if the newest run's environment has no such run."""
    counted = [row for row in rows if not row["excused"]]
    bounds = [change.index for row in counted for change in row["losses"]]
    for row in counted:
        if row["verdict"] in verdicts.LOSSES:
            known = row["base_run"] in stream.runs
            bounds.append(stream.runs.index(row["base_run"]) + 1 if known else len(stream.runs) - 1)
    if comparison.counts()["inconclusive"] or comparison.counts()["missing"]:
        bounds.append(len(stream.runs) - 1)  # of the newest, nobody knows
    bound = min(bounds, default=len(stream.runs))
    segment = [stream.runs[i] for i in stream.segments[-1] if i < bound]
    flawed = {run for run, _, _ in comparison.without_figure}
    return next((run for run in reversed(segment) if run.state == "complete" and run not in flawed), None)


def standing(rows, page):
    """The rows that regressed, by the run with which that began: where it was good, and what came in between."""
    found = collections.defaultdict(list)
    for row in rows:
        if row["since"] and not row["excused"]:
            found[row["since"]].append(row)
    told = []
    for since, lost in sorted(found.items(), key=lambda of: of[0].time):
        base = max((row["base_run"] for row in lost), key=lambda run: run.time)
        told.append({"since": told_run(since, page), "base": told_run(base, page), "rows": len(lost),
                     "suspects": causes.suspects(base, since), "same_commit": base.commit == since.commit})
    return told


def facts_of(rows, cases):
    return [causes.facts_of(row["key"], row["line"].title, cases.get(row["key"])) for row in rows]


def common_causes(rows, cases):
    lost = [row for row in rows if row["line"] and row["verdict"] in verdicts.LOSSES and not row["excused"]]
    kept = [row for row in rows if row["line"] and row["verdict"] in ("unchanged", "improved")]
    return causes.causes_of(facts_of(lost, cases), facts_of(kept, cases))


def history_of(stream, rows, cases):
    """By the run at which they began, the losses that still stand: who, what they have in common, suspects."""
    found = collections.defaultdict(list)
    for row in rows:
        for change in row["losses"]:
            found[change.index].append((row, change))
    told = []
    for at, losses in sorted(found.items()):
        lost = [row for row, _ in losses]
        others = [row for row in rows if row["line"] and row not in lost]
        places = next(places for places in stream.segments if at in places)
        run, before = stream.runs[at], stream.runs[places[places.index(at) - 1]]
        told.append({
            "day": run.started[:10], "rows": lost[:WORST_SHOWN], "left_out": max(0, len(lost) - WORST_SHOWN),
            "provisional": any(change.provisional for _, change in losses),
            "worst": of_rows.percent(max((change.after / change.before for _, change in losses),
                                         key=lambda ratio: abs(math.log(ratio)))),
            "causes": causes.causes_of(facts_of(lost, cases), facts_of(others, cases)),
            "suspects": causes.suspects(before, run),
        })
    return told


def not_measured(run):
    """Of the newest run: how many cases have which state for which reason."""
    found = collections.Counter((case["state"], case["reason"] or "no reason given") for case in run.cases.values()
                                if case["state"] != "measured")
    return [(state, reason, count) for (state, reason), count in found.most_common()]


def told_run(run, page):
    return {"id": run.id, "day": run.started[:16].replace("T", " "), "commit": (run.commit or "?")[:10],
            "dirty": run.dirty, "state": run.state, "reason": run.reason, "href": inlined.link_to(run.path, page)}


def heat_and_curves(newest, base, comparison):
    told = comparison.result
    runs = {which: runfile.without_impossible(run, told.get("impossible", {}).get(which, {}))
            for which, run in (("base", base), ("new", newest)) if run}
    if "new" not in runs:
        return [], 0, []
    return *figures.curves_of(runs), figures.matrices_of(runs, told.get("base_ranks", {}))


def first_lost(comparison):
    """The first run of the losses that are held against the base of most of them."""
    return min((row["since"] for row in comparison.rows if row.get("since") and row["base_run"] is comparison.base),
               key=lambda run: run.time, default=None)


def stream_of(stream, lines, comparison, arguments, entries, loaded):
    """The two files may be damaged where their records do not look: then without what only the files have."""
    base = loaded.of(comparison.base.path) if comparison.base else None
    newest = loaded.of(comparison.new.path)
    try:
        return told_of(stream, lines, comparison, arguments, entries, base, newest)
    except runfile.DAMAGE as error:
        loaded.problems.append((comparison.new.path.name, f"has no launches and pictures here, since it or its base is damaged ({type(error).__name__}: {error})"))
        return told_of(stream, lines, comparison, arguments, entries, None, None)


def told_of(stream, lines, comparison, arguments, entries, base, newest):
    rows = of_rows.rows_of(stream, lines, comparison, newest, entries)
    cases = {case["key"]: case for case in (newest or {"cases": []})["cases"]}
    panels, panels_left_out, matrices = heat_and_curves(newest, base, comparison)
    good = last_good(stream, comparison, rows)
    lost = any(comparison.counts()[verdict] for verdict in verdicts.LOSSES)
    history, steps, shared = history_of(stream, rows, cases), next_steps(comparison), common_causes(rows, cases)
    return {
        "spark": spark.drawn(stream, lines), "to_do": spark.to_do(stream, comparison, rows, shared, history, steps),
        "name": stream.name, "labels": comparison.new.labels, "trouble": comparison.trouble,
        "counts": [(verdict, of_rows.MARKS[verdict], count) for verdict, count in comparison.counts().items()],
        "excused": comparison.excused(), "standing": standing(rows, arguments.html),
        "new": told_run(comparison.new, arguments.html),
        "base": told_run(comparison.base, arguments.html) if comparison.base else None,
        "good": told_run(good, arguments.html) if good else None,
        "differences": comparison.result.get("differences", []),
        "host_changed": comparison.result.get("host_changed", ""),
        "alpha": comparison.result.get("alpha"), "tests": comparison.result.get("tests"),
        "worst": [row for row in rows if row["verdict"] in (*verdicts.LOSSES, "missing")][:WORST_SHOWN],
        "history": history, "steps": steps, "causes": shared,
        "rows": [row for row in rows if row["verdict"] not in FOLDED],
        "folded": [(verdict, of) for verdict in FOLDED if (of := [row for row in rows if row["verdict"] == verdict])],
        "commands": causes.commands_of(comparison.base, comparison.new, first_lost(comparison)) if lost else [],
        "failed": [told_run(run, arguments.html) for run in stream.runs[-of_lines.LAST:] if run.state != "complete"],
        "not_measured": not_measured(comparison.new), "runs": len(stream.runs), "segments": len(stream.segments),
        "panels": panels, "panels_left_out": panels_left_out, "matrices": matrices,
    }


def content_of(found, by_stream, arguments, base, now):
    streams = list(by_stream)
    lines = [line for of in by_stream.values() for line in of]
    for number, line in enumerate(lines):
        line.number = number
    entries, troubles = triage.load(found.folder, now.date())
    found.problems += troubles
    # Of the page itself where it is one of its runs.
    base = base and next((run for run in found.runs if run.id == base.id), base)
    compared = {stream: verdicts.compared(stream, arguments.program, found, entries, base) for stream in streams}
    for stream in streams:
        of_lines.leave_out(by_stream[stream], compared[stream].without_figure)
        for line in by_stream[stream]:
            of_lines.find_changes(line)
    streams.sort(key=lambda stream: compared[stream].worst())
    comparisons = [compared[stream] for stream in streams]
    loaded, samples, told = details.Loaded(found.problems, arguments.program), {}, []
    most = details.most_of_a_launch(streams, lines)
    for stream, comparison in zip(streams, comparisons):
        of = by_stream[stream]
        samples |= details.read_samples(stream, of, most, loaded)
        told.append(stream_of(stream, of, comparison, arguments, entries, loaded))
        told[-1]["control"] = control.told(found, stream, arguments.program)
        told[-1]["findings"], told[-1]["no_findings"] = verdicts.findings_of(arguments.program, comparison.new)
    found.save()
    found.problems += [(triage.FILE, f"'{entry.id}' is for no row: ids are a case and a metric") for entry in entries
                       if not entry.used]
    data, kept = inlined.data_of(streams, lines, samples, comparisons, arguments.html)
    words, worst = headline(comparisons)
    return {
        "headline": words, "worst": worst, "nothing_decided": nothing_decided(comparisons), "streams": told, "entries": entries, "data": data, "intervals_kept": kept,
        "runs": len(found.runs), "lines": len(lines),
        "folder": str(found.folder), "made": now.strftime("%Y-%m-%d %H:%M UTC"), "last": of_lines.LAST, "most": most,
        "noise": noise_of(comparisons), "statuses": triage.STATES,
    }


def noise_of(comparisons):
    """The floors that changes had to pass, as the middle one of all rows."""
    floors = [row["floor"] for comparison in comparisons for row in comparison.rows if row["floor"]]
    return statistics.median(floors) if floors else None
