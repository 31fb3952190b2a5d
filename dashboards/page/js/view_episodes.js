// Episodes: a list, open ones first.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { filterRow } from "./filter_row.js";
import { moment } from "./format.js";
import { growing } from "./growing.js";
import { longRows, orderOf } from "./table.js";
import { EPISODE_ORDERS, episodeTable, mountOf, shown } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { timePicker } from "./time.js";
import { metricTitle } from "./words.js";

/** What a search and an order cover where the store holds more. */
const searched = ({ searched_from: from }) => `searched and sorted since ${moment(from)} UTC; choose a time for earlier ones`;

const CHOICES = [["", "All"], ["open", "Open"], ["ended", "Ended"]];

export function openEpisodes(root, route) {
  const { state = "", series = "", job = "" } = route.filters;
  const choice = el("div", { class: "choice", role: "group", "aria-label": "State of episodes" });
  const choices = () => fill(choice, ...CHOICES.map(([value, word]) =>
    el("a", { href: links.list("episodes", { state: value, series, job, ...filters.values(), ...time.filters() }), "aria-current": value === state ? "true" : null }, word)));
  const restart = () => { choices(); more.restart(); data.now(); };
  const time = timePicker(route, restart);
  const filters = filterRow(route, ["user", "place", "mount", "cause"], restart);
  choices();
  const of = series ? `of ${series}` : job ? `of job ${job}` : "";
  const total = el("span", {});
  const body = el("div", {}, empty("Loading episodes…", "", true));
  const more = growing(async (limit, offset) => ask("episodes", { state, series, job, ...filters.values(), ...orderOf("Episodes", EPISODE_ORDERS), ...await time.bounds(), limit, offset }), "episodes", () => data.now());
  root.append(el("div", { class: "title" }, el("h1", {}, `Episodes ${of}`), choice, time.root, filters.root), card("Contended stretches", el("div", {}, body, more.root), total));

  const show = (answer) => {
    setText(total, `${shown(answer.episodes, answer.total, answer.total_is_least)}${answer.searched_from === null ? "" : ` · ${searched(answer)}`}`);
    filters.suggest("node", answer.episodes.map((e) => e.component));
    filters.suggest("mount", answer.episodes.map((e) => mountOf(e.series)));
    if (answer.episodes.length > 0) return fill(body, episodeTable(answer.episodes, true, { total: answer.total, least: answer.total_is_least, rows: longRows, reload: () => data.now(), filters: [["Metric", (e) => metricTitle(e.metric)]] }));
    if (Object.keys({ ...time.filters(), ...filters.values() }).length) return fill(body, empty("No episode matches.", answer.searched_from === null ? "" : `${searched(answer)}.`, true));
    fill(body, empty("No episodes", state === "open"
      ? "No series with data is contended now. Series without data are unknown, not healthy: see Health."
      : "Contention will be listed here with its start, length and loss."));
  };
  const fail = (error) => fill(body, failure("No episodes to show", error));
  const data = refresher(more.ask, show, fail, 2000);
  return { tick: data.tick, close: data.close };
}
