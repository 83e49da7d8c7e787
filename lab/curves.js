/** Curves: what the proofs bound, drawn against what the run did. */
import { around, byId, html, Plot, short, svg } from "./draw.js";
import { on, store } from "./state.js";
import { get } from "./api.js";
import { fail } from "./state.js";

/** @type {Plot} */
let plot;
export const options = { curve: "norm" };
/** @type {{ k: number, norm: number | null, upper: number | null, lower: number | null, mistakes: number }[]} */
let lines = [];
let linesOf = "";

export function setUp() {
  plot = new Plot(byId("curves-plot"), "Curves", { width: 460, height: 300, even: false });
  for (const topic of /** @type {const} */ (["run", "cursor", "verdict", "options", "running"])) on(topic, draw);
  byId("curves-table").addEventListener("toggle", draw);
}

/** The measures of all updates, some of many. */
async function known() {
  const run = store.run;
  if (!run) return;
  const key = `${run.id}/${run.summary.last}`;
  if (key === linesOf) return;
  linesOf = key;
  try {
    const answer = await get(`/api/runs/${run.id}/curves`);
    if (linesOf !== key) return;
    lines = answer;
    draw();
  } catch (error) {
    fail(error);
  }
}

/** @typedef {{ name: string, cls: string, points: [number, number][], step?: boolean }} Curve */

/** @returns {{ x: string, y: string, curves: Curve[], note: string }} */
function chosen() {
  const run = store.run;
  const bound = run?.summary.bound;
  const epochs = run?.summary.perEpoch ?? [];
  const of = (/** @type {(line: typeof lines[0]) => number | null} */ value) =>
    /** @type {[number, number][]} */ (lines.map((line) => [line.k, value(line)]).filter(([, y]) => y !== null));
  switch (options.curve) {
    case "epochs":
      return {
        x: "epoch", y: "mistakes in the epoch", note: "The run ends after an epoch without mistakes.",
        curves: [{ name: "mistakes", cls: "one", step: true, points: epochs.filter((e) => e.mistakes !== null).map((e) => [e.epoch, e.mistakes ?? 0]) }],
      };
    case "updates": {
      const most = bound?.bound ?? store.verdict?.bound;
      /** @type {Curve[]} */
      const curves = [{ name: "updates so far", cls: "one", points: of((line) => line.k) }];
      if (most) curves.push({ name: `bound R²/γ² = ${short(most)}`, cls: "limit", points: [[0, most], [Math.max(1, run?.summary.last ?? 1), most]] });
      return { x: "update k", y: "updates", curves, note: most ? "Novikoff: from w = 0 no run makes more than R²/γ² updates." : "No bound is known: the rows are not separable, or steps are not equal." };
    }
    case "squares": {
      const r2 = bound?.r2;
      /** @type {Curve[]} */
      const curves = [{ name: "‖w‖²", cls: "one", points: of((line) => (line.norm === null ? null : line.norm ** 2)) }];
      if (r2) curves.push({ name: "k R²", cls: "limit", points: lines.map((line) => [line.k, line.k * r2]) });
      return { x: "update k", y: "squared length", curves, note: "‖w‖² grows at most like k R²." };
    }
    case "distance":
      return {
        x: "update k", y: "squared distance", note: store.verdict?.alpha ? "Lecture 000: the squared distance of w from αâ, with α = β²/γ, falls by at least β² at each update of the fixed increment." : "Needs rows that a plane separates.",
        curves: [{ name: "‖w − αâ‖²", cls: "one", points: of((line) => /** @type {any} */ (line).distance ?? null) }],
      };
    case "ceiling":
      return {
        x: "epoch", y: "margin", note: "No plane of length 1 has a larger margin than the ceiling that the run itself has proved.",
        curves: [
          { name: "ceiling", cls: "limit", points: epochs.filter((e) => e.ceiling !== null).map((e) => [e.epoch, e.ceiling ?? 0]) },
          ...(bound?.gamma ? [{ name: "largest margin γ", cls: "low", points: /** @type {[number, number][]} */ ([[0, bound.gamma.lower], [Math.max(1, run?.summary.epochs ?? 1), bound.gamma.lower]]) }] : []),
        ],
      };
    default:
      return {
        x: "update k", y: "length of (b, w)", note: "The two halves of the proof: k γ − ‖w₀‖ ≤ ‖w‖ ≤ √k R for the fixed increment from 0.",
        curves: [
          { name: "upper bound", cls: "limit", points: of((line) => line.upper) },
          { name: "‖(b, w)‖", cls: "one", points: of((line) => line.norm) },
          { name: "lower bound", cls: "low", points: of((line) => line.lower) },
        ],
      };
  }
}

/** When the curves were drawn. */
let drawn = 0;

function draw() {
  // Ten times a second is enough while a run goes on.
  if (store.running && performance.now() - drawn < 100) return;
  drawn = performance.now();
  known();
  const { x, y, curves, note } = chosen();
  const all = curves.flatMap((curve) => curve.points);
  const ends = (/** @type {number[]} */ numbers, /** @type {number} */ room) => around(numbers.some((n) => n !== 0) ? [0, ...numbers] : [0, 1], room);
  plot.domain(ends(all.map((p) => p[0]), 0.04), ends(all.map((p) => p[1]), 0.1));
  plot.drawAxes(x, y);
  const parts = [];
  for (const { cls, points, step } of curves) {
    if (points.length === 0) continue;
    /** @type {[number, number][]} */
    const line = step ? points.flatMap((p, i) => (i ? [[p[0], points[i - 1][1]], p] : [p])) : points;
    parts.push(svg("path", { d: plot.path(line), class: `curve ${cls}` }));
    if (points.length < 60 && cls === "one") points.forEach((p) => parts.push(svg("circle", { cx: plot.px(p[0]), cy: plot.py(p[1]), r: 2.4, class: `dot ${cls}` })));
  }
  if (x === "update k") parts.push(svg("line", { x1: plot.px(store.k), x2: plot.px(store.k), y1: 0, y2: 300, class: "cursor" }));
  plot.body.replaceChildren(...parts);
  const legend = curves.filter((curve) => curve.points.length > 0).map(({ name, cls }) =>
    html("li", {}, (() => { const key = svg("svg", { class: "key", viewBox: "0 0 26 10", "aria-hidden": "true" }); key.append(svg("path", { d: "M1 5H25", class: `curve ${cls}` })); return key; })(), ` ${name}`));
  byId("curves-legend").replaceChildren(...legend);
  byId("curves-note").textContent = note;
  table(x, curves);
}

/** @param {string} x @param {Curve[]} curves */
function table(x, curves) {
  const details = /** @type {HTMLDetailsElement} */ (byId("curves-table"));
  if (!details.open) return;
  const at = [...new Set(curves.flatMap((curve) => curve.points.map((p) => p[0])))].sort((a, b) => a - b).slice(-200);
  const head = html("thead", {}, html("tr", {}, ...[x, ...curves.map((c) => c.name)].map((t) => html("th", { scope: "col" }, t))));
  const body = html("tbody", {}, ...at.map((value) =>
    html("tr", {}, html("td", {}, String(value)), ...curves.map((c) => html("td", {}, short(c.points.find((p) => p[0] === value)?.[1]))))));
  byId("curves-rows").replaceChildren(head, body);
}

export const picture = () => plot.root;
