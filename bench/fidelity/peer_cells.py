"""What `peers.py` measures: messages, workloads of two ranks, and joins in one process."""

import dataclasses

from cells import Cell
from joins import Join

MATCH = 0.3  # of the rows of a table are in the other, too


@dataclasses.dataclass(frozen=True)
class Message(Cell):
    """Of a cell a tenth of the iterations: a figure is a median over fresh processes anyway."""

    @property
    def iterations(self):
        return max(super().iterations // 10, 50)


@dataclasses.dataclass(frozen=True)
class Load:
    """A workload of two ranks: `amount` is rows of each table on a rank, or the edge of a square."""

    benchmark: str
    amount: int
    transport: str = "tcp"
    metric = "throughput"

    @property
    def key(self):
        return f"{self.benchmark}/2 ranks/{self.transport}"

    @property
    def bytes(self):
        """Of the input: two tables of a key and a payload, 8 bytes each, or a square of float64."""
        return 2 * 2 * 16 * self.amount if self.benchmark == "merge" else 8 * self.amount**2


@dataclasses.dataclass(frozen=True)
class LocalJoin(Join):
    metric = "throughput"

    @property
    def key(self):
        return f"local join/{len(self.cpus)} CPU{'s' if len(self.cpus) > 1 else ''}"

    @property
    def bytes(self):
        return 2 * 16 * self.rows


def few(cell):
    """Iterations of what Python does, which takes longer for a small message."""
    return max(cell.iterations // 2, 30)
