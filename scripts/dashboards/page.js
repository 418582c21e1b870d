// Draws a row's history, environments and samples when it is asked for: a page of 2,000 runs opens at once.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const HEIGHT = 210, LEFT = 56, RIGHT = 14, TOP = 26, LANE = 16, FOOT = 20;
const LOST = { skipped: "○", failed: "✕", missing: "∅", measured: "≠" };

// Text is only ever set as text: names come from files.
function node(name, attributes = {}, text = "") {
  const svg = /^(svg|g|line|polyline|polygon|circle|rect|text|title)$/.test(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

const digits = (value) => (value === null || value === undefined ? "?" : String(Number(value.toPrecision(4))));

// The ends of an interval, or null.
function interval(line, run) {
  if (run < line.f || line.v[run] === null) return null;
  const place = line.v.slice(line.f, run).filter((value) => value !== null).length;
  return line.l[place] === null ? null : [line.v[run] * (1 - line.l[place] / 1e4), line.v[run] * (1 + line.h[place] / 1e4)];
}

function environment(stream, run) {
  return stream.marks.reduce((words, [at, , , all]) => (at <= run ? all : words), stream.first);
}

function segments(stream, first, last) {
  const starts = [first, ...stream.marks.filter(([at, , anew]) => anew && at > first && at <= last).map(([at]) => at)];
  return starts.map((start, i) => [start, i + 1 < starts.length ? starts[i + 1] - 1 : last]);
}

// Stretches of runs that all have a value.
function stretches(line, start, end) {
  const found = [];
  for (let i = start, open = false; i <= end; ++i) {
    if (line.v[i] === null) open = false;
    else if (open) found[found.length - 1].push(i);
    else { found.push([i]); open = true; }
  }
  return found;
}

function picture(line, first, last, chosen, width) {
  const stream = data.streams[line.s], height = TOP + HEIGHT + LANE + FOOT;
  const svg = node("svg", { width, height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "img",
    "aria-label": "history; arrow keys move from run to run" });
  const ends = [];
  for (let i = first; i <= last; ++i) if (line.v[i] !== null) ends.push(line.v[i], ...(interval(line, i) || []));
  let low = Math.min(...ends), high = Math.max(...ends);
  if (!ends.length) { low = 0; high = 1; }
  const margin = (high - low) * 0.08 || high * 0.05 || 1;
  low -= margin; high += margin;
  const x = (run) => LEFT + (last > first ? (run - first) / (last - first) : 0.5) * (width - LEFT - RIGHT);
  const y = (value) => TOP + HEIGHT - ((value - low) / (high - low)) * HEIGHT;
  const step = 10 ** Math.floor(Math.log10((high - low) / 2));
  for (let value = Math.ceil(low / step) * step, lines = 0; value < high && lines < 40; value += step, ++lines) {
    if ((high - low) / step > 8 && Math.round(value / step) % 5) continue;
    svg.append(node("line", { x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value), class: "grid" }),
      node("text", { x: LEFT - 5, y: y(value) + 4, class: "end" }, digits(value)));
  }
  svg.append(node("text", { x: 4, y: 12 }, `${line.u}, ${line.b} is better`));
  segments(stream, first, last).forEach(([start, end], number) => {
    for (const runs of stretches(line, start, end)) {
      const band = runs.map((run) => [run, interval(line, run)]).filter(([, found]) => found);
      if (band.length > 1) svg.append(node("polygon", { class: "band new", points: [
        ...band.map(([run, found]) => `${x(run)},${y(found[1])}`),
        ...band.reverse().map(([run, found]) => `${x(run)},${y(found[0])}`)].join(" ") }));
      svg.append(node("polyline", { class: "curve new", points: runs.map((run) => `${x(run)},${y(line.v[run])}`).join(" ") }));
      if (last - first < 150) for (const run of runs) svg.append(node("circle", { class: "dot new", cx: x(run), cy: y(line.v[run]), r: 2.6 }));
    }
    const lane = node("rect", { class: number % 2 ? "lane other" : "lane", x: x(start), y: TOP + HEIGHT + 4,
      width: Math.max(2, (end < last ? x(end + 1) : width - RIGHT) - x(start)), height: LANE - 4 });
    lane.append(node("title", {}, environment(stream, start)));
    svg.append(lane);
  });
  let free = 0;  // of text, from there on
  for (const [at, words, anew] of stream.marks) {
    if (at < first || at > last) continue;
    const mark = node("line", { class: "change", x1: x(at), x2: x(at), y1: anew ? TOP : TOP + HEIGHT, y2: TOP + HEIGHT + LANE, "stroke-dasharray": "1 3" });
    mark.append(node("title", {}, words));
    svg.append(mark);
    const text = words.length > 40 ? "several changes" : words, place = Math.max(LEFT, Math.min(x(at), width - RIGHT - 6 * text.length));
    if (place < free) continue;
    svg.append(node("text", { x: place, y: TOP + HEIGHT + LANE + 12 }, text));
    free = place + 6 * text.length + 12;
  }
  for (const [run, why] of Object.entries(line.n)) {
    if (run < first || run > last) continue;
    const mark = node("text", { class: "lost", x: x(run), y: TOP + HEIGHT - 4 }, LOST[why.split(/[: ]/)[0]] || "·");
    mark.append(node("title", {}, why));
    svg.append(mark);
  }
  stream.runs.forEach(([, , , state, reason], run) => {
    if (state === "complete" || run < first || run > last) return;
    const mark = node("text", { class: "lost", x: x(run), y: TOP + 10 }, "✕");
    mark.append(node("title", {}, `${state}: ${reason}`));
    svg.append(mark);
  });
  for (const [at, before, after, provisional] of line.c) {
    if (at < first || at > last) continue;
    svg.append(node("line", { class: "change", x1: x(at), x2: x(at), y1: TOP, y2: TOP + HEIGHT }),
      node("text", { x: Math.min(x(at) + 3, width - 110), y: TOP - 3 },
        `${after > before ? "+" : ""}${((after / before - 1) * 100).toFixed(1)} %${provisional ? " provisional" : ""}`));
  }
  if (chosen >= first) svg.append(node("line", { class: "cursor", x1: x(chosen), x2: x(chosen), y1: TOP, y2: TOP + HEIGHT }));
  svg.addEventListener("click", (event) => {
    const part = (event.clientX - svg.getBoundingClientRect().left - LEFT) / (width - LEFT - RIGHT);
    svg.dispatchEvent(new CustomEvent("choose", { detail: Math.round(first + part * (last - first)) }));
  });
  return svg;
}

// Samples of a run, launch after launch, each launch beside the one before.
function strip(launches, width, unit) {
  const height = 110, all = launches.flat(), low = Math.min(...all), high = Math.max(...all), span = high - low || 1;
  const svg = node("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `samples, ${digits(low)} to ${digits(high)} ${unit}` });
  const each = (width - LEFT - RIGHT) / launches.length;
  launches.forEach((samples, launch) => {
    const start = LEFT + launch * each;
    svg.append(node("line", { x1: start, x2: start, y1: 6, y2: height - 16, class: "grid" }));
    samples.forEach((sample, i) => svg.append(node("circle", { class: "dot new", r: 1.8,
      cx: start + ((i + 0.5) / samples.length) * each, cy: height - 20 - ((sample - low) / span) * (height - 30) })));
  });
  svg.append(node("text", { x: LEFT - 5, y: 12, class: "end" }, digits(high)), node("text", { x: LEFT - 5, y: height - 18, class: "end" }, digits(low)),
    node("text", { x: LEFT, y: height - 3 }, `samples in run order, ${launches.length} launches, ${unit}`));
  return svg;
}

function told(line, number, run) {
  const stream = data.streams[line.s], [started, id, commit, state, reason, file] = stream.runs[run];
  const found = interval(line, run), words = node("p", { "aria-live": "polite" });
  const value = line.v[run] === null ? line.n[run] || "no value" : `${digits(line.v[run])} ${line.u}` + (found ? ` (${digits(found[0])} to ${digits(found[1])})` : "");
  words.append(`${started}: ${value}; commit ${commit}; ${state}${reason ? ": " + reason : ""}; `, node("a", { href: file }, id), `; ${environment(stream, run)}`);
  return words;
}

function show(holder, number) {
  const line = data.lines[number], stream = data.streams[line.s], count = stream.runs.length;
  let shown = Math.min(100, count), chosen = count - 1;
  const draw = (focused) => {
    holder.replaceChildren();
    const width = Math.max(280, Math.min(1100, holder.closest(".scroll").clientWidth - 26)), first = count - shown;
    holder.style.width = `${width}px`;
    for (const wanted of [...new Set([30, 100, 500, count])].filter((wanted) => wanted <= count)) {
      const button = node("button", { type: "button", "aria-pressed": String(wanted === shown) }, wanted === count ? `all ${count}` : `last ${wanted}`);
      button.addEventListener("click", () => { shown = wanted; draw(false); });
      holder.append(button);
    }
    const svg = picture(line, first, count - 1, chosen, width);
    const choose = (run) => { chosen = Math.max(count - shown, Math.min(count - 1, run)); draw(true); };
    svg.addEventListener("choose", (event) => choose(event.detail));
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -count, End: count }[event.key];
      if (step) { event.preventDefault(); choose(chosen + step); }
    });
    holder.append(svg, told(line, number, chosen));
    const samples = (data.samples[number] || {})[chosen];
    if (samples) holder.append(strip(samples, width, line.u));
    if (stream.base !== null && stream.base !== chosen) {
      const base = node("button", { type: "button" }, "go to the base run");
      base.addEventListener("click", () => { shown = Math.max(shown, count - stream.base); choose(stream.base); });
      holder.append(base);
    }
    if (focused) svg.focus({ preventScroll: true });
  };
  holder.redraw = () => draw(false);
  holder.redraw();
}

function toggle(button) {
  const row = button.closest("tr"), open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  if (open) return row.nextElementSibling.remove();
  const detail = node("tr", { class: "detail" }), cell = node("td", { colspan: row.children.length }), holder = node("div", { class: "inside" });
  cell.append(holder);
  detail.append(cell);
  row.after(detail);
  show(holder, Number(button.dataset.line));
}

const buttons = [...document.querySelectorAll("button[data-line]")];
for (const button of buttons) button.addEventListener("click", () => toggle(button));
document.addEventListener("keydown", (event) => {
  const detail = event.target.closest(".detail");
  if (event.key !== "Escape" || !detail) return;
  const button = detail.previousElementSibling.querySelector("button");
  toggle(button);
  button.focus();
});
// A link to a row opens it.
const follow = () => {
  const button = document.querySelector(`${location.hash.startsWith("#row-") ? location.hash : "#none"} button[aria-expanded="false"]`);
  if (button) toggle(button);
};
window.addEventListener("hashchange", follow);
window.addEventListener("resize", () => document.querySelectorAll(".detail .inside").forEach((holder) => holder.redraw()));
follow();

const rows = [...document.querySelectorAll(".rows tbody tr")], texts = rows.map((row) => row.textContent.toLowerCase());
document.getElementById("filter").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const button of buttons) if (button.getAttribute("aria-expanded") === "true") toggle(button);
  rows.forEach((row, i) => { row.hidden = !words.every((word) => texts[i].includes(word)); });
  document.getElementById("shown").textContent = words.length ? `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows` : "";
});
