#!/usr/bin/env python3
"""Measures runs over several hosts, which are network namespaces of this machine, as root: six commands with 64
ranks on four hosts, and 256 ranks that mpirun has started. Then what a launch costs on the control connections of
up to 10,000 ranks that are played (control_plane). Writes results/scale/<machine>-hosts.json.
Exit status: 0 all measured, 2 usage, 5 a run failed (recorded)."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHORT = {
    "pingpong": ["--sizes", "8", "--iterations", 50],
    "p2p": ["--sizes", "8", "--iterations", 8, "--concurrent", "disjoint", "--runs", 1],
    "cold": ["--sizes", "8", "--iterations", 3],
    "merge": ["--rows", 2000, "--runs", 1],
    "transpose": ["--size", 640, "--chunk-size", 10, "--runs", 1],
    "halo": ["--size", 64, "--runs", 1],
}
TIMES = ("start_s", "meet_s", "measure_s", "end_s")
# Hosts beside the first one, and the ranks of each.
PLAYED = [(1, 16), (4, 16), (16, 16), (64, 16), (125, 8), (250, 8), (625, 16), (1250, 8)]


def sent_by_first_host(hosts):
    text = subprocess.run(["ip", "netns", "exec", hosts.name(0), "cat", "/proc/net/dev"], check=True,
                          capture_output=True, text=True).stdout
    numbers = next(line.split() for line in text.splitlines() if "eth7:" in line)
    return {"received": int(numbers[1]), "sent": int(numbers[9])}


def run(options, hosts, folder, command, ranks, agents):
    """One launch by mpirun: its times, or why there are none; and the run."""
    agent = folder / "agent"
    agent.write_text("#!/bin/sh\nwhile case $1 in -*) true ;; *) false ;; esac; do shift; done\nhost=$1; shift\n"
                     f"exec ip netns exec {hosts.prefix}${{host#node}} unshare --uts sh -c \"hostname $host; $*\"\n")
    agent.chmod(0o700)
    slots = ",".join(f"node{host}:{agents // hosts.count}" for host in range(hosts.count))
    file = folder / "run.json"
    file.unlink(missing_ok=True)
    words = hosts.on(0, "mpirun", "--host", slots, "--map-by", "node", "--bind-to", "none", "--mca", "plm_rsh_agent",
                     agent, "--mca", "oob_tcp_if_include", "10.203.8.0/24", "--mca", "plm_rsh_no_tree_spawn", 1, "-np",
                     agents, options.ucx_bench, "--quiet", command, "-n", ranks, "--transports", "tcp", "--launches", 1,
                     "--bind", "none", "--timeout", f"{options.limit}s", "--json", file, *SHORT[command])
    before = sent_by_first_host(hosts)
    begin = time.monotonic()
    done = subprocess.run(["ip", *words], capture_output=True, text=True, timeout=2 * options.limit,
                          env=os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    point = {"command": command, "ranks": ranks, "hosts": hosts.count, "processes_of_mpirun": agents}
    if done.returncode != 0:
        return {**point, "failed": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]}, None
    wall_s = round(time.monotonic() - begin, 3)
    after = sent_by_first_host(hosts)
    result = json.loads(file.read_text(encoding="utf-8"))
    times = {name: result["run"]["launch_times"][0][name] for name in TIMES}
    crossed = {f"first_host_{way}_bytes": after[way] - before[way] for way in after}
    return {**point, **times, "wall_s": wall_s, **crossed, "file_bytes": file.stat().st_size}, result


def over_mpirun(options, record):
    os.environ |= {"TESTED_PROGRAM": options.ucx_bench, "FAULT_SHIM": "none"}
    sys.path.insert(0, str(ROOT / "ci/tests"))
    from namespaces import Hosts

    hosts = Hosts(4)
    hosts.make()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for command, ranks, agents in [*((command, 64, 4) for command in SHORT), ("p2p", 256, 4), ("p2p", 256, 256)]:
                point, result = run(options, hosts, pathlib.Path(folder), command, ranks, agents)
                record["points"].append(point)
                print(json.dumps(point), file=sys.stderr)
                if result:
                    host = result["machine"]["hosts"][0]
                    record |= {"machine": result["machine"]["id"].replace("node0", "vm"), "cpu_model": host["cpu_model"],
                               "build": result["build"], "ucx": result["ucx"]["version"],
                               "finished_utc": result["run"]["finished_utc"]}
    finally:
        hosts.remove()
    return record


def played(options):
    """On 127.0.0.1: the real first host, and one process that plays all others and their ranks."""
    points = []
    for hosts, ranks in PLAYED:
        done = subprocess.run([options.control_plane, *map(str, (hosts, ranks, options.address_bytes, options.report_bytes,
                                                                 options.barriers))],
                              check=True, capture_output=True, text=True, timeout=600)
        points.append(json.loads(done.stdout))
        print(done.stdout.strip(), file=sys.stderr)
    return points


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0] + ".")
    parser.add_argument("--ucx-bench", default=str(ROOT / "build/release/bin/ucx-bench"))
    parser.add_argument("--control-plane", default=str(ROOT / "build/release/bin/control_plane"))
    parser.add_argument("--limit", type=int, default=300, metavar="SECONDS", help="of one command (default: 300)")
    parser.add_argument("--address-bytes", type=int, default=60, help="what a rank gives to all others to be reached")
    parser.add_argument("--report-bytes", type=int, default=1500, help="what a rank reports of itself")
    parser.add_argument("--barriers", type=int, default=8)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "results/scale", metavar="FOLDER")
    options = parser.parse_args()
    record = {"command": "bench/scale/hosts.py", "cpus": sorted(os.sched_getaffinity(0)), "load_1min": os.getloadavg()[0],
              "points": []}
    record = over_mpirun(options, record)
    record["played"] = played(options)
    points = {name: ",\n".join("  " + json.dumps(point) for point in record.pop(name)) for name in ("points", "played")}
    text = json.dumps(record, indent=1)[:-2]
    for name, lines in points.items():
        text += f',\n "{name}": [\n{lines}\n ]'
    file = options.output / f"{record.get('machine', 'unknown')}-hosts.json"
    file.write_text(text + "\n}\n")
    return 5 if "failed" in text else 0


if __name__ == "__main__":
    sys.exit(main())
