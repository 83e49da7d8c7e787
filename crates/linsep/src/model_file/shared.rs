//! Planes that stand once in a model file although the model and its certificate both speak of them.
//!
//! A claim `optimal` whose plane is, to the last bit, that of the model is written without weights and
//! bias; reading puts them back. A certificate file of its own always has its planes.

use crate::model::{LinearModel, Plane};
use crate::verdict::float_plane;
use linsep_proof::{Claim, ClassPlane, ExactPlane, Planes};

/// Leaves out the planes of claims that are those of the model.
pub(super) fn leave_out(model: &LinearModel, claims: &mut [Claim]) {
    for (number, claim) in claims.iter_mut().enumerate() {
        let Claim::Optimal { planes, .. } = claim else { continue };
        match planes {
            Planes::Two { plane, .. } => {
                if plane_of(model, number).is_some_and(|own| exact(own) == *plane) {
                    *plane = ExactPlane { weights: None, sparse: None, bias: None };
                }
            }
            Planes::Each(all) => {
                let same = all.len() == model.planes.len()
                    && all.iter().zip(&model.planes).all(|(claimed, own)| {
                        let own = exact(own);
                        own.weights == claimed.weights
                            && own.sparse == claimed.sparse
                            && own.bias == claimed.bias
                    });
                if same {
                    for plane in all {
                        (plane.weights, plane.sparse, plane.bias) = (None, None, None);
                    }
                }
            }
        }
    }
}

/// Puts back what [`leave_out`] left out.
pub(super) fn put_back(model: &LinearModel, certificate: &mut [Claim]) {
    for (number, claim) in certificate.iter_mut().enumerate() {
        let Claim::Optimal { planes, .. } = claim else { continue };
        match planes {
            Planes::Two { plane, .. } if plane.weights.is_none() && plane.sparse.is_none() => {
                if let Some(own) = plane_of(model, number) {
                    *plane = exact(own);
                }
            }
            Planes::Each(all) if all.len() == model.planes.len() => {
                let missing =
                    |plane: &ClassPlane| plane.weights.is_none() && plane.sparse.is_none();
                for (plane, own) in all.iter_mut().zip(&model.planes) {
                    if missing(plane) {
                        let own = exact(own);
                        (plane.weights, plane.sparse, plane.bias) =
                            (own.weights, own.sparse, own.bias);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The plane that the claim of this number speaks of.
fn plane_of(model: &LinearModel, number: usize) -> Option<&Plane> {
    match &model.planes[..] {
        [plane] => Some(plane),
        planes => planes.get(number),
    }
}

fn exact(plane: &Plane) -> ExactPlane {
    float_plane(&plane.weights, Some(plane.bias))
}
