"""What only the newest runs show in full: samples of the last ones, sizes and pairs of base and new."""

import math

import runfile
from dashboards.lines import LAST
from dashboards.record import rounded

MOST_NUMBERS = 350_000  # samples on a page, some 2 MB
MOST_OF_A_LAUNCH = 64
USUAL_LAUNCHES = 12


def spread(values, most):
    """An even choice of them, in their order."""
    if len(values) <= most:
        return values
    return [values[i * len(values) // most] for i in range(most)]


def most_of_a_launch(streams, lines):
    """So many samples of each launch that the page stays small."""
    launches = sum(min(LAST, len(stream.runs)) * USUAL_LAUNCHES for stream in streams for line in lines
                   if line.stream is stream)
    return max(1, min(MOST_OF_A_LAUNCH, MOST_NUMBERS // max(1, launches)))


def finite(value):
    if not math.isfinite(value):
        raise ValueError(f"{value} is no sample")
    return value


def samples_of(run, most):
    """By case and metric, the samples of each launch in the order in which they were taken."""
    found = {}
    for case in run["cases"]:
        for entry in case["launches"]:
            for metric, samples in entry["samples"].items():
                of = found.setdefault((case["key"], metric), {})
                of.setdefault(entry["launch"], []).extend(finite(value) for value in samples if value is not None)
    return {key: [[rounded(value, 4) for value in spread(of[launch], most)] for launch in sorted(of)]
            for key, of in found.items()}


class Loaded:
    """Run files in full, the last one only: they are large."""

    def __init__(self, problems, program):
        self.problems, self.program, self.path, self.run = problems, program, None, None

    def of(self, path):
        if path != self.path:
            try:
                self.run = runfile.load(path, self.program)
            except runfile.NotARun as error:
                self.problems.append((path.name, str(error)))
                self.run = None
            self.path = path
        return self.run


def read_samples(stream, lines, most, loaded):
    """For every line, {run: launches} of the last runs. A file that has changed meanwhile has none."""
    found = {id(line): {} for line in lines}
    for i in range(max(0, len(stream.runs) - LAST), len(stream.runs)):
        run = loaded.of(stream.runs[i].path)
        if run is None:
            continue
        try:
            samples = samples_of(run, most)
        except runfile.DAMAGE as error:
            loaded.problems.append((stream.runs[i].path.name, str(runfile.damaged(stream.runs[i].path, error))))
            continue
        for line in lines:
            if line.values[i] is not None and any(samples.get((line.key, line.metric), [])):
                found[id(line)][i] = samples[line.key, line.metric]
    return found
