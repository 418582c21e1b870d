"""Reads what ucx-bench has written for a script to draw. That is whole JSON, but parts of it are as a run file has them."""

import json
import pathlib

# What reading a damaged part as if it were a whole one may raise.
DAMAGE = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError)


class NotARun(Exception):
    """One line: what is wrong with the file, and what would be right."""


def damaged(name, error):
    """What to raise when a part of it is not as it should be."""
    return NotARun(
        f"'{name}' is a damaged ucx-bench run ({type(error).__name__}: {error}); "
        "give it as ucx-bench --json wrote it"
    )


def read(name):
    return json.loads(pathlib.Path(name).read_text(encoding="utf-8"))
