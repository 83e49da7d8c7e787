/**
 * Many points on a canvas. They are painted once on a sheet of their own, for as long as they stay where they are, so
 * that a frame costs one copy of the sheet and the rings of what is wrong.
 *
 * @typedef {import("./draw.js").Plot} Plot
 * @typedef {[number, number]} Place
 */
import { html, mark } from "./draw.js";

const SIDE = 920;
const sheet = html("canvas", { width: SIDE, height: SIDE });
let sheetOf = "";

/**
 * Copies the points from their sheet, which is painted anew if the key, the frame or the colours are others; always
 * without a key.
 * @param {CanvasRenderingContext2D} pen @param {Plot} plot @param {string} key @param {Place[]} at
 * @param {(i: number) => number} classOf @param {(i: number) => number} strength
 */
export function paintMany(pen, plot, key, at, classOf, strength) {
  const now = JSON.stringify([key, plot.box, colours()]);
  const own = sheet.getContext("2d");
  if (own && (key === "" || now !== sheetOf)) {
    own.setTransform(1, 0, 0, 1, 0, 0);
    own.clearRect(0, 0, SIDE, SIDE);
    stamp(own, plot, at, classOf, strength);
    sheetOf = now;
  }
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.drawImage(sheet, 0, 0);
}

/**
 * Draws points by the shapes of their classes.
 * @param {CanvasRenderingContext2D} pen @param {Plot} plot @param {Place[]} at
 * @param {(i: number) => number} classOf @param {(i: number) => number} [strength]
 */
export function stamp(pen, plot, at, classOf, strength = () => 1) {
  if (at.length === 0) return;
  const shapes = [0, 1, 2, 3, 4, 5].map((c) => new Path2D(mark(c, 2.4)));
  const fills = colours();
  at.forEach(([x, y], i) => {
    const cls = classOf(i) % 6;
    pen.globalAlpha = strength(i);
    pen.setTransform(2, 0, 0, 2, 2 * plot.px(x), 2 * plot.py(y));
    pen.fillStyle = fills[cls];
    pen.fill(shapes[cls]);
  });
  pen.globalAlpha = 1;
}

/** Rings points that are wrong, all with one stroke. @param {CanvasRenderingContext2D} pen @param {Plot} plot @param {Place[]} at */
export function ring(pen, plot, at) {
  pen.setTransform(2, 0, 0, 2, 0, 0);
  pen.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--wrong");
  pen.lineWidth = 1.4;
  pen.beginPath();
  for (const [x, y] of at) {
    pen.moveTo(plot.px(x) + 5, plot.py(y));
    pen.arc(plot.px(x), plot.py(y), 5, 0, 7);
  }
  pen.stroke();
}

/** The colours of the classes as the page has them now. */
function colours() {
  const style = getComputedStyle(document.documentElement);
  return [0, 1, 2, 3, 4, 5].map((c) => style.getPropertyValue(`--class-${c}`));
}
