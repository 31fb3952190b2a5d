// Draws the map: what is visible only, one path for each state, more detail when it is larger.

import { inkOf } from "./palette.js";
import { CELL, SIDE } from "./map_layout.js";

/** States that are drawn later lie above. */
const LAYERS = ["idle", "clear", "warmup", "unknown", "contended"];
/** Calm links are drawn up to this number; above, the links of what is visible once it is large enough. */
const CALM_MAX = 1500;
const DETAIL_MAX = 3000;
/** The same while the map moves: the others follow once it rests. */
const MOVING_MAX = 500;
/** Pixels of a cell from which on calm links of a large map, nodes, and names are drawn. */
const CALM_PX = 18;
const NODES_PX = 34;
const NAMES_PX = 84;

/** The colour of a state on lines and squares. */
export const strengthOf = (state) => (state === "contended" ? 0.55 : state === "clear" ? 0.6 : 0);

/** Links between switches with the links of each switch; nodes have the states of their links. */
export class Graph {
  constructor(map) {
    this.map = map;
    const { a, b } = map.edges;
    this.between = [];
    this.at = Array.from({ length: map.switches }, () => []);
    this.ofNode = new Map();
    for (let e = 0; e < a.length; e += 1) {
      const node = Math.max(a[e], b[e]);
      if (node >= map.switches) { this.ofNode.set(node, [...(this.ofNode.get(node) ?? []), e]); continue; }
      this.between.push(e);
      this.at[a[e]].push(e);
      this.at[b[e]].push(e);
    }
    this.edgeOf = null;
  }

  /** The edge between two vertices by their names, or -1. */
  edge(from, to) {
    if (this.edgeOf === null) {
      const { name } = this.map.vertices;
      this.numbers = new Map(name.map((each, v) => [each, v]));
      this.edgeOf = new Map();
      this.map.edges.a.forEach((a, e) => this.edgeOf.set(a * name.length + this.map.edges.b[e], e));
    }
    const [v, w] = [this.numbers.get(from), this.numbers.get(to)];
    if (v === undefined || w === undefined) return -1;
    return this.edgeOf.get(Math.min(v, w) * this.map.vertices.name.length + Math.max(v, w)) ?? -1;
  }

  vertex(name) {
    this.edge(name, name);
    return this.numbers.get(name) ?? -1;
  }
}

/** One drawing. `scene` has layout, graph, states, camera, palette, and what is highlighted. */
export function drawMap(pen, scene, width, height) {
  const { layout, camera } = scene;
  pen.clearRect(0, 0, width, height);
  const view = { left: -camera.x / camera.scale, top: -camera.y / camera.scale };
  Object.assign(view, { right: view.left + width / camera.scale, bottom: view.top + height / camera.scale });
  const frame = { pen, scene, view, s: camera.scale, X: (x) => x * camera.scale + camera.x, Y: (y) => y * camera.scale + camera.y };
  const visible = [];
  for (let v = 0; v < layout.map.switches; v += 1) {
    if (layout.x[v] > view.left - CELL && layout.x[v] < view.right + CELL && layout.y[v] > view.top - CELL && layout.y[v] < view.bottom + CELL) visible.push(v);
  }
  pen.globalAlpha = 1;
  drawGroups(frame);
  const dim = scene.lit ? 0.28 : 1;
  pen.globalAlpha = dim;
  frame.edges = shownEdges(frame, visible);
  drawEdges(frame, frame.edges, false);
  drawSwitches(frame, visible);
  if (frame.s * CELL >= NODES_PX) drawNodes(frame, visible);
  pen.globalAlpha = dim;
  drawEdges(frame, scene.contended, true);
  pen.globalAlpha = 1;
  if (scene.lit) drawLit(frame);
  if (scene.ports) drawPorts(frame);
  if (frame.s * CELL >= NAMES_PX) drawNames(frame, visible);
  for (const v of [scene.selected, scene.focused]) if (v >= 0) drawRing(frame, v, v === scene.selected);
  if (scene.overEdge >= 0) drawLines(frame, [scene.overEdge], scene.palette.text, 3);
  scene.drawn = { visible, edges: frame.edges };
}

function drawGroups({ pen, scene, view, s, X, Y }) {
  const { layout, palette } = scene;
  pen.strokeStyle = palette.line;
  pen.lineWidth = 1;
  pen.fillStyle = palette.sunken;
  for (const g of layout.groups) {
    if (g.x > view.right || g.x + g.w < view.left || g.y > view.bottom || g.y + g.h < view.top) continue;
    pen.beginPath();
    pen.roundRect(X(g.x), Y(g.y), g.w * s, g.h * s, Math.min(8, 4 * s));
    pen.fill();
    pen.stroke();
  }
  pen.fillStyle = palette.muted;
  const size = Math.min(13, Math.max(9, 8 * s));
  pen.font = `${size}px system-ui, sans-serif`;
  pen.textBaseline = "alphabetic";
  pen.textAlign = "left";
  for (const g of layout.groups) if (g.w * s > 54 && 12 * s > size * 0.8) pen.fillText(g.name, X(g.x) + 5, Y(g.y) + Math.min(10 * s, size + 4), g.w * s - 10);
  for (const line of layout.lines) pen.fillText(line.text, Math.max(6, X(line.x)), Y(line.y) - 9 * Math.max(s, 0.8));
}

/** Links without contention: all of a small map, else those of a few large switches. */
function shownEdges({ scene, s }, visible) {
  const { graph, moving } = scene;
  if (graph.between.length <= CALM_MAX) return graph.between;
  if (s * CELL < CALM_PX) return [];
  const most = moving ? MOVING_MAX : DETAIL_MAX;
  const seen = new Set();
  for (const v of visible) {
    for (const e of graph.at[v]) seen.add(e);
    if (seen.size > most) return [];
  }
  return [...seen];
}

/** Links inside a group are curved: those of a row would lie on each other. */
export function curveOf(layout, map, e) {
  const [a, b] = [map.edges.a[e], map.edges.b[e]];
  const [x0, y0, x1, y1] = [layout.x[a], layout.y[a], layout.x[b], layout.y[b]];
  if (layout.shape === "tree") return [x0, y0, (x0 + x1) / 2, (y0 + y1) / 2, x1, y1];
  const bend = Math.min(0.25, layout.bulge / (1 + Math.hypot(x1 - x0, y1 - y0)));
  return [x0, y0, (x0 + x1) / 2 + (y1 - y0) * bend, (y0 + y1) / 2 - (x1 - x0) * bend, x1, y1];
}

function addCurve({ pen, scene, view, X, Y }, e) {
  const [x0, y0, cx, cy, x1, y1] = curveOf(scene.layout, scene.graph.map, e);
  if ((x0 < view.left && x1 < view.left) || (x0 > view.right && x1 > view.right) || (y0 < view.top && y1 < view.top) || (y0 > view.bottom && y1 > view.bottom)) return;
  pen.moveTo(X(x0), Y(y0));
  if (scene.layout.shape === "tree") pen.lineTo(X(x1), Y(y1));
  else pen.quadraticCurveTo(X(cx), Y(cy), X(x1), Y(y1));
}

function drawLines(frame, edges, colour, width) {
  const { pen } = frame;
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  for (const e of edges) addCurve(frame, e);
  pen.stroke();
}

function drawEdges(frame, edges, contended) {
  const { pen, scene, s } = frame;
  const { palette, edgeStates } = scene;
  if (contended) return drawLines(frame, edges, inkOf(palette, "contended", 0.6).fill, Math.min(3.2, 1.2 + s * 0.35));
  const alpha = pen.globalAlpha;
  // Beside the single links of the selected switch the others step back.
  pen.globalAlpha = alpha * (scene.ports?.length ? 0.2 : 0.6);
  const byState = new Map(LAYERS.map((state) => [state, []]));
  for (const e of edges) byState.get(edgeStates[e])?.push(e);
  for (const state of LAYERS.slice(0, 4)) {
    if (state === "unknown") pen.setLineDash([3, 3]);
    drawLines(frame, byState.get(state), state === "unknown" ? palette.muted : state === "idle" ? palette.line : inkOf(palette, state, 0.9).fill, Math.min(1.6, 0.5 + s * 0.16));
    pen.setLineDash([]);
  }
  pen.globalAlpha = alpha;
}

function drawSquares({ pen, scene, s, X, Y }, vertices) {
  const { layout, palette, vertexStates } = scene;
  const byState = new Map(LAYERS.map((state) => [state, []]));
  for (const v of vertices) byState.get(vertexStates[v])?.push(v);
  for (const state of LAYERS) {
    pen.fillStyle = inkOf(palette, state, strengthOf(state)).fill;
    pen.beginPath();
    for (const v of byState.get(state)) {
      const side = Math.max(1.5, layout.size[v] * s);
      pen.rect(X(layout.x[v]) - side / 2, Y(layout.y[v]) - side / 2, side, side);
    }
    pen.fill();
    // A border keeps light squares apart from the ground.
    if (s * SIDE > 7) { pen.strokeStyle = palette.edge; pen.lineWidth = 0.7; pen.stroke(); }
  }
}

const drawSwitches = (frame, visible) => drawSquares(frame, visible);

function drawNodes(frame, visible) {
  const { pen, scene, s, X, Y } = frame;
  // The ground of the nodes is neutral, so that their states stand apart from that of the switch.
  pen.fillStyle = scene.palette.surface;
  const nodes = [];
  for (const v of visible) {
    const of = scene.layout.nodesOf[v];
    if (of.length === 0) continue;
    nodes.push(...of);
    const top = Y(Math.min(...of.map((n) => scene.layout.y[n] - scene.layout.size[n] / 2)) - 0.25);
    pen.fillRect(X(scene.layout.x[v] - 3.75), top, 7.5 * s, Y(scene.layout.y[v] + 3.75) - top);
  }
  drawSquares(frame, nodes);
}

/** A job: its switches and links, and those of its rivals. */
function drawLit(frame) {
  const { scene } = frame;
  const { lit, palette } = scene;
  drawSquares(frame, lit.switches);
  drawSquares(frame, lit.rivals);
  if (frame.s * CELL >= NODES_PX) drawSquares(frame, lit.nodes);
  drawLines(frame, lit.edges, palette.accent, 1.6);
  drawLines(frame, lit.edges.filter((e) => scene.edgeStates[e] === "contended"), inkOf(palette, "contended", 0.7).fill, 3);
  for (const v of lit.rivals) ring(frame, v, palette.rival, 1, [4, 3]);
  for (const v of lit.switches) ring(frame, v, palette.accent, 0, []);
  if (frame.s * CELL >= NODES_PX) for (const v of lit.nodes) ring(frame, v, palette.accent, 0, []);
}

function ring({ pen, scene, s, X, Y }, v, colour, out, dash) {
  const side = Math.max(4, scene.layout.size[v] * s) + 3 + 2 * out;
  pen.strokeStyle = colour;
  pen.lineWidth = 2;
  pen.setLineDash(dash);
  pen.strokeRect(X(scene.layout.x[v]) - side / 2, Y(scene.layout.y[v]) - side / 2, side, side);
  pen.setLineDash([]);
}

function drawRing(frame, v, strong) {
  const { palette } = frame.scene;
  ring(frame, v, palette.surface, strong ? 3 : 2, []);
  ring(frame, v, palette.text, strong ? 2 : 1, []);
}

/** Single links of the selected vertex, side by side, with their ports. */
function drawPorts(frame) {
  const { pen, scene, s, X, Y } = frame;
  for (const port of scene.ports) {
    const ink = port.state === "unknown" ? scene.palette.muted : inkOf(scene.palette, port.state, 0.75).fill;
    pen.strokeStyle = pen.fillStyle = ink;
    pen.lineWidth = port.state === "contended" ? 2.6 : 1.4;
    if (port.state === "unknown") pen.setLineDash([4, 3]);
    pen.beginPath();
    const [x0, y0, cx, cy, x1, y1] = port.curve;
    pen.moveTo(X(x0), Y(y0));
    pen.quadraticCurveTo(X(cx), Y(cy), X(x1), Y(y1));
    pen.stroke();
    pen.setLineDash([]);
    const r = Math.min(5, Math.max(2, s * 0.3));
    pen.beginPath();
    pen.arc(X(x0), Y(y0), r, 0, 2 * Math.PI);
    pen.fill();
    if (port.room * s >= (port.upright ? 30 : 12)) {
      pen.fillStyle = scene.palette.text;
      pen.font = "11px system-ui, sans-serif";
      pen.textAlign = port.upright ? "center" : x1 >= x0 ? "left" : "right";
      const aside = port.upright ? [0, y1 >= y0 ? r + 12 : -r - 4] : [x1 >= x0 ? r + 4 : -r - 4, 4];
      pen.fillText(port.label, X(x0) + aside[0], Y(y0) + aside[1]);
    }
  }
  pen.textAlign = "left";
}

function drawNames({ pen, scene, s, X, Y }, visible) {
  const { layout, palette, vertexStates } = scene;
  pen.textAlign = "center";
  for (const v of visible) {
    pen.font = "600 12px system-ui, sans-serif";
    pen.fillStyle = inkOf(palette, vertexStates[v], strengthOf(vertexStates[v])).text;
    pen.fillText(layout.map.vertices.name[v], X(layout.x[v]), Y(layout.y[v] - 2), SIDE * s - 8);
    if (layout.nodesOf[v].length === 0) continue;
    const side = layout.size[layout.nodesOf[v][0]] * s;
    if (side < 40) continue;
    pen.font = "10.5px system-ui, sans-serif";
    for (const n of layout.nodesOf[v]) {
      pen.fillStyle = inkOf(palette, vertexStates[n], strengthOf(vertexStates[n])).text;
      pen.fillText(layout.map.vertices.name[n], X(layout.x[n]), Y(layout.y[n]) + 4, side - 4);
    }
  }
  pen.textAlign = "left";
}
