//! How near the best planes of another program are under the objective of ridge regression on ±1.
//!
//! Problem: of planes from elsewhere nobody knows how far above the least
//!
//! ```text
//! E(w, b) = Σ f (w·x + b − t)² + l2 |w|²,   t = +1 for the class of the plane, −1 for the others
//! ```
//!
//! they are. Answer: [`LeastSquares`] solves the same equations here, and the slopes 2 f (t − w·x − b) at its
//! solution are a dual point, which bounds every plane from below.
//!
//! Proved: `optimal` with the squared loss, one claim for each plane, where the checker measures both sides.
//! Without a ridge a dual point has to meet every column exactly, so nothing is claimed.
//!
//! Reference: Rockafellar, Convex Analysis, section 31.

use crate::claim::optimal::measured;
use crate::claim::planes::{float_plane, problem_of};
use crate::engine::closed_form::class_factors;
use crate::learn::least_squares::LeastSquares;
use crate::model::Plane;
use crate::objective::Gap;
use crate::run::{Certificate, HELD_OUT, Learner, Limits, Task};
use linsep_data::error::Result;
use linsep_proof::{Claim, DualPoint, Loss, Objective, Planes};

impl LeastSquares {
    /// What is proved of planes from elsewhere that were to minimise the objective of these settings: one plane for
    /// two classes, else one for each class against the rest, each with the targets +1 and −1.
    ///
    /// ```
    /// use linsep::learn::least_squares::LeastSquares;
    /// use linsep::{Claim, Dataset, Plane, Task};
    /// let data = Dataset::from_rows(&[[0.], [1.], [2.], [3.]], &["low", "low", "up", "up"])?;
    /// let ridge = LeastSquares::default().with_l2(1.0);
    /// // The slope 4/(5 + 1) of the best plane.
    /// let best = ridge.certificate_of(&Task::new(data), &[Plane::new(vec![2.0 / 3.0], -1.0)])?;
    /// let Claim::Optimal { optimality, .. } = &best.claims[0] else { panic!("{best:?}") };
    /// assert!(optimality.gap < 1e-11);
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn certificate_of(&self, task: &Task, planes: &[Plane]) -> Result<Certificate> {
        let data = task.data.as_ref();
        let classes = data.classes();
        let first = usize::from(classes.len() == 2);
        let positives = &classes[first..];
        let fits = |plane: &Plane| plane.weights.len() == data.n_features();
        if planes.len() != positives.len() || !planes.iter().all(fits) {
            return Ok(Certificate::unproved("the planes are not those of this problem"));
        }
        if self.l2 == 0.0 {
            return Ok(Certificate::unproved("without a ridge there is no bound"));
        }
        let rows = task.active_rows()?;
        if rows.len() < (0..data.n_rows()).filter(|row| data.weight(*row) > 0.0).count() {
            return Ok(Certificate::unproved(HELD_OUT));
        }
        let own = self.fit(task, &Limits::default(), &mut ())?.model.planes;
        let objective = self.squared(classes, &class_factors(data, &rows, &self.class_weights));
        let claims = positives.iter().zip(planes.iter().zip(&own)).map(|(class, (plane, own))| {
            let planes = Planes::Two {
                problem: problem_of(data, class, None),
                plane: float_plane(&plane.weights, Some(plane.bias)),
            };
            let solved = signed(own, positives.len());
            let dual_plane = float_plane(&solved.weights, Some(solved.bias));
            let dual = DualPoint::default().with_plane(Some(dual_plane));
            let measure = |cuts| {
                let (objective, dual) = (objective.clone(), dual.clone());
                measured(planes.clone(), objective, dual, EXACT, cuts, data, task.threads)
            };
            match measure(None) {
                Claim::Optimal { optimality, .. } => {
                    let distance = optimality.primal - optimality.bound;
                    let cut = |cost: f64| (distance / cost).sqrt().clamp(LEAST_CUT, 0.5);
                    measure(Some(
                        self.costs_of_cuts(task, &rows, &objective, (class, &solved)).map(cut),
                    ))
                }
                unproved => unproved,
            }
        });
        Ok(Certificate::new(claims.collect()))
    }

    /// What it costs the bound to cut the multipliers of the negative and of the positive rows by a share, in units
    /// of its square. The reach of the best bias is least where this is as much as the gap.
    fn costs_of_cuts(
        &self,
        task: &Task,
        rows: &[u32],
        objective: &Objective,
        (class, plane): (&str, &Plane),
    ) -> [f64; 2] {
        let data = task.data.as_ref();
        let mut sums = [vec![0.0; data.n_features()], vec![0.0; data.n_features()]];
        let mut squares = [0.0; 2];
        for row in rows.iter().map(|row| *row as usize) {
            let label = data.label_text(row);
            let factor = objective.class_weights.iter().find(|(name, _)| name == label);
            let weight = data.weight(row) * factor.map_or(1.0, |(_, factor)| *factor);
            let side = usize::from(label == class);
            let mut score = plane.bias;
            data.for_each(row, |j, x| score += plane.weights[j as usize] * x);
            let target = 2.0 * side as f64 - 1.0;
            let alpha = 2.0 * weight * (1.0 - target * score);
            data.for_each(row, |j, x| sums[side][j as usize] += alpha * x);
            squares[side] += alpha * alpha / (4.0 * weight);
        }
        let cost = |side: usize| {
            let square: f64 = sums[side].iter().map(|sum| sum * sum).sum();
            square / (2.0 * objective.l2) + squares[side]
        };
        [cost(0), cost(1)]
    }

    /// The objective of one plane.
    fn squared(&self, classes: &[String], factors: &[f64]) -> Objective {
        let weights = match !self.class_weights.is_none() {
            true => classes.iter().cloned().zip(factors.iter().copied()).collect(),
            false => Vec::new(),
        };
        // l2 |w|² in the form of a penalty, half of the factor times |w|².
        Objective::new(Loss::Squared, 1.0).with_l2(2.0 * self.l2).with_class_weights(weights)
    }
}

/// Nothing is estimated: the checker is to measure with care.
const EXACT: Gap = Gap { primal: 0.0, dual: 0.0 };

/// The least share by which multipliers are cut to bound the best bias.
const LEAST_CUT: f64 = 1e-12;

/// The solution of targets 1 and 0, which planes of several classes have, as one of targets +1 and −1.
fn signed(plane: &Plane, planes: usize) -> Plane {
    match planes {
        1 => plane.clone(),
        _ => Plane {
            weights: plane.weights.iter().map(|weight| 2.0 * weight).collect(),
            bias: 2.0 * plane.bias - 1.0,
        },
    }
}
