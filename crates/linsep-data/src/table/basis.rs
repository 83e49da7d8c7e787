//! Basis functions: learners work on φ(x) instead of x.
//!
//! φ(x) = (x, t₁(x), …, tₙ(x)) has the columns of the data and behind them new ones: products of
//! columns (`x1*x2`, `x1^2`), all products up to a degree (`poly:2`), or Gaussians
//! exp(−|x − c|²/2σ²) around rows c of the training data (`rbf:m,σ`). A plane in φ(x) is a curved
//! surface in x: XOR, which no plane in x separates, has the plane x1 + x2 − 2·x1*x2 = ½.
//!
//! The stored value of a product is its factors multiplied in binary64 from left to right in the
//! order of the columns. Proofs do not use it: there the value is the product of the exact values of
//! the columns, which the checker multiplies out itself ([`linsep_proof::Basis`]). So that each is
//! near the other, a product that leaves the normal range of binary64 is an error. Gaussians have no
//! exact values; nothing is claimed of models with them.
//!
//! References: Cover 1965 (patterns in a space of products); Bishop, Pattern Recognition and Machine
//! Learning, section 3.1.

mod expander;
#[doc(hidden)]
pub mod spec;

#[doc(hidden)]
pub use expander::Expander;
pub use spec::BasisSpec;

use super::input::InputMap;
use super::{Dataset, Features};
use crate::cancel;
use crate::error::{Code, Error, Place, Problem, Result};
use crate::matrix::{RowCopies, Stage, Staging, Store};
use linsep_kernels::number;
use linsep_proof::{MOST_DEGREE, MOST_TERMS};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashSet;
use std::sync::Arc;

/// Entries that are staged before they are packed.
const ENTRIES_AT_ONCE: usize = 1 << 20;

/// The basis functions of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Basis {
    /// Every product of columns of degree 2 up to this one.
    Powers(Degree),
    /// Products: (0-based feature, exponent) of each factor, features rising.
    Terms(Vec<Vec<(u32, u32)>>),
    /// Gaussians.
    Gaussians(Gaussians),
}

/// The degree of `poly:2`, written like that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Degree(pub u32);

/// exp(−|x − c|²/2σ²) for each centre c.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Gaussians {
    /// σ, the same for all.
    pub sigma: f64,
    /// A value for each feature of each centre.
    pub centres: Vec<Vec<f64>>,
}

impl Serialize for Degree {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("poly:{}", self.0))
    }
}

impl<'de> Deserialize<'de> for Degree {
    fn deserialize<D: Deserializer<'de>>(d: D) -> std::result::Result<Degree, D::Error> {
        let text = String::deserialize(d)?;
        let degree = text.strip_prefix("poly:").and_then(|degree| degree.parse().ok());
        match degree.map(Degree) {
            Some(degree) if format!("poly:{}", degree.0) == text => Ok(degree),
            _ => Err(serde::de::Error::custom("a basis is poly:N, a list of terms or Gaussians")),
        }
    }
}

impl Basis {
    /// New columns for data with this many features.
    pub fn n_terms(&self, features: usize) -> usize {
        match self {
            Basis::Powers(Degree(degree)) => {
                usize::try_from(count_powers(features, *degree)).unwrap_or(usize::MAX)
            }
            Basis::Terms(terms) => terms.len(),
            Basis::Gaussians(gaussians) => gaussians.centres.len(),
        }
    }

    /// Why nothing can be proved with it, if that is so.
    pub fn unprovable(&self) -> Option<&'static str> {
        match self {
            Basis::Gaussians(_) => {
                Some("Gaussian basis functions have no exact values, so nothing is claimed")
            }
            _ => None,
        }
    }

    /// The basis as certificates state it.
    pub fn claimed(&self) -> linsep_proof::Basis {
        match self {
            Basis::Powers(degree) => linsep_proof::Basis::Named(format!("poly:{}", degree.0)),
            Basis::Terms(terms) => linsep_proof::Basis::Terms(terms.clone()),
            Basis::Gaussians(Gaussians { sigma, centres }) => {
                linsep_proof::Basis::Named(format!("rbf:{},{sigma}", centres.len()))
            }
        }
    }

    /// Whether it fits that many features; the words say why not.
    pub(crate) fn check(&self, features: usize) -> std::result::Result<(), String> {
        let count = self.n_terms(features);
        if count == 0 || count > MOST_TERMS {
            return Err(format!("the basis makes {count} new features"));
        }
        match self {
            Basis::Powers(Degree(degree)) => match (2..=MOST_DEGREE).contains(degree) {
                true => Ok(()),
                false => Err("the degree of the basis is not 2 to 6".into()),
            },
            Basis::Terms(terms) => {
                let right = |term: &Vec<(u32, u32)>| {
                    let degree = term.iter().fold(0u32, |sum, (_, k)| sum.saturating_add(*k));
                    (2..=MOST_DEGREE).contains(&degree)
                        && term.iter().all(|(column, k)| (*column as usize) < features && *k > 0)
                        && term.is_sorted_by(|a, b| a.0 < b.0)
                };
                let different = terms.iter().collect::<HashSet<_>>().len() == terms.len();
                match different && terms.iter().all(right) {
                    true => Ok(()),
                    false => Err("a term of the basis is not a product of the features".into()),
                }
            }
            Basis::Gaussians(Gaussians { sigma, centres }) => {
                let right = |centre: &Vec<f64>| {
                    centre.len() == features && centre.iter().all(|x| x.is_finite())
                };
                match sigma.is_finite() && *sigma > 0.0 && centres.iter().all(right) {
                    true => Ok(()),
                    false => Err("the centres or the sigma of the basis cannot be used".into()),
                }
            }
        }
    }

    /// Calls `each` with the factors of every product, in order, until it says stop; a feature stands
    /// as often as its exponent says.
    fn for_terms(&self, features: usize, mut each: impl FnMut(&[u32]) -> Result<()>) -> Result<()> {
        match self {
            Basis::Gaussians(_) => Ok(()),
            Basis::Terms(terms) => {
                let mut factors = Vec::new();
                for term in terms {
                    factors.clear();
                    for &(column, exponent) in term {
                        factors.extend((0..exponent).map(|_| column));
                    }
                    each(&factors)?;
                }
                Ok(())
            }
            Basis::Powers(Degree(degree)) => (2..=*degree as usize).try_for_each(|degree| {
                let mut factors = Vec::with_capacity(degree);
                each_product(&mut factors, degree, 0..features as u32, &mut each)
            }),
        }
    }

    /// Calls `each` with the factors of every product, in order.
    #[doc(hidden)]
    pub fn for_products(&self, features: usize, mut each: impl FnMut(&[u32])) {
        // The function never stops, so this cannot fail.
        let _ = self.for_terms(features, |factors| {
            each(factors);
            Ok(())
        });
    }

    /// φ(x) of a row of raw features; what is missing on the right is 0.
    #[doc(hidden)]
    pub fn expand_row(&self, row: &[f64], features: usize) -> Vec<f64> {
        let mut values = row[..row.len().min(features)].to_vec();
        values.resize(features, 0.0);
        Expander::new(self, features).expand(&mut values);
        values
    }

    /// φ of all rows. `place` says where a row stands, `check` may refuse the bytes taken so far.
    pub(crate) fn expand(
        &self,
        raw: &Store,
        input: &InputMap,
        place: impl Fn(usize) -> Place,
        check: impl Fn(u64) -> Result<()>,
    ) -> Result<Store> {
        let features = input.features;
        let mut staging = Staging::new(input.width());
        let mut result = Store::empty();
        let places: Vec<u8> = (0..raw.width()).map(|column| raw.places(column)).collect();
        let (mut scratch, mut entries, mut dense) = (Vec::new(), Vec::new(), Vec::new());
        // Few features are looked up by position, many by search.
        let by_position = features <= MOST_TERMS;
        let mut staged = 0;
        for row in 0..raw.rows() {
            cancel::check();
            entries.clear();
            raw.for_each(row, &mut scratch, |column, value| entries.push((column, value)));
            if by_position {
                dense.clear();
                dense.resize(features, 0.0);
                entries.iter().for_each(|&(column, value)| dense[column as usize] = value);
            }
            entries.iter().for_each(|&(j, value)| staging.push(j, value, places[j as usize]));
            staged += entries.len();
            let value = |column: u32| match by_position {
                true => dense[column as usize],
                false => {
                    let found = entries.binary_search_by_key(&column, |entry| entry.0);
                    found.map_or(0.0, |at| entries[at].1)
                }
            };
            let mut next = features as u32;
            let mut push = |x: f64| {
                if x != 0.0 {
                    staging.push(next, x, places_of(x));
                    staged += 1;
                }
                next += 1;
            };
            if let Basis::Gaussians(gaussians) = self {
                gaussians.values(&dense).for_each(&mut push);
            }
            self.for_terms(features, |factors| {
                if factors.iter().any(|&factor| value(factor) == 0.0) {
                    push(0.0);
                    return Ok(());
                }
                let mut product = value(factors[0]);
                for &factor in &factors[1..] {
                    let x = value(factor);
                    product *= x;
                    if !product.is_normal() {
                        return Err(out_of_range(factors, factor, x, input, place(row)));
                    }
                }
                push(product);
                Ok(())
            })?;
            staging.end_row();
            if staged > ENTRIES_AT_ONCE {
                result.append(staging.pack());
                staged = 0;
                check(raw.memory_bytes() + result.memory_bytes())?;
            }
        }
        result.append(staging.pack());
        check(raw.memory_bytes() + result.memory_bytes())?;
        result.widen_to(input.width());
        result.finish();
        Ok(result)
    }

    /// The names of the new features, from those of the raw ones.
    pub(crate) fn names(&self, raw: &[String]) -> Vec<String> {
        if let Basis::Gaussians(gaussians) = self {
            return (1..=gaussians.centres.len()).map(|k| format!("rbf{k}")).collect();
        }
        let mut names = Vec::new();
        self.for_products(raw.len(), |factors| {
            names.push(term_name(factors, |column| raw[column as usize].clone()));
        });
        names
    }
}

impl Gaussians {
    fn values<'a>(&'a self, row: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.centres.iter().map(|centre| self.value(row, centre))
    }

    fn value(&self, row: &[f64], centre: &[f64]) -> f64 {
        let square: f64 = row.iter().zip(centre).map(|(x, c)| (x - c) * (x - c)).sum();
        (-square / self.sigma / self.sigma / 2.0).exp()
    }
}

/// All products of `left` more factors, features from a range, in the order of their features.
fn each_product(
    factors: &mut Vec<u32>,
    left: usize,
    features: std::ops::Range<u32>,
    each: &mut impl FnMut(&[u32]) -> Result<()>,
) -> Result<()> {
    if left == 0 {
        return each(factors);
    }
    for column in features.clone() {
        factors.push(column);
        each_product(factors, left - 1, column..features.end, each)?;
        factors.pop();
    }
    Ok(())
}

/// C(features + degree, degree) − 1 − features: the products of degree 2 and more.
fn count_powers(features: usize, degree: u32) -> u128 {
    let (n, mut all) = (features as u128, 1u128);
    for k in 1..=u128::from(degree) {
        all = all.saturating_mul(n + k) / k;
    }
    all.saturating_sub(1).saturating_sub(n)
}

/// Places of a value; whole numbers, the common case, need no look at their text.
fn places_of(value: f64) -> u8 {
    if value.abs() < 1e15 && value.trunc() == value { 0 } else { number::places_of(value) }
}

/// `x1^2*x3` for the factors x1, x1, x3.
fn term_name(factors: &[u32], name: impl Fn(u32) -> String) -> String {
    let powers = factors.chunk_by(|a, b| a == b).map(|same| match same.len() {
        1 => name(same[0]),
        power => format!("{}^{power}", name(same[0])),
    });
    powers.collect::<Vec<_>>().join("*")
}

fn out_of_range(factors: &[u32], at: u32, value: f64, input: &InputMap, place: Place) -> Error {
    let term = term_name(factors, |column| input.feature_name(column as usize));
    let place = Place { field: Some(input.field_of(at as usize)), ..place };
    let words = format!("the product {term} leaves the range of binary64");
    Problem::new(Code::OUT_OF_RANGE, words, place)
        .value(format!("{value:e}").as_bytes())
        .help("rescale the column, or leave the term out of the basis")
        .into()
}

/// What data with a basis was before it.
#[derive(Clone, Debug)]
pub(crate) struct Expansion {
    pub(crate) raw: Arc<Store>,
    pub(crate) claimed: linsep_proof::Basis,
}

impl Dataset {
    /// The same rows with basis functions: features are φ(x), while the digest and proofs speak of
    /// the raw values. Centres of Gaussians come from `rows` (all when `None`) by the seed.
    pub fn with_basis(
        self,
        spec: &BasisSpec,
        rows: Option<&[u32]>,
        seed: u64,
        max_memory: Option<u64>,
    ) -> Result<Dataset> {
        if self.input.basis.is_some() {
            return Err(Error::usage("`basis`: the data has basis functions already"));
        }
        let basis = spec.on(&self, rows, seed)?;
        self.expanded(basis, max_memory)
    }

    /// The data before basis functions.
    pub(crate) fn without_basis(mut self) -> Dataset {
        self.features.contract();
        self
    }

    /// With the basis of a model.
    pub(crate) fn expanded(mut self, basis: Basis, max_memory: Option<u64>) -> Result<Dataset> {
        self.features.expand(basis, max_memory)?;
        Ok(self)
    }
}

impl Features {
    /// Replaces the values x by φ(x) and keeps x for the digest and for proofs.
    pub(crate) fn expand(&mut self, basis: Basis, max_memory: Option<u64>) -> Result<()> {
        basis
            .check(self.input.features)
            .map_err(|words| Error::usage(format!("`basis`: {words}")))?;
        self.input.basis = Some(basis.clone());
        let check = |needed: u64| match max_memory {
            Some(limit) if needed > limit => {
                let purpose = format!("a basis that makes {} features", self.input.width());
                Err(Error::Memory { purpose, needed, limit })
            }
            _ => Ok(()),
        };
        let store = basis.expand(&self.store, &self.input, |row| self.place_of(row), check)?;
        let raw = std::mem::replace(&mut self.store, RowCopies::new(store));
        let raw = Arc::new(raw.into_store());
        self.expansion = Some(Expansion { raw, claimed: basis.claimed() });
        Ok(())
    }

    /// Goes back to the values before basis functions.
    pub(crate) fn contract(&mut self) {
        if let Some(Expansion { raw, .. }) = self.expansion.take() {
            self.store = RowCopies::new(Arc::unwrap_or_clone(raw));
            self.input.basis = None;
        }
    }

    /// Why nothing can be proved about this data, if that is so.
    pub fn unprovable(&self) -> Option<&'static str> {
        self.input.basis.as_ref()?.unprovable()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_counted_before_they_are_made() {
        for (features, degree) in [(1, 2), (3, 2), (2, 3), (4, 3), (5, 6)] {
            let mut count = 0;
            let basis = Basis::Powers(Degree(degree));
            basis.for_products(features, |_| count += 1);
            assert_eq!(count_powers(features, degree), count);
        }
        assert!(count_powers(usize::MAX, 6) > MOST_TERMS as u128);
    }

    #[test]
    fn new_features_are_named_after_their_factors() {
        let names = ["a".to_owned(), "b".to_owned()];
        let made = Basis::Powers(Degree(3)).names(&names);
        assert_eq!(made, ["a^2", "a*b", "b^2", "a^3", "a^2*b", "a*b^2", "b^3"]);
    }

    #[test]
    fn a_basis_is_written_and_read_back() {
        let gaussians = Gaussians { sigma: 0.1, centres: vec![vec![0.1 + 0.2, -1e-7]] };
        let all = [
            (Basis::Powers(Degree(2)), "\"poly:2\""),
            (Basis::Terms(vec![vec![(0, 1), (1, 2)]]), "[[[0,1],[1,2]]]"),
            (
                Basis::Gaussians(gaussians),
                "{\"sigma\":0.1,\"centres\":[[0.30000000000000004,-1e-7]]}",
            ),
        ];
        for (basis, text) in all {
            assert_eq!(serde_json::to_string(&basis).unwrap(), text);
            assert_eq!(serde_json::from_str::<Basis>(text).unwrap(), basis);
            assert_eq!(basis.check(2), Ok(()));
            assert!(basis.check(1).is_err() || basis == Basis::Powers(Degree(2)));
        }
        assert!(serde_json::from_str::<Basis>("\"poly:02\"").is_err());
    }
}
