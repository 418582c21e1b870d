"""What documents say of records: their figures are those of the records, and what they name is there."""

import functools
import json
import re
import subprocess
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "bench/fidelity"))

RECORDS = ROOT / "results"
PEERS = RECORDS / "peers/vm-60992029-ucx-1.21.0.json"
FIDELITY = RECORDS / "fidelity/vm-60992029-ucx-1.13.1"
HEX = re.compile(r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b")


def tables_of(page):
    """Of a page of docs/method, its tables: rows of cells, the head first."""
    text = (ROOT / "docs/method" / page).read_text()
    found = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    return [[[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()] for table in found]


def table_with(page, *head):
    """The rows of the one table whose head begins so, by their first cell."""
    [rows] = [rows for rows in tables_of(page) if all(words in cell for words, cell in zip(head, rows[0]))]
    return {row[0]: row[1:] for row in rows[2:]}


def rounds_to(value, text):
    """Whether a value is what a text says, to the digits that it has."""
    return value is not None and f"{value:.{len(text.partition('.')[2])}f}" == text


@functools.cache
def ratios_of(file):
    """By cell, of the fidelity records: (median, low, high)."""
    cells = json.loads(file.read_text())["cells"]
    return {cell["key"]: (cell["ratio"]["median"], *(cell["ratio"]["ci95"] or (None, None))) for cell in cells}


def test_a_record_of_peers_says_what_carried_each_row():
    """And its tables are made of it: no ratio stands where another transport carried the messages than the table's."""
    import carried
    import peer_record

    result = json.loads(PEERS.read_text())
    assert PEERS.with_suffix(".md").read_text() == peer_record.markdown(result)
    for cell in (cell for cell in result["cells"] if cell["message"]):
        for name, figure in cell["figures"].items():
            assert figure["carried_by"], (cell["key"], name)
            others = carried.is_of(figure["carried_by"], cell["message"]["transport"]) is False
            assert not others or figure["ratio"]["median"] is None, (cell["key"], name)


LAYERS = {"`ucx-bench`": "ucx-bench", "MPI (OSU), its own transports": "osu", "MPI (OSU) over UCX": "osu over UCX",
          "mpi4py, its own transports": "mpi4py", "UCXX asyncio": "ucxx async",
          "Dask's communication over UCX": "dask ucx", "… over TCP": "dask tcp"}


def test_the_page_of_peers_quotes_its_record():
    cells = {cell["key"]: cell["figures"] for cell in json.loads(PEERS.read_text())["cells"]}
    columns = [cells[f"{key}"] for key in ("tcp/tag/latency/8B", "shm/tag/latency/8B", "tcp/tag/latency/1MiB")]
    rows = table_with("peers.md", "layer", "8 B over tcp")
    assert rows.keys() == LAYERS.keys()
    for layer, texts in rows.items():
        for text, figures in zip(texts, columns):
            figure = figures.get(LAYERS[layer])
            if figure is None or figure["ratio"]["median"] is None:
                assert text == ("–" if figure is None else "withdrawn"), layer
            else:
                assert rounds_to(figure["ratio"]["median"], text), (layer, text)


def test_rows_of_ours_that_do_not_agree_are_quoted():
    """Each interval over ucx_perftest that leaves 1 out stands on the page, with its median."""
    text = (ROOT / "docs/method/peers.md").read_text()
    left_out = 0
    for cell in json.loads(PEERS.read_text())["cells"]:
        ratio = cell["figures"]["ucx-bench"]["ratio"]
        if cell["message"] and not ratio["ci95"][0] <= 1 <= ratio["ci95"][1]:
            left_out += 1
            size = cell["key"].rpartition("/")[2].replace("B", " B").replace("Ki B", " KiB")
            quoted = rf"{ratio['median']:.2f} times its {cell['metric']} of {size} over {cell['message']['transport']} " \
                     rf"\({ratio['ci95'][0]:.2f} to {ratio['ci95'][1]:.2f}\)"
            assert re.search(quoted, text), quoted
    assert f"{['no', 'one', 'two', 'three'][left_out]} intervals leave 1 out" in text


def test_the_page_of_fidelity_counts_its_records():
    text = (ROOT / "docs/method/fidelity.md").read_text()

    def verdicts(file, kind=""):
        found = [cell["verdict"] for cell in json.loads(file.read_text())["cells"] if kind in cell["key"]]
        return [found.count(word) for word in ("agrees", "differs", "inconclusive")], len(found)

    main = FIDELITY.with_name(FIDELITY.name + ".json")
    (agree, differ, _), cells = verdicts(main)
    (latency, _, _), latencies = verdicts(main, "/latency/")
    (bandwidth, _, _), bandwidths = verdicts(main, "/bandwidth/")
    assert f"{agree} of {cells} cells agree (latency {latency} of {latencies}, bandwidth {bandwidth} of {bandwidths})" in text
    assert f"{['no', 'one', 'two'][differ]} differ" in text
    for row, counts in table_with("fidelity.md", "record", "agree", "differ").items():
        file = ROOT / "docs/method" / (re.search(r"\((.*?)\.md\)", row)[1] + ".json")
        assert [int(count) for count in counts] == verdicts(file)[0], row


PLAIN = ("plain-send-books", "plain-receive-books", "plain-send-books-receive-books")


def test_the_page_of_fidelity_quotes_the_plain_loop():
    def ratio(part, cell):
        return ratios_of(FIDELITY.with_name(f"{FIDELITY.name}{part and '-' + part}.json"))[cell][0]

    compared = 0
    for name, (ours, plain, books, _) in table_with("fidelity.md", "cell", "`ucx-bench`", "plain loop").items():
        transport, what = name.split(",")[0].split(" ")[0], "latency" if "latency" in name else "bandwidth"
        key = f"{transport}/{'stream' if 'stream' in name else 'tag'}/{what}/{name.rpartition(', ')[2].replace(' ', '')}"
        assert rounds_to(ratio("", key), ours), (name, ours)
        for part, text in zip(("plain", *PLAIN), [plain, *books.split(" / ")]):
            if text:
                assert rounds_to(ratio(part, key), text), (name, part, text)
                compared += 1
    assert compared == 16


def test_the_page_of_the_verdict_study_quotes_its_record():
    study = json.loads((RECORDS / "verdict-study.json").read_text())
    layouts, real = study["aa"]["layouts"], study["aa"]["real"]["nothing changed"]
    power = {(row["how"], row["slowdown"]): row for row in study["power"]}

    def found(how, slowdown=0.05):
        row = power[f"resampled, {how}", slowdown]
        return f"{100 * row['detected'] / row['of']:.0f} %"

    def seen(layout):
        return f"{100 * power[f'resampled, all cases, {layout}', 0.2]['seen']:.0f} %"

    [unequal] = [name for name in layouts if name.startswith("placements met unequally")]
    turns, blocks, shaped = layouts["A B B A"], layouts["all A, all B"], power["shaped link", 0.01]
    quoted = (
        f"nothing changed, {real['comparisons']} comparisons that", f"at most {100 * real['upper95']:.0f} % of runs",
        f"{turns['comparisons']} windows over the same {study['recorded']['launches']['launches']} launches",
        f"| {turns['false_alarms']} false alarms (windows",
        f"{blocks['false_alarms']} false alarms in {blocks['comparisons']} windows",
        f"a loss of 5 % in all cases, interleaved | found in {found('all cases')}",
        f"5 % found in {found('one case')}, 10 % in {found('one case', 0.1)}",
        f"estimated as {seen('all A, all B')} and {seen(unequal)} of the loss",
        f"found in {shaped['detected']} of {shaped['of']} comparisons",
        f"ucx-bench {study['commit'][:8]}", f"ucx-bench {re.search('commit ([0-9a-f]{7})', study['judged_by'])[1]}",
    )
    text = (ROOT / "docs/method/verdict-study.md").read_text()
    assert not [words for words in quoted if words not in text]
    assert real["false_alarms"] == 0 and "| no false alarm;" in text


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)


def named_commits():
    """(commit, where): of records what they say of the program that made them, of pages what looks like a commit."""
    for file in sorted(RECORDS.rglob("*.json")):
        text = file.read_text()
        for found in {*re.findall(r'"commit": ?"([0-9a-f]{7,40})"', text), *re.findall(r"\(commit ([0-9a-f]{7,40})\b", text)}:
            yield found, file.name, ""
    for page in (*RECORDS.rglob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"):
        for line in page.read_text().splitlines():
            for found in re.findall(r"(?:commit|ucx-bench|at|archive|of) `?([0-9a-f]{7,40})\b", line):
                if HEX.fullmatch(found):
                    yield found, page.name, line


def test_commits_are_in_the_history_or_said_not_to_be():
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("no history here: commits cannot be looked up")
    found = list(named_commits())
    assert len(found) > 20
    unknown = [(commit, where) for commit, where, line in found
               if git("cat-file", "-t", commit).stdout.strip() != "commit" and "not in the history" not in line]
    assert not unknown


# Of a measured rate, time or change.
FIGURE = re.compile(r"\d ?(?:GB/s|MB/s|µs|ns\b|msg/s|times as|% (?:slower|faster))")
# A command, what it prints, a record, or the page of one.
SOURCE = re.compile(r"`(?:\$ )?(?:ucx-bench|\./|ci/|build/|bench/|scripts/|study\.py|plain_loop|[a-z_.]+\.py|[a-z-]+ --|--[a-z])"
                    r"[^`]*`|```|results/|\((?:peers|verdict-study|fidelity|duets)\.md")
# Sections whose figures are definitions, formulas or data sheets.
NOT_MEASURED = {("limits.md", "## Peaks of paths"), ("limits.md", "## Impossible rates"),
                ("topology.md", "## Where the facts come from")}


def sections():
    for page in (ROOT / "README.md", *sorted((ROOT / "docs/method").glob("*.md"))):
        for section in re.split(r"(?m)^(?=#+ )", page.read_text()):
            yield (page.name, section.partition("\n")[0]), section


def test_figures_stand_beside_their_command_or_record():
    assert NOT_MEASURED <= {name for name, _ in sections()}
    bare = [name for name, section in sections() if FIGURE.search(section) and not SOURCE.search(section)]
    assert set(bare) <= NOT_MEASURED, set(bare) - NOT_MEASURED
    assert FIGURE.search("it has 3.1 GB/s") and not SOURCE.search("it has 3.1 GB/s")
