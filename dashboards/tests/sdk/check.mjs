// Checks dashboards and alert rules against the types of Grafana's Foundation SDK:
//   node check.mjs rules.json dashboard.json...
// Each JSON is written as a typed literal and given to the TypeScript compiler, so that wrong types, unknown words and
// unknown fields are errors; units are compared with the SDK's list. Types that the SDK leaves open (options and custom
// fields of a panel, values of overrides) are checked with those of the panel's own plugin. Everything is checked against
// each of the SDKs below.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import ts from "typescript";
import * as units from "@grafana/grafana-foundation-sdk/units";

// The types for Grafana 12, and those for 11.6 under a name of their own.
const SDKS = ["@grafana/grafana-foundation-sdk", "grafana-11-sdk"];
const KNOWN_UNITS = new Set(Object.values(units));
const PLUGINS = { stat: "stat", table: "table", timeseries: "timeseries", heatmap: "heatmap" };
// Plugins without a type for custom fields have none.
const CUSTOM = { stat: "Record<string, never>", table: "Plain<table.FieldConfig>", timeseries: "Plain<timeseries.FieldConfig>", heatmap: "Plain<heatmap.FieldConfig>" };
const PROPERTIES = {
  "displayName": "string", "unit": "string", "decimals": "number", "min": "number", "max": "number",
  "thresholds": "Plain<dashboard.ThresholdsConfig>", "mappings": "Plain<dashboard.ValueMapping>[]",
  "color": "Plain<dashboard.FieldColor>", "links": "DataLink[]", "custom.cellOptions": "Plain<common.TableCellOptions>",
  "fieldMinMax": "boolean", "custom.width": "number", "custom.lineWidth": "number", "custom.fillOpacity": "number", "custom.fillBelowTo": "string",
  "custom.showPoints": "Plain<common.VisibilityMode>", "custom.axisPlacement": "Plain<common.AxisPlacement>",
  "custom.lineInterpolation": "Plain<common.LineInterpolation>", "custom.drawStyle": "Plain<common.GraphDrawStyle>",
  "custom.stacking": "Plain<common.StackingConfig>",
};

const HEAD = `
import type * as alerting from "@grafana/grafana-foundation-sdk/alerting";
import type * as common from "@grafana/grafana-foundation-sdk/common";
import type * as cog from "@grafana/grafana-foundation-sdk/cog";
import type * as dashboard from "@grafana/grafana-foundation-sdk/dashboard";
import type * as heatmap from "@grafana/grafana-foundation-sdk/heatmap";
import type * as stat from "@grafana/grafana-foundation-sdk/stat";
import type * as table from "@grafana/grafana-foundation-sdk/table";
import type * as timeseries from "@grafana/grafana-foundation-sdk/timeseries";

// The SDK has no type for queries of the PostgreSQL data source; these are the fields of its editor for code.
interface SqlQuery { refId: string; datasource: { type: string; uid: string }; editorMode: "code"; format: "table" | "time_series"; rawQuery: true; rawSql: string }
interface Annotations { list: (Plain<Omit<dashboard.AnnotationQuery, "target">> & { target: SqlQuery })[] }
interface DataLink { title: string; url: string; targetBlank: boolean }
// JSON has the values of enums, not their names.
type Numbers<T extends number> = \`\${T}\` extends \`\${infer N extends number}\` ? N : never;
type Plain<T> = 0 extends 1 & T ? T
  : T extends cog.Dataquery ? SqlQuery
  : T extends string ? \`\${T}\` : T extends number ? Numbers<T> : T extends boolean | null | undefined ? T
  : T extends (infer U)[] ? Plain<U>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
`;

const problems = [];
const literal = (value) => JSON.stringify(value, null, 1);

function unitsOf(value, where) {
  if (Array.isArray(value)) return value.forEach((each) => unitsOf(each, where));
  if (value === null || typeof value !== "object") return;
  if (typeof value.unit === "string" && !KNOWN_UNITS.has(value.unit)) problems.push(`${where}: no such unit: ${value.unit}`);
  if (value.id === "unit" && !KNOWN_UNITS.has(value.value)) problems.push(`${where}: no such unit: ${value.value}`);
  Object.values(value).forEach((each) => unitsOf(each, where));
}

function boardText(board, where) {
  const lines = [`export const board: Plain<Omit<dashboard.Dashboard, "annotations">> & { annotations: Annotations } = ${literal(board)};`];
  board.panels.forEach((panel, i) => {
    const plugin = PLUGINS[panel.type];
    if (plugin === undefined) return problems.push(`${where}: panel ${panel.title}: no types for ${panel.type}`);
    lines.push(`export const panel${i}: Plain<dashboard.Panel> = ${literal(panel)};`);
    lines.push(`export const options${i}: Plain<${plugin}.Options> = ${literal(panel.options)};`);
    lines.push(`export const custom${i}: ${CUSTOM[panel.type]} = ${literal(panel.fieldConfig.defaults.custom)};`);
    panel.fieldConfig.overrides.flatMap((o) => o.properties).forEach(({ id, value }, p) => {
      if (!(id in PROPERTIES)) return problems.push(`${where}: panel ${panel.title}: nothing is known of the property ${id}`);
      lines.push(`export const property${i}_${p}: ${PROPERTIES[id]} = ${literal(value)};`);
    });
  });
  return lines;
}

// What a file provides has its folder, organisation and group around it, and expressions beside queries.
function rulesText(file) {
  return file.groups.flatMap((group, g) => group.rules.map((rule, r) => {
    const data = rule.data.map(({ model, ...query }) => query);
    return `export const rule${g}_${r}: Plain<Omit<alerting.Rule, "folderUID" | "orgID" | "ruleGroup" | "data">> & { data: Plain<Omit<alerting.Query, "model">>[] } = ${literal({ ...rule, data })};`;
  }));
}

const folder = join(import.meta.dirname, "typed");
mkdirSync(folder, { recursive: true });
const files = process.argv.slice(2).flatMap((path) => {
  const content = JSON.parse(readFileSync(path, "utf8"));
  const lines = content.groups ? rulesText(content) : boardText(content, basename(path));
  if (!content.groups) unitsOf(content, basename(path));
  return SDKS.map((sdk, s) => {
    const typed = join(folder, `${basename(path, ".json")}_${s}.ts`);
    writeFileSync(typed, HEAD.replaceAll(SDKS[0], sdk) + lines.join("\n") + "\n");
    return typed;
  });
});
const program = ts.createProgram(files, { strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 });
for (const found of ts.getPreEmitDiagnostics(program)) {
  const line = found.file ? found.file.getLineAndCharacterOfPosition(found.start).line + 1 : 0;
  problems.push(`${basename(found.file?.fileName ?? "")}:${line}: ${ts.flattenDiagnosticMessageText(found.messageText, "\n  ")}`);
}
problems.forEach((problem) => console.error(problem));
console.log(`${files.length / SDKS.length} files checked against ${SDKS.length} SDKs, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
