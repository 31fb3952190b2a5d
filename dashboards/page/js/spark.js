// Small charts without axes: a number over time, and stacked bars of hours.

import { el, svg } from "./dom.js";
import { clock } from "./format.js";

const [WIDTH, HEIGHT] = [600, 80];

/** A number over time, from zero up; `words` is the label of the chart, `last` the text at its end. */
export function spark(time, values, words, last) {
  const top = Math.max(...values.filter((v) => v !== null), 0.001);
  const [from, to] = [time[0], time.at(-1)];
  const x = (t) => (((t - from) / Math.max(to - from, 0.001)) * WIDTH).toFixed(1);
  const at = values.flatMap((v, i) => (v === null ? [] : [`${x(time[i])} ${(HEIGHT - 2 - (v / top) * (HEIGHT - 8)).toFixed(1)}`]));
  const path = at.join("L");
  const picture = svg("svg", { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, height: HEIGHT, preserveAspectRatio: "none", role: "img", "aria-label": words },
    svg("path", { class: "area", d: `M0 ${HEIGHT}L${path}L${WIDTH} ${HEIGHT}Z` }), svg("path", { d: `M${path}` }));
  return el("figure", {}, picture, el("figcaption", { class: "axis" }, el("span", {}, clock(from)), el("span", {}, last)));
}

/**
 * Stacked bars of equal width.
 * @param {{key: string, value: number}[][]} piles from left to right; an empty one leaves a gap
 */
export function piles(piles, words, from, to) {
  const sum = (pile) => pile.reduce((total, part) => total + part.value, 0);
  const top = Math.max(...piles.map(sum), 1e-9);
  const wide = WIDTH / piles.length;
  const bars = piles.flatMap((pile, i) => {
    let y = HEIGHT;
    return pile.map(({ key, value }) => {
      const high = (value / top) * (HEIGHT - 2);
      y -= high;
      return svg("rect", { "data-cause": key, x: (i * wide + 1).toFixed(1), y: y.toFixed(2), width: (wide - 2).toFixed(1), height: high.toFixed(2) });
    });
  });
  const picture = svg("svg", { class: "piles", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, height: HEIGHT, preserveAspectRatio: "none", role: "img", "aria-label": words }, ...bars);
  return el("figure", {}, picture, el("figcaption", { class: "axis" }, el("span", {}, from), el("span", {}, to)));
}
