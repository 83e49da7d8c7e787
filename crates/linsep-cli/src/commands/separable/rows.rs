//! The rows that prove it, as people find them: file and line, class, weight, values; and the point
//! that the hulls of both sides share.

use crate::output::counted;
use linsep::proof::Claim;
use linsep::verdict::{Decision, Judge};
use linsep::{Dataset, printable};

/// Rows that are listed at most.
const SHOWN_ROWS: usize = 60;

/// Values of a row, and coordinates of a point, that are listed at most.
const SHOWN_VALUES: usize = 8;
const SHOWN_COORDINATES: usize = 20;

/// The rows of a witness under a heading, or nothing where there is none.
pub(super) fn conflict(decision: &Decision, data: &Dataset) -> Option<String> {
    let entries: Vec<(u64, String)> = match &decision.claim {
        Claim::Inseparable { witness, .. }
        | Claim::Touching { witness, .. }
        | Claim::Overlapping { witness, .. } => {
            witness.iter().map(|w| (w.row, w.lambda.clone())).collect()
        }
        Claim::JointInseparable { witness }
        | Claim::JointTouching { witness, .. }
        | Claim::JointOverlapping { witness, .. } => {
            let against = |name: &str| printable(name.as_bytes(), 30);
            let entry = |lambda: &str, name: &str| format!("{lambda} against {}", against(name));
            witness.iter().map(|w| (w.row, entry(&w.lambda, &w.against))).collect()
        }
        _ => return None,
    };
    let mut rows: Vec<u64> = entries.iter().map(|(row, _)| *row).collect();
    rows.sort_unstable();
    rows.dedup();
    let lines = rows.iter().all(|row| data.origin().line(*row).is_some());
    let noun = if lines { "line" } else { "row" };
    let of = if data.origin().files().count() > 1 { "files" } else { "file" };
    let of = if lines { format!(" of your {of}") } else { String::new() };
    let mut text = match rows.len() {
        1 => format!("this {noun}{of} conflicts with every plane"),
        count => format!("these {}{of} conflict", counted(count as u64, noun)),
    };
    let cells: Vec<[String; 4]> = entries
        .iter()
        .take(SHOWN_ROWS)
        .map(|(row, lambda)| {
            let label = printable(data.label_text(*row as usize).as_bytes(), 30);
            [
                place(data, *row),
                format!("class {label}"),
                format!("weight {}", shortened(lambda)),
                values(data, *row),
            ]
        })
        .collect();
    let width = |k: usize| cells.iter().map(|cells| cells[k].chars().count()).max().unwrap_or(0);
    let (first, second, third) = (width(0), width(1), width(2));
    for [place, class, weight, values] in &cells {
        text.push_str(&format!("\n{place:first$}  {class:second$}  {weight:third$}  ({values})"));
    }
    if entries.len() > SHOWN_ROWS {
        let more = entries.len() - SHOWN_ROWS;
        text.push_str(&format!(
            "\nand {} more; --cert FILE writes all",
            counted(more as u64, "row")
        ));
    }
    Some(text)
}

/// Whole numbers of very many digits by their ends.
fn shortened(lambda: &str) -> String {
    let digits = lambda.split(' ').next().unwrap_or(lambda);
    if digits.len() <= 24 {
        return lambda.to_owned();
    }
    let (head, tail) = (&digits[..8], &digits[digits.len() - 8..]);
    let middle = format!("{head}…{tail} ({} digits)", digits.len());
    lambda.replacen(digits, &middle, 1)
}

/// `iris.csv:72`: the name of a single file, else the path as it was given.
pub(super) fn place(data: &Dataset, row: u64) -> String {
    let origin = data.origin();
    let (Some(file), Some(line)) = (origin.file(row), origin.line(row)) else {
        return format!("row {row}");
    };
    let single = origin.files().count() == 1;
    let name = std::path::Path::new(file).file_name().filter(|_| single);
    format!("{}:{line}", name.map_or(file.into(), |name| name.to_string_lossy()))
}

fn values(data: &Dataset, row: u64) -> String {
    let mut values: Vec<String> = Vec::new();
    let mut more = false;
    // The values that stand in the file, not products of them.
    linsep::proof::Rows::for_each(data, row, &mut |j, x| {
        match values.len() < SHOWN_VALUES {
            true => values.push(format!("{} {x}", name(data, j))),
            false => more = true,
        };
    });
    if values.is_empty() {
        values.push("all 0".into());
    }
    format!("{}{}", values.join(", "), if more { ", …" } else { "" })
}

/// The name of a column, safe to print.
pub(super) fn name(data: &Dataset, column: u32) -> String {
    printable(data.input().feature_name(column as usize).as_bytes(), 30)
}

/// The point that is a mean of both sides, coordinate by coordinate.
pub(super) fn common_point(decision: &Decision, judge: &Judge) -> Option<String> {
    let point = judge.common_point(decision)?;
    let data = judge.data.as_ref();
    let mut text = "with these weights both sides have the same mean, exactly".to_owned();
    let names: Vec<String> = point.iter().map(|(column, _)| name(data, *column)).collect();
    let shown = names.iter().take(SHOWN_COORDINATES);
    let width = shown.clone().map(|name| name.chars().count()).max().unwrap_or(0);
    for (name, (_, value)) in shown.zip(&point) {
        text.push_str(&format!("\n{name:width$}  {value}"));
    }
    let zeros = data.n_features() - point.len();
    match point.len().saturating_sub(SHOWN_COORDINATES) {
        0 if zeros > 0 => text.push_str("\nand 0 in every other column"),
        0 => {}
        more => text.push_str(&format!("\nand {} more", counted(more as u64, "coordinate"))),
    }
    Some(text)
}
