// Incidents: contended regions and contention of file systems, open ones first.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { growing } from "./growing.js";
import { incidentTable, shown } from "./parts.js";
import { refresher } from "./refresh.js";
import { links, setFilters } from "./routes.js";
import { longRows } from "./table.js";

const HOUR_S = 3600;
const SPANS = [["", "All stored", null], ["15m", "Latest 15 minutes", HOUR_S / 4], ["1h", "Latest hour", HOUR_S], ["24h", "Latest 24 hours", 24 * HOUR_S], ["7d", "Latest 7 days", 168 * HOUR_S]];
const CHOICES = [["", "All"], ["true", "Open"], ["false", "Ended"]];

export function openIncidents(root, route) {
  const { open = "" } = route.filters;
  let span = SPANS.find(([key]) => key === route.filters.span) ?? SPANS[0];
  let clock = null;
  const select = el("select", { "aria-label": "Span of time" }, ...SPANS.map(([key, words]) => el("option", { value: key }, words)));
  select.value = span[0];
  const choice = el("div", { class: "choice", role: "group", "aria-label": "State of incidents" });
  const choices = () => fill(choice, ...CHOICES.map(([value, word]) =>
    el("a", { href: links.list("incidents", { open: value, span: span[0] }), "aria-current": value === open ? "true" : null }, word)));
  choices();
  const total = el("span", {});
  const body = el("div", {}, empty("Loading incidents…", "", true));
  /** The span ends at the newest data: the time of a store may be simulated. */
  const from = () => (span[2] === null || clock === null ? null : Math.max(0, clock - span[2]));
  const more = growing((limit, offset) => ask("incidents", { open, from: from(), limit, offset }), "incidents", () => data.now());
  root.append(el("div", { class: "title" }, el("h1", {}, "Incidents"), choice, select),
    card("Contended links and file systems, open ones first, then the largest lower end of the loss", el("div", {}, body, more.root), total));

  const show = (answer) => {
    const first = clock === null;
    clock = answer.clock;
    // The first response, without a span, has the clock that the span needs.
    if (first && clock !== null && span[2] !== null) return setTimeout(() => data.now());
    setText(total, shown(answer.incidents, answer.total));
    fill(body, answer.incidents.length ? incidentTable(answer.incidents, { total: answer.total, rows: longRows })
      : empty("No incidents", "Contention of links or file systems that persists will be listed here. Series without data are unknown, not healthy: see Health."));
  };
  const fail = (error) => fill(body, failure("No incidents to show", error));
  const data = refresher(more.ask, show, fail, 2000);
  select.addEventListener("change", () => {
    span = SPANS.find(([key]) => key === select.value);
    setFilters({ span: span[0] });
    choices();
    more.restart();
    data.now();
  });
  return {
    tick(tick) {
      clock ??= tick.clock ?? null;
      data.tick(tick);
    },
    close: data.close,
  };
}
