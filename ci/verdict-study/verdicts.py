"""What `ucx-bench compare` says of two sides, and how sure counts of that are."""

import collections
import json
import math
import os
import pathlib
import subprocess
import tempfile

from launches import Unfit

ALARMS = ("regressed", "improved")


def usual_environment():
    """Nothing of the caller's that changes what the program does."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("UCX_", "UCXBENCH_"))}


def compared(program, base, new):
    """The comparison of two runs, as the program's JSON has it."""
    with tempfile.TemporaryDirectory(prefix="verdict-study-") as folder:
        files = [pathlib.Path(folder, name) for name in ("base.json", "new.json")]
        for file, run in zip(files, (base, new)):
            file.write_text(json.dumps(run))
        done = subprocess.run([program, "compare", *files, "--json", "-"], env=usual_environment(),
                              capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise Unfit(f"{program} compare: status {done.returncode}: {done.stderr.strip() or 'no message'}")
    comparison = json.loads(done.stdout)
    if comparison["incomparable"]:
        raise Unfit(f"{program} compare: {comparison['incomparable']}")
    return comparison


def sides(program, recording, base_rows, new_rows, in_turns):
    names = ("base", "new")
    others = reversed(names) if in_turns else (None, None)
    runs = [recording.run_of(rows, name, other) for rows, name, other in zip((base_rows, new_rows), names, others)]
    return compared(program, *runs)


def alarms(comparison, verdicts=ALARMS):
    return [each for each in comparison["series"] if each["verdict"] in verdicts]


def count_verdicts(comparisons, keys=None):
    """Over the metrics of these cases, or of all."""
    return dict(collections.Counter(
        each["verdict"] for c in comparisons for each in c["series"] if keys is None or each["key"] in keys))


def upper95(count, of):
    """The one-sided 95 % bound of Clopper and Pearson (Biometrika 26, 1934): the share at which so few,
    `count` of `of`, would be seen only once in twenty times. None of nothing."""
    if of == 0:
        return None
    if count == of:
        return 1.0

    def chance_of_so_few(share):
        return math.fsum(
            math.exp(math.lgamma(of + 1) - math.lgamma(k + 1) - math.lgamma(of - k + 1)
                     + k * math.log(share) + (of - k) * math.log1p(-share))
            for k in range(count + 1)
        )

    low, high = 0.0, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if chance_of_so_few(middle) > 0.05 else (low, middle)
    return high


def lower95(count, of):
    bound = upper95(of - count, of)
    return None if bound is None else 1 - bound


def version_of(program):
    done = subprocess.run([program, "--version"], env=usual_environment(), capture_output=True, text=True,
                          timeout=20, check=True)
    return done.stdout.strip().splitlines()[0]
