// The canvas of the map: pan and zoom by pointer, wheel and keys; what is under the pointer.

import { el, fill, setText } from "./dom.js";
import { cellBeside } from "./heat_layout.js";
import { curveOf, drawMap, Graph } from "./map_draw.js";
import { CELL, layOutMap } from "./map_layout.js";
import { readPalette } from "./palette.js";

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const PAN_PX = 60;
const ZOOM = 1.5;
/** Pixels of a unit at most: a switch then fills the canvas. */
const SCALE_MAX = 60;
/** A vertex that is opened is at least so large, in pixels. */
const OPEN_PX = 130;
/** A pointer that moves less is a click. */
const CLICK_PX = 4;
/** Distance to a link in pixels at which it is meant. */
const NEAR_PX = 5;
/** The map rests after this time without a move. */
const REST_MS = 140;
/** Room around all of the map, and for the buttons at its right. */
const MARGIN = 20;
const TOOLS_PX = 44;
const HIGH_MIN = 200;
const HIGH_MAX = 640;

export class MapCanvas {
  /** `on` has `select(name)`, `openPort(series)` and `describe({vertex, edge, port})`, which returns [title, [name, value][]]. */
  constructor(on) {
    this.on = on;
    this.canvas = el("canvas", {
      tabindex: "0", role: "application", "aria-roledescription": "map", class: "map-canvas",
      "aria-label": "Topology: arrow keys move from switch to switch, Shift and arrow keys move the map, plus and minus zoom, Enter selects, Home shows all",
    });
    this.spoken = el("p", { class: "unseen", "aria-live": "polite" });
    this.tip = el("div", { class: "tip", hidden: "" });
    const button = (word, label, run) => el("button", { type: "button", class: "map-button", "aria-label": label, title: label, on: { click: run } }, word);
    this.tools = el("div", { class: "map-tools" }, button("+", "Zoom in", () => this.zoom(ZOOM)), button("−", "Zoom out", () => this.zoom(1 / ZOOM)), button("Fit", "Show all", () => this.fit()));
    this.root = el("div", { class: "map-body" }, this.canvas, this.tools, this.tip, this.spoken);
    this.pen = this.canvas.getContext("2d");
    this.camera = { x: 0, y: 0, scale: 1 };
    this.scene = null;
    this.frame = 0;
    this.times = [];
    this.listen();
  }

  listen() {
    const { canvas } = this;
    this.pointers = new Map();
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => this.up(event));
    canvas.addEventListener("pointerleave", () => { if (this.pointers.size === 0) this.point({}); });
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY); }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => this.point({}));
    this.onScheme = () => { if (this.scene) { this.scene.palette = readPalette(this.pen); this.redraw(); } };
    document.addEventListener("scheme", this.onScheme);
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(this.root);
  }

  close() {
    document.removeEventListener("scheme", this.onScheme);
    this.watcher.disconnect();
    clearTimeout(this.rest);
    cancelAnimationFrame(this.frame);
    this.frame = -1;
  }

  /** Another topology. */
  setMap(map) {
    const layout = layOutMap(map);
    this.scene = { layout, graph: new Graph(map), camera: this.camera, palette: readPalette(this.pen), vertexStates: [], edgeStates: [], contended: [], selected: -1, focused: -1, overEdge: -1, lit: null, ports: null, drawn: { visible: [], edges: [] } };
    this.cells = Array.from({ length: map.switches }, (_, v) => ({ x: layout.x[v] - CELL / 2, y: layout.y[v] - CELL / 2, w: CELL, h: CELL }));
    this.resize();
    this.fit();
  }

  /** States of another time: digits for vertices and edges. A node is as bad as its links. */
  setStates({ vertices, edges, states }) {
    const { scene } = this;
    const named = (digits) => Array.from(digits, (digit) => states[digit]);
    [scene.vertexStates, scene.edgeStates] = [named(vertices), named(edges)];
    scene.contended = scene.graph.between.filter((e) => scene.edgeStates[e] === "contended");
    for (const [v, of] of scene.graph.ofNode) if (of.some((e) => scene.edgeStates[e] === "contended")) scene.vertexStates[v] = "contended";
    this.redraw();
    this.describe(false);
  }

  resize() {
    const width = this.canvas.clientWidth;
    if (!this.scene || width === 0) return;
    // A flat machine takes less of the page.
    const { layout } = this.scene;
    const height = Math.round(Math.min(Math.max(HIGH_MIN, ((width - MARGIN - TOOLS_PX) * layout.height) / layout.width + MARGIN), HIGH_MAX, innerHeight * 0.66));
    this.canvas.style.height = `${height}px`;
    if (width === this.width && height === this.height) return;
    const first = this.width === undefined;
    [this.width, this.height] = [width, height];
    const ratio = devicePixelRatio || 1;
    [this.canvas.width, this.canvas.height] = [width * ratio, height * ratio];
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (first || this.fitted) this.fit();
    else this.draw();
  }

  /** All of the map. */
  fit() {
    if (!this.scene || !this.width) return;
    const { layout } = this.scene;
    const scale = Math.min((this.width - MARGIN - TOOLS_PX) / layout.width, (this.height - MARGIN) / layout.height, 9);
    this.look(scale, (this.width - TOOLS_PX - layout.width * scale) / 2, (this.height - layout.height * scale) / 2);
    this.fitted = true;
  }

  look(scale, x, y) {
    Object.assign(this.camera, { scale, x, y });
    this.fitted = false;
    this.scene.moving = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => { this.scene.moving = false; this.redraw(); }, REST_MS);
    this.redraw();
  }

  zoom(by, x = this.width / 2, y = this.height / 2) {
    if (!this.scene) return;
    const { layout } = this.scene;
    const least = 0.5 * Math.min(this.width / layout.width, this.height / layout.height);
    const scale = Math.min(SCALE_MAX, Math.max(least, this.camera.scale * by));
    const real = scale / this.camera.scale;
    this.look(scale, x - (x - this.camera.x) * real, y - (y - this.camera.y) * real);
  }

  pan(dx, dy) {
    if (!this.scene) return;
    this.look(this.camera.scale, this.camera.x + dx, this.camera.y + dy);
  }

  /** Centres a vertex, so large that its name and nodes are visible. */
  goTo(v) {
    const { layout } = this.scene;
    const scale = Math.min(SCALE_MAX, Math.max(this.camera.scale, OPEN_PX / CELL));
    this.look(scale, this.width / 2 - layout.x[v] * scale, this.height / 2 - layout.y[v] * scale);
  }

  /** Moves only where the vertex is not visible. */
  reveal(v) {
    const { layout } = this.scene;
    const [x, y] = [layout.x[v] * this.camera.scale + this.camera.x, layout.y[v] * this.camera.scale + this.camera.y];
    if (x < 20 || y < 20 || x > this.width - 20 || y > this.height - 20) this.look(this.camera.scale, this.camera.x + this.width / 2 - x, this.camera.y + this.height / 2 - y);
  }

  redraw() {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  draw() {
    if (!this.scene?.vertexStates.length || !this.width) return;
    const start = performance.now();
    drawMap(this.pen, this.scene, this.width, this.height);
    this.times = [...this.times.slice(-59), performance.now() - start];
    this.canvas.dataset.switches = this.scene.drawn.visible.length;
    const sorted = this.times.toSorted((a, b) => a - b);
    this.canvas.dataset.medianMs = sorted[sorted.length >> 1].toFixed(1);
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.moved = this.pointers.size > 1 ? CLICK_PX : 0;
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!this.scene) return;
    if (!before) return this.point(this.under(event.offsetX, event.offsetY));
    const now = { x: event.offsetX, y: event.offsetY };
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.moved += Math.hypot(now.x - before.x, now.y - before.y);
    if (other) {
      const distance = (p) => Math.max(10, Math.hypot(p.x - other.x, p.y - other.y));
      this.zoom(distance(now) / distance(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
    } else if (this.moved >= CLICK_PX) {
      this.pan(now.x - before.x, now.y - before.y);
      this.point({});
    }
    this.pointers.set(event.pointerId, now);
  }

  up(event) {
    const known = this.pointers.delete(event.pointerId);
    if (!known || event.type !== "pointerup" || this.moved >= CLICK_PX || !this.scene) return;
    const { vertex = -1, edge = -1, port = null } = this.under(event.offsetX, event.offsetY);
    const { name } = this.scene.layout.map.vertices;
    if (port !== null) this.on.openPort(port.series);
    else if (vertex >= 0) this.on.select(name[vertex]);
    else if (edge >= 0) this.on.select(name[this.scene.layout.map.edges.a[edge]]);
    else this.on.select(null);
  }

  /** The node, switch, single link or link under a point. */
  under(px, py) {
    const { scene, camera } = this;
    const [x, y] = [(px - camera.x) / camera.scale, (py - camera.y) / camera.scale];
    const { layout } = scene;
    const isIn = (v, least) => Math.abs(layout.x[v] - x) <= Math.max(layout.size[v] / 2, least) && Math.abs(layout.y[v] - y) <= Math.max(layout.size[v] / 2, least);
    const near = NEAR_PX / camera.scale;
    const port = scene.ports?.find((p) => distance(p.curve, x, y) < near);
    // A port is on the border of its switch.
    if (port && Math.hypot(port.curve[0] - x, port.curve[1] - y) < 1.5 * near) return { port };
    for (const v of scene.drawn.visible) {
      if (!isIn(v, 2 / camera.scale)) continue;
      const node = camera.scale * CELL >= 34 ? layout.nodesOf[v].find((n) => isIn(n, 0)) : undefined;
      return { vertex: node ?? v };
    }
    if (port) return { port };
    const shown = [...scene.contended, ...scene.drawn.edges];
    const edge = shown.length > 8000 ? -1 : shown.find((e) => distance(curveOf(layout, layout.map, e), x, y) < near) ?? -1;
    return { edge };
  }

  key(event) {
    const step = STEPS[event.key];
    if (!this.scene || event.ctrlKey || event.metaKey || event.altKey) return;
    if (step && event.shiftKey) this.pan(-step[0] * PAN_PX, -step[1] * PAN_PX);
    else if (step) this.step(step);
    else if (event.key === "+" || event.key === "=") this.zoom(ZOOM);
    else if (event.key === "-") this.zoom(1 / ZOOM);
    else if (event.key === "Home" || event.key === "0") this.fit();
    else if (event.key === "Enter" && this.scene.focused >= 0) this.on.select(this.scene.layout.map.vertices.name[this.scene.focused]);
    else if (event.key === "Escape") { this.point({}); this.on.select(null); }
    else return;
    event.preventDefault();
  }

  step(step) {
    const from = this.scene.focused >= 0 ? this.scene.focused : this.scene.selected;
    const start = from >= 0 && from < this.cells.length ? from : this.scene.drawn.visible[0] ?? 0;
    const to = from < 0 ? start : cellBeside(this.cells, start, ...step);
    this.reveal(to);
    this.point({ vertex: to }, true);
  }

  point({ vertex = -1, edge = -1, port = null }, speak = false) {
    const { scene } = this;
    if (!scene) return;
    this.canvas.style.cursor = vertex >= 0 || edge >= 0 || port ? "pointer" : "grab";
    if (scene.focused === vertex && scene.overEdge === edge && this.port === port && !speak) return;
    [scene.focused, scene.overEdge, this.port] = [vertex, edge, port];
    this.canvas.dataset.focused = vertex < 0 ? "" : scene.layout.map.vertices.name[vertex];
    this.redraw();
    this.describe(speak);
  }

  describe(speak) {
    const { scene, port } = this;
    const found = scene && this.on.describe({ vertex: scene.focused, edge: scene.overEdge, port });
    this.tip.hidden = !found;
    if (!found) return;
    const [title, facts] = found;
    fill(this.tip, el("b", {}, title), el("dl", {}, ...facts.map(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])));
    if (speak) setText(this.spoken, `${title}, ${facts.map(([k, v]) => `${k} ${v}`).join(", ")}`);
    const [wx, wy] = this.placeOf(scene, port);
    const [x, y] = [wx * this.camera.scale + this.camera.x, wy * this.camera.scale + this.camera.y];
    const aside = Math.max(8, scene.focused >= 0 ? (scene.layout.size[scene.focused] / 2) * this.camera.scale : 0) + 8;
    const wide = this.tip.offsetWidth;
    const left = x + aside + wide > this.width ? x - aside - wide : x + aside;
    this.tip.style.left = `${Math.min(Math.max(0, left), Math.max(0, this.width - wide))}px`;
    this.tip.style.top = `${Math.min(Math.max(0, y - 14), Math.max(0, this.height - this.tip.offsetHeight))}px`;
  }

  placeOf({ layout, focused, overEdge }, port) {
    if (focused >= 0) return [layout.x[focused], layout.y[focused]];
    const [x0, y0, cx, cy, x1, y1] = port ? port.curve : curveOf(layout, layout.map, overEdge);
    if (port) return [x0, y0];
    return [(x0 + 2 * cx + x1) / 4, (y0 + 2 * cy + y1) / 4];
  }
}

/** Distance of a point to a curve, by eight of its points and the lines between them. */
function distance([x0, y0, cx, cy, x1, y1], x, y) {
  let least = Infinity;
  let [px, py] = [x0, y0];
  for (let i = 1; i <= 8; i += 1) {
    const t = i / 8;
    const qx = (1 - t) * (1 - t) * x0 + 2 * t * (1 - t) * cx + t * t * x1;
    const qy = (1 - t) * (1 - t) * y0 + 2 * t * (1 - t) * cy + t * t * y1;
    const [dx, dy] = [qx - px, qy - py];
    const along = Math.min(1, Math.max(0, ((x - px) * dx + (y - py) * dy) / (dx * dx + dy * dy || 1)));
    least = Math.min(least, Math.hypot(px + along * dx - x, py + along * dy - y));
    [px, py] = [qx, qy];
  }
  return least;
}
