// The series explorer: find a series by name, metric or state.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { clock, count, reading, seconds } from "./format.js";
import { stateMark, table } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { METRICS, metricTitle, STATE_WORDS, STATES } from "./words.js";

const SHOWN = 100;

export function openExplorer(root, route) {
  const filters = { search: "", metric: "", state: "", ...route.filters };
  const search = el("input", { type: "search", placeholder: "Part of a name: nid00012, c0-0c1s8, r0c3", "aria-label": "Search series", value: filters.search });
  const metric = select("Metric", [["", "Every metric"], ...METRICS.map((m) => [m, metricTitle(m)])], filters.metric);
  const state = select("State", [["", "Every state"], ...STATES.map((s) => [s, STATE_WORDS[s][0]])], filters.state);
  const total = el("span", {});
  const body = el("div", {}, empty("Asking for series", "", true));
  root.append(el("div", { class: "title" }, el("h1", {}, "Series")),
    el("div", { class: "stack" }, el("div", { class: "controls" }, search, metric, state), card("Largest loss first", body, total)));

  const question = () => ask("now", { search: search.value.trim(), metric: metric.value, state: state.value, order: "slowdown", limit: SHOWN });
  const show = (answer) => {
    setText(total, answer.total > SHOWN ? `${SHOWN} of ${count(answer.total)} shown` : count(answer.total));
    if (answer.series.id.length > 0) return fill(body, seriesTable(answer));
    const filtered = search.value || metric.value || state.value;
    fill(body, filtered ? empty("No series matches.", "", true) : empty("Waiting for the first data", "Series appear with the first counters that arrive."));
  };
  const fail = (error) => fill(body, failure("No series to show", error));
  const data = refresher(question, show, fail, 2000);
  const changed = () => {
    // The address follows, so that it can be sent to a colleague; no new entry in the history per letter.
    history.replaceState(null, "", links.list("series", { search: search.value.trim(), metric: metric.value, state: state.value }));
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

function seriesTable({ series, states, metrics }) {
  const unit = (i) => metrics.find((m) => m.name === series.metric[i])?.unit ?? "";
  return table([
    ["Series", "wide", (i) => el("a", { href: links.series(series.name[i]), class: "mono" }, series.name[i])],
    ["State", "tight", (i) => stateMark(states[series.state[i]] ?? "unknown")],
    ["Mean", "num", (i) => reading(series.mean[i], unit(i))],
    ["Baseline", "num", (i) => reading(series.baseline[i], unit(i))],
    ["Bound", "num", (i) => reading(series.bound[i], unit(i))],
    ["Lost so far", "num", (i) => seconds(series.slowdown_s[i])],
    ["Heard (UTC)", "num", (i) => clock(series.time[i])],
  ], series.id.map((_, i) => i), "Series");
}
