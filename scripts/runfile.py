"""Reads run files of ucx-bench."""

import pathlib
import subprocess

import jsontext

SCHEMA = "ucx-bench/run/1"
STEM, MAJOR = "ucx-bench/run/", 1
JOURNAL = ".partial"  # behind the run file's name: what a run has measured that is not over
LIMIT_S = 120


# What reading a damaged file as if it were a whole one may raise.
DAMAGE = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError)


class NotARun(Exception):
    """One line: what is wrong with the file, and what would be right."""


def damaged(name, error):
    """What to raise when a part of it is not as it should be."""
    return NotARun(
        f"'{name}' is a damaged ucx-bench run ({type(error).__name__}: {error}); "
        "give it as ucx-bench --json wrote it"
    )


def asked_of(program, words, text):
    """The JSON that ucx-bench writes about what it is given."""
    try:
        done = subprocess.run([program, *words], input=text, capture_output=True, text=True, timeout=LIMIT_S)
        if done.returncode:
            raise NotARun(f"'{program} {words[0]} {words[-1]}': {done.stderr.strip() or done.returncode}")
        return jsontext.parsed(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise NotARun(f"'{program} {words[0]} {words[-1]}' did not run: {error}")


def without_impossible(run, impossible):
    """The run without the figures of these cases, {key: why no machine gives them}."""
    for case in run["cases"]:
        if case["key"] in impossible:
            drop_figures(case, reason=f"impossible, {impossible[case['key']]}")
    return run


def told_again(name, program):
    """The run as ucx-bench writes it today."""
    if program is None:
        raise NotARun(f"'{name}' is of an older ucx-bench, or was interrupted; write it anew with ucx-bench report --json")
    try:
        done = subprocess.run([program, "report", name, "--quiet", "--json", "-"], capture_output=True, text=True,
                              timeout=LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotARun(f"'{program} report' did not run: {error}")
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise NotARun(said[-1].removeprefix("ucx-bench: ") if said else f"'{program} report' ended with {done.returncode}")
    return jsontext.parsed(done.stdout)


def says_mps(ranks):
    return isinstance(ranks, list) and any(
        isinstance(rank, dict) and isinstance(rank.get("device"), dict) and "mps" in rank["device"] for rank in ranks)


def drop_figures(case, **more):
    case.update(state="failed", metrics={}, pairs=[], phases=[], exchange={}, limits=[], links=[], sweep={}, **more)


def drop_figures_of_failed(cases):
    """As ucx-bench does, which writes none of what did not pass (harness/result/flaws.hpp); older files have them."""
    for case in cases:
        if case["state"] == "failed" or case["verified"]["errors"]:
            drop_figures(case)


def is_older(case, ranks):
    """Whether it does not say what it shows, of which kind its phases are, or which rank was slowest over all launches; or,
    of ranks that share a GPU, whether they do by MPS."""
    phases, labels = case.get("phases"), case.get("labels")
    if isinstance(labels, list) and "same-gpu" in labels and "time-sliced" not in labels and not says_mps(ranks):
        return True
    return "shows" not in case or isinstance(phases, list) and any(
        isinstance(phase, dict) and not {"kind", "intervals"} <= phase.keys() for phase in phases)


def load(name, program=None):
    """A run whose cases say what they show, and of which kind their phases are; `program` says it of an older file, and
    what a run has measured that ended before its file was whole."""
    if str(name).endswith(JOURNAL):
        return told_again(name, program)
    run = read(name)
    cases = run.get("cases")
    if "journal" in (run.get("run") if isinstance(run.get("run"), dict) else {}) or isinstance(cases, list) and any(isinstance(case, dict) and is_older(case, run.get("ranks")) for case in cases):
        return told_again(name, program)
    try:
        drop_figures_of_failed(cases)
    except DAMAGE as error:
        raise damaged(name, error)
    return run


def written_by(command, schema, name):
    """What `command` wrote, which is no run: "ucx-bench compare --json"."""
    try:
        table = jsontext.parsed(pathlib.Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise NotARun(f"cannot read '{name}': {error.strerror}; give what {command} wrote")
    except jsontext.KeyTwice as error:
        raise NotARun(f"'{name}' is damaged ({error}); give what {command} wrote")
    except (ValueError, RecursionError):
        table = None
    if not isinstance(table, dict) or table.get("schema") != schema:
        raise NotARun(f"'{name}' is not what {command} writes")
    return table


def read(name):
    try:
        text = pathlib.Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise NotARun(f"cannot read '{name}': {error.strerror}; give a file written by ucx-bench --json")
    except UnicodeDecodeError:
        raise NotARun(f"'{name}' is not JSON text; give a file written by ucx-bench --json")
    try:
        run = jsontext.parsed(text)
    except jsontext.KeyTwice as error:
        raise damaged(name, error)
    except (ValueError, RecursionError) as error:
        where = f" at character {error.pos}" if hasattr(error, "pos") else ""
        raise NotARun(
            f"'{name}' is not whole JSON (it ends or breaks{where}); "
            "give a file written by ucx-bench --json"
        )
    schema = run.get("schema") if isinstance(run, dict) else None
    if schema != SCHEMA:
        major = schema.removeprefix(STEM) if isinstance(schema, str) and schema.startswith(STEM) else ""
        if major.isdecimal() and int(major) > MAJOR:
            raise NotARun(
                f"'{name}' was made by a newer ucx-bench ({schema}, this one reads {SCHEMA}); "
                "update ucx-bench"
            )
        raise NotARun(
            f"'{name}' is not a ucx-bench run (no \"schema\": \"{SCHEMA}\"); "
            "give a file written by ucx-bench --json"
        )
    return run
