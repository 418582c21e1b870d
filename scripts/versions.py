#!/usr/bin/env python3
"""Makes one self-contained page of what `ucx-bench versions --json` wrote: a heat map of cases by versions of UCX.

Exit status: 0 made, 2 unusable input or output, 3 Jinja2 is missing.
"""

import math

import literal
import runfile
from commandline import Parser, write_text

# So many times as slow, or as fast, has the darkest shade.
DARKEST = 4


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
    # The figures beside a change are those that it follows from; medians of all launches may differ otherwise.
    about = f"{cell['verdict']}, by {cell['by']}: {cell['base']:.4g} to {cell['base'] * ratio:.4g}"
    if cell["interval"] is None:  # of one duet: nobody knows how far off it is
        return {"text": "– ?", "shade": 0, "title": about + ", without an interval" + (f"; {cell['why']}" if cell["why"] else "")}
    low, high = cell["interval"]
    about += f", interval {low - 1:+.1%} to {high - 1:+.1%}"
    return {"text": f"{ratio - 1:+.1%}" + ("" if decided or cell["verdict"] == "unchanged" else " ?"), "shade": round(15 + 70 * shade) if decided else 0,
            "sign": "worse" if worse else "better", "title": about + (f"; {cell['why']}" if cell["why"] else "")}


def ways_of(versions):
    """[version, case, before, after] of each change whose messages went another way."""
    from pages.sections import case_of

    return [[name, case_of(row), cell["before"] or "not known", cell["after"] or "not known"]
            for row in versions["rows"] for name, cell in row["cells"].items()
            if cell["verdict"] in ("regressed", "improved") and cell["before"] != cell["after"]]


def made_of(versions):
    """On which machine, by which build and command; older files do not say."""
    if "command" not in versions:
        return ""
    dirty = ", with changes" if versions["build"]["dirty"] else ""
    return f"On {versions['machine']['id']}, {versions['started_utc']}, by ucx-bench {versions['build']['commit'][:12]}{dirty}: {literal.for_shell(versions['command'])}"


def page_of(versions, name):
    import jinja2

    from pages import template
    from pages.sections import case_of

    try:
        base, *others = versions["versions"]
        content = {
            "suite": versions["suite"], "made": made_of(versions), "base": base, "others": others,
            "names": [f"{case_of(row)} {row['metric']}" for row in versions["rows"]],
            "rows": [[cell_of(row, version) for version in others] for row in versions["rows"]],
            "ways": ways_of(versions), "darkest": DARKEST,
            "labels": list(dict.fromkeys(f"{version['name']}: {line}" for version in others for line in version.get("labels") or [])),
            "undecided": [f"{version['name']}: {version['nothing_decided']}" for version in others if version.get("nothing_decided")],
            "failed": [[version["name"], key, why] for version in others for key, why in version["failed"].items()],
        }
        return template.render("versions.html.j2", content)
    except (*runfile.DAMAGE, jinja2.UndefinedError) as error:
        raise runfile.damaged(name, error)


def main():
    parser = Parser("versions", "versions", prog="ucx-bench versions --html", description="One page of several versions of UCX.")
    parser.add_argument("versions", metavar="VERSIONS.json", help="what ucx-bench versions --json wrote")
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="the page; - is stdout")
    arguments = parser.parse_args()
    with parser.making(arguments.output, "--html"):
        write_text(arguments.output, page_of(runfile.read(arguments.versions), arguments.versions))


if __name__ == "__main__":
    main()
