// The heat map of one metric: a canvas, since ten thousand elements would be slow; usable with the keyboard.

import { el, setText, fill } from "./dom.js";
import { reading, NONE } from "./format.js";
import { cellAt, cellBeside, layOut } from "./heat_layout.js";
import { inkOf, readPalette, strength } from "./palette.js";
import { links } from "./routes.js";
import { STATE_WORDS } from "./words.js";

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class HeatMap {
  /**
   * @param {{name, unit, direction}} metric
   * @param {string} title for screen readers
   * @param {boolean} rolled one cell per component, which shows the worst of its series
   */
  constructor(metric, title, rolled = false) {
    [this.metric, this.rolled] = [metric, rolled];
    this.focused = -1;
    this.canvas = el("canvas", {
      tabindex: "0", role: "application", "aria-roledescription": "heat map", class: "heat-map",
      "aria-label": `${title}: arrow keys move from series to series, Enter opens one`,
    });
    this.spoken = el("p", { class: "unseen", "aria-live": "polite" });
    this.tip = el("div", { class: "tip", hidden: "" });
    this.root = el("div", { class: "heat-body" }, this.canvas, this.tip, this.spoken);
    this.pen = this.canvas.getContext("2d");
    this.palette = readPalette(this.pen);
    this.layout = { cells: [], labels: [], height: 0 };
    this.listen();
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    canvas.addEventListener("pointerleave", () => this.point(-1));
    canvas.addEventListener("click", (event) => this.open(cellAt(this.layout.cells, event.offsetX, event.offsetY)));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => { if (canvas.matches(":focus-visible")) this.point(Math.max(0, this.kept ?? 0), true); });
    canvas.addEventListener("blur", () => this.point(-1));
    this.onScheme = () => { this.palette = readPalette(this.pen); this.draw(); };
    document.addEventListener("scheme", this.onScheme);
    this.watcher = new ResizeObserver(() => this.place());
    this.watcher.observe(this.root);
  }

  close() {
    document.removeEventListener("scheme", this.onScheme);
    this.watcher.disconnect();
  }

  /** New series: `names` are columns, `rows` those of this metric. */
  setSeries(names, rows) {
    const at = this.focused < 0 ? null : this.nameOf(this.layout.cells[this.focused].row);
    // New values follow; the old ones have other rows.
    [this.names, this.rows, this.width, this.values] = [names, rows, null, null];
    this.place();
    if (at !== null) this.focused = this.layout.cells.findIndex((cell) => this.nameOf(cell.row) === at);
    this.tip.hidden = this.focused < 0;
  }

  /** New values of the same series, in columns; `states` are the names for the numbers in `values.state`. */
  setValues(values, states) {
    [this.values, this.states] = [values, states];
    this.draw();
    if (this.focused >= 0) this.describe(false);
  }

  place() {
    const width = Math.floor(this.root.clientWidth);
    if (!this.names || width === 0 || width === this.width) return;
    this.width = width;
    this.layout = layOut(this.names, this.rows, width, this.rolled);
    const scale = devicePixelRatio || 1;
    this.canvas.width = width * scale;
    this.canvas.height = this.layout.height * scale;
    this.canvas.style.height = `${this.layout.height}px`;
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.palette = readPalette(this.pen);
    this.draw();
  }

  /** The worst series of a component changes; the name of the component does not. */
  nameOf(row) {
    return (this.rolled ? this.names.component : this.names.name)[row];
  }

  stateOf(row) {
    return this.states[this.values.state[row]] ?? "unknown";
  }

  draw() {
    if (!this.values || !this.names) return;
    const { pen, palette, values } = this;
    pen.clearRect(0, 0, this.width, this.layout.height);
    for (const cell of this.layout.cells) {
      const state = this.stateOf(cell.row);
      const t = strength(state, values.mean[cell.row], values.bound[cell.row], this.metric.direction);
      const ink = inkOf(palette, state, t);
      pen.fillStyle = ink.fill;
      if (this.layout.cards) this.drawCard(cell, state, ink);
      else pen.fillRect(cell.x, cell.y, cell.w, cell.h);
    }
    this.drawLabels();
    if (this.focused >= 0) this.drawRing(this.layout.cells[this.focused]);
  }

  drawCard(cell, state, ink) {
    const { pen } = this;
    pen.beginPath();
    pen.roundRect(cell.x, cell.y, cell.w, cell.h, 6);
    pen.fill();
    pen.fillStyle = ink.text;
    pen.font = "600 12px system-ui, sans-serif";
    pen.fillText(this.names.component[cell.row], cell.x + 9, cell.y + 17, cell.w - 18);
    pen.font = "12px system-ui, sans-serif";
    const value = reading(this.values.mean[cell.row], this.metric.unit);
    pen.fillText(value === NONE ? STATE_WORDS[state][0] : value, cell.x + 9, cell.y + 33, cell.w - 18);
  }

  drawLabels() {
    this.pen.fillStyle = this.palette.muted;
    this.pen.font = "11px system-ui, sans-serif";
    for (const label of this.layout.labels) this.pen.fillText(label.text, label.x, label.y, label.width);
  }

  drawRing(cell) {
    const { pen, palette } = this;
    for (const [color, out, width] of [[palette.surface, 1, 4], [palette.text, 1, 2]]) {
      pen.strokeStyle = color;
      pen.lineWidth = width;
      pen.strokeRect(cell.x - out, cell.y - out, cell.w + 2 * out, cell.h + 2 * out);
    }
  }

  hover(event) {
    this.point(cellAt(this.layout.cells, event.offsetX, event.offsetY));
  }

  key(event) {
    const step = STEPS[event.key];
    const last = this.layout.cells.length - 1;
    const from = Math.min(last, Math.max(0, this.focused));
    if (last < 0) return;
    if (step) this.point(cellBeside(this.layout.cells, from, ...step), true);
    else if (event.key === "Home") this.point(0, true);
    else if (event.key === "End") this.point(last, true);
    else if (event.key === "Enter") this.open(from);
    else if (event.key === "Escape") this.point(-1);
    else return;
    event.preventDefault();
  }

  /** Points at a cell; `speak` when the keyboard moved there. */
  point(index, speak = false) {
    if (index === this.focused && !speak) return;
    this.focused = index;
    if (index >= 0) this.kept = index;
    this.draw();
    this.tip.hidden = index < 0;
    this.canvas.dataset.focused = index < 0 ? "" : this.nameOf(this.layout.cells[index].row);
    if (index >= 0 && this.values) this.describe(speak);
  }

  describe(speak) {
    const cell = this.layout.cells[this.focused];
    const { row } = cell;
    const unit = this.metric.unit;
    const name = this.nameOf(row);
    const state = STATE_WORDS[this.stateOf(row)][0];
    const facts = [["state", state], ["mean", reading(this.values.mean[row], unit)],
      ["baseline", reading(this.values.baseline[row], unit)], ["bound", reading(this.values.bound[row], unit)]];
    fill(this.tip, el("b", {}, name), el("dl", {}, ...facts.map(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])));
    if (speak) setText(this.spoken, `${name}, ${facts.map(([k, v]) => `${k} ${v}`).join(", ")}`);
    const right = cell.x + cell.w + 12;
    const wide = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, right + wide > this.width ? Math.min(cell.x - wide - 12, this.width - wide) : right)}px`;
    this.tip.style.top = `${this.canvas.offsetTop + cell.y + (right + wide > this.width && cell.x < wide + 12 ? cell.h + 10 : -6)}px`;
  }

  open(index) {
    if (index < 0) return;
    const { row } = this.layout.cells[index];
    if (!this.rolled) location.hash = links.series(this.names.name[row]);
    else location.hash = links.list("series", { metric: this.metric.name, search: `/${this.names.component[row]}${this.names.part[row] ? "/" : ""}` });
  }
}
