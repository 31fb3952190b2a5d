// One Aries router: its six rows of eight tiles, their current state and incoming links.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { count, percent, reading } from "./format.js";
import { figure, lostIn, showLoss, stateMark, sumOfLosses } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { asLoss, table } from "./table.js";
import { CLASS_WORDS, STATE_WORDS } from "./words.js";

const ROWS = [0, 1, 2, 3, 4, 5];
const COLUMNS = [0, 1, 2, 3, 4, 5, 6, 7];

export function openRouter(root, route) {
  const name = route.what ?? "";
  const figures = { contended: figure("Contended tiles"), reporting: figure("Tiles with data"), worst: figure("Worst mean"), lost: figure("Lost in episodes") };
  const parts = { grid: el("div", { class: "body" }, empty("Loading router…", "", true)), ends: el("div", {}) };
  root.append(el("div", { class: "title" }, el("h1", {}, `Router ${name}`),
    el("div", { class: "under" }, "A link belongs to the tile that receives it. A tile without data is unknown, never clear.")),
    el("div", { class: "stack" }, el("section", { class: "figures", "aria-label": "Summary" }, ...Object.values(figures).map((f) => f.root)),
      card("Tiles", parts.grid, "stalls per flit: windowed mean and bound"),
      card("Incoming links", parts.ends, "worst first")));
  let shownOnce = false;
  const show = (answer) => {
    shownOnce = true;
    showFigures(figures, answer);
    fill(parts.grid, grid(answer));
    fill(parts.ends, endTable(answer));
  };
  const fail = (error) => { if (!shownOnce) fill(parts.grid, failure("No such router", error)); };
  const data = refresher(() => ask(`routers/${encodeURIComponent(name)}`), show, fail, 2000);
  return { tick: data.tick, close: data.close };
}

const ofTiles = ({ tiles }) => tiles.filter((tile) => tile.part !== null);
const excess = (tile) => (tile.mean > 0 && tile.bound > 0 ? tile.mean / tile.bound : -1);

function showFigures(figures, answer) {
  const tiles = ofTiles(answer);
  const unit = answer.metric.unit;
  const reporting = tiles.filter((tile) => tile.state !== "unknown");
  const contended = reporting.filter((tile) => tile.state === "contended");
  const [worst] = reporting.filter((tile) => tile.mean !== null).sort((a, b) => b.mean - a.mean);
  const lost = sumOfLosses(tiles);
  const put = (f, number, under, alarm = false) => {
    setText(f.number, number);
    setText(f.under, under);
    f.root.dataset.alarm = alarm ? "yes" : "no";
  };
  put(figures.contended, reporting.length ? count(contended.length) : "–", `of ${count(reporting.length)} with data`, contended.length > 0);
  put(figures.reporting, percent(tiles.length ? reporting.length / tiles.length : null), `of ${count(tiles.length)} reporting tiles`, reporting.length < tiles.length);
  put(figures.worst, worst ? reading(worst.mean, unit) : "–", worst ? `tile ${worst.part}` : "no traffic");
  if (lost) showLoss(figures.lost, lost, "sum of tiles");
  else put(figures.lost, "–", "no episodes");
}

function grid(answer) {
  const byPart = new Map(answer.tiles.map((tile) => [tile.part, tile]));
  const head = el("tr", {}, el("td", {}), ...COLUMNS.map((c) => el("th", { scope: "col" }, `c${c}`)));
  const rows = ROWS.map((r) => el("tr", {}, el("th", { scope: "row" }, `r${r}`),
    ...COLUMNS.map((c) => el("td", {}, cell(byPart.get(`r${r}c${c}`), answer.metric.unit)))));
  return el("div", { class: "table-wrap" }, el("table", { class: "tiles", "aria-label": "Tiles of the router" }, el("thead", {}, head), el("tbody", {}, ...rows)));
}

/** Processor tiles report nothing, which is not a state. */
function cell(tile, unit) {
  if (tile === undefined) return el("span", { class: "none", title: "no reports" }, "–");
  const description = [tile.class, tile.from_name && `from ${tile.from_name}`, `bound ${reading(tile.bound, unit)}`].filter(Boolean).join(", ");
  return el("a", { href: links.series(tile.series), title: `${tile.part}: ${description}`, "data-state": tile.state },
    stateMark(tile.state, false), el("b", {}, tile.mean === null ? "–" : reading(tile.mean, "")), el("small", {}, tile.class ?? ""));
}

function endTable(answer) {
  const tiles = ofTiles(answer).sort((a, b) => excess(b) - excess(a));
  if (tiles.length === 0) return empty("No reports of single tiles.", "", true);
  return table([
    ["Tile", "tight", (t) => [stateMark(t.state, false), " ", el("a", { href: links.series(t.series), class: "mono" }, t.part)], { value: (t) => t.part, out: (t) => ({ Tile: t.part, State: t.state }) }],
    ["From", "wide", (t) => (t.from_name ? el("span", { class: "mono" }, t.from_name) : "unknown")],
    ["Class", "", (t) => (t.class ? [t.class, el("small", {}, CLASS_WORDS[t.class] ?? "")] : "unknown"), (t) => t.class ?? "unknown"],
    ["Mean", "num", (t) => reading(t.mean, answer.metric.unit), { value: (t) => t.mean, unit: answer.metric.unit }],
    ["Bound", "num", (t) => reading(t.bound, answer.metric.unit), { value: (t) => t.bound, unit: answer.metric.unit }],
    ["Lost in episodes, 95 %", "num", lostIn, asLoss("lost")],
  ], tiles, "Incoming links", { filters: [["State", (t) => STATE_WORDS[t.state]?.[0] ?? t.state], ["Class", (t) => t.class ?? "unknown"]] });
}
