"""The record of a comparison: JSON with every pair, and a Markdown table."""

import datetime
import json
import os
import pathlib
import re
import shlex
import statistics
import sys

from intervals import AGREEMENT, WIDEST, describe, neighbours, verdict
from options import ROOT

sys.path.append(str(ROOT / "scripts"))
from commandline import write_text

UNITS = {"latency": "µs", "bandwidth": "GB/s", "rate": "1/s"}
CONGESTION_CONTROL = pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control")


def in_tree(text):
    """Paths from the top of the source tree on, as on any machine."""
    return re.sub(rf"(?<![^\s'\"=:,]){re.escape(str(ROOT))}/", "", text)


def utc_now():
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def provenance(run, script, argv, load_before=None):
    """What the run file of ours says about the machine, the UCX and itself."""
    host = run["machine"]["hosts"][0]
    return {
        "schema": "ucx-bench/fidelity/1",
        "command": in_tree(shlex.join([script, *argv])),
        "started_utc": utc_now(),
        "machine": {
            "id": run["machine"]["id"],
            "cpu_model": host["cpu_model"],
            "cores": host["cores"],
            "kernel": host["kernel"],
            "tcp_congestion_control": CONGESTION_CONTROL.read_text().strip(),
            "transparent_huge_pages": host.get("transparent_huge_pages"),
            "labels": run["machine"]["labels"],
            "load_1min_before": os.getloadavg()[0] if load_before is None else load_before,
        },
        "ucx": {"version": run["ucx"]["version"], "library": in_tree(os.path.realpath(run["ucx"]["library"]))},
        "ucx_bench": {key: run["build"][key] for key in ("version", "commit", "dirty", "compiler", "flags")},
    }


def finish(result, state):
    result |= {"finished_utc": utc_now(), "state": state}
    result["machine"]["load_1min_after"] = os.getloadavg()[0]


def median(values):
    return statistics.median(values) if values else None


def cell_record(cell, record):
    pairs, ratios = record.pairs("ours", "theirs"), record.ratios("ours", "theirs")
    return {
        "key": cell.key,
        "unit": UNITS[cell.metric],
        "verdict": verdict(cell.metric, ratios),
        "ratio": describe(ratios),
        "reference_against_itself": describe(neighbours(
            [[of["theirs"] for of in visit if "theirs" in of] for visit in record.visits])),
        "ours": median([ours for ours, _ in pairs]),
        "theirs": median([theirs for _, theirs in pairs]),
        "visits": [{"pairs_ours_theirs": [[of["ours"], of["theirs"]] for of in visit if len(of) == 2]}
                   for visit in record.visits if visit],
        "failure": next(iter(record.reasons.values()), None),
    }


def interval_text(described, digits=3):
    if described["ci95"] is None:
        return "–"
    low, high = described["ci95"]
    return f"{low:.{digits}f}–{high:.{digits}f}"


def number(value):
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 1e4 else f"{value:#.4g}".rstrip(".")


def row(cell):
    ratio = cell["ratio"]
    return [
        cell["key"], number(cell["ours"]), number(cell["theirs"]), cell["unit"],
        "–" if ratio["median"] is None else f"{ratio['median']:.3f}",
        interval_text(ratio), interval_text(cell["reference_against_itself"]), str(ratio["pairs"]),
        cell["verdict"] + (f" ({cell['failure']})" if cell["failure"] else ""),
    ]


def line(cell, record):
    """Progress, for the terminal."""
    return "  ".join(row(cell_record(cell, record)))


def machine_text(machine):
    return (
        f"Machine {machine['id']}: {machine['cpu_model']}, {machine['cores']} cores, Linux "
        f"{machine['kernel']}, load {machine['load_1min_before']:.2f} before and "
        f"{machine['load_1min_after']:.2f} after."
    )


def program_text(ours):
    changes = " (with changes)" if ours["dirty"] else ""
    return f"ucx-bench {ours['commit'][:10]}{changes}, {ours['flags']}"


def table(head, rows):
    """Markdown; a column whose head ends with a colon is of numbers."""
    rule = ["--:" if name.endswith(":") else "---" for name in head]
    lines = [f"| {' | '.join(name.removesuffix(':') for name in head)} |", f"|{'|'.join(rule)}|"]
    return lines + [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]


CELL_HEAD = ("cell", "{}:", "{}:", "unit", "ratio:", "95 % interval", "self", "pairs:", "verdict")


def cell_table(cells, one="ours", other="theirs"):
    head = [name.format(by) for name, by in zip(CELL_HEAD, ("", one, other, *[""] * 6))]
    return table(head, map(row, cells))


def markdown(result):
    ucx, machine = result["ucx"], result["machine"]
    cells = result["cells"]
    counts = {}
    for cell in cells:
        counts[cell["verdict"]] = counts.get(cell["verdict"], 0) + 1
    what = result.get("instead_of_ucx_bench")
    lines = [
        f"# {f'{what} loop (bench/fidelity/plain_loop.cpp)' if what else 'ucx-bench'} against ucx_perftest",
        "",
        f"{result['finished_utc']}, {result['state']}: "
        + ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        + f" of {len(cells)} cells.",
        "",
        f"{machine_text(machine)} UCX {ucx['version']}, both tools on `{ucx['library']}`. TCP congestion control {machine['tcp_congestion_control']}. "
        f"{program_text(result['ucx_bench'])}.",
        "",
        "The ratio is ours / theirs: one-way latency p50, of get and atomic operations that of the whole "
        "time, or the bandwidth, or rate, of who posts, with the flush inside. Its 95 % interval is that of the median of paired runs in A B B A order, from order "
        "statistics. *agrees*: the interval is inside "
        + ", ".join(f"1 ± {bound:g} ({metric})" for metric, bound in AGREEMENT.items())
        + f"; *inconclusive*: its half-width is {WIDEST:.0%} or more; *self*: the same interval of "
        "ucx_perftest over its own next run.",
        "",
        "Both tools run with the same environment: "
        + "; ".join(
            f"{name}: `{' '.join(f'{key}={value}' for key, value in settings.items())}`"
            for name, settings in result["settings"].items()
        )
        + ". ucx_perftest's buffers are "
        + (
            "written once before it starts"
            + (", and it makes progress all the time in its barrier" if result["ucx_perftest"].get("progress_in_barrier") else "")
            + " (bench/fidelity/perftest_shim.cpp)."
            if result["ucx_perftest"]["buffers_written_once"]
            else "left unwritten."
        ),
        "",
    ]
    lines += cell_table(cells)
    return "\n".join([*lines, "", f"`{result['command']}`", ""])


def json_text(result):
    return json.dumps(result, indent=1, allow_nan=False) + "\n"


def save_as(stem, result, text, folder):
    """Writes both files, named after machine and UCX; returns the Markdown one's path."""
    stem = f"{result['machine']['id']}-ucx-{result['ucx']['version']}{stem}"
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / f"{stem}.json", json_text(result))
    write_text(folder / f"{stem}.md", text)
    return folder / f"{stem}.md"


def save(result, folder):
    words = [result.get("instead_of_ucx_bench"), result.get("part")]
    stem = "".join("-" + word.replace("+", "-") for word in words if word)
    return save_as(stem, result, markdown(result), folder)
