"""The order of the runs of what is compared, and when there are enough of them."""

import math
import time

from tools import Failed

# A visit to a cell is so many blocks; then the others have their turn, so that a slow minute of the
# host does not fall on one cell alone.
BLOCKS_PER_VISIT = 4
MOST_FAILURES = 3  # of one in a cell; after that it is left out


class Record:
    """What was measured of one cell: per visit its rounds, in the order of the runs. A round has the
    value of each, by name."""

    def __init__(self, names):
        self.visits = []
        self.failures = dict.fromkeys(names, 0)
        self.reasons = {}  # of failures, the last one's message, by name

    def rounds(self):
        return [of for visit in self.visits for of in visit]

    def values(self, name):
        return [of[name] for of in self.rounds() if name in of]

    def pairs(self, one, other):
        return [(of[one], of[other]) for of in self.rounds() if one in of and other in of]

    def ratios(self, one, other):
        return [a / b for a, b in self.pairs(one, other)]


class Comparison:
    """Of each cell several take part: `cells` is {cell: {name: tool}}, and `tool.measure(cell)` gives a
    number from one run, or raises Failed. They take turns, A B C C B A, so that what drifts meets all."""

    def __init__(self, cells, is_enough, budget_s=math.inf, blocks_per_visit=BLOCKS_PER_VISIT):
        self.cells, self.is_enough = cells, is_enough
        self.deadline = time.monotonic() + budget_s
        self.blocks_per_visit = blocks_per_visit
        self.records = {cell: Record(tools) for cell, tools in cells.items()}
        self.is_late = False

    def taking_part(self, cell):
        failures = self.records[cell].failures
        return {name: tool for name, tool in self.cells[cell].items() if failures[name] < MOST_FAILURES}

    def is_open(self, cell):
        fewest = min(2, len(self.cells[cell]))
        return len(self.taking_part(cell)) >= fewest > 0 and not self.is_enough(cell, self.records[cell])

    def run(self):
        """Yields each cell after a visit, until every cell is done or the time is over."""
        while any(map(self.is_open, self.records)):
            for cell in filter(self.is_open, self.records):
                self.records[cell].visits.append([])
                for _ in range(self.blocks_per_visit):
                    if time.monotonic() > self.deadline:
                        self.is_late = True
                        return
                    if self.is_open(cell):
                        self.records[cell].visits[-1].extend(self._block(cell))
                yield cell

    def _block(self, cell):
        """Two rounds, the second in the opposite order; without whoever failed in either."""
        record, tools = self.records[cell], self.taking_part(cell)
        rounds, failed = ({}, {}), set()
        for of, names in zip(rounds, (list(tools), list(tools)[::-1])):
            for name in names:
                if name in failed:
                    continue
                try:
                    of[name] = tools[name].measure(cell)
                except Failed as failure:
                    record.failures[name] += 1
                    record.reasons[name] = str(failure)
                    failed.add(name)
        return [{name: value for name, value in of.items() if name not in failed} for of in rounds]
