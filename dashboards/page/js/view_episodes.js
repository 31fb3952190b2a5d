// Episodes: a list, open ones first.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { growing } from "./growing.js";
import { longRows } from "./table.js";
import { episodeTable, shown } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { timePicker } from "./time.js";

const CHOICES = [["", "All"], ["true", "Open"], ["false", "Ended"]];

export function openEpisodes(root, route) {
  const { open = "", series = "", job = "" } = route.filters;
  const choice = el("div", { class: "choice", role: "group", "aria-label": "State of episodes" });
  const choices = () => fill(choice, ...CHOICES.map(([value, word]) =>
    el("a", { href: links.list("episodes", { open: value, series, job, ...time.filters() }), "aria-current": value === open ? "true" : null }, word)));
  const time = timePicker(route, () => { choices(); more.restart(); data.now(); });
  choices();
  const of = series ? `of ${series}` : job ? `of job ${job}` : "";
  const total = el("span", {});
  const body = el("div", {}, empty("Loading episodes…", "", true));
  const more = growing(async (limit, offset) => ask("episodes", { open, series, job, ...await time.bounds(), limit, offset }), "episodes", () => data.now());
  root.append(el("div", { class: "title" }, el("h1", {}, `Episodes ${of}`), choice, time.root), card("Contended stretches", el("div", {}, body, more.root), total));

  const show = (answer) => {
    setText(total, shown(answer.episodes, answer.total, answer.total_is_least));
    if (answer.episodes.length > 0) return fill(body, episodeTable(answer.episodes, true, { total: answer.total, least: answer.total_is_least, rows: longRows }));
    if (Object.keys(time.filters()).length) return fill(body, empty("No episodes in this span.", "", true));
    fill(body, empty("No episodes", open === "true"
      ? "No series with data is contended now. Series without data are unknown, not healthy: see Health."
      : "Contention will be listed here with its start, length and loss."));
  };
  const fail = (error) => fill(body, failure("No episodes to show", error));
  const data = refresher(more.ask, show, fail, 2000);
  return { tick: data.tick, close: data.close };
}
