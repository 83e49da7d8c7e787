/** The settings: every change starts the run anew; every control says what it does. */
import { byId, html } from "./draw.js";
import { on, openRun, refresh, store, fail, tell } from "./state.js";
import { canRedo, canUndo, redo, undo, edit, pointsNow } from "./edit.js";
import * as pattern from "./pattern.js";
import * as weight from "./weight.js";

/** Settings that stand in front; the others are behind "More settings". */
const FRONT = ["order", "eta", "ties", "init", "criterion", "pace", "batch", "multiclass", "c", "b"];

/** What the lab chooses where the program has another default: the lecture's perceptron. */
const OURS = /** @type {Record<string, string>} */ ({ order: "cyclic", scale: "none", verdict: "off" });

/** The lectures' rules for rows exactly on the plane. */
const TIES = /** @type {Record<string, string>} */ ({
  strict: "strict: every tie is a mistake", "000": "lecture 000: y(a·z) ≤ 0", "001": "lecture 001: only t = −1", "002": "lecture 002: w·x ≤ 0 or ≥ 0",
  "003": "lecture 003: only t = −1", "004": "lecture 004: every tie",
});

const SLIDERS = /** @type {Record<string, { label: string, min: number, max: number, step: number, value: number }>} */ ({
  rows: { label: "Rows", min: 4, max: 2000, step: 1, value: 60 },
  margin: { label: "Margin", min: 0, max: 2, step: 0.05, value: 0.5 },
  noise: { label: "Noise", min: 0, max: 0.4, step: 0.01, value: 0 },
  classes: { label: "Classes", min: 2, max: 6, step: 1, value: 3 },
  seed: { label: "Seed of the set", min: 0, max: 99, step: 1, value: 0 },
});

/** @param {string} id */
const select = (id) => /** @type {HTMLSelectElement} */ (byId(id));
/** @param {string} id */
const input = (id) => /** @type {HTMLInputElement} */ (byId(id));

/** Values of the settings by learner, so that a change of the learner forgets nothing. @type {Record<string, Record<string, string>>} */
const values = {};
/** @type {Record<string, number>} */
let sliders = {};
let filling = false;

export function setUp() {
  const catalogue = store.catalogue;
  if (!catalogue) return;
  const sets = select("set");
  if (catalogue.sets.own) sets.append(html("option", { value: "own:" }, `own file: ${catalogue.sets.own.name}`));
  for (const set of catalogue.sets.bundled) sets.append(html("option", { value: set.name }, set.title));
  sets.append(html("option", { value: "points:", hidden: true }, "drawn points"));
  for (const learner of catalogue.learners) select("learner").append(html("option", { value: learner.name }, learner.name));
  sets.addEventListener("change", () => {
    sliders = {};
    fillSliders();
    if (sets.value === "patterns") select("learner").value = "two-weights";
    else if (select("learner").value === "two-weights" && sets.value !== "line") select("learner").value = "perceptron";
    fillSettings();
    void restart();
  });
  select("learner").addEventListener("change", () => {
    fillSettings();
    void restart();
  });
  for (const id of ["basis", "epochs", "seed"]) input(id).addEventListener("change", () => void restart());
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  const views = { distance: "distance from the plane", pca: "principal components", means: "between the means" };
  for (const [value, words] of Object.entries(views)) select("view").append(html("option", { value }, words));
  select("view").addEventListener("change", () => {
    store.view = select("view").value;
    refresh().catch(fail);
  });
  tools();
  toggles();
  on("run", shown);
  on("options", shown);
  fillSliders();
  fillSettings();
}

function fillSliders() {
  const set = store.catalogue?.sets.bundled.find((one) => one.name === select("set").value);
  byId("sliders").replaceChildren(
    ...(set?.sliders ?? []).map((name) => {
      const { label, min, max, step, value } = SLIDERS[name];
      const now = sliders[name] ?? value;
      const number = html("input", { type: "number", min, max: name === "rows" ? 20000 : max, step: name === "margin" ? "any" : step, value: now, "aria-label": `${label}, number` });
      const range = html("input", { type: "range", min, max, step, value: now, "aria-label": label, id: `slider-${name}` });
      const change = (/** @type {HTMLInputElement} */ from, /** @type {HTMLInputElement} */ to) => {
        to.value = from.value;
        sliders[name] = Number(from.value);
        void restart();
      };
      range.addEventListener("change", () => change(range, number));
      number.addEventListener("change", () => change(number, range));
      return html("label", {}, label, range, number);
    }),
  );
}

function learner() {
  return store.catalogue?.learners.find((one) => one.name === select("learner").value);
}

function fillSettings() {
  const now = learner();
  if (!now) return;
  byId("learner-about").textContent = now.summary;
  const own = (values[now.name] ??= {});
  const fields = now.parameters.map((parameter) => {
    const { name, words, help } = parameter;
    const ours = OURS[name] && (words.length === 0 || words.includes(OURS[name])) ? OURS[name] : parameter.default;
    const value = (own[name] ??= ours);
    /** @type {HTMLSelectElement | HTMLInputElement} */
    let field;
    if (words.length || name === "init") {
      const list = name === "init" ? ["zero", "random"] : [...words, ...(name === "order" && now.name === "perceptron" ? ["choose"] : [])];
      const text = (/** @type {string} */ word) => (name === "ties" ? (TIES[word] ?? word) : word === "choose" ? "I choose the point" : word);
      field = html("select", { id: `setting-${name}` }, ...list.map((word) => html("option", { value: word }, text(word))));
    } else field = html("input", { id: `setting-${name}`, maxlength: 60 });
    field.value = value;
    field.addEventListener("change", () => {
      own[name] = field.value;
      void restart();
    });
    return { name, row: html("label", { title: help }, name, field) };
  });
  byId("settings").replaceChildren(...fields.filter((f) => FRONT.includes(f.name)).map((f) => f.row));
  byId("more-settings").replaceChildren(...fields.filter((f) => !FRONT.includes(f.name)).map((f) => f.row));
}

/** What the controls ask for. @returns {import("./types").Spec} */
export function spec() {
  const set = select("set").value;
  const now = learner();
  /** @type {import("./types").DataSpec} */
  let data;
  if (set === "own:") data = { kind: "file", id: store.catalogue?.sets.own?.id ?? "" };
  else if (set === "points:") data = store.run?.spec.data ?? { kind: "points", points: [] };
  else data = { kind: "bundled", name: set, ...sliders };
  /** @type {Record<string, string>} */
  const settings = {};
  for (const parameter of now?.parameters ?? []) {
    const value = values[now?.name ?? ""]?.[parameter.name];
    if (value !== undefined && value !== parameter.default && !(parameter.name === "order" && value === "choose")) settings[parameter.name] = value;
  }
  /** @type {import("./types").Spec} */
  const made = { data, learner: now?.name ?? "perceptron", settings, seed: Number(input("seed").value) || 0 };
  if (values[made.learner]?.order === "choose") made.choose = true;
  if (input("basis").value.trim() && input("basis").value.trim() !== "none") made.basis = input("basis").value.trim();
  if (input("epochs").value) made.epochs = Math.max(1, Math.floor(Number(input("epochs").value)));
  return made;
}

export async function restart() {
  if (!filling) await openRun(spec());
}

/** Puts a state into the controls. @param {import("./types").Spec} wanted */
export function put(wanted) {
  filling = true;
  const { data } = wanted;
  select("set").value = data.kind === "bundled" ? data.name : data.kind === "file" ? "own:" : "points:";
  sliders = {};
  if (data.kind === "bundled") for (const name of Object.keys(SLIDERS)) if (/** @type {any} */ (data)[name] !== undefined) sliders[name] = /** @type {any} */ (data)[name];
  fillSliders();
  select("learner").value = wanted.learner;
  const defaults = Object.fromEntries((learner()?.parameters ?? []).map((p) => [p.name, p.default]));
  values[wanted.learner] = { ...defaults, ...wanted.settings, ...(wanted.choose ? { order: "choose" } : {}) };
  fillSettings();
  input("basis").value = wanted.basis ?? "";
  input("epochs").value = wanted.epochs ? String(wanted.epochs) : "";
  input("seed").value = String(wanted.seed);
  filling = false;
}

function tools() {
  const names = { look: "look", "add-0": "add first class", "add-1": "add second class", move: "move", relabel: "relabel", delete: "delete" };
  byId("tool-list").append(
    ...Object.entries(names).map(([name, words]) => {
      const radio = html("input", { type: "radio", name: "tool", value: name, checked: name === "look" });
      radio.addEventListener("change", () => {
        const data = store.run?.data;
        pattern.tool.name = name.startsWith("add-") && data ? `add-${data.classes[Number(name.slice(4))]}` : name;
      });
      return html("label", { class: "check" }, radio, words);
    }),
  );
  byId("undo").addEventListener("click", () => void undo());
  byId("redo").addEventListener("click", () => void redo());
  byId("add-point").addEventListener("click", () => {
    const [x, y] = [Number(input("add-x").value), Number(input("add-y").value)];
    const data = store.run?.data;
    if (!data || !Number.isFinite(x) || !Number.isFinite(y)) return;
    if (store.hover !== null && pattern.tool.name === "move") void edit(pointsNow().map((p, j) => (j === store.hover ? [x, y, p[2]] : p)), store.hover);
    else void edit([...pointsNow(), [x, y, pattern.tool.name.startsWith("add-") ? pattern.tool.name.slice(4) : data.classes[0]]]);
  });
}

function toggles() {
  /** @type {[string, any, string][]} */
  const all = [
    ["reflected points", pattern.options, "reflected"], ["hulls, common point and witness rows", pattern.options, "hulls"],
    ["rows that hold the widest plane", pattern.options, "support"], ["margin band", pattern.options, "band"],
    ["regions of classes, ambiguous ones hatched", pattern.options, "regions"],
    ["lift to three dimensions: (x₁, x₂, 1)", pattern.options, "lift"], ["weights in three dimensions", weight.options, "orbit"],
  ];
  byId("toggles").append(
    ...all.map(([words, options, name]) => {
      const box = html("input", { type: "checkbox", id: `toggle-${name}`, checked: options[name] });
      box.addEventListener("change", () => {
        options[name] = box.checked;
        tell(name === "reflected" ? "run" : "options");
      });
      return html("label", { class: "check" }, box, words);
    }),
  );
}

/** Shows what fits the run. */
function shown() {
  const run = store.run;
  if (!run) return;
  byId("view-row").hidden = run.data.features <= 2;
  const drawable = run.data.features === 2 && !run.data.sampled;
  for (const one of byId("tools").querySelectorAll("input, button")) /** @type {HTMLInputElement} */ (one).disabled = !drawable;
  /** @type {HTMLButtonElement} */ (byId("undo")).disabled = !canUndo();
  /** @type {HTMLButtonElement} */ (byId("redo")).disabled = !canRedo();
  if (run.spec.data.kind === "points") {
    const option = select("set").querySelector('option[value="points:"]');
    option?.removeAttribute("hidden");
    select("set").value = "points:";
    byId("sliders").replaceChildren();
  }
}
