/**
 * What the page knows: the run, its frames, and the one cursor k that every panel follows.
 *
 * @typedef {import("./types").Catalogue} Catalogue
 * @typedef {import("./types").Spec} Spec
 * @typedef {import("./types").Frame} Frame
 * @typedef {import("./types").RunInfo} RunInfo
 * @typedef {import("./types").StateInfo} StateInfo
 * @typedef {import("./types").WeightSpace} WeightSpace
 * @typedef {import("./types").VerdictInfo} VerdictInfo
 */
import { delayed, get, post, remove, Refused } from "./api.js";

export const store = {
  /** @type {Catalogue | null} */
  catalogue: null,
  /** @type {RunInfo | null} */
  run: null,
  /** @type {Map<number, Frame>} */
  frames: new Map(),
  k: 0,
  /** @type {StateInfo | null} What the server says of update k, and of planes moved by hand. */
  state: null,
  /** @type {number[][] | null} Planes moved by hand, in the place of those of update k. */
  hand: null,
  /** @type {WeightSpace | null} */
  weights: null,
  /** @type {VerdictInfo | null} */
  verdict: null,
  /** @type {number | null} The drawn point under the pointer or the focus, by its place among them. */
  hover: null,
  view: "distance",
  /** @type {import("./types").Rival | null} The other run of a race. */
  rival: null,
  busy: false,
  /** How far the run may be watched; a page that runs moves k by itself. */
  running: false,
};

/** @typedef {"run" | "cursor" | "state" | "weights" | "verdict" | "hover" | "error" | "options" | "running"} Topic */
/** @type {Map<string, ((detail?: unknown) => void)[]>} */
const listeners = new Map();

/** @param {Topic} topic @param {(detail?: unknown) => void} listener */
export function on(topic, listener) {
  listeners.set(topic, [...(listeners.get(topic) ?? []), listener]);
}

/** @param {Topic} topic @param {unknown} [detail] */
export function tell(topic, detail) {
  for (const listener of listeners.get(topic) ?? []) listener(detail);
}

/** @param {unknown} error */
export function fail(error) {
  store.running = false;
  tell("running");
  tell("error", error instanceof Refused ? error : new Refused(0, "page", String(error)));
}

/** The frame that is shown. */
export function frame() {
  return store.frames.get(own()) ?? null;
}

/** The update of the run itself: in a race it may have ended before the other one. */
export function own() {
  return Math.min(store.k, store.run?.summary.last ?? 0);
}

/** The last update that can be shown. */
export function reach() {
  return Math.max(store.run?.summary.last ?? 0, store.rival?.summary.last ?? 0);
}

/** @param {{ summary: import("./types").Summary } | null} run */
export const isDone = (run) => !run || !!run.summary.ended || !!run.summary.full;

/** Whether no run goes on. */
export const allDone = () => isDone(store.run) && isDone(store.rival);

/** What a race does when the cursor moves; set by the race itself. */
export const rival = {
  /** @type {(by: "update" | "end", target: number) => Promise<void>} */
  advance: async () => {},
  /** @type {(k: number) => Promise<void>} */
  ensure: async () => {},
};

/** The planes that are shown: those moved by hand, or those of update k. @returns {number[][] | null} */
export function planes() {
  return store.hand ?? frame()?.planes ?? store.state?.planes ?? null;
}

/** Which points are wrong with the planes that are shown. @returns {Uint8Array} */
export function wrong() {
  const n = store.run?.data.shown.length ?? 0;
  if (store.hand && store.state) {
    const flags = new Uint8Array(n);
    for (const i of store.state.wrong) flags[i] = 1;
    return flags;
  }
  return frame()?.wrong ?? new Uint8Array(n);
}

/** Takes frames in, each of which says what changed since the one before it. @param {any[]} raw @param {Map<number, Frame>} frames */
export function take(raw, frames = store.frames) {
  const n = store.run?.data.shown.length ?? 0;
  /** @type {Uint8Array | null} */
  let before = null;
  for (const one of raw) {
    const flags = new Uint8Array(n);
    if (one.wrong) {
      for (const i of one.wrong) flags[i] = 1;
    } else if (before) {
      flags.set(before);
      for (const i of one.broken) flags[i] = 1;
      for (const i of one.fixed) flags[i] = 0;
    }
    before = flags;
    frames.set(one.k, { ...one, wrong: flags });
  }
  // Long runs are asked for again where they are needed.
  if (frames.size > 4000) {
    for (const k of frames.keys()) {
      if (Math.abs(k - store.k) > 1500) frames.delete(k);
    }
  }
}

/** Ends a run that is no longer shown, after what was still asked of it. @param {{ id: string } | null} run */
export function retire(run) {
  if (run) setTimeout(() => void remove(`/api/runs/${run.id}`).catch(() => undefined), 400);
}

let opening = 0;

/**
 * Starts a run and shows its beginning: true if it did. A run that is refused is told in the banner, or with
 * `tells` in the answer.
 * @param {Spec} spec @param {boolean} [tells] @returns {Promise<boolean | string>}
 */
export async function openRun(spec, tells = false) {
  const mine = ++opening;
  store.running = false;
  tell("running");
  try {
    const answer = await post("/api/runs", spec);
    if (mine !== opening) {
      await remove(`/api/runs/${answer.id}`);
      return false;
    }
    const old = store.run;
    store.run = { id: answer.id, data: answer.data, summary: answer.summary, spec };
    store.frames = new Map();
    [store.k, store.hand, store.state, store.weights, store.verdict, store.hover] = [0, null, null, null, null, null];
    take(answer.frames);
    tell("run");
    tell("cursor");
    const path = `/api/runs/${answer.id}`;
    const still = () => store.run?.id === answer.id;
    await Promise.all([
      refresh(),
      get(`${path}/weights`).then((space) => {
        if (still()) [store.weights] = [space];
        tell("weights");
      }),
      get(`${path}/verdict`).then((verdict) => {
        if (still()) [store.verdict] = [verdict];
        tell("verdict");
      }),
    ]);
    retire(old);
    return true;
  } catch (error) {
    if (mine !== opening) return false;
    if (tells && error instanceof Refused && error.status > 0) return error.message;
    fail(error);
    return false;
  }
}

let asked = 0;

/** Asks the server for what a frame does not have: errors on all rows, margins, the view of many features. */
export async function refresh() {
  const run = store.run;
  if (!run) return;
  const mine = ++asked;
  const path = `/api/runs/${run.id}`;
  const state = store.hand
    ? await post(`${path}/at`, { planes: store.hand, view: store.view })
    : await get(`${path}/state?k=${own()}&view=${store.view}`);
  if (mine === asked && store.run === run) {
    store.state = state;
    tell("state");
  }
}

const soon = delayed();

/** The same, a moment after the cursor has come to rest. */
export function refreshSoon() {
  soon(store.running && store.run?.data.points ? 150 : 0, () => void refresh().catch(fail));
}

/** Makes sure that the frame of an update is here; those before it follow, for the log and the path. @param {number} k */
export async function ensure(k) {
  const run = store.run;
  if (!run || (store.frames.has(k) && !store.frames.get(k)?.pending)) return;
  // The end of a long run is there before the server has written all of it down.
  if (k === run.summary.last && k > 0) {
    const raw = await get(`/api/runs/${run.id}/frames?from=${k}&to=${k}`);
    if (store.run === run) take(raw);
    fill(run, k).catch(fail);
  } else await fill(run, k);
}

/** @param {RunInfo} run @param {number} k */
async function fill(run, k) {
  const most = store.catalogue?.limits.frames ?? 100;
  const from = Math.max(0, k - 60);
  const raw = await get(`/api/runs/${run.id}/frames?from=${from}&to=${Math.min(run.summary.last, from + most - 1)}`);
  if (store.run !== run) return;
  take(raw);
  tell("options");
}

/** Moves the cursor to an update that the run has made. @param {number} k */
export async function goTo(k) {
  const run = store.run;
  if (!run) return;
  const wanted = Math.max(0, Math.min(k, reach()));
  try {
    await Promise.all([ensure(Math.min(wanted, run.summary.last)), rival.ensure(wanted)]);
  } catch (error) {
    fail(error);
    return;
  }
  if (store.run !== run) return;
  [store.k, store.hand] = [wanted, null];
  tell("cursor");
  refreshSoon();
}

/**
 * Advances the run itself, by the server.
 * @param {"update" | "mistake" | "epoch" | "end"} by @param {number} [count] @param {boolean} [follow]
 */
export async function advance(by, count = 1, follow = true) {
  const run = store.run;
  if (!run || store.busy) return;
  store.busy = true;
  try {
    let more = !isDone(run);
    let left = count;
    let target = more ? 0 : store.k + (by === "update" ? count : 1);
    while (more && store.run === run) {
      const answer = await post(`/api/runs/${run.id}/step`, { by, count: left });
      if (store.run !== run) return;
      run.summary = answer.summary;
      take(answer.frames);
      more = answer.more;
      if (by === "update") left = Math.max(1, left - (answer.summary.last - answer.before));
      if (by === "epoch") more = more && count === 1;
      if (more) tell("options");
      target = run.summary.last;
    }
    if (store.rival) await rival.advance(by === "end" ? "end" : "update", target);
    if (store.run !== run) return;
    if (follow) await goTo(by === "end" ? reach() : target);
    else tell("options");
  } catch (error) {
    fail(error);
  } finally {
    store.busy = false;
  }
}

/** Visits a row that the user chose. @param {number} i its place among the drawn points */
export async function choose(i) {
  const run = store.run;
  if (!run) return;
  try {
    const answer = await post(`/api/runs/${run.id}/choose`, { row: run.data.shown[i] });
    if (store.run !== run) return;
    const moved = answer.summary.last > run.summary.last;
    run.summary = answer.summary;
    take(answer.frames);
    await goTo(run.summary.last);
    return moved;
  } catch (error) {
    fail(error);
  }
}

/** One update on: one that is known, or a new one. */
export async function step() {
  const run = store.run;
  if (!run) return;
  if (store.k < reach()) await goTo(store.k + 1);
  else await advance("update");
}

/** Shows planes that the user moved. @param {number[][] | null} hand */
export function byHand(hand) {
  store.hand = hand;
  tell("cursor");
  refreshSoon();
}

/** @param {number | null} i */
export function hover(i) {
  if (store.hover === i) return;
  store.hover = i;
  tell("hover");
}
