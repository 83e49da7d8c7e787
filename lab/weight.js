/** Weight space: a half-plane for every row, the cone of solutions, the path of w, and w in the hand. */
import { byId, cut, html, Plot, short, svg } from "./draw.js";
import { byHand, frame, hover, on, planes, store, wrong } from "./state.js";
import { Scene } from "./space.js";

export const options = { orbit: false };

/** @type {Plot} */
let plot;
/** @type {Scene} */
let scene;
/** The run whose lines are drawn. */
let linesOf = "";
const layers = { cone: svg("g"), lines: svg("g", { class: "lines" }), path: svg("g") };
/** Path points that are drawn, at most. */
const MOST = 600;

export function setUp() {
  plot = new Plot(byId("weight-plot"), "Weight space");
  scene = new Scene(plot.root, 460);
  scene.onTurn = draw;
  plot.body.append(layers.cone, layers.lines, layers.path);
  on("running", () => plot.root.classList.toggle("runs", store.running));
  for (const topic of /** @type {const} */ (["run", "cursor", "weights", "options"])) on(topic, draw);
  on("hover", drawHover);
  plot.root.addEventListener("pointerdown", grab);
  plot.root.addEventListener("keydown", keys);
  plot.root.addEventListener("pointermove", near);
  plot.root.addEventListener("pointerleave", () => hover(null));
  plot.root.addEventListener("click", pick);
}

/** The weights of a plane in the order of the axes. @param {number[]} plane */
function weightsOf(plane) {
  const space = store.weights;
  const [b, ...w] = plane;
  return space?.mode === "two" && !space.bias ? w : [...w, b];
}

/** Weights as a plane. @param {number[]} w */
function planeOf(w) {
  const space = store.weights;
  return space?.mode === "two" && !space.bias ? [0, ...w] : [w[w.length - 1], ...w.slice(0, -1)];
}

/** @param {number[]} a @param {number[]} b */
const dot = (a, b) => a.reduce((s, x, j) => s + x * b[j], 0);

/** Where weights are on the picture; on the chart a direction that looks away has no place. @param {number[]} w @returns {[number, number] | null} */
function place(w) {
  const chart = store.weights?.chart;
  if (store.weights?.mode !== "three" || !chart) return [w[0], w[1]];
  const ahead = dot(w, chart.centre);
  if (!(ahead > 0)) return null;
  return [dot(w, chart.e1) / ahead, dot(w, chart.e2) / ahead];
}

/** Whether a place is in the picture. @param {[number, number] | null} p @returns {p is [number, number]} */
const isSeen = (p) => !!p && p[0] >= plot.box.x0 && p[0] <= plot.box.x1 && p[1] >= plot.box.y0 && p[1] <= plot.box.y1;

/** A direction on the far side or beyond the picture, put on the rim. @param {number[]} w @returns {[number, number]} */
function rim(w) {
  const chart = store.weights?.chart;
  if (!chart) return [0, 0];
  const [u, v] = [dot(w, chart.e1) / chart.reach[0], dot(w, chart.e2) / chart.reach[1]];
  const size = Math.max(Math.abs(u), Math.abs(v)) || 1;
  return [(0.96 * chart.reach[0] * u) / size, (0.96 * chart.reach[1] * v) / size];
}

/** The line of a row on the picture. @param {number[]} z @returns {[number, number, number]} */
function lineOf(z) {
  const chart = store.weights?.chart;
  if (store.weights?.mode !== "three" || !chart) return [z[0], z[1], 0];
  return [dot(z, chart.e1), dot(z, chart.e2), dot(z, chart.centre)];
}

/** The weights after each update up to the cursor. */
function walk() {
  /** @type {number[][]} */
  const found = [];
  const first = Math.max(0, store.k - MOST);
  for (let k = first; k <= store.k; k++) {
    const one = store.frames.get(k)?.planes;
    if (one && one.length === 1) found.push(weightsOf(one[0]));
  }
  return found;
}

function draw() {
  const space = store.weights;
  const data = store.run?.data;
  scene.active = options.orbit && space?.mode === "three";
  plot.root.classList.toggle("turns", scene.active);
  byId("weight-none").hidden = !space || space.mode !== "none";
  byId("weight-none").textContent = space?.reason ?? "";
  byId("weight-plot").closest(".panel")?.classList.toggle("none", !space || space.mode === "none");
  plot.root.classList.toggle("gone", !space || space.mode === "none");
  plot.top.replaceChildren();
  if (!space || space.mode === "none" || !data) {
    byId("weight-note").textContent = "";
    byId("weight-w").textContent = "";
    linesOf = "";
    legend();
    byId("weight-rows").replaceChildren();
    fields(null);
    Object.values(layers).forEach((layer) => layer.replaceChildren());
    plot.clearAxes();
    return;
  }
  if (scene.active) {
    drawOrbit();
    return;
  }
  const path = walk();
  const now = planes();
  const w = now && now.length === 1 ? weightsOf(now[0]) : null;
  plot.even = true;
  if (space.mode === "two") {
    const reach = 1.25 * Math.max(1e-9, ...[...path, ...(w ? [w] : [])].map((p) => Math.hypot(p[0], p[1]))) || 1;
    const far = reach < 1e-6 ? 1 : reach;
    plot.domain([-far, far], [-far, far]);
    plot.drawAxes(space.axes[0], space.axes[1]);
  } else {
    const [x, y] = space.chart?.reach ?? [2, 2];
    plot.even = false;
    plot.domain([-x, x], [-y, y]);
    plot.drawAxes("direction of (w₁, w₂, b): along the cone", "across the cone");
  }
  // The chart of three weights is the same for all updates of a run.
  const same = space.mode === "three" && linesOf === store.run?.id;
  if (!same) {
    drawCone();
    drawLines();
  }
  linesOf = store.run?.id ?? "";
  drawPath(path, w);
  byId("weight-note").textContent = words(w);
  byId("weight-w").textContent = w ? `w = (${w.map((x) => short(x)).join(", ")})` : "";
  fields(w);
  drawHover();
  legend();
  table();
}

function legend() {
  const data = store.run?.data;
  const space = store.weights;
  if (!data || !space || space.mode === "none") {
    byId("weight-legend").replaceChildren();
    return;
  }
  const key = (/** @type {string} */ cls, d = "M1 6H25") => svg("svg", { class: "key", viewBox: "0 0 26 12", "aria-hidden": "true" }, svg("path", { d, class: cls }));
  const empty = space.mode === "two" ? !space.cone : space.empty;
  byId("weight-legend").replaceChildren(
    ...data.classes.slice(0, 2).map((name, i) => html("li", {}, key(`half class-${i}`), ` rows of ${name}`)),
    ...(empty ? [] : [html("li", {}, key("cone", "M2 2H24V10H2Z"), " cone of solutions")]),
    html("li", {}, key("walk"), " path of w"),
  );
}

/** The half-planes as a table, if it is open. */
function table() {
  const details = /** @type {HTMLDetailsElement} */ (byId("weight-table"));
  const [space, data] = [store.weights, store.run?.data];
  if (!details.open || !space || !data || space.mode === "none") return;
  const names = space.axes;
  const bad = wrong();
  const rows = space.lines.slice(0, 200).map(({ i, row, z }) => html("tr", {}, html("td", {}, String(row + 1)), html("td", {}, data.classes[data.class[i]]),
    ...z.map((x) => html("td", {}, short(x))), html("td", {}, bad[i] ? "outside" : "inside")));
  const head = ["row", "class", ...axesOf(names), "w is"].map((t) => html("th", { scope: "col" }, t));
  byId("weight-rows").replaceChildren(html("caption", {}, "Each row asks for z·w > 0; z is y(x, 1)."), html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
}

/** @param {string[]} names */
const axesOf = (names) => names.map((name) => `z, ${name}`);

/** @param {number[] | null} w */
function words(w) {
  const space = store.weights;
  if (!space) return "";
  const empty = space.mode === "two" ? !space.cone : space.empty;
  const parts = [];
  if (space.mode === "three") parts.push("Three weights: only their direction matters, so this is a chart of directions around the cone; every row is a line, the cone a polygon. Each axis has its own scale.");
  if (space.mode === "three" && !space.exact) parts.push("There are too many rows for the exact cone.");
  if (empty) parts.push("The cone of solutions is empty: no w is on the right side of every line.");
  if (w && space.mode === "three" && !isSeen(place(w)) && w.some((x) => x !== 0)) parts.push(`w ${place(w) ? "is beyond this part of the chart" : "looks away from it"}: it is drawn on the rim, hollow.`);
  if (space.lines.length < (store.run?.data.rows ?? 0)) parts.push(`Lines of ${space.lines.length} rows.`);
  return parts.join(" ");
}

function drawCone() {
  const space = store.weights;
  if (!space) return;
  /** @type {[number, number][]} */
  let region = [];
  const { x0, x1, y0, y1 } = plot.box;
  if (space.mode === "two" && space.cone) {
    const [[rx, ry], [lx, ly]] = space.cone.rays;
    // Rays come as right and left edge; with the bias upright the picture is mirrored.
    const way = rx * ly - ry * lx >= 0 ? 1 : -1;
    region = cut(cut([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], -way * ry, way * rx, 0), way * ly, -way * lx, 0);
  } else if (space.mode === "three") region = space.chart?.polygon ?? [];
  layers.cone.replaceChildren(...(region.length ? [svg("path", { d: plot.path(region, true), class: "cone" })] : []));
}

function drawLines() {
  const data = store.run?.data;
  const space = store.weights;
  if (!data || !space) return;
  const parts = [];
  for (const { i, z } of space.lines) {
    const [a, b, c] = lineOf(z);
    const cls = data.class[i] % 6;
    const line = plot.line(a, b, c, { class: `half class-${cls}${space.lines.length > 100 ? " faint" : ""}`, "data-i": i });
    if (!line) continue;
    parts.push(line);
    if (space.lines.length <= 60) parts.push(...ticksOf(line, a, b, cls));
  }
  layers.lines.replaceChildren(...parts);
}

/** Short strokes to the side that a row asks for. @param {SVGElement} line @param {number} a @param {number} b @param {number} cls */
function ticksOf(line, a, b, cls) {
  const [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map((name) => Number(line.getAttribute(name)));
  // The side in pixels: the normal of the drawn line that the row asks for.
  const size = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [nx, ny] = [-(y2 - y1) / size, (x2 - x1) / size];
  const { x0, x1: right, y0, y1: top } = plot.box;
  const way = (a * nx * (right - x0)) / plot.width - (b * ny * (top - y0)) / plot.height >= 0 ? 1 : -1;
  return [0.06, 0.94].map((t) => {
    const [x, y] = [x1 + t * (x2 - x1), y1 + t * (y2 - y1)];
    return svg("line", { x1: x, y1: y, x2: x + 9 * way * nx, y2: y + 9 * way * ny, class: `side class-${cls}` });
  });
}

/** @param {number[][]} path @param {number[] | null} w */
function drawPath(path, w) {
  const space = store.weights;
  const parts = [];
  const at = path.map((p) => place(p));
  /** @type {[number, number][]} */
  let piece = [];
  for (const p of [...at, null]) {
    if (p) piece.push(p);
    else {
      if (piece.length > 1) parts.push(svg("path", { d: plot.path(piece), class: "walk" }));
      piece = [];
    }
  }
  if (path.length <= 80) {
    at.forEach((p) => p && parts.push(svg("circle", { cx: plot.px(p[0]), cy: plot.py(p[1]), r: 2.6, class: "step" })));
  }
  const last = at[at.length - 1];
  const before = at[at.length - 2];
  if (!store.hand && last && before && space?.mode === "two") parts.push(plot.arrow(before, last, "update"));
  else if (!store.hand && last && before) parts.push(plot.arrow(before, last, "update"));
  if (w) {
    const there = place(w);
    const seen = isSeen(there) ? there : null;
    const inside = frame() && wrong().every((x) => x === 0);
    const [x, y] = seen ?? rim(w);
    const ended = inside && !store.hand && (store.run?.data.shown.length ?? 0) > 0;
    if (ended) parts.push(svg("circle", { cx: plot.px(x), cy: plot.py(y), r: 12, class: "enters" }));
    parts.push(svg("circle", { cx: plot.px(x), cy: plot.py(y), r: 6.5, class: seen ? "w" : "w away" }));
    const left = plot.px(x) > plot.width - 90;
    parts.push(svg("text", { x: plot.px(x) + (left ? -10 : 10), y: Math.max(plot.room.top + 14, plot.py(y) - 9), class: "symbol", "text-anchor": left ? "end" : "start" }, store.hand ? "w (by hand)" : `w(${store.k})`));
  }
  layers.path.replaceChildren(...parts);
}

function drawHover() {
  const space = store.weights;
  for (const line of layers.lines.querySelectorAll(".chosen")) line.classList.remove("chosen");
  layers.lines.querySelector(".shade")?.remove();
  if (store.hover === null || !space || scene.active || space.mode === "none") return;
  const one = space.lines.find((line) => line.i === store.hover);
  if (!one) return;
  layers.lines.querySelector(`[data-i="${store.hover}"]`)?.classList.add("chosen");
  const { x0, x1, y0, y1 } = plot.box;
  const [a, b, c] = lineOf(one.z);
  const side = cut([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], a, b, c);
  layers.lines.prepend(svg("path", { d: plot.path(side, true), class: "shade" }));
}

/** Three weights as they are. */
function drawOrbit() {
  const space = store.weights;
  const data = store.run?.data;
  if (!space || !data) return;
  const path = walk();
  const now = planes();
  const w = now && now.length === 1 ? weightsOf(now[0]) : null;
  const reach = 1.15 * Math.max(1e-6, ...[...path, ...(w ? [w] : [])].flat().map(Math.abs)) || 1;
  const far = reach < 1e-5 ? 1 : reach;
  scene.ends = [[-far, -far, -far], [far, far, far]];
  plot.clearAxes();
  const parts = [scene.frame(["w₁", "w₂", "b"])];
  for (const { z, i } of space.lines.slice(0, 24)) parts.push(scene.polygon(scene.cut(z, 0), { class: `sheet class-${data.class[i] % 6}` }));
  for (const edge of space.edges ?? []) parts.push(scene.segment([0, 0, 0], edge.map((x) => x * far), { class: "ray" }));
  for (let k = 1; k < path.length; k++) parts.push(scene.segment(path[k - 1], path[k], { class: "walk" }));
  if (w) {
    parts.push(scene.arrow([0, 0, 0], w, "normal"));
    const [x, y] = scene.see(w);
    parts.push(svg("circle", { cx: x, cy: y, r: 6, class: "w" }));
  }
  layers.cone.replaceChildren();
  layers.lines.replaceChildren();
  linesOf = "";
  layers.path.replaceChildren(...parts);
  byId("weight-note").textContent = "Each sheet is the plane of one row; the green rays are the edges of the cone of solutions. Drag or use the arrow keys to turn.";
  fields(w);
}

/** Number fields for what can be dragged. @param {number[] | null} w */
function fields(w) {
  const host = byId("weight-fields");
  const space = store.weights;
  if (!w || !space) {
    host.replaceChildren();
    return;
  }
  const names = space.axes;
  const inputs = /** @type {HTMLInputElement[]} */ ([...host.querySelectorAll("input")]);
  const known = host.dataset.names === names.join();
  host.dataset.names = names.join();
  if (inputs.length !== w.length || !known) {
    host.replaceChildren(
      ...w.map((_, j) => {
        const input = html("input", { type: "number", step: "any", "aria-label": names[j] });
        input.addEventListener("change", () => {
          const all = [...host.querySelectorAll("input")].map((one) => Number(one.value));
          if (all.every(Number.isFinite)) byHand([planeOf(all)]);
        });
        return html("label", {}, `${names[j]} `, input);
      }),
    );
  }
  [...host.querySelectorAll("input")].forEach((input, j) => {
    if (document.activeElement !== input) input.value = String(Number(w[j].toPrecision(6)));
  });
}

/** The weights at a place of the picture, as long as those that are shown. @param {[number, number]} p */
function weightsAt([x, y]) {
  const chart = store.weights?.chart;
  if (store.weights?.mode !== "three" || !chart) return [x, y];
  const now = planes();
  const size = now ? Math.hypot(...now[0]) || 1 : 1;
  const raw = [0, 1, 2].map((j) => chart.centre[j] + x * chart.e1[j] + y * chart.e2[j]);
  const length = Math.hypot(...raw);
  return raw.map((c) => (c / length) * size);
}

/** @param {PointerEvent} event */
function grab(event) {
  const now = planes();
  if (scene.active || !now || now.length !== 1 || store.weights?.mode === "none" || !store.weights) return;
  const w = weightsOf(now[0]);
  const there = place(w);
  const [x, y] = isSeen(there) ? there : rim(w);
  const area = plot.root.getBoundingClientRect();
  const unit = area.width / plot.width;
  if (Math.hypot(plot.px(x) * unit + area.left - event.clientX, plot.py(y) * unit + area.top - event.clientY) > 20) return;
  event.preventDefault();
  plot.root.setPointerCapture(event.pointerId);
  const move = (/** @type {PointerEvent} */ at) => byHand([planeOf(weightsAt(plot.under(at)))]);
  plot.root.addEventListener("pointermove", move);
  plot.root.addEventListener("pointerup", () => plot.root.removeEventListener("pointermove", move), { once: true });
}

/** @param {KeyboardEvent} event */
function keys(event) {
  const now = planes();
  const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (scene.active || !way || !now || now.length !== 1 || !store.weights || store.weights.mode === "none") return;
  event.preventDefault();
  const w = weightsOf(now[0]);
  const there = place(w);
  const [x, y] = isSeen(there) ? there : rim(w);
  const [ux, uy] = [(plot.box.x1 - plot.box.x0) / 60, (plot.box.y1 - plot.box.y0) / 60];
  byHand([planeOf(weightsAt([x + way[0] * ux, y + way[1] * uy]))]);
}

/** The line next to the pointer. @param {MouseEvent} event */
function lineNear(event) {
  const space = store.weights;
  if (!space || scene.active) return null;
  const [x, y] = plot.under(event);
  const [ux, uy] = [(plot.box.x1 - plot.box.x0) / 398, (plot.box.y1 - plot.box.y0) / 406];
  let [best, least] = [/** @type {number | null} */ (null), 6];
  for (const { i, z } of space.lines) {
    const [a, b, c] = lineOf(z);
    const away = Math.abs(a * x + b * y + c) / (Math.hypot(a * ux, b * uy) || 1);
    if (away < least) [best, least] = [i, away];
  }
  return best;
}

/** @param {PointerEvent} event */
function near(event) {
  if (!scene.active && event.buttons === 0) hover(lineNear(event));
}

/** @param {MouseEvent} event */
function pick(event) {
  if (!scene.active && frame()) hover(lineNear(event));
}

export const picture = () => plot.root;
export const view = () => plot.box;
