#!/usr/bin/env python3
"""Makes one self-contained page of a run file: results, findings, pairs, ranks, wiring, machine, settings.

Exit status: 0 made, 2 unusable input or output, 3 Jinja2 or NumPy is missing.
"""

import gc
import pathlib

import jsontext
import literal
import runfile
from commandline import Parser, write_text
from plots.common import percent, ucx_of


def page_of(run, file, folder):
    import jinja2

    from pages import charts, drawings, fits, heat, machine, pairs, sections, sweep, template, ways

    try:
        blocks = sections.blocks_of(run)
        timelines, no_timelines = drawings.of_time(run, folder)
        matrices, no_rates = heat.known(heat.cases_of(run, file))
        maps, more_maps = heat.maps_of(matrices)
        limits, both_ways, of_pairs = pairs.limits_of(run), pairs.both_ways(run), pairs.tables_of(run)
        content = {
            "run": run,
            "ucx": ucx_of(run),
            "known": sections.known,
            "percent": percent,
            "command": literal.for_shell(run["run"]["command"]),
            "titles": [block["title"] for block in blocks] or [run["run"]["id"]],
            "benchmarks": sections.benchmarks_of(run),
            "labels": sections.labels_of(run),
            "findings": sections.findings_of(run),
            "blocks": blocks,
            "launches": sections.launches_of(run, blocks),
            "quality": run.get("quality"),
            "charts": charts.of_run(run, file),
            "heats": heat.tables_of(matrices),
            "maps": maps,
            "more_maps": more_maps,
            "no_rates": no_rates,
            "phases": drawings.of_phases(run),
            "stages": drawings.of_stages(run),
            "timelines": timelines,
            "no_timelines": no_timelines,
            "ways": ways.of_run(run),
            "fits": fits.of_run(run),
            "canaries": sections.canaries_of(run),
            "limits": limits,
            "pairs": of_pairs,
            "both_ways": both_ways,
            "waits": pairs.waits_of(run),
            "sweeps": sweep.of_run(run),
            "has_pairs": bool(matrices or limits["rows"] or both_ways["rows"] or of_pairs),
            "ranks": machine.ranks_of(run),
            "wiring": drawings.of_topology(run),
            "devices": machine.devices_of(run.get("topology") or {}),
            "hosts": machine.hosts_of(run),
            "settings": machine.settings_of(run["ucx"]["environment"]),
        }
        return template.render("report.html.j2", content)
    except (*runfile.DAMAGE, jinja2.UndefinedError) as error:
        raise runfile.damaged(file, error)


def findings_in(file):
    """Whatever the run file has: ucx-bench finds them where it has none, and shows them so everywhere. And, where it
    has said so, how far the figures can be trusted."""
    try:
        told = jsontext.parsed(pathlib.Path(file).read_text(encoding="utf-8"))
        return {"findings": told["findings"], "quality": told.get("quality")}
    except (OSError, *runfile.DAMAGE) as error:
        raise runfile.damaged(file, error)


def main():
    parser = Parser("page", "report", prog="ucx-bench report --html", description="One self-contained page of a run.")
    parser.add_argument("findings", metavar="FINDINGS.json", help="an object with what ucx-bench says of the run")
    parser.add_argument("run", metavar="RUN.json", help="a file written by ucx-bench --json; - is FINDINGS.json")
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="the page; - is stdout")
    parser.add_argument("--program", metavar="UCX-BENCH", help="what reads the file of an older version")
    parser.add_argument("--folder", metavar="FOLDER", help="where the run's transfer log is; default: RUN.json's")
    arguments = parser.parse_args()
    # The pairs of a large run are millions of objects, and none of them is garbage before the end.
    gc.disable()
    folder = arguments.folder or pathlib.Path(arguments.run).parent
    with parser.making(arguments.output, "--html"):
        run = runfile.load(arguments.findings if arguments.run == "-" else arguments.run, arguments.program)
        run |= findings_in(arguments.findings)
        write_text(arguments.output, page_of(run, arguments.run, folder))


if __name__ == "__main__":
    main()
