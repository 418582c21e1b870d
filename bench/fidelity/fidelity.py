#!/usr/bin/env python3
"""Compares ucx-bench pingpong with ucx_perftest of the same UCX: pairs of runs in A B B A order,
until each cell's ratio is known well enough. Writes results/fidelity/<machine>-ucx-<version>.{json,md}.
Exit status: 0 all cells reached, 2 usage, 3 the tools cannot be compared here, 5 cells not reached or
failed (written), 130 interrupted (written)."""

import argparse
import datetime
import os
import pathlib
import shlex
import shutil
import signal
import sys

import report
from cells import SETTINGS, choose
from comparison import Comparison
from tools import Failed, OurTool, Perftest, PlainLoop, Unfit

CONGESTION_CONTROL = pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control")
PLAIN = [
    "plain", "plain+send-books", "plain+receive-books", "plain+send-books+receive-books", "plain+answer",
]
ROOT = pathlib.Path(__file__).resolve().parents[2]


def utc_now():
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def program(text):
    found = shutil.which(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"no program '{text}'")
    return os.path.abspath(found)


def positive(text):
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not above 0")
    return value


def base_parser(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--ucx-bench", type=program, default=str(ROOT / "build/release/bin/ucx-bench"))
    parser.add_argument("--cells", action="append", metavar="PART/…",
                        help="only cells with all these parts, as tcp/8B or shm/tag/bandwidth; repeatable")
    parser.add_argument("--max-pairs", type=int, choices=range(6, 61), default=60, metavar="6…60")
    parser.add_argument("--budget", type=positive, default=25, metavar="MINUTES",
                        help="stop after this time; cells without enough pairs say so (default: 25)")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "results/fidelity", metavar="FOLDER")
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
                        help="leave ucx_perftest's buffers unwritten, as it does by itself")
    parser.add_argument("--instead", choices=PLAIN, metavar="PLAIN",
                        help="compare plain_loop in the place of ucx-bench, in tag bandwidth: "
                        + " | ".join(PLAIN))
    options = parsed(parser, argv)
    build = pathlib.Path(options.ucx_bench).resolve().parents[1]
    options.plain_loop = build / "bin/fidelity_plain_loop"
    options.preload = None
    if not options.untouched:
        options.preload = build / "lib/libfidelity_touch_buffers.so"
        if not options.preload.exists():
            parser.error(f"no {options.preload}: build it, or give --untouched")
    return options


def provenance(run, script, argv):
    """What the run file of ours says about the machine, the UCX and itself."""
    host = run["machine"]["hosts"][0]
    return {
        "schema": "ucx-bench/fidelity/1",
        "command": shlex.join([f"bench/fidelity/{script}", *argv]),
        "started_utc": utc_now(),
        "machine": {
            "id": run["machine"]["id"],
            "cpu_model": host["cpu_model"],
            "cores": host["cores"],
            "kernel": host["kernel"],
            "tcp_congestion_control": CONGESTION_CONTROL.read_text().strip(),
            "transparent_huge_pages": host.get("transparent_huge_pages"),
            "labels": run["machine"]["labels"],
            "load_1min_before": os.getloadavg()[0],
        },
        "ucx": {"version": run["ucx"]["version"], "library": os.path.realpath(run["ucx"]["library"])},
        "ucx_bench": {key: run["build"][key] for key in ("version", "commit", "dirty", "compiler", "flags")},
        "settings": SETTINGS,
    }


def finish(result, comparison, state):
    result["finished_utc"] = utc_now()
    result["machine"]["load_1min_after"] = os.getloadavg()[0]
    result["state"] = state
    result["cells"] = [report.cell_record(*item) for item in comparison.records.items()]
    return result


def compare(result, ours, theirs, options, save):
    """Runs all pairs; `save(result, folder)` writes the record as far as it is, and at the end."""
    comparison = Comparison(ours, theirs, options.cells, options.max_pairs, options.budget * 60)
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
        result = provenance(run, "fidelity.py", argv)
        touched = options.preload is not None
        result["ucx_perftest"] = {"program": options.perftest, "buffers_written_once": touched}
        theirs = Perftest(options.perftest, run["ucx"]["library"], options.preload)
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
