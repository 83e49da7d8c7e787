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

/** What a setting is called on the page, where the program's word is short. */
const NAMES = /** @type {Record<string, string>} */ ({ eta: "rate η", init: "start", ties: "tie rule", multiclass: "K classes" });

/** The rates that a setting may have; a rule of k makes a schedule. */
const RATES = ["1", "0.5", "0.1", "1/k", "10/(10+k)", "step:1,0.1,20"];

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

/** The settings of a learner as the lab chooses them, where they are not the program's. @param {string} name */
export function defaultsOf(name) {
  const found = store.catalogue?.learners.find((one) => one.name === name);
  /** @type {Record<string, string>} */
  const settings = {};
  for (const parameter of found?.parameters ?? []) {
    const ours = usual(parameter);
    if (ours !== parameter.default) settings[parameter.name] = ours;
  }
  return settings;
}

/** @param {import("./types").Parameter} parameter */
const usual = ({ name, words, default: usual }) => (OURS[name] && (words.length === 0 || words.includes(OURS[name])) ? OURS[name] : usual);
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
  views();
  tools();
  toggles();
  on("run", shown);
  on("options", shown);
  byId("controls").append(html("datalist", { id: "rates" }, ...RATES.map((value) => html("option", { value }))));
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
      return html("label", { class: "slider" }, html("span", {}, label), range, number);
    }),
  );
}

/** The views that the server knows. */
const VIEWS = /** @type {Record<string, string>} */ ({ distance: "distance from the plane (exact)", section: "two features (section)", columns: "two features (projection)", pca: "principal components", lda: "discriminant axes (LDA)", means: "between the means" });

function views() {
  for (const name of Object.keys(VIEWS)) select("view").append(html("option", { value: name }, VIEWS[name]));
  const change = () => {
    const [i, j] = [Number(select("view-x").value), Number(select("view-y").value)];
    const kind = select("view").value;
    const pair = kind === "section" || kind === "columns";
    byId("view-pair").hidden = !pair;
    byId("view-at").hidden = kind !== "section";
    if (pair && i === j) return;
    const row = Math.max(1, Math.floor(Number(input("view-row-number").value) || 1)) - 1;
    store.view = !pair ? kind : kind === "section" ? `section:${i},${j}:${row}` : `columns:${i},${j}`;
    refresh().catch(fail);
  };
  for (const id of ["view", "view-x", "view-y", "view-row-number"]) byId(id).addEventListener("change", change);
}

/** Features to choose two from. */
function fillFeatures() {
  const names = store.run?.data.names ?? [];
  const now = [...select("view-x").options].map((one) => one.text).join();
  if (now === names.join()) return;
  for (const [at, id] of ["view-x", "view-y"].entries()) {
    select(id).replaceChildren(...names.map((name, j) => html("option", { value: j }, name)));
    select(id).value = String(Math.min(at, names.length - 1));
  }
  input("view-row-number").max = String(store.run?.data.rows ?? 1);
  // Another file has other features.
  if (/^(section|columns)/.test(store.view)) [store.view, select("view").value] = ["distance", "distance"];
  byId("view-pair").hidden = true;
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
    const value = (own[name] ??= usual(parameter));
    /** @type {HTMLSelectElement | HTMLInputElement} */
    let field;
    if (words.length || name === "init") {
      const list = name === "init" ? ["zero", "random"] : [...words, ...(name === "order" && now.name === "perceptron" ? ["choose"] : [])];
      const text = (/** @type {string} */ word) => (name === "ties" ? (TIES[word] ?? word) : word === "choose" ? "I choose the point" : word);
      field = html("select", { id: `setting-${name}` }, ...list.map((word) => html("option", { value: word }, text(word))));
    } else field = html("input", { id: `setting-${name}`, maxlength: 60, ...(name === "eta" ? { list: "rates" } : {}) });
    field.value = value;
    field.addEventListener("change", () => {
      own[name] = field.value;
      void restart();
    });
    return { name, row: html("label", { title: help, ...(name === "ties" ? { class: "stack" } : {}) }, NAMES[name] ?? name, field) };
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

const TOOLS = /** @type {Record<string, string>} */ ({
  look: "Hover and click points", "add-0": "Click to add a point of the first class", "add-1": "Click to add a point of the second class", move: "Drag a point",
  relabel: "Click a point to give it the next class", delete: "Click a point to delete it", walk: "Click two places and walk between them",
});

function tools() {
  const names = { look: "look", "add-0": "add ●", "add-1": "add ▲", move: "move", relabel: "relabel", delete: "delete", walk: "walk" };
  byId("tool-list").append(
    ...Object.entries(names).map(([name, words]) => {
      const radio = html("input", { type: "radio", name: "tool", value: name, checked: name === "look" });
      radio.addEventListener("change", () => {
        const data = store.run?.data;
        pattern.tool.name = name.startsWith("add-") && data ? `add-${data.classes[Number(name.slice(4))]}` : name;
      });
      return html("label", { class: "chip", title: TOOLS[name] }, radio, html("span", {}, words));
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
    ["lift to three dimensions", pattern.options, "lift"], ["weights in three dimensions", weight.options, "orbit"],
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

/** What is shown, as a link keeps it. */
export function choices() {
  /** @type {Record<string, boolean>} */
  const show = {};
  for (const box of /** @type {NodeListOf<HTMLInputElement>} */ (byId("toggles").querySelectorAll("input"))) if (box.checked !== box.defaultChecked) show[box.id.slice(7)] = box.checked;
  return {
    show: Object.keys(show).length ? show : undefined, view: store.view === "distance" ? undefined : store.view,
    curve: select("curve").value === "norm" ? undefined : select("curve").value, criterion: select("criterion").value === "jp" ? undefined : select("criterion").value,
  };
}

/** Shows what a link asks for; what the page has not is left as it is. @param {{ show?: Record<string, boolean>, view?: string, curve?: string, criterion?: string }} wanted */
export function show({ show = {}, view = "distance", curve = "norm", criterion = "jp" }) {
  for (const box of /** @type {NodeListOf<HTMLInputElement>} */ (byId("toggles").querySelectorAll("input"))) {
    const is = show[box.id.slice(7)] ?? box.defaultChecked;
    if (box.checked !== is) box.click();
  }
  store.view = view;
  if ([...select("view").options].some((one) => one.value === view.split(":")[0])) select("view").value = view.split(":")[0];
  for (const [id, value] of [["curve", curve], ["criterion", criterion]]) {
    if (select(id).value === value || ![...select(id).options].some((one) => one.value === value)) continue;
    select(id).value = value;
    select(id).dispatchEvent(new Event("change"));
  }
}

/** The settings that the page opens with. */
export function reset() {
  for (const name of Object.keys(values)) delete values[name];
  put({ data: opening(), learner: select("learner").options[0].value, settings: defaultsOf(select("learner").options[0].value), seed: 0 });
  show({});
}

/** @returns {import("./types").DataSpec} */
function opening() {
  const own = store.catalogue?.sets.own;
  return own ? { kind: "file", id: own.id } : { kind: "bundled", name: store.catalogue?.sets.bundled[0].name ?? "patterns" };
}

/** Shows what fits the run. */
function shown() {
  const run = store.run;
  if (!run) return;
  byId("view-row").hidden = run.data.features <= 2 || !!run.data.cube;
  fillFeatures();
  // A set says itself how many rows it has, unless the user does.
  for (const field of byId("sliders").querySelectorAll("#slider-rows, #slider-rows + input")) if (sliders.rows === undefined) /** @type {HTMLInputElement} */ (field).value = String(run.data.rows);
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
