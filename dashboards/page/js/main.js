// The frame: the open view and the state of the connection.

import { endRequests } from "./api.js";
import { card, el, setText, empty } from "./dom.js";
import { clock, moment, seconds } from "./format.js";
import { listen, latest, STALE_MS } from "./live.js";
import { refreshAll } from "./refresh.js";
import { readHash } from "./routes.js";
import { loadSession, loginForm, logOut, mayRead } from "./session.js";
import { carryTime } from "./time.js";
import { loadMetrics } from "./words.js";
import { openAlerts } from "./view_alerts.js";
import { openBlame } from "./view_blame.js";
import { openNow } from "./view_now.js";
import { openEpisodes } from "./view_episodes.js";
import { openEpisode } from "./view_episode.js";
import { openIncidents } from "./view_incidents.js";
import { openFabric } from "./view_fabric.js";
import { openMap } from "./view_map.js";
import { openRegion } from "./view_region.js";
import { openFiles } from "./view_files.js";
import { openJobs } from "./view_jobs.js";
import { openJob } from "./view_job.js";
import { openExplorer } from "./view_explorer.js";
import { openRouter } from "./view_router.js";
import { openSeries } from "./view_series.js";
import { openHealth } from "./view_health.js";

const main = document.getElementById("main");
let view = null;

/** A view is a function of (root, route) that returns {tick(tick), close()}. */
function viewOf(route) {
  switch (route.view) {
    case "now": return ["now", "Now", openNow];
    case "episodes": return ["episodes", "Episodes", openEpisodes];
    case "episode": return ["episodes", `Episode ${route.what}`, openEpisode];
    case "incidents": return ["incidents", "Incidents", openIncidents];
    case "fabric": return ["fabric", "Fabric", openFabric];
    case "map": return ["map", "Map", openMap];
    case "region": return ["fabric", `Region ${route.what}`, openRegion];
    case "router": return ["fabric", `Router ${route.what}`, openRouter];
    case "files": return ["files", "File systems", openFiles];
    case "jobs": return ["jobs", "Jobs", openJobs];
    case "job": return ["jobs", `Job ${route.what}`, openJob];
    case "alerts": return ["alerts", "Alerts", openAlerts];
    case "blame": return ["blame", "Blame", openBlame];
    case "series": return route.what ? ["series", route.what, openSeries] : ["series", "Series", openExplorer];
    case "health": return ["health", "Health", openHealth];
    default: return [null, "Not found", openNotFound];
  }
}

function openNotFound(root) {
  root.append(empty("No such view", el("a", { href: "#/now" }, "Show the current state")));
  return { tick() {}, close() {} };
}

function open() {
  // "#main" is the link that skips the navigation, not a view.
  if (location.hash === "#main" || !mayRead()) return;
  const route = readHash(location.hash);
  const [tab, title, start] = viewOf(route);
  view?.close();
  main.replaceChildren();
  main.dataset.shown = "no";
  document.title = `${title} · Tailback`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === tab) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  carryTime(route.view, route.filters);
  view = start(main, route);
  if (latest.tick) view.tick(latest.tick);
}

function navigate() {
  open();
  if (location.hash === "#main") return;
  scrollTo(0, 0);
  // The focus lets screen readers announce the new view.
  main.focus({ preventScroll: true });
}

const linkState = document.getElementById("link-state");
const linkText = document.getElementById("link-text");
const banner = document.getElementById("banner");

/** The server does not respond: hung or gone, in contrast to samplers that stopped. */
const isOutage = (state) => state === "hung" || state === "lost";

/** During an outage the view keeps its data, greyed. When it is over, all requests of the view are repeated. */
function follow(state) {
  const before = document.documentElement.dataset.link;
  if (before === state) return;
  document.documentElement.dataset.link = state;
  if (isOutage(state)) endRequests();
  else if (isOutage(before)) refreshAll();
  // The end of the data arrives without a tick.
  else if (latest.tick) view?.tick(latest.tick);
}

function showLink(state, age) {
  follow(state);
  const tick = latest.tick;
  linkState.dataset.state = state;
  const old = age === null ? "" : seconds(Math.floor(age)).replace(".0", "");
  const labels = {
    live: `live · ${clock(tick?.clock)} UTC`,
    waiting: "waiting for data",
    stale: `no new data for ${old}`,
    stored: `latest data ${clock(tick?.clock)} UTC`,
    ended: `ended · ${clock(tick?.clock)} UTC`,
    gone: `ended · ${clock(tick?.clock)} UTC`,
    lost: "server unreachable",
    hung: "server hangs",
    trouble: "store unavailable",
  };
  setText(linkText, labels[state]);
  const alarms = {
    lost: `The server does not respond: it stopped or is unreachable. ${age === null ? "No data yet" : `The data shown is ${old} old`}; reconnecting.`,
    hung: `The server does not respond: it hangs or is unreachable. ${age === null ? "No data yet" : `The data shown is ${old} old`}; reconnecting.`,
    trouble: `${tick?.trouble}. ${age === null ? "No data yet; retrying." : `The data shown is ${old} old; retrying.`}`,
    stale: `No new data for ${old}. The samplers or their transport may have stopped: see Health.`,
  };
  const calm = {
    stored: age * 1000 > STALE_MS ? `This store receives no new data. Its latest data is from ${moment(tick?.clock)} UTC.` : "",
    ended: "The input has ended. The page shows its final state.",
    gone: "The run and its server have ended. The page shows the final state; tailback serve opens it again.",
  };
  setText(banner, alarms[state] ?? calm[state] ?? "");
  banner.dataset.kind = state in calm ? "calm" : "alarm";
  banner.hidden = banner.textContent === "";
}

/** The note of the run for the operator: its start here, the whole text on hover and in the view Now. */
function showNote(note) {
  const node = document.getElementById("run-note");
  setText(node.querySelector(".short"), note?.split(":")[0] ?? "");
  setText(node.querySelector(".whole"), note ?? "");
  node.hidden = !note;
}

/** Instead of a view: the form for a token. The reader returns to the same address. */
function showLogin() {
  if (mayRead()) return;
  stopListening();
  endRequests();
  view?.close();
  view = null;
  document.title = "Log in · Tailback";
  document.documentElement.dataset.link = "none";
  banner.hidden = true;
  linkState.dataset.state = "waiting";
  setText(linkText, "not logged in");
  const form = loginForm("The token is in the file of http.token_file of tailback run, or --token-file of tailback serve. The session ends after 12 hours.");
  main.replaceChildren(el("div", { class: "title" }, el("h1", {}, "Log in")), card("This server shows data to holders of its token", form));
  main.dataset.shown = "yes";
  form.querySelector("input").focus();
}

let stopListening = () => {};
let checking = false;

/** A request was refused, or the stream failed: the session may have ended. */
async function checkSession() {
  if (checking || !mayRead()) return;
  checking = true;
  await loadSession();
  checking = false;
  showLogin();
}

async function start() {
  await loadSession();
  document.getElementById("log-out").addEventListener("click", () => logOut().catch((error) => setText(linkText, error.message)));
  if (!mayRead()) return showLogin();
  stopListening = listen((tick) => {
    showNote(tick.run_note);
    view?.tick(tick);
  }, showLink, checkSession);
  // Names of metrics come first: most views show some. New ones come with another configuration only.
  setInterval(() => { if (mayRead()) loadMetrics(); }, 60_000);
  await loadMetrics();
  open();
}

addEventListener("hashchange", navigate);
addEventListener("tailback-unauthorised", checkSession);
start();
