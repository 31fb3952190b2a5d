// Charts over time: uPlot with the page's colours, UTC, and shaded contended ticks.

import uPlot from "../lib/uplot/uPlot.esm.js";
import { el } from "./dom.js";
import { clock, moment, reading, seconds } from "./format.js";

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Stretches of ticks that were contended, as [from, to] in event time. */
function contendedStretches({ time, state }) {
  const stretches = [];
  state.forEach((word, i) => {
    if (word !== "contended") return;
    const last = stretches.at(-1);
    const from = i > 0 ? time[i - 1] : time[i];
    if (last && last[1] === from) last[1] = time[i];
    else stretches.push([from, time[i]]);
  });
  return stretches;
}

/** Shades below the lines; the edges say the same to those who do not see the shade. */
function shading(stretches) {
  return {
    hooks: {
      drawClear: (u) => {
        const { ctx, bbox } = u;
        ctx.save();
        ctx.beginPath();
        ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
        ctx.clip();
        for (const [from, to] of stretches()) {
          const [a, b] = [u.valToPos(from, "x", true), u.valToPos(to, "x", true)];
          ctx.fillStyle = css("chart-span");
          ctx.fillRect(a, bbox.top, b - a, bbox.height);
          ctx.fillStyle = css("contended");
          ctx.fillRect(a, bbox.top, b - a, 2 * devicePixelRatio);
        }
        ctx.restore();
      },
    },
  };
}

function axes(format) {
  const base = { stroke: () => css("muted"), grid: { stroke: () => css("line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  return [
    { ...base, space: 80, size: 30, values: (u, splits) => splits.map(clock) },
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

  /** New data; whoever has zoomed in keeps that view. */
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
  constructor(points, unit, height = 300) {
    this.points = points;
    const value = (u, v) => reading(v, unit);
    const line = (label, color, more) => ({ label, value, stroke: () => css(color), points: { show: false }, ...more });
    this.chart = new Chart({
      height,
      padding: [10, 16, 0, 0],
      cursor: { drag: { x: true, y: false }, y: false },
      scales: { x: { time: true }, y: { range: fromZero } },
      axes: axes((v) => reading(v, unit)),
      series: [
        legendTime,
        line("value", "chart-value", { width: 1 }),
        line("mean", "chart-mean", { width: 2.2 }),
        line("baseline", "chart-baseline", { width: 1.5, dash: [7, 4] }),
        line("bound", "chart-bound", { width: 1.5, dash: [2, 3] }),
      ],
      plugins: [shading(() => contendedStretches(this.points))],
    }, columns(points), "Value, mean, baseline and bound over time; contended ticks are shaded");
    this.root = this.chart.root;
  }

  update(points) {
    this.points = points;
    this.chart.update(columns(points));
  }

  close() { this.chart.close(); }
}

const columns = (p) => [p.time, p.value, p.mean, p.baseline, p.bound];

/** Seconds lost so far, from zero at the first point. */
export class LossChart {
  constructor(points, height = 130) {
    this.points = points;
    this.chart = new Chart({
      height,
      padding: [10, 16, 0, 0],
      cursor: { drag: { x: true, y: false }, y: false },
      scales: { x: { time: true }, y: { range: fromZero } },
      axes: axes(seconds),
      series: [legendTime, { label: "lost", value: (u, v) => seconds(v), stroke: () => css("contended"), fill: () => css("chart-span"), width: 2, points: { show: false } }],
      plugins: [shading(() => contendedStretches(this.points))],
    }, grown(points), "Seconds lost since the first point shown");
    this.root = this.chart.root;
  }

  update(points) {
    this.points = points;
    this.chart.update(grown(points));
  }

  close() { this.chart.close(); }
}

const grown = (p) => [p.time, p.slowdown_s.map((s) => s - p.slowdown_s[0])];
