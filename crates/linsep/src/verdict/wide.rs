//! The exact decision on rows whose numbers span hundreds of decades: the simplex method in long floats.
//!
//! Where numbers are 1e-300 and 1e300 in one column, no scaling brings them into the range of binary64. Whole
//! numbers do, but in phase one of the simplex method ([`super::simplex`]) they grow with every pivot, to as
//! many times their length as there are dimensions. Floats of somewhat more than twice their length do not
//! grow, and lead to the same basis unless it is very ill conditioned. Its rows, or its dual plane, are then
//! checked in whole numbers; nothing else leaves this file.

use super::exactly::{Exactly, balance, bits, separates};
use dashu_int::IBig;
use linsep_data::cancel;
use std::cmp::Ordering;

/// Numbers of one column that are farther apart than this many bits are wild.
const WILD: i64 = 200;

/// Bits beyond twice the spread of the numbers, and how many of them rounding may have spoilt.
const EXTRA: i64 = 256;
const GUARD: i64 = 64;

/// Pivots for every row and column.
const MOST_PIVOTS: usize = 20;

/// Whether the numbers of some column are too far apart for scaled floats.
pub(crate) fn is_wild(rows: &[Vec<IBig>]) -> bool {
    spread(rows) > WILD
}

/// How many bits the largest and the smallest number of a column are apart, at most.
fn spread(rows: &[Vec<IBig>]) -> i64 {
    let of_column = |c: usize| {
        let sizes = || rows.iter().map(|row| bits(&row[c])).filter(|bits| *bits > 0);
        sizes().max().unwrap_or(0) - sizes().min().unwrap_or(0)
    };
    (0..rows.first().map_or(0, Vec::len)).map(of_column).max().unwrap_or(0)
}

/// Decides; `None` where floats propose nothing that is exactly true, or `stop` said so.
pub(crate) fn decide(rows: &[Vec<IBig>], stop: &dyn Fn() -> bool) -> Option<Exactly> {
    let mut tableau = Tableau::new(rows);
    for _ in 0..MOST_PIVOTS * (rows.len() + tableau.equations) {
        let Some((row, column)) = tableau.choose() else { break };
        tableau.pivot(row, column);
        if stop() {
            return None;
        }
    }
    if let Some(lambda) = balance(rows, &tableau.support()) {
        return Some(Exactly::Balanced(lambda));
    }
    let w = tableau.plane();
    separates(&w, rows).then_some(Exactly::Separated(w))
}

/// The equations; columns: rows of the data, artificials, right side. Costs are added up anew for every pivot:
/// a row of costs that is carried along forgets small numbers beside large ones that cancel later.
struct Tableau {
    cells: Vec<Vec<Wide>>,
    basis: Vec<usize>,
    data: usize,
    equations: usize,
    /// Coordinate i of the rows was divided by 2^unit.
    unit: Vec<i64>,
    /// Bits of the floats.
    precision: i64,
}

impl Tableau {
    fn new(rows: &[Vec<IBig>]) -> Tableau {
        let (data, width) = (rows.len(), rows.first().map_or(0, Vec::len));
        let equations = width + 1;
        let right = data + equations;
        let unit: Vec<i64> =
            (0..width).map(|c| rows.iter().map(|row| bits(&row[c])).max().unwrap_or(0)).collect();
        let mut cells = vec![vec![Wide::zero(); right + 1]; equations];
        for (j, row) in rows.iter().enumerate() {
            let scaled: Vec<Wide> = row
                .iter()
                .zip(&unit)
                .map(|(x, unit)| Wide { m: x.clone(), e: if *x == IBig::ZERO { 0 } else { -unit } })
                .collect();
            // Rows may be stretched as well: the largest number of each is about 1.
            let top = scaled.iter().filter(|x| !x.is_zero()).map(Wide::top).max().unwrap_or(0);
            for (cells, x) in cells.iter_mut().zip(scaled) {
                cells[j] = Wide { e: x.e - top, m: x.m };
            }
            cells[width][j] = Wide::one();
        }
        for i in 0..equations {
            cells[i][data + i] = Wide::one();
        }
        cells[width][right] = Wide::one();
        let precision = 2 * spread(rows) + EXTRA;
        Tableau { cells, basis: (data..right).collect(), data, equations, unit, precision }
    }

    /// Minus the sum of a column over the artificials in the basis: what it costs to bring it in.
    fn cost(&self, column: usize) -> Wide {
        let artificial = self.basis.iter().zip(&self.cells).filter(|(b, _)| **b >= self.data);
        artificial.fold(Wide::zero(), |sum, (_, cells)| sum.minus(&cells[column], self.precision))
    }

    /// The column of the least cost and the row that leaves for it.
    fn choose(&self) -> Option<(usize, usize)> {
        let right = self.data + self.equations;
        let costs =
            (0..self.data).map(|j| (j, self.cost(j))).filter(|(_, cost)| cost.m < IBig::ZERO);
        let (column, _) = costs.min_by(|a, b| a.1.cmp(&b.1).then(a.0.cmp(&b.0)))?;
        let ratio = |i: usize| self.cells[i][right].over(&self.cells[i][column], self.precision);
        let positive = (0..self.equations).filter(|&i| self.cells[i][column].is_positive());
        let ratios = positive.map(|i| (i, ratio(i)));
        let least = ratios.min_by(|a, b| a.1.cmp(&b.1).then(self.basis[a.0].cmp(&self.basis[b.0])));
        least.map(|(row, _)| (row, column))
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let precision = self.precision;
        let pivot = self.cells[row][column].clone();
        self.cells[row].iter_mut().for_each(|cell| *cell = cell.over(&pivot, precision));
        let pivot_row = self.cells[row].clone();
        for (_, cells) in self.cells.iter_mut().enumerate().filter(|(i, _)| *i != row) {
            cancel::check();
            let factor = std::mem::replace(&mut cells[column], Wide::zero());
            if factor.is_zero() {
                continue;
            }
            let others = cells.iter_mut().zip(&pivot_row).enumerate();
            for (_, (cell, other)) in others.filter(|(j, (_, x))| *j != column && !x.is_zero()) {
                *cell = cell.minus(&factor.product(other).cut(precision), precision);
            }
        }
        self.basis[row] = column;
    }

    /// Rows of the data in the basis, with a positive weight.
    fn support(&self) -> Vec<usize> {
        let right = self.data + self.equations;
        let used =
            self.basis.iter().zip(&self.cells).filter(|(_, cells)| cells[right].is_positive());
        used.map(|(&column, _)| column).filter(|&column| column < self.data).collect()
    }

    /// The dual plane, in the coordinates of the rows, times a power of two that makes it whole.
    fn plane(&self) -> Vec<IBig> {
        let y: Vec<Wide> = (self.unit.iter().enumerate())
            .map(|(i, unit)| {
                let cost = self.cost(self.data + i);
                Wide { e: cost.e - unit, m: cost.m }
            })
            .collect();
        let least = y.iter().filter(|y| !y.is_zero()).map(|y| y.e).min().unwrap_or(0);
        y.into_iter()
            .map(|y| if y.is_zero() { y.m } else { y.m << (y.e - least) as usize })
            .collect()
    }
}

/// m · 2^e; sums and quotients are cut to a number of bits.
#[derive(Clone, Debug)]
struct Wide {
    m: IBig,
    e: i64,
}

impl Wide {
    fn zero() -> Wide {
        Wide { m: IBig::ZERO, e: 0 }
    }

    fn one() -> Wide {
        Wide { m: IBig::ONE, e: 0 }
    }

    fn is_zero(&self) -> bool {
        self.m == IBig::ZERO
    }

    fn is_positive(&self) -> bool {
        self.m > IBig::ZERO
    }

    /// The exponent of the highest bit.
    fn top(&self) -> i64 {
        bits(&self.m) + self.e
    }

    fn cut(self, precision: i64) -> Wide {
        let down = bits(&self.m) - precision;
        if down <= 0 { self } else { Wide { m: self.m >> down as usize, e: self.e + down } }
    }

    fn over(&self, other: &Wide, precision: i64) -> Wide {
        let up = (precision + bits(&other.m) - bits(&self.m)).max(0);
        Wide { m: (&self.m << up as usize) / &other.m, e: self.e - other.e - up }
    }

    fn minus(&self, other: &Wide, precision: i64) -> Wide {
        if other.is_zero() {
            return self.clone();
        }
        if self.is_zero() {
            return Wide { m: -&other.m, e: other.e };
        }
        let top = self.top().max(other.top());
        // What lies below the last bit that is kept is left out before the sum.
        let least = self.e.min(other.e).max(top - precision);
        let part = |x: &Wide| match x.e - least {
            up @ 0.. => &x.m << up as usize,
            down => &x.m >> (-down) as usize,
        };
        let sum = Wide { m: part(self) - part(other), e: least };
        // A sum this much smaller than its terms is the rounding of what came before.
        if sum.is_zero() || sum.top() < top - precision + GUARD { Wide::zero() } else { sum }
    }

    fn product(&self, other: &Wide) -> Wide {
        Wide { m: &self.m * &other.m, e: self.e + other.e }
    }

    fn cmp(&self, other: &Wide) -> Ordering {
        if self.is_zero() || other.is_zero() || (self.m > IBig::ZERO) != (other.m > IBig::ZERO) {
            return self.m.cmp(&other.m);
        }
        let by_size = self.top().cmp(&other.top());
        let by_size = if self.m < IBig::ZERO { by_size.reverse() } else { by_size };
        by_size.then_with(|| {
            let up = |x: &Wide, y: &Wide| &x.m << (x.e - y.e).max(0) as usize;
            up(self, other).cmp(&up(other, self))
        })
    }
}
