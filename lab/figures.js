/** Figures beside the panels: the neuron, Fisher's direction in frames, Rosenblatt's retina. */
import { byId, html, short, svg } from "./draw.js";
import { get, post, remove } from "./api.js";
import { fail, planes, store } from "./state.js";

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
  const text = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ words, anchor = "middle") => svg("text", { x, y, "text-anchor": anchor }, words);
  const cell = svg("svg", { viewBox: "0 0 640 250", class: "figure", role: "img", "aria-label": "A neuron: dendrites with synapses, cell body, axon; and its model: inputs, weights, sum with bias, step, output" },
    svg("path", { class: "fig", d: "M30 40C80 50 100 80 130 105M20 110C60 110 90 115 125 120M30 190C80 175 100 150 130 135" }),
    svg("circle", { class: "fig", cx: 30, cy: 40, r: 5 }), svg("circle", { class: "fig", cx: 20, cy: 110, r: 5 }), svg("circle", { class: "fig", cx: 30, cy: 190, r: 5 }),
    svg("path", { class: "figfill", d: "M120 120C120 90 150 85 170 95C200 105 200 135 175 148C150 160 120 150 120 120Z" }),
    svg("circle", { class: "fig", cx: 158, cy: 121, r: 12 }),
    svg("path", { class: "fig", d: "M192 122C230 122 250 122 285 122M285 122L305 105M285 122L308 122M285 122L305 140" }),
    text(45, 30, "synapse", "start"), text(70, 78, "dendrite", "start"), text(158, 180, "cell body"), text(245, 112, "axon"), text(158, 125, "nucleus"),
    svg("line", { class: "fig", x1: 370, y1: 50, x2: 470, y2: 110 }), svg("line", { class: "fig", x1: 370, y1: 122, x2: 466, y2: 122 }), svg("line", { class: "fig", x1: 370, y1: 195, x2: 470, y2: 134 }),
    svg("circle", { class: "figfill", cx: 490, cy: 122, r: 25 }), text(490, 127, "Σ + b"),
    svg("rect", { class: "figfill", x: 540, y: 100, width: 42, height: 44 }), svg("path", { class: "fig", d: "M547 136H561V108H576" }),
    svg("path", { class: "fig", d: "M515 122H540M582 122H620" }),
    text(356, 54, "x₁"), text(356, 126, "x₂"), text(356, 199, "x₃"), text(420, 70, "w₁"), text(420, 114, "w₂"), text(420, 180, "w₃"), text(561, 163, "step"), text(622, 112, "y", "end"),
    text(158, 240, "dendrites → cell body → axon"), text(480, 240, "inputs → weighted sum → step"));
  show("The biological neuron and its model", cell);
}

/** Histograms of the rows projected on a direction that turns from the means' to Fisher's. */
export function fisher() {
  const id = store.run?.id;
  const picture = svg("svg", { viewBox: "0 0 460 200", class: "figure", role: "img", "aria-label": "Histograms of the projected rows" });
  const range = html("input", { type: "range", min: 0, max: 20, value: 0, id: "fisher-turn", "aria-label": "From the means' direction to Fisher's" });
  const words = html("p", { class: "note" });
  const play = html("button", { type: "button", id: "fisher-play" }, "Play");
  const draw = async () => {
    try {
      const share = Number(range.value) / 20;
      const answer = await get(`/api/runs/${id}/projected?share=${share}&bins=24`);
      const most = Math.max(1, ...answer.counts.flat());
      picture.replaceChildren(...answer.counts.flatMap((/** @type {number[]} */ counts, /** @type {number} */ cls) =>
        counts.map((count, i) => svg("rect", { x: 10 + i * 18, y: 180 - (160 * count) / most, width: 17, height: (160 * count) / most, class: `bar-${cls}` }))),
      svg("line", { x1: 8, x2: 448, y1: 180, y2: 180, class: "tick" }), svg("text", { x: 228, y: 196, "text-anchor": "middle" }, `direction (${answer.direction.map((/** @type {number} */ x) => short(x, 3)).join(", ")})`));
      words.textContent = `Frame ${range.value} of 20. Fisher's criterion (distance of the means squared, over the spread within): ${short(answer.criterion)}.`;
    } catch (error) {
      clearInterval(timer);
      fail(error);
    }
  };
  range.addEventListener("input", () => void draw());
  play.addEventListener("click", () => {
    clearInterval(timer);
    range.value = "0";
    timer = setInterval(() => {
      if (Number(range.value) >= 20) clearInterval(timer);
      else {
        range.value = String(Number(range.value) + 1);
        void draw();
      }
    }, matchMedia("(prefers-reduced-motion: reduce)").matches ? 1000 : 250);
  });
  show("Projected histograms", html("label", {}, "means", range, "Fisher"), play, picture, words);
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
      }
      picture.replaceChildren(...cells, svg("text", { x: 100, y: 150, "text-anchor": "middle" }, "retina"), svg("text", { x: 350, y: 150, "text-anchor": "middle" }, "weights: green +, blue −"));
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

export { planes };
