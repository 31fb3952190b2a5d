// Positions of the switches and nodes of the map, from names, groups and classes of links: an Aries as groups of chassis and slots,
// a Dragonfly as groups in a ring, a tree by levels. In units: a switch is 8 wide in a cell of 10.

const ORDER = new Intl.Collator("en", { numeric: true });
const CNAME = /^c(\d+)-(\d+)c(\d+)s(\d+)/;
export const CELL = 10;
export const SIDE = 8;
const PAD = 6;
/** Room for the name of a group. */
const HEAD = 12;
/** Width over height of the whole. */
const ASPECT = 1.6;
const CHASSIS_OF_CABINET = 3;
/** Few groups have room for their links between rows. */
const WIDE_GROUPS_MAX = 4;
const WIDE_ROW = 20;
/** More groups than these stand in rows. */
const RING_MAX = 40;

/**
 * @param {Object} map the response of /api/v1/map
 * @returns {{shape: string, x: Float32Array, y: Float32Array, size: Float32Array, groups: {name,x,y,w,h,members}[], lines: {text,x,y}[],
 *   nodesOf: number[][], width: number, height: number, bulge: number}} `lines` are words beside rows of switches, `bulge` the height of curved links
 */
export function layOutMap(map) {
  const count = map.vertices.name.length;
  const plan = { map, x: new Float32Array(count), y: new Float32Array(count), size: new Float32Array(count).fill(SIDE), groups: [], lines: [], bulge: CELL * 0.6 };
  const classes = new Set(map.classes);
  if (["green", "black", "blue"].some((c) => classes.has(c))) layOutAries(plan);
  else if (["local", "global"].some((c) => classes.has(c))) layOutGroups(plan);
  else layOutTree(plan);
  plan.nodesOf = placeNodes(plan);
  return plan;
}

/** Rows of chassis and columns of slots; a group has two cabinets of three chassis. Other names stand behind. */
function layOutAries(plan) {
  plan.shape = "aries";
  const groups = new Map();
  const others = [];
  for (let v = 0; v < plan.map.switches; v += 1) {
    const found = CNAME.exec(plan.map.vertices.name[v]);
    if (found === null) { others.push(v); continue; }
    const [column, row, chassis, slot] = found.slice(1).map(Number);
    const first = column - (column % 2);
    const key = `c${first}-${row}..c${first + 1}-${row}`;
    if (!groups.has(key)) groups.set(key, { name: key, order: row * 1e6 + first, places: [] });
    groups.get(key).places.push({ v, column: slot, row: (column % 2) * CHASSIS_OF_CABINET + chassis });
  }
  const list = [...groups.values()].sort((a, b) => a.order - b.order);
  if (others.length) list.push({ name: "other", places: inGrid(others) });
  const pitch = list.length <= WIDE_GROUPS_MAX ? WIDE_ROW : CELL;
  plan.bulge = pitch * 0.6;
  inRows(plan, list.map((group) => boxOf(group, (row) => (row >= CHASSIS_OF_CABINET ? 5 : 0), pitch)));
}

/** Groups of a Dragonfly: spines above leaves where there are both. */
function layOutGroups(plan) {
  plan.shape = "dragonfly";
  const { map } = plan;
  const group = groupsOf(map);
  const level = levelsOf(map);
  const members = new Map();
  for (let v = 0; v < map.switches; v += 1) {
    if (!members.has(group[v])) members.set(group[v], []);
    members.get(group[v]).push(v);
  }
  const known = (g) => (g === null ? "unknown group" : map.groups[g]);
  const list = [...members].map(([g, all]) => ({ name: known(g), places: byLevel(all, level, map) })).sort((a, b) => ORDER.compare(a.name, b.name));
  const boxes = list.map((each) => boxOf(each, () => 0));
  if (boxes.length < 3 || boxes.length > RING_MAX) inRows(plan, boxes);
  else inRing(plan, boxes);
}

/** Rows of one level after the other, the highest above. */
function byLevel(all, level, map) {
  const levels = [...new Set(all.map((v) => level[v]))].sort((a, b) => b - a);
  const columns = Math.max(4, Math.ceil(Math.sqrt(all.length * 1.5)));
  const places = [];
  let row = 0;
  for (const each of levels) {
    const line = all.filter((v) => level[v] === each).sort((a, b) => ORDER.compare(map.vertices.name[a], map.vertices.name[b]));
    line.forEach((v, i) => places.push({ v, column: i % columns, row: row + Math.floor(i / columns) }));
    row += Math.ceil(line.length / columns) + 0.6;
  }
  return places;
}

/** Levels of a tree, leaves below; many switches of a level take several rows. */
function layOutTree(plan) {
  plan.shape = "tree";
  const { map } = plan;
  const level = levelsOf(map);
  const group = groupsOf(map);
  const rows = new Map();
  for (let v = 0; v < map.switches; v += 1) {
    if (!rows.has(level[v])) rows.set(level[v], []);
    rows.get(level[v]).push(v);
  }
  const most = Math.max(1, ...[...rows.values()].map((row) => row.length));
  const columns = most <= 72 ? most : Math.ceil(Math.sqrt(most * 5));
  const width = Math.max(columns * CELL * (most <= 24 ? 2.4 : 1.3), 160);
  const gap = Math.max(36, width * 0.14);
  let y = 20;
  for (const each of [...rows.keys()].sort((a, b) => b - a)) {
    const row = rows.get(each).sort((a, b) => (group[a] ?? -1) - (group[b] ?? -1) || ORDER.compare(map.vertices.name[a], map.vertices.name[b]));
    const lines = Math.ceil(row.length / columns);
    const inLine = Math.ceil(row.length / lines);
    row.forEach((v, i) => {
      plan.x[v] = (((i % inLine) + 0.5) * width) / inLine;
      plan.y[v] = y + Math.floor(i / inLine) * CELL * 1.3;
    });
    plan.lines.push({ text: each === 1 ? "leaves" : each === 99 ? "not connected" : `level ${each}`, x: -4, y });
    y += (lines - 1) * CELL * 1.3 + gap;
  }
  Object.assign(plan, { width, height: y - gap + 20 });
}

/** Hops of each switch to the nearest switch with nodes, from 1; 99 where there is no way. Without nodes all are of level 1. */
function levelsOf(map) {
  const level = new Array(map.switches).fill(99);
  let front = [...new Set(map.vertices.on.filter((v) => v !== null))];
  if (front.length === 0) return level.fill(1);
  for (const v of front) level[v] = 1;
  const next = neighbours(map);
  for (let depth = 2; front.length && depth < 99; depth += 1) {
    const found = [];
    for (const v of front) for (const w of next[v]) if (level[w] === 99) { level[w] = depth; found.push(w); }
    front = found;
  }
  return level;
}

/** The group of each switch. One without nodes is in the group of its neighbours where they are of one group. */
function groupsOf(map) {
  const group = map.vertices.group.slice(0, map.switches);
  const next = neighbours(map, "global");
  for (let v = 0; v < map.switches; v += 1) {
    if (group[v] !== null) continue;
    const around = new Set(next[v].map((w) => map.vertices.group[w]).filter((g) => g !== null));
    if (around.size === 1) [group[v]] = around;
  }
  return group;
}

/** The switches that each switch has links with, without links of one class. */
function neighbours({ switches, edges, classes }, without = null) {
  const next = Array.from({ length: switches }, () => []);
  edges.a.forEach((a, e) => {
    const b = edges.b[e];
    if (a >= switches || b >= switches || classes[edges.class[e]] === without) return;
    next[a].push(b);
    next[b].push(a);
  });
  return next;
}

function inGrid(all) {
  const columns = Math.ceil(Math.sqrt(all.length * 2));
  return all.map((v, i) => ({ v, column: i % columns, row: Math.floor(i / columns) }));
}

/** The box around the places of a group, at the origin; `extra` is additional room above a row, `pitch` the height of one. */
function boxOf({ name, places }, extra, pitch = CELL) {
  const columns = Math.max(...places.map((p) => p.column)) + 1;
  const rows = Math.max(...places.map((p) => p.row)) + 1;
  const at = places.map(({ v, column, row }) => ({ v, x: PAD + (column + 0.5) * CELL, y: HEAD + (row + 0.5) * pitch + extra(row) }));
  return { name, at, w: 2 * PAD + columns * CELL, h: HEAD + PAD + rows * pitch + extra(rows - 1) };
}

function putBox(plan, box, x, y) {
  for (const place of box.at) [plan.x[place.v], plan.y[place.v]] = [x + place.x, y + place.y];
  plan.groups.push({ name: box.name, x, y, w: box.w, h: box.h, members: box.at.map((place) => place.v) });
}

function inRows(plan, boxes) {
  const gap = 8;
  const w = Math.max(1, ...boxes.map((box) => box.w)) + gap;
  const h = Math.max(1, ...boxes.map((box) => box.h)) + gap;
  const columns = Math.max(1, Math.min(boxes.length, Math.round(Math.sqrt((boxes.length * h * ASPECT) / w))));
  boxes.forEach((box, i) => putBox(plan, box, (i % columns) * w, Math.floor(i / columns) * h));
  Object.assign(plan, { width: columns * w - gap, height: Math.ceil(boxes.length / columns) * h - gap });
}

/** A wide ring: every link between two groups is visible. */
function inRing(plan, boxes) {
  const w = Math.max(...boxes.map((box) => box.w));
  const h = Math.max(...boxes.map((box) => box.h));
  const radius = Math.max(w, (boxes.length * Math.max(w, h) * 1.4) / (2 * Math.PI));
  const [wide, high] = [radius * 1.3, radius * 0.85];
  boxes.forEach((box, i) => {
    const angle = (2 * Math.PI * i) / boxes.length - Math.PI / 2;
    putBox(plan, box, wide + wide * Math.cos(angle) + (w - box.w) / 2, high + high * Math.sin(angle) + (h - box.h) / 2);
  });
  Object.assign(plan, { width: 2 * wide + w, height: 2 * high + h });
}

/** Nodes are small squares in the lower half of their switch. */
function placeNodes({ map, x, y, size }) {
  const nodesOf = Array.from({ length: map.switches }, () => []);
  for (let v = map.switches; v < map.vertices.name.length; v += 1) if (map.vertices.on[v] !== null) nodesOf[map.vertices.on[v]].push(v);
  nodesOf.forEach((nodes, on) => {
    if (nodes.length === 0) return;
    nodes.sort((a, b) => ORDER.compare(map.vertices.name[a], map.vertices.name[b]));
    const pitchOf = (columns) => Math.min(7 / columns, 3.6 / Math.ceil(nodes.length / columns));
    let columns = 1;
    for (let more = 2; more <= nodes.length; more += 1) if (pitchOf(more) > pitchOf(columns)) columns = more;
    const [rows, pitch] = [Math.ceil(nodes.length / columns), pitchOf(columns)];
    nodes.forEach((v, i) => {
      x[v] = x[on] - (columns * pitch) / 2 + ((i % columns) + 0.5) * pitch;
      y[v] = y[on] + 3.8 - rows * pitch + (Math.floor(i / columns) + 0.5) * pitch;
      size[v] = pitch * 0.84;
    });
  });
  return nodesOf;
}
