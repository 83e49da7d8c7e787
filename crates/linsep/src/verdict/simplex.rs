//! The exact decision on a few rows: either whole multipliers λ ≥ 0, not all 0, with Σ λ z = 0, or a
//! whole vector w with z·w > 0 for all of them.
//!
//! Phase one of the simplex method on { λ ≥ 0, Σ λ z = 0, Σ λ = 1 } with artificial variables. All
//! numbers stay whole: every pivot divides by the pivot before it without remainder (Edmonds,
//! Bareiss). The column of the least cost enters; while that brings the objective no further, Bland's rule
//! of the lowest index does, which keeps it from cycling. If the least sum of the artificial variables is not
//! 0, the dual solution y has z·y ≤ 0 − y₀ < 0 for every row, and w = −y.

use super::exactly::Exactly;
use dashu_int::IBig;
use linsep_data::cancel;

/// Decides, whatever the numbers are. `None` if `stop` said so.
pub(crate) fn decide(rows: &[Vec<IBig>], stop: &dyn Fn() -> bool) -> Option<Exactly> {
    let mut tableau = Tableau::new(rows);
    let mut stalled = false;
    while let Some((row, column)) = tableau.choose(stalled) {
        stalled = tableau.cells[row][tableau.data + tableau.equations] == IBig::ZERO;
        tableau.pivot(row, column);
        if stop() {
            return None;
        }
    }
    Some(tableau.answer())
}

/// Row by row: equations, then the objective; columns: rows of the data, artificials, right side.
struct Tableau {
    cells: Vec<Vec<IBig>>,
    basis: Vec<usize>,
    /// The pivot before: what all cells are divided by.
    divisor: IBig,
    data: usize,
    equations: usize,
}

impl Tableau {
    fn new(rows: &[Vec<IBig>]) -> Tableau {
        let data = rows.len();
        let equations = rows.first().map_or(0, Vec::len) + 1;
        let width = data + equations + 1;
        let mut cells = vec![vec![IBig::ZERO; width]; equations + 1];
        for (j, row) in rows.iter().enumerate() {
            for (i, value) in row.iter().enumerate() {
                cells[i][j] = value.clone();
            }
            cells[equations - 1][j] = IBig::ONE;
        }
        for i in 0..equations {
            cells[i][data + i] = IBig::ONE;
        }
        cells[equations - 1][width - 1] = IBig::ONE;
        // Reduced costs: the artificials cost 1 each and are the basis.
        for j in (0..data).chain([width - 1]) {
            let sum = (0..equations).fold(IBig::ZERO, |sum, i| sum + &cells[i][j]);
            cells[equations][j] = -sum;
        }
        let basis = (data..data + equations).collect();
        Tableau { cells, basis, divisor: IBig::ONE, data, equations }
    }

    /// The next pivot: by the least cost, or by Bland's rule.
    fn choose(&self, bland: bool) -> Option<(usize, usize)> {
        let right = self.data + self.equations;
        let costs = &self.cells[self.equations];
        let mut negative = (0..self.data).filter(|&j| costs[j] < IBig::ZERO);
        let column = match bland {
            true => negative.next(),
            false => negative.min_by(|&a, &b| costs[a].cmp(&costs[b]).then(a.cmp(&b))),
        }?;
        let mut best: Option<usize> = None;
        for i in (0..self.equations).filter(|&i| self.cells[i][column] > IBig::ZERO) {
            let better = match best {
                None => true,
                Some(b) => {
                    let mine = &self.cells[i][right] * &self.cells[b][column];
                    let theirs = &self.cells[b][right] * &self.cells[i][column];
                    mine < theirs || (mine == theirs && self.basis[i] < self.basis[b])
                }
            };
            if better {
                best = Some(i);
            }
        }
        // The objective is bounded below by 0, so a column of negative cost has a positive cell.
        best.map(|row| (row, column))
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let pivot_row = self.cells[row].clone();
        let pivot = &pivot_row[column];
        for (i, cells) in self.cells.iter_mut().enumerate() {
            cancel::check();
            if i == row {
                continue;
            }
            let factor = cells[column].clone();
            for (cell, other) in cells.iter_mut().zip(&pivot_row) {
                if factor == IBig::ZERO {
                    if *cell != IBig::ZERO && *pivot != self.divisor {
                        *cell = &*cell * pivot / &self.divisor;
                    }
                } else {
                    *cell = (&*cell * pivot - &factor * other) / &self.divisor;
                }
            }
        }
        self.divisor = pivot.clone();
        self.basis[row] = column;
    }

    fn answer(&self) -> Exactly {
        let right = self.data + self.equations;
        let objective = &self.cells[self.equations];
        if objective[right] == IBig::ZERO {
            let used = self.basis.iter().enumerate().filter(|(_, column)| **column < self.data);
            let weights = used.map(|(i, &column)| (column, self.cells[i][right].clone()));
            return Exactly::Balanced(weights.filter(|(_, l)| *l > IBig::ZERO).collect());
        }
        // Reduced cost of artificial i is 1 − y_i, times the divisor.
        let w = (0..self.equations - 1).map(|i| &objective[self.data + i] - &self.divisor);
        Exactly::Separated(w.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_data::rng::{Purpose, Stream};

    fn check(rows: &[Vec<i64>]) -> bool {
        let whole: Vec<Vec<IBig>> =
            rows.iter().map(|row| row.iter().map(|&x| IBig::from(x)).collect()).collect();
        match decide(&whole, &|| false).unwrap() {
            Exactly::Balanced(lambda) => {
                assert!(!lambda.is_empty() && lambda.len() <= rows[0].len() + 1);
                let row = |i: usize| whole[i].clone();
                let weighted =
                    |(i, l): &(usize, IBig)| row(*i).into_iter().map(|x| x * l).collect();
                let terms: Vec<Vec<IBig>> = lambda.iter().map(weighted).collect();
                for j in 0..whole[0].len() {
                    let sum = terms.iter().fold(IBig::ZERO, |sum, term| sum + &term[j]);
                    assert_eq!(sum, IBig::ZERO);
                }
                assert!(lambda.iter().all(|(_, l)| *l > IBig::ZERO));
                false
            }
            Exactly::Separated(w) => {
                for row in &whole {
                    let sum = row.iter().zip(&w).fold(IBig::ZERO, |s, (x, w)| s + x * w);
                    assert!(sum > IBig::ZERO);
                }
                true
            }
        }
    }

    #[test]
    fn gates_are_decided() {
        // z = ±(1, x1, x2)
        let gate = |truth: [bool; 4]| -> Vec<Vec<i64>> {
            (0..4i64)
                .map(|i| {
                    let sign = if truth[i as usize] { 1 } else { -1 };
                    vec![sign, sign * (i / 2), sign * (i % 2)]
                })
                .collect()
        };
        assert!(check(&gate([false, false, false, true])));
        assert!(!check(&gate([false, true, true, false])));
    }

    #[test]
    fn random_sets_are_decided_with_evidence_either_way() {
        let mut stream = Stream::new(2, Purpose::Generate(0));
        let mut separated = 0;
        for _ in 0..2000 {
            let (rows, width) = (2 + stream.below(9) as usize, 1 + stream.below(4) as usize);
            let rows: Vec<Vec<i64>> = (0..rows)
                .map(|_| (0..width).map(|_| stream.below(7) as i64 - 3).collect())
                .collect();
            separated += usize::from(check(&rows));
        }
        assert!((300..1700).contains(&separated), "{separated}");
    }
}
