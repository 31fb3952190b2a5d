// Long lists: a first part, and a button that loads more.

import { el, setText } from "./dom.js";
import { count } from "./format.js";

/** Rows loaded at first and with each click. */
const STEP = 100;
/** Maximum of rows in one response. */
const RESPONSE_MAX = 1000;

/**
 * A list that grows on request. `request(limit, offset)` returns `total` and the rows under `key`.
 * A click on the button calls `reload()`.
 * @returns {{ask: function(): Promise, root: Element, restart: function()}} `ask` returns all rows requested so far
 */
export function growing(request, key, reload) {
  let wanted = STEP;
  const button = el("button", { type: "button", class: "more", on: { click: () => { wanted += STEP; button.disabled = true; reload(); } } });
  const root = el("div", { class: "more-row", hidden: "" }, button);

  const ask = async () => {
    const answer = await request(Math.min(wanted, RESPONSE_MAX), 0);
    const rows = answer[key];
    while (rows.length < Math.min(wanted, answer.total)) {
      const next = (await request(Math.min(wanted - rows.length, RESPONSE_MAX), rows.length))[key];
      if (next.length === 0) break;
      rows.push(...next);
    }
    const left = answer.total - rows.length;
    root.hidden = left <= 0;
    button.disabled = false;
    setText(button, `Load ${count(Math.min(STEP, left))} more of ${count(left)}`);
    return answer;
  };
  return { ask, root, restart: () => { wanted = STEP; } };
}
