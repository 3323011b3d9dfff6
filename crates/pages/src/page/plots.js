"use strict";
// Plots of one page share a time range and a cursor; `window.tidegate` shares them with other drawings.
window.tidegate = (() => {
  const data = JSON.parse(document.getElementById("panels").textContent);
  const all = [0, data.end_s];
  const height = 260;
  const font = "system-ui, Helvetica, Arial, sans-serif";
  const plots = [];
  const listeners = { range: [], cursor: [] };

  const show = (number) => number == null ? "–" : String(Number(number.toPrecision(5)));
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // One range and one cursor for all plots; uPlot sets scales later, so they are kept here.
  let range = all;
  let now = null;
  let isFollowing = false;
  const moveTo = (min, max) => {
    if (!(max > min)) return;
    range = [min, max];
    for (const plot of plots) plot.setScale("x", { min, max });
    for (const listener of listeners.range) listener(min, max);
  };
  const onScale = (plot, key) => {
    const { min, max } = plot.scales.x;
    if (key === "x" && min != null && (min !== range[0] || max !== range[1])) moveTo(min, max);
  };
  const place = (plot) => {
    const isShown = now != null && now >= range[0] && now <= range[1];
    plot.setCursor(isShown ? { left: plot.valToPos(now, "x"), top: 0 } : { left: -10, top: -10 });
  };
  const cursor = (time, source) => {
    if (time === now || isFollowing) return;
    now = time;
    isFollowing = true;
    for (const plot of plots) if (plot !== source) place(plot);
    isFollowing = false;
    for (const listener of listeners.cursor) listener(now);
  };
  const onCursor = (plot) => {
    const left = plot.cursor.left;
    cursor(left >= 0 ? plot.posToVal(left, "x") : null, plot);
  };

  // The scenario's events; what happened stands at the line where there is room, else its number.
  const drawTurns = (plot) => {
    const { ctx, bbox } = plot;
    const ratio = uPlot.pxRatio;
    const shown = data.turns.map((turn, index) => ({ ...turn, index, x: plot.valToPos(turn.at_s, "x", true) }))
      .filter((turn) => turn.x >= bbox.left && turn.x <= bbox.left + bbox.width);
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = style("--soft");
    ctx.lineWidth = ratio;
    ctx.font = `${11 * ratio}px ${font}`;
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    shown.forEach((turn, index) => {
      ctx.setLineDash([4 * ratio, 4 * ratio]);
      ctx.beginPath();
      ctx.moveTo(turn.x, bbox.top);
      ctx.lineTo(turn.x, bbox.top + bbox.height);
      ctx.stroke();
      const room = (shown[index + 1]?.x ?? bbox.left + bbox.width) - turn.x - 8 * ratio;
      const text = [`${turn.index + 1} ${turn.what}`, `${turn.index + 1}`].find((text) => ctx.measureText(text).width < room);
      if (text) ctx.fillText(text, turn.x + 4 * ratio, bbox.top + 2 * ratio);
    });
    ctx.restore();
  };

  // What is shown of the seeds: the first one's series, another's, or their mean; and whether the band over them is.
  const mean = "mean";
  let chosen = data.seeds[0];
  let hasBand = data.seeds.length > 1;
  const shown = (panel) => {
    const place = data.seeds.indexOf(chosen);
    // Beside the band a line of the band's own bins: the samples between them would leave it.
    if (chosen === mean || hasBand) {
      return { time_s: panel.band.time_s, values: panel.band.series.map((series) => chosen === mean ? series.mean : series.seeds[place]) };
    }
    return place > 0 ? panel.seeds[place - 1] : { time_s: panel.time_s, values: panel.series.map((series) => series.values) };
  };
  // Stretches of the band without a gap, as places of their first and last instants.
  const stretches = ({ low }) => {
    const found = [];
    low.forEach((value, place) => {
      if (value == null) return;
      if (place > 0 && low[place - 1] != null) found[found.length - 1][1] = place;
      else found.push([place, place]);
    });
    return found;
  };
  const drawBand = (plot, panel) => {
    if (!hasBand) return;
    const { ctx, bbox } = plot;
    const at = (place) => plot.valToPos(panel.band.time_s[place], "x", true);
    // A count holds for the bin that ends at its instant.
    const width = panel.is_stepped && panel.band.time_s.length > 1 ? at(1) - at(0) : 0;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.globalAlpha = 0.2;
    panel.band.series.forEach((series, index) => {
      if (panel.hidden?.[index]) return;
      ctx.fillStyle = style(`--c${panel.series[index].colour % 7}`);
      for (const [from, to] of stretches(series)) {
        ctx.beginPath();
        const level = (place, value, ...shifts) => {
          for (const shift of shifts) ctx.lineTo(at(place) + shift, plot.valToPos(value, "y", true));
        };
        for (let place = from; place <= to; place += 1) level(place, series.high[place], -width, 0);
        for (let place = to; place >= from; place -= 1) level(place, series.low[place], 0, -width);
        ctx.closePath();
        ctx.fill();
      }
    });
    ctx.restore();
  };
  // The largest and smallest value of the band in the shown time; the axis has to reach them.
  const bandEnds = (panel) => {
    let [low, high] = [Infinity, -Infinity];
    if (hasBand) panel.band.series.forEach((series, index) => {
      if (panel.hidden?.[index]) return;
      panel.band.time_s.forEach((time, place) => {
        if (time < range[0] || time > range[1] || series.low[place] == null) return;
        low = Math.min(low, series.low[place]);
        high = Math.max(high, series.high[place]);
      });
    });
    return [low, high];
  };
  const yRange = (panel, min, max) => {
    const [low, high] = bandEnds(panel);
    const [from, to] = [Math.min(min ?? Infinity, low), Math.max(max ?? -Infinity, high)];
    return from > to ? [0, 1] : uPlot.rangeNum(Math.min(0, from), to, 0.1, true);
  };

  // Room for the ticks of y beside the label with a little between them, equal in all plots so that their times stand below each other.
  let gutter = 56;
  const room = (plot, ticks, index) => {
    const { font, gap, ticks: { size } } = plot.axes[index];
    plot.ctx.font = font[0];
    const widest = Math.max(0, ...(ticks ?? []).map((tick) => plot.ctx.measureText(tick ?? "").width / uPlot.pxRatio));
    gutter = Math.max(gutter, Math.ceil(widest + size + gap + 8));
    return gutter;
  };
  const axis = (label, size) => ({
    stroke: style("--soft"), grid: { stroke: style("--grid"), width: 1 }, ticks: { stroke: style("--grid") },
    label, labelSize: 20, size, labelFont: `12px ${font}`, font: `12px ${font}`,
  });

  const options = (panel, width) => ({
    width,
    height,
    cursor: { y: false, drag: { x: true, y: false }, points: { size: 6 } },
    scales: {
      x: { time: false, range: (_, min, max) => min == null ? range : [min, max] },
      y: { range: (_, min, max) => yRange(panel, min, max) },
    },
    axes: [axis("time [s]", 36), axis(panel.label, room)],
    series: [
      { label: "time", value: (_, value) => value == null ? "–" : `${show(value)} s` },
      ...panel.series.map((series, index) => ({
        label: series.name,
        stroke: style(`--c${series.colour % 7}`),
        dash: data.dashes[series.colour % data.dashes.length],
        width: 1.5,
        spanGaps: false,
        show: panel.hidden?.[index] !== true,
        paths: panel.is_stepped ? uPlot.paths.stepped({ align: -1 }) : undefined,
        points: { show: false },
        value: (_, value) => value == null ? "–" : `${show(value)} ${panel.unit}`,
      })),
    ],
    hooks: {
      setScale: [onScale],
      setCursor: [onCursor],
      setSeries: [(plot, index, change) => {
        if (index != null && change.show != null) (panel.hidden ??= [])[index - 1] = !change.show;
      }],
      drawAxes: [(plot) => drawBand(plot, panel)],
      draw: [drawTurns],
    },
  });

  // A line as in the plot, with its dashes: colours alone do not tell series apart on grey paper.
  const sample = (stroke, dash) => {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    line.setAttribute("viewBox", "0 0 34 8");
    line.innerHTML = `<path d="M0 4H34" fill="none" stroke="${stroke}" stroke-width="2" stroke-dasharray="${dash.join(" ")}"/>`;
    return line;
  };

  // Names in the legend work with the keyboard, too.
  const openLegend = (plot, panel) => {
    plot.root.querySelectorAll(".u-legend .u-series:not(:first-child) .u-marker").forEach((marker, index) => {
      const { colour } = panel.series[index];
      marker.replaceChildren(sample(style(`--c${colour % 7}`), data.dashes[colour % data.dashes.length]));
    });
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
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "+" || event.key === "=") to(middle - width / 4, middle + width / 4);
    else if (event.key === "-") to(middle - width, middle + width);
    else if (event.key === "0" || event.key === "Escape") to(all[0], all[1]);
    else if (step && event.shiftKey) {
      event.preventDefault();
      cursor(Math.min(max, Math.max(min, (now ?? middle) + step * width / 100)));
    } else if (step) {
      const by = step < 0 ? -Math.min(width / 4, min - all[0]) : Math.min(width / 4, all[1] - max);
      to(min + by, max + by);
    }
  };

  const root = document.getElementById("plots");
  const places = data.panels.map((panel) => {
    const place = document.createElement("div");
    place.className = "plot";
    place.id = `plot-${panel.id}`;
    const title = document.createElement("h3");
    title.textContent = panel.title;
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = panel.note;
    const body = document.createElement("div");
    body.tabIndex = 0;
    body.setAttribute("role", "group");
    body.setAttribute("aria-label", `${panel.title} in ${panel.unit}, plot over time`);
    body.addEventListener("keydown", onKey);
    place.append(title, ...(panel.note ? [note] : []), body);
    root.append(place);
    return body;
  });

  // Redrawn from scratch when colours change; the shown range, the cursor and hidden series stay.
  const draw = () => {
    const kept = now;
    const before = gutter;
    for (const plot of plots.splice(0)) plot.destroy();
    data.panels.forEach((panel, index) => {
      const { time_s, values } = shown(panel);
      const plot = new uPlot(options(panel, places[index].clientWidth), [time_s, ...values], places[index]);
      openLegend(plot, panel);
      plot.over.addEventListener("dblclick", () => moveTo(...all));
      plots.push(plot);
      plot.setScale("x", { min: range[0], max: range[1] });
    });
    // Ticks are known once a plot is drawn, which happens after this.
    queueMicrotask(() => { if (gutter > before) draw(); });
    // A new plot takes the cursor away once it is drawn.
    if (kept != null) setTimeout(() => cursor(kept));
  };
  // The choice of the seed. Other parts of the page stay with the first.
  const seedTools = () => {
    const make = (name, properties, ...children) => {
      const made = Object.assign(document.createElement(name), properties);
      made.append(...children);
      return made;
    };
    const option = (value, textContent) => make("option", { value, textContent });
    const choice = make("select", { id: "seed-choice" }, ...data.seeds.map((seed) => option(seed, String(seed))), option(mean, `mean of ${data.seeds.length} seeds`));
    const band = make("input", { type: "checkbox", id: "seed-band", checked: true });
    const said = document.getElementById("seed-shown");
    const update = () => {
      chosen = choice.value;
      hasBand = band.checked;
      const line = chosen === mean ? `Lines: mean of ${data.seeds.length} seeds.` : `Lines: seed ${chosen}.`;
      said.textContent = hasBand ? `${line} Shaded: lowest to highest of ${data.seeds.length} seeds.` : line;
      draw();
    };
    for (const control of [choice, band]) control.addEventListener("change", update);
    const tools = document.getElementById("seed-tools");
    tools.append(make("label", {}, "Seed ", choice), " ", make("label", {}, band, " band over seeds"));
    tools.hidden = false;
    update();
  };
  const fit = () => {
    plots.forEach((plot, index) => plot.setSize({ width: places[index].clientWidth, height }));
  };

  draw();
  if (data.seeds.length > 1) seedTools();
  document.getElementById("reset-zoom")?.addEventListener("click", () => moveTo(...all));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  matchMedia("print").addEventListener("change", draw);
  document.addEventListener("themechange", draw);
  window.addEventListener("resize", fit);

  return {
    end: data.end_s,
    range: () => [...range],
    moveTo,
    cursor: (time) => cursor(time),
    onRange: (listener) => { listeners.range.push(listener); },
    onCursor: (listener) => { listeners.cursor.push(listener); },
  };
})();
