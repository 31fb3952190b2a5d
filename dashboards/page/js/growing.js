// Long lists: a first part, and a button below that asks for more of it.

import { el, setText } from "./dom.js";
import { count } from "./format.js";

/** Rows that come at first and with each press. */
const STEP = 100;
/** The most that the server tells at once. */
const AT_ONCE = 1000;

/**
 * A list that grows on request. `question(limit, offset)` answers with `total` and the rows under `key`;
 * `again()` is run when more is wanted.
 * @returns {{ask: function(): Promise, root: Element, restart: function()}} `ask` answers with all rows wanted so far
 */
export function growing(question, key, again) {
  let wanted = STEP;
  const button = el("button", { type: "button", class: "more", on: { click: () => { wanted += STEP; button.disabled = true; again(); } } });
  const root = el("div", { class: "more-row", hidden: "" }, button);

  const ask = async () => {
    const answer = await question(Math.min(wanted, AT_ONCE), 0);
    const rows = answer[key];
    while (rows.length < Math.min(wanted, answer.total)) {
      const next = (await question(Math.min(wanted - rows.length, AT_ONCE), rows.length))[key];
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
