//! Sums and squares of the columns, as the equations of fitted models need them.
//!
//! Least squares need them only for coordinates that suit the data: any centre and any scale will do, so
//! [`Rough`] sums are binary64, over all rows. A discriminant is defined by its means and variances, so
//! [`Fine`] sums are kept for each class with what their additions lose. What is lost is at most n 2^-53 of
//! the sum of the sizes after n rows, and adding it up loses γ_{2n} of that: 2^-79 for blocks of 2^13 rows.

use super::sweep::{Aside, LONG_LOSS, Line};
use crate::double::{Double, two_sum};

/// What [`Fine`] sums lose of the sum of the sizes, at most.
pub(super) const FINE_LOSS: f64 = LONG_LOSS / 32768.0;

/// Σ f x and Σ f x² over all rows.
pub(super) struct Rough {
    /// The factor of a row of each class, beside its weight.
    factors: Vec<f64>,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Rough {
    pub(super) fn new(factors: &[f64], width: usize) -> Rough {
        Rough { factors: factors.to_vec(), sums: vec![0.0; width], squares: vec![0.0; width] }
    }

    /// Sums and squares as one group of rows.
    pub(super) fn lists(self) -> (Vec<Vec<Double>>, Vec<Vec<Double>>) {
        let doubles = |list: Vec<f64>| vec![list.into_iter().map(Double::of).collect()];
        (doubles(self.sums), doubles(self.squares))
    }
}

impl Aside for Rough {
    fn visit(&mut self, line: &Line<'_>) {
        let factor = line.weight * self.factors[line.class];
        let add = |sum: &mut f64, square: &mut f64, x: f64| {
            let term = factor * x;
            *sum += term;
            *square += term * x;
        };
        match line.dense() {
            Some(values) => {
                let columns = self.sums.iter_mut().zip(&mut self.squares).zip(values);
                columns.for_each(|((sum, square), x)| add(sum, square, *x));
            }
            None => line.for_each(|j, x| add(&mut self.sums[j], &mut self.squares[j], x)),
        }
    }

    fn merge(&mut self, next: Rough) {
        let add = |mine: &mut [f64], theirs: &[f64]| {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        };
        add(&mut self.sums, &next.sums);
        add(&mut self.squares, &next.squares);
    }
}

/// Σ ω x and Σ ω x² over the rows of each class, in two parts each.
pub(super) struct Fine {
    sums: Vec<Vec<Parts>>,
    squares: Vec<Vec<Parts>>,
}

/// A sum and what it lost.
#[derive(Clone, Copy, Default)]
struct Parts {
    high: f64,
    low: f64,
}

impl Parts {
    #[inline(always)]
    fn add(&mut self, term: f64, rest: f64) {
        let (sum, loss) = two_sum(self.high, term);
        (self.high, self.low) = (sum, self.low + (loss + rest));
    }

    fn double(self) -> Double {
        Double::pair(self.high, self.low)
    }
}

impl Fine {
    pub(super) fn new(classes: usize, width: usize) -> Fine {
        let zeros = || vec![vec![Parts::default(); width]; classes];
        Fine { sums: zeros(), squares: zeros() }
    }

    /// Sums and squares of each class.
    pub(super) fn lists(self) -> (Vec<Vec<Double>>, Vec<Vec<Double>>) {
        let doubles = |lists: Vec<Vec<Parts>>| {
            let list = |list: Vec<Parts>| list.into_iter().map(Parts::double).collect();
            lists.into_iter().map(list).collect()
        };
        (doubles(self.sums), doubles(self.squares))
    }
}

impl Aside for Fine {
    fn visit(&mut self, line: &Line<'_>) {
        let (sums, squares) = (&mut self.sums[line.class], &mut self.squares[line.class]);
        let weight = line.weight;
        line.for_each(|j, x| {
            let (square, rest) = Double::product(x, x).parts();
            match weight == 1.0 {
                true => {
                    sums[j].add(x, 0.0);
                    squares[j].add(square, rest);
                }
                false => {
                    let (term, term_rest) = Double::product(weight, x).parts();
                    sums[j].add(term, term_rest);
                    let (term, term_rest) = Double::product(weight, square).parts();
                    squares[j].add(term, term_rest + weight * rest);
                }
            }
        });
    }

    fn merge(&mut self, next: Fine) {
        let add = |mine: &mut [Vec<Parts>], theirs: Vec<Vec<Parts>>| {
            let pairs = mine.iter_mut().flatten().zip(theirs.into_iter().flatten());
            pairs.for_each(|(mine, theirs)| mine.add(theirs.high, theirs.low));
        };
        add(&mut self.sums, next.sums);
        add(&mut self.squares, next.squares);
    }
}
