"""What is compared: cells of transport, API, metric and size."""

import dataclasses

SIZES = {"8B": 8, "1KiB": 1 << 10, "64KiB": 1 << 16, "1MiB": 1 << 20, "8MiB": 1 << 23}

# Iterations of both tools: 50 to 200 ms a run on two cores of a virtual machine of 2026. Above 2048
# ucx_perftest's percentile is that of the last 2048.
ITERATIONS = {
    "tcp": {"4B": 20_000, "8B": 20_000, "1KiB": 20_000, "64KiB": 2_000, "1MiB": 200, "8MiB": 64},
    "shm": {"4B": 200_000, "8B": 200_000, "1KiB": 100_000, "64KiB": 5_000, "1MiB": 500, "8MiB": 64},
}

# The same environment for both tools; every other UCX_* is removed. ucx_perftest lets UCX allocate
# its buffers, which by default gives huge pages or a shared memory segment; ours, as a program's own,
# are anonymous pages, and so are both with mmap.
SETTINGS = {
    "tcp": {"UCX_TLS": "tcp", "UCX_NET_DEVICES": "lo", "UCX_ALLOC_PRIO": "mmap"},
    "shm": {"UCX_TLS": "posix,cma", "UCX_ALLOC_PRIO": "mmap"},
}
WINDOW = 32  # of ucx_perftest's tag_bw, ucp_am_bw and ucp_put_bw

# By API, what is compared of it. ucx_perftest has one test of get and of each atomic operation, which
# by itself has a window of one: its latency is the whole time; with another window it gives a rate.
# Its streams have no window.
METRICS = {
    "tag": ("latency", "bandwidth"),
    "stream": ("latency",),
    "am": ("latency", "bandwidth"),
    "put": ("latency", "bandwidth"),
    "get": ("latency", "bandwidth"),
    "fadd": ("latency", "rate"),
    "swap": ("latency", "rate"),
    "cswap": ("latency", "rate"),
}
WIDTHS = {"4B": 4, "8B": 8}  # of atomic operations


@dataclasses.dataclass(frozen=True)
class Cell:
    transport: str
    api: str
    metric: str
    size: str

    @property
    def key(self):
        return f"{self.transport}/{self.api}/{self.metric}/{self.size}"

    @property
    def test(self):
        """ucx_perftest's name of it."""
        if self.is_answered:
            return f"ucp_{self.api}"
        old = self.api in ("tag", "stream")
        return f"{'' if old else 'ucp_'}{self.api}_{'lat' if self.metric == 'latency' else 'bw'}"

    @property
    def is_answered(self):
        """Its client alone acts, and waits for each answer."""
        return self.api in ("get", "fadd", "swap", "cswap")

    @property
    def bytes(self):
        return (SIZES | WIDTHS)[self.size]

    @property
    def iterations(self):
        return ITERATIONS[self.transport][self.size]


def all_cells():
    return [
        Cell(transport, api, metric, size)
        for transport in SETTINGS
        for api, metrics in METRICS.items()
        for size in (WIDTHS if api in ("fadd", "swap", "cswap") else SIZES)
        for metric in metrics
    ]


def choose(patterns):
    """The cells whose key contains all parts of a pattern: "tcp/8B", "shm/tag/bandwidth". An unknown
    part is an error."""
    everything = all_cells()
    if not patterns:
        return everything
    known = {part for cell in everything for part in cell.key.split("/")}
    wanted = [pattern.split("/") for pattern in patterns]
    for part in {part for parts in wanted for part in parts} - known:
        raise ValueError(f"--cells: no '{part}'; there are {', '.join(sorted(known))}")
    return [cell for cell in everything if any(set(p) <= set(cell.key.split("/")) for p in wanted)]
