/** The order of events: what there is, what the address asks for, then the user. */
import { get, getText, resting, waiting } from "./api.js";
import { byId, html, raster, save, short, standalone, svg, mark } from "./draw.js";
import { advance, allDone, byHand, fail, frame, goTo, on, openRun, own, planes, reach, step, store, tell, wrong } from "./state.js";
import * as pattern from "./pattern.js";
import * as weight from "./weight.js";
import * as criterion from "./criterion.js";
import * as curves from "./curves.js";
import * as log from "./log.js";
import * as verdict from "./verdict.js";
import * as controls from "./controls.js";
import * as lessons from "./lessons.js";
import * as share from "./share.js";
import * as copies from "./copy.js";
import * as race from "./race.js";
import * as walk from "./walk.js";

const start = performance.now();

/** @param {string} id */
const button = (id) => /** @type {HTMLButtonElement} */ (byId(id));
/** @param {string} id */
const select = (id) => /** @type {HTMLSelectElement} */ (byId(id));

on("error", (error) => {
  const banner = byId("banner");
  const close = html("button", { type: "button", class: "small" }, "Close");
  close.addEventListener("click", () => (banner.hidden = true));
  banner.replaceChildren(`${/** @type {Error} */ (error).message} `, close);
  banner.hidden = false;
});
waiting.show = (is) => {
  byId("waiting").hidden = !is;
  byId("waiting").textContent = is ? "The server has not answered for some seconds. It may be at work on many rows, or it was stopped; the page goes on when it answers." : "";
};
on("run", () => {
  byId("banner").hidden = true;
  const data = store.run?.data;
  byId("classes").replaceChildren(
    ...(data?.classes ?? []).slice(0, 10).map((name, i) => {
      const key = svg("svg", { viewBox: "-7 -7 14 14", class: "key", "aria-hidden": "true" }, svg("path", { d: mark(i, 5), class: `point class-${i % 6}` }));
      return html("li", {}, key, ` ${name}`);
    }),
    html("li", {}, "○ ringed: wrong"),
    html("li", {}, "◌ dashed ring: row of this update"),
  );
});
on("cursor", position);
on("options", position);
on("state", () => say());

function position() {
  const run = store.run;
  if (!run) return;
  const scrub = /** @type {HTMLInputElement} */ (byId("scrub"));
  scrub.max = String(reach());
  scrub.value = String(store.k);
  const end = run.summary.ended ? `, ${run.summary.ended}` : run.summary.full ? ", at the limit of the lab" : "";
  byId("position").textContent = `${store.k} of ${reach()}${end}`;
  const done = allDone();
  const atEnd = store.k >= reach();
  for (const id of ["step", "run"]) button(id).disabled = (done && atEnd) || !!run.spec.choose;
  for (const id of ["mistake", "epoch", "to-end"]) button(id).disabled = (done && (id !== "to-end" || atEnd)) || !!run.spec.choose;
  for (const id of ["back", "to-start"]) button(id).disabled = store.k === 0;
  button("let-go").disabled = !store.hand;
  button("start-here").disabled = !planes() || planes()?.length !== 1;
  button("save-trace").disabled = !run.summary.traced;
  button("save-data").disabled = !run.data.csv;
  if (store.hand || !store.running) say();
}

/** Reads the present update out. */
function say() {
  const run = store.run;
  if (!run || store.running) return;
  const now = frame();
  const line = now?.line;
  const bad = store.state && (store.hand || store.state.k === store.k) ? store.state.errors : wrong().reduce((s, x) => s + x, 0);
  const parts = [];
  if (store.hand) parts.push("Planes moved by hand.");
  else if (!line) parts.push("Start.");
  else {
    parts.push(`Update ${line.k}, epoch ${line.epoch}:`);
    if (line.row !== undefined) parts.push(`row ${line.row + 1} was ${line.step === 1 ? "added" : line.step === -1 ? "taken away" : `added ${short(line.step)} times`}, its margin went from ${short(line.margin_before)} to ${short(line.margin_after)}.`);
    else if (line.rows) parts.push(`${line.rows.length} rows were added together.`);
    if (now && now.broken.length) parts.push(`${now.broken.length} newly wrong.`);
  }
  parts.push(`${bad} of ${run.data.rows} rows wrong.`);
  if (store.k >= run.summary.last && run.summary.ended) parts.push(`The run has ended: ${run.summary.ended}.`);
  if (run.summary.shortfall && store.k >= run.summary.last) parts.push(run.summary.shortfall);
  const words = parts.join(" ");
  // The same words again would be read again.
  if (byId("live").textContent !== words) byId("live").textContent = words;
}

/** One update back. */
const back = () => goTo(store.k - 1);

let since = 0;
let due = 0;
let frames = 0;

/** Runs on, as fast as was chosen and as the page can draw. @param {number} now */
async function tick(now) {
  if (!store.running) return;
  const run = store.run;
  const speed = Number(select("speed").value);
  due += ((now - since) / 1000) * speed;
  since = now;
  frames += 1;
  if (run && due >= 1) {
    const count = Math.min(Math.floor(due), 200);
    due -= Math.floor(due);
    const wanted = store.k + count;
    const ahead = Math.min(120, 2 * speed);
    if (wanted > reach() && !allDone()) await advance("update", Math.max(wanted - reach(), ahead), false);
    // Updates are fetched before they are needed, so that no frame waits for them.
    else if (reach() - wanted < ahead / 2 && !allDone()) void advance("update", ahead, false);
    await goTo(wanted);
    if (store.k >= reach() && allDone()) setRunning(false);
  }
  if (store.running) requestAnimationFrame(tick);
}

/** @param {boolean} running */
function setRunning(running) {
  store.running = running;
  tell("running");
  if (running) {
    since = performance.now();
    due = 1;
    frames = 0;
    requestAnimationFrame(tick);
  } else {
    position();
    tell("cursor");
  }
}
on("running", () => {
  button("run").setAttribute("aria-pressed", String(store.running));
  const sign = button("run").firstElementChild;
  if (sign) sign.textContent = store.running ? "❚❚" : "▶▶";
});

/** @param {string} text @param {HTMLElement} from */
async function copy(text, from) {
  try {
    await navigator.clipboard.writeText(text);
    const words = from.textContent;
    from.textContent = "Copied";
    setTimeout(() => (from.textContent = words), 1200);
  } catch {
    fail(`The browser does not let the page copy. Here it is:\n${text}`);
  }
}

const pictures = { pattern: pattern.picture, weight: weight.picture, criterion: criterion.picture, curves: curves.picture, race: race.picture };

function wire() {
  button("step").addEventListener("click", () => void step());
  button("back").addEventListener("click", () => void back());
  button("mistake").addEventListener("click", () => void advance("mistake"));
  button("epoch").addEventListener("click", () => void advance("epoch"));
  button("to-end").addEventListener("click", () => void advance("end"));
  button("to-start").addEventListener("click", () => void goTo(0));
  button("run").addEventListener("click", () => setRunning(!store.running));
  byId("scrub").addEventListener("input", (event) => void goTo(Number(/** @type {HTMLInputElement} */ (event.target).value)));
  select("curve").addEventListener("change", () => {
    curves.options.curve = select("curve").value;
    tell("options");
  });
  for (const one of store.catalogue?.criteria ?? []) select("criterion").append(html("option", { value: one.name }, `${one.name}: ${one.meaning}`));
  select("criterion").value = criterion.options.criterion;
  select("criterion").addEventListener("change", () => {
    criterion.options.criterion = select("criterion").value;
    criterion.draw();
  });
  byId("criterion-panel").addEventListener("toggle", () => criterion.draw());
  for (const id of ["pattern-table", "weight-table", "criterion-table"]) byId(id).addEventListener("toggle", () => tell("options"));
  for (const one of document.querySelectorAll("[data-turn]")) one.addEventListener("click", () => pattern.nudge((Number(/** @type {HTMLElement} */ (one).dataset.turn) * Math.PI) / 36, 0));
  for (const one of document.querySelectorAll("[data-shift]")) one.addEventListener("click", () => pattern.nudge(0, Number(/** @type {HTMLElement} */ (one).dataset.shift) * 0.05));
  button("let-go").addEventListener("click", () => byHand(null));
  button("start-here").addEventListener("click", () => {
    const now = planes();
    if (now && store.run) void openRun({ ...store.run.spec, start: now });
  });
  button("copy-link").addEventListener("click", () => {
    const hide = /** @type {HTMLInputElement} */ (byId("hide-controls")).checked;
    history.replaceState(null, "", share.link(hide));
    void copy(location.origin + "/" + share.link(hide), button("copy-link"));
  });
  button("copy-cli").addEventListener("click", () => void copy(copies.asCommand(), button("copy-cli")));
  button("copy-python").addEventListener("click", () => void copy(copies.asPython(), button("copy-python")));
  button("copy-rust").addEventListener("click", () => void copy(copies.asRust(), button("copy-rust")));
  button("save-trace").addEventListener("click", () => void saved("trace", "run.ndjson", "application/x-ndjson"));
  button("save-data").addEventListener("click", () => void saved("data", `${store.run?.data.name}.csv`, "text/csv"));
  for (const one of document.querySelectorAll("[data-svg], [data-png]")) {
    one.addEventListener("click", async () => {
      const { svg: asSvg, png } = /** @type {HTMLElement} */ (one).dataset;
      const name = /** @type {keyof typeof pictures} */ (asSvg ?? png);
      const root = pictures[name]();
      const under = root.parentElement?.querySelector("canvas");
      try {
        if (asSvg) save(`${name}.svg`, new Blob([standalone(root, under)], { type: "image/svg+xml" }));
        else save(`${name}.png`, await raster(root, under));
      } catch (error) {
        fail(error);
      }
    });
  }
  select("lesson").append(html("option", { value: "" }, "none"));
  for (const name of store.catalogue?.lessons ?? []) select("lesson").append(html("option", { value: name }, lessons.LESSONS[name]?.title ?? name));
  // Other rows are no longer those of the lesson.
  select("set").addEventListener("change", () => void lessons.open(""));
  select("lesson").addEventListener("change", () => void lessons.open(select("lesson").value));
  document.addEventListener("keydown", keys);
  addEventListener("hashchange", () => void fromAddress());
  addEventListener("pagehide", () => {
    for (const run of [store.run, store.rival]) if (run) void fetch(`/api/runs/${run.id}`, { method: "DELETE", keepalive: true }).catch(() => undefined);
  });
}

/** @param {string} what @param {string} name @param {string} type */
async function saved(what, name, type) {
  try {
    save(name, new Blob([await getText(`/api/runs/${store.run?.id}/${what}`)], { type }));
  } catch (error) {
    fail(error);
  }
}

/** @param {KeyboardEvent} event */
function keys(event) {
  const at = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.altKey || event.metaKey || at.closest("input, select, textarea")) return;
  const isButton = !!at.closest("button, summary, a");
  if (event.key === " " && isButton) return;
  /** @type {Record<string, () => void>} */
  const all = {
    " ": () => void (event.shiftKey ? back() : step()), m: () => button("mistake").click(), e: () => button("epoch").click(), r: () => button("run").click(),
    Home: () => void goTo(0), End: () => button("to-end").click(), "?": () => document.querySelector("footer")?.scrollIntoView(),
  };
  const act = all[event.key] ?? all[event.key.toLowerCase()];
  if (!act || (event.key.toLowerCase() === "l")) return;
  event.preventDefault();
  act();
}

/** Opens what the address asks for; what cannot be opened is told, and the lab starts as usual. */
async function fromAddress() {
  try {
    const wanted = share.read(location.hash);
    if (!wanted) return false;
    if (!("spec" in wanted)) {
      await lessons.open(wanted.lesson ?? "");
      return true;
    }
    share.fits(wanted.spec);
    await lessons.open("");
    controls.put(wanted.spec);
    document.querySelector("main")?.classList.toggle("bare", wanted.hide);
    controls.show(wanted);
    race.wish(wanted.race ?? null);
    const refused = await openRun(wanted.spec, true);
    if (refused !== true) throw new Error(`This link cannot be used: ${refused || "another run was opened meanwhile"}. The lab starts as usual.`);
    if (wanted.k > 0 && !wanted.spec.choose) {
      await advance("update", wanted.k, false);
      await goTo(wanted.k);
    }
    return true;
  } catch (error) {
    document.querySelector("main")?.classList.remove("bare");
    race.wish(null);
    controls.reset();
    await controls.restart();
    fail(/** @type {Error} */ (error).message);
    return true;
  }
}

async function begin() {
  store.catalogue = await get("/api/catalogue");
  for (const part of [pattern, weight, criterion, curves, log, verdict, controls, race, walk]) part.setUp();
  wire();
  const own = store.catalogue?.sets.own?.opening;
  if (!(await fromAddress())) {
    const data = /** @type {const} */ ({ kind: "file", id: "own" });
    // A model is shown as it is; its learner stands ready with its settings.
    if (own && own.learner) controls.put({ data, learner: own.learner, settings: own.settings, seed: own.seed });
    if (own && own.model) controls.put({ data, learner: "model", settings: {}, seed: own.seed });
    await controls.restart();
  }
  document.documentElement.dataset.ready = String(Math.round(performance.now() - start));
}

// Tests read the page's own state; nothing else uses it.
Object.assign(globalThis, { lab: { store, frames: () => frames, resting: () => resting() && !store.busy && !store.running, pattern, weight, share, copies, race, goTo, advance, byHand } });
begin().catch(fail);
