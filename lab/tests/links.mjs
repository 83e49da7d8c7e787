// Every state of the lab that the documents name opens.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lab, rest, state, test } from "./harness.mjs";

const docs = join(import.meta.dirname, "../../docs");
const pages = [...readdirSync(join(docs, "learn")).filter((name) => name.endsWith(".md")).map((name) => join("learn", name)), join("lab", "README.md")];

/** Lessons that a page names: by the command, or as "lesson `name`" in the table of the lectures. */
function named(page) {
  const text = readFileSync(join(docs, page), "utf8");
  return [...text.matchAll(/linsep lab --lesson ([a-z-]+)/g), ...text.matchAll(/the lab, lesson `([a-z-]+)`/g)].map((found) => found[1]);
}

test("every lesson that the documents name opens", ({ shared }) =>
  lab(shared, async ({ page, server }) => {
    const all = new Map(pages.flatMap((name) => named(name).map((lesson) => [lesson, name])));
    assert.ok(all.size >= 12, [...all.keys()].join());
    for (const [lesson, from] of all) {
      await page.goto(`${server.origin}/#lesson=${lesson}`);
      await page.reload();
      await page.waitForFunction(() => document.documentElement.dataset.ready !== undefined, undefined, { timeout: 90_000 });
      await rest(page);
      assert.ok(await page.locator("#lesson-card").isVisible(), `${from}: ${lesson} opens no card`);
      assert.ok(await page.locator("#banner").isHidden(), `${from}: ${lesson}: ${await page.textContent("#banner")}`);
      assert.equal(await page.inputValue("#lesson"), lesson);
      assert.ok((await state(page)).rows >= 4, `${from}: ${lesson} has no rows`);
    }
  }));

test("the items that were left for the lab have their rows in the table of the lectures", async () => {
  const table = readFileSync(join(docs, "learn/lectures.md"), "utf8").split("\n");
  for (const item of ["L16", "L20", "L27", "L29", "L35", "L40", "L63", "L88"]) {
    const row = table.find((line) => line.startsWith(`| ${item} |`));
    assert.match(row ?? "", /the lab, lesson `[a-z-]+`/, item);
  }
});
