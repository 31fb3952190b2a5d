// Alerts: incidents that fire or ended, silences, and a form for silences.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { clock, count, day, moment, seconds } from "./format.js";
import { refresher } from "./refresh.js";
import { links, setFilters } from "./routes.js";
import { mayChange } from "./session.js";
import { silenceForm } from "./silence_form.js";
import { asLoss, atTime, longRows, table } from "./table.js";

export function openAlerts(root, route) {
  const all = el("select", { "aria-label": "Incidents" }, el("option", { value: "" }, "Firing"), el("option", { value: "true" }, "Firing, and ended of 7 days"));
  all.value = route.filters.all === "true" ? "true" : "";
  const { incident } = route.filters;
  const others = incident === undefined ? null : el("a", { href: links.list("alerts", { all: "true" }) }, "all incidents");
  const total = el("span", {});
  const [list, silences] = [el("div", {}, empty("Loading alerts…", "", true)), el("div", {})];
  const form = silenceForm(() => data.now());
  root.append(el("div", { class: "title" }, el("h1", {}, "Alerts"), all), el("div", { class: "stack" }, card("Incidents", list, el("span", {}, total, others ? " · " : "", others ?? "")),
    card("Silences", silences, "hold notices back; times in UTC"), card("New silence", form.root)));

  const show = (answer) => {
    const alerts = answer.alerts.filter((a) => incident === undefined || a.incident === incident);
    setText(total, count(alerts.length));
    if (alerts.length > 0) fill(list, alertTable(alerts, form.choose));
    else if (incident !== undefined) fill(list, empty("This incident ended more than 7 days ago, or is not stored.", "", true));
    else fill(list, empty(all.value ? "No incidents of the latest 7 days." : "No incident fires.", "", true));
    if (answer.silences.length > 0) fill(silences, silenceTable(answer.silences, form.end));
    else fill(silences, empty("No silences.", "", true));
  };
  const data = refresher(() => ask("alerts", { all: all.value }), show, (error) => fill(list, failure("No alerts", error)), 2000);
  all.addEventListener("change", () => {
    setFilters({ all: all.value });
    data.now();
  });
  return { tick: data.tick, close: data.close };
}

const stateOf = (a) => (a.state === "firing" ? (a.silenced_until === null ? "firing" : "firing, silenced") : "ended");

const button = (name, what, run) => el("button", { type: "button", class: "plain", "aria-label": `${name} ${what}`, on: { click: run } }, name);

/** A column of buttons, for readers who may change state. */
const actions = (draw) => (mayChange() ? [["Action", "tight", draw]] : []);

function alertTable(alerts, choose) {
  return table([
    ["Incident", "wide", (a) => [el("span", { class: "tag", "data-kind": a.state === "firing" ? "open" : null }, stateOf(a)), " ", a.subject, el("small", {}, a.summary)], { value: (a) => a.subject, out: (a) => ({ Incident: a.incident, Subject: a.subject, State: stateOf(a), Summary: a.summary }) }],
    ["Rule", "", (a) => [a.rule, el("small", {}, a.severity)], { value: (a) => a.rule, out: (a) => ({ Rule: a.rule, Severity: a.severity }) }],
    ["Start (UTC)", "tight", (a) => [clock(a.started), el("small", {}, day(a.started))], atTime((a) => a.started)],
    ["End (UTC)", "tight", (a) => (a.resolved === null ? "–" : [clock(a.resolved), el("small", {}, `after ${seconds(a.resolved - a.started)}`)]), atTime((a) => a.resolved)],
    ["Lost, 95 % interval", "num", (a) => lossOf(a), { value: (a) => a.notice?.slowdown_lo_s ?? null, out: (a) => asLoss("slowdown").out(a.notice ?? {}) }],
    ["Affected jobs", "", (a) => jobsOf(a), (a) => (a.notice?.advice.jobs ?? []).map((job) => job.job_id).join("; ")],
    ...actions((a) => (a.state === "firing" ? button("Silence", a.subject, () => choose(a)) : "–")),
  ], alerts, "Alerts", { rows: longRows, filters: [["State", stateOf], ["Rule", (a) => a.rule], ["Severity", (a) => a.severity]] });
}

function lossOf({ notice }) {
  if (notice === null) return "–";
  const sure = notice.slowdown_lo_s > 0 || notice.slowdown_hi_s === 0;
  return [el("span", sure ? {} : { class: "muted" }, seconds(notice.slowdown_s)), el("small", {}, `${seconds(notice.slowdown_lo_s)} – ${seconds(notice.slowdown_hi_s)}`)];
}

function jobsOf({ notice }) {
  const jobs = notice?.advice.jobs ?? [];
  if (jobs.length === 0) return "–";
  const more = jobs.length > 4 ? [` and ${count(jobs.length - 4)} more`] : [];
  return [...jobs.slice(0, 4).flatMap((job, i) => [i ? ", " : "", el("a", { href: links.job(job.job_id) }, job.job_id)]), ...more];
}

const matchersOf = (s) => Object.entries(s.matchers).map(([label, text]) => `${label}=${text}`).join(" ");

function silenceTable(silences, end) {
  return table([
    ["Labels", "wide", (s) => [el("span", { class: "mono" }, matchersOf(s)), el("small", {}, s.comment)], { value: matchersOf, out: (s) => ({ Silence: s.id, Labels: matchersOf(s), Comment: s.comment }) }],
    ["From (UTC)", "tight", (s) => moment(s.from_s), atTime((s) => s.from_s)],
    ["Until (UTC)", "tight", (s) => moment(s.until_s), atTime((s) => s.until_s)],
    ["Author", "", (s) => s.author || "–", (s) => s.author],
    ...actions((s) => button("End", `silence ${s.id}`, () => end(s.id))),
  ], silences, "Silences");
}
