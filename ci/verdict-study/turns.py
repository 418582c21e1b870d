"""Measures turns of a suite, and comparisons made of four of them: A B B A."""

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

LIMIT_S = 600  # of one turn, which takes seconds
ABBA = "ABBA"


def measured(program, suite, environment):
    """The run file of one turn; nothing of it is left running, whatever ends this."""
    with tempfile.TemporaryDirectory(prefix="verdict-study-") as folder:
        file = pathlib.Path(folder, "run.json")
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", program, "--quiet", "--progress", "never",
             "suite", suite, "--json", file],
            env=usual_environment() | environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )
        try:
            _, errors = process.communicate(timeout=LIMIT_S)
        except BaseException as error:
            # The program ends its ranks itself.
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=20)
            process.kill()
            if isinstance(error, subprocess.TimeoutExpired):
                raise Unfit(f"{suite}: a turn was not done after {LIMIT_S} s; is the machine busy?") from None
            raise
        if process.returncode != 0:
            last = (errors.strip() or "no message").splitlines()[-1]
            raise Unfit(f"{suite}: status {process.returncode}: {last}")
        run = json.loads(file.read_text())
    failed = [case for case in run["cases"] if case["state"] != "measured"]
    if failed:
        raise Unfit(f"{suite}: {failed[0]['key']}: {failed[0]['state']}: {failed[0]['reason']}")
    return run


class Session:
    """Turns of one suite, each on disk as soon as it is measured; goes on with what a file holds."""

    def __init__(self, program, suite, file, say):
        self.program, self.suite, self.file, self.say = program, suite, file, say
        self.recording = Recording.load(file) if file.exists() else None

    @property
    def turns(self):
        return self.recording.turns if self.recording else []

    @property
    def launches(self):
        return sum(len(turn["launches"]) for turn in self.turns)

    def turn(self, environment=None, **notes):
        load = os.getloadavg()[0]
        run = measured(self.program, self.suite, environment or {})
        self.recording = self.recording or Recording.begun_with(run)
        self.recording.add(run, load_1min_before=round(load, 2), **notes)
        self.recording.save(self.file)

    def record(self, launches):
        """Until there are so many, one turn after the other."""
        begin, before = time.monotonic(), self.launches
        while self.launches < launches:
            self.turn()
            each = (time.monotonic() - begin) / (self.launches - before)
            left_min = max(0, launches - self.launches) * each / 60
            self.say(f"{self.launches} of {launches} launches, about {left_min:.0f} min left")

    def compare(self, how, slowdown, count, environment_of, before=lambda side: None):
        """Until there are so many comparisons of this kind; `environment_of(side)` is what the turns of
        A and B run in, `before(side)` prepares what is outside of the program."""
        while (have := self._finished(how, slowdown)) < count:
            number = 1 + max((turn["comparison"] for turn in self.turns), default=0)
            for side in ABBA:
                before(side)
                self.turn(environment_of(side), comparison=number, side=side, how=how, slowdown=slowdown)
            self.say(f"{how}, {100 * slowdown:g} %: {have + 1} of {count} comparisons")

    def _finished(self, how, slowdown):
        """Comparisons that were interrupted do not count, and nobody reads them."""
        return len(comparisons_of(self.recording, how, slowdown)) if self.recording else 0


def comparisons_of(recording, how, slowdown):
    """The rows of both sides of each whole comparison of this kind."""
    turns = {}
    for turn in recording.turns:
        if turn.get("how") == how and turn["slowdown"] == slowdown:
            turns.setdefault(turn["comparison"], []).append(turn)
    return [
        [[row for turn in four if turn["side"] == side for row in turn["launches"]] for side in "AB"]
        for four in turns.values() if "".join(turn["side"] for turn in four) == ABBA
    ]


def kinds_of(recording):
    """(how, slowdown) of all comparisons, in order."""
    return list(dict.fromkeys((turn["how"], turn["slowdown"]) for turn in recording.turns if "how" in turn))
