#!/usr/bin/env python3
"""Measures ucx-bench beside others on this machine: ucx_perftest, OSU, UCXX, mpi4py, Dask, DuckDB, Polars,
in turns on the same CPUs. What cannot run here is a row with its reason. Exit status: 0 done, 2 usage,
3 ucx-bench cannot run, 130 interrupted (written). Run it as scripts/peers."""

import argparse
import os
import pathlib
import signal
import sys

import report
from cells import SETTINGS
from options import ROOT, UCX_BENCH
from peer_cells import MATCH, Load, LocalJoin, Message
from peer_record import cell_record, markdown, page
from peer_tools import PYTHON, all_peers
from tools import Failed, Unfit
from turns import Comparison

FAMILIES = ("ucx_perftest", "sockets", "osu", "ucxx", "mpi4py", "dask", "duckdb", "polars")
CPUS = (0, 1)
SIZES = ("8B", "1KiB", "64KiB", "1MiB")
SIZES_QUICK = ("8B", "64KiB", "1MiB")


def even(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of rounds; give one from 1")
    return int(text) + int(text) % 2


def arguments(argv):
    parser = argparse.ArgumentParser(prog="scripts/peers", description=__doc__.split(":")[0] + ".")
    parser.add_argument("--only", action="append", choices=FAMILIES, metavar="NAME",
                        help=f"beside ucx-bench; repeatable: {', '.join(FAMILIES)}")
    parser.add_argument("--rounds", type=even, metavar="N",
                        help="turns of each, made even (default: 8; with --quick 2)")
    parser.add_argument("--quick", action="store_true", help="few sizes, small workloads: to see what runs")
    parser.add_argument("--json", metavar="FILE", help="all figures; - is stdout")
    parser.add_argument("--markdown", metavar="FILE", help="tables (default: -)")
    parser.add_argument("--html", metavar="FILE", help="a page with tables and plots")
    parser.add_argument("--ucx-bench", **UCX_BENCH)
    options = parser.parse_args(argv)
    options.rounds = options.rounds or (2 if options.quick else 8)
    if not (options.json or options.markdown or options.html):
        options.markdown = "-"
    for name in ("json", "markdown", "html"):
        folder = pathlib.Path(getattr(options, name) or "-").absolute().parent
        if not folder.is_dir():
            parser.error(f"--{name}: no folder '{folder}'; make it first")
    return options


def cells_of(quick):
    """In groups, of which each has its rounds before the next: messages take turns among their sizes."""
    transports = ("tcp",) if quick else SETTINGS
    sizes = SIZES_QUICK if quick else SIZES
    messages = [Message(transport, "tag", metric, size)
                for transport in transports for metric in ("latency", "bandwidth") for size in sizes]
    rows, edge, joined = (100_000, 1024, 200_000) if quick else (1_000_000, 8192, 10_000_000)
    loads = [Load("merge", rows), Load("transpose", edge)]
    return [messages, *([of] for of in loads),
            *([LocalJoin(CPUS[:count], joined, MATCH)] for count in (1, 2))]


def in_wheel(peers):
    """Puts all on the UCX that UCXX brings, if it takes part: its folder, or None."""
    if not any(peer.family in ("ucxx", "dask") for peer in peers) or PYTHON.missing:
        return None
    return next((ROOT / PYTHON.folder).glob("lib/python3*/site-packages/libucx/lib"), None)


class Reported:
    """A peer in a comparison: what does not fit is a failure of its own."""

    def __init__(self, peer):
        self.peer = peer

    def measure(self, cell):
        try:
            return self.peer.measure(cell)
        except Unfit as error:
            raise Failed(str(error)) from None


def asked(peers):
    """[{"name", …, "version", "reason"}]: one of these two is None."""
    found = []
    for peer in peers:
        print(f"looking for {peer.name}", file=sys.stderr, flush=True)
        version = reason = None
        try:
            version = peer.version()
        except Failed as failure:
            reason = str(failure)
        found.append({"name": peer.name, "family": peer.family, "layer": peer.layer, "about": peer.about,
                      "version": version, "reason": reason})
    return found


def measure(result, groups, peers, rounds, save):
    """Fills result["cells"]; `save` is called after each block of each cell."""
    absent = {of["name"]: of["reason"] for of in result["peers"] if of["reason"]}
    done = []
    for group in groups:
        cells = {cell: {peer.name: peer for peer in peers if peer.covers(cell)} for cell in group}
        cells = {cell: of for cell, of in cells.items() if len(of) > 1}  # nobody to compare with: left out
        comparison = Comparison(
            {cell: {name: Reported(peer) for name, peer in of.items() if name not in absent} for cell, of in cells.items()},
            lambda _, record: len(record.rounds()) >= rounds, blocks_per_visit=1)
        for cell in comparison.run():
            record = comparison.records[cell]
            result["cells"] = done + [cell_record(of, cells[of], comparison.records[of], absent) for of in cells]
            save()
            last = "  ".join(f"{name} {report.number(value)}" for name, value in record.rounds()[-1].items())
            print(f"{cell.key}, round {len(record.rounds())} of {rounds}: {last}", file=sys.stderr, flush=True)
        done = result["cells"]
        for peer in peers:
            peer.end()


def write(options, result, state, is_last=True):
    """What goes to stdout is written once."""
    report.finish(result, state)
    for output, text_of in ((options.json, report.json_text), (options.markdown, markdown), (options.html, page)):
        if output and (is_last or output != "-"):
            report.write_text(output, text_of(result))


def main(argv):
    options = arguments(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    load_before = os.getloadavg()[0]
    build = pathlib.Path(options.ucx_bench).resolve().parents[1]
    preload = build / "lib/libfidelity_perftest_shim.so"
    peers = all_peers(options.ucx_bench, "ucx_perftest", preload if preload.exists() else None)
    # Messages are compared to UCX's own tool, whoever else was asked for.
    if options.only:
        peers = [peer for peer in peers if peer.family in ("ucx-bench", "ucx_perftest", *options.only)]
    groups = cells_of(options.quick)
    result = None

    try:
        folder = in_wheel(peers)
        ours, perftest = peers[:2]
        if folder:
            os.environ["LD_LIBRARY_PATH"] = str(folder)
            perftest.program = str(folder.parent / "bin/ucx_perftest")
        run = ours.tool.run(groups[0][0])
        perftest.use(run["ucx"]["library"])
        found = asked(peers)
        result = report.provenance(run, "scripts/peers", argv, load_before) | {
            "schema": "ucx-bench/peers/1", "settings": SETTINGS, "rounds": options.rounds, "cpus": CPUS,
            "buffers_of_ucx_perftest_written_once": preload.exists(), "peers": found, "cells": [],
        }
        measure(result, groups, peers, options.rounds, lambda: write(options, result, "interrupted", is_last=False))
        write(options, result, "complete")
    except (Failed, Unfit) as error:
        print(f"peers: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("peers: interrupted", file=sys.stderr)
        if result and result["cells"]:
            write(options, result, "interrupted")
        return 130
    finally:
        for peer in peers:
            peer.end()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
