#!/usr/bin/env python3
"""Compares ucx-bench pingpong with ucx_perftest of the same UCX: pairs of runs in A B B A order,
until each cell's ratio is known well enough. Writes results/fidelity/<machine>-ucx-<version>[-<part>].{json,md}.
Exit status: 0 all cells reached, 2 usage, 3 the tools cannot be compared here, 5 cells not reached or
failed (written), 130 interrupted (written)."""

import argparse
import pathlib
import re
import signal
import sys

import report
from cells import SETTINGS, choose
from intervals import is_settled
from options import OUTPUT, UCX_BENCH, program
from tools import Failed, OurTool, Perftest, PlainLoop, Unfit
from turns import Comparison

FEWEST_PAIRS = 8
PLAIN = [
    "plain", "plain+send-books", "plain+receive-books", "plain+send-books+receive-books", "plain+answer",
]


def positive(text):
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not above 0")
    return value


def part(text):
    if not re.fullmatch(r"[a-z0-9-]+", text):
        raise argparse.ArgumentTypeError(f"'{text}' has other characters than a-z, 0-9 and -")
    return text


def base_parser(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--ucx-bench", **UCX_BENCH)
    parser.add_argument("--cells", action="append", metavar="PART/…",
                        help="only cells with all these parts, as tcp/8B or shm/tag/bandwidth; repeatable")
    parser.add_argument("--max-pairs", type=int, choices=range(6, 61), default=60, metavar="6…60")
    parser.add_argument("--budget", type=positive, default=25, metavar="MINUTES",
                        help="stop after this time; cells without enough pairs say so (default: 25)")
    parser.add_argument("--output", **OUTPUT)
    return parser


def parsed(parser, argv):
    options = parser.parse_args(argv)
    try:
        options.cells = choose(options.cells)
    except ValueError as error:
        parser.error(str(error))
    return options


def arguments(argv):
    parser = base_parser(__doc__.split(":")[0] + ".")
    parser.add_argument("--perftest", type=program, default="ucx_perftest", help="of the same UCX build")
    parser.add_argument("--untouched", action="store_true",
                        help="measure ucx_perftest without perftest_shim.cpp: its buffers stay unwritten, and "
                        "its target hardly makes progress at the end")
    parser.add_argument("--instead", choices=PLAIN, metavar="PLAIN",
                        help="compare plain_loop in the place of ucx-bench, in tag bandwidth: "
                        + " | ".join(PLAIN))
    parser.add_argument("--part", type=part, metavar="NAME",
                        help="ends the names of the files, where --cells are recorded by themselves: put")
    options = parsed(parser, argv)
    build = pathlib.Path(options.ucx_bench).resolve().parents[1]
    options.plain_loop = build / "bin/fidelity_plain_loop"
    options.preload = None
    if not options.untouched:
        options.preload = build / "lib/libfidelity_perftest_shim.so"
        if not options.preload.exists():
            parser.error(f"no {options.preload}: build it, or give --untouched")
    return options


def finish(result, comparison, state):
    report.finish(result, state)
    result["cells"] = [report.cell_record(*item) for item in comparison.records.items()]
    return result


def compare(result, ours, theirs, options, save):
    """Runs all pairs; `save(result, folder)` writes the record as far as it is, and at the end."""

    def is_enough(cell, record):
        ratios = record.ratios("ours", "theirs")
        return len(ratios) >= options.max_pairs or is_settled(cell.metric, ratios, FEWEST_PAIRS)

    cells = {cell: {"ours": ours, "theirs": theirs} for cell in options.cells}
    comparison = Comparison(cells, is_enough, options.budget * 60)
    state = "interrupted"
    try:
        for cell in comparison.run():
            save(finish(result, comparison, "interrupted"), options.output)
            print(report.line(cell, comparison.records[cell]), file=sys.stderr, flush=True)
        state = "out of time" if comparison.is_late else "complete"
    finally:
        where = save(finish(result, comparison, state), options.output)
    print(where)


def all_reached(result):
    return all(cell["ratio"]["ci95"] for cell in result["cells"])


def main(argv):
    options = arguments(argv)
    # A plain kill ends as Ctrl-C does: nothing is left running, and what there is is written.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ours = OurTool(options.ucx_bench)
    try:
        run = ours.run(options.cells[0])
        result = report.provenance(run, "bench/fidelity/fidelity.py", argv) | {"settings": SETTINGS}
        shimmed = options.preload is not None
        result["ucx_perftest"] = {
            "program": report.in_tree(options.perftest),
            "buffers_written_once": shimmed,
            "progress_in_barrier": shimmed,
        }
        theirs = Perftest(options.perftest, run["ucx"]["library"], options.preload, run["ucx"]["version"])
        if options.part:
            result["part"] = options.part
        if options.instead:
            ours = PlainLoop(options.plain_loop, options.instead.split("+")[1:])
            result["instead_of_ucx_bench"] = options.instead
        compare(result, ours, theirs, options, report.save)
    except (Failed, Unfit) as error:
        print(f"fidelity: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("fidelity: interrupted", file=sys.stderr)
        return 130
    return 0 if all_reached(result) else 5


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
