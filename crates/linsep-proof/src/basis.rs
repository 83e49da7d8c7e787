//! Basis functions: new columns that are products of columns, in exact numbers.
//!
//! With a basis the vector of a row is φ(x) = (x, t₁(x), …, tₙ(x)): the columns of the data, then one
//! product for each term. A term is a list of columns, rising, each with an exponent of at least 1;
//! its degree, the sum of the exponents, is 2 to 6. `poly:d` stands for every product of degree 2,
//! then of degree 3, and so on up to d, each degree in the order of its columns written out: for
//! three columns and d = 2 the terms are 00, 01, 02, 11, 12, 22. `rbf:m,σ` names Gaussians; they have
//! no exact values, so nothing can be claimed with them.
//!
//! **Exact values** are products of the exact values of the columns under their reading, never the
//! reading of a rounded product.
//!
//! **Binary64 values**, for filters and for claims about fitted models, are the stored values
//! multiplied from left to right in the order of the columns, each product rounded. With a decimal
//! reading each of the k factors may be off by one relative rounding u = 2^-53, and k − 1 products
//! round once each, so φ = p·(1 + θ) with |θ| ≤ γ_{2k−1} for the computed p (Higham, Accuracy and
//! Stability of Numerical Algorithms, lemma 3.1), as long as no product leaves the normal range.

use crate::exact::Scaled;
use crate::rows::{Decimals, Entries, RowBuffer, Rows};
use serde::{Deserialize, Serialize};

/// Terms that a basis may have.
pub const MOST_TERMS: usize = 100_000;

/// The degree that a term may have.
pub const MOST_DEGREE: u32 = 6;

/// The basis functions that a certificate speaks of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Basis {
    /// `poly:d`, or `rbf:m,σ`, with which nothing is provable.
    Named(String),
    /// Products: (0-based column, exponent) of each factor, columns rising.
    Terms(Vec<Vec<(u32, u32)>>),
}

impl Basis {
    /// Refuses what no correct writer makes; whether the columns exist is seen with the data.
    pub(crate) fn check_form(&self) -> Result<(), String> {
        match self {
            Basis::Named(name) => match (degree_of(name), name.strip_prefix("rbf:")) {
                (Some(degree), _) if (2..=MOST_DEGREE).contains(&degree) => Ok(()),
                (_, Some(rest)) if is_gaussian(rest) => Ok(()),
                _ => {
                    Err("the basis is neither poly:2 to poly:6, nor terms, nor rbf:m,sigma".into())
                }
            },
            Basis::Terms(terms) => {
                if terms.is_empty() || terms.len() > MOST_TERMS {
                    return Err(format!("the basis has {} terms", terms.len()));
                }
                let mut seen = std::collections::HashSet::new();
                for term in terms {
                    let degree = term.iter().try_fold(0u32, |sum, (_, k)| sum.checked_add(*k));
                    let right = degree.is_some_and(|degree| (2..=MOST_DEGREE).contains(&degree))
                        && term.iter().all(|(_, exponent)| *exponent > 0)
                        && term.is_sorted_by(|a, b| a.0 < b.0);
                    if !right {
                        return Err("a term of the basis is not a product of degree 2 to 6".into());
                    }
                    if !seen.insert(term) {
                        return Err("a term of the basis stands twice".into());
                    }
                }
                Ok(())
            }
        }
    }
}

/// d of `poly:d` as it is written.
fn degree_of(name: &str) -> Option<u32> {
    let degree = name.strip_prefix("poly:")?;
    degree.parse().ok().filter(|number: &u32| number.to_string() == degree)
}

fn is_gaussian(rest: &str) -> bool {
    let Some((count, sigma)) = rest.split_once(',') else { return false };
    let fits = |sigma: f64| sigma.is_finite() && sigma > 0.0;
    count.parse::<u32>().is_ok_and(|count| count > 0) && sigma.parse().is_ok_and(fits)
}

/// Rows with the basis that a certificate states.
pub(crate) struct Stated<'a> {
    pub(crate) rows: &'a dyn Rows,
    pub(crate) basis: Option<&'a Basis>,
}

impl Rows for Stated<'_> {
    fn len(&self) -> u64 {
        self.rows.len()
    }

    fn width(&self) -> usize {
        self.rows.width()
    }

    fn label(&self, row: u64) -> &str {
        self.rows.label(row)
    }

    fn for_each(&self, row: u64, each: &mut dyn FnMut(u32, f64)) {
        self.rows.for_each(row, each);
    }

    fn entries<'a>(&'a self, row: u64, buffer: &'a mut RowBuffer) -> Entries<'a> {
        self.rows.entries(row, buffer)
    }

    fn load(&self, row: u64, columns: &mut Vec<u32>, values: &mut Vec<f64>) {
        self.rows.load(row, columns, values);
    }

    fn decimals(&self, row: u64) -> Option<Decimals<'_>> {
        self.rows.decimals(row)
    }

    fn takes_part(&self, row: u64) -> bool {
        self.rows.takes_part(row)
    }

    fn weight(&self, row: u64) -> f64 {
        self.rows.weight(row)
    }

    fn column_name(&self, column: u32) -> String {
        self.rows.column_name(column)
    }

    fn basis(&self) -> Option<&Basis> {
        self.basis
    }
}

/// A basis on data of a known width, ready to multiply.
pub(crate) struct Products {
    /// Columns of the data.
    raw: usize,
    /// The columns that any term has, rising.
    used: Vec<u32>,
    /// The factors of all terms, as positions in `used`, a column as often as its exponent says.
    factors: Vec<u32>,
    /// Where the factors of each term end.
    ends: Vec<usize>,
    degree: u32,
}

impl Products {
    pub(crate) fn new(basis: Option<&Basis>, raw: usize) -> Result<Products, String> {
        let mut products =
            Products { raw, used: Vec::new(), factors: Vec::new(), ends: Vec::new(), degree: 1 };
        let Some(basis) = basis else { return Ok(products) };
        basis.check_form()?;
        match basis {
            Basis::Terms(terms) => {
                for term in terms {
                    let columns = term.iter().flat_map(|&(column, k)| (0..k).map(move |_| column));
                    products.push(columns);
                }
            }
            Basis::Named(name) => {
                let Some(degree) = degree_of(name) else {
                    return Err("Gaussians have no exact values, so nothing is proved".into());
                };
                products.push_all(degree)?;
            }
        }
        products.used = products.factors.clone();
        products.used.sort_unstable();
        products.used.dedup();
        if products.used.last().is_some_and(|&column| column as usize >= raw) {
            return Err("a term of the basis names a column that is not there".into());
        }
        let place = |column: &u32| products.used.binary_search(column).unwrap_or(0) as u32;
        products.factors = products.factors.iter().map(place).collect();
        Ok(products)
    }

    fn push(&mut self, columns: impl Iterator<Item = u32>) {
        let before = self.factors.len();
        self.factors.extend(columns);
        self.degree = self.degree.max((self.factors.len() - before) as u32);
        self.ends.push(self.factors.len());
    }

    /// Every product of degree 2 to `degree`.
    fn push_all(&mut self, degree: u32) -> Result<(), String> {
        if self.raw == 0 {
            return Ok(());
        }
        for degree in 2..=degree as usize {
            let mut columns = vec![0u32; degree];
            loop {
                if self.ends.len() == MOST_TERMS {
                    return Err(format!("the basis has more than {MOST_TERMS} terms"));
                }
                self.push(columns.clone().into_iter());
                // The last factor that can still rise does, and those behind it start from there.
                let can_rise = |at: &usize| (columns[*at] as usize) < self.raw - 1;
                let Some(at) = (0..degree).rev().find(can_rise) else { break };
                let next = columns[at] + 1;
                columns[at..].fill(next);
            }
        }
        Ok(())
    }

    /// Columns of φ(x).
    pub(crate) fn width(&self) -> usize {
        self.raw + self.ends.len()
    }

    /// Whether φ(x) = x.
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What a filter adds to the roundings of its sums (see the module `check::filter`): 2k + 2 for
    /// products of k factors, 4 for plain columns.
    pub(crate) fn roundings(&self) -> f64 {
        2.0 * f64::from(self.degree) + 2.0
    }

    /// Calls `each` with (column, value) of φ(x) in binary64 where it is not 0, columns rising. False
    /// if a product left the normal range, and its value means nothing.
    pub(crate) fn floats(&self, rows: &dyn Rows, row: u64, each: &mut dyn FnMut(u32, f64)) -> bool {
        if self.is_empty() {
            rows.for_each(row, each);
            return true;
        }
        let mut values = vec![0.0; self.used.len()];
        rows.for_each(row, &mut |column, value| {
            if let Ok(at) = self.used.binary_search(&column) {
                values[at] = value;
            }
            each(column, value);
        });
        let mut in_range = true;
        self.for_terms(|column, factors| {
            if factors.iter().any(|at| values[*at as usize] == 0.0) {
                return;
            }
            let mut product = values[factors[0] as usize];
            for at in &factors[1..] {
                product *= values[*at as usize];
                in_range &= product.is_normal();
            }
            each(column, product);
        });
        in_range
    }

    /// φ(x) as [`Rows::load`] gives x.
    pub(crate) fn load(
        &self,
        rows: &dyn Rows,
        row: u64,
        columns: &mut Vec<u32>,
        values: &mut Vec<f64>,
    ) {
        if self.is_empty() {
            return rows.load(row, columns, values);
        }
        columns.clear();
        values.clear();
        self.floats(rows, row, &mut |column, value| {
            columns.push(column);
            values.push(value);
        });
    }

    /// Adds the exact products to the exact values of a row.
    pub(crate) fn extend(&self, values: &mut Vec<(u32, Scaled)>) {
        if self.is_empty() {
            return;
        }
        let find = |column: &u32| values.binary_search_by_key(column, |(column, _)| *column).ok();
        let places: Vec<Option<usize>> = self.used.iter().map(find).collect();
        let mut products = Vec::new();
        self.for_terms(|column, factors| {
            let factors = factors.iter().map(|at| places[*at as usize].map(|at| &values[at].1));
            let Some(factors) = factors.collect::<Option<Vec<&Scaled>>>() else { return };
            let product = factors[1..].iter().fold(factors[0].clone(), |p, x| p.product(x));
            products.push((column, product));
        });
        values.extend(products);
    }

    fn for_terms(&self, mut each: impl FnMut(u32, &[u32])) {
        let mut start = 0;
        for (k, &end) in self.ends.iter().enumerate() {
            each((self.raw + k) as u32, &self.factors[start..end]);
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(basis: &str, raw: usize) -> Vec<Vec<u32>> {
        let products = Products::new(Some(&Basis::Named(basis.into())), raw).unwrap();
        let mut all = Vec::new();
        let column = |at: &u32| products.used[*at as usize];
        products.for_terms(|_, factors| all.push(factors.iter().map(column).collect()));
        all
    }

    #[test]
    fn powers_stand_in_the_order_of_their_columns() {
        let two = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];
        assert_eq!(terms("poly:2", 3), two);
        let three: [&[u32]; 7] =
            [&[0, 0], &[0, 1], &[1, 1], &[0, 0, 0], &[0, 0, 1], &[0, 1, 1], &[1, 1, 1]];
        assert_eq!(terms("poly:3", 2), three);
        assert_eq!(terms("poly:3", 1), [&[0, 0][..], &[0, 0, 0]]);
    }

    #[test]
    fn what_no_writer_makes_is_refused() {
        let named = |name: &str| Products::new(Some(&Basis::Named(name.into())), 3).is_err();
        for bad in ["poly:1", "poly:7", "poly:02", "poly:", "poly", "", "x1*x2", "rbf:2,1"] {
            assert!(named(bad), "{bad}");
        }
        let terms = |terms: Vec<Vec<(u32, u32)>>| Products::new(Some(&Basis::Terms(terms)), 3);
        assert_eq!(terms(vec![vec![(0, 1), (2, 1)]]).map(|p| p.width()), Ok(4));
        for bad in [
            vec![],
            vec![vec![]],
            vec![vec![(0, 1)]],
            vec![vec![(0, 0), (1, 2)]],
            vec![vec![(1, 1), (0, 1)]],
            vec![vec![(0, 7)]],
            vec![vec![(0, u32::MAX), (1, 2)]],
            vec![vec![(0, 2), (3, 1)]],
            vec![vec![(0, 2)], vec![(0, 2)]],
        ] {
            assert!(terms(bad.clone()).is_err(), "{bad:?}");
        }
        assert!(Products::new(Some(&Basis::Named("poly:2".into())), 1 << 30).is_err());
    }
}
