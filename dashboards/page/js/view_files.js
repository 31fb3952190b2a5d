// File systems, by metric of their clients: rate against the largest ever seen, contended clients, and jobs by rate.

import { ask } from "./api.js";
import { RateChart } from "./chart.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { count, percent, reading, seconds } from "./format.js";
import { contendedOf, figure, lostIn, lostOfJob, stateMark } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { asLoss, asShare, table } from "./table.js";
import { PLACES, timePicker } from "./time.js";

/** Clients listed; the explorer has the others. */
const CLIENTS_SHOWN = 20;

export function openFiles(root, route) {
  const chosen = route.filters.mount;
  const figures = { rate: figure("Rate of all clients"), share: figure("Share of the maximum"), contended: figure("Contended clients"), complete: figure("Completeness") };
  const parts = { metrics: el("nav", { class: "choices", "aria-label": "Metric" }), mounts: el("div", {}, empty("Loading file systems…", "", true)), rate: el("div", { class: "body" }), span: el("span", {}), clients: el("div", {}), jobs: el("div", {}) };
  const heading = el("h1", {}, "File systems");
  let chart = null;
  // Another range is another chart.
  const time = timePicker(route, () => { chart?.close(); chart = null; data.now(); }, PLACES);
  root.append(el("div", { class: "title" }, heading, time.root, el("div", { class: "under" }, "Many contended clients at a rate far below the maximum point at servers or the network."), parts.metrics),
    el("div", { class: "stack" }, el("section", { class: "figures", "aria-label": "Summary" }, ...Object.values(figures).map((f) => f.root)),
      card("Rate of all clients", parts.rate, parts.span),
      el("div", { class: "two" }, card("Running jobs by rate", parts.jobs), card("Mounts", parts.mounts)),
      card("Contended clients", parts.clients, "by lower end of the loss in the latest 6 hours")));

  const request = async () => {
    const bounds = await time.bounds();
    const answer = await ask("files", { mount: chosen, metric: route.filters.metric, ...bounds });
    const search = answer.mount ? `/${answer.mount}` : "";
    const clients = answer.metric && await ask("now", { metric: answer.metric, state: "contended", search, order: "slowdown", limit: CLIENTS_SHOWN, at: bounds.to });
    return { ...answer, clients, isPast: bounds.to !== undefined && bounds.to !== "" };
  };
  const show = (answer) => {
    const mount = answer.mounts.find((each) => each.mount === answer.mount);
    setText(heading, mount ? `File system ${mount.mount}` : "File systems");
    const metric = answer.metrics.find((each) => each.metric === answer.metric) ?? { title: "", unit: "" };
    fill(parts.metrics, ...answer.metrics.map((each) => metricLink(each, answer, time.filters())));
    const span = spanOf(answer.rates, time.filters());
    showFigures(figures, mount, answer.rates, metric, span);
    setText(parts.span, span);
    chart = showRates(parts.rate, chart, answer.rates, metric, span);
    fill(parts.mounts, answer.mounts.length ? mountTable(answer.mounts, metric, time.filters()) : empty("No clients with data yet.", "", true));
    fill(parts.jobs, answer.jobs.length ? jobTable(answer.jobs, mount, metric, answer.isPast) : empty("No jobs with clients of this file system at this time.", "", true));
    fill(parts.clients, answer.clients?.total > 0 ? clientTable(answer.clients, metric) : empty("No contended clients.", "", true));
  };
  const fail = (error) => fill(parts.mounts, failure("No file systems", error));
  const data = refresher(request, show, fail, 2000);
  return { tick: data.tick, close() { data.close(); chart?.close(); } };
}

/** The number of contended clients stands at each metric: what is slow is found without opening it. */
function metricLink({ metric, title, contended }, answer, time) {
  const current = metric === answer.metric ? { "aria-current": "true" } : {};
  return el("a", { href: links.list("files", { mount: answer.mount, metric, ...time }), ...current }, title, el("small", {}, `${count(contended)} contended`));
}

function showFigures(figures, mount, rates, { title, unit }, span) {
  const put = (f, number, under, alarm = false) => {
    setText(f.number, number);
    setText(f.under, under);
    f.root.dataset.alarm = alarm ? "yes" : "no";
  };
  if (!mount) return;
  const share = rates.most > 0 && mount.rate !== null ? Math.min(1, mount.rate / rates.most) : null;
  put(figures.rate, reading(mount.rate, unit), `${title}; ${count(mount.active)} of ${count(mount.reporting)} clients above 0`);
  put(figures.share, percent(share), `${reading(rates.most, unit)} in ${span}`);
  put(figures.contended, mount.reporting ? count(mount.contended) : "–", `of ${count(mount.reporting)} with data`, mount.contended > 0);
  put(figures.complete, percent(mount.reporting / mount.clients), `${count(mount.clients - mount.reporting)} of ${count(mount.clients)} unknown`, mount.reporting < 0.9 * mount.clients);
}

/** The usual span is five minutes; of a database, which has sums of minutes, an hour. A long one has longer steps. */
const spanOf = ({ over_s: over, step_s: step }, time) => ("from" in time ? `the span, by ${seconds(step)}` : over > 300 ? `the latest ${Math.round(over / 60)} minutes, by ${step === 60 ? "minute" : seconds(step)}` : "the latest five minutes");

/** New data updates the existing chart, so that its zoom is kept. */
function showRates(place, chart, rates, metric, span) {
  if (rates.time.length === 0) {
    if (chart === null) fill(place, empty(`No data in ${span}.`, "", true));
    return chart;
  }
  if (chart !== null) {
    chart.update(rates);
    return chart;
  }
  const created = new RateChart(rates, metric);
  fill(place, created.root);
  return created;
}

const sentence = (title) => title.charAt(0).toUpperCase() + title.slice(1);

/** The column is named by the metric, its exported value also by the unit. */
const rateRaw = (title, unit) => ({ value: (x) => x.rate, out: (x) => ({ [`${sentence(title)} (${unit})`]: x.rate }) });

function mountTable(mounts, { metric, title, unit }, time) {
  return table([
    ["Mount", "wide", (m) => (m.mount ? el("a", { href: links.list("files", { mount: m.mount, metric, ...time }), class: "mono" }, m.mount) : "unknown"), (m) => m.mount || "unknown"],
    [sentence(title), "num", (m) => reading(m.rate, unit), rateRaw(title, unit)],
    ["Contended", "num", contendedOf, { value: (m) => m.contended, out: (m) => ({ Contended: m.contended, "With data": m.reporting }) }],
    ["Complete", "num", (m) => percent(m.reporting / m.clients), asShare((m) => m.reporting / m.clients)],
  ], mounts, "Mounts");
}

/** A loss is that of the run so far: of a time in the past there is none. */
function jobTable(jobs, mount, { title, unit }, isPast) {
  const share = (job) => (mount?.rate > 0 && job.rate !== null ? job.rate / mount.rate : null);
  return table([
    ["Job", "wide", (j) => [el("a", { href: links.job(j.job_id) }, j.job_id), " ", j.name, " ", el("span", { class: "muted" }, j.user)], { value: (j) => j.job_id, out: (j) => ({ Job: j.job_id, Name: j.name, User: j.user }) }],
    [sentence(title), "num", (j) => reading(j.rate, unit), rateRaw(title, unit)],
    ["Share", "num", (j) => percent(share(j)), asShare(share)],
    ["Clients", "num", (j) => [count(j.clients), el("small", {}, `${count(j.contended)} contended`)], (j) => j.clients],
    ...(isPast ? [] : [["Lost so far, 95 %", "num", lostOfJob, asLoss("slowdown")]]),
  ], jobs, "Running jobs by rate", { filters: [["User", (j) => j.user]] });
}

function clientTable({ series, total }, { title, unit }) {
  const rows = series.name.map((name, i) => ({ name, value: series.value[i], mean: series.mean[i], baseline: series.baseline[i], lost_s: series.lost_s[i], lost_lo_s: series.lost_lo_s[i], lost_hi_s: series.lost_hi_s[i] }));
  return table([
    ["Client", "wide", (c) => [stateMark("contended", false), " ", el("a", { href: links.series(c.name), class: "mono" }, c.name.split("/").slice(1).join("/"))], (c) => c.name],
    [sentence(title), "num", (c) => reading(c.value, unit), { value: (c) => c.value, unit }],
    ["Mean", "num", (c) => reading(c.mean, unit), { value: (c) => c.mean, unit }],
    ["Baseline", "num", (c) => reading(c.baseline, unit), { value: (c) => c.baseline, unit }],
    ["Lost in 6 hours, 95 %", "num", (c) => (c.lost_s === null ? "–" : lostIn(c)), asLoss("lost")],
  ], rows, "Contended clients", { total });
}
