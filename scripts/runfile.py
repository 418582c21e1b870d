"""Reads run files of ucx-bench."""

import json
import pathlib

SCHEMA = "ucx-bench/run/1"
STEM, MAJOR = "ucx-bench/run/", 1


# What reading a damaged file as if it were a whole one may raise.
DAMAGE = (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError)


class NotARun(Exception):
    """One line: what is wrong with the file, and what would be right."""


def damaged(name, error):
    """What to raise when a part of it is not as it should be."""
    return NotARun(
        f"'{name}' is a damaged ucx-bench run ({type(error).__name__}: {error}); "
        "give it as ucx-bench --json wrote it"
    )


def load(name):
    try:
        text = pathlib.Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise NotARun(f"cannot read '{name}': {error.strerror}; give a file written by ucx-bench --json")
    except UnicodeDecodeError:
        raise NotARun(f"'{name}' is not JSON text; give a file written by ucx-bench --json")
    try:
        run = json.loads(text)
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
