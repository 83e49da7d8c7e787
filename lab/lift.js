/** Basis functions made visible: the curved boundary, and the lift to three dimensions where it is cut by a plane. */
import { around, svg } from "./draw.js";
import { get } from "./api.js";

/** @typedef {import("./draw.js").Box} Box */
/** @typedef {[number, number]} Place */

/** The grid of a box as a part of an address. @param {Box} box @param {number} cells */
export const gridOf = ({ x0, x1, y0, y1 }, cells) => `x0=${x0}&x1=${x1}&y0=${y0}&y1=${y1}&cells=${cells}`;

/** Pieces of the line 0 of heights on a grid, each between the middles of four cells. @param {(number | null)[]} values @param {number} n @param {Box} box */
export function zeroLine(values, n, { x0, x1, y0, y1 }) {
  /** @type {[Place, Place][]} */
  const pieces = [];
  const at = (/** @type {number} */ i, /** @type {number} */ j) => /** @type {Place} */ ([x0 + ((x1 - x0) * (i + 0.5)) / n, y0 + ((y1 - y0) * (j + 0.5)) / n]);
  for (let j = 0; j + 1 < n; j++) {
    for (let i = 0; i + 1 < n; i++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
      const heights = corners.map(([a, b]) => values[b * n + a]);
      if (heights.some((h) => h === null)) continue;
      /** @type {Place[]} */
      const cuts = [];
      for (let e = 0; e < 4; e++) {
        const [h, g] = [Number(heights[e]), Number(heights[(e + 1) % 4])];
        if (h > 0 === g > 0) continue;
        const t = h / (h - g);
        const [p, q] = [at(corners[e][0], corners[e][1]), at(corners[(e + 1) % 4][0], corners[(e + 1) % 4][1])];
        cuts.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
      }
      for (let c = 0; c + 1 < cuts.length; c += 2) pieces.push([cuts[c], cuts[c + 1]]);
    }
  }
  return pieces;
}

/** Cells of the grid of a boundary. */
const FINE = 64;
/** Cells of the grid of a lifted sheet. */
const COARSE = 21;

/** The curved boundary of a run in a box. @param {string} id @param {number} k @param {Box} box */
export async function boundary(id, k, box) {
  // The middles of the outer cells are on the frame, so that the line reaches it.
  const [dx, dy] = [(box.x1 - box.x0) / (2 * (FINE - 1)), (box.y1 - box.y0) / (2 * (FINE - 1))];
  box = { x0: box.x0 - dx, x1: box.x1 + dx, y0: box.y0 - dy, y1: box.y1 + dy };
  const values = await get(`/api/runs/${id}/scores?k=${k}&${gridOf(box, FINE)}`);
  return zeroLine(values, FINE, box);
}

/** The lift of a run over a box. @param {string} id @param {number} k @param {Box} box @returns {Promise<import("./types").Lift>} */
export const lifted = (id, k, box) => get(`/api/runs/${id}/lift?k=${k}&${gridOf(box, COARSE)}`);

/**
 * Draws points on the sheet of their basis functions, `share` of the way up, with the plane that cuts it.
 * @param {import("./space.js").Scene} scene @param {import("./types").Lift} lift @param {number} share
 * @param {[number, number][]} points @param {number[]} classes @param {Uint8Array} bad @param {string[]} names @param {[Place, Place][]} pieces
 */
export function drawLift(scene, lift, share, points, classes, bad, names, pieces) {
  const { cells: n, sheet, heights, plane: [b, u, v, slope] } = lift;
  const [low, high] = around([0, ...sheet, ...heights], 0.04);
  scene.stretch = true;
  scene.ends = [[lift.x[0], lift.y[0], low], [lift.x[1], lift.y[1], high]];
  const flat = Math.max(low, Math.min(0, high));
  const up = (/** @type {number} */ h) => flat + share * (h - flat);
  const along = (/** @type {[number, number]} */ ends, /** @type {number} */ i) => ends[0] + ((ends[1] - ends[0]) * (i + 0.5)) / n;
  const parts = [scene.frame([names[0], names[1], "height"])];
  const node = (/** @type {number} */ i, /** @type {number} */ j) => [along(lift.x, i), along(lift.y, j), up(sheet[j * n + i])];
  for (let j = 0; j < n; j += 2) parts.push(scene.path(Array.from({ length: n }, (_, i) => node(i, j)), { class: "mesh" }));
  for (let i = 0; i < n; i += 2) parts.push(scene.path(Array.from({ length: n }, (_, j) => node(i, j)), { class: "mesh" }));
  // The boundary on the floor, where it is curved.
  for (const [p, q] of pieces) parts.push(scene.segment([...p, low], [...q, low], { class: "boundary" }));
  if (slope !== 0 && share > 0.999) parts.push(scene.polygon(scene.cut([u, v, slope], b), { class: "plane" }));
  points.forEach((p, i) => {
    const place = [p[0], p[1], up(heights[i])];
    const [x, y] = scene.see(place);
    if (bad[i]) parts.push(svg("circle", { cx: x, cy: y, r: 11, class: "ring" }));
    parts.push(scene.segment([p[0], p[1], low], place, { class: "stalk" }), scene.point(place, classes[i], { "data-i": i, "data-height": up(heights[i]).toFixed(6) }));
  });
  return parts;
}
