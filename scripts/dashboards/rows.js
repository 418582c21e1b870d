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
