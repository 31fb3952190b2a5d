// Cost of contention: node-hours lost in each hour of a day, by cause.

import { el, empty } from "./dom.js";
import { moment, nodeHours, percent } from "./format.js";
import { piles } from "./spark.js";
import { CAUSE_WORDS } from "./words.js";

/** The response of /paid as bars with a legend. */
export function paidBars({ from, hours, paid }) {
  const all = paid.reduce((sum, each) => sum + each.node_hours, 0);
  if (!(all > 0)) return empty("No loss measured in these hours.", "", true);
  const causes = Object.keys(CAUSE_WORDS).filter((cause) => paid.some((each) => each.cause === cause));
  const hour = (i) => causes.flatMap((cause) => {
    const found = paid.find((each) => each.cause === cause && Math.round((each.time - from) / 3600) === i);
    return found ? [{ key: cause, value: found.node_hours }] : [];
  });
  const pile = (i) => ({ parts: hour(i), ...endsOf(paid.filter((each) => Math.round((each.time - from) / 3600) === i)) });
  const sum = (of, column) => of.reduce((total, each) => total + each[column], 0);
  const of = (cause) => paid.filter((each) => each.cause === cause);
  const summary = `${lostBy(paid)} lost in ${hours} hours`;
  const picture = piles(Array.from({ length: hours }, (_, i) => pile(i)), summary, `from ${moment(from).slice(0, 16)} UTC`, "current hour", (value) => `${nodeHours(value)} node-hours`);
  const legend = causes.map((cause) => el("div", { "data-cause": cause }, el("i", { "aria-hidden": "true" }), `${CAUSE_WORDS[cause]}: ${lostBy(of(cause))}, ${percent(sum(of(cause), "node_hours") / all)}`));
  return el("div", { class: "paid" }, el("p", {}, `${summary}:`), picture, el("div", { class: "paid-legend" }, ...legend));
}

/** The ends of a sum: the sums of the ends. */
const endsOf = (rows) => Object.fromEntries(["lo", "hi"].map((end) => [end, rows.reduce((total, each) => total + each[`node_hours_${end}`], 0)]));

/** A sum with its 95 % interval: the ends are the sums of the ends. */
function lostBy(rows) {
  const [all, lo, hi] = ["node_hours", "node_hours_lo", "node_hours_hi"].map((column) => rows.reduce((total, each) => total + each[column], 0));
  return `${nodeHours(all)} [${nodeHours(lo)}, ${nodeHours(hi)}] node-hours`;
}
