// Files made in the browser: tables as CSV and JSON, and copies of addresses.

/** Beginnings of a text that spreadsheets take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** A cell of RFC 4180. A text that a spreadsheet would run as a formula gets an apostrophe first. */
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : String(value);
  return `"${text.replaceAll('"', '""')}"`;
}

/** Rows as CSV; each row is an object with the same keys, which become the head. */
export function toCsv(rows) {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => row[name]))];
  return lines.map((line) => line.map(csvCell).join(",") + "\r\n").join("");
}

/** Saves a file under the name of the view, the thing in it and the time. */
export function save(what, ending, content, type) {
  const view = location.hash.replace(/\?.*/, "").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "") || "now";
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "");
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `tailback-${view}-${what}-${time}Z.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Copies the address of the page with its filters. Without TLS a browser has no clipboard, only the command. */
export async function copyAddress() {
  if (navigator.clipboard) return navigator.clipboard.writeText(location.href);
  const box = document.createElement("textarea");
  box.value = location.href;
  document.body.append(box);
  box.select();
  document.execCommand("copy");
  box.remove();
}
