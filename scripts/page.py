#!/usr/bin/env python3
"""Makes one self-contained page of a run: results, findings, pairs, ranks, wiring, machine, settings.

Exit status: 0 made, 2 unusable input or output, 3 Jinja2 or NumPy is missing.
"""

import gc

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


def main():
    parser = Parser("page", "report", prog="ucx-bench report --html", description="One self-contained page of a run.")
    parser.add_argument("document", metavar="PAGE.json", help="what ucx-bench report has read and judged")
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="the page; - is stdout")
    arguments = parser.parse_args()
    # The pairs of a large run are millions of objects, and none of them is garbage before the end.
    gc.disable()
    with parser.making(arguments.output, "--html"):
        document = runfile.read(arguments.document)
        write_text(arguments.output, page_of(document["run"], document["file"], document["folder"]))


if __name__ == "__main__":
    main()
