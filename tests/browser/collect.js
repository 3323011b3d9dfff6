// Put before everything else in a copy of a page: what goes wrong in it, and what it writes on its canvases.
window.seen = { faults: [], texts: new Map(), plots: [] };
window.addEventListener("error", (event) => seen.faults.push(`error: ${event.message}`));
window.addEventListener("unhandledrejection", (event) => seen.faults.push(`rejection: ${event.reason}`));
for (const level of ["error", "warn"]) {
  console[level] = (...words) => seen.faults.push(`console.${level}: ${words.join(" ")}`);
}
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
  if (!seen.texts.has(this.canvas)) seen.texts.set(this.canvas, new Set());
  seen.texts.get(this.canvas).add(text);
  return write.call(this, text, ...place);
};
// Every plot that is made; the library assigns its global once.
{
  let library;
  const construct = (target, given) => {
    const plot = new target(...given);
    seen.plots.push(plot);
    return plot;
  };
  Object.defineProperty(window, "uPlot", { configurable: true, get: () => library, set: (made) => { library = new Proxy(made, { construct }); } });
}
