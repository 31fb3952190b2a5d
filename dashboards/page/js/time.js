// The span of time of a list: the latest minutes or hours, or from one time to another, in UTC. It is part of the address
// (`t=1h`, or `from` and `to` in seconds since the epoch), and links of the navigation carry it to the other lists.

import { ask } from "./api.js";
import { el } from "./dom.js";
import { latest } from "./live.js";
import { links, setFilters } from "./routes.js";

const SPANS = [["5m", "Latest 5 minutes", 300], ["15m", "Latest 15 minutes", 900], ["1h", "Latest hour", 3600], ["6h", "Latest 6 hours", 21600], ["24h", "Latest 24 hours", 86400], ["7d", "Latest 7 days", 604800]];
/** Spans of lists. A chart of seven days would have no detail. */
const LISTS = { keys: ["15m", "1h", "24h", "7d"], none: "All stored" };
/** Spans of charts; without one the latest 15 minutes. */
export const CHARTS = { keys: ["5m", "1h", "6h", "24h"], none: "Latest 15 minutes" };
const FIXED = "from-to";
/** Views whose lists take a span. */
const VIEWS = new Set(["incidents", "episodes", "jobs", "fabric", "files", "blame"]);
/** Spans of the ledger; without one the latest day. */
export const LEDGER = { keys: ["15m", "1h", "7d"], none: "Latest 24 hours" };
/** Spans of the fabric and of file systems. */
export const PLACES = { keys: ["15m", "1h", "24h"], none: "Usual span" };

/** Seconds since the epoch; null for other text. */
const seconds = (text) => (text !== undefined && /^\d{1,10}(\.\d+)?$/.test(text) ? Number(text) : null);

/** The time in an address: `{t}` or `{from, to}`, as text; empty where it has none. */
export function timeIn({ t, from, to }) {
  if (SPANS.some(([key]) => key === t)) return { t };
  const [first, last] = [seconds(from), seconds(to)];
  if (first === null && last === null) return {};
  return { from: first === null ? "" : String(first), to: last === null ? "" : String(last) };
}

/** The navigation keeps the time: an address without one, such as that of a job, leaves it as it is. */
export function carryTime(view, filters) {
  if (!VIEWS.has(view)) return;
  for (const link of document.querySelectorAll("nav a")) {
    if (VIEWS.has(link.dataset.view)) link.setAttribute("href", links.list(link.dataset.view, timeIn(filters)));
  }
}

/** Date and time to the minute, as the inputs have them. */
const toInput = (text) => (text ? new Date(Number(text) * 1000).toISOString().slice(0, 16) : "");
const fromInput = (text) => (text ? String(Date.parse(`${text}Z`) / 1000) : "");

/**
 * The choice of a span. `changed()` runs after each change.
 * @returns {{root: Element, filters: function(): Object, bounds: function(): Promise<Object>, lengthS: function(): number|null}}
 *   `filters` is the time for links of the view, `bounds` the parameters `from` and `to` of a request, `lengthS` the length of
 *   a span that ends now, in seconds
 */
export function timePicker(route, changed, { keys, none } = LISTS) {
  let time = timeIn(route.filters);
  const choice = el("select", { "aria-label": "Span of time" }, el("option", { value: "" }, none),
    ...SPANS.filter(([key]) => keys.includes(key)).map(([key, words]) => el("option", { value: key }, words)), el("option", { value: FIXED }, "From – to (UTC)"));
  const input = (name, label) => el("input", { type: "datetime-local", "aria-label": `${label} (UTC)`, value: toInput(time[name]) });
  const [from, to] = [input("from", "From"), input("to", "To")];
  // The address may have a span of another view.
  choice.value = keys.includes(time.t) ? time.t : "from" in time ? FIXED : "";
  if (choice.value === "") time = {};
  const show = () => { from.hidden = to.hidden = choice.value !== FIXED; };
  const change = () => {
    const fixed = choice.value === FIXED;
    time = timeIn(fixed ? { from: fromInput(from.value), to: fromInput(to.value) } : { t: choice.value });
    show();
    setFilters({ t: time.t ?? "", from: time.from ?? "", to: time.to ?? "" });
    carryTime(route.view, time);
    changed();
  };
  for (const each of [choice, from, to]) each.addEventListener("change", change);
  show();
  const bounds = async () => {
    const span = SPANS.find(([key]) => key === time.t);
    if (!span) return { from: time.from, to: time.to };
    // The span ends at the newest data, not at the clock of the reader: the time of a store may be simulated or past.
    const now = latest.tick?.clock ?? (await ask("incidents", { limit: 1 })).clock;
    return now === null ? {} : { from: Math.max(0, now - span[2]) };
  };
  const lengthS = () => SPANS.find(([key]) => key === time.t)?.[2] ?? null;
  return { root: el("span", { class: "controls" }, choice, from, to), filters: () => time, bounds, lengthS };
}
