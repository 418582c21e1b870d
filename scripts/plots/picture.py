"""One picture of run files: what is found of each kind is drawn one below the other."""

import pathlib

import runfile
from plots import curves, matrix, ways, workload
from plots.common import Provenance, pyplot

KINDS = (ways, curves, matrix, workload)
WIDTH = 12  # inches


def parts_of(runs):
    """Where runs come from, and the parts of their picture. Runs as (file, run); NotARun for one that is
    damaged."""
    stems = [pathlib.Path(file).stem for file, _ in runs]
    provenances, found = [], {kind: [] for kind in KINDS}
    for (file, run), stem in zip(runs, stems):
        try:
            provenances.append(Provenance.of(run))
            for kind in KINDS:
                found[kind] += kind.read(run, stem if stems.count(stem) == 1 else str(file))
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise runfile.damaged(file, error)
    return provenances, [part for kind, of in found.items() for part in kind.parts(of)]


def draw(provenances, parts):
    plt = pyplot()
    heights = [part.height for part in parts]
    figure = plt.figure(figsize=(WIDTH, sum(heights)), dpi=100, layout="constrained")
    places = figure.subfigures(len(parts), 1, height_ratios=heights) if len(parts) > 1 else [figure]
    for place, part in zip(places, parts):
        part.draw(place, provenances)
    return figure
