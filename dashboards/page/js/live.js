// The stream of ticks and beats, and the state of its connection.

/** Data is stale when its event time does not advance for this time, in ms of wall clock. */
export const STALE_MS = 6000;
/** The server sends a beat every 2 s. A connection without any event for this time is to a server that hangs: the page shows it within 5 s. */
const SILENT_MS = 4400;
const CHECK_MS = 250;
/** Pauses between attempts to reconnect, in ms; the last one repeats. */
const BACK_OFF_MS = [500, 1000, 2000, 4000];

/** The latest tick for views that open between two ticks, and the state of the connection. */
export const latest = { tick: null, state: "waiting" };

/** Whether new data arrives; else what is shown as the latest is the end of the data. */
export const isLive = () => latest.state === "live";

/**
 * Listens until the page is closed or the returned function is called. Calls `onTick(tick)` at each event and `onLink(state, ageSeconds)` several times a
 * second, `onRefused()` after each connection that failed. States: `live`, `waiting` (no data yet), `trouble` (the store does not respond; the tick has the reason),
 * `stale` (no new data), `stored` (no process writes this store), `ended` (the input has ended), `gone` (the server
 * has ended too), `hung` (the server accepts connections and sends nothing), `lost` (it does not accept connections).
 */
export function listen(onTick, onLink, onRefused) {
  let stopped = false;
  let source = null;
  let retryTimer = null;
  let failures = 0;
  // `hung` or `lost` until an event arrives.
  let outage = null;
  let eventSeen = performance.now();
  let clock = null;
  let moved = false;
  let clockSeen = performance.now();

  const connect = () => {
    disconnect();
    if (stopped) return;
    eventSeen = performance.now();
    source = new EventSource("/api/v1/stream");
    source.addEventListener("beat", received);
    source.addEventListener("tick", (event) => {
      received();
      const tick = JSON.parse(event.data);
      // While the store does not respond, its clock stays known, and the age of the data continues to grow.
      if (!tick.trouble && tick.clock !== clock) {
        moved ||= clock !== null;
        clock = tick.clock;
        clockSeen = performance.now();
      }
      latest.tick = tick;
      report();
      onTick(tick);
    });
    source.addEventListener("error", () => {
      retry("lost");
      // The browser does not name the status: a server that refuses the session looks like one that is gone.
      onRefused();
    });
  };

  const received = () => {
    eventSeen = performance.now();
    failures = 0;
    if (outage === null) return;
    outage = null;
    // The event may come from another server, whose store gets no new data.
    moved = false;
    report();
  };

  const disconnect = () => {
    clearTimeout(retryTimer);
    source?.close();
    source = null;
  };

  /** Reconnects after a pause that grows with each failure. */
  const retry = (why) => {
    disconnect();
    outage = why;
    retryTimer = setTimeout(connect, BACK_OFF_MS[Math.min(failures, BACK_OFF_MS.length - 1)]);
    failures += 1;
    report();
  };

  const check = () => {
    if (source !== null && performance.now() - eventSeen > SILENT_MS) retry("hung");
    else report();
  };

  const report = () => {
    const [state, age] = judge();
    latest.state = state;
    onLink(state, age);
  };

  const judge = () => {
    const age = clock === null ? null : (performance.now() - clockSeen) / 1000;
    const { progress, trouble } = latest.tick ?? {};
    if (progress?.finished && outage !== "hung") return [outage ? "gone" : "ended", age];
    if (outage !== null) return [outage, age];
    if (trouble) return ["trouble", age];
    if (clock === null) return ["waiting", null];
    if (progress.event_time === null && !moved) return ["stored", age];
    return [age * 1000 > STALE_MS ? "stale" : "live", age];
  };

  // A browser has six connections per server: hidden pages must not hold them.
  document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", (event) => { if (event.persisted) connect(); });
  connect();
  const timer = setInterval(check, CHECK_MS);
  return () => {
    stopped = true;
    clearInterval(timer);
    disconnect();
  };
}
