//! `linsep separable DATA`: the verdict, with a proof either way.

mod json;
mod matrix;
mod meaning;
mod readings;
mod report;
mod rows;
mod what_if;

use super::data_lines::DataLines;
use super::margin::{self, Margins};
use super::{check_width, read_data};
use crate::context::{Context, timed_out};
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::kinds::FileKind;
use crate::output::{Facts, print, print_json};
use clap::ArgMatches;
use linsep::data::basis::Basis;
use linsep::data::cancel;
use linsep::proof::{Certificate, CertificateFile, DataIdentity, InputField};
use linsep::verdict::{Coefficients, Decision, Judge, Method, Removal, Verdict, certificate};
use linsep::{Error, Result as LinsepResult};
use readings::Readings;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use what_if::WhatIf;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    let constant = margin::asked(matches)?;
    let basis = input::basis(matches)?;
    let reading = Instant::now();
    let read = read_data(matches, context)?;
    let read_seconds = reading.elapsed().as_secs_f64();
    let lines = DataLines::new(&input::paths(matches), &read);
    let long = read.choices.long;
    let what_if = WhatIf::new(matches, read.data.n_rows())?;
    let data = match what_if.is_nothing() {
        true => read.data,
        false => what_if.apply(&read.data)?,
    };
    let expanded = cancel::catch(|| input::expand(data, basis.as_ref(), None, context));
    let data = Arc::new(expanded.unwrap_or(Err(Error::Interrupted))?);
    check_width(&data, 64, context)?;
    let mut judge = Judge::new(Arc::clone(&data));
    judge.threads = context.threads;
    judge.clock = seconds;
    judge.bias = matches.get_one::<String>("bias").is_none_or(|bias| bias == "on");
    judge.kind |= matches.get_flag("kind");
    judge.joint_kind |= matches.get_flag("kind");
    judge.by = method(matches)?;
    let deciding = Instant::now();
    let mut asked = ask(matches, &judge, context)?;
    let decide_seconds = deciding.elapsed().as_secs_f64();
    // The only question, or all classes at once.
    let analysing = Instant::now();
    let tells_coefficients =
        judge.by == Method::Search && (matches.get_flag("coefficients") || is_small(&judge));
    if let Some(last) = asked.all.last_mut().filter(|_| tells_coefficients) {
        last.coefficients = judge.coefficients(&last.decision, &|| context.stopped());
    }
    let coefficient_seconds = analysing.elapsed().as_secs_f64();
    let deciding = Instant::now();
    if matches.get_flag("removal") {
        let [one] = &mut asked.all[..] else {
            return Err(
                Error::usage("--removal is about two classes; use --pair or --positive").into()
            );
        };
        one.removal = judge.removal(&one.decision, &|| context.stopped());
    }
    let decide_seconds = decide_seconds + deciding.elapsed().as_secs_f64();
    if let Some(constant) = constant {
        for timed in &mut asked.all {
            timed.margins = margin::find(&judge, &timed.decision, constant, context);
        }
    }
    let verdict = asked.verdict();
    let readings = Readings::new(&asked, &judge, &long, matches, context);
    let digest = data.digest(context.threads);
    // The answer is printed even if its proof cannot be written.
    let mut written = Ok(());
    if let Some(path) = matches.get_one::<Output>("cert") {
        let decisions: Vec<Decision> =
            asked.all.iter().map(|timed| timed.decision.clone()).collect();
        let mut certificate = certificate(&decisions);
        let margins = asked.all.iter().filter_map(|timed| timed.margins.as_ref());
        certificate.claims.extend(margins.flat_map(Margins::claims));
        let coefficients = asked.all.iter().filter_map(|timed| timed.coefficients.as_ref());
        certificate.claims.extend(coefficients.map(|found| found.claim.clone()));
        let file = certificate_file(&judge, certificate, &digest);
        written = path
            .check(FileKind::Certificate, matches)
            .and_then(|()| path.write(|out| out.write_all(file.to_json().as_bytes())));
    }
    if context.json {
        let seconds = [read_seconds, decide_seconds, coefficient_seconds];
        let mut value = json::object(&asked, &judge, &digest, seconds, context);
        value["reading"] = lines.reading_json;
        if let Some(readings) = &readings {
            value["readings"] = readings.json(&asked);
        }
        print_json(&value)?;
    } else {
        let mut facts = Facts::default();
        lines.add_to(&mut facts);
        if data.input().basis.is_some() {
            facts.add("planes", format!("in {}", data.input().linear_in()));
        }
        if !what_if.is_nothing() {
            facts.add("what if", what_if.text());
        }
        report::add(&mut facts, &asked, &judge, matches, context);
        if let Some(readings) = &readings {
            readings.add_to(&mut facts, &asked);
        }
        if let Some(path) = matches.get_one::<Output>("cert").filter(|_| written.is_ok()) {
            facts.add("proof", format!("{} (check it with linsep verify)", path.display()));
        }
        print(&facts.text(context))?;
    }
    written?;
    let cut_short = context.stopped() && asked.all.iter().any(Timed::is_incomplete);
    Ok(ExitCode::from(match verdict {
        Verdict::Undecided if context.stopped() && !timed_out() => 130,
        Verdict::Undecided => 5,
        Verdict::Separable if cut_short && !timed_out() => 130,
        Verdict::Separable if cut_short => 5,
        Verdict::Separable => 0,
        _ => 1,
    }))
}

/// Whether the coefficients are told unasked: on large data that takes longer than the verdict.
fn is_small(judge: &Judge) -> bool {
    const VALUES: usize = 2_000_000;
    judge.data.n_rows().saturating_mul(judge.data.n_features()) <= VALUES
}

/// How two-class questions are to be decided.
fn method(matches: &ArgMatches) -> LinsepResult<Method> {
    let epochs = matches.get_one::<String>("epochs");
    let cycling = matches.get_one::<String>("by").is_some_and(|by| by == "cycling");
    match (cycling, epochs) {
        (false, Some(_)) => Err(Error::usage("--epochs is a limit of --by cycling")),
        (false, None) => Ok(Method::Search),
        (true, _) if matches.get_flag("kind") => Err(Error::usage(
            "--by cycling does not tell touching from overlapping; leave out --kind",
        )),
        (true, None) => Ok(Method::CYCLING),
        (true, Some(text)) => Ok(Method::Cycling { epochs: input::whole("epochs", text)? }),
    }
}

/// Seconds since the first call.
fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// The certificate with everything that a checker needs.
pub(super) fn certificate_file(
    judge: &Judge,
    certificate: Certificate,
    digest: &str,
) -> CertificateFile {
    let identity = DataIdentity::new(digest.to_owned(), judge.data.n_rows() as u64);
    let mut file = CertificateFile::new(identity, judge.reading(), judge.bias, certificate);
    file.basis = judge.data.input().basis.as_ref().map(Basis::claimed);
    file.input = InputField::of(judge.data.input());
    file
}

/// A decision and the time it took.
struct Timed {
    decision: Decision,
    seconds: f64,
    /// The margins, where they were asked for and it is separable.
    margins: Option<Margins>,
    /// What becomes of each coefficient of a fit, of the last question.
    coefficients: Option<Coefficients>,
    /// Rows without which a plane separates the others, where they were asked for.
    removal: Option<Removal>,
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
    let timed = |decide: &dyn Fn() -> LinsepResult<Decision>| -> LinsepResult<Timed> {
        let started = Instant::now();
        let decision = decide()?;
        let seconds = started.elapsed().as_secs_f64();
        Ok(Timed { decision, seconds, margins: None, coefficients: None, removal: None })
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
    // What is not asked any more is listed as undecided, as far as anybody would read that.
    const LISTED: usize = 1000;
    let too_late = |asked: usize| context.stopped() && asked >= LISTED;
    let mut pairs = Vec::new();
    'pairs: for (i, a) in classes.iter().enumerate() {
        for b in &classes[i + 1..] {
            if too_late(all.len()) {
                break 'pairs;
            }
            let pair = timed(&|| judge.pair(b, a, &stop))?;
            pairs.push(pair.decision.clone());
            all.push(pair);
        }
    }
    if matches.get_flag("joint") {
        all.clear();
    } else if classes.len() > 2 {
        for class in &classes {
            if too_late(all.len()) {
                break;
            }
            all.push(timed(&|| judge.class(class, &stop))?);
        }
    }
    all.push(timed(&|| judge.joint(&pairs, &stop))?);
    Ok(Asked { all })
}

/// Labels are compared in normal form: `+1` is `1`.
pub(super) fn normal(label: &str) -> String {
    linsep::data::read::normal_label(label)
}

impl Asked {
    fn verdict(&self) -> Verdict {
        self.all.last().map_or(Verdict::Undecided, |timed| timed.decision.verdict)
    }

    /// Whether there is more than one question.
    fn several(&self) -> bool {
        self.all.len() > 1
    }
}
