"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const data = JSON.parse(document.getElementById("segments-data").textContent);
  const root = document.getElementById("segment-diagram");
  const all = [0, data.end_s];
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const show = (number) => String(Number(number.toPrecision(6)));
  // Numbers of many digits would run into the axis' title.
  const high = (number) => number >= 1e6 ? `${show(number / 1e6)} M` : String(number);

  // A run without samples has no plots to share range and cursor with; its drawings still share their own.
  window.tidegate ??= (() => {
    let range = all;
    let now = null;
    const listeners = { range: [], cursor: [] };
    return {
      end: data.end_s,
      range: () => [...range],
      moveTo: (min, max) => { if (max > min) { range = [min, max]; listeners.range.forEach((hear) => hear(min, max)); } },
      cursor: (time) => { if (time !== now) { now = time; listeners.cursor.forEach((hear) => hear(time)); } },
      onRange: (hear) => { listeners.range.push(hear); },
      onCursor: (hear) => { listeners.cursor.push(hear); },
    };
  })();
  const axis = window.tidegate;

  // Colour and shape of each kind, in the order of the data; frequent kinds are small.
  const looks = [
    { colour: "--soft", shape: "dot", size: 1.6 },
    { colour: "--c5", shape: "square", size: 1.8 },
    { colour: "--c2", shape: "down", size: 5 },
    { colour: "--c4", shape: "up", size: 5 },
    { colour: "--c1", shape: "cross", size: 5 },
    { colour: "--c3", shape: "diamond", size: 5 },
    { colour: "--ink", shape: "plus", size: 5 },
    { colour: "--c2", shape: "bar", size: 6 },
    { colour: "--c0", shape: "ring", size: 4 },
  ];
  const frequent = [0, 1, 8];
  const hidden = looks.map(() => false);

  const sums = (steps) => { let sum = 0; return steps.map((step) => sum += step); };
  for (const flow of data.flows) {
    for (const kind of flow.points) {
      kind.time = sums(kind.time_us).map((micros) => micros / 1e6);
      kind.segment = sums(kind.segment);
    }
  }
  let flow = data.flows[0];
  let near = null;
  let now = null;

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const canvas = element("canvas", { className: "segments" });
  const said = element("output", { className: "note said" });
  const legend = element("div", { className: "tools legend" });
  const frame = element("div", { tabIndex: 0 }, canvas);
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", "Segment number over time, diagram");
  const choice = element("select", {}, ...data.flows.map((flow, index) => element("option", { value: index, textContent: flow.name })));
  root.append(element("div", { className: "tools" }, element("label", {}, "Flow ", choice)), legend, frame, said);
  if (!flow) {
    root.replaceChildren(element("p", { className: "note", textContent: "The run has no flow." }));
    return;
  }

  const draw = (ctx, shape, x, y, size) => {
    const line = (...points) => points.forEach(([dx, dy], index) => ctx[index ? "lineTo" : "moveTo"](x + dx * size, y + dy * size));
    ctx.beginPath();
    if (shape === "square") return ctx.fillRect(x - size, y - size, 2 * size, 2 * size);
    if (shape === "dot" || shape === "ring") ctx.arc(x, y, size, 0, 7);
    else if (shape === "up") line([0, -1], [0.9, 0.7], [-0.9, 0.7]);
    else if (shape === "down") line([0, 1], [0.9, -0.7], [-0.9, -0.7]);
    else if (shape === "diamond") line([0, -1], [1, 0], [0, 1], [-1, 0]);
    else if (shape === "bar") line([0, -1], [0, 1]);
    else if (shape === "plus") { line([-1, 0], [1, 0]); line([0, -1], [0, 1]); }
    else { line([-0.8, -0.8], [0.8, 0.8]); line([-0.8, 0.8], [0.8, -0.8]); }
    if (["dot", "up", "down", "diamond"].includes(shape)) ctx.fill();
    else ctx.stroke();
  };

  const pad = { left: 76, right: 12, top: 12, bottom: 46 };
  const height = 380;
  let view = null;

  // What is shown decides the range of segments.
  const viewOf = (width) => {
    const [from, to] = axis.range();
    let [low, high] = [Infinity, -Infinity];
    flow.points.forEach((kind, index) => {
      if (hidden[index]) return;
      kind.time.forEach((time, place) => {
        if (time < from || time > to) return;
        low = Math.min(low, kind.segment[place]);
        high = Math.max(high, kind.segment[place]);
      });
    });
    if (low > high) [low, high] = [0, 1];
    const room = Math.max(1, (high - low) * 0.04);
    [low, high] = [Math.max(0, low - room), high + room];
    const [across, down] = [width - pad.left - pad.right, height - pad.top - pad.bottom];
    return {
      from, to, low, high, width,
      x: (time) => pad.left + (time - from) / (to - from) * across,
      y: (segment) => pad.top + down - (segment - low) / (high - low) * down,
      time: (x) => from + (x - pad.left) / across * (to - from),
    };
  };

  const ticks = (from, to, most, least) => {
    const raw = Math.max((to - from) / most, least);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) * power;
    const marks = [];
    for (let mark = Math.ceil(from / step); mark * step <= to; mark += 1) marks.push(mark * step);
    return marks;
  };

  const axes = (ctx) => {
    const bottom = height - pad.bottom;
    ctx.font = "12px system-ui, Helvetica, Arial, sans-serif";
    ctx.lineWidth = 1;
    ctx.strokeStyle = style("--grid");
    ctx.fillStyle = style("--soft");
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    const line = (...points) => {
      ctx.beginPath();
      points.forEach(([x, y], index) => ctx[index ? "lineTo" : "moveTo"](Math.round(x) + 0.5, Math.round(y) + 0.5));
      ctx.stroke();
    };
    for (const time of ticks(view.from, view.to, view.width / 90, 0)) {
      line([view.x(time), pad.top], [view.x(time), bottom]);
      ctx.fillText(show(Number(time.toPrecision(12))), view.x(time), bottom + 6);
    }
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    for (const segment of ticks(view.low, view.high, 8, 1)) {
      line([pad.left, view.y(segment)], [view.width - pad.right, view.y(segment)]);
      ctx.fillText(high(segment), pad.left - 6, view.y(segment));
    }
    ctx.font = "13px system-ui, Helvetica, Arial, sans-serif";
    ctx.textAlign = "center";
    ctx.fillText("time [s]", (pad.left + view.width - pad.right) / 2, height - 10);
    ctx.translate(11, (pad.top + bottom) / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText(flow.counts, 0, 0);
  };

  let selection = null;
  const paint = () => {
    const width = frame.clientWidth;
    if (width < pad.left + pad.right + 20) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    const ctx = canvas.getContext("2d");
    ctx.scale(ratio, ratio);
    view = viewOf(width);
    ctx.save();
    axes(ctx);
    ctx.restore();
    ctx.save();
    ctx.beginPath();
    ctx.rect(pad.left, pad.top, width - pad.left - pad.right, height - pad.top - pad.bottom);
    ctx.clip();
    for (const index of [...frequent, ...looks.keys()].filter((kind, place, list) => list.indexOf(kind) === place)) {
      if (hidden[index]) continue;
      const { colour, shape, size } = looks[index];
      ctx.fillStyle = ctx.strokeStyle = style(colour);
      ctx.lineWidth = 1.8;
      const { time, segment } = flow.points[index];
      time.forEach((at, place) => {
        if (at >= view.from && at <= view.to) draw(ctx, shape, view.x(at), view.y(segment[place]), size);
      });
    }
    ctx.strokeStyle = style("--soft");
    ctx.lineWidth = 1;
    if (now != null) {
      ctx.setLineDash([4, 3]);
      ctx.strokeRect(view.x(now), pad.top - 5, 0, height);
      ctx.setLineDash([]);
    }
    if (near) {
      ctx.strokeStyle = style("--ink");
      ctx.beginPath();
      ctx.arc(view.x(near.time), view.y(near.segment), 9, 0, 7);
      ctx.stroke();
    }
    if (selection) {
      ctx.fillStyle = style("--soft");
      ctx.globalAlpha = 0.2;
      ctx.fillRect(selection[0], 0, selection[1] - selection[0], height);
    }
    ctx.restore();
  };
  let isAsked = false;
  const repaint = () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => { isAsked = false; paint(); });
  };

  const tell = (point) => {
    near = point;
    said.textContent = point ? `${show(point.time)} s: ${flow.counts.split(" [")[0]} ${point.segment}, ${flow.kinds[point.kind]}` : "";
    repaint();
  };
  const nearest = (x, y) => {
    let best = null;
    let least = 14 ** 2;
    flow.points.forEach((kind, index) => {
      if (hidden[index]) return;
      kind.time.forEach((time, place) => {
        if (time < view.from || time > view.to) return;
        const far = (view.x(time) - x) ** 2 + (view.y(kind.segment[place]) - y) ** 2;
        // Of two at one place the rare one counts.
        if (far < least || (far === least && !frequent.includes(index))) {
          least = far;
          best = { time, segment: kind.segment[place], kind: index };
        }
      });
    });
    return best;
  };

  const makeLegend = () => {
    const focused = [...legend.children].indexOf(document.activeElement);
    legend.replaceChildren(...looks.map((look, index) => {
      const kind = flow.points[index];
      const marker = element("canvas", { width: 28, height: 28, className: "marker" });
      const ctx = marker.getContext("2d");
      ctx.scale(2, 2);
      ctx.fillStyle = ctx.strokeStyle = style(look.colour);
      ctx.lineWidth = 1.8;
      draw(ctx, look.shape, 7, 7, Math.max(look.size, 3));
      const every = kind.stride > 1 ? `, every ${kind.stride}th shown` : "";
      const button = element("button", { type: "button", disabled: kind.found === 0 }, marker, ` ${flow.kinds[index]} (${kind.found}${every})`);
      button.setAttribute("aria-pressed", String(!hidden[index]));
      button.addEventListener("click", () => { hidden[index] = !hidden[index]; makeLegend(); repaint(); });
      return button;
    }));
    legend.children[focused]?.focus();
  };

  // The next or previous mark or loss from the cursor on.
  const step = (by) => {
    const rare = flow.points.flatMap((kind, index) => hidden[index] || frequent.includes(index) ? []
      : kind.time.map((time, place) => ({ time, segment: kind.segment[place], kind: index })));
    rare.sort((left, right) => left.time - right.time || left.segment - right.segment || left.kind - right.kind);
    const same = near ? rare.findIndex((point) => point.time === near.time && point.segment === near.segment && point.kind === near.kind) : -1;
    const from = near?.time ?? now ?? (by > 0 ? -1 : Infinity);
    const next = same >= 0 ? rare[same + by] : by > 0 ? rare.find((point) => point.time > from) : rare.findLast((point) => point.time < from);
    if (!next) return;
    const [min, max] = axis.range();
    if (next.time < min || next.time > max) {
      const width = max - min;
      const left = Math.min(Math.max(0, next.time - width / 2), Math.max(0, all[1] - width));
      axis.moveTo(left, left + width);
    }
    axis.cursor(next.time);
    tell(next);
  };

  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [min, max] = axis.range();
    const [width, middle] = [max - min, (min + max) / 2];
    const to = (from, until) => axis.moveTo(Math.max(all[0], from), Math.min(all[1], until));
    if (event.key === "+" || event.key === "=") to(middle - width / 4, middle + width / 4);
    else if (event.key === "-") to(middle - width, middle + width);
    else if (event.key === "0" || event.key === "Escape") to(...all);
    else if (event.key === "ArrowLeft") { const by = Math.min(width / 4, min - all[0]); to(min - by, max - by); }
    else if (event.key === "ArrowRight") { const by = Math.min(width / 4, all[1] - max); to(min + by, max + by); }
    else if (event.key === "n") step(1);
    else if (event.key === "p") step(-1);
    else return;
    event.preventDefault();
  });
  let pressed = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || event.button !== 0) return;
    pressed = event.offsetX;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!view) return;
    const inside = Math.min(Math.max(event.offsetX, pad.left), view.width - pad.right);
    if (pressed != null && Math.abs(event.offsetX - pressed) > 4) selection = [pressed, inside].sort((a, b) => a - b);
    axis.cursor(view.time(inside));
    tell(nearest(event.offsetX, event.offsetY));
  });
  canvas.addEventListener("pointerup", () => {
    pressed = null;
    if (!selection) return;
    const [from, to] = selection.map(view.time);
    selection = null;
    axis.moveTo(Math.max(all[0], from), Math.min(all[1], to));
    repaint();
  });
  canvas.addEventListener("pointercancel", () => { pressed = selection = null; repaint(); });
  canvas.addEventListener("pointerleave", () => { axis.cursor(null); tell(null); });
  canvas.addEventListener("dblclick", () => axis.moveTo(...all));
  choice.addEventListener("change", () => { flow = data.flows[choice.value]; tell(null); makeLegend(); });

  const redraw = () => { makeLegend(); repaint(); };
  axis.onRange(repaint);
  axis.onCursor((time) => { now = time; repaint(); });
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", redraw);
  document.addEventListener("themechange", redraw);
  window.addEventListener("resize", repaint);
  makeLegend();
  paint();
});
