"""What `peers.py` found, as JSON, and from that as Markdown and as a page."""

import statistics

import carried
import report  # before pages: it says where these are
from cells import SIZES, WINDOW, Cell
from intervals import describe
from pages import charts, template
from report import in_tree, number

UNITS = {"latency": "µs", "bandwidth": "GB/s", "throughput": "GB/s"}
DEFINITIONS = {
    "latency": "One-way time of a message: half of a round trip, median over iterations. Lower is better.",
    "bandwidth": f"The sender's bytes over time, {WINDOW} messages under way. Higher is better.",
    "throughput": "Bytes of the input over wall-clock seconds: of a merge 16 bytes for each row of both tables, of a "
                  "transpose 8 for each element. Making the data is outside. Higher is better.",
}
HOW = (
    "All ran on the same two CPUs, one after the other, in turns: A B C, C B A, …; every run is a fresh process, but for "
    "engines, which keep their tables. A figure is the median over rounds. A ratio is taken within a round; "
    "in brackets is the 95 % interval of the ratios' median, by order statistics, which needs 6 rounds."
)


def reference_of(cell, names):
    """To whom the others are compared: a message to UCX's own tool, a workload to ours."""
    return "ucx_perftest" if isinstance(cell, Cell) and "ucx_perftest" in names else "ucx-bench"


def cell_record(cell, peers, record, absent):
    """`peers` are all that measure such a cell, by name; `absent` are those that cannot run, and why."""
    reference = reference_of(cell, peers.keys() - absent)
    figures = {}
    for name, peer in peers.items():
        values = record.values(name)
        figures[name] = {
            "median": statistics.median(values) if values else None,
            "ratio": describe(record.ratios(name, reference)),
            "failures": record.failures.get(name, 0),
            "failure": f"cannot run here: {absent[name]}" if name in absent else record.reasons.get(name),
            "note": peer.note(cell),
            "carried_by": peer.carried_by(cell) if values else None,
            "command": in_tree(" ".join(map(str, peer.command(cell)))),
        }
    of_message = {"transport": cell.transport, "bytes": cell.bytes} if isinstance(cell, Cell) else None
    return {
        "key": cell.key, "metric": cell.metric, "unit": UNITS[cell.metric], "message": of_message,
        "input_bytes": None if of_message else cell.bytes, "reference": reference, "figures": figures,
        "rounds": record.rounds(),
    }


def is_of(figure, cell):
    """Whether what was asked for carried it; None where nobody knows."""
    return carried.is_of(figure["carried_by"], cell["message"]["transport"])


def figure_text(figure, cell):
    """3.21 (1.04, 0.99–1.09): value, ratio and its interval; of what another transport carried no ratio, but which."""
    if figure["median"] is None:
        return "–"
    ratio = figure["ratio"]
    if is_of(figure, cell) is False:
        return f"{number(figure['median'])} over {figure['carried_by']}"
    if ratio["median"] is None:
        return number(figure["median"])
    interval = f", {report.interval_text(ratio, 2)}" if ratio["ci95"] else ""
    return f"{number(figure['median'])} ({ratio['median']:.2f}{interval})"


def proof_text(figures):
    """What carried the messages of a row, of all its cells."""
    found = dict.fromkeys(figure["carried_by"] for figure in figures if figure and figure["carried_by"])
    return ", ".join(found) or "–"


def groups_of(result):
    """The messages of one transport and metric: [((transport, metric), cells)]."""
    found = {}
    for cell in filter(lambda cell: cell["message"], result["cells"]):
        found.setdefault((cell["message"]["transport"], cell["metric"]), []).append(cell)
    return list(found.items())


def size_name(size):
    return next(name for name, of in SIZES.items() if of == size)


def failures_of(result):
    return [f"{name}, {cell['key']}: {figure['failures']} run{'s' if figure['failures'] > 1 else ''} failed: {figure['failure']}."
            for cell in result["cells"] for name, figure in cell["figures"].items() if figure["failures"]]


def message_table(result, key, cells):
    transport, metric = key
    rows = []
    for peer in result["peers"]:
        figures = [cell["figures"].get(peer["name"]) for cell in cells]
        if any(figures):
            texts = [figure_text(figure, cell) if figure else "–" for figure, cell in zip(figures, cells)]
            if peer["reason"]:
                texts = [f"cannot run here: {peer['reason']}", *[""] * (len(cells) - 1)]
            rows.append([peer["name"], peer["layer"], proof_text(figures), *texts])
    return {
        "title": f"Messages over {transport}: {metric}, {UNITS[metric]}",
        "about": f"{DEFINITIONS[metric]} In brackets: over {cells[0]['reference']}. *Carried by*: what UCX, or the only "
                 f"transport that was allowed, says; else {carried.UNKNOWN}.",
        "head": ["", "layer", "carried by", *(f"{size_name(cell['message']['bytes'])}:" for cell in cells)],
        "rows": rows,
    }


def load_table(cells):
    rows = [[cell["key"], name, number(figure["median"]),
             "–" if figure["ratio"]["median"] is None else f"{figure['ratio']['median']:.3f}",
             report.interval_text(figure["ratio"]), str(figure["ratio"]["pairs"]), figure["carried_by"] or "–", figure["failure"] or figure["note"]]
            for cell in cells for name, figure in cell["figures"].items()]
    return {
        "title": "Workloads: throughput, GB/s",
        "about": f"{DEFINITIONS['throughput']} The ratio is to ucx-bench.",
        "head": ["workload", "", "GB/s:", "ratio:", "95 % interval", "rounds:", "carried by", ""], "rows": rows,
    }


def peer_table(result):
    rows = []
    for peer in result["peers"]:
        used = [cell["figures"][peer["name"]]["command"] for cell in result["cells"] if peer["name"] in cell["figures"]]
        rows.append([peer["name"], peer["layer"], f"cannot run here: {peer['reason']}" if peer["reason"] else peer["version"],
                     peer["about"], used[0] if used else "–"])
    return {"title": "Who was asked", "about": "The command is that of the first figure; the JSON has all.",
            "head": ["", "layer", "version", "", "command"], "rows": rows}


def tables_of(result):
    loads = [cell for cell in result["cells"] if not cell["message"]]
    tables = [message_table(result, *group) for group in groups_of(result)]
    return tables + ([load_table(loads)] if loads else []) + [peer_table(result)]


def paragraphs(result):
    machine, ucx = result["machine"], result["ucx"]
    return [
        f"{result['finished_utc']}, {result['state']}, {result['rounds']} rounds. {report.machine_text(machine)}",
        f"UCX {ucx['version']}, `{ucx['library']}`. {report.program_text(result['ucx_bench'])}. TCP congestion control "
        f"{machine['tcp_congestion_control']}.",
        *([result["withdrawn"]] if result.get("withdrawn") else []),
        HOW,
        "Other programs may have run beside these: the load before and after tells. Turns spread that over all.",
        *failures_of(result),
    ]


def markdown(result):
    lines = ["# ucx-bench beside others", ""]
    for text in paragraphs(result):
        lines += [text, ""]
    for table in tables_of(result):
        lines += [f"## {table['title']}", "", table["about"], "", *report.table(table["head"], table["rows"]), ""]
    return "\n".join([*lines, f"`{result['command']}`", ""])


def page(result):
    places = {peer["name"]: place for place, peer in enumerate(result["peers"])}  # of one colour in all charts
    shown = []
    for (transport, metric), cells in groups_of(result):
        reference, series = cells[0]["reference"], []
        for name in dict.fromkeys(name for cell in cells for name in cell["figures"] if name != reference):
            ratios = [(cell["message"]["bytes"], cell["figures"][name]["ratio"]) for cell in cells
                      if name in cell["figures"] and is_of(cell["figures"][name], cell) is not False]
            line, color = divmod(places[name], len(charts.COLORS))
            series.append({
                "name": name, "color": color, "dash": charts.DASHES[charts.LINES[line % len(charts.LINES)]],
                "points": [charts.point(size, of["median"], of["ci95"]) for size, of in ratios if of["median"] is not None],
            })
        shown.append(charts.chart(f"{metric} over {transport}", f"over that of {reference}", "size", "×", series))
    tables = [table | {"head": [name.removesuffix(":") for name in table["head"]]} for table in tables_of(result)]
    return template.render("study.html.j2", {
        "title": "ucx-bench beside others", "paragraphs": [text.replace("`", "") for text in paragraphs(result)],
        "charts": shown, "tables": tables, "command": result["command"],
    })
