//! Basis functions of many rows, one after the other in one place.

use super::Basis;

/// φ for rows of a given width: the products are listed once, so a row allocates nothing.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Expander<'a> {
    basis: &'a Basis,
    features: usize,
    /// The factors of all products, and where each product ends.
    factors: Vec<u32>,
    ends: Vec<usize>,
}

impl<'a> Expander<'a> {
    pub fn new(basis: &'a Basis, features: usize) -> Expander<'a> {
        let (mut factors, mut ends) = (Vec::new(), Vec::new());
        basis.for_products(features, |product| {
            factors.extend_from_slice(product);
            ends.push(factors.len());
        });
        Expander { basis, features, factors, ends }
    }

    /// Number of raw features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Adds to the raw features of a row what the basis makes of them.
    pub fn expand(&self, row: &mut Vec<f64>) {
        if let Basis::Gaussians(gaussians) = self.basis {
            for centre in &gaussians.centres {
                let value = gaussians.value(&row[..self.features], centre);
                row.push(value);
            }
            return;
        }
        let mut start = 0;
        for &end in &self.ends {
            row.push(product(&self.factors[start..end], row));
            start = end;
        }
    }
}

/// The product of some features. What leaves the range is left as it is: a row given by hand has no
/// place to report. Zero makes zero, also where the other factors alone would leave the range.
pub(super) fn product(factors: &[u32], row: &[f64]) -> f64 {
    let value = |factor: &u32| row[*factor as usize];
    match factors.iter().any(|factor| value(factor) == 0.0) {
        true => 0.0,
        false => factors[1..].iter().fold(value(&factors[0]), |product, x| product * value(x)),
    }
}
