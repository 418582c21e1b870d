"""Transfer logs made up for tests."""

import struct

BEGIN_NS = 10**12
SEND, RECEIVE, PHASE = 0, 1, 2


def records(*rows):
    """Of (kind, rank, label, begin ms, end ms), all of one run."""
    return b"".join(
        struct.pack("<4Q3H2B2I", BEGIN_NS + int(begin * 1e6), BEGIN_NS + int(end * 1e6), 4096, label, rank, 1 - rank, 0, kind,
                    0, 1, 0)
        for kind, rank, label, begin, end in rows
    )


def section(case, launch, rank, of):
    return struct.pack("<4I", case, launch, rank, len(of) // 48) + of


def log_of(launch, case=1, end=10.0):
    """Two ranks compute, wait for what both receive, and compute."""
    parts = []
    for rank in (0, 1):
        rows = [(PHASE, rank, 0, 0, 4), (PHASE, rank, 1, 4, 7), (PHASE, rank, 2, 7, end), (RECEIVE, rank, 5, 3, 7)]
        parts.append(section(case, launch, rank, records(*rows)))
    return b"UCXTRF01" + b"".join(parts)


def keep_two_ranks(run):
    """Of the invented workload: the cases of one and of two ranks, and a log's name."""
    run["run"]["transfers"] = "run.transfers.bin"
    run["cases"] = run["cases"][:2]
