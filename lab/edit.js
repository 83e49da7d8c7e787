/** Points that are drawn, moved, relabelled or deleted make a new set; the sets before it are kept for undo. */
import { openRun, store, tell } from "./state.js";

/** @typedef {[number, number, string]} Point */
/** @type {import("./types").DataSpec[]} */
const before = [];
/** @type {import("./types").DataSpec[]} */
const after = [];

/** The points of the present run. @returns {Point[]} */
export function pointsNow() {
  const data = store.run?.data;
  if (!data?.points || data.sampled) return [];
  return data.points.map(([x, y], i) => [x, y, data.classes[data.class[i]].replace(/[^A-Za-z0-9_+-]/g, "_").slice(0, 16)]);
}

/** Starts the same learner on other points. @param {Point[]} points @param {number} [keep] the point to stay selected */
export async function edit(points, keep) {
  const run = store.run;
  if (!run || run.data.features !== 2 || run.data.sampled) return;
  before.push(run.spec.data);
  after.length = 0;
  await reopen({ kind: "points", points });
  if (keep !== undefined) {
    store.hover = keep;
    tell("hover");
  }
}

/** @param {import("./types").DataSpec} data */
async function reopen(data) {
  const run = store.run;
  if (!run) return;
  const { start: _, ...spec } = run.spec;
  const done = await openRun({ ...spec, data });
  if (!done) before.pop();
  tell("options");
}

export function canUndo() {
  return before.length > 0;
}

export function canRedo() {
  return after.length > 0;
}

export async function undo() {
  const data = before.pop();
  if (!data || !store.run) return;
  after.push(store.run.spec.data);
  await openRun({ ...store.run.spec, data });
  tell("options");
}

export async function redo() {
  const data = after.pop();
  if (!data || !store.run) return;
  before.push(store.run.spec.data);
  await openRun({ ...store.run.spec, data });
  tell("options");
}
