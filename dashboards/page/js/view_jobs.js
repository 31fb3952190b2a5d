// Jobs with their loss and causes.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { clock, count, day, percent, seconds, shareInterval } from "./format.js";
import { filterRow } from "./filter_row.js";
import { growing } from "./growing.js";
import { causeStrip, causeWords, isSure, lost, noLoss, shown } from "./parts.js";
import { refresher } from "./refresh.js";
import { links, setFilters } from "./routes.js";
import { asLoss, asShare, atTime, longRows, orderOf, table } from "./table.js";
import { timePicker } from "./time.js";

/** Columns by which the server sorts. */
const ORDERS = { Job: "job", Name: "name", "Start (UTC)": "start", Elapsed: "elapsed", "Lost, 95 % interval": "lost", "Lost share": "lost_share", Causes: "cause", Complete: "completeness", Judged: "judged" };

const share = (p) => (p === null ? "–" : percent(p / 100));

export function openJobs(root, route) {
  const search = el("input", { type: "search", placeholder: "Job, name, user or application", "aria-label": "Search jobs", value: route.filters.search ?? "" });
  const total = el("span", {});
  const body = el("div", {}, empty("Loading jobs…", "", true));
  const wanted = () => search.value.trim();
  const restart = () => { more.restart(); data.now(); };
  const time = timePicker(route, restart);
  const filters = filterRow(route, ["user", "node", "mount", "run", "cause"], restart);
  const more = growing(async (limit, offset) => ask("jobs", { search: wanted(), ...filters.values(), ...orderOf("Jobs", ORDERS), ...await time.bounds(), limit, offset }), "jobs", () => data.now());
  root.append(el("div", { class: "title" }, el("h1", {}, "Jobs"), search, time.root, filters.root), card("Running first, then the latest; losses sort by their lower end", el("div", {}, body, more.root), total));

  const show = ({ jobs, total: all }) => {
    setText(total, shown(jobs, all));
    filters.suggest("user", jobs.map((j) => j.user));
    if (jobs.length > 0) return fill(body, jobTable(jobs, { total: all, reload: () => data.now() }));
    fill(body, wanted() || Object.keys({ ...time.filters(), ...filters.values() }).length ? empty("No job matches.", "", true)
      : empty("No jobs yet", "Jobs come from the scheduler's rows or from a jobs file. Without them contention is found, but not attributed to jobs."));
  };
  const fail = (error) => fill(body, failure("No jobs", error));
  const data = refresher(more.ask, show, fail, 2000);
  search.addEventListener("input", () => {
    setFilters({ search: wanted() });
    restart();
  });
  return { tick: data.tick, close: data.close };
}

/** By the lower end of the loss, as losses are. */
const lowerShare = (j) => (j.elapsed_s > 0 && j.slowdown_lo_s !== null ? j.slowdown_lo_s / j.elapsed_s : null);
const stateOf = (j) => (j.end === null ? "running" : "ended");

function jobTable(jobs, options) {
  return table([
    ["Job", "tight", (j) => [el("a", { href: links.job(j.job_id) }, j.job_id), " ", el("span", { class: "tag", "data-kind": j.end === null ? "run" : null }, stateOf(j))], { value: (j) => j.job_id, out: (j) => ({ Job: j.job_id, State: stateOf(j) }) }],
    ["Name", "wide", (j) => [j.name || "–", el("small", {}, [j.user, j.app].filter(Boolean).join(" · "))], { value: (j) => j.name, out: (j) => ({ Name: j.name, User: j.user, Application: j.app }) }],
    ["Start (UTC)", "tight", (j) => [clock(j.start), el("small", {}, day(j.start))], atTime((j) => j.start)],
    ["Elapsed", "num", (j) => [seconds(j.elapsed_s), el("small", {}, `${count(j.nodes)} ${j.nodes === 1 ? "node" : "nodes"}`)], { value: (j) => j.elapsed_s, out: (j) => ({ "Elapsed (s)": j.elapsed_s, Nodes: j.nodes }) }],
    ["Lost, 95 % interval", "num", lost, asLoss("slowdown")],
    ["Lost share", "num", (j) => [el("span", isSure(j) ? {} : { class: "muted" }, share(j.lost_percent)), el("small", {}, shareInterval(j))], { value: lowerShare, out: (j) => ({ "Lost share (percent)": j.lost_percent }) }],
    ["Causes", "", (j) => (j.slowdown_s > 0 ? causeStrip(j) : el("span", { class: "muted" }, noLoss(j))), (j) => (j.slowdown_s > 0 ? causeWords(j).join("; ") : noLoss(j))],
    ["Complete", "num", (j) => percent(j.completeness), asShare((j) => j.completeness)],
    ["Judged", "num", (j) => percent(j.judged), asShare((j) => j.judged)],
  ], jobs, "Jobs", { ...options, search: false, rows: longRows, filters: [["Application", (j) => j.app]] });
}
