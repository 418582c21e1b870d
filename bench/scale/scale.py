#!/usr/bin/env python3
"""Measures how long a launch of p2p takes with growing numbers of ranks, and draws it: until the ranks are
started, have met, have exchanged 8 B in disjoint pairs, and have ended. Writes results/scale/<machine>.{json,svg}.
Exit status: 0 all numbers of ranks measured, 2 usage, 3 no matplotlib, 5 a number failed (recorded)."""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANKS = [2, 8, 16, 32, 64, 128, 256, 512]
PARTS = {"start_s": "start", "meet_s": "meet", "measure_s": "exchange", "end_s": "end"}
COLORS = ["#8da0cb", "#66c2a5", "#fc8d62", "#b3b3b3"]


def measured(options, transports, ranks, folder):
    """One launch: its times, or why there are none; and the run."""
    file = folder / "run.json"
    file.unlink(missing_ok=True)
    command = [options.ucx_bench, "--quiet", "p2p", "-n", str(ranks), "--transports", transports, "--sizes", "8",
               "--iterations", "8", "--concurrent", "disjoint", "--launches", "1", "--runs", "1",
               "--bind", "none", "--timeout", f"{options.limit}s", "--json", str(file)]
    begin = time.monotonic()
    # Its own process group: a program that does not end in time leaves no ranks.
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        said = started.communicate(timeout=options.limit)[1]
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGINT)
        started.communicate(timeout=60)
        return {"failed": f"not over after {options.limit} s"}, None
    wall_s = time.monotonic() - begin
    if started.returncode != 0:
        return {"failed": said.strip().splitlines()[-1] if said.strip() else f"status {started.returncode}"}, None
    run = json.loads(file.read_text(encoding="utf-8"))
    times = {name: run["run"]["launch_times"][0][name] for name in PARTS}
    return {**times, "wall_s": round(wall_s, 3), "file_bytes": file.stat().st_size}, run


def measure(options):
    record = {"command": "bench/scale/scale.py", "cpus": sorted(os.sched_getaffinity(0)), "limit_s": options.limit,
              "points": []}
    with tempfile.TemporaryDirectory() as folder:
        for transports in ("tcp", "shm"):
            for ranks in options.ranks:
                point, run = measured(options, transports, ranks, pathlib.Path(folder))
                record["points"].append({"transports": transports, "ranks": ranks, **point})
                print(json.dumps(record["points"][-1]), file=sys.stderr)
                if run:
                    host = run["machine"]["hosts"][0]
                    record |= {"machine": run["machine"]["id"], "cpu_model": host["cpu_model"], "build": run["build"],
                               "labels": run["machine"]["labels"], "ucx": run["ucx"]["version"],
                               "finished_utc": run["run"]["finished_utc"]}
    return record


def draw(record, output):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "scale"
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
    for panel, transports in zip(panels, ("tcp", "shm")):
        points = [point for point in record["points"] if point["transports"] == transports and "wall_s" in point]
        ranks = [point["ranks"] for point in points]
        for (name, part), color in zip(PARTS.items(), COLORS):
            panel.plot(ranks, [point[name] or float("nan") for point in points], "o-", label=part, color=color)
        panel.plot(ranks, [point["wall_s"] for point in points], "s-", label="the whole command", color="black")
        panel.set(xscale="log", yscale="log", title=transports, xlabel="ranks", xticks=ranks, xticklabels=ranks)
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("seconds; lower is better")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(PARTS) + 1)
    figure.suptitle(f"One launch of p2p, 8 B, disjoint pairs, on {len(record['cpus'])} CPUs of {record['machine']}, "
                    f"UCX {record['ucx']}, commit {record['build']['commit'][:12]}", fontsize=10)
    figure.savefig(output, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0] + ".")
    parser.add_argument("--ucx-bench", default=str(ROOT / "build/release/bin/ucx-bench"))
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS)
    parser.add_argument("--limit", type=int, default=300, metavar="SECONDS", help="of one command (default: 300)")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "results/scale", metavar="FOLDER")
    parser.add_argument("--drawn-from", type=pathlib.Path, metavar="FILE.json", help="draw a record; measure nothing")
    options = parser.parse_args()
    record = json.loads(options.drawn_from.read_text()) if options.drawn_from else measure(options)
    if "machine" not in record:
        parser.exit(5, "scale.py: no number of ranks could be measured\n")
    options.output.mkdir(parents=True, exist_ok=True)
    file = options.output / f"{record['machine']}.json"
    if not options.drawn_from:
        points = ",\n".join("  " + json.dumps(point) for point in record.pop("points"))
        file.write_text(json.dumps(record, indent=1)[:-2] + f',\n "points": [\n{points}\n ]\n}}\n')
        record = json.loads(file.read_text())
    try:
        draw(record, file.with_suffix(".svg"))
    except ImportError as error:
        parser.exit(3, f"scale.py: cannot draw: {error}; run ./scripts/setup/python\n")
    return 5 if any("failed" in point for point in record["points"]) else 0


if __name__ == "__main__":
    sys.exit(main())
