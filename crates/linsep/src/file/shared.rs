//! Planes that stand once in a model file although the model and its certificate both speak of them.
//!
//! A claim `optimal`, `stationary` or `counts` whose planes are, to the last bit, those of the model is
//! written without their weights and biases; reading puts them back. A certificate file of its own always has its planes.

use crate::claim::planes::{float_plane, is_sparse};
use crate::model::{LinearModel, Plane};
use linsep_proof::{Claim, FloatPlane, Planes};

/// The claims without the planes that are those of the model.
pub(crate) fn leave_out(model: &LinearModel, claims: &[Claim]) -> Vec<Claim> {
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
    let nameless = FloatPlane::default;
    match planes {
        Planes::Two { problem, plane }
            if plane_of(model, number).is_some_and(|own| is_plane(own, plane)) =>
        {
            Planes::Two { problem: problem.clone(), plane: nameless() }
        }
        Planes::Each(all)
            if all.len() == model.planes.len()
                && all.iter().zip(&model.planes).all(|(claimed, own)| is_plane(own, claimed)) =>
        {
            let name = |plane: &FloatPlane| nameless().with_class(plane.class.clone());
            Planes::Each(all.iter().map(name).collect())
        }
        other => other.clone(),
    }
}

/// Puts back what [`leave_out`] left out.
pub(crate) fn put_back(model: &LinearModel, certificate: &mut [Claim]) {
    for (number, claim) in certificate.iter_mut().enumerate() {
        let (Claim::Optimal { planes, .. }
        | Claim::Stationary { planes, .. }
        | Claim::Counts { planes, .. }) = claim
        else {
            continue;
        };
        let fill = |plane: &mut FloatPlane, own: &Plane| {
            if plane.weights.is_none() && plane.sparse.is_none() {
                let class = plane.class.take();
                *plane = exact(own).with_class(class);
            }
        };
        match planes {
            Planes::Two { plane, .. } => {
                plane_of(model, number).into_iter().for_each(|own| fill(plane, own));
            }
            Planes::Each(all) if all.len() == model.planes.len() => {
                all.iter_mut().zip(&model.planes).for_each(|(plane, own)| fill(plane, own));
            }
            Planes::Each(_) => {}
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

/// Whether [`exact`] of a plane is what is claimed, to the last bit.
fn is_plane(own: &Plane, claimed: &FloatPlane) -> bool {
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
    let numbers = match (&claimed.weights, &claimed.sparse, is_sparse(&own.weights)) {
        (Some(weights), None, false) => {
            weights.len() == own.weights.len()
                && weights.iter().zip(&own.weights).all(|(w, own)| same(*w, *own))
        }
        (None, Some(pairs), true) => {
            let own = own.weights.iter().enumerate().filter(|(_, w)| **w != 0.0);
            let mut pairs = pairs.iter();
            own.into_iter().all(|(j, own)| {
                pairs.next().is_some_and(|(column, w)| *column as usize == j && same(*w, *own))
            }) && pairs.next().is_none()
        }
        _ => false,
    };
    numbers && claimed.bias.is_some_and(|bias| same(bias, own.bias))
}

fn exact(plane: &Plane) -> FloatPlane {
    float_plane(&plane.weights, Some(plane.bias))
}
