// What may go wrong: damaged links, other tabs, reloads, tabs that close, servers that stop.
import assert from "node:assert/strict";
import { at, choose, open, reopened, rest, serve, state, test } from "./harness.mjs";

const ready = (page) => page.waitForFunction(() => document.documentElement.dataset.ready !== undefined && globalThis.lab.resting(), undefined, { timeout: 90000 });

/** A server, and pages that are not asked to be without errors. */
async function served(shared, run, args = []) {
  const server = await serve(...args);
  const { page, context, trouble } = await open(shared, server.address);
  try {
    await run({ page, context, server, trouble });
  } finally {
    await context.close();
    server.stop();
  }
}

const packed = (state) => `#v1=${Buffer.from(typeof state === "string" ? state : JSON.stringify(state)).toString("base64url")}`;

test("damaged, foreign and hostile links are refused, and the lab starts as usual", ({ shared }) =>
  served(shared, async ({ page, server, trouble }) => {
    await rest(page);
    const usual = (await state(page)).spec;
    const good = { data: { kind: "bundled", name: "and" }, learner: "perceptron", settings: {}, seed: 0, k: 0 };
    const whole = packed(good);
    const bad = {
      cut: whole.slice(0, whole.length - 7), "cut in the middle": whole.slice(0, 24), foreign: "#section-3", "of another version": "#v2=e30", empty: "#v1=", "no base64": "#v1=%%%", "no object": packed("[1]"),
      "no UTF-8": "#v1=__79", long: `#v1=${"A".repeat(30000)}`, markup: "#<img src=x onerror=alert(1)>", "unknown part": packed({ ...good, evil: 1 }), "unknown lesson": "#lesson=../../etc/passwd",
      "no such learner": packed({ ...good, learner: "oracle" }), "no such set": packed({ ...good, data: { kind: "bundled", name: "__proto__" } }), "no such setting": packed({ ...good, settings: { constructor: "1" } }),
      "a prototype": packed('{"__proto__":{"hide":true},"data":{"kind":"bundled","name":"and"},"learner":"perceptron"}'),
      "a setting that is refused": packed({ ...good, settings: { eta: "much" } }), "a file that is not open": packed({ ...good, data: { kind: "file", id: "own" } }),
      "a path": packed({ ...good, settings: { init: "/etc/passwd" } }), "a point that is none": packed({ ...good, data: { kind: "points", points: [[0, "1", "a"]] } }),
      "a label that is none": packed({ ...good, data: { kind: "points", points: [[0, 1, "=1+1"], [1, 1, "b"]] } }), "too many points": packed({ ...good, data: { kind: "points", points: Array(2001).fill([0, 0, "a"]) } }),
      "rows without end": packed({ ...good, data: { kind: "bundled", name: "blobs", rows: 1e12 } }), "a huge basis": packed({ ...good, basis: "poly:99999" }), "a start that does not fit": packed({ ...good, start: [[1, 2]] }),
      "a view that is none": packed({ ...good, view: "pca&k=1" }), "a race that is none": packed({ ...good, race: { learner: 3 } }), "a negative update": packed({ ...good, k: -1 }), "numbers as texts": packed({ ...good, seed: "0" }),
    };
    const fresh = ["cut", "markup", "no such learner", "a setting that is refused"];
    for (const [name, fragment] of Object.entries(bad)) {
      if (fresh.includes(name)) {
        await page.goto("about:blank");
        await page.goto(`${server.origin}/${fragment}`);
        await ready(page);
      } else {
        // A link that is opened in a page that is there already.
        await page.evaluate((fragment) => {
          document.querySelector("#banner").hidden = true;
          location.hash = fragment;
        }, fragment);
        await page.waitForSelector("#banner:not([hidden])");
        await rest(page);
      }
      assert.ok(await page.locator("#banner").isVisible(), `${name}: no message`);
      assert.match(await page.textContent("#banner"), /^This link cannot be used: .+\. The lab starts as usual\./, name);
      const now = await state(page);
      assert.deepEqual([now.k, now.spec], [0, usual], name);
      assert.ok(await page.locator("#controls").isVisible(), name);
    }
    // The lab works after it.
    await page.click("#step");
    await at(page, 1);
    assert.deepEqual(trouble.filter((words) => !/422|status of 4/.test(words)), []);
  }));

test("two tabs do not disturb each other, a reload begins anew", ({ shared }) =>
  served(shared, async ({ page, context, server }) => {
    const two = await context.newPage();
    await two.goto(server.origin);
    await ready(two);
    await page.click("#step");
    await at(page, 1);
    assert.equal((await state(two)).k, 0);
    await choose(two, "set", "xor");
    await two.click("#step");
    await at(two, 1);
    assert.notEqual((await state(page)).spec.data.name, "xor");
    await two.close();
    await page.click("#step");
    await at(page, 2);
    await page.reload();
    await ready(page);
    assert.equal((await state(page)).k, 0);
    await page.click("#step");
    await at(page, 1);
  }));

test("a tab that is closed in the middle of a run leaves nothing behind", ({ shared }) =>
  served(shared, async ({ page, context, server }) => {
    // More tabs than the server keeps runs: each runs and is closed.
    for (let i = 0; i < 4; i++) {
      const tab = await context.newPage();
      await tab.goto(server.origin);
      await ready(tab);
      await choose(tab, "set", "iris-virginica");
      await tab.selectOption("#speed", "1000");
      await tab.click("#run");
      await tab.waitForFunction(() => globalThis.lab.store.k > 5);
      await tab.close();
    }
    await page.click("#step");
    await at(page, 1);
    assert.ok(!(await page.locator("#banner").isVisible()));
  }));

test("a run that the server has closed is told of, and starting it again helps", ({ shared }) =>
  served(shared, async ({ page }) => {
    await rest(page);
    await page.evaluate(() => fetch(`/api/runs/${globalThis.lab.store.run.id}`, { method: "DELETE" }));
    await page.click("#step");
    await page.waitForSelector("#banner:not([hidden])");
    assert.match(await page.textContent("#banner"), /closed; start it again/);
    await choose(page, "set", "and");
    await page.click("#step");
    await at(page, 1);
    assert.ok(!(await page.locator("#banner").isVisible()));
  }));

test("a server that stops: a clear banner, no hang, and pictures can still be saved", ({ shared }) =>
  served(shared, async ({ page, server }) => {
    await choose(page, "set", "iris-virginica");
    await page.selectOption("#speed", "60");
    await page.click("#run");
    await page.waitForFunction(() => globalThis.lab.store.k > 10);
    await server.stopped();
    await page.waitForSelector("#banner:not([hidden])");
    assert.match(await page.textContent("#banner"), /does not answer.*Start it again/s);
    await page.waitForFunction(() => !globalThis.lab.store.running && globalThis.lab.resting());
    assert.equal(await page.getAttribute("#run", "aria-pressed"), "false");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click('[data-svg="pattern"]')]);
    assert.equal(download.suggestedFilename(), "pattern.svg");
    // Known updates can still be looked at.
    const { k } = await state(page);
    await page.click("#back");
    await page.waitForFunction((k) => globalThis.lab.store.k === k - 1, k);
  }));

test("a server that does not answer: the page says that it waits, and goes on", ({ shared }) =>
  served(shared, async ({ page, server }) => {
    await rest(page);
    server.child.kill("SIGSTOP");
    try {
      await page.click("#step");
      await page.waitForSelector("#waiting:not([hidden])", { timeout: 30000 });
      assert.match(await page.textContent("#waiting"), /has not answered/);
    } finally {
      server.child.kill("SIGCONT");
    }
    await at(page, 1);
    await page.waitForSelector("#waiting", { state: "hidden" });
  }));

test("a lesson and drawn points go through a link", ({ shared }) =>
  served(shared, async ({ page, server }) => {
    await choose(page, "set", "and");
    await page.check('input[name="tool"][value="add-1"]');
    await page.fill("#add-x", "0.5");
    await page.fill("#add-y", "2");
    await reopened(page, () => page.click("#add-point"));
    await page.check("#toggle-reflected");
    await page.selectOption("#curve", "squares");
    const fragment = await page.evaluate(() => globalThis.lab.share.link(false));
    const before = (await state(page)).spec;
    await page.goto("about:blank");
    await page.goto(`${server.origin}/${fragment}`);
    await ready(page);
    assert.deepEqual((await state(page)).spec, before);
    assert.ok(await page.isChecked("#toggle-reflected"));
    assert.equal(await page.inputValue("#curve"), "squares");
    await page.goto("about:blank");
    await page.goto(`${server.origin}/#lesson=xor`);
    await ready(page);
    assert.match(await page.textContent("#lesson-card"), /XOR/);
  }));
