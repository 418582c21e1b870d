#!/usr/bin/env python3
"""Measures what the supervisor takes of one core while ranks measure: its own CPU time, by /proc, over some
seconds in the middle of a ping-pong of many ranks that wait asleep. Prints a line of JSON. Exit status: 0
measured, 5 the program ended before its time."""

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


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ucx-bench", default=str(ROOT / "build/release/bin/ucx-bench"))
    parser.add_argument("--ranks", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=30, help="measured, after as many to start")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [options.ucx_bench, "--quiet", "pingpong", "-n", str(options.ranks), "--transports", "shm",
                   "--sizes", "8", "--measure", "latency", "--progress-mode", "event", "--launches", "1",
                   "--max-time", f"{10 * options.seconds:.0f}s", "--bind", "none", "--json", f"{folder}/run.json"]
        started = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        time.sleep(options.seconds)
        if started.poll() is not None:
            sys.exit(5)
        before, begin = cpu_seconds(started.pid), time.monotonic()
        time.sleep(options.seconds)
        share = (cpu_seconds(started.pid) - before) / (time.monotonic() - begin)
        ended = started.poll() is not None
        os.killpg(started.pid, signal.SIGINT)
        started.wait(timeout=60)
    print(json.dumps({"ranks": options.ranks, "seconds": options.seconds, "percent_of_a_core": round(100 * share, 2)}))
    sys.exit(5 if ended else 0)


if __name__ == "__main__":
    main()
