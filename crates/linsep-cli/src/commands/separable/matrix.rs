//! Many questions at a glance: a triangle of pairs, and what is not separable by name.

use super::Timed;
use crate::output::grouped;
use linsep::printable;
use linsep::proof::Scheme;
use linsep::verdict::{Decision, Verdict, scheme_of};

/// Classes up to which the triangle is printed.
const MOST_CLASSES: usize = 20;

/// Letters of a line of the triangle, of a class name in it at least, and exceptions named in a line.
const LINE: usize = 88;
const LETTERS: usize = 4;
const NAMED: usize = 8;

const VERDICTS: [(Verdict, &str); 5] = [
    (Verdict::Separable, "s"),
    (Verdict::Touching, "t"),
    (Verdict::Overlapping, "o"),
    (Verdict::Inseparable, "i"),
    (Verdict::Undecided, "u"),
];

/// The line of all pairs, and the triangle where it is not too large.
pub(super) fn pairs(all: &[Timed], classes: &[String]) -> Option<String> {
    let pairs = of_scheme(all, Scheme::Pair);
    if pairs.is_empty() {
        return None;
    }
    let count = classes.len() as u64;
    let mut text = summary(&pairs, count * (count - 1) / 2, "pairs separable");
    if classes.len() <= MOST_CLASSES {
        text.push_str(&triangle(&pairs, classes));
    }
    Some(text)
}

/// The line of all classes against the rest.
pub(super) fn rests(all: &[Timed], classes: usize) -> Option<String> {
    let rests = of_scheme(all, Scheme::Rest);
    (!rests.is_empty()).then(|| summary(&rests, classes as u64, "separable from the rest"))
}

fn of_scheme(all: &[Timed], scheme: Scheme) -> Vec<&Decision> {
    let decisions = all.iter().map(|timed| &timed.decision);
    decisions.filter(|decision| scheme_of(decision) == scheme).collect()
}

/// `8 of 10 separable from the rest; touching: 8, 9`. There may be more questions than were asked.
fn summary(decisions: &[&Decision], questions: u64, words: &str) -> String {
    let with = |verdict: Verdict| decisions.iter().filter(move |d| d.verdict == verdict);
    let separable = with(Verdict::Separable).count();
    let mut text = format!("{} of {} {words}", grouped(separable as u64), grouped(questions));
    match questions.saturating_sub(decisions.len() as u64) {
        0 => {}
        rest => text.push_str(&format!("; {} not asked", grouped(rest))),
    }
    for (verdict, _) in &VERDICTS[1..] {
        let names: Vec<String> = with(*verdict).map(|decision| about(decision)).collect();
        if names.is_empty() {
            continue;
        }
        let shown = names[..names.len().min(NAMED)].join(", ");
        match names.len().saturating_sub(NAMED) {
            0 => text.push_str(&format!("; {}: {shown}", verdict.word())),
            more => text.push_str(&format!("; {}: {shown} and {more} more", verdict.word())),
        }
    }
    text
}

/// `2 | 1` for a pair, the class alone against the rest.
pub(super) fn about(decision: &Decision) -> String {
    let Some(problem) = &decision.problem else { return "all classes".into() };
    let names = |names: &[String]| printable(names.join(", ").as_bytes(), 40);
    match problem.scheme {
        Scheme::Pair => format!("{} | {}", names(&problem.positive), names(&problem.negative)),
        _ => names(&problem.positive),
    }
}

fn triangle(pairs: &[&Decision], classes: &[String]) -> String {
    let verdict = |a: &String, b: &String| {
        let asks = |names: &[String], class: &String| names.first() == Some(class);
        let found = pairs.iter().find(|decision| {
            decision.problem.as_ref().is_some_and(|problem| {
                (asks(&problem.positive, a) && asks(&problem.negative, b))
                    || (asks(&problem.positive, b) && asks(&problem.negative, a))
            })
        })?;
        Some(found.verdict)
    };
    let mark = |verdict: Verdict| {
        VERDICTS.iter().find(|(known, _)| *known == verdict).map_or("?", |(_, mark)| mark)
    };
    let room = (LINE / classes.len()).saturating_sub(2).max(LETTERS);
    let short: Vec<String> = classes.iter().map(|name| printable(name.as_bytes(), room)).collect();
    let width = short.iter().map(|name| name.chars().count()).max().unwrap_or(1);
    let mut text = format!("\n{:width$}", "");
    for name in &short[..classes.len() - 1] {
        text.push_str(&format!("  {name:>width$}"));
    }
    for (i, class) in classes.iter().enumerate().skip(1) {
        text.push_str(&format!("\n{:>width$}", short[i]));
        for other in &classes[..i] {
            let mark = verdict(class, other).map_or("?", mark);
            text.push_str(&format!("  {mark:>width$}"));
        }
    }
    let seen = |verdict: Verdict| pairs.iter().any(|decision| decision.verdict == verdict);
    let legend: Vec<String> = VERDICTS
        .iter()
        .filter(|(verdict, _)| seen(*verdict))
        .map(|(verdict, mark)| format!("{mark} {}", verdict.word()))
        .collect();
    format!("{text}\n{}", legend.join(", "))
}
