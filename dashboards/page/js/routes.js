// Addresses within the page. Every view has a hash that can be sent to a colleague.

import { seriesPath } from "./api.js";

export const links = {
  episode: (id) => `#/episode/${id}`,
  router: (name) => `#/router/${encodeURIComponent(name)}`,
  region: (id) => `#/region/${id}`,
  job: (id) => `#/job/${encodeURIComponent(id)}`,
  series: (name) => `#/series/${seriesPath(name)}`,
  /** A list with filters; empty ones are left out. */
  list: (view, filters = {}) => {
    const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value)).toString();
    return `#/${view}${query ? "?" + query : ""}`;
  },
};

/** The parts of a hash: the view, its object, and filters. */
export function readHash(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view, ...rest] = path.split("/");
  const what = rest.map(decoded).join("/");
  return { view: view || "now", what: what || null, filters: Object.fromEntries(new URLSearchParams(query)) };
}

function decoded(word) {
  // A hash typed by hand may hold a lone percent sign.
  try { return decodeURIComponent(word); } catch { return word; }
}

/** Changes filters of the open address; empty ones are removed. The history gets no entry. */
export function setFilters(changes) {
  const [path, query = ""] = location.hash.split("?");
  const filters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) filters.set(name, value);
    else filters.delete(name);
  }
  const text = filters.toString();
  history.replaceState(null, "", `${path || "#/now"}${text ? "?" + text : ""}`);
}
