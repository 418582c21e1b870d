"""What is left when the machine stops at once: of writes that were not synced nothing may be on the disk, or
names without what they name. A preloaded library writes down what a run does to its files; for each moment
the worst states are made from that and read."""

import json
import os
import pathlib

from conftest import SHIM, only, quick

RECORDER = pathlib.Path(SHIM).with_name("librecord_files.so")


def operations(log):
    data = log.read_bytes()
    while data:
        line, _, data = data.partition(b"\n")
        words = line.decode().split("\t")
        body = b""
        if words[0] == "data":
            length = int(words[2])
            body, data = data[:length], data[length:]
        yield words, body


class Disk:
    """What is in memory, and what is on the disk for sure."""

    def __init__(self):
        self.names, self.content = {}, {}
        self.synced_names, self.synced_content = {}, {}

    def do(self, words, body):
        kind, *of = words
        if kind == "name":
            if self.names.get(of[1]) != of[0]:
                self.names[of[1]] = of[0]
                self.content[of[0]] = b""
                self.synced_content.pop(of[0], None)  # the number of one that was removed
        elif kind == "data":
            self.content[of[0]] += body
        elif kind == "cut":
            self.content[of[0]] = self.content[of[0]][:int(of[1])]
        elif kind == "sync":
            self.synced_content[of[0]] = self.content[of[0]]
        elif kind == "sync-names":
            self.synced_names = dict(self.names)
        elif kind == "rename":
            self.names[of[1]] = self.names.pop(of[0])
        elif kind == "remove":
            self.names.pop(of[0], None)

    def left(self, names_are_written):
        names = self.names if names_are_written else self.synced_names
        return {name: self.synced_content.get(inode, b"") for name, inode in names.items()}


def launches_of(text):
    return sum(len(case.get("launches", [])) for case in json.loads(text)["cases"])


def test_a_power_cut_loses_no_more_than_the_launch_under_way(bench, tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    log = tmp_path / "files"
    file = folder / "run.json"
    done = bench("pingpong", *quick(["--transports", "shm", "--sizes", "8,64", "--launches", 3, "--json", file]),
                 environment={"LD_PRELOAD": str(RECORDER), "FILES_FOLDER": str(folder), "FILES_LOG": str(log)})
    assert done.code == 0, done
    disk, measured, states = Disk(), 0, {}
    for words, body in operations(log):
        # What had been told before this, a crash may no longer take away.
        kept = measured
        disk.do(words, body)
        if words[0] == "data" and body.startswith(b'{"case":'):
            measured += len(json.loads(body)["case"]["records"])
        for names_are_written in (False, True):
            states.setdefault(tuple(sorted(disk.left(names_are_written).items())), kept)
    # With status 0 all is there, whatever of the rest is.
    for names_are_written in (False, True):
        assert disk.left(names_are_written)[str(file)] == file.read_bytes()
    assert measured == launches_of(file.read_text()) == 6
    left = tmp_path / "left"
    left.mkdir()
    found = 0
    for state, kept in states.items():
        for name in left.iterdir():
            name.unlink()
        for name, content in state:
            (left / os.path.basename(name)).write_bytes(content)
        if not (left / "run.json").exists():
            assert kept == 0, state
            continue
        read = bench("report", left / "run.json", "--quiet", "--json", "-")
        assert read.code == 0 and launches_of(read.out) >= kept, (read, kept, state)
        found += 1
    assert found > measured  # states with a run, of which each launch makes at least one
