// A plain script in the head, not a module: it sets the scheme before anything is drawn, so that nothing flashes.
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
    const words = { system: "as the system has them", light: "light", dark: "dark" };
    button?.setAttribute("aria-label", `Colours: ${words[choice]}`);
    button?.setAttribute("title", `Colours: ${words[choice]}`);
  };

  const next = () => {
    const dark = document.documentElement.dataset.scheme === "dark";
    const other = dark ? "light" : "dark";
    // Where the other scheme is the system's own, follow the system again.
    choice = (other === "dark") === system.matches ? "system" : other;
    try { localStorage.setItem(KEY, choice); } catch { /* not remembered, still applied */ }
    apply();
  };

  apply();
  system.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme").addEventListener("click", next);
    apply();
  });
})();
