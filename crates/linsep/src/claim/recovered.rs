//! What a claim `optimal` of two classes speaks of, as the engines see it: the way back from a claim
//! and its data to an objective, a plane and its multipliers.

use crate::loss::Loss;
use crate::model::Plane;
use crate::objective::box_constraints::Ranges;
use crate::objective::{Objective, Penalty};
use linsep_data::Dataset;
use linsep_proof::{Claim, FloatPlane, Optimality, Planes, Question};
use std::sync::Arc;

/// A claim `optimal` about one plane.
pub(crate) struct Claimed<'a> {
    pub(crate) problem: &'a Question,
    pub(crate) optimality: &'a Optimality,
    pub(crate) plane: Plane,
    /// `None` of the squared loss, which no engine minimises in steps.
    pub(crate) loss: Option<Loss>,
}

impl<'a> Claimed<'a> {
    /// The claim, if it is one of these, on so many columns.
    pub(crate) fn of(claim: &'a Claim, width: usize) -> Option<Claimed<'a>> {
        let Claim::Optimal { planes: Planes::Two { problem, plane }, optimality } = claim else {
            return None;
        };
        let plane = plain(plane, width)?;
        let loss = match optimality.objective.loss {
            linsep_proof::Loss::Logistic => Some(Loss::Logistic),
            linsep_proof::Loss::Hinge => Some(Loss::Hinge),
            linsep_proof::Loss::SquaredHinge => Some(Loss::SquaredHinge),
            linsep_proof::Loss::Squared => None,
            _ => return None,
        };
        Some(Claimed { problem, optimality, plane, loss })
    }

    /// The objective on the rows that take part, if there is an engine for it.
    pub(crate) fn objective(&self, data: &Arc<Dataset>, threads: usize) -> Option<Objective> {
        let loss = self.loss?;
        let claimed = &self.optimality.objective;
        let (mut rows, mut signs, mut costs) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..data.n_rows() {
            let label = data.label_text(row);
            let is_in = |names: &[String]| names.iter().any(|name| name == label);
            let sign = match (is_in(&self.problem.positive), is_in(&self.problem.negative)) {
                (true, _) => 1.0,
                (false, true) => -1.0,
                (false, false) => continue,
            };
            let weight = data.weight(row);
            if weight > 0.0 {
                let factor = claimed.class_weights.iter().find(|(class, _)| class == label);
                rows.push(row as u32);
                signs.push(sign);
                costs.push((claimed.c * weight) * factor.map_or(1.0, |(_, factor)| *factor));
            }
        }
        let scale = (!claimed.scale.is_empty()).then(|| claimed.scale.clone());
        let limits = (!claimed.limits.is_empty()).then(|| {
            Ranges::of_limits(claimed.limits.iter().map(|l| (l.column, l.least, l.most)), data)
        });
        Some(Objective {
            sparse_copy: None,
            data: Arc::clone(data),
            rows,
            signs: signs.into(),
            costs: costs.into(),
            loss,
            penalty: Penalty { l1: claimed.l1, l2: claimed.l2, scale, limits },
            intercept: claimed.intercept,
            threads,
        })
    }

    /// The multipliers that the claim lists, or that the slope of the loss at its plane gives.
    pub(crate) fn alpha(&self, objective: &Objective) -> Vec<f64> {
        let dual = &self.optimality.dual;
        let of_plane = |plane: &Plane| -> Vec<f64> {
            let margins = objective.margins(plane);
            let gradient = |(m, c): (&f64, &f64)| c * objective.loss.negative_gradient(*m);
            margins.iter().zip(&objective.costs).map(gradient).collect()
        };
        let mut alpha = match &dual.plane {
            _ if dual.alpha.len() == objective.len() => vec![0.0; objective.len()],
            None => of_plane(&self.plane),
            Some(plane) => match plain(plane, objective.width()) {
                Some(plane) => of_plane(&plane),
                None => vec![0.0; objective.len()],
            },
        };
        for (row, listed) in &dual.alpha {
            let known = u32::try_from(*row).ok();
            if let Some(Ok(at)) = known.map(|row| objective.rows.binary_search(&row)) {
                alpha[at] = *listed;
            }
        }
        alpha
    }
}

/// A plane of binary64.
fn plain(plane: &FloatPlane, width: usize) -> Option<Plane> {
    let weights = match (&plane.weights, &plane.sparse) {
        (Some(dense), None) if dense.len() == width => dense.clone(),
        (None, Some(pairs)) => {
            let mut weights = vec![0.0; width];
            for (column, weight) in pairs {
                *weights.get_mut(*column as usize)? = *weight;
            }
            weights
        }
        _ => return None,
    };
    Some(Plane { weights, bias: plane.bias.unwrap_or(0.0) })
}
