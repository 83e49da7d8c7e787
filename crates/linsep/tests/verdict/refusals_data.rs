//! The checker refuses claims about other data: every kind of claim with one cell of a row that carries
//! it, one label, the digest or the reading altered. Altered data is tried with the old digest and with
//! a forged one, so that the proof itself has to fail.

use crate::proven::Proven;
use crate::refused::{Tally, all_kinds, carrying_rows, everything, excess, sign, weights};
use linsep::proof::{Claim, Finding, Reading, Rows};

/// A value for a cell with which the claim is false: cells of planes move the row across, cells of
/// witnesses need no more than any change.
fn bad_value(case: &Proven, row: usize, column: usize) -> Option<f64> {
    let x = case.table.rows[row][column];
    let planes = weights(case);
    match case.claim() {
        Claim::Separable { problem, .. } => {
            let weight = planes[0].1[column];
            (weight != 0.0).then(|| -sign(problem, case, row) * weight.signum() * 1e30)
        }
        Claim::JointSeparable { .. } => {
            let label = &case.table.labels[row];
            let own = planes.iter().find(|(class, _)| class.as_ref() == Some(label))?.1[column];
            let other = planes.iter().map(|(_, weights)| weights[column]).find(|w| *w != own)?;
            Some(-(own - other).signum() * 1e30)
        }
        Claim::Bracket { .. } => Some(1e30),
        _ => Some(x + 7.0),
    }
}

#[test]
fn a_cell_that_is_changed_is_refused() {
    let (mut honest, mut forged) = (Tally::default(), Tally::default());
    for case in everything() {
        for row in carrying_rows(&case) {
            for column in 0..case.table.width() {
                let Some(value) = bad_value(&case, row, column) else { continue };
                let mut altered = case.clone();
                altered.table.rows[row][column] = value;
                honest.refused(&altered, "a cell, old digest");
                altered.forge();
                forged.refused(&altered, "a cell, forged digest");
            }
        }
    }
    honest.covers(&all_kinds());
    forged.covers(&all_kinds());
}

#[test]
fn a_cell_of_a_row_that_carries_nothing_still_changes_the_digest() {
    let mut tally = Tally::default();
    for case in everything() {
        for row in 0..case.table.rows.len() {
            let mut altered = case.clone();
            altered.table.rows[row][0] += 0.25;
            tally.refused(&altered, "any cell, old digest");
        }
    }
    tally.covers(&all_kinds());
}

/// Labels that put a row on the other side, or in another class.
fn other_labels(case: &Proven, row: usize) -> Vec<String> {
    let own = &case.table.labels[row];
    match case.claim().problem() {
        Some(problem) if problem.positive.contains(own) => problem.negative.clone(),
        Some(problem) => problem.positive.clone(),
        None => {
            let mut all = case.table.labels.clone();
            all.sort();
            all.dedup();
            all.retain(|label| label != own);
            all
        }
    }
}

#[test]
fn a_label_that_is_changed_is_refused() {
    let (mut honest, mut forged) = (Tally::default(), Tally::default());
    for case in everything() {
        for row in carrying_rows(&case) {
            for label in other_labels(&case, row) {
                let mut altered = case.clone();
                altered.table.labels[row] = label;
                honest.refused(&altered, "a label, old digest");
                altered.forge();
                let applies = match case.claim() {
                    // A blend with one row turned around may be as short.
                    Claim::Bracket { .. } => excess(&altered) > 1.0 + 1e-9,
                    _ => true,
                };
                if applies {
                    forged.refused(&altered, "a label, forged digest");
                }
            }
        }
    }
    honest.covers(&all_kinds());
    forged.covers(&all_kinds());
}

#[test]
fn another_digest_or_number_of_rows_is_refused() {
    let mut tally = Tally::default();
    for case in everything() {
        for at in [0, 31, 63] {
            let mut altered = case.clone();
            let old = altered.file.data.sha256.remove(at);
            altered.file.data.sha256.insert(at, if old == '0' { '1' } else { '0' });
            tally.refused(&altered, "one digit of the digest");
        }
        for wrong in [String::new(), case.file.data.sha256.to_uppercase() + " "] {
            let mut altered = case.clone();
            altered.file.data.sha256 = wrong;
            tally.refused(&altered, "another text for the digest");
        }
        for rows in [0, case.file.data.rows - 1, case.file.data.rows + 1] {
            let mut altered = case.clone();
            altered.file.data.rows = rows;
            tally.refused(&altered, "another number of rows");
        }
    }
    tally.covers(&all_kinds());
}

#[test]
fn the_other_reading_is_refused_where_the_claim_is_false_under_it() {
    let mut tally = Tally::default();
    for mut case in everything().into_iter().filter(|case| case.hangs_on_reading) {
        case.file.reading.default = match case.file.reading.default {
            Reading::Decimal => Reading::Binary64,
            Reading::Binary64 => Reading::Decimal,
        };
        tally.refused(&case, "the other reading");
        if case.file.reading.default == Reading::Binary64 {
            // Column by column comes to the same.
            case.file.reading.default = Reading::Decimal;
            case.file.reading.binary64 = (0..case.table.width() as u32).collect();
            tally.refused(&case, "every column in binary64");
        }
    }
    tally.covers_any(&all_kinds());
}

#[test]
fn the_other_reading_of_whole_numbers_is_the_same() {
    let whole = |case: &Proven| case.table.rows.iter().flatten().all(|x| x.fract() == 0.0);
    let mut count = 0;
    for mut case in everything().into_iter().filter(whole) {
        case.file.reading.default = Reading::Binary64;
        assert!(matches!(case.check(), Finding::Holds(_)), "{}", case.name);
        count += 1;
    }
    assert!(count >= 15, "{count} claims about whole numbers");
}

#[test]
fn a_number_without_a_short_decimal_is_refused_under_the_decimal_reading() {
    let mut tally = Tally::default();
    for case in everything() {
        for row in carrying_rows(&case) {
            let mut altered = case.clone();
            let x = &mut altered.table.rows[row][0];
            *x = if *x == 0.0 { 5e-324 } else { f64::from_bits(x.to_bits() + 1) };
            altered.forge();
            altered.file.reading.default = Reading::Decimal;
            altered.file.reading.binary64.clear();
            tally.refused(&altered, "a number without a decimal");
        }
    }
    tally.covers(&all_kinds());
}
