// The frame: which view is open, what the connection is like.

import { el, setText, empty } from "./dom.js";
import { clock, moment, seconds } from "./format.js";
import { listen, latest, STALE_MS } from "./live.js";
import { readHash } from "./routes.js";
import { openNow } from "./view_now.js";
import { openEpisodes } from "./view_episodes.js";
import { openEpisode } from "./view_episode.js";
import { openFabric } from "./view_fabric.js";
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
    case "fabric": return ["fabric", "Fabric", openFabric];
    case "region": return ["fabric", `Region ${route.what}`, openRegion];
    case "router": return ["fabric", `Router ${route.what}`, openRouter];
    case "files": return ["files", "File systems", openFiles];
    case "jobs": return ["jobs", "Jobs", openJobs];
    case "job": return ["jobs", `Job ${route.what}`, openJob];
    case "series": return route.what ? ["series", route.what, openSeries] : ["series", "Series", openExplorer];
    case "health": return ["health", "Health", openHealth];
    default: return [null, "Nothing here", openNothing];
  }
}

function openNothing(root) {
  root.append(empty("There is no such view.", el("a", { href: "#/now" }, "To the view of now")));
  return { tick() {}, close() {} };
}

function open() {
  // "#main" is the link that skips the navigation, no view.
  if (location.hash === "#main") return;
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
  view = start(main, route);
  if (latest.tick) view.tick(latest.tick);
}

function navigate() {
  open();
  if (location.hash === "#main") return;
  scrollTo(0, 0);
  // Whoever cannot see the page hears that it changed.
  main.focus({ preventScroll: true });
}

const linkState = document.getElementById("link-state");
const linkText = document.getElementById("link-text");
const banner = document.getElementById("banner");

function showLink(state, age) {
  const tick = latest.tick;
  linkState.dataset.state = state;
  const old = age === null ? "" : seconds(Math.floor(age)).replace(".0", "");
  const words = {
    live: `live · ${clock(tick?.clock)} UTC`,
    waiting: "waiting for data",
    stale: `no new data for ${old}`,
    stored: `latest data ${clock(tick?.clock)} UTC`,
    ended: `ended · ${clock(tick?.clock)} UTC`,
    gone: `ended · ${clock(tick?.clock)} UTC`,
    lost: "connection lost",
    trouble: "no answer from the data",
  };
  setText(linkText, words[state]);
  const alarms = {
    lost: age === null
      ? "No connection to Tailback yet. Trying again every second or two."
      : `Connection to Tailback lost. What you see is ${old} old; trying again.`,
    trouble: `${tick?.trouble}. ${age === null ? "Nothing is known yet; trying again." : `What you see is ${old} old; trying again.`}`,
    stale: `No new data for ${old}. The samplers or their transport may have stopped: see Health.`,
  };
  const calm = {
    stored: age * 1000 > STALE_MS ? `Nothing is added to this store now. Its latest data is of ${moment(tick?.clock)} UTC.` : "",
    ended: "The input has ended: what you see is its final state.",
    gone: "The run has ended, and its server with it: what you see is the final state. tailback serve shows all of it again.",
  };
  setText(banner, alarms[state] ?? calm[state] ?? "");
  banner.dataset.kind = state in calm ? "calm" : "alarm";
  banner.hidden = banner.textContent === "";
}

/** What the operator should know of this run: its first words here, all of it on hover and on the view of now. */
function showNote(note) {
  const place = document.getElementById("run-note");
  setText(place.querySelector(".short"), note?.split(":")[0] ?? "");
  setText(place.querySelector(".whole"), note ?? "");
  place.hidden = !note;
}

addEventListener("hashchange", navigate);
open();
listen((tick) => {
  showNote(tick.run_note);
  view?.tick(tick);
}, showLink);
