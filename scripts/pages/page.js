// What pages do beyond their text: plots (by dygraphs), tables that are sorted and copied, a dashboard's rows.
// Text is only ever set as text: names come from files.
"use strict";
const SIZES = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };
const plots = [];

function node(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

function button(text, does, attributes = {}) {
  const made = node("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", () => does(made));
  return made;
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const digits = (value) => (value === null || value === undefined ? "?" : String(Number(value.toPrecision(4))));

function sizeText(bytes) {
  const unit = Object.keys(SIZES).findLast((name) => bytes >= SIZES[name]) || "B";
  return `${digits(bytes / SIZES[unit])} ${unit}`;
}

// 1, 2 and 5 times powers of ten; even steps where fewer than three of those are in sight.
function ticksOf(low, high, most, log) {
  const found = [];
  if (log) for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) for (const by of [1, 2, 5]) found.push(by * 10 ** power);
  const seen = found.filter((value) => value >= low && value <= high);
  if (seen.length > 2) return seen.length <= most ? seen : seen.filter((value) => Math.abs(Math.log10(value) % 1) < 1e-9);
  const raw = (high - low) / Math.min(most, 6), power = 10 ** Math.floor(Math.log10(raw)), step = power * [1, 2, 5, 10].find((by) => by * power >= raw);
  return Array.from({ length: Math.floor(high / step) - Math.ceil(low / step) + 1 }, (_, i) => (Math.ceil(low / step) + i) * step);
}

function square(g, series, context, x, y, stroke, size) {
  context.fillStyle = stroke;
  context.fillRect(x - size, y - size, 2 * size, 2 * size);
}

// `chart` as in charts.py; `chosen` is called with the x that is pointed at.
function plot(holder, chart, chosen = () => {}) {
  const xs = [...new Set(chart.series.flatMap((of) => of.points.map(([x]) => x)))].sort((a, b) => a - b);
  const byX = chart.series.map((of) => new Map(of.points.map(([x, y, low, high]) => [x, y === null ? [null, null, null] : [low ?? y, y, high ?? y]])));
  const rows = xs.map((x) => [x, ...byX.map((of) => of.get(x) || [null, null, null])]);
  const log = chart.y.log, all = rows.flatMap((row) => row.slice(1).flat()).filter((value) => value !== null && (!log || value > 0));
  const logX = chart.x === "size" || chart.x === "ranks";
  let [low, high] = [Math.min(...all), Math.max(...all)];
  if (!all.length) [low, high] = [log ? 1 : 0, 2];
  const margin = log ? Math.max(1.06, (high / low) ** 0.06) : (high - low) * 0.08 || high * 0.05 || 1;
  const nameOf = (x) => (chart.x === "size" ? sizeText(x) : chart.x === "ranks" ? `${x} rank${x === 1 ? "" : "s"}` : (chart.names || [])[x] ?? String(x));
  const tickOf = (x) => (chart.x === "ranks" ? String(x) : nameOf(x).slice(0, 10));
  const area = node("div", { class: "area" }), legend = node("div", { class: "legend", "aria-live": "polite" }), cursor = node("div", { class: "cursor", hidden: "" });
  holder.classList.add("plot");
  holder.replaceChildren(area, legend);
  let at = -1;
  const told = (data) => {
    const lines = document.createDocumentFragment();
    lines.append(node("div", { class: "soft" }, data.x === undefined ? "drag zooms, shift and drag moves, a double click shows all" : nameOf(data.x)));
    data.series.forEach((of, i) => {
      const line = node("div"), row = data.i === null || data.i === undefined ? null : rows[data.i][i + 1], [from, value, to] = row || [null, null, null];
      line.append(node("i", { class: "line", style: `--of: ${of.color}; --kind: ${!chart.series[i].dash?.length ? "solid" : chart.series[i].dash[0] < 3 ? "dotted" : "dashed"}` }), ` ${of.label}`, value === null || chart.series[i].peak ? "" : `: ${digits(value)} ${chart.y.unit}` + (from < to ? ` (${digits(from)} to ${digits(to)})` : ""));
      lines.append(line);
    });
    return lines;
  };
  const [first, last] = xs.length ? [xs[0], xs[xs.length - 1]] : [1, 2], pad = (last - first) * 0.02 || 0.5, wider = Math.max(1.1, (last / first) ** 0.02);
  const whole = { dateWindow: logX ? [first / wider, last * wider] : [first - pad, last + pad], valueRange: log ? [low / margin, high * margin] : [low - margin, high + margin] };
  const options = () => {
    const colors = chart.series.map((of) => color(of.color < 0 ? "--soft" : `--color-${of.color}`));
    return {
      labels: ["x", ...chart.series.map((of) => of.name)], colors, gridLineColor: color("--line"), axisLineColor: color("--soft"), axisLabelFontSize: 12,
      series: Object.fromEntries(chart.series.map((of) => [of.name, { strokePattern: of.dash?.length ? of.dash : null, strokeWidth: of.scatter ? 0 : (of.peak || of.thin ? 1.2 : 1.8),
        drawPoints: of.scatter || (!of.peak && !of.thin && rows.length < 150), pointSize: of.scatter ? 1.8 : 2.5, ...(of.square ? { drawPointCallback: square } : {}) }])),
      customBars: true, fillAlpha: 0.2, connectSeparatedPoints: !chart.gaps, highlightCircleSize: 5, animatedZooms: false,
      legend: "always", labelsDiv: legend, legendFormatter: told, logscale: log,
      // Fingers scroll the page.
      interactionModel: { mousedown: Dygraph.defaultInteractionModel.mousedown, dblclick: () => g.updateOptions(whole), willDestroyContextMyself: true },
      axes: {
        x: { logscale: logX, drawGrid: chart.x !== "none", axisLabelWidth: 80, ticker: (from, to, pixels) => {
          const seen = xs.filter((x) => x >= from && x <= to && Number.isInteger(x)), step = Math.max(1, Math.ceil((seen.length * (chart.x === "ranks" ? 30 : 78)) / pixels));
          return chart.x === "none" ? [] : seen.filter((_, i) => i % step === 0).map((v) => ({ v, label: tickOf(v) }));
        } },
        y: { axisLabelWidth: 52, ticker: (from, to, pixels) => ticksOf(from, to, pixels / 22, log).map((v) => ({ v, label: digits(v) })) },
      },
      highlightCallback: (event, x, points, row) => point(row),
      unhighlightCallback: () => { cursor.hidden = true; },
      underlayCallback: (context, inside, g) => {
        context.font = "11px system-ui, sans-serif";
        const acrossOf = (x) => inside.x + inside.w * g.toPercentXCoord(x);
        (chart.bands || []).forEach(([from, to], number) => {
          const left = Math.max(inside.x, acrossOf(from)), right = Math.min(inside.x + inside.w, acrossOf(to));
          context.fillStyle = color(number % 2 ? "--soft" : "--line");
          if (right > left) context.fillRect(left, inside.y + inside.h - 6, right - left, 6);
        });
        let free = 0;
        for (const [x, text, strong] of chart.marks || []) {
          const across = acrossOf(x);
          if (across < inside.x || across > inside.x + inside.w) continue;
          context.strokeStyle = context.fillStyle = color(strong ? "--mark" : "--soft");
          context.setLineDash(strong ? [] : [2, 3]);
          context.beginPath();
          context.moveTo(across, inside.y);
          context.lineTo(across, inside.y + inside.h);
          context.stroke();
          const width = context.measureText(text).width, left = Math.min(across + 3, inside.x + inside.w - width);
          if (left >= free) {
            context.fillText(text, left, inside.y + 11);
            free = left + width + 8;
          }
        }
        context.setLineDash([]);
        context.fillStyle = color("--bad");
        for (const [x, sign] of chart.lost || []) if (acrossOf(x) >= inside.x) context.fillText(sign, acrossOf(x) - 5, inside.y + inside.h - 10);
      },
    };
  };
  const g = new Dygraph(area, rows, { ...whole, ...(chart.window ? { dateWindow: chart.window } : {}), ...options() });
  const point = (row) => {
    at = row;
    const inside = g.getArea(), part = g.toPercentXCoord(xs[row]);
    cursor.style.left = `${inside.x + inside.w * part}px`;
    cursor.hidden = part < 0 || part > 1;
    chosen(xs[row]);
  };
  area.append(cursor);
  const choose = (row) => {
    if (!Number.isInteger(xs[row])) row += row < at ? -1 : 1;
    const [from, to] = g.xAxisRange();
    if (xs[row] < from || xs[row] > to) g.updateOptions(whole);
    g.setSelection(row);
    point(row);
  };
  holder.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -xs.length, End: xs.length }[event.key];
    if (!step || event.target !== holder) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(xs.length - 1, (at < 0 ? (step < 0 ? xs.length : -1) : at) + step)));
  });
  holder.tabIndex = 0;
  plots.push({ holder, redraw: () => g.updateOptions(options()) });
  return { choose: (x) => choose(xs.indexOf(x)), show: (from) => g.updateOptions({ dateWindow: [Math.max(from - pad, whole.dateWindow[0]), whole.dateWindow[1]] }) };
}

const drawAll = (within) => within.querySelectorAll("figure[data-chart]").forEach((figure) => {
  const holder = figure.querySelector(".here");
  if (!holder.classList.contains("plot") && figure.offsetWidth) plot(holder, JSON.parse(figure.dataset.chart));
});
if (window.Dygraph) {
  drawAll(document);
  for (const folded of document.querySelectorAll("details")) folded.addEventListener("toggle", () => drawAll(folded));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach((of) => of.holder.isConnected && of.redraw()));
}

// A drawing shows what the mouse was drawn over, as large as the whole before.
for (const svg of document.querySelectorAll(".drawing svg")) {
  const whole = svg.getAttribute("viewBox"), [, , width, height] = whole.split(" ").map(Number);
  const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  let from = null;
  svg.addEventListener("mousedown", (event) => { event.preventDefault(); from = at(event); });
  svg.addEventListener("mouseup", (event) => {
    const to = at(event), part = from ? Math.max(Math.abs(to.x - from.x) / width, Math.abs(to.y - from.y) / height) : 0;
    if (part > 0.02) svg.setAttribute("viewBox", [(from.x + to.x - part * width) / 2, (from.y + to.y - part * height) / 2, part * width, part * height].join(" "));
    from = null;
  });
  svg.addEventListener("dblclick", () => svg.setAttribute("viewBox", whole));
  svg.append(document.createElementNS("http://www.w3.org/2000/svg", "title"));
  svg.lastChild.textContent = "drag over a part to enlarge it; a double click shows all";
}

// What a cell is sorted by: a number, sizes in bytes; else its text. Nothing known comes last.
function keyOf(cell) {
  const text = cell ? cell.textContent.trim() : "", found = /^([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?:$|[ ×%,(]*(KiB|MiB|GiB)?)/.exec(text);
  return found ? Number(found[1]) * (SIZES[found[2]] || 1) : ["", "?", "–"].includes(text) ? null : text;
}

function sort(table, column, up) {
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  for (const body of table.tBodies) {
    for (const opened of body.querySelectorAll('[aria-expanded="true"]')) opened.click();
    const keyed = [...body.rows].map((row) => [keyOf(row.cells[column]), row]);
    keyed.sort(([a], [b]) => (a === null) - (b === null) || (up ? compare(a, b) : compare(b, a)));
    body.append(...keyed.map(([, row]) => row));
  }
}

function csvOf(table) {
  const quoted = (cell) => {
    const text = cell.textContent.trim().replace(/\s+/g, " ");
    return (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text) + ",".repeat(cell.colSpan - 1);
  };
  return [...table.rows].filter((row) => !row.matches(".detail")).map((row) => [...row.cells].map(quoted).join(",") + "\n").join("");
}

function copy(text) {
  const area = node("textarea", {}, text);
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

for (const table of document.querySelectorAll("table:not(.heat, .plain)")) {
  if (table.querySelectorAll("tbody tr").length < 2 || !table.tHead) continue;
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  heads.forEach((head, column) => {
    const sorter = button("", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      sort(table, column, up);
    }, { class: "sorts", title: "sort" });
    sorter.append(...head.childNodes);
    if (!sorter.textContent.trim()) sorter.setAttribute("aria-label", "sort by the first column");
    head.append(sorter);
  });
  const copies = button("copy as CSV", () => { copies.textContent = copy(csvOf(table)) ? "copied" : "the browser does not let this page copy"; }, { class: "copies" });
  table.parentElement.after(copies);
}

// A dashboard: a row's history and samples when it is asked for, so that a page of 2,000 runs opens at once.
const LOST = { skipped: "○", failed: "✕", missing: "∅", measured: "≠" };

// The ends of an interval, or none.
function interval(line, run) {
  if (run < line.f || line.v[run] === null) return [];
  const place = line.v.slice(line.f, run).filter((value) => value !== null).length;
  return line.l[place] === null ? [] : [line.v[run] * (1 - line.l[place] / 1e4), line.v[run] * (1 + line.h[place] / 1e4)];
}

function historyOf(line, stream) {
  const last = stream.runs.length - 1, begins = stream.marks.filter(([, , anew]) => anew).map(([at]) => at);
  const points = line.v.map((value, run) => [run, value, ...interval(line, run)]);
  return {
    x: "run", y: { unit: line.u, log: false }, names: stream.runs.map(([started]) => started), gaps: true,
    // Nothing is drawn from one segment to the next.
    series: [{ name: "median", color: 0, points: [...points, ...begins.map((at) => [at - 0.5, null])] }],
    marks: [...stream.marks.map(([at, words]) => [at, words.length > 40 ? "several changes" : words]),
      ...line.c.map(([at, before, after, provisional]) => [at, `${after > before ? "+" : ""}${((after / before - 1) * 100).toFixed(1)} %${provisional ? " provisional" : ""}`, true])]
      .sort(([a], [b]) => a - b),
    bands: [0, ...begins].map((at, i) => [at, begins[i] ?? last]),
    lost: [...Object.entries(line.n).map(([run, why]) => [Number(run), LOST[why.split(/[: ]/)[0]] || "·"]),
      ...stream.runs.flatMap(([, , , state], run) => (state === "complete" || line.n[run] ? [] : [[run, "✕"]]))],
  };
}

// Launch after launch, each beside the one before.
function samplesOf(launches, unit) {
  const starts = launches.map((_, launch) => launches.slice(0, launch).flat().length);
  return { x: "none", y: { unit, log: false }, series: [{ name: `samples in run order, ${launches.length} launches`, color: 0, scatter: true, points: launches.flat().map((value, i) => [i, value]) }],
    marks: starts.slice(1).map((at) => [at - 0.5, ""]) };
}

function told(data, line, run) {
  const stream = data.streams[line.s], [started, id, commit, state, reason, file] = stream.runs[run], ends = interval(line, run);
  const value = line.v[run] === null ? line.n[run] || "no value" : `${digits(line.v[run])} ${line.u}` + (ends.length ? ` (${digits(ends[0])} to ${digits(ends[1])})` : "");
  const environment = stream.marks.reduce((words, [at, , , all]) => (at <= run ? all : words), stream.first);
  return [`${started}: ${value}; commit ${commit}; ${state}${reason ? ": " + reason : ""}; `, node("a", { href: file }, id), `; ${environment}`];
}

function show(data, inside, number) {
  const line = data.lines[number], stream = data.streams[line.s], count = stream.runs.length;
  const here = node("div", { class: "here", role: "group", "aria-label": "history; arrow keys move from run to run" });
  const words = node("p", { "aria-live": "polite" }), samples = node("div", { class: "samples" }), tools = node("p");

  inside.append(tools, here, words, samples);
  const history = plot(here, historyOf(line, stream), (run) => {
    words.replaceChildren(...told(data, line, run));
    const found = (data.samples[number] || {})[run];
    if (found) plot(samples, samplesOf(found, line.u));
    else samples.replaceChildren();
  });
  if (count > 100) for (const many of [100, count]) tools.append(button(many === count ? `all ${count}` : `last ${many}`, () => history.show(count - many)));
  if (stream.base !== null) tools.append(button("go to the base run", () => history.choose(stream.base)));
  if (count > 100) history.show(count - 100);
  history.choose(count - 1);
}

function startDashboard(data) {
  const toggle = (on) => {
    const row = on.closest("tr"), open = on.getAttribute("aria-expanded") === "true";
    on.setAttribute("aria-expanded", String(!open));
    if (open) return row.nextElementSibling.remove();
    const inside = node("div", { class: "inside" });
    row.after(node("tr", { class: "detail" }, node("td", { colspan: row.children.length }, inside)));
    show(data, inside, Number(on.dataset.line));
  };
  const buttons = [...document.querySelectorAll("button[data-line]")];
  for (const one of buttons) {
    if (window.Dygraph) one.addEventListener("click", () => toggle(one));
    else one.disabled = true;
  }
  document.addEventListener("keydown", (event) => {
    const detail = event.target.closest(".detail");
    if (event.key !== "Escape" || !detail) return;
    const one = detail.previousElementSibling.querySelector("button");
    toggle(one);
    one.focus();
  });
  // A link to a row opens it.
  const follow = () => {
    const row = document.querySelector(location.hash.startsWith("#row-") ? location.hash : "#none"), one = row?.querySelector('button[aria-expanded="false"]');
    if (!one || one.disabled) return;
    const folded = row.closest("details");
    if (folded) folded.open = true;
    toggle(one);
    row.scrollIntoView();
  };
  window.addEventListener("hashchange", follow);
  follow();
  const rows = [...document.querySelectorAll(".rows tbody tr:not(.detail)")], texts = rows.map((row) => row.textContent.toLowerCase());
  document.getElementById("filter").addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const one of buttons) if (one.getAttribute("aria-expanded") === "true") toggle(one);
    rows.forEach((row, i) => { row.hidden = !words.every((word) => texts[i].includes(word)); });
    for (const folded of document.querySelectorAll(".folded")) folded.open = words.length > 0 && folded.querySelector("tbody tr:not([hidden])") !== null;
    document.getElementById("shown").textContent = words.length ? `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows` : "";
  });
}

const inlined = document.getElementById("data");
if (inlined) startDashboard(JSON.parse(inlined.textContent));
