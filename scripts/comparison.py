#!/usr/bin/env python3
"""Makes one self-contained page of two runs: verdicts, what each took, their timelines on one scale.

Exit status: 0 made, 2 unusable input or output, 3 Jinja2 or NumPy is missing.
"""

import pathlib

import runfile
from commandline import Parser, write_text

SCHEMA = "ucx-bench/comparison/1"


def page_of(comparison, names, program=None, name="the comparison"):
    """Of the files (base, new), beside which their transfer logs lie, and of what is in the file `name`."""
    import jinja2

    from pages import beside, figures, sections, template

    impossible = comparison.get("impossible", {})
    base, new = (runfile.without_impossible(runfile.load(of, program), impossible.get(which, {}))
                 for which, of in zip(("base", "new"), names))
    titles = sections.metric_titles(base, new)
    folders = [pathlib.Path(name).parent for name in names]
    try:
        both = beside.matched(base, new)
        timelines, no_timelines = beside.timelines_of(base, new, folders, both)
        content = {
            "benchmarks": sections.benchmarks_of(base),
            "runs": beside.runs_of(base, new),
            "comparison": comparison,
            "verdicts": sections.verdicts_of(comparison, titles),
            "charts": figures.curves_of({"base": base, "new": new})[0],
            "metrics": beside.metrics_of(base, new, both),
            "exchanges": beside.exchanges_of(base, new, both),
            "timelines": timelines,
            "no_timelines": no_timelines,
            "most": beside.MOST_ROWS,
        }
        return template.render("comparison.html.j2", content)
    except (*runfile.DAMAGE, jinja2.UndefinedError) as error:
        raise runfile.damaged(", ".join(map(str, (name, *names))), error)


def main():
    parser = Parser("comparison", "compare", prog="ucx-bench compare --html", description="One page of two runs.")
    parser.add_argument("comparison", metavar="COMPARISON.json", help="what ucx-bench compare --json wrote")
    parser.add_argument("base", metavar="BASE.json", help="the run to compare with")
    parser.add_argument("new", metavar="NEW.json", help="the run to judge")
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="the page; - is stdout")
    parser.add_argument("--program", metavar="UCX-BENCH", help="what reads files of an older version")
    arguments = parser.parse_args()
    with parser.making(arguments.output, "--html"):
        comparison = runfile.written_by("ucx-bench compare --json", SCHEMA, arguments.comparison)
        write_text(arguments.output, page_of(comparison, (arguments.base, arguments.new), arguments.program, arguments.comparison))


if __name__ == "__main__":
    main()
