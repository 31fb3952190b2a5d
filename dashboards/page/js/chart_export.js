// Charts as files: PNG of the canvas, SVG from the data. Both have a head, the legend and the colours of the page.

import { el, svg } from "./dom.js";
import { save } from "./export.js";

const HEAD = 28;
const FOOT = 24;
const FONT = "12px system-ui, sans-serif";
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 40);
const button = (name, run) => el("button", { type: "button", class: "plain", on: { click: run } }, name);

/** Buttons that save `chart`; its plot appears once it has a width. */
export function chartButtons(chart, label) {
  const png = () => pngOf(chart.plot, label).then((blob) => save(slug(label), "png", blob));
  const asSvg = () => save(slug(label), "svg", svgText(svgOf(chart.plot, label)), "image/svg+xml");
  return el("div", { class: "chart-tools" }, button("PNG", () => chart.plot && png()), button("SVG", () => chart.plot && asSvg()));
}

/** Buttons that save an SVG of the page with the colours that its style sheet gives it. */
export const drawingButtons = (picture, label) => el("div", { class: "chart-tools" },
  button("PNG", () => pngOfDrawing(picture, label).then((blob) => save(slug(label), "png", blob))),
  button("SVG", () => save(slug(label), "svg", svgText(styled(picture)), "image/svg+xml")));

/** Lines that are drawn, with label and colour. */
const linesOf = (u) => u.series.slice(1).map((line, i) => ({ ...line, number: i + 1, color: line.stroke(u, i + 1) })).filter((line) => line.show && line.label);

/** The canvas with head and legend. */
export function pngOf(u, label) {
  const source = u.ctx.canvas;
  const px = source.width / u.width;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [source.width, source.height + (HEAD + FOOT) * px];
  const pen = canvas.getContext("2d");
  pen.fillStyle = css("surface");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(source, 0, HEAD * px);
  pen.scale(px, px);
  pen.font = FONT;
  pen.fillStyle = css("text");
  pen.fillText(label, 12, 18, u.width - 24);
  let x = 12;
  for (const line of linesOf(u)) {
    pen.fillStyle = line.color;
    pen.fillRect(x, u.height + HEAD + 10, 14, 3);
    pen.fillStyle = css("muted");
    pen.fillText(line.label, x + 19, u.height + HEAD + 15);
    x += 36 + pen.measureText(line.label).width;
  }
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

/** Rectangles and paths of an SVG on a canvas, with a head. The page may not load an image that is not a file of its server. */
function pngOfDrawing(picture, label) {
  const { width, height } = picture.viewBox.baseVal;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * width, 2 * (height + HEAD)];
  const pen = canvas.getContext("2d");
  pen.scale(2, 2);
  pen.fillStyle = css("surface");
  pen.fillRect(0, 0, width, height + HEAD);
  pen.font = FONT;
  pen.fillStyle = css("text");
  pen.fillText(label, 4, 18, width - 8);
  pen.translate(0, HEAD);
  for (const node of picture.children) {
    const { fill, stroke, strokeWidth } = getComputedStyle(node);
    const path = new Path2D(node.getAttribute("d") ?? "");
    if (node.tagName === "rect") path.rect(...["x", "y", "width", "height"].map((name) => Number(node.getAttribute(name))));
    [pen.fillStyle, pen.strokeStyle, pen.lineWidth] = [fill, stroke, parseFloat(strokeWidth)];
    if (fill !== "none") pen.fill(path);
    if (stroke !== "none") pen.stroke(path);
  }
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

/** The chart drawn again as SVG: grid, labels of the axes, lines, legend. */
export function svgOf(u, label) {
  const [left, top, wide, high] = [u.over.offsetLeft, u.over.offsetTop + HEAD, u.over.clientWidth, u.over.clientHeight];
  const text = (x, y, words, anchor = "start", color = "muted") => svg("text", { x, y, fill: css(color), "font-size": 11, "font-family": "system-ui, sans-serif", "text-anchor": anchor }, words);
  const rule = (x1, y1, x2, y2) => svg("line", { x1, y1, x2, y2, stroke: css("line") });
  const marks = u.axes.flatMap((axis) => (axis._splits ?? []).flatMap((split, i) => {
    const at = u.valToPos(split, axis.scale);
    if (axis.scale === "x") return [rule(left + at, top, left + at, top + high), text(left + at, top + high + 15, axis._values[i] ?? "", "middle")];
    const right = axis.side === 1;
    return [right ? null : rule(left, top + at, left + wide, top + at), text(right ? left + wide + 6 : left - 6, top + at + 4, axis._values[i] ?? "", right ? "start" : "end")].filter(Boolean);
  }));
  const units = u.axes.filter((axis) => axis.label && axis.scale !== "x").map((axis) => text(axis.side === 1 ? left + wide : left, top - 2, axis.label, axis.side === 1 ? "end" : "start"));
  const lines = linesOf(u).map((line) => svg("path", { d: pathOf(u, line, left, top), fill: "none", stroke: line.color, "stroke-width": line.width ?? 1, ...(line.dash ? { "stroke-dasharray": line.dash.join(" ") } : {}) }));
  const legend = linesOf(u).flatMap((line, i) => [svg("rect", { x: 12 + i * 110, y: u.height + HEAD + 10, width: 14, height: 3, fill: line.color }), text(31 + i * 110, u.height + HEAD + 15, line.label)]);
  const clip = svg("clipPath", { id: "inside" }, svg("rect", { x: left, y: top, width: wide, height: high }));
  return svg("svg", { xmlns: "http://www.w3.org/2000/svg", width: u.width, height: u.height + HEAD + FOOT, viewBox: `0 0 ${u.width} ${u.height + HEAD + FOOT}` },
    clip, svg("rect", { width: "100%", height: "100%", fill: css("surface") }), text(12, 18, label, "start", "text"), text(left + wide, top + high + 30, "UTC", "end"),
    ...marks, ...units, svg("g", { "clip-path": "url(#inside)" }, ...lines), ...legend);
}

/** The line in the range shown; an unknown value interrupts it. */
function pathOf(u, line, left, top) {
  const values = u.data[line.number];
  const [from, to] = u.series[0].idxs ?? [0, values.length - 1];
  let path = "";
  for (let i = from; i <= to; i += 1) {
    const known = values[i] !== null && values[i] !== undefined;
    const begins = i === from || values[i - 1] === null || values[i - 1] === undefined;
    if (known) path += `${begins ? "M" : "L"}${(left + u.valToPos(u.data[0][i], "x")).toFixed(1)} ${(top + u.valToPos(values[i], line.scale)).toFixed(1)}`;
  }
  return path;
}

/** A copy whose colours do not need the style sheet. */
function styled(picture) {
  const copy = picture.cloneNode(true);
  const [from, to] = [picture, copy].map((node) => [node, ...node.querySelectorAll("*")]);
  from.forEach((node, i) => {
    const { fill, stroke, strokeWidth } = getComputedStyle(node);
    for (const [name, value] of Object.entries({ fill, stroke, "stroke-width": strokeWidth })) to[i].setAttribute(name, value);
  });
  const { width, height } = picture.viewBox.baseVal;
  for (const [name, value] of Object.entries({ width, height, xmlns: "http://www.w3.org/2000/svg" })) copy.setAttribute(name, value);
  return copy;
}

const svgText = (picture) => new XMLSerializer().serializeToString(picture);
