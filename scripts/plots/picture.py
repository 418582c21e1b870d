"""One picture of runs: what is found of each kind is drawn one below the other."""

import collections
import pathlib

import commandline
import runfile
from plots import curves, matrix, ways, workload
from plots.common import Provenance, pyplot

KINDS = (ways, curves, matrix, workload)
WIDTH = 12  # inches


def parts_of(runs):
    """Where runs ({"run", "file"}) come from, and the parts of their picture. One that is damaged is left out and
    named, alone it is a NotARun."""
    stems = collections.Counter(pathlib.Path(of["file"]).stem for of in runs)
    provenances, found = [], {kind: [] for kind in KINDS}
    for run, file in ((of["run"], of["file"]) for of in runs):
        stem = pathlib.Path(file).stem
        try:
            of_run = [kind.read(run, stem if stems[stem] == 1 else file) for kind in KINDS]
            provenances.append(Provenance.of(run))
        except runfile.DAMAGE as error:
            damage = runfile.damaged(file, error)
            if len(runs) == 1:
                raise damage
            commandline.say(f"plot: {damage}: it is left out")
            continue
        for kind, parts in zip(KINDS, of_run):
            found[kind] += parts
    return provenances, [part for kind, of in found.items() for part in kind.parts(of)]


def draw(provenances, parts):
    plt = pyplot()
    heights = [part.height for part in parts]
    figure = plt.figure(figsize=(WIDTH, sum(heights)), dpi=100, layout="constrained")
    places = figure.subfigures(len(parts), 1, height_ratios=heights) if len(parts) > 1 else [figure]
    for place, part in zip(places, parts):
        part.draw(place, provenances)
    return figure
