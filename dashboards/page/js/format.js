// Formats of numbers. An absent number is a dash, never a zero.

export const NONE = "–";
const known = (x) => typeof x === "number" && Number.isFinite(x);
const grouped = new Intl.NumberFormat("en-GB");
const one = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** 12,345 */
export const count = (x) => (known(x) ? grouped.format(Math.round(x)) : NONE);

/** Partitions of a database number their own episodes: a million million for each partition, then its number. */
const PARTITION = 1e12;
/** 12; in a database `3:12` for partition 3, as `tailback explain` takes it. */
export const episodeName = (id) => (id < PARTITION ? `${id}` : `${Math.floor(id / PARTITION)}:${id % PARTITION}`);

/** 1,234.5 without a unit. */
export const tenths = (x) => (known(x) ? one.format(x) : NONE);

/** Seconds lost or elapsed: 31.7 s, 431.0 s, 12 min 5 s, 3 h 20 min. */
export function seconds(x) {
  if (!known(x)) return NONE;
  if (x < 599.95) return `${one.format(x)} s`;
  const s = Math.round(x);
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  const minutes = Math.round(x / 60);
  if (x < 172800) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${one.format(x / 86400)} d`;
}

/** Units of intervals, each up to a largest upper end in seconds. */
const INTERVAL_UNITS = [[599.95, 1, "s"], [7200, 60, "min"], [172800, 3600, "h"], [Infinity, 86400, "d"]];
const unitOf = (hi) => INTERVAL_UNITS.find(([most]) => hi < most);
/** A value above 0 never looks like 0. */
const scaled = (x, scale) => (x > 0 && x / scale < 0.05 ? "< 0.1" : one.format(x / scale));

/** The 95 % interval of a loss in one unit. */
export const interval = (lo, hi) => {
  if (!known(lo) || !known(hi)) return NONE;
  const [, scale, unit] = unitOf(hi);
  return `${scaled(lo, scale)} – ${one.format(hi / scale)} ${unit}`;
};

/** A loss in the unit of its interval, which ends at `hi`. */
export const inUnitOf = (hi, x) => {
  if (!known(x) || !known(hi)) return seconds(x);
  const [, scale, unit] = unitOf(hi);
  return `${scale === 1 ? one.format(x) : scaled(x, scale)} ${unit}`;
};

/** How long ago, roughly: 40 s ago, 12 min ago, 2 h ago, 3 d ago. */
export function ago(s) {
  const [scale, unit] = s < 60 ? [1, "s"] : s < 3600 ? [60, "min"] : s < 172800 ? [3600, "h"] : [86400, "d"];
  return `${count(Math.floor(s / scale))} ${unit} ago`;
}

/** Node-hours: 0.059, 1.24, 33.4; a value above 0 never looks like 0. */
export function nodeHours(x) {
  if (!known(x)) return NONE;
  if (x > 0 && x < 0.001) return "< 0.001";
  return x < 1 ? x.toFixed(3) : x < 10 ? x.toFixed(2) : one.format(x);
}

/** The 95 % interval of the share of its time that a job lost. */
export const shareInterval = ({ slowdown_lo_s: lo, slowdown_hi_s: hi, elapsed_s: elapsed }) =>
  (known(lo) && known(hi) && elapsed > 0 ? `${one.format((100 * lo) / elapsed)} – ${one.format((100 * hi) / elapsed)} %` : NONE);

/** A share as percent; a share below 1 is never shown as 100 %, a share above 0 never as 0 %. */
export function percent(share) {
  if (!known(share)) return NONE;
  const p = share * 100;
  if (p > 99.9 && p < 100) return "> 99.9 %";
  if (p > 0 && p < 0.1) return "< 0.1 %";
  return `${p >= 99.95 || p === 0 ? Math.round(p) : one.format(p)} %`;
}

const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];

function withPrefix(x, unit) {
  const [scale, prefix] = PREFIXES.find(([limit]) => Math.abs(x) >= limit) ?? [1, ""];
  return `${significant(x / scale)} ${prefix}${unit}`;
}

function significant(x) {
  if (x === 0) return "0";
  const a = Math.abs(x);
  return x.toFixed(a >= 100 ? 0 : a >= 10 ? 1 : a >= 0.1 ? 2 : a >= 0.01 ? 3 : 4);
}

/** Bytes: 1.25 GB. */
export const bytes = (x) => (known(x) ? withPrefix(x, "B") : NONE);

/** A reading in its unit; units come from the server. */
export function reading(x, unit) {
  if (!known(x)) return NONE;
  return unit === "bytes/s" ? withPrefix(x, "B/s") : `${significant(x)} ${unit}`;
}

/** 3.1 M flits/s. */
export const perSecond = (x, what) => (known(x) ? withPrefix(x, ` ${what}/s`).replace("  ", " ") : NONE);

const pad = (n) => String(n).padStart(2, "0");

/** 14:03:27, UTC. */
export function clock(t) {
  if (!known(t)) return NONE;
  const d = new Date(t * 1000);
  return `${pad(d.getUTCHours())}:${pad(d.getUTCMinutes())}:${pad(d.getUTCSeconds())}`;
}

/** 2026-05-02, UTC. */
export const day = (t) => (known(t) ? new Date(t * 1000).toISOString().slice(0, 10) : NONE);

/** 2026-05-02 14:03:27 */
export const moment = (t) => (known(t) ? `${day(t)} ${clock(t)}` : NONE);

/** The text with a capital first letter. */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
