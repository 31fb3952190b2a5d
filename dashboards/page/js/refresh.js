// Asks again as time goes on, without disturbing whoever is reading.

let pointerDown = false;
addEventListener("pointerdown", () => { pointerDown = true; }, true);
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { pointerDown = false; }, true);

/** A click under way or selected text must not lose what it is on. */
function readerIsBusy() {
  const selection = getSelection();
  return pointerDown || (selection !== null && !selection.isCollapsed && selection.toString().length > 0);
}

/**
 * Runs `question` then `show`, and again at ticks, at most every `everyMs` and never twice at once.
 * @returns {{tick: function(), now: function(), close: function()}}
 */
export function refresher(question, show, fail, everyMs) {
  let running = false;
  let last = 0;
  let closed = false;
  const now = async () => {
    if (running || closed) return;
    running = true;
    last = performance.now();
    try {
      const answer = await question();
      if (!closed) show(answer);
    } catch (error) {
      if (closed) return;
      if (error.status === undefined) console.error(error);
      fail(error);
    } finally {
      running = false;
    }
  };
  const tick = () => {
    if (performance.now() - last >= everyMs && !document.hidden && !readerIsBusy()) now();
  };
  now();
  return { tick, now, close: () => { closed = true; } };
}
