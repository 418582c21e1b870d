"""The history of a tree of runs for Apache Otava: CSV files, and the otava.yaml that reads them."""

import collections
import csv
import dataclasses
import datetime
import io
import json
import pathlib
import re

import literal
from commandline import write_text

COLUMNS = ["time", "commit", "run"]


@dataclasses.dataclass
class History:
    """Runs that may be compared, oldest first, and what they measured."""

    name: str
    runs: list  # of (seconds since 1970, commit, run id)
    series: dict  # by name: (better, values); better is "higher" or "lower", a value None where a run has none


def histories_of(lines):
    """Of the dashboard's lines: one history for each segment of each stream."""
    histories = {}
    for line in lines:
        runs = line.stream.runs
        for places in line.stream.segments:
            key = line.stream.name, places[0]
            if key not in histories:
                facts = [(run.time, run.commit, run.id) for run in (runs[i] for i in places)]
                histories[key] = History(line.stream.name, facts, {})
            # Parameters that its key does not name may differ: then a line is another one.
            name = literal.for_csv(line.id)
            if name in histories[key].series:
                name = literal.for_csv(f"{line.id} ({line.parameters})")
            values = [value and value[0] for value in (line.values[i] for i in places)]
            histories[key].series[name] = line.better, values
    return list(histories.values())


def tables_of(history):
    """([runs], {series: (better, values)}) of series that have values in the same runs: Otava reads no empty field."""
    tables = collections.defaultdict(dict)
    for name, (better, values) in history.series.items():
        present = tuple(i for i, value in enumerate(values) if value is not None)
        if present:
            tables[present][name] = better, [values[i] for i in present]
    return [([history.runs[i] for i in present], series) for present, series in tables.items()]


def csv_of(runs, series):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, *series])
    for i, (seconds, commit, run) in enumerate(runs):
        time = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        writer.writerow([time, literal.for_csv(commit or "?"), literal.for_csv(run), *(values[i] for _, values in series.values())])
    return out.getvalue()


def test_of(file, series):
    """A test of otava.yaml."""
    metrics = {name: {"column": name, "direction": 1 if better == "higher" else -1}
               for name, (better, _) in series.items()}
    return {"type": "csv", "file": file, "time_column": "time", "attributes": ["commit", "run"], "metrics": metrics}


def configuration_of(tests):
    """JSON is YAML, and quotes what YAML would take for something else."""
    content = {"tests": tests, "test_groups": {"all": list(tests)}}
    return ("# cd here, then: otava analyze all --config-file otava.yaml --since DATE\n"
            "# (without a date Otava leaves out what is older than a year)\n" + json.dumps(content, indent=2) + "\n")


def write(folder, histories):
    """One CSV file per table, and otava.yaml; returns the names of its tests."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tests = {}
    for history in histories:
        stem = re.sub(r"[^A-Za-z0-9.]+", "-", history.name).strip("-.")
        for runs, series in tables_of(history):
            name = next(f"{stem}-{number}" for number in range(1, len(tests) + 2) if f"{stem}-{number}" not in tests)
            write_text(folder / f"{name}.csv", csv_of(runs, series))
            tests[name] = test_of(f"{name}.csv", series)
    write_text(folder / "otava.yaml", configuration_of(tests))
    return list(tests)
