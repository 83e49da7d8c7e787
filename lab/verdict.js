/** The verdict of the exact judge, always in sight. */
import { byId, html, short } from "./draw.js";
import { hover, on, store } from "./state.js";

export function setUp() {
  on("run", draw);
  on("verdict", draw);
}

/** @type {Record<string, string>} */
const WORDS = {
  separable: "Separable", touching: "Not separable: quasi-separable (touching)", overlapping: "Not separable: overlapping",
  inseparable: "Not separable", undecided: "Undecided",
};

function draw() {
  const verdict = store.verdict;
  const host = byId("verdict");
  if (!verdict) {
    host.dataset.verdict = "";
    host.replaceChildren("The exact judge is at work …");
    return;
  }
  host.dataset.verdict = verdict.verdict;
  /** @type {(Node | string)[]} */
  const parts = [html("strong", {}, WORDS[verdict.verdict] ?? verdict.verdict)];
  if (verdict.verdict === "separable" && verdict.classes === 2) {
    if (verdict.distance) parts.push(`: a plane keeps a distance of ${short(verdict.distance.lower)} from every row`);
    if (verdict.gamma) parts.push(`; margin γ of (b, w) is ${short(verdict.gamma.lower)}`);
    if (verdict.most) parts.push(`; from w = 0 the fixed increment makes at most ${verdict.most} updates on these rows`);
    parts.push(".");
  } else if (verdict.classes > 2) {
    parts.push(" as all classes at once; against the rest: ", (verdict.rests ?? []).map((one) => `${one.class} ${one.verdict}`).join(", "), ".");
  } else if (verdict.witness.length) {
    parts.push(`: ${verdict.witness.length} rows prove it. Their weighted sum is 0: `);
    const order = new Map((store.run?.data.shown ?? []).map((row, i) => [row, i]));
    verdict.witness.slice(0, 8).forEach((one, j) => {
      const button = html("button", { type: "button", class: "small" }, `row ${one.row + 1}`);
      const i = order.get(one.row);
      button.addEventListener("click", () => hover(i ?? null));
      parts.push(j ? " + " : "", `${one.weight.length > 12 ? "λ" : one.weight} × `, button);
    });
    if (verdict.common) parts.push(`; both hulls hold the point (${verdict.common.text.slice(0, 4).map((t, j) => (t.length > 16 ? `≈ ${short(verdict.common?.at[j])}` : t)).join(", ")})`);
    parts.push(".");
  } else if (verdict.limit) parts.push(`: ${verdict.limit}.`);
  host.replaceChildren(...parts);
}
