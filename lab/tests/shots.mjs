// Screenshots of the panels in light and dark, to be looked at: node shots.mjs FOLDER
import { mkdirSync } from "node:fs";
import { browser, open, serve } from "./harness.mjs";

const folder = process.argv[2] ?? "shots";
mkdirSync(folder, { recursive: true });
const states = [["patterns", "two-weights"], ["iris-setosa", "perceptron"], ["xor", "perceptron"], ["classes", "perceptron"], ["and3", "perceptron"], ["iris-virginica", "fisher"]];
const shared = await browser();
const server = await serve();
for (const colorScheme of ["light", "dark"]) {
  const { page } = await open(shared, server.address, { colorScheme, viewport: { width: 1400, height: 1000 } });
  for (const [name, learner] of states) {
    await page.evaluate(async ([name, learner]) => {
      const { share } = globalThis.lab;
      const settings = learner === "perceptron" ? { order: "cyclic", scale: "none", verdict: "off", ...(name === "classes" ? { multiclass: "ovr" } : {}) } : {};
      const text = btoa(JSON.stringify({ data: { kind: "bundled", name }, learner, settings, seed: 0, k: 12 }));
      location.hash = `v1=${text.replaceAll("=", "")}`;
      void share;
    }, [name, learner]);
    await page.waitForTimeout(2500);
    await page.screenshot({ path: `${folder}/${name}-${colorScheme}.png`, fullPage: true });
  }
  await page.setViewportSize({ width: 380, height: 800 });
  await page.waitForTimeout(500);
  await page.screenshot({ path: `${folder}/narrow-${colorScheme}.png`, fullPage: true });
}
await shared.close();
server.stop();
process.exit(0);
