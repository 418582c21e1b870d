"""Duets of nothing and of losses planted by fixed work (ci/shims/work.cpp), recorded one after the other."""

import ctypes
import datetime
import json
import math
import os
import pathlib
import statistics
import tempfile
import time

from launches import Unfit, identity
from turns import two_sides

SCHEMA = "ucx-bench/duets/1"
TRANSPORTS = ("tcp", "shm")
SIZES = {8: "8", 65536: "64KiB", 1048576: "1MiB"}
# Each launch of a size has what one has of `ab ci/suite.toml`: there 10 s for 24 launches.
LAUNCHES = 4
SUITE = f"""launches = {LAUNCHES}
[[case]]
args = "pingpong --transports TRANSPORT --sizes {','.join(SIZES.values())} --max-time {10000 * LAUNCHES // 24}ms"
"""
CALIBRATED_BY = 3  # turns of nothing


def key_of(transport, size):
    return f"pingpong/tag/host-host/{transport}/{SIZES[size]}B".replace("iBB", "iB")


def trimmed_mean(values):
    cut = len(values) // 5
    kept = sorted(values)[cut:len(values) - cut]
    return math.fsum(kept) / len(kept)


def duets_of(base, new):
    """By case and metric: of each duet its value, as `ucx-bench compare` computes it, and both sides' medians."""
    found = {}
    others = {case["key"]: {launch["launch"]: launch for launch in case["launches"]} for case in new["cases"]}
    for case in base["cases"]:
        for launch in case["launches"]:
            other = others[case["key"]][launch["launch"]]
            if "duet" not in launch:
                continue
            for metric, blocks in launch["duet"]["blocks"].items():
                was, now = blocks["values"], other["duet"]["blocks"][metric]["values"]
                quads = [math.log(now[at] * now[at + 1] / was[at] / was[at + 1]) / 2 for at in range(0, len(was), 2)]
                values = trimmed_mean(quads), statistics.median(was), statistics.median(now)
                found.setdefault(f"{case['key']} {metric}", []).append([float(f"{value:.6g}") for value in values])
    return found


class FixedWork:
    """What the shim's work costs here, in ns."""

    def __init__(self, shim):
        self.function = ctypes.CDLL(str(shim)).fixed_work
        self.function.argtypes = [ctypes.c_uint64] * 2
        self.known = {}

    def least(self, count):
        times = max(1, 100_000 // (count + 20))

        def once():
            begin = time.perf_counter_ns()
            self.function(count, times)
            return (time.perf_counter_ns() - begin) / times

        return min(once() for _ in range(30))

    def cost(self, count):
        """Beyond that of no multiplication."""
        if count not in self.known:
            self.known[count] = self.least(count) - self.least(0) if count else 0
        return self.known[count]

    def count_of(self, ns):
        return max(1, round(ns * 10_000 / self.cost(10_000)))


def iteration_ns(metric, bytes_, value):
    """A round trip, or one message of a stream."""
    return 2000 * value if metric == "latency_us" else bytes_ / value


def is_rate(name):
    return not name.endswith("_us")


class Recording:
    def __init__(self, file, say):
        self.file, self.say = file, say
        self.data = {"schema": SCHEMA, "frame": None, "work": {}, "turns": []}
        if file.exists():
            self.data = json.loads(file.read_text(encoding="utf-8"))
            if self.data.get("schema") != SCHEMA:
                raise Unfit(f"'{file}' is no recording of duets (no \"schema\": \"{SCHEMA}\")")

    @property
    def turns(self):
        return self.data["turns"]

    def save(self):
        """One line per turn; whole or not at all."""
        turns = ",\n".join(json.dumps(turn, separators=(",", ":")) for turn in self.turns)
        head = {name: part for name, part in self.data.items() if name != "turns"}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = self.file.with_name(self.file.name + ".new")
        new.write_text(json.dumps(head, indent=1)[:-2] + f',\n "turns": [\n{turns}\n]}}\n', encoding="utf-8")
        os.replace(new, self.file)

    def values(self, slowdown):
        """By case and metric, of all turns of this loss."""
        found = {}
        for turn in self.turns:
            if turn["slowdown"] == slowdown:
                for name, duets in turn["duets"].items():
                    found.setdefault(name, []).extend(duets)
        return found

    def kind(self, slowdowns):
        """Nothing and a loss by turns; the loss that was measured least often."""
        counts = {slowdown: sum(turn["slowdown"] == slowdown for turn in self.turns) for slowdown in slowdowns}
        if counts[0] < CALIBRATED_BY or counts[0] <= sum(count for s, count in counts.items() if s):
            return 0
        return min((s for s in slowdowns if s), key=lambda s: counts[s])

    def work(self, slowdown, fixed_work):
        """Multiplications of each size by transport; what they cost is kept with the recording."""
        planted = self.data["work"].setdefault(f"{slowdown:g}", {})
        if not planted and slowdown:
            levels = {name: statistics.median(duet[1] for duet in duets) for name, duets in self.values(0).items()}
            for name, level in levels.items():
                transport = next(t for t in TRANSPORTS if f"/{t}/" in name)
                size = next(size for size in SIZES if name.startswith(key_of(transport, size) + " "))
                iteration = iteration_ns(name.split()[1], size, level)
                count = fixed_work.count_of(slowdown * iteration)
                planted[name] = {"multiplications": count, "ns": round(fixed_work.cost(count), 2),
                                 "calibrated_iteration_ns": round(iteration, 1)}
        return planted

    def words(self, planted, transport):
        def count(size, metric):
            return planted.get(f"{key_of(transport, size)} {metric}", {"multiplications": 0})["multiplications"]

        return ",".join(f"{size}={count(size, 'latency_us')}/{count(size, 'bandwidth_GBps')}" for size in SIZES)

    def add_turn(self, program, shim, slowdown, fixed_work):
        planted = self.work(slowdown, fixed_work)
        turn = {"started_utc": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "load_1min_before": round(os.getloadavg()[0], 1), "slowdown": slowdown, "duets": {}}
        begin = time.monotonic()
        for transport in TRANSPORTS:
            with tempfile.TemporaryDirectory(prefix="verdict-study-") as folder:
                suite = pathlib.Path(folder, "suite.toml")
                suite.write_text(SUITE.replace("TRANSPORT", transport))
                sides = [{"LD_PRELOAD": shim, "WORK": self.words(work, transport)} for work in ({}, planted)]
                (_, base), (_, new) = two_sides(program, suite, *sides)
            now = identity(base)
            if self.data["frame"] in (None, now):
                self.data["frame"] = now
            else:
                raise Unfit(f"the recording is of {self.data['frame']}, this is {now}; record into another file")
            turn["duets"] |= duets_of(base, new)
        turn["seconds"] = round(time.monotonic() - begin, 1)
        self.turns.append(turn)
        self.save()


def record(program, shim, file, duets, slowdowns, say):
    """Until there are so many of nothing for each case, and of all losses together."""
    recording = Recording(file, say)
    fixed_work = FixedWork(shim)
    kinds = (0, *slowdowns)
    wanted = math.ceil(duets / LAUNCHES)
    while sum(turn["slowdown"] == 0 for turn in recording.turns) < wanted or recording.kind(kinds):
        kind = recording.kind(kinds)
        recording.add_turn(program, shim, kind, fixed_work)
        say(f"{100 * kind:g} %: turn {len(recording.turns)} of about {2 * wanted}, {recording.turns[-1]['seconds']:.0f} s")
