// The series explorer: find a series by name, metric or state.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { clock, reading } from "./format.js";
import { growing } from "./growing.js";
import { lostIn, shown, stateMark } from "./parts.js";
import { refresher } from "./refresh.js";
import { links, setFilters } from "./routes.js";
import { asLoss, atTime, longRows, table } from "./table.js";
import { loadMetrics, metricTitle, STATE_WORDS, STATES } from "./words.js";

export function openExplorer(root, route) {
  const filters = { search: "", metric: "", state: "", ...route.filters };
  const search = el("input", { type: "search", placeholder: "Part of a name: nid00012, c0-0c1s8, r0c3", "aria-label": "Search series", value: filters.search });
  const metric = select("Metric", [["", "All metrics"], ...(filters.metric ? [[filters.metric, metricTitle(filters.metric)]] : [])], filters.metric);
  loadMetrics().then((metrics) => {
    const others = metrics.filter((each) => each.has_series && each.metric !== filters.metric);
    metric.append(...others.map((each) => el("option", { value: each.metric }, metricTitle(each.metric))));
  });
  const state = select("State", [["", "All states"], ...STATES.map((s) => [s, STATE_WORDS[s][0]])], filters.state);
  const total = el("span", {});
  const body = el("div", {}, empty("Loading series…", "", true));
  const request = async (limit, offset) => rowsOf(await ask("now", { search: search.value.trim(), metric: metric.value, state: state.value, order: "slowdown", limit, offset }));
  const more = growing(request, "rows", () => data.now());
  root.append(el("div", { class: "title" }, el("h1", {}, "Series")),
    el("div", { class: "stack" }, el("div", { class: "controls" }, search, metric, state), card("By lower end of the loss in the latest 6 hours, largest first", el("div", {}, body, more.root), total)));

  const show = (answer) => {
    setText(total, shown(answer.rows, answer.total));
    if (answer.rows.length > 0) return fill(body, seriesTable(answer));
    const filtered = search.value || metric.value || state.value;
    fill(body, filtered ? empty("No series matches.", "", true) : empty("Waiting for the first data", "Series appear when the first counters arrive."));
  };
  const fail = (error) => fill(body, failure("No series to show", error));
  const data = refresher(more.ask, show, fail, 2000);
  const changed = () => {
    // The address follows the filters, so that it can be sent to a colleague; the history gets no entry per letter.
    setFilters({ search: search.value.trim(), metric: metric.value, state: state.value });
    more.restart();
    data.now();
  };
  for (const control of [search, metric, state]) control.addEventListener("input", changed);
  return { tick: data.tick, close: data.close };
}

function select(label, choices, chosen) {
  const node = el("select", { "aria-label": label }, ...choices.map(([value, word]) => el("option", { value }, word)));
  node.value = chosen;
  return node;
}

/** Converts columns to rows. */
function rowsOf({ series, states, metrics, total }) {
  const rows = series.id.map((_, i) => ({ ...Object.fromEntries(Object.entries(series).map(([name, column]) => [name, column[i]])), state: states[series.state[i]] ?? "unknown" }));
  return { rows, metrics, total };
}

function seriesTable({ rows, metrics, total }) {
  const unit = (s) => metrics.find((m) => m.name === s.metric)?.unit ?? "";
  return table([
    ["Series", "wide", (s) => el("a", { href: links.series(s.name), class: "mono" }, s.name), (s) => s.name],
    ["State", "tight", (s) => stateMark(s.state), (s) => s.state],
    ["Mean", "num", (s) => reading(s.mean, unit(s)), { value: (s) => s.mean, out: (s) => ({ Mean: s.mean, Unit: unit(s) }) }],
    ["Baseline", "num", (s) => reading(s.baseline, unit(s)), (s) => s.baseline],
    ["Bound", "num", (s) => reading(s.bound, unit(s)), (s) => s.bound],
    ["Lost in 6 hours, 95 %", "num", (s) => (s.lost_s === null ? "–" : lostIn(s)), asLoss("lost")],
    ["Last data (UTC)", "num", (s) => clock(s.time), atTime((s) => s.time)],
  ], rows, "Series", { total, search: false, rows: longRows });
}
