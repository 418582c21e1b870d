#!/usr/bin/env python3
"""Joins two tables with ucx-bench merge, DuckDB and Polars, in turns on the same CPUs: one rank against
one thread, and two ranks over shared memory, exchange included, against two threads. Writes
results/fidelity/<machine>-joins.{json,md}. Exit status: 0 done, 2 usage, 3 cannot run here, 130
interrupted. Run it as scripts/compare-joins."""

import argparse
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import time
from importlib.metadata import version

import report
from fidelity import ROOT, program, provenance
from intervals import order_statistics_interval
from tools import LIMIT_S, Failed, run_file

ENGINES = ["duckdb", "polars"]


class Ours:
    """One launch per turn; the median of its runs."""

    name = "ucx-bench"

    def __init__(self, path, rows, match, cpus):
        self.program = path
        self.arguments = ["merge", "-n", len(cpus), "--rows", rows // len(cpus),
                          "--frac-match", match, "--bind", ",".join(map(str, cpus)), "--launches", 1,
                          "--runs", 3, "--no-calibrate", "--no-transfer-log"]
        if len(cpus) > 1:
            self.arguments += ["--transports", "shm"]
        self.run_file = None

    def seconds(self):
        self.run_file = run_file(self.program, self.arguments)
        case = self.run_file["cases"][0]
        if case["state"] != "measured":
            raise Failed(f"ucx-bench: {case['reason']}")
        return case["metrics"]["wall_ms"]["p50"] / 1e3

    def end(self):
        pass


class Theirs:
    """A process that holds the tables and joins them each time that it is told to."""

    def __init__(self, name, rows, match, cpus):
        self.name = name
        command = ["taskset", "-c", ",".join(map(str, cpus)), sys.executable, __file__, "--serve", name,
                   "--rows", str(rows), "--frac-match", str(match), "--cpus", ",".join(map(str, cpus))]
        environment = os.environ | {"POLARS_MAX_THREADS": str(len(cpus))}
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self._answer()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"{self.name}: it ended with status {self.process.wait(LIMIT_S)}")
        return float(line)

    def seconds(self):
        print("join", file=self.process.stdin, flush=True)
        return self._answer()

    def end(self):
        self.process.stdin.close()
        self.process.wait(LIMIT_S)


def tables(rows, match):
    """Unique 64-bit keys, of which so many meet; a payload of 64 bits on either side."""
    import numpy

    random = numpy.random.default_rng(1)
    # A multiplication by an odd number is a bijection: distinct, and in no order.
    keys = (numpy.arange(2 * rows, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)).astype(numpy.int64)
    matches = int(rows * match)
    build = keys[:rows]
    probe = numpy.concatenate([build[:matches], keys[rows:2 * rows - matches]])
    random.shuffle(probe)
    payload = random.permutation(rows)
    return ({"key": build, "left": payload}, {"key": probe, "right": payload}, matches)


def serve(name, rows, match, threads):
    """Joins whenever a line comes, and says how long that took; the first time unasked."""
    build, probe, matches = tables(rows, match)
    if name == "duckdb":
        import duckdb

        engine = duckdb.connect(config={"threads": threads})
        engine.execute("create table build as select * from build")
        engine.execute("create table probe as select * from probe")

        def join():
            engine.execute(
                "create or replace table joined as "
                "select build.key, build.left, probe.right from probe join build using (key)"
            )
            return lambda: engine.execute("select count(*) from joined").fetchone()[0]
    else:
        import polars

        left, right = polars.DataFrame(build), polars.DataFrame(probe)

        def join():
            joined = right.join(left, on="key", how="inner")
            return lambda: joined.height

    while True:
        began = time.perf_counter()
        count = join()
        seconds = time.perf_counter() - began
        if count() != matches:
            sys.exit(f"{name}: {count()} rows joined, {matches} would be right")
        print(seconds, flush=True)
        if not sys.stdin.readline():
            return


def compare(options, cpus):
    """{"cpus": …, "turns": {name: [s]}}"""
    rivals = [Ours(options.ucx_bench, options.rows, options.frac_match, cpus)]
    turns = {}
    try:
        for name in ENGINES:
            rivals.append(Theirs(name, options.rows, options.frac_match, cpus))
        for turn in range(options.rounds):
            for rival in rivals if turn % 2 == 0 else rivals[::-1]:
                turns.setdefault(rival.name, []).append(rival.seconds())
            print(f"{len(cpus)} CPUs, turn {turn + 1}: "
                  + ", ".join(f"{name} {took[-1]:.3f} s" for name, took in turns.items()), file=sys.stderr)
    finally:
        for rival in rivals:
            rival.end()
    return {"cpus": cpus, "seconds": turns}, rivals[0].run_file


def row(options, comparison, name):
    ours, theirs = comparison["seconds"]["ucx-bench"], comparison["seconds"][name]
    million_rows = 2 * options.rows / 1e6
    ratios = [other / own for own, other in zip(ours, theirs)]
    interval = order_statistics_interval(ratios)
    return (f"| {len(comparison['cpus'])} | {million_rows / statistics.median(ours):.1f} | {name} | "
            f"{million_rows / statistics.median(theirs):.1f} | {statistics.median(ratios):.2f} | "
            + (f"{interval[0]:.2f}–{interval[1]:.2f}" if interval else "–") + f" | {len(ratios)} |")


def markdown(options, result):
    lines = [
        "# ucx-bench merge against DuckDB and Polars",
        "",
        f"{report.machine_text(result['machine'])} ucx-bench {result['ucx_bench']['commit'][:10]}"
        f"{' (with changes)' if result['ucx_bench']['dirty'] else ''}, {result['ucx_bench']['flags']}; "
        + ", ".join(f"{name} {version}" for name, version in result["engines"].items()) + ".",
        "",
        f"An inner join of {options.rows:,} and {options.rows:,} rows, a 64-bit key and a 64-bit payload each, "
        f"keys unique, {options.frac_match:g} of them on both sides; key and both payloads are written out. "
        "Mrow/s counts the rows of both tables. One CPU: one rank or thread. Two: two ranks, which have half of "
        "each table and exchange what belongs to the other over shared memory, or two threads, which share one. "
        "Turns A B C, C B A, …; the ratio is the median over turns of their time / ours, with its 95 % interval.",
        "",
        "| CPUs | ucx-bench, Mrow/s | | Mrow/s | ratio | 95 % interval | turns |",
        "|--:|--:|---|--:|--:|---|--:|",
    ]
    lines += [row(options, of, name) for of in result["comparisons"] for name in ENGINES]
    return "\n".join([*lines, "", f"`{result['command']}`", ""])


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0] + ".")
    parser.add_argument("--ucx-bench", type=program, default=str(ROOT / "build/release/bin/ucx-bench"))
    parser.add_argument("--rows", type=int, default=10_000_000, help="of each table (default: 10000000)")
    parser.add_argument("--frac-match", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=11, help="turns of each (default: 11)")
    parser.add_argument("--cpus", default="0,1", help="two CPUs (default: 0,1)")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "results/fidelity", metavar="FOLDER")
    parser.add_argument("--serve", choices=ENGINES, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    cpus = [int(cpu) for cpu in options.cpus.split(",")]
    if options.serve:
        return serve(options.serve, options.rows, options.frac_match, len(cpus))
    load_before = os.getloadavg()[0]
    try:
        comparisons = []
        for count in (1, 2):
            comparison, run = compare(options, cpus[:count])
            comparisons.append(comparison)
        result = provenance(run, "joins.py", argv)
    except Failed as error:
        print(f"joins: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130

    result["command"] = shlex.join(["scripts/compare-joins", *argv])
    result["machine"]["load_1min_before"] = load_before
    result["machine"]["load_1min_after"] = os.getloadavg()[0]
    result["engines"] = {name: version(name) for name in ENGINES}
    result["comparisons"] = comparisons
    text = markdown(options, result)
    print(text)
    print(report.save_as("-joins", result, text, options.output))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
