// Requests to the server. Errors carry the message of the server.

/** A response other than 200; `status` is 0 when the server could not be reached. */
export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** Requests `/api/v1/<path>`. */
export async function ask(path, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(given).toString();
  let response;
  try {
    response = await fetch(`/api/v1/${path}${query ? "?" + query : ""}`);
  } catch {
    throw new ApiError("the server does not respond", 0);
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new ApiError(body.error ?? `status ${response.status}`, response.status);
  return body;
}

/** A series name as path: each word is encoded, the slashes stay. */
export const seriesPath = (name) => name.split("/").map(encodeURIComponent).join("/");
