// Small charts: a number over time, and stacked bars of hours. The labels of their axes are text beside the drawing.

import { drawingButtons } from "./chart_export.js";
import { el, svg } from "./dom.js";
import { clock } from "./format.js";

const [WIDTH, HEIGHT] = [600, 80];

const drawing = (kind, words, ...children) => svg("svg", { class: kind, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, height: HEIGHT, preserveAspectRatio: "none", role: "img", "aria-label": words }, ...children);

/** A drawing with the value of its top edge, and the texts below it. */
function framed(picture, top, left, right, words) {
  return el("figure", { class: "drawing" }, el("div", { class: "axis" }, el("span", {}, top), drawingButtons(picture, words)), picture,
    el("figcaption", { class: "axis" }, el("span", {}, left), el("span", {}, right)));
}

/**
 * A number over time, from zero up; `words` is the label of the chart, `last` the text at its end, `format` that of a value.
 * @param {{lo: number[], hi: number[]}} [ends] the ends of an interval, drawn around the line
 */
export function spark(time, values, words, last, format, ends = null) {
  const known = (list) => list.filter((v) => v !== null && v !== undefined);
  const band = ends?.hi && known(ends.hi).length > 0 ? ends : null;
  const top = Math.max(...known(values), ...known(band?.hi ?? []), 0.001);
  const [from, to] = [time[0], time.at(-1)];
  const x = (t) => (((t - from) / Math.max(to - from, 0.001)) * WIDTH).toFixed(1);
  const points = (list) => list.flatMap((v, i) => (v === null || v === undefined ? [] : [`${x(time[i])} ${(HEIGHT - 2 - (v / top) * (HEIGHT - 8)).toFixed(1)}`]));
  const path = points(values).join("L");
  const under = band === null ? `M0 ${HEIGHT}L${path}L${WIDTH} ${HEIGHT}Z` : `M${[...points(band.hi), ...points(band.lo).reverse()].join("L")}Z`;
  const picture = drawing("spark", words, svg("path", { class: "area", d: under }), svg("path", { d: `M${path}` }));
  return framed(picture, `0 to ${format(top)}`, `${clock(from)} UTC`, last, words);
}

/**
 * Stacked bars of equal width, with whiskers.
 * @param {{parts: {key: string, value: number}[], lo: number, hi: number}[]} piles from left to right; one without parts leaves a gap
 */
export function piles(piles, words, from, to, format) {
  const sum = ({ parts }) => parts.reduce((total, part) => total + part.value, 0);
  const top = Math.max(...piles.map((pile) => Math.max(sum(pile), pile.hi)), 1e-9);
  const wide = WIDTH / piles.length;
  const high = (value) => (value / top) * (HEIGHT - 3);
  const bars = piles.flatMap((pile, i) => {
    let y = HEIGHT;
    return pile.parts.map(({ key, value }) => {
      y -= high(value);
      return svg("rect", { "data-cause": key, x: (i * wide + 1).toFixed(1), y: y.toFixed(2), width: (wide - 2).toFixed(1), height: high(value).toFixed(2) });
    });
  });
  const picture = drawing("piles", words, ...bars, ...piles.flatMap((pile, i) => (pile.hi > 0 ? [whisker((i + 0.5) * wide, wide, HEIGHT - high(pile.lo), HEIGHT - high(pile.hi))] : [])));
  return framed(picture, `0 to ${format(top)}`, from, to, words);
}

/** An interval as a vertical line with two ends. */
function whisker(x, wide, low, high) {
  const end = Math.min(5, wide / 4);
  const stroke = (y) => `M${(x - end).toFixed(1)} ${y.toFixed(1)}H${(x + end).toFixed(1)}`;
  return svg("path", { class: "whisker", d: `M${x.toFixed(1)} ${low.toFixed(1)}V${high.toFixed(1)}${stroke(low)}${stroke(high)}` });
}
