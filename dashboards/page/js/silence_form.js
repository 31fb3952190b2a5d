// The form for silences: for sessions that may change state; else how to get one.

import { change } from "./api.js";
import { el, setText } from "./dom.js";
import { moment } from "./format.js";
import { canChange, loginForm, mayChange } from "./session.js";

const LENGTHS = [["30m", "30 minutes"], ["1h", "1 hour"], ["2h", "2 hours"], ["8h", "8 hours"], ["1d", "1 day"], ["7d", "7 days"]];

/** `changed()` runs after each silence that was set or ended. `choose(alert)` fills the form, `end(id)` ends a silence. */
export function silenceForm(changed) {
  if (mayChange()) return form(changed);
  const why = canChange()
    ? loginForm("The token is in the file of http.token_file of tailback run, or --silence-token-file of tailback serve or demo.")
    : el("p", { class: "body muted" }, "Silencing is closed: start tailback serve or demo with --silence-token-file, or use tailback alerts silence.");
  return { root: why, choose() {}, end() {} };
}

function form(changed) {
  const input = (more) => el("input", { class: "field", autocomplete: "off", ...more });
  const matchers = input({ required: "", placeholder: "alertname=link_contended subject=leaf-*", maxlength: 2000 });
  const length = el("select", {}, ...LENGTHS.map(([value, words]) => el("option", { value }, words)));
  length.value = "1h";
  const author = input({ maxlength: 100 });
  const comment = input({ maxlength: 500 });
  const result = el("p", { class: "muted", role: "status" }, "A silence holds back notices whose labels match all of these; * at the end of a text stands for anything.");
  const field = (name, node, more = {}) => el("label", more, el("span", { class: "muted" }, name), node);

  const send = (request, done) => request.then((answer) => { setText(result, done(answer)); changed(); }, (error) => setText(result, error.message));
  const submit = (event) => {
    event.preventDefault();
    const wanted = { matchers: labelsOf(matchers.value), for: length.value, author: author.value.trim(), comment: comment.value.trim() };
    send(change("POST", "silences", wanted), (s) => `Silence ${s.id} holds until ${moment(s.until_s)} UTC.`);
  };
  const root = el("form", { class: "body silence-form", on: { submit } }, field("Labels", matchers, { class: "wide" }), field("Length", length),
    field("Author", author), field("Comment", comment), el("button", { type: "submit", class: "more" }, "Silence"), result);
  return {
    root,
    choose: ({ notice, rule, subject }) => {
      const labels = { alertname: notice?.labels.alertname ?? rule, subject: notice?.labels.subject ?? subject };
      matchers.value = Object.entries(labels).map(([label, text]) => `${label}=${text}`).join(" ");
      comment.focus();
    },
    end: (id) => send(change("DELETE", `silences/${encodeURIComponent(id)}`), () => `Silence ${id} ended.`),
  };
}

/** `label=text` pairs; a text may contain spaces, so that a pair begins at a word with an equals sign. */
const labelsOf = (text) => text.trim().split(/\s+(?=[a-z0-9_]+=)/);
