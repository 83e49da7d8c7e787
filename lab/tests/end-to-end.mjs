// The page in a real browser: every control changes what it says it changes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { at, choose, lab, LINSEP, main, open, rest, reopened, serve, state, test } from "./harness.mjs";
import "./shapes.mjs";
import "./copies.mjs";
import "./trouble.mjs";
import "./access.mjs";
import "./links.mjs";

test("the page opens, the token leaves the address", ({ shared }) =>
  lab(shared, async ({ page }) => {
    assert.ok(!page.url().includes("token"), page.url());
    const now = await state(page);
    assert.equal(now.k, 0);
    assert.equal(now.verdict, "separable");
    assert.match(await page.textContent("#verdict"), /Separable/);
  }));

test("step, mistake, epoch, back, scrub, end", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "iris-setosa");
    await page.click("#step");
    await at(page, 1);
    const one = await state(page);
    assert.equal(one.last, 1);
    assert.equal(await page.locator("#pattern-plot .turn").count(), 1);
    assert.equal(await page.locator("#pattern-plot .normal").count(), 1);
    await page.click("#mistake");
    await at(page, 2);
    await page.click("#epoch");
    await page.waitForFunction(() => globalThis.lab.store.run.summary.epochs === 1 && !globalThis.lab.store.busy);
    await page.click("#to-end");
    await page.waitForFunction(() => globalThis.lab.store.run.summary.ended === "finished", undefined, { timeout: 90000 });
    const end = await state(page);
    await at(page, end.last);
    assert.equal((await state(page)).errors, 0);
    assert.equal(await page.locator("#pattern-plot .mark.wrong").count(), 0);
    await page.click("#back");
    await at(page, end.last - 1);
    await page.locator("#scrub").fill("1");
    await at(page, 1);
    const again = await state(page);
    assert.deepEqual(again.planes, one.planes);
    assert.deepEqual(again.wrong, one.wrong);
    assert.match(await page.textContent("#live"), /Update 1/);
    assert.equal(await page.locator("#pattern-plot .mark.wrong").count(), again.wrong.filter(Boolean).length);
  }));

test("back 100 updates and forward again gives the same state", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "iris-virginica");
    await page.evaluate(() => globalThis.lab.advance("update", 110));
    await at(page, 110);
    const before = await state(page);
    const drawn = await page.locator("#pattern-plot svg").innerHTML();
    const walk = (way) => page.evaluate(async (way) => {
      for (let i = 0; i < 100; i++) await globalThis.lab.goTo(globalThis.lab.store.k + way);
    }, way);
    await walk(-1);
    await at(page, 10);
    await walk(1);
    await at(page, 110);
    assert.deepEqual(await state(page), before);
    assert.equal(await page.locator("#pattern-plot svg").innerHTML(), drawn);
  }));

test("run and pause", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "iris-virginica");
    await page.selectOption("#speed", "60");
    await page.click("#run");
    await page.waitForFunction(() => globalThis.lab.store.k > 20, undefined, { timeout: 90000 });
    await page.click("#run");
    await page.waitForFunction(() => !globalThis.lab.store.running);
    // Paused: nothing is asked any more, and the cursor stays for twenty frames of the browser.
    await rest(page);
    const { k } = await state(page);
    await page.evaluate(() => new Promise((done) => {
      let left = 20;
      const frame = () => (--left ? requestAnimationFrame(frame) : done());
      requestAnimationFrame(frame);
    }));
    assert.equal((await state(page)).k, k);
  }));

test("data sets and their sliders", ({ shared }) =>
  lab(shared, async ({ page }) => {
    const seen = new Set();
    for (const name of await page.locator("#set option").evaluateAll((all) => all.map((one) => one.value).filter((v) => !v.endsWith(":")))) {
      if ((await page.inputValue("#set")) !== name) await choose(page, "set", name);
      const now = await state(page);
      assert.equal(now.spec.data.name, name);
      seen.add(name);
    }
    assert.ok(seen.size >= 16, [...seen].join());
    await choose(page, "set", "blobs");
    const rows = (await state(page)).rows;
    await reopened(page, () => page.locator("#slider-rows").fill("120"));
    assert.equal((await state(page)).rows, 120);
    assert.notEqual(rows, 120);
    const margin = () => page.evaluate(() => globalThis.lab.store.verdict.distance?.lower ?? 0);
    const narrow = await margin();
    await reopened(page, () => page.locator("#slider-margin").fill("1.5"));
    assert.ok((await margin()) > narrow);
    await reopened(page, () => page.locator("#slider-noise").fill("0.2"));
    assert.notEqual((await state(page)).verdict, "separable");
    await choose(page, "set", "classes");
    await reopened(page, () => page.locator("#slider-classes").fill("4"));
    assert.equal((await state(page)).classes.length, 4);
  }));

test("learner, order, rate, ties, start, seed and epochs", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "iris-sepals");
    const planes = async () => {
      await page.evaluate(() => globalThis.lab.advance("update", 3));
      await page.waitForFunction(() => globalThis.lab.store.k > 0);
      return JSON.stringify((await state(page)).planes);
    };
    const base = await planes();
    for (const [id, value] of [["setting-order", "shuffle"], ["setting-init", "random"]]) {
      await reopened(page, () => page.selectOption(`#${id}`, value));
      assert.notEqual(await planes(), base, id);
      await reopened(page, () => page.selectOption(`#${id}`, id === "setting-order" ? "cyclic" : "zero"));
    }
    await reopened(page, async () => {
      await page.fill("#setting-eta", "0.5");
      await page.press("#setting-eta", "Enter");
    });
    assert.notEqual(await planes(), base);
    assert.equal((await state(page)).spec.settings.eta, "0.5");
    await reopened(page, () => page.selectOption("#setting-ties", "001"));
    await planes();
    assert.match(await page.locator("#setting-ties option:checked").textContent(), /lecture 001/);
    await reopened(page, () => page.locator("#epochs").fill("1").then(() => page.press("#epochs", "Enter")));
    await page.click("#to-end");
    await page.waitForFunction(() => globalThis.lab.store.run.summary.ended, undefined, { timeout: 90000 });
    assert.equal((await state(page)).ended, "epoch-limit");
    for (const learner of ["batch-perceptron", "least-squares", "logistic", "fisher", "averaged", "hard-margin", "pocket"]) {
      await choose(page, "learner", learner);
      assert.equal((await state(page)).spec.learner, learner);
      await page.click("#to-end");
      await page.waitForFunction(() => globalThis.lab.store.run.summary.ended, undefined, { timeout: 90000 });
    }
  }));

test("I choose the point: a click trains", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "and");
    await reopened(page, () => page.selectOption("#setting-order", "choose"));
    await page.locator('#pattern-plot .mark[data-i="3"]').click();
    await at(page, 1);
    assert.deepEqual((await state(page)).planes, [[1, 1, 1]]);
    await page.locator('#pattern-plot .mark[data-i="0"]').click();
    await at(page, 2);
    assert.deepEqual((await state(page)).planes, [[0, 1, 1]]);
    assert.ok(await page.locator("#step").isDisabled());
  }));

test("weight space: cone, half-planes, path, linked hover", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "patterns");
    assert.equal((await state(page)).weights, "two");
    assert.equal(await page.locator("#weight-plot .half").count(), 4);
    await page.click("#to-end");
    await at(page, 4);
    assert.deepEqual((await state(page)).planes, [[0, -5, 0]]);
    assert.equal(await page.locator("#weight-plot .enters").count(), 1);
    // w lies inside the drawn cone.
    const inside = await page.evaluate(() => {
      const cone = document.querySelector("#weight-plot .cone");
      const w = document.querySelector("#weight-plot .w");
      const point = cone.ownerSVGElement.createSVGPoint();
      [point.x, point.y] = [Number(w.getAttribute("cx")), Number(w.getAttribute("cy"))];
      return cone.isPointInFill(point);
    });
    assert.ok(inside);
    await page.locator('#pattern-plot .mark[data-i="1"]').hover();
    await page.waitForFunction(() => globalThis.lab.store.hover === 1);
    assert.equal(await page.locator('#weight-plot .half.chosen[data-i="1"]').count(), 1);
    assert.equal(await page.locator("#weight-plot .shade").count(), 1);
    await page.evaluate(() => document.querySelector("#weight-plot svg").dispatchEvent(new PointerEvent("pointerleave")));
    // And back: a line in weight space shows its sample.
    await page.evaluate(() => {
      const half = document.querySelector('#weight-plot .half[data-i="2"]');
      const root = half.ownerSVGElement;
      const area = root.getBoundingClientRect();
      const scale = area.width / 460;
      const [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map((n) => Number(half.getAttribute(n)));
      const t = 0.14;
      root.dispatchEvent(new PointerEvent("pointermove", { clientX: area.left + (x1 + t * (x2 - x1)) * scale, clientY: area.top + (y1 + t * (y2 - y1)) * scale, buttons: 0 }));
    });
    assert.equal((await state(page)).hover, 2);
    assert.equal(await page.locator("#pattern-plot .hovered").count(), 1);
    assert.ok((await page.locator("#log-rows tr.linked").count()) >= 1);
  }));

test("weight space of three weights: chart, orbit, empty cone", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "and");
    assert.equal((await state(page)).weights, "three");
    assert.equal(await page.locator("#weight-plot .cone").count(), 1);
    await page.click("#to-end");
    await page.waitForFunction(() => globalThis.lab.store.run.summary.ended === "finished");
    await page.waitForSelector("#weight-plot .enters");
    await page.check("#toggle-orbit");
    assert.ok((await page.locator("#weight-plot .sheet").count()) >= 4);
    const before = await page.locator("#weight-plot svg").innerHTML();
    await page.locator("#weight-plot svg").focus();
    await page.keyboard.press("ArrowRight");
    assert.notEqual(await page.locator("#weight-plot svg").innerHTML(), before);
    await page.uncheck("#toggle-orbit");
    await choose(page, "set", "xor");
    assert.equal(await page.locator("#weight-plot .cone").count(), 0);
    assert.match(await page.textContent("#weight-note"), /empty/);
  }));

test("dragging w moves the boundary, numbers do too", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "patterns");
    await page.click("#to-end");
    await at(page, 4);
    const line = () => page.locator("#pattern-plot .boundary").first().evaluate((one) => ["x1", "y1", "x2", "y2"].map((n) => one.getAttribute(n)).join());
    const before = await line();
    const w = await page.locator("#weight-plot .w").boundingBox();
    const [x, y] = [w.x + w.width / 2, w.y + w.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 60, y - 80, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => globalThis.lab.store.hand !== null);
    assert.notEqual(await line(), before);
    assert.match(await page.textContent("#live"), /by hand/);
    const field = page.locator("#weight-fields input").first();
    await field.fill("3");
    await field.press("Enter");
    await page.waitForFunction(() => globalThis.lab.store.hand?.[0][1] === 3);
    await page.click("#let-go");
    await page.waitForFunction(() => globalThis.lab.store.hand === null);
    assert.equal(await line(), before);
    await page.click("[data-turn='1']");
    await page.waitForFunction(() => globalThis.lab.store.hand !== null);
    const turned = (await state(page)).hand;
    await page.click("[data-shift='1']");
    await page.waitForFunction((b) => globalThis.lab.store.hand?.[0][0] !== b, turned[0][0]);
    await reopened(page, () => page.click("#start-here"));
    assert.equal((await state(page)).k, 0);
    assert.notDeepEqual((await state(page)).planes, [[0, 0, 0]]);
  }));

test("hulls, common point and witness rows of XOR", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "xor");
    assert.equal(await page.locator("#pattern-plot .hull").count(), 2);
    assert.equal(await page.locator("#pattern-plot .witness").count(), 4);
    assert.equal(await page.locator("#pattern-plot .common").count(), 1);
    assert.match(await page.textContent("#verdict"), /Not separable.*4 rows prove it.*\(0\.5, 0\.5\)/);
    await page.uncheck("#toggle-hulls");
    assert.equal(await page.locator("#pattern-plot .hull, #pattern-plot .common").count(), 0);
    await choose(page, "set", "and");
    assert.equal(await page.locator("#pattern-plot .support").count(), 3);
    await page.uncheck("#toggle-support");
    assert.equal(await page.locator("#pattern-plot .support").count(), 0);
    await page.click("#to-end");
    await page.waitForFunction(() => globalThis.lab.store.run.summary.ended === "finished");
    await page.waitForSelector("#pattern-plot .band");
    await page.uncheck("#toggle-band");
    assert.equal(await page.locator("#pattern-plot .band").count(), 0);
    const marks = () => page.locator("#pattern-plot .mark").evaluateAll((all) => all.map((one) => one.getAttribute("transform")).join());
    const before = await marks();
    await page.check("#toggle-reflected");
    assert.notEqual(await marks(), before);
    await page.uncheck("#toggle-reflected");
    await page.check("#toggle-lift");
    assert.equal(await page.locator("#pattern-plot .plane").count(), 1);
    await page.uncheck("#toggle-lift");
    await choose(page, "set", "and3");
    await page.click("#to-end");
    await page.waitForFunction(() => globalThis.lab.store.run.summary.ended === "finished");
    assert.equal(await page.locator("#pattern-plot .point").count(), 8);
    assert.equal(await page.locator("#pattern-plot .plane").count(), 1);
  }));

test("points are added, moved, relabelled, deleted; undo and redo", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "and");
    await page.check('input[name="tool"][value="add-1"]');
    await page.locator("#pattern-plot svg").scrollIntoViewIfNeeded();
    const box = await page.locator("#pattern-plot svg").boundingBox();
    await reopened(page, () => page.mouse.click(box.x + box.width * 0.35, box.y + box.height * 0.4));
    assert.equal((await state(page)).rows, 5);
    await page.check('input[name="tool"][value="move"]');
    await page.locator("#pattern-plot svg").scrollIntoViewIfNeeded();
    const mark = await page.locator('#pattern-plot .mark[data-i="4"]').boundingBox();
    const before = await page.evaluate(() => globalThis.lab.store.run.data.points[4]);
    await page.mouse.move(mark.x + mark.width / 2, mark.y + mark.height / 2);
    await page.mouse.down();
    await page.mouse.move(mark.x + 90, mark.y + 60, { steps: 3 });
    await reopened(page, () => page.mouse.up());
    assert.notDeepEqual(await page.evaluate(() => globalThis.lab.store.run.data.points[4]), before);
    await page.check('input[name="tool"][value="relabel"]');
    const cls = () => page.evaluate(() => globalThis.lab.store.run.data.class.join());
    const labels = await cls();
    await reopened(page, () => page.locator('#pattern-plot .mark[data-i="4"]').click());
    assert.notEqual(await cls(), labels);
    await page.check('input[name="tool"][value="delete"]');
    await reopened(page, () => page.locator('#pattern-plot .mark[data-i="4"]').click());
    assert.equal((await state(page)).rows, 4);
    await reopened(page, () => page.click("#undo"));
    assert.equal((await state(page)).rows, 5);
    await reopened(page, () => page.click("#redo"));
    assert.equal((await state(page)).rows, 4);
    await page.check('input[name="tool"][value="add-0"]');
    await page.fill("#add-x", "0.25");
    await page.fill("#add-y", "0.75");
    await reopened(page, () => page.click("#add-point"));
    assert.deepEqual(await page.evaluate(() => globalThis.lab.store.run.data.points[4]), [0.25, 0.75]);
  }));

test("criterion surfaces", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "patterns");
    await page.click("#to-end");
    await at(page, 4);
    const shot = () => page.locator("#criterion-plot canvas").evaluate((canvas) => canvas.toDataURL());
    const seen = new Set();
    for (const name of ["jn", "jd", "jp", "mse", "hinge", "logistic"]) {
      await page.selectOption("#criterion", name);
      await rest(page);
      seen.add(await shot());
    }
    assert.equal(seen.size, 6);
    await page.selectOption("#criterion", "jp");
    await page.waitForFunction(() => /J\(0\) = 0/.test(document.querySelector("#criterion-note").textContent));
  }));

test("curves and the log", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "iris-setosa");
    await page.click("#to-end");
    await page.waitForFunction(() => globalThis.lab.store.run.summary.ended === "finished");
    await page.waitForSelector("#curves-plot .curve.limit");
    const d = () => page.locator("#curves-plot .curve").evaluateAll((all) => all.map((one) => one.getAttribute("d")).join());
    const seen = new Set();
    for (const value of ["norm", "squares", "updates", "distance", "epochs"]) {
      await page.selectOption("#curve", value);
      await rest(page);
      seen.add(await d());
    }
    assert.equal(seen.size, 5);
    const { last } = await state(page);
    // The run stays between its bounds and below R²/γ².
    const bound = await page.evaluate(() => globalThis.lab.store.run.summary.bound.bound);
    assert.ok(last <= bound);
    await page.click("#curves-table summary");
    await page.waitForFunction(() => document.querySelectorAll("#curves-rows tr").length > 2);
    await page.locator("#log-rows tr[data-k='1'] button").click();
    await at(page, 1);
    assert.equal(await page.locator("#log-rows tr.now").getAttribute("data-k"), "1");
  }));

test("the page's trace is what train writes, for ten recipes", ({ shared, folder }) =>
  lab(shared, async ({ page }) => {
    const recipes = [
      ["iris-setosa", "perceptron", {}], ["iris-sepals", "perceptron", { order: "shuffle" }], ["xor", "perceptron", {}], ["blobs", "perceptron", { eta: "0.5" }],
      ["outlier", "batch-perceptron", {}], ["iris-virginica", "pocket", {}], ["blobs", "averaged", {}], ["touching", "margin-perceptron", {}],
      ["and", "passive-aggressive", {}], ["classes", "perceptron", { multiclass: "ovr" }], ["gaussian", "perceptron", {}],
    ];
    for (const [set, learner, settings] of recipes) {
      if ((await page.inputValue("#set")) !== set) await choose(page, "set", set);
      if ((await page.inputValue("#learner")) !== learner) await choose(page, "learner", learner);
      for (const [name, value] of Object.entries(settings)) {
        const field = page.locator(`#setting-${name}`);
        if ((await field.inputValue()) === value) continue;
        await reopened(page, async () => {
          if ((await field.evaluate((one) => one.tagName)) === "SELECT") await field.selectOption(value);
          else await field.fill(value).then(() => field.press("Enter"));
        });
      }
      await page.click("#to-end");
      await page.waitForFunction(() => globalThis.lab.store.run.summary.ended, undefined, { timeout: 90000 });
      await page.waitForFunction(() => !globalThis.lab.store.busy);
      const saved = async (id) => {
        const [download] = await Promise.all([page.waitForEvent("download"), page.click(`#${id}`)]);
        return readFileSync(await download.path());
      };
      const [trace, rows] = [await saved("save-trace"), await saved("save-data")];
      const [csv, out] = [join(folder, `${set}.csv`), join(folder, "run.ndjson")];
      writeFileSync(csv, rows);
      const spec = (await state(page)).spec;
      const flags = Object.entries(spec.settings).flatMap(([name, value]) => [`--${name}`, value]);
      try {
        execFileSync(LINSEP, ["train", csv, "--learner", learner, ...flags, "--trace", out, "-o", join(folder, "m.linsep"), "--force"], { stdio: "pipe" });
      } catch (error) {
        // A run that stops at its limit exits with 1.
        if (error.status !== 1) throw error;
      }
      assert.ok(trace.equals(readFileSync(out)), `${set} ${learner}`);
      for (const name of Object.keys(settings)) {
        const field = page.locator(`#setting-${name}`);
        const usual = { order: "cyclic", eta: "1", multiclass: "joint" }[name];
        await reopened(page, async () => {
          if ((await field.evaluate((one) => one.tagName)) === "SELECT") await field.selectOption(usual);
          else await field.fill(usual).then(() => field.press("Enter"));
        });
      }
    }
  }));

test("a link holds the whole state; damaged links are refused", ({ shared }) =>
  lab(shared, async ({ page, server, context }) => {
    await choose(page, "set", "xor");
    await page.evaluate(() => globalThis.lab.advance("update", 7));
    await at(page, 7);
    const before = await state(page);
    const fragment = await page.evaluate(() => globalThis.lab.share.link(false));
    const other = await context.newPage();
    await other.goto(`${server.origin}/${fragment}`);
    await other.waitForFunction(() => document.documentElement.dataset.ready !== undefined);
    await at(other, 7);
    const after = await state(other);
    assert.deepEqual(after.planes, before.planes);
    assert.deepEqual(after.spec, before.spec);
    for (const bad of ["#v1=AAAA", "#v2=e30", fragment.slice(0, 40), "#v1=" + "A".repeat(30000), "#<script>", "#lesson=../x", "#v1=" + btoa(JSON.stringify({ data: { kind: "bundled", name: "and" }, learner: "perceptron", evil: 1 }))]) {
      await other.goto("about:blank");
      await other.goto(`${server.origin}/${bad}`);
      await other.waitForFunction(() => document.documentElement.dataset.ready !== undefined);
      assert.match(await other.textContent("#banner"), /cannot be used/, bad);
      assert.equal((await state(other)).k, 0);
    }
    const hidden = await page.evaluate(() => globalThis.lab.share.link(true));
    await other.goto("about:blank");
    await other.goto(`${server.origin}/${hidden}`);
    await other.waitForFunction(() => document.documentElement.dataset.ready !== undefined);
    assert.ok(!(await other.locator("#controls").isVisible()));
  }));

test("K classes: regions, ambiguous ones, schemes", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "classes");
    const paint = async () => {
      await page.click("#to-end");
      await page.waitForFunction(() => globalThis.lab.store.run.summary.ended, undefined, { timeout: 90000 });
      await rest(page);
      return page.locator("#pattern-plot canvas").evaluate((canvas) => canvas.toDataURL());
    };
    const seen = new Set();
    for (const scheme of ["joint", "ovr", "ovo"]) {
      if ((await page.inputValue("#setting-multiclass")) !== scheme) await reopened(page, () => page.selectOption("#setting-multiclass", scheme));
      seen.add(await paint());
    }
    assert.equal(seen.size, 3);
    await page.uncheck("#toggle-regions");
    await rest(page);
    assert.ok(!seen.has(await page.locator("#pattern-plot canvas").evaluate((canvas) => canvas.toDataURL())));
  }));

test("basis functions give a curved boundary", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "xor");
    await reopened(page, () => page.fill("#basis", "x1*x2").then(() => page.press("#basis", "Enter")));
    assert.equal((await state(page)).verdict, "separable");
    await page.click("#to-end");
    await page.waitForFunction(() => globalThis.lab.store.run.summary.ended === "finished");
    await rest(page);
    assert.match(await page.textContent("#pattern-note"), /basis functions/);
    const painted = await page.locator("#pattern-plot canvas").evaluate((canvas) => canvas.getContext("2d").getImageData(300, 300, 200, 200).data.some((x) => x > 0));
    assert.ok(painted);
  }));

test("lessons: each opens, asks and answers", ({ shared }) =>
  lab(shared, async ({ page }) => {
    const names = await page.locator("#lesson option").evaluateAll((all) => all.map((one) => one.value).filter(Boolean));
    assert.equal(names.length, 15);
    for (const name of names) {
      await page.selectOption("#lesson", name);
      await page.waitForSelector("#lesson-card:not([hidden])");
      await page.waitForFunction(() => globalThis.lab.store.verdict && !globalThis.lab.store.busy, undefined, { timeout: 90000 });
      await page.locator("#lesson-card button").first().click();
      assert.ok((await page.locator("#lesson-card [role=status]").textContent()).length > 20, name);
      if (name === "neuron") for (const part of ["synapse", "dendrite", "cell body", "nucleus", "axon", "w₁", "Σ + b", "step"]) assert.ok((await page.textContent("#extra")).includes(part), part);
      if (name === "gates") {
        // AND cuts one corner off, OR leaves one: all eight are labelled.
        assert.equal(await page.locator("#pattern-plot .point").count(), 8);
        assert.ok((await page.locator("#pattern-plot svg").textContent()).includes("111"));
        await choose(page, "set", "or3");
        assert.equal(await page.locator("#pattern-plot .point.class-1").count(), 7);
        assert.ok(!(await page.locator("#lesson-card").isVisible()));
        continue;
      }
      if (name === "update") {
        await rest(page);
        const frame = () => page.locator("#extra .boundary").evaluate((one) => ["x1", "y1", "x2", "y2"].map((n) => one.getAttribute(n)).join());
        const seen = new Set();
        for (const value of ["0", "10", "20"]) {
          await page.locator("#update-turn").fill(value);
          seen.add(await frame());
        }
        assert.equal(seen.size, 3);
        assert.equal(await page.locator("#extra .ghost").count(), 1);
        // The last frame is the plane of the update.
        const { planes, k } = await state(page);
        assert.match(await page.textContent("#extra"), new RegExp(`After update ${k}: the margin of the row is`));
        assert.ok((await page.textContent("#extra")).includes(planes[0].map((x) => String(Number(x.toPrecision(3))).replace("-", "−")).join(", ")));
        await page.click("#update-play");
        await page.waitForFunction(() => { const v = Number(document.querySelector("#update-turn").value); return v > 0 && v < 20; });
      }
      if (name === "projection") {
        await page.waitForSelector("#extra .bar-1", { state: "attached" });
        await rest(page);
        const shown = async () => [await page.locator("#extra .figure").innerHTML(), await page.locator("#extra .normal line").evaluate((one) => ["x1", "y1", "x2", "y2"].map((n) => one.getAttribute(n)).join())];
        const criterion = async () => Number(/within\): ([\d.]*\d)/.exec(await page.textContent("#extra"))[1]);
        const [first, low] = [await shown(), await criterion()];
        await page.locator("#fisher-turn").fill("10");
        await rest(page);
        const between = await shown();
        await page.locator("#fisher-turn").fill("20");
        await rest(page);
        const last = await shown();
        assert.equal(new Set([first, between, last].map(([bars]) => bars)).size, 3);
        assert.equal(new Set([first, between, last].map(([, arrow]) => arrow)).size, 3);
        assert.ok((await criterion()) > low, "Fisher's direction is better");
        await page.click("#fisher-play");
        await page.waitForFunction(() => { const v = Number(document.querySelector("#fisher-turn").value); return v > 0 && v < 20; });
      }
      if (name === "left-or-right") {
        await page.waitForSelector("#extra .cell");
        for (let i = 0; i < 40 && !(await page.locator("#retina-step").isDisabled()); i++) {
          await page.click("#retina-step");
          await rest(page);
        }
        assert.match(await page.textContent("#extra"), /every mark is answered rightly/);
        const halves = await page.locator("#extra .cell.pos, #extra .cell.neg").count();
        assert.ok(halves >= 12);
      }
    }
  }));

test("a lesson by the command line", ({ shared }) =>
  lab(shared, async ({ page }) => {
    assert.match(await page.textContent("#lesson-card"), /cone of solutions/i);
  }, { args: ["--lesson", "cone"] }));

test("own file of four features: exact view, three classes and one positive", ({ shared }) =>
  lab(shared, async ({ page }) => {
    const now = await state(page);
    assert.equal(now.spec.data.kind, "file");
    assert.equal(now.rows, 150);
    await page.click("#step");
    await at(page, 1);
    const view = (await state(page)).state.view;
    assert.equal(view.kind, "distance");
    assert.equal(await page.locator("#pattern-plot .boundary").count(), 1);
    assert.match(await page.textContent("#pattern-note"), /exact line.*all 4 features/);
    // Wrong points lie on the wrong side of the line.
    const sides = await page.evaluate(() => {
      const { store } = globalThis.lab;
      const wrong = new Set(store.state.wrong);
      return store.state.view.points.every(([x], i) => (x > 0) === ((store.run.data.class[i] === 1) !== wrong.has(i)) || x === 0);
    });
    assert.ok(sides);
    await page.selectOption("#view", "pca");
    await page.waitForFunction(() => globalThis.lab.store.state.view.kind === "pca");
    assert.match(await page.textContent("#pattern-note"), /projection/);
    await page.selectOption("#view", "means");
    await page.waitForFunction(() => globalThis.lab.store.state.view.kind === "means");
  }, { args: [join(import.meta.dirname, "../../examples/iris.csv"), "--positive", "virginica"] }));

test("with the step route switched off nothing moves", ({ shared }) => {
  return (async () => {
    const server = await serve();
    try {
      const { page, context } = await open(shared, server.address);
      await page.route("**/step", (route) => route.abort());
      for (const id of ["step", "mistake", "epoch", "to-end", "run"]) {
        await page.click(`#${id}`);
        await rest(page);
      }
      const now = await state(page);
      assert.equal(now.k, 0);
      assert.equal(now.last, 0);
      assert.equal(await page.locator("#log-rows tr").count(), 0);
      assert.equal(await page.locator("#weight-plot .walk").count(), 0);
      await context.close();
    } finally {
      server.stop();
    }
  })();
});

test("speed: first paint, first step, frames with 2,000 points", ({ shared }) =>
  lab(shared, async ({ page }) => {
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.getEntriesByType("paint")[0]?.startTime);
    const ready = Number(await page.evaluate(() => document.documentElement.dataset.ready));
    const first = await page.evaluate(async () => {
      const start = performance.now();
      await globalThis.lab.advance("update");
      return performance.now() - start;
    });
    await choose(page, "set", "blobs");
    await reopened(page, () => page.locator("#slider-noise").fill("0.1"));
    await reopened(page, () => page.locator("#slider-rows").fill("2000"));
    await page.selectOption("#speed", "60");
    const rate = await page.evaluate(async () => {
      document.querySelector("#run").click();
      await new Promise((done) => setTimeout(done, 500));
      const [frames, start] = [globalThis.lab.frames(), performance.now()];
      await new Promise((done) => setTimeout(done, 2500));
      return (1000 * (globalThis.lab.frames() - frames)) / (performance.now() - start);
    });
    console.log(`      first paint ${Math.round(paint)} ms, ready ${ready} ms, first step ${first.toFixed(1)} ms, ${rate.toFixed(1)} frames/s with 2,000 points`);
    assert.ok(first < 2000 && rate > 1, "far too slow");
  }), { alone: true });

await main();
