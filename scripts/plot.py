#!/usr/bin/env python3
"""Draws run files of ucx-bench: latency and bandwidth over message size of ping-pongs; every pair of
p2p; scaling, phases and pairs of workloads. What is found of each is drawn one below the other.

Exit status: 0 drawn, 2 unusable input or output, 3 matplotlib is missing.
"""

import argparse
import pathlib
import sys

import runfile
from plots import curves, matrix, workload
from plots.common import Provenance

KINDS = (curves, matrix, workload)
FORMATS = (".png", ".svg", ".pdf")
WIDTH = 12  # inches


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"plot: {message}; see ucx-bench plot --help\n")


def fail(status, line):
    print(f"plot: {line}", file=sys.stderr)
    sys.exit(status)


def collect(files):
    """Where the runs come from, and the parts of their picture."""
    runs, found = [], {kind: [] for kind in KINDS}
    stems = [pathlib.Path(file).stem for file in files]
    for file, stem in zip(files, stems):
        run = runfile.load(file)
        try:
            runs.append(Provenance.of(run))
            for kind in KINDS:
                found[kind] += kind.read(run, stem if stems.count(stem) == 1 else str(file))
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise runfile.NotARun(
                f"'{file}' is a damaged ucx-bench run ({type(error).__name__}: {error}); "
                "give it as ucx-bench --json wrote it"
            )
    return runs, [part for kind, of in found.items() for part in kind.parts(of)]


def draw(runs, parts, out):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    # Names come from files: a dollar sign is one.
    plain_text = {"text.parse_math": False}
    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "ucx-bench", "axes.axisbelow": True, **plain_text})
    heights = [part.height for part in parts]
    figure = plt.figure(figsize=(WIDTH, sum(heights)), dpi=100, layout="constrained")
    places = figure.subfigures(len(parts), 1, height_ratios=heights) if len(parts) > 1 else [figure]
    for place, part in zip(places, parts):
        part.draw(place, runs)
    plain = {"Date": None} if out.suffix == ".svg" else {"CreationDate": None} if out.suffix == ".pdf" else {}
    figure.savefig(out, metadata=plain)


def main():
    parser = Parser(
        prog="ucx-bench plot",
        description="Latency and bandwidth over message size; every pair; scaling and phases of workloads.",
    )
    parser.add_argument("runs", metavar="RUN.json", nargs="+", help="files written by ucx-bench --json")
    parser.add_argument("-o", "--output", metavar="FILE", help="a .png, .svg or .pdf; default: RUN.png")
    arguments = parser.parse_args()
    out = pathlib.Path(arguments.output or pathlib.Path(arguments.runs[0]).with_suffix(".png"))
    if out.suffix not in FORMATS:
        fail(2, f"cannot draw '{out}': the name must end in {', '.join(FORMATS)}")
    try:
        runs, parts = collect(arguments.runs)
        if not parts:
            fail(2, f"nothing to draw: no measured case of pingpong, p2p or a workload in {', '.join(arguments.runs)}")
        draw(runs, parts, out)
    except runfile.NotARun as error:
        fail(2, error)
    except OSError as error:
        fail(2, f"cannot write '{out}': {error.strerror}; choose another path with -o")
    except ImportError as error:
        fail(3, f"cannot run here: {error}; run ./scripts/setup/python in the source tree or set UCXBENCH_PYTHON")
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
