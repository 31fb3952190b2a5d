// Cost of contention: node-hours lost in each hour of a day, by cause.

import { el, empty } from "./dom.js";
import { clock, percent, tenths } from "./format.js";
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
  const of = (cause) => paid.filter((each) => each.cause === cause).reduce((sum, each) => sum + each.node_hours, 0);
  const summary = `${nodeHours(all)} lost in ${hours} hours`;
  const picture = piles(Array.from({ length: hours }, (_, i) => hour(i)), summary, `from ${clock(from).slice(0, 5)}`, "current hour");
  const legend = causes.map((cause) => el("div", { "data-cause": cause }, el("i", { "aria-hidden": "true" }), `${CAUSE_WORDS[cause]}: ${nodeHours(of(cause))}, ${percent(of(cause) / all)}`));
  return el("div", { class: "paid" }, el("p", {}, `${summary}:`), picture, el("div", { class: "paid-legend" }, ...legend));
}

const nodeHours = (x) => `${x > 0 && x < 0.05 ? "< 0.1" : tenths(x)} node-hours`;
