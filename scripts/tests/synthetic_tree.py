#!/usr/bin/env python3
"""Makes a folder of invented runs, each of them labelled synthetic, for tests and to time a dashboard.

Every case has noise of its own. Planted: a new UCX after 40 % of the runs, a loss of 10 % in shm from 64 KiB on
after 70 % of them, a spike, a failed run, and a case that one run skipped.
"""

import argparse
import datetime
import hashlib
import json
import pathlib
import random

SCHEMA = "ucx-bench/run/1"
MACHINE = "synthetic-1"
BEGIN = datetime.datetime(2025, 1, 1, tzinfo=datetime.timezone.utc)
SHIFTED = 65536  # bytes from which on shm loses
LOSS = 1.10


def size_name(size):
    return next((f"{size >> bits}{unit}" for bits, unit in ((20, "MiB"), (10, "KiB")) if size >> bits), f"{size}B")


def quantiles(values):
    ordered = sorted(values)
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return {"count": len(values), "min": ordered[0], "p50": middle, "p90": None, "p99": None, "p999": None,
            "max": ordered[-1], "samples_seen": len(values)}


def metric(medians, better):
    of = quantiles(medians)
    ordered = sorted(medians)
    away = 1 if len(ordered) >= 9 else 0
    interval = [ordered[away], ordered[-1 - away]] if len(ordered) >= 6 else None
    return {**of, "ci95": interval, "better": better, "launch_medians": medians}


def launch(number, values, samples, chance):
    of = {name: [round(value * (1 + chance.gauss(0, 0.01)), 6) for _ in range(samples)]
          for name, value in values.items()}
    return {"launch": number, "src": 0, "dst": 1, "iterations": 100, "messages": 100, "warmup": 10,
            "cold": {"context_us": None, "connect_us": None, "first_message_us": None},
            "quantiles": {name: quantiles(kept or [values[name]]) for name, kept in of.items()}, "samples": of,
            "overheads": {}, "lanes": []}


def case_of(api, transport, size, factor, launches, samples, chance):
    latency = (1.0 if transport == "shm" else 12.0) + size / (8000 if transport == "shm" else 3000)
    rows = []
    for _ in range(launches):
        time = latency * factor * (1 + chance.gauss(0, 0.008))
        rows.append({"latency_us": round(time, 6), "bandwidth_GBps": round(size / time / 1000, 9)})
    protocol = "eager" if size < 8192 else "rendezvous, read by the receiver"
    protocols = [{"range": size_name(size), "use": use, "protocol": protocol, "device": "", "count": 1}
                 for use in ("latency", "bandwidth")]
    name, metrics = f"{api} over {transport}", (("latency_us", "us", "lower"), ("bandwidth_GBps", "GB/s", "higher"))
    return {
        "key": f"pingpong/{api}/host-host/{transport}/{size_name(size)}", "benchmark": "pingpong",
        "parameters": {"api": api, "bytes": size, "memory": ["host", "host"], "transports": [transport], "ranks": 2},
        "shows": {"kind": "curve", "title": name, "block": name, "at_once": "all", "ranks": 2,
                  "axes": [{"name": "bytes", "label": "size", "value": size, "text": size_name(size), "unit": "B"}],
                  "metrics": [{"name": metric, "title": metric.partition("_")[0], "about": metric, "unit": unit,
                               "better": better, "judged": True, "shown": "drawn"} for metric, unit, better in metrics]},
        "state": "measured", "reason": "",
        "metrics": {"latency_us": metric([row["latency_us"] for row in rows], "lower"),
                    "bandwidth_GBps": metric([row["bandwidth_GBps"] for row in rows], "higher")},
        "launches": [launch(i, row, samples, chance) for i, row in enumerate(rows)],
        "path": {"asked": [transport], "lanes": [], "verdict": "as-asked", "protocols": protocols,
                 "carried_by": {transport: 1.0}, "why": "", "labels": []},
        "pairs": [], "verified": {"checked": 1, "errors": 0}, "peak_buffer_bytes": 0, "labels": [],
    }


def cases_of(series, factor_of, launches, samples, chance):
    """Two series each."""
    count = max(1, min(25, series // 8))
    sizes = [8 << i * 24 // max(1, count - 1) for i in range(count)]
    grid = [(api, transport, size) for size in sizes for api in ("tag", "stream") for transport in ("shm", "tcp")]
    return [case_of(*of, factor_of(*of), launches, samples, chance) for of in grid[: max(1, series // 2)]]


def run_of(number, runs, series, launches, samples, seed):
    chance = random.Random(f"{seed} {number}")
    begin = BEGIN + datetime.timedelta(hours=6 * number)
    shifted, spiked = number >= runs * 0.7, number == runs // 4

    def factor_of(api, transport, size):
        return (LOSS if shifted and transport == "shm" and size >= SHIFTED else 1) * (1.5 if spiked else 1)

    def stamp(time):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ")

    run = {
        "schema": SCHEMA,
        "run": {"id": f"{stamp(begin)}-{number:08x}", "started_utc": stamp(begin), "state": "complete", "reason": "",
                "finished_utc": stamp(begin + datetime.timedelta(minutes=5)), "tags": {"branch": "main"},
                "command": ["./ucx-bench", "suite", "ci/suite.toml", "--json", "run.json"]},
        "build": {"version": "0.1.0", "commit": hashlib.sha1(str(number).encode()).hexdigest(), "dirty": False,
                  "compiler": "none", "flags": ""},
        "machine": {"id": MACHINE, "labels": ["synthetic"], "topology_hash": "0123456789abcdef",
                    "hosts": [{"name": "invented", "kernel": "6.1.0", "cpu_model": None, "cores": 2,
                               "numa_nodes": 1, "gpus": [], "nics": []}]},
        "ucx": {"version": "1.17.0" if number < runs * 0.4 else "1.18.0", "library": None,
                "environment": {"asked": {}, "inherited": {}, "effective": {}}},
        "ranks": [{"rank": rank, "host": "invented", "pid": None, "cpus": None, "numa_node": 0, "device": None,
                   "net_devices": None} for rank in range(2)],
        "cases": cases_of(series, factor_of, launches, samples, chance), "findings": [], "topology": {},
    }
    if number == runs // 2:
        run["run"] |= {"state": "failed", "reason": "a rank was lost"}
        del run["cases"][len(run["cases"]) // 2 :]
    if number == runs // 3:
        run["cases"][0] |= {"state": "skipped", "reason": "no time", "metrics": {}, "launches": []}
    return run


def write_tree(folder, runs, series, launches=10, samples=4, seed=1, first=0):
    """Runs `first` to `runs`; returns their files."""
    files = []
    for number in range(first, runs):
        run = run_of(number, runs, series, launches, samples, seed)
        file = pathlib.Path(folder, MACHINE, run["run"]["started_utc"][:7], f"{number:05}.json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(run, separators=(",", ":")))
        files.append(file)
    return files


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A folder of invented runs, labelled synthetic.")
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--series", type=int, default=200)
    arguments = parser.parse_args()
    print(len(write_tree(arguments.folder, arguments.runs, arguments.series)), "runs")
