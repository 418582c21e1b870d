#!/usr/bin/env python3
"""Makes one self-contained page of a folder of runs: verdicts, history, environments, sizes, pairs, triage.

Exit status: 0 made, 2 unusable input or output, 3 a Python module is missing.
"""

import collections
import datetime
import pathlib
import time

import jsontext
import runfile
from commandline import Parser, say, write_text

PARTS = pathlib.Path(__file__).resolve().parent / "dashboards"
STUDY = "verdict-study.json"


def study_of(folder, machines, problems):
    """What ci/verdict-study measured on one of these machines, beside the folder of the runs; None if it
    has not. Of windows over the same launches only what they found is said: they bound nothing."""
    file = folder.resolve().parent / STUDY
    if not file.is_file():
        return None
    try:
        study = jsontext.parsed(file.read_text(encoding="utf-8"))
        aa, machine = study["aa"], study["machine"]["id"]
        if machine not in machines:
            return None
        found = collections.defaultdict(dict)
        for row in study.get("power", []):
            how = str(row.get("how", "")) + (", windows over the same launches" if row.get("windows", True) else "")
            found[how][float(row["slowdown"])] = int(row["detected"]), int(row["of"])
        return {"machine": machine, "comparisons": int(aa["comparisons"]), "false_alarms": int(aa["false_alarms"]),
                "upper95": float(aa["upper95"]), "power": found,
                "slowdowns": sorted({slowdown for of in found.values() for slowdown in of})}
    except (OSError, *runfile.DAMAGE) as error:
        problems.append((file.name, f"is not what ci/verdict-study writes ({type(error).__name__}: {error})"))
        return None


def base_run(file, program):
    """--base as a run of the page."""
    from dashboards import record, tree

    run = runfile.load(file, program)
    try:
        return tree.Run(pathlib.Path(file), record.record_of(run, time.time()))
    except record.Skipped as skipped:
        raise runfile.NotARun(f"'{file}' cannot be the base: {skipped}")
    except runfile.DAMAGE as error:
        raise runfile.damaged(file, error)


def write_history(folder, by_stream):
    """For Apache Otava."""
    from dashboards import otava

    try:
        otava.write(folder, otava.histories_of([line for of in by_stream.values() for line in of]))
    except OSError as error:
        raise runfile.NotARun(f"cannot write '{folder}': {error.strerror}; choose another folder with --otava")


def content_for(arguments):
    from dashboards import lines, sections, tree

    folder = pathlib.Path(arguments.tree)
    base = base_run(arguments.base, arguments.program) if arguments.base else None
    found = tree.load(folder, arguments.program)
    if not found.runs and not found.problems:
        raise runfile.NotARun(f"'{folder}' has no runs: give a folder of files written by ucx-bench --json")
    study = study_of(folder, {run.machine for run in found.runs}, found.problems)
    by_stream = lines.by_stream(found, arguments.program)
    content = sections.content_of(found, by_stream, arguments, base, datetime.datetime.now(datetime.timezone.utc))
    if arguments.otava:  # without what the page leaves out
        write_history(arguments.otava, by_stream)
    return content | {"study": study, "problems": found.problems}


def drawn(content):
    from pages import template

    return template.render("page.html.j2", content, PARTS)


def page_of(arguments):
    return drawn(content_for(arguments))


def main():
    parser = Parser("dashboard", "dashboard", prog="ucx-bench dashboard", description="One page of a folder of runs.")
    parser.add_argument("tree", metavar="FOLDER", help="MACHINE/YYYY-MM/*.json")
    parser.add_argument("--html", metavar="FILE", required=True, help="the page")
    parser.add_argument("--base", metavar="RUN.json", help="what the newest runs are compared with")
    parser.add_argument("--otava", metavar="FOLDER", help="the history for Apache Otava: CSV files and otava.yaml")
    parser.add_argument("--program", metavar="UCX-BENCH", required=True, help="what compares")
    arguments = parser.parse_args()
    if not pathlib.Path(arguments.tree).is_dir():
        parser.fail(2, f"'{arguments.tree}' is not a directory; give one with runs, such as results/runs")
    with parser.making(arguments.html, "--html"):
        content = content_for(arguments)
        write_text(arguments.html, drawn(content))
    if arguments.html != "-":
        say(f"wrote {arguments.html}")
    if content["nothing_decided"]:
        say(content["nothing_decided"])


if __name__ == "__main__":
    main()
