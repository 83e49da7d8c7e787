//! Least squares on coded classes, plain or with a ridge.
//!
//! Problem: with targets t (+1 and −1 for two classes; else 1 for the row's own class and 0 for the
//! others, one plane for each class) and row factors f, find the least
//!
//! ```text
//! E(w, b) = Σ f (w·x + b − t)² + l2 |w|²
//! ```
//!
//! Answer: b = t̄ − w·μ with the means μ and t̄, and w from the normal equations of centred columns,
//!
//! ```text
//! (Σ f (x − μ)(x − μ)ᵀ + l2) w = Σ f (t − t̄)(x − μ)
//! ```
//!
//! solved by a Cholesky factorisation with pivots and up to two passes of refinement; where columns depend
//! on each other, the w of least length is taken (the pseudo-inverse). The targets −1 and +1 give the
//! same decisions as 1-of-2 coding: scores are then (1 ± s)/2.
//!
//! Proved: `stationary`. The checker recomputes the residual of these equations from the rows and
//! bounds how far the scores are from the exact answer's. What least squares minimises is not the
//! number of errors: [`blame`] says how much of E comes from rows that are right by too much.
//!
//! Reference: Bishop, Pattern Recognition and Machine Learning, 4.1.3; Hastie, Tibshirani, Friedman,
//! The Elements of Statistical Learning, 4.2.

use crate::algebra::Factor;
use crate::engine::closed_form::{
    ClosedForm, ClosedRun, Equations, Proof, Right, Solution, class_factors, require_matrix,
};
use crate::engine::direct::{Moments, Spec, Want};
use crate::engine::planes::Planes;
use crate::engine::settled::{Settled, TOO_NEAR};
use crate::model::{LinearModel, Link, Plane, Rule};
use crate::run::{ClassWeights, Datum, Learner, Remark, Solves, Task, Training};
use linsep_data::Dataset;
use linsep_data::cancel;
use linsep_data::error::{Error, Result};
use linsep_data::read::words;
use linsep_kernels::dot_f64;
use linsep_proof::{Claim, ClassWeight, Equations as Claimed};

/// Products that take a few hundredths of a second: nobody waits for what was not asked for.
const QUICK: u64 = 1 << 26;

/// Values that one more pass over the rows takes a millisecond or two for.
const FEW: u64 = 1 << 22;

/// The settings of least squares.
///
/// ```
/// use linsep::learn::least_squares::LeastSquares;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let data = Dataset::from_rows(&[[0.], [1.], [2.], [3.]], &["low", "low", "up", "up"])?;
/// let fit = LeastSquares::default().fit(&Task::new(data), &Limits::default(), &mut ())?;
/// assert!((fit.model.planes[0].weights[0] - 0.8).abs() < 1e-12);
/// assert_eq!(fit.certificate.claims[0].name(), "stationary");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LeastSquares {
    /// The factor of |w|²; the bias is free.
    pub l2: f64,
    /// What rows count by their class.
    pub class_weights: ClassWeights,
    /// When the errors on rows left out are counted.
    pub left_out: LeftOut,
}

linsep_proof::setters! {
    LeastSquares {
        with_l2 => l2: f64,
        with_class_weights => class_weights: ClassWeights,
        with_left_out => left_out: LeftOut,
    }
}

words! {
    /// When the errors on rows left out are counted, at the cost of rows · columns² / 2 products.
    #[derive(Default)]
    LeftOut: "left-out" {
        /// While there are at most 2^26 of these products: a few hundredths of a second.
        #[default]
        Auto = "auto",
        /// Always.
        Always = "always",
        /// Never.
        Never = "never",
    }
}

impl Learner for LeastSquares {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        if !self.l2.is_finite() || self.l2 < 0.0 {
            return Err(Error::usage(format!("the ridge {} is below 0", self.l2)));
        }
        task.data.require_two_classes()?;
        require_matrix(task, "least-squares")?;
        Ok(Box::new(ClosedRun::new(Box::new(self.clone()), task)?))
    }

    fn solves(&self, task: &Task) -> Result<Solves> {
        Ok(Solves::Equations(self.claimed(task.data.classes())))
    }
}

impl LeastSquares {
    /// The planes that moments give: the equations solved once, without passes of refinement over the rows.
    pub(crate) fn planes_of_moments(&self, moments: &Moments) -> Vec<Plane> {
        let (factor, rights) = self.normal_equations(moments, 1);
        with_biases(moments, rights.iter().map(|right| factor.answer(&right.rhs)).collect())
    }

    /// The matrix of the normal equations as factors, and the right side of each plane.
    fn normal_equations(&self, moments: &Moments, threads: usize) -> (Factor, Vec<Right>) {
        let (width, classes) = (moments.shift.len(), moments.weights.len());
        let mut matrix = moments.scatter(false, threads);
        (0..width).for_each(|j| matrix[j * width + j] += self.l2);
        let factor = Factor::new(&matrix, width);
        let count = if classes == 2 { 1 } else { classes };
        // Σ f (t − t̄)(x − μ) = Σ_c t_c weight_c (mean_c − μ).
        let side = |plane: usize| {
            cancel::check();
            let mut rhs = vec![0.0; width];
            for class in (0..classes).filter(|&class| moments.weights[class] > 0.0) {
                let (target, _) = target_of(count, plane, class);
                let weight = target * moments.weights[class];
                for (j, rhs) in rhs.iter_mut().enumerate() {
                    *rhs += weight * (moments.offsets[class][j] - moments.offset[j]);
                }
            }
            let target = |class: usize| target_of(count, plane, class).0;
            let sum: f64 = (0..classes).map(|class| target(class) * moments.weights[class]).sum();
            let middle = sum / moments.total;
            Right { rhs, targets: Some((0..classes).map(|class| target(class) - middle).collect()) }
        };
        (factor, (0..count).map(side).collect())
    }

    pub(crate) fn claimed(&self, classes: &[String]) -> Claimed {
        let class_weight = match &self.class_weights {
            ClassWeights::None => ClassWeight::None,
            ClassWeights::Balanced => ClassWeight::Balanced,
            given => {
                ClassWeight::Given(classes.iter().map(|class| given.of(class, class)).collect())
            }
        };
        Claimed::LeastSquares { l2: self.l2, class_weight }
    }
}

/// Errors on each row by the plane that the other rows give, all from one fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct LeaveOneOut {
    /// Rows that were left out, each in turn.
    pub rows: u64,
    /// Rows whose class was wrong.
    pub errors: u64,
    /// Rows without which the plane is not determined; they are not among the others.
    pub undetermined: u64,
    /// Σ f (score − t)² over the rows left out.
    pub squared_error: f64,
}

/// Where the squared error comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Blame {
    /// Σ weight (score − t)².
    pub squared_error: f64,
    /// The share of scores beyond their target on the right side, as y·f > 1.
    pub too_correct: f64,
    /// Rows with such a score.
    pub too_correct_rows: u64,
    /// The share of rows whose error is over nine times the mean; they may be too correct as well.
    pub outliers: f64,
    /// Such rows.
    pub outlier_rows: u64,
}

/// Where the squared error of a model on some rows (all when `None`) comes from.
pub fn blame(model: &LinearModel, data: &Dataset, rows: Option<&[u32]>) -> Blame {
    let all: Vec<u32> = rows.map_or_else(|| (0..data.n_rows() as u32).collect(), <[u32]>::to_vec);
    let mut shares = Shares::default();
    for row in all.into_iter().map(|row| row as usize) {
        let scores = model.scores_of(&data.row(row));
        shares.add(data.weight(row), data.class_of(row) as usize, &scores);
    }
    shares.finish()
}

/// What [`Blame`] is made of.
#[derive(Default)]
struct Shares {
    squared_error: f64,
    too_correct: f64,
    too_correct_rows: u64,
    weight: f64,
    /// The error and the weight of each row.
    rows: Vec<(f64, f64)>,
}

impl Shares {
    fn add(&mut self, weight: f64, class: usize, scores: &[f64]) {
        let (mut error, mut too_correct) = (0.0, 0.0);
        for (plane, score) in scores.iter().enumerate() {
            let (target, side) = target_of(scores.len(), plane, class);
            let square = weight * (score - target) * (score - target);
            error += square;
            if side * (score - target) > 0.0 {
                too_correct += square;
            }
        }
        self.squared_error += error;
        self.too_correct += too_correct;
        self.too_correct_rows += u64::from(too_correct > 0.0);
        self.weight += weight;
        self.rows.push((error, weight));
    }

    /// Adds the rows that follow.
    fn merge(&mut self, next: Shares) {
        self.squared_error += next.squared_error;
        self.too_correct += next.too_correct;
        self.too_correct_rows += next.too_correct_rows;
        self.weight += next.weight;
        self.rows.extend(next.rows);
    }

    fn finish(self) -> Blame {
        let mut blame = Blame {
            squared_error: self.squared_error,
            too_correct: self.too_correct,
            too_correct_rows: self.too_correct_rows,
            ..Blame::default()
        };
        let mean = self.squared_error / self.weight;
        let far = |(error, weight): &(f64, f64)| *error > 9.0 * mean * weight;
        for (error, weight) in self.rows.into_iter().filter(far) {
            blame.outliers += error;
            blame.outlier_rows += u64::from(weight > 0.0);
        }
        if blame.squared_error > 0.0 {
            blame.too_correct /= blame.squared_error;
            blame.outliers /= blame.squared_error;
        }
        blame
    }
}

/// The same on the rows of the equations.
fn blame_of_rows(spec: &Spec<'_>, planes: &[Plane], threads: usize) -> Blame {
    let lists: Vec<&[f64]> = planes.iter().map(|plane| &plane.weights[..]).collect();
    let side_by_side = Planes::new(&lists, spec.shift.len());
    let bias = |plane: &Plane| dot_f64(&spec.shift, &plane.weights) + plane.bias;
    let biases: Vec<f64> = planes.iter().map(bias).collect();
    let block = |places: std::ops::Range<usize>| {
        let mut shares = Shares::default();
        spec.score_rows(&side_by_side, places, |visit| {
            let scores = visit.scores.iter_mut().zip(&biases);
            scores.for_each(|(score, bias)| *score += bias);
            shares.add(visit.weight, visit.class, visit.scores);
        });
        shares
    };
    let mut all = Shares::default();
    spec.by_blocks(threads, block).into_iter().for_each(|part| all.merge(part));
    all.finish()
}

/// Weights with the biases that make mean scores mean targets.
fn with_biases(moments: &Moments, answers: Vec<Vec<f64>>) -> Vec<Plane> {
    let (count, classes) = (answers.len(), moments.weights.len());
    let plane = |(plane, weights): (usize, Vec<f64>)| {
        let sum: f64 =
            (0..classes).map(|c| target_of(count, plane, c).0 * moments.weights[c]).sum();
        Plane { bias: moments.beside_mean(sum, &weights), weights }
    };
    answers.into_iter().enumerate().map(plane).collect()
}

/// The target of a class on a plane, and the direction in which a score is too correct.
fn target_of(planes: usize, plane: usize, class: usize) -> (f64, f64) {
    match (planes, plane == class) {
        (1, _) => (2.0 * class as f64 - 1.0, 2.0 * class as f64 - 1.0),
        (_, true) => (1.0, 1.0),
        (_, false) => (0.0, -1.0),
    }
}

impl ClosedForm for LeastSquares {
    fn solve(&self, data: &Dataset, rows: &[u32], threads: usize) -> Solution {
        let width = data.n_features();
        let factors = class_factors(data, rows, &self.class_weights);
        let spec = Spec::new(data, rows, factors, Want::Scatter);
        let moments = spec.collect(threads).finish(&spec.shift);
        let (factor, rights) = self.normal_equations(&moments, threads);
        let count = rights.len();
        let equations = Equations {
            spec: &spec,
            moments: &moments,
            factor: &factor,
            within: false,
            keep: 1.0,
            ridge: self.l2,
        };
        let answers = equations.solve(&rights, threads);
        let planes = with_biases(&moments, answers);
        let claimed = self.claimed(data.classes());
        let settled = Settled::new(data, rows, &factor, &planes, (&claimed, false));
        let is_exact = settled.planes.is_some();
        let planes = settled.planes.unwrap_or(planes);
        let rule = if count == 1 { Rule::Sign } else { Rule::ArgMax };
        let model = LinearModel::of(data, planes, rule, Link::None);
        let few = (rows.len() * width) as u64 <= FEW || self.left_out == LeftOut::Always;
        let blame = few.then(|| blame_of_rows(&spec, &model.planes, threads));
        let products = rows.len() as u64 * (factor.taken.len() as u64).pow(2) / 2;
        let left_out = match self.left_out {
            // The factors have nothing to say about the exact answer.
            _ if is_exact => Err(0),
            LeftOut::Auto if products > QUICK => Err(products),
            LeftOut::Auto | LeftOut::Always => Ok(left_out(&equations, &model, threads)),
            LeftOut::Never => Err(products),
        };
        let mut remarks = vec![settled.columns];
        match left_out {
            Ok(found) => remarks.push(left_out_remark(&found)),
            Err(_) if is_exact => {
                let words = "not counted: columns are nearly dependent, and the equations were solved exactly";
                remarks.push(Remark::new("left out", words.to_owned(), Datum::Unknown));
            }
            Err(products) if self.left_out == LeftOut::Auto => remarks.push(not_left_out(products)),
            Err(_) => {}
        }
        remarks.extend(blame.as_ref().map(blame_remark));
        let claim = move |planes| Claim::Stationary { planes, equations: claimed.clone() };
        let proof = match moments.weights.iter().all(|weight| *weight > 0.0) {
            true if settled.is_far => Proof::Nothing(TOO_NEAR.into()),
            true => Proof::Claim(Box::new(claim)),
            false => Proof::Nothing("a class has no row, so nothing is claimed".into()),
        };
        Solution { planes: model.planes, proof, remarks, density: None }
    }

    fn link(&self) -> Link {
        Link::None
    }

    fn is_generative(&self) -> bool {
        false
    }
}

/// With h = f (1/Σf + (x − μ)ᵀ A⁺ (x − μ)), the plane without a row errs on it by (score − t)/(1 − h).
fn left_out(equations: &Equations<'_>, model: &LinearModel, threads: usize) -> LeaveOneOut {
    let spec = equations.spec;
    let block = |places: std::ops::Range<usize>| {
        let mut found = LeaveOneOut::default();
        let mut centred = vec![0.0; equations.moments.shift.len()];
        spec.for_rows(places, |place, factor, class, values| {
            for ((c, y), offset) in centred.iter_mut().zip(values).zip(equations.centre(class)) {
                *c = y - offset;
            }
            let share = 1.0 / equations.moments.total + equations.factor.leverage(&centred);
            let rest = 1.0 - factor * share;
            if rest < 1e-9 {
                found.undetermined += 1;
                return;
            }
            let mut scores = model.scores_of(&spec.data.row(spec.rows[place] as usize));
            for (plane, score) in scores.iter_mut().enumerate() {
                let (target, _) = target_of(model.planes.len(), plane, class);
                let error = (*score - target) / rest;
                found.squared_error += factor * error * error;
                *score = target + error;
            }
            found.rows += 1;
            found.errors += u64::from(model.class_of(&scores) as usize != class);
        });
        found
    };
    let parts = spec.by_blocks(threads, block);
    parts.into_iter().fold(LeaveOneOut::default(), |sum, part| LeaveOneOut {
        rows: sum.rows + part.rows,
        errors: sum.errors + part.errors,
        undetermined: sum.undetermined + part.undetermined,
        squared_error: sum.squared_error + part.squared_error,
    })
}

fn left_out_remark(found: &LeaveOneOut) -> Remark {
    let more = match found.undetermined {
        0 => String::new(),
        count => format!("; {} more alone decide a part of the plane", rows(count)),
    };
    let share = 100.0 * found.errors as f64 / found.rows.max(1) as f64;
    Remark::new(
        "left out",
        format!(
            "leave-one-out errors: {} of {} rows ({share:.2} %){more}",
            found.errors, found.rows
        ),
        [
            ("rows", found.rows.into()),
            ("errors", found.errors.into()),
            ("undetermined", found.undetermined.into()),
            ("squared_error", found.squared_error.into()),
        ],
    )
}

fn not_left_out(products: u64) -> Remark {
    Remark::new(
        "left out",
        format!(
            "not counted: it takes {:.0e} products; `left-out=always` does it",
            products as f64
        ),
        Datum::Unknown,
    )
}

fn rows(count: u64) -> String {
    format!("{count} row{}", if count == 1 { "" } else { "s" })
}

fn blame_remark(blame: &Blame) -> Remark {
    Remark::new(
        "blame",
        format!(
            "{:.1} % of the squared error from being too correct ({}), {:.1} % from outliers ({})",
            100.0 * blame.too_correct,
            rows(blame.too_correct_rows),
            100.0 * blame.outliers,
            rows(blame.outlier_rows)
        ),
        [
            ("squared_error", blame.squared_error.into()),
            ("too_correct", blame.too_correct.into()),
            ("too_correct_rows", blame.too_correct_rows.into()),
            ("outliers", blame.outliers.into()),
            ("outlier_rows", blame.outlier_rows.into()),
        ],
    )
}
