// Starts the program and a browser, runs tests one after the other, and says what failed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const LINSEP = process.env.LINSEP ?? "linsep";
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** The program with the lab; `address` has the token. */
export async function serve(...args) {
  const child = spawn(LINSEP, ["lab", "--no-open", ...args], { stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  const address = await new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`no address: ${text}`)), 30_000);
    child.stderr.on("data", (bytes) => {
      text += bytes;
      const found = /http:\/\/127\.0\.0\.1:\d+\/\?token=\S+/.exec(text);
      if (found) {
        clearTimeout(timer);
        done(found[0]);
      }
    });
    child.on("exit", (code) => fail(new Error(`ended with ${code}: ${text}`)));
  });
  return { address, origin: new URL(address).origin, stop: () => child.kill("SIGKILL"), stopped: () => ended(child), child };
}

/** Ends a program and waits until it is gone. */
function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const gone = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  return gone;
}

export async function browser() {
  return chromium.launch({ executablePath: "/usr/bin/chromium", headless: true, args: FLAGS });
}

/** Serves the files of the page from a folder, to try them without a build; the tests that count use the program's own. */
async function fromFolder(context, folder) {
  await context.route(/\.(js|css)$/, (route) => route.fulfill({ path: join(folder, new URL(route.request().url()).pathname) }));
  await context.route((url) => url.pathname === "/" && !url.searchParams.has("token"), (route) => route.fulfill({ path: join(folder, "index.html") }));
}

/** A page that is ready, its scripts and styles from the folder LAB_PAGE if that is set; it fails the test on console errors and on requests that leave loopback. */
export async function open(shared, address, options = {}) {
  const context = await shared.newContext({ viewport: { width: 1360, height: 1000 }, ...options });
  context.setDefaultTimeout(90_000);
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (message) => {
    if (message.type() === "error") trouble.push(message.text());
  });
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (!["127.0.0.1", "[::1]", "localhost"].includes(url.hostname) && url.protocol !== "blob:") trouble.push(`left loopback: ${url}`);
  });
  if (process.env.LAB_PAGE) await fromFolder(context, process.env.LAB_PAGE);
  await page.goto(address);
  // The first answer is a redirect, which is not taken from the folder.
  if (process.env.LAB_PAGE) await page.reload();
  await page.waitForFunction(() => document.documentElement.dataset.ready !== undefined, undefined, { timeout: 90_000 });
  return { page, context, trouble };
}

/** Waits until the page rests at an update. */
export async function at(page, k) {
  await page.waitForFunction((k) => globalThis.lab.store.k === k && globalThis.lab.store.state?.k === k && !globalThis.lab.store.busy, k, { timeout: 90_000 });
}

/** Waits until the page asks nothing, is not about to, and does not run. */
export async function rest(page) {
  await page.waitForFunction(() => globalThis.lab.resting(), undefined, { timeout: 90_000 });
}

export const state = (page) =>
  page.evaluate(() => {
    const { store } = globalThis.lab;
    const frame = store.frames.get(store.k);
    return {
      id: store.run.id, k: store.k, last: store.run.summary.last, ended: store.run.summary.ended, planes: store.hand ?? frame?.planes, hand: store.hand,
      line: frame?.line, wrong: [...(frame?.wrong ?? [])], errors: store.state?.errors, spec: store.run.spec, rows: store.run.data.rows,
      classes: store.run.data.classes, verdict: store.verdict?.verdict, hover: store.hover, state: store.state, weights: store.weights?.mode,
    };
  });

/** Waits until a new run is open and asks no more. */
export async function reopened(page, change) {
  const before = await page.evaluate(() => globalThis.lab.store.run.id);
  await change();
  await page.waitForFunction((id) => globalThis.lab.store.run.id !== id && globalThis.lab.store.verdict && globalThis.lab.store.weights && globalThis.lab.store.state, before, { timeout: 90_000 });
}

export const choose = (page, id, value) => reopened(page, () => page.selectOption(`#${id}`, value));

/** A page on a server of its own. */
export async function lab(shared, run, { args = [], fragment = "", options = {} } = {}) {
  const server = await serve(...args);
  try {
    const opened = await open(shared, server.address + fragment, options);
    await run({ ...opened, server });
    assert.deepEqual(opened.trouble, [], "console errors or requests that leave loopback");
    await opened.context.close();
  } finally {
    server.stop();
  }
}

const tests = [];
/** @param {{ alone?: boolean }} [how] tests that measure time run when no other does */
export function test(name, run, { alone = false } = {}) {
  tests.push({ name, run, alone });
}

export async function main() {
  const wanted = process.argv.slice(2);
  const chosen = tests.filter(({ name }) => !wanted.length || wanted.some((word) => name.includes(word)));
  const shared = await browser();
  const folder = mkdtempSync(join(tmpdir(), "linsep-lab-"));
  let failed = 0;
  const one = async ({ name, run }) => {
    const start = Date.now();
    try {
      await run({ shared, folder: mkdtempSync(join(folder, "test-")) });
      console.log(`ok    ${name} (${Date.now() - start} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL  ${name}\n      ${String(error.stack ?? error).replaceAll("\n", "\n      ")}`);
    }
  };
  const left = chosen.filter((each) => !each.alone);
  const worker = async () => {
    for (let next = left.shift(); next; next = left.shift()) await one(next);
  };
  await Promise.all(Array.from({ length: Number(process.env.LAB_JOBS ?? 2) }, worker));
  for (const each of chosen.filter((each) => each.alone)) await one(each);
  await shared.close();
  rmSync(folder, { recursive: true, force: true });
  console.log(failed ? `${failed} of ${chosen.length} failed` : `all ${chosen.length} passed`);
  process.exit(failed ? 1 : 0);
}
