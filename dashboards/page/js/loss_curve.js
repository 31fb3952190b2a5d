// The loss of a job over time.

import { withEnds } from "./chart.js";
import { clock, interval, seconds } from "./format.js";
import { spark } from "./spark.js";

/** The height is the job's result, and the band its 95% interval. */
export function lossCurve({ job, loss_curve: { time, slowdown_s: losses, slowdown_lo_s: lo, slowdown_hi_s: hi } }) {
  const last = `${seconds(losses.at(-1))}, 95 %: ${interval(job.slowdown_lo_s, job.slowdown_hi_s)},`;
  return spark(time, losses, `Loss grew to ${last}`, `${last} at ${clock(time.at(-1))} UTC`, seconds, withEnds({ value: losses, lo, hi }, job));
}
