#!/usr/bin/env python3
"""Draws the page of a folder of runs from what `ucx-bench dashboard` has judged: verdicts, history, environments, sizes,
pairs, triage.

Exit status: 0 made, 2 unusable output, 3 a Python module is missing.
"""

import json
import pathlib

import literal
import runfile
from commandline import Parser, say, write_text

PARTS = pathlib.Path(__file__).resolve().parent / "dashboards"
MARKS = {"failed": "✕", "regressed": "▼", "improved": "▲", "inconclusive": "?", "missing": "∅", "new": "+", "unchanged": "="}
FOLDED = ("inconclusive", "not compared")  # of these rows there is nothing to look at first


def data_text(data):
    """What the page's script draws from."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return literal.for_json_text(text).replace("<", "\\u003c")


def stream_content(stream):
    from dashboards import pictures
    from pages import figures

    runs = {which: run for which, run in (("base", stream["base_run"]), ("new", stream["new_run"])) if run}
    panels, left_out = figures.curves_of(runs) if "new" in runs else ([], 0)
    control = stream["control"]
    return stream | {
        "spark": pictures.spark(**stream["spark"]),
        "control": control and control | {"chart": pictures.control_chart(control)},
        "panels": panels, "panels_left_out": left_out, "matrices": figures.matrices_of(runs, stream["base_ranks"]) if "new" in runs else [],
        "folded": [(verdict, of) for verdict in FOLDED if (of := [row for row in stream["rows"] if row["verdict"] == verdict])],
        "rows": [row for row in stream["rows"] if row["verdict"] not in FOLDED],
    }


def page_of(document):
    from pages import template

    content = {"streams": [stream_content(stream) for stream in document["streams"]], "marks": MARKS,
               "data": data_text(document["data"])}
    return template.render("page.html.j2", document | content, PARTS)


def main():
    parser = Parser("dashboard", "dashboard", prog="ucx-bench dashboard", description="One page of a folder of runs.")
    parser.add_argument("document", metavar="DASHBOARD.json", help="what ucx-bench dashboard has judged")
    parser.add_argument("--html", metavar="FILE", required=True, help="the page")
    arguments = parser.parse_args()
    with parser.making(arguments.html, "--html"):
        document = runfile.read(arguments.document)
        write_text(arguments.html, page_of(document))
    if arguments.html != "-":
        say(f"wrote {arguments.html}")
    if document["nothing_decided"]:
        say(document["nothing_decided"])


if __name__ == "__main__":
    main()
