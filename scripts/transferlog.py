"""Reads the transfer log that lies beside a run file; harness/result/transfers.hpp describes it."""

import dataclasses
import pathlib
import struct

MAGIC = b"UCXTRF01"
SECTION = struct.Struct("<4I")  # case, launch, rank, records
RECORD = [
    ("posted_ns", "<u8"), ("completed_ns", "<u8"), ("bytes", "<u8"), ("label", "<u8"), ("rank", "<u2"),
    ("peer", "<u2"), ("in_flight", "<u2"), ("kind", "u1"), ("at_once", "u1"), ("iteration", "<u4"), ("unused", "<u4"),
]
RECORD_BYTES = 48
PHASE = 2
MOST_BYTES = 1 << 28  # of one launch; longer logs are for a trace viewer


class NoLog(Exception):
    """Why there is no timeline, in one line."""


@dataclasses.dataclass(frozen=True)
class Rank:
    """One rank in one run. Intervals are arrays (begins, ends), in ms after the begin of the run."""

    phases: dict  # name: (begins, ends)
    transfers: tuple  # the times when at least one message was under way


@dataclasses.dataclass(frozen=True)
class Timeline:
    """The run of median length, of the launch of median length."""

    ranks: dict  # number: Rank
    end_ms: float  # when the last rank ended, after the first one's begin
    uncertainty_us: float = 0  # of the difference between two hosts' clocks; None: unknown
    kinds: dict = dataclasses.field(default_factory=dict)  # of phases: name: "computing", "waiting", …


def file_of(run, folder):
    """The log's path; None for a run without one."""
    name = run["run"].get("transfers")
    # The log is beside its run file. A path in the name is not followed.
    return pathlib.Path(folder) / pathlib.Path(name).name if name else None


def sections_of(file):
    """[(case, launch, rank, number of records, offset of the first one in bytes)]"""
    try:
        size, sections = file.stat().st_size, []
        with file.open("rb") as log:
            if log.read(len(MAGIC)) != MAGIC:
                raise NoLog(f"'{file.name}' is not a transfer log of ucx-bench")
            while (at := log.tell()) < size:
                head = log.read(SECTION.size)
                end = at + SECTION.size
                if len(head) == SECTION.size:
                    end += SECTION.unpack(head)[3] * RECORD_BYTES
                if len(head) < SECTION.size or end > size:
                    raise NoLog(f"the transfer log '{file.name}' is cut off at byte {size}")
                sections.append((*SECTION.unpack(head), at + SECTION.size))
                log.seek(end)
            return sections
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise NoLog(f"{file.name} is missing" if missing else f"cannot read {file.name} ({error.strerror})")


def median_launch(case):
    medians = case["metrics"]["wall_ms"]["launch_medians"]
    known = sorted((value, entry["launch"]) for value, entry in zip(medians, case["launches"]) if value is not None)
    return known[(len(known) - 1) // 2][1] if known else None


def union_of(begins, ends):
    """The union of intervals that may overlap."""
    import numpy

    order = numpy.argsort(begins, kind="stable")
    begins, ends = begins[order], numpy.maximum.accumulate(ends[order])
    first = numpy.ones(len(begins), bool)
    first[1:] = begins[1:] > ends[:-1]
    last = numpy.append(first[1:], True)[: len(begins)]
    return begins[first], ends[last]


def rank_of(records, names, zero_ns):
    import numpy

    def intervals(chosen):
        known = chosen[chosen["completed_ns"] > chosen["posted_ns"]]
        # Signed, because an interval may begin before zero_ns.
        return tuple((known[name].astype(numpy.int64) - zero_ns) * 1e-6 for name in ("posted_ns", "completed_ns"))

    of_phases = records[records["kind"] == PHASE]
    phases = {}
    for label in numpy.unique(of_phases["label"]):
        name = names[label] if label < len(names) else f"phase {label}"
        phases[name] = intervals(of_phases[of_phases["label"] == label])
    return Rank(phases=phases, transfers=union_of(*intervals(records[records["kind"] != PHASE])))


def zeros_of(run, index, launch, firsts):
    """When the first rank began, by the clock of each host, and the uncertainty of that in µs. `firsts`: when the first
    rank of each host began, by that host's clock. If the offset of a clock is unknown, these are taken as one time, since
    all ranks leave a barrier when a run begins; then the uncertainty is None."""
    offsets, uncertainty_ns = {run["machine"]["hosts"][0]["name"]: 0}, 0
    for clock in run["run"].get("clocks", []):
        if clock["launch"] != launch or index not in clock["cases"] or clock["host"] not in firsts:
            continue
        seen = [each for each in (clock["begin"], clock["end"]) if each]
        begin, end = seen[0], seen[-1]
        lasted_ns = end["at_ns"] - begin["at_ns"]
        after_ns = firsts[clock["host"]] - begin["offset_ns"] - begin["at_ns"]
        drift = (end["offset_ns"] - begin["offset_ns"]) / lasted_ns if lasted_ns > 0 else 0
        offsets[clock["host"]] = begin["offset_ns"] + round(drift * after_ns)
        uncertainty_ns = max(uncertainty_ns, begin["uncertainty_ns"], end["uncertainty_ns"])
    if len(firsts) < 2:
        return firsts, 0
    if not firsts.keys() <= offsets.keys():
        return firsts, None
    zero = min(first - offsets[host] for host, first in firsts.items())
    return {host: zero + offsets[host] for host in firsts}, uncertainty_ns * 1e-3


def longest_of(spans, hosts):
    """By rank its begin and end, by its host's clock: the longest time from the first begin on a host to the last end there."""
    of_hosts = {}
    for rank, (begin, end) in spans.items():
        first, last = of_hosts.get(hosts.get(rank), (begin, end))
        of_hosts[hosts.get(rank)] = min(first, begin), max(last, end)
    return max(last - first for first, last in of_hosts.values())


def timeline_of(run, index, file, sections):
    """The timeline of case `index`. Throws NoLog if the log has none."""
    import numpy

    case, launch = run["cases"][index], median_launch(run["cases"][index])
    chosen = [section for section in sections if section[:2] == (index, launch)]
    if not chosen:
        raise NoLog(f"the transfer log has nothing of {case['key']}")
    if sum(section[3] for section in chosen) * RECORD_BYTES > MOST_BYTES:
        raise NoLog(f"the transfer log of {case['key']} is too long for a page: see report --trace FILE")
    whole = numpy.memmap(file, numpy.uint8, "r")
    logs = {}
    for _, _, rank, records, at in chosen:
        logs[rank] = numpy.frombuffer(whole, RECORD, records, at)
    hosts = dict(enumerate(case.get("hosts", []))) or {entry["rank"]: entry["host"] for entry in run["ranks"]}
    begins, spans = {}, {}
    for rank, records in logs.items():
        phases = records[records["kind"] == PHASE]
        for number in numpy.unique(phases["iteration"]):
            own = phases[phases["iteration"] == number]
            begin, end = int(own["posted_ns"].min()), int(own["completed_ns"].max())
            begins[rank, number] = begin
            spans.setdefault(int(number), {})[rank] = (begin, end)
    # A log that was full has not the last runs of all ranks.
    whole_runs = sorted((longest_of(of, hosts), number) for number, of in spans.items() if len(of) == len(logs))
    if not whole_runs:
        raise NoLog(f"the transfer log has no complete run of {case['key']}")
    _, number = whole_runs[(len(whole_runs) - 1) // 2]
    firsts = {}  # when the first rank of each host began, by that host's clock
    for rank in logs:
        host = hosts.get(rank)
        firsts[host] = min(firsts.get(host, begins[rank, number]), begins[rank, number])
    zeros, uncertainty_us = zeros_of(run, index, launch, firsts)
    kinds = {phase["name"]: phase["kind"] for phase in case["phases"]}
    ranks = {rank: rank_of(records[records["iteration"] == number], list(kinds), zeros[hosts.get(rank)])
             for rank, records in sorted(logs.items())}
    end_ms = max(float(ends.max()) for rank in ranks.values() for _, ends in rank.phases.values() if len(ends))
    return Timeline(ranks=ranks, end_ms=end_ms, uncertainty_us=uncertainty_us, kinds=kinds)
