// Jobs with their loss and causes.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { clock, count, day, percent, seconds, shareInterval } from "./format.js";
import { growing } from "./growing.js";
import { causeStrip, lost, noLoss, shown, table } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";

const share = (p) => (p === null ? "–" : percent(p / 100));

export function openJobs(root, route) {
  const search = el("input", { type: "search", placeholder: "Job, name, user or application", "aria-label": "Search jobs", value: route.filters.search ?? "" });
  const total = el("span", {});
  const body = el("div", {}, empty("Loading jobs…", "", true));
  const wanted = () => search.value.trim();
  const more = growing((limit, offset) => ask("jobs", { search: wanted(), limit, offset }), "jobs", () => data.now());
  root.append(el("div", { class: "title" }, el("h1", {}, "Jobs"), search), card("Running first, then the latest", el("div", {}, body, more.root), total));

  const show = ({ jobs, total: all }) => {
    setText(total, shown(jobs, all));
    if (jobs.length > 0) return fill(body, jobTable(jobs));
    fill(body, wanted() ? empty("No job matches.", "", true)
      : empty("No jobs yet", "Jobs come from the scheduler's rows or from a jobs file. Without them contention is found, but not attributed to jobs."));
  };
  const fail = (error) => fill(body, failure("No jobs", error));
  const data = refresher(more.ask, show, fail, 2000);
  search.addEventListener("input", () => {
    history.replaceState(null, "", links.list("jobs", { search: wanted() }));
    more.restart();
    data.now();
  });
  return { tick: data.tick, close: data.close };
}

function jobTable(jobs) {
  return table([
    ["Job", "tight", (j) => [el("a", { href: links.job(j.job_id) }, j.job_id), " ", el("span", { class: "tag", "data-kind": j.end === null ? "run" : null }, j.end === null ? "running" : "ended")]],
    ["Name", "wide", (j) => [j.name || "–", el("small", {}, [j.user, j.app].filter(Boolean).join(" · "))]],
    ["Start (UTC)", "tight", (j) => [clock(j.start), el("small", {}, day(j.start))]],
    ["Elapsed", "num", (j) => [seconds(j.elapsed_s), el("small", {}, `${count(j.nodes)} ${j.nodes === 1 ? "node" : "nodes"}`)]],
    ["Lost, 95 % interval", "num", lost],
    ["Lost share", "num", (j) => [share(j.lost_percent), el("small", {}, shareInterval(j))]],
    ["Causes", "", (j) => (j.slowdown_s > 0 ? causeStrip(j.causes) : el("span", { class: "muted" }, noLoss(j)))],
    ["Complete", "num", (j) => percent(j.completeness)],
    ["Judged", "num", (j) => percent(j.judged)],
  ], jobs, "Jobs");
}
