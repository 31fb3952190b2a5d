// Charts over time: one class for each kind, with shaded episodes.

import uPlot from "../lib/uplot/uPlot.esm.js";
import { axes, Chart, css, fromZero, legendTime, spikes, upTo99th } from "./chart_frame.js";
import { el } from "./dom.js";
import { count, perSecond, reading, seconds } from "./format.js";

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

/** The legend of the shade and of the line at the foot. */
export const shadeLegend = () => el("span", { class: "shade-legend" },
  el("span", {}, el("i", { class: "dated", "aria-hidden": "true" }), "episode"),
  el("span", {}, el("i", { class: "flagged", "aria-hidden": "true" }), "flagged live"));

/** Value, mean, baseline and bound of one series. */
export class SignalChart {
  constructor(points, spans, unit, height = 300) {
    [this.points, this.spans] = [points, spans];
    const value = (u, v) => reading(v, unit);
    const line = (label, color, more) => ({ label, value, stroke: () => css(color), points: { show: false }, ...more });
    this.chart = new Chart({
      height,
      scales: { x: { time: true }, y: { range: upTo99th(1) } },
      axes: axes((v) => reading(v, unit === "bytes/s" ? unit : ""), unit === "bytes/s" ? "" : unit),
      series: [
        legendTime,
        line("value", "chart-value", { width: 1 }),
        line("mean", "chart-mean", { width: 2.2 }),
        line("baseline", "chart-baseline", { width: 1.5, dash: [7, 4] }),
        line("bound", "chart-bound", { width: 1.5, dash: [2, 3] }),
      ],
      plugins: [shading(this), spikes([1], (v) => reading(v, unit))],
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

/** Seconds lost so far, with the band of the 95% interval where `loss` has its ends; each has one value for each point. */
export class LossChart {
  constructor(points, spans, loss, height = 150) {
    [this.points, this.spans] = [points, spans];
    const line = (label, more) => ({ label, value: (u, v) => seconds(v), stroke: () => css("contended"), width: 2, points: { show: false }, ...more });
    const end = (label) => line(label, { width: 0.6, dash: [3, 3] });
    this.chart = new Chart({
      height,
      scales: { x: { time: true }, y: { range: fromZero } },
      axes: axes(seconds, "seconds lost"),
      series: [legendTime, line("lost", loss.lo ? {} : { fill: () => css("chart-span") }), ...(loss.lo ? [end("upper end"), end("lower end")] : [])],
      bands: loss.lo ? [{ series: [2, 3], fill: () => css("chart-span") }] : [],
      plugins: [shading(this)],
    }, lossColumns(points, loss), `Seconds lost over time${loss.lo ? ", with the 95% interval" : ""}; episodes are shaded`);
    this.root = this.chart.root;
  }

  update(points, spans, loss) {
    [this.points, this.spans] = [points, spans];
    this.chart.update(lossColumns(points, loss));
  }

  close() { this.chart.close(); }
}

const lossColumns = (points, { value, lo, hi }) => (lo ? [points.time, value, hi, lo] : [points.time, value]);

/** A course of a loss with its ends: those of the server, else the same share of the ends of the result. */
export function withEnds({ value, lo, hi }, result) {
  if (lo && hi) return { value, lo, hi };
  const share = (end) => value.map((v) => (v === null || end === null || !(result.slowdown_s > 0) ? null : (v * end) / result.slowdown_s));
  return { value, lo: share(result.slowdown_lo_s), hi: share(result.slowdown_hi_s) };
}

/** Rate of all clients of a file system, in the unit of the metric. */
export class RateChart {
  constructor(rates, { unit, title }, height = 200) {
    this.chart = new Chart({
      height,
      scales: { x: { time: true }, y: { range: upTo99th(1) } },
      axes: axes((v) => reading(v, unit)),
      series: [legendTime, { label: title, value: (u, v) => reading(v, unit), stroke: () => css("chart-mean"), width: 2, points: { show: false } }],
      plugins: [spikes([1], (v) => reading(v, unit))],
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
      scales: { x: { time: true }, y: { range: upTo99th(1, 2) } },
      axes: axes((v) => perSecond(v, ""), `${counters.counts.join(" and ")} per s`),
      series: [legendTime, line(counters.counts[0], "chart-mean"), line(counters.counts[1], "chart-bound")],
      plugins: [spikes([1, 2], (v, i) => perSecond(v, counters.counts[i - 1]))],
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
    const [time, left] = axes(count, "links");
    const right = { ...left, side: 1, scale: "ratio", grid: { show: false }, label: unit, values: (u, splits) => splits.map((v) => reading(v, "")) };
    this.chart = new Chart({
      height,
      padding: [10, 0, 0, 0],
      scales: { x: { time: true }, y: { range: fromZero }, ratio: { range: fromZero } },
      axes: [time, { ...left, values: (u, splits) => splits.map((v) => (Number.isInteger(v) ? count(v) : "")) }, right],
      series: [
        legendTime,
        { label: "links", value: (u, v) => count(v), stroke: () => css("chart-mean"), width: 2, paths, points: { show: false } },
        { label: "worst ratio", scale: "ratio", value: (u, v) => reading(v, unit), stroke: () => css("chart-bound"), width: 2, paths, points: { show: false } },
      ],
      plugins: [],
    }, columns, "Links of the region and the worst ratio among them over time");
    this.root = this.chart.root;
  }

  update(columns) { this.chart.update(columns); }

  close() { this.chart.close(); }
}

/** Seconds that a series lost since the first point shown. */
export const grown = (points) => points.slowdown_s.map((lost) => lost - points.slowdown_s[0]);
