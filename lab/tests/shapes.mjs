// Races, walks, lifts and views: pictures that need more than the points and one plane.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { at, choose, lab, LINSEP, reopened, rest, state, test } from "./harness.mjs";

const ended = (page) => page.waitForFunction(() => globalThis.lab.store.run.summary.ended, undefined, { timeout: 90000 });
const rival = (page) =>
  page.evaluate(() => {
    const { rival, k } = globalThis.lab.store;
    return rival && { learner: rival.spec.learner, data: rival.spec.data, last: rival.summary.last, ended: rival.summary.ended, errors: rival.state?.errors, k: rival.state?.k, planes: rival.frames.get(Math.min(k, rival.summary.last))?.planes };
  });
const cells = (page) => page.locator("#race-table tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((one) => one.textContent)));
const lines = (page, side) => page.locator("#race-plot svg svg").nth(side).locator(".boundary").evaluateAll((all) => all.map((one) => ["x1", "y1", "x2", "y2"].map((n) => one.getAttribute(n)).join()).join());

test("race: batch against single-sample, one cursor for both", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await reopened(page, () => page.selectOption("#race", "batch"));
    await page.waitForFunction(() => globalThis.lab.store.rival);
    await rest(page);
    assert.deepEqual((await rival(page)).data, (await state(page)).spec.data);
    assert.equal((await state(page)).spec.learner, "perceptron");
    assert.equal((await rival(page)).learner, "batch-perceptron");
    for (const k of [1, 2, 3]) {
      await page.click("#step");
      await at(page, k);
      await rest(page);
      assert.equal((await rival(page)).k, k);
    }
    assert.notDeepEqual((await rival(page)).planes, (await state(page)).planes);
    const drawn = () => page.locator("#race-plot svg svg").nth(1).innerHTML();
    const theirs = [await drawn(), (await rival(page)).planes];
    await page.click("#back");
    await at(page, 2);
    await rest(page);
    assert.notDeepEqual((await rival(page)).planes, theirs[1]);
    assert.notEqual(await drawn(), theirs[0]);
    await page.click("#step");
    await at(page, 3);
    await rest(page);
    assert.deepEqual([await drawn(), (await rival(page)).planes], theirs);
    // The table says what the two runs say.
    const [a, b] = await cells(page);
    const [now, other] = [await state(page), await rival(page)];
    assert.deepEqual(a.slice(0, 3), ["A: perceptron", `3 of ${now.last}`, `${now.errors} of ${now.rows}`]);
    assert.deepEqual(b.slice(0, 3), ["B: batch-perceptron", `3 of ${other.last}`, `${other.errors} of ${now.rows}`]);
    await page.click("#to-end");
    await ended(page);
    await rest(page);
    const [last, their] = [await state(page), await rival(page)];
    assert.equal(last.k, Math.max(last.last, their.last));
    const [ours, other2] = [await lines(page, 0), await lines(page, 1)];
    assert.ok(ours && other2 && ours !== other2, "two boundaries");
    assert.deepEqual((await cells(page)).map((row) => row[4]), [last.ended, their.ended]);
    assert.equal(await page.locator("#race-plot svg svg").nth(0).locator(".ring").count(), last.wrong.filter(Boolean).length || 0);
    // Other rows: the rival follows. And it leaves.
    await choose(page, "set", "and");
    await page.waitForFunction(() => globalThis.lab.store.rival?.spec.data.name === "and");
    await page.selectOption("#race", "");
    await page.waitForFunction(() => globalThis.lab.store.rival === null);
    assert.ok(!(await page.locator("#race-panel").isVisible()));
  }));

test("race: least squares against logistic with far rows, Fisher with histograms, free choice", ({ shared }) =>
  lab(shared, async ({ page, server, context }) => {
    await reopened(page, () => page.selectOption("#race", "outlier"));
    await page.waitForFunction(() => globalThis.lab.store.rival);
    await page.click("#to-end");
    await ended(page);
    await rest(page);
    const wrong = (await cells(page)).map((row) => Number(row[2].split(" ")[0]));
    assert.ok(wrong[0] > 0 && wrong[1] === 0, `least squares ${wrong[0]}, logistic ${wrong[1]}`);
    const fragment = await page.evaluate(() => globalThis.lab.share.link(false));
    await page.selectOption("#race", "fisher");
    await page.waitForSelector("#extra .bar-1", { state: "attached" });
    await page.waitForFunction(() => globalThis.lab.store.rival?.spec.learner === "least-squares");
    await rest(page);
    await page.selectOption("#race", "free");
    await page.selectOption("#rival", "averaged");
    await page.waitForFunction(() => globalThis.lab.store.rival?.spec.learner === "averaged");
    await rest(page);
    // A link holds the race.
    const other = await context.newPage();
    await other.goto(`${server.origin}/${fragment}`);
    await other.waitForFunction(() => globalThis.lab?.store.rival?.spec.learner === "logistic");
    await other.close();
  }));

const stretches = (page) => page.locator("#walk-bar .stretch").count();

test("line walk: regions of a linear machine are convex, ambiguous ones are not", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "classes");
    await page.click("#to-end");
    await ended(page);
    await rest(page);
    // Two rows of one class.
    const rows = await page.evaluate(() => {
      const { run } = globalThis.lab.store;
      const own = run.data.class.map((c, i) => [c, i]).filter(([c]) => c === 2);
      return [own[0][1] + 1, own[own.length - 1][1] + 1];
    });
    await page.fill("#walk-from", String(rows[0]));
    await page.fill("#walk-to", String(rows[1]));
    await page.click("#walk-go");
    await rest(page);
    assert.match(await page.textContent("#walk-note"), /All 201 places are class 3: the region is convex/);
    assert.equal(await stretches(page), 1);
    assert.equal(await page.locator("#pattern-plot .walk-line").count(), 1);
    const here = () => page.locator("#pattern-plot .walk-here").getAttribute("cx");
    const first = await here();
    await page.locator("#walk-along").fill("100");
    assert.notEqual(await here(), first);
    await page.click("#walk-find");
    await page.waitForFunction(() => /every region is convex/.test(document.querySelector("#walk-note").textContent));
    // One against the rest: there are ambiguous places, and a walk between two of them leaves them.
    await reopened(page, () => page.selectOption("#setting-multiclass", "ovr"));
    await page.click("#to-end");
    await ended(page);
    await rest(page);
    await page.click("#walk-find");
    await page.waitForFunction(() => /walk leaves it/.test(document.querySelector("#walk-note").textContent));
    assert.ok((await stretches(page)) >= 3);
    assert.ok((await page.locator("#walk-bar .stretch.unclear").count()) >= 2);
    // The hatching is there: ambiguous places have dark strokes in the canvas that clear ones have not.
    await page.click("#walk-clear");
    assert.equal(await page.locator("#pattern-plot .walk-line").count(), 0);
    // By clicks.
    await page.check('input[name="tool"][value="walk"]');
    const box = await page.locator("#pattern-plot svg").first().boundingBox();
    await page.mouse.click(box.x + box.width * 0.3, box.y + box.height * 0.2);
    await page.mouse.click(box.x + box.width * 0.8, box.y + box.height * 0.7);
    await page.waitForSelector("#pattern-plot .walk-line", { state: "attached" });
  }));

test("basis functions: a curved boundary, and the lift by slider and by play", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "xor");
    await reopened(page, () => page.fill("#basis", "x1*x2").then(() => page.press("#basis", "Enter")));
    await page.click("#to-end");
    await ended(page);
    await rest(page);
    // The boundary is bent: its pieces have many directions.
    const directions = await page.locator("#pattern-plot .boundary.curved").evaluate((path) => {
      const pieces = path.getAttribute("d").split("M").filter(Boolean).map((piece) => piece.split("L").map((p) => p.trim().split(" ").map(Number)));
      return new Set(pieces.map(([[a, b], [c, d]]) => Math.round((Math.atan2(d - b, c - a) % Math.PI) * 10))).size;
    });
    assert.ok(directions > 5, `${directions} directions`);
    await page.check("#toggle-lift");
    await page.waitForSelector("#pattern-plot .mesh", { state: "attached" });
    await rest(page);
    const heights = () => page.locator("#pattern-plot .point").evaluateAll((all) => all.map((one) => Number(one.dataset.height)));
    assert.deepEqual(await heights(), [0, 0, 0, 1], "x1*x2 of the four corners");
    assert.equal(await page.locator("#pattern-plot .plane").count(), 1);
    await page.locator("#lift-share").fill("50");
    assert.deepEqual(await heights(), [0, 0, 0, 0.5]);
    assert.equal(await page.locator("#pattern-plot .plane").count(), 0);
    await page.locator("#lift-share").focus();
    await page.keyboard.press("End");
    assert.deepEqual(await heights(), [0, 0, 0, 1]);
    await page.click("#lift-play");
    await page.waitForFunction(() => { const h = Number(document.querySelectorAll("#pattern-plot .point")[3].dataset.height); return h > 0 && h < 1; });
    await page.waitForFunction(() => document.querySelectorAll("#pattern-plot .point")[3].dataset.height === "1.000000");
  }));

test("the lift jumps where motion is reduced", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "xor");
    await reopened(page, () => page.fill("#basis", "poly:2").then(() => page.press("#basis", "Enter")));
    await page.check("#toggle-lift");
    await page.waitForSelector("#pattern-plot .mesh", { state: "attached" });
    const seen = await page.evaluate(async () => {
      const values = new Set();
      document.querySelector("#lift-play").click();
      for (let i = 0; i < 30; i++) {
        values.add(document.querySelector("#lift-share").value);
        await new Promise((done) => requestAnimationFrame(done));
      }
      return [...values];
    });
    assert.deepEqual(seen, ["0"]);
    await page.click("#lift-play");
    assert.equal(await page.inputValue("#lift-share"), "100");
  }, { options: { reducedMotion: "reduce" } }));

test("views of many features: each says what it is", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await page.click("#to-end");
    await ended(page);
    await rest(page);
    const views = await page.locator("#view option").evaluateAll((all) => all.map((one) => one.value));
    assert.deepEqual([...views].sort(), ["columns", "distance", "lda", "means", "pca", "section"]);
    const seen = new Set();
    for (const view of views) {
      await page.selectOption("#view", view);
      await rest(page);
      const note = await page.textContent("#pattern-note");
      assert.equal(await page.evaluate(() => globalThis.lab.store.state.view.kind), view);
      assert.match(note, view === "section" ? /This is a section: .* of row 1\./ : /This is a projection/, view);
      assert.match(note, /Training uses all 4 features\. \d+ % of the variance is shown/);
      seen.add(await page.locator("#pattern-plot .mark").evaluateAll((all) => all.map((one) => one.getAttribute("transform")).join()));
    }
    // A section and a projection on the same two features have the points at the same places.
    assert.ok(seen.size >= views.length - 1);
    await page.selectOption("#view", "section");
    await page.selectOption("#view-x", "2");
    await page.selectOption("#view-y", "3");
    await rest(page);
    const data = await page.evaluate(() => ({ view: globalThis.lab.store.state.view, text: [...document.querySelectorAll("#pattern-plot .name")].map((one) => one.textContent) }));
    assert.deepEqual(data.view.columns, [2, 3]);
    assert.deepEqual(data.text, ["petal_length", "petal_width"]);
    assert.deepEqual(data.view.points[0], [1.4, 0.2]);
    // The exact line of the section, which moves with the row that it goes through.
    const line = () => page.locator("#pattern-plot .boundary").evaluate((one) => ["x1", "y1", "x2", "y2"].map((n) => one.getAttribute(n)).join());
    const through = await line();
    await page.fill("#view-row-number", "120");
    await page.press("#view-row-number", "Enter");
    await rest(page);
    assert.notEqual(await line(), through);
    assert.match(await page.textContent("#pattern-note"), /of row 120/);
  }, { args: [join(import.meta.dirname, "../../examples/iris.csv"), "--positive", "virginica"] }));

test("more rows than are drawn: a sample, with the wrong rows beyond it", async ({ shared, folder }) => {
  const file = join(folder, "many.csv");
  execFileSync(LINSEP, ["generate", "blobs", "--rows", "20000", "--features", "2", "--noise", "0.02", "--seed", "1", "-o", file], { stdio: "pipe" });
  await lab(shared, async ({ page }) => {
    await page.click("#epoch");
    await page.waitForFunction(() => globalThis.lab.store.run.summary.epochs >= 1 && globalThis.lab.store.k > 0);
    await rest(page);
    const seen = await page.evaluate(() => ({ shown: globalThis.lab.store.run.data.shown.length, also: globalThis.lab.store.state.also, errors: globalThis.lab.store.state.errors, wrong: globalThis.lab.store.state.wrong.length }));
    assert.ok(seen.shown >= 1000 && seen.shown + seen.also.rows.length <= 5000, `${seen.shown} and ${seen.also.rows.length}`);
    // Every wrong row is in the sample, beyond it, or counted as left out.
    assert.equal(seen.wrong + seen.also.rows.filter((one) => one.wrong).length + seen.also.left, seen.errors);
    assert.match(await page.textContent("#pattern-note"), new RegExp(`${seen.shown} of 20000 rows are drawn, and ${seen.also.rows.length} more`));
    assert.match(await page.textContent("#live"), new RegExp(`${seen.errors} of 20000 rows wrong`));
    // A row beyond the sample is painted where it is.
    const painted = await page.evaluate(() => {
      const { store, pattern } = globalThis.lab;
      const [x, y] = store.state.also.rows.find((one) => one.wrong).at;
      const { x0, x1, y0, y1 } = pattern.box();
      const [px, py] = [50 + ((x - x0) / (x1 - x0)) * 398, 418 - ((y - y0) / (y1 - y0)) * 406];
      const { data } = document.querySelector("#pattern-plot canvas").getContext("2d").getImageData(2 * px - 3, 2 * py - 3, 7, 7);
      return data.some((value, i) => i % 4 === 3 && value > 0);
    });
    assert.ok(painted);
  }, { args: [file] });
});
