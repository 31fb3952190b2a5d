// One region of contended links: timeline, links, traffic sources and affected jobs.

import { ask } from "./api.js";
import { RegionChart } from "./chart.js";
import { card, el, empty, failure, fill } from "./dom.js";
import { clock, count, day, percent, reading, seconds } from "./format.js";
import { culprit, facts, lostIn, openTag, shown, stateMark } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { asLoss, asShare, atTime, table } from "./table.js";
import { CAUSE_WORDS, changeWords, EVIDENCE_WORDS, KIND_WORDS, metricTitle, STATE_WORDS } from "./words.js";

export function openRegion(root, route) {
  const title = el("div", { class: "title" }, el("h1", {}, `Region ${route.what ?? ""}`));
  const body = el("div", { class: "stack" });
  root.append(title, body);
  let chart = null;
  const chartBody = el("div", { class: "body" });

  const show = (answer) => {
    fill(title, ...titleOf(answer.region));
    chart = showSteps(chartBody, chart, answer);
    fill(body, ...cardsOf(answer, chartBody));
    // An ended region has no new steps; late losses of its victims arrive within a few seconds.
    if (!answer.region.open && answer.clock > answer.region.end + 61) data.close();
  };
  const fail = (error) => { if (chart === null) fill(body, failure("No such region", error)); };
  const data = refresher(() => ask(`regions/${encodeURIComponent(route.what ?? "")}`), show, fail, 2000);
  return { tick: data.tick, close() { data.close(); chart?.close(); } };
}

const nameOf = (region) => region.name || `Region ${region.id}`;

function titleOf(region) {
  return [el("h1", {}, nameOf(region)), openTag(region),
    el("div", { class: "under" }, `Region ${region.id} of connected contended links, ${metricTitle(region.metric)}, in the `, el("a", { href: links.list("fabric") }, "fabric"))];
}

function cardsOf(answer, chart) {
  const { history, links: series, causes, victims } = answer;
  const unit = answer.metric?.unit ?? "";
  const none = (text) => empty(text, "", true);
  return [
    card("Summary", el("div", { class: "body" }, factsOf(answer.region, unit))),
    card("Links and worst ratio", chart, unit ? `ratio in ${unit}` : null),
    card("Timeline", history.length ? stepTable(history, unit, answer.history_total) : none("No steps stored."), shown(history, answer.history_total)),
    el("div", { class: "two" },
      card("Traffic sources, by share on the worst links", causes.length ? causeTable(causes) : none("Traffic sources unknown.")),
      card("Affected jobs", victims.length ? victimTable(victims) : none("No known affected jobs."), "by lower end of the loss")),
    card("Links", series.length ? linkTable(series, unit, answer.links_total) : none("No links stored."), `worst first; ${shown(series, answer.links_total)}`),
  ];
}

function factsOf(region, unit) {
  return facts([
    ["Links", count(region.links), `at most ${count(region.links_most)}`],
    ["Length", seconds(region.end - region.start), region.open ? "ongoing" : "from start to end"],
    ["Start (UTC)", clock(region.start), day(region.start)],
    [region.open ? "Latest tick (UTC)" : "End (UTC)", clock(region.end), day(region.end)],
    ["Peak ratio", reading(region.peak, unit), "largest of all its links"],
    ["Lost by jobs", ...(region.lost_s === null ? ["–", "no known affected jobs"] : lostIn(region))],
    ["Kind", KIND_WORDS[region.kind] ?? region.kind, region.kind === "unknown" ? "" : `confidence ${percent(region.kind_confidence)}`],
    ["Relief", percent(region.relief), "less load on the worst link if parallel links were even"],
    ["Cause", CAUSE_WORDS[region.cause] ?? region.cause, region.cause === "unknown" ? "" : `confidence ${percent(region.confidence)}`],
    ["Completeness", percent(region.completeness), "ticks seen of ticks expected"],
  ]);
}

/** The last step of an ended region has no links; its worst ratio is the peak of the region. */
const isOver = ({ change }) => change === "ended" || change === "went_into";

/** The steps as columns; the last step of an open region lasts until its latest tick. */
function columnsOf({ region, history }) {
  const worst = (step, i) => (isOver(step) && i > 0 ? history[i - 1].worst : step.worst);
  const steps = history.map((step, i) => [step.at_time, step.links, worst(step, i)]);
  const last = steps.at(-1);
  if (region.open && last[0] < region.end) steps.push([region.end, last[1], last[2]]);
  return [0, 1, 2].map((column) => steps.map((step) => step[column]));
}

/** New steps update the existing chart, so that its zoom is kept. */
function showSteps(place, chart, answer) {
  if (answer.history.length === 0) {
    if (chart === null) fill(place, empty("No steps stored.", "", true));
    return chart;
  }
  const columns = columnsOf(answer);
  if (chart !== null) {
    chart.update(columns);
    return chart;
  }
  const created = new RegionChart(columns, answer.metric?.unit ?? "");
  fill(place, created.root);
  return created;
}

function otherOf({ other, other_name: name }) {
  if (other === null) return "–";
  // A region that was too short to be reported or has expired is not stored.
  return name === null ? `region ${other}, not stored` : el("a", { href: links.region(other) }, name || `region ${other}`);
}

const seriesLink = (series) => el("a", { href: links.series(series), class: "mono" }, series);

function stepTable(history, unit, total) {
  return table([
    ["At (UTC)", "tight", (s) => [clock(s.at_time), el("small", {}, day(s.at_time))], atTime((s) => s.at_time)],
    ["Change", "", (s) => changeWords(s), (s) => changeWords(s)],
    ["Other region", "", otherOf],
    ["Links after it", "num", (s) => count(s.links), (s) => s.links],
    ["Worst link", "wide", (s) => (s.worst_series ? seriesLink(s.worst_series) : "–"), (s) => s.worst_series],
    ["Ratio", "num", (s) => [reading(s.worst, unit), isOver(s) ? el("small", {}, "peak of the region") : null].filter((part) => part !== null), { value: (s) => s.worst, unit }],
  ], history, "Timeline", { total, filters: [["Change", (s) => changeWords(s)]] });
}

function causeTable(causes) {
  return table([
    ["Cause", "", (c) => CAUSE_WORDS[c.cause] ?? c.cause],
    ["Source", "tight", (c) => culprit(c) ?? "unknown"],
    ["Share", "num", (c) => percent(c.share), asShare((c) => c.share)],
    ["Confidence", "num", (c) => percent(c.confidence), asShare((c) => c.confidence)],
    ["Evidence", "wide", (c) => (c.evidence.length ? c.evidence.map((word) => EVIDENCE_WORDS[word] ?? word).join("; ") : "–")],
  ], causes, "Traffic sources", { filters: [["Cause", (c) => CAUSE_WORDS[c.cause] ?? c.cause]] });
}

function victimTable(victims) {
  return table([
    ["Job", "wide", (v) => [el("a", { href: links.job(v.job_id) }, v.job_id), " ", v.name ?? "", " ", el("span", { class: "muted" }, v.user ?? "")], { value: (v) => v.job_id, out: (v) => ({ Job: v.job_id, Name: v.name, User: v.user }) }],
    ["Lost, 95 % interval", "num", lostIn, asLoss("lost")],
    ["Share", "num", (v) => percent(v.share), asShare((v) => v.share)],
  ], victims, "Affected jobs", { filters: [["User", (v) => v.user ?? ""]] });
}

function linkTable(series, unit, total) {
  return table([
    ["Link", "wide", (l) => seriesLink(l.series), (l) => l.series],
    ["In region", "tight", (l) => (l.belongs ? "yes" : el("span", { class: "muted" }, "no longer"))],
    ["Now", "tight", (l) => stateMark(l.state), (l) => l.state],
    ["Ratio now", "num", (l) => reading(l.mean, unit), { value: (l) => l.mean, unit }],
    ["Class", "", (l) => l.class ?? "unknown"],
    ["From", "mono", (l) => l.from_name ?? "–"],
    ["To", "mono", (l) => l.to_name ?? "–"],
  ], series, "Links", { total, filters: [["State", (l) => STATE_WORDS[l.state]?.[0] ?? l.state], ["Class", (l) => l.class ?? "unknown"], ["From", (l) => l.from_name ?? ""]] });
}
