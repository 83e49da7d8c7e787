//! The largest margin of the rows as a run sees them, before it starts.
//!
//! The bound of a run needs γ in the coordinates of that run, so the rows are scaled first and the
//! question goes to [`Judge`] like any other: what comes back has passed the exact checker. Scaling
//! by powers of two is exact; by largest magnitudes it rounds each number once.

use linsep::run::update::Beginning;
use linsep::verdict::Judge;
use linsep_data::scale::{Scaler, Scaling};
use linsep_data::{Dataset, DatasetBuilder};
use serde::{Deserialize, Serialize};

/// An interval that holds γ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Gamma {
    /// Not more than γ.
    pub lower: f64,
    /// Not less than γ.
    pub upper: f64,
}

/// Beyond this many numbers, and this many columns, γ is not looked for unless it is asked for.
const FEW_NUMBERS: u64 = 40_000;
const FEW_COLUMNS: usize = 64;

/// γ of the rows of one machine with one plane; `None` if no plane separates them, if it is not
/// found, if rows or columns are shifted or scaled one by one, or if it is not `wanted` on data of
/// more than a few thousand rows.
pub fn margin_of_run(
    data: &Dataset,
    beginning: &Beginning,
    wanted: bool,
    threads: usize,
    stop: &dyn Fn() -> bool,
) -> Option<Gamma> {
    let numbers = (beginning.rows.len() as u64).saturating_mul(data.n_features() as u64 + 1);
    if !wanted && (numbers > FEW_NUMBERS || data.n_features() > FEW_COLUMNS) {
        return None;
    }
    let positive = beginning.positive?;
    if !matches!(beginning.scaling, Scaling::None | Scaling::Pow2 | Scaling::MaxAbs) {
        return None;
    }
    let scaler = Scaler::new(beginning.scaling, data, &beginning.rows);
    let mut builder = DatasetBuilder::new(data.n_features());
    for &row in &beginning.rows {
        let row = row as usize;
        let mut entries = Vec::new();
        data.for_each(row, |j, x| entries.push((j, x * scaler.scale(j as usize))));
        let label = if data.class_of(row) == positive { "1" } else { "-1" };
        builder.sparse_row(&entries, label).ok()?;
    }
    let mut judge = Judge::new(builder.finish().ok()?);
    judge.threads = threads;
    let decision = judge.class("1", stop).ok()?;
    let interval = match judge.augmented_margin(&decision, 1, stop) {
        Some(margin) => margin.gamma,
        None => judge.margin(&decision),
    };
    let (lower, upper) = (interval.lower?, interval.upper?);
    (lower > 0.0).then_some(Gamma { lower, upper })
}
