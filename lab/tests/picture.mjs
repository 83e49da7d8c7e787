// The picture of the README, made from the real page: node lab/tests/picture.mjs FILE
import { join } from "node:path";
import { browser, open, serve } from "./harness.mjs";

const file = process.argv[2] ?? "lab.png";
const shared = await browser();
const server = await serve(join(import.meta.dirname, "../../examples/iris.csv"));
const spec = { data: { kind: "bundled", name: "iris-setosa" }, learner: "perceptron", settings: { order: "cyclic", scale: "none", verdict: "off" }, seed: 0, k: 0 };
const text = Buffer.from(JSON.stringify(spec)).toString("base64url");
const { page } = await open(shared, `${server.address}#v1=${text}`, { colorScheme: "light", viewport: { width: 1240, height: 700 }, deviceScaleFactor: 1 });
const rests = () => page.waitForFunction(() => globalThis.lab.resting());
await rests();
await page.click("#to-end");
await page.waitForFunction(() => globalThis.lab.store.run.summary.ended === "finished");
await rests();
await page.screenshot({ path: file });
await shared.close();
server.stop();
process.exit(0);
