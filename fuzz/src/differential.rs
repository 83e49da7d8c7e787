//! Answers of linsep against independent ones, on tables that the bytes describe.
//!
//! A table has up to seven rows of one or two whole numbers from −3 to 3 and two classes. Whether a plane
//! separates it is decided by eliminating one weight after the other (Fourier and Motzkin) in whole numbers.

use linsep::Dataset;
use linsep::proof::{Claim, Finding, check_claim};
use linsep::verdict::{Judge, Verdict};

/// Rows, their sides, and whether planes have a bias.
struct Table {
    rows: Vec<Vec<i64>>,
    positive: Vec<bool>,
    bias: bool,
}

impl Table {
    fn of(bytes: &[u8]) -> Option<(Table, &[u8])> {
        let (&head, rest) = bytes.split_first()?;
        let (width, bias) = (1 + usize::from(head & 1), head & 2 > 0);
        let count = 2 + usize::from(head >> 2 & 7).min(5);
        let needed = count * (width + 1);
        if rest.len() < needed {
            return None;
        }
        let (cells, rest) = rest.split_at(needed);
        let mut table = Table { rows: Vec::new(), positive: Vec::new(), bias };
        for row in cells.chunks_exact(width + 1) {
            table.rows.push(row[..width].iter().map(|x| i64::from(x % 7) - 3).collect());
            table.positive.push(row[width] & 1 > 0);
        }
        let both = table.positive.contains(&true) && table.positive.contains(&false);
        both.then_some((table, rest))
    }

    fn data(&self) -> Dataset {
        let rows: Vec<Vec<f64>> =
            self.rows.iter().map(|row| row.iter().map(|x| *x as f64).collect()).collect();
        let labels: Vec<&str> =
            self.positive.iter().map(|positive| if *positive { "p" } else { "n" }).collect();
        Dataset::from_rows(&rows, &labels).expect("a table of small numbers")
    }

    /// The rows ±(1, x).
    fn signed(&self) -> Vec<Vec<i128>> {
        let signed = |(row, positive): (&Vec<i64>, &bool)| {
            let sign = if *positive { 1 } else { -1 };
            let ones = self.bias.then_some(1).into_iter();
            ones.chain(row.iter().copied()).map(|x| i128::from(x) * sign).collect()
        };
        self.rows.iter().zip(&self.positive).map(signed).collect()
    }
}

/// Whether some w has z·w > 0 for every z: while there are weights, every pair of rows that pull the last one
/// in opposite directions is combined so that it is gone.
fn has_strict_plane(mut rows: Vec<Vec<i128>>) -> bool {
    while let Some(last) = rows.first().map(|row| row.len()).filter(|len| *len > 0) {
        let at = last - 1;
        let (mut up, mut down, mut next) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            match row[at].signum() {
                1 => up.push(row),
                -1 => down.push(row),
                _ => next.push(row[..at].to_vec()),
            }
        }
        for a in &up {
            for b in &down {
                let sum: Vec<i128> = (0..at).map(|j| a[j] * -b[at] + b[j] * a[at]).collect();
                let divisor = sum.iter().fold(0, |g, x| gcd(g, x.abs())).max(1);
                next.push(sum.into_iter().map(|x| x / divisor).collect());
            }
        }
        next.sort_unstable();
        next.dedup();
        rows = next;
        if rows.is_empty() {
            return true;
        }
    }
    // A row without weights says 0 > 0.
    rows.is_empty()
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

pub(crate) fn verdict(bytes: &[u8]) {
    let Some((table, _)) = Table::of(bytes) else { return };
    let judge = Judge::new(table.data()).with_bias(table.bias);
    let decision = judge.class("p", &|| false).expect("both classes are there");
    let expected = has_strict_plane(table.signed());
    assert_eq!(decision.verdict == Verdict::Separable, expected, "{:?}", table.rows);
    assert!(decision.verdict != Verdict::Undecided && decision.verdict != Verdict::Inseparable);
    let finding =
        check_claim(&decision.claim, &*judge.data, &judge.data.reading_field(), table.bias, 1);
    assert!(matches!(finding, Finding::Holds(_)), "{finding:?}");
}

/// A witness with multipliers that the bytes choose is accepted just if its sum is 0.
pub(crate) fn checker(bytes: &[u8]) {
    let Some((table, rest)) = Table::of(bytes) else { return };
    let judge = Judge::new(table.data()).with_bias(table.bias);
    let decision = judge.class("p", &|| false).expect("both classes are there");
    let (Claim::Inseparable { problem, witness }
    | Claim::Touching { problem, witness, .. }
    | Claim::Overlapping { problem, witness, .. }) = decision.claim
    else {
        return;
    };
    let mut witness = witness;
    for (weighted, byte) in witness.iter_mut().zip(rest) {
        if byte & 3 == 0 {
            weighted.lambda = format!("{}", byte >> 2);
        }
        if byte & 7 == 5 {
            weighted.row = u64::from(byte >> 3) % table.rows.len() as u64;
        }
    }
    let rows: std::collections::BTreeSet<u64> = witness.iter().map(|w| w.row).collect();
    let dimension = table.rows[0].len() + usize::from(table.bias);
    let lambdas: Option<Vec<i128>> =
        witness.iter().map(|w| w.lambda.parse().ok().filter(|lambda| *lambda > 0)).collect();
    let signed = table.signed();
    let right = lambdas.is_some_and(|lambdas| {
        let sum = |j: usize| -> i128 {
            witness.iter().zip(&lambdas).map(|(w, l)| signed[w.row as usize][j] * l).sum()
        };
        (0..dimension).all(|j| sum(j) == 0)
    }) && rows.len() == witness.len()
        && (1..=dimension + 1).contains(&witness.len());
    let claim = Claim::Inseparable { problem, witness };
    let finding = check_claim(&claim, &*judge.data, &judge.data.reading_field(), table.bias, 1);
    assert_eq!(matches!(finding, Finding::Holds(_)), right, "{claim:?}: {finding:?}");
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    (0..32u8)
        .map(|head| {
            (0..40u8).map(|k| if k == 0 { head } else { k.wrapping_mul(head ^ 37) }).collect()
        })
        .collect()
}
