// Curves, by dygraphs.
const HINT = "drag to zoom (with shift: to move), double-click to see all";
const LOG_X = ["size", "ranks"];
const plots = [];

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

// Rows as dygraphs takes them: x, then of each series its interval and its value between.
function rowsOf(chart, xs) {
  const byX = chart.series.map((of) => new Map(of.points.map(([x, y, low, high]) => [x, y === null ? [null, null, null] : [low ?? y, y, high ?? y]])));
  return xs.map((x) => [x, ...byX.map((of) => of.get(x) || [null, null, null])]);
}

// What is seen when all is seen.
function wholeOf(chart, xs, rows) {
  const { log } = chart.y, all = rows.flatMap((row) => row.slice(1).flat()).filter((value) => value !== null && (!log || value > 0));
  const [low, high] = all.length ? [Math.min(...all), Math.max(...all)] : [log ? 1 : 0, 2], [first, last] = xs.length ? [xs[0], xs[xs.length - 1]] : [1, 2];
  const margin = log ? Math.max(1.06, (high / low) ** 0.06) : (high - low) * 0.08 || high * 0.05 || 1, room = chart.marks?.length ? 2.5 : 1;  // for words above the curves
  const pad = (last - first) * 0.02 || 0.5, wider = Math.max(1.1, (last / first) ** 0.02);
  return {
    dateWindow: LOG_X.includes(chart.x) ? [first / wider, last * wider] : [first - pad, last + pad],
    valueRange: log ? [low / margin, high * margin ** room] : [low - margin, high + margin * room],
  };
}

// Below the curves: lanes of environments, marks with their words, runs without a value.
const underlay = (chart) => (context, inside, g) => {
  const acrossOf = (x) => inside.x + inside.w * g.toPercentXCoord(x), right = inside.x + inside.w;
  context.font = "11px system-ui, sans-serif";
  (chart.bands || []).forEach(([from, to], number) => {
    const left = Math.max(inside.x, acrossOf(from)), end = Math.min(right, acrossOf(to));
    context.fillStyle = color(number % 2 ? "--soft" : "--line");
    if (end > left) context.fillRect(left, inside.y + inside.h - 6, end - left, 6);
  });
  let free = 0;
  for (const [x, text, strong] of chart.marks || []) {
    const across = acrossOf(x);
    if (across < inside.x || across > right) continue;
    context.strokeStyle = context.fillStyle = color(strong ? "--mark" : "--soft");
    context.setLineDash(strong ? [] : [2, 3]);
    context.beginPath();
    context.moveTo(across, inside.y);
    context.lineTo(across, inside.y + inside.h);
    context.stroke();
    const width = context.measureText(text).width, left = Math.min(across + 3, right - width);
    if (left >= free) {
      context.fillText(text, left, inside.y + 11);
      free = left + width + 8;
    }
  }
  context.setLineDash([]);
  context.fillStyle = color("--bad");
  for (const [x, sign] of chart.lost || []) if (acrossOf(x) >= inside.x) context.fillText(sign, acrossOf(x) - 5, inside.y + inside.h - 10);
};

// What stands below a plot: each series, with its value at the x that is pointed at.
const legendOf = (chart, rows, nameOf) => (data) => {
  const lines = document.createDocumentFragment();
  lines.append(node("div", { class: "soft" }, data.x === undefined ? HINT : nameOf(data.x)));
  data.series.forEach(({ label, color: of }, i) => {
    const { dash, peak } = chart.series[i], [from, value, to] = rows[data.i]?.[i + 1] || [null, null, null];
    const kind = !dash?.length ? "solid" : dash[0] < 3 ? "dotted" : "dashed", interval = from < to ? ` (${digits(from)} to ${digits(to)})` : "";
    lines.append(node("div", {}, node("i", { class: "line", style: `--of: ${of}; --kind: ${kind}` }), ` ${label}`, value === null || peak ? "" : `: ${digits(value)} ${chart.y.unit}${interval}`));
  });
  return lines;
};

const styleOf = (of, many) => ({
  strokePattern: of.dash?.length ? of.dash : null, strokeWidth: of.scatter ? 0 : of.peak || of.thin ? 1.2 : 1.8, pointSize: of.scatter ? 1.8 : 2.5,
  drawPoints: of.scatter || (!of.peak && !of.thin && !many), ...(of.square ? { drawPointCallback: square } : {}),
});

// `chart` as in charts.py; `chosen` is called with the x that is pointed at.
function plot(holder, chart, chosen = () => {}) {
  const xs = [...new Set(chart.series.flatMap((of) => of.points.map(([x]) => x)))].sort((a, b) => a - b), rows = rowsOf(chart, xs), whole = wholeOf(chart, xs, rows);
  const nameOf = (x) => (chart.x === "size" ? sizeText(x) : chart.x === "ranks" ? `${x} rank${x === 1 ? "" : "s"}` : (chart.names || [])[x] ?? String(x));
  const tickOf = (x) => (chart.x === "ranks" ? String(x) : nameOf(x).slice(0, 10));
  const ticksAcross = (from, to, pixels) => {
    const seen = xs.filter((x) => x >= from && x <= to && Number.isInteger(x)), wide = chart.x === "ranks" ? 30 : 78;
    // Three of them at least.
    const step = Math.max(1, Math.min(Math.ceil((seen.length * wide) / pixels), Math.floor((seen.length - 1) / 2)));
    return chart.x === "none" ? [] : seen.filter((_, i) => i % step === 0).map((v) => ({ v, label: tickOf(v) })).filter(({ label }, i, all) => label !== all[i - 1]?.label);
  };
  const area = node("div", { class: "area" }), legend = node("div", { class: "legend", "aria-live": "polite" }), cursor = node("div", { class: "cursor", hidden: "" });
  holder.classList.add("plot");
  holder.replaceChildren(area, legend);
  let at = -1;
  const options = () => ({
    labels: ["x", ...chart.series.map((of) => of.name)], colors: chart.series.map((of) => color(of.color < 0 ? "--soft" : `--color-${of.color}`)),
    gridLineColor: color("--line"), axisLineColor: color("--soft"), axisLabelFontSize: 12,
    series: Object.fromEntries(chart.series.map((of) => [of.name, styleOf(of, rows.length >= 150)])),
    customBars: true, fillAlpha: 0.2, connectSeparatedPoints: !chart.gaps, highlightCircleSize: 5, animatedZooms: false,
    legend: "always", labelsDiv: legend, legendFormatter: legendOf(chart, rows, nameOf), logscale: chart.y.log,
    // Fingers scroll the page.
    interactionModel: { mousedown: Dygraph.defaultInteractionModel.mousedown, dblclick: () => g.updateOptions(whole), willDestroyContextMyself: true },
    axes: {
      x: { logscale: LOG_X.includes(chart.x), drawGrid: chart.x !== "none", axisLabelWidth: 80, ticker: ticksAcross },
      y: { axisLabelWidth: 52, ticker: (from, to, pixels) => ticksOf(from, to, pixels / 22, chart.y.log).map((v) => ({ v, label: digits(v) })) },
    },
    highlightCallback: (event, x, points, row) => point(row),
    unhighlightCallback: () => { cursor.hidden = true; },
    underlayCallback: underlay(chart),
  });
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
  return { choose: (x) => choose(xs.indexOf(x)), show: (from) => g.updateOptions({ dateWindow: [Math.max(from - 0.5, whole.dateWindow[0]), whole.dateWindow[1]] }) };
}
