// Screenshots of the page in light and dark, wide and narrow, to be looked at: node shots.mjs FOLDER [NAME...]
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { browser, open, rest, serve } from "./harness.mjs";

const [folder = "shots", ...wanted] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const lecture = { order: "cyclic", scale: "none", verdict: "off" };
const bundled = (name, more = {}) => ({ data: { kind: "bundled", name, ...more }, learner: "perceptron", settings: lecture, seed: 0 });
const states = {
  patterns: { ...bundled("patterns"), learner: "two-weights", settings: {}, k: 4 },
  setosa: { ...bundled("iris-setosa"), k: 4 },
  xor: { ...bundled("xor"), k: 12 },
  blobs: { ...bundled("blobs", { margin: 0.2 }), k: 6 },
  many: { ...bundled("blobs", { rows: 2000, noise: 0.05 }), k: 40 },
  orbit: { ...bundled("and"), k: 9, show: { orbit: true, lift: true } },
  cube: { ...bundled("and3"), k: 30 },
  classes: { ...bundled("classes"), settings: { ...lecture, multiclass: "ovr" }, k: 60 },
  joint: { ...bundled("classes"), k: 60 },
  lifted: { ...bundled("xor"), basis: "x1*x2", k: 60, show: { lift: true } },
  curved: { ...bundled("iris-virginica"), learner: "logistic", settings: {}, basis: "poly:2", k: 8 },
  touching: { ...bundled("touching"), k: 30 },
  race: { ...bundled("iris-sepals"), race: { learner: "batch-perceptron", settings: { scale: "none" } }, k: 40 },
  outlier: { ...bundled("outlier"), learner: "least-squares", settings: {}, race: { learner: "logistic", settings: {} }, k: 3 },
  gaussian: { ...bundled("gaussian"), k: 40 },
};
const lessons = ["neuron", "update", "projection", "left-or-right"];
const shared = await browser();
const server = await serve(join(import.meta.dirname, "../../examples/iris.csv"));
for (const colorScheme of ["light", "dark"]) {
  const { page, trouble } = await open(shared, server.address, { colorScheme, viewport: { width: 1400, height: 1000 } });
  const shoot = async (name) => {
    await rest(page);
    await page.screenshot({ path: `${folder}/${name}-${colorScheme}.png`, fullPage: true });
  };
  for (const [name, state] of Object.entries(states)) {
    if (wanted.length && !wanted.includes(name)) continue;
    await page.evaluate((text) => (location.hash = text), `v1=${Buffer.from(JSON.stringify(state)).toString("base64url")}`);
    await page.waitForFunction(([k, set]) => { const { run, k: now } = globalThis.lab.store; return run.spec.data.name === set && (now === k || run.summary.ended); }, [state.k, state.data.name]);
    await shoot(name);
  }
  for (const name of lessons) {
    if (wanted.length && !wanted.includes(name)) continue;
    await page.selectOption("#lesson", name);
    await page.waitForSelector("#extra:not([hidden])");
    await shoot(`lesson-${name}`);
  }
  if (!wanted.length || wanted.includes("iris")) {
    await page.evaluate(() => (location.hash = ""));
    await page.selectOption("#set", "own:");
    await page.waitForFunction(() => globalThis.lab.store.run.spec.data.kind === "file");
    await page.click("#to-end");
    await shoot("iris");
  }
  if (!wanted.length || wanted.includes("narrow")) {
    await page.evaluate(() => (location.hash = ""));
    await page.evaluate((text) => (location.hash = text), `v1=${Buffer.from(JSON.stringify(states.race)).toString("base64url")}`);
    await page.waitForFunction(() => globalThis.lab.store.rival && globalThis.lab.store.k === 40);
    await page.setViewportSize({ width: 380, height: 800 });
    await shoot("narrow");
  }
  if (trouble.length) console.log(trouble);
}
await shared.close();
server.stop();
process.exit(0);
