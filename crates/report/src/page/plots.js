"use strict";
(() => {
  const data = JSON.parse(document.getElementById("panels").textContent);
  const root = document.getElementById("plots");
  const all = [0, data.end_s];
  const plots = [];

  const show = (number) => number == null ? "–" : String(Number(number.toPrecision(5)));
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // One range for all plots; uPlot sets scales later, so the range is kept here.
  let range = all;
  const moveTo = (min, max) => {
    if (!(max > min)) return;
    range = [min, max];
    for (const plot of plots) plot.setScale("x", { min, max });
  };
  const onScale = (plot, key) => {
    const { min, max } = plot.scales.x;
    if (key === "x" && min != null && (min !== range[0] || max !== range[1])) moveTo(min, max);
  };

  const options = (panel, width) => ({
    width,
    height: 240,
    cursor: { sync: { key: "time", scales: ["x", null] }, drag: { x: true, y: false }, points: { size: 6 } },
    scales: { x: { time: false, min: range[0], max: range[1], range: (_, min, max) => min == null ? range : [min, max] } },
    axes: [
      { stroke: style("--soft"), grid: { stroke: style("--grid"), width: 1 }, ticks: { stroke: style("--grid") }, label: "time [s]", labelSize: 20, size: 36, labelFont: "13px system-ui, sans-serif", font: "12px system-ui, sans-serif" },
      { stroke: style("--soft"), grid: { stroke: style("--grid"), width: 1 }, ticks: { stroke: style("--grid") }, label: `[${panel.unit}]`, labelSize: 20, size: 56, labelFont: "13px system-ui, sans-serif", font: "12px system-ui, sans-serif" },
    ],
    series: [
      { label: "time", value: (_, value) => value == null ? "–" : `${show(value)} s` },
      ...panel.series.map((series) => ({
        label: series.name,
        stroke: style(`--c${series.colour % 7}`),
        dash: data.dashes[series.colour % data.dashes.length],
        width: 1.5,
        spanGaps: false,
        points: { show: false },
        value: (_, value) => value == null ? "–" : `${show(value)} ${panel.unit}`,
      })),
    ],
    hooks: { setScale: [onScale] },
  });

  // Names in the legend work with the keyboard, too.
  const openLegend = (plot) => {
    for (const row of plot.root.querySelectorAll(".u-legend .u-series:not(:first-child) th")) {
      row.tabIndex = 0;
      row.setAttribute("role", "button");
      row.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        row.click();
      });
    }
  };

  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [min, max] = range;
    const [width, middle] = [max - min, (min + max) / 2];
    const to = (from, until) => { event.preventDefault(); moveTo(Math.max(all[0], from), Math.min(all[1], until)); };
    if (event.key === "+" || event.key === "=") to(middle - width / 4, middle + width / 4);
    else if (event.key === "-") to(middle - width, middle + width);
    else if (event.key === "ArrowLeft") { const by = Math.min(width / 4, min - all[0]); to(min - by, max - by); }
    else if (event.key === "ArrowRight") { const by = Math.min(width / 4, all[1] - max); to(min + by, max + by); }
    else if (event.key === "0" || event.key === "Escape") to(all[0], all[1]);
  };

  const places = data.panels.map((panel) => {
    const place = document.createElement("div");
    place.className = "plot";
    const title = document.createElement("h3");
    title.textContent = `${panel.title} [${panel.unit}]`;
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = panel.note;
    const body = document.createElement("div");
    body.tabIndex = 0;
    body.setAttribute("role", "group");
    body.setAttribute("aria-label", `${panel.title}, plot over time`);
    body.addEventListener("keydown", onKey);
    place.append(title, ...(panel.note ? [note] : []), body);
    root.append(place);
    return body;
  });

  // Redrawn from scratch when the colour scheme changes; the shown range stays.
  const draw = () => {
    for (const plot of plots.splice(0)) plot.destroy();
    data.panels.forEach((panel, index) => {
      const values = [panel.time_s, ...panel.series.map((series) => series.values)];
      const plot = new uPlot(options(panel, places[index].clientWidth), values, places[index]);
      openLegend(plot);
      plot.over.addEventListener("dblclick", () => moveTo(...all));
      plots.push(plot);
    });
  };

  draw();
  document.getElementById("reset-zoom").addEventListener("click", () => moveTo(...all));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  matchMedia("print").addEventListener("change", draw);
  window.addEventListener("resize", () => {
    plots.forEach((plot, index) => plot.setSize({ width: places[index].clientWidth, height: 240 }));
  });
})();
