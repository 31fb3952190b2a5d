// The fabric: its groups and switches now, and regions of contended links.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { clock, count, day, percent, seconds } from "./format.js";
import { contendedOf, culprit, figure, table } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { CAUSE_WORDS, KIND_WORDS, metricTitle } from "./words.js";

export function openFabric(root, route) {
  const group = route.filters.group;
  const figures = { links: figure("Contended links"), regions: figure("Open regions"), relief: figure("Avoidable"), complete: figure("Completeness") };
  const parts = { groups: el("div", {}, empty("Asking for the fabric", "", true)), switches: el("div", {}), regions: el("div", {}) };
  const all = group === undefined ? null : el("a", { href: links.list("fabric") }, "of every group");
  const heading = group === undefined ? "Switches and hosts" : `Switches and hosts of ${groupWord(group)}`;
  root.append(el("div", { class: "title" }, el("h1", {}, "Fabric"), el("div", { class: "under" }, "Links now, by where they are. A link that is not heard is unknown, never clear.")),
    el("div", { class: "stack" }, el("section", { class: "figures", "aria-label": "Figures" }, ...Object.values(figures).map((f) => f.root)),
      card("Regions of contended links", parts.regions, "open ones first"),
      el("div", { class: "two" }, card("Groups", parts.groups, "the most contended first"), card(heading, parts.switches, all))));

  const show = (answer) => {
    showFigures(figures, answer);
    fill(parts.regions, answer.regions.length ? regionTable(answer.regions) : empty("No links that touch were contended so far.", "", true));
    fill(parts.groups, answer.groups.length ? placeTable(answer.groups, "Groups", groupLink) : empty("No link was heard yet.", "", true));
    fill(parts.switches, answer.switches.length ? placeTable(answer.switches, "Switches and hosts", switchLink) : empty("There is nothing in this group.", "", true));
  };
  const fail = (error) => fill(parts.groups, failure("No fabric to show", error));
  const data = refresher(() => askFabric(group), show, fail, 2000);
  return { tick: data.tick, close: data.close };
}

/** An empty group is one too: that of links of which nobody knows where they are. */
const askFabric = (group) => ask(group === undefined ? "fabric" : `fabric?group=${encodeURIComponent(group)}`);

const groupWord = (name) => name || "unknown place";
const groupLink = (place) => el("a", { href: `#/fabric?group=${encodeURIComponent(place.name ?? "")}` }, groupWord(place.name));
const switchLink = (place) => el("a", { href: links.list("series", { search: place.name, metric: place.metric }), class: "mono" }, place.name);

function showFigures(figures, { groups, regions, clock: now }) {
  const sum = (column) => groups.reduce((total, group) => total + group[column], 0);
  const open = regions.filter((region) => region.open);
  const avoidable = open.filter((region) => region.kind === "avoidable");
  const put = (f, number, under, alarm = false) => {
    setText(f.number, number);
    setText(f.under, under);
    f.root.dataset.alarm = alarm ? "yes" : "no";
  };
  const heard = sum("heard");
  put(figures.links, heard ? count(sum("contended")) : "–", `of ${count(heard)} heard`, sum("contended") > 0);
  put(figures.regions, now === null ? "–" : count(open.length), "links that touch", open.length > 0);
  put(figures.relief, now === null ? "–" : count(avoidable.length), "of them, by routing or placement");
  put(figures.complete, percent(sum("series") ? heard / sum("series") : null), `${count(sum("series") - heard)} of ${count(sum("series"))} unknown`, heard < 0.9 * sum("series"));
}

function placeTable(places, label, link) {
  return table([
    [label === "Groups" ? "Group" : "Name", "wide", link],
    ["Metric", "", (p) => metricTitle(p.metric)],
    ["Contended", "num", contendedOf],
    ["Complete", "num", (p) => percent(p.heard / p.series)],
    ["Worst", "", (p) => (p.worst_series ? el("a", { href: links.series(p.worst_series), class: "mono" }, p.worst_series.split("/").slice(1).join("/")) : "–")],
  ], places, label);
}

function regionTable(regions) {
  return table([
    ["Region", "wide", (r) => [r.worst_series ? el("a", { href: links.series(r.worst_series) }, r.name) : r.name, " ", el("span", r.open ? { class: "tag", "data-kind": "open" } : { class: "tag" }, r.open ? "open" : "ended")]],
    ["Start (UTC)", "tight", (r) => [clock(r.start), el("small", {}, day(r.start))]],
    ["Length", "num", (r) => seconds(r.end - r.start)],
    ["Links", "num", (r) => [count(r.links), el("small", {}, `at most ${count(r.links_most)}`)]],
    ["Kind", "", (r) => [KIND_WORDS[r.kind] ?? r.kind, el("small", {}, r.kind === "avoidable" ? `relief ${percent(r.relief)}` : "")]],
    ["Cause", "", (r) => [CAUSE_WORDS[r.cause] ?? r.cause, r.cause === "unknown" ? null : el("small", {}, `confidence ${percent(r.confidence)}`)].filter((part) => part !== null)],
    ["Who", "", (r) => (r.who ? culprit({ series_or_job: r.who }) : "not known")],
    ["Lost by jobs", "num", (r) => seconds(r.lost_s)],
  ], regions, "Regions");
}
