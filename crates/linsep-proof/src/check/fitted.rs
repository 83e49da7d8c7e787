//! What claims about fitted models share: planes of binary64, the class and the weight of every row,
//! and sums over the rows of a class.

use super::elsewhere::{Reader, Sums};
use super::sweep::{BLOCK, Line, sweep};
use super::{Checked, Checker};
use crate::claim::Scheme;
use crate::double::Double;
use crate::fitted::{Planes, Priors};
use crate::threads::{Known, by_rows, side_by_side};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Two descriptions of one model may differ by this share of the norm of the scores. Two that both
/// pass differ by at most twice as much, so a change by 1e-6 of the norm is always refused.
pub(super) const SCORE_SHARE: f64 = 4.5e-7;
/// Scores have the unit of targets ±1 and of logarithms of odds. What lies this far below 1 is the
/// rounding of a model without any signal.
pub(super) const SCORE_FLOOR: f64 = 1e-12;

impl Checker<'_> {
    /// A word on row weights, where there are any.
    pub(super) fn row_weights(&self) -> &'static str {
        if self.has_weights() { ", row weights" } else { "" }
    }
}

/// Tables of more numbers than this, one for each class and column, are not held for every block of rows.
const WIDE: usize = 1 << 17;

/// A row that does not take part.
const NO_CLASS: u32 = u32::MAX;

/// A model with the rows it speaks of.
pub(super) struct Fitted<'a> {
    /// (weights, bias): one plane for two classes, else one for each class.
    pub(super) planes: Vec<(Cow<'a, [f64]>, f64)>,
    pub(super) n_classes: usize,
    class_of: Vec<u32>,
    /// Σ of the row weights of each class.
    pub(super) class_weights: Vec<f64>,
}

impl<'a> Fitted<'a> {
    pub(super) fn new(planes: &'a Planes, checker: &Checker<'_>) -> Checked<Fitted<'a>> {
        if !checker.bias {
            return Err("a fitted model needs a bias".into());
        }
        let mut fitted = match planes {
            Planes::Two { problem, plane } => {
                if problem.scheme == Scheme::Pair {
                    return Err("every row has to belong to a side".into());
                }
                let signs = checker.signs(problem)?;
                let class = |row| match signs.of(row) {
                    Some(sign) => u32::from(sign > 0),
                    None => NO_CLASS,
                };
                let class_of = (0..checker.rows_at_hand()).map(class).collect();
                Fitted::of(vec![plane.dense(checker.width(), checker.bias)?], 2, class_of)
            }
            Planes::Each(planes) => {
                let mut numbers = HashMap::new();
                let mut all = Vec::new();
                let dense = |k: u64| planes[k as usize].dense(checker.width(), checker.bias);
                // Threads of their own are for tables that take longer than their start.
                let is_wide = planes.len() * checker.width() > WIDE;
                let threads = if is_wide { checker.threads } else { 1 };
                let each = side_by_side(threads, 0..planes.len() as u64, &dense);
                for (number, (plane, dense)) in planes.iter().zip(each).enumerate() {
                    let class = plane.class()?;
                    if numbers.insert(class, number as u32).is_some() {
                        return Err(format!("class {class} has two planes"));
                    }
                    all.push(dense?);
                }
                let block = |rows: Range<u64>| -> Checked<Vec<u32>> {
                    let mut known = Known::new();
                    let class = |row| {
                        if !checker.rows.takes_part(row) {
                            return Ok(NO_CLASS);
                        }
                        let label = checker.rows.label(row);
                        let class = known.or_find(label, |label| numbers.get(label).copied());
                        class.ok_or_else(|| format!("row {row} is of a class without a plane"))
                    };
                    rows.map(class).collect()
                };
                let blocks = by_rows(checker.threads, checker.rows_at_hand(), &block);
                let class_of: Checked<Vec<Vec<u32>>> = blocks.into_iter().collect();
                Fitted::of(all, numbers.len(), class_of?.concat())
            }
        };
        let in_range = |row: u64| checker.floats(row, &mut |_, _| {});
        let mut rows = 0..if checker.products.is_empty() { 0 } else { checker.rows_at_hand() };
        if let Some(row) = rows.find(|row| !in_range(*row)) {
            return Err(format!("row {row}: a product of the basis leaves the range of binary64"));
        }
        fitted.class_weights = fitted.weigh(checker)?;
        let weights = &fitted.class_weights;
        if fitted.n_classes < 2 || weights.iter().any(|w| !(*w > 0.0 && w.is_finite())) {
            return Err("a class has no row".into());
        }
        Ok(fitted)
    }

    fn of(planes: Vec<(Cow<'a, [f64]>, f64)>, n_classes: usize, class_of: Vec<u32>) -> Fitted<'a> {
        Fitted { planes, n_classes, class_of, class_weights: Vec::new() }
    }

    /// The class of a row that takes part.
    pub(super) fn class(&self, row: u64) -> Option<usize> {
        let class = *self.class_of.get(usize::try_from(row).ok()?)?;
        (class != NO_CLASS).then_some(class as usize)
    }

    /// Calls `each` with (row, class, weight) of every row that takes part.
    pub(super) fn for_rows(&self, checker: &Checker<'_>, mut each: impl FnMut(u64, usize, f64)) {
        for (row, &class) in self.class_of.iter().enumerate() {
            if class != NO_CLASS {
                each(row as u64, class as usize, checker.rows.weight(row as u64));
            }
        }
    }

    /// The rows of each class.
    pub(super) fn members(&self, checker: &Checker<'_>) -> Vec<Vec<u64>> {
        let mut members = vec![Vec::new(); self.n_classes];
        self.for_rows(checker, |row, class, _| members[class].push(row));
        members
    }

    fn weigh(&self, checker: &Checker<'_>) -> Checked<Vec<f64>> {
        let compute = || {
            let block = |rows: Range<u64>| {
                let mut sums = vec![Double::ZERO; self.n_classes];
                let classes = &self.class_of[rows.start as usize..rows.end as usize];
                for (row, &class) in rows.zip(classes).filter(|(_, class)| **class != NO_CLASS) {
                    let sum = &mut sums[class as usize];
                    *sum = sum.plus(Double::of(checker.rows.weight(row)));
                }
                sums
            };
            let mut sums = vec![Double::ZERO; self.n_classes];
            for block in by_rows(checker.threads, self.class_of.len() as u64, &block) {
                sums.iter_mut().zip(block).for_each(|(sum, more)| *sum = sum.plus(more));
            }
            Ok(sums)
        };
        let unpack = |reader: &mut Reader| reader.long(self.n_classes);
        let sums = checker.pass(compute, |sums| Sums::default().long(sums), unpack)?;
        Ok(sums.into_iter().map(Double::value).collect())
    }

    /// Σ weight · value(x) of each class and column, over the values that are not 0.
    pub(super) fn column_sums(
        &self,
        checker: &Checker<'_>,
        value: impl Fn(f64) -> Double + Sync,
    ) -> Checked<Vec<Vec<Double>>> {
        let (classes, width) = (self.n_classes, checker.width());
        let compute = || Ok(self.column_sums_at_hand(checker, value));
        let unpack = |reader: &mut Reader| (0..classes).map(|_| reader.long(width)).collect();
        checker.pass(compute, |sums| sums.into_iter().fold(Sums::default(), Sums::long), unpack)
    }

    fn column_sums_at_hand(
        &self,
        checker: &Checker<'_>,
        value: impl Fn(f64) -> Double + Sync,
    ) -> Vec<Vec<Double>> {
        let zeros = || vec![vec![Double::ZERO; checker.width()]; self.n_classes];
        let visit = |sums: &mut Vec<Vec<Double>>, line: &Line<'_>| {
            let sums = &mut sums[line.class];
            line.for_each(|j, x| {
                if x != 0.0 {
                    sums[j] = sums[j].plus(value(x).times(line.weight));
                }
            });
        };
        let mut all = zeros();
        let merge = |next: Vec<Vec<Double>>| {
            let pairs = all.iter_mut().flatten().zip(next.iter().flatten());
            pairs.for_each(|(mine, theirs)| *mine = mine.plus(*theirs));
        };
        let size = 2 * self.n_classes * checker.width();
        sweep(checker, self, (size, self.block(checker)), zeros, visit, merge);
        all
    }

    /// Rows of a block whose sums hold a number for each class and column: all of them where a block
    /// would hold more sums than rows have values.
    pub(super) fn block(&self, checker: &Checker<'_>) -> u64 {
        match self.n_classes * checker.width() > WIDE {
            true => checker.rows.len(),
            false => BLOCK,
        }
    }

    /// How often each class is expected.
    pub(super) fn priors(&self, weights: &[f64], priors: &Priors) -> Vec<f64> {
        let total: f64 = weights.iter().sum();
        let given: f64 = if let Priors::Given(given) = priors { given.iter().sum() } else { 1.0 };
        let prior = |(k, w): (usize, &f64)| match priors {
            Priors::Data => w / total,
            Priors::Uniform => 1.0 / weights.len() as f64,
            Priors::Given(numbers) => numbers[k] / given,
        };
        weights.iter().enumerate().map(prior).collect()
    }
}
