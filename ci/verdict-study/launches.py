"""Launches of a suite in the order in which they were measured, and run files made of some of them.

A recording keeps of each launch what `ucx-bench compare` looks at: its median of every metric of every
case, and what the host gave to the ranks' processors. A turn is one run of the suite."""

import copy
import dataclasses
import json
import os
import statistics

SCHEMA = "ucx-bench/launches/1"
CANARY = "canary"
PROCESSORS = "processors"
# What the host gave before and after a launch, as if it were metrics: (its end, its name).
GIVEN = {f"{PROCESSORS}/{end}/{name}": (place, name)
         for place, end in enumerate(("before", "after")) for name in ("apart_ns", "work_ns")}


class Unfit(Exception):
    """One line: what is wrong, and what would be right."""


@dataclasses.dataclass(frozen=True)
class Series:
    key: str
    metric: str
    better: str  # "lower", "higher" or, of what was given, ""

    @property
    def is_given(self):
        return self.metric in GIVEN


def frame_of(run):
    """All of a run file but what launches measured."""
    frame = {name: copy.deepcopy(part) for name, part in run.items() if name != "cases"}
    frame["findings"] = []
    frame["run"].pop("ab", None)
    # Where the caller keeps programs and passing files is nobody's business.
    frame["run"]["command"] = [os.path.basename(word) for word in frame["run"]["command"]]
    emptied = {"metrics": {}, "launches": [], "path": {}, "pairs": [], "phases": [], "exchange": {}, "limits": []}
    frame["cases"] = [case | copy.deepcopy(emptied) for case in run["cases"]]
    return frame


def identity(frame):
    """What may not change within a recording, in words."""
    return {
        "machine": frame["machine"]["id"],
        "kernel": frame["machine"]["hosts"][0]["kernel"],
        "commit": frame["build"]["commit"],
        "flags": frame["build"]["flags"],
        "UCX": frame["ucx"]["version"],
    }


def series_of(run):
    """What was measured, then what was given, which has its series in every run: a busy host leaves it unknown."""
    measured = [Series(case["key"], name, metric["better"])
                for case in run["cases"] for name, metric in sorted(case["metrics"].items())]
    return measured + [Series(case["key"], name, "") for case in run["cases"] if case["launches"] for name in GIVEN]


def column_of(case, series):
    """One value per launch; what was given may be unknown."""
    if not series.is_given:
        return case["metrics"][series.metric]["launch_medians"]
    end, name = GIVEN[series.metric]
    by_launch = {launch["launch"]: launch.get(PROCESSORS, (None, None))[end] for launch in case["launches"]}
    return [by_launch[number] and by_launch[number][name] for number in sorted(by_launch)]


def rows_of(run, series):
    """One list per launch, in the order of `series`."""
    cases = {case["key"]: case for case in run["cases"]}
    columns = [column_of(cases[each.key], each) for each in series]
    lengths = {len(column) for column in columns}
    unknown = (each for each, column in zip(series, columns) if None in column and not each.is_given)
    if len(lengths) != 1 or any(unknown):
        raise Unfit(f"run {run['run']['id']}: a launch without a value; measure this turn again")
    return [list(row) for row in zip(*columns)]


class Recording:
    def __init__(self, frame, series, turns):
        self.frame, self.series, self.turns = frame, series, turns

    @classmethod
    def begun_with(cls, run):
        return cls(frame_of(run), series_of(run), [])

    @classmethod
    def load(cls, file):
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise Unfit(f"cannot read '{file}': {error.strerror}; record it first") from None
        except ValueError:
            raise Unfit(f"'{file}' is not whole JSON; remove it and record again") from None
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise Unfit(f"'{file}' is no recording of launches (no \"schema\": \"{SCHEMA}\")")
        return cls(data["frame"], [Series(**each) for each in data["series"]], data["turns"])

    def save(self, file):
        """One line per turn; whole or not at all."""
        lists = {
            "series": [json.dumps(dataclasses.asdict(each)) for each in self.series],
            "turns": [json.dumps(turn, separators=(",", ":")) for turn in self.turns],
        }
        parts = [f'"schema": "{SCHEMA}"', f'"frame": {json.dumps(self.frame, separators=(",", ":"))}']
        parts += [f'"{name}": [\n' + ",\n".join(rows) + "\n]" for name, rows in lists.items()]
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_name(file.name + ".new")
        new.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
        os.replace(new, file)

    def add(self, run, **notes):
        """Of the same suite, program and machine."""
        was, now = identity(self.frame), identity(run)
        changed = [f"{name} {was[name]} -> {now[name]}" for name in was if was[name] != now[name]]
        if series_of(run) != self.series:
            changed.append("the suite")
        if changed:
            raise Unfit(f"the recording is of something else ({', '.join(changed)}); record into another file")
        self.turns.append({
            "started_utc": run["run"]["started_utc"],
            "finished_utc": run["run"]["finished_utc"],
            **notes,
            "launches": rows_of(run, self.series),
        })

    @property
    def rows(self):
        return [row for turn in self.turns for row in turn["launches"]]

    @property
    def cases(self):
        """Keys without the canaries'."""
        return [case["key"] for case in self.frame["cases"] if case["benchmark"] != CANARY]

    def without_canaries(self):
        kept = set(self.cases)
        places = [place for place, each in enumerate(self.series) if each.key in kept]
        frame = self.frame | {"cases": [case for case in self.frame["cases"] if case["key"] in kept]}
        turns = [turn | {"launches": [[row[p] for p in places] for row in turn["launches"]]} for turn in self.turns]
        return Recording(frame, [self.series[p] for p in places], turns)

    def slowed(self, rows, slowdown, keys):
        """The rows with every metric of these cases worse: 0.05 makes times 1.05 times as long."""
        factors = [
            None if each.key not in keys or each.is_given
            else 1 + slowdown if each.better == "lower" else 1 / (1 + slowdown)
            for each in self.series
        ]
        return [[value if factor is None else value * factor for value, factor in zip(row, factors)]
                for row in rows]

    def run_of(self, rows, name, other=None):
        """A run file of these launches, in this order; `other` is the run that they took turns with."""
        run = copy.deepcopy(self.frame)
        run["run"] |= {"id": name, "tags": {"made_of": "launch medians of a verdict study"}}
        if other is not None:
            run["run"]["ab"] = {"other": other}
        cases = {case["key"]: case for case in run["cases"]}
        for case in cases.values():
            case["launches"] = [
                {"launch": number, "src": 0, "dst": 0, "iterations": 1, "messages": 0, "warmup": 0,
                 "cold": {"context_us": None, "connect_us": None, "first_message_us": None},
                 "quantiles": {}, "samples": {}, "overheads": {}, "lanes": []}
                for number in range(len(rows))
            ]
        for each, values in zip(self.series, zip(*rows)):
            case = cases[each.key]
            if each.is_given:
                end, name = GIVEN[each.metric]
                for launch, value in zip(case["launches"], values):
                    if value is not None:
                        ends = launch.setdefault(PROCESSORS, [None, None])
                        ends[end] = (ends[end] or {}) | {name: value}
                continue
            case["metrics"][each.metric] = quantiles(values) | {
                "ci95": None, "better": each.better, "launch_medians": list(values)}
            for launch, value in zip(case["launches"], values):
                launch["samples"][each.metric] = [value]
                launch["quantiles"][each.metric] = quantiles([value])
        return run


def quantiles(values):
    few = {"p90": None, "p99": None, "p999": None, "count": len(values), "samples_seen": len(values)}
    return {"min": min(values), "p50": statistics.median(values), "max": max(values)} | few
