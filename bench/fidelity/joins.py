#!/usr/bin/env python3
"""Joins two tables with ucx-bench merge, DuckDB and Polars, in turns on the same CPUs: one rank against
one thread, and two ranks over shared memory, exchange included, against two threads. Writes
results/fidelity/<machine>-joins.{json,md}. Exit status: 0 done, 2 usage, 3 cannot run here, 130
interrupted. Run it as scripts/compare-joins."""

import argparse
import dataclasses
import os
import pathlib
import signal
import sys
from importlib.metadata import version

import report
from intervals import describe
from options import OUTPUT, UCX_BENCH
from tools import Failed, Server, run_file, wall_seconds
from turns import Comparison

ENGINES = ("duckdb", "polars")
SERVER = pathlib.Path(__file__).with_name("join_server.py")


@dataclasses.dataclass(frozen=True)
class Join:
    """Two tables of so many rows, of which the part `match` is on both sides."""

    cpus: tuple
    rows: int
    match: float


class Ours:
    """One launch per turn; the median of its runs, in seconds."""

    def __init__(self, program):
        self.program = program
        self.run = None  # its last run file

    def command(self, join):
        command = [self.program, "merge", "-n", len(join.cpus), "--rows", join.rows // len(join.cpus),
                   "--frac-match", join.match, "--bind", ",".join(map(str, join.cpus)), "--launches", 1,
                   "--runs", 3, "--no-calibrate", "--no-transfer-log"]
        return command + ["--transports", "shm"] if len(join.cpus) > 1 else command

    def measure(self, join):
        self.run = run_file(*self.command(join))
        return wall_seconds(self.run)


class Engine:
    """A process that holds the tables of one Join and joins them each time that it is told to."""

    def __init__(self, name, python=sys.executable):
        self.name, self.python = name, python
        self.join = self.server = None

    def command(self, join):
        return ["taskset", "-c", ",".join(map(str, join.cpus)), self.python, SERVER, self.name, join.rows,
                join.match, len(join.cpus)]

    def measure(self, join):
        if join != self.join:
            self.end()
            threads = {"POLARS_MAX_THREADS": str(len(join.cpus))}
            self.server = Server(self.name, self.command(join), os.environ | threads)
            self.join = join
        return self.server.ask()

    def end(self):
        if self.server:
            self.server.end()
        self.join = self.server = None


def row(comparison, name, rows):
    ours, theirs = comparison["seconds"]["ucx-bench"], comparison["seconds"][name]
    million_rows = 2 * rows / 1e6
    ratio = describe([other / own for own, other in zip(ours, theirs)])
    return [str(len(comparison["cpus"])), f"{million_rows / report.median(ours):.1f}", name,
            f"{million_rows / report.median(theirs):.1f}", f"{ratio['median']:.2f}",
            report.interval_text(ratio, 2), str(ratio["pairs"])]


def markdown(options, result):
    lines = [
        "# ucx-bench merge against DuckDB and Polars",
        "",
        f"{report.machine_text(result['machine'])} {report.program_text(result['ucx_bench'])}; "
        + ", ".join(f"{name} {of}" for name, of in result["engines"].items()) + ".",
        "",
        f"An inner join of {options.rows:,} and {options.rows:,} rows, a 64-bit key and a 64-bit payload each, "
        f"keys unique, {options.frac_match:g} of them on both sides; key and both payloads are written out. "
        "Mrow/s counts the rows of both tables. One CPU: one rank or thread. Two: two ranks, which have half of "
        "each table and exchange what belongs to the other over shared memory, or two threads, which share one. "
        "Turns A B C, C B A, …; the ratio is the median over turns of their time / ours, with its 95 % interval.",
        "",
    ]
    lines += report.table(
        ("CPUs:", "ucx-bench, Mrow/s:", "", "Mrow/s:", "ratio:", "95 % interval", "turns:"),
        [row(of, name, options.rows) for of in result["comparisons"] for name in ENGINES])
    return "\n".join([*lines, "", f"`{result['command']}`", ""])


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0] + ".")
    parser.add_argument("--ucx-bench", **UCX_BENCH)
    parser.add_argument("--rows", type=int, default=10_000_000, help="of each table (default: 10000000)")
    parser.add_argument("--frac-match", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=12, help="turns of each, made even (default: 12)")
    parser.add_argument("--cpus", default="0,1", help="two CPUs (default: 0,1)")
    parser.add_argument("--output", **OUTPUT)
    options = parser.parse_args(argv)
    cpus = tuple(int(cpu) for cpu in options.cpus.split(","))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    load_before = os.getloadavg()[0]
    ours, engines = Ours(options.ucx_bench), {name: Engine(name) for name in ENGINES}
    joins = [Join(cpus[:count], options.rows, options.frac_match) for count in (1, 2)]
    comparisons = []
    try:
        for join in joins:
            comparison = Comparison({join: {"ucx-bench": ours} | engines},
                                    lambda _, record: len(record.rounds()) >= options.rounds, blocks_per_visit=1)
            record = comparison.records[join]
            for _ in comparison.run():
                if record.reasons:
                    raise Failed(next(iter(record.reasons.values())))
                print(f"{len(join.cpus)} CPUs, turn {len(record.rounds())}: "
                      + ", ".join(f"{name} {took:.3f} s" for name, took in record.rounds()[-1].items()),
                      file=sys.stderr)
            comparisons.append({"cpus": join.cpus, "seconds": {name: record.values(name) for name in record.failures}})
        result = report.provenance(ours.run, "scripts/compare-joins", argv, load_before)
    except Failed as error:
        print(f"joins: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130
    finally:
        for engine in engines.values():
            engine.end()

    report.finish(result, "complete")
    result["engines"] = {name: version(name) for name in ENGINES}
    result["comparisons"] = comparisons
    text = markdown(options, result)
    print(text)
    print(report.save_as("-joins", result, text, options.output))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
