// The session of this browser: made with a token, held by the server, known here by its rights.

import { ApiError, ask, change } from "./api.js";
import { el, setText } from "./dom.js";

/** What the server answers about the session; `null` before its first answer. */
let known = null;

/** Whether the page may show data. Before the first answer the requests themselves report what is wrong. */
export const mayRead = () => known === null || !known.needed || known.ends_in_s !== null;
/** Whether this session may set and end silences. */
export const mayChange = () => known?.may_change === true;
/** Whether a token of this server makes a session that may. */
export const canChange = () => known?.can_change === true;

/** Requests the state of the session; without an answer it is as before. */
export async function loadSession() {
  try {
    known = await ask("session");
  } catch (error) {
    if (error.status !== 0) console.error(error);
  }
  document.getElementById("log-out").hidden = (known?.ends_in_s ?? null) === null;
}

async function logIn(token) {
  await change("POST", "session", { token });
  location.reload();
}

/** Ends the session; the page then has the rights of a reader without one. */
export async function logOut() {
  await change("DELETE", "session");
  location.reload();
}

/** A form for a token; the page reloads once it is accepted. */
export function loginForm(why) {
  const token = el("input", { type: "password", class: "field", autocomplete: "current-password", required: "", maxlength: 1000, id: "token" });
  const result = el("p", { class: "muted", role: "status" }, why);
  const button = el("button", { type: "submit", class: "more" }, "Log in");
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      await logIn(token.value.trim());
    } catch (error) {
      if (!(error instanceof ApiError)) console.error(error);
      setText(result, error.message);
      button.disabled = false;
      token.select();
    }
  };
  return el("form", { class: "login", on: { submit } }, el("label", { for: "token" }, "Token"), token, button, result);
}
