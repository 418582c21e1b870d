"""The order of the runs, and when there are enough of them."""

import time

from intervals import is_settled
from tools import Failed

# A visit to a cell is so many A B B A blocks of two pairs; then the others have their turn, so
# that a slow minute of the host does not fall on one cell alone.
BLOCKS_PER_VISIT = 4
FEWEST_PAIRS = 8
MOST_FAILURES = 3  # of a cell; a block with a failed run is dropped as a whole


class Record:
    """What was measured of one cell: per visit its pairs (ours, theirs), in the order of the runs."""

    def __init__(self):
        self.visits = []
        self.failures = 0
        self.failure = None  # the last one's message

    def pairs(self):
        return [pair for visit in self.visits for pair in visit]

    def ratios(self):
        return [ours / theirs for ours, theirs in self.pairs()]


class Comparison:
    """`ours.measure(cell)` and `theirs.measure(cell)` each give a number from one run."""

    def __init__(self, ours, theirs, cells, most_pairs, budget_s):
        self.ours, self.theirs = ours, theirs
        self.most_pairs = most_pairs
        self.deadline = time.monotonic() + budget_s
        self.records = {cell: Record() for cell in cells}
        self.is_late = False

    def is_open(self, cell):
        record = self.records[cell]
        ratios = record.ratios()
        return (
            record.failures < MOST_FAILURES
            and len(ratios) < self.most_pairs
            and not is_settled(cell.metric, ratios, FEWEST_PAIRS)
        )

    def run(self):
        """Yields each cell after a visit, until every cell is done or the time is over."""
        while any(map(self.is_open, self.records)):
            for cell in filter(self.is_open, self.records):
                self.records[cell].visits.append([])
                for _ in range(BLOCKS_PER_VISIT):
                    if time.monotonic() > self.deadline:
                        self.is_late = True
                        return
                    if self.is_open(cell):
                        self._block(cell)
                yield cell

    def _block(self, cell):
        """Ours, theirs, theirs, ours."""
        record = self.records[cell]
        try:
            first = self.ours.measure(cell)
            theirs = self.theirs.measure(cell), self.theirs.measure(cell)
            second = self.ours.measure(cell)
        except Failed as failure:
            record.failures += 1
            record.failure = str(failure)
            return
        record.visits[-1].extend(zip((first, second), theirs))
