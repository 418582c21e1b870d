"""The n-th call of one function fails in one process of a short run, for each function that a run needs the
system for: a documented status and one line, in time; nothing measured is lost, and nothing is left."""

import errno
import functools
import json
import pathlib

import pytest
from conftest import LONG_S, SHIM, drawn, orphans_in_dev_shm, quick, shared_segments, wait_until

SHIMMED = pathlib.Path(SHIM).with_name("libnth_call.so")

# What each may fail with.
ERRORS = {
    "malloc": errno.ENOMEM, "mmap": errno.ENOMEM, "open": errno.EMFILE, "read": errno.EIO, "write": errno.ENOSPC,
    "fsync": errno.EIO, "rename": errno.ENOSPC, "fork": errno.EAGAIN, "thread": errno.EAGAIN, "pipe": errno.EMFILE,
    "socket": errno.EMFILE, "send": errno.ENOBUFS, "recv": errno.ECONNRESET,
}
# How many of a process's calls are tried, from the first to the last one. All of them take an hour.
TRIED = {
    ("launcher", "fork"): 3, ("launcher", "pipe"): 3, ("launcher", "socket"): 2, ("launcher", "fsync"): 6,
    ("launcher", "rename"): 2, ("launcher", "write"): 4, ("launcher", "open"): 4, ("launcher", "malloc"): 4,
    ("launcher", "send"): 2, ("launcher", "recv"): 2, ("launcher", "read"): 2,
    ("probe", "open"): 1, ("probe", "malloc"): 2,
    ("rank1", "thread"): 2, ("rank1", "malloc"): 3, ("rank1", "open"): 1, ("rank1", "socket"): 2, ("rank1", "send"): 2,
    ("rank0", "recv"): 1, ("rank0", "write"): 1,
}


class Walk:
    def __init__(self, start, folder):
        self.start, self.folder = start, folder

    def run(self, part, call, nth):
        self.shared_before = orphans_in_dev_shm()
        for name in ("notes", "spare", "work"):
            (self.folder / name).mkdir(parents=True)
        environment = {
            "LD_PRELOAD": str(SHIMMED), "NTH_OF": part, "NTH_CALL": call, "NTH": str(nth),
            "NTH_ERROR": str(ERRORS.get(call, 0)), "NTH_FOLDER": str(self.folder / "notes"),
            "TMPDIR": str(self.folder / "spare"),
        }
        self.running = self.start("pingpong", *quick(["--transports", "shm", "--sizes", "8,64"]), environment=environment,
                                  folder=self.folder / "work")
        return self.running.finish(LONG_S)

    def files(self):
        return sorted(str(file.relative_to(self.folder)) for name in ("spare", "work")
                      for file in (self.folder / name).rglob("*") if not file.is_dir())

    def check(self, done, what):
        """What holds of every end."""
        assert done.code in (0, 2, 3, 5) and "unexpected" not in done.err, (what, done)
        lines = [line for line in done.err.splitlines() if line.startswith(("ucx-bench: ", "cannot run here: "))]
        assert len(lines) == (done.code != 0), (what, done)
        files = self.files()
        run = None
        if done.code != 2 and files:
            # At most one, which is the run's, where it was asked for or where that line says.
            assert len(files) == 1 and files[0].endswith("/run.json"), (what, files, done)
            assert files == ["work/run.json"] or str(self.folder / files[0]) in lines[0], (what, files, done)
            run = json.loads((self.folder / files[0]).read_text())
            states = [case["state"] for case in run["cases"]]
            if done.code == 0 or files[0].startswith("spare"):
                assert states == ["measured", "measured"] and run["run"]["state"] == "complete", (what, done)
            elif done.code == 3:
                assert states == ["skipped", "skipped"], (what, done)
            elif run["run"]["state"] == "complete":
                # All was measured, and is there.
                assert states == ["measured", "measured"] and "out of memory" in lines[0], (what, done)
            else:
                assert run["run"]["state"] == "failed" and run["run"]["reason"], (what, done)
        else:
            # Before there was anything to write.
            assert not files and (done.code in (2, 3) or "out of memory" in lines[0]), (what, files, done)
        self.running.wait_until_gone()
        # Segments go a moment after the last process that had them attached.
        creators = {int(note.name.rsplit(".", 1)[1]) for note in (self.folder / "notes").iterdir()}

        def left():
            return [*shared_segments(creators), *(orphans_in_dev_shm() - self.shared_before)]

        wait_until(lambda: not left(), what=lambda: (what, left()), limit_s=LONG_S)
        return run


@functools.cache
def spread(calls, tried):
    """So many of the numbers from 1 to `calls`, with both ends."""
    if tried >= calls:
        return range(1, calls + 1)
    if tried == 1:
        return [drawn(1, calls, (calls + 1) // 2)]
    step = (calls - 1) / (tried - 1)
    return [1, *(drawn(1, calls, round(1 + at * step)) for at in range(1, tried - 1)), calls]


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """How often each process calls each function, where none fails."""
    from conftest import Started

    folder = tmp_path_factory.mktemp("calls")
    done = Walk(lambda *words, environment, folder: Started(words, folder, environment), folder).run("all", "", 0)
    assert done.code == 0, done
    counted = {}
    for note in (folder / "notes").glob("calls.*"):
        for line in note.read_text().splitlines():
            function, number = line.split()
            counted[note.name.split(".")[1], function] = int(number)
    return counted


@pytest.mark.parametrize("part, call", TRIED)
def test_one_call_fails(start, calls, tmp_path, part, call):
    assert calls[part, call] > 0
    failed = 0
    for nth in spread(calls[part, call], TRIED[part, call]):
        walk = Walk(start, tmp_path / str(nth))
        done = walk.run(part, call, nth)
        walk.check(done, f"{call} {nth} of {part}")
        failed += any((walk.folder / "notes").glob("failed.*"))
    # Near the end not each run makes as many calls as another.
    assert failed > 0
