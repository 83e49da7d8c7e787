//! The verdict for people.

use super::{Asked, Timed, matrix, meaning, rows};
use crate::commands::margin::{self, Margins};
use crate::context::Context;
use crate::output::{Facts, counted};
use clap::ArgMatches;
use linsep::proof::{Claim, Scheme};
use linsep::verdict::{Cycle, Decision, Judge, Limit, Verdict, scheme_of};
use linsep::{Dataset, printable};

/// Adds what was found to the lines of the report.
pub(super) fn add(
    facts: &mut Facts,
    asked: &Asked,
    judge: &Judge,
    matches: &ArgMatches,
    context: &Context,
) {
    let all_witnesses = matches.get_flag("witness");
    match &asked.all[..] {
        [one] => single(facts, one, judge, all_witnesses, context),
        _ => several(facts, asked, judge, all_witnesses),
    }
    for timed in &asked.all {
        if let Some(margins) = &timed.margins {
            if asked.several() {
                facts.add(title(&timed.decision), question(&timed.decision).trim_end_matches(": "));
            }
            margins.text(facts, &judge.data);
        }
    }
    if let [one] = &asked.all[..]
        && matches.get_flag("removal")
    {
        facts.add("removal", meaning::removal(one.removal.as_ref(), &judge.data));
    }
    let bounds = |timed: &Timed| timed.margins.as_ref().is_some_and(Margins::has_bounds);
    let open = asked.all.iter().any(|timed| timed.decision.verdict == Verdict::Undecided);
    let proved = match asked.all.iter().any(bounds) {
        true => margin::PROVED,
        false if open => "every verdict above passed the exact checker, except what says undecided",
        false => "every verdict above passed the exact checker",
    };
    facts.add("proved", proved);
}

/// One question, with its rows and what it means.
fn single(facts: &mut Facts, timed: &Timed, judge: &Judge, with_point: bool, context: &Context) {
    let decision = &timed.decision;
    let data = judge.data.as_ref();
    facts.add(title(decision), format!("{}{}", question(decision), sentence(decision)));
    if let Some(cycle) = &decision.cycle {
        facts.add("perceptron", run_of(cycle));
    }
    if let Some(text) = rows::conflict(decision, data) {
        facts.add("conflict", text);
    }
    if let Some(text) = rows::common_point(decision, judge).filter(|_| with_point) {
        facts.add("meeting", text);
    }
    if let Some(text) = meaning::logistic(decision, judge) {
        facts.add("logistic", text);
        if judge.logistic(decision).is_some_and(|logistic| !logistic.exists) {
            facts.add("remedy", "linsep infer --penalty firth has finite estimates");
        }
    }
    fit(facts, timed, data);
    if decision.problem.is_some() && decision.verdict != Verdict::Undecided {
        let rank = judge.rank(decision, &|| context.stopped());
        if let Some(text) = meaning::rank(rank.as_ref(), data) {
            facts.add("rank", text);
        }
    }
}

/// What becomes of the coefficients of a fit.
fn fit(facts: &mut Facts, timed: &Timed, data: &Dataset) {
    if let Some(text) = meaning::softmax(&timed.decision) {
        facts.add("softmax", text);
    }
    let found = timed.coefficients.as_ref();
    if let Some(text) = found.and_then(|found| meaning::estimates(found, data)) {
        facts.add("estimates", text);
    }
}

/// Every pair, every class against the rest, all classes at once.
fn several(facts: &mut Facts, asked: &Asked, judge: &Judge, all_witnesses: bool) {
    if let Some(text) = matrix::pairs(&asked.all, judge.data.classes()) {
        facts.add("pairs", text);
    }
    if let Some(text) = matrix::rests(&asked.all, judge.data.n_classes()) {
        facts.add("rest", text);
    }
    let decisions = || asked.all.iter().map(|timed| &timed.decision);
    let joint = |timed: &&Timed| scheme_of(&timed.decision) == Scheme::Joint;
    for timed in asked.all.iter().filter(joint) {
        facts.add("joint", sentence(&timed.decision));
        fit(facts, timed, &judge.data);
    }
    let runs: Vec<&Cycle> = decisions().filter_map(|decision| decision.cycle.as_ref()).collect();
    if !runs.is_empty() {
        let sum = |part: fn(&Cycle) -> u64| runs.iter().map(|run| part(run)).sum::<u64>();
        facts.add(
            "perceptron",
            format!(
                "{}, {}, {}; {} came back to earlier weights",
                counted(runs.len() as u64, "run"),
                counted(sum(|run| run.epochs), "epoch"),
                counted(sum(|run| run.corrections), "update"),
                runs.iter().filter(|run| run.length.is_some()).count()
            ),
        );
    }
    for decision in decisions().filter(|_| all_witnesses) {
        if let Some(text) = rows::conflict(decision, &judge.data) {
            facts.add(title(decision), format!("{}{text}", question(decision)));
        }
        if let Some(text) = rows::common_point(decision, judge) {
            facts.add("meeting", text);
        }
    }
}

fn title(decision: &Decision) -> &'static str {
    match scheme_of(decision) {
        Scheme::Binary => "verdict",
        Scheme::Pair => "pair",
        Scheme::Rest => "rest",
        Scheme::Joint => "joint",
    }
}

/// `2 | 1: `, and nothing where there is only one question to ask.
fn question(decision: &Decision) -> String {
    match &decision.problem {
        Some(problem) if problem.scheme == Scheme::Rest => {
            format!("{} | rest: ", printable(problem.positive.join(", ").as_bytes(), 40))
        }
        Some(problem) if problem.scheme == Scheme::Pair => format!("{}: ", matrix::about(decision)),
        _ => String::new(),
    }
}

fn sentence(decision: &Decision) -> String {
    let rows = counted(decision.witness_rows() as u64, "row");
    match decision.verdict {
        Verdict::Separable if decision.problem.is_none() => {
            "separable; one plane for each class was checked on every row".into()
        }
        Verdict::Separable => "separable; a plane was checked on every row".into(),
        Verdict::Touching if decision.problem.is_none() => {
            format!(
                "quasi-separable (touching); {rows} show that no planes separate all rows strictly; some put no row wrong and some rows strictly right"
            )
        }
        Verdict::Overlapping if decision.problem.is_none() => {
            format!("overlapping; {rows} show that no planes separate, not even weakly")
        }
        Verdict::Touching => {
            format!(
                "quasi-separable (touching); {rows} show that no plane separates strictly, but one does weakly"
            )
        }
        Verdict::Overlapping => {
            format!("overlapping; {rows} show that no plane separates, not even weakly")
        }
        Verdict::Inseparable if rows.starts_with("1 ") => {
            format!("not separable; {rows} proves it")
        }
        Verdict::Inseparable => format!("not separable; {rows} prove it"),
        Verdict::Undecided => undecided(decision),
    }
}

fn undecided(decision: &Decision) -> String {
    let reason = match decision.limit {
        Some(Limit::Search) | None => "a limit was reached first",
        Some(limit) => limit.words(),
    };
    match &decision.claim {
        Claim::Bracket { bound, .. } => match upper_root(bound) {
            Some(margin) => format!(
                "undecided; {reason}; if they are separable at all, the margin is at most {margin}"
            ),
            None => format!("undecided; {reason}"),
        },
        _ => format!("undecided; {reason}"),
    }
}

/// √(p/q) with two digits, rounded up.
fn upper_root(bound: &str) -> Option<String> {
    let (p, q) = bound.split_once('/').unwrap_or((bound, "1"));
    let root = (p.parse::<f64>().ok()? / q.parse::<f64>().ok()?).sqrt() * (1.0 + 1e-12);
    if !root.is_finite() || root <= 0.0 {
        return None;
    }
    let unit = 10f64.powi(root.log10().floor() as i32 - 1);
    let up = (root / unit).ceil() * unit;
    Some(match (1e-3..1e4).contains(&up) {
        true => format!("{}", (up * 1e6).round() / 1e6),
        false => format!("{up:.1e}"),
    })
}

/// What the perceptron did.
fn run_of(cycle: &Cycle) -> String {
    let mut text =
        format!("{}, {}", counted(cycle.epochs, "epoch"), counted(cycle.corrections, "update"));
    if let Some(length) = cycle.length {
        text.push_str(&format!(
            "; the weights came back after {}, whose {} add up to 0",
            counted(length, "epoch"),
            counted(cycle.corrections_of_cycle, "update"),
        ));
    }
    if cycle.scale > 1 {
        let scale = crate::output::grouped(cycle.scale);
        text.push_str(&format!(" (everything {scale} times as large, to be whole)"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_rounded_up() {
        assert_eq!(upper_root("4").as_deref(), Some("2.1"), "never down, however close");
        assert_eq!(upper_root("1/4").as_deref(), Some("0.51"));
        assert_eq!(upper_root("1/100000000000000").as_deref(), Some("1.1e-7"));
        assert_eq!(upper_root("0"), None);
    }
}
