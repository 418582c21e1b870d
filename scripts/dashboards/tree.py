"""Reads a folder of runs, MACHINE/YYYY-MM/*.json. What cannot be used is named and left out.

An index beside the runs has their records, by path, size and time of change: only what is new is read.
"""

import dataclasses
import json
import os
import pathlib
import time

import jsontext
import runfile
from dashboards import kept, record

INDEX = ".dashboard-index.json"
VERSION = 12  # of the index: another one is made anew
SAVE_EVERY_S = 30  # a first look at a large tree that is ended loses little


@dataclasses.dataclass(eq=False)
class Run:
    path: pathlib.Path
    record: dict
    place: dict = dataclasses.field(default_factory=dict)  # of ucx-bench: machine, branch, what, side, segment, …

    def __getattr__(self, name):
        try:
            return self.record[name]
        except KeyError:
            raise AttributeError(name)

    def shown_of(self, key, metric):
        """What that case says of a metric: {"title", "unit", "better"}; None where the run does not have it."""
        case = self.cases.get(key)
        return case and self.shown[case["shown"]].get(metric)

    @property
    def time(self):
        return record.time_of(self.record["started"])

    @property
    def segment(self):
        return self.place["segment"]


@dataclasses.dataclass
class Tree:
    folder: pathlib.Path
    runs: list  # of Run, oldest first
    problems: list  # of (path, what is wrong with it)
    read: int = 0  # files that were not in the index
    files: dict = dataclasses.field(default_factory=dict)  # the index
    learned: bool = False  # something that the saved index does not have

    def remembered(self, run, what, find):
        """What the index has of a run, else what `find` says, unless that is None, from now on."""
        entry = self.files[run.path.relative_to(self.folder).as_posix()]
        if what not in entry and (value := find()) is not None:
            entry[what] = value
            self.learned = True
        return entry.get(what)

    def save(self):
        if self.learned:
            save_index(self.folder, self.files)


def load_index(folder):
    """Nothing where it is not as this version writes it: then all runs are read again."""
    try:
        index = jsontext.parsed((folder / INDEX).read_text(encoding="utf-8"))
        if index["version"] != VERSION:
            return {}
        for entry in index["files"].values():
            kept.check_entry(entry)
        return index["files"]
    except (OSError, *runfile.DAMAGE):
        return {}


def save_index(folder, files):
    """Only to save time: a folder that cannot be written to does without."""
    draft = folder / f"{INDEX}.{os.getpid()}"
    try:
        draft.write_text(json.dumps({"version": VERSION, "files": files}, separators=(",", ":")), encoding="utf-8")
        draft.replace(folder / INDEX)
    except OSError:
        draft.unlink(missing_ok=True)


def is_other(file):
    """Machine facts and topologies stand beside the runs."""
    try:
        schema = jsontext.parsed(file.read_text(encoding="utf-8")).get("schema")
    except (OSError, *runfile.DAMAGE):
        return False
    return isinstance(schema, str) and not schema.startswith(runfile.STEM)


def entry_of(file, now, program):
    """What the index keeps of a file: {"record"}, {"problem"}, or {} for what is no run."""
    try:
        run = runfile.load(file, program)
        try:
            return {"record": record.record_of(run, now)}
        except runfile.DAMAGE as error:
            raise runfile.damaged(file, error)
    except record.Skipped as skipped:
        return {"problem": str(skipped)}
    except runfile.NotARun as error:
        return {} if is_other(file) else {"problem": str(error).replace(f"'{file}' ", "", 1)}


def leave_out_impossible(folder, files, names, program):
    """What no machine gives is no figure: ucx-bench says of which cases of these files."""
    names = [name for name in names if "record" in files[name]]
    if not names or program is None:
        return
    paths = "".join(json.dumps(str(folder / name)) + "\n" for name in names)
    found = runfile.asked_of(program, ["dashboard", "/dev/stdin", "--impossible"], paths)
    for name, impossible in zip(names, found, strict=True):
        for key, why in impossible.items():
            files[name]["record"]["cases"][key] |= {"metrics": {}, "reason": f"impossible, {why}"}


def scanned(folder, program):
    """The entries of all files, and how many had to be read."""
    known, files, read = load_index(folder), {}, 0
    now = saved = time.time()
    for file in sorted(folder.rglob("*.json")):
        name = file.relative_to(folder).as_posix()
        if file.name.startswith(".") or not file.is_file():
            continue
        stat = file.stat()
        stamp = [stat.st_size, stat.st_mtime_ns]
        # A problem may be gone by now: a clock that was ahead, a schema that was too new. A journal grows.
        growing = file.with_name(file.name + runfile.JOURNAL).exists()
        if name in known and known[name]["stamp"] == stamp and "problem" not in known[name] and not growing:
            files[name] = known[name]
            continue
        files[name] = {"stamp": stamp, **entry_of(file, now, program)}
        read += 1
        if time.time() - saved > SAVE_EVERY_S:
            save_index(folder, {**known, **files})
            saved = time.time()
    leave_out_impossible(folder, files, [name for name in files if name not in known or files[name] is not known[name]], program)
    if read or len(files) != len(known):
        save_index(folder, files)
    return files, read


def load(folder, program=None):
    files, read = scanned(folder, program)
    runs, problems, ids = [], [], {}
    for name, entry in files.items():
        if "problem" in entry:
            problems.append((name, entry["problem"]))
        if "record" not in entry:
            continue
        of = entry["record"]
        if of["id"] in ids:
            problems.append((name, f"has the run id {of['id']} of {ids[of['id']]}, which counts"))
            continue
        ids[of["id"]] = name
        problems += [(name, f"{problem}; it is left out") for problem in of["problems"]]
        runs.append(Run(pathlib.Path(folder, name), of))
    return Tree(folder, sorted(runs, key=lambda run: (run.time, run.id)), problems, read, files)
