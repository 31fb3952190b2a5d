// Jobs: what each lost, and to whom.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { clock, count, day, percent, seconds } from "./format.js";
import { causeStrip, lost, shown, table } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";

const share = (p) => (p === null ? "–" : percent(p / 100));

export function openJobs(root) {
  const search = el("input", { type: "search", placeholder: "Job, name, user or application", "aria-label": "Search jobs" });
  const total = el("span", {});
  const body = el("div", {}, empty("Asking for jobs", "", true));
  root.append(el("div", { class: "title" }, el("h1", {}, "Jobs"), search), card("Running first, then the latest", body, total));
  let answer = null;

  const draw = () => {
    if (answer === null) return;
    const wanted = search.value.trim().toLowerCase();
    const jobs = answer.jobs.filter((job) => [job.job_id, job.name, job.user, job.app ?? ""].some((word) => word.toLowerCase().includes(wanted)));
    setText(total, shown(jobs, answer.total));
    if (jobs.length > 0) return fill(body, jobTable(jobs));
    fill(body, wanted ? empty("No job matches.", "", true)
      : empty("No jobs yet", "Jobs come from the scheduler's rows or from a jobs file; without them contention is still found, but not told by job."));
  };
  search.addEventListener("input", draw);
  const show = (got) => { answer = got; draw(); };
  const fail = (error) => { if (answer === null) fill(body, failure("No jobs to show", error)); };
  const data = refresher(() => ask("jobs", { limit: 500 }), show, fail, 2000);
  return { tick: data.tick, close: data.close };
}

function jobTable(jobs) {
  return table([
    ["Job", "tight", (j) => [el("a", { href: links.job(j.job_id) }, j.job_id), " ", j.end === null ? el("span", { class: "tag", "data-kind": "run" }, "running") : null]],
    ["Name", "wide", (j) => [j.name || "–", el("small", {}, [j.user, j.app].filter(Boolean).join(" · "))]],
    ["Start (UTC)", "tight", (j) => [clock(j.start), el("small", {}, day(j.start))]],
    ["Elapsed", "num", (j) => [seconds(j.elapsed_s), el("small", {}, `${count(j.nodes)} ${j.nodes === 1 ? "node" : "nodes"}`)]],
    ["Lost, 95 % interval", "num", lost],
    ["Lost share", "num", (j) => share(j.lost_percent)],
    ["Causes", "", (j) => (j.slowdown_s === null ? el("span", { class: "muted" }, "no result yet") : causeStrip(j.causes))],
    ["Complete", "num", (j) => percent(j.completeness)],
  ], jobs, "Jobs");
}
