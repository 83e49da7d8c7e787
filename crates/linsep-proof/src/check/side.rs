//! Planes ready to be multiplied with rows.

use super::optimal::Linear;
use super::{Checked, Checker, Vector};
use crate::claim::{ClassPlane, ExactNumber, ExactPlane};
use crate::exact::{Scaled, WholePlane, ratio};
use dashu_int::IBig;
use std::collections::HashMap;

/// A plane ready to be multiplied with rows.
pub(super) struct Side {
    /// The weights that are not 0, unless `floats` has them all.
    weights: HashMap<u32, Scaled>,
    pub(super) bias: Scaled,
    /// The same plane where all its numbers are of binary64.
    pub(super) floats: Option<Linear<'static>>,
}

impl Side {
    pub(super) fn new(plane: &ExactPlane, checker: &Checker<'_>) -> Checked<Side> {
        let width = checker.width();
        if let Some((weights, bias)) = binary64(plane, width, checker.bias)? {
            let exact = Scaled::binary64(bias);
            return Ok(Side {
                weights: HashMap::new(),
                bias: exact,
                floats: Some(Linear { weights: weights.into(), bias }),
            });
        }
        let whole = WholePlane::new(plane, width, checker.bias)?;
        let weights =
            whole.weights.into_iter().map(|(column, w)| (column, Scaled::whole(w))).collect();
        Ok(Side { weights, bias: Scaled::whole(whole.bias), floats: None })
    }

    /// A plane of D whole numbers, the constant first.
    pub(super) fn whole(numbers: &[IBig], bias: bool) -> Side {
        let shift = usize::from(bias);
        let weights = numbers[shift..].iter().enumerate();
        Side {
            weights: weights.map(|(j, w)| (j as u32, Scaled::whole(w.clone()))).collect(),
            bias: if bias { Scaled::whole(numbers[0].clone()) } else { Scaled::whole(0) },
            floats: None,
        }
    }

    /// The planes of the blocks of a vector, if every number of it is a finite binary64.
    pub(super) fn binary64_blocks(
        vector: &[(u32, ExactNumber)],
        size: usize,
        blocks: usize,
        bias: bool,
    ) -> Option<Vec<Side>> {
        let shift = usize::from(bias);
        let mut dense = vec![vec![0.0; size]; blocks];
        for (c, number) in vector {
            let ExactNumber::Binary64(x) = number else { return None };
            dense[*c as usize / size][*c as usize % size] = *x;
        }
        let side = |numbers: Vec<f64>| {
            let constant = if bias { numbers[0] } else { 0.0 };
            Side {
                weights: HashMap::new(),
                bias: Scaled::binary64(constant),
                floats: Some(Linear { weights: numbers[shift..].to_vec().into(), bias: constant }),
            }
        };
        Some(dense.into_iter().map(side).collect())
    }

    /// A vector as a plane for rows (constant, x).
    pub(super) fn vector(vector: &Vector, constant: &IBig) -> Side {
        let bias = vector.get(&None).map_or(Scaled::whole(0), |value| value.times(constant));
        let columns = vector.iter().filter_map(|(column, value)| Some(((*column)?, value.clone())));
        Side { weights: columns.collect(), bias, floats: None }
    }

    /// The weight of a column, unless it is 0.
    pub(super) fn weight(&self, column: u32) -> Option<Scaled> {
        match &self.floats {
            Some(plane) => {
                let weight = plane.weights[column as usize];
                (weight != 0.0).then(|| Scaled::binary64(weight))
            }
            None => self.weights.get(&column).cloned(),
        }
    }

    /// Brings the planes of all classes to one factor, so that their scores can be compared.
    pub(super) fn common<'a>(
        planes: &'a [ClassPlane],
        checker: &Checker<'_>,
        sides: HashMap<&'a str, Side>,
    ) -> Checked<HashMap<&'a str, Side>> {
        if sides.values().all(|side| side.floats.is_some()) {
            return Ok(sides);
        }
        let width = checker.width();
        let mut result = HashMap::new();
        let mut denominator = IBig::ONE;
        for plane in planes {
            let pairs = plane.sparse.iter().flatten().map(|(_, w)| w);
            for x in plane.weights.iter().flatten().chain(pairs).chain(&plane.bias) {
                if let ExactNumber::Ratio(text) = x {
                    denominator *= ratio(text)?.1;
                }
            }
        }
        for plane in planes {
            let number = |x: &ExactNumber| match x {
                ExactNumber::Binary64(x) => Ok(Scaled::binary64(*x).times(&denominator)),
                ExactNumber::Ratio(text) => {
                    let (p, q) = ratio(text)?;
                    Ok::<_, String>(Scaled::whole(p * (&denominator / q)))
                }
            };
            let mut weights = HashMap::new();
            let dense = plane.weights.iter().flatten().enumerate().map(|(j, w)| (j as u32, w));
            let sparse = plane.sparse.iter().flatten().map(|(j, w)| (*j, w));
            for (column, weight) in dense.chain(sparse) {
                weights.insert(column, number(weight)?);
            }
            let bias = plane.bias.as_ref().map_or(Ok(Scaled::whole(0)), number)?;
            debug_assert!(weights.len() <= width);
            result.insert(plane.class.as_str(), Side { weights, bias, floats: None });
        }
        Ok(result)
    }
}

/// The weights of all columns and the bias, if every number of the plane is a binary64.
fn binary64(plane: &ExactPlane, width: usize, bias: bool) -> Checked<Option<(Vec<f64>, f64)>> {
    let pairs = WholePlane::pairs(plane, width)?;
    let bias = WholePlane::bias(plane, bias)?;
    let number = |number: &ExactNumber| match number {
        ExactNumber::Binary64(x) => Some(*x),
        ExactNumber::Ratio(_) => None,
    };
    let mut dense = vec![0.0; width];
    for (column, weight) in pairs {
        let Some(weight) = number(weight) else { return Ok(None) };
        dense[column as usize] = weight;
    }
    let Some(bias) = number(bias) else { return Ok(None) };
    let finite = bias.is_finite() && dense.iter().all(|x| x.is_finite());
    match finite {
        true => Ok(Some((dense, bias))),
        false => Err("a weight is not finite".into()),
    }
}
