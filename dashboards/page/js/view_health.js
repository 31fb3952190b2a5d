// Health of the monitoring itself: silent producers, dropped rows, lag.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { bytes, clock, count, day, moment, percent, seconds } from "./format.js";
import { figure } from "./parts.js";
import { refresher } from "./refresh.js";
import { spark } from "./spark.js";
import { atTime, longRows, table } from "./table.js";

/** The history has a resolution of a minute. */
const HISTORY_MS = 20000;

export function openHealth(root) {
  const figures = { complete: figure("Completeness"), silent: figure("Silent producers"), rows: figure("Rows read"), lag: figure("Lag"), store: figure("Store") };
  const producers = el("div", {});
  const drops = el("div", {});
  const conditions = el("div", {});
  const history = el("div", {}, empty("Loading history…", "", true));
  const listed = el("span", {});
  root.append(el("div", { class: "title" }, el("h1", {}, "Health of the monitoring"), el("div", { class: "under" }, "Missing data is unknown, never healthy.")),
    el("div", { class: "stack" }, el("section", { class: "figures", "aria-label": "Summary" }, ...Object.values(figures).map((f) => f.root)),
      el("div", { class: "two" }, card("Producers", producers, listed),
        el("div", { class: "stack" }, card("Limits", conditions, "[health] of the configuration"), card("Dropped rows, by reason", drops, "since the start"), card("History", history, "by minute")))));

  const show = (answer) => {
    showFigures(figures, answer);
    setText(listed, answer.producers_total > answer.producers.length ? `${count(answer.producers.length)} of ${count(answer.producers_total)} shown` : count(answer.producers_total));
    fill(producers, answer.producers.length ? producerTable(answer) : empty("No producers yet", "A producer appears with its first row. Check that ldmsd runs and that its transport reaches this machine."));
    fill(conditions, answer.conditions.length ? conditionTable(answer.conditions) : empty("A database has the limits; an embedded store has none.", "", true));
    fill(drops, answer.drops.length ? dropTable(answer.drops) : empty("No dropped rows.", "", true));
  };
  const fail = (error) => fill(producers, failure("Store unavailable", error));
  const data = refresher(() => ask("health"), show, fail, 2000);
  const minutes = refresher(() => ask("health/history"), (answer) => fill(history, lines(answer)), (error) => fill(history, failure("No history", error)), HISTORY_MS);
  return {
    tick(tick) { data.tick(tick); minutes.tick(tick); },
    close() { data.close(); minutes.close(); },
  };
}

function showFigures(figures, h) {
  const put = (f, number, under, alarm = false) => {
    setText(f.number, number);
    fill(f.under, under);
    f.root.dataset.alarm = alarm ? "yes" : "no";
  };
  const meter = el("div", { class: "meter", title: `${count(h.series_heard)} of ${count(h.series)} series with data` }, el("i"));
  meter.firstChild.style.width = `${(h.completeness ?? 0) * 100}%`;
  put(figures.complete, percent(h.completeness), [`${count(h.series_heard)} of ${count(h.series)} series`, meter], h.completeness !== null && h.completeness < 0.9);
  put(figures.silent, count(h.producers_silent), `of ${count(h.producers_total)}; silent after 5 s`, h.producers_silent > 0);
  put(figures.rows, count(h.progress.rows), h.progress.finished ? "the input has ended" : `${count(h.progress.rows_per_s)} per second`);
  if (h.progress.event_time === null) {
    // Another process writes or wrote the store: its progress is unknown here.
    put(figures.rows, count(h.rows_accepted), "in the store");
    put(figures.lag, "–", "reported by the process that reads the input");
  } else put(figures.lag, seconds(h.progress.lag_s), `speed ${h.progress.speed.toFixed(1)}× event time`);
  put(figures.store, bytes(h.store_bytes), "on disk");
}

/** One small chart for each stage, for each reason with drops, and for silent sources. */
function lines({ kept, over_s: over, lines: all }) {
  if (!kept) return empty("A database stores the history by minute; an embedded store has the latest values only.", "", true);
  const reported = all.filter((line) => line.value.some((value) => (line.figure === "dropped_rows" ? value > 0 : value !== null)));
  if (reported.length === 0) return empty(`No data for the latest ${Math.round(over / 3600)} hours.`, "", true);
  const [heading, words] = [{ lag_s: (l) => `Lag of ${l.label}`, dropped_rows: (l) => `Dropped: ${l.label}`, silent_sources: () => "Silent sources" },
    { lag_s: seconds, dropped_rows: (value) => `${count(value)} rows a minute`, silent_sources: count }];
  const picture = (line) => {
    const [title, last] = [heading[line.figure](line), words[line.figure](line.value.at(-1))];
    const most = words[line.figure](Math.max(...line.value.filter((value) => value !== null)));
    return el("div", {}, el("h3", {}, title), spark(line.time, line.value, `${title}: ${last}`, `${last} at ${clock(line.time.at(-1))} UTC, at most ${most}`, words[line.figure]));
  };
  return el("div", { class: "lines" }, ...reported.map(picture));
}

const producerState = (p) => (p.silent ? "silent" : "reporting");

function producerTable({ producers, producers_total: total, clock: now }) {
  return table([
    ["Producer", "", (p) => el("span", { class: "mono" }, p.producer), (p) => p.producer],
    ["State", "tight", (p) => (p.silent ? el("span", { class: "tag", "data-kind": "open" }, `silent for ${seconds(now - p.last_time)}`) : el("span", { class: "tag" }, "reporting")), producerState],
    ["Schema", "", (p) => p.schema],
    ["Component", "", (p) => el("span", { class: "mono" }, p.part ? `${p.component}/${p.part}` : p.component), (p) => (p.part ? `${p.component}/${p.part}` : p.component)],
    ["Last row (UTC)", "num", (p) => (day(p.last_time) === day(now) ? clock(p.last_time) : moment(p.last_time)), atTime((p) => p.last_time)],
    ["Rows", "num", (p) => count(p.rows), (p) => p.rows],
  ], producers, "Producers", { total, rows: longRows, filters: [["State", producerState], ["Schema", (p) => p.schema]] });
}

function conditionTable(conditions) {
  return table([
    ["Value", "wide", (c) => [el("span", { class: "mono" }, c.label ? `${c.name} (${c.label})` : c.name), el("small", {}, c.meaning)], { value: (c) => c.name, out: (c) => ({ Value: c.name, Label: c.label }) }],
    ["State", "tight", (c) => (c.state === "exceeded" ? el("span", { class: "tag", "data-kind": "open" }, "exceeded") : el("span", { class: "tag" }, "within")), (c) => c.state],
    ["Now", "num", (c) => Number(c.value.toPrecision(3)), (c) => c.value],
    ["Limit", "num", (c) => c.above, (c) => c.above],
  ], conditions, "Limits");
}

function dropTable(drops) {
  return table([
    ["Reason", "wide", (d) => [el("span", { class: "mono" }, d.reason), el("small", {}, d.meaning)], (d) => d.reason],
    ["Count", "num", (d) => count(d.count), (d) => d.count],
  ], drops, "Dropped rows and intervals");
}
