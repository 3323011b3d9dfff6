"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const data = JSON.parse(document.getElementById("animation-data").textContent);
  const root = document.getElementById("moving-network");
  const svg = root.querySelector("svg");
  const said = document.getElementById("animation-said");
  const axis = window.tidegate;
  if (!svg || !axis) return;
  // Symbols stand for what happened in the last sixtieth of the run, so that a single drop can be seen.
  const trail = Math.max(1, Math.round(data.bins / 60));
  const words = ["dropped", "marked", "lost on the link", "stored"];
  const classes = ["drop", "mark", "wireloss", "stored"];
  const shapes = ["M-4 -4L4 4M-4 4L4 -4", "M0 -5L5 4H-5z", "M0 -5L5 0L0 5L-5 0z", "M-4 -4h8v8h-8z"];

  const make = (name, attributes, parent) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  };
  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  // Counts before each bin, and the queue in it.
  const running = (pairs) => {
    const sums = new Float64Array(data.bins + 1);
    for (let place = 0; place < pairs.length; place += 2) sums[pairs[place] + 1] = pairs[place + 1];
    for (let bin = 0; bin < data.bins; bin += 1) sums[bin + 1] += sums[bin];
    return sums;
  };
  const levels = (pairs) => {
    const values = new Float64Array(data.bins);
    for (let place = 0; place < pairs.length; place += 2) values.fill(pairs[place + 1], pairs[place]);
    return values;
  };
  const within = (sums, bin) => sums[bin + 1] - sums[Math.max(0, bin + 1 - trail)];

  const overlay = make("g", { class: "moving" }, svg);
  const longest = Math.max(1, ...data.directions.map((direction) => Math.max(0, ...direction.queue.filter((_, place) => place % 2))));
  const lines = data.directions.map((direction) => {
    const [from, to] = [data.nodes[direction.from], data.nodes[direction.to]];
    const across = [to[0] - from[0], to[1] - from[1]];
    const length = Math.hypot(...across) || 1;
    const right = [-across[1] / length, across[0] / length];
    const on = (part, off) => [0, 1].map((side) => (1 - part) ** 2 * from[side]
      + 2 * part * (1 - part) * direction.control[side] + part ** 2 * to[side] + off * right[side]);
    const scale = Math.min(1, Math.max(0.65, length / 130));
    const [start, stop] = [Math.min(0.3, 20 / length), 0.45];
    const ends = [on(start, 6 * scale + 1), on(stop, 6 * scale + 1)];
    const hold = make("path", { class: "hold", d: `M${ends[0]}L${ends[1]}`, style: `stroke-width: ${7 * scale}px` }, overlay);
    const held = make("path", { class: "held", style: `stroke-width: ${7 * scale}px` }, overlay);
    const signs = shapes.map((shape, kind) => {
      const [x, y] = kind === 2 ? on(0.55, 8 * scale) : on(start + 0.02 + 0.14 * [0, 1, 0, 2][kind], 20 * scale);
      const group = make("g", { transform: `translate(${x} ${y}) scale(${scale})`, visibility: "hidden" }, overlay);
      make("path", { class: classes[kind], d: shape }, group);
      const count = make("text", { class: "ink", x: 7, y: 4, "font-size": 10 }, group);
      return { group, count, sums: running(direction.counts[kind]) };
    });
    const name = `${data.names[direction.from]} → ${data.names[direction.to]}`;
    make("title", {}, hold).textContent = name;
    return { name, ends, held, signs, queue: levels(direction.queue), isLong: length > 90 };
  });
  const rings = data.hits.map((pairs, node) => {
    if (!pairs.length) return null;
    const [cx, cy] = data.nodes[node];
    const ring = make("circle", { class: "hit", cx, cy, r: 15, visibility: "hidden" }, overlay);
    return { ring, sums: running(pairs), name: data.names[node] };
  });

  let now = 0;
  const show = (bin) => {
    const told = [];
    for (const { name, ends: [from, to], held, signs, queue, isLong } of lines) {
      const part = queue[bin] / longest;
      const end = [0, 1].map((side) => from[side] + part * (to[side] - from[side]));
      held.setAttribute("d", part > 0 ? `M${from}L${end}` : "");
      const facts = queue[bin] > 0 ? [`${queue[bin]} waiting`] : [];
      signs.forEach(({ group, count, sums }, kind) => {
        const packets = within(sums, bin);
        group.setAttribute("visibility", packets > 0 ? "visible" : "hidden");
        count.textContent = packets > 1 && isLong ? packets : "";
        if (packets > 0) facts.push(`${packets} ${words[kind]}`);
      });
      if (facts.length) told.push([signs.reduce((sum, { sums }) => sum + within(sums, bin), 0) * 1e6 + queue[bin], `${name}: ${facts.join(", ")}`]);
    }
    for (const node of rings) {
      if (!node) continue;
      const hits = within(node.sums, bin);
      node.ring.setAttribute("visibility", hits > 0 ? "visible" : "hidden");
      if (hits > 0) told.push([hits, `${node.name}: ${hits} satisfied by its content store`]);
    }
    told.sort((left, right) => right[0] - left[0]);
    const rest = told.length > 4 ? `; and ${told.length - 4} more` : "";
    const seconds = Number((trail * data.bin_s).toPrecision(2));
    said.textContent = `At ${now.toFixed(now < 10 ? 3 : 2)} s, packets waiting, and events of the last ${seconds} s: `
      + (told.length ? told.slice(0, 4).map(([, text]) => text).join("; ") + rest : "nothing") + ".";
  };

  const play = element("button", { type: "button", textContent: "Play" });
  const scrub = element("input", { type: "range", min: 0, max: data.bins - 1, step: 1, value: 0, className: "scrub" });
  scrub.setAttribute("aria-label", "Time of the animation");
  const speeds = [5, 20, 60, 300].map((seconds) => element("option", { value: seconds, textContent: `${seconds} s`, selected: seconds === 20 }));
  const speed = element("select", {}, ...speeds);
  document.getElementById("animation-tools").append(play, scrub, element("label", {}, "Whole run in ", speed));

  const binOf = (time) => Math.min(data.bins - 1, Math.max(0, Math.floor(time / data.bin_s)));
  const set = (time) => {
    now = Math.min(data.end_s, Math.max(0, time));
    const bin = binOf(now);
    scrub.value = bin;
    scrub.setAttribute("aria-valuetext", `${now.toFixed(2)} s`);
    show(bin);
  };
  const lead = (time) => { set(time); axis.cursor(now); };

  let before = null;
  const tick = (stamp) => {
    if (before == null) return;
    const passed = Math.min(stamp - before, 200) / 1000;
    before = stamp;
    lead(now + passed * data.end_s / speed.value);
    if (now >= data.end_s) stop();
    else requestAnimationFrame(tick);
  };
  const stop = () => { before = null; play.textContent = "Play"; said.removeAttribute("aria-live"); };
  const start = () => {
    if (now >= data.end_s) lead(0);
    before = performance.now();
    play.textContent = "Pause";
    said.setAttribute("aria-live", "off");
    requestAnimationFrame(tick);
  };
  const toggle = () => (before == null ? start() : stop());

  play.addEventListener("click", toggle);
  scrub.addEventListener("input", () => { stop(); lead((Number(scrub.value) + 0.5) * data.bin_s); });
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === " ") toggle();
    else if (step) { stop(); lead((binOf(now) + step + 0.5) * data.bin_s); }
    else if (event.key === "Home") { stop(); lead(0); }
    else if (event.key === "End") { stop(); lead(data.end_s); }
    else return;
    event.preventDefault();
  });
  axis.onCursor((time) => { if (time != null && before == null) set(time); });
  set(0);
});
