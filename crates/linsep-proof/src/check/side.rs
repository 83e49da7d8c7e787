//! Planes ready to be multiplied with rows.

use super::{Checked, Checker, Vector};
use crate::claim::{ClassPlane, ExactNumber, ExactPlane};
use crate::exact::{Scaled, WholePlane, ratio};
use dashu_int::IBig;
use std::collections::HashMap;

/// A plane ready to be multiplied with rows.
pub(super) struct Side {
    pub(super) weights: HashMap<u32, Scaled>,
    pub(super) bias: Scaled,
    pub(super) floats: Option<(Vec<f64>, f64)>,
}

impl Side {
    pub(super) fn new(plane: &ExactPlane, checker: &Checker<'_>) -> Checked<Side> {
        let width = checker.rows.width();
        let whole = WholePlane::new(plane, width, checker.bias)?;
        let floats = whole.floats.map(|(pairs, bias)| {
            let mut dense = vec![0.0; width];
            pairs.iter().for_each(|&(column, weight)| dense[column as usize] = weight);
            (dense, bias)
        });
        let weights =
            whole.weights.into_iter().map(|(column, w)| (column, Scaled::whole(w))).collect();
        Ok(Side { weights, bias: Scaled::whole(whole.bias), floats })
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

    /// A vector as a plane for rows (constant, x).
    pub(super) fn vector(vector: &Vector, constant: &IBig) -> Side {
        let bias = vector.get(&None).map_or(Scaled::whole(0), |value| value.times(constant));
        let columns = vector.iter().filter_map(|(column, value)| Some(((*column)?, value.clone())));
        Side { weights: columns.collect(), bias, floats: None }
    }

    pub(super) fn weight(&self, column: u32) -> Option<&Scaled> {
        self.weights.get(&column)
    }

    /// Brings the planes of all classes to one factor, so that their scores can be compared.
    pub(super) fn common<'a>(
        planes: &'a [ClassPlane],
        checker: &Checker<'_>,
        sides: HashMap<&'a str, Side>,
    ) -> Checked<HashMap<&'a str, Side>> {
        let width = checker.rows.width();
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
            let floats = sides.get(plane.class.as_str()).and_then(|side| side.floats.clone());
            debug_assert!(weights.len() <= width);
            result.insert(plane.class.as_str(), Side { weights, bias, floats });
        }
        Ok(result)
    }
}
