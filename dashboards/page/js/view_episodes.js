// Episodes: a list, open ones first.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { growing } from "./growing.js";
import { longRows } from "./table.js";
import { episodeTable, shown } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";

const CHOICES = [["", "All"], ["true", "Open"], ["false", "Ended"]];

export function openEpisodes(root, route) {
  const { open = "", series = "", job = "" } = route.filters;
  const choice = el("div", { class: "choice", role: "group", "aria-label": "State of episodes" }, ...CHOICES.map(([value, word]) =>
    el("a", { href: links.list("episodes", { open: value, series, job }), "aria-current": value === open ? "true" : null }, word)));
  const of = series ? `of ${series}` : job ? `of job ${job}` : "";
  const total = el("span", {});
  const body = el("div", {}, empty("Loading episodes…", "", true));
  const more = growing((limit, offset) => ask("episodes", { open, series, job, limit, offset }), "episodes", () => data.now());
  root.append(el("div", { class: "title" }, el("h1", {}, `Episodes ${of}`), choice), card("Contended stretches", el("div", {}, body, more.root), total));

  const show = (answer) => {
    setText(total, shown(answer.episodes, answer.total, answer.total_is_least));
    if (answer.episodes.length > 0) return fill(body, episodeTable(answer.episodes, true, { total: answer.total, least: answer.total_is_least, rows: longRows }));
    fill(body, empty("No episodes", open === "true"
      ? "No series with data is contended now. Series without data are unknown, not healthy: see Health."
      : "Contention will be listed here with its start, length and loss."));
  };
  const fail = (error) => fill(body, failure("No episodes to show", error));
  const data = refresher(more.ask, show, fail, 2000);
  return { tick: data.tick, close: data.close };
}
