//! What a verdict means for logistic regression, and the rank of the rows, in words.

use super::rows::{name, place};
use crate::output::{counted, grouped};
use linsep::proof::Estimate;
use linsep::verdict::{Coefficients, Decision, Judge, Logistic, Rank, Removal, Verdict};
use linsep::{Dataset, printable};

/// Names and rows that a line lists at most.
const SHOWN: usize = 6;

/// Coefficients that have a line each.
const LINES: usize = 40;

/// The line `softmax`, where all classes at once were told apart.
pub(super) fn softmax(decision: &Decision) -> Option<&'static str> {
    match decision.verdict {
        _ if decision.problem.is_some() => None,
        Verdict::Overlapping => Some("the maximum-likelihood fit of all classes at once exists"),
        Verdict::Separable | Verdict::Touching => {
            Some("no maximum-likelihood fit of all classes at once exists")
        }
        _ => None,
    }
}

/// The line `logistic`, where the kind of the rows is known.
pub(super) fn logistic(decision: &Decision, judge: &Judge) -> Option<String> {
    let Logistic { exists, unique, infinite, rows, row_count, .. } = judge.logistic(decision)?;
    if exists {
        return Some(match unique {
            true => "the maximum-likelihood fit exists and is unique".into(),
            false => "the maximum-likelihood fit exists but is not unique".into(),
        });
    }
    let none = "no maximum-likelihood fit exists";
    if decision.verdict == Verdict::Separable {
        return Some(format!(
            "{none}: a plane separates the rows (complete separation), so no coefficient is bounded"
        ));
    }
    let data = judge.data.as_ref();
    let lines = places(data, &rows, row_count);
    let none = format!("{none}, because of {} ({lines})", counted(row_count, "row"));
    let bias = judge.bias.then_some(None);
    let all = bias.into_iter().chain((0..data.n_features() as u32).map(Some));
    let bounded: Vec<Option<u32>> = all.filter(|j| !infinite.contains(j)).take(2).collect();
    let of = listed(data, &infinite);
    let are = if infinite.len() == 1 { "is" } else { "are" };
    let of = format!("the {} of {of} {are} unbounded", nouns(infinite.len()));
    Some(match &bounded[..] {
        [] => format!("{none}: no coefficient is bounded"),
        [one] => {
            format!("{none}: {of}; that of {} is finite", listed(data, &[*one]))
        }
        _ => format!("{none}: {of}; the others are finite"),
    })
}

/// The lines `estimates`, one for each coefficient unless all are alike; nothing where all are finite.
pub(super) fn estimates(found: &Coefficients, data: &Dataset) -> Option<String> {
    let first = found.list.first()?.2;
    if found.list.iter().all(|(_, _, estimate)| *estimate == first) {
        let words = legend(first).unwrap_or(in_words(first));
        let all = format!("all {} are {words}", grouped(found.list.len() as u64));
        return Some(all).filter(|_| first != Estimate::Finite);
    }
    let listed = &found.list[..found.list.len().min(LINES)];
    let name = |class: &Option<String>, column: Option<u32>| match (class, &found.reference) {
        (Some(class), Some(reference)) => {
            let [class, reference] = [class, reference].map(|name| printable(name.as_bytes(), 20));
            format!("{class} - {reference}  {}", named(data, column))
        }
        _ => named(data, column),
    };
    let names: Vec<String> = listed.iter().map(|(class, column, _)| name(class, *column)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let pairs = names.iter().zip(listed);
    let mut lines: Vec<String> = pairs
        .map(|(name, (_, _, estimate))| format!("{name:width$}  {}", in_words(*estimate)))
        .collect();
    if let more @ 1.. = found.list.len() - listed.len() {
        lines.push(format!("and {} more, which --json lists", grouped(more as u64)));
    }
    for estimate in [Estimate::Undetermined, Estimate::Aliased] {
        let there = found.list.iter().any(|(_, _, other)| *other == estimate);
        lines.extend(legend(estimate).filter(|_| there).map(str::to_owned));
    }
    Some(lines.join("\n"))
}

/// A coefficient whose sign is forced has an infinite maximum-likelihood estimate.
fn in_words(estimate: Estimate) -> &'static str {
    match estimate {
        Estimate::PlusInfinity => "+inf (the coefficient diverges)",
        Estimate::MinusInfinity => "-inf (the coefficient diverges)",
        other => other.word(),
    }
}

fn named(data: &Dataset, column: Option<u32>) -> String {
    column.map_or_else(|| "(bias)".to_owned(), |column| name(data, column))
}

/// What a word under `estimates` means, where it is not plain.
fn legend(estimate: Estimate) -> Option<&'static str> {
    match estimate {
        Estimate::Undetermined => Some("undetermined: unbounded, with either sign"),
        Estimate::Aliased => {
            Some("aliased: a sum of what stands before it; its weight is fixed at 0")
        }
        _ => None,
    }
}

fn nouns(count: usize) -> &'static str {
    if count == 1 { "coefficient" } else { "coefficients" }
}

/// The line `rank`, where the rows do not have full rank or it was not looked for.
pub(super) fn rank(rank: Option<&Rank>, data: &Dataset) -> Option<String> {
    let Some(Rank { rank, dimension, dependent, .. }) = rank else {
        return Some("not looked for: there are too many numbers".into());
    };
    let relations = dimension - rank;
    if relations == 0 {
        return None;
    }
    let of = format!("{} of {}", grouped(*rank as u64), grouped(*dimension as u64));
    Some(match dependent.as_deref() {
        None => format!("{of}: there are only that many different rows"),
        // As many relations as columns in them: each column is a relation by itself.
        Some(columns) if columns.len() == relations => {
            let are = if relations == 1 { "is" } else { "are" };
            format!("{of}: {} {are} 0 in every row", listed(data, columns))
        }
        Some(columns) => {
            let sums =
                counted(relations as u64, "weighted sum").replace("1 weighted", "a weighted");
            let are = if relations == 1 { "is" } else { "are" };
            format!("{of}: {sums} of {} {are} 0 in every row", listed(data, columns))
        }
    })
}

/// The line `removal`.
pub(super) fn removal(removal: Option<&Removal>, data: &Dataset) -> String {
    let Some(removal) = removal else {
        return "not found: it would take too long, planes have no bias, or the search was stopped"
            .into();
    };
    let count = removal.rows.len() as u64;
    if count == 0 {
        return "none: a plane separates all rows".into();
    }
    let lines = places(data, &removal.rows, count);
    let them = if count == 1 { "it" } else { "them" };
    match removal.is_smallest() {
        true => format!(
            "without {} ({lines}) a plane separates the others; no fewer would do",
            counted(count, "row")
        ),
        false => format!(
            "without {} ({lines}) a plane separates the others, and none of {them} can stay; every removal takes at least {}",
            counted(count, "row"),
            grouped(removal.at_least)
        ),
    }
}

/// `x1, x3 and the bias`.
fn listed(data: &Dataset, columns: &[Option<u32>]) -> String {
    let mut names: Vec<String> =
        columns.iter().flatten().take(SHOWN).map(|&column| name(data, column)).collect();
    let bias = columns.contains(&None);
    let more = columns.len() - names.len() - usize::from(bias);
    if more > 0 {
        names.push(format!("{} others", grouped(more as u64)));
    }
    if bias {
        names.push("the bias".into());
    }
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// `lines 4, 9, …` of a single file, else the places one by one.
fn places(data: &Dataset, rows: &[u64], count: u64) -> String {
    let shown = &rows[..rows.len().min(SHOWN)];
    let more = if count > shown.len() as u64 { ", …" } else { "" };
    let lines: Option<Vec<u64>> = shown.iter().map(|&row| data.origin().line(row)).collect();
    match lines.filter(|_| data.origin().files().count() == 1) {
        Some(lines) => {
            let noun = if lines.len() == 1 { "line" } else { "lines" };
            let lines: Vec<String> = lines.iter().map(u64::to_string).collect();
            format!("{noun} {}{more}", lines.join(", "))
        }
        None => {
            let places: Vec<String> = shown.iter().map(|&row| place(data, row)).collect();
            format!("{}{more}", places.join(", "))
        }
    }
}
