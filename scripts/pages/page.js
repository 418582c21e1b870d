// What is to be drawn, by the kind of its data, once it is in sight: folded parts have no width.
const DRAW = { timeline, map };
const drawAll = (within) => within.querySelectorAll("figure[data-chart]").forEach((figure) => {
  const holder = figure.querySelector(".here");
  if (holder.classList.contains("plot") || !figure.offsetWidth) return;
  const chart = JSON.parse(figure.dataset.chart);
  (DRAW[chart.kind] || plot)(holder, chart);
});
if (window.Dygraph) {
  drawAll(document);
  for (const folded of document.querySelectorAll("details")) folded.addEventListener("toggle", () => drawAll(folded));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach((of) => of.holder.isConnected && of.redraw()));
}
