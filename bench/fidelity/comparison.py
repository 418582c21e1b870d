"""The order of the runs, and when there are enough of them."""

import time

from cells import Group
from intervals import is_settled
from tools import Failed

# A visit to a group is so many A B B A blocks of two pairs; then the others have their turn, so
# that a slow minute of the host does not fall on one group alone.
BLOCKS_PER_VISIT = 4
FEWEST_PAIRS = 8
MOST_FAILURES = 3  # of a group; a block with a failed run is dropped as a whole


class Record:
    """What was measured of one cell: per visit its pairs (ours, theirs), in the order of the runs."""

    def __init__(self):
        self.visits = []
        self.failure = None

    def pairs(self):
        return [pair for visit in self.visits for pair in visit]

    def ratios(self):
        return [ours / theirs for ours, theirs in self.pairs()]


class Comparison:
    """`ours.measure(group)` gives {metric: number}, `theirs.measure(cell, group)` a number."""

    def __init__(self, ours, theirs, cells, most_pairs, budget_s):
        self.ours, self.theirs = ours, theirs
        self.most_pairs = most_pairs
        self.deadline = time.monotonic() + budget_s
        self.records = {cell: Record() for cell in cells}
        self.failures = {Group(cell.transport, cell.api, cell.size): 0 for cell in cells}
        self.is_late = False

    def open_cells(self, group):
        if self.failures[group] >= MOST_FAILURES:
            return []
        return [cell for cell in group.cells() if cell in self.records and not self._is_done(cell)]

    def _is_done(self, cell):
        ratios = self.records[cell].ratios()
        return len(ratios) >= self.most_pairs or is_settled(cell.metric, ratios, FEWEST_PAIRS)

    def run(self):
        """Yields each group after a visit, until every cell is done or the time is over."""
        while any(self.open_cells(group) for group in self.failures):
            for group in self.failures:
                cells = self.open_cells(group)
                for cell in cells:
                    self.records[cell].visits.append([])
                for _ in range(BLOCKS_PER_VISIT if cells else 0):
                    if time.monotonic() > self.deadline:
                        self.is_late = True
                        return
                    self._block(group)
                if cells:
                    yield group

    def _block(self, group):
        """Ours, theirs, theirs, ours for every open cell of the group, which share our two runs."""
        cells = self.open_cells(group)
        if not cells:
            return
        try:
            first = self.ours.measure(group)
            theirs = {cell: [self.theirs.measure(cell, group)] for cell in cells}
            for cell in reversed(cells):
                theirs[cell].append(self.theirs.measure(cell, group))
            second = self.ours.measure(group)
        except Failed as failure:
            self.failures[group] += 1
            for cell in cells:
                self.records[cell].failure = str(failure)
            return
        for cell in cells:
            pairs = zip((first[cell.metric], second[cell.metric]), theirs[cell])
            self.records[cell].visits[-1].extend(pairs)
