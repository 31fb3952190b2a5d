// Pieces that several views show: states, causes, losses, episodes as table.

import { el, setText } from "./dom.js";
import { clock, count, day, episodeName, interval, inUnitOf, nodeHours, percent, seconds } from "./format.js";
import { links } from "./routes.js";
import { asLoss, asShare, atTime, inSeconds, table } from "./table.js";
import { CAUSE_WORDS, KIND_WORDS, metricTitle, STATE_WORDS, TIER_WORDS } from "./words.js";

/** A state: a mark and its name, never colour alone. */
export function stateMark(state, withWord = true) {
  const [name, meaning] = STATE_WORDS[state] ?? [state, ""];
  const mark = el("span", { class: "swatch", "data-state": state, "aria-hidden": "true" });
  return el("span", { class: "state", title: withWord ? meaning : name }, mark, el("span", withWord ? {} : { class: "unseen" }, name));
}

/** A large number with its name above and a line below. Returns the nodes that change. */
export function figure(name) {
  const number = el("div", { class: "number" }, "–");
  const under = el("div", { class: "under" });
  const title = el("div", { class: "name" }, name);
  return { root: el("div", { class: "card figure" }, title, number, under), title, number, under };
}

/** Names and values as a description list; a value may be a node or [value, small print]. */
export function facts(entries) {
  const line = ([name, value, small]) => el("div", {}, el("dt", {}, name), el("dd", {}, value, small ? el("small", {}, small) : null));
  return el("dl", { class: "facts" }, ...entries.map(line));
}

/** The series or job that is the cause, as a link; null for none. */
export function culprit(cause) {
  if (!cause.series_or_job) return null;
  const series = cause.series_or_job.includes("/");
  return el("a", { href: series ? links.series(cause.series_or_job) : links.job(cause.series_or_job) },
    series ? cause.series_or_job : `job ${cause.series_or_job}`);
}

/** Causes of a job's loss as bars, with their part of the interval; the unexplained rest is unknown, so that the bars add up to 100 %. */
export function causeBars(x) {
  const { causes, slowdown_s: lost_s, slowdown_lo_s: lo, slowdown_hi_s: hi } = x;
  const part = (share) => `${seconds(share * lost_s)}, 95 %: ${interval(share * lo, share * hi)}`;
  const known = causes.filter((c) => c.cause !== "unknown");
  const rest = 1 - known.reduce((sum, c) => sum + c.share, 0);
  const all = rest > 0.005 ? [...known, { cause: "unknown", kind: "unknown", series_or_job: "", share: rest }] : known;
  return el("div", { class: "causes", "data-sure": isSure(x) ? "yes" : "no" }, ...all.map((cause) => {
    const bar = el("i");
    bar.style.width = `${Math.max(1, cause.share * 100)}%`;
    const source = cause.cause === "unknown" ? null : culprit(cause);
    return el("div", { class: "cause", "data-cause": cause.cause },
      el("div", {}, CAUSE_WORDS[cause.cause] ?? cause.cause, source ? ": " : null, source),
      el("div", { class: "share" }, percent(cause.share)),
      el("div", { class: "bar", "aria-hidden": "true" }, bar),
      el("small", { class: "muted" }, [part(cause.share), isSure(x) || cause.cause === "unknown" ? null : SUSPECTED, cause.kind === "unknown" ? null : KIND_WORDS[cause.kind] ?? cause.kind].filter(Boolean).join(" · ")));
  }));
}

/** Smaller shares of what was judged, or not judged, do not count. */
const SHARE_MIN = 0.005;
/** Shorter losses look like 0. */
const LOSS_MIN_S = 0.05;

const unjudgedShare = (job) => (job.completeness ?? 0) - (job.judged ?? 0);

/** Whether nothing of a job was judged. */
export const isUnjudged = (job) => job.slowdown_s === 0 && job.judged < SHARE_MIN;

/** The share of a job that was seen and not judged, with the reason; "" below 0.5 %. Matches `JobResult::not_judged`. */
export function notJudged(job) {
  const share = unjudgedShare(job);
  if (job.slowdown_s === null || share < SHARE_MIN) return "";
  const why = share * (job.elapsed_s ?? 0) >= 60 ? "in contention since it started" : "no quiet baseline yet";
  return `not judged${job.judged < SHARE_MIN ? "" : ` for ${percent(share)} of its time`}: ${why}`;
}

/** Why a job shows no loss. */
export function noLoss(job) {
  if (job.slowdown_s === null) return "no result yet";
  return notJudged(job) || (job.judged > 0 ? "no loss measured" : "unknown");
}

/** Causes of a loss as one line: a strip and the name of the largest; grey where the interval of the loss reaches 0. */
export function causeStrip(x) {
  const { causes } = x;
  const sure = isSure(x);
  if (causes.length === 0) return el("span", { class: "muted" }, "unknown");
  if (x.slowdown_s < LOSS_MIN_S) return el("span", { class: "muted" }, "no loss");
  const rest = 1 - causes.reduce((sum, c) => sum + c.share, 0);
  const all = rest > 0.005 ? [...causes, { cause: "unknown", share: rest }] : causes;
  const strip = el("div", { class: "cause-strip", "aria-hidden": "true", "data-sure": sure ? "yes" : "no" }, ...all.map((cause) => {
    const part = el("i", { "data-cause": cause.cause });
    part.style.width = `${cause.share * 100}%`;
    return part;
  }));
  const [first] = causes;
  const text = el("span", sure ? {} : { class: "muted", title: NOT_CONFIRMED }, percent(first.share), " ", first.cause === "other_job" ? culprit(first) : CAUSE_WORDS[first.cause] ?? first.cause,
    sure || first.cause === "unknown" ? null : `, ${SUSPECTED}`);
  return el("div", {}, strip, text);
}

/** Contended series among those with data; series without data are unknown. */
export function contendedOf({ contended, reporting }) {
  if (reporting === 0) return stateMark("unknown");
  const state = contended > 0 ? "contended" : "clear";
  return [stateMark(state, false), ` ${count(contended)} of ${count(reporting)}`];
}

const NOT_CONFIRMED = "The interval reaches 0: nothing confirms the loss.";
/** Of a cause whose loss may be 0. */
export const SUSPECTED = "suspected";

/** Whether the interval of a loss is known and does not reach 0, or is 0. */
export const isSure = (x) => x.slowdown_s === null || x.slowdown_lo_s > 0 || x.slowdown_hi_s === 0;

/** Seconds lost with the 95 % interval beneath; grey where the interval reaches 0. A job of which nothing was judged has a bound alone. */
export function lost(x) {
  if (x.slowdown_s === null) return ["–"];
  const under = el("small", {}, interval(x.slowdown_lo_s, x.slowdown_hi_s));
  if (isUnjudged(x)) return [el("span", { class: "muted" }, "not judged"), under];
  const value = inUnitOf(x.slowdown_hi_s, x.slowdown_s);
  return [isSure(x) ? value : el("span", { class: "muted", title: NOT_CONFIRMED }, value), under];
}

/** The same of a job in a list without a column for what was judged: the words stand below. */
export function lostOfJob(job) {
  const share = unjudgedShare(job);
  const words = job.slowdown_s !== null && !isUnjudged(job) && share >= SHARE_MIN ? el("small", {}, `${percent(share)} not judged`) : null;
  return [...lost(job), words].filter(Boolean);
}

/** Where a store has no history of a loss. */
export const notStored = () => [el("span", { class: "muted" }, "not stored"), el("small", {}, "loss by then")];

/** What a job or an episode had lost by an earlier time; grey where its whole loss may be 0. */
export function lostByThen(x) {
  if (x.lost_until_s === null) return notStored();
  const value = seconds(x.lost_until_s);
  return [isSure(x) ? value : el("span", { class: "muted", title: NOT_CONFIRMED }, value), el("small", {}, "by then, no interval")];
}

/** A large figure of a loss: its 95% interval, grey where that reaches 0, with the best estimate below. */
export function showLoss(figure, { lost_s: best, lost_lo_s: lo, lost_hi_s: hi }, of = "") {
  setText(figure.number, interval(lo, hi));
  setText(figure.under, [`95 %; best estimate ${inUnitOf(hi, best)}`, of].filter(Boolean).join(", "));
  figure.root.classList.add("range");
  figure.root.dataset.sure = lo > 0 || hi === 0 ? "yes" : "no";
  figure.root.title = lo > 0 || hi === 0 ? "" : NOT_CONFIRMED;
}

/** Node-hours lost with the 95 % interval beneath; grey where the interval reaches 0. */
export const lostNodeHours = ({ node_hours: best, node_hours_lo: lo, node_hours_hi: hi }) => [
  el("span", lo > 0 || hi === 0 ? {} : { class: "muted", title: NOT_CONFIRMED }, `${nodeHours(best)} node-hours`), el("small", {}, `${nodeHours(lo)} – ${nodeHours(hi)}`)];

/** Node-hours of a row for sorting, which counts the lower end, and for exports. */
export const asNodeHours = { value: (x) => x.node_hours_lo, out: (x) => ({ "Lost (node-hours)": x.node_hours, "Lost, lower end (node-hours)": x.node_hours_lo, "Lost, upper end (node-hours)": x.node_hours_hi }) };

/** The same of rows whose columns are `lost_s`, `lost_lo_s` and `lost_hi_s`. */
export const lostIn = (x) => lost({ slowdown_s: x.lost_s, slowdown_lo_s: x.lost_lo_s, slowdown_hi_s: x.lost_hi_s });

/** A sum of losses: the ends of the sum are the sums of the ends. Null without a loss. */
export function sumOfLosses(items) {
  const known = items.filter((x) => x.lost_s !== null);
  const sum = (end) => known.reduce((total, x) => total + x[end], 0);
  return known.length ? { lost_s: sum("lost_s"), lost_lo_s: sum("lost_lo_s"), lost_hi_s: sum("lost_hi_s") } : null;
}

/** Whether a run or a stretch is open, in words. */
const openWord = (e) => (e.open ? "open" : "ended");
/** The causes of a loss in words; without any the cause is unknown. */
export const causeWords = ({ causes }) => (causes.length ? causes.map((c) => CAUSE_WORDS[c.cause] ?? c.cause) : [CAUSE_WORDS.unknown]);
/** The file system of a series of a client, else an empty text. */
export const mountOf = (series) => (series.startsWith("lustre") ? series.split("/")[2] ?? "" : "");

const whenOf = (e) => [clock(e.start), el("small", {}, day(e.start))];
/** Whether an episode or a region is open. */
export const openTag = (e) => (e.open ? el("span", { class: "tag", "data-kind": "open" }, "open") : el("span", { class: "tag" }, "ended"));

/** Columns of `episodeTable` by which the server sorts. */
export const EPISODE_ORDERS = { Episode: "episode", Series: "series", "Start (UTC)": "start", Length: "length", "Lost, 95 % interval": "lost", Causes: "cause", Complete: "completeness" };

/** Episodes as a table; the page of a series omits the column of its name. */
export function episodeTable(episodes, withSeries = true, options = {}) {
  return table([
    ["Episode", "tight", (e) => [el("a", { href: links.episode(e.id) }, `#${episodeName(e.id)}`), " ", openTag(e)], { value: (e) => e.id, out: (e) => ({ Episode: e.id, State: openWord(e) }) }],
    ...(withSeries ? [["Series", "wide", (e) => el("a", { href: links.series(e.series), class: "mono" }, e.series), (e) => e.series]] : []),
    ["Start (UTC)", "tight", whenOf, atTime((e) => e.start)],
    ["Length", "num", (e) => seconds(e.duration_s), inSeconds((e) => e.duration_s)],
    ["Lost, 95 % interval", "num", lost, asLoss("slowdown")],
    ["Causes", "", (e) => causeStrip(e), (e) => causeWords(e).join("; ")],
    ["Complete", "num", (e) => percent(e.completeness), asShare((e) => e.completeness)],
  ], episodes, "Episodes", { filters: [
    ["State", openWord], ["Metric", (e) => metricTitle(e.metric)], ["Node or switch", (e) => e.series.split("/")[1] ?? ""], ["File system", (e) => mountOf(e.series)], ["Cause", causeWords],
  ], ...options });
}

/** Regions as a table. */
export function regionTable(regions) {
  return table([
    ["Region", "wide", (r) => [el("a", { href: links.region(r.id) }, r.name || `region ${r.id}`), " ", openTag(r)], { value: (r) => r.name || `region ${r.id}`, out: (r) => ({ Region: r.id, Name: r.name, State: openWord(r) }) }],
    ["Start (UTC)", "tight", (r) => [clock(r.start), el("small", {}, day(r.start))], atTime((r) => r.start)],
    ["Length", "num", (r) => seconds(r.end - r.start), inSeconds((r) => r.end - r.start)],
    ["Links", "num", (r) => [count(r.links), el("small", {}, `at most ${count(r.links_most)}`)], (r) => r.links],
    ["Kind", "", (r) => [KIND_WORDS[r.kind] ?? r.kind, el("small", {}, r.kind === "avoidable" ? `relief ${percent(r.relief)}` : "")], (r) => KIND_WORDS[r.kind] ?? r.kind],
    ["Cause", "", (r) => [CAUSE_WORDS[r.cause] ?? r.cause, r.cause === "unknown" ? null : el("small", {}, `confidence ${percent(r.confidence)}`)].filter((part) => part !== null), { value: (r) => CAUSE_WORDS[r.cause] ?? r.cause, out: (r) => ({ Cause: r.cause, Confidence: r.confidence }) }],
    ["Source", "", (r) => (r.who ? culprit({ series_or_job: r.who }) : "unknown")],
    ["Lost by jobs, 95 %", "num", lostIn, asLoss("lost")],
  ], regions, "Regions", { filters: [["State", openWord], ["Kind", (r) => KIND_WORDS[r.kind] ?? r.kind], ["Cause", (r) => CAUSE_WORDS[r.cause] ?? r.cause]] });
}

/** The region of an incident, or its file system in the view of them. */
export const incidentLink = (i) => el("a", { href: i.about === "region" ? links.region(i.region) : links.list("files", { mount: i.mount, metric: i.metric }) }, i.about === "region" ? i.name || `region ${i.region}` : `file system ${i.mount}`);

/** What is contended, in words. */
export const resourceOf = (i) => (i.about === "region" ? "links" : "file system");

/** What the affected jobs lost; of a file system that no job used, what one client lost. */
export const lossOfIncident = (i) => (i.lost_s === null ? ["–"] : [...lostIn(i), i.lost_by === "worst_client" ? el("small", {}, "worst client, no jobs") : null].filter(Boolean));

/** Columns of `incidentTable` by which the server sorts. */
export const INCIDENT_ORDERS = { Incident: "name", "Start (UTC)": "start", Length: "length", Size: "size", Kind: "kind", Cause: "cause", Source: "source", "Lost, 95 %": "lost" };

/** Incidents as a table. */
export function incidentTable(incidents, options = {}) {
  return table([
    ["Incident", "wide", (i) => [incidentLink(i), " ", openTag(i)], { value: (i) => i.name, out: (i) => ({ Incident: i.id, Name: i.name, State: openWord(i), Resource: resourceOf(i), "File system": i.mount }) }],
    ["Start (UTC)", "tight", whenOf, atTime((i) => i.start)],
    ["Length", "num", (i) => seconds(i.end - i.start), inSeconds((i) => i.end - i.start)],
    ["Size", "num", (i) => `${count(i.members)} ${i.about === "region" ? "link" : "client"}${i.members === 1 ? "" : "s"}`, (i) => i.members],
    ["Kind", "", (i) => KIND_WORDS[i.kind] ?? i.kind, (i) => KIND_WORDS[i.kind] ?? i.kind],
    ["Cause", "", (i) => [CAUSE_WORDS[i.cause] ?? i.cause, i.cause === "unknown" ? null : el("small", {}, `confidence ${percent(i.confidence)}`)].filter(Boolean), { value: (i) => CAUSE_WORDS[i.cause] ?? i.cause, out: (i) => ({ Cause: i.cause, Confidence: i.confidence }) }],
    ["Source", "", (i) => (i.who ? culprit({ series_or_job: i.who }) : "unknown"), (i) => i.who ?? "unknown"],
    ["Lost, 95 %", "num", lossOfIncident, { value: (i) => i.lost_lo_s, out: (i) => ({ "Lost (s)": i.lost_s, "Lost, lower end (s)": i.lost_lo_s, "Lost, upper end (s)": i.lost_hi_s, "Lost by": i.lost_by }) }],
  ], incidents, "Incidents", { filters: [["State", openWord], ["Resource", resourceOf], ["Cause", (i) => CAUSE_WORDS[i.cause] ?? i.cause]], ...options });
}

/** "200 of 1,234 shown" where a list is cut; `least` where the count is a lower bound. */
export const shown = (items, total, least = false) => (total > items.length ? `${count(items.length)} of ${count(total)}${least ? " or more" : ""} shown` : count(total));

/** The tier of the points of a chart, unless they are ticks. */
export const tierNote = ({ tier }) => (tier in TIER_WORDS ? el("span", { class: "muted" }, `${TIER_WORDS[tier]} ·\u00a0`) : null);
