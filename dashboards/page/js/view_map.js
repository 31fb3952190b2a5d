// The map: the topology with the worst state of each switch and link, now or at an earlier time; a job with its rivals.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { clock, count, reading } from "./format.js";
import { MapCanvas } from "./map_canvas.js";
import { lostByThen, lostOfJob, stateMark } from "./parts.js";
import { refresher } from "./refresh.js";
import { rewind } from "./rewind.js";
import { links, setFilters } from "./routes.js";
import { table } from "./table.js";
import { CLASS_WORDS, metricUnit, STATE_WORDS, STATES } from "./words.js";

const REFRESH_MS = 2000;
const JOBS_SHOWN = 12;
const CONTENDED_SHOWN = 8;

const portOf = (series) => series.split("/")[2] ?? series.split("/")[1];
const metricOf = (series) => series.split("/")[0];
const linkTo = (series) => el("a", { href: links.series(series), class: "mono" }, portOf(series));

const plural = (n, word) => `${count(n)} ${n === 1 ? word : word === "switch" ? "switches" : `${word}s`}`;

/** Vertices by state. */
function countOf(states) {
  const counts = Object.fromEntries(STATES.map((state) => [state, 0]));
  for (const state of states) counts[state] += 1;
  return counts;
}

export function openMap(root, route) {
  return new MapView(root, route);
}

class MapView {
  constructor(root, { filters, view }) {
    this.map = null;
    this.job = filters.job ?? null;
    this.vertex = filters.vertex ?? null;
    this.footprints = new Map();
    this.canvas = new MapCanvas({ select: (name) => this.select(name), openPort: (series) => { location.hash = links.series(series); }, describe: (what) => this.describe(what) });
    this.search = el("input", { type: "search", placeholder: "Switch or node", "aria-label": "Search a switch or a node", list: "map-names" });
    this.search.addEventListener("change", () => this.find(this.search.value.trim()));
    this.rewind = rewind({ filters, view }, () => { this.data.now(); this.ports?.now(); });
    this.parts = { legend: el("ul", { class: "legend", "aria-label": "States of switches and nodes" }), note: el("p", { class: "map-note", role: "status", hidden: "" }), body: el("div", { class: "body" }, empty("Loading map…", "", true)), jobs: el("div", {}, empty("Loading jobs…", "", true)), contended: el("div", {}), vertex: el("div", {}) };
    this.heading = el("span", {});
    this.vertexCard = card("Selected", this.parts.vertex, this.heading);
    this.vertexCard.hidden = true;
    root.append(el("div", { class: "title" }, el("h1", {}, "Map"), this.search, el("a", { href: links.list("fabric") }, "fabric as tables")),
      el("div", { class: "stack" }, this.rewind.root, el("div", { class: "map" }, card("Switches and links", this.parts.body, "colour: the worst state"),
        el("div", { class: "stack" }, this.vertexCard, card("Jobs", this.parts.jobs, "point at one to see where it runs"), card("Contended", this.parts.contended)))));
    this.data = refresher(() => this.request(), (answer) => this.show(answer), (error) => this.fail(error), REFRESH_MS);
  }

  tick(tick) { this.data.tick(); this.ports?.tick(); this.rewind.tick(tick); }

  close() { this.data.close(); this.ports?.close(); this.rewind.close(); this.canvas.close(); }

  async request() {
    const at = this.rewind.at();
    const jobs = at === null ? { state: "running" } : { from: at, to: at, at };
    const [states, running] = await Promise.all([ask("map/now", { at }), ask("jobs", { ...jobs, sort: "lost", limit: JOBS_SHOWN })]);
    const map = this.map?.version === states.version ? this.map : await ask("map");
    return { map, states, jobs: running.jobs, at };
  }

  fail(error) {
    if (this.map === null) fill(this.parts.body, failure("No map", error));
  }

  show({ map, states, jobs, at }) {
    // The topology changed between two responses: the next ones agree.
    if (map.version !== states.version) return;
    fill(this.parts.jobs, jobs.length ? this.jobTable(jobs, at === null ? lostOfJob : lostByThen) : empty("No jobs at this time.", "", true));
    if (map.links === 0) return fill(this.parts.body, empty("No topology", "The store has no topology, so nothing can be drawn: see [topology] in the configuration, or --topology of tailback replay."));
    if (map !== this.map) this.setMap(map);
    this.canvas.setStates(states);
    this.showStates(states);
  }

  setMap(map) {
    const first = this.map === null;
    this.map = map;
    fill(this.parts.body, this.parts.legend, this.parts.note, this.canvas.root);
    this.canvas.setMap(map);
    if (this.vertex !== null) this.select(this.vertex, first);
    if (this.job !== null) this.light(this.job);
  }

  showStates(states) {
    this.states = states;
    const { scene } = this.canvas;
    const switches = countOf(scene.vertexStates.slice(0, this.map.switches));
    const nodes = countOf(scene.vertexStates.slice(this.map.switches));
    const item = (state) => el("li", { title: STATE_WORDS[state][1] }, el("span", { class: "swatch", "data-state": state }), STATE_WORDS[state][0], el("b", {}, count(switches[state])), nodes[state] ? el("span", {}, ` + ${plural(nodes[state], "node")}`) : null);
    fill(this.parts.legend, el("li", {}, "Switches + nodes:"), ...STATES.map(item), el("li", {}, `${plural(this.map.switches, "switch")}, ${plural(this.map.vertices.name.length - this.map.switches, "node")}, ${plural(this.map.links, "link")}`));
    this.parts.note.hidden = states.kept;
    setText(this.parts.note, states.kept ? "" : `Not kept: no signals of ${clock(states.at)} UTC are stored.`);
    fill(this.parts.contended, this.contendedList());
  }

  /** Contended links and switches in words: the map by itself is a picture. */
  contendedList() {
    const { scene } = this.canvas;
    const { name } = this.map.vertices;
    const contended = scene.vertexStates.flatMap((state, v) => (state === "contended" ? [v] : []));
    const switches = contended.filter((v) => v < this.map.switches);
    const nodes = contended.slice(switches.length);
    if (contended.length + scene.contended.length === 0) return empty("No contended switches, nodes or links.", "", true);
    const button = (v) => el("button", { type: "button", class: "plain mono", on: { click: () => this.select(name[v], true) } }, name[v]);
    const row = (head, items) => el("tr", {}, el("td", {}, head), el("td", { class: "num" }, items));
    const edges = scene.contended.slice(0, CONTENDED_SHOWN).map((e) => row([button(this.map.edges.a[e]), " – ", button(this.map.edges.b[e])], this.map.classes[this.map.edges.class[e]]));
    const alone = scene.contended.length ? [] : [...switches, ...nodes].slice(0, CONTENDED_SHOWN).map((v) => row(button(v), v < this.map.switches ? "switch" : "node"));
    const total = `${plural(switches.length, "switch")}, ${plural(nodes.length, "node")}, ${plural(scene.contended.length, "link")} between switches`;
    return el("div", {}, el("p", { class: "map-total" }, total), el("table", { class: "losing", "aria-label": "Contended links of the map" }, el("tbody", {}, ...edges, ...alone)));
  }

  jobTable(jobs, loss) {
    const rows = jobs.map((job) => {
      const show = el("button", { type: "button", class: "plain", "aria-pressed": String(this.job === job.job_id), "aria-label": `Show job ${job.job_id} on the map`, on: { click: () => this.pin(this.job === job.job_id ? null : job.job_id) } }, this.job === job.job_id ? "hide" : "show");
      return el("tr", { "data-job": job.job_id, on: { pointerenter: () => this.light(job.job_id), pointerleave: () => this.light(this.job), focusin: () => this.light(job.job_id), focusout: () => this.light(this.job) } },
        el("td", {}, el("a", { href: links.job(job.job_id) }, job.job_id), " ", job.name, el("small", {}, `${job.user} · ${count(job.nodes)} ${job.nodes === 1 ? "node" : "nodes"}`)), el("td", { class: "num" }, ...loss(job)), el("td", { class: "num" }, show));
    });
    return el("table", { class: "losing map-jobs", "aria-label": "Jobs on the map" }, el("tbody", {}, ...rows));
  }

  pin(id) {
    this.job = id;
    setFilters({ job: id ?? "" });
    this.light(id);
    this.data.now();
  }

  /** Lights up a job with its rivals; null for none. */
  async light(id) {
    this.lit = id;
    if (id === null) return this.setLit(null);
    if (!this.footprints.has(id)) this.footprints.set(id, ask(`jobs/${encodeURIComponent(id)}/footprint`).catch(() => null));
    const footprint = await this.footprints.get(id);
    // A failed request is repeated; the footprint of a running job grows.
    setTimeout(() => this.footprints.delete(id), 10_000);
    if (this.lit === id && this.map !== null) this.setLit(footprint);
  }

  setLit(footprint) {
    const { scene } = this.canvas;
    if (scene === null) return;
    const numbers = (names) => names.map((name) => scene.graph.vertex(name)).filter((v) => v >= 0);
    const edges = () => [...new Set(footprint.links.from.map((from, i) => scene.graph.edge(from, footprint.links.to[i])))].filter((e) => e >= 0 && this.map.edges.b[e] < this.map.switches);
    scene.lit = footprint && { switches: numbers(footprint.switches), nodes: numbers(footprint.nodes), rivals: numbers(footprint.rivals.flatMap((r) => r.switches)), edges: edges() };
    this.canvas.canvas.dataset.lit = footprint?.job_id ?? "";
    this.canvas.redraw();
  }

  find(text) {
    if (!text || this.map === null) return;
    const exact = this.map.vertices.name.indexOf(text);
    const v = exact >= 0 ? exact : this.map.vertices.name.findIndex((name) => name.includes(text));
    this.search.setCustomValidity(v < 0 ? "No switch or node of this name." : "");
    this.search.reportValidity();
    if (v >= 0) this.select(this.map.vertices.name[v], true);
  }

  /** Selects a vertex: its single links are drawn and listed. */
  select(name, move = false) {
    this.ports?.close();
    this.ports = null;
    this.vertex = name;
    const { scene } = this.canvas;
    const v = name === null ? -1 : scene.graph.vertex(name);
    Object.assign(scene, { selected: v, ports: null });
    setFilters({ vertex: name ?? "" });
    this.vertexCard.hidden = name === null;
    if (v >= 0 && move) this.canvas.goTo(v);
    this.canvas.redraw();
    if (name === null) return;
    setText(this.heading, name);
    fill(this.parts.vertex, empty("Loading links…", "", true));
    this.ports = refresher(() => ask("map", { vertex: name, at: this.rewind.at() }), (answer) => this.showPorts(answer), (error) => fill(this.parts.vertex, failure("No links", error)), REFRESH_MS);
  }

  showPorts({ vertex, links: found }) {
    const { scene } = this.canvas;
    scene.ports = linesOf(scene, scene.graph.vertex(vertex), vertex, found);
    this.canvas.redraw();
    const router = found.some((l) => metricOf(l.series) === "aries_stall_ratio" && l.to === vertex);
    const page = router ? el("a", { href: links.router(vertex) }, "tiles of the router") : el("a", { href: links.list("series", { search: vertex }) }, "its series");
    const other = (l) => (l.from === vertex ? l.to : l.from);
    fill(this.parts.vertex, el("p", { class: "map-total" }, `${count(found.filter((l) => l.state === "contended").length)} of ${count(found.length)} links contended · `, page), table([
      ["Port", "tight", (l) => [stateMark(l.state, false), " ", linkTo(l.series)], (l) => portOf(l.series)],
      ["Link", "wide", (l) => [el("span", { class: "mono" }, `${l.from === vertex ? "to" : "from"} ${other(l)}`), el("small", {}, `${l.class}, ${STATE_WORDS[l.state]?.[0] ?? l.state}`)], { value: other, out: (l) => ({ From: l.from, To: l.to, Class: l.class, State: l.state }) }],
      ["Mean", "num", (l) => reading(l.mean, metricUnit(metricOf(l.series))), (l) => l.mean],
    ], found, "Links of the switch", { filters: [["State", (l) => STATE_WORDS[l.state]?.[0] ?? l.state], ["Class", (l) => l.class]], rows: (phone) => (phone ? 6 : 10) }));
  }

  describe({ vertex, edge, port }) {
    if (this.map === null) return null;
    const { scene } = this.canvas;
    const { name, on, group } = this.map.vertices;
    if (vertex >= 0) {
      const around = scene.graph.at[vertex] ?? scene.graph.ofNode.get(vertex) ?? [];
      const contended = around.filter((e) => scene.edgeStates[e] === "contended").length;
      const where = vertex < this.map.switches ? [["group", group[vertex] === null ? "" : this.map.groups[group[vertex]]], ["nodes", count(scene.layout.nodesOf[vertex].length)]] : [["switch", name[on[vertex]] ?? ""]];
      return [name[vertex], [["state", STATE_WORDS[scene.vertexStates[vertex]][0]], ...where.filter(([, value]) => value !== ""), ["neighbours by contended links", `${count(contended)} of ${count(around.length)}`]]];
    }
    if (port) return [port.series.split("/").slice(1).join("/"), [["state", STATE_WORDS[port.state]?.[0] ?? port.state], ["from", port.from], ["to", port.to], ["mean", reading(port.mean, metricUnit(metricOf(port.series)))], ["bound", reading(port.bound, metricUnit(metricOf(port.series)))]]];
    if (edge < 0) return null;
    const { a, b, class: classOf, links: number } = this.map.edges;
    const kind = this.map.classes[classOf[edge]];
    return [`${name[a[edge]]} – ${name[b[edge]]}`, [["worst state", STATE_WORDS[scene.edgeStates[edge]][0]], ["class", `${kind}${CLASS_WORDS[kind] ? `, ${CLASS_WORDS[kind]}` : ""}`], ["links, both directions", count(number[edge])]]];
  }
}

/** Curves of the single links of a vertex, each from a port of its own at the border that faces the neighbour. */
function linesOf({ layout, graph }, v, vertex, found) {
  if (v < 0) return [];
  const sides = new Map();
  for (const link of found) {
    const w = graph.vertex(link.from === vertex ? link.to : link.from);
    // Nodes are inside of their switch.
    if (w < 0 || w >= layout.map.switches || v >= layout.map.switches) continue;
    const [dx, dy] = [layout.x[w] - layout.x[v], layout.y[w] - layout.y[v]];
    const upright = Math.abs(dy) > Math.abs(dx);
    const side = upright ? Math.sign(dy) * 2 : Math.sign(dx);
    if (!sides.has(side)) sides.set(side, []);
    sides.get(side).push({ link, w, upright, order: upright ? dx : dy || -Math.abs(dx) });
  }
  const half = layout.size[v] / 2;
  return [...sides].flatMap(([side, all]) => all.sort((p, q) => p.order - q.order).map(({ link, w, upright }, i) => {
    const along = ((i + 0.5) / all.length - 0.5) * 2 * half;
    const [x0, y0] = upright ? [layout.x[v] + along, layout.y[v] + Math.sign(side) * half] : [layout.x[v] + side * half, layout.y[v] + along];
    const back = layout.size[w] / 2;
    const [x1, y1] = upright ? [layout.x[w], layout.y[w] - Math.sign(side) * back] : [layout.x[w] - side * back * 0.9, layout.y[w] - back];
    const lift = upright || layout.shape === "tree" ? 0 : Math.min(layout.bulge, Math.abs(x1 - x0) / 4);
    return { ...link, upright, room: (2 * half) / all.length, label: portOf(link.series), curve: [x0, y0, (x0 + x1) / 2, (y0 + y1) / 2 - lift, x1, y1] };
  }));
}
