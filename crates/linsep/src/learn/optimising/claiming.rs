//! From what a solver found to a claim `optimal` that the checker confirms.

use super::Problem;
use crate::engine::objective::{Gap, Loss, Objective};
use crate::engine::tilt::Tilts;
use crate::model::Plane;
use crate::verdict::{float_plane, problem_of};
use linsep_proof::{
    Certificate, Claim, DualPoint, Finding, Objective as Claimed, Optimality, Planes, WeightLimit,
    check_claim,
};

/// A plane, and what is to be claimed of it.
pub(super) struct Claiming<'a> {
    pub(super) problem: &'a Problem,
    pub(super) objective: &'a Objective,
    pub(super) positive: u32,
    pub(super) plane: &'a Plane,
    pub(super) gap: Gap,
    pub(super) dual: DualPoint,
    pub(super) tilts: Option<Tilts>,
    /// How far, as a share of the primal, the gap may be from what it really is.
    pub(super) doubt: f64,
    pub(super) threads: usize,
}

impl Claiming<'_> {
    /// The claim with the least slack that the checker confirms.
    pub(super) fn certificate(&self) -> Certificate {
        let data = self.objective.data.as_ref();
        let mut words = String::new();
        // Where the gap is wide, the checker does with plain sums, and the claim leaves room for them.
        let least = self.doubt.max((1e-5 * self.gap.relative()).min(1e-8));
        for factor in [1.0, 1e1, 1e2, 1e3, 1e4, 1e6] {
            let claim = self.claim((factor * least).min(1e-2));
            match check_claim(&claim, data, &data.reading_field(), true, self.threads) {
                Finding::Holds(_) => return Certificate { claims: vec![claim] },
                Finding::Nothing(reason) | Finding::Fails(reason) => words = reason,
            }
        }
        Certificate::unproved(format!("the checker does not confirm it: {words}"))
    }

    /// What is claimed, with some slack for what rounding may do to the checker's own sums.
    fn claim(&self, slack: f64) -> Claim {
        let Claiming { problem, objective, plane, gap, .. } = self;
        let data = objective.data.as_ref();
        // A run that was stopped early may have a bound far below its primal.
        let slack = slack * gap.primal.abs().max(gap.dual.abs());
        let (primal, bound) = (gap.primal + slack, gap.dual - slack);
        let distance = primal - bound;
        let radius = |l2: f64| (2.0 * distance / l2).sqrt() * (1.0 + 1e-12);
        let names = data.classes();
        let loss = match objective.loss {
            Loss::Logistic => linsep_proof::Loss::Logistic,
            Loss::Hinge => linsep_proof::Loss::Hinge,
            Loss::SquaredHinge => linsep_proof::Loss::SquaredHinge,
        };
        let question = problem_of(data, &names[self.positive as usize], None);
        Claim::Optimal {
            planes: Planes::Two {
                problem: question,
                plane: float_plane(&plane.weights, Some(plane.bias)),
            },
            optimality: Optimality {
                objective: Claimed {
                    intercept: objective.intercept,
                    limits: self.limits(),
                    ..problem.claimed(loss, data, &objective.rows, &objective.penalty)
                },
                dual: self.dual.clone(),
                primal,
                bound,
                gap: if distance > 0.0 { distance / primal * (1.0 + 1e-12) } else { 0.0 },
                radius: (problem.l2 > 0.0).then(|| radius(problem.l2)),
                bias: self.tilts.as_ref().map(|tilts| tilts.interval(primal, slack)),
            },
        }
    }

    fn limits(&self) -> Vec<WeightLimit> {
        let limits = (0..self.objective.width()).map(|j| (j, self.objective.penalty.limits(j)));
        limits
            .filter(|(_, (least, most))| least.is_finite() || most.is_finite())
            .map(|(j, (least, most))| WeightLimit {
                column: j as u32,
                least: least.is_finite().then_some(least),
                most: most.is_finite().then_some(most),
            })
            .collect()
    }
}
