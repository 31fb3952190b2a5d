// The fabric: its groups, switches and classes of links now, parallel links, and regions of contended links.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { count, percent, reading, seconds } from "./format.js";
import { contendedOf, figure, lost, regionTable, stateMark, table } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { CLASS_WORDS, metricTitle } from "./words.js";

export function openFabric(root, route) {
  const group = route.filters.group;
  const figures = { links: figure("Contended links"), regions: figure("Open regions"), relief: figure("Avoidable"), complete: figure("Completeness") };
  const parts = { groups: el("div", {}, empty("Asking for the fabric", "", true)), switches: el("div", {}), regions: el("div", {}), worst: el("div", {}), worstOver: el("span", {}), links: el("div", { class: "stack" }) };
  const all = group === undefined ? null : el("a", { href: links.list("fabric") }, "of every group");
  const heading = group === undefined ? "Switches and hosts" : `Switches and hosts of ${groupWord(group)}`;
  root.append(el("div", { class: "title" }, el("h1", {}, "Fabric"), el("div", { class: "under" }, "Links now, by where they are. A link that is not heard is unknown, never clear.")),
    el("div", { class: "stack" }, el("section", { class: "figures", "aria-label": "Figures" }, ...Object.values(figures).map((f) => f.root)),
      card("Regions of contended links", parts.regions, "open ones first"),
      card("Links that lost most", parts.worst, parts.worstOver),
      el("div", { class: "two" },
        el("div", { class: "stack" }, card("Groups", parts.groups, "the most contended first"), parts.links),
        card(heading, parts.switches, all))));

  const show = (answer) => {
    showFigures(figures, answer);
    fill(parts.regions, answer.regions.length ? regionTable(answer.regions) : empty("No links that touch were contended so far.", "", true));
    setText(parts.worstOver, `in the latest ${seconds(answer.worst_over_s).replace(" 0 min", "")}, the worst first`);
    fill(parts.worst, answer.worst.length ? worstTable(answer.worst) : empty("No link was contended.", "", true));
    fill(parts.links, linkCards(answer));
    fill(parts.groups, answer.groups.length ? placeTable(answer.groups, "Groups", groupLink, linkName) : empty("No link was heard yet.", "", true));
    fill(parts.switches, answer.switches.length ? placeTable(answer.switches, "Switches and hosts", switchLink, partName) : empty("There is nothing in this group.", "", true));
  };
  const fail = (error) => fill(parts.groups, failure("No fabric to show", error));
  const data = refresher(() => askFabric(group), show, fail, 2000);
  return { tick: data.tick, close: data.close };
}

/** An empty group is one too: that of links of which nobody knows where they are. */
const askFabric = (group) => ask(group === undefined ? "fabric" : `fabric?group=${encodeURIComponent(group)}`);

const groupWord = (name) => name || "unknown place";
const groupLink = (place) => el("a", { href: `#/fabric?group=${encodeURIComponent(place.name ?? "")}` }, groupWord(place.name));
/** An Aries router has a view of its own; what else there is, is a list of series. */
const switchLink = ({ name, metric }) => el("a", { href: metric === "aries_stall_ratio" ? links.router(name) : links.list("series", { search: name, metric }), class: "mono" }, name);

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

function placeTable(places, label, link, worst) {
  return table([
    [label === "Groups" ? "Group" : "Name", "wide tight", link],
    ["Metric", "", (p) => metricTitle(p.metric)],
    ["Contended", "num", contendedOf],
    ["Complete", "num", (p) => percent(p.heard / p.series)],
    ["Worst", "tight", (p) => worst(p.worst_series)],
  ], places, label);
}

/** Both need a topology: without one that is said once, and nothing looks healthy. */
function linkCards({ links_known: known, parallel_known: parallel, share_over_s: span, classes, bundles }) {
  if (known === 0) return [card("Link classes and parallel links", empty("No topology is configured, so classes and parallel links are not known.", "", true))];
  const none = parallel === 0 ? "No link of the topology runs beside another one." : "No parallel links are heard now: how even they are is not known.";
  return [
    card("Link classes", classTable(classes), `share of the ticks of the latest ${count(span)} s that were contended`),
    card("Imbalance of parallel links", bundles.length ? bundleTable(bundles) : empty(none, "", true),
      "near 1 all suffer alike; far above 1 some wait while others are idle, and routing helps"),
  ];
}

function classTable(classes) {
  return table([
    ["Class", "", (c) => [c.class, el("small", {}, CLASS_WORDS[c.class] ?? "")]],
    ["Metric", "", (c) => metricTitle(c.metric)],
    ["Contended", "num", contendedOf],
    ["Share", "num", (c) => percent(c.contended_share)],
    ["Complete", "num", (c) => [percent(c.heard / c.links), el("small", {}, `of ${count(c.links)} links`)]],
    ["Worst", "wide tight", (c) => linkName(c.worst_series)],
  ], classes, "Link classes");
}

function bundleTable(bundles) {
  return table([
    ["Parallel links", "wide", (b) => [b.bundle, el("small", {}, `${b.class}, ${count(b.links)} of ${count(b.links_known)} links heard`)]],
    ["Contended", "num", (b) => contendedOf({ contended: b.contended_links, heard: b.links })],
    ["Worst", "num", (b) => reading(b.worst_ratio, b.unit ?? "")],
    ["Mean", "num", (b) => reading(b.mean_ratio, b.unit ?? "")],
    ["Worst over mean", "num", (b) => reading(b.imbalance, "×")],
    ["Worst link", "wide tight", (b) => linkName(b.worst_series)],
  ], bundles, "Imbalance of parallel links");
}

/** A link by its component and part; its metric stands beside it. */
const linkName = (series) => (series ? el("a", { href: links.series(series), class: "mono" }, series.split("/").slice(1).join("/")) : "–");

/** A link by its part alone, where its component stands beside it. */
const partName = (series) => (series ? el("a", { href: links.series(series), class: "mono" }, series.split("/")[2] ?? "as a whole") : "–");

function worstTable(worst) {
  return table([
    ["Link", "wide tight", (w) => [stateMark(w.state, false), " ", linkName(w.series), el("small", {}, w.from_name ? `${w.from_name} to ${w.to_name}` : metricTitle(w.metric))]],
    ["Class", "", (w) => w.class ?? "not known"],
    ["Lost, 95 % interval", "num", lost],
    ["Contended", "num", (w) => [seconds(w.contended_s), el("small", {}, w.episodes === 1 ? "in one episode" : `in ${count(w.episodes)} episodes`)]],
    ["Peak", "num", (w) => reading(w.peak, w.unit ?? "")],
  ], worst.map((w) => ({ ...w, slowdown_s: w.lost_s, slowdown_lo_s: w.lost_lo_s, slowdown_hi_s: w.lost_hi_s })), "Links that lost most");
}
