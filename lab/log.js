/** The update log: one line for each update, a click goes there. */
import { byId, html, short } from "./draw.js";
import { goTo, hover, on, own, store } from "./state.js";

/** Lines that are shown around the cursor. */
const SHOWN = 60;

export function setUp() {
  for (const topic of /** @type {const} */ (["run", "cursor", "options", "running"])) on(topic, draw);
  on("hover", light);
}

/** @param {number | null} radians */
const degrees = (radians) => (radians === null || radians === undefined ? "undefined" : `${short(radians < 1e-6 ? 0 : (radians * 180) / Math.PI, 3)}°`);

/** When the lines were made. */
let made = 0;

function draw() {
  const run = store.run;
  // Nobody reads more than ten lines a second.
  if (!run || (store.running && performance.now() - made < 100)) return;
  made = performance.now();
  // While a run goes on only the lines in sight are made.
  const from = Math.max(1, store.k - (store.running ? 12 : SHOWN));
  const to = Math.min(run.summary.last, store.k + 12);
  const index = new Map(run.data.shown.map((row, i) => [row, i]));
  const rows = [];
  for (let k = to; k >= from; k--) {
    const frame = store.frames.get(k);
    const line = frame?.line;
    if (!frame || !line) continue;
    const row = line.row === undefined ? (line.rows ? `${line.rows.length} rows` : "–") : String(line.row + 1);
    const go = html("button", { type: "button", class: "small", "aria-label": `go to update ${k}` }, String(k));
    const tr = html("tr", { "data-k": k },
      html("td", {}, go), html("td", {}, String(line.epoch)), html("td", {}, row),
      html("td", {}, line.margin_before === null || line.margin_before === undefined ? "–" : `${short(line.margin_before)} → ${short(line.margin_after)}`),
      html("td", {}, line.row === undefined ? "–" : `${degrees(line.angle_before)} → ${degrees(line.angle_after)}`),
      html("td", {}, short(line.norm)),
      html("td", {}, frame.broken.length ? frame.broken.slice(0, 3).map((i) => run.data.shown[i] + 1).join(", ") + (frame.broken.length > 3 ? ` +${frame.broken.length - 3}` : "") : "none"));
    if (k === own()) {
      tr.classList.add("now");
      tr.setAttribute("aria-current", "true");
    }
    tr.addEventListener("click", () => goTo(k));
    const i = line.row === undefined ? undefined : index.get(line.row);
    if (i !== undefined) {
      tr.dataset.i = String(i);
      tr.addEventListener("pointerenter", () => hover(i));
      tr.addEventListener("pointerleave", () => hover(null));
    }
    rows.push(tr);
  }
  byId("log-rows").replaceChildren(...rows);
  // The line of the cursor is at most twelve lines down, which is in sight; asking for its place would lay out the page.
  if (!store.running) byId("log-scroll").scrollTop = 0;
  byId("log-empty").hidden = rows.length > 0;
}

function light() {
  for (const row of byId("log-rows").querySelectorAll("tr")) {
    row.classList.toggle("linked", store.hover !== null && row.dataset.i === String(store.hover));
  }
}
