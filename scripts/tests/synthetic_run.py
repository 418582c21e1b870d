#!/usr/bin/env python3
"""Makes a run file of many ranks that nobody has measured, labelled synthetic: what reports are tried with.

`synthetic_run.py --ranks 1024 -o run.json`: eight GPUs to a host, a merge in which every rank sends to every other,
and ping-pongs of neighbours. Figures follow from ranks by a rule, so that a file is the same each time.
"""

import argparse
import json

PER_HOST = 8
LABEL = "synthetic"


def device(name, kind, parent, **more):
    known = {"alias": None, "model": None, "pci": None, "state": None, "numa_node": None, "cpu_affinity": None}
    return {"name": name, "kind": kind, "parent": parent, **known, **more}


def both_ways(one, other, link_class, count, GBps, source):
    common = {"class": link_class, "count": count, "spec_GBps": GBps, "calibrated_GBps": None, "now_GBps": None, "source": source}
    return [{"from": one, "to": other, **common}, {"from": other, "to": one, **common}]


def topology():
    devices, links = [device("host", "host", None)], []
    for numa in range(2):
        node, cpus = f"NUMA{numa}", f"{32 * numa}-{32 * numa + 31}"
        devices.append(device(node, "numa", "host", numa_node=numa, cpu_affinity=cpus))
        links += both_ways("host", node, "internal", 1, None, None)
        for bridge in range(2):
            switch = f"pci{numa}{bridge}"
            devices.append(device(switch, "bridge", node, numa_node=numa))
            links += both_ways(node, switch, "PCIe", 1, 31.5, "PCIe gen4 x16")
            for gpu in range(2):
                at = 4 * numa + 2 * bridge + gpu
                devices.append(device(f"GPU{at}", "gpu", switch, model="Invented GPU", pci=f"0000:{at + 16:02x}:00.0", numa_node=numa))
                links += both_ways(switch, f"GPU{at}", "PCIe", 1, 31.5, "PCIe gen4 x16")
            nic = f"mlx5_{2 * numa + bridge}"
            devices.append(device(nic, "nic", switch, model="Invented NIC", state="ACTIVE", numa_node=numa))
            links += both_ways(switch, nic, "PCIe", 1, 31.5, "PCIe gen4 x16")
    devices.append(device("NVSwitch0", "switch", None))
    for gpu in range(PER_HOST):
        links += both_ways(f"GPU{gpu}", "NVSwitch0", "NVLink", 12, 300.0, "NVLink 3")
    return {"hash": "0123456789abcdef", "source": LABEL, "devices": devices, "links": links, "pairs": []}


def metric(middle, better, launches=6):
    medians = [middle * (1 + 0.002 * launch) for launch in range(launches)]
    return {"count": launches, "min": 0.9 * middle, "p50": middle, "p90": None, "p99": None, "p999": None, "max": 1.2 * middle,
            "ci95": [medians[0], medians[-1]], "samples_seen": 3 * launches, "better": better, "launch_medians": medians}


def launches_of(case, launches=6):
    """Without samples: what a report shows is in the case's metrics."""
    cold = dict.fromkeys(("context_us", "connect_us", "first_message_us"))
    return [
        {"launch": launch, "src": 0, "dst": 1, "iterations": 3, "messages": 30, "warmup": 1, "cold": cold, "quantiles": {},
         "samples": {}, "overheads": {}, "lanes": case["path"]["lanes"]}
        for launch in range(launches)
    ]


def case_of(key, parameters, metrics, pairs, **more):
    transports = parameters["transports"]
    case = {
        "key": key, "benchmark": key.split("/")[0], "parameters": {"api": "tag", "memory": ["host", "host"], **parameters},
        "state": "measured", "reason": "", "metrics": metrics, "launches": [],
        "path": {"asked": transports, "lanes": ["rc_mlx5/mlx5_0:1"], "verdict": "as-asked", "carried_by": {transports[0]: 1.0},
                 "why": LABEL, "labels": []},
        "pairs": pairs, "phases": [], "exchange": {}, "limits": [], "verified": {"checked": 18, "errors": 0},
        "peak_buffer_bytes": 1 << 30, "labels": [LABEL], **more,
    }
    case["launches"] = launches_of(case)
    return case


def pair(src, dst):
    near = src // PER_HOST == dst // PER_HOST
    rate = round((200.0 if near else 20.0) * (1 - 0.001 * ((7 * src + 3 * dst) % 97)), 3)
    return {"src": src, "dst": dst, "bytes": 3 << 20, "messages": 30, "p25_GBps": round(0.9 * rate, 3), "p50_GBps": rate,
            "p75_GBps": round(1.1 * rate, 3), "goodput_GBps": rate}


def merge(ranks):
    phases = {"partition": 40.0, "shuffle": 90.0, "build": 20.0, "probe": 30.0, "UCX, while computing": 5.0}
    wall = sum(phases.values())
    sent = ranks * (ranks - 1) * float(3 << 20)
    metrics = {"wall_ms": metric(wall, "lower"), "throughput_GBps": metric(ranks * 32e6 / wall * 1e-6, "higher"),
               "exchange_GBps": metric(sent / 150 * 1e-6, "higher")}
    return case_of(
        f"merge/tag/host-host/ib/1M/ranks={ranks}",
        {"transports": ["ib"], "net_devices": "", "ranks": ranks, "runs": 3, "ignore_bytes": 1 << 20, "rows": 1000000},
        metrics, [pair(src, dst) for dst in range(ranks) for src in range(ranks) if src != dst],
        phases=[{"name": name, "median_ms": ms, "share": ms / wall, "slowest_rank": ranks - 1, "slowest_ms": 1.2 * ms}
                for name, ms in phases.items()],
        exchange={"bytes": sent, "input_bytes": ranks * 32e6, "alone_GBps": sent / 100 * 1e-6, "busy_ms": 150.0,
                  "exposed_ms": 90.0, "overlap": 0.4, "egress_imbalance": 1.0, "transfers_dropped": 0},
    )


def pingpong(ranks, size):
    metrics = {"latency_us": metric(2 + size / 2e4, "lower"), "bandwidth_GBps": metric(20 * size / (size + 1e4), "higher")}
    return case_of(
        f"pingpong/tag/host-host/ib/{size}B",
        {"bytes": size, "transports": ["ib"], "window": 32, "bidirectional": False, "ranks": ranks},
        metrics, [{**pair(src, src + 1), "latency_p50_us": 2.0} for src in range(0, ranks - 1, 2)],
    )


def run_of(ranks):
    hosts = range(-(-ranks // PER_HOST))
    return {
        "schema": "ucx-bench/run/1",
        "run": {"id": f"{LABEL}-{ranks}", "started_utc": "2026-01-02T03:04:05Z", "finished_utc": "2026-01-02T03:05:06Z",
                "command": ["synthetic_run.py", "--ranks", str(ranks)], "state": "complete", "tags": {}},
        "build": {"version": "0.1.0", "commit": None, "dirty": None, "compiler": LABEL, "flags": ""},
        "machine": {
            "id": LABEL, "labels": [LABEL], "topology_hash": "0123456789abcdef",
            "hosts": [{"name": f"host{host}", "kernel": "6.1.0", "cpu_model": "Invented CPU", "cores": 64, "numa_nodes": 2,
                       "gpus": [], "nics": []} for host in hosts],
        },
        "ucx": {"version": None, "library": None, "environment": {"asked": {}, "inherited": {}, "effective": {}}},
        "ranks": [
            {"rank": rank, "host": f"host{rank // PER_HOST}", "pid": 1000 + rank, "cpus": f"{8 * (rank % PER_HOST)}",
             "numa_node": rank % PER_HOST // 4,
             "device": {"index": rank % PER_HOST, "name": "Invented GPU", "pci": f"0000:{rank % PER_HOST + 16:02x}:00.0",
                        "memory_bytes": 1 << 36, "driver": "1"},
             "net_devices": f"mlx5_{rank % PER_HOST // 2}:1"}
            for rank in range(ranks)
        ],
        "cases": [merge(ranks), *(pingpong(ranks, 8 << shift) for shift in (0, 7, 17))],
        "findings": [{"id": "slow-pair", "severity": "warning", "subject": "merge", "evidence": LABEL, "cost_ms": None,
                      "next": "nothing"}],
        "topology": topology(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("-o", "--output", default="-")
    arguments = parser.parse_args()
    text = json.dumps(run_of(arguments.ranks))
    if arguments.output == "-":
        print(text)
    else:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
