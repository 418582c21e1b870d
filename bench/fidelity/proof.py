#!/usr/bin/env python3
"""Shows that proof costs the timed loops nothing: ucx-bench measuring a size after its proof of what carried
the messages of a smaller one, and alone, in A B B A order, until each cell's ratio is known well enough. Writes
results/fidelity/<machine>-ucx-<version>-proof.{json,md}. Exit status as fidelity.py."""

import signal
import sys

import report
from cells import SETTINGS
from fidelity import all_reached, base_parser, compare, parsed
from tools import AfterProof, Failed, OurTool, Unfit


def largest_difference(cells):
    """The end of the widest interval, from 1; None while some cell has none."""
    intervals = [cell["ratio"]["ci95"] for cell in cells]
    if not all(intervals):
        return None
    return max(abs(end - 1) for interval in intervals for end in interval)


def markdown(result):
    cells = result["cells"]
    largest = largest_difference(cells)
    lines = [
        "# ucx-bench after proof and alone",
        "",
        f"{result['finished_utc']}, {result['state']}: "
        + (
            "too few pairs to say."
            if largest is None
            else f"with 95 % confidence in each cell, no difference is larger than {largest:.1%}."
        ),
        "",
        f"{report.machine_text(result['machine'])} UCX {result['ucx']['version']}, "
        f"{report.program_text(result['ucx_bench'])}.",
        "",
        "One of the two measures half the size first and proves what carried its messages, then the cell; "
        "the other measures the cell alone. The ratio is after proof / alone: one-way latency p50, or the "
        "sender's bandwidth. Its 95 % interval is that of the median of paired runs in A B B A order; "
        "*self*: the same of runs alone over their own next one.",
        "",
    ]
    lines += report.cell_table(cells, "after proof", "alone")
    return "\n".join([*lines, "", f"`{result['command']}`", ""])


def save(result, folder):
    return report.save_as("-proof", result, markdown(result), folder)


def main(argv):
    options = parsed(base_parser(__doc__.split(":")[0] + "."), argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        alone = OurTool(options.ucx_bench)
        run = alone.run(options.cells[0])
        result = report.provenance(run, "bench/fidelity/proof.py", argv) | {"settings": SETTINGS}
        compare(result, AfterProof(options.ucx_bench), alone, options, save)
    except (Failed, Unfit) as error:
        print(f"proof: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("proof: interrupted", file=sys.stderr)
        return 130
    return 0 if all_reached(result) else 5


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
