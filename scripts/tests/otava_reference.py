#!/usr/bin/env python3
"""Makes otava_reference.json, what Apache Otava finds in invented series; run with apache-otava 0.8.0 installed."""

import importlib.metadata
import json
import pathlib

import numpy as np
from otava.analysis import compute_change_points
from otava.change_point_divisive.calculator import PairDistanceCalculator

LEVELS = {  # (values, level in percent of the first) in turn; the noise is 1 %
    "steady": [(200, 100)],
    "slower": [(60, 100), (60, 105)],
    "much slower": [(60, 100), (60, 150)],
    "faster": [(80, 100), (30, 93)],
    "slower and back": [(70, 100), (25, 108), (60, 100)],
    "a staircase": [(50, 100), (50, 106), (50, 112), (50, 106)],
    "early": [(8, 100), (60, 110)],
    "late": [(90, 100), (6, 110)],
    "long": [(300, 100), (400, 104), (300, 108)],
}


def series_of(levels, seed):
    noise = np.random.default_rng(seed)
    parts = [level * (1 + 0.01 * noise.normal(size=count)) for count, level in levels]
    return [round(float(value), 4) for value in np.concatenate(parts)]


def splits_of(values):
    """The statistic of every split of the whole."""
    return [float(value) for value in PairDistanceCalculator(np.array(values))._get_Q_vals(0, len(values))[:, -1]]


def main():
    series = {name: series_of(levels, seed) for seed, (name, levels) in enumerate(LEVELS.items())}
    found = {name: compute_change_points(values, window_len=50, max_pvalue=0.001, min_magnitude=0.005)[0]
             for name, values in series.items()}
    reference = {
        "made_by": f"otava_reference.py with apache-otava {importlib.metadata.version('apache-otava')}; synthetic",
        "series": {name: {"changes": [point.index for point in found[name]], "values": values}
                   for name, values in series.items()},
        "splits": {"of": "slower", "first": 50, "energies": splits_of(series["slower"][:50])},
    }
    file = pathlib.Path(__file__).parents[2] / "harness/analysis/history/otava_reference.json"
    file.write_text(json.dumps(reference, default=int).replace('], "', '],\n"').replace('}, "', '},\n"') + "\n")


if __name__ == "__main__":
    main()
