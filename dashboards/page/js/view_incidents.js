// Incidents: contended regions and contention of file systems, open ones first.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { growing } from "./growing.js";
import { incidentTable, shown } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { longRows } from "./table.js";
import { timePicker } from "./time.js";

const CHOICES = [["", "All"], ["true", "Open"], ["false", "Ended"]];

export function openIncidents(root, route) {
  const { open = "" } = route.filters;
  const choice = el("div", { class: "choice", role: "group", "aria-label": "State of incidents" });
  const choices = () => fill(choice, ...CHOICES.map(([value, word]) =>
    el("a", { href: links.list("incidents", { open: value, ...time.filters() }), "aria-current": value === open ? "true" : null }, word)));
  const time = timePicker(route, () => { choices(); more.restart(); data.now(); });
  choices();
  const total = el("span", {});
  const body = el("div", {}, empty("Loading incidents…", "", true));
  const more = growing(async (limit, offset) => ask("incidents", { open, ...await time.bounds(), limit, offset }), "incidents", () => data.now());
  root.append(el("div", { class: "title" }, el("h1", {}, "Incidents"), choice, time.root),
    card("Contended links and file systems, open ones first, then the largest lower end of the loss", el("div", {}, body, more.root), total));

  const show = (answer) => {
    setText(total, shown(answer.incidents, answer.total));
    fill(body, answer.incidents.length ? incidentTable(answer.incidents, { total: answer.total, rows: longRows })
      : empty("No incidents", "Contention of links or file systems that persists is listed here. Series without data are unknown, not healthy: see Health."));
  };
  const fail = (error) => fill(body, failure("No incidents to show", error));
  const data = refresher(more.ask, show, fail, 2000);
  return { tick: data.tick, close: data.close };
}
