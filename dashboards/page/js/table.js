// Tables: sorted, filtered and divided into pages; exported as shown. Their state is part of the address.

import { el, fill, setText } from "./dom.js";
import { copyAddress, save, toCsv } from "./export.js";
import { count } from "./format.js";
import { readHash, setFilters } from "./routes.js";

const PHONE = matchMedia("(max-width: 720px)");
const ROWS = 12;
const ROWS_ON_PHONE = 4;
/** Shorter tables have no filters. */
const FILTERS_FROM = 6;

/** Raw values of a column: seconds, a share, a time since the epoch in seconds. */
export const inSeconds = (value) => ({ value, unit: "s" });
export const asShare = (value) => ({ value, unit: "share" });
export const atTime = (value) => ({ value, time: true });

/** A loss: sorted by the lower end of its interval, exported with both ends. */
export const asLoss = (column) => ({
  value: (x) => x[`${column}_lo_s`],
  out: (x) => ({ "Lost (s)": x[`${column}_s`], "Lost, lower end (s)": x[`${column}_lo_s`], "Lost, upper end (s)": x[`${column}_hi_s`] }),
});
/** The order of a table in the address, as parameters of a request. `columns` are those by which the server sorts, by their names here. */
export function orderOf(label, columns) {
  const sort = readHash(location.hash).filters[`${slug(label)}.sort`] ?? "";
  const found = Object.entries(columns).find(([name]) => slug(name) === sort.replace(/^-/, ""));
  return found ? { sort: found[1], dir: sort.startsWith("-") ? "desc" : "asc" } : {};
}

/** Rows a page of the only table of a view. */
export const longRows = (phone) => (phone ? 12 : 25);

/** The open tables by label; one that is still in the document is kept, with its focus. */
const opened = new Map();
PHONE.addEventListener("change", () => {
  for (const each of opened.values()) if (each.root.isConnected) each.draw();
});

/**
 * A table; every cell has its column name, for narrow screens.
 * @param columns each [name, class, cell(item), raw]; `raw` is a function to a number or text, or an object with `value`, by
 *   which the column is sorted and exported, and `unit`, `time` or `out(item)`, an object of exported values. Without it the text of the cell is used.
 * @param {{filters: [string, function][], total: number, least: boolean, search: boolean, reload: function}} options `filters`
 *   return a text or several; `total` is the number of rows that the server has, `least` where it has more; `reload()` runs after a new order of
 *   a list of which not all rows are loaded
 */
export function table(columns, items, label, options = {}) {
  const known = opened.get(label);
  const names = columns.map(([name]) => name).join("|");
  const kept = known?.root.isConnected && known.names === names ? known : new Table(columns, names, label);
  opened.set(label, kept);
  kept.update(columns, items, options);
  return kept.root;
}

const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
const rawOf = ([, , cell, raw]) => raw?.value ?? raw ?? ((item) => textOf(cell(item)));
const textOf = (cell) => [cell].flat(2).map((part) => part?.textContent ?? part ?? "").join(" ").trim();
const button = (name, run, more = {}) => el("button", { type: "button", class: "plain", on: { click: run }, ...more }, name);

class Table {
  constructor(columns, names, label) {
    [this.names, this.label, this.key] = [names, label, slug(label)];
    this.selects = new Map();
    this.search = el("input", { type: "search", class: "table-search", placeholder: "Filter rows", "aria-label": `Filter: ${label}`, on: { input: () => this.set({ q: this.search.value.trim(), page: "" }) } });
    this.order = el("select", { class: "only-folded", "aria-label": `Sort: ${label}`, on: { change: () => this.set({ sort: this.order.value, page: "" }) } });
    this.tools = el("div", { class: "table-tools" }, this.search, this.order);
    this.heads = columns.map(([name, style], i) => this.head(name, style, i));
    this.body = el("tbody");
    this.table = el("table", { class: "folds", "aria-label": label }, el("thead", {}, el("tr", {}, ...this.heads)), this.body);
    this.shown = el("span", { class: "table-shown" });
    this.previous = button("Previous", () => this.turn(-1));
    this.next = button("Next", () => this.turn(1));
    this.pages = el("span", { class: "pager" }, this.previous, this.next);
    const out = el("span", { class: "table-out" }, button("CSV", () => this.save("csv"), { title: "Save the rows shown, on all pages, as CSV" }),
      button("JSON", () => this.save("json"), { title: "Save the rows shown, on all pages, as JSON" }), button("Copy link", (event) => this.copy(event.target)));
    this.root = el("div", { class: "table-part" }, this.tools, el("div", { class: "table-wrap" }, this.table), el("div", { class: "table-foot" }, this.shown, this.pages, out));
  }

  /** A head that sorts: numbers begin with the largest. */
  head(name, style, i) {
    const numeric = style.includes("num");
    const sort = () => {
      const [up, down] = [slug(name), `-${slug(name)}`];
      const [first, second] = numeric ? [down, up] : [up, down];
      const now = this.state().sort;
      this.set({ sort: now === first ? second : now === second ? "" : first, page: "" });
    };
    return el("th", { scope: "col", class: numeric ? "num" : null, "data-column": i }, el("button", { type: "button", class: "sort", on: { click: sort } }, name));
  }

  state() {
    const { filters } = readHash(location.hash);
    const own = Object.entries(filters).filter(([name]) => name.startsWith(`${this.key}.`));
    return Object.fromEntries(own.map(([name, value]) => [name.slice(this.key.length + 1), value]));
  }

  set(changes) {
    setFilters(Object.fromEntries(Object.entries(changes).map(([name, value]) => [`${this.key}.${name}`, value])));
    this.draw();
    if ("sort" in changes && this.options.total > this.items.length) this.options.reload?.();
  }

  update(columns, items, options) {
    [this.columns, this.items, this.options] = [columns, items, options];
    this.fillSelects();
    this.draw();
  }

  /** A choice for each filter with several values among the rows. */
  fillSelects() {
    const state = this.state();
    for (const [name, of] of this.options.filters ?? []) {
      const values = [...new Set(this.items.flatMap((item) => of(item)).filter(Boolean))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
      const chosen = state[slug(name)] ?? "";
      if (chosen && !values.includes(chosen)) values.push(chosen);
      const select = this.selects.get(name) ?? this.select(name);
      select.hidden = values.length < 2 && !chosen;
      if (select.dataset.values === values.join("|")) continue;
      select.dataset.values = values.join("|");
      fill(select, el("option", { value: "" }, `${name}: all`), ...values.map((value) => el("option", { value }, value)));
      select.value = chosen;
    }
    const sorts = this.columns.filter(([name]) => name).flatMap(([name, style]) => (style.includes("num") ? [[`-${slug(name)}`, `${name}, largest first`], [slug(name), `${name}, smallest first`]] : [[slug(name), name]]));
    if (this.order.childNodes.length === 0) this.order.append(el("option", { value: "" }, "Sort: as listed"), ...sorts.map(([value, word]) => el("option", { value }, word)));
  }

  select(name) {
    const select = el("select", { "aria-label": `${name}: ${this.label}`, on: { change: () => this.set({ [slug(name)]: select.value, page: "" }) } });
    this.selects.set(name, select);
    fill(this.tools, this.search, ...this.selects.values(), this.order);
    return select;
  }

  /** Rows that pass the filters, in the chosen order. */
  rows(state) {
    const chosen = (this.options.filters ?? []).filter(([name]) => state[slug(name)]);
    const words = (state.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const passes = (item) => chosen.every(([name, of]) => [of(item)].flat().includes(state[slug(name)]))
      && (words.length === 0 || this.matches(item, words));
    const rows = this.items.filter(passes);
    const falling = state.sort?.startsWith("-") ?? false;
    const column = this.columns.find(([name]) => slug(name) === state.sort?.replace(/^-/, ""));
    return column ? sorted(rows, rawOf(column), falling) : rows;
  }

  matches(item, words) {
    const text = [...this.columns.map(([, , cell]) => textOf(cell(item))), ...(this.options.filters ?? []).map(([, of]) => [of(item)].flat().join(" "))].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  }

  draw() {
    const state = this.state();
    const rows = this.rows(state);
    const size = this.options.rows?.(PHONE.matches) ?? (PHONE.matches ? ROWS_ON_PHONE : ROWS);
    const pages = Math.max(1, Math.ceil(rows.length / size));
    const page = Math.min(pages, Math.max(1, Number(state.page) || 1));
    [this.page, this.sortedRows] = [page, rows];
    this.table.dataset.rows = rows.length;
    this.heads.forEach((head, i) => this.markSort(head, slug(this.columns[i][0]), state.sort ?? ""));
    const shown = rows.slice((page - 1) * size, page * size);
    fill(this.body, ...shown.map((item) => this.row(item)), rows.length === 0 ? el("tr", {}, el("td", { colspan: this.columns.length, class: "muted" }, "No row passes the filters.")) : null);
    this.showControls(state, { rows, size, page, pages });
  }

  row(item) {
    return el("tr", {}, ...this.columns.map(([name, style, cell]) => el("td", { class: style || null, "data-name": name || null }, ...[cell(item)].flat())));
  }

  markSort(head, name, sort) {
    const order = sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none";
    if (head.getAttribute("aria-sort") !== order) head.setAttribute("aria-sort", order);
  }

  showControls(state, { rows, size, page, pages }) {
    const { total = this.items.length, least = false, search = true } = this.options;
    const active = Object.keys(state).some((name) => name !== "page");
    this.tools.hidden = this.items.length < FILTERS_FROM && !active;
    this.search.hidden = !search;
    if (document.activeElement !== this.search) this.search.value = state.q ?? "";
    this.order.value = state.sort ?? "";
    this.pages.hidden = pages === 1;
    [this.previous.disabled, this.next.disabled] = [page === 1, page === pages];
    const range = pages === 1 ? `${count(rows.length)} ${rows.length === 1 ? "row" : "rows"}` : `${count((page - 1) * size + 1)} – ${count(Math.min(rows.length, page * size))} of ${count(rows.length)} rows`;
    const filtered = rows.length < this.items.length ? `, filtered from ${count(this.items.length)}` : "";
    const cut = total > this.items.length ? `; the first ${count(this.items.length)} of ${count(total)}${least ? " or more" : ""} are loaded` : "";
    setText(this.shown, range + filtered + cut);
  }

  turn(by) {
    this.set({ page: this.page + by > 1 ? String(this.page + by) : "" });
    const top = this.root.getBoundingClientRect().top;
    if (top < 0) this.root.scrollIntoView({ block: "start" });
  }

  save(ending) {
    const rows = this.sortedRows.map((item) => Object.assign({}, ...this.columns.filter(([name]) => name).map((column) => exported(column, item))));
    if (ending === "csv") save(this.key, ending, toCsv(rows), "text/csv");
    else save(this.key, ending, JSON.stringify(rows, null, 1), "application/json");
  }

  async copy(node) {
    await copyAddress().then(() => setText(node, "Copied"), () => setText(node, "Not copied"));
    setTimeout(() => setText(node, "Copy link"), 2000);
  }
}

/** Sorts by raw value; rows without one are last in both orders. */
function sorted(rows, raw, falling) {
  const known = (value) => value !== null && value !== undefined && value !== "";
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  return rows.map((row) => [row, raw(row)]).sort(([, a], [, b]) => (known(a) && known(b) ? compare(a, b) * (falling ? -1 : 1) : known(b) - known(a))).map(([row]) => row);
}

function exported(column, item) {
  const [name, , , raw] = column;
  if (raw?.out) return raw.out(item, name);
  const value = rawOf(column)(item) ?? null;
  if (raw?.time) return { [name]: value === null ? null : new Date(value * 1000).toISOString() };
  return { [raw?.unit ? `${name} (${raw.unit})` : name]: value };
}
