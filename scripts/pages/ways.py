"""What a page says of configurations (transport set, back end, progress mode) that were compared."""

from pages.sections import between, interval_text, known, without_unknown
from plots.common import interval_in, percent, unit_text

HEAD = ["p50, {}", "95 % CI", "times the best", "95 % CI", "% of peak", "times the recorded"]


def row_of(way, parts):
    share = way.get("limit_share")
    reached = "–" if share is None else percent(share) + (" (above)" if share > 1 else "")
    return [way["way"], known(way["p50"]), interval_text(interval_in(way)), known(way["ratio"], 3), between(way["ratio_ci95"]),
            reached, known(way.get("recorded_ratio"), 3), *(known(way.get(f"{part}_ms"), 3) for part in parts)]


def table_of(entry):
    parts = entry.get("parts", [])
    head = ["configuration", *(name.format(unit_text(entry["unit"])) for name in HEAD), *(f"{part}, ms" for part in parts)]
    left_out = [[f"{way['way']}, not ranked: {way['flaw']}"] + ["–"] * (len(head) - 1) for way in entry.get("left_out", [])]
    return without_unknown(head, [row_of(way, parts) for way in entry["ways"]] + left_out)


def of_run(run):
    """One for each load and metric that is shown."""
    return [{"title": f"{entry['title']}: {entry['about']}, {entry['row']}"} | table_of(entry)
            for entry in run.get("ablation") or [] if entry["shown"]]
