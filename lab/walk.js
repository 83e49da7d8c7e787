/** The line walk: from one place to another, and what class every place between them has. */
import { byId, svg } from "./draw.js";
import { delayed, get } from "./api.js";
import { fail, on, own, store, tell } from "./state.js";
import * as pattern from "./pattern.js";

/** @typedef {[number, number]} Place */
/** What is walked: both ends, and the class of every place, a letter where it is ambiguous. */
export const walk = {
  /** @type {Place | null} */ from: null,
  /** @type {Place | null} */ to: null,
  classes: "",
  along: 0,
};

/** @param {string} id */
const input = (id) => /** @type {HTMLInputElement} */ (byId(id));

export function setUp() {
  byId("walk-go").addEventListener("click", () => {
    const [a, b] = ["walk-from", "walk-to"].map((id) => store.run?.data.points?.[Number(input(id).value) - 1]);
    if (a && b) void go(a, b);
    else say(`Choose two rows between 1 and ${store.run?.data.shown.length}.`);
  });
  byId("walk-find").addEventListener("click", () => void find());
  byId("walk-clear").addEventListener("click", clear);
  input("walk-along").addEventListener("input", () => {
    walk.along = Number(input("walk-along").value);
    drawStrip();
    tell("options");
  });
  on("run", () => {
    clear();
    byId("walk-row").hidden = !can();
  });
  on("cursor", () => {
    if (walk.from && walk.to && !store.running) later(60, () => void ask());
  });
}

const later = delayed();

/** Walks are those of two features. */
export function can() {
  const data = store.run?.data;
  return !!data && data.features === 2 && data.classes.length <= 10;
}

function clear() {
  [walk.from, walk.to, walk.classes, walk.along] = [null, null, "", 0];
  byId("walk-strip").hidden = true;
  tell("options");
}

/** @param {string} words */
function say(words) {
  byId("walk-strip").hidden = false;
  byId("walk-note").textContent = words;
}

/** A click of the tool: first one end, then the other. @param {Place} place */
export async function click(place) {
  if (!walk.from || walk.to) {
    clear();
    walk.from = place;
    say("Now choose the other end.");
    tell("options");
  } else await go(walk.from, place);
}

/** @param {Place} from @param {Place} to */
export async function go(from, to) {
  [walk.from, walk.to, walk.along] = [from, to, 0];
  input("walk-along").value = "0";
  await ask();
}

async function ask() {
  const { from, to } = walk;
  const run = store.run;
  if (!from || !to || !run || store.hand) return;
  try {
    const classes = await get(`/api/runs/${run.id}/walk?k=${own()}&x0=${from[0]}&y0=${from[1]}&x1=${to[0]}&y1=${to[1]}`);
    if (walk.from !== from || walk.to !== to || store.run !== run) return;
    walk.classes = classes;
    drawStrip();
    say(words());
    tell("options");
  } catch (error) {
    fail(error);
  }
}

/** Several classes or none claim the place. @param {string} letter */
export const isUnclear = (letter) => letter >= "a";
/** @param {string} letter */
export const classOf = (letter) => letter.charCodeAt(0) - (isUnclear(letter) ? 97 : 48);
/** Places of one kind: of one class, or ambiguous. @param {string} letter */
const kind = (letter) => (isUnclear(letter) ? "ambiguous" : letter);

/** The stretches of a walk that are of one kind. @param {string} classes */
export function stretches(classes) {
  /** @type {{ letter: string, from: number, to: number }[]} */
  const found = [];
  [...classes].forEach((letter, i) => {
    const last = found[found.length - 1];
    if (last && kind(last.letter) === kind(letter)) last.to = i;
    else found.push({ letter, from: i, to: i });
  });
  return found;
}

function words() {
  const data = store.run?.data;
  const parts = stretches(walk.classes);
  if (!data || !parts.length) return "";
  const name = (/** @type {string} */ letter) => (isUnclear(letter) ? "ambiguous" : `class ${data.classes[classOf(letter)]}`);
  const [first, last] = [walk.classes[0], walk.classes[walk.classes.length - 1]];
  const tale = parts.map(({ letter, from, to }) => `${name(letter)} ${Math.round(from / 2)}–${Math.round(to / 2)} %`).join(", ");
  if (parts.length === 1 && !isUnclear(first)) return `All ${walk.classes.length} places are ${name(first)}: the region is convex${data.expanded === 2 ? ", as an intersection of half-planes has to be" : " along this walk"}.`;
  if (parts.length === 1) return `All ${walk.classes.length} places are ambiguous: several classes claim them, or none does.`;
  if (kind(first) === kind(last)) {
    const why = isUnclear(first) ? "Ambiguous places of one-versus-rest or pairwise planes make no convex region." : data.expanded === 2 ? "This region is not convex: votes are no linear machine." : "The boundary is curved: regions of basis functions need not be convex here.";
    return `Both ends are ${name(first)}, and the walk leaves it: ${tale}. ${why}`;
  }
  return `The ends are of two regions: ${tale}. Choose two places of one region to see whether it is convex.`;
}

/** The strip of classes under the picture. */
function drawStrip() {
  const mesh = svg("pattern", { id: "walk-hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("rect", { width: 2, height: 5, class: "hatching" }));
  const bars = stretches(walk.classes).flatMap(({ letter, from, to }) => {
    const shape = { x: from, y: 0, width: to - from + 1, height: 14 };
    const bar = svg("rect", { ...shape, class: `stretch class-${classOf(letter) % 6}${isUnclear(letter) ? " unclear" : ""}` });
    return isUnclear(letter) ? [bar, svg("rect", { ...shape, fill: "url(#walk-hatch)" })] : [bar];
  });
  byId("walk-bar").replaceChildren(svg("defs", {}, mesh), ...bars, svg("rect", { x: walk.along, y: 0, width: 1.5, height: 14, class: "here" }));
}

/** Looks for two places of one kind with a place of another kind in the middle between them. */
async function find() {
  const grid = await pattern.cellsNow();
  if (!grid) return;
  const n = Math.sqrt(grid.length);
  const { x0, x1, y0, y1 } = pattern.box();
  const at = (/** @type {number} */ c) => /** @type {Place} */ ([x0 + ((x1 - x0) * ((c % n) + 0.5)) / n, y0 + ((y1 - y0) * (Math.floor(c / n) + 0.5)) / n]);
  /** @type {[number, number, number] | null} */
  let best = null;
  // Every fourth cell: ends that are an even number of cells apart have a cell in the middle.
  const ends = [];
  for (let j = 1; j < n; j += 4) for (let i = 1; i < n; i += 4) ends.push(j * n + i);
  for (const a of ends) {
    for (const b of ends) {
      if (b <= a || kind(grid[a]) !== kind(grid[b])) continue;
      const middle = (Math.floor(a / n) + Math.floor(b / n)) / 2 * n + ((a % n) + (b % n)) / 2;
      if (kind(grid[middle]) === kind(grid[a])) continue;
      const apart = Math.hypot((a % n) - (b % n), Math.floor(a / n) - Math.floor(b / n));
      if (!best || apart > best[2]) best = [a, b, apart];
    }
  }
  if (best) await go(at(best[0]), at(best[1]));
  else {
    clear();
    say(`Of ${ends.length} places none is between two of one other region: every region is convex.`);
  }
}
