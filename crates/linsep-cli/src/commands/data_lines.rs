//! The first lines of every report on data: what was read, and which columns do not mean what is written.
//!
//! A column of short decimals that holds a few longer numbers is binary64 as a whole. That can turn a
//! verdict, so it is said with the place. Columns that a program wrote in full get one note together.

use crate::output::{Facts, counted};
use crate::spelling::spelled;
use linsep::data::read::{LabelChoice, LongColumn, ReadResult};
use linsep::{Dataset, printable};
use serde_json::{Value, json};
use std::path::PathBuf;

/// What a report says of the data that it is about.
pub(super) struct DataLines {
    /// The name of the file, or how many there are.
    pub(super) file: String,
    /// Rows, features, label, classes.
    pub(super) line: String,
    reading: Vec<String>,
    /// The reading for programs.
    pub(super) reading_json: Value,
}

/// The label for programs: the name of its column, if there is one, and how it was found.
pub(super) fn label_json(label: &LabelChoice) -> (Option<&str>, &'static str) {
    match label {
        LabelChoice::None => (None, "none"),
        LabelChoice::First => (None, "first in each line"),
        LabelChoice::Asked(name) => (Some(name), "asked"),
        LabelChoice::Named(name) => (Some(name), "by its name"),
        LabelChoice::Last(name) => (Some(name), "last column"),
        LabelChoice::Only(name) => (Some(name), "only candidate"),
    }
}

impl DataLines {
    pub(super) fn new(inputs: &[PathBuf], result: &ReadResult) -> DataLines {
        let data = &result.data;
        let file = match inputs {
            [one] if one.as_os_str() == "-" => "<stdin>".to_owned(),
            [one] => one
                .file_name()
                .map_or_else(|| one.display().to_string(), |n| n.to_string_lossy().into_owned()),
            _ => format!("{} inputs", inputs.len()),
        };
        let base = match result.choices.index_base {
            Some(base) => format!(", indices from {base}"),
            None => String::new(),
        };
        let line = format!(
            "{} x {}, {}{base}, {}",
            counted(data.n_rows() as u64, "row"),
            counted(data.n_features() as u64, "feature"),
            spelled(&result.choices.label.to_string()),
            counted(data.n_classes() as u64, "class"),
        );
        let reading = exceptions(&result.choices.long, data);
        let reading_json = reading_json(&result.choices.long, data);
        DataLines { file, line, reading, reading_json }
    }

    /// Adds the lines to a report.
    pub(super) fn add_to(&self, facts: &mut Facts) {
        facts.add(&self.file, &self.line);
        self.add_reading(facts);
    }

    /// Adds what is to be said of the reading; false where there is nothing.
    pub(super) fn add_reading(&self, facts: &mut Facts) -> bool {
        self.reading.iter().for_each(|line| facts.add("reading", line));
        !self.reading.is_empty()
    }
}

/// Columns that are binary64 in a table of decimals, and why.
pub(super) fn exceptions(long: &[LongColumn], data: &Dataset) -> Vec<String> {
    const SHOWN: usize = 3;
    let total = data.reading().binary64.len();
    let name = |column: &LongColumn| printable(column.name.as_bytes(), 30);
    let (mixed, written): (Vec<&LongColumn>, Vec<&LongColumn>) =
        long.iter().partition(|column| column.is_mixed());
    let mut lines = Vec::new();
    match mixed[..] {
        [] => {}
        [one] => lines.push(format!(
            "decimal, but binary64 for {}, because of {}",
            name(one),
            reason(one, data)
        )),
        _ => {
            let mut shown: Vec<String> = mixed
                .iter()
                .take(SHOWN)
                .map(|column| format!("{} ({})", name(column), reason(column, data)))
                .collect();
            if mixed.len() > SHOWN {
                shown.push(format!("and {} more", mixed.len() - SHOWN));
            }
            let count = counted(mixed.len() as u64, "column");
            lines.push(format!("decimal, but binary64 for {count}: {}", shown.join(", ")));
        }
    }
    // Not every column of very many is described.
    let others = total - mixed.len().min(total);
    if others > 0 {
        let tiny = |column: &&LongColumn| column.kept.iter().any(|number| number.digits() <= 15);
        let why = match written.iter().any(tiny) {
            false => "most of their numbers have more than 15 digits",
            true => "most of their numbers have more than 15 digits or are subnormal",
        };
        let which = match written[..] {
            [one] if others == 1 => name(one),
            _ => counted(others as u64, "column"),
        };
        let why = if others == 1 { why.replace("their", "its") } else { why.to_owned() };
        lines.push(format!("binary64 for {which} ({why})"));
    }
    lines
}

/// Where the first number is that the decimal reading does not cover, and what is wrong with it.
fn reason(column: &LongColumn, data: &Dataset) -> String {
    let Some(first) = column.kept.first() else {
        return match column.filled {
            Some((value, gaps)) => {
                format!("its {}, filled with {value}", counted(gaps, "gap"))
            }
            None => "a long number".to_owned(),
        };
    };
    let origin = data.origin();
    let file = origin.file(first.row).filter(|_| origin.files().count() > 1);
    let file = file.map_or(String::new(), |file| format!("{}, ", printable(file.as_bytes(), 60)));
    let place = match origin.line(first.row) {
        Some(line) => format!("{file}line {line}"),
        None => format!("{file}row {}", first.row),
    };
    let text = printable(first.text.as_bytes(), 40);
    let what = match first.digits() {
        digits @ ..=15 => format!("{text} is subnormal ({})", counted(digits as u64, "digit")),
        digits if first.whole => format!("{text} needs {digits} digits"),
        digits => format!("{text} needs {digits} digits or more"),
    };
    match column.long {
        0 | 1 => format!("{place}: {what}"),
        more => format!("{place}: {what}; {} more like it", more - 1),
    }
}

/// The reading with the first exceptions and their reasons.
pub(super) fn reading_json(long: &[LongColumn], data: &Dataset) -> Value {
    const LISTED: usize = 1000;
    let column = |column: &LongColumn| {
        let first = column.kept.first();
        json!({
            "name": column.name,
            "feature": column.feature,
            "long": column.long,
            "mixed": column.is_mixed(),
            "file": first.and_then(|number| data.origin().file(number.row)),
            "line": first.and_then(|number| data.origin().line(number.row)),
            "text": first.map(|number| &number.text),
            "digits": first.map(|number| number.digits()),
            "filled": column.filled.map(|(value, _)| value),
        })
    };
    json!({
        "default": if data.reading().decimal { "decimal" } else { "binary64" },
        "binary64": data.reading().binary64,
        "exceptions": long.iter().take(LISTED).map(column).collect::<Vec<_>>(),
    })
}
