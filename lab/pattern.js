/** Pattern space: the points, the plane, what is wrong; and the tools that draw, move, relabel and delete points. */
import { around, byId, hull, html, mark, Plot, short, svg } from "./draw.js";
import { byHand, choose, fail, frame, hover, on, own, planes, store, tell, wrong } from "./state.js";
import { delayed, get } from "./api.js";
import { paintMany, ring, stamp } from "./many.js";
import { Scene } from "./space.js";
import { drawTable, paintCells } from "./regions.js";
import { edit, pointsNow } from "./edit.js";
import { boundary, drawLift, gridOf, lifted } from "./lift.js";
import { click as walkTo, isUnclear, classOf, walk } from "./walk.js";

/** Beyond this many points a canvas draws them. */
const MANY = 400;

export const options = { reflected: false, hulls: true, support: true, band: true, lift: false, regions: true };

/** @type {Plot} */
let plot;
/** @type {Scene} */
let scene;
/** @type {HTMLCanvasElement} */
let canvas;
/** @type {SVGElement[]} */
let marks = [];
/** @type {WeakMap<object, { hulls: [number, number][][], order: Map<number, number> }>} What follows from the rows of a run. */
const known = new WeakMap();
const layers = {
  /** @type {SVGElement} */ under: svg("g"),
  /** @type {SVGElement} */ points: svg("g"),
  /** @type {SVGElement} */ over: svg("g"),
};
/** @type {string | null} */
let cells = null;
/** Which update the regions are of. */
let cellsOf = "";
/** @type {[[number, number], [number, number]][]} The curved boundary, in pieces. */
let pieces = [];
let piecesOf = "";
/** @type {import("./types").Lift | null} */
let lift = null;
let liftOf = "";
/** How far the points are lifted, from 0 to 1. */
let share = 1;

export function setUp() {
  const host = byId("pattern-plot");
  canvas = html("canvas", { "aria-hidden": "true", width: 920, height: 920 });
  host.append(canvas);
  plot = new Plot(host, "Pattern space");
  layers.under = svg("g");
  layers.points = svg("g");
  layers.over = svg("g");
  plot.body.append(layers.under, layers.points, layers.over);
  scene = new Scene(plot.root, 460);
  scene.onTurn = draw;
  on("run", fresh);
  on("cursor", draw);
  on("state", draw);
  on("verdict", draw);
  on("hover", drawHover);
  on("options", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  const slider = /** @type {HTMLInputElement} */ (byId("lift-share"));
  slider.addEventListener("input", () => {
    share = Number(slider.value) / 100;
    draw();
  });
  byId("lift-play").addEventListener("click", () => playLift(slider));
  plot.root.addEventListener("pointermove", near);
  plot.root.addEventListener("pointerleave", () => hover(null));
  plot.root.addEventListener("click", click);
  plot.root.addEventListener("pointerdown", down);
  plot.root.addEventListener("keydown", keys);
}

/** Where the points are drawn. @returns {[number, number][]} */
export function places() {
  const data = store.run?.data;
  if (!data) return [];
  const flat = data.points ?? store.state?.view?.points ?? [];
  if (!options.reflected || !data.points || data.classes.length !== 2) return flat;
  return flat.map(([x, y], i) => (data.class[i] === 1 ? [x, y] : [-x, -y]));
}

function fresh() {
  [cells, cellsOf, pieces, piecesOf, lift, liftOf] = [null, "", [], "", null, ""];
  frameUp();
  draw();
}

/** Chooses what part of the plane is shown. */
function frameUp() {
  const at = places();
  const xs = at.map((p) => p[0]);
  const ys = at.map((p) => p[1]);
  const flat = store.run?.data.features === 1;
  plot.even = store.run?.data.features === 2;
  // The plane itself is always in sight where it is the origin of an axis.
  const origin = options.reflected || store.state?.view?.boundary === 0;
  plot.domain(around(origin ? [...xs, 0] : xs), flat ? [-1, 1] : around(options.reflected ? [...ys, 0] : ys));
}

/** Whether two features can be lifted. */
const canLift = () => store.run?.data.features === 2 && store.run.data.classes.length === 2 && store.run.data.shown.length <= MANY;
const isBent = () => !!store.run && store.run.data.features === 2 && store.run.data.expanded > 2;
const isSpace = () => (store.run?.data.features === 3 && !!store.run.data.cube) || (options.lift && canLift());

/** Lifts the points slowly, or at once where motion is not wanted. @param {HTMLInputElement} slider */
function playLift(slider) {
  const put = (/** @type {number} */ to) => {
    slider.value = String(Math.round(to));
    share = Math.min(100, to) / 100;
    draw();
  };
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    put(share < 1 ? 100 : 0);
    return;
  }
  const start = performance.now();
  const frame = (/** @type {number} */ now) => {
    put(Math.min(100, (now - start) / 16));
    if (now - start < 1600 && scene.active) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

/** The curved boundary and the lift of this update, asked for once. */
function wantCurves() {
  const run = store.run;
  if (!run || !isBent() || run.data.classes.length !== 2 || store.hand) return;
  const key = `${run.id}/${own()}`;
  if (store.running) return;
  const box = plot.box;
  if (key !== piecesOf) {
    piecesOf = key;
    later(0, () => boundary(run.id, own(), box).then((found) => {
      if (piecesOf === key) [pieces] = [found];
      draw();
    }).catch(fail));
  }
  if (options.lift && canLift() && key !== liftOf) {
    liftOf = key;
    lifted(run.id, own(), box).then((found) => {
      if (liftOf === key) [lift] = [found];
      draw();
    }).catch(fail);
  }
}

const later = delayed();

function draw() {
  const data = store.run?.data;
  if (!data) return;
  scene.active = isSpace();
  byId("lift-row").hidden = !scene.active || data.features === 3;
  wantCurves();
  if (scene.active) {
    drawSpace();
    return;
  }
  plot.root.classList.remove("turns");
  if (!data.points) frameUp();
  const names = store.state?.view;
  const [xName, yName] = data.points
    ? [data.names[0], data.names[1] ?? ""]
    : names?.kind === "distance"
      ? ["signed distance from the plane", "direction of most variance beside it"]
      : names?.columns
        ? [data.names[names.columns[0]], data.names[names.columns[1]]]
        : names?.kind === "lda"
          ? ["first discriminant axis", "second axis"]
          : [names?.kind === "means" ? "between the means" : "first principal component", "next direction of most variance"];
  plot.drawAxes(xName, yName);
  byId("pattern-note").textContent = note();
  drawUnder();
  drawPoints();
  drawOver();
  drawHover();
  drawTable();
}

function note() {
  const data = store.run?.data;
  const view = store.state?.view;
  if (!data) return "";
  const parts = [];
  const also = store.state?.also;
  if (data.sampled) parts.push(`${data.shown.length} of ${data.rows} rows are drawn${also ? `, and ${also.rows.length} more that are wrong or prove the verdict${also.left ? ` (${also.left} wrong ones are not)` : ""}` : ""}; numbers are of all rows.`);
  if (view) {
    const share = view.variance === null ? "" : ` ${Math.round(100 * view.variance)} % of the variance is shown.`;
    const what = view.kind === "distance" ? "This is a projection along the plane: the boundary is an exact line here." : view.section ? `This is a section: the features that are not drawn are held at those of row ${view.section.row + 1}. The boundary cuts it in an exact line; points far from the section are faint and may be on the other side.` : "This is a projection: the boundary is no line here.";
    parts.push(`${what} Training uses all ${data.features} features.${share}`);
  }
  if (data.expanded !== data.features) parts.push(`The plane lives in ${data.expanded} basis functions; its boundary is curved here.`);
  if (options.reflected && data.points) parts.push("Points of the first class are reflected at the origin.");
  return parts.join(" ");
}

/** The line of a plane in this view: a x + b y + c = 0. @param {number[]} plane @returns {[number, number, number] | null} */
function lineOf(plane) {
  const data = store.run?.data;
  if (!data || data.expanded !== data.features) return null;
  const cut = store.state?.view?.section?.lines;
  if (!data.points && cut) return cut.length === 1 ? cut[0] : null;
  if (!data.points) return store.state?.view?.boundary === 0 ? [1, 0, 0] : null;
  return [plane[1], plane[2] ?? 0, plane[0]];
}

/** Hulls of the classes, and the place of each row among the drawn points. @param {import("./types").RunInfo["data"]} data */
function ofRows(data) {
  const before = known.get(data);
  if (before) return before;
  const points = data.points ?? [];
  const found = {
    hulls: [0, 1].map((cls) => hull(points.filter((_, i) => data.class[i] === cls))),
    order: new Map(data.shown.map((row, i) => [row, i])),
  };
  known.set(data, found);
  return found;
}

function drawUnder() {
  const data = store.run?.data;
  const now = planes();
  /** @type {(SVGElement | null)[]} */
  const parts = [];
  if (!data) return;
  wantCells();
  if (options.hulls && data.points && data.features === 2 && data.classes.length === 2 && !options.reflected) {
    ofRows(data).hulls.forEach((corners, cls) => parts.push(svg("path", { d: plot.path(corners, true), class: `hull class-${cls}` })));
  }
  if (isBent() && now?.length === 1 && !store.hand) {
    const d = pieces.map((piece) => plot.path(piece)).join("");
    parts.push(svg("path", { d, class: "boundary curved" }));
  }
  if (now && data.classes.length === 2 && now.length === 1) {
    const line = lineOf(now[0]);
    const size = line ? Math.hypot(line[0], line[1]) : 0;
    if (line && size > 0) {
      const [a, b, c] = line;
      const projected = !data.points;
      const band = store.hand ? store.state?.band : frame()?.band;
      if (options.band && band && band > 0 && !projected && !options.reflected) {
        for (const s of [-band, band]) parts.push(plot.line(a, b, c + s, { class: "band" }));
      }
      if (!options.reflected) parts.push(plot.line(a, b, c, { class: "boundary" }));
      const { x0, x1, y0, y1 } = plot.box;
      const [mx, my] = [(x0 + x1) / 2, (y0 + y1) / 2];
      const off = options.reflected ? (a * mx + b * my) / size ** 2 : (a * mx + b * my + c) / size ** 2;
      const foot = /** @type {[number, number]} */ ([mx - off * a, my - off * b]);
      const long = 0.16 * Math.min(x1 - x0, y1 - y0);
      const tip = /** @type {[number, number]} */ ([foot[0] + (long * a) / size, foot[1] + (long * b) / size]);
      parts.push(plot.arrow(foot, tip, "normal"));
      parts.push(svg("text", { x: plot.px(tip[0]) + 6, y: plot.py(tip[1]) - 4, class: "symbol" }, "w"));
    }
    const model = store.hand ? null : store.state?.model;
    const other = model && store.state?.k === store.k ? lineOf(model[0]) : null;
    if (other && data.points) parts.push(plot.line(other[0], other[1], other[2], { class: "model" }));
  } else if (!data.points && (store.state?.view?.section?.lines.length ?? 0) > 1 && data.rule !== "argmax") {
    store.state?.view?.section?.lines.forEach(([a, b, c], j) => parts.push(plot.line(a, b, c, { class: `boundary class-${j % 6}` })));
  } else if (now && data.points && data.features === 2 && data.expanded === 2 && data.rule !== "argmax") {
    now.forEach((plane, j) => parts.push(plot.line(plane[1], plane[2], plane[0], { class: `boundary class-${j % 6}` })));
  }
  layers.under.replaceChildren(...parts.filter((part) => part !== null));
}

/** Asks for the regions of classes where lines do not show them. */
async function wantCells() {
  const run = store.run;
  const needs = run && run.data.features === 2 && options.regions && (run.data.classes.length > 2 || run.data.expanded !== 2) && !store.hand;
  if (!run || !needs) {
    [cells, cellsOf] = [null, ""];
    return;
  }
  const key = `${run.id}/${own()}`;
  if (key === cellsOf || store.running) return;
  cellsOf = key;
  try {
    const text = await asked(run.id);
    if (cellsOf === key) {
      cells = text;
      drawPoints();
    }
  } catch (error) {
    fail(error);
  }
}

/** Cells of the regions, across and up. */
const CELLS = 120;

/** @param {string} id @returns {Promise<string>} */
const asked = (id) => get(`/api/runs/${id}/regions?k=${own()}&${gridOf(plot.box, CELLS)}`);

/** The regions of this update, whether or not they are drawn. @returns {Promise<string | null>} */
export async function cellsNow() {
  const run = store.run;
  if (!run || run.data.features !== 2) return null;
  try {
    return await asked(run.id);
  } catch (error) {
    fail(error);
    return null;
  }
}

function drawPoints() {
  const data = store.run?.data;
  const pen = canvas.getContext("2d");
  if (!data || !pen) return;
  pen.setTransform(2, 0, 0, 2, 0, 0);
  pen.clearRect(0, 0, 460, 460);
  if (cells) paintCells(pen, plot, cells);
  const at = places();
  const bad = wrong();
  const apart = data.points ? undefined : store.state?.view?.section?.apart;
  if (at.length > MANY) {
    marks = [];
    layers.points.replaceChildren();
    const also = store.state?.k === own() || store.hand ? (store.state?.also?.rows ?? []) : [];
    // Points of a projection move with the plane.
    const key = data.points ? `${store.run?.id} ${options.reflected}` : "";
    paintMany(pen, plot, key, at, (i) => data.class[i], (i) => Math.max(0.2, 1 / (1 + 0.5 * (apart?.[i] ?? 0))));
    stamp(pen, plot, also.map((one) => one.at), (i) => also[i].class);
    ring(pen, plot, [...at.filter((_, i) => bad[i] === 1), ...also.filter((one) => one.wrong).map((one) => one.at)]);
    return;
  }
  marks = at.map(([x, y], i) => {
    const cls = data.class[i];
    const far = apart?.[i];
    const group = svg("g", { ...(far ? { opacity: Math.max(0.25, 1 / (1 + 0.5 * far)).toFixed(2) } : {}), class: `mark${bad[i] ? " wrong" : ""}`, transform: `translate(${plot.px(x).toFixed(2)} ${plot.py(y).toFixed(2)})`, "data-i": i });
    if (bad[i]) group.append(svg("circle", { r: 10.5, class: "ring" }));
    group.append(svg("path", { d: mark(cls, 5.2), class: `point class-${cls % 6}` }));
    return group;
  });
  layers.points.replaceChildren(...marks);
}

/** The row in turn, support rows, the common point and its witnesses. */
function drawOver() {
  const data = store.run?.data;
  if (!data) return;
  const at = places();
  /** @type {SVGElement[]} */
  const parts = [];
  const circle = (/** @type {number} */ i, /** @type {number} */ r, /** @type {string} */ cls) => {
    if (at[i]) parts.push(svg("circle", { cx: plot.px(at[i][0]), cy: plot.py(at[i][1]), r, class: cls }));
  };
  const line = store.hand ? null : frame()?.line;
  const rows = line?.row !== undefined ? [line.row] : (line?.rows ?? []);
  const { order } = ofRows(data);
  for (const row of rows.slice(0, 300)) {
    const i = order.get(row);
    if (i !== undefined) circle(i, 14, "turn");
  }
  const verdict = store.verdict;
  if (options.support && verdict?.support) {
    for (const { row } of verdict.support) {
      const i = order.get(row);
      if (i !== undefined) circle(i, 8, "support");
    }
  }
  if (options.hulls && verdict?.common && data.points && !options.reflected) {
    const [x, y] = [verdict.common.at[0], verdict.common.at[1] ?? 0];
    for (const { row } of verdict.witness) {
      const i = order.get(row);
      if (i === undefined || x === null || y === null) continue;
      circle(i, 12, "witness");
      parts.push(svg("line", { x1: plot.px(at[i][0]), y1: plot.py(at[i][1]), x2: plot.px(x), y2: plot.py(y), class: "rope" }));
    }
    if (x !== null && y !== null) {
      const [px, py] = [plot.px(x), plot.py(y)];
      parts.push(svg("path", { d: `M${px - 8} ${py}H${px + 8}M${px} ${py - 8}V${py + 8}`, class: "common" }));
    }
  }
  if (walk.from && data.points && data.features === 2 && !options.reflected) parts.push(...drawWalk(walk.from, walk.to));
  layers.over.replaceChildren(...parts);
}

/** The walk, with the place that has been reached. @param {[number, number]} from @param {[number, number] | null} to */
function drawWalk(from, to) {
  const [x1, y1] = [plot.px(from[0]), plot.py(from[1])];
  const parts = [svg("circle", { cx: x1, cy: y1, r: 5, class: "walk-end" })];
  if (!to) return parts;
  const [x2, y2] = [plot.px(to[0]), plot.py(to[1])];
  const t = walk.along / 200;
  const here = walk.classes[walk.along] ?? "0";
  parts.push(
    svg("line", { x1, y1, x2, y2, class: "walk-line" }), svg("circle", { cx: x2, cy: y2, r: 5, class: "walk-end" }),
    svg("circle", { cx: x1 + t * (x2 - x1), cy: y1 + t * (y2 - y1), r: 8, class: `walk-here class-${classOf(here) % 6}${isUnclear(here) ? " unclear" : ""}` }),
  );
  return parts;
}

function drawHover() {
  const at = places();
  plot.top.replaceChildren();
  const i = store.hover;
  if (i === null || !at[i] || scene.active) return;
  const data = store.run?.data;
  const [x, y] = [plot.px(at[i][0]), plot.py(at[i][1])];
  const margin = store.state?.margins[i];
  const text = `row ${(data?.shown[i] ?? 0) + 1}: ${data?.classes[data.class[i]]}, margin ${short(margin)}`;
  const left = x > 250;
  plot.top.append(
    svg("circle", { cx: x, cy: y, r: 9, class: "hovered" }),
    svg("text", { x: left ? x - 14 : x + 14, y: Math.max(24, y - 12), class: "tip", "text-anchor": left ? "end" : "start" }, text),
  );
}

/** The cube of three inputs, and two features lifted to the plane through the origin of three dimensions. */
function drawSpace() {
  const data = store.run?.data;
  const now = planes();
  if (!data) return;
  const pen = canvas.getContext("2d");
  pen?.setTransform(1, 0, 0, 1, 0, 0);
  pen?.clearRect(0, 0, 920, 920);
  plot.root.classList.add("turns");
  plot.clearAxes();
  plot.top.replaceChildren();
  layers.points.replaceChildren();
  layers.over.replaceChildren();
  scene.stretch = false;
  if (isBent()) {
    if (lift) layers.under.replaceChildren(...drawLift(scene, lift, share, data.points ?? [], data.class, wrong(), data.names, pieces));
    else layers.under.replaceChildren();
    const many = lift && lift.functions > 1 ? `the ${lift.functions} basis functions beyond the features, weighted as in the plane and added up` : "the basis function";
    byId("pattern-note").textContent = `The height of a point is ${many}. Up there a plane separates; where it cuts the sheet is the curved boundary on the floor. Drag or use the arrow keys to turn.`;
    drawTable();
    return;
  }
  const lifted = data.features === 2;
  const points = lifted ? (data.points ?? []).map(([x, y]) => [x, y, share]) : (data.cube ?? []);
  const [xs, ys, zs] = [0, 1, 2].map((j) => around(points.map((p) => p[j]), lifted ? 0.1 : 0.25));
  scene.ends = lifted
    ? [[Math.min(xs[0], 0), Math.min(ys[0], 0), -0.1], [Math.max(xs[1], 0), Math.max(ys[1], 0), 1.2]]
    : [[xs[0], ys[0], zs[0]], [xs[1], ys[1], zs[1]]];
  const parts = [scene.frame(lifted ? [data.names[0], data.names[1], "1"] : data.names)];
  if (lifted) {
    const [low, high] = scene.ends;
    const sheet = [[low[0], low[1], share], [high[0], low[1], share], [high[0], high[1], share], [low[0], high[1], share]];
    parts.push(scene.polygon(sheet, { class: "sheet" }));
  }
  if (now && now.length === 1) {
    const [b, ...w] = now[0];
    const cut = lifted ? scene.cut([w[0], w[1], b], 0) : scene.cut(w, b);
    if (!lifted || share > 0.999) parts.push(scene.polygon(cut, { class: "plane" }));
    if (lifted) {
      const size = Math.hypot(w[0], w[1], b);
      const reach = 0.35 * Math.max(scene.ends[1][0] - scene.ends[0][0], 1);
      if (size > 0) parts.push(scene.arrow([0, 0, 0], [w[0], w[1], b].map((x) => (x / size) * reach), "normal"));
    }
  }
  const bad = wrong();
  points.forEach((p, i) => {
    const [x, y] = scene.see(p);
    if (bad[i]) parts.push(svg("circle", { cx: x, cy: y, r: 12, class: "ring" }));
    parts.push(scene.point(p, data.class[i], { "data-i": i }));
    if (!lifted && points.length <= 8) parts.push(svg("text", { x: x + 12, y: y + 4, class: "number" }, p.map((c) => short(c)).join("")));
  });
  layers.under.replaceChildren(...parts);
  byId("pattern-note").textContent = lifted
    ? "The rows (x₁, x₂, 1) lie on a sheet at height 1; the plane goes through the origin of three dimensions and cuts the sheet in the boundary. Drag or use the arrow keys to turn."
    : "All corners of the cube. Drag or use the arrow keys to turn.";
  drawTable();
}

/** The drawn point next to the pointer. @param {MouseEvent} event */
function nearest(event, reach = 14) {
  const area = plot.root.getBoundingClientRect();
  const [x, y] = [((event.clientX - area.left) / area.width) * 460, ((event.clientY - area.top) / area.height) * 460];
  /** @type {number | null} */
  let best = null;
  let least = reach;
  places().forEach((p, i) => {
    const away = Math.hypot(plot.px(p[0]) - x, plot.py(p[1]) - y);
    if (away < least) [best, least] = [i, away];
  });
  return /** @type {number | null} */ (best);
}

/** @param {PointerEvent} event */
function near(event) {
  if (!scene.active && event.buttons === 0) hover(nearest(event));
}

/** The tool in hand. */
export const tool = { name: "look" };

/** @param {MouseEvent} event */
function click(event) {
  const i = nearest(event);
  const data = store.run?.data;
  if (!data || scene.active) return;
  if (tool.name === "walk" && data.points) {
    void walkTo(i === null ? plot.under(event) : data.points[i]);
    return;
  }
  if (store.run?.spec.choose && tool.name === "look") {
    if (i !== null) void choose(i);
    return;
  }
  if (tool.name.startsWith("add-") && i === null && data.features === 2 && data.points) {
    const [x, y] = plot.under(event);
    edit([...pointsNow(), [round(x), round(y), tool.name.slice(4)]]);
  } else if (tool.name === "look") {
    // A finger does not hover: a tap shows the half-plane of a point, too.
    hover(i);
  } else if (tool.name === "relabel" && i !== null) relabel(i);
  else if (tool.name === "delete" && i !== null) erase(i);
}

/** Numbers that people can read, fine enough for a pixel. @param {number} x */
function round(x) {
  const fine = (plot.box.x1 - plot.box.x0) / 1000;
  const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(fine))));
  return Number(x.toFixed(digits));
}

/** @param {number} i */
export function relabel(i) {
  const data = store.run?.data;
  if (!data?.points) return;
  edit(pointsNow().map((p, j) => (i === j ? [p[0], p[1], data.classes[(data.class[i] + 1) % data.classes.length]] : p)));
}

/** @param {number} i */
export function erase(i) {
  edit(pointsNow().filter((_, j) => j !== i));
}

/** @param {PointerEvent} event */
function down(event) {
  if (scene.active || tool.name !== "move" || !store.run?.data.points) return;
  const i = nearest(event);
  if (i === null) return;
  plot.root.setPointerCapture(event.pointerId);
  const start = pointsNow();
  const move = (/** @type {PointerEvent} */ now) => {
    const [x, y] = plot.under(now);
    marks[i]?.setAttribute("transform", `translate(${plot.px(x)} ${plot.py(y)})`);
  };
  plot.root.addEventListener("pointermove", move);
  plot.root.addEventListener("pointerup", (now) => {
    plot.root.removeEventListener("pointermove", move);
    const [x, y] = plot.under(now);
    edit(start.map((p, j) => (i === j ? [round(x), round(y), p[2]] : p)));
  }, { once: true });
}

/** Arrow keys move the selection, or the selected point with Shift. @param {KeyboardEvent} event */
function keys(event) {
  const data = store.run?.data;
  if (!data || scene.active) return;
  const n = data.shown.length;
  const i = store.hover;
  const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (way && event.shiftKey && i !== null && data.points) {
    const unit = (plot.box.x1 - plot.box.x0) / 50;
    edit(pointsNow().map((p, j) => (i === j ? [round(p[0] + way[0] * unit), round(p[1] + way[1] * unit), p[2]] : p)), i);
  } else if (way) {
    const next = i === null ? 0 : (i + (way[0] || way[1]) + n) % n;
    hover(next);
    tell("hover");
  } else if (event.key === "Delete" && i !== null) erase(i);
  else if (event.key === "l" && i !== null) relabel(i);
  else if (event.key === "Enter" && i !== null && store.run?.spec.choose) void choose(i);
  else return;
  event.preventDefault();
}

/** Turns or moves the plane by hand. @param {number} turn in radians @param {number} shift in units of the axes */
export function nudge(turn, shift) {
  const now = planes();
  if (!now || now.length !== 1 || now[0].length !== 3) return;
  const [b, u, v] = now[0];
  const [c, s] = [Math.cos(turn), Math.sin(turn)];
  const { x0, x1, y0, y1 } = plot.box;
  const [mx, my] = [(x0 + x1) / 2, (y0 + y1) / 2];
  const [p, q] = [c * u - s * v, s * u + c * v];
  // The boundary turns around the point of it that is next to the middle.
  const off = (u * mx + v * my + b) / (u * u + v * v || 1);
  const [fx, fy] = [mx - off * u, my - off * v];
  const bias = turn === 0 ? b : -(p * fx + q * fy);
  byHand([[bias - shift * Math.hypot(u, v), p, q]]);
}

export const picture = () => plot.root;
/** The part of the plane that is shown. */
export const box = () => plot.box;
