// One region of contended links: what became of it step by step, its links, who loads it and who waits.

import { ask } from "./api.js";
import { RegionChart } from "./chart.js";
import { card, el, empty, failure, fill } from "./dom.js";
import { clock, count, day, percent, reading, seconds } from "./format.js";
import { culprit, facts, openTag, shown, stateMark, table } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { CAUSE_WORDS, changeWords, EVIDENCE_WORDS, KIND_WORDS, metricTitle } from "./words.js";

export function openRegion(root, route) {
  const title = el("div", { class: "title" }, el("h1", {}, `Region ${route.what ?? ""}`));
  const body = el("div", { class: "stack" });
  root.append(title, body);
  let chart = null;
  const place = el("div", { class: "body" });

  const show = (answer) => {
    fill(title, ...titleOf(answer.region));
    chart = showSteps(place, chart, answer);
    fill(body, ...cardsOf(answer, place));
    // Of what has ended no new steps come; a late loss of its victims is at most a few seconds away.
    if (!answer.region.open && answer.clock > answer.region.end + 61) data.close();
  };
  const fail = (error) => { if (chart === null) fill(body, failure("No such region to show", error)); };
  const data = refresher(() => ask(`regions/${encodeURIComponent(route.what ?? "")}`), show, fail, 2000);
  return { tick: data.tick, close() { data.close(); chart?.close(); } };
}

const nameOf = (region) => region.name || `Region ${region.id}`;

function titleOf(region) {
  return [el("h1", {}, nameOf(region)), openTag(region),
    el("div", { class: "under" }, `Region ${region.id} of contended links that touch, ${metricTitle(region.metric)}, in the `, el("a", { href: links.list("fabric") }, "fabric"))];
}

function cardsOf(answer, chart) {
  const { history, links: series, causes, victims } = answer;
  const unit = answer.metric?.unit ?? "";
  const none = (text) => empty(text, "", true);
  return [
    card("Figures", el("div", { class: "body" }, factsOf(answer.region, unit))),
    card("Links and worst ratio", chart, unit ? `ratio in ${unit}` : null),
    card("What became of it", history.length ? stepTable(history, unit) : none("No step of it is kept."), shown(history, answer.history_total)),
    el("div", { class: "two" },
      card("Who makes the load, by share of it on the worst links", causes.length ? causeTable(causes) : none("The data does not tell who makes the load.")),
      card("Who waits", victims.length ? victimTable(victims) : none("No job is known to wait here."), "largest loss first")),
    card("Its links", series.length ? linkTable(series, unit) : none("None of its links is named."), `the worst first; ${shown(series, answer.links_total)}`),
  ];
}

function factsOf(region, unit) {
  return facts([
    ["Links", count(region.links), `at most ${count(region.links_most)}`],
    ["Length", seconds(region.end - region.start), region.open ? "and it goes on" : "from start to end"],
    ["Start (UTC)", clock(region.start), day(region.start)],
    [region.open ? "Latest tick (UTC)" : "End (UTC)", clock(region.end), day(region.end)],
    ["Worst ratio ever", reading(region.peak, unit), "of any of its links"],
    ["Lost by jobs", seconds(region.lost_s), region.lost_s === null ? "no job is known to wait" : "all that wait in it"],
    ["Kind", KIND_WORDS[region.kind] ?? region.kind, region.kind === "unknown" ? "" : `confidence ${percent(region.kind_confidence)}`],
    ["Relief", percent(region.relief), "less on the worst link if parallel ones were even"],
    ["Cause", CAUSE_WORDS[region.cause] ?? region.cause, region.cause === "unknown" ? "" : `confidence ${percent(region.confidence)}`],
    ["Completeness", percent(region.completeness), "ticks seen of ticks expected"],
  ]);
}

/** The last step of a region that is over has no link any more, and tells the worst ratio that it ever had. */
const isOver = ({ change }) => change === "ended" || change === "went_into";

/** The steps as columns; an open region goes on as it is until its latest tick. */
function columnsOf({ region, history }) {
  const worst = (step, i) => (isOver(step) && i > 0 ? history[i - 1].worst : step.worst);
  const steps = history.map((step, i) => [step.at_time, step.links, worst(step, i)]);
  const last = steps.at(-1);
  if (region.open && last[0] < region.end) steps.push([region.end, last[1], last[2]]);
  return [0, 1, 2].map((column) => steps.map((step) => step[column]));
}

/** The chart stays when steps are added to it, and with it a zoom. */
function showSteps(place, chart, answer) {
  if (answer.history.length === 0) {
    if (chart === null) fill(place, empty("No step of it is kept.", "", true));
    return chart;
  }
  const columns = columnsOf(answer);
  if (chart !== null) {
    chart.update(columns);
    return chart;
  }
  const made = new RegionChart(columns, answer.metric?.unit ?? "");
  fill(place, made.root);
  return made;
}

function otherOf({ other, other_name: name }) {
  if (other === null) return "–";
  // One that lasted too short to be told, or is no longer kept, cannot be opened.
  return name === null ? `region ${other}, too short to be told or no longer kept` : el("a", { href: links.region(other) }, name || `region ${other}`);
}

const seriesLink = (series) => el("a", { href: links.series(series), class: "mono" }, series);

function stepTable(history, unit) {
  return table([
    ["At (UTC)", "tight", (s) => [clock(s.at_time), el("small", {}, day(s.at_time))]],
    ["Change", "", (s) => changeWords(s)],
    ["Other region", "", otherOf],
    ["Links from then on", "num", (s) => count(s.links)],
    ["Worst link", "wide", (s) => (s.worst_series ? seriesLink(s.worst_series) : "–")],
    ["Its ratio", "num", (s) => [reading(s.worst, unit), isOver(s) ? el("small", {}, "worst of the region ever") : null].filter((part) => part !== null)],
  ], history, "What became of it");
}

function causeTable(causes) {
  return table([
    ["Cause", "", (c) => CAUSE_WORDS[c.cause] ?? c.cause],
    ["Who", "tight", (c) => culprit(c) ?? "not known"],
    ["Share", "num", (c) => percent(c.share)],
    ["Confidence", "num", (c) => percent(c.confidence)],
    ["Evidence", "wide", (c) => (c.evidence.length ? c.evidence.map((word) => EVIDENCE_WORDS[word] ?? word).join("; ") : "–")],
  ], causes, "Who makes the load");
}

function victimTable(victims) {
  return table([
    ["Job", "wide", (v) => [el("a", { href: links.job(v.job_id) }, v.job_id), " ", v.name ?? "", " ", el("span", { class: "muted" }, v.user ?? "")]],
    ["Lost", "num", (v) => seconds(v.lost_s)],
    ["Share", "num", (v) => percent(v.share)],
  ], victims, "Who waits");
}

function linkTable(series, unit) {
  return table([
    ["Link", "wide", (l) => seriesLink(l.series)],
    ["Belongs", "tight", (l) => (l.belongs ? "yes" : el("span", { class: "muted" }, "no longer"))],
    ["Now", "tight", (l) => stateMark(l.state)],
    ["Ratio now", "num", (l) => reading(l.mean, unit)],
    ["Class", "", (l) => l.class ?? "not known"],
    ["From", "mono", (l) => l.from_name ?? "–"],
    ["To", "mono", (l) => l.to_name ?? "–"],
  ], series, "Its links");
}
