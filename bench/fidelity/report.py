"""The record of a comparison: JSON with every pair, and a Markdown table."""

import json
import os
import pathlib
import statistics
import tempfile

from intervals import AGREEMENT, WIDEST, describe, neighbours, verdict

UNITS = {"latency": "µs", "bandwidth": "GB/s"}


def cell_record(cell, record):
    ours, theirs = zip(*record.pairs()) if record.pairs() else ((), ())
    return {
        "key": cell.key,
        "unit": UNITS[cell.metric],
        "verdict": verdict(cell.metric, record.ratios()),
        "ratio": describe(record.ratios()),
        "reference_against_itself": describe(neighbours(record.visits)),
        "ours": statistics.median(ours) if ours else None,
        "theirs": statistics.median(theirs) if theirs else None,
        "visits": [{"pairs_ours_theirs": visit} for visit in record.visits if visit],
        "failure": record.failure,
    }


def interval_text(described):
    if described["ci95"] is None:
        return "–"
    low, high = described["ci95"]
    return f"{low:.3f}–{high:.3f}"


def number(value):
    return "–" if value is None else f"{value:#.4g}".rstrip(".")


def row(cell):
    ratio = cell["ratio"]
    median = "–" if ratio["median"] is None else f"{ratio['median']:.3f}"
    words = cell["verdict"] + (f" ({cell['failure']})" if cell["failure"] else "")
    texts = [cell["key"], number(cell["ours"]), number(cell["theirs"]), cell["unit"], median]
    texts += [interval_text(ratio), interval_text(cell["reference_against_itself"])]
    texts += [str(ratio["pairs"]), words.replace("|", "/")]
    return f"| {' | '.join(texts)} |"


def line(cell, record):
    """Progress, for the terminal."""
    return row(cell_record(cell, record)).strip("| ").replace(" | ", "  ")


def machine_text(machine):
    return (
        f"Machine {machine['id']}: {machine['cpu_model']}, {machine['cores']} cores, Linux "
        f"{machine['kernel']}, load {machine['load_1min_before']:.2f} before and "
        f"{machine['load_1min_after']:.2f} after."
    )


def markdown(result):
    ucx, ours, machine = result["ucx"], result["ucx_bench"], result["machine"]
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
        f"{machine_text(machine)} UCX {ucx['version']}, both tools on `{ucx['library']}`. TCP congestion control {machine['tcp_congestion_control']}. ucx-bench {ours['commit'][:10]}"
        f"{' (with changes)' if ours['dirty'] else ''}, {ours['flags']}.",
        "",
        "The ratio is ours / theirs: one-way latency p50, or the sender's bandwidth with the flush "
        "inside. Its 95 % interval is that of the median of paired runs in A B B A order, from order "
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
            "written once before it starts (bench/fidelity/touch_buffers.cpp)."
            if result["ucx_perftest"]["buffers_written_once"]
            else "left unwritten."
        ),
        "",
        "| cell | ours | theirs | unit | ratio | 95 % interval | self | pairs | verdict |",
        "|---|--:|--:|---|--:|---|---|--:|---|",
    ]
    lines += map(row, cells)
    return "\n".join([*lines, "", f"`{result['command']}`", ""])


def write(path, text):
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, suffix=".part") as part:
        part.write(text)
    os.chmod(part.name, 0o644)
    os.replace(part.name, path)


def save_as(stem, result, text, folder):
    """Writes both files, named after machine and UCX; returns the Markdown one's path."""
    stem = f"{result['machine']['id']}-ucx-{result['ucx']['version']}{stem}"
    folder = pathlib.Path(folder)
    write(folder / f"{stem}.json", json.dumps(result, indent=1, allow_nan=False) + "\n")
    write(folder / f"{stem}.md", text)
    return folder / f"{stem}.md"


def save(result, folder):
    instead = result.get("instead_of_ucx_bench")
    return save_as("-" + instead.replace("+", "-") if instead else "", result, markdown(result), folder)
