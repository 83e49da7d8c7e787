/** Criterion surfaces over the axes of weight space: levels as colours and lines, with the path of w. */
import { byId, Plot, short, svg, html } from "./draw.js";
import { fail, on, planes, store } from "./state.js";
import { delayed, get } from "./api.js";

/** @type {Plot} */
let plot;
/** @type {HTMLCanvasElement} */
let canvas;
/** @type {import("./types").Surface | null} */
let surface = null;
let asked = "";
export const options = { criterion: "jp" };

export function setUp() {
  const host = byId("criterion-plot");
  canvas = html("canvas", { "aria-hidden": "true", width: 460, height: 460 });
  host.append(canvas);
  plot = new Plot(host, "Criterion over weight space");
  for (const topic of /** @type {const} */ (["run", "cursor", "weights", "options"])) on(topic, draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
}

/** The two weights that are drawn. @param {number[]} plane @returns {[number, number]} */
function pair(plane) {
  return store.run?.data.features === 1 ? [plane[1], plane[0]] : [plane[1], plane[2]];
}

function path() {
  /** @type {[number, number][]} */
  const found = [];
  for (let k = Math.max(0, store.k - 600); k <= store.k; k++) {
    const one = store.frames.get(k)?.planes;
    if (one && one.length === 1) found.push(pair(one[0]));
  }
  return found;
}

function can() {
  const data = store.run?.data;
  return !!data && data.classes.length === 2 && !!planes() && data.expanded <= 2 && data.expanded === data.features;
}

const soon = delayed();

function draw() {
  const now = planes();
  const open = /** @type {HTMLDetailsElement} */ (byId("criterion-panel")).open;
  if (!open) return;
  byId("criterion-none").hidden = can();
  byId("criterion-panel").classList.toggle("none", !can());
  plot.root.classList.toggle("gone", !can());
  canvas.hidden = !can();
  if (!can() || !now || !store.run) {
    byId("criterion-note").textContent = "";
    byId("criterion-scale").replaceChildren();
    asked = "";
    return;
  }
  const walk = path();
  const all = [...walk, pair(now[0])];
  const reach = Math.max(...all.map(([u, v]) => Math.max(Math.abs(u), Math.abs(v))));
  // Powers of two, so that the picture does not jump at every update.
  const far = reach > 0 ? 2 ** Math.ceil(Math.log2(1.2 * reach)) : 2;
  const bias = store.run.data.features === 1 || store.run.spec.learner === "two-weights" ? 0 : now[0][0];
  plot.domain([-far, far], [-far, far]);
  const { x0, x1, y0, y1 } = plot.box;
  const query = `criterion=${options.criterion}&x0=${x0}&x1=${x1}&y0=${y0}&y1=${y1}&cells=56&bias=${bias}`;
  const key = `${store.run.id}?${query}`;
  overlay(walk, pair(now[0]));
  if (key === asked) {
    table();
    return;
  }
  asked = key;
  // Only where the cursor comes to rest: the surface costs more than all else.
  const address = `/api/runs/${store.run.id}/surface?${query}`;
  soon(120, () => void ask(address, key));
}

/** @param {string} address @param {string} key */
async function ask(address, key) {
  if (asked !== key) return;
  try {
    const answer = await get(address);
    if (asked === key) {
      surface = answer;
      paint();
    }
  } catch (error) {
    if (asked === key) fail(error);
  }
}

function paint() {
  const pen = canvas.getContext("2d");
  if (!pen || !surface) return;
  pen.clearRect(0, 0, 460, 460);
  const n = surface.cells;
  const numbers = /** @type {number[]} */ (surface.values.filter((x) => x !== null && Number.isFinite(x)));
  // Colours follow the order of the heights: the bowl and the rim both have room.
  const sorted = [...numbers].sort((a, b) => a - b);
  const share = (/** @type {number} */ x) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < x) low = middle + 1;
      else high = middle;
    }
    return low / Math.max(1, sorted.length - 1);
  };
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const [w, h] = [(plot.width - plot.room.left - plot.room.right) / n, (plot.height - plot.room.top - plot.room.bottom) / n];
  surface.values.forEach((value, at) => {
    const [i, j] = [at % n, Math.floor(at / n)];
    if (value === null) return;
    const level = Math.floor(Math.min(0.999, share(value)) * 12) / 12;
    pen.fillStyle = value === 0 ? (dark ? "#0b5a44" : "#bfe8da") : shade(level, dark);
    pen.fillRect(plot.room.left + i * w, plot.height - plot.room.bottom - (j + 1) * h, w + 0.5, h + 0.5);
  });
  const zero = surface.criterion === "jp" && !surface.bias ? ` J(0) = ${short(surface.atZero)} at w = 0, where every row counts as wrong: a run ends with an empty error set, not with J = 0.` : "";
  const cutAt = surface.bias === null ? "" : ` Cut at b = ${short(surface.bias)}.`;
  byId("criterion-note").textContent = `${surface.meaning}; ${surface.convex ? "convex" : "not convex"}. Minimum: ${surface.minimum}. Darker is higher; green is 0.${cutAt}${zero}`;
  scale(sorted, dark);
  table();
}

/** The colours with the heights that they stand for. @param {number[]} sorted @param {boolean} dark */
function scale(sorted, dark) {
  const steps = Array.from({ length: 12 }, () => html("span"));
  steps.forEach((one, i) => (one.style.background = shade(i / 12, dark)));
  const at = (/** @type {number} */ t) => short(sorted[Math.round(t * (sorted.length - 1))], 3);
  byId("criterion-scale").replaceChildren(
    html("span", { class: "number" }, `lowest ${at(0)}`), html("span", { class: "ramp", role: "img", "aria-label": "colours from low to high" }, ...steps),
    html("span", { class: "number" }, `median ${at(0.5)}, highest ${at(1)}`));
}

/** The colour of a level. @param {number} level @param {boolean} dark */
const shade = (level, dark) => `hsl(210 45% ${dark ? 14 + 34 * level : 97 - 45 * level}%)`;

/** The height of the criterion at the cells of the path. */
function table() {
  const details = /** @type {HTMLDetailsElement} */ (byId("criterion-table"));
  if (!details.open || !surface) return;
  const { x: [x0, x1], y: [y0, y1], cells: n, values } = surface;
  const cell = (/** @type {number} */ v, /** @type {number} */ low, /** @type {number} */ high) => Math.max(0, Math.min(n - 1, Math.floor(((v - low) / (high - low)) * n)));
  const walk = path();
  const first = store.k - walk.length + 1;
  const rows = walk.slice(-200).map(([u, v], i) => {
    const height = values[cell(v, y0, y1) * n + cell(u, x0, x1)];
    return html("tr", {}, ...[String(Math.max(first, first + walk.length - 200) + i), short(u), short(v), short(height)].map((t) => html("td", {}, t)));
  });
  byId("criterion-rows").replaceChildren(
    html("thead", {}, html("tr", {}, ...["k", "first axis", "second axis", `${surface.criterion} in that cell`].map((t) => html("th", { scope: "col" }, t)))), html("tbody", {}, ...rows));
}

/** @param {[number, number][]} walk @param {[number, number]} now */
function overlay(walk, now) {
  const data = store.run?.data;
  const names = data?.features === 1 ? [`weight of ${data.names[0]}`, "bias"] : [0, 1].map((j) => `weight of ${data?.names[j]}`);
  plot.drawAxes(names[0], names[1]);
  const parts = [svg("path", { d: plot.path(walk), class: "walk" })];
  const [zx, zy] = [plot.px(0), plot.py(0)];
  parts.push(svg("path", { d: `M${zx - 5} ${zy}H${zx + 5}M${zx} ${zy - 5}V${zy + 5}`, class: "zero" }));
  parts.push(svg("text", { x: zx + 7, y: zy + 14, class: "symbol" }, "0"));
  parts.push(svg("circle", { cx: plot.px(now[0]), cy: plot.py(now[1]), r: 6, class: "w" }));
  plot.body.replaceChildren(...parts);
}

export { draw };
export const picture = () => plot.root;
