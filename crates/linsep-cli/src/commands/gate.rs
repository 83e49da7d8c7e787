//! `linsep gate NAME`: a Boolean function as a table, as neurons and as a plane, or the proof that no
//! neuron computes it.

use super::equation;
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::input::whole;
use crate::kinds::FileKind;
use crate::output::{Facts, aligned, counted, grouped, print, print_json};
use clap::ArgMatches;
use linsep::data::write::{Packer, write};
use linsep::proof::{Certificate, CertificateFile, Claim};
use linsep::verdict::{Decision, Judge, Method, Verdict};
use linsep::{Dataset, Error, Plane};
use linsep_teach::neuron::{
    Activation, Gate, Obstacle, Realisation, Thresholds, TruthTable, plane_of,
};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;

/// Tables of more inputs are printed by the number of inputs that are on.
const WHOLE_TABLES: usize = 4;

/// Passes of the perceptron over the table.
const EPOCHS: u64 = 10_000;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let gate: Gate = text("gate").unwrap_or_default().parse()?;
    let inputs = match text("inputs") {
        Some(number) => usize::try_from(whole("inputs", number)?).unwrap_or(usize::MAX),
        None => gate.usual_inputs(),
    };
    let table = TruthTable::of_gate(gate, inputs)?;
    let target = |name: &str| matches.get_one::<Output>(name);
    for name in ["table", "cert"] {
        if target(name).is_some_and(|path| path.is_stdout()) {
            return Err(Error::usage(format!(
                "--{name}: the report goes to standard output; give a file"
            ))
            .into());
        }
    }
    let format =
        target("table").map(|path| super::convert::target(None, path.path())).transpose()?;
    let data = Arc::new(table.dataset()?);
    let realisation = table.realise()?;
    let learned = learn(&data, context)?;
    if let (Some(path), Some((format, packing))) = (target("table"), format) {
        path.write(|out| {
            let mut out = Packer::new(out, packing)?;
            write(&data, format, &mut out)?;
            out.finish()
        })?;
    }
    if let Some(path) = target("cert") {
        let certificate = certificate(&data, &realisation, context);
        path.check(FileKind::Certificate, matches)?;
        path.write(|out| out.write_all(certificate.to_json().as_bytes()))?;
    }
    let report = Report { gate, table: &table, realisation: &realisation, learned: &learned };
    if context.json {
        print_json(&report.json())?;
    } else {
        let mut facts = report.facts();
        if let Some(path) = target("table") {
            facts.add("written", format!("{}, the table as data", path.display()));
        }
        if let Some(path) = target("cert") {
            let words = "check it with linsep verify against the table";
            facts.add("proof", format!("{} ({words})", path.display()));
        }
        print(&facts.text(context))?;
    }
    Ok(ExitCode::from(u8::from(realisation.neuron.is_none())))
}

/// What the perceptron of the lectures makes of the table: whole numbers, in the order of the rows.
fn learn(data: &Arc<Dataset>, context: &Context) -> Result<Decision, Failure> {
    let mut judge = Judge::new(Arc::clone(data));
    judge.by = Method::Cycling { epochs: EPOCHS };
    Ok(judge.class("1", &|| context.stopped())?)
}

/// The proof, for any reading of the same table.
fn certificate(data: &Dataset, realisation: &Realisation, context: &Context) -> CertificateFile {
    let claims = realisation.claim.iter().cloned().collect();
    let identity = data.identity(context.threads);
    CertificateFile::new(identity, data.reading_field(), true, Certificate::new(claims))
}

struct Report<'a> {
    gate: Gate,
    table: &'a TruthTable,
    realisation: &'a Realisation,
    learned: &'a Decision,
}

impl Report<'_> {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        let inputs = self.table.inputs();
        let names = self.names();
        facts.add(
            "gate",
            format!("{}, {}, {}", self.gate, counted(inputs as u64, "input"), self.meaning()),
        );
        facts.add("table", if inputs > WHOLE_TABLES { self.by_count() } else { self.rows() });
        facts.add("MP", self.mcculloch_pitts());
        match &self.realisation.neuron {
            Some(neuron) => {
                let plane = neuron.plane();
                let left = equation::sum(&neuron.weights, &names);
                facts.add(
                    "TLN",
                    format!(
                        "fires when {left} >= {} (weights and theta)\nfires when {} >= 0 (bias w0 = -theta = {})",
                        neuron.theta,
                        equation::score(&plane, &names),
                        plane.bias,
                    ),
                );
                let line = equation::line(&plane, &names);
                let line = line.map_or(String::new(), |line| format!("; as a line {line}"));
                facts.add("plane", format!("{left} = {}{line}", neuron.theta));
                facts.add(
                    "signals",
                    "step (0 or 1), sign (-1 or +1) and logistic (1/2 on the plane) change at the same plane",
                );
            }
            None => {
                facts.add("TLN", "none: no weights and no theta compute it");
                facts.add("conflict", self.conflict());
            }
        }
        facts.add("perceptron", self.perceptron());
        facts.add(
            "limits",
            "MP: Boolean inputs, all alike, a theta set by hand; perceptron: real inputs, weights and theta learned;\nneither computes what no plane separates",
        );
        facts.add(
            "proved",
            match &self.realisation.claim {
                Some(Claim::Separable { .. }) => {
                    "separable: every row is strictly on its side of the plane, checked in exact arithmetic"
                        .to_owned()
                }
                Some(claim) => {
                    format!("{}: no plane has every row on its side, checked in exact arithmetic", claim.name())
                }
                None => "nothing".to_owned(),
            },
        );
        facts
    }

    fn names(&self) -> Vec<String> {
        (1..=self.table.inputs()).map(|j| format!("x{j}")).collect()
    }

    fn meaning(&self) -> String {
        let name = self.gate.to_string();
        let known = Gate::LIST.iter().find(|(listed, _)| *listed == name);
        match self.gate {
            Gate::Xor | Gate::Parity => "1 if an odd number of inputs is on".to_owned(),
            Gate::AtLeast(least) => format!("1 if at least {least} of the inputs are on"),
            _ => known.map_or("", |(_, words)| words).to_owned(),
        }
    }

    /// The score of a row and its signals.
    fn signals(&self, row: usize) -> Option<[String; 4]> {
        let neuron = self.realisation.neuron.as_ref()?;
        let score = neuron.score(&self.table.values(row));
        Some([
            score.to_string(),
            Activation::Step.signal(score).to_string(),
            Activation::Sign.signal(score).to_string(),
            format!("{:.4}", Activation::Logistic.signal(score)),
        ])
    }

    const SIGNALS: [&'static str; 4] = ["score", "step", "sign", "logistic"];

    fn rows(&self) -> String {
        let mut lines: Vec<Vec<String>> = vec![self.names()];
        lines[0].push("output".into());
        for (row, output) in self.table.outputs().iter().enumerate() {
            let digit = |on: bool| u8::from(on).to_string();
            let mut line: Vec<String> = self.table.row(row).into_iter().map(digit).collect();
            line.push(digit(*output));
            line.extend(self.signals(row).into_iter().flatten());
            lines.push(line);
        }
        self.in_columns(lines)
    }

    /// The table by the number of inputs that are on, which decides everything.
    fn by_count(&self) -> String {
        let inputs = self.table.inputs();
        let mut lines: Vec<Vec<String>> = vec![["on", "rows", "output"].map(String::from).to_vec()];
        let mut rows = 1u64;
        for ones in 0..=inputs {
            let output = u8::from(self.gate.value(ones, inputs)).to_string();
            let mut line = vec![format!("{ones} of {inputs}"), grouped(rows), output];
            // The first row with so many inputs on has them at the end.
            line.extend(self.signals((1 << ones) - 1).into_iter().flatten());
            lines.push(line);
            rows = rows * (inputs - ones) as u64 / (ones as u64 + 1);
        }
        self.in_columns(lines)
    }

    /// Columns with a heading, flush right.
    fn in_columns(&self, mut lines: Vec<Vec<String>>) -> String {
        if self.realisation.neuron.is_some() {
            lines[0].extend(Self::SIGNALS.map(String::from));
        }
        aligned(&lines, |_| true).join("\n")
    }

    /// A row as `x1 0, x2 1`, or by the number of inputs that are on where there are many.
    fn describe(&self, row: usize) -> String {
        let names = self.names();
        let cells = names.iter().zip(self.table.row(row));
        let cells: Vec<String> =
            cells.map(|(name, on)| format!("{name} {}", u8::from(on))).collect();
        cells.join(", ")
    }

    fn mcculloch_pitts(&self) -> String {
        match self.table.mcculloch_pitts() {
            Ok(all) => {
                let range = thresholds(&all);
                let exciting: Vec<String> = self.wires(&all, false);
                let inhibiting = self.wires(&all, true);
                let theta = all.neuron().theta;
                if inhibiting.is_empty() {
                    return format!("fires when {} >= {theta}; {range}", exciting.join(" + "));
                }
                format!(
                    "silent while {} is on, else it fires (theta {theta}); {range}\nnone without inhibition: a neuron that only adds does not fall silent when an input comes on",
                    inhibiting.join(" or ")
                )
            }
            Err(Obstacle { fires, silent, .. }) => {
                let on = |row: usize| {
                    let count = counted(u64::from(row.count_ones()), "input");
                    format!("{count} on ({})", self.describe(row))
                };
                format!(
                    "none: it would have to fire with {} and be silent with {},\nbut without weights it only counts inputs, and more of them never silence it",
                    on(fires),
                    on(silent)
                )
            }
        }
    }

    fn wires(&self, all: &Thresholds, inhibitory: bool) -> Vec<String> {
        let names = self.names();
        let wires = names.into_iter().zip(&all.inhibitory);
        wires.filter(|(_, flag)| **flag == inhibitory).map(|(name, _)| name).collect()
    }

    /// The rows that prove that there is no plane.
    fn conflict(&self) -> String {
        const SHOWN: usize = 12;
        let witness = match &self.realisation.claim {
            Some(Claim::Inseparable { witness, .. })
            | Some(Claim::Touching { witness, .. })
            | Some(Claim::Overlapping { witness, .. }) => &witness[..],
            _ => &[],
        };
        let mut text = format!(
            "{} with whole weights: z(1, x) times the weight, z = +1 for output 1 and -1 for 0, add up to 0,\nbut on a plane that has every row on its side the sum would be above 0",
            counted(witness.len() as u64, "row")
        );
        for entry in witness.iter().take(SHOWN) {
            let row = entry.row as usize;
            let output = self.table.outputs().get(row).copied().unwrap_or(false);
            text.push_str(&format!(
                "\n{}  output {}  weight {}",
                self.describe(row),
                u8::from(output),
                entry.lambda
            ));
        }
        if witness.len() > SHOWN {
            text.push_str(&format!("\nand {} more", witness.len() - SHOWN));
        }
        text
    }

    /// The plane that the perceptron learned, if it did.
    fn learned_plane(&self) -> Option<Plane> {
        match &self.learned.claim {
            Claim::Separable { plane, .. } => plane_of(plane, self.table.inputs()),
            _ => None,
        }
    }

    fn perceptron(&self) -> String {
        let Some(cycle) = &self.learned.cycle else { return "not run".to_owned() };
        let effort =
            format!("{}, {}", counted(cycle.epochs, "epoch"), counted(cycle.corrections, "update"));
        match (self.learned_plane(), self.learned.verdict) {
            (Some(plane), _) => format!(
                "learns it from the table in {effort}: fires when {} >= 0",
                equation::score(&plane, &self.names())
            ),
            (None, Verdict::Undecided) => {
                format!("had neither learned it nor come back to earlier weights after {effort}")
            }
            (None, _) => format!(
                "never learns it: after {effort} it came back to earlier weights, {} add up to 0",
                counted(cycle.corrections_of_cycle, "update")
            ),
        }
    }

    fn json(&self) -> Value {
        let outputs = self.table.outputs();
        let table: Vec<Value> = (0..outputs.len())
            .map(|row| {
                let inputs: Vec<u8> = self.table.row(row).into_iter().map(u8::from).collect();
                let score =
                    self.realisation.neuron.as_ref().map(|n| n.score(&self.table.values(row)));
                json!({ "inputs": inputs, "output": u8::from(outputs[row]), "score": score })
            })
            .collect();
        let mp = match self.table.mcculloch_pitts() {
            Ok(all) => json!({
                "theta": all.neuron().theta,
                "lowest": all.lowest,
                "highest": all.highest,
                "inhibitory": self.wires(&all, true),
            }),
            Err(Obstacle { fires, silent, .. }) => {
                json!({ "theta": null, "obstacle": { "fires": fires, "silent": silent } })
            }
        };
        let neuron = self.realisation.neuron.as_ref();
        let tln = neuron.map(|neuron| {
            json!({ "weights": neuron.weights, "theta": neuron.theta, "bias": neuron.plane().bias })
        });
        let cycle = self.learned.cycle.as_ref();
        let learned = self.learned_plane();
        json!({
            "schema": "linsep.result/1",
            "command": "gate",
            "gate": self.gate.to_string(),
            "inputs": self.table.inputs(),
            "table": table,
            "mcculloch_pitts": mp,
            "neuron": tln,
            "line": neuron.and_then(|n| equation::line(&n.plane(), &self.names())),
            "perceptron": {
                "verdict": self.learned.verdict.word(),
                "epochs": cycle.map(|c| c.epochs),
                "updates": cycle.map(|c| c.corrections),
                "cycle": cycle.and_then(|c| c.length),
                "weights": learned.as_ref().map(|plane| plane.weights.clone()),
                "bias": learned.as_ref().map(|plane| plane.bias),
            },
            "claim": self.realisation.claim,
        })
    }
}

/// The whole thresholds that work, in words.
fn thresholds(all: &Thresholds) -> String {
    match (all.lowest, all.highest) {
        (Some(low), Some(high)) if low == high => {
            format!("theta {low} is the only whole one (any above {} up to {high} does)", low - 1)
        }
        (Some(low), Some(high)) => format!("every whole theta from {low} to {high} works"),
        (None, Some(high)) => format!("every theta up to {high} works"),
        (Some(low), None) => format!("every theta from {low} on works"),
        (None, None) => "every theta works".to_owned(),
    }
}
