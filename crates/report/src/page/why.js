"use strict";
// Times in the text move all plots there.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll(".moment")) {
    button.addEventListener("click", () => {
      const axis = window.tidegate;
      if (!axis) return;
      const at = Number(button.dataset.at);
      const [from, to] = axis.range();
      const half = Math.min((to - from) / 2, axis.end / 10);
      axis.moveTo(Math.max(0, at - half), Math.min(axis.end, at + half));
      axis.cursor(at);
    });
  }
});
