//! Planes that stand once in a model file although the model and its certificate both speak of them.
//!
//! A claim `optimal`, `stationary` or `counts` whose planes are, to the last bit, those of the model is
//! written without their weights and biases; reading puts them back. A certificate file of its own always has its planes.

use crate::model::{LinearModel, Plane};
use crate::verdict::{float_plane, is_sparse};
use linsep_proof::{Claim, ClassPlane, ExactNumber, ExactPlane, Planes};

/// The claims without the planes that are those of the model.
pub(super) fn leave_out(model: &LinearModel, claims: &[Claim]) -> Vec<Claim> {
    let claim = |(number, claim): (usize, &Claim)| match claim {
        Claim::Optimal { planes, optimality } => Claim::Optimal {
            planes: without(model, number, planes),
            optimality: optimality.clone(),
        },
        Claim::Stationary { planes, equations } => {
            Claim::Stationary { planes: without(model, number, planes), equations: *equations }
        }
        Claim::Counts { planes, statistics } => {
            Claim::Counts { planes: without(model, number, planes), statistics: *statistics }
        }
        other => other.clone(),
    };
    claims.iter().enumerate().map(claim).collect()
}

/// The planes of a claim without their numbers, if those are the model's.
fn without(model: &LinearModel, number: usize, planes: &Planes) -> Planes {
    match planes {
        Planes::Two { problem, plane }
            if plane_of(model, number).is_some_and(|own| is_plane(own, plane)) =>
        {
            let plane = ExactPlane { weights: None, sparse: None, bias: None };
            Planes::Two { problem: problem.clone(), plane }
        }
        Planes::Each(all)
            if all.len() == model.planes.len()
                && all.iter().zip(&model.planes).all(|(claimed, own)| {
                    is(own, (&claimed.weights, &claimed.sparse, &claimed.bias))
                }) =>
        {
            let name = |plane: &ClassPlane| ClassPlane {
                class: plane.class.clone(),
                weights: None,
                sparse: None,
                bias: None,
            };
            Planes::Each(all.iter().map(name).collect())
        }
        other => other.clone(),
    }
}

/// Puts back what [`leave_out`] left out.
pub(super) fn put_back(model: &LinearModel, certificate: &mut [Claim]) {
    for (number, claim) in certificate.iter_mut().enumerate() {
        let (Claim::Optimal { planes, .. }
        | Claim::Stationary { planes, .. }
        | Claim::Counts { planes, .. }) = claim
        else {
            continue;
        };
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

/// The numbers of a claimed plane.
type Claimed<'a> =
    (&'a Option<Vec<ExactNumber>>, &'a Option<Vec<(u32, ExactNumber)>>, &'a Option<ExactNumber>);

fn is_plane(own: &Plane, plane: &ExactPlane) -> bool {
    is(own, (&plane.weights, &plane.sparse, &plane.bias))
}

/// Whether [`exact`] of a plane is what is claimed, to the last bit.
fn is(own: &Plane, (weights, sparse, bias): Claimed<'_>) -> bool {
    let same = |number: &ExactNumber, own: f64| match number {
        ExactNumber::Binary64(x) => x.to_bits() == own.to_bits(),
        ExactNumber::Ratio(_) => false,
    };
    let numbers = match (weights, sparse, is_sparse(&own.weights)) {
        (Some(weights), None, false) => {
            weights.len() == own.weights.len()
                && weights.iter().zip(&own.weights).all(|(w, own)| same(w, *own))
        }
        (None, Some(pairs), true) => {
            let own = own.weights.iter().enumerate().filter(|(_, w)| **w != 0.0);
            let mut pairs = pairs.iter();
            own.into_iter().all(|(j, own)| {
                pairs.next().is_some_and(|(column, w)| *column as usize == j && same(w, *own))
            }) && pairs.next().is_none()
        }
        _ => false,
    };
    numbers && bias.as_ref().is_some_and(|bias| same(bias, own.bias))
}

fn exact(plane: &Plane) -> ExactPlane {
    float_plane(&plane.weights, Some(plane.bias))
}
