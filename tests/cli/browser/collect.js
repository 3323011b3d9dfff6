// Put before everything else in a copy of a page: what goes wrong in it, and what it writes on its canvases.
window.seen = { faults: [], texts: new Map(), plots: [] };
window.addEventListener("error", (event) => seen.faults.push(`error: ${event.message}`));
window.addEventListener("unhandledrejection", (event) => seen.faults.push(`rejection: ${event.reason}`));
for (const level of ["error", "warn"]) {
  console[level] = (...words) => seen.faults.push(`console.${level}: ${words.join(" ")}`);
}
// Texts with their places, by canvas; a canvas that is cleared begins anew.
const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
  if (!seen.texts.has(this.canvas)) seen.texts.set(this.canvas, []);
  const size = this.measureText(text);
  const corners = [[-size.actualBoundingBoxLeft, -size.actualBoundingBoxAscent], [size.actualBoundingBoxRight, size.actualBoundingBoxDescent]]
    .map(([right, down]) => this.getTransform().transformPoint(new DOMPoint(x + right, y + down)));
  const ends = (values) => [Math.min(...values), Math.max(...values)];
  seen.texts.get(this.canvas).push({ text: String(text), x: ends(corners.map((corner) => corner.x)), y: ends(corners.map((corner) => corner.y)) });
  return fillText.call(this, text, x, y, ...more);
};
CanvasRenderingContext2D.prototype.clearRect = function (x, y, width, height) {
  if (width >= this.canvas.width && height >= this.canvas.height) seen.texts.delete(this.canvas);
  return clearRect.call(this, x, y, width, height);
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
