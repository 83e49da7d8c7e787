/**
 * The state in the part of the address behind #, which no server gets: a version, and a JSON object in base64.
 * What comes in is read field by field; whatever does not fit is refused as a whole.
 */
import { store } from "./state.js";
import { entered } from "./race.js";
import { choices } from "./controls.js";

/** @typedef {import("./types").Spec} Spec */
/** @typedef {{ spec: Spec, k: number, hide: boolean, lesson?: string, race?: { learner: string, settings: Record<string, string> }, view?: string, show?: Record<string, boolean>, curve?: string, criterion?: string }} Shared */

/** Longer fragments are refused. */
const LONGEST = 24_000;

/** @param {boolean} hide */
export function link(hide) {
  const run = store.run;
  if (!run) return "";
  const { data, learner, settings, seed, start, basis, epochs, choose } = run.spec;
  const state = { data, learner, settings, seed, start, basis, epochs, choose, k: store.k, hide: hide || undefined, race: entered(), ...choices() };
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const text = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `#v1=${text}`;
}

/** @param {unknown} x @returns {x is Record<string, unknown>} */
const isObject = (x) => typeof x === "object" && x !== null && !Array.isArray(x);
const isNumber = (/** @type {unknown} */ x) => typeof x === "number" && Number.isFinite(x);
const isText = (/** @type {unknown} */ x, most = 64) => typeof x === "string" && x.length <= most;
const isCount = (/** @type {unknown} */ x) => Number.isSafeInteger(x) && Number(x) >= 0;

/** @param {string} words @returns {never} */
function refuse(words) {
  throw new Error(`This link cannot be used: ${words}. The lab starts as usual.`);
}

/** @param {Record<string, unknown>} object @param {string[]} names */
function only(object, names) {
  for (const name of Object.keys(object)) if (!names.includes(name)) refuse(`it has an unknown part "${name.slice(0, 30)}"`);
}

/** @param {unknown} raw @returns {import("./types").DataSpec} */
function data(raw) {
  if (!isObject(raw)) refuse("its data is missing");
  if (raw.kind === "bundled" && isText(raw.name)) {
    only(raw, ["kind", "name", "rows", "margin", "noise", "classes", "seed"]);
    for (const name of ["rows", "margin", "noise", "classes", "seed"]) if (raw[name] !== undefined && !isNumber(raw[name])) refuse(`its ${name} is no number`);
    return /** @type {any} */ (raw);
  }
  if (raw.kind === "points" && Array.isArray(raw.points)) {
    only(raw, ["kind", "points"]);
    if (raw.points.length > 2000) refuse("it has too many points");
    for (const p of raw.points) {
      if (!Array.isArray(p) || p.length !== 3 || !isNumber(p[0]) || !isNumber(p[1]) || !isText(p[2], 16)) refuse("a point is damaged");
    }
    return /** @type {any} */ (raw);
  }
  if (raw.kind === "file" && isText(raw.id)) {
    only(raw, ["kind", "id"]);
    if (!store.catalogue?.sets.own) refuse("it is of a file that is not open here");
    return /** @type {any} */ (raw);
  }
  return refuse("its data is damaged");
}

/** Reads a fragment; null if there is none. @param {string} fragment @returns {Shared | { lesson: string } | null} */
export function read(fragment) {
  if (fragment === "" || fragment === "#") return null;
  if (fragment.length > LONGEST) refuse("it is too long");
  if (fragment.startsWith("#lesson=")) {
    const name = fragment.slice(8);
    if (!store.catalogue?.lessons.includes(name)) refuse("there is no such lesson");
    return { lesson: name };
  }
  const version = /^#v([0-9]+)=/.exec(fragment);
  if (!version) return refuse("it is no link of the lab");
  if (version[1] !== "1") refuse(`it is of version ${version[1]}, this lab knows version 1`);
  /** @type {unknown} */
  let raw;
  try {
    const text = atob(fragment.slice(4).replaceAll("-", "+").replaceAll("_", "/"));
    raw = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  } catch {
    refuse("it is cut or damaged");
  }
  if (!isObject(raw)) return refuse("it is damaged");
  only(raw, ["data", "learner", "settings", "seed", "start", "basis", "epochs", "choose", "k", "hide", "race", "view", "show", "curve", "criterion"]);
  if (!isText(raw.learner)) refuse("its learner is missing");
  const settings = settingsOf(raw.settings);
  for (const name of ["view", "curve", "criterion"]) if (raw[name] !== undefined && !isText(raw[name])) refuse(`its ${name} is damaged`);
  if (raw.view !== undefined && !/^[a-z]{1,12}(:[0-9]{1,5},[0-9]{1,5})?(:[0-9]{1,9})?$/.test(String(raw.view))) refuse("its view is damaged");
  if (raw.show !== undefined && (!isObject(raw.show) || Object.entries(raw.show).some(([name, value]) => name.length > 40 || typeof value !== "boolean"))) refuse("what it shows is damaged");
  let race;
  if (raw.race !== undefined) {
    if (!isObject(raw.race) || !isText(raw.race.learner)) return refuse("its race is damaged");
    only(raw.race, ["learner", "settings"]);
    race = { learner: String(raw.race.learner), settings: settingsOf(raw.race.settings) };
  }
  if (raw.seed !== undefined && !isCount(raw.seed)) refuse("its seed is no number");
  if (raw.k !== undefined && !isCount(raw.k)) refuse("its update is no number");
  if (raw.epochs !== undefined && !isCount(raw.epochs)) refuse("its epochs are no number");
  if (raw.basis !== undefined && !isText(raw.basis)) refuse("its basis is damaged");
  for (const name of ["choose", "hide"]) if (raw[name] !== undefined && typeof raw[name] !== "boolean") refuse(`its ${name} is damaged`);
  if (raw.start !== undefined && (!Array.isArray(raw.start) || raw.start.length > 64 || !raw.start.every((p) => Array.isArray(p) && p.length <= 64 && p.every(isNumber)))) refuse("its start is damaged");
  /** @type {any} */
  const spec = { data: data(raw.data), learner: raw.learner, settings, seed: raw.seed ?? 0 };
  for (const name of ["start", "basis", "epochs", "choose"]) if (raw[name] !== undefined) spec[name] = raw[name];
  /** @type {any} */
  const rest = {};
  for (const name of ["view", "show", "curve", "criterion"]) if (raw[name] !== undefined) rest[name] = raw[name];
  return { spec, k: Number(raw.k ?? 0), hide: raw.hide === true, race, ...rest };
}

/** @param {unknown} raw @returns {Record<string, string>} */
function settingsOf(raw = {}) {
  if (!isObject(raw) || Object.entries(raw).some(([name, value]) => name.length > 40 || !isText(value))) refuse("its settings are damaged");
  return /** @type {Record<string, string>} */ (raw);
}

/** Refuses what this lab has not: the controls could not show it. @param {Spec} spec */
export function fits(spec) {
  const { learners, sets } = store.catalogue ?? { learners: [], sets: { bundled: [] } };
  const { data } = spec;
  const learner = learners.find((one) => one.name === spec.learner);
  if (!learner) refuse(`there is no learner "${spec.learner.slice(0, 30)}"`);
  const unknown = Object.keys(spec.settings).find((name) => !learner?.parameters.some((one) => one.name === name));
  if (unknown) refuse(`${spec.learner} has no setting "${unknown.slice(0, 30)}"`);
  if (data.kind === "bundled" && !sets.bundled.some((one) => one.name === data.name)) refuse(`there is no set "${data.name.slice(0, 30)}"`);
}
