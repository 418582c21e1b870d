#!/usr/bin/env python3
"""Compares two ways to run a workload, in A B B A order: what the transfer log costs, what overlap
gains. Writes results/fidelity/<machine>-<name>.{json,md}. Exit status: 0 done, 2 usage, 3 a run gave
no number, 130 interrupted (written).

  paired.py transfer-log 'merge --rows 4M --transports shm' 'merge --rows 4M --transports shm --no-transfer-log'
"""

import argparse
import os
import pathlib
import shlex
import signal
import statistics
import sys

import report
from fidelity import ROOT, program, provenance, utc_now
from intervals import describe, order_statistics_interval
from tools import Failed, run_file


def launch_of(way):
    return [*shlex.split(way), "--launches", 1]


def value_of(run, metric):
    case = run["cases"][0]
    if case["state"] != "measured" or metric not in case["metrics"]:
        raise Failed(f"{case['key']}: no {metric}: {case['state']} {case['reason']}")
    return case["metrics"][metric]["p50"]


def in_words(ratio):
    """What the interval of A / B allows to say."""
    if ratio["ci95"] is None:
        return "too few pairs to say"
    low, high = ratio["ci95"]
    if low <= 1 <= high:
        return f"no difference is seen; with 95 % confidence none is larger than {max(1 - low, high - 1):.1%}"
    return f"A / B is {ratio['median']:.3f}, with 95 % confidence {low:.3f} to {high:.3f}"


def markdown(result):
    ours, ratio = result["ucx_bench"], result["ratio"]
    interval = "–" if ratio["ci95"] is None else "{:.3f}–{:.3f}".format(*ratio["ci95"])
    itself = order_statistics_interval([b / a for (_, a), (_, b) in zip(result["pairs"], result["pairs"][1:])])
    lines = [
        f"# {result['name']}",
        "",
        f"{result['finished_utc']}, {result['state']}: {result['metric']}: {in_words(ratio)}.",
        "",
        f"{report.machine_text(result['machine'])} UCX {result['ucx']['version']}, ucx-bench "
        f"{ours['commit'][:10]}{' (with changes)' if ours['dirty'] else ''}, {ours['flags']}.",
        "",
        f"- A: `ucx-bench {result['a']}`",
        f"- B: `ucx-bench {result['b']}`",
        "",
        "Each run is one launch; its value is the median over its runs. A B B A order; the interval is that of "
        "the median of the pairs' ratios, from order statistics; *B itself*: the same of B over its next run.",
        "",
        f"| {result['metric']}, A | B | A / B | 95 % interval | B itself | pairs |",
        "|--:|--:|--:|---|---|--:|",
        "| "
        + " | ".join([
            *(report.number(statistics.median(side)) for side in zip(*result["pairs"])),
            f"{ratio['median']:.3f}",
            interval,
            "–" if itself is None else "{:.3f}–{:.3f}".format(*itself),
            str(ratio["pairs"]),
        ])
        + " |",
        "",
        f"`{result['command']}`",
        "",
    ]
    return "\n".join(lines)


def save(result, pairs, state, folder):
    result |= {
        "finished_utc": utc_now(),
        "state": state,
        "pairs": pairs,
        "ratio": describe([a / b for a, b in pairs]),
    }
    result["machine"]["load_1min_after"] = os.getloadavg()[0]
    return report.save_as(f"-{result['name']}", result, markdown(result), folder)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0] + ".")
    parser.add_argument("name", help="of the record")
    parser.add_argument("a", help="arguments of ucx-bench")
    parser.add_argument("b", help="the same, the other way")
    parser.add_argument("--metric", default="wall_ms")
    parser.add_argument("--pairs", type=int, default=20, help="(default: 20)")
    parser.add_argument("--ucx-bench", type=program, default=str(ROOT / "build/release/bin/ucx-bench"))
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "results/fidelity", metavar="FOLDER")
    options = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    result, pairs = None, []
    try:
        first = run_file(options.ucx_bench, launch_of(options.b))
        result = provenance(first, "paired.py", argv)
        del result["settings"]
        result |= {"name": options.name, "metric": options.metric, "a": options.a, "b": options.b}
        while len(pairs) < options.pairs:
            values = [value_of(run_file(options.ucx_bench, launch_of(way)), options.metric)
                      for way in (options.a, options.b, options.b, options.a)]
            pairs += [(values[0], values[1]), (values[3], values[2])]
            print(f"{len(pairs)} pairs, ratio {statistics.median(a / b for a, b in pairs):.3f}", file=sys.stderr)
        print(save(result, pairs, "complete", options.output))
    except Failed as error:
        print(f"paired: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        if pairs:
            print(save(result, pairs, "interrupted", options.output))
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
