"""Which transports carried what a program sent by UCX, from what UCX itself printed about its protocols."""

import contextlib
import pathlib
import re
import tempfile

UNKNOWN = "unknown"
SHARED_MEMORY = {"shm", "posix", "sysv", "cma", "knem", "xpmem", "self"}
OF = {"shm": SHARED_MEMORY, "tcp": {"tcp"}}
# UCX has no error handling of these unless it is told to, and leaves them out for whoever asks for it, as UCXX does.
ERROR_HANDLING = {"UCX_POSIX_ERROR_HANDLING": "y", "UCX_SYSV_ERROR_HANDLING": "y"}
MOST_BYTES = 1 << 24  # read of one log

# "| 0   8K..16352 | (?) rendezvous zero-copy | tcp/lo |": before UCX 1.22 the count stands before the range, or is absent.
LINE = re.compile(r"\[[\d.]+\] \[[^\]]*\]\s+\|(.*)\|\s*$")
RANGE = re.compile(r"(\d+[KMG]?)(?:\.\.(\d+[KMG]?|inf))?$")
TRANSPORT = re.compile(r"\b([a-z][a-z0-9_]*)/[\w:.-]+")
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def number_of(text):
    if text == "inf":
        return float("inf")
    return int(text.rstrip("KMG")) * UNITS.get(text[-1], 1)


def holds(cells, size):
    """Whether a row is for messages of that size; None is any size."""
    for words in (cell.split() for cell in cells[:2]):
        found = RANGE.match(words[-1]) if words else None
        if found and all(re.fullmatch(r"\d+", word) for word in words[:-1]):
            low = number_of(found[1])
            return size is None or low <= size <= (number_of(found[2]) if found[2] else low)
    return False


def transports_in(text, size=None):
    """Of all messages to other processes: which transports UCX selected for that size."""
    found, counts = set(), False
    for line in text.splitlines():
        line = LINE.search(line)
        if not line:
            continue
        cells = [cell.strip() for cell in line[1].split("|")]
        if any(" cfg#" in cell or " ep_cfg[" in cell for cell in cells):
            counts = not cells[0].partition("cfg#")[0].endswith("self ")
        if counts and len(cells) >= 3 and holds(cells, size):
            found.update(TRANSPORT.findall(cells[-1]))
    return found


@contextlib.contextmanager
def asked_of_ucx():
    """(settings by which UCX writes its protocols, a function that says what was written): "tcp", "cma+sysv", unknown.
    The tables are made when a size is first sent, outside of what is timed."""
    with tempfile.TemporaryDirectory(prefix="fidelity-") as folder:
        def carried_by(size=None):
            found = set()
            for file in sorted(pathlib.Path(folder).iterdir()):
                with open(file, encoding="utf-8", errors="replace") as log:
                    found |= transports_in(log.read(MOST_BYTES), size)
            return "+".join(sorted(found)) or UNKNOWN

        yield {"UCX_PROTO_INFO": "y", "UCX_LOG_FILE": f"{folder}/%h.%p"}, carried_by


def is_of(carried_by, transport):
    """Whether all of it is what was asked for; None where nobody knows."""
    found = set(re.split(r"\+| or ", carried_by or UNKNOWN))
    return None if UNKNOWN in found else found <= OF[transport]
