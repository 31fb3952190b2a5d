// Positions of the cells of one metric: routers as grids of their tiles, few series as cards, many as squares.

const ORDER = new Intl.Collator("en", { numeric: true });
const TILE = /^r(\d)c(\d)$/;
/** Maximum of series shown as cards with name and reading. */
const CARDS_MAX = 36;

/**
 * @param {Object} names columns `component` and `part` of the response of /now
 * @param {number[]} rows which rows of them belong to this metric
 * @param {number} width in CSS pixels
 * @param {boolean} rolled one row per component, without parts
 * @returns {{cells: {row,x,y,w,h}[], labels: {x,y,text}[], height: number, cards: boolean}}
 */
export function layOut(names, rows, width, rolled = false) {
  const sorted = [...rows].sort((a, b) =>
    ORDER.compare(names.component[a], names.component[b]) || ORDER.compare(names.part[a] ?? "", names.part[b] ?? ""));
  if (rolled && sorted.length > CARDS_MAX) return squares(sorted, width);
  const tiles = sorted.filter((row) => TILE.test(names.part[row] ?? "")).length;
  if (tiles * 2 > sorted.length) return grids(names, sorted, width);
  return sorted.length <= CARDS_MAX ? cards(sorted, width) : squares(sorted, width);
}

function cards(rows, width) {
  const gap = 8;
  const columns = Math.max(1, Math.min(rows.length, Math.floor((width + gap) / (132 + gap))));
  const w = Math.min(240, (width - gap * (columns - 1)) / columns);
  const h = 42;
  const cells = rows.map((row, i) => ({ row, x: (i % columns) * (w + gap), y: Math.floor(i / columns) * (h + gap), w, h }));
  return { cells, labels: [], height: Math.ceil(rows.length / columns) * (h + gap) - gap, cards: true };
}

function squares(rows, width) {
  const pitch = rows.length > 5000 ? 9 : rows.length > 1000 ? 12 : 17;
  const columns = Math.max(1, Math.floor((width + 1) / pitch));
  const side = pitch - (pitch > 9 ? 2 : 1);
  const cells = rows.map((row, i) => ({ row, x: (i % columns) * pitch, y: Math.floor(i / columns) * pitch, w: side, h: side }));
  return { cells, labels: [], height: Math.ceil(rows.length / columns) * pitch, cards: false };
}

/** Aries: 5 rows of 8 tiles; below them a bar for the whole router. */
function grids(names, rows, width) {
  const routers = Map.groupBy ? Map.groupBy(rows, (row) => names.component[row]) : grouped(rows, names);
  const many = routers.size > 400;
  const top = many ? 0 : 15;
  let pitch = many ? 5 : routers.size > 120 ? 8 : 10;
  const space = many ? 5 : 12;
  const fitting = Math.max(1, Math.floor((width + space) / (pitch * 8 + space)));
  const columns = Math.min(fitting, routers.size);
  // Few routers fill the width.
  if (!many) pitch = Math.min(16, Math.max(pitch, Math.floor(((width + space) / columns - space) / 8)));
  const [wide, high] = [pitch * 8 + space, top + pitch * 5 + 6 + (many ? 4 : 10)];
  const cells = [];
  const labels = [];
  let number = 0;
  for (const [component, members] of routers) {
    const [x, y] = [(number % columns) * wide, Math.floor(number / columns) * high];
    if (!many) labels.push({ x, y: y + 10, text: component, width: pitch * 8 });
    for (const row of members) cells.push(tileCell(names.part[row], row, x, y + top, pitch));
    number += 1;
  }
  return { cells, labels, height: Math.ceil(number / columns) * high, cards: false };
}

function tileCell(part, row, x, y, pitch) {
  const place = TILE.exec(part ?? "");
  if (place === null) return { row, x, y: y + 5 * pitch + 1, w: pitch * 8 - 1, h: 4 };
  return { row, x: x + Number(place[2]) * pitch, y: y + Number(place[1]) * pitch, w: pitch - 1, h: pitch - 1 };
}

function grouped(rows, names) {
  const groups = new Map();
  for (const row of rows) {
    const key = names.component[row];
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return groups;
}

/** The cell at a point, or -1; a gap belongs to its left or upper neighbour. */
export function cellAt(cells, x, y) {
  return cells.findIndex((c) => x >= c.x && x < c.x + c.w + 1.5 && y >= c.y && y < c.y + c.h + 1.5);
}

/** The nearest cell from `from` in a direction; sideways steps cost more, so that the focus stays in its row or column. */
export function cellBeside(cells, from, dx, dy) {
  const middle = (c) => [c.x + c.w / 2, c.y + c.h / 2];
  const [x0, y0] = middle(cells[from]);
  let best = from;
  let least = Infinity;
  cells.forEach((cell, i) => {
    const [x, y] = middle(cell);
    const along = (x - x0) * dx + (y - y0) * dy;
    const across = Math.abs((x - x0) * dy) + Math.abs((y - y0) * dx);
    if (along > 0.5 && along + across * 4 < least) [best, least] = [i, along + across * 4];
  });
  return best;
}
