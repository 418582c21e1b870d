"""dashboard.py: a folder of runs becomes one page that says all that a reader must see, and fetches nothing."""

import datetime
import html
import json
import re

import pytest

import synthetic_tree
from browser import browsed, said_by
from conftest import as_a_script, document
from made_pages import RUNS, SERIES, change, dashboard, data_of, files_of, judged, left_out, made, made_once, runs, text_of
from seen import POLICY


def test_fetches_nothing_and_links_to_its_runs(runs):
    page = made(runs)
    assert POLICY.search(html.unescape(page))
    page = re.sub(r'<script id="dygraphs">.*?</script>', "", page, flags=re.DOTALL)
    assert not re.search(r"\ssrc=|@import|url\(|<iframe|<object|<img", page)
    assert [link for link in re.findall(r"<link [^>]*>", page)] == ['<link rel="icon" href="data:,">']
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|https?://(?!www\.w3\.org/2000/svg)", page)
    links = [link for link in re.findall(r'<a [^>]*?href="([^"#]+)"', page)]
    links += [run[5] for stream in data_of(page)["streams"] for run in stream["runs"]]
    assert len(links) > RUNS and all((runs.parent / link).is_file() for link in links)
    ids = set(re.findall(r'\sid="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= ids


def test_the_first_screen_has_the_verdict_in_words(runs):
    text = text_of(made(runs))
    assert text.startswith("ucx-bench: 8 regressed, 24 unchanged 8 regressed, 24 unchanged 24 runs, 32 series")
    assert "Caveats: synthetic" in text
    shared = "what they share: all shm ≥ 512 KiB."
    assert "Look into 8 rows that regressed, first pingpong/tag/host-host/shm/128MiB bandwidth, GB/s (-9.4 %), since 2025-01-05; " + shared in text
    assert "One cause? all shm ≥ 512 KiB (8 rows, and none that is as before)" in text
    assert "./ucx-bench suite ci/suite.toml --json again.json" in text and "suspects: git log --oneline 1574bddb75c7.." in text
    assert "-9.4 % (-10.1 to -8.6 %), 15 × its noise" in text and "10 launches" in text


def test_rows_without_a_verdict_are_folded(runs):
    document = judged(runs)
    [stream] = document["streams"]
    for row in stream["rows"][:8]:
        row["verdict"] = "inconclusive"
    page = dashboard.page_of(document | {"nothing_decided": "nothing was decided: 8 of 8 rows"})
    folded = re.search(r'<details class="folded"><summary>8 inconclusive</summary>(.*?)</details>', page, flags=re.DOTALL).group(1)
    assert folded.count('<td class="text inconclusive">') == 8 == page.count('<td class="text inconclusive">')
    assert page.count('<span class="spark"') == 1 and "time of the middle row in the last 20 runs" in page
    assert "nothing was decided: 8 of 8 rows" in page and "nothing was decided" not in made(runs)


def test_a_loss_in_history_keeps_its_run_and_has_one_cause(runs):
    page = made(runs)
    shifted = -(-RUNS * 7 // 10)
    day = (synthetic_tree.BEGIN + datetime.timedelta(hours=6 * shifted)).strftime("%Y-%m-%d")
    words = rf"history: \d+ rows worse since {day}, by \+\d+\.\d % at most *: *all shm ≥ \d+ ?\w+"
    assert re.search(words, text_of(page))
    found = data_of(page)
    assert {line["c"][-1][0] for line in found["lines"] if line["c"]} == {shifted}
    assert sum(bool(line["c"]) for line in found["lines"]) >= 4


def test_failed_skipped_and_missing_are_drawn(runs):
    found = data_of(made(runs))
    [stream] = found["streams"]
    assert stream["runs"][RUNS // 2][3:5] == ["failed", "a rank was lost"]
    notes = [line["n"] for line in found["lines"]]
    assert any(of.get(str(RUNS // 3)) == "skipped: no time" for of in notes)
    assert any(of.get(str(RUNS // 2)) == "missing: the run failed" for of in notes)
    assert all(line["v"][RUNS // 3] is None for line, of in zip(found["lines"], notes) if str(RUNS // 3) in of)


def test_cases_that_the_newest_run_lacks_are_told(runs):
    change(files_of(runs)[-1], lambda run: run["cases"][0].update(state="skipped", reason="no adapter", metrics={}))
    assert "○ 1 case of the new run skipped: no adapter" in text_of(made(runs))


def test_a_baseline_never_crosses_an_environment(runs):
    page = made(runs)
    [stream] = data_of(page)["streams"]
    changed = -(-RUNS * 4 // 10)
    assert [mark[:3] for mark in stream["marks"]] == [[changed, "UCX 1.17.0 -> 1.18.0", True]]
    change(files_of(runs)[-1], lambda run: run["ucx"].update(version="1.19.0"))
    text = text_of(made(runs))
    assert "nothing to compare with: no complete run before it has its environment" in text
    assert "Measure the same once more: the next run has a verdict." in text
    # A patch release and a kernel are marks, and no new segment.
    change(files_of(runs)[-1], lambda run: run["ucx"].update(version="1.18.1"))
    page = made(runs)
    assert data_of(page)["streams"][0]["marks"][-1][:3] == [RUNS - 1, "UCX 1.18.0 -> 1.18.1", False]
    assert "8 regressed" in text_of(page)


def test_the_base_of_ab_is_its_other_side(runs):
    def side(name, other):
        return lambda run: run["run"].update(ab={"side": name, "other": other}, command=["./ucx-bench", "ab", "ci/suite.toml"])

    *_, base, new = files_of(runs)
    ids = {file: json.loads(file.read_text())["run"]["id"] for file in (base, new)}
    change(base, side("base", ids[new]))
    change(new, side("new", ids[base]))
    page = made(runs)
    card = next(card for card in page.split('<article class="card">') if ", new on" in card)
    assert ids[base] in text_of(card).partition("base:")[2] and "32 unchanged" in text_of(card)
    assert "the base side of ab: its verdict is that of the new side" in text_of(page)


def test_says_only_where_the_page_is_when_all_is_well(runs):
    page = runs.parent / "page.html"
    asked = document(runs.parent / "asked", **judged(runs))
    done = as_a_script("dashboard.py", asked, "--html", page)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"wrote {page}\n")
    assert "<h2>Verdicts</h2>" in page.read_text(encoding="utf-8")


def test_a_base_of_ones_own(runs):
    base = files_of(runs)[-6]
    page = made(runs, base)
    assert json.loads(base.read_text())["run"]["id"] in text_of(page).partition("Sorted by effect")[0]
    assert data_of(page)["streams"][0]["base"] == RUNS - 6


def test_other_parameters_begin_another_series(runs):
    change(files_of(runs)[-1], lambda run: run["cases"][0]["parameters"].update(window=64))
    found = data_of(made(runs))
    assert len(found["lines"]) == SERIES + 2
    assert sum(line["n"].get(str(RUNS - 1)) == "measured with other parameters" for line in found["lines"]) == 2


def test_the_control_is_shown(runs):
    assert "Not measured on these machines" in text_of(made(runs))
    machine = json.loads(files_of(runs)[-1].read_text())["machine"]["id"]
    study = {"machine": {"id": machine}, "aa": {"comparisons": 500, "false_alarms": 1, "upper95": 0.0094},
             "power": [{"slowdown": 0.05, "detected": 98, "of": 100, "how": "resampled", "windows": True},
                       {"slowdown": 0.02, "detected": 1, "of": 5, "how": "shim", "windows": False}]}
    (runs.parent / "verdict-study.json").write_text(json.dumps(study))
    text = text_of(made(runs))
    assert f"1 false alarm in 500 comparisons of a program with itself on {machine}" in text
    assert "at most 0.94 % of runs" in text
    assert "planted slowdowns of 2 % 5 % resampled, windows over the same launches 98 of 100 shim 1 of 5" in text
    # Of another machine it says nothing about these runs.
    study["machine"]["id"] = "another"
    (runs.parent / "verdict-study.json").write_text(json.dumps(study))
    assert "Not measured on these machines" in text_of(made(runs))
    (runs.parent / "verdict-study.json").write_text("{}")
    assert "is not what ci/verdict-study writes" in left_out(made(runs))["verdict-study.json"]


def test_which_direction_is_better_is_the_runs_own_word(runs):
    def turn(run):
        for case in run["cases"]:
            for metric in (*case["metrics"].values(), *case["shows"]["metrics"]):
                metric["better"] = "higher"

    assert {line["b"] for line in data_of(made(runs))["lines"]} == {"lower", "higher"}
    for file in files_of(runs):
        change(file, turn)
    page = made(runs)
    assert {line["b"] for line in data_of(page)["lines"]} == {"higher"}
    assert "GB/s ↑" in page and 'title="lower is better"' not in page


def test_a_metric_is_called_what_its_own_case_calls_it(runs):
    """Of put, get and atomic operations, latency_us is another time than of messages."""
    def to_get(run):
        for case in run["cases"]:
            if case["parameters"]["api"] == "stream":
                case["shows"]["metrics"][0]["title"] = "time of one get"

    for file in files_of(runs):
        change(file, to_get)
    text = text_of(made(runs))
    assert "pingpong/tag/host-host/tcp/8B latency, µs ↓" in text and "pingpong/stream/host-host/tcp/8B time of one get, µs ↓" in text


def test_names_are_text(runs):
    evil = "</script><script>alert(1)</script>"
    change(files_of(runs)[-1], lambda run: run["run"].update(id=evil, reason=evil, command=[evil]))
    page = made(runs)
    assert "<script>alert" not in page and page.count("<script") == page.count("</script>") <= 3


def with_pairs(rate, slow=None, ranks=4):
    """Every ordered pair of ranks; 3 to 0 reaches `rate`, or all with `slow` do, all others 40 GB/s."""

    def add(run):
        run["ranks"] = [{**run["ranks"][0], "rank": rank, "numa_node": 1 - rank % 2} for rank in range(ranks)]
        pairs = [{"src": src, "dst": dst, "bytes": 1, "messages": 1, "class": "NV2", "path": "nvlink",
                  "p50_GBps": rate if (src, dst) == (3, 0) or slow in (src, dst) else 40.0}
                 for src in range(ranks) for dst in range(ranks) if src != dst]
        parameters = {"bytes": 1 << 20, "memory": ["host", "host"], "transports": ["shm"], "concurrent": "one",
                      "ranks": ranks}
        axis = {"name": "concurrent", "label": "at once", "value": "one", "text": "one pair", "unit": "pairs"}
        shows = {**run["cases"][0]["shows"], "kind": "matrix", "ranks": ranks, "at_once": "one", "axes": [axis]}
        run["cases"].append({**run["cases"][0], "key": "p2p/tag/host-host/shm/1MiB", "benchmark": "p2p",
                             "parameters": parameters, "shows": shows, "pairs": pairs})

    return add


def test_pairs_of_base_and_new_in_order_of_their_nodes(runs):
    change(files_of(runs)[-2], with_pairs(40.0))
    change(files_of(runs)[-1], with_pairs(20.0))
    page = made(runs, files_of(runs)[-2])
    tables = re.findall(r'<table class="heat"><caption>(.*?)</caption>(.*?)</table>', page, flags=re.DOTALL)
    assert [caption for caption, _ in tables] == ["base, GB/s", "new, GB/s", "difference"]
    names = ["from to", "r1, NUMA 0", "r3, NUMA 0", "r0, NUMA 1", "r2, NUMA 1"]
    assert " ".join(names).replace("from to", "from\\to") in text_of(tables[1][1])
    assert '<td class="value shade-51" title="NV2, nvlink">20.0</td>' in tables[1][1]
    assert '<td class="worse shade-70" title="">-50 %</td>' in tables[2][1]
    assert tables[2][1].count('class="worse ') == 1 and "Slower to and from" not in page
    change(files_of(runs)[-1], lambda run: run["cases"].pop())
    change(files_of(runs)[-1], with_pairs(20.0, slow=3))
    assert "Slower to and from every other rank, by more than 5 %: r3, NUMA 0" in text_of(made(runs, files_of(runs)[-2]))


def test_pairs_of_many_ranks_are_maps(runs):
    change(files_of(runs)[-2], with_pairs(40.0, ranks=40))
    change(files_of(runs)[-1], with_pairs(20.0, slow=37, ranks=40))
    page = made(runs, files_of(runs)[-2])
    new, change_of = [chart for chart in charts_of(page) if chart.get("kind") == "map"]
    assert (new["unit"], new["low"], new["high"]) == ("GB/s", 20, 40)
    assert (change_of["unit"], change_of["low"], change_of["high"]) == ("% of base", 50, 100)
    assert "Slower to and from every other rank, by more than 5 %: r37" in text_of(page) and 'class="heat"' not in page


def test_an_interrupted_run_alone_is_to_be_measured_again(runs):
    for file in files_of(runs)[:-1]:
        file.unlink()
    change(files_of(runs)[-1], lambda run: run["run"].update(state="interrupted", reason="terminated by SIGTERM"))
    page = made(runs)
    assert "Measure again: the newest run is interrupted." in text_of(page)
    assert f'<details class="folded"><summary>{SERIES} not compared</summary>' in page


def test_sizes_have_base_new_and_protocols(runs):
    page = made(runs)
    panels = [chart for chart in charts_of(page) if chart["x"] == "size"]
    assert len(panels) == 8
    for panel in panels:
        assert [of["name"] for of in panel["series"]] == ["base", "new"] and panel["marks"] == [[524288, "rendezvous"]]
        assert all(low < value < high for of in panel["series"] for _, value, low, high in of["points"])
    change(files_of(runs)[-1], lambda run: run["cases"][0].update(limits=[{"GBps": 50}]))
    assert ["peak: 50.0 GB/s" in [of["name"] for of in chart["series"]] for chart in charts_of(made(runs))].count(True) == 1


def charts_of(page):
    return [json.loads(html.unescape(chart)) for chart in re.findall(r"data-chart='(.*?)'", page)]


@pytest.mark.parametrize("mode", ["--window-size=1200,800", "--blink-settings=preferredColorScheme=0", "--window-size=360,800"])
def test_a_browser_has_nothing_to_complain_of(runs, tmp_path, mode):
    made(runs)
    seen = browsed(f"{(runs.parent / 'page.html').as_uri()}#row-3", tmp_path, mode)
    # The link opened its row: a history with its cursor, and samples of ten launches.
    assert 'class="cursor"' in seen and "samples in run order, 10 launches" in seen and seen.count("<canvas") >= 2


KEYS = """<script>{
const told = [];
const press = (on, key) => on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const readout = () => document.querySelector(".detail p[aria-live]").textContent.slice(0, 20);
const one = document.querySelector("button[data-line]");
one.focus();
one.click();  // what Enter and space do to a button
told.push(readout());
const plot = document.querySelector(".detail .plot");
plot.focus();
press(plot, "ArrowLeft");
told.push(readout(), document.activeElement === plot);
press(plot, "Home");
told.push(readout());
press(plot, "Escape");
told.push(document.querySelectorAll(".detail").length, document.activeElement === one);
const filter = document.getElementById("filter");
filter.value = "shm latency";
filter.dispatchEvent(new Event("input"));
told.push(document.getElementById("shown").textContent);
filter.value = "";
filter.dispatchEvent(new Event("input"));
const table = document.querySelector(".rows");
table.tHead.querySelectorAll("button")[5].click();  // change
told.push(table.tBodies[0].rows[0].cells[5].textContent);
table.tHead.querySelectorAll("button")[5].click();
told.push(table.tBodies[0].rows[0].cells[5].textContent, table.tHead.rows[0].cells[5].getAttribute("aria-sort"));
document.body.textContent = JSON.stringify(told);
}</script>"""


def test_keys_reach_everything(runs, tmp_path):
    seen = said_by(made(runs), KEYS, tmp_path)
    started = [json.loads(file.read_text())["run"]["started_utc"] for file in files_of(runs)]
    assert seen == [started[-1], started[-2], True, started[0], 0, True, "8 of 32 rows", "-9.4 %", "+10.3 %", "descending"]
