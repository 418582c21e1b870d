#!/usr/bin/env python3
"""Makes one self-contained page of two runs: verdicts, what each took, their timelines on one scale.

Exit status: 0 made, 2 unusable input or output, 3 Jinja2 or NumPy is missing.
"""

import runfile
from commandline import Parser, write_text


def page_of(comparison, verdicts, runs):
    """What `ucx-bench compare` has judged (harness/report/drawn.hpp); `runs` are base and new."""
    import jinja2

    from pages import beside, figures, sections, template

    base, new = (of["run"] for of in runs)
    folders = [of["folder"] for of in runs]
    try:
        both = beside.matched(base, new)
        timelines, no_timelines = beside.timelines_of(base, new, folders, both)
        content = {
            "benchmarks": sections.benchmarks_of(base),
            "runs": beside.runs_of(base, new),
            "comparison": comparison,
            "verdicts": {"counts": verdicts["counts"], "rows": [row for row in verdicts["rows"] if row[0] != "inconclusive"],
                         "folded": [row for row in verdicts["rows"] if row[0] == "inconclusive"]},
            "charts": figures.curves_of({"base": base, "new": new})[0],
            "metrics": beside.metrics_of(base, new, both),
            "exchanges": beside.exchanges_of(base, new, both),
            "timelines": timelines,
            "no_timelines": no_timelines,
            "most": beside.MOST_ROWS,
        }
        return template.render("comparison.html.j2", content)
    except (*runfile.DAMAGE, jinja2.UndefinedError) as error:
        raise runfile.damaged(", ".join(of["file"] for of in runs), error)


def main():
    parser = Parser("comparison", "compare", prog="ucx-bench compare --html", description="One page of two runs.")
    parser.add_argument("document", metavar="COMPARISON.json", help="what ucx-bench compare has read and judged")
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="the page; - is stdout")
    arguments = parser.parse_args()
    with parser.making(arguments.output, "--html"):
        write_text(arguments.output, page_of(**runfile.read(arguments.document)))


if __name__ == "__main__":
    main()
