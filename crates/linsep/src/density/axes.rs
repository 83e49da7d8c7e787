//! Discriminant axes: directions in which the means of the classes are far apart for the spread within them.
//!
//! With priors π_k, means m_k, μ = Σ π_k m_k and the covariance S within the classes, the axes are the a with
//!
//! ```text
//! B a = λ S a,    B = Σ_k π_k (m_k − μ)(m_k − μ)ᵀ,    aᵀS a = 1
//! ```
//!
//! the largest λ first: LD1, LD2, …, at most one fewer than there are classes; λ_i/Σλ is the *proportion of trace*.
//! The planes of a discriminant are w_k = S⁻¹(m_k − μ), so the products G_jk = (m_j − μ)·w_k are all that is
//! needed: with the eigenvectors u of √π_j G_jk √π_k the axes are
//!
//! ```text
//! a_i = Σ_k √π_k u_ik w_k / √λ_i
//! ```
//!
//! and no covariance is inverted again. Along an axis a row stands at a·(x − μ), which is a sum of its scores.
//!
//! **Unit.** S divides by the number of rows n; axes are made longer so that the covariance within the classes that
//! divides by n − K is the identity, as in `lda` of MASS (and scikit-learn's default).
//!
//! Nothing is proved. What rounding and nearly dependent columns have done is measured: the largest entry of
//! AᵀSA − I is kept beside the axes, and axes that are far from it are refused.
//!
//! Reference: Rao, The utilization of multiple measurements in problems of biological classification, 1948;
//! Venables and Ripley, Modern Applied Statistics with S, 12.1.

use super::{Density, Family, full};
use crate::algebra::symmetric::symmetric_axes;
use crate::model::LinearModel;
use linsep_data::error::{Code, Error, Result};

/// Axes along which the means differ by less than this share of the most are rounding.
const LEAST: f64 = 1e-12;

/// Axes whose covariance within the classes is farther than this from the identity are none.
const MOST_OFF: f64 = 1e-6;

/// The discriminant axes of a model with a normal density.
///
/// ```
/// use linsep::density::Axes;
/// use linsep::learn::discriminant::Lda;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let rows = [[0., 1.], [1., 0.], [2., 2.], [7., 8.], [8., 7.], [9., 9.]];
/// let data = Dataset::from_rows(&rows, &["low", "low", "low", "high", "high", "high"])?;
/// let fit = Lda::default().fit(&Task::new(data), &Limits::default(), &mut ())?;
/// let axes = Axes::of(&fit.model, fit.density.as_ref().unwrap(), 6)?;
/// assert_eq!((axes.names(), axes.shares.clone()), (vec!["LD1".to_owned()], vec![1.0]));
/// let [low, high] = [[1.0, 1.0], [8.0, 8.0]].map(|row| axes.at(&fit.model.scores(&row).unwrap())[0]);
/// assert!((low + high).abs() < 1e-12 && (low - high).abs() > 5.0);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Axes {
    /// a_i: a weight for each feature.
    pub directions: Vec<Vec<f64>>,
    /// −a_i·μ: what is added so that the mean of all is 0.
    pub offsets: Vec<f64>,
    /// Proportions of trace.
    pub shares: Vec<f64>,
    /// The mean of each class on each axis.
    pub means: Vec<Vec<f64>>,
    /// The largest entry of AᵀSA − I, as it was found.
    pub off: f64,
    /// What the score of each class counts on each axis.
    onto: Vec<Vec<f64>>,
    /// The scores at μ.
    centre: Vec<f64>,
    /// The factor from the unit of S to that of the axes.
    unit: f64,
}

impl Axes {
    /// The axes of a model of two or more classes that was learned from so many rows.
    pub fn of(model: &LinearModel, density: &Density, rows: u64) -> Result<Axes> {
        let (classes, width) = (model.classes.len(), model.input.width());
        density.check(classes, width).map_err(Error::usage)?;
        let means = match &density.family {
            Family::Normal { means, .. } | Family::NormalColumns { means, .. } => means,
            _ => {
                return Err(Error::usage(format!(
                    "the {} density has no covariance, so it has no discriminant axes; lda has",
                    density.name()
                )));
            }
        };
        let zero = vec![0.0; width];
        let planes: Vec<(&[f64], f64)> = match &model.planes[..] {
            [one] if classes == 2 => vec![(&zero, 0.0), (&one.weights, one.bias)],
            all if all.len() == classes => all.iter().map(|p| (&p.weights[..], p.bias)).collect(),
            _ => return Err(Error::usage("the model has no plane for each class, so no axes")),
        };
        let priors = &density.priors;
        let middle = |of: &dyn Fn(usize) -> Vec<f64>| -> Vec<f64> {
            let mut sum = vec![0.0; width];
            for (k, prior) in priors.iter().enumerate() {
                sum.iter_mut().zip(of(k)).for_each(|(sum, x)| *sum += prior * x);
            }
            sum
        };
        let minus =
            |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
        let mean = middle(&|k| means[k].clone());
        let common = middle(&|k| planes[k].0.to_vec());
        let apart: Vec<Vec<f64>> = means.iter().map(|m| minus(m, &mean)).collect();
        let own: Vec<Vec<f64>> = planes.iter().map(|(w, _)| minus(w, &common)).collect();
        let roots: Vec<f64> = priors.iter().map(|p| p.sqrt()).collect();
        let mut products = vec![0.0; classes * classes];
        for j in 0..classes {
            for k in 0..classes {
                let both = dot(&apart[j], &own[k]) + dot(&apart[k], &own[j]);
                products[j * classes + k] = 0.5 * roots[j] * roots[k] * both;
            }
        }
        let covariance = Covariance::of(density, width);
        covariance.require_answers(&own, &apart)?;
        if products.iter().any(|x| !x.is_finite()) {
            return Err(no_unit("the numbers leave the range of binary64"));
        }
        let (spreads, turns) = symmetric_axes(products, classes);
        let most = spreads.first().copied().unwrap_or(0.0);
        let taken: Vec<usize> =
            (0..classes - 1).filter(|&i| spreads[i] > LEAST * most.max(0.0)).collect();
        if taken.is_empty() {
            return Err(Error::usage(
                "the means of the classes are all alike, so there are no axes",
            ));
        }
        let free = rows.saturating_sub(classes as u64);
        if free == 0 {
            return Err(no_unit("there are no more rows than classes"));
        }
        let unit = (free as f64 / rows as f64).sqrt();
        let mut axes = Axes {
            directions: Vec::new(),
            offsets: Vec::new(),
            shares: Vec::new(),
            means: vec![Vec::new(); classes],
            off: 0.0,
            onto: Vec::new(),
            centre: planes.iter().map(|(w, b)| dot(w, &mean) + b).collect(),
            unit,
        };
        let total: f64 = taken.iter().map(|&i| spreads[i]).sum();
        for i in taken {
            let size = unit / spreads[i].sqrt();
            let mut onto: Vec<f64> =
                turns[i].iter().zip(&roots).map(|(u, r)| u * r * size).collect();
            let mut direction = vec![0.0; width];
            for (w, factor) in own.iter().zip(&onto) {
                direction.iter_mut().zip(w).for_each(|(a, w)| *a += factor * w);
            }
            // The weight that moves rows most is positive.
            if covariance.largest(&direction) < 0.0 {
                onto.iter_mut().chain(&mut direction).for_each(|x| *x = -*x);
            }
            let sum: f64 = onto.iter().sum();
            onto.iter_mut().zip(priors).for_each(|(x, prior)| *x -= prior * sum);
            axes.means.iter_mut().zip(&apart).for_each(|(m, d)| m.push(dot(&direction, d)));
            axes.offsets.push(-dot(&direction, &mean));
            axes.shares.push(spreads[i] / total);
            axes.directions.push(direction);
            axes.onto.push(onto);
        }
        axes.off = covariance.off(&axes.directions, unit);
        // What is not a number is far off, too.
        match axes.off <= MOST_OFF {
            true => Ok(axes),
            false => Err(no_unit("columns are too nearly dependent")),
        }
    }

    /// LD1, LD2, …
    pub fn names(&self) -> Vec<String> {
        (1..=self.directions.len()).map(|number| format!("LD{number}")).collect()
    }

    /// Where a row with these scores of the model stands on each axis.
    pub fn at(&self, scores: &[f64]) -> Vec<f64> {
        let two = [0.0, scores.first().copied().unwrap_or(f64::NAN)];
        let scores = if self.centre.len() == 2 { &two[..] } else { scores };
        let one = |onto: &Vec<f64>| -> f64 {
            let terms = onto.iter().zip(scores).zip(&self.centre);
            terms.map(|((onto, score), centre)| onto * (score - centre)).sum()
        };
        self.onto.iter().map(one).collect()
    }

    /// The planes of the model over the axes: a weight for each axis, and a bias. Scores lack what is common to all
    /// classes, so the highest is the same; of two classes there is one plane.
    pub fn planes(&self) -> Vec<(Vec<f64>, f64)> {
        let shrink = self.unit * self.unit;
        let plane = |(mean, centre): (&Vec<f64>, &f64)| {
            (mean.iter().map(|m| m / shrink).collect::<Vec<f64>>(), *centre)
        };
        let all: Vec<(Vec<f64>, f64)> = self.means.iter().zip(&self.centre).map(plane).collect();
        match &all[..] {
            [(a, b), (c, d)] => {
                vec![(c.iter().zip(a).map(|(c, a)| c - a).collect(), d - b)]
            }
            _ => all,
        }
    }
}

/// S of a density.
enum Covariance<'a> {
    Whole(Vec<f64>, usize),
    Columns(&'a [f64]),
}

impl Covariance<'_> {
    fn of(density: &Density, width: usize) -> Covariance<'_> {
        match &density.family {
            Family::NormalColumns { variances, .. } => Covariance::Columns(variances),
            Family::Normal { covariance, .. } => Covariance::Whole(full(covariance, width), width),
            _ => Covariance::Columns(&[]),
        }
    }

    fn times(&self, vector: &[f64]) -> Vec<f64> {
        match self {
            Covariance::Whole(s, width) => s.chunks(*width).map(|row| dot(row, vector)).collect(),
            Covariance::Columns(v) => v.iter().zip(vector).map(|(v, x)| v * x).collect(),
        }
    }

    fn deviation(&self, j: usize) -> f64 {
        match self {
            Covariance::Whole(s, width) => s[j * width + j].sqrt(),
            Covariance::Columns(v) => v[j].sqrt(),
        }
    }

    /// The weight that is largest for columns in standard deviations.
    fn largest(&self, vector: &[f64]) -> f64 {
        let pair = |(j, x): (usize, &f64)| x * self.deviation(j);
        let keep = |most: f64, x: f64| if x.abs() > most.abs() { x } else { most };
        vector.iter().enumerate().map(pair).fold(0.0, keep)
    }

    /// Refuses means that differ where S is 0: S w = m − μ has no answer there.
    fn require_answers(&self, own: &[Vec<f64>], apart: &[Vec<f64>]) -> Result<()> {
        let sizes: Vec<f64> = (0..apart.first().map_or(0, Vec::len))
            .map(|j| apart.iter().fold(self.deviation(j), |most, d| most.max(d[j].abs())))
            .collect();
        for (w, d) in own.iter().zip(apart) {
            let answer = self.times(w);
            let off = |j: usize| (answer[j] - d[j]).abs() > 1e-4 * sizes[j];
            if (0..d.len()).any(off) {
                return Err(no_unit(
                    "the covariance within the classes is 0 in a direction in which means differ",
                ));
            }
        }
        Ok(())
    }

    /// The largest entry of AᵀSA − I in the unit of S.
    fn off(&self, directions: &[Vec<f64>], unit: f64) -> f64 {
        let mut most: f64 = 0.0;
        for (i, a) in directions.iter().enumerate() {
            let image = self.times(a);
            for (j, b) in directions.iter().enumerate() {
                let off = dot(&image, b) / (unit * unit) - f64::from(u8::from(i == j));
                most = if off.is_nan() { f64::INFINITY } else { most.max(off.abs()) };
            }
        }
        most
    }
}

fn no_unit(why: &str) -> Error {
    Error::Limit {
        code: Code::LIMIT,
        message: format!(
            "{why}, so axes have no unit; leave columns out with `drop`, or train with `shrinkage=0.01`"
        ),
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
