"""What the page's script draws from: every line's values, and samples of the last runs."""

import json
import os
import urllib.parse

import literal
from dashboards.record import rounded
from plots.common import unit_text

MOST_BYTES = 9_000_000  # of a page of 10 MB, the rest being text and pictures


def away(value, end):
    """How far an end of the interval is from the median, in 1/100 %."""
    return None if end is None else round(abs(end / value - 1) * 10_000)


def link_to(path, page):
    """From the page: never another scheme than the page's, whatever the folder is called."""
    way = os.path.relpath(path, os.path.dirname(os.path.abspath(page)))
    return "./" + urllib.parse.quote(os.fsencode(way.replace(os.sep, "/")))


def runs_of(stream, page):
    return [[run.started, run.id, (run.commit or "?")[:10] + ("+" if run.dirty else ""), run.state, run.reason,
             link_to(run.path, page)] for run in stream.runs]


def environments_of(stream):
    """The first one in words, and wherever something differs [run, what, whether a segment begins, all in words]."""

    marks = [[i, "; ".join(new.place["differs"]), old.segment != new.segment, new.place["environment"]]
             for i, (old, new) in enumerate(zip(stream.runs, stream.runs[1:]), 1) if new.place["differs"]]
    return stream.runs[0].place["environment"], marks


def line_of(line, stream_number, intervals_from):
    """Values; ends of intervals only from that run on, where the page would be too large."""
    values = line.values
    ends = [(i, value) for i, value in enumerate(values) if value and i >= intervals_from]
    return {
        "s": stream_number, "u": unit_text(line.unit), "b": line.better,
        "v": [value and rounded(value[0], 5) for value in values], "f": intervals_from,
        "l": [away(value[0], value[1]) for _, value in ends], "h": [away(value[0], value[2]) for _, value in ends],
        "n": line.notes,
        "c": [
            [found.index, rounded(found.before, 5), rounded(found.after, 5), found.provisional]
            for found in line.changes],
    }


def text_of(data):
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return literal.for_json_text(text).replace("<", "\\u003c")


def data_of(streams, lines, samples, comparisons, page):
    """As text, and for how many runs at most the intervals are there (None for all)."""
    numbers = {id(stream): i for i, stream in enumerate(streams)}
    told = []
    for stream, comparison in zip(streams, comparisons):
        first, marks = environments_of(stream)
        base = stream.runs.index(comparison.base) if comparison.base in stream.runs else None
        told.append({"runs": runs_of(stream, page), "first": first, "marks": marks, "base": base})
    raw = {str(i): samples[id(line)] for i, line in enumerate(lines) if samples.get(id(line))}
    kept = max((len(stream.runs) for stream in streams), default=0)
    all_kept = kept
    while True:
        found = [line_of(line, numbers[id(line.stream)], max(0, len(line.values) - kept)) for line in lines]
        text = text_of({"streams": told, "lines": found, "samples": raw})
        if len(text.encode()) <= MOST_BYTES or kept == 0:
            return text, None if kept == all_kept else kept
        kept //= 2
