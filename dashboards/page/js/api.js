// Requests to the server. Errors carry the message of the server.

/** The server ends a query after 10 s; the rest is for a slow line. */
const TIMEOUT_MS = 20_000;

/** A response other than 200; `status` is 0 when the server could not be reached or did not respond in time. */
export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** Requests without a response yet. */
const pending = new Set();

/** Ends all open requests: their server hangs or is gone, and the view requests again once it responds. */
export function endRequests() {
  for (const request of pending) request.abort();
}

/** Requests `/api/v1/<path>`. */
export async function ask(path, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(given).toString();
  const request = new AbortController();
  const timer = setTimeout(() => request.abort(), TIMEOUT_MS);
  pending.add(request);
  let response;
  let body;
  try {
    response = await fetch(`/api/v1/${path}${query ? "?" + query : ""}`, { signal: request.signal });
    body = await response.json().catch((error) => { if (request.signal.aborted) throw error; return {}; });
  } catch {
    throw new ApiError("the server does not respond", 0);
  } finally {
    clearTimeout(timer);
    pending.delete(request);
  }
  if (response.status === 401) dispatchEvent(new Event("tailback-unauthorised"));
  if (!response.ok) throw new ApiError(body.error ?? `status ${response.status}`, response.status);
  return body;
}

/** Changes what `/api/v1/<path>` names, by POST or DELETE; returns the answer, `null` where it has no content. */
export async function change(method, path, body) {
  const headers = { "Content-Type": "application/json" };
  let response;
  let text;
  try {
    response = await fetch(`/api/v1/${path}`, { method, headers, body: JSON.stringify(body), signal: AbortSignal.timeout(TIMEOUT_MS) });
    text = await response.text();
  } catch {
    throw new ApiError("the server does not respond", 0);
  }
  if (response.ok) return text ? JSON.parse(text) : null;
  let error = text.trim();
  // Refused access is answered with a line of text.
  try { error = JSON.parse(text).error ?? error; } catch { /* the text is the error */ }
  throw new ApiError(error || `status ${response.status}`, response.status);
}

/** A series name as path: each word is encoded, the slashes stay. */
export const seriesPath = (name) => name.split("/").map(encodeURIComponent).join("/");
