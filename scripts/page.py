#!/usr/bin/env python3
"""Makes one self-contained page of a run file: findings, results, pairs, ranks, wiring, machine, settings.

Exit status: 0 made, 2 unusable input or output, 3 Jinja2 or matplotlib is missing.
"""

import pathlib
import shlex
import sys

import runfile
from commandline import Parser

PARTS = pathlib.Path(__file__).resolve().parent / "pages"


def page_of(run, file):
    import jinja2

    from pages import drawings, sections

    try:
        blocks = sections.blocks_of(run)
        content = {
            "run": run,
            "command": shlex.join(run["run"]["command"]),
            "titles": [block["title"] for block in blocks] or [run["run"]["id"]],
            "benchmarks": list(dict.fromkeys(case["benchmark"] for case in run["cases"] if case["benchmark"] != sections.CANARY)) or ["nothing"],
            "labels": list(dict.fromkeys([*run["machine"]["labels"], *(label for case in run["cases"] for label in case["labels"])])),
            "findings": sections.findings_of(run),
            "blocks": blocks,
            "drawings": drawings.of_cases(run, file),
            "canaries": sections.canaries_of(run),
            "limits": sections.limits_of(run),
            "pairs": sections.pairs_of(run),
            "wiring": drawings.of_topology(run.get("topology") or {}),
            "devices": sections.devices_of(run.get("topology") or {}),
            "hosts": [sections.facts_of(host) for host in run["machine"]["hosts"]],
            "settings": sections.settings_of(run["ucx"]["environment"]),
        }
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(PARTS), autoescape=True, undefined=jinja2.StrictUndefined,
            trim_blocks=True, lstrip_blocks=True,
        )
        style = jinja2.utils.markupsafe.Markup((PARTS / "style.css").read_text(encoding="utf-8"))
        return environment.get_template("report.html.j2").render(**content, known=sections.known, style=style)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError, jinja2.UndefinedError) as error:
        raise runfile.damaged(file, error)


def main():
    parser = Parser("page", "report", prog="ucx-bench report --html", description="One self-contained page of a run.")
    parser.add_argument("run", metavar="RUN.json", help="a file written by ucx-bench --json")
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="the page; - is stdout")
    arguments = parser.parse_args()
    try:
        page = page_of(runfile.load(arguments.run), arguments.run)
        if arguments.output == "-":
            sys.stdout.write(page)
        else:
            pathlib.Path(arguments.output).write_text(page, encoding="utf-8")
    except runfile.NotARun as error:
        parser.fail(2, error)
    except OSError as error:
        parser.fail_to_write(arguments.output, error, "--html")
    except ImportError as error:
        parser.fail_to_import(error)


if __name__ == "__main__":
    main()
