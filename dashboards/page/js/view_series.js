// One series over time, with its episodes and the jobs that use it.

import { ask, seriesPath } from "./api.js";
import { CountersChart, grown, LossChart, shadeLegend, SignalChart } from "./chart.js";
import { card, el, empty, failure, fill } from "./dom.js";
import { clock, reading } from "./format.js";
import { episodeTable, facts, lostIn, shown, stateMark, tierNote } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { CHARTS, timePicker } from "./time.js";
import { STATE_WORDS } from "./words.js";

/** Without a choice. */
const RANGE_S = 900;
/** New ticks expected between two requests, in seconds. */
const AHEAD_S = 5;

export function openSeries(root, route) {
  const name = route.what;
  const time = timePicker(route, () => restart(), CHARTS);
  const title = el("div", { class: "title" }, el("h1", { class: "mono" }, name), time.root);
  const body = el("div", { class: "stack" }, empty("Loading series…", "", true));
  root.append(title, body);
  let parts = null;
  let latest = null;
  let uncounted = null;

  /** The ends that were chosen; empty where the span ends now. */
  const fixed = () => ("from" in time.filters() ? time.filters() : {});
  const spanOf = async () => {
    const { from, to } = fixed();
    if (from || to) return { from: from || Math.max(0, Number(to) - RANGE_S), to };
    return latest === null ? {} : { from: Math.max(0, latest - (time.lengthS() ?? RANGE_S)), to: latest + AHEAD_S };
  };
  const request = async () => {
    const path = `series/${seriesPath(name)}/points`;
    // The first response has the latest time of the series; the range ends there.
    latest ??= (await ask(path)).series.time;
    // A series that is silent for long may have no latest time: then the server chooses the range.
    const span = await spanOf();
    const [points, episodes, counters] = await Promise.all([
      ask(path, span),
      ask("episodes", { series: name, limit: 50, ...fixed() }),
      // The page works without raw counters.
      uncounted ?? ask(`series/${seriesPath(name)}/counters`, span).catch(() => null),
    ]);
    // A series without raw counters never gets them.
    if (counters?.counts === null) uncounted = counters;
    latest = points.series.time;
    return { ...points, ...episodes, counters };
  };
  const show = (answer) => {
    if (parts === null || (parts.charts.length === 0 && answer.points.time.length > 0)) {
      parts = makeParts(answer);
      fill(body, card("Now", parts.facts), card("Signal", parts.signal, el("span", {}, el("span", { class: "for-mouse" }, "drag to zoom, double-click to reset"), tierNote(answer.points), shadeLegend())), card("Seconds lost in this range", parts.loss, "live estimate; episodes have the interval"), parts.counters, parts.jobs, parts.episodes);
    } else if (answer.points.time.length > 0) parts.charts.forEach((chart) => chart.update(answer.points, answer.spans, { value: grown(answer.points) }));
    showCounters(parts, answer.counters);
    fill(parts.facts, factsOf(answer.series, parts.unit));
    fill(parts.jobs, ...jobsOf(answer));
    fill(parts.episodes, card("Episodes", answer.episodes.length ? episodeTable(answer.episodes, false, { total: answer.total, least: answer.total_is_least }) : empty("No contention found so far.", "", true), shown(answer.episodes, answer.total, answer.total_is_least)));
  };
  const fail = (error) => { if (parts === null) fill(body, failure(error.status === 404 ? "No such series" : "No data of this span", error)); };
  const data = refresher(request, show, fail, 2000);
  const closeCharts = () => { parts?.charts.forEach((chart) => chart.close()); parts?.counted?.close(); };
  /** Another span has other charts. */
  const restart = () => {
    closeCharts();
    [parts, uncounted] = [null, null];
    fill(body, empty("Loading series…", "", true));
    data.now();
  };
  return { tick: data.tick, close() { data.close(); closeCharts(); } };
}

function makeParts({ metric, points, spans }) {
  const unit = metric?.unit ?? "";
  const none = points.time.length === 0;
  const charts = none ? [] : [new SignalChart(points, spans, unit), new LossChart(points, spans, { value: grown(points) })];
  const body = (chart) => el("div", { class: "body" }, chart ? chart.root : empty("No signals in this range.", "", true));
  return { unit, charts, counters: el("div", {}), counted: null, facts: el("div", { class: "body" }), signal: body(charts[0]), loss: body(charts[1]), jobs: el("div", {}), episodes: el("div", {}) };
}

/** Raw counters, once there are some; a series without raw counters has no card. */
function showCounters(parts, counters) {
  if (!counters?.counts) return;
  if (counters.time.length === 0) {
    if (parts.counted === null) fill(parts.counters, card("Raw counters", el("div", { class: "body" }, empty("No raw counters stored for this range.", "", true))));
    return;
  }
  if (parts.counted === null) {
    parts.counted = new CountersChart(counters);
    fill(parts.counters, card("Raw counters", el("div", { class: "body" }, parts.counted.root), `${counters.counts[0]} and ${counters.counts[1]} per second`));
  } else parts.counted.update(counters);
}

function factsOf(series, unit) {
  return facts([
    ["State", stateMark(series.state), STATE_WORDS[series.state]?.[1]],
    ["Mean", reading(series.mean, unit), `reading ${reading(series.value, unit)}`],
    ["Baseline", reading(series.baseline, unit), "mean without contention"],
    ["Bound", reading(series.bound, unit), "threshold for the mean"],
    ["Lost in episodes", ...(series.lost_s === null ? ["–", "no episode stored"] : lostIn(series))],
    ["Last data (UTC)", clock(series.time), "by the sampler's clock"],
  ]);
}

function jobsOf({ jobs }) {
  if (jobs.length === 0) return [];
  const list = jobs.map((job) => el("li", {}, el("a", { href: links.job(job.job_id) }, job.job_id), " ", job.name, " ", el("span", { class: "muted" }, job.user)));
  return [card("Jobs on this series in this range", el("ul", { class: "body causes" }, ...list))];
}
