//! From what a solver found to a claim `optimal`, whose numbers are those that the checker measures.

use crate::claim::planes::{float_plane, problem_of};
use crate::model::Plane;
use crate::objective::{Gap, Objective};
use linsep_data::Dataset;
use linsep_proof::{
    BiasInterval, Certificate, Claim, DualPoint, Objective as Claimed, Optimality, Planes,
    measure_optimal,
};

/// The claim that the checker measures in one pass, or why there is none. The gap that the solver knows says
/// how careful the sums have to be, and nothing more.
pub(crate) fn measured(
    planes: Planes,
    objective: Claimed,
    dual: DualPoint,
    gap: Gap,
    cuts: Option<[f64; 2]>,
    data: &Dataset,
    threads: usize,
) -> Claim {
    let estimate = Optimality::new(objective, dual, gap.primal, gap.dual, gap.relative())
        .with_bias(cuts.map(|cuts| BiasInterval::new(0.0, 0.0, cuts)));
    match measure_optimal(&planes, &estimate, data, &data.reading_field(), threads) {
        Ok(optimality) => Claim::Optimal { planes, optimality },
        Err(reason) => Claim::Unproved { reason },
    }
}

/// A plane, and what is to be claimed of it.
pub(crate) struct Claiming<'a> {
    /// The objective as it is claimed.
    pub(crate) claimed: Claimed,
    pub(crate) objective: &'a Objective,
    pub(crate) positive: u32,
    pub(crate) plane: &'a Plane,
    pub(crate) gap: Gap,
    pub(crate) dual: DualPoint,
    /// The shares by which the multipliers of either side are cut to bound the best bias.
    pub(crate) cuts: Option<[f64; 2]>,
    pub(crate) threads: usize,
}

impl Claiming<'_> {
    /// What the checker measures.
    pub(crate) fn certificate(self) -> Certificate {
        let Claiming { claimed, objective, positive, plane, gap, dual, cuts, threads } = self;
        let data = objective.data.as_ref();
        let problem = problem_of(data, &data.classes()[positive as usize], None);
        let plane = float_plane(&plane.weights, Some(plane.bias));
        let planes = Planes::Two { problem, plane };
        Certificate::new(vec![measured(planes, claimed, dual, gap, cuts, data, threads)])
    }
}
