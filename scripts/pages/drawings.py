"""Pictures inside a page: SVG without its XML head."""

import io

import topology
from plots import picture


def inline(figure):
    import matplotlib.pyplot as plt

    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def of_cases(run, file):
    """Every part of the run's picture by itself: a page may break between them."""
    import matplotlib

    # Letters as such: they can be searched for, and a tenth of the size.
    matplotlib.rcParams["svg.fonttype"] = "none"
    provenances, parts = picture.parts_of([(file, run)])
    return [inline(picture.draw(provenances, [part])) for part in parts]


def of_topology(wiring):
    if not wiring.get("devices"):
        return None
    return inline(topology.draw(*topology.read(wiring)))
