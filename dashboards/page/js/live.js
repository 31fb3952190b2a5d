// The stream of ticks, and the state of its connection.

/** Data is stale when its event time does not advance for this time, in ms of wall clock. */
export const STALE_MS = 6000;
const RECONNECT_MS = 2000;

/** The latest tick for views that open between two ticks. */
export const latest = { tick: null };

/**
 * Listens until the page is closed. Calls `onTick(tick)` at each event and `onLink(state, ageSeconds)` at least once a
 * second. States: `live`, `waiting` (no data yet), `trouble` (the store does not respond; the tick has the reason),
 * `stale` (no new data), `stored` (no process writes this store), `ended` (the input has ended), `gone` (the server
 * has ended too), `lost`.
 */
export function listen(onTick, onLink) {
  let connected = false;
  let clock = null;
  let moved = false;
  let clockSeen = performance.now();
  let source = null;
  let retryTimer = null;

  const connect = () => {
    disconnect();
    source = new EventSource("/api/v1/stream");
    source.addEventListener("tick", (event) => {
      connected = true;
      const tick = JSON.parse(event.data);
      // While the store does not respond, its clock stays known, and the age of the data continues to grow.
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
      // The next connection may be to a server whose store gets no new data.
      moved = false;
      report();
      // The browser reconnects by itself unless the server responded with an error.
      if (source?.readyState === EventSource.CLOSED) retryTimer = setTimeout(connect, RECONNECT_MS);
    });
  };

  const disconnect = () => {
    clearTimeout(retryTimer);
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

  // A browser has six connections per server: hidden pages must not hold them.
  document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", (event) => { if (event.persisted) connect(); });
  connect();
  setInterval(report, 1000);
}
