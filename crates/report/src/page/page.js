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
