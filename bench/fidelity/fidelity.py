#!/usr/bin/env python3
"""Compares ucx-bench pingpong with ucx_perftest of the same UCX: pairs of runs in A B B A order,
until each cell's ratio is known well enough. Writes results/fidelity/<machine>-ucx-<version>.{json,md}.
Exit status: 0 written, 2 usage, 3 the tools cannot be compared here, 130 interrupted (written)."""

import argparse
import datetime
import os
import pathlib
import shlex
import shutil
import signal
import sys
import time

import report
from cells import Group, choose
from intervals import is_settled
from tools import Failed, OurTool, Perftest, Unfit

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A visit to a group is so many A B B A blocks; then the others have their turn, so that a slow
# minute of the host does not fall on one group alone.
BLOCKS_PER_VISIT = 4
PAIRS_PER_BLOCK = 2
FEWEST_PAIRS = 8
MOST_FAILURES = 3


def utc_now():
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Comparison:
    def __init__(self, ours, theirs, cells, most_pairs, budget_s):
        self.ours, self.theirs = ours, theirs
        self.most_pairs = most_pairs
        self.deadline = time.monotonic() + budget_s
        self.records = {cell: {"ours": [], "theirs": [], "failure": None} for cell in cells}
        self.failures = dict.fromkeys(self.groups(), 0)
        self.is_late = False

    def groups(self):
        return dict.fromkeys(Group(c.transport, c.api, c.size) for c in self.records)

    def open_cells(self, group):
        if self.failures[group] >= MOST_FAILURES:
            return []
        return [c for c in group.cells() if c in self.records and not self._is_done(c)]

    def _is_done(self, cell):
        record = self.records[cell]
        pairs = [(a, b) for ours, theirs in zip(record["ours"], record["theirs"]) for a, b in zip(ours, theirs)]
        ratios = [a / b for a, b in pairs]
        return len(ratios) >= self.most_pairs or is_settled(cell.metric, ratios, FEWEST_PAIRS)

    def run(self):
        """Until every cell is done or the time is over; `after_visit` may look in between."""
        while any(self.open_cells(group) for group in self.failures):
            for group in self.failures:
                if not self.open_cells(group):
                    continue
                for cell in self.open_cells(group):
                    self.records[cell]["ours"].append([])
                    self.records[cell]["theirs"].append([])
                for _ in range(BLOCKS_PER_VISIT):
                    if time.monotonic() > self.deadline:
                        self.is_late = True
                        return
                    self._block(group, self.open_cells(group))
                yield group

    def _block(self, group, cells):
        """A B B A for each of the cells, which share our runs. A block with a failure is dropped."""
        if not cells:
            return
        try:
            first = self._our_run(group)
            theirs = {cell: [self.theirs.run(cell, group)] for cell in cells}
            for cell in reversed(cells):
                theirs[cell].append(self.theirs.run(cell, group))
            second = self._our_run(group)
        except Failed as failure:
            self.failures[group] += 1
            for cell in cells:
                self.records[cell]["failure"] = str(failure)
            return
        for cell in cells:
            record = self.records[cell]
            record["ours"][-1] += [first[cell.metric], second[cell.metric]]
            record["theirs"][-1] += theirs[cell]

    def _our_run(self, group):
        from tools import parse_ours

        return parse_ours(self.ours.run(group))
