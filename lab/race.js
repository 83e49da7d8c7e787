/** A race: a second learner on the same rows, moved by the same cursor, drawn beside the first. */
import { around, byId, html, mark, Plot, short, svg } from "./draw.js";
import { get, post, remove } from "./api.js";
import { fail, frame, isDone, on, openRun, own, planes, retire, rival, store, take, tell, wrong } from "./state.js";
import { defaultsOf, put, spec as asked } from "./controls.js";
import { boundary } from "./lift.js";
import { fisher, hideExtra } from "./figures.js";

/** @typedef {{ learner: string, settings: Record<string, string> }} Entry */
/** @typedef {{ title: string, set: import("./types").DataSpec, ours: string, theirs: string, note: string, extra?: () => void }} Preset */

/** @type {Record<string, Preset>} */
const PRESETS = {
  batch: {
    title: "batch against single-sample", set: { kind: "bundled", name: "iris-sepals" }, ours: "perceptron", theirs: "batch-perceptron",
    note: "One adds a row at each mistake; the other adds all wrong rows of a pass at once.",
  },
  outlier: {
    title: "least squares against logistic", set: { kind: "bundled", name: "outlier" }, ours: "least-squares", theirs: "logistic",
    note: "Far rows on their right side pull the least squares plane; to logistic regression they cost almost nothing.",
  },
  fisher: {
    title: "Fisher against least squares, with histograms", set: { kind: "bundled", name: "iris-virginica" }, ours: "fisher", theirs: "least-squares",
    note: "Both have the same direction; the histograms above show the rows projected on it.", extra: fisher,
  },
};

/** @type {Plot[]} */
let plots = [];
/** @type {SVGSVGElement} */
let root;
/** Who is to race, whatever the rows are. @type {Entry | null} */
let entry = null;

const select = (/** @type {string} */ id) => /** @type {HTMLSelectElement} */ (byId(id));

export function setUp() {
  const host = byId("race-plot");
  root = /** @type {SVGSVGElement} */ (svg("svg", { viewBox: "0 0 760 400", role: "img", "aria-label": "The two runs of the race" }));
  host.append(root);
  plots = [0, 1].map((side) => {
    const inner = html("div");
    const plot = new Plot(inner, side ? "Rival" : "First run", { width: 376, height: 376, label: side ? "B" : "A" });
    plot.root.setAttribute("x", String(side * 384));
    plot.root.setAttribute("y", "24");
    plot.root.setAttribute("width", "376");
    plot.root.setAttribute("height", "376");
    plot.root.removeAttribute("tabindex");
    root.append(plot.root);
    return plot;
  });
  const choices = { "": "none", free: "against a learner of choice", ...Object.fromEntries(Object.entries(PRESETS).map(([name, one]) => [name, one.title])) };
  for (const [value, words] of Object.entries(choices)) select("race").append(html("option", { value }, words));
  for (const one of store.catalogue?.learners ?? []) select("rival").append(html("option", { value: one.name }, one.name));
  select("rival").value = "batch-perceptron";
  select("race").addEventListener("change", () => void begin(select("race").value));
  select("rival").addEventListener("change", () => {
    wish({ learner: select("rival").value, settings: defaultsOf(select("rival").value) });
    void start();
  });
  on("run", () => void start());
  for (const topic of /** @type {const} */ (["cursor", "state", "options"])) on(topic, draw);
  rival.advance = advance;
  rival.ensure = ensure;
}

/** Who races from now on, at the next run. @param {Entry | null} who */
export function wish(who) {
  entry = who;
  select("race").value = who ? (Object.keys(PRESETS).find((name) => PRESETS[name].theirs === who.learner && PRESETS[name].ours === asked().learner) ?? "free") : "";
  if (who) select("rival").value = who.learner;
  byId("rival-row").hidden = !who;
}

/** Who races. */
export const entered = () => (store.rival ? { learner: store.rival.spec.learner, settings: store.rival.spec.settings } : undefined);

/** @param {string} name */
async function begin(name) {
  const preset = PRESETS[name];
  hideExtra();
  if (!preset) {
    wish(name ? { learner: select("rival").value, settings: defaultsOf(select("rival").value) } : null);
    select("race").value = name;
    await start();
    return;
  }
  put({ data: preset.set, learner: preset.ours, settings: defaultsOf(preset.ours), seed: 0 });
  wish({ learner: preset.theirs, settings: defaultsOf(preset.theirs) });
  select("race").value = name;
  await openRun(asked());
  preset.extra?.();
}

let starting = 0;

/** Opens the second run on the rows of the first. */
async function start() {
  const mine = ++starting;
  const old = store.rival;
  const run = store.run;
  store.rival = null;
  retire(old);
  byId("race-panel").hidden = !entry;
  if (!entry || !run) {
    tell("options");
    return;
  }
  try {
    const { data, seed, basis, epochs } = run.spec;
    const spec = { data, seed, basis, epochs, ...entry };
    const answer = await post("/api/runs", spec);
    if (mine !== starting || store.run !== run) {
      void remove(`/api/runs/${answer.id}`).catch(() => undefined);
      return;
    }
    store.rival = { id: answer.id, spec, data: answer.data, summary: answer.summary, frames: new Map(), state: null };
    take(answer.frames, store.rival.frames);
    await advance("update", store.k);
    await ensure(store.k);
    tell("options");
  } catch (error) {
    if (mine !== starting) return;
    [entry, select("race").value] = [null, ""];
    byId("race-panel").hidden = byId("rival-row").hidden = true;
    fail(error);
  }
}

/** Brings the rival to an update, or to its end. @param {"update" | "end"} by @param {number} target */
async function advance(by, target) {
  const it = store.rival;
  let more = true;
  while (it && more && !isDone(it) && (by === "end" || it.summary.last < target)) {
    const answer = await post(`/api/runs/${it.id}/step`, { by, count: Math.max(1, target - it.summary.last) });
    it.summary = answer.summary;
    take(answer.frames, it.frames);
    more = store.rival === it;
  }
}

/** The update of the rival that is shown. */
const theirs = () => Math.min(store.k, store.rival?.summary.last ?? 0);

/** @param {number} k */
async function ensure(k) {
  const it = store.rival;
  if (!it) return;
  const wanted = Math.min(k, it.summary.last);
  if (!it.frames.has(wanted) || it.frames.get(wanted)?.pending) {
    const from = Math.max(0, wanted - 20);
    take(await get(`/api/runs/${it.id}/frames?from=${from}&to=${Math.min(it.summary.last, from + 99)}`), it.frames);
  }
  if (store.running || it.state?.k === wanted) return;
  it.state = await get(`/api/runs/${it.id}/state?k=${wanted}&view=distance`);
}

/** @type {Map<string, import("./lift.js").Place[][] | null>} Curved boundaries by run and update. */
const curved = new Map();

/** @param {Plot} plot @param {string} id @param {number} k */
function curve(plot, id, k) {
  const key = `${id}/${k}`;
  const known = curved.get(key);
  if (known || store.running) return known ?? [];
  if (!curved.has(key)) {
    if (curved.size > 40) curved.clear();
    curved.set(key, null);
    boundary(id, k, plot.box).then((pieces) => {
      curved.set(key, pieces);
      draw();
    }, fail);
  }
  return [];
}

/** @param {Plot} plot @param {string} title @param {{ id: string, k: number, planes: number[][] | null, bad: Uint8Array, view: import("./types").ViewInfo | null | undefined }} shown */
function side(plot, title, { id, k, planes: now, bad, view }) {
  const data = store.run?.data;
  if (!data) return;
  const points = data.points ?? view?.points ?? [];
  plot.even = data.features === 2;
  const xs = points.map((p) => p[0]);
  plot.domain(around(data.points ? xs : [...xs, 0]), data.features === 1 ? [-1, 1] : around(points.map((p) => p[1])));
  plot.drawAxes(data.points ? data.names[0] : "signed distance from the plane", data.points ? (data.names[1] ?? "") : "most variance beside it");
  /** @type {(SVGElement | null)[]} */
  const parts = [];
  const few = points.length <= 1200 ? points : points.slice(0, 1200);
  few.forEach(([x, y], i) => {
    const [px, py] = [plot.px(x), plot.py(y)];
    if (bad[i]) parts.push(svg("circle", { cx: px, cy: py, r: 8.5, class: "ring" }));
    parts.push(svg("path", { d: mark(data.class[i], 4.2), transform: `translate(${px.toFixed(1)} ${py.toFixed(1)})`, class: `point class-${data.class[i] % 6}` }));
  });
  const bent = data.expanded !== data.features;
  for (const [j, plane] of (now ?? []).entries()) {
    const cls = `boundary${(now?.length ?? 0) > 1 ? ` class-${j % 6}` : ""}`;
    if (bent && now?.length === 1 && data.features === 2) for (const [p, q] of curve(plot, id, k)) parts.push(svg("path", { d: plot.path([p, q]), class: cls }));
    else if (!bent && data.points) parts.push(plot.line(plane[1], plane[2] ?? 0, plane[0], { class: cls }));
    else if (!bent && view?.boundary === 0) parts.push(plot.line(1, 0, 0, { class: cls }));
  }
  plot.body.replaceChildren(...parts.filter((part) => part !== null));
  plot.top.replaceChildren(svg("text", { x: plot.width / 2 + 18, y: -6, class: "symbol", "text-anchor": "middle" }, title));
  plot.root.setAttribute("overflow", "visible");
}

function draw() {
  const [run, it] = [store.run, store.rival];
  if (!run || !it) return;
  const theirFrame = it.frames.get(theirs());
  side(plots[0], `A: ${run.spec.learner}`, { id: run.id, k: own(), planes: planes(), bad: wrong(), view: store.state?.view });
  side(plots[1], `B: ${it.spec.learner}`, { id: it.id, k: theirs(), planes: theirFrame?.planes ?? it.state?.planes ?? null, bad: theirFrame?.wrong ?? new Uint8Array(run.data.shown.length), view: it.state?.view });
  const cells = (/** @type {string} */ name, /** @type {{ summary: import("./types").Summary }} */ one, /** @type {number} */ k, /** @type {number | undefined} */ errors, /** @type {number | null | undefined} */ band) => [
    name, `${k} of ${one.summary.last}`, errors === undefined ? "…" : `${errors} of ${run.data.rows}`, short(band),
    one.summary.ended ?? (one.summary.full ? "limit of the lab" : "goes on"),
  ];
  const own1 = store.state && store.state.k === own() && !store.hand ? store.state.errors : undefined;
  const rows = [
    cells(`A: ${run.spec.learner}`, run, own(), own1, frame()?.band),
    cells(`B: ${it.spec.learner}`, it, theirs(), it.state?.k === theirs() ? it.state.errors : undefined, theirFrame?.band),
  ];
  byId("race-table").replaceChildren(
    html("thead", {}, html("tr", {}, ...["run", "updates", "wrong rows", "least margin", "stopped"].map((t) => html("th", { scope: "col" }, t)))),
    html("tbody", {}, ...rows.map(([first, ...rest]) => html("tr", {}, html("th", { scope: "row" }, first), ...rest.map((t) => html("td", {}, t))))),
  );
  const note = PRESETS[select("race").value]?.note ?? "";
  byId("race-note").textContent = `${note} An update of a learner that is no sum of rows is one of its epochs.`.trim();
}

export const picture = () => root;
