// The stream of ticks, and what it says about the connection itself.

/** Event time that stands still for longer than this, in ms of wall clock, is said to be old. */
export const STALE_MS = 6000;
const RECONNECT_MS = 2000;

/** The latest tick for views that open between two ticks. */
export const latest = { tick: null };

/**
 * Listens for ever. `onTick(tick)` at each event; `onLink(state, ageSeconds)` at least once a second with
 * `live`, `waiting` (no data yet), `trouble` (the store does not answer: the tick says why), `stale` (no new data), `stored` (nobody writes this store), `ended` (the input is
 * at its end), `gone` (so is the server) or `lost`.
 */
export function listen(onTick, onLink) {
  let connected = false;
  let clock = null;
  let moved = false;
  let clockSeen = performance.now();
  let source = null;
  let again = null;

  const connect = () => {
    disconnect();
    source = new EventSource("/api/v1/stream");
    source.addEventListener("tick", (event) => {
      connected = true;
      const tick = JSON.parse(event.data);
      // A store that does not answer has not lost its time: how old it is goes on.
      if (!tick.trouble && tick.clock !== clock) {
        moved ||= clock !== null;
        clock = tick.clock;
        clockSeen = performance.now();
      }
      latest.tick = tick;
      onTick(tick);
      report();
    });
    source.addEventListener("error", () => {
      connected = false;
      // Another run may answer next, one that adds nothing.
      moved = false;
      report();
      // The browser tries again by itself unless the server answered with an error.
      if (source?.readyState === EventSource.CLOSED) again = setTimeout(connect, RECONNECT_MS);
    });
  };

  const disconnect = () => {
    clearTimeout(again);
    source?.close();
    source = null;
  };

  const report = () => {
    const age = (performance.now() - clockSeen) / 1000;
    const progress = latest.tick?.progress;
    if (progress?.finished) onLink(connected ? "ended" : "gone", age);
    else if (!connected) onLink("lost", clock === null ? null : age);
    else if (latest.tick?.trouble) onLink("trouble", clock === null ? null : age);
    else if (clock === null) onLink("waiting", null);
    else if (progress.event_time === null && !moved) onLink("stored", age);
    else onLink(age * 1000 > STALE_MS ? "stale" : "live", age);
  };

  // A browser has six connections per server: pages that nobody looks at must not hold them.
  document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", (event) => { if (event.persisted) connect(); });
  connect();
  setInterval(report, 1000);
}
