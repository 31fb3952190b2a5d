// One job: what it lost, when, on which series, to whom.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, svg } from "./dom.js";
import { clock, count, episodeName, interval, moment, percent, seconds } from "./format.js";
import { causeBars, episodeTable, facts } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";

const LANES_MAX = 24;
const NODES_SHOWN = 32;

export function openJob(root, route) {
  const title = el("div", { class: "title" }, el("h1", {}, `Job ${route.what ?? ""}`));
  const body = el("div", { class: "stack" });
  root.append(title, body);
  let shownOnce = false;
  const show = (answer) => {
    shownOnce = true;
    fill(title, ...titleOf(answer.job));
    fill(body, ...parts(answer));
  };
  const fail = (error) => { if (!shownOnce) fill(body, failure("No such job to show", error)); };
  const data = refresher(() => ask(`jobs/${encodeURIComponent(route.what ?? "")}`), show, fail, 3000);
  return { tick: data.tick, close: data.close };
}

function titleOf(job) {
  const tag = job.end === null ? el("span", { class: "tag", "data-kind": "run" }, "running") : el("span", { class: "tag" }, "ended");
  const words = [job.name, job.user && `by ${job.user}`, job.app && `application ${job.app}`].filter(Boolean).join(" · ");
  return [el("h1", {}, `Job ${job.job_id}`), tag, el("div", { class: "under" }, words)];
}

function parts(answer) {
  const { job, episodes } = answer;
  const inBody = (...children) => el("div", { class: "body" }, ...children);
  const noLoss = job.slowdown_s === null ? "No result yet: nothing is known of its loss."
    : job.slowdown_s > 0 ? "No episode of its series tells how it grew." : "It has lost nothing so far.";
  const causes = job.causes.length ? causeBars(job.causes) : empty("The data does not tell.", "", true);
  return [
    card("Figures", inBody(factsOf(job))),
    el("div", { class: "split" },
      el("div", { class: "stack" },
        card("How the loss grew", inBody(answer.loss_curve.time.length ? sparkline(answer.loss_curve) : empty(noLoss, "", true)), "seconds lost, from start to now or end"),
        card("Episodes of its series", inBody(episodes.length ? timeline(answer) : empty("None of its series was contended while it ran.", "", true)), count(episodes.length))),
      el("div", { class: "stack" }, card("Causes, by share of the loss", inBody(causes)), card("Nodes", inBody(nodes(answer)), count(job.nodes)))),
    episodes.length ? card("The episodes", episodeTable(episodes.slice(0, 100)), episodes.length > 100 ? "the latest 100" : null) : null,
  ];
}

function factsOf(job) {
  return facts([
    ["Lost", seconds(job.slowdown_s), `95 %: ${interval(job.slowdown_lo_s, job.slowdown_hi_s)}`],
    ["Lost share", job.lost_percent === null ? "–" : percent(job.lost_percent / 100), "of the time elapsed"],
    ["Contended", seconds(job.contended_s), "some series of it was"],
    ["Elapsed", seconds(job.elapsed_s), `from ${moment(job.start)}`],
    ["End (UTC)", job.end === null ? "running" : clock(job.end), job.end === null ? "or its end never arrived" : moment(job.end).slice(0, 10)],
    ["Completeness", percent(job.completeness), "ticks seen of ticks expected"],
  ]);
}

function sparkline({ time, slowdown_s: lost }) {
  const top = Math.max(...lost, 0.001);
  const [from, to] = [time[0], time.at(-1)];
  const at = lost.map((s, i) => `${(((time[i] - from) / (to - from)) * 600).toFixed(1)} ${(78 - (s / top) * 72).toFixed(1)}`);
  const picture = svg("svg", { class: "spark", viewBox: "0 0 600 80", height: "80", preserveAspectRatio: "none", role: "img", "aria-label": `Loss grew to ${seconds(lost.at(-1))}` },
    svg("path", { class: "area", d: `M0 80L${at.join("L")}L600 80Z` }), svg("path", { d: `M${at.join("L")}` }));
  return el("figure", {}, picture, el("figcaption", { class: "axis" }, el("span", {}, clock(from)), el("span", {}, `${seconds(lost.at(-1))} at ${clock(to)}`)));
}

function timeline({ job, episodes, clock: now }) {
  const [from, to] = [job.start, job.end ?? now ?? job.start + 1];
  const lanes = new Map();
  for (const episode of episodes) lanes.set(episode.series, [...(lanes.get(episode.series) ?? []), episode]);
  const loss = (list) => list.reduce((sum, e) => sum + e.slowdown_s, 0);
  const sorted = [...lanes].sort((a, b) => loss(b[1]) - loss(a[1]));
  const place = (t) => (Math.min(1, Math.max(0, (t - from) / Math.max(1, to - from))) * 100);
  const bar = (e) => {
    const link = el("a", { href: links.episode(e.id), "data-open": e.open ? "yes" : "no", title: `episode ${episodeName(e.id)}: ${clock(e.start)} – ${clock(e.end)}, lost ${seconds(e.slowdown_s)}`, "aria-label": `episode ${episodeName(e.id)}, lost ${seconds(e.slowdown_s)}` });
    link.style.left = `${place(e.start)}%`;
    link.style.width = `${place(e.end) - place(e.start)}%`;
    return link;
  };
  const rows = sorted.slice(0, LANES_MAX).map(([series, list]) => el("div", { class: "lane" },
    el("a", { class: "who mono", href: links.series(series), title: series }, el("bdi", {}, series)), el("div", { class: "track" }, ...list.map(bar)), el("span", { class: "lost" }, seconds(loss(list)))));
  const more = sorted.length > LANES_MAX ? el("p", { class: "muted" }, `and ${count(sorted.length - LANES_MAX)} more series that lost less`) : null;
  const axis = el("div", { class: "lane" }, el("div", { class: "axis" }, el("span", {}, clock(from)), el("span", {}, clock(to))));
  return el("div", { class: "timeline" }, ...rows, axis, more);
}

function nodes({ job, node_names: names }) {
  if (names.length === 0) return empty("No node of it is known.", "", true);
  const more = job.nodes - Math.min(names.length, NODES_SHOWN);
  return el("div", { class: "nodes" }, ...names.slice(0, NODES_SHOWN).map((name) => el("a", { class: "tag mono", href: links.list("series", { search: `/${name}` }) }, name)),
    more > 0 ? el("span", { class: "muted" }, `and ${count(more)} more`) : null);
}
