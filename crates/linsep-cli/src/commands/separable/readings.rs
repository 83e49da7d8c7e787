//! Whether the verdict would be another one if columns with a few long numbers meant what is written.

use super::{Asked, matrix};
use crate::context::Context;
use crate::output::Facts;
use clap::ArgMatches;
use linsep::data::read::LongColumn;
use linsep::printable;
use linsep::verdict::{Judge, Method, Verdict};
use serde_json::{Value, json};

/// The answers with such columns as the decimals that are written.
pub(super) struct Readings {
    columns: Vec<String>,
    /// One for each question; `None` where it was not found out.
    separable: Vec<Option<bool>>,
}

impl Readings {
    /// Nothing where no column has a few long numbers among many short ones.
    pub(super) fn new(
        asked: &Asked,
        judge: &Judge,
        long: &[LongColumn],
        matches: &ArgMatches,
        context: &Context,
    ) -> Option<Readings> {
        let mixed: Vec<LongColumn> =
            long.iter().filter(|column| column.is_mixed()).cloned().collect();
        // Rows of another table, or answers that were asked of a certain method.
        let other = ["without", "relabel"].iter().any(|flag| matches.contains_id(flag));
        if mixed.is_empty() {
            return None;
        }
        let answer = |timed: &super::Timed| {
            let decided = timed.decision.verdict != Verdict::Undecided;
            if !decided || other || judge.by != Method::Search {
                return None;
            }
            judge.separable_as_written(&timed.decision, &mixed, &|| context.stopped())
        };
        let separable = asked.all.iter().map(answer).collect();
        let columns = mixed.iter().map(|column| column.name.clone()).collect();
        Some(Readings { columns, separable })
    }

    pub(super) fn add_to(&self, facts: &mut Facts, asked: &Asked) {
        facts.add("readings", self.words(asked));
    }

    fn words(&self, asked: &Asked) -> String {
        const SHOWN: usize = 4;
        let mut names: Vec<String> =
            self.columns.iter().take(SHOWN).map(|name| printable(name.as_bytes(), 30)).collect();
        if self.columns.len() > SHOWN {
            names.push(format!("{} more", self.columns.len() - SHOWN));
        }
        let names = names.join(", ");
        let found: Vec<(&super::Timed, bool)> =
            asked.all.iter().zip(&self.separable).filter_map(|(t, s)| Some((t, (*s)?))).collect();
        let state = |separable: bool| if separable { "separable" } else { "not separable" };
        let is = |timed: &super::Timed| timed.decision.verdict == Verdict::Separable;
        let turned: Vec<_> = found.iter().filter(|(timed, other)| is(timed) != *other).collect();
        let remedy = "shorten long numbers to 15 digits, or choose --reading binary64";
        match (&found[..], &turned[..]) {
            ([], _) => format!(
                "not found out whether the verdict is the same with {names} exactly as written; {remedy}"
            ),
            ([(_, other)], []) if !asked.several() => {
                format!("the same with {names} exactly as written: {}", state(*other))
            }
            ([(_, other)], _) if !asked.several() => format!(
                "the verdict depends on the reading: with {names} exactly as written the classes are {}; {remedy}",
                state(*other)
            ),
            (found, []) => format!(
                "the same with {names} exactly as written, in {} of {} questions; the others were not looked into",
                found.len(),
                asked.all.len()
            ),
            (_, turned) => {
                let about = |(timed, other): &&(&super::Timed, bool)| {
                    format!("{} {}", matrix::about(&timed.decision), state(*other))
                };
                let list: Vec<String> = turned.iter().take(SHOWN).map(about).collect();
                let more = turned.len().saturating_sub(SHOWN);
                let more = if more > 0 { format!(", and {more} more") } else { String::new() };
                format!(
                    "the verdict depends on the reading: with {names} exactly as written, {}{more}; {remedy}",
                    list.join(", ")
                )
            }
        }
    }

    /// For programs: one answer for each claim, null where it was not found out.
    pub(super) fn json(&self, asked: &Asked) -> Value {
        let is = |timed: &super::Timed| timed.decision.verdict == Verdict::Separable;
        let mut pairs = asked.all.iter().zip(&self.separable);
        let turned = pairs.clone().any(|(timed, other)| other.is_some_and(|o| o != is(timed)));
        let known = pairs.all(|(_, other)| other.is_some());
        let depends = match (turned, known) {
            (true, _) => Value::from(true),
            (false, true) => Value::from(false),
            (false, false) => Value::Null,
        };
        json!({ "columns": self.columns, "separable": self.separable, "depends": depends })
    }
}
