#!/usr/bin/env python3
"""Compares two ways to run a workload, in A B B A order: what the transfer log costs, what overlap
gains. Writes results/fidelity/<machine>-<name>.{json,md}. Exit status: 0 done, 2 usage, 3 a run gave
no number, 130 interrupted (written).

  paired.py transfer-log 'merge --rows 4M --transports shm' 'merge --rows 4M --transports shm --no-transfer-log'
"""

import argparse
import shlex
import signal
import statistics
import sys

import report
from intervals import describe, neighbours
from options import OUTPUT, UCX_BENCH
from tools import Failed, run_file
from turns import Comparison


class Way:
    """One launch per run; its value is the median over the launch's runs."""

    def __init__(self, program, arguments):
        self.command = [program, *shlex.split(arguments), "--launches", 1]

    def run(self):
        return run_file(*self.command)

    def measure(self, metric):
        case = self.run()["cases"][0]
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
    ratio, (a, b) = result["ratio"], zip(*result["pairs"])
    lines = [
        f"# {result['name']}",
        "",
        f"{result['finished_utc']}, {result['state']}: {result['metric']}: {in_words(ratio)}.",
        "",
        f"{report.machine_text(result['machine'])} UCX {result['ucx']['version']}, "
        f"{report.program_text(result['ucx_bench'])}.",
        "",
        f"- A: `ucx-bench {result['a']}`",
        f"- B: `ucx-bench {result['b']}`",
        "",
        "Each run is one launch; its value is the median over its runs. A B B A order; the interval is that of "
        "the median of the pairs' ratios, from order statistics; *B itself*: the same of B over its next run.",
        "",
    ]
    lines += report.table(
        (f"{result['metric']}, A:", "B:", "A / B:", "95 % interval", "B itself", "pairs:"),
        [[*(report.number(statistics.median(side)) for side in (a, b)), f"{ratio['median']:.3f}",
          report.interval_text(ratio), report.interval_text(describe(neighbours([b]))), str(ratio["pairs"])]],
    )
    return "\n".join([*lines, "", f"`{result['command']}`", ""])


def save(result, record, state, folder):
    report.finish(result, state)
    result |= {"pairs": record.pairs("a", "b"), "ratio": describe(record.ratios("a", "b"))}
    return report.save_as(f"-{result['name']}", result, markdown(result), folder)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0] + ".")
    parser.add_argument("name", help="of the record")
    parser.add_argument("a", help="arguments of ucx-bench")
    parser.add_argument("b", help="the same, the other way")
    parser.add_argument("--metric", default="wall_ms")
    parser.add_argument("--pairs", type=int, default=20, help="(default: 20)")
    parser.add_argument("--ucx-bench", **UCX_BENCH)
    parser.add_argument("--output", **OUTPUT)
    options = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ways = {"a": Way(options.ucx_bench, options.a), "b": Way(options.ucx_bench, options.b)}
    comparison = Comparison({options.metric: ways}, lambda _, of: len(of.pairs("a", "b")) >= options.pairs,
                            blocks_per_visit=1)
    record = comparison.records[options.metric]
    result = None
    try:
        result = report.provenance(ways["b"].run(), "bench/fidelity/paired.py", argv)
        result |= {"name": options.name, "metric": options.metric, "a": options.a, "b": options.b}
        for _ in comparison.run():
            if record.reasons:
                raise Failed(next(iter(record.reasons.values())))
            ratios = record.ratios("a", "b")
            print(f"{len(ratios)} pairs, ratio {statistics.median(ratios):.3f}", file=sys.stderr)
        print(save(result, record, "complete", options.output))
    except Failed as error:
        print(f"paired: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        if record.pairs("a", "b"):
            print(save(result, record, "interrupted", options.output))
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
