"""Measures turns of a suite, and comparisons."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from launches import Recording, Unfit
from verdicts import usual_environment

LIMIT_S = 900  # of one turn or comparison, which take a minute or two


def run_program(program, arguments, environment=None, limit_s=LIMIT_S):
    """Nothing of it is left running, whatever ends this."""
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "TERM", program, "--quiet", "--progress", "never", *arguments],
        env=usual_environment() | (environment or {}), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )
    what = " ".join(map(str, arguments[:2]))
    try:
        _, errors = process.communicate(timeout=limit_s)
    except BaseException as error:
        # The program ends its ranks itself.
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=20)
        process.kill()
        if isinstance(error, subprocess.TimeoutExpired):
            raise Unfit(f"{what}: was not done after {limit_s} s; is the machine busy?") from None
        raise
    if process.returncode != 0:
        last = (errors.strip() or "no message").splitlines()[-1]
        raise Unfit(f"{what}: status {process.returncode}: {last}")


def whole_run(file):
    run = json.loads(file.read_text(encoding="utf-8"))
    failed = [case for case in run["cases"] if case["state"] != "measured"]
    if failed:
        raise Unfit(f"{failed[0]['key']}: {failed[0]['state']}: {failed[0]['reason']}")
    return run


def one_turn(program, suite):
    with tempfile.TemporaryDirectory(prefix="verdict-study-") as folder:
        file = pathlib.Path(folder, "run.json")
        run_program(program, ["suite", suite, "--json", file])
        return whole_run(file)


def environments(base, new):
    """The options of `ab` for the variables of both sides."""
    return [word for option, variables in (("--base-env", base), ("--new-env", new))
            for name, value in variables.items() for word in (option, f"{name}={value}")]


def ab(program, suite, words, limit_s=LIMIT_S):
    """`ucx-bench ab`: both sides' runs, base and new, and the rows of their comparison."""
    with tempfile.TemporaryDirectory(prefix="verdict-study-") as name:
        folder = pathlib.Path(name)
        run_program(program, ["ab", suite, "--folder", folder / "runs", "--json", folder / "ab.json", *words], limit_s=limit_s)
        sides = {run["run"]["ab"]["side"]: run for run in map(whole_run, (folder / "runs").rglob("*.json"))}
        return sides["base"], sides["new"], json.loads((folder / "ab.json").read_text())["series"]


def two_sides(program, suite, base, new):
    """`ucx-bench ab` in two environments: the runs of A and B, whose launches took turns."""
    new = {"SIDE": "new", **new}  # `ab` refuses what is the same on both sides
    base_run, new_run, _ = ab(program, suite, environments(base, new))
    return [("A", base_run), ("B", new_run)]


class Session:
    """Turns of one suite, on disk as soon as they are measured; goes on with what a file holds."""

    def __init__(self, file, say):
        self.file, self.say = file, say
        self.recording = Recording.load(file) if file.exists() else None

    @property
    def turns(self):
        return self.recording.turns if self.recording else []

    @property
    def launches(self):
        return sum(len(turn["launches"]) for turn in self.turns)

    def add(self, run, **notes):
        self.recording = self.recording or Recording.begun_with(run)
        self.recording.add(run, **notes)

    def record(self, launches, turn):
        """Until there are so many, one turn after the other."""
        begin, before = time.monotonic(), self.launches
        while self.launches < launches:
            load = os.getloadavg()[0]
            self.add(turn(), load_1min_before=round(load, 2))
            self.recording.save(self.file)
            each = (time.monotonic() - begin) / (self.launches - before)
            left_min = max(0, launches - self.launches) * each / 60
            self.say(f"{self.launches} of {launches} launches, about {left_min:.0f} min left")

    def compare(self, how, slowdown, count, measure):
        """Until there are so many comparisons of this kind; `measure()` gives (side, run) of one. One that
        is interrupted leaves nothing."""
        while (have := len(comparisons_of(self.recording, how, slowdown))) < count:
            number = 1 + max((turn["comparison"] for turn in self.turns), default=0)
            load = os.getloadavg()[0]
            for side, run in measure():
                self.add(run, load_1min_before=round(load, 2), comparison=number, side=side, how=how,
                         slowdown=slowdown)
            self.recording.save(self.file)
            self.say(f"{how}, {100 * slowdown:g} %: {have + 1} of {count} comparisons")


def comparisons_of(recording, how, slowdown):
    """The rows of both sides of each comparison of this kind."""
    turns = {}
    for turn in recording.turns if recording else []:
        if turn.get("how") == how and turn["slowdown"] == slowdown:
            turns.setdefault(turn["comparison"], []).append(turn)
    return [
        [[row for turn in parts if turn["side"] == side for row in turn["launches"]] for side in "AB"]
        for parts in turns.values()
    ]


def kinds_of(recording):
    """(how, slowdown) of all comparisons, in order."""
    return list(dict.fromkeys((turn["how"], turn["slowdown"]) for turn in recording.turns if "how" in turn))
