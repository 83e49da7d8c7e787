//! Whether columns are independent of each other, shown by some rows modulo a prime.
//!
//! Rows are reduced one after the other until their rank is that of all columns. A minor that is not 0 modulo a
//! prime is not 0, so the answer yes is a proof; no says nothing.

use super::Checker;
use crate::basis::Products;
use crate::exact::Scaled;
use crate::file::ReadingField;
use crate::rank::{P, multiply, power, residue};
use crate::rows::Rows;
use dashu_int::IBig;
use std::collections::HashMap;

/// Products that are worth it: well below a second.
const MOST_WORK: usize = 1 << 26;

/// Whether it is shown that no combination of columns is constant, or constant within each class. Values are
/// exact, as their reading says.
pub fn columns_are_independent(
    rows: &dyn Rows,
    reading: &ReadingField,
    within_classes: bool,
) -> bool {
    let Ok(products) = Products::new(rows.basis(), rows.width()) else { return false };
    let checker = Checker { rows, products, reading, bias: true, threads: 1, elsewhere: None };
    let mut classes: HashMap<&str, usize> = HashMap::new();
    if within_classes {
        for row in (0..rows.len()).filter(|row| rows.takes_part(*row)) {
            let next = classes.len();
            classes.entry(rows.label(row)).or_insert(next);
        }
    }
    let constants = classes.len().max(1);
    let order = checker.width() + constants;
    let mut echelon = Echelon { rows: Vec::new() };
    let mut work = order.saturating_mul(order);
    let residues = Residues::new();
    for row in (0..rows.len()).filter(|row| rows.takes_part(*row)) {
        work = work.saturating_add((echelon.rows.len() + 1) * order);
        if work > MOST_WORK {
            return false;
        }
        let Ok(values) = checker.values(row) else { return false };
        let mut line = vec![0; order];
        line[classes.get(rows.label(row)).copied().unwrap_or(0)] = 1;
        values.iter().for_each(|(j, x)| line[constants + *j as usize] = residues.of(x));
        echelon.add(line);
        if echelon.rows.len() == order {
            return true;
        }
    }
    false
}

/// Rows each of which begins with a 1 where the later ones have a 0.
struct Echelon {
    rows: Vec<(usize, Vec<u64>)>,
}

impl Echelon {
    fn add(&mut self, mut line: Vec<u64>) {
        for (first, row) in &self.rows {
            let factor = line[*first];
            if factor != 0 {
                for (x, y) in line[*first..].iter_mut().zip(&row[*first..]) {
                    let product = multiply(factor, *y);
                    *x = if *x >= product { *x - product } else { *x + P - product };
                }
            }
        }
        // Rows stand in the order of their first columns, so that a reduction touches nothing before it.
        let Some(first) = line.iter().position(|x| *x != 0) else { return };
        let inverse = power(line[first], P - 2);
        line[first..].iter_mut().for_each(|x| *x = multiply(*x, inverse));
        let at = self.rows.partition_point(|(other, _)| *other < first);
        self.rows.insert(at, (first, line));
    }
}

/// Numbers m 2^a 5^b modulo the prime.
struct Residues {
    prime: IBig,
    /// 1/2 and 1/5.
    half: u64,
    fifth: u64,
}

impl Residues {
    fn new() -> Residues {
        Residues { prime: IBig::from(P), half: power(2, P - 2), fifth: power(5, P - 2) }
    }

    fn of(&self, x: &Scaled) -> u64 {
        let raised = |base: u64, inverse: u64, exponent: i32| match exponent >= 0 {
            true => power(base, exponent as u64),
            false => power(inverse, u64::from(exponent.unsigned_abs())),
        };
        let m = residue(&x.m, &self.prime);
        multiply(multiply(m, raised(2, self.half, x.two)), raised(5, self.fifth, x.five))
    }
}
