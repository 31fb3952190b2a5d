// The only place that creates elements. Text is inserted as text: a job may be called "<img onerror=...>".

/**
 * Makes an element.
 * @param {string} tag
 * @param {Object} [attributes] `class`, `data-...`, `aria-...`, `href`; `on` holds listeners; null leaves one out
 * @param {...(Node|string|number|null)} children strings become text nodes, never markup
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (name === "on") for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    else node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** Makes an SVG element; same rules. */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** Replaces the children of `parent`; the keyboard focus stays on the control or the link it was on. */
export function fill(parent, ...children) {
  const active = document.activeElement;
  const held = parent.contains(active) && active !== parent;
  const focused = held ? active.getAttribute("href") : null;
  const wanted = children.flat().filter((child) => child !== null && child !== undefined);
  if (wanted.length === parent.childNodes.length && wanted.every((child, i) => child === parent.childNodes[i])) return;
  parent.replaceChildren(...wanted);
  // A table that is kept moves with its new card.
  if (held && parent.contains(active)) return active.focus({ preventScroll: true });
  if (focused === null) return;
  for (const link of parent.querySelectorAll("a[href]")) {
    if (link.getAttribute("href") === focused) return link.focus({ preventScroll: true });
  }
}

/** Sets text only where it changed, so that a screen reader and a selection are not disturbed. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A card with a title; `end` is at the right of the title. */
export function card(title, body, end = null) {
  const head = el("header", {}, el("h2", {}, title), end === null ? null : el("span", { class: "end muted" }, end));
  return el("section", { class: "card" }, head, body);
}

/** A message that there is nothing to show, and why. */
export function empty(title, why, small = false) {
  return el("div", { class: small ? "empty small" : "empty" }, small ? null : el("strong", {}, title), small ? title + (why ? " " + why : "") : why);
}

/** Whether there is no data because nothing was sampled yet, in contrast to an unreachable database. */
export function isEarly(error) {
  return error.status === 503 && error.message.startsWith("no data yet");
}

/** Why there is nothing to show. Missing data before the first sample is no failure. */
export function failure(title, error) {
  if (error.status === 0) return empty("The server does not respond", "This view loads once it responds again.");
  if (!isEarly(error)) return empty(title, error.message);
  return empty("Waiting for the first data", "No samples received yet. This view updates when the first counters arrive.");
}
