//! `linsep separable DATA`: the verdict, with a proof either way.

use super::margin::{self, Margins};
use super::{check_width, describe_input, read_data};
use crate::context::{Context, timed_out};
use crate::exit::Failure;
use crate::input;
use crate::output::{Facts, counted, print, print_json};
use clap::ArgMatches;
use linsep::atomic::write_atomic;
use linsep::proof::{Certificate, CertificateFile, Claim, DataIdentity, Scheme};
use linsep::verdict::{Decision, Judge, Verdict, certificate, scheme_of};
use linsep::{Dataset, Error};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    let constant = margin::asked(matches)?;
    let reading = Instant::now();
    let read = read_data(matches, context)?;
    let read_seconds = reading.elapsed().as_secs_f64();
    check_width(&read.data, 64, context)?;
    let (file, line) = describe_input(&input::paths(matches), &read);
    let data = Arc::new(read.data);
    let mut judge = Judge::new(Arc::clone(&data));
    judge.threads = context.threads;
    judge.clock = seconds;
    judge.bias = matches.get_one::<String>("bias").is_none_or(|bias| bias == "on");
    judge.kind |= matches.get_flag("kind");
    let deciding = Instant::now();
    let mut asked = ask(matches, &judge, context)?;
    let decide_seconds = deciding.elapsed().as_secs_f64();
    if let Some(constant) = constant {
        for timed in &mut asked.all {
            timed.margins = margin::find(&judge, &timed.decision, constant, context);
        }
    }
    let verdict = asked.verdict();
    let digest = data.digest(context.threads);
    if let Some(path) = matches.get_one::<PathBuf>("cert") {
        let decisions: Vec<Decision> =
            asked.all.iter().map(|timed| timed.decision.clone()).collect();
        let mut certificate = certificate(&decisions);
        let margins = asked.all.iter().filter_map(|timed| timed.margins.as_ref());
        certificate.claims.extend(margins.flat_map(Margins::claims));
        let file = file_of(&judge, certificate, &digest);
        write_atomic(path, |out| out.write_all(file.to_json().as_bytes()))?;
    }
    if context.json {
        print_json(&asked.json(&judge, &digest, [read_seconds, decide_seconds]))?;
    } else {
        let mut facts = Facts::default();
        facts.add(&file, &line);
        asked.text(&mut facts, &data, matches.get_flag("witness"));
        if let Some(path) = matches.get_one::<PathBuf>("cert") {
            facts.add("proof", format!("{} (check it with linsep verify)", path.display()));
        }
        print(&facts.text(context))?;
    }
    let cut_short = context.stopped() && asked.all.iter().any(Timed::is_incomplete);
    Ok(ExitCode::from(match verdict {
        Verdict::Undecided if context.stopped() && !timed_out() => 130,
        Verdict::Undecided => 5,
        Verdict::Separable if cut_short => {
            if timed_out() {
                5
            } else {
                130
            }
        }
        Verdict::Separable => 0,
        _ => 1,
    }))
}

/// Seconds since the first call.
fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// The certificate with everything that a checker needs.
fn file_of(judge: &Judge, certificate: Certificate, digest: &str) -> CertificateFile {
    let identity = DataIdentity { sha256: digest.to_owned(), rows: judge.data.n_rows() as u64 };
    let mut file = CertificateFile::new(identity, judge.reading(), judge.bias, certificate);
    file.input = serde_json::to_value(judge.data.input()).ok();
    file
}

/// A decision and the time it took.
struct Timed {
    decision: Decision,
    seconds: f64,
    /// The margins, where they were asked for and it is separable.
    margins: Option<Margins>,
}

impl Timed {
    fn is_incomplete(&self) -> bool {
        self.margins.as_ref().is_some_and(Margins::is_incomplete)
    }
}

/// Everything that was asked; the last decision gives the answer.
struct Asked {
    all: Vec<Timed>,
}

fn ask(matches: &ArgMatches, judge: &Judge, context: &Context) -> Result<Asked, Failure> {
    let stop = || context.stopped();
    let timed = |decide: &dyn Fn() -> linsep::Result<Decision>| -> Result<Timed, Error> {
        let started = Instant::now();
        let decision = decide()?;
        Ok(Timed { decision, seconds: started.elapsed().as_secs_f64(), margins: None })
    };
    let mut all = Vec::new();
    if let Some(pair) = matches.get_one::<String>("pair") {
        let Some((a, b)) = pair.split_once(',') else {
            return Err(
                Error::usage(format!("--pair: \"{pair}\" is not two classes such as A,B")).into()
            );
        };
        let (a, b) = (normal(a), normal(b));
        all.push(timed(&|| judge.pair(&a, &b, &stop))?);
        return Ok(Asked { all });
    }
    if let Some(class) = matches.get_one::<String>("class") {
        let class = normal(class);
        all.push(timed(&|| judge.class(&class, &stop))?);
        return Ok(Asked { all });
    }
    let classes = judge.data.classes().to_vec();
    if classes.len() <= 2 && !matches.get_flag("joint") {
        let positive = classes.last().cloned().unwrap_or_default();
        all.push(timed(&|| judge.class(&positive, &stop))?);
        return Ok(Asked { all });
    }
    let mut pairs = Vec::new();
    for (i, a) in classes.iter().enumerate() {
        for b in &classes[i + 1..] {
            let pair = timed(&|| judge.pair(b, a, &stop))?;
            pairs.push(pair.decision.clone());
            all.push(pair);
        }
    }
    if matches.get_flag("joint") {
        all.clear();
    } else if classes.len() > 2 {
        for class in &classes {
            all.push(timed(&|| judge.class(class, &stop))?);
        }
    }
    all.push(timed(&|| judge.joint(&pairs, &stop))?);
    Ok(Asked { all })
}

/// Labels are compared in normal form: `+1` is `1`.
fn normal(label: &str) -> String {
    linsep::data::read::normal_label(label)
}

impl Asked {
    fn verdict(&self) -> Verdict {
        self.all.last().map_or(Verdict::Undecided, |timed| timed.decision.verdict)
    }

    fn text(&self, facts: &mut Facts, data: &Dataset, all_witnesses: bool) {
        let several = self.all.len() > 1;
        for timed in &self.all {
            let decision = &timed.decision;
            let name = match scheme_of(decision) {
                Scheme::Binary => "verdict",
                Scheme::Pair => "pair",
                Scheme::Rest => "rest",
                Scheme::Joint => "joint",
            };
            let mut text = match &decision.problem {
                Some(problem) if several || problem.scheme != Scheme::Binary => {
                    let negative = match problem.scheme {
                        Scheme::Rest => "rest".to_owned(),
                        _ => problem.negative.join(", "),
                    };
                    format!("{} | {negative}: ", problem.positive.join(", "))
                }
                _ => String::new(),
            };
            text.push_str(&sentence(decision));
            if !several || all_witnesses {
                text.push_str(&witness(decision, data));
            }
            facts.add(name, text);
            if let Some(margins) = &timed.margins {
                margins.text(facts, data);
            }
        }
        let bounds = |timed: &Timed| timed.margins.as_ref().is_some_and(Margins::has_bounds);
        let proved = match self.all.iter().any(bounds) {
            true => margin::PROVED,
            false => "every line above passed the exact checker, except what says undecided",
        };
        facts.add("proved", proved);
    }

    fn json(&self, judge: &Judge, digest: &str, [read, decide]: [f64; 2]) -> serde_json::Value {
        let claims: Vec<_> = self
            .all
            .iter()
            .map(|Timed { decision, seconds, margins }| {
                let (positive, negative) = match &decision.problem {
                    Some(problem) => (problem.positive.clone(), problem.negative.clone()),
                    None => (Vec::new(), Vec::new()),
                };
                let mut claim = json!({
                    "scheme": scheme_of(decision).word(),
                    "positive": positive,
                    "negative": negative,
                    "verdict": decision.verdict.word(),
                    "witness_rows": decision.witness_rows(),
                    "margin": margin::proved_interval(judge, decision),
                    "passes": decision.passes,
                    "seconds": seconds,
                });
                if let Some(margins) = margins {
                    margins.add_to(&mut claim);
                }
                claim
            })
            .collect();
        let prove: f64 = self.all.iter().map(|timed| timed.decision.proving).sum();
        json!({
            "schema": "linsep.result/1",
            "command": "separable",
            "verdict": self.verdict().word(),
            "claims": claims,
            "seconds": { "read": read, "decide": decide, "prove": prove },
            "digest": digest,
            "reading": judge.reading(),
        })
    }
}

fn sentence(decision: &Decision) -> String {
    let rows = counted(decision.witness_rows() as u64, "row");
    match decision.verdict {
        Verdict::Separable if decision.problem.is_none() => {
            "separable; one plane for each class was checked on every row".into()
        }
        Verdict::Separable => "separable; a plane was checked on every row".into(),
        Verdict::Touching => {
            format!("touching; {rows} show that no plane separates strictly, but one does weakly")
        }
        Verdict::Overlapping => {
            format!("overlapping; {rows} show that no plane separates, not even weakly")
        }
        Verdict::Inseparable => format!("not separable; {rows} prove it"),
        Verdict::Undecided => "undecided; a limit was reached first".into(),
    }
}

/// The rows of a witness with their place, class, weight and values.
fn witness(decision: &Decision, data: &Dataset) -> String {
    let entries: Vec<(u64, String)> = match &decision.claim {
        Claim::Inseparable { witness, .. }
        | Claim::Touching { witness, .. }
        | Claim::Overlapping { witness, .. } => {
            witness.iter().map(|w| (w.row, w.lambda.clone())).collect()
        }
        Claim::JointInseparable { witness } => {
            witness.iter().map(|w| (w.row, format!("{} against {}", w.lambda, w.against))).collect()
        }
        _ => return String::new(),
    };
    let mut text = String::new();
    for (row, lambda) in entries.iter().take(60) {
        let place = match (data.origin().file(*row), data.origin().line(*row)) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => format!("row {row}"),
        };
        let mut values: Vec<String> = Vec::new();
        data.for_each(*row as usize, |j, x| {
            values.push(format!("{} {x}", data.input().feature_name(j as usize)))
        });
        let more = if values.len() > 8 { ", …" } else { "" };
        values.truncate(8);
        let label = linsep::printable(data.label_text(*row as usize).as_bytes(), 30);
        text.push_str(&format!(
            "\n  {place}  class {label}  weight {lambda}  ({}{more})",
            values.join(", ")
        ));
    }
    if entries.len() > 60 {
        text.push_str(&format!("\n  and {} more rows; --cert writes all", entries.len() - 60));
    }
    text
}
