#!/usr/bin/env python3
"""Makes one self-contained page of what `ucx-bench versions --json` wrote: a heat map of cases by versions of UCX.

Exit status: 0 made, 2 unusable input or output, 3 Jinja2 is missing.
"""

import json
import math
import pathlib

import runfile
from commandline import Parser, write_text

SCHEMA = "ucx-bench/versions/1"
# So many times as slow, or as fast, has the darkest shade.
DARKEST = 4


def read(name):
    try:
        versions = json.loads(pathlib.Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise runfile.NotARun(f"cannot read '{name}': {error.strerror}; give what ucx-bench versions --json wrote")
    except (ValueError, RecursionError):
        versions = None
    if not isinstance(versions, dict) or versions.get("schema") != SCHEMA:
        raise runfile.NotARun(f"'{name}' is not what ucx-bench versions --json writes")
    return versions


def cell_of(row, version):
    cell = row["cells"].get(version["name"])
    if cell is None and row["key"] in version["failed"]:
        return {"text": "failed", "shade": 0, "title": version["failed"][row["key"]]}
    if cell is None or cell["ratio"] is None:
        return {"text": cell["verdict"] if cell else "–", "shade": 0, "title": (cell or {}).get("why") or ""}
    ratio = cell["ratio"]
    worse = (ratio > 1) == (row["better"] == "lower")
    decided = cell["verdict"] in ("regressed", "improved")
    shade = min(1, abs(math.log(ratio)) / math.log(DARKEST)) if decided else 0
    low, high = cell["interval"] or (None, None)
    about = f"{cell['verdict']}, by {cell['by']}: {cell['base']:.4g} to {cell['new']:.4g}"
    about += f", interval {low - 1:+.1%} to {high - 1:+.1%}" if low is not None else ""
    return {"text": f"{ratio - 1:+.1%}" + ("" if decided or cell["verdict"] == "unchanged" else " ?"), "shade": round(15 + 70 * shade) if decided else 0,
            "sign": "worse" if worse else "better", "title": about + (f"; {cell['why']}" if cell["why"] else "")}


def ways_of(versions):
    """[version, case, before, after] of each change whose messages went another way."""
    return [[name, row["key"], cell["before"] or "not known", cell["after"] or "not known"]
            for row in versions["rows"] for name, cell in row["cells"].items()
            if cell["verdict"] in ("regressed", "improved") and cell["before"] != cell["after"]]


def page_of(versions):
    import jinja2

    from pages import template

    try:
        base, *others = versions["versions"]
        content = {
            "suite": versions["suite"], "base": base, "others": others,
            "names": [f"{row['key']} {row['metric']}" for row in versions["rows"]],
            "rows": [[cell_of(row, version) for version in others] for row in versions["rows"]],
            "ways": ways_of(versions), "darkest": DARKEST,
            "failed": [[version["name"], key, why] for version in others for key, why in version["failed"].items()],
        }
        return template.render("versions.html.j2", content)
    except (*runfile.DAMAGE, jinja2.UndefinedError) as error:
        raise runfile.damaged("the table of versions", error)


def main():
    parser = Parser("versions", "versions", prog="ucx-bench versions --html", description="One page of several versions of UCX.")
    parser.add_argument("versions", metavar="VERSIONS.json", help="what ucx-bench versions --json wrote")
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="the page; - is stdout")
    arguments = parser.parse_args()
    with parser.making(arguments.output, "--html"):
        write_text(arguments.output, page_of(read(arguments.versions)))


if __name__ == "__main__":
    main()
