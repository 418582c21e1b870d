"""What a page says of a sweep over hosts: which host, rail or link is slow, and a map of rails by hosts."""

from pages.heat import cell, palest
from pages.sections import known
from plots.common import percent, row_name

MOST_HOSTS = 256
SHARES_OF = {"limit": "the limit", "median": "the median pair between hosts"}
END_HEAD = ["pairs", "GB/s, p50", "share", "sends", "receives", "z", "slow"]


def part(share):
    return "–" if share is None else percent(share)


def end_cells(end):
    return [known(end["pairs"]), known(end["p50_GBps"]), part(end["share"]), part(end["sends"]), part(end["receives"]),
            f"{end['z']:.1f}", end["slow"] or ""]


def rail_map(sweep):
    """Rows are hosts in the order of their ranks, columns the numbers of ranks on them, named by their device where all hosts
    have the same."""
    first, devices, cells = {}, {}, {}
    for rail in sweep["rails"]:
        first[rail["host"]] = min(first.get(rail["host"], rail["rank"]), rail["rank"])
        devices.setdefault(rail["rail"], set()).add(rail["devices"])
        cells[rail["host"], rail["rail"]] = rail
    hosts, columns = sorted(first, key=first.get)[:MOST_HOSTS], sorted(devices)
    shares = [rail["share"] for rail in sweep["rails"]]
    low, top = palest(shares), max(shares, default=1)

    def at(host, column):
        rail = cells.get((host, column))
        if rail is None:
            return cell(None, low, top)
        about = f"rank {rail['rank']}{', ' + rail['devices'] if rail['devices'] else ''}: {known(rail['p50_GBps'])} GB/s; " \
                f"of the median rank it sends {part(rail['sends'])} and receives {part(rail['receives'])}, z {rail['z']:.1f}"
        return cell(rail["share"], low, top, about) | {"text": percent(rail["share"])}

    def name(column):
        of = devices[column]
        return f"rail {column}" + (f" ({only})" if len(of) == 1 and (only := next(iter(of))) else "")

    return {"hosts": hosts, "columns": [name(column) for column in columns], "rows": [[at(host, column) for column in columns] for host in hosts]}


def coverage(sweep):
    """Of pairs between hosts that were not measured nothing is said."""
    measured, every = sweep.get("measured_pairs"), sweep.get("all_pairs")
    return "" if measured == every else f", only {measured} of {every} pairs between hosts measured"


def of_run(run):
    """One for each case that has a sweep."""
    sweeps = []
    for case in run["cases"]:
        sweep = case.get("sweep")
        if not sweep:
            continue
        slow_rails = [rail for rail in sweep["rails"] if rail["slow"]]
        sweeps.append({
            "title": f"{case['shows']['title']}, {row_name(case)}",
            "of": SHARES_OF[sweep["against"]] + coverage(sweep),
            "hosts": [[host["host"], *end_cells(host)] for host in sweep["hosts"][:MOST_HOSTS]],
            "more": max(0, len(sweep["hosts"]) - MOST_HOSTS),
            "head": ["host", *END_HEAD],
            "map": rail_map(sweep),
            "rails": [[f"r{rail['rank']}", rail["host"], rail["devices"] or "?", *end_cells(rail)] for rail in slow_rails],
            "rails_head": ["rank", "host", "device", *END_HEAD],
            "links": [[link["from"], link["to"], known(link["p50_GBps"]), part(link["share"]), part(link["of_expected"]),
                       f"{link['z']:.1f}"] for link in sweep["links"]],
        })
    return sweeps
