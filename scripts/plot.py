#!/usr/bin/env python3
"""Draws runs of ucx-bench: times and rates over message size; every pair of ranks; scaling, phases
and pairs of workloads. What is found of each is drawn one below the other.

Exit status: 0 drawn, 2 unusable input or output, 3 matplotlib is missing.
"""

import io
import pathlib

import runfile
from commandline import Parser, say, write_whole
from plots import picture

FORMATS = (".png", ".svg", ".pdf")


def main():
    parser = Parser(
        "plot",
        "plot",
        prog="ucx-bench plot",
        description="Latency and bandwidth over message size; every pair; scaling and phases of workloads.",
    )
    parser.add_argument("document", metavar="PLOT.json", help="what ucx-bench plot has read")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="a .png, .svg or .pdf")
    arguments = parser.parse_args()
    out = pathlib.Path(arguments.output)
    if out.suffix not in FORMATS:
        parser.fail(2, f"cannot draw '{out}': the name must end in {', '.join(FORMATS)}")
    with parser.making(out, "-o"):
        named = runfile.read(arguments.document)["runs"]
        runs, parts = picture.parts_of(named)
        if not parts:
            files = ", ".join(of["file"] for of in named)
            parser.fail(2, f"nothing to draw: no measured case of sizes, of all pairs or of a workload in {files}")
        plain = {"Date": None} if out.suffix == ".svg" else {"CreationDate": None} if out.suffix == ".pdf" else {}
        drawn = io.BytesIO()
        picture.draw(runs, parts).savefig(drawn, format=out.suffix[1:], metadata=plain)
        write_whole(out, drawn.getvalue())
    say(f"wrote {out}")


if __name__ == "__main__":
    main()
