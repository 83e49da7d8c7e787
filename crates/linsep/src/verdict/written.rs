//! The same question with some columns as the decimals that are written.
//!
//! A few long numbers turn a column of short decimals into binary64, and 0.1 + 0.2 is 0.3 in the one reading
//! only. Whether that turned the answer can be found out: every number of such a column is a decimal, so it
//! is a whole number once its column is multiplied by a power of ten. The exact simplex method decides on a
//! few rows, the plane that it finds is tried on all of them, and rows that it has wrong join the few.
//!
//! Certificates cannot state such numbers, so the answer is multiplied out here and proved nowhere else.

use super::exactly::{Exactly, decide};
use super::signed::{Exact, Signed, as_binary64, as_decimal, exact_value};
use super::{Decision, Judge, Verdict};
use dashu_int::{IBig, UBig};
use linsep_data::read::LongColumn;
use linsep_proof::{Claim, ExactNumber, ExactPlane};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Numbers of a table up to which it is looked into.
const MOST_NUMBERS: usize = 1_000_000;

/// Columns up to which the simplex method answers soon.
const MOST_COLUMNS: usize = 60;

/// Rows that the simplex method is given at most, and its pivots in all.
const MOST_ROWS: usize = 500;
const MOST_PIVOTS: usize = 5000;

/// Whether a plane separates the rows of a question when the numbers of these columns are the decimals that
/// are written; `None` where that is not known exactly or would take long.
pub(crate) fn separable(
    judge: &Judge,
    decision: &Decision,
    columns: &[LongColumn],
    stop: &dyn Fn() -> bool,
) -> Option<bool> {
    let problem = decision.problem.as_ref()?;
    let data = &judge.data;
    let known = columns.iter().all(|column| column.is_complete() && column.filled.is_none());
    if !known
        || data.input().basis.is_some()
        || data.n_features() > MOST_COLUMNS
        || data.n_rows().saturating_mul(data.n_features()) > MOST_NUMBERS
    {
        return None;
    }
    let view = Signed::new(Arc::clone(data), problem.clone(), judge.bias);
    let rows = rows(&view, columns)?;
    if let Claim::Separable { plane, .. } = &decision.claim
        && let Some(plane) = rows.plane(plane)
        && rows.wrong(&plane).is_empty()
    {
        return Some(true);
    }
    let pivots = Cell::new(0);
    let stop = || {
        pivots.set(pivots.get() + 1);
        pivots.get() > MOST_PIVOTS || stop()
    };
    let mut few = seeds(&view, decision);
    while few.len() <= MOST_ROWS {
        let chosen: Vec<Vec<IBig>> = few.iter().map(|&k| rows.rows[k].clone()).collect();
        match decide(&chosen, &stop)? {
            Exactly::Balanced(lambda) => {
                return balances(&chosen, &lambda).then_some(false);
            }
            Exactly::Separated(plane) => {
                let wrong = rows.wrong(&plane);
                if wrong.is_empty() {
                    return Some(true);
                }
                let every = wrong.len().div_ceil(plane.len() + 4);
                few.extend(wrong.into_iter().step_by(every));
            }
        }
    }
    None
}

/// The rows of the question as whole numbers, signs included, each column scaled by a positive number.
struct WrittenRows {
    rows: Vec<Vec<IBig>>,
    /// Column j was divided by 2^two · 5^five.
    scale: Vec<(i32, i32)>,
    bias: bool,
}

fn rows(view: &Signed, columns: &[LongColumn]) -> Option<WrittenRows> {
    let data = view.data.as_ref();
    let mut written = BTreeMap::new();
    for column in columns {
        for number in &column.kept {
            written.insert((number.row, column.feature), as_written(&number.text)?);
        }
    }
    let is_decimal = |feature: u32| columns.iter().any(|column| column.feature == feature);
    let mut scratch = Vec::new();
    let mut scale = vec![(i32::MAX, i32::MAX); data.n_features()];
    let mut entries = Vec::with_capacity(view.rows.len());
    for &row in &view.rows {
        let mut values: Vec<(u32, Option<Exact>)> = Vec::new();
        data.raw_store().for_each(row as usize, &mut scratch, |column, value| {
            let exact = match is_decimal(column) {
                true => {
                    written.get(&(u64::from(row), column)).cloned().or_else(|| as_decimal(value))
                }
                false => Some(exact_value(data, column, value)),
            };
            values.push((column, exact));
        });
        let values: Option<Vec<(u32, Exact)>> =
            values.into_iter().map(|(column, exact)| Some((column, exact?))).collect();
        let values = values?;
        for (column, exact) in &values {
            let (two, five) = &mut scale[*column as usize];
            (*two, *five) = ((*two).min(exact.two), (*five).min(exact.five));
        }
        entries.push(values);
    }
    scale.iter_mut().filter(|scale| scale.0 == i32::MAX).for_each(|scale| *scale = (0, 0));
    let shift = usize::from(view.bias);
    let whole = |(values, sign): (Vec<(u32, Exact)>, &i8)| {
        let mut row = vec![IBig::ZERO; data.n_features() + shift];
        if view.bias {
            row[0] = IBig::from(*sign);
        }
        for (column, exact) in values {
            let (two, five) = scale[column as usize];
            let five = UBig::from(5u8).pow((exact.five - five) as usize);
            let m = exact.m * IBig::from(*sign) * IBig::from(five);
            row[column as usize + shift] = m << (exact.two - two) as usize;
        }
        row
    };
    let rows = entries.into_iter().zip(&view.signs).map(whole).collect();
    Some(WrittenRows { rows, scale, bias: view.bias })
}

impl WrittenRows {
    /// The rows that are not strictly on their side of a plane.
    fn wrong(&self, plane: &[IBig]) -> Vec<usize> {
        let score = |row: &[IBig]| row.iter().zip(plane).fold(IBig::ZERO, |s, (x, w)| s + x * w);
        (0..self.rows.len()).filter(|&k| score(&self.rows[k]) <= IBig::ZERO).collect()
    }

    /// A plane of a claim in the coordinates of these rows, times a positive number that makes it whole.
    fn plane(&self, plane: &ExactPlane) -> Option<Vec<IBig>> {
        let number = |number: &ExactNumber| match number {
            ExactNumber::Binary64(value) => Some(as_binary64(*value)),
            ExactNumber::Ratio(text) => Some(Exact { m: text.parse().ok()?, two: 0, five: 0 }),
        };
        let zero = || Exact { m: IBig::ZERO, two: 0, five: 0 };
        let shift = usize::from(self.bias);
        let mut weights: Vec<Exact> = vec![zero(); self.scale.len() + shift];
        if let Some(bias) = plane.bias.as_ref().filter(|_| self.bias) {
            weights[0] = number(bias)?;
        }
        let dense = plane.weights.iter().flatten().enumerate();
        let sparse = plane.sparse.iter().flatten().map(|(j, weight)| (*j as usize, weight));
        for (j, weight) in dense.chain(sparse) {
            let (two, five) = self.scale.get(j)?;
            let exact = number(weight)?;
            let at = weights.get_mut(j + shift)?;
            *at = Exact { m: exact.m, two: exact.two + two, five: exact.five + five };
        }
        let used = || weights.iter().filter(|weight| weight.m != IBig::ZERO);
        let two = used().map(|weight| weight.two).min().unwrap_or(0);
        let five = used().map(|weight| weight.five).min().unwrap_or(0);
        let whole = |weight: &Exact| match weight.m == IBig::ZERO {
            true => IBig::ZERO,
            false => {
                let five = UBig::from(5u8).pow((weight.five - five) as usize);
                (&weight.m * IBig::from(five)) << (weight.two - two) as usize
            }
        };
        Some(weights.iter().map(whole).collect())
    }
}

/// The decimal that a text says, if it is one.
fn as_written(text: &str) -> Option<Exact> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().ok().filter(|e: &i32| e.abs() < 10_000)?;
    let (negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let m: IBig = digits.parse().ok()?;
    let ten = exponent - fraction.len() as i32;
    Some(Exact { m: if negative { -m } else { m }, two: ten, five: ten })
}

/// Rows to begin with: those that refute a plane in the reading of the data, or one of each side.
fn seeds(view: &Signed, decision: &Decision) -> Vec<usize> {
    let place = |row: u64| view.rows.binary_search(&u32::try_from(row).ok()?).ok();
    let refuting: Vec<usize> =
        decision.refutation.iter().filter_map(|weighted| place(weighted.row)).collect();
    if !refuting.is_empty() && decision.verdict != Verdict::Separable {
        return refuting;
    }
    let first = |sign: i8| view.signs.iter().position(|s| *s == sign);
    first(1).into_iter().chain(first(-1)).collect()
}

/// Whether λ > 0 and Σ λ z = 0.
fn balances(rows: &[Vec<IBig>], lambda: &[(usize, IBig)]) -> bool {
    let width = rows.first().map_or(0, Vec::len);
    let sum = |j: usize| lambda.iter().fold(IBig::ZERO, |sum, (k, l)| sum + &rows[*k][j] * l);
    !lambda.is_empty()
        && lambda.iter().all(|(_, l)| *l > IBig::ZERO)
        && (0..width).all(|j| sum(j) == IBig::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_data::read::{ReadOptions, read_from};

    fn both(text: &str) -> (Verdict, Option<bool>) {
        let read = read_from(text.as_bytes(), "t.csv", &ReadOptions::default()).unwrap();
        let judge = Judge::new(read.data);
        let positive = judge.data.classes().last().unwrap().clone();
        let decision = judge.class(&positive, &|| false).unwrap();
        let mixed: Vec<LongColumn> = read.choices.long;
        (decision.verdict, judge.separable_as_written(&decision, &mixed, &|| false))
    }

    #[test]
    fn one_long_number_can_turn_the_verdict_and_that_is_seen() {
        let tie = "u,v,x,label\n0,0,0.1,1\n1,1,0.2,1\n0,1,0.3,-1\n1,0,0,-1\n";
        assert_eq!(both(tie).0, Verdict::Overlapping);
        let longer = format!("{tie}9,9,9.00000000000000001,1\n");
        assert_eq!(both(&longer), (Verdict::Separable, Some(false)));
    }

    #[test]
    fn digits_beyond_binary64_count_as_they_are_written() {
        // As binary64 both are 9, on both sides.
        let text = "x,label\n1,a\n9.00000000000000001,b\n9,a\n10,b\n";
        assert_eq!(both(text), (Verdict::Touching, Some(true)));
        let text = "x,label\n1,a\n8.99999999999999999,b\n9,a\n10,b\n";
        assert_eq!(both(text), (Verdict::Touching, Some(false)));
    }

    #[test]
    fn rows_far_apart_or_far_mixed_are_the_same_in_both() {
        let rows = |noise: usize| -> String {
            let mut text = "x,z,label\n0.12345678901234567,0.5,a\n".to_owned();
            for i in 0..200usize {
                let side = if (i % 7 == 0) && noise > 0 { i % 3 } else { i % 2 };
                let x = (i * 37 % 100) as f64 / 10.0 + 20.0 * (i % 2) as f64;
                text.push_str(&format!("{x},{},{}\n", i * 13 % 50, ["a", "b", "a"][side]));
            }
            text
        };
        assert_eq!(both(&rows(0)), (Verdict::Separable, Some(true)));
        let (verdict, written) = both(&rows(1));
        assert_eq!((verdict, written), (Verdict::Overlapping, Some(false)));
    }

    #[test]
    fn texts_are_decimals_of_any_length() {
        let value = |text: &str| as_written(text).map(|exact| (exact.m.to_string(), exact.two));
        assert_eq!(value("-1.50"), Some(("-150".into(), -2)));
        assert_eq!(value("+3e-2"), Some(("3".into(), -2)));
        assert_eq!(value(".5E3"), Some(("5".into(), 2)));
        for text in ["", ".", "1e", "x", "1e99999", "1.2.3", "--1"] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
