// Charts over time: uPlot with the page's colours, UTC, and shaded episodes.

import uPlot from "../lib/uplot/uPlot.esm.js";
import { el } from "./dom.js";
import { clock, count, moment, perSecond, reading, seconds } from "./format.js";

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Stretches of ticks that were contended, as [from, to] in event time. */
function contendedStretches({ time, state }) {
  const stretches = [];
  state.forEach((name, i) => {
    if (name !== "contended") return;
    const last = stretches.at(-1);
    const from = i > 0 ? time[i - 1] : time[i];
    if (last && last[1] === from) last[1] = time[i];
    else stretches.push([from, time[i]]);
  });
  return stretches;
}

/** Episodes as [from, to]; one that is open lasts until the latest point. */
const dated = (spans, { time }) => spans.map((span) => [span.start, span.open ? Math.max(span.end, time.at(-1) ?? 0) : span.end]);

/**
 * Shades episodes below the lines; an upper edge marks them for readers who do not see the shade. The line at the foot
 * is the live state. It begins later, since contention is flagged some seconds after its start.
 */
function shading(chart) {
  return {
    hooks: {
      drawClear: (u) => bands(u, dated(chart.spans, chart.points), "chart-span", 0, u.bbox.height),
      // Above the grid.
      drawAxes: (u) => {
        const px = devicePixelRatio;
        bands(u, dated(chart.spans, chart.points), "contended", 0, 2 * px);
        bands(u, contendedStretches(chart.points), "chart-flagged", u.bbox.height - 3 * px, 3 * px);
      },
    },
  };
}

function bands(u, stretches, color, y, height) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = css(color);
  for (const [from, to] of stretches) {
    const [a, b] = [u.valToPos(from, "x", true), u.valToPos(to, "x", true)];
    ctx.fillRect(a, bbox.top + y, Math.max(devicePixelRatio, b - a), height);
  }
  ctx.restore();
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

/** The legend of the shade and of the line at the foot. */
export const shadeLegend = () => el("span", { class: "shade-legend" },
  el("span", {}, el("i", { class: "dated", "aria-hidden": "true" }), "episode"),
  el("span", {}, el("i", { class: "flagged", "aria-hidden": "true" }), "flagged live"));

/** Distances between time labels, in seconds. */
const INCREMENTS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400];

function axes(format) {
  const base = { stroke: () => css("muted"), grid: { stroke: () => css("line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  return [
    { ...base, space: 70, size: 30, incrs: INCREMENTS_S, values: (u, splits) => splits.map(clock) },
    { ...base, size: 76, values: (u, splits) => splits.map((v) => (v === null ? "" : format(v))) },
  ];
}

const legendTime = { label: "UTC", value: (u, t) => (t === null ? "–" : moment(t)) };

/** A chart that follows its container's width and the colour scheme. `data` are uPlot's columns. */
class Chart {
  constructor(options, data, label) {
    this.root = el("div", { class: "chart", role: "img", "aria-label": label });
    this.options = options;
    this.data = data;
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(this.root);
    this.onScheme = () => this.plot?.redraw(false);
    document.addEventListener("scheme", this.onScheme);
  }

  resize() {
    const width = Math.floor(this.root.clientWidth);
    if (width === 0) return;
    const height = this.options.height;
    if (this.plot) this.plot.setSize({ width, height });
    else this.plot = new uPlot({ ...this.options, width }, this.data, this.root);
  }

  /** New data; a zoom is kept. */
  update(data) {
    const [old, plot] = [this.data[0], this.plot];
    this.data = data;
    if (!plot) return;
    const zoomed = plot.scales.x.min > old[0] || plot.scales.x.max < old.at(-1);
    plot.setData(data, !zoomed);
    if (zoomed) plot.redraw();
  }

  close() {
    this.watcher.disconnect();
    document.removeEventListener("scheme", this.onScheme);
    this.plot?.destroy();
  }
}

const fromZero = (u, min, max) => [Math.min(0, min ?? 0), (max ?? 1) > 0 ? (max ?? 1) * 1.08 : 1];

/** Value, mean, baseline and bound of one series. */
export class SignalChart {
  constructor(points, spans, unit, height = 300) {
    [this.points, this.spans] = [points, spans];
    const value = (u, v) => reading(v, unit);
    const line = (label, color, more) => ({ label, value, stroke: () => css(color), points: { show: false }, ...more });
    this.chart = new Chart({
      height,
      padding: [10, 16, 0, 0],
      cursor: { drag: { x: true, y: false }, y: false },
      scales: { x: { time: true }, y: { range: fromZero } },
      // The legend shows the unit; an axis label with it would not fit.
      axes: axes((v) => reading(v, unit === "bytes/s" ? unit : "")),
      series: [
        legendTime,
        line("value", "chart-value", { width: 1 }),
        line("mean", "chart-mean", { width: 2.2 }),
        line("baseline", "chart-baseline", { width: 1.5, dash: [7, 4] }),
        line("bound", "chart-bound", { width: 1.5, dash: [2, 3] }),
      ],
      plugins: [shading(this), latestInLegend],
    }, columns(points), "Value, mean, baseline and bound over time; episodes are shaded");
    this.root = this.chart.root;
  }

  update(points, spans) {
    [this.points, this.spans] = [points, spans];
    this.chart.update(columns(points));
  }

  close() { this.chart.close(); }
}

const columns = (p) => [p.time, p.value, p.mean, p.baseline, p.bound];

/** Seconds lost so far; `lost` has one value for each point. */
export class LossChart {
  constructor(points, spans, lost, height = 130) {
    [this.points, this.spans] = [points, spans];
    this.chart = new Chart({
      height,
      padding: [10, 16, 0, 0],
      cursor: { drag: { x: true, y: false }, y: false },
      scales: { x: { time: true }, y: { range: fromZero } },
      axes: axes(seconds),
      series: [legendTime, { label: "lost", value: (u, v) => seconds(v), stroke: () => css("contended"), fill: () => css("chart-span"), width: 2, points: { show: false } }],
      plugins: [shading(this), latestInLegend],
    }, [points.time, lost], "Seconds lost over time; episodes are shaded");
    this.root = this.chart.root;
  }

  update(points, spans, lost) {
    [this.points, this.spans] = [points, spans];
    this.chart.update([points.time, lost]);
  }

  close() { this.chart.close(); }
}

/** Rate of all clients of a file system, in the unit of the metric. */
export class RateChart {
  constructor(rates, { unit, title }, height = 200) {
    this.chart = new Chart({
      height,
      padding: [10, 16, 0, 0],
      cursor: { drag: { x: true, y: false }, y: false },
      scales: { x: { time: true }, y: { range: fromZero } },
      axes: axes((v) => reading(v, unit)),
      series: [legendTime, { label: title, value: (u, v) => reading(v, unit), stroke: () => css("chart-mean"), width: 2, points: { show: false } }],
      plugins: [latestInLegend],
    }, [rates.time, rates.rate], `All clients over time: ${title}`);
    this.root = this.chart.root;
  }

  update(rates) { this.chart.update([rates.time, rates.rate]); }

  close() { this.chart.close(); }
}

/** Rates of the raw counters: traffic passed and waits, named by the metric. */
export class CountersChart {
  constructor(counters, height = 160) {
    const line = (label, color) => ({ label, value: (u, v) => perSecond(v, label), stroke: () => css(color), width: 1.5, points: { show: false } });
    this.chart = new Chart({
      height,
      padding: [10, 16, 0, 0],
      cursor: { drag: { x: true, y: false }, y: false },
      scales: { x: { time: true }, y: { range: fromZero } },
      axes: axes((v) => perSecond(v, "")),
      series: [legendTime, line(counters.counts[0], "chart-mean"), line(counters.counts[1], "chart-bound")],
      plugins: [latestInLegend],
    }, counterColumns(counters), `${counters.counts[0]} and ${counters.counts[1]} a second over time`);
    this.root = this.chart.root;
  }

  update(counters) { this.chart.update(counterColumns(counters)); }

  close() { this.chart.close(); }
}

const counterColumns = (c) => [c.time, c.passed_per_s, c.waited_per_s];

/** Number of links of a region and their worst windowed ratio, step by step; each with its own axis. */
export class RegionChart {
  constructor(columns, unit, height = 200) {
    const paths = uPlot.paths.stepped({ align: 1 });
    const [time, left] = axes(count);
    const right = { ...left, side: 1, scale: "ratio", grid: { show: false }, values: (u, splits) => splits.map((v) => reading(v, "")) };
    this.chart = new Chart({
      height,
      padding: [10, 0, 0, 0],
      cursor: { drag: { x: true, y: false }, y: false },
      scales: { x: { time: true }, y: { range: fromZero }, ratio: { range: fromZero } },
      axes: [time, { ...left, values: (u, splits) => splits.map((v) => (Number.isInteger(v) ? count(v) : "")) }, right],
      series: [
        legendTime,
        { label: "links", value: (u, v) => count(v), stroke: () => css("chart-mean"), width: 2, paths, points: { show: false } },
        { label: "worst ratio", scale: "ratio", value: (u, v) => reading(v, unit), stroke: () => css("chart-bound"), width: 2, paths, points: { show: false } },
      ],
      plugins: [latestInLegend],
    }, columns, "Links of the region and the worst ratio among them over time");
    this.root = this.chart.root;
  }

  update(columns) { this.chart.update(columns); }

  close() { this.chart.close(); }
}

/** Seconds that a series lost since the first point shown. */
export const grown = (points) => points.slowdown_s.map((lost) => lost - points.slowdown_s[0]);
