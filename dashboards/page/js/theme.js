// A plain script in the head, not a module: it sets the scheme before the first drawing, so that the page does not flash.
(() => {
  "use strict";
  const KEY = "tailback-scheme";
  const system = matchMedia("(prefers-color-scheme: dark)");
  const kept = () => {
    // A browser may forbid storage; the page then follows the system.
    try { return localStorage.getItem(KEY); } catch { return null; }
  };
  let choice = ["light", "dark"].includes(kept()) ? kept() : "system";

  const apply = () => {
    const scheme = choice === "system" ? (system.matches ? "dark" : "light") : choice;
    document.documentElement.dataset.scheme = scheme;
    document.dispatchEvent(new CustomEvent("scheme"));
    const button = document.getElementById("theme");
    const labels = { system: "system setting", light: "light", dark: "dark" };
    button?.setAttribute("aria-label", `Colours: ${labels[choice]}`);
    button?.setAttribute("title", `Colours: ${labels[choice]}`);
  };

  const next = () => {
    const dark = document.documentElement.dataset.scheme === "dark";
    const other = dark ? "light" : "dark";
    // If the other scheme is that of the system, follow the system again.
    choice = (other === "dark") === system.matches ? "system" : other;
    try { localStorage.setItem(KEY, choice); } catch { /* applied, not stored */ }
    apply();
  };

  apply();
  system.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", () => {
    // A panel in a frame has no button.
    document.getElementById("theme")?.addEventListener("click", next);
    apply();
  });
})();
