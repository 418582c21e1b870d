"""The LogGP parameters that were fitted to measured sizes, on a page."""

from pages.sections import interval_text, known, without_unknown
from plots.common import interval_in, size_text

PARAMETERS = {"L_ns": "L, ns", "o_s_ns": "o_s, ns", "o_r_ns": "o_r, ns", "g_ns": "g, ns", "G_ns_per_byte": "G, ns/B"}
HEAD = ["sizes", *(cell for title in PARAMETERS.values() for cell in (title, "95 % CI"))]


def interval_of(fitted, name):
    return interval_in({"interval": fitted["intervals"][name]} if "intervals" in fitted else {"ci95": fitted["ci95"][name]})


def row_of(fitted):
    row = [f"{size_text(fitted['from_bytes'])} to {size_text(fitted['to_bytes'])}"]
    for name in PARAMETERS:
        value = fitted[name]
        row += ["overlap" if value is None and "overlap_ns" in fitted else known(value, 3), interval_text(interval_of(fitted, name))]
    return row


def of_run(run):
    """One table for each block of cases with a model."""
    def left_out(entry):
        return [[f"{size_text(size['bytes'])}, left out: {size['flaw']}"] + ["–"] * (len(HEAD) - 1) for size in entry.get("left_out", [])]

    return [{"title": entry["title"]} | without_unknown(HEAD, [row_of(fitted) for fitted in entry["ranges"]] + left_out(entry))
            for entry in run.get("loggp_fits") or []]
