// Colours for the canvas, taken from the style sheet so that each is defined once.

const hex = (style, name) => {
  const text = style.getPropertyValue(`--${name}`).trim();
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
};

const css = (rgb) => `rgb(${rgb.map(Math.round).join(" ")})`;
const between = (a, b, t) => a.map((low, i) => low + (b[i] - low) * t);
const clamp = (t) => Math.min(1, Math.max(0, t));

/** Steps of a ramp: few enough to cache, enough to look continuous. */
const STEPS = 24;

/** The palette of the current scheme. */
export function readPalette(context) {
  const style = getComputedStyle(document.documentElement);
  const ramp = (name) => Array.from({ length: STEPS + 1 }, (_, i) =>
    ink(between(hex(style, `${name}-low`), hex(style, `${name}-high`), i / STEPS)));
  const plain = (name) => ink(hex(style, name));
  return {
    clear: ramp("clear"),
    contended: ramp("contended"),
    warmup: [plain("warmup")],
    idle: [plain("idle")],
    unknown: [{ fill: hatch(context, hex(style, "unknown"), hex(style, "unknown-ground")), text: css(hex(style, "text")) }],
    text: css(hex(style, "text")),
    muted: css(hex(style, "muted")),
    surface: css(hex(style, "surface")),
    sunken: css(hex(style, "sunken")),
    line: css(hex(style, "line-strong")),
    edge: css(between(hex(style, "muted"), hex(style, "surface"), 0.35)),
    accent: css(hex(style, "accent")),
    rival: css(hex(style, "chart-baseline")),
  };
}

/** A colour with a readable text colour. */
function ink(rgb) {
  const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return { fill: css(rgb), text: luminance > 0.2 ? "rgb(16 22 30)" : "rgb(255 255 255)" };
}

/** Stripes for unknown cells: a pattern is visible where colours cannot be distinguished. */
function hatch(context, line, ground) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const pen = tile.getContext("2d");
  pen.fillStyle = css(ground);
  pen.fillRect(0, 0, 6, 6);
  pen.strokeStyle = css(line);
  pen.lineWidth = 1.5;
  for (const shift of [-6, 0, 6]) {
    pen.beginPath();
    pen.moveTo(shift, 6);
    pen.lineTo(shift + 6, 0);
    pen.stroke();
  }
  return context.createPattern(tile, "repeat");
}

/** Strength of the colour of a cell, 0 to 1: nearness to the bound while clear, excess over it while contended. */
export function strength(state, mean, bound, direction) {
  if (mean === null || bound === null || !(mean > 0) || !(bound > 0)) return 0;
  const ratio = direction === "falling" ? bound / mean : mean / bound;
  return state === "contended" ? clamp(0.15 + Math.log2(Math.max(1, ratio)) / 1.4) : clamp((ratio - 0.4) / 0.6);
}

export function inkOf(palette, state, t) {
  const steps = palette[state] ?? palette.unknown;
  return steps[Math.round(t * (steps.length - 1))];
}
