// One panel for a frame of another page: a job, or the jobs and incidents of a node. Its links open the whole page in another tab.

import { ask } from "./api.js";
import { card, el, empty, failure, fill } from "./dom.js";
import { capital, moment, percent, seconds } from "./format.js";
import { lossCurve } from "./loss_curve.js";
import { causeBars, causeStrip, facts, incidentLink, lossOfIncident, lost, noLoss, notJudged, openTag } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";

const REFRESH_MS = 5000;
const JOBS_SHOWN = 8;
const INCIDENTS_SHOWN = 5;
const DAY_S = 86400;

/** `/embed/job/ID` or `/embed/node/NAME`. */
function readPath(path) {
  const [, , kind, name = ""] = path.split("/");
  // A path typed by hand may hold a lone percent sign.
  try { return [kind, decodeURIComponent(name)]; } catch { return [kind, name]; }
}

/** The address within the frame has no views. */
function openOutside(root) {
  for (const link of root.querySelectorAll("a[href^='#']")) {
    link.setAttribute("href", "/" + link.getAttribute("href"));
    link.setAttribute("target", "_blank");
    link.setAttribute("rel", "noopener");
  }
}

const inBody = (...children) => el("div", { class: "body stack" }, ...children);

function jobPanel(answer) {
  const { job } = answer;
  const summary = facts([
    ["Lost", ...lost(job)],
    ["Elapsed", seconds(job.elapsed_s), `from ${moment(job.start)} UTC`],
    ["Judged", percent(job.judged), notJudged(job) || "share of its time with a quiet baseline"],
  ]);
  const curve = answer.loss_curve.time.length && job.slowdown_s > 0 ? lossCurve(answer) : null;
  const causes = job.causes.length && job.slowdown_s > 0 ? causeBars(job) : empty(`${job.slowdown_s > 0 ? "Cause unknown" : capital(noLoss(job))}.`, "", true);
  const state = job.end === null ? "running" : "ended";
  return [card(el("a", { href: links.job(job.job_id) }, `Job ${job.job_id}`), inBody(summary, curve, causes), `Tailback · time lost to contention · ${state}`)];
}

function nodePanel(node, [{ jobs }, { incidents }]) {
  const jobRow = (job) => el("tr", {},
    el("td", {}, el("a", { href: links.job(job.job_id) }, job.job_id), el("small", {}, job.end === null ? "running" : `ended ${moment(job.end)} UTC`)),
    el("td", { class: "num" }, ...lost(job)),
    el("td", {}, job.slowdown_s > 0 ? causeStrip(job) : el("span", { class: "muted" }, noLoss(job))));
  const incidentRow = (incident) => el("tr", {},
    el("td", {}, incidentLink(incident), " ", openTag(incident), el("small", {}, `from ${moment(incident.start)} UTC`)),
    el("td", { class: "num" }, ...lossOfIncident(incident)));
  const rows = (label, list, row) => el("table", { "aria-label": label }, el("tbody", {}, ...list.map(row)));
  return [card(el("a", { href: links.list("jobs", { node }) }, `Node ${node}`),
    el("div", {}, jobs.length ? rows("Jobs", jobs, jobRow) : empty("No job of this node in the latest day.", "", true)), "Tailback · jobs and the time they lost"),
  incidents.length ? card("Incidents of this node or its switch", rows("Incidents", incidents, incidentRow), "latest day") : null];
}

/** Request and drawing of a panel. */
function panel(kind, name) {
  if (kind === "job" && name) return [() => ask(`jobs/${encodeURIComponent(name)}`), jobPanel];
  if (kind !== "node" || !name) return null;
  const request = async () => {
    const { clock } = await ask("jobs", { limit: 1 });
    const from = clock === null ? null : Math.max(0, clock - DAY_S);
    return Promise.all([ask("jobs", { node: name, from, limit: JOBS_SHOWN }), ask("incidents", { node: name, from, limit: INCIDENTS_SHOWN })]);
  };
  return [request, (answers) => nodePanel(name, answers)];
}

const root = el("div", { class: "stack" });
document.getElementById("main").append(root);
const [kind, name] = readPath(location.pathname);
const found = panel(kind, name);
if (found === null) {
  fill(root, empty("No such panel", "Panels are /embed/job/ID and /embed/node/NAME."));
} else {
  document.title = `${kind} ${name} · Tailback`;
  const [request, draw] = found;
  const show = (answer) => {
    fill(root, ...draw(answer).filter(Boolean));
    openOutside(root);
  };
  const fail = (error) => {
    const login = el("a", { href: "#/now" }, "Log in to Tailback");
    fill(root, error.status === 401 ? empty("Not logged in", login) : failure(`No data of ${kind} ${name}`, error));
    openOutside(root);
  };
  const data = refresher(request, show, fail, REFRESH_MS);
  setInterval(data.tick, REFRESH_MS);
}
