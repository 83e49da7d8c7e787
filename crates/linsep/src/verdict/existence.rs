//! Whether a logistic fit without a penalty exists, asked before one is tried.
//!
//! It does exactly where no plane separates the rows, not even weakly ([`super::logistic`]). The search
//! ends after so many questions of whether to go on, not after some time, so that the answer is the same
//! everywhere.

use super::search::{Answer, Effort, Search};
use super::{Decision, Judge, Signed, Verdict, rank};
use crate::claim::planes::problem_of;
use crate::run::{Remark, Task};
use linsep_proof::{Claim, Estimate};
use std::cell::Cell;
use std::sync::Arc;

/// Whether there is a best plane.
pub(crate) enum Existence {
    Exists,
    /// There is none, for this reason.
    Missing(String),
    /// Nobody knows, for this reason.
    Unknown(String),
}

/// Steps of the exact method times the square of the dimension, at most.
const EXACT_WORK: u64 = 200_000_000;

/// A limit on the questions of whether to go on, for rows of so many numbers.
fn limited(numbers: usize) -> impl Fn() -> bool {
    let size = numbers as u64;
    let steps = Cell::new(EXACT_WORK / (size * size) + 1000);
    move || {
        steps.set(steps.get().saturating_sub(1));
        steps.get() == 0
    }
}

/// Whether the loss of softmax has a least value on the rows of a task.
pub(crate) fn softmax_optimum(task: &Task, bias: bool) -> Existence {
    if task.rows.is_some() {
        return Existence::Unknown("only some of the rows are learned from".into());
    }
    let data = &task.data;
    if exists_on_a_sample(task, bias) {
        return Existence::Exists;
    }
    let judge = Judge { bias, threads: task.threads, ..Judge::new(Arc::clone(data)) };
    let stop = limited((data.n_features() + 1) * data.n_classes());
    let decision = match judge.joint(&[], &stop) {
        Ok(decision) => decision,
        Err(error) => return Existence::Unknown(error.to_string()),
    };
    let because = match decision.verdict {
        Verdict::Overlapping => return Existence::Exists,
        Verdict::Separable => "because planes separate the classes",
        Verdict::Touching => "because planes separate some rows of the classes and touch the others",
        Verdict::Inseparable => return Existence::Unknown(
            "the classes are not separable, but whether planes touch them was not asked on so many columns".into(),
        ),
        Verdict::Undecided => {
            let words = decision.limit.map_or("the search ended", |limit| limit.words());
            return Existence::Unknown(words.into());
        }
    };
    Existence::Missing(match going_away(&judge, &decision, &stop) {
        Some(words) => format!("{because}: {words}"),
        None => because.into(),
    })
}

/// Whether some rows show it: planes that separate all rows separate some of them, too, so where none does that
/// even weakly, none does it on all rows. Asked where many rows are laid out anew for each pair of classes.
fn exists_on_a_sample(task: &Task, bias: bool) -> bool {
    /// Rows of the sample for each coefficient, and at least.
    const EACH: usize = 16;
    const LEAST: usize = 1000;
    let data = &task.data;
    let coefficients = (data.n_features() + 1) * (data.n_classes() - 1);
    let wanted = (EACH * coefficients).max(LEAST);
    if data.input().basis.is_some() || data.n_rows() < 8 * wanted {
        return false;
    }
    let step = data.n_rows() / wanted;
    let rows: Vec<u32> = (0..data.n_rows() as u32).step_by(step).collect();
    let columns: Vec<u32> = (0..data.n_features() as u32).collect();
    let Ok(sample) = data.selected(Some(&rows), &columns) else { return false };
    let judge = Judge { bias, threads: task.threads, ..Judge::new(sample) };
    let decision = judge.joint(&[], &limited(coefficients));
    decision.is_ok_and(|decision| decision.verdict == Verdict::Overlapping)
}

/// Why the weights of a fit without a penalty are not unique, with the columns that make it so; nothing
/// where they are, or where that is too much work.
pub(crate) fn ambiguity(task: &Task, bias: bool) -> Option<Remark> {
    let stop = limited(task.data.n_features() + 1);
    let columns = rank::aliased(task, bias, &stop).filter(|columns| !columns.is_empty())?;
    let input = task.data.input();
    let name = |column: &u32| input.feature_name(*column as usize);
    let mut names: Vec<String> = columns.iter().take(NAMED).map(name).collect();
    if let more @ 1.. = columns.len() - names.len() {
        names.push(format!("{more} more"));
    }
    let of = if bias { "of the bias and columns before" } else { "of columns before" };
    let words = match columns.len() {
        1 => format!("{} is a combination {of} it", names[0]),
        _ => format!("{} are combinations {of} them", names.join(", ")),
    };
    Some(Remark::new(
        "aliased",
        format!(
            "{words}: without a penalty the weights are not unique; `drop` or a penalty settles them"
        ),
        [("columns", columns.iter().map(name).collect::<Vec<String>>().into())],
    ))
}

/// Coefficients that are named at most.
const NAMED: usize = 6;

/// `x1 goes to +inf, x3 to -inf, x4 to either`: the coefficients without a finite limit.
fn going_away(judge: &Judge, decision: &Decision, stop: &dyn Fn() -> bool) -> Option<String> {
    let input = judge.data.input();
    let name = |column: &Option<u32>| {
        column.map_or_else(|| "the bias".to_owned(), |j| input.feature_name(j as usize))
    };
    let mut words: Vec<String> = Vec::new();
    let found = judge.coefficients(decision, stop)?;
    let reference = found.reference.as_deref().unwrap_or_default();
    for (class, column, estimate) in &found.list {
        let limit = match estimate {
            Estimate::PlusInfinity => "+inf",
            Estimate::MinusInfinity => "-inf",
            Estimate::Undetermined => "either infinity",
            _ => continue,
        };
        let verb = if words.is_empty() { "goes to" } else { "to" };
        let of = class
            .as_ref()
            .map_or_else(String::new, |class| format!(" of {class} against {reference}"));
        words.push(format!("{}{of} {verb} {limit}", name(column)));
    }
    if words.len() > NAMED {
        let more = words.len() - NAMED;
        words.truncate(NAMED);
        words.push(format!("and {more} more likewise (see linsep separable)"));
    }
    (!words.is_empty()).then(|| words.join(", "))
}

/// Whether the logistic loss of a class against all others has a least value on the rows of a task.
pub(crate) fn logistic_optimum(task: &Task, positive: u32, bias: bool) -> Existence {
    let data = &task.data;
    let class = &data.classes()[positive as usize];
    let rest = match data.classes() {
        _ if data.input().rest => "the rest",
        [a, b] if a == class => b,
        [a, _] => a,
        _ => "the rest",
    };
    let separates = || format!("because a plane separates {class} from {rest}");
    let stop = limited(data.n_features() + 1);
    if task.rows.is_some() {
        let view =
            Signed::on(Arc::clone(data), problem_of(data, class, None), bias, task.rows.as_deref());
        let effort = Effort { threads: task.threads, stop: &stop, clock: || 0.0 };
        return match Search::new(view, data.reading_field(), false).run(&effort) {
            Answer::Proved(Claim::Separable { .. }) => Existence::Missing(separates()),
            _ => Existence::Unknown("only some of the rows are learned from".into()),
        };
    }
    let judge = Judge { bias, threads: task.threads, ..Judge::new(Arc::clone(data)) };
    let decision = match judge.class(class, &stop) {
        Ok(decision) => decision,
        Err(error) => return Existence::Unknown(error.to_string()),
    };
    match decision.verdict {
        Verdict::Separable => Existence::Missing(match going_away(&judge, &decision, &stop) {
            Some(words) => format!("{}: {words}", separates()),
            None => separates(),
        }),
        Verdict::Touching => {
            let rows = decision.escape.as_ref().map_or(0, |escape| escape.rows.len());
            let columns = decision.escape.as_ref().map_or(0, |escape| escape.coefficients.len());
            let touches = format!("because a plane touches {class} and {rest}");
            Existence::Missing(match going_away(&judge, &decision, &stop) {
                Some(words) => format!("{touches}: {words}, because of {rows} rows"),
                None => format!(
                    "{touches}: {rows} rows push {columns} coefficients away without end (see linsep separable)"
                ),
            })
        }
        Verdict::Overlapping => Existence::Exists,
        Verdict::Inseparable => Existence::Unknown(
            "the rows are not separable, but whether a plane touches them was not asked on so many columns".into(),
        ),
        Verdict::Undecided => {
            let words = decision.limit.map_or("the search ended", |limit| limit.words());
            Existence::Unknown(words.into())
        }
    }
}
