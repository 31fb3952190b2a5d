// The ledger: node-hours that jobs lost to each other, as a matrix and as a list.

import { ask } from "./api.js";
import { card, el, empty, failure, fill, setText } from "./dom.js";
import { count, nodeHours, seconds } from "./format.js";
import { asNodeHours, lostIn, lostNodeHours } from "./parts.js";
import { refresher } from "./refresh.js";
import { links } from "./routes.js";
import { asLoss, longRows, table } from "./table.js";
import { LEDGER, timePicker } from "./time.js";

const SIDE_MAX = 10;
const PAIRS_MAX = 1000;

export function openBlame(root, route) {
  const time = timePicker(route, () => data.now(), LEDGER);
  const sum = el("span", {});
  const [matrix, list] = [el("div", {}, empty("Loading the ledger…", "", true)), el("div", {})];
  root.append(el("div", { class: "title" }, el("h1", {}, "Blame"), time.root),
    el("div", { class: "stack" }, card("Who lost how much to whom, in node-hours", el("div", {}, matrix), sum), card("Pairs, largest lower end first", el("div", {}, list))));
  const request = async () => ask("blame", { ...await time.bounds(), limit: PAIRS_MAX });
  const show = (answer) => {
    setText(sum, answer.total ? `${hours(answer)} in ${count(answer.total)} ${answer.total === 1 ? "pair" : "pairs"}` : "");
    if (answer.pairs.length === 0) {
      fill(matrix, empty("No job lost time to another one in this span.", "Losses without a known source are in Now, Cost of contention.", true));
      return fill(list);
    }
    fill(matrix, grid(answer.pairs));
    fill(list, pairTable(answer.pairs, answer.total));
  };
  const fail = (error) => fill(matrix, failure("No ledger", error));
  const data = refresher(request, show, fail, 10000);
  return { tick: data.tick, close: data.close };
}

const hours = ({ node_hours: best, node_hours_lo: lo, node_hours_hi: hi }) => `${nodeHours(best)} [${nodeHours(lo)}, ${nodeHours(hi)}] node-hours`;
/** Seconds that the victim lost; their interval is in proportion to that of its node-hours. */
const secondsOf = (p) => {
  const per = p.node_hours > 0 ? p.lost_s / p.node_hours : 0;
  return { lost_s: p.lost_s, lost_lo_s: per * p.node_hours_lo, lost_hi_s: per * p.node_hours_hi };
};
const timeLost = asLoss("lost");
const named = ({ job_id: id, name, user }) => [el("a", { href: links.job(id) }, id), " ", name, " ", el("span", { class: "muted" }, user)];

function pairTable(pairs, total) {
  const party = (name, of) => [name, "wide", (p) => named(of(p)), { value: (p) => of(p).job_id, out: (p) => ({ [name]: of(p).job_id, [`${name}: name`]: of(p).name, [`${name}: user`]: of(p).user }) }];
  return table([
    party("Victim", (p) => p.victim),
    party("Aggressor", (p) => p.aggressor),
    ["Lost, 95 % interval", "num", lostNodeHours, asNodeHours],
    ["Time lost, 95 %", "num", (p) => lostIn(secondsOf(p)), { value: (p) => timeLost.value(secondsOf(p)), out: (p) => timeLost.out(secondsOf(p)) }],
    ["Evidence", "tight", (p) => el("a", { href: links.job(p.victim.job_id), "aria-label": `Evidence of job ${p.victim.job_id}` }, "episodes and causes"), (p) => p.victim.job_id],
  ], pairs, "Pairs", { total, rows: longRows, filters: [["Victim's user", (p) => p.victim.user], ["Aggressor's user", (p) => p.aggressor.user]] });
}

/** Victims below each other, aggressors beside each other; the darker, the more is lost for certain. */
function grid(pairs) {
  const side = (of) => [...new Map(pairs.map((p) => [of(p).job_id, of(p)])).values()].slice(0, SIDE_MAX);
  const [victims, aggressors] = [side((p) => p.victim), side((p) => p.aggressor)];
  const most = Math.max(...pairs.map((p) => p.node_hours_hi), 1e-9);
  const head = el("tr", {}, el("th", { scope: "col" }, "Victim"), ...aggressors.map((a) => el("th", { scope: "col", class: "num" }, "to ", el("a", { href: links.job(a.job_id) }, a.job_id), " ", el("small", {}, a.name))));
  const cell = (victim, aggressor) => {
    const found = pairs.find((p) => p.victim.job_id === victim.job_id && p.aggressor.job_id === aggressor.job_id);
    if (!found) return el("td", { class: "num muted" }, "–");
    const link = el("a", { href: links.job(victim.job_id), class: found.node_hours_lo > 0 ? null : "muted", title: `${hours(found)}; ${seconds(found.lost_s)} of job ${victim.job_id}` }, nodeHours(found.node_hours));
    const td = el("td", { class: "num ledger-cell" }, link, el("small", {}, `${nodeHours(found.node_hours_lo)} – ${nodeHours(found.node_hours_hi)}`));
    td.style.setProperty("--lost", String(Math.round(100 * found.node_hours_lo / most)));
    return td;
  };
  const rows = victims.map((v) => el("tr", {}, el("th", { scope: "row" }, ...named(v)), ...aggressors.map((a) => cell(v, a))));
  return el("div", { class: "table-wrap" }, el("table", { class: "ledger", "aria-label": "Ledger" }, el("thead", {}, head), el("tbody", {}, ...rows)));
}
