// Filters that the server applies: a row of fields. Their values are part of the address.

import { el, fill } from "./dom.js";
import { setFilters } from "./routes.js";
import { CAUSE_WORDS } from "./words.js";

const CAUSES = Object.entries(CAUSE_WORDS);
const FIELDS = {
  user: ["User"], node: ["Node"], place: ["Node or switch", "node"], mount: ["File system"], cause: ["Cause", "cause", CAUSES],
  run: ["State", "state", [["running", "running"], ["ended", "ended"]]],
};

/**
 * A row of fields; `changed()` runs after each change.
 * @param {string[]} names of FIELDS
 * @returns {{root: Element, values: function(): Object, suggest: function(string, string[])}} `values` are the parameters of a
 *   request and the filters of a link, `suggest` offers values seen in rows
 */
export function filterRow(route, names, changed) {
  const fields = names.map((name) => {
    const [label, key = name, choices] = FIELDS[name];
    const given = route.filters[key] ?? "";
    const field = choices ? choice(label, choices, given) : text(label, `filter-${route.view}-${key}`, given);
    const set = () => {
      setFilters({ [key]: field.input.value.trim() });
      changed();
    };
    // A name counts when it is complete: the server compares it as a whole.
    for (const event of ["change", "search"]) field.input.addEventListener(event, set);
    return { key, ...field };
  });
  const suggest = (key, seen) => {
    const list = fields.find((field) => field.key === key)?.list;
    const values = [...new Set(seen.filter(Boolean))].sort();
    if (!list || list.dataset.values === values.join("|")) return;
    list.dataset.values = values.join("|");
    fill(list, ...values.map((value) => el("option", { value })));
  };
  const values = () => Object.fromEntries(fields.map(({ key, input }) => [key, input.value.trim()]).filter(([, value]) => value));
  return { root: el("div", { class: "filter-row", role: "group", "aria-label": "Filters" }, ...fields.map((field) => field.root)), values, suggest };
}

function text(label, id, value) {
  const list = el("datalist", { id });
  const input = el("input", { type: "search", placeholder: label, "aria-label": label, list: id, maxlength: 128, value });
  return { root: el("span", {}, input, list), input, list };
}

function choice(label, choices, value) {
  const input = el("select", { "aria-label": label }, el("option", { value: "" }, `${label}: all`), ...choices.map(([key, words]) => el("option", { value: key }, words)));
  input.value = choices.some(([key]) => key === value) ? value : "";
  return { root: input, input };
}
