// Asks again as time goes on, without disturbing whoever is reading.

/** Asking and drawing take at most one part in so many of the time. */
const SHARE = 4;

let pointerDown = false;
addEventListener("pointerdown", () => { pointerDown = true; }, true);
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { pointerDown = false; }, true);

/** A click under way or selected text must not lose what it is on. */
function readerIsBusy() {
  const selection = getSelection();
  return pointerDown || (selection !== null && !selection.isCollapsed && selection.toString().length > 0);
}

/**
 * Runs `question` then `show`, and again at ticks, at most every `everyMs`, more seldom where that is slow, and
 * never twice at once. `now()` while one runs makes another run follow it.
 * @returns {{tick: function(), now: function(), close: function()}}
 */
export function refresher(question, show, fail, everyMs) {
  let running = false;
  let again = false;
  let last = 0;
  let took = 0;
  let shown = false;
  let closed = false;
  const now = async () => {
    again = running;
    if (running || closed) return;
    running = true;
    last = performance.now();
    try {
      const answer = await question();
      if (closed) return;
      show(answer);
      shown = true;
      document.getElementById("main").dataset.shown = "yes";
    } catch (error) {
      if (closed) return;
      if (error.status === undefined) console.error(error);
      // The head of the page tells that the connection is lost; what was known stays to be read.
      if (!shown || error.status !== 0) fail(error);
    } finally {
      running = false;
      took = performance.now() - last;
      if (again) now();
    }
  };
  const tick = () => {
    const due = Math.max(everyMs, SHARE * took);
    if (performance.now() - last >= due && !running && !document.hidden && !readerIsBusy()) now();
  };
  now();
  return { tick, now, close: () => { closed = true; } };
}
