// Files and texts that leave the page: pictures, tables, and the run as a command, as Python and as Rust.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { choose, lab, LINSEP, reopened, rest, state, test } from "./harness.mjs";

const root = join(import.meta.dirname, "../..");
const texts = (page) => page.evaluate(() => ({ command: globalThis.lab.copies.asCommand(), python: globalThis.lab.copies.asPython(), rust: globalThis.lab.copies.asRust() }));
const saved = async (page, click) => {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(click)]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
};

/** Width and height of a PNG, and how many of its colours differ. */
async function png(page, bytes) {
  assert.equal(bytes.subarray(1, 4).toString(), "PNG");
  return page.evaluate(async (text) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${text}`)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const { data } = pen.getImageData(0, 0, image.width, image.height);
    const colours = new Set();
    for (let i = 0; i < data.length; i += 4) colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return { width: image.width, height: image.height, colours: colours.size };
  }, bytes.toString("base64"));
}

test("SVG and PNG of every panel", ({ shared }) =>
  lab(shared, async ({ page }) => {
    // Pictures are read back on a page that may read them: the lab's own rules allow no data addresses.
    const reader = await page.context().newPage();
    await reader.goto("about:blank");
    await reopened(page, () => page.selectOption("#race", "batch"));
    await page.click("#step");
    await page.waitForFunction(() => globalThis.lab.store.k === 1 && globalThis.lab.store.rival?.state?.k === 1);
    await rest(page);
    for (const name of ["pattern", "weight", "curves", "criterion", "race"]) {
      const svg = await saved(page, `[data-svg="${name}"]`);
      assert.equal(svg.name, `${name}.svg`);
      const text = svg.bytes.toString();
      assert.match(text, /^<svg[^>]* xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
      assert.ok(!text.includes("var(--"), `${name}: styles are written out`);
      const picture = await saved(page, `[data-png="${name}"]`);
      const found = await png(reader, picture.bytes);
      if (name === "criterion") assert.ok(found.colours > 60, "the heights are in the picture");
      assert.ok(found.width >= 900 && found.height >= 500 && found.colours > 20, `${name}: ${JSON.stringify(found)}`);
    }
    // What a canvas shows is in the file: the heights of the criterion, and painted regions.
    assert.match((await saved(page, '[data-svg="criterion"]')).bytes.toString(), /<image [^>]*href="data:image\/png/);
    await reader.close();
  }));

test("a table behind every chart", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "patterns");
    await page.click("#to-end");
    await page.waitForFunction(() => globalThis.lab.store.run.summary.ended);
    for (const id of ["pattern", "weight", "curves", "criterion"]) {
      await page.click(`#${id}-table summary`);
      await page.waitForFunction((id) => document.querySelectorAll(`#${id}-rows tbody tr`).length > 0, id);
    }
    await rest(page);
    const rows = (id) => page.locator(`#${id}-rows tbody tr`).count();
    assert.deepEqual([await rows("pattern"), await rows("weight")], [4, 4]);
    const { k } = await state(page);
    assert.equal(await rows("criterion"), k + 1);
    // Nothing is measured at the start.
    assert.equal(await rows("curves"), k);
    const last = await page.locator("#criterion-rows tbody tr").last().locator("td").allTextContents();
    assert.deepEqual(last.slice(0, 3), [String(k), "−5", "0"]);
    const half = await page.locator("#weight-rows tbody tr").first().locator("td").allTextContents();
    assert.deepEqual(half, ["1", "a", "−2", "−1", "inside"]);
  }));

test("copied as a command it runs and writes the same trace", ({ shared, folder }) =>
  lab(shared, async ({ page }) => {
    const own = mkdtempSync(join(folder, "command-"));
    await choose(page, "set", "iris-virginica");
    await reopened(page, () => page.fill("#basis", "poly:2").then(() => page.press("#basis", "Enter")));
    await reopened(page, () => page.fill("#setting-eta", "1/k").then(() => page.press("#setting-eta", "Enter")));
    await reopened(page, () => page.selectOption("#setting-order", "shuffle"));
    await reopened(page, () => page.fill("#seed", "7").then(() => page.press("#seed", "Enter")));
    await reopened(page, () => page.fill("#epochs", "3").then(() => page.press("#epochs", "Enter")));
    await page.click("#to-end");
    await page.waitForFunction(() => globalThis.lab.store.run.summary.ended);
    await rest(page);
    const { command } = await texts(page);
    const data = await saved(page, "#save-data");
    const trace = await saved(page, "#save-trace");
    writeFileSync(join(own, data.name), data.bytes);
    writeFileSync(join(own, "run.sh"), command);
    const done = spawnSync("bash", ["run.sh"], { cwd: own, env: { ...process.env, PATH: `${dirname(LINSEP)}:${process.env.PATH}`, linsep: LINSEP }, encoding: "utf8" });
    assert.ok(done.status === 0 || /--epochs was reached/.test(done.stderr), done.stderr);
    assert.ok(readFileSync(join(own, "run.ndjson")).equals(trace.bytes));
  }));

/** A Python with the package, if LINSEP_PYTHON names one. */
const python = process.env.LINSEP_PYTHON;

test("copied as Python and Rust it names the same settings", ({ shared, folder }) =>
  lab(shared, async ({ page }) => {
    // The names are those of the package.
    const registry = readFileSync(join(root, "python/linsep/_registry.py"), "utf8");
    const table = (name) => JSON.parse(new RegExp(`^${name} = (\\{[^}]*\\})`, "m").exec(registry)[1].replace(/,\s*\}/, "}"));
    const ours = await page.evaluate(() => { const { CLASSES, PARAMETERS, WORDS } = globalThis.lab.copies; return { CLASSES, PARAMETERS, WORDS }; });
    for (const name of ["CLASSES", "PARAMETERS", "WORDS"]) assert.deepEqual(ours[name], table(name), name);
    const api = readFileSync(join(root, "docs/reference/public-api.txt"), "utf8");
    const recipes = [
      ["iris-setosa", "perceptron", { eta: "0.5" }, ['eta0=0.5', 'order="cyclic"', "scale=None", "verdict="], ['settings.set("eta", "0.5")', 'settings.set("order", "cyclic")']],
      ["outlier", "logistic", { c: "2" }, ["linsep.LogisticRegression(C=2"], ['settings.set("c", "2")']],
      ["outlier", "least-squares", {}, ["linsep.LeastSquaresClassifier("], ['Recipe::find("least-squares")']],
    ];
    for (const [set, learner, settings, inPython, inRust] of recipes) {
      const own = mkdtempSync(join(folder, "python-"));
      if ((await page.inputValue("#set")) !== set) await choose(page, "set", set);
      if ((await page.inputValue("#learner")) !== learner) await choose(page, "learner", learner);
      for (const [name, value] of Object.entries(settings)) await reopened(page, () => page.fill(`#setting-${name}`, value).then(() => page.press(`#setting-${name}`, "Enter")));
      await page.click("#to-end");
      await page.waitForFunction(() => globalThis.lab.store.run.summary.ended);
      await rest(page);
      const { python: text, rust } = await texts(page);
      for (const part of ["import linsep\n", "linsep.read(", ".fit(X, y)", ...inPython]) assert.ok(text.includes(part), `${part} in\n${text}`);
      for (const part of ["Recipe::find(", "learner.fit(&Task::new(data)", ...inRust]) assert.ok(rust.includes(part), `${part} in\n${rust}`);
      for (const path of rust.matchAll(/^use ([a-z_:]+)::\{?([A-Za-z, ]+)\}?;/gm)) for (const item of path[2].split(", ")) assert.ok(new RegExp(`\\b${item}\\b`).test(api), `${item} is public`);
      writeFileSync(join(own, "copied.py"), text);
      execFileSync("python3", ["-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())", join(own, "copied.py")]);
      if (!python) continue;
      const data = await saved(page, "#save-data");
      writeFileSync(join(own, data.name), data.bytes);
      writeFileSync(join(own, "copied.py"), `${text}import json\nprint(json.dumps([[float(b), *map(float, w)] for b, w in zip(learner.intercept_, learner.coef_)]))\n`);
      const out = execFileSync(python, ["copied.py"], { cwd: own, encoding: "utf8" }).trim().split("\n");
      const model = await page.evaluate(() => globalThis.lab.store.state.model ?? globalThis.lab.store.frames.get(globalThis.lab.store.k).planes);
      assert.deepEqual(JSON.parse(out[out.length - 1]), model, `${set} ${learner}`);
    }
    if (!python) console.log("      LINSEP_PYTHON is not set: the Python texts were parsed and not run");
  }));
