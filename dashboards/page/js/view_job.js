// One job: its loss over time, by series and cause.

import { ask } from "./api.js";
import { card, el, empty, failure, fill } from "./dom.js";
import { capital, clock, count, episodeName, interval, moment, percent, seconds, shareInterval } from "./format.js";
import { asNodeHours, causeBars, episodeTable, facts, isSure, isUnjudged, lost, lostIn, lostNodeHours, noLoss, notJudged, sumOfLosses } from "./parts.js";
import { lossCurve } from "./loss_curve.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { asLoss, asShare, atTime, inSeconds, table } from "./table.js";

const LANES_MAX = 24;
const NODES_SHOWN = 32;
/** Queries of neighbours and earlier runs are slower; their results change slowly. */
const BESIDE_MS = 30000;

export function openJob(root, route) {
  const title = el("div", { class: "title" }, el("h1", {}, `Job ${route.what ?? ""}`));
  const body = el("div", { class: "stack" });
  const beside = besideParts();
  root.append(title, el("div", { class: "stack" }, body, beside.root));
  const path = `jobs/${encodeURIComponent(route.what ?? "")}`;
  let shownOnce = false;
  let others = null;
  const show = (answer) => {
    shownOnce = true;
    others ??= refresher(() => Promise.all(["caused", "neighbours", "earlier"].map((part) => ask(`${path}/${part}`))), beside.show, beside.fail, BESIDE_MS);
    fill(title, ...titleOf(answer.job));
    fill(body, ...parts(answer));
  };
  const fail = (error) => { if (!shownOnce) fill(body, failure("No such job", error)); };
  const data = refresher(() => ask(path), show, fail, 3000);
  return {
    tick(tick) { data.tick(tick); others?.tick(tick); },
    close() { data.close(); others?.close(); },
  };
}

/** What the job cost others, jobs that shared a resource at the same time, and runs of the same configuration. */
function besideParts() {
  const caused = el("div", {}, empty("Loading victims…", "", true));
  const neighbours = el("div", {}, empty("Loading neighbours…", "", true));
  const earlier = el("div", {}, empty("Loading earlier runs…", "", true));
  const root = el("div", { class: "stack", hidden: "" }, card("Caused", caused, "what other jobs lost to this one, largest lower end first"), card("Neighbours", neighbours, "jobs at the same time with a shared resource"), card("Earlier runs", earlier, "same configuration, else same name and user"));
  const show = ([{ victims }, { neighbours: others }, { runs }]) => {
    root.hidden = false;
    fill(caused, victims.length ? victimTable(victims) : empty("No job is known to have lost time to it.", "", true));
    fill(neighbours, others.length ? neighbourTable(others) : empty("No job at the same time shared a router, group, file system or region with it.", "", true));
    fill(earlier, runs.length > 1 ? runTable(runs) : empty("No known earlier runs.", "", true));
  };
  const fail = (error) => {
    root.hidden = false;
    for (const node of [caused, neighbours, earlier]) fill(node, failure("No comparison", error));
  };
  return { root, show, fail };
}

function victimTable(victims) {
  return table([
    ["Job", "wide", (v) => [el("a", { href: links.job(v.job_id) }, v.job_id), " ", v.name, " ", el("span", { class: "muted" }, v.user)], { value: (v) => v.job_id, out: (v) => ({ Job: v.job_id, Name: v.name, User: v.user }) }],
    ["Lost to this job, 95 % interval", "num", lostIn, asLoss("lost")],
    ["Node-hours", "num", lostNodeHours, asNodeHours],
    ["Share of its loss", "num", (v) => percent(v.share), asShare((v) => v.share)],
  ], victims, "Victims", { filters: [["User", (v) => v.user]] });
}

function neighbourTable(neighbours) {
  return table([
    ["Job", "wide", (n) => [el("a", { href: links.job(n.job_id) }, n.job_id), " ", n.name, " ", el("span", { class: "muted" }, n.user)], { value: (n) => n.job_id, out: (n) => ({ Job: n.job_id, Name: n.name, User: n.user }) }],
    ["Overlap", "num", (n) => [seconds(n.overlap_s), el("small", {}, `from ${clock(n.from)} UTC`)], inSeconds((n) => n.overlap_s)],
    ["Shared", "", (n) => (n.count === 1 ? n.shared : `${count(n.count)} × ${n.shared}`), (n) => n.shared],
    ["Names", "wide", (n) => el("span", { class: "mono" }, n.what), (n) => n.what],
  ], neighbours, "Neighbours", { filters: [["User", (n) => n.user], ["Shared", (n) => n.shared]] });
}

/** The run of this page comes first, then earlier ones. */
function runTable(runs) {
  return table([
    ["Job", "tight", (r) => el("a", { href: links.job(r.job_id) }, r.job_id), (r) => r.job_id],
    ["Start (UTC)", "tight", (r) => moment(r.start), atTime((r) => r.start)],
    ["Run", "num", (r) => [seconds(r.run_s), el("small", {}, r.end === null ? "so far" : "")], inSeconds((r) => r.run_s)],
    ["Lost, 95 % interval", "num", lost, asLoss("slowdown")],
    ["Run without loss", "num", (r) => (r.slowdown_s === null ? "–" : [seconds(r.run_s - r.slowdown_s), el("small", {}, interval(Math.max(0, r.run_s - r.slowdown_hi_s), r.run_s - r.slowdown_lo_s))]), inSeconds((r) => (r.slowdown_s === null ? null : r.run_s - r.slowdown_s))],
    ["Nodes", "num", (r) => count(r.nodes), (r) => r.nodes],
    ["Placement", "num", (r) => (r.placement === null ? "–" : `${r.placement.toFixed(2)}×`), (r) => r.placement],
    ["Complete", "num", (r) => percent(r.completeness), asShare((r) => r.completeness)],
  ], runs, "Earlier runs");
}

function titleOf(job) {
  const tag = job.end === null ? el("span", { class: "tag", "data-kind": "run" }, "running") : el("span", { class: "tag" }, "ended");
  const words = [job.name, job.user && `by ${job.user}`, job.app && `application ${job.app}`].filter(Boolean).join(" · ");
  const report = el("a", { href: `/api/v1/jobs/${encodeURIComponent(job.job_id)}/report`, target: "_blank", rel: "noopener" }, "Report");
  return [el("h1", {}, `Job ${job.job_id}`), tag, report, el("div", { class: "under" }, words)];
}

function parts(answer) {
  const { job, episodes } = answer;
  const inBody = (...children) => el("div", { class: "body" }, ...children);
  const noCurve = job.slowdown_s === null ? "No result yet."
    : job.slowdown_s > 0 ? "No episode of its series shows the course of the loss." : `${capital(noLoss(job))}.`;
  const noEpisode = notJudged(job) ? `No episode in what was judged; ${notJudged(job)}.` : "None of its series was contended during its run.";
  const causes = job.causes.length ? causeBars(job) : empty(`${job.slowdown_s > 0 ? "Cause unknown" : capital(noLoss(job))}.`, "", true);
  return [
    card("Summary", inBody(factsOf(job))),
    answer.progress.length ? card("Progress", progressTable(answer.progress), "by the job's own reports") : null,
    el("div", { class: "split" },
      el("div", { class: "stack" },
        card("Loss over time", inBody(answer.loss_curve.time.length ? lossCurve(answer) : empty(noCurve, "", true)), "seconds lost, from start to now or end"),
        card("Episodes of its series", inBody(episodes.length ? timeline(answer) : empty(noEpisode, "", true)), count(episodes.length))),
      el("div", { class: "stack" }, card("Causes, by share of the loss", inBody(causes)), card("Nodes", inBody(nodes(answer)), count(job.nodes)))),
    episodes.length ? card("Episodes", episodeTable(episodes, true, {})) : null,
  ];
}

function factsOf(job) {
  return facts([
    ["Lost", ...lost(job)],
    ["Lost share", job.lost_percent === null ? "–" : el("span", isSure(job) ? {} : { class: "muted" }, isUnjudged(job) ? "not judged" : percent(job.lost_percent / 100)), `of the time elapsed, 95 %: ${shareInterval(job)}`],
    ["Contended", ...contendedOf(job)],
    ["Elapsed", seconds(job.elapsed_s), `from ${moment(job.start)} UTC`],
    ["End (UTC)", job.end === null ? "running" : clock(job.end), job.end === null ? "or no end received" : moment(job.end).slice(0, 10)],
    ["Completeness", percent(job.completeness), "ticks seen of ticks expected"],
    ["Judged", percent(job.judged), notJudged(job) || "share of its time with a quiet baseline"],
  ]);
}

/** Grey where more of its time may have been contended than was judged. */
function contendedOf(job) {
  if (isUnjudged(job)) return [el("span", { class: "muted" }, "not judged"), "none of its series"];
  const partly = notJudged(job) !== "";
  return [partly ? el("span", { class: "muted" }, seconds(job.contended_s)) : seconds(job.contended_s), `at least one of its series${partly ? ", in what was judged" : ""}`];
}

const NOT_MEASURED = { never_contended: "not contended while it reported", never_clear: "contended all the time", counts_files: "counts its use of files", stops_for_files: "stops while it uses files", too_few: "too few reports to compare" };

/** What the job counted, and what contention cost it by that and by the counters of links and file systems. */
function progressTable(progress) {
  const measured = (p) => p.loss.measured?.lost_s;
  const lostBy = (p) => {
    const loss = measured(p);
    return loss ? lostIn({ lost_s: loss.value, lost_lo_s: loss.lo, lost_hi_s: loss.hi }) : [el("span", { class: "muted" }, NOT_MEASURED[p.loss] ?? "not measured")];
  };
  return table([
    ["Count", "tight", (p) => p.name, (p) => p.name],
    ["Pace without contention", "num", (p) => (p.per_s === null ? "–" : `${Number(p.per_s.toPrecision(4))}/s`), (p) => p.per_s],
    ["Lost by this count, 95 % interval", "num", lostBy, inSeconds((p) => measured(p)?.value ?? null)],
    ["Lost by counters", "num", (p) => seconds(p.counters_s), inSeconds((p) => p.counters_s)],
    ["Contended", "num", (p) => seconds(p.contended_s), inSeconds((p) => p.contended_s)],
    ["Reported", "num", (p) => seconds(p.covered_s), inSeconds((p) => p.covered_s)],
  ], progress, "Progress");
}

function timeline({ job, episodes, clock: now }) {
  const [from, to] = [job.start, job.end ?? now ?? job.start + 1];
  const lanes = new Map();
  for (const episode of episodes) lanes.set(episode.series, [...(lanes.get(episode.series) ?? []), episode]);
  const loss = (list) => sumOfLosses(list.map((e) => ({ lost_s: e.slowdown_s, lost_lo_s: e.slowdown_lo_s, lost_hi_s: e.slowdown_hi_s })));
  const sorted = [...lanes].sort((a, b) => loss(b[1]).lost_lo_s - loss(a[1]).lost_lo_s || loss(b[1]).lost_s - loss(a[1]).lost_s);
  const position = (t) => (Math.min(1, Math.max(0, (t - from) / Math.max(1, to - from))) * 100);
  const bar = (e) => {
    const link = el("a", { href: links.episode(e.id), "data-open": e.open ? "yes" : "no", title: `episode ${episodeName(e.id)}: ${clock(e.start)} – ${clock(e.end)} UTC, lost ${seconds(e.slowdown_s)}, 95 %: ${interval(e.slowdown_lo_s, e.slowdown_hi_s)}`, "aria-label": `episode ${episodeName(e.id)}, lost ${seconds(e.slowdown_s)}` });
    link.style.left = `${position(e.start)}%`;
    link.style.width = `${position(e.end) - position(e.start)}%`;
    return link;
  };
  const rows = sorted.slice(0, LANES_MAX).map(([series, list]) => el("div", { class: "lane" },
    el("a", { class: "who mono", href: links.series(series), title: series }, el("bdi", {}, series)), el("div", { class: "track" }, ...list.map(bar)), el("span", { class: "lost" }, ...lostIn(loss(list)))));
  const more = sorted.length > LANES_MAX ? el("p", { class: "muted" }, `and ${count(sorted.length - LANES_MAX)} more series that lost less`) : null;
  const axis = el("div", { class: "lane" }, el("div", { class: "axis" }, el("span", {}, `${clock(from)} UTC`), el("span", {}, `${clock(to)} UTC`)));
  return el("div", { class: "timeline" }, ...rows, axis, more);
}

function nodes({ job, node_names: names }) {
  if (names.length === 0) return empty("No known nodes.", "", true);
  const more = job.nodes - Math.min(names.length, NODES_SHOWN);
  return el("div", { class: "nodes" }, ...names.slice(0, NODES_SHOWN).map((name) => el("a", { class: "tag mono", href: links.list("series", { search: `/${name}` }) }, name)),
    more > 0 ? el("span", { class: "muted" }, `and ${count(more)} more`) : null);
}
