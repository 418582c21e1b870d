// Ranks over time and ranks over ranks: dygraphs has the axes, zooms and moves; what is seen is painted below its axes.

const ROW_HEIGHT = 30, MOST_HEIGHT = 560;

// Of the numbers from `first` to `last` those that a power of two divides, so that each has `wide` of `pixels`.
function everySo(first, last, pixels, wide) {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(((last - first + 1) * wide) / pixels))), found = [];
  for (let at = Math.ceil(first / step) * step; at <= last; at += step) found.push(at);
  return found;
}

// `rows` from the top down, over `range`: `paint` fills what is seen, `told` says what is at (x, row), `cell` how far that reaches.
function field(holder, { rows, height, range, step, acrossTicks, rowName, paint, cell, told }) {
  const area = node("div", { class: "area" }), words = node("div", { class: "legend", "aria-live": "polite" }), cursor = node("div", { class: "box", hidden: "" });
  const whole = { dateWindow: range, valueRange: [0.5 - rows, 0.5] };
  area.style.height = `${height}px`;
  holder.classList.add("plot");
  holder.replaceChildren(area, words);
  const hint = () => { cursor.hidden = true; words.replaceChildren(node("span", { class: "soft" }, HINT)); };
  const options = () => ({
    labels: ["x", "y"], axisLineColor: color("--soft"), axisLabelFontSize: 12, legend: "never", animatedZooms: false, drawGapEdgePoints: false,
    interactionModel: { mousedown: Dygraph.defaultInteractionModel.mousedown, dblclick: () => g.updateOptions(whole), willDestroyContextMyself: true },
    axes: {
      x: { drawGrid: false, axisLabelWidth: 60, ticker: (from, to, pixels) => acrossTicks(Math.max(from, range[0]), Math.min(to, range[1]), pixels) },
      // Rows are negative: the first is at the top.
      y: { drawGrid: false, axisLabelWidth: 52, ticker: (from, to, pixels) => everySo(Math.max(0, Math.ceil(-to)), Math.min(rows - 1, Math.floor(-from)), pixels, 16).map((row) => ({ v: -row, label: rowName(row) })) },
    },
    underlayCallback: (context, inside, graph) => {
      const x = (at) => inside.x + inside.w * graph.toPercentXCoord(at), y = (row) => inside.y + inside.h * graph.toPercentYCoord(-row);
      context.save();
      context.beginPath();
      context.rect(inside.x, inside.y, inside.w, inside.h);
      context.clip();
      paint(context, x, y);
      context.restore();
      hint();
    },
  });
  const g = new Dygraph(area, [[range[0], null], [range[1], null]], { ...whole, ...options() });
  const at = { x: range[0], row: 0 };
  const point = () => {
    const [from, to] = cell(at.x, at.row), [left, top] = g.toDomCoords(from, 0.5 - at.row), [right, bottom] = g.toDomCoords(to, -0.5 - at.row);
    Object.assign(cursor.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` });
    cursor.hidden = false;
    words.replaceChildren(...told(at.x, at.row));
  };
  const move = (x, row) => {
    Object.assign(at, { x: Math.min(range[1], Math.max(range[0], x)), row: Math.min(rows - 1, Math.max(0, row)) });
    const [from, to] = g.xAxisRange(), [low, high] = g.yAxisRange();
    if (at.x < from || at.x > to || -at.row < low || -at.row > high) g.updateOptions(whole);
    point();
  };
  area.append(cursor);
  area.addEventListener("mousemove", (event) => {
    const [x, y] = g.toDataCoords(...g.eventToDomCoords(event)), inside = x >= range[0] && x <= range[1] && Math.abs(y - 0.5 + rows / 2) <= rows / 2;
    if (inside && !event.buttons) move(x, Math.round(-y));
    else hint();
  });
  area.addEventListener("mouseleave", hint);
  holder.addEventListener("keydown", (event) => {
    const [across, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] || [];
    if (across === undefined || event.target !== holder) return;
    event.preventDefault();
    const many = event.shiftKey ? 10 : 1;
    if (cursor.hidden) point();
    else move(at.x + across * many * step, at.row + down * many);
  });
  holder.tabIndex = 0;
  plots.push({ holder, redraw: () => g.updateOptions(options()) });
}

// [begin, length, value, …] as one object each.
const stretches = (flat) => Array.from({ length: flat.length / 3 }, (_, i) => ({ begin: flat[3 * i], end: flat[3 * i] + flat[3 * i + 1], value: flat[3 * i + 2] }));

// How far a row may have to be moved against those of other hosts: a bar around its begin.
function clockBar(context, x, middle, begin, uncertainty) {
  const [from, to, cap] = [x(begin - uncertainty), x(begin + uncertainty), 4];
  context.fillStyle = color("--ink");
  context.fillRect(from, middle - 0.5, to - from, 1);
  for (const end of [from, to]) context.fillRect(end - 0.5, middle - cap, 1, 2 * cap);
}

// `chart` as in timeline.py.
function timeline(holder, chart) {
  const ms = chart.end_ms / chart.steps, rows = chart.rows.map((row) => ({ name: row.name, phases: stretches(row.phases), messages: stretches(row.messages) }));
  const under = (of, at) => of.find(({ begin, end }) => begin <= at && at < end);
  field(holder, {
    rows: rows.length, height: 40 + ROW_HEIGHT * rows.length, range: [0, chart.end_ms], step: chart.end_ms / 200, rowName: (row) => rows[row].name,
    acrossTicks: (from, to, pixels) => ticksOf(from, to, pixels / 60, false).map((v) => ({ v, label: `${digits(v)} ms` })),
    cell: (x) => [x, x],
    paint: (context, x, y) => rows.forEach((row, at) => {
      const fill = (of, top, bottom) => context.fillRect(x(of.begin * ms), y(at + top), x(of.end * ms) - x(of.begin * ms), y(at + bottom) - y(at + top));
      for (const of of row.phases) {
        context.fillStyle = color(chart.parts[of.value].color);
        fill(of, -0.4, 0.08);
      }
      context.fillStyle = color(chart.messages);
      for (const of of row.messages) fill(of, 0.4 - 0.07 * of.value, 0.4);
      if (chart.uncertainty_ms && row.phases.length) clockBar(context, x, y(at - 0.16), row.phases[0].begin * ms, chart.uncertainty_ms);
    }),
    told: (x, at) => {
      const step = Math.min(chart.steps - 1, Math.floor(x / ms)), phase = under(rows[at].phases, step), messages = under(rows[at].messages, step);
      const lasts = phase ? `: ${chart.parts[phase.value].name}, from ${digits(phase.begin * ms)} to ${digits(phase.end * ms)} ms` : ": in no phase";
      return [`${digits(x)} ms, ${rows[at].name}${lasts}${messages ? "; messages under way" : ""}`];
    },
  });
}

// `chart` as in heat.py: shades by the logarithm of the rate.
function map(holder, chart) {
  const levels = new Uint16Array(Uint8Array.from(atob(chart.rates), (letter) => letter.charCodeAt(0)).buffer);
  const rateOf = (src, dst) => { const level = levels[src * chart.side + dst]; return level ? chart.low * (chart.high / chart.low) ** ((level - 1) / 65534) : null; };
  const ranksOf = (cell) => (chart.by === 1 ? `rank ${cell}` : `ranks ${cell * chart.by} to ${Math.min(chart.ranks, (cell + 1) * chart.by) - 1}`);
  const label = (cell) => `r${cell * chart.by}`, height = Math.min(MOST_HEIGHT, 200 + 4 * chart.side), to = (x) => Math.min(chart.side - 1, Math.max(0, Math.ceil(x - 0.5)));
  holder.style.maxWidth = `${height + 60}px`;
  field(holder, {
    rows: chart.side, height, range: [-0.5, chart.side - 0.5], step: 1, rowName: label,
    acrossTicks: (from, last, pixels) => everySo(Math.ceil(from), Math.floor(last), pixels, 36).map((v) => ({ v, label: label(v) })),
    cell: (x) => [to(x) - 0.5, to(x) + 0.5],
    paint: (context, x, y) => {
      const edges = (place) => Array.from({ length: chart.side + 1 }, (_, at) => Math.round(place(at - 0.5)));
      const [none, shade, across, down] = [color("--line"), color("--new"), edges(x), edges(y)];
      for (let src = 0; src < chart.side; ++src) {
        for (let dst = 0; dst < chart.side; ++dst) {
          const rate = rateOf(src, dst);
          context.fillStyle = rate === null ? none : shade;
          context.globalAlpha = rate === null ? 1 : 0.1 + 0.9 * Math.log(rate / chart.palest) / Math.log(chart.high / chart.palest);
          context.fillRect(across[dst], down[src], across[dst + 1] - across[dst], down[src + 1] - down[src]);
        }
      }
    },
    told: (x, src) => [`from ${ranksOf(src)} to ${ranksOf(to(x))}: ${rateOf(src, to(x)) === null ? "no rate" : `${digits(rateOf(src, to(x)))} ${chart.unit}`}${chart.by > 1 ? ", the slowest of these pairs" : ""}`],
  });
}
