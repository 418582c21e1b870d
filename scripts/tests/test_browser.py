"""Pages in a browser: what is pointed at is told, parts are zoomed, tables are sorted, keys do the same."""

import re

import pytest
import synthetic_run

from browser import said_by
from conftest import ROOT, load
from logs import keep_two_ranks, log_of
from seen import page_of, synthetic


POINT = """<script>{
const told = [], plot = document.querySelector(".plot"), canvas = [...plot.querySelectorAll("canvas")].pop();
const legend = () => plot.querySelector(".legend").textContent;
const box = canvas.getBoundingClientRect();
const mouse = (kind, part) => canvas.dispatchEvent(new MouseEvent(kind, { bubbles: true, clientX: box.left + part * box.width, clientY: box.top + 60, view: window }));
mouse("mousemove", 0.99);
told.push(legend());
plot.focus();
plot.dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true }));
told.push(legend());
const ticks = () => [...plot.querySelectorAll(".dygraph-axis-label-x")].map((label) => label.textContent);
told.push(ticks());
mouse("mousedown", 0.6);
mouse("mousemove", 0.8);
mouse("mousemove", 1);
mouse("mouseup", 1);
told.push(ticks());
mouse("dblclick", 0.5);
told.push(ticks());
const table = [...document.querySelectorAll("table")].find((one) => one.tHead?.rows.length === 2 && one.tBodies[0].rows.length === 3);
table.tHead.rows[1].querySelectorAll("button")[0].click();
table.tHead.rows[1].querySelectorAll("button")[0].click();
told.push(table.tBodies[0].rows[0].cells[0].textContent, csvOf(table).split("\\n").slice(1, 3));
document.body.textContent = JSON.stringify(told);
}</script>"""


def test_plots_are_hovered_and_zoomed_and_tables_sorted_in_a_browser(tmp_path):
    text = page_of(synthetic(2, tmp_path), "synthetic", ROOT)
    last, first, ticks, zoomed, whole, size, lines = said_by(text, POINT, tmp_path)
    assert last.startswith("1 MiB") and "µs (" in last and first.startswith("8 B")
    assert ticks == whole == ["8 B", "1 KiB", "1 MiB"] and zoomed == ["1 MiB"]
    assert lines[0].endswith("transport used,verified") and lines[1].startswith(size)


ENLARGE = """<script>{
const drawing = document.querySelector(".drawing"), width = () => drawing.querySelector("svg").getBoundingClientRect().width;
drawing.style.width = "300px";
const told = [width() <= drawing.clientWidth];
drawing.querySelector("input").click();
told.push(width(), document.documentElement.scrollWidth <= innerWidth);
document.body.textContent = JSON.stringify(told);
}</script>"""


def test_a_drawing_fits_the_window_until_its_full_size_is_asked_for(tmp_path):
    run = synthetic(2, tmp_path)
    run["topology"] = synthetic_run.topology()
    text = page_of(run, "synthetic", ROOT)
    whole = int(re.search(r"--whole: (\d+)px", text).group(1))
    assert whole > 300 and said_by(text, ENLARGE, tmp_path) == [True, whole, True]


# The last canvas of a plot takes the mouse.
FIELD = """
const told = [], plot = document.querySelector(".plot"), canvas = [...plot.querySelectorAll("canvas")].pop(), box = canvas.getBoundingClientRect();
const words = () => plot.querySelector(".legend").textContent;
const mouse = (kind, x, y, more = {}) => canvas.dispatchEvent(new MouseEvent(kind, { bubbles: true, clientX: box.left + x, clientY: box.top + y, view: window, ...more }));
const drag = (from, to, y) => { mouse("mousedown", from, y); mouse("mousemove", (from + to) / 2, y, { buttons: 1 }); mouse("mousemove", to, y, { buttons: 1 }); mouse("mouseup", to, y); };
const press = (key) => plot.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const ticks = () => [...plot.querySelectorAll(".dygraph-axis-label-x")].map((label) => label.textContent);
"""

TIMELINE = f"""<script>{{{FIELD}
told.push(words());
mouse("mousemove", box.width - 20, 20);
told.push(words(), plot.querySelector(".box").hidden);
const whole = ticks();
drag(box.width / 2, box.width * 0.75, 20);
told.push(ticks().length > 0 && ticks()[0] !== whole[0], words());
mouse("dblclick", box.width / 2, 20);
told.push(JSON.stringify(ticks()) === JSON.stringify(whole));
plot.focus();
press("ArrowDown");
press("ArrowDown");
told.push(words());
press("ArrowLeft");
told.push(words());
document.body.textContent = JSON.stringify(told);
}}</script>"""


def test_a_timeline_tells_what_is_pointed_at_and_is_zoomed(run_file, tmp_path):
    file = run_file(keep_two_ranks, which="workload")
    (tmp_path / "run.transfers.bin").write_bytes(log_of(2))
    page = page_of(load(file), str(file), tmp_path)
    timeline_first = page.replace("data-chart='{\"about\"", "data-none='{\"about\"")  # the curves are no matter here
    hint, late, hidden, zoomed, again, whole, below, before = said_by(timeline_first, TIMELINE, tmp_path)
    assert hint == again == "drag to zoom (with shift: to move), double-click to see all"
    assert "rank 0: " in late and ", from 7 to 10 ms" in late and not hidden
    assert zoomed and whole
    assert below == late.replace("rank 0", "rank 1") and before.endswith(below.partition("ms, ")[2])
    assert float(below.partition(" ")[0]) - float(before.partition(" ")[0]) == pytest.approx(0.05)


MAP = f"""<script>{{{FIELD}
mouse("mousemove", box.width - 10, 5);
told.push(words());
drag(box.width * 0.5, box.width * 0.75, 50);
told.push(ticks()[0]);
mouse("dblclick", box.width * 0.5, 50);
told.push(ticks()[0]);
plot.focus();
press("ArrowLeft");
press("ArrowLeft");
press("ArrowDown");
told.push(words());
document.body.textContent = JSON.stringify(told);
}}</script>"""


def test_a_map_of_pairs_tells_what_is_pointed_at_and_is_zoomed(tmp_path):
    run = synthetic(40, tmp_path)
    run["cases"] = [case for case in run["cases"] if case["benchmark"] == "merge"]
    pointed, zoomed, whole, moved = said_by(page_of(run, "synthetic", ROOT), MAP, tmp_path)
    rates = {(pair["src"], pair["dst"]): pair["p50_GBps"] for pair in run["cases"][0]["pairs"]}
    assert pointed == f"from rank 0 to rank 39: {rates[0, 39]:.4g} GB/s"
    assert whole == "r0" and zoomed not in ("r0", None)
    assert moved == f"from rank 1 to rank 38: {rates[1, 38]:.4g} GB/s"
