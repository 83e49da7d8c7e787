//! Basis functions as people write them, and what they mean on given data.

use super::{Basis, Degree, Gaussians, count_powers, term_name};
use crate::Dataset;
use crate::error::{Code, Error, Result};
use crate::input::no_column;
use crate::rng::{Purpose, Stream};
use crate::table::columns::ColumnRef;
use linsep_proof::{MOST_DEGREE, MOST_TERMS};
use std::collections::HashSet;

/// Basis functions as people write them: `poly:2`, `x1*x2,x1^2` or `rbf:10,0.5`.
///
/// ```
/// use linsep_data::basis::BasisSpec;
/// use linsep_data::Dataset;
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let xor = Dataset::from_rows(&rows, &["0", "1", "1", "0"])?;
/// let product: BasisSpec = "x1*x2".parse()?;
/// let curved = xor.with_basis(&product, None, 0, None)?;
/// assert_eq!(curved.n_features(), 3);
/// assert_eq!(curved.row(3), [1., 1., 1.]);
/// # Ok::<(), linsep_data::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum BasisSpec {
    /// Every product up to a degree.
    Powers(u32),
    /// Products of columns with exponents; a column alone is there already and adds nothing.
    Terms(Vec<Vec<(ColumnRef, u32)>>),
    /// That many Gaussians of this σ around rows that the seed chooses.
    Gaussians {
        /// How many.
        count: usize,
        /// σ.
        sigma: f64,
    },
}

impl std::str::FromStr for BasisSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<BasisSpec> {
        let text = text.trim();
        let refuse = |words: String| Err(Error::usage(format!("`basis`: {words}")));
        if text.is_empty() {
            let forms = "write poly:2, products such as x1*x2,x1^2, or rbf:10,0.5";
            return refuse(format!("there is nothing in it; {forms}"));
        }
        if let Some(degree) = text.strip_prefix("poly:") {
            return match degree.parse::<u32>() {
                Ok(degree) if (2..=MOST_DEGREE).contains(&degree) => Ok(BasisSpec::Powers(degree)),
                _ => refuse(format!(
                    "\"{text}\": the degree is a whole number from 2 to {MOST_DEGREE}"
                )),
            };
        }
        if let Some(rest) = text.strip_prefix("rbf:") {
            let parts = rest.split_once(',').map(|(m, s)| (m.trim().parse(), s.trim().parse()));
            return match parts {
                Some((Ok(count), Ok(sigma)))
                    if (1..=MOST_TERMS).contains(&count)
                        && f64::is_finite(sigma)
                        && sigma > 0.0 =>
                {
                    Ok(BasisSpec::Gaussians { count, sigma })
                }
                _ => refuse(format!(
                    "\"{text}\" is not rbf:M,SIGMA with M from 1 to {MOST_TERMS} and SIGMA above 0"
                )),
            };
        }
        let terms: Result<Vec<_>> = text.split(',').map(parse_term).collect();
        Ok(BasisSpec::Terms(terms?))
    }
}

fn parse_term(term: &str) -> Result<Vec<(ColumnRef, u32)>> {
    let term = term.trim();
    let refuse = |words: &str| {
        let term = crate::error::printable(term.as_bytes(), 40);
        Err(Error::usage(format!("`basis`: the term \"{term}\" {words}")))
    };
    let (mut factors, mut degree) = (Vec::new(), 0u32);
    for factor in term.split('*') {
        let (name, exponent) = match factor.rsplit_once('^') {
            None => (factor.trim(), 1),
            Some((name, exponent)) => match exponent.trim().parse::<u32>() {
                Ok(0) => return refuse("has the exponent 0, which makes 1; planes have a bias"),
                Ok(exponent) => (name.trim(), exponent),
                Err(_) => return refuse("has an exponent that is no whole number of at least 1"),
            },
        };
        if name.is_empty() {
            return refuse("has a factor without a name; write x1*x2 or x1^2");
        }
        degree = degree.saturating_add(exponent);
        factors.push((name.parse()?, exponent));
    }
    if degree > MOST_DEGREE {
        return refuse(&format!("has the degree {degree}, at most {MOST_DEGREE} is allowed"));
    }
    Ok(factors)
}

impl BasisSpec {
    /// The basis on given data. Centres come from `rows` (all when `None`) by the seed.
    pub(super) fn on(&self, data: &Dataset, rows: Option<&[u32]>, seed: u64) -> Result<Basis> {
        let (input, features) = (data.input(), data.n_features());
        match self {
            BasisSpec::Powers(degree) => {
                let count = count_powers(features, *degree);
                if count > MOST_TERMS as u128 {
                    return Err(Error::usage(format!(
                        "`basis`: poly:{degree} of {features} columns makes {count} new ones, at \
                         most {MOST_TERMS} are allowed; choose columns with `features`, or name \
                         the products"
                    )));
                }
                Ok(Basis::Powers(Degree(*degree)))
            }
            BasisSpec::Terms(terms) => {
                let mut found: Vec<Vec<(u32, u32)>> = Vec::new();
                let mut seen = HashSet::new();
                for term in terms {
                    let mut factors: Vec<(u32, u32)> = Vec::new();
                    for (column, exponent) in term {
                        factors.push((feature_of(column, data)?, *exponent));
                    }
                    factors.sort_unstable();
                    factors.dedup_by(|later, first| {
                        let same = later.0 == first.0;
                        first.1 += if same { later.1 } else { 0 };
                        same
                    });
                    if !seen.insert(factors.clone()) {
                        let columns: Vec<u32> = factors
                            .iter()
                            .flat_map(|&(column, k)| (0..k).map(move |_| column))
                            .collect();
                        let name =
                            term_name(&columns, |column| input.feature_name(column as usize));
                        return Err(Error::usage(format!(
                            "`basis`: the term \"{name}\" stands twice"
                        )));
                    }
                    if !matches!(factors[..], [(_, 1)]) {
                        found.push(factors);
                    }
                }
                match found.len() {
                    0 => Err(Error::usage(
                        "`basis`: only columns that are there already; write products or powers",
                    )),
                    count if count > MOST_TERMS => Err(Error::usage(format!(
                        "`basis`: {count} terms, at most {MOST_TERMS} are allowed"
                    ))),
                    _ => Ok(Basis::Terms(found)),
                }
            }
            BasisSpec::Gaussians { count, sigma } => {
                let centres = centres(data, rows, *count, seed)?;
                Ok(Basis::Gaussians(Gaussians { sigma: *sigma, centres }))
            }
        }
    }
}

/// The feature that a column makes, by its name or its place in the file.
#[doc(hidden)]
pub fn feature_of(column: &ColumnRef, data: &Dataset) -> Result<u32> {
    let input = data.input();
    let file = data.origin().files().next().unwrap_or("data");
    let missing = |wanted: &str| {
        let names = if input.features <= 1000 { input.feature_names() } else { Vec::new() };
        no_column(Code::NO_COLUMN, wanted, &names, file)
    };
    match column {
        ColumnRef::Name(name) => input.feature_called(name).ok_or_else(|| missing(name)),
        ColumnRef::Number(position) => match input.feature_at(*position) {
            Some(feature) => Ok(feature),
            None => Err(missing(&format!("#{}", position + 1))),
        },
    }
}

/// Numbers that all centres together may have.
const MOST_CENTRE_NUMBERS: usize = 10_000_000;

/// Different rows that the seed chooses, in the order of the data.
fn centres(data: &Dataset, rows: Option<&[u32]>, count: usize, seed: u64) -> Result<Vec<Vec<f64>>> {
    let features = data.n_features();
    if count.saturating_mul(features) > MOST_CENTRE_NUMBERS {
        return Err(Error::usage(format!(
            "`basis`: {count} centres of {features} numbers are too many, at most \
             {MOST_CENTRE_NUMBERS} numbers are allowed; ask for fewer"
        )));
    }
    let mut order: Vec<u32> = match rows {
        Some(rows) => rows.to_vec(),
        None => (0..data.n_rows() as u32).collect(),
    };
    order.retain(|&row| data.weight(row as usize) > 0.0);
    Stream::new(seed, Purpose::Centres).shuffle(&mut order);
    let (mut seen, mut chosen) = (HashSet::new(), Vec::new());
    for row in order {
        if chosen.len() == count {
            break;
        }
        let bits: Vec<u64> = data.row(row as usize).iter().map(|x| x.to_bits()).collect();
        if seen.insert(bits) {
            chosen.push(row);
        }
    }
    if chosen.len() < count {
        return Err(Error::usage(format!(
            "`basis`: {count} centres need as many different rows, there are only {}",
            chosen.len()
        )));
    }
    chosen.sort_unstable();
    Ok(chosen.into_iter().map(|row| data.row(row as usize)).collect())
}
