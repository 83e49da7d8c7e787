//! Sums and squares of the columns, as the equations of fitted models need them.
//!
//! Least squares need them only for coordinates that suit the data: any centre and any scale will do, so
//! [`Rough`] sums are binary64, over all rows. A discriminant is defined by its means, and by its variances
//! where it is shrunk, so [`Fine`] sums are kept for each class with what their additions lose. What is lost is at most n 2^-53 of
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
    #[inline(always)]
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

/// Σ ω x and Σ ω x² over the rows of each class. The sums are in two parts each, and so are the squares if
/// they make the equations: else they are for scales alone, and binary64 will do.
pub(super) struct Fine {
    sums: Vec<Parts>,
    squares: Vec<Parts>,
    has_fine_squares: bool,
}

/// Sums of columns and what they lost, apart from each other, so that columns stand side by side.
struct Parts {
    high: Vec<f64>,
    low: Vec<f64>,
}

impl Parts {
    fn doubles(self) -> Vec<Double> {
        self.high.into_iter().zip(self.low).map(|(high, low)| Double::pair(high, low)).collect()
    }
}

#[inline(always)]
fn add(high: &mut f64, low: &mut f64, term: f64, rest: f64) {
    let (sum, loss) = two_sum(*high, term);
    (*high, *low) = (sum, *low + (loss + rest));
}

impl Fine {
    pub(super) fn new(classes: usize, width: usize, has_fine_squares: bool) -> Fine {
        let zeros = |_| Parts { high: vec![0.0; width], low: vec![0.0; width] };
        let lists = || (0..classes).map(zeros).collect();
        Fine { sums: lists(), squares: lists(), has_fine_squares }
    }

    /// Sums and squares of each class.
    pub(super) fn lists(self) -> (Vec<Vec<Double>>, Vec<Vec<Double>>) {
        let doubles = |lists: Vec<Parts>| lists.into_iter().map(Parts::doubles).collect();
        (doubles(self.sums), doubles(self.squares))
    }
}

/// Calls `each` with the sum and the square of each column, their parts, and the value of the row.
#[inline(always)]
fn columns(
    sums: &mut Parts,
    squares: &mut Parts,
    line: &Line<'_>,
    each: impl Fn((&mut f64, &mut f64), (&mut f64, &mut f64), f64),
) {
    match line.dense() {
        Some(values) => {
            let sums = sums.high.iter_mut().zip(&mut sums.low);
            let squares = squares.high.iter_mut().zip(&mut squares.low);
            sums.zip(squares).zip(values).for_each(|((sum, square), x)| each(sum, square, *x));
        }
        None => line.for_each(|j, x| {
            let sum = (&mut sums.high[j], &mut sums.low[j]);
            each(sum, (&mut squares.high[j], &mut squares.low[j]), x);
        }),
    }
}

impl Aside for Fine {
    #[inline(always)]
    fn visit(&mut self, line: &Line<'_>) {
        let (sums, squares) = (&mut self.sums[line.class], &mut self.squares[line.class]);
        let weight = line.weight;
        match (weight == 1.0, self.has_fine_squares) {
            (true, true) => columns(sums, squares, line, |sum, square, x| {
                let (term, rest) = Double::product(x, x).parts();
                add(sum.0, sum.1, x, 0.0);
                add(square.0, square.1, term, rest);
            }),
            (true, false) => columns(sums, squares, line, |sum, square, x| {
                add(sum.0, sum.1, x, 0.0);
                *square.0 += x * x;
            }),
            (false, _) => columns(sums, squares, line, |sum, square, x| {
                let (term, rest) = Double::product(weight, x).parts();
                add(sum.0, sum.1, term, rest);
                let (term, rest) = Double::product(x, x).parts();
                let (heavy, heavy_rest) = Double::product(weight, term).parts();
                add(square.0, square.1, heavy, heavy_rest + weight * rest);
            }),
        }
    }

    fn merge(&mut self, next: Fine) {
        let merge = |mine: &mut [Parts], theirs: &[Parts]| {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                let sums = mine.high.iter_mut().zip(&mut mine.low);
                let others = theirs.high.iter().zip(&theirs.low);
                sums.zip(others)
                    .for_each(|((high, low), other)| add(high, low, *other.0, *other.1));
            }
        };
        merge(&mut self.sums, &next.sums);
        merge(&mut self.squares, &next.squares);
    }
}
