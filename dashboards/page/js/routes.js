// Addresses within the page. Everything one can look at has a hash that can be sent to a colleague.

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

/** What a hash asks for: the view, what of it, and filters. */
export function readHash(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view, ...rest] = path.split("/");
  const words = rest.map(decoded).join("/");
  return { view: view || "now", what: words || null, filters: Object.fromEntries(new URLSearchParams(query)) };
}

function decoded(word) {
  // A hash typed by hand may hold a lone percent sign.
  try { return decodeURIComponent(word); } catch { return word; }
}
