// The fabric: groups, switches and link classes now, parallel links, and regions of contended links.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { count, percent, reading, seconds } from "./format.js";
import { contendedOf, figure, lostIn, regionTable, stateMark } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { asLoss, asShare, inSeconds, table } from "./table.js";
import { PLACES, timePicker } from "./time.js";
import { CLASS_WORDS, metricTitle, STATE_WORDS } from "./words.js";

export function openFabric(root, route) {
  const group = route.filters.group;
  const figures = { links: figure("Contended links"), regions: figure("Open regions"), relief: figure("Avoidable"), complete: figure("Completeness") };
  const parts = { groups: el("div", {}, empty("Loading fabric…", "", true)), switches: el("div", {}), regions: el("div", {}), worst: el("div", {}), worstOver: el("span", {}), links: el("div", { class: "stack" }) };
  const time = timePicker(route, () => data.now(), PLACES);
  const all = group === undefined ? null : el("a", { href: links.list("fabric", time.filters()) }, "all groups");
  const nowNotes = { groups: el("span", {}), switches: el("span", {}) };
  const heading = group === undefined ? "Switches and hosts" : `Switches and hosts of ${groupWord(group)}`;
  root.append(el("div", { class: "title" }, el("h1", {}, "Fabric"), time.root, el("div", { class: "under" }, "Regions and losses of the span of time; all else is now. Links by location: a link without data is unknown, never clear. ", el("a", { href: links.list("map") }, "Map of the topology"))),
    el("div", { class: "stack" }, el("section", { class: "figures", "aria-label": "Summary" }, ...Object.values(figures).map((f) => f.root)),
      card("Regions of contended links", parts.regions, "open ones first"),
      card("Links with the largest loss", parts.worst, parts.worstOver),
      el("div", { class: "two" },
        el("div", { class: "stack" }, card("Groups", parts.groups, nowNotes.groups), parts.links),
        card(heading, parts.switches, el("span", {}, nowNotes.switches, all ? " · " : "", all ?? "")))));

  const show = (answer) => {
    showFigures(figures, answer);
    const now = Object.keys(time.filters()).length ? "now, not of the span" : "now";
    setText(nowNotes.groups, `${now}; most contended first`);
    setText(nowNotes.switches, now);
    fill(parts.regions, answer.regions.length ? regionTable(answer.regions) : empty("No contended regions in this span.", "", true));
    const span = seconds(answer.worst_over_s).replace(" 0 min", "");
    setText(parts.worstOver, "from" in time.filters() ? `in ${span} of the span, by lower end` : `in the latest ${span}, by lower end`);
    fill(parts.worst, answer.worst.length ? worstTable(answer.worst) : empty("No contended links in this span.", "", true));
    fill(parts.links, linkCards(answer, now));
    fill(parts.groups, answer.groups.length ? placeTable(answer.groups, "Groups", (place) => groupLink(place, time.filters()), linkName) : empty("No links with data yet.", "", true));
    fill(parts.switches, answer.switches.length ? placeTable(answer.switches, "Switches and hosts", switchLink, partName) : empty("No switches or hosts in this group.", "", true));
  };
  const fail = (error) => fill(parts.groups, failure("No fabric data", error));
  const data = refresher(async () => askFabric(group, await time.bounds()), show, fail, 2000);
  return { tick: data.tick, close: data.close };
}

/** An empty group name is the group of links with unknown location. */
const askFabric = (group, bounds) => {
  const given = Object.entries({ group, ...bounds }).filter(([name, value]) => value !== undefined && (value !== "" || name === "group"));
  return ask(given.length ? `fabric?${new URLSearchParams(given)}` : "fabric");
};

const groupWord = (name) => name || "unknown location";
const groupLink = (place, time) => el("a", { href: `#/fabric?${new URLSearchParams({ group: place.name ?? "", ...time })}` }, groupWord(place.name));
/** An Aries router has a view of its own; other switches and hosts lead to a list of series. */
const switchLink = ({ name, metric }) => el("a", { href: metric === "aries_stall_ratio" ? links.router(name) : links.list("series", { search: name, metric }), class: "mono" }, name);

/** Completeness is that of the links that report at times. Links of the topology without data are named beside it, as in the table of classes. */
function showFigures(figures, { groups, classes, links_known: known, regions, clock: now }) {
  const sum = (column) => groups.reduce((total, group) => total + group[column], 0);
  const without = known - classes.reduce((total, each) => total + each.reporting, 0);
  const open = regions.filter((region) => region.open);
  const avoidable = open.filter((region) => region.kind === "avoidable");
  const put = (f, number, under, alarm = false) => {
    setText(f.number, number);
    setText(f.under, under);
    f.root.dataset.alarm = alarm ? "yes" : "no";
  };
  const reporting = sum("reporting");
  put(figures.links, reporting ? count(sum("contended")) : "–", `now, of ${count(reporting)} with data`, sum("contended") > 0);
  put(figures.regions, now === null ? "–" : count(open.length), "of connected links", open.length > 0);
  put(figures.relief, now === null ? "–" : count(avoidable.length), "regions, by routing or placement");
  put(figures.complete, percent(sum("series") ? reporting / sum("series") : null), `${count(sum("series") - reporting)} of ${count(sum("series"))} unknown${without > 0 ? `; ${count(without)} of ${count(known)} links of the topology without data` : ""}`, reporting < 0.9 * sum("series"));
}

/** Sorted by the number of contended links. */
const contendedRaw = { value: (x) => (x.reporting ? x.contended : null), out: (x) => ({ Contended: x.contended, "With data": x.reporting }) };

function placeTable(places, label, link, worst) {
  return table([
    [label === "Groups" ? "Group" : "Name", "wide tight", link, (p) => p.name ?? ""],
    ["Metric", "", (p) => metricTitle(p.metric), (p) => p.metric],
    ["Contended", "num", contendedOf, contendedRaw],
    ["Complete", "num", (p) => percent(p.reporting / p.series), asShare((p) => p.reporting / p.series)],
    ["Worst", "tight", (p) => worst(p.worst_series), (p) => p.worst_series],
  ], places, label, { filters: [["Metric", (p) => metricTitle(p.metric)]] });
}

/** Both need a topology. Without one a single card reports that, and nothing looks healthy. */
function linkCards({ links_known: known, parallel_known: parallel, share_over_s: span, classes, bundles }, now) {
  if (known === 0) return [card("Link classes and parallel links", empty("No topology is configured: classes and parallel links are unknown.", "", true))];
  const none = parallel === 0 ? "The topology has no parallel links." : "No parallel links with data now: their imbalance is unknown.";
  return [
    card("Link classes", classTable(classes), `${now}; contended share of the ticks of the latest ${count(span)} s`),
    card("Imbalance of parallel links", bundles.length ? bundleTable(bundles) : empty(none, "", true),
      `${now}; near 1: all links are affected alike; far above 1: some wait while others are idle, and routing helps`),
  ];
}

function classTable(classes) {
  return table([
    ["Class", "", (c) => [c.class, el("small", {}, CLASS_WORDS[c.class] ?? "")], (c) => c.class],
    ["Metric", "", (c) => metricTitle(c.metric), (c) => c.metric],
    ["Contended", "num", contendedOf, contendedRaw],
    ["Share", "num", (c) => percent(c.contended_share), asShare((c) => c.contended_share)],
    ["With data", "num", (c) => [percent(c.reporting / c.links), el("small", {}, `of ${count(c.links)} links of the topology`)], { value: (c) => c.reporting / c.links, out: (c) => ({ "Links of the topology": c.links }) }],
    ["Worst", "wide tight", (c) => linkName(c.worst_series), (c) => c.worst_series],
  ], classes, "Link classes");
}

function bundleTable(bundles) {
  return table([
    ["Parallel links", "wide", (b) => [b.bundle, el("small", {}, `${b.class}, ${count(b.links)} of ${count(b.links_known)} links with data`)], (b) => b.bundle],
    ["Contended", "num", (b) => contendedOf({ contended: b.contended_links, reporting: b.links }), (b) => b.contended_links],
    ["Worst", "num", (b) => reading(b.worst_ratio, b.unit ?? ""), (b) => b.worst_ratio],
    ["Mean", "num", (b) => reading(b.mean_ratio, b.unit ?? ""), (b) => b.mean_ratio],
    ["Worst over mean", "num", (b) => reading(b.imbalance, "×"), (b) => b.imbalance],
    ["Worst link", "wide tight", (b) => linkName(b.worst_series), (b) => b.worst_series],
  ], bundles, "Imbalance of parallel links", { filters: [["Class", (b) => b.class]] });
}

/** A link by its component and part; its metric has a column of its own. */
const linkName = (series) => (series ? el("a", { href: links.series(series), class: "mono" }, series.split("/").slice(1).join("/")) : "–");

/** A link by its part; its component has a column of its own. */
const partName = (series) => (series ? el("a", { href: links.series(series), class: "mono" }, series.split("/")[2] ?? "whole router") : "–");

function worstTable(worst) {
  return table([
    ["Link", "wide tight", (w) => [stateMark(w.state, false), " ", linkName(w.series), el("small", {}, w.from_name ? `${w.from_name} to ${w.to_name}` : metricTitle(w.metric))], { value: (w) => w.series, out: (w) => ({ Series: w.series, From: w.from_name, To: w.to_name }) }],
    ["Class", "", (w) => w.class ?? "unknown", (w) => w.class ?? "unknown"],
    ["Lost, 95 % interval", "num", lostIn, asLoss("lost")],
    ["Contended", "num", (w) => [seconds(w.contended_s), el("small", {}, w.episodes === 1 ? "in one episode" : `in ${count(w.episodes)} episodes`)], inSeconds((w) => w.contended_s)],
    ["Peak", "num", (w) => reading(w.peak, w.unit ?? ""), (w) => w.peak],
  ], worst, "Links with the largest loss", { filters: [["State", (w) => STATE_WORDS[w.state]?.[0] ?? w.state], ["Class", (w) => w.class ?? "unknown"]] });
}
