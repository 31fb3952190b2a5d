// What the words of the store are called on the page.

/** States in the order in which they matter. */
export const STATES = ["contended", "clear", "warmup", "idle", "unknown"];

export const STATE_WORDS = {
  contended: ["contended", "the mean has passed its bound"],
  clear: ["clear", "compared with its baseline and found not contended"],
  warmup: ["warming up", "too few readings for a baseline; nothing is known yet"],
  idle: ["idle", "below the activity floor: nothing to contend for"],
  unknown: ["unknown", "no data; this is not healthy, it is unknown"],
};

const METRIC_TITLES = {
  aries_stall_ratio: "Aries routers",
  ib_wait_ratio: "InfiniBand ports",
  lustre_write_rate: "Lustre clients",
};

export const METRICS = Object.keys(METRIC_TITLES);

const METRIC_WORDS = {
  aries_stall_ratio: "stalls per flit of each tile",
  ib_wait_ratio: "wait ticks per data word",
  lustre_write_rate: "write rate of each mount",
};

/** A metric's heading; a metric that this page does not know keeps its own name. */
export const metricTitle = (metric) => METRIC_TITLES[metric] ?? metric;
export const metricWords = (metric) => METRIC_WORDS[metric] ?? "";

export const CAUSE_WORDS = {
  self: "the job itself",
  other_job: "another job",
  io_on_mpi: "I/O on the links of messages",
  failover_induced: "a failed path's load",
  unknown: "the data does not tell",
};

export const KIND_WORDS = {
  avoidable: "avoidable by routing or placement",
  capacity: "capacity in use",
  endpoint: "an end that takes no more",
  unknown: "kind unknown",
};
