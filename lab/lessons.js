/** Lessons in the order of the lectures: a state, a question answered before the reveal, and what to see. */
import { byId, html } from "./draw.js";
import { openRun, goTo, advance, store } from "./state.js";
import { defaultsOf, put } from "./controls.js";
import { wish } from "./race.js";
import { neuron, fisher, retina, update, hideExtra } from "./figures.js";

/** @typedef {import("./types").Spec} Spec */
/** @typedef {{ title: string, text: string, question: string, answers: string[], right: number, reveal: string, spec: Spec, steps?: number, extra?: () => void, race?: string }} Lesson */

/** @param {string} name @param {Partial<Spec>} [more] @returns {Spec} */
const plain = (name, more = {}) => ({ data: { kind: "bundled", name }, learner: "perceptron", settings: { order: "cyclic", scale: "none", verdict: "off" }, seed: 0, ...more });

/** @type {Record<string, Lesson>} */
export const LESSONS = {
  plane: {
    title: "A plane: w turns it, b moves it", text: "The boundary is where w·x + b = 0. Use turn and move below the picture, or drag w.",
    question: "You double w and b. What happens to the boundary?", answers: ["It moves away from the origin", "Nothing", "It turns"], right: 1,
    reveal: "Nothing: w·x + b = 0 and 2w·x + 2b = 0 are the same line. Only the scores double.", spec: plain("iris-setosa"), steps: 3,
  },
  neuron: {
    title: "A neuron and its model", text: "Dendrites bring signals, the cell body adds them up, the axon fires or not.",
    question: "Which part of the model is the synapse?", answers: ["The weight", "The bias", "The threshold"], right: 0,
    reveal: "A synapse makes a signal strong or weak, as a weight does; the bias is minus the threshold of the cell body.", spec: plain("and"), extra: neuron,
  },
  gates: {
    title: "Gates on the cube", text: "AND of three inputs is 1 at one corner of the cube only. Turn the cube, then choose OR of three inputs as the set.",
    question: "How many of the 8 corners has the plane of OR to cut off?", answers: ["1", "4", "7"], right: 0,
    reveal: "One: OR is 0 at (0, 0, 0) only. AND cuts off (1, 1, 1) in the same way.", spec: plain("and3"), steps: 200,
  },
  update: {
    title: "One update in frames", text: "A row on the wrong side is added to w (or taken away); the plane turns towards it. Play the frames, then step on.",
    question: "After the update, is the row always right?", answers: ["Yes", "No"], right: 1,
    reveal: "No: y(w·x + b) grows by ‖(1, x)‖², which may be too little. See the log: margin before → after.", spec: plain("blobs", { data: { kind: "bundled", name: "blobs", margin: 0.1 } }), steps: 3, extra: update,
  },
  spaces: {
    title: "Two spaces", text: "A point in pattern space is a line in weight space, and w is a point there. Click a sample, see its half-plane; click a line, see its sample.",
    question: "A row is classified rightly exactly if w lies …", answers: ["on its line", "on the side of its ticks", "in the origin"], right: 1,
    reveal: "y z·w > 0 is the half-plane to which the ticks point.", spec: { data: { kind: "bundled", name: "patterns" }, learner: "two-weights", settings: {}, seed: 0 }, steps: 2,
  },
  cone: {
    title: "The cone of solutions", text: "All half-planes together leave the green cone. The perceptron walks until it is inside.",
    question: "Will the walk end on the edge of the cone?", answers: ["It may", "Never"], right: 1,
    reveal: "On an edge some y z·w is 0, which counts as a mistake: it goes on until it is inside.", spec: { data: { kind: "bundled", name: "patterns" }, learner: "two-weights", settings: {}, seed: 0 }, steps: 4,
  },
  order: {
    title: "You choose the point", text: "Click points in pattern space: each click visits that row. Points that are right change nothing.",
    question: "Can a bad choice of the order make more updates than R²/γ²?", answers: ["Yes", "No"], right: 1,
    reveal: "No: the bound holds for every order, since only mistakes count.", spec: plain("and", { choose: true }),
  },
  ties: {
    title: "Rows exactly on the plane", text: "At w = 0 every row lies on the plane. The lectures disagree on which of them are mistakes: see the tie rule.",
    question: "With the rule “w·x < 0 is a mistake”, what happens from w = 0?", answers: ["Nothing, ever", "It converges as well"], right: 0,
    reveal: "No row is below 0, so there is no first update. Every rule here counts some tie as a mistake.", spec: plain("or", { settings: { order: "cyclic", scale: "none", verdict: "off", ties: "001" } }), steps: 1,
  },
  bound: {
    title: "The bound that is never crossed", text: "The curves show k γ ≤ ‖w‖ ≤ √k R. They have to meet, so k cannot grow for ever.",
    question: "The margin γ is halved. The bound on the updates grows by a factor of …", answers: ["2", "4", "8"], right: 1,
    reveal: "Four: the bound is R²/γ². Try the margin slider of the blobs.", spec: plain("iris-setosa"), steps: 200,
  },
  xor: {
    title: "XOR: the proof that no plane exists", text: "Both hulls share a point, marked in pattern space; the four rows that prove it stand in the verdict.",
    question: "Will the perceptron ever stop by itself?", answers: ["Yes, after many epochs", "Never"], right: 1,
    reveal: "Never: an epoch without a mistake would be a separating plane. Its weights come back in a cycle.", spec: plain("xor"), steps: 12,
  },
  criteria: {
    title: "Criteria over weight space", text: "The step terrain J_N, the distances J_d, the perceptron criterion J_p: open the criterion panel and choose.",
    question: "Where is J_p smallest?", answers: ["Only in the cone", "In the cone and at w = 0"], right: 1,
    reveal: "J_p(0) = 0 although every row counts as wrong there. That is why a run ends with an empty error set.", spec: { data: { kind: "bundled", name: "patterns" }, learner: "two-weights", settings: { batch: "jp" }, seed: 0 }, steps: 3,
  },
  outlier: {
    title: "Far rows mislead least squares", text: "The rows are separable, but the rows far out pull the least squares plane across near rows.",
    question: "Does logistic regression make the same mistake here?", answers: ["Yes", "No"], right: 1,
    reveal: "No: a row far on its right side costs almost nothing there. The race shows both.", spec: { data: { kind: "bundled", name: "outlier" }, learner: "least-squares", settings: {}, seed: 0 }, steps: 1, race: "logistic",
  },
  classes: {
    title: "Three classes", text: "One against the rest leaves hatched regions that no class or several claim; find a walk that leaves them. One joint argmax has none, and its regions are convex.",
    question: "Can a line leave a region of the argmax and enter it again?", answers: ["Yes", "No"], right: 1,
    reveal: "No: the scores are linear, so the region of a class is an intersection of half-planes, which is convex.", spec: { data: { kind: "bundled", name: "classes" }, learner: "perceptron", settings: { order: "cyclic", scale: "none", verdict: "off", multiclass: "ovr" }, seed: 0 }, steps: 400,
  },
  projection: {
    title: "From the means to Fisher's direction", text: "The slider turns the projection from the direction between the means to Fisher's; the histograms show the overlap.",
    question: "Which direction has the least overlap?", answers: ["Between the means", "Fisher's"], right: 1,
    reveal: "Fisher's direction weighs the means' distance against the spread within the classes.", spec: { data: { kind: "bundled", name: "iris-virginica" }, learner: "fisher", settings: {}, seed: 0 }, steps: 1, extra: fisher,
  },
  "left-or-right": {
    title: "Rosenblatt's task: left or right?", text: "A small retina of 4 × 6 cells shows a mark on its left or right half; the weights of all cells are drawn as the perceptron learns them.",
    question: "Which sign do the weights of the left half get, if right is the positive class?", answers: ["Positive", "Negative"], right: 1,
    reveal: "Negative: marks on the left are taken away from w, cell by cell.", spec: plain("and"), extra: retina,
  },
};

/** Opens a lesson. @param {string} name */
export async function open(name) {
  const lesson = LESSONS[name];
  const card = byId("lesson-card");
  hideExtra();
  /** @type {HTMLSelectElement} */ (byId("lesson")).value = lesson ? name : "";
  if (!lesson) {
    card.hidden = true;
    return;
  }
  put(lesson.spec);
  wish(lesson.race ? { learner: lesson.race, settings: defaultsOf(lesson.race) } : null);
  const names = Object.keys(LESSONS);
  const at = names.indexOf(name);
  const reveal = html("p", { hidden: true, role: "status" });
  const buttons = lesson.answers.map((answer, i) => {
    const button = html("button", { type: "button" }, answer);
    button.addEventListener("click", () => {
      reveal.hidden = false;
      reveal.textContent = `${i === lesson.right ? "Right." : "Not so."} ${lesson.reveal}`;
    });
    return button;
  });
  const move = (/** @type {string} */ words, /** @type {number} */ to) => {
    const button = html("button", { type: "button", disabled: !names[to] }, words);
    button.addEventListener("click", () => void open(names[to]));
    return button;
  };
  const close = html("button", { type: "button" }, "Close");
  close.addEventListener("click", () => void open(""));
  card.replaceChildren(
    html("h2", {}, `${at + 1}. ${lesson.title}`), html("p", {}, lesson.text), html("p", {}, html("strong", {}, lesson.question)),
    html("div", { class: "row" }, ...buttons), reveal, html("div", { class: "row" }, move("Previous", at - 1), move("Next", at + 1), close),
  );
  card.hidden = false;
  if (!(await openRun(lesson.spec))) return;
  if (lesson.steps) await advance("update", lesson.steps);
  else await goTo(store.k);
  lesson.extra?.();
}
