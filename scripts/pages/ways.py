"""What a page says of configurations (transport set, back end, progress mode) that were compared."""

from pages.sections import between, known, without_unknown
from plots.common import percent, unit_text

PARTS = ("computing", "communicating", "gaps", "transferring", "waiting")
HEAD = ["p50, {}", "95 % CI", "times the best", "95 % CI", "% of peak", "times the recorded", *(f"{part}, ms" for part in PARTS)]


def row_of(way):
    share = way.get("limit_share")
    reached = "–" if share is None else percent(share) + (" (above)" if share > 1 else "")
    return [way["way"], known(way["p50"]), between(way["ci95"]), known(way["ratio"], 3), between(way["ratio_ci95"]),
            reached, known(way.get("recorded_ratio"), 3), *(known(way.get(f"{part}_ms"), 3) for part in PARTS)]


def of_run(run):
    """One for each load and metric that is shown."""
    return [
        {"title": f"{entry['title']}: {entry['about']}, {entry['row']}"}
        | without_unknown(["configuration", *(name.format(unit_text(entry["unit"])) for name in HEAD)], [row_of(way) for way in entry["ways"]])
        for entry in run.get("ablation") or []
        if entry["shown"]
    ]
