// Repeats requests without disturbing the reader.

/** Requests and drawing take at most 1/SHARE of the time. */
const SHARE = 4;

/** Of the open view; a view closes its own. */
const opened = new Set();

/** Repeats all requests of the view: the server responds again. */
export function refreshAll() {
  for (const refresh of opened) refresh();
}

let pointerDown = false;
addEventListener("pointerdown", () => { pointerDown = true; }, true);
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { pointerDown = false; }, true);

/** A click under way or a text selection must keep its element. */
function readerIsBusy() {
  const selection = getSelection();
  return pointerDown || (selection !== null && !selection.isCollapsed && selection.toString().length > 0);
}

/**
 * Runs `request` then `show`, and repeats both at ticks: at most every `everyMs`, less often where they are slow, and
 * never twice at once. A call of `now()` during a run starts another run after it.
 * @returns {{tick: function(), now: function(), close: function()}}
 */
export function refresher(request, show, fail, everyMs) {
  let running = false;
  let repeat = false;
  let last = 0;
  let took = 0;
  let shown = false;
  let closed = false;
  const now = async () => {
    let unreachable = false;
    repeat = running;
    if (running || closed) return;
    running = true;
    last = performance.now();
    try {
      const answer = await request();
      if (closed) return;
      show(answer);
      shown = true;
      document.getElementById("main").dataset.shown = "yes";
    } catch (error) {
      if (closed) return;
      if (error.status === undefined) console.error(error);
      unreachable = error.status === 0;
      // The header shows that the connection is lost; the old data stays visible.
      if (!shown || error.status !== 0) fail(error);
    } finally {
      running = false;
      // An outage says nothing about the cost of the request.
      took = unreachable ? 0 : performance.now() - last;
      if (repeat) now();
    }
  };
  const tick = () => {
    const due = Math.max(everyMs, SHARE * took);
    if (performance.now() - last >= due && !running && !document.hidden && !readerIsBusy()) now();
  };
  opened.add(now);
  now();
  return { tick, now, close: () => { closed = true; opened.delete(now); } };
}
