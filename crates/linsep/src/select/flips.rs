//! Which predictions are final: no better solution of the same problem can change them.
//!
//! A claim `optimal` says how far the best model can be. With G = primal − bound,
//!
//! **the ball and the interval of the bias.** |v − v*| ≤ r = √(2G/l2), v_j = s_j w_j, so
//! |w·x − w*·x| ≤ r |x/s|, and a free b* lies in its interval. A row is final where the score of every
//! such plane has one sign.
//!
//! **the dual.** D is strongly concave along each α: by 4/c for the logistic loss (ψ″ = −1/(c p(1 − p))
//! with p = α/c), by 1/(2c) for the squared hinge. Hence |α − α*| ≤ √(Gc/2), or √(4Gc), for every dual
//! point α that the bound holds for. The best score is 0 exactly where α* = c/2, or 2c, so a row of the
//! training data is final where α is farther from there.//!
//! Of machines side by side, the highest score is final where its least value is above the largest of
//! every other.
//!
//! Every number that is compared has its rounding on the side that finds less.
//!
//! Reference: Ndiaye, Fercoq, Gramfort, Salmon, Gap safe screening rules, 2017.

use crate::claim::recovered::Claimed;
use crate::loss::Loss;
use crate::model::{LinearModel, Plane, Rule};
use crate::objective::Intercept;
use crate::run::{Claim, Task};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use linsep_data::parallel::parallel_map;

/// What shows that a prediction is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// The multiplier of the row.
    Dual,
    /// How far the best weights and the best bias can be.
    Ball,
}

impl Bound {
    /// The word in reports and files.
    pub fn word(self) -> &'static str {
        match self {
            Bound::Dual => "dual",
            Bound::Ball => "ball",
        }
    }
}

/// The prediction of each row, and what shows that it is final.
///
/// ```
/// use linsep::select::flips::final_rows;
/// use linsep::learn::logistic::Logistic;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let rows = [[0.], [1.], [2.], [3.], [4.], [5.]];
/// let data = Dataset::from_rows(&rows, &["low", "low", "up", "low", "up", "up"])?;
/// let logistic = Logistic::default().with_gap(1e-9);
/// let task = Task::new(data);
/// let fit = logistic.fit(&task, &Limits::default(), &mut ())?;
/// let found = final_rows(&fit.certificate.claims, &fit.model, &task)?;
/// assert!(found.iter().all(|(_, by)| by.is_some()));
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn final_rows(
    claims: &[Claim],
    model: &LinearModel,
    task: &Task,
) -> Result<Vec<(u32, Option<Bound>)>> {
    let refuse = |words: &str| Err(Error::usage(words));
    let width = task.data.n_features();
    if let Some(reason) = claims.iter().find_map(|claim| match claim {
        Claim::Unproved { reason } => Some(reason),
        _ => None,
    }) {
        return refuse(&format!("which rows are final follows from what is proved: {reason}"));
    }
    let claimed: Option<Vec<Claimed<'_>>> =
        claims.iter().map(|claim| Claimed::of(claim, width)).collect();
    let are_of = |planes: &[Claimed<'_>], classes: &[String]| {
        let positive = planes.iter().map(|plane| &plane.problem.positive[..]);
        positive.eq(classes.iter().map(std::slice::from_ref))
    };
    let planes = match (claimed, &model.rule) {
        (Some(planes), Rule::Sign) if are_of(&planes, &model.classes[1..]) => planes,
        (Some(planes), Rule::Rest) if are_of(&planes, &model.classes) => planes,
        _ => {
            return refuse(
                "which rows are final is known for two classes, or for one machine for each class \
                 against the rest (`multiclass=ovr`)",
            );
        }
    };
    let tubes: Vec<Tube<'_>> = planes.iter().map(Tube::of).collect();
    let by_dual = match &planes[..] {
        [one] => settled_by_dual(one, task),
        _ => None,
    };
    const BLOCK: usize = 4096;
    let count = task.data.n_rows();
    let block = |block: usize| -> Vec<(u32, Option<Bound>)> {
        let rows = block * BLOCK..((block + 1) * BLOCK).min(count);
        let mut scorer = model.scorer(&task.data);
        rows.map(|row| {
            let class = scorer.class(row);
            let dual = by_dual.as_ref().is_some_and(|settled| settled[row] == Some(class));
            let ball = || {
                let ranges: Vec<[f64; 2]> =
                    tubes.iter().map(|tube| tube.scores(&task.data, row)).collect();
                certain(&ranges) == Some(class)
            };
            let by = if dual { Some(Bound::Dual) } else { ball().then_some(Bound::Ball) };
            (class, by)
        })
        .collect()
    };
    Ok(parallel_map(count.div_ceil(BLOCK), task.threads, block).concat())
}

/// The class that all scores within their ranges stand for.
fn certain(ranges: &[[f64; 2]]) -> Option<u32> {
    if let [[least, most]] = ranges {
        return match (*least > 0.0, *most < 0.0) {
            (true, _) => Some(1),
            (_, true) => Some(0),
            _ => None,
        };
    }
    let leads = |k: &usize| {
        let others = ranges.iter().enumerate().filter(|(other, _)| other != k);
        others.clone().all(|(_, other)| ranges[*k][0] > other[1])
    };
    (0..ranges.len()).find(leads).map(|k| k as u32)
}

/// 2^-53.
const UNIT: f64 = f64::EPSILON / 2.0;

/// Everything that the scores of the best plane can be.
struct Tube<'a> {
    claimed: &'a Claimed<'a>,
    radius: f64,
    /// The least and the most that the best bias adds to the score without a bias.
    bias: [f64; 2],
}

impl<'a> Tube<'a> {
    fn of(claimed: &'a Claimed<'a>) -> Tube<'a> {
        let found = claimed.optimality;
        let everywhere = [f64::NEG_INFINITY, f64::INFINITY];
        let bias = match (claimed.optimality.objective.intercept, &found.bias) {
            (Intercept::Free, Some(interval)) => [interval.least, interval.most],
            (Intercept::Free, None) => everywhere,
            (Intercept::Penalised, _) => [claimed.plane.bias; 2],
            (Intercept::None, _) => [0.0; 2],
        };
        Tube { claimed, radius: found.radius.unwrap_or(f64::INFINITY), bias }
    }

    fn scores(&self, data: &Dataset, row: usize) -> [f64; 2] {
        let objective = &self.claimed.optimality.objective;
        let weights = &self.claimed.plane.weights;
        let (mut score, mut size, mut square, mut terms) = (0.0, 0.0, 0.0, 0.0);
        data.for_each(row, |j, x| {
            let product = x * weights[j as usize];
            score += product;
            size += product.abs();
            let scaled = x / objective.scale.get(j as usize).copied().unwrap_or(1.0);
            square += scaled * scaled;
            terms += 1.0;
        });
        if objective.intercept == Intercept::Penalised {
            square += 1.0;
        }
        // Additions, products, the reading of a value and the products of a basis.
        let doubt = (terms + 64.0) * 2.0 * UNIT;
        let away = self.radius * square.sqrt() * (1.0 + doubt)
            + doubt * (size + self.bias[0].abs().max(self.bias[1].abs()));
        [score - away + self.bias[0], score + away + self.bias[1]]
    }
}

/// The class of each row whose multiplier is far enough from that of the score 0; `None` where the
/// bound does not hold.
fn settled_by_dual(claimed: &Claimed<'_>, task: &Task) -> Option<Vec<Option<u32>>> {
    let found = claimed.optimality;
    // α that makes the score 0, and α* − α in units of √(gap · c), for c = 1.
    let (middle, reach) = match claimed.loss {
        Some(Loss::Logistic) => (0.5, 0.5f64.sqrt()),
        Some(Loss::SquaredHinge) => (2.0, 2.0),
        Some(Loss::Hinge) | None => return None,
    };
    let objective = claimed.objective(&task.data, task.threads)?;
    let alpha = claimed.alpha(&objective);
    let factors = objective.sides(&alpha).factors(&objective);
    let distance = found.primal - found.bound;
    let count = objective.len() as f64;
    let mut settled = vec![None; task.data.n_rows()];
    for (i, &row) in objective.rows.iter().enumerate() {
        let (sign, cost) = (objective.signs[i], objective.costs[i]);
        let alpha = alpha[i] * if sign > 0.0 { factors[0] } else { factors[1] };
        // The checker's multiplier and factor differ by rounding: that of the sums, that of the score,
        // and by the hair that walls take off.
        let size = score_size(claimed, &task.data, row as usize);
        let doubt = 16.0 * UNIT * ((count + 16.0) * alpha + cost * size * 2.0) + 4e-12 * alpha;
        let away = reach * (distance * cost).sqrt() * (1.0 + 16.0 * UNIT) + doubt;
        settled[row as usize] = match alpha - middle * cost {
            // A small multiplier is one of a row on its own side.
            lack if lack < -away => Some(u32::from(sign > 0.0)),
            more if more > away => Some(u32::from(sign < 0.0)),
            _ => None,
        };
    }
    Some(settled)
}

/// Σ |w x| + |b|, times the number of terms.
fn score_size(claimed: &Claimed<'_>, data: &Dataset, row: usize) -> f64 {
    let Plane { weights, bias } = &claimed.plane;
    let (mut size, mut terms) = (bias.abs(), 8.0);
    data.for_each(row, |j, x| {
        size += (x * weights[j as usize]).abs();
        terms += 1.0;
    });
    size * terms
}
