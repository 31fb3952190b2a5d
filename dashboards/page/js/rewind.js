// Rewind: a strip of the latest hours with what was contended. Its handle sets the time of a view; at the end the view shows the latest data.

import { ask } from "./api.js";
import { el, fill, setText, svg } from "./dom.js";
import { ago, clock, count, moment, seconds } from "./format.js";
import { isLive } from "./live.js";
import { refresher } from "./refresh.js";
import { setFilters } from "./routes.js";

const REFRESH_MS = 20_000;
/** The view follows the handle at most so often. */
const FOLLOW_MS = 120;
const HIGH = 34;
/** Steps of the keys Page Up and Page Down. */
const PAGE = 12;
/** Share of the strip at its end that is the latest data. */
const LIVE_SHARE = 0.004;
/** The age of data that ended grows without a tick. */
const AGE_MS = 30_000;

/** What the bars count. */
const COUNT_WORDS = { episodes: "a link once for each of its metrics, from the dated start of episodes, which is before the map shows them", signals: "a link once for each of its metrics, as judged live" };

const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

/**
 * The strip. `changed()` runs when the time changes.
 * @returns {{root: Element, at: function(): number|null, tick: function(tick), close: function}} `at` is null while the view shows the latest data
 */
export function rewind(route, changed) {
  let at = /^\d{1,10}(\.\d+)?$/.test(route.filters.at ?? "") ? Number(route.filters.at) : null;
  let history = null;
  /** What the latest tick counts: history is older. */
  let latest = null;
  let newest = null;
  let timer = null;
  const words = el("span", { class: "rewind-words" });
  const counts = el("small", { class: "muted" });
  const live = el("button", { type: "button", class: "plain", on: { click: () => set(null) } }, "Back to live");
  const strip = el("div", { class: "rewind-strip", role: "slider", tabindex: "0", "aria-label": "Time of this view" });
  const ends = el("div", { class: "rewind-ends", "aria-hidden": "true" });
  const root = el("section", { class: "card rewind", "aria-label": "Rewind" }, el("div", { class: "rewind-head" }, el("h2", {}, "Rewind"), words, legend(), live), strip, ends, counts);

  const range = () => (history?.time.length ? [history.time[0], history.clock] : null);
  const stepOf = (t) => Math.min(history.time.length - 1, Math.max(0, Math.floor((t - history.time[0]) / history.step_s)));
  const set = (time) => {
    const bounds = range();
    at = time === null || !bounds || time >= bounds[1] - LIVE_SHARE * (bounds[1] - bounds[0]) ? null : Math.round(Math.max(bounds[0], time));
    setFilters({ at: at === null ? "" : String(at) });
    show();
    // The latest time counts: the view is asked for it once the handle rests for a moment.
    timer ??= setTimeout(() => { timer = null; changed(); }, FOLLOW_MS);
  };
  const show = () => {
    root.dataset.live = at === null ? "yes" : "no";
    live.hidden = at === null;
    setText(live, isLive() ? "Back to live" : "Back to latest data");
    const bounds = range();
    fill(ends, ...(bounds ? [`${clock(bounds[0])} UTC`, clock((bounds[0] + bounds[1]) / 2), isLive() ? "now" : `${clock(bounds[1])} UTC`].map((text) => el("span", {}, text)) : []));
    if (!bounds) return setText(words, at === null ? "no history yet" : `${moment(at)} UTC`);
    const isKept = at === null || (at >= bounds[0] && at <= bounds[1]);
    root.dataset.kept = isKept ? "yes" : "no";
    const step = stepOf(at ?? bounds[1]);
    const what = at === null && latest ? `${plural(latest.links.contended, "link")} and ${plural(latest.clients.contended, "client")}` : `${count(history.links[step])} series of links and ${plural(history.clients[step], "client")}`;
    const time = at !== null ? `${moment(at)} UTC` : isLive() ? "live" : latestWords(newest ?? bounds[1]);
    const text = `${time} · ${isKept ? `${what} contended, ${plural(history.incidents[step], "open incident")}` : "not in the stored history"}`;
    setText(words, text);
    for (const [name, value] of [["valuemin", bounds[0]], ["valuemax", bounds[1]], ["valuenow", at ?? bounds[1]]]) strip.setAttribute(`aria-${name}`, Math.round(value));
    strip.setAttribute("aria-valuetext", text);
    strip.style.setProperty("--at", `${(100 * ((at ?? bounds[1]) - bounds[0])) / Math.max(1, bounds[1] - bounds[0])}%`);
  };
  const draw = (answer) => {
    history = answer;
    setText(counts, answer.time.length ? `Bars: most at once in ${seconds(answer.step_s)}, ${COUNT_WORDS[answer.counts]}` : "");
    fill(strip, ...bars(answer), el("span", { class: "rewind-handle", "aria-hidden": "true" }));
    show();
  };

  const timeAt = (event) => {
    const [from, until] = range();
    const { left, width } = strip.getBoundingClientRect();
    return from + ((until - from) * Math.min(Math.max(event.clientX - left, 0), width)) / width;
  };
  let dragged = false;
  strip.addEventListener("pointerdown", (event) => { if (range()) { dragged = true; strip.setPointerCapture(event.pointerId); set(timeAt(event)); } });
  strip.addEventListener("pointermove", (event) => { if (dragged) set(timeAt(event)); });
  for (const end of ["pointerup", "pointercancel"]) strip.addEventListener(end, () => { dragged = false; });
  strip.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -PAGE, PageUp: PAGE }[event.key];
    if (!range() || event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps !== undefined) set((at ?? range()[1]) + steps * history.step_s);
    else if (event.key === "Home") set(range()[0]);
    else if (event.key === "End" || event.key === "Escape") set(null);
    else return;
    event.preventDefault();
  });
  const data = refresher(() => ask("history"), draw, () => show(), REFRESH_MS);
  const aging = setInterval(show, AGE_MS);
  show();
  const tick = ({ totals, clock: now }) => {
    [latest, newest] = [totals, now];
    if (at === null) show();
    data.tick();
  };
  return { root, at: () => at, tick, close() { data.close(); clearTimeout(timer); clearInterval(aging); } };
}

/** The time of data that ended, and its age; the time of simulated data may lie ahead. */
function latestWords(time) {
  const age = Date.now() / 1000 - time;
  return `latest data ${moment(time)} UTC${age >= 0 ? `, ${ago(age)}` : ""}`;
}

const legend = () => el("ul", { class: "legend rewind-legend", "aria-label": "Bars" }, ...[["links", "contended links"], ["clients", "contended clients"], ["incidents", "open incidents"]]
  .map(([kind, word]) => el("li", {}, el("i", { class: kind, "aria-hidden": "true" }), word)));

/** A bar for each step: contended links above contended clients, in proportion to the largest sum; open incidents as a line above. */
function bars({ time, links, clients, incidents }) {
  if (time.length === 0) return [];
  const most = Math.max(1, ...links.map((n, i) => n + clients[i]));
  const picture = svg("svg", { viewBox: `0 0 ${time.length} ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  time.forEach((_, i) => {
    // Few contended ones are visible beside many.
    const high = (n) => (n === 0 ? 0 : Math.max(1.5, (n / most) * (HIGH - 8)));
    const [a, b] = [high(links[i]), high(clients[i])];
    if (a) picture.append(svg("rect", { x: i, width: 0.86, y: HIGH - a - b, height: a, class: "links" }));
    if (b) picture.append(svg("rect", { x: i, width: 0.86, y: HIGH - b, height: b, class: "clients" }));
    if (incidents[i]) picture.append(svg("rect", { x: i, width: 1.02, y: 0, height: 3, class: "incidents" }));
  });
  return [picture];
}
