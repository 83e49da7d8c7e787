// Everybody can use the page: by keyboard, with a screen reader, large, narrow, without motion, in two colours.
import assert from "node:assert/strict";
import { at, choose, lab, rest, reopened, state, test } from "./harness.mjs";

test("keyboard only", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("Space");
    await at(page, 1);
    await page.keyboard.press("Space");
    await at(page, 2);
    await page.keyboard.press("Shift+Space");
    await at(page, 1);
    await page.keyboard.press("End");
    await page.waitForFunction(() => globalThis.lab.store.run.summary.ended);
    await page.keyboard.press("Home");
    await at(page, 0);
    await page.locator("#pattern-plot svg").focus();
    await page.keyboard.press("ArrowRight");
    assert.equal((await state(page)).hover, 0);
    await page.keyboard.press("ArrowRight");
    assert.equal((await state(page)).hover, 1);
    await reopened(page, () => page.keyboard.press("l"));
    await reopened(page, () => page.click("#undo"));
    await page.locator("#weight-plot svg").focus();
    await page.keyboard.press("Space");
    await at(page, 1);
    await page.keyboard.press("ArrowUp");
    await page.waitForFunction(() => globalThis.lab.store.hand !== null);
    // Everything that can be clicked can be reached.
    const unreachable = await page.evaluate(() => [...document.querySelectorAll("button, select, input, summary")].filter((one) => one.tabIndex < 0).length);
    assert.equal(unreachable, 0);
  }));

test("targets are large enough, labels are there, motion can be reduced", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await page.click("#to-end");
    await page.waitForFunction(() => globalThis.lab.store.run.summary.ended);
    const small = await page.evaluate(() =>
      [...document.querySelectorAll("button, select, input, summary")].filter((one) => {
        // A box in a label is clicked by its label.
        const box = (one.type === "checkbox" ? one.closest("label") : one).getBoundingClientRect();
        return box.width > 0 && (box.width < 24 || box.height < 24);
      }).map((one) => `${one.id || one.textContent} ${one.getBoundingClientRect().height}`));
    assert.deepEqual(small, []);
    const unnamed = await page.evaluate(() =>
      [...document.querySelectorAll("select, input")].filter((one) => !one.labels?.length && !one.getAttribute("aria-label")).map((one) => one.id));
    assert.deepEqual(unnamed, []);
    const moving = await page.evaluate(() => getComputedStyle(document.querySelector(".turn") ?? document.body).animationName);
    assert.equal(moving, "none");
  }, { options: { reducedMotion: "reduce" } }));

test("narrow screen and 200 % zoom: one column, nothing cut off", async ({ shared }) => {
  for (const viewport of [{ width: 360, height: 740 }, { width: 680, height: 500 }]) {
    await lab(shared, async ({ page }) => {
      await page.click("#step");
      await at(page, 1);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 1, `${wide} pixels too wide at ${viewport.width}`);
      const columns = await page.evaluate(() => getComputedStyle(document.querySelector("main")).gridTemplateColumns.split(" ").length);
      assert.equal(columns, 1);
    }, { options: { viewport } });
  }
});

test("a tour of the whole page by Tab alone", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await page.evaluate(() => document.activeElement.blur());
    const seen = [];
    for (let i = 0; i < 140; i++) {
      await page.keyboard.press("Tab");
      const now = await page.evaluate(() => {
        const one = document.activeElement;
        if (!one || one === document.body) return null;
        const ring = getComputedStyle(one.matches(".chip input") ? one.nextElementSibling : one);
        return { id: one.id || one.closest("[id]")?.id || one.tagName, ring: ring.outlineStyle };
      });
      if (!now) break;
      seen.push(now);
    }
    const ids = seen.map((one) => one.id);
    for (const id of ["set", "basis", "learner", "setting-order", "epochs", "seed", "tool-list", "race", "lesson", "copy-link", "step", "scrub", "speed", "pattern-plot", "weight-plot", "curves-plot", "log-scroll", "criterion", "criterion-plot"]) assert.ok(ids.includes(id), `${id} is not reached: ${ids.join(" ")}`);
    assert.deepEqual(seen.filter((one) => one.ring === "none"), [], "the focus can be seen everywhere");
  }));

test("a race, a walk and a lift by keyboard", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await page.locator("#set").focus();
    await reopened(page, () => page.keyboard.type("XOR"));
    assert.equal((await state(page)).spec.data.name, "xor");
    await page.locator("#basis").focus();
    await reopened(page, async () => {
      await page.keyboard.type("x1*x2");
      await page.keyboard.press("Enter");
    });
    await page.locator("#toggle-lift").focus();
    await page.keyboard.press("Space");
    await page.waitForSelector("#pattern-plot .mesh", { state: "attached" });
    await page.locator("#lift-share").focus();
    await page.keyboard.press("Home");
    assert.equal(await page.inputValue("#lift-share"), "0");
    await page.locator("#walk-from").focus();
    await page.keyboard.type("1");
    await page.keyboard.press("Tab");
    await page.keyboard.type("4");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector("#walk-note").textContent.length > 10);
    await page.locator("#race").focus();
    await page.keyboard.type("against a learner");
    await page.waitForFunction(() => globalThis.lab.store.rival);
    await rest(page);
  }));

test("the live region reads each update once", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "iris-sepals");
    await rest(page);
    await page.evaluate(() => {
      globalThis.heard = [];
      const live = document.querySelector("#live");
      new MutationObserver(() => globalThis.heard.push(live.textContent)).observe(live, { childList: true, characterData: true, subtree: true });
    });
    for (const k of [1, 2, 3]) {
      await page.keyboard.press("Space");
      await at(page, k);
      await rest(page);
    }
    const heard = await page.evaluate(() => globalThis.heard);
    for (const k of [1, 2, 3]) assert.equal(heard.filter((words) => words.startsWith(`Update ${k},`)).length, 1, heard.join("\n"));
    assert.equal(await page.getAttribute("#live", "aria-live"), "polite");
    // A run is not read update by update.
    await page.selectOption("#speed", "60");
    await page.locator("#live").focus().catch(() => undefined);
    await page.click("#run");
    await page.waitForFunction(() => globalThis.lab.store.k > 20);
    const during = await page.evaluate(() => globalThis.heard.length);
    assert.ok(during <= heard.length + 1);
    await page.click("#run");
    await rest(page);
    assert.match(await page.textContent("#live"), /^Update \d+/);
  }));

test("two colours of the system: points, boundary and the chosen tool can be told apart", ({ shared }) =>
  lab(shared, async ({ page }) => {
    await choose(page, "set", "and");
    await page.click("#to-end");
    await page.waitForFunction(() => globalThis.lab.store.run.summary.ended);
    await rest(page);
    const colours = await page.evaluate(() => {
      const of = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
      return { paper: of("body", "backgroundColor"), point: of("#pattern-plot .point.class-0", "fill"), other: of("#pattern-plot .point.class-1", "fill"), line: of("#pattern-plot .boundary", "stroke"), chip: of(".chip input:checked + span", "backgroundColor"), plain: of(".chip input:not(:checked) + span", "backgroundColor") };
    });
    assert.notEqual(colours.point, colours.paper);
    assert.notEqual(colours.point, colours.other);
    assert.notEqual(colours.line, colours.paper);
    assert.notEqual(colours.chip, colours.plain);
    assert.equal(await page.evaluate(() => matchMedia("(forced-colors: active)").matches), true);
  }, { options: { forcedColors: "active" } }));

test("dark and light: text can be read on what is behind it", async ({ shared }) => {
  for (const colorScheme of ["light", "dark"]) {
    await lab(shared, async ({ page }) => {
      const least = await page.evaluate(() => {
        const light = (text) => {
          const [r, g, b] = text.match(/[\d.]+/g).map(Number).map((x) => x / 255).map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const behind = (one) => {
          for (let at = one; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (!/rgba\(.*, 0\)/.test(colour)) return colour;
          }
          return "rgb(255, 255, 255)";
        };
        let [worst, where] = [99, ""];
        for (const one of document.querySelectorAll("p, label, button:not(:disabled), th, h1, h2, summary, li, legend, output, svg text")) {
          if (!one.textContent.trim() || one.getBoundingClientRect().width === 0) continue;
          const style = getComputedStyle(one);
          const [a, b] = [light(one instanceof SVGElement ? style.fill : style.color), light(behind(one))];
          const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          if (contrast < worst) [worst, where] = [contrast, one.textContent.slice(0, 30)];
        }
        return { worst, where };
      });
      assert.ok(least.worst >= 4.5, `${colorScheme}: ${least.worst.toFixed(2)} at "${least.where}"`);
    }, { options: { colorScheme } });
  }
});
