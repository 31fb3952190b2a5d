// The frame of all charts over time: uPlot with the page's colours, UTC, one cursor and one zoom for a view, spikes, export.

import uPlot from "../lib/uplot/uPlot.esm.js";
import { chartButtons } from "./chart_export.js";
import { el, fill } from "./dom.js";
import { clock, moment } from "./format.js";

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** The open charts: those of one view. */
const opened = new Set();

/** Distances between time labels, in seconds. */
const INCREMENTS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400];
const FONT = "11px system-ui, sans-serif";
/** Half of a time label: the last one may stand at the end of the axis. */
const HALF_TIME_PX = 30;

/** Both axes; `unit` stands along the left one where its labels do not name it. */
export function axes(format, unit = "") {
  const base = { stroke: () => css("muted"), grid: { stroke: () => css("line"), width: 1 }, ticks: { show: false }, font: FONT, labelFont: FONT, labelSize: 16 };
  return [
    { ...base, space: 70, size: 24, incrs: INCREMENTS_S, label: "time, UTC", values: (u, splits) => splits.map(clock) },
    // With a label or without, the charts of a view begin at the same place.
    { ...base, size: unit ? 70 : 86, ...(unit ? { label: unit } : {}), values: (u, splits) => splits.map((v) => (v === null ? "" : format(v))) },
  ];
}

export const legendTime = { label: "UTC", value: (u, t) => (t === null ? "–" : moment(t)) };
export const fromZero = (u, min, max) => [Math.min(0, min ?? 0), (max ?? 1) > 0 ? (max ?? 1) * 1.08 : 1];

/** The axis is cut where this share of its range has no more than 1% of the values. */
const CUT_FROM = 0.75;
const VALUES_MIN = 20;

/**
 * From zero to the largest 99th percentile of the lines `spiky`, and to the largest value of all other lines. Values above
 * are marked by `spikes`.
 */
export const upTo99th = (...spiky) => (u, min, max) => {
  const [low, high] = fromZero(u, min, max);
  const [from, to] = u.series[0].idxs;
  const seen = (line) => u.data[line].slice(from, to + 1).filter((v) => v !== null && v !== undefined);
  const values = spiky.map((line) => seen(line).sort((a, b) => a - b));
  if (Math.max(...values.map((list) => list.length)) < VALUES_MIN) return [low, high];
  const largest = (list) => list.reduce((most, value) => Math.max(most, value), 0);
  const others = u.data.map((_, line) => line).filter((line) => line > 0 && !spiky.includes(line)).map((line) => largest(seen(line)));
  const top = largest([...values.map((list) => list[Math.floor(0.99 * (list.length - 1))] ?? 0), ...others]) * 1.12;
  return top > 0 && top < CUT_FROM * high ? [low, top] : [low, high];
};

/** Values of a line above the axis, the largest of each stretch: [time, value]. */
export function spikesOf(u, line) {
  const { max } = u.scales.y;
  const [from, to] = u.series[0].idxs ?? [0, -1];
  const found = [];
  let inside = false;
  for (let i = from; i <= to; i += 1) {
    const value = u.data[line][i];
    const above = value !== null && value !== undefined && value > max;
    if (above && inside && value > found.at(-1)[1]) found[found.length - 1] = [u.data[0][i], value];
    if (above && !inside) found.push([u.data[0][i], value]);
    inside = above;
  }
  return found;
}

/** Triangles at the top for values of `lines` above the axis; `format(value, line)` stands beside the cursor. */
export function spikes(lines, format) {
  const tip = el("div", { class: "tip", hidden: "" });
  const draw = (u) => {
    const { ctx, bbox } = u;
    const px = devicePixelRatio;
    ctx.save();
    ctx.fillStyle = css("alarm");
    for (const [time] of lines.flatMap((line) => spikesOf(u, line))) {
      const x = u.valToPos(time, "x", true);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top - 1 * px);
      ctx.lineTo(x - 5 * px, bbox.top + 8 * px);
      ctx.lineTo(x + 5 * px, bbox.top + 8 * px);
      ctx.fill();
    }
    ctx.restore();
  };
  const point = (u) => {
    const found = lines.flatMap((line) => spikesOf(u, line).map(([time, value]) => [time, value, line]));
    const near = found.map((spike) => [Math.abs(u.valToPos(spike[0], "x") - u.cursor.left), spike]).sort((a, b) => a[0] - b[0])[0];
    tip.hidden = !(u.cursor.left >= 0 && near && near[0] < 12);
    if (tip.hidden) return;
    const [time, value, line] = near[1];
    fill(tip, el("b", {}, format(value, line)), `above the axis, ${clock(time)} UTC`);
    tip.style.left = `${Math.max(0, Math.min(u.over.clientWidth - 170, u.valToPos(time, "x") + 10))}px`;
    tip.style.top = "6px";
  };
  return { hooks: { ready: (u) => u.over.append(tip), draw, setCursor: point } };
}

/** Without a cursor the legend shows the latest point. */
const latestInLegend = {
  hooks: {
    setData: (u) => showLatest(u),
    setCursor: (u) => { if (u.cursor.idx === null || u.cursor.left < 0) showLatest(u); },
  },
};

function showLatest(u) {
  if (u.cursor.left >= 0 && u.cursor.idx !== null) return;
  const idx = u.data[0].length - 1;
  if (idx >= 0 && u.legend.idx !== idx) u.setLegend({ idx }, false);
}

/** Clicks zoom by `shareZoom`; only movements pass between charts. */
const passes = (type) => type.startsWith("mouse") && type !== "mousedown" && type !== "mouseup";
const cursor = { drag: { x: true, y: false }, y: false, sync: { key: "view", scales: ["x", null], setSeries: false, filters: { pub: passes, sub: passes } } };

/** A chart that follows its container's width, the colour scheme, and the zoom of the other charts. `data` are uPlot's columns. */
export class Chart {
  constructor(options, data, label) {
    this.place = el("div", { class: "chart", role: "img", "aria-label": label });
    this.root = el("div", { class: "chart-part" }, this.place, chartButtons(this, label));
    const zoom = { hooks: { setScale: (u, key) => { if (key === "x") this.shareZoom(); } } };
    this.options = { padding: [10, HALF_TIME_PX, 0, 0], cursor, ...options, plugins: [...options.plugins, latestInLegend, zoom] };
    this.data = data;
    this.updating = true;
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(this.place);
    this.onScheme = () => this.plot?.redraw(false);
    document.addEventListener("scheme", this.onScheme);
    opened.add(this);
  }

  resize() {
    const width = Math.floor(this.place.clientWidth);
    if (width === 0) return;
    const height = this.options.height;
    if (this.plot) return this.plot.setSize({ width, height });
    this.plot = new uPlot({ ...this.options, width }, this.data, this.place);
    this.plot.root.querySelector(".u-legend")?.setAttribute("role", "presentation");
    queueMicrotask(() => { this.updating = false; });
  }

  /** The first and the last time of the data. */
  get whole() { return { min: this.data[0][0], max: this.data[0].at(-1) }; }

  get zoomed() {
    const { min, max } = this.plot.scales.x;
    return min > this.whole.min || max < this.whole.max;
  }

  /** The other charts of the view show the same range; they show all of theirs when this one does. */
  shareZoom() {
    if (!this.plot) return;
    const { min, max } = this.plot.scales.x;
    this.place.dataset.range = `${Math.round(min)} ${Math.round(max)}`;
    if (this.updating) return;
    for (const other of opened) {
      if (other === this || !other.plot || other.data[0].length === 0) continue;
      const wanted = this.zoomed ? { min, max } : other.whole;
      const { x } = other.plot.scales;
      if (x.min !== wanted.min || x.max !== wanted.max) other.plot.setScale("x", wanted);
    }
  }

  /** New data; a zoom is kept. */
  update(data) {
    const { plot } = this;
    const zoomed = plot && this.zoomed;
    this.data = data;
    if (!plot) return;
    this.updating = true;
    plot.setData(data, !zoomed);
    if (zoomed) plot.redraw();
    queueMicrotask(() => { this.updating = false; });
  }

  close() {
    opened.delete(this);
    this.watcher.disconnect();
    document.removeEventListener("scheme", this.onScheme);
    this.plot?.destroy();
  }
}
