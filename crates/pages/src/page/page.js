"use strict";
for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", () => {
    const code = button.parentElement.querySelector("code");
    const range = document.createRange();
    range.selectNodeContents(code);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    // The clipboard is closed to pages opened from disk in some browsers; the selection stays then.
    const done = () => { button.textContent = "Copied"; };
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, () => {});
    else if (document.execCommand("copy")) done();
  });
}
{
  // The system's choice of light or dark until this button is used; nothing remembers it.
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.classList.contains("dark") || (system.matches && !root.classList.contains("light"));
  const name = () => { button.textContent = isDark() ? "Light colours" : "Dark colours"; };
  button.addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    root.classList.remove("light", "dark");
    root.classList.add(next);
    name();
    document.dispatchEvent(new Event("themechange"));
  });
  system.addEventListener("change", name);
  button.hidden = false;
  name();
}
// Claims of one verdict; a link to a claim that is not shown shows all again.
for (const filter of document.querySelectorAll(".filter")) {
  const buttons = [...filter.querySelectorAll("button")];
  const rows = [...filter.parentElement.querySelectorAll("tr[data-verdict]")];
  const show = (verdict) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.verdict === verdict));
    for (const row of rows) row.hidden = verdict !== "" && row.dataset.verdict !== verdict;
  };
  for (const button of buttons) button.addEventListener("click", () => show(button.dataset.verdict));
  const reveal = () => {
    const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!row?.hidden) return;
    show("");
    row.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);
  filter.hidden = buttons.length < 3;
}
// Names in the keys of figures hide and show their series. Where two drawings stand in one place, the second one
// draws the series that the first one leaves out.
for (const part of document.querySelectorAll(".figures figure, .figure-alone")) {
  const drawings = [...part.querySelectorAll("svg.figure")];
  const keys = [...part.querySelectorAll("[data-key]")];
  if (keys.length === 0) continue;
  const whole = drawings.find((svg) => svg.classList.contains("whole"));
  const drawn = (svg) => new Set([...svg.querySelectorAll("[data-series]")].map((group) => group.dataset.series));
  const everything = new Set(keys.map((key) => key.dataset.key));
  const first = drawn(drawings[0]);
  const hidden = new Set(whole ? [...everything].filter((index) => !first.has(index)) : []);
  const aside = new Set(hidden);
  // The whole entry can be clicked, not only its strokes; what is not displayed has no size yet.
  const frame = (key) => {
    const box = key.getBBox();
    if (box.width === 0) return;
    const area = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const place = { x: box.x - 3, y: box.y - 2, width: box.width + 6, height: box.height + 4, class: "area" };
    for (const [name, value] of Object.entries(place)) area.setAttribute(name, value);
    key.prepend(area);
  };
  const show = () => {
    const isWhole = [...aside].some((index) => !hidden.has(index));
    for (const svg of drawings) svg.classList.toggle("unused", whole != null && (svg === whole) !== isWhole);
    for (const group of part.querySelectorAll("[data-series]")) group.classList.toggle("off", hidden.has(group.dataset.series));
    for (const key of keys) {
      key.setAttribute("aria-pressed", String(!hidden.has(key.dataset.key)));
      if (!key.querySelector(".area")) frame(key);
    }
  };
  const toggle = (index) => {
    if (!hidden.delete(index)) hidden.add(index);
    show();
  };
  for (const svg of drawings) svg.setAttribute("role", "group");
  for (const key of keys) {
    const name = key.textContent.trim();
    for (const [attribute, value] of Object.entries({ role: "button", tabindex: "0", "aria-label": `${name}: hide or show` })) key.setAttribute(attribute, value);
    key.addEventListener("click", () => toggle(key.dataset.key));
    key.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle(key.dataset.key);
    });
  }
  show();
}
for (const note of document.querySelectorAll(".script")) note.hidden = false;
// Times in the text move all plots there, and the plots into view.
for (const button of document.querySelectorAll(".moment")) {
  button.addEventListener("click", () => {
    const axis = window.tidegate;
    if (!axis) return;
    const at = Number(button.dataset.at);
    const [from, to] = axis.range();
    const half = Math.min((to - from) / 2, axis.end / 10);
    axis.moveTo(Math.max(0, at - half), Math.min(axis.end, at + half));
    axis.cursor(at);
    const plot = document.querySelector("#plot-window") ?? document.querySelector(".plot") ?? document.getElementById("segment-diagram");
    plot?.scrollIntoView({ block: "center" });
  });
}
