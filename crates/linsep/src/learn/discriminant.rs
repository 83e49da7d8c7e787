//! Linear discriminants: Fisher's direction and the Gaussian classifier with one covariance.
//!
//! With class means m_k, priors π_k, μ = Σ π_k m_k, and the covariance within the classes
//!
//! ```text
//! S₀ = Σ_k π_k Σ_{k} f (x − m_k)(x − m_k)ᵀ / f_k        S = (1 − a) S₀ + a (tr S₀ / d) I
//! ```
//!
//! (f row weights, f_k their sum in class k, a the shrinkage), both learners solve S w = difference of
//! means: one plane with m_1 − m_0 for two classes, one with m_k − μ for each of K.
//!
//! **Fisher.** w maximises J(w) = (w·(m_1 − m_0))² / wᵀS_W w, the squared distance of the projected
//! means by the scatter S_W within the classes; least squares with any two targets finds the same
//! direction. For K classes the m_k − μ span the space of the K − 1 discriminants, the nearest mean in
//! it wins, and J is the trace of S_W⁻¹S_B. The bias puts the threshold half way between the means
//! (`midpoint`), moves it by the logarithm of the priors (`prior`), or where the fewest training rows
//! are wrong (`error`, two classes).
//!
//! **lda.** Normal densities with means m_k and the covariance S give the log-odds w·x + b with
//! b = −½ w·(m_1 + m_0) + ln π_1/π_0: posteriors are the logistic function or the softmax of scores.
//!
//! Where S₀ is 0 along a direction in which means differ, S w = m_1 − m_0 has no answer. Fisher then
//! takes that direction, in which the classes are points (J is infinite); lda leaves it out (the
//! pseudo-inverse). Nothing is claimed in this case; any shrinkage above 0 avoids it.
//!
//! Proved: `stationary`, for the weights and, unless the threshold is `error`, for the bias.
//!
//! Reference: Fisher 1936; Bishop, Pattern Recognition and Machine Learning, 4.1.4 to 4.1.6 and 4.2;
//! Ledoit and Wolf 2004; Chen, Wiesel, Eldar, Hero 2010 (OAS).

use crate::algebra::Factor;
use crate::density::{Density, Family, upper_triangle};
use crate::engine::closed_form::{
    ClosedForm, ClosedRun, Equations, Proof, Right, Solution, require_every_class, require_matrix,
};
use crate::engine::direct::{Moments, Spec, Want};
use crate::engine::settled::{Settled, TOO_NEAR};
use crate::learn::priors::prior_factors;
use crate::model::{Link, Plane};
use crate::run::{Datum, Learner, Remark, Solves, Task, Training};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use linsep_data::read::words;
use linsep_proof::{Claim, Equations as Claimed, Offset};

pub use crate::learn::priors::Priors;

words! {
    /// Where Fisher's discriminant puts the threshold.
    Threshold: "threshold" {
        /// Half way between the projected means.
        Midpoint = "midpoint",
        /// Moved by the logarithm of the priors: the choice of equal normal densities.
        Prior = "prior",
        /// Where the fewest training rows are wrong; for two classes.
        Error = "error",
    }
}

/// How much of the covariance is replaced by its mean variance times the identity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Shrinkage {
    /// Nothing.
    #[default]
    None,
    /// A share between 0 and 1.
    Share(f64),
    /// The share of the oracle approximating estimator.
    Oas,
    /// The share of Ledoit and Wolf.
    LedoitWolf,
}

impl std::str::FromStr for Shrinkage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Shrinkage> {
        match text {
            "none" => Ok(Shrinkage::None),
            "oas" => Ok(Shrinkage::Oas),
            "ledoit-wolf" => Ok(Shrinkage::LedoitWolf),
            _ => match text.parse::<f64>() {
                Ok(share) if (0.0..=1.0).contains(&share) => Ok(Shrinkage::Share(share)),
                _ => Err(Error::usage(format!(
                    "\"{text}\" is neither none, oas, ledoit-wolf nor a number from 0 to 1"
                ))),
            },
        }
    }
}

/// The name of Fisher's discriminant.
pub const FISHER: &str = "fisher";

/// The name of the Gaussian classifier with one covariance.
pub const LDA: &str = "lda";

/// The settings of Fisher's discriminant.
///
/// ```
/// use linsep::learn::discriminant::Fisher;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let rows = [[0., 0.], [2., 2.], [1., 1.5], [3., 0.], [5., 2.], [4., 1.5]];
/// let data = Dataset::from_rows(&rows, &["left", "left", "left", "right", "right", "right"])?;
/// let fit = Fisher::default().fit(&Task::new(data), &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.predict(&[4.0, 0.0])?, "right");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fisher {
    /// Where the threshold is.
    pub threshold: Threshold,
    /// The shrinkage of the covariance.
    pub shrinkage: Shrinkage,
}

linsep_proof::setters! {
    Fisher {
        with_threshold => threshold: Threshold,
        with_shrinkage => shrinkage: Shrinkage,
    }
}

impl Default for Fisher {
    fn default() -> Self {
        Fisher { threshold: Threshold::Midpoint, shrinkage: Shrinkage::None }
    }
}

/// The settings of the Gaussian classifier with one covariance.
///
/// ```
/// use linsep::learn::discriminant::Lda;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let data = Dataset::from_rows(&[[-2.], [-1.], [1.], [2.]], &["no", "no", "yes", "yes"])?;
/// let model = Lda::default().fit(&Task::new(data), &Limits::default(), &mut ())?.model;
/// assert_eq!(model.probabilities_of_scores(&model.scores(&[0.0])?), Some(vec![0.5, 0.5]));
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Lda {
    /// How often each class is expected; the covariance is weighted alike.
    pub priors: Priors,
    /// The shrinkage of the covariance.
    pub shrinkage: Shrinkage,
}

linsep_proof::setters! {
    Lda {
        with_priors => priors: Priors,
        with_shrinkage => shrinkage: Shrinkage,
    }
}

impl Default for Lda {
    fn default() -> Self {
        Lda { priors: Priors::Data, shrinkage: Shrinkage::None }
    }
}

fn check(task: &Task, shrinkage: Shrinkage, learner: &str) -> Result<()> {
    if matches!(shrinkage, Shrinkage::Share(share) if !(0.0..=1.0).contains(&share)) {
        return Err(Error::usage("the shrinkage is not between 0 and 1"));
    }
    task.data.require_two_classes()?;
    require_every_class(task)?;
    require_matrix(task, learner)
}

impl Learner for Fisher {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        check(task, self.shrinkage, FISHER)?;
        if self.threshold == Threshold::Error && task.data.n_classes() > 2 {
            return Err(Error::usage("the threshold of fewest errors is for two classes"));
        }
        Ok(Box::new(ClosedRun::new(Box::new(self.clone()), task)?))
    }

    fn solves(&self, _: &Task) -> Result<Solves> {
        Ok(self.form().solves())
    }
}

impl Learner for Lda {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        check(task, self.shrinkage, LDA)?;
        self.priors.check(&task.data)?;
        Ok(Box::new(ClosedRun::new(Box::new(self.clone()), task)?))
    }

    fn solves(&self, task: &Task) -> Result<Solves> {
        Ok(self.form(task.data.classes()).solves())
    }
}

impl ClosedForm for Fisher {
    fn solve(&self, data: &Dataset, rows: &[u32], threads: usize) -> Solution {
        self.form().solve(data, rows, threads)
    }

    fn link(&self) -> Link {
        Link::None
    }

    fn is_generative(&self) -> bool {
        false
    }
}

impl ClosedForm for Lda {
    fn solve(&self, data: &Dataset, rows: &[u32], threads: usize) -> Solution {
        self.form(data.classes()).solve(data, rows, threads)
    }

    fn link(&self) -> Link {
        Link::Softmax
    }

    fn is_generative(&self) -> bool {
        true
    }
}

/// What the two learners share.
struct Form {
    priors: linsep_proof::Priors,
    shrinkage: Shrinkage,
    offset: Offset,
    /// Whether directions in which the classes are points win over all others.
    points: bool,
}

impl Fisher {
    /// The planes that moments give.
    pub(crate) fn planes_of_moments(&self, moments: &Moments) -> Result<Vec<Plane>> {
        self.form().planes_of_moments(moments)
    }

    /// What the planes of moments solve.
    pub(crate) fn claimed_of_moments(&self) -> Claimed {
        self.form().claimed_of_moments()
    }

    fn form(&self) -> Form {
        let offset = match self.threshold {
            Threshold::Midpoint => Offset::Midpoint,
            Threshold::Prior => Offset::Prior,
            Threshold::Error => Offset::Free,
        };
        let priors = linsep_proof::Priors::Data;
        Form { priors, shrinkage: self.shrinkage, offset, points: true }
    }
}

impl Lda {
    /// The planes that moments give; rows count as `priors` says.
    pub(crate) fn planes_of_moments(&self, moments: &Moments) -> Result<Vec<Plane>> {
        if matches!(self.priors, Priors::Given(_)) {
            return Err(Error::usage("`priors`: moments give those of the data or uniform ones"));
        }
        self.form(&[]).planes_of_moments(moments)
    }

    /// What the planes of moments solve.
    pub(crate) fn claimed_of_moments(&self) -> Claimed {
        self.form(&[]).claimed_of_moments()
    }

    fn form(&self, classes: &[String]) -> Form {
        let (priors, shrinkage) = (self.priors.claimed(classes), self.shrinkage);
        Form { priors, shrinkage, offset: Offset::Prior, points: false }
    }
}

impl Form {
    fn solves(&self) -> Solves {
        let (priors, bias) = (self.priors.clone(), self.offset);
        let with = |shrinkage| {
            let priors = priors.clone();
            Solves::Equations(Claimed::Discriminant { shrinkage, priors, bias })
        };
        match self.shrinkage {
            Shrinkage::None => with(0.0),
            Shrinkage::Share(share) => with(share),
            Shrinkage::Oas | Shrinkage::LedoitWolf => {
                Solves::Shrunk { priors: priors.clone(), bias }
            }
        }
    }

    fn solve(&self, data: &Dataset, rows: &[u32], threads: usize) -> Solution {
        let width = data.n_features();
        let factors = prior_factors(data, rows, &self.priors);
        let spec = Spec::new(data, rows, factors, Want::Scatter);
        let moments = spec.collect(threads).finish(&spec.shift);
        // All of S is multiplied by the sum of the factors, so that whole numbers stay whole.
        let within = moments.scatter(true, threads);
        let share = self.share(&spec, &moments, &within, threads);
        let (matrix, ridge) = shrunk(&within, share, width);
        let factor = Factor::new(&matrix, width);
        // Fisher's discriminant has a direction and no densities.
        let density = if self.points { None } else { density(&moments, &matrix) };
        drop(matrix);
        let differences = differences(&moments);
        let points = are_points(&factor, &differences);
        let right = |difference: &Vec<f64>| Right {
            rhs: right_side(&factor, difference, points, &moments),
            targets: None,
        };
        let equations = Equations {
            spec: &spec,
            moments: &moments,
            factor: &factor,
            within: true,
            keep: 1.0 - share,
            ridge,
        };
        let answers: Vec<Vec<f64>> = match points && self.points {
            true => differences.iter().map(|d| null_part(&factor, d)).collect(),
            false => equations.solve(&differences.iter().map(right).collect::<Vec<_>>(), threads),
        };
        let mut reach = reach(&differences, &answers, &moments, &within);
        let mut planes: Vec<Plane> = answers
            .into_iter()
            .enumerate()
            .map(|(k, w)| self.plane(Some(&spec), &moments, k, w))
            .collect();
        let (priors, bias) = (self.priors.clone(), self.offset);
        let claimed = Claimed::Discriminant { shrinkage: share, priors, bias };
        let settled = Settled::new(data, rows, &factor, &planes, (&claimed, true));
        let is_exact = settled.planes.is_some();
        if let Some(exact) = settled.planes {
            reach = exact_reach(&differences, &exact, &moments);
            let with_bias = |(k, plane): (usize, Plane)| match self.offset {
                Offset::Free => self.plane(Some(&spec), &moments, k, plane.weights),
                Offset::Midpoint | Offset::Prior => plane,
            };
            planes = exact.into_iter().enumerate().map(with_bias).collect();
        }
        let claim = move |planes| Claim::Stationary { planes, equations: claimed.clone() };
        if points && self.points && settled.has_answer == Some(false) {
            reach = criterion(f64::INFINITY);
        }
        let mut remarks = vec![settled.columns, reach];
        if self.shrinkage != Shrinkage::None {
            remarks.push(Remark::new("shrinkage", format!("{share:.4} of the covariance"), share));
        }
        let proof = match (points && !is_exact, settled.has_answer) {
            (false, Some(true)) if settled.is_far => Proof::Nothing(TOO_NEAR.into()),
            (false, _) => Proof::Claim(Box::new(claim)),
            (true, Some(false)) => Proof::Nothing(
                "the covariance within the classes is 0 in a direction in which means differ, so its equations have no answer; `shrinkage` avoids it".into(),
            ),
            (true, _) => Proof::Nothing(
                "the covariance within the classes is 0, up to rounding, in a direction in which means differ; `shrinkage` avoids it".into(),
            ),
        };
        Solution { planes, proof, remarks, density }
    }

    /// Shrinkages that only the rows know are none of moments.
    fn claimed_of_moments(&self) -> Claimed {
        let shrinkage = if let Shrinkage::Share(share) = self.shrinkage { share } else { 0.0 };
        Claimed::Discriminant { shrinkage, priors: self.priors.clone(), bias: self.offset }
    }

    /// The planes that moments give: the equations solved once, without passes of refinement over the rows.
    fn planes_of_moments(&self, moments: &Moments) -> Result<Vec<Plane>> {
        let share = match self.shrinkage {
            Shrinkage::None => 0.0,
            Shrinkage::Share(share) => share,
            Shrinkage::Oas | Shrinkage::LedoitWolf => {
                return Err(Error::usage("`shrinkage`: moments give none or a number"));
            }
        };
        if self.offset == Offset::Free {
            return Err(Error::usage("`threshold=error` needs the rows; use midpoint or prior"));
        }
        let width = moments.shift.len();
        let (matrix, _) = shrunk(&moments.scatter(true, 1), share, width);
        let factor = Factor::new(&matrix, width);
        let differences = differences(moments);
        let points = are_points(&factor, &differences);
        let answer = |(k, d): (usize, &Vec<f64>)| {
            let weights = match points && self.points {
                true => null_part(&factor, d),
                false => factor.answer(&right_side(&factor, d, points, moments)),
            };
            self.plane(None, moments, k, weights)
        };
        Ok(differences.iter().enumerate().map(answer).collect())
    }

    /// A plane with its bias; without rows there is no threshold of fewest errors.
    fn plane(
        &self,
        spec: Option<&Spec<'_>>,
        moments: &Moments,
        plane: usize,
        weights: Vec<f64>,
    ) -> Plane {
        let two = moments.weights.len() == 2;
        let other = if two { moments.mean(0) } else { moments.mean_of_all() };
        let own = moments.mean(if two { 1 } else { plane });
        let sum: f64 = (0..weights.len()).map(|j| weights[j] * (own[j] + other[j])).sum();
        let middle = -0.5 * sum;
        let log = |class: usize| (moments.weights[class] / moments.total).ln();
        let bias = match self.offset {
            Offset::Midpoint => middle,
            Offset::Prior if two => middle + (log(1) - log(0)),
            Offset::Prior => middle + log(plane),
            Offset::Free => spec.map_or(middle, |spec| fewest_errors(spec, &weights, middle)),
        };
        Plane { weights, bias }
    }

    /// The share of the identity.
    fn share(&self, spec: &Spec<'_>, moments: &Moments, within: &[f64], threads: usize) -> f64 {
        let width = moments.shift.len();
        let p = width as f64;
        // Rows count by their weights, so that weight 2 is the row twice.
        let n: f64 = spec.rows.iter().map(|&row| spec.data.weight(row as usize)).sum();
        let trace: f64 = (0..width).map(|j| within[j * width + j]).sum::<f64>() / moments.total;
        let square: f64 =
            within.iter().map(|x| x * x).sum::<f64>() / (moments.total * moments.total);
        let spread = square - trace * trace / p;
        let share = match self.shrinkage {
            Shrinkage::None => return 0.0,
            Shrinkage::Share(share) => return share,
            Shrinkage::Oas => {
                let numerator = (1.0 - 2.0 / p) * square + trace * trace;
                numerator / ((n + 1.0 - 2.0 / p) * spread)
            }
            Shrinkage::LedoitWolf => {
                let block = |places: std::ops::Range<usize>| {
                    let mut sum = 0.0;
                    spec.for_rows(places, |_, factor, class, values| {
                        let offsets = values.iter().zip(&moments.offsets[class]);
                        let length: f64 = offsets.map(|(y, o)| (y - o) * (y - o)).sum();
                        sum += factor * length * length;
                    });
                    sum
                };
                let fourth: f64 = spec.by_blocks(threads, block).into_iter().sum();
                (fourth / moments.total - square) / n / spread
            }
        };
        // No spread of the variances at all: the covariance is a multiple of the identity already.
        if spread > 0.0 { share.clamp(0.0, 1.0) } else { 1.0 }
    }
}

/// (1 − share) of the scatter, and share of a multiple of the identity of the same trace.
fn shrunk(within: &[f64], share: f64, width: usize) -> (Vec<f64>, f64) {
    let trace: f64 = (0..width).map(|j| within[j * width + j]).sum();
    let ridge = share * trace / width.max(1) as f64;
    let mut matrix: Vec<f64> = within.iter().map(|x| x * (1.0 - share)).collect();
    (0..width).for_each(|j| matrix[j * width + j] += ridge);
    (matrix, ridge)
}

/// Whether classes are points in a direction in which their means differ.
fn are_points(factor: &Factor, differences: &[Vec<f64>]) -> bool {
    differences.iter().any(|d| factor.null_share(d) > 1e-7)
}

/// The right side of the equations of one plane.
fn right_side(factor: &Factor, difference: &[f64], points: bool, moments: &Moments) -> Vec<f64> {
    let mut rhs = difference.to_vec();
    if points {
        factor.drop_null(&mut rhs);
    }
    rhs.iter_mut().for_each(|x| *x *= moments.total);
    rhs
}

/// Normal densities with the covariance of the equations, `matrix` by the sum of the factors.
fn density(moments: &Moments, matrix: &[f64]) -> Option<Density> {
    let (width, classes) = (moments.shift.len(), moments.weights.len());
    if width > 2048 {
        return None;
    }
    let priors = moments.weights.iter().map(|weight| weight / moments.total).collect();
    let means = (0..classes).map(|class| moments.mean(class)).collect();
    let covariance = upper_triangle(matrix, width, 1.0 / moments.total);
    Density::kept(priors, Family::Normal { means, covariance })
}

/// m_1 − m_0 for two classes, m_k − μ for each of K.
fn differences(moments: &Moments) -> Vec<Vec<f64>> {
    let minus = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
    match &moments.offsets[..] {
        [zero, one] => vec![minus(one, zero)],
        all => all.iter().map(|own| minus(own, &moments.offset)).collect(),
    }
}

fn null_part(factor: &Factor, vector: &[f64]) -> Vec<f64> {
    let mut range = vector.to_vec();
    factor.drop_null(&mut range);
    vector.iter().zip(&range).map(|(v, r)| v - r).collect()
}

/// J of the planes.
fn reach(
    differences: &[Vec<f64>],
    answers: &[Vec<f64>],
    moments: &Moments,
    within: &[f64],
) -> Remark {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let width = moments.shift.len();
    let spread = |w: &[f64]| {
        let row = |j: usize| w[j] * dot(&within[j * width..][..width], w);
        (0..width).map(row).sum::<f64>()
    };
    let value = match (differences, answers) {
        ([difference], [w]) => dot(w, difference).powi(2) / spread(w),
        _ => {
            let part = |k: usize| moments.weights[k] * dot(&differences[k], &answers[k]);
            (0..answers.len()).map(part).sum::<f64>() / moments.total
        }
    };
    criterion(if value < 1e15 { value } else { f64::INFINITY })
}

fn criterion(value: f64) -> Remark {
    let (words, data) = match value.is_finite() {
        true => (format!("{value:.6}"), Datum::Number(value)),
        false => ("infinite: along the direction the classes are points".into(), "infinite".into()),
    };
    Remark::new("J", words, data)
}

/// The same of planes that solve S w = difference, with which wᵀ S w is w · difference.
fn exact_reach(differences: &[Vec<f64>], planes: &[Plane], moments: &Moments) -> Remark {
    let dot = |k: usize| {
        let pairs = differences[k].iter().zip(&planes[k].weights);
        pairs.map(|(d, w)| d * w).sum::<f64>()
    };
    let value = match planes {
        [_] => dot(0) / moments.total,
        _ => {
            let part = |k: usize| moments.weights[k] * dot(k);
            (0..planes.len()).map(part).sum::<f64>() / moments.total
        }
    };
    criterion(value)
}

/// The bias with which the fewest rows are wrong, by weight; of several the nearest to `middle`.
fn fewest_errors(spec: &Spec<'_>, weights: &[f64], middle: f64) -> f64 {
    let mut rows: Vec<(f64, f64)> = Vec::with_capacity(spec.rows.len());
    for &row in spec.rows {
        let mut score = 0.0;
        spec.data.for_each(row as usize, |j, x| score += weights[j as usize] * x);
        let sign = 2.0 * f64::from(spec.data.class_of(row as usize)) - 1.0;
        rows.push((score, sign * spec.data.weight(row as usize)));
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Everything is called positive at first; each step calls one more row negative.
    let mut wrong: f64 = rows.iter().map(|(_, weight)| (-weight).max(0.0)).sum();
    let end = 1.0 + rows.last().map_or(0.0, |(score, _)| score.abs());
    let mut best = (wrong, -(rows[0].0 - end));
    for k in 0..rows.len() {
        wrong += rows[k].1;
        let next = rows.get(k + 1).map_or(rows[k].0 + end, |(score, _)| *score);
        let bias = -(rows[k].0 / 2.0 + next / 2.0);
        let nearer = (bias - middle).abs() < (best.1 - middle).abs();
        if next > rows[k].0 && (wrong < best.0 || (wrong == best.0 && nearer)) {
            best = (wrong, bias);
        }
    }
    best.1
}
