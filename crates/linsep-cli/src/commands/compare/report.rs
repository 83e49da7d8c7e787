//! What `compare` prints: a table with notes, as text, Markdown and JSON.

use super::{Contest, Entry, Plan};
use crate::commands::data_lines::DataLines;
use crate::commands::json_number;
use crate::context::Context;
use crate::output::{Facts, aligned, counted};
use linsep::escaped;
use linsep::metrics::{Metric, grouped_amount};
use linsep::recipe::Recipe;
use serde_json::json;

pub(super) struct Report<'a> {
    pub(super) contest: &'a Contest,
    pub(super) plan: &'a Plan,
    pub(super) lines: DataLines,
}

impl Report<'_> {
    pub(super) fn text(&self, context: &Context) -> String {
        let mut facts = Facts::default();
        self.lines.add_to(&mut facts);
        facts
            .add("folds", format!("{}, the same for all (seed {})", self.plan.folds, context.seed));
        let mut text = facts.text(context);
        let rows = self.table(context);
        if context.plain {
            rows.iter().for_each(|row| text.push_str(&format!("{}\n", row.join("\t"))));
        } else {
            text.push('\n');
            text.push_str(&in_columns(&rows));
            text.push('\n');
        }
        let mut facts = Facts::default();
        for (name, reason) in &self.contest.refused {
            facts.add("refused", format!("{name}: {reason}"));
        }
        for (name, note) in self.notes() {
            facts.add(name, note);
        }
        text + &facts.text(context)
    }

    fn head(&self) -> Vec<String> {
        let mut head = vec!["learner".to_owned()];
        if let Some(metric) = self.plan.metric {
            head.extend([metric.to_string(), "95 % interval".to_owned()]);
        }
        head.push("accuracy".to_owned());
        if self.plan.metric.is_none() {
            head.push("95 % interval".to_owned());
        }
        if self.shows_balance() {
            head.push("balanced".to_owned());
        }
        head.extend(["wrong", "training wrong", "p (Holm)"].map(str::to_owned));
        if self.plan.times {
            head.push("fit".to_owned());
        }
        head.push("proved".to_owned());
        head
    }

    /// Whether accuracy alone would flatter.
    fn shows_balance(&self) -> bool {
        self.plan.metric != Some(Metric::BalancedAccuracy) && self.contest.imbalance().is_some()
    }

    fn table(&self, context: &Context) -> Vec<Vec<String>> {
        let mut rows = vec![self.head()];
        for (at, entry) in self.contest.entries.iter().enumerate() {
            let cv = &entry.validation;
            let interval = cv.accuracy_interval.map_or("-".to_owned(), |[low, high]| {
                format!("[{:.2}, {:.2}]", 100.0 * low, 100.0 * high)
            });
            let accuracy = format!("{:.2} %", 100.0 * cv.accuracy);
            let mut row = vec![entry.name.clone()];
            match self.plan.metric {
                None => row.extend([accuracy, interval]),
                Some(_) => {
                    let value = entry.measure.value;
                    row.push(value.map_or("none".to_owned(), |value| format!("{value:.6}")));
                    let ends = entry.measure.interval;
                    row.push(ends.map_or("-".to_owned(), |[a, b]| format!("[{a:.4}, {b:.4}]")));
                    row.push(accuracy);
                }
            }
            if self.shows_balance() {
                let balanced = entry.rows.value(Metric::BalancedAccuracy);
                row.push(
                    balanced.map_or("-".to_owned(), |share| format!("{:.2} %", 100.0 * share)),
                );
            }
            row.extend([
                grouped_amount(cv.wrong()),
                grouped_amount(entry.training_errors),
                match entry.p {
                    Some((_, p)) => probability(p),
                    None if at == 0 => "best".to_owned(),
                    None => "-".to_owned(),
                },
            ]);
            if self.plan.times {
                row.push(entry.seconds.map_or("-".to_owned(), duration));
            }
            row.push(entry.proved.clone());
            if context.plain {
                row.iter_mut().for_each(|cell| *cell = escaped(cell));
            }
            rows.push(row);
        }
        rows
    }

    fn notes(&self) -> Vec<(&'static str, String)> {
        let tests = self.contest.entries.len().saturating_sub(1) as u64;
        let made = self.contest.entries.iter().filter(|entry| entry.p.is_some()).count() as u64;
        let tested = made > 0;
        let metric = self.contest.metric;
        let name = match self.contest.test {
            Some("delong") => "DeLong's test",
            Some("randomisation") => {
                "randomisation (each row's two predictions change places by a coin, 1000 draws)"
            }
            _ => "McNemar's exact test",
        };
        let picked = if metric == Metric::Accuracy { "its errors" } else { "its metric" };
        let test = match tested || tests == 0 {
            true => format!(
                "{name} against the best on the same rows, adjusted for {} by Holm; \
                 the folds share training rows and the best was picked by {picked}, so it is a guide",
                counted(made, "test")
            ),
            false if metric == Metric::Accuracy => {
                "none: weights that are not counts of rows have no exact test".to_owned()
            }
            false => format!("none: there is no paired test of {metric} for these rows"),
        };
        let rows = counted(self.contest.task.data.n_rows() as u64, "row");
        let accuracy = format!(
            "each of the {rows} predicted once by a model that had not seen it; 95 % Wilson interval"
        );
        let mut notes = vec![("accuracy", accuracy)];
        if let (true, Some(times)) = (self.shows_balance(), self.contest.imbalance()) {
            let words = format!(
                "the mean of the recalls of the classes; the largest class has {times:.1} times the rows of \
                 the smallest, and accuracy flatters who always says it"
            );
            notes.push(("balanced", words));
        }
        if self.plan.metric.is_some() {
            let first = self.contest.entries.iter().find_map(|entry| entry.measure.method);
            let by = first.map_or("none".to_owned(), |by| format!("by {by}"));
            let less = if metric.is_loss() { "; less is better" } else { "" };
            notes.push(("metric", format!("{metric}{less}; 95 % interval {by}")));
            for entry in &self.contest.entries {
                if let Some(note) = &entry.measure.note {
                    notes.push(("metric", format!("{}: {note}", entry.name)));
                }
            }
        }
        notes.push(("p", test));
        if self.contest.entries.iter().any(|e| e.name.ends_with("neighbours")) {
            let words = "columns divided by their standard deviation; ties of distance go to the earlier \
                         row, of votes to the class of the closest";
            notes.push(("neighbours", words.to_owned()));
        }
        if self.plan.times {
            notes.push(("fit", "median over the folds, which run side by side".to_owned()));
        }
        if self.plan.assumptions {
            for entry in self.contest.entries.iter().filter(|entry| !entry.baseline) {
                let assumes = Recipe::find(&entry.name).map_or("", |recipe| recipe.assumes);
                notes.push(("assumes", format!("{}: {assumes}", entry.name)));
            }
        }
        notes
    }

    pub(super) fn markdown(&self, context: &Context) -> String {
        let escape = |cell: &String| escaped(cell).replace('\\', "\\\\").replace('|', "\\|");
        let rows = self.table(context);
        let mut text = format!(
            "# {}\n\n{}; {} folds, seed {}.\n\n",
            escape(&self.lines.file),
            escape(&self.lines.line),
            self.plan.folds,
            context.seed
        );
        for (k, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(escape).collect();
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
            if k == 0 {
                let numbers = |name: &String| !matches!(name.as_str(), "learner" | "proved");
                let rule: Vec<&str> =
                    row.iter().map(|name| if numbers(name) { "---:" } else { "---" }).collect();
                text.push_str(&format!("| {} |\n", rule.join(" | ")));
            }
        }
        text.push('\n');
        for (name, reason) in &self.contest.refused {
            text.push_str(&format!("- refused: {}: {}\n", escape(name), escape(reason)));
        }
        for (name, note) in self.notes() {
            text.push_str(&format!("- {name}: {}\n", escape(&note)));
        }
        text
    }

    pub(super) fn json(&self, context: &Context) -> serde_json::Value {
        let entry = |entry: &Entry| {
            let mut value = json!({
                "learner": entry.name,
                "baseline": entry.baseline,
                "cv": entry.validation,
                "training_errors": match entry.training_errors {
                    whole if whole.fract() == 0.0 => json!(whole as u64),
                    part => json_number(part),
                },
                "proved": entry.proved,
                "balanced_accuracy": entry.rows.value(Metric::BalancedAccuracy).map_or(serde_json::Value::Null, json_number),
                "metric": self.plan.metric.map(|_| &entry.measure),
                "p": entry.p.map(|(p, _)| json_number(p)),
                "p_holm": entry.p.map(|(_, p)| json_number(p)),
            });
            if self.plan.times {
                value["fit_seconds"] = entry.seconds.map_or(serde_json::Value::Null, json_number);
            }
            value
        };
        json!({
            "schema": "linsep.result/1",
            "command": "compare",
            "rows": self.contest.task.data.n_rows(),
            "features": self.contest.task.data.n_features(),
            "classes": self.contest.task.data.classes(),
            "folds": self.plan.folds,
            "seed": context.seed,
            "reading": self.lines.reading_json,
            "metric": self.contest.metric.to_string(),
            "test": self.contest.test,
            "best": self.contest.entries.first().map(|entry| &entry.name),
            "entries": self.contest.entries.iter().map(entry).collect::<Vec<_>>(),
            "refused": self.contest.refused.iter()
                .map(|(name, reason)| json!({ "learner": name, "reason": reason }))
                .collect::<Vec<_>>(),
        })
    }
}

fn probability(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// Columns side by side: words flush left, numbers flush right.
fn in_columns(rows: &[Vec<String>]) -> String {
    let last = rows.first().map_or(0, Vec::len).saturating_sub(1);
    aligned(rows, |column| column != 0 && column != last).join("\n") + "\n"
}
