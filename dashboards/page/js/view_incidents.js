// Incidents: contended regions and contention of file systems, open ones first.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { filterRow } from "./filter_row.js";
import { growing } from "./growing.js";
import { INCIDENT_ORDERS, incidentTable, resourceOf, shown } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { longRows, orderOf } from "./table.js";
import { timePicker } from "./time.js";

const CHOICES = [["", "All"], ["open", "Open"], ["ended", "Ended"]];

export function openIncidents(root, route) {
  const { state = "" } = route.filters;
  const choice = el("div", { class: "choice", role: "group", "aria-label": "State of incidents" });
  const choices = () => fill(choice, ...CHOICES.map(([value, word]) =>
    el("a", { href: links.list("incidents", { state: value, ...filters.values(), ...time.filters() }), "aria-current": value === state ? "true" : null }, word)));
  const restart = () => { choices(); more.restart(); data.now(); };
  const time = timePicker(route, restart);
  const filters = filterRow(route, ["user", "place", "mount", "cause"], restart);
  choices();
  const total = el("span", {});
  const body = el("div", {}, empty("Loading incidents…", "", true));
  const more = growing(async (limit, offset) => ask("incidents", { state, ...filters.values(), ...orderOf("Incidents", INCIDENT_ORDERS), ...await time.bounds(), limit, offset }), "incidents", () => data.now());
  root.append(el("div", { class: "title" }, el("h1", {}, "Incidents"), choice, time.root, filters.root),
    card("Contended links and file systems, open ones first, then the largest lower end of the loss", el("div", {}, body, more.root), total));

  const show = (answer) => {
    setText(total, shown(answer.incidents, answer.total));
    filters.suggest("mount", answer.incidents.map((i) => i.mount));
    const narrowed = Object.keys({ ...time.filters(), ...filters.values() }).length > 0;
    fill(body, answer.incidents.length ? incidentTable(answer.incidents, { total: answer.total, rows: longRows, reload: () => data.now(), filters: [["Resource", resourceOf]] })
      : narrowed ? empty("No incident matches.", "", true) : empty("No incidents", "Contention of links or file systems that persists is listed here. Series without data are unknown, not healthy: see Health."));
  };
  const fail = (error) => fill(body, failure("No incidents to show", error));
  const data = refresher(more.ask, show, fail, 2000);
  return { tick: data.tick, close: data.close };
}
