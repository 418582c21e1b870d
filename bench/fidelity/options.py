"""Options that the scripts here share."""

import argparse
import os
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]


def program(text):
    found = shutil.which(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"no program '{text}'")
    return os.path.abspath(found)


UCX_BENCH = {"type": program, "default": str(ROOT / "build/release/bin/ucx-bench"), "metavar": "FILE"}
OUTPUT = {"type": pathlib.Path, "default": ROOT / "results/fidelity", "metavar": "FOLDER"}
