// Labels of the page for names in the store.

import { ask } from "./api.js";

/** States in order of importance. */
export const STATES = ["contended", "clear", "warmup", "idle", "unknown"];

export const STATE_WORDS = {
  contended: ["contended", "the mean has passed its threshold"],
  clear: ["clear", "compared with its baseline and not contended"],
  warmup: ["warming up", "too few readings for a baseline"],
  idle: ["idle", "too little traffic to judge"],
  unknown: ["unknown", "no data; unknown, not healthy"],
};

/** Tiers of points other than ticks. */
export const TIER_WORDS = { "10s": "means of ten seconds", "1min": "means of a minute", "1h": "means of an hour" };

let catalogue = new Map();

/** Reads the catalogue of metrics. Before it is there a metric keeps its own name. */
export async function loadMetrics() {
  const metrics = await ask("metrics").then((answer) => answer.metrics, () => []);
  if (metrics.length > 0) catalogue = new Map(metrics.map((each) => [each.metric, each]));
  return metrics;
}

/** The heading of a metric. */
export function metricTitle(metric) {
  const known = catalogue.get(metric);
  return known ? `${known.subject}, ${known.title}` : metric;
}

/** The unit of its readings. */
export const metricUnit = (metric) => catalogue.get(metric)?.unit ?? "";

export const CAUSE_WORDS = {
  self: "the job itself",
  other_job: "another job",
  io_on_mpi: "I/O on the links of messages",
  failover_induced: "load of a failed or narrowed path",
  server: "a slower server",
  node: "a slower node",
  unknown: "cause unknown",
};

export const KIND_WORDS = {
  avoidable: "avoidable by routing or placement",
  capacity: "saturated",
  endpoint: "receiver-limited",
  unknown: "kind unknown",
};

/** The ends of links by class. */
export const CLASS_WORDS = {
  green: "inside a chassis",
  black: "between the chassis of a group",
  blue: "between groups",
  host: "between a host and its switch",
  leaf: "between leaves and the next level",
  spine: "between switches of higher levels",
  local: "between switches of a group",
  global: "between groups",
  other: "ends unknown",
};

/** Changes of a region; the name of another region has a column of its own. */
const CHANGE_WORDS = {
  began: "began",
  grew: "grew",
  shrank: "shrank",
  took_up: "merged with another region",
  went_into: "merged into another region, ended",
  split: "split: a part became another region",
  ended: "ended",
};

/** The label of a step in a region's timeline. */
export function changeWords({ change, other }) {
  if (change === "began" && other !== null) return "split off from another region";
  return CHANGE_WORDS[change] ?? change;
}

export const EVIDENCE_WORDS = {
  nodes_on_router: "its nodes are on the region's switches",
  flows_cross: "its flows cross the links, by the routing tables",
  lustre_bytes: "its nodes write to Lustre",
  io_endpoint: "links of I/O servers are among the contended ones",
  change_point: "its traffic rose when the region began",
  foreign_traffic: "adaptive routing takes foreign traffic through the group",
  link_down: "a parallel link went down before",
  link_narrowed: "it stalls while it carries less than before",
};
