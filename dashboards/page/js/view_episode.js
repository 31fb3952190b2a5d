// One episode: its series, loss, causes and affected jobs.

import { ask } from "./api.js";
import { LossChart, shadeLegend, SignalChart, withEnds } from "./chart.js";
import { card, el, empty, failure, fill } from "./dom.js";
import { clock, day, episodeName, percent, reading, seconds } from "./format.js";
import { causeBars, facts, lost, tierNote } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";

export function openEpisode(root, route) {
  const title = el("div", { class: "title" }, el("h1", {}, `Episode ${route.what ?? ""}`));
  const body = el("div", { class: "stack" });
  root.append(title, body);
  let parts = null;

  const show = (answer) => {
    fill(title, ...titleOf(answer));
    if (parts === null) {
      parts = makeParts(answer);
      fill(body, card("Summary", parts.facts), card("Why it counts as contended", parts.why), el("div", { class: "split" },
        el("div", { class: "stack" }, card("Series, from 1 min before to 1 min after", parts.signal, el("span", {}, tierNote(answer.points), shadeLegend())), card("Seconds lost", parts.loss, "spread from the start of the episode, 95 %")),
        el("div", { class: "stack" }, card("Causes, by share of the loss", parts.causes), card("Jobs on this series during the episode", parts.jobs))));
    } else {
      parts.charts.forEach((chart) => chart.update(answer.points, answer.spans, lossOf(answer)));
    }
    fill(parts.facts, factsOf(answer));
    fill(parts.why, ...sentences(answer));
    fill(parts.causes, answer.episode.causes.length ? causeBars(answer.episode) : empty("Cause unknown.", "", true));
    fill(parts.jobs, jobList(answer.jobs));
    // An ended episode does not change once the minute after it is complete.
    if (!answer.episode.open && answer.clock > answer.episode.end + 61) data.close();
  };
  const fail = (error) => { if (parts === null) fill(body, failure("No such episode", error)); };
  const data = refresher(() => ask(`episodes/${encodeURIComponent(route.what ?? "")}`), show, fail, 2000);
  return { tick: data.tick, close() { data.close(); parts?.charts.forEach((chart) => chart.close()); } };
}

function titleOf({ episode }) {
  return [el("h1", {}, `Episode ${episodeName(episode.id)}`),
    el("span", { class: "tag", "data-kind": episode.open ? "open" : "" }, episode.open ? "open" : "ended"),
    el("div", { class: "under" }, "on ", el("a", { href: links.series(episode.series), class: "mono" }, episode.series))];
}

/** The course is spread by the server; its ends have the same shape. */
const lossOf = (answer) => withEnds({ value: answer.lost_s, lo: answer.lost_lo_s, hi: answer.lost_hi_s }, answer.episode);

function makeParts(answer) {
  const unit = answer.metric?.unit ?? "";
  const body = (...children) => el("div", { class: "body" }, ...children);
  const none = answer.points.time.length === 0;
  const charts = none ? [] : [new SignalChart(answer.points, answer.spans, unit), new LossChart(answer.points, answer.spans, lossOf(answer))];
  const noSignals = () => empty("No signals stored for this range.", "", true);
  return {
    charts,
    facts: body(),
    why: body(),
    signal: body(none ? noSignals() : charts[0].root),
    loss: body(none ? noSignals() : charts[1].root),
    causes: body(),
    jobs: body(),
  };
}

function factsOf({ episode, metric }) {
  const unit = metric?.unit ?? "";
  return facts([
    ["Lost", ...lost(episode)],
    ["Length", seconds(episode.duration_s), episode.open ? "ongoing" : "from start to end"],
    ["Start (UTC)", clock(episode.start), day(episode.start)],
    [episode.open ? "Latest tick (UTC)" : "End (UTC)", clock(episode.end), day(episode.end)],
    ["Worst mean", reading(episode.peak, unit), `baseline ${reading(episode.baseline, unit)}`],
    ["Completeness", percent(episode.completeness), "ticks seen of ticks expected"],
  ]);
}

/** The rule that decided and the facts that are missing, in the words of `tailback explain`. */
function sentences({ why, unknown }) {
  return [...why.map((text) => el("p", {}, text)), ...unknown.map((text) => el("p", { class: "muted" }, `Unknown: ${text}`))];
}

function jobList(jobs) {
  if (jobs.length === 0) return empty("No known job used it.", "", true);
  return el("ul", { class: "causes" }, ...jobs.map((job) => el("li", {},
    el("a", { href: links.job(job.job_id) }, job.job_id), " ", job.name, " ", el("span", { class: "muted" }, job.user))));
}
