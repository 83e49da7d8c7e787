/** Figures beside the panels: the neuron, Fisher's direction in frames, Rosenblatt's retina. */
import { around, byId, html, mark, Plot, short, svg } from "./draw.js";
import { get, post, remove } from "./api.js";
import { fail, on, store } from "./state.js";

/** @type {ReturnType<typeof setInterval> | undefined} */
let timer;

export function hideExtra() {
  clearInterval(timer);
  byId("extra").hidden = true;
}

/** @param {string} title @param {Node[]} body */
function show(title, ...body) {
  byId("extra-title").textContent = title;
  byId("extra-body").replaceChildren(...body);
  byId("extra").hidden = false;
}

/** The biological neuron, labelled, beside its model. */
export function neuron() {
  const text = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ words, anchor = "middle", cls = "") => svg("text", { x, y, "text-anchor": anchor, class: cls }, words);
  const line = (/** @type {string} */ d, cls = "fig") => svg("path", { class: cls, d });
  const knob = (/** @type {number} */ cx, /** @type {number} */ cy) => svg("circle", { class: "figdot", cx, cy, r: 5 });
  const label = "A neuron: synapses, dendrites, cell body with nucleus, axon and its endings; and its model: inputs, weights, sum with bias, step, output";
  const cell = svg("svg", { viewBox: "0 0 720 300", class: "figure", role: "img", "aria-label": label },
    text(175, 20, "a neuron", "middle", "symbol"), text(545, 20, "its model", "middle", "symbol"),
    line("M34 70C80 72 95 105 128 128M22 150C60 150 90 150 122 150M34 232C80 226 95 196 128 172M70 75C78 60 84 54 94 48M66 226C76 240 84 246 96 252"),
    knob(34, 70), knob(22, 150), knob(34, 232),
    line("M118 150C118 118 146 108 170 116C204 124 206 172 178 184C150 194 118 182 118 150Z", "figfill"),
    svg("circle", { class: "fig", cx: 158, cy: 150, r: 14 }),
    line("M201 150C230 150 262 150 300 150M300 150L324 126M300 150L330 150M300 150L324 174"),
    svg("ellipse", { class: "figfill", cx: 228, cy: 150, rx: 12, ry: 6 }), svg("ellipse", { class: "figfill", cx: 258, cy: 150, rx: 12, ry: 6 }),
    knob(326, 124), knob(332, 150), knob(326, 176),
    text(34, 54, "synapse"), text(100, 92, "dendrite", "start"), text(162, 208, "cell body"), text(158, 102, "nucleus"), line("M158 106V134", "hint-line"), text(244, 134, "axon"), text(318, 206, "endings"),
    text(392, 74, "x₁"), text(392, 154, "x₂"), text(392, 236, "x₃"),
    line("M404 70L502 134M404 150L498 150M404 232L502 166"),
    text(456, 88, "w₁"), text(450, 143, "w₂"), text(456, 222, "w₃"),
    svg("circle", { class: "figfill", cx: 524, cy: 150, r: 27 }), text(524, 155, "Σ + b"),
    svg("rect", { class: "figfill", x: 580, y: 126, width: 48, height: 48 }), line("M588 164H604V136H620"),
    line("M551 150H580M628 150H676"), text(604, 194, "step"), text(688, 155, "y"),
    text(34, 276, "signals in"), text(160, 276, "adds up"), text(300, 276, "fires or not"), text(410, 276, "inputs × weights"), text(524, 276, "weighted sum"), text(640, 276, "output 0 or 1"));
  show("The biological neuron and its model", cell, html("p", { class: "note" }, "A synapse makes a signal strong or weak, as a weight does. The cell body adds up, and the axon fires when the sum is over a threshold, which is −b."));
}

/** A slider with a button that plays it; where motion is not wanted the button jumps to the end. @param {string} id @param {string} label @param {() => void} draw */
function player(id, label, draw) {
  const range = html("input", { type: "range", min: 0, max: 20, value: 0, id: `${id}-turn`, "aria-label": label });
  const play = html("button", { type: "button", id: `${id}-play` }, "Play");
  range.addEventListener("input", draw);
  play.addEventListener("click", () => {
    clearInterval(timer);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    range.value = still ? "20" : "0";
    draw();
    if (still) return;
    timer = setInterval(() => {
      if (Number(range.value) >= 20) clearInterval(timer);
      else {
        range.value = String(Number(range.value) + 1);
        draw();
      }
    }, 120);
  });
  return { range, play };
}

/** The points of the run, ready for lines over them. @param {string} label @param {number} [size] */
function pictured(label, size = 340) {
  const host = html("div", { class: "plot half-wide" });
  const plot = new Plot(host, label, { width: size, height: size });
  const data = store.run?.data;
  const points = data?.points ?? [];
  plot.domain(around(points.map((p) => p[0]), 0.2), around(points.map((p) => p[1]), 0.2));
  plot.drawAxes(data?.names[0] ?? "", data?.names[1] ?? "");
  plot.root.removeAttribute("tabindex");
  const marks = points.map(([x, y], i) => svg("path", { d: mark(data?.class[i] ?? 0, 4.2), transform: `translate(${plot.px(x).toFixed(1)} ${plot.py(y).toFixed(1)})`, class: `point class-${(data?.class[i] ?? 0) % 6}` }));
  const over = svg("g");
  plot.body.append(...marks, over);
  return { host, plot, over };
}

/** One update in frames: the plane before, what is added, and the plane after it. */
export function update() {
  const { host, plot, over } = pictured("One update in frames");
  const words = html("p", { class: "note", role: "status" });
  const draw = () => {
    const [before, after] = [store.frames.get(store.k - 1), store.frames.get(store.k)];
    const data = store.run?.data;
    const [from, to, line] = [before?.planes?.[0], after?.planes?.[0], after?.line];
    if (!data?.points || !from || !to || !line || line.row === undefined) {
      over.replaceChildren();
      words.textContent = "Step to an update first.";
      return;
    }
    const t = Number(range.value) / 20;
    const now = from.map((x, j) => x + t * (to[j] - x));
    const at = data.points[data.shown.indexOf(line.row)];
    const [mx, my] = [(plot.box.x0 + plot.box.x1) / 2, (plot.box.y0 + plot.box.y1) / 2];
    const arrow = (/** @type {number[]} */ plane, /** @type {string} */ cls) => {
      const size = Math.hypot(plane[1], plane[2]);
      if (!(size > 0)) return svg("g");
      const off = (plane[1] * mx + plane[2] * my + plane[0]) / size ** 2;
      const foot = /** @type {[number, number]} */ ([mx - off * plane[1], my - off * plane[2]]);
      const long = (0.2 * (plot.box.x1 - plot.box.x0)) / size;
      return plot.arrow(foot, [foot[0] + long * plane[1], foot[1] + long * plane[2]], cls);
    };
    over.replaceChildren(...[
      plot.line(from[1], from[2], from[0], { class: "ghost" }), plot.line(now[1], now[2], now[0], { class: "boundary" }), arrow(now, "normal"),
      svg("circle", { cx: plot.px(at[0]), cy: plot.py(at[1]), r: 12, class: "turn" }),
    ].filter((part) => part !== null));
    const sign = line.step > 0 ? "added to" : "taken from";
    const tale = t === 0 ? `Before update ${line.k}: row ${line.row + 1} has the margin ${short(line.margin_before)}, so it is a mistake.`
      : t < 1 ? `Frame ${range.value} of 20: (1, x) of row ${line.row + 1} is ${sign} (b, w); the plane turns.`
        : `After update ${line.k}: the margin of the row is ${short(line.margin_after)}${Number(line.margin_after) > 0 ? ", it is right now" : ", still a mistake"}; ${after?.broken.length} other rows became wrong.`;
    words.textContent = `${tale} (b, w) = (${now.map((x) => short(x, 3)).join(", ")}).`;
  };
  const { range, play } = player("update", "From before the update to after it", draw);
  show("One update in frames", html("div", { class: "row" }, html("label", { class: "wide" }, "before", range, "after"), play), host, words);
  const own = store.run?.id;
  on("cursor", () => {
    // A later lesson or run has other figures.
    if (store.run?.id === own && host.isConnected) draw();
  });
  draw();
}

/** Histograms of the rows projected on a direction that turns from the means' to Fisher's. */
export function fisher() {
  const id = store.run?.id;
  const picture = svg("svg", { viewBox: "0 0 460 226", class: "figure", role: "img", "aria-label": "Histograms of the projected rows" });
  const flat = store.run?.data.points && store.run.data.features === 2 ? pictured("Rows with the direction") : null;
  const words = html("p", { class: "note", role: "status" });
  let asked = 0;
  const draw = async () => {
    const mine = ++asked;
    try {
      const answer = await get(`/api/runs/${id}/projected?share=${Number(range.value) / 20}&bins=24`);
      if (mine !== asked) return;
      const most = Math.max(1, ...answer.counts.flat());
      const classes = store.run?.data.classes ?? [];
      picture.replaceChildren(...answer.counts.flatMap((/** @type {number[]} */ counts, /** @type {number} */ cls) =>
        counts.map((count, i) => svg("rect", { x: 14 + i * 18, y: 184 - (150 * count) / most, width: 17, height: (150 * count) / most, class: `bar-${cls}` }))),
      ...classes.map((name, i) => svg("g", {}, svg("rect", { x: 14 + i * 160, y: 8, width: 14, height: 12, class: `bar-${i}` }), svg("text", { x: 34 + i * 160, y: 18 }, name))),
      svg("line", { x1: 12, x2: 448, y1: 184, y2: 184, class: "tick" }), svg("text", { x: 14, y: 200, class: "number" }, short(answer.low, 3)), svg("text", { x: 446, y: 200, class: "number", "text-anchor": "end" }, short(answer.high, 3)),
      svg("text", { x: 230, y: 216, "text-anchor": "middle" }, `rows along (${answer.direction.map((/** @type {number} */ x) => short(x, 3)).join(", ")}); highest bar ${most} rows`));
      if (flat) {
        const { plot, over } = flat;
        const [mx, my] = [(plot.box.x0 + plot.box.x1) / 2, (plot.box.y0 + plot.box.y1) / 2];
        const long = 0.3 * (plot.box.x1 - plot.box.x0);
        const [dx, dy] = answer.direction;
        over.replaceChildren(plot.arrow([mx - long * dx, my - long * dy], [mx + long * dx, my + long * dy], "normal"));
      }
      const where = range.value === "0" ? "the means' direction" : range.value === "20" ? "Fisher's direction" : `frame ${range.value} of 20`;
      words.textContent = `${where[0].toUpperCase()}${where.slice(1)}. Fisher's criterion (distance of the means squared, over the spread within): ${short(answer.criterion)}.`;
    } catch (error) {
      clearInterval(timer);
      fail(error);
    }
  };
  const { range, play } = player("fisher", "From the means' direction to Fisher's", () => void draw());
  show("Projected histograms", html("div", { class: "row" }, html("label", { class: "wide" }, "means", range, "Fisher"), play), html("div", { class: "figures" }, ...(flat ? [flat.host] : []), picture), words);
  void draw();
}

/** Rosenblatt's task on a retina of 4 by 6 cells; the run is the library's like any other. */
export async function retina() {
  const picture = svg("svg", { viewBox: "0 0 460 170", class: "figure", role: "img", "aria-label": "Retina and weights" });
  const words = html("p", { class: "note", role: "status" });
  const next = html("button", { type: "button", id: "retina-step" }, "Show the next mark");
  const play = html("button", { type: "button", id: "retina-play" }, "Play");
  show("Left or right?", html("div", { class: "row" }, next, play), picture, words);
  try {
    const run = await post("/api/runs", { data: { kind: "bundled", name: "retina" }, learner: "perceptron", settings: { order: "cyclic", scale: "none", verdict: "off" }, seed: 0 });
    const rows = /** @type {number[][]} */ (await get(`/api/runs/${run.id}/rows`));
    let frame = run.frames[0];
    const draw = () => {
      const [, ...w] = frame.planes[0];
      const row = frame.line?.row;
      const most = Math.max(1e-9, ...w.map(Math.abs));
      const cells = [];
      for (let i = 0; i < 24; i++) {
        const [x, y] = [(i % 6) * 30, Math.floor(i / 6) * 30];
        cells.push(svg("rect", { x: 10 + x, y: 10 + y, width: 28, height: 28, class: `cell${row !== undefined && rows[row][i] ? " on" : ""}` }));
        cells.push(svg("rect", { x: 260 + x, y: 10 + y, width: 28, height: 28, class: `cell${w[i] > 0 ? " pos" : w[i] < 0 ? " neg" : ""}`, "fill-opacity": 0.15 + (0.85 * Math.abs(w[i])) / most }));
        if (w[i] !== 0) cells.push(svg("text", { x: 274 + x, y: 29 + y, "text-anchor": "middle" }, w[i] > 0 ? "+" : "−"));
      }
      picture.replaceChildren(...cells, svg("line", { x1: 99, x2: 99, y1: 4, y2: 136, class: "middle" }), svg("line", { x1: 349, x2: 349, y1: 4, y2: 136, class: "middle" }), svg("text", { x: 99, y: 152, "text-anchor": "middle" }, "retina: left | right"), svg("text", { x: 349, y: 152, "text-anchor": "middle" }, "weights: green +, blue −, none 0"));
      words.textContent = frame.line ? `Update ${frame.k}: the mark was on the ${run.data.classes[run.data.class[row]]}, and the answer was wrong; ${frame.fixed.length} other marks became right, ${frame.broken.length} wrong.` : "All weights are 0.";
    };
    const step = async () => {
      const answer = await post(`/api/runs/${run.id}/step`, { by: "update", count: 1 });
      if (answer.frames.length) frame = answer.frames[answer.frames.length - 1];
      draw();
      if (answer.summary.ended) {
        clearInterval(timer);
        words.textContent += ` The run has ended (${answer.summary.ended}): every mark is answered rightly.`;
        next.disabled = play.disabled = true;
        void remove(`/api/runs/${run.id}`).catch(() => undefined);
      }
    };
    next.addEventListener("click", () => void step().catch(fail));
    play.addEventListener("click", () => {
      clearInterval(timer);
      timer = setInterval(() => void step().catch(fail), 500);
    });
    draw();
  } catch (error) {
    fail(error);
  }
}
