// Episodes: a list, those that go on first.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { growing } from "./growing.js";
import { episodeTable, shown } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";

const CHOICES = [["", "All"], ["true", "Open"], ["false", "Ended"]];

export function openEpisodes(root, route) {
  const { open = "", series = "", job = "" } = route.filters;
  const choice = el("div", { class: "choice", role: "group", "aria-label": "Which episodes" }, ...CHOICES.map(([value, word]) =>
    el("a", { href: links.list("episodes", { open: value, series, job }), "aria-current": value === open ? "true" : null }, word)));
  const of = series ? `of ${series}` : job ? `of job ${job}` : "";
  const total = el("span", {});
  const body = el("div", {}, empty("Asking for episodes", "", true));
  const more = growing((limit, offset) => ask("episodes", { open, series, job, limit, offset }), "episodes", () => data.now());
  root.append(el("div", { class: "title" }, el("h1", {}, `Episodes ${of}`), choice), card("Contended stretches", el("div", {}, body, more.root), total));

  const show = (answer) => {
    setText(total, shown(answer.episodes, answer.total, answer.total_is_least));
    if (answer.episodes.length > 0) return fill(body, episodeTable(answer.episodes));
    fill(body, empty("No such episode", open === "true"
      ? "Nothing is contended at this moment, as far as the data tells. Series without data are not healthy, they are unknown: see Health."
      : "Contention that is found will be listed here with its start, its length and what it cost."));
  };
  const fail = (error) => fill(body, failure("No episodes to show", error));
  const data = refresher(more.ask, show, fail, 2000);
  return { tick: data.tick, close: data.close };
}
