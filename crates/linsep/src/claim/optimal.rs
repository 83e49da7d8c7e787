//! From what a solver found to a claim `optimal` that the checker confirms.

use crate::claim::planes::{float_plane, problem_of};
use crate::model::Plane;
use crate::objective::intercept::InterceptBounds;
use crate::objective::{Gap, Objective};
use linsep_data::Dataset;
use linsep_proof::{
    Certificate, Claim, DualPoint, Finding, Objective as Claimed, Optimality, Planes, WeightLimit,
    check_claim,
};

/// The claim with the least slack that the checker confirms: its own sums round differently from those of
/// the solver.
pub(crate) fn confirmed(
    slacks: impl IntoIterator<Item = f64>,
    data: &Dataset,
    threads: usize,
    mut claim: Claim,
    mut loosen: impl FnMut(&mut Optimality, f64),
) -> Claim {
    let mut words = String::new();
    for slack in slacks {
        if let Claim::Optimal { optimality, .. } = &mut claim {
            loosen(optimality, slack);
        }
        match check_claim(&claim, data, &data.reading_field(), true, threads) {
            Finding::Holds(_) => return claim,
            Finding::Nothing(reason) | Finding::Fails(reason) => words = reason,
        }
    }
    Claim::Unproved { reason: format!("the checker does not confirm it: {words}") }
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
    pub(crate) intercept_bounds: Option<InterceptBounds>,
    /// How far, as a share of the primal, the gap may be from what it really is.
    pub(crate) doubt: f64,
    pub(crate) threads: usize,
}

impl Claiming<'_> {
    /// The claim with the least slack that the checker confirms.
    pub(crate) fn certificate(&self) -> Certificate {
        let data = self.objective.data.as_ref();
        // Where the gap is wide, the checker does with plain sums, and the claim leaves room for them.
        let least = self.doubt.max((1e-5 * self.gap.relative()).min(1e-8));
        let slacks = [1.0, 1e1, 1e2, 1e3, 1e4, 1e6].map(|factor| (factor * least).min(1e-2));
        let loosen = |claimed: &mut Optimality, slack| self.loosen(claimed, slack);
        Certificate::new(vec![confirmed(slacks, data, self.threads, self.claim(), loosen)])
    }

    /// What is claimed, without its numbers.
    fn claim(&self) -> Claim {
        let Claiming { claimed, objective, plane, .. } = self;
        let data = objective.data.as_ref();
        let question = problem_of(data, &data.classes()[self.positive as usize], None);
        let plane = float_plane(&plane.weights, Some(plane.bias));
        let objective =
            claimed.clone().with_intercept(objective.intercept).with_limits(self.limits());
        Claim::Optimal {
            planes: Planes::Two { problem: question, plane },
            optimality: Optimality::new(objective, self.dual.clone(), 0.0, 0.0, 0.0),
        }
    }

    /// The numbers, with some slack for what rounding may do to the checker's own sums.
    fn loosen(&self, optimality: &mut Optimality, slack: f64) {
        let (gap, l2) = (self.gap, self.claimed.l2);
        // A run that was stopped early may have a bound far below its primal.
        let slack = slack * gap.primal.abs().max(gap.dual.abs());
        let (primal, bound) = (gap.primal + slack, gap.dual - slack);
        let distance = primal - bound;
        let radius = |l2: f64| (2.0 * distance / l2).sqrt() * (1.0 + 1e-12);
        (optimality.primal, optimality.bound) = (primal, bound);
        optimality.gap = if distance > 0.0 { distance / primal * (1.0 + 1e-12) } else { 0.0 };
        optimality.radius = (l2 > 0.0).then(|| radius(l2));
        optimality.bias = self
            .intercept_bounds
            .as_ref()
            .map(|intercept_bounds| intercept_bounds.interval(primal, slack));
    }

    fn limits(&self) -> Vec<WeightLimit> {
        let limits = (0..self.objective.width()).map(|j| (j, self.objective.penalty.limits(j)));
        limits
            .filter(|(_, (least, most))| least.is_finite() || most.is_finite())
            .map(|(j, (least, most))| {
                WeightLimit::new(
                    j as u32,
                    least.is_finite().then_some(least),
                    most.is_finite().then_some(most),
                )
            })
            .collect()
    }
}
