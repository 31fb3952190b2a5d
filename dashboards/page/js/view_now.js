// Now: current contention, its location and its cost.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, isEarly, setText } from "./dom.js";
import { clock, count, day, percent, seconds, shareInterval, tenths } from "./format.js";
import { HeatMap } from "./heatmap.js";
import { isLive } from "./live.js";
import { culprit, figure, incidentLink, lossOfIncident, lost, lostByThen, lostIn, isSure, notStored, showLoss, openTag, stateMark, SUSPECTED } from "./parts.js";
import { paidBars } from "./paid.js";
import { refresher } from "./refresh.js";
import { rewind } from "./rewind.js";
import { links } from "./routes.js";
import { CAUSE_WORDS, KIND_WORDS, metricTitle, metricUnit, STATE_WORDS, STATES } from "./words.js";

/** Above this number of series a cell is a component. */
const CELLS_MAX = 20000;
/** Maximum of cells that are components. */
const COMPONENTS_MAX = 50000;
const REFRESH_MS = 1000;
const JOBS_SHOWN = 4;
const SERIES_SHOWN = 8;
const INCIDENTS_SHOWN = 5;
/** How long an ended incident is shown: a store holds those of months. */
const INCIDENTS_S = 86_400;
/** Totals that are older are shown with their time. */
const TOTALS_OLD_S = 3;
const LATER = "the largest loss until their end first";
const ESTIMATED = "losses by then as estimated since, the largest until their end first";
/** Titles of the lists, with what stands beside them: of the latest data, and of a time in the past. */
const titles = () => Object.entries({
  incidents: [["Incidents", el("a", { href: links.list("incidents") }, "all incidents")], ["Incidents at this time", LATER]],
  jobs: [["Running jobs with the largest loss", "by lower end"], ["Jobs at this time", ESTIMATED]],
  series: [["Series with the largest loss", "in their episodes of the latest six hours, contended ones first, then by lower end"], ["Episodes at this time", ESTIMATED]],
}).map(([name, both]) => [name, both.map(([title, end]) => [title, el("span", {}, end)])]);
/** The cost has a resolution of an hour. */
const PAID_MS = 20000;

export function openNow(root, route) {
  const figures = {
    links: figure("Contended links"), clients: figure("Contended clients"), lost: figure("Seconds lost so far"), open: figure("Open episodes"),
    complete: figure("Completeness"), clock: figure("Event clock, UTC"),
  };
  const heat = new HeatSection();
  const losers = { incidents: el("div", {}, empty("Loading incidents…", "", true)), jobs: el("div", {}, empty("Loading jobs…", "", true)), series: el("div", {}, empty("Loading series…", "", true)) };
  const paidPlace = el("div", {}, empty("Loading cost…", "", true));
  const lists = titles().map(([name, [now, then]]) => ({ root: card(now[0], losers[name], now[1]), now, then }));
  const cost = card("Cost of contention", paidPlace, "node-hours lost by jobs, by hour and cause, 95 %");
  const side = el("div", { class: "stack" }, ...lists.map((list) => list.root), cost);
  const page = el("div", { class: "now" }, heat.root, side);
  const note = el("p", { class: "run-note", hidden: "" });
  const time = rewind(route, () => data.now());
  root.append(el("h1", { class: "unseen" }, "Now"),
    el("div", { class: "stack" }, el("section", { class: "figures", "aria-label": "Summary" }, ...Object.values(figures).map((f) => f.root)), note, time.root, page));

  let newest = null;
  const request = async () => {
    const at = time.at();
    const span = at === null ? {} : { from: at, to: at };
    const [answer, jobs, incidents, past] = await Promise.all([heat.request(at), ask("jobs", { ...(at === null ? { state: "running" } : { ...span, at }), sort: "lost", limit: JOBS_SHOWN }), ask("incidents", { ...(at === null && newest !== null ? { from: newest - INCIDENTS_S } : span), limit: INCIDENTS_SHOWN }), at === null ? null : readPast(at)]);
    return { ...answer, jobs: jobs.jobs, incidents: incidents.incidents, at, past };
  };
  const show = (answer) => {
    // The time was changed while this was under way: the next answer is that of the new time.
    if (answer.at !== time.at()) return data.now();
    if (answer.past) showPast(figures, answer);
    heat.show(answer);
    for (const { root: list, now, then } of lists) nameCard(list, answer.past ? then : now);
    // The hours end with the latest data.
    cost.hidden = answer.past !== null;
    fill(losers.incidents, answer.past ? incidentsThen(answer) : incidents(answer.incidents));
    fill(losers.jobs, answer.past ? jobsThen(answer.jobs) : losingJobs(answer.jobs));
    fill(losers.series, answer.past ? episodesThen(answer.past.episodes.episodes) : losingSeries(answer));
  };
  const fail = (error) => {
    // The old data stays visible: the header shows its age.
    if (heat.shown || error.status === 0) return;
    heat.wait(error);
    for (const place of Object.values(losers)) fill(place, empty("No data yet.", "", true));
  };
  const data = refresher(request, show, fail, REFRESH_MS);
  const hours = refresher(() => ask("paid"), (answer) => fill(paidPlace, paidBars(answer)), (error) => fill(paidPlace, failure("No cost data", error)), PAID_MS);
  return {
    tick(tick) {
      newest = tick.clock;
      if (time.at() === null) showFigures(figures, tick);
      time.tick(tick);
      setText(note, tick.run_note ?? "");
      note.hidden = !tick.run_note;
      data.tick();
      hours.tick();
    },
    close() { data.close(); hours.close(); heat.close(); time.close(); },
  };
}

function nameCard(list, [title, end]) {
  setText(list.querySelector("h2"), title);
  fill(list.querySelector(".end"), end);
}

/** Links, clients and episodes at a time in the past. */
async function readPast(at) {
  const [map, episodes] = await Promise.all([ask("map/now", { at }), ask("episodes", { from: at, to: at, at, sort: "lost", limit: SERIES_SHOWN })]);
  return { map, episodes };
}

/** What is known of a time in the past; sums of losses are those of now, and are hidden. */
function showPast(figures, { at, past: { map, episodes } }) {
  const put = (f, number, under, alarm) => {
    setText(f.number, number);
    setText(f.under, under);
    f.root.dataset.alarm = alarm ? "yes" : "no";
  };
  for (const name of ["links", "clients"]) put(figures[name], map[name].reporting ? count(map[name].contended) : "–", map.kept ? `of ${count(map[name].reporting)} with data` : "not kept", map[name].contended > 0);
  figures.lost.root.hidden = true;
  const reporting = map.links.reporting + map.clients.reporting;
  const total = map.links.total + map.clients.total;
  put(figures.open, map.kept ? count(episodes.total) : "–", map.kept ? "at this time" : "not kept", false);
  put(figures.complete, percent(total && map.kept ? reporting / total : null), `${count(total - reporting)} links and clients unknown`, map.kept && reporting < 0.9 * total);
  setText(figures.clock.title, "Time shown, UTC");
  put(figures.clock, clock(at), day(at), false);
}

/** The time of the totals, where a large store has older ones than the rest of the answer. */
function timeOfTotals({ totals, clock: now }) {
  return totals && totals.at !== null && now - totals.at > TOTALS_OLD_S ? ` · totals of ${clock(totals.at)} UTC` : "";
}

function showFigures(figures, { totals, progress, clock: now }) {
  if (totals === null) return;
  const all = Object.values(totals.states).reduce((sum, n) => sum + n, 0);
  const put = (f, number, under, alarm = false) => {
    setText(f.number, number);
    setText(f.under, under);
    f.root.dataset.alarm = alarm ? "yes" : "no";
  };
  const none = all === 0;
  figures.lost.root.hidden = false;
  setText(figures.clock.title, "Event clock, UTC");
  for (const [name, places] of [["links", totals.links], ["clients", totals.clients]]) {
    const absent = places.total - places.reporting;
    figures[name].root.hidden = places.total === 0 && totals[name === "links" ? "clients" : "links"].total > 0;
    put(figures[name], places.reporting === 0 ? "–" : count(places.contended), `of ${count(places.reporting)} with data${absent > 0 ? `, ${count(absent)} without` : ""}${isLive() ? "" : `, ${AT_END}`}`, isLive() && places.contended > 0);
  }
  // A job waits once for all of its series: where jobs are known, the loss of jobs counts.
  const byJobs = totals.jobs_slowdown_s > 0;
  setText(figures.lost.title, byJobs ? "Lost by jobs so far" : "Lost so far");
  if (byJobs) showLoss(figures.lost, { lost_s: totals.jobs_slowdown_s, lost_lo_s: totals.jobs_slowdown_lo_s, lost_hi_s: totals.jobs_slowdown_hi_s });
  else put(figures.lost, none ? "–" : seconds(totals.series_slowdown_s), "live estimate without an interval, summed over series");
  put(figures.open, none ? "–" : count(totals.open_episodes), openWords(totals));
  put(figures.complete, percent(totals.completeness), `${count(totals.states.unknown)} series unknown`, totals.completeness !== null && totals.completeness < 0.9);
  put(figures.clock, clock(now), now === null ? "no data yet" : `${day(now)}${progress.rows > 0 && !progress.finished ? ` · ${count(progress.rows_per_s)} rows/s` : ""}${timeOfTotals({ totals, clock: now })}`);
}

const AT_END = "at the end of the data";

/** A run that ends closes its episodes, whatever is contended then. */
function openWords({ open_episodes: open, links: { contended: ofLinks }, clients: { contended: ofClients } }) {
  if (isLive()) return open > 0 ? "ongoing" : "none now";
  if (open > 0) return `open ${AT_END}`;
  return ofLinks + ofClients > 0 ? "ended with the data" : `none ${AT_END}`;
}

/** Incidents that a time in the past is in. Their losses, causes and ends are known later only. */
function incidentsThen({ incidents: list, at }) {
  if (list.length === 0) return empty("No incident at this time.", "", true);
  const rows = list.map((i) => el("tr", {},
    el("td", {}, incidentLink(i), el("small", {}, `from ${clock(i.start)} UTC, ${seconds(at - i.start)} until then`)),
    el("td", { class: "num" }, ...notStored())));
  return el("table", { class: "losing", "aria-label": "Incidents at this time" }, el("tbody", {}, ...rows));
}

/** Jobs that ran at a time in the past. */
function jobsThen(jobs) {
  if (jobs.length === 0) return empty("No job ran at this time.", "", true);
  const rows = jobs.map((job) => el("tr", {}, el("td", {}, el("a", { href: links.job(job.job_id) }, job.job_id), " ", job.name, el("small", {}, job.user)), el("td", { class: "num" }, ...lostByThen(job))));
  return el("table", { class: "losing", "aria-label": "Jobs at this time" }, el("tbody", {}, ...rows));
}

/** Contended links and file systems with start, kind, cause and loss. */
function incidents(list) {
  if (list.length === 0) return empty("No contended links or file systems in the latest day.", "", true);
  const description = (i) => [CAUSE_WORDS[i.cause] ?? i.cause, i.who ? [": ", culprit({ series_or_job: i.who })] : null, i.kind === "unknown" ? null : `, ${KIND_WORDS[i.kind] ?? i.kind}`].flat();
  const rows = list.map((i) => el("tr", {},
    el("td", {}, incidentLink(i), " ", openTag(i), el("small", {}, ...description(i).filter((part) => part !== null))),
    el("td", { class: "num" }, ...lossOfIncident(i), el("small", {}, `${clock(i.start)} UTC, ${seconds(i.end - i.start)}`))));
  return el("table", { class: "losing", "aria-label": "Incidents" }, el("tbody", {}, ...rows));
}

function losingJobs(jobs) {
  const losing = jobs.filter((job) => job.slowdown_s > 0);
  if (losing.length === 0) return empty("No loss measured for running jobs.", "", true);
  const rows = losing.map((job) => el("tr", {},
    el("td", {}, el("a", { href: links.job(job.job_id) }, job.job_id), " ", job.name, el("small", {}, ...culpritOf(job))),
    el("td", { class: "num" }, ...lost(job), el("small", {}, job.lost_percent === null ? "" : `${shareInterval(job)} of its time`))));
  return el("table", { class: "losing", "aria-label": "Running jobs with the largest loss" }, el("tbody", {}, ...rows));
}

/** The main cause of a loss, `suspected` where the loss may be 0. */
function culpritOf(job) {
  const [first] = job.causes;
  if (!first || first.cause === "unknown") return ["cause unknown"];
  const share = `, ${percent(first.share)}${isSure(job) ? "" : `, ${SUSPECTED}`}`;
  if (first.cause === "other_job") return ["to ", culprit(first) ?? "another job", share];
  return [`${CAUSE_WORDS[first.cause] ?? first.cause}${share}`];
}

function losingSeries({ top, metrics }) {
  if (top.length === 0) return empty("No loss measured yet.", "", true);
  const rows = top.slice(0, SERIES_SHOWN).map((s) => el("tr", {},
    el("td", { class: "name" }, stateMark(s.state, false), " ", el("a", { href: links.series(s.name), title: s.name }, `${s.component}${s.part ? "/" + s.part : ""}`), el("small", {}, excess(s, metrics))),
    el("td", { class: "num" }, ...lostIn(s))));
  return el("table", { class: "losing", "aria-label": "Series with the largest loss" }, el("tbody", {}, ...rows));
}

/** Episodes that a time in the past is in. */
function episodesThen(episodes) {
  if (episodes.length === 0) return empty("No episode at this time.", "", true);
  const rows = episodes.map((e) => el("tr", {}, el("td", { class: "name" }, el("a", { href: links.episode(e.id), title: e.series }, e.series.split("/").slice(1).join("/")), el("small", {}, metricTitle(e.metric))), el("td", { class: "num" }, ...lostByThen(e))));
  return el("table", { class: "losing", "aria-label": "Episodes at this time" }, el("tbody", {}, ...rows));
}

/** The mean relative to the baseline. */
function excess(series, metrics) {
  if (!(series.mean > 0) || !(series.baseline > 0)) return STATE_WORDS[series.state]?.[0] ?? series.state;
  const falling = metrics.find((m) => m.name === series.metric)?.direction === "falling";
  return falling ? `${percent(series.mean / series.baseline)} of base` : `${tenths(series.mean / series.baseline)}× base`;
}

/** The heat maps of all metrics, with the legend and their requests. */
class HeatSection {
  constructor() {
    this.maps = new Map();
    this.names = null;
    this.by = "series";
    this.legend = el("div", {});
    this.body = el("div", { class: "body" }, this.legend);
    this.hint = el("span", {}, "colour: mean against its bound");
    this.age = el("span", {});
    this.root = card("System", this.body, el("span", {}, this.hint, this.age, " · ", el("a", { href: links.list("map") }, "map")));
    fill(this.body, empty("Loading series…", "", true));
    this.waiting = false;
  }

  /** Names are requested once; they change only when series are added. */
  async request(at) {
    const ask1 = (names) => ask("now", { names, limit: this.by === "component" ? COMPONENTS_MAX : CELLS_MAX, by: this.by, at });
    let answer = await ask1(this.names === null);
    if (answer.total > CELLS_MAX && this.by === "series") {
      this.by = "component";
      answer = await ask1(true);
    } else if (this.names && answer.series.id.length !== this.names.name.length) {
      answer = await ask1(true);
    }
    return answer;
  }

  /** Whether there is a map; a failed request does not remove it. */
  get shown() { return this.maps.size > 0 && !this.waiting; }

  wait(error = null) {
    fill(this.body, error !== null && !isEarly(error) ? failure("No data", error) : empty("Waiting for the first data",
      "No samples received yet. When the first counters arrive, every link and node appears here, at first as warming up. Contention is flagged once there is a baseline."));
    this.waiting = true;
    // The maps were removed: the next response needs names to create them again.
    this.names = null;
  }

  /** A time whose signals are not stored. */
  notKept(at) {
    fill(this.body, empty("Not kept", `No signals of ${day(at)} ${clock(at)} UTC are stored.`));
    this.waiting = true;
    this.names = null;
  }

  show(answer) {
    if (answer.series.id.length === 0) return this.waiting ? undefined : this.wait();
    if (answer.past && !answer.past.map.kept) return this.notKept(answer.at);
    if (answer.series.name) this.setNames(answer);
    this.waiting = false;
    fill(this.legend, ...legend(answer.totals?.states ?? countsOf(answer)));
    setText(this.age, timeOfTotals(answer));
    for (const { map, under, rows } of this.maps.values()) {
      map.setValues(answer.series, answer.states);
      const counted = this.by === "component" ? rows : this.parts(rows);
      const contended = counted.filter((row) => answer.states[answer.series.state[row]] === "contended").length;
      setText(under, `${this.by === "component" ? "the worst series of each" : metricUnit(map.metric.name)} · ${count(contended)} of ${count(counted.length)} contended`);
    }
  }

  /** Rows of parts: a router as a whole counts only where its tiles have no series of their own. */
  parts(rows) {
    const { part, component } = this.names;
    const divided = new Set(rows.filter((row) => part[row] !== null).map((row) => component[row]));
    return rows.filter((row) => part[row] !== null || !divided.has(component[row]));
  }

  setNames({ series, metrics }) {
    this.names = series;
    const before = this.maps;
    this.maps = new Map();
    const sections = [];
    const rowsOf = (metric) => series.metric.flatMap((name, row) => (name === metric.name ? [row] : []));
    const groups = metrics.map((metric) => [metric, rowsOf(metric)]).filter(([, rows]) => rows.length > 0);
    // The smallest first, so that none is hidden below a large one; of equals writes before reads and metadata.
    for (const [metric, rows] of groups.sort((a, b) => a[1].length - b[1].length || b[0].name.localeCompare(a[0].name))) {
      // An existing map is kept when series are added, so that the keyboard focus stays.
      const { map, under, section } = before.get(`${metric.name}/${this.by}`) ?? this.section(metric);
      before.delete(`${metric.name}/${this.by}`);
      this.maps.set(`${metric.name}/${this.by}`, { map, under, section, rows });
      sections.push(section);
    }
    for (const { map } of before.values()) map.close();
    if (this.by === "component") setText(this.hint, "one cell per component: its worst series");
    const wanted = [this.legend, ...sections];
    if (wanted.some((node, i) => this.body.children[i] !== node) || this.body.children.length !== wanted.length) this.body.replaceChildren(...wanted);
    for (const { map, rows } of this.maps.values()) map.setSeries(series, rows);
  }

  section(metric) {
    const map = new HeatMap(metric, metricTitle(metric.name), this.by === "component");
    const under = el("span", {});
    return { map, under, section: el("section", { class: "heat" }, el("h3", {}, metricTitle(metric.name), under), map.root) };
  }

  close() {
    for (const { map } of this.maps.values()) map.close();
  }
}

/** Cells by state. */
function countsOf({ series, states }) {
  const counts = Object.fromEntries(STATES.map((state) => [state, 0]));
  for (const number of series.state) counts[states[number] ?? "unknown"] += 1;
  return counts;
}

function legend(states) {
  const strip = el("div", { class: "strip", "aria-hidden": "true" }, ...STATES.filter((s) => states[s] > 0).map((state) => {
    const part = el("span", { class: "swatch", "data-state": state });
    part.style.flex = `${states[state]} 0 2px`;
    return part;
  }));
  const items = STATES.map((state) => {
    const ramp = state === "clear" || state === "contended";
    const mark = ramp ? el("span", { class: "ramp", "data-state": state }) : el("span", { class: "swatch", "data-state": state });
    return el("li", { title: STATE_WORDS[state][1] }, mark, STATE_WORDS[state][0], el("b", {}, count(states[state])));
  });
  return [strip, el("ul", { class: "legend", "aria-label": "States" }, ...items)];
}
