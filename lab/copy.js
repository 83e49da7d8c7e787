/** The present run as a command, as Python and as Rust, to be run elsewhere with the same result. */
import { store } from "./state.js";

/** Learners and parameters that have a name of their own in the Python package; all others follow a rule. */
export const CLASSES = /** @type {Record<string, string>} */ ({
  averaged: "AveragedPerceptron", "bernoulli-nb": "BernoulliNB", fisher: "FisherDiscriminant", lda: "LinearDiscriminantAnalysis",
  "least-squares": "LeastSquaresClassifier", logistic: "LogisticRegression", "multinomial-nb": "MultinomialNB", pocket: "PocketPerceptron",
  "shared-variance-nb": "SharedVarianceNB", svm: "LinearSVC", voted: "VotedPerceptron",
});
export const PARAMETERS = /** @type {Record<string, string>} */ ({ c: "C", eta: "eta0", gap: "tol", intercept: "fit_intercept" });
export const WORDS = /** @type {Record<string, string>} */ ({ "elastic-net": "elasticnet" });

/** @param {string} text */
const quoted = (text) => (/^[A-Za-z0-9_./:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
/** A text of Python, JSON or Rust: what JSON escapes, all three read. @param {string} text */
const text = (text) => JSON.stringify(text);
/** A text of Rust, which has its own way to write what is no letter. @param {string} words */
const rusty = (words) => `"${[...words].map((c) => (c === '"' || c === "\\" ? `\\${c}` : c < " " || c > "~" ? `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}` : c)).join("")}"`;

/** The file that the copied text reads. */
function file() {
  const run = store.run;
  if (!run) return "data.csv";
  return run.spec.data.kind === "file" ? run.data.name : `${run.data.name}.csv`;
}

/** What cannot be said outside the page. @param {string} mark the sign of a comment */
function remarks(mark) {
  const run = store.run;
  const lines = [];
  if (run && run.spec.data.kind !== "file") lines.push(`Rows: "Save data" in the lab writes ${file()}.`);
  if (run?.spec.learner === "two-weights") lines.push("The run with two weights is the lab's own; this is the perceptron with a bias.");
  if (run?.spec.choose) lines.push("The rows were chosen by hand; this visits them in their order.");
  if (run?.spec.start && mark === "#") lines.push(`The page began with the planes (bias first) ${started(" ; ")}; this begins as init says. In Rust they are settings.start.`);
  return lines.map((line) => `${mark} ${line}\n`).join("");
}

/** The learner and the settings that exist outside the page. */
function recipe() {
  const spec = store.run?.spec;
  const opening = store.catalogue?.sets.own?.opening;
  const bare = !spec || spec.learner === "two-weights";
  const held = spec?.learner === "model";
  const learner = bare ? "perceptron" : held ? (opening?.learner ?? "perceptron") : spec.learner;
  /** @type {Record<string, string>} */
  const settings = bare ? { order: "cyclic", scale: "none", verdict: "off" } : held ? { ...opening?.settings } : { ...spec.settings };
  if (spec?.choose) settings.order = "cyclic";
  const known = store.catalogue?.learners.find((one) => one.name === learner);
  return { learner, settings, known, parameter: (/** @type {string} */ name) => known?.parameters.find((one) => one.name === name) };
}

/** The class that was chosen as positive at the start. */
const positive = () => (store.run?.spec.data.kind === "file" ? store.catalogue?.sets.own?.positive : undefined) ?? undefined;

/** The planes to begin with. @param {string} end */
const started = (end) => store.run?.spec.start?.map((plane) => plane.join(",")).join(end);

/** The present run as a command. */
export function asCommand() {
  const run = store.run;
  if (!run) return "";
  const { spec } = run;
  const { learner, settings } = recipe();
  const parts = ["linsep", "train", quoted(file()), "--learner", learner];
  for (const [name, value] of Object.entries(settings)) parts.push(`--${name}`, quoted(value));
  const chosen = positive();
  if (chosen !== undefined) parts.push("--positive", quoted(chosen));
  if (spec.basis) parts.push("--basis", quoted(spec.basis));
  if (spec.epochs) parts.push("--epochs", String(spec.epochs));
  if (spec.seed) parts.push("--seed", String(spec.seed));
  if (run.summary.traced) parts.push("--trace", "run.ndjson");
  return `${remarks("#")}${parts.join(" ")}\n`;
}

/** A value of a setting as Python writes it. @param {import("./types").Parameter | undefined} parameter @param {string} value */
function pythonValue(parameter, value) {
  const words = parameter?.words ?? [];
  if (parameter?.name === "intercept" && (value === "free" || value === "none")) return value === "free" ? "True" : "False";
  if ([...words].sort().join() === "off,on") return value === "on" ? "True" : "False";
  if (value === "none") return "None";
  if (words.includes(value)) return text(WORDS[value] ?? value.replaceAll("-", "_"));
  if (parameter?.value === "N" && /^[0-9]+$/.test(value)) return value;
  return value.trim() !== "" && Number.isFinite(Number(value)) && /^[-+0-9.eE]+$/.test(value) ? value : text(value);
}

/** The class of a learner in Python. @param {string} learner */
const className = (learner) => CLASSES[learner] ?? learner.split("-").map((word) => word[0].toUpperCase() + word.slice(1)).join("");

/** The present run in Python. */
export function asPython() {
  const run = store.run;
  if (!run) return "";
  const { spec } = run;
  const { learner, settings, known, parameter } = recipe();
  const given = Object.entries(settings).map(([name, value]) => `${PARAMETERS[name] ?? name.replaceAll("-", "_")}=${pythonValue(parameter(name), value)}`);
  if (known?.kind !== "direct") {
    if (spec.epochs) given.push(`max_iter=${spec.epochs}`);
    if (spec.seed) given.push(`random_state=${spec.seed}`);
  }
  const lines = ["import linsep", "", `X, y = linsep.read(${text(file())})`];
  const chosen = positive();
  if (chosen !== undefined) lines.push(`y = [label == ${text(chosen)} for label in y]`);
  if (spec.basis) lines.push(`X = linsep.BasisExpansion(basis=${text(spec.basis)}${spec.seed ? `, random_state=${spec.seed}` : ""}).fit_transform(X)`);
  lines.push(`learner = linsep.${className(learner)}(${given.join(", ")})`, "learner.fit(X, y)", "print(learner.intercept_, learner.coef_)");
  return `${remarks("#")}${lines.join("\n")}\n`;
}

/** The present run in Rust. */
export function asRust() {
  const run = store.run;
  if (!run) return "";
  const { spec } = run;
  const { learner, settings } = recipe();
  const lines = ["use linsep::data::read::{ReadOptions, read};", "use linsep::recipe::{Recipe, Settings};", `use linsep::{Limits,${spec.start ? " Plane," : ""} Task};`, "", "fn main() -> linsep::Result<()> {"];
  const chosen = positive();
  if (chosen !== undefined) lines.push("    let mut options = ReadOptions::default();", `    options.positive = Some(${rusty(chosen)}.into());`);
  lines.push(`    let ${spec.basis ? "mut " : ""}data = read(&[${rusty(file())}.into()], &${chosen === undefined ? "ReadOptions::default()" : "options"})?.data;`);
  if (spec.basis) lines.push(`    data = data.with_basis(&${rusty(spec.basis)}.parse()?, None, ${spec.seed}, None)?;`);
  lines.push("    let mut settings = Settings::default();");
  if (spec.seed) lines.push(`    settings.seed = ${spec.seed};`);
  for (const [name, value] of Object.entries(settings)) lines.push(`    settings.set(${rusty(name)}, ${rusty(value)});`);
  if (spec.start) {
    const planes = spec.start.map(([b, ...w]) => `Plane::new(vec![${w.map((x) => `${x}f64`).join(", ")}], ${b}f64)`);
    lines.push('    settings.set("init", "start");', `    settings.start = Some(vec![${planes.join(", ")}]);`);
  }
  const limits = spec.epochs ? `Limits::default().with_epochs(Some(${spec.epochs}))` : "Limits::default()";
  lines.push(`    let learner = Recipe::find(${rusty(learner)})?.build(&settings)?;`, `    let fit = learner.fit(&Task::new(data), &${limits}, &mut ())?;`);
  lines.push("    for plane in &fit.model.planes {", '        println!("{} {:?}", plane.bias, plane.weights);', "    }", "    Ok(())", "}");
  return `${remarks("//")}${lines.join("\n")}\n`;
}
