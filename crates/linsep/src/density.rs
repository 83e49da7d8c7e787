//! The densities behind generative models, and rows drawn from them.
//!
//! A generative learner first describes how rows come about, a class k with the prior π_k and then x
//! from the density of that class, and Bayes' rule turns that into planes. The way back is not unique:
//! many densities have the same planes, so what a model needs to make rows of its own is kept beside
//! them. A discriminative model never had it.
//!
//! | family | learner | density of class k | free parameters beside K − 1 priors |
//! |---|---|---|---|
//! | `normal` | `lda` | N(m_k, S), one S for all | K d + d(d + 1)/2 |
//! | `normal-columns` | `shared-variance-nb` | N(m_kj, v_j) column by column | K d + d |
//! | `multinomial` | `multinomial-nb` | words drawn one by one with p_kj, as many as a row has | K (d − 1) |
//! | `bernoulli` | `bernoulli-nb` | each column on with p_kj | K d |
//!
//! Normal rows are m + S^½ g with g standard normal and S^½ the Cholesky factor of S with pivots, so a
//! covariance that is 0 in some direction gives rows without spread in it. The multinomial density says
//! nothing of the length of a row; rows get the mean length of their class, rounded, or a given one.
//!
//! Rows are made one after the other from one stream of random numbers; a short sample begins a long one.
//!
//! Reference: Bishop, Pattern Recognition and Machine Learning, 4.2 and 11.1.

mod axes;

pub use axes::Axes;

// Pictures and the lab turn small matrices, too.
#[doc(hidden)]
pub use crate::algebra::symmetric::symmetric_axes;

use crate::algebra::Factor;
use crate::model::LinearModel;
use linsep_data::error::{Error, Result};
use linsep_data::input::InputMap;
use linsep_data::rng::{Purpose, Stream};
use serde::{Deserialize, Serialize};

/// Densities of more numbers than this are not kept with a model.
pub const MOST_NUMBERS: usize = 1 << 20;

/// The longest row of counts that is drawn.
pub const LONGEST: u64 = 1_000_000;

/// How rows of each class come about, as a generative learner found it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Density {
    /// π_k, the chance of each class; they add up to 1.
    pub priors: Vec<f64>,
    /// The density within the classes.
    pub family: Family,
}

/// The density within the classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Family {
    /// Normal with one covariance.
    Normal {
        /// m_k.
        means: Vec<Vec<f64>>,
        /// The upper triangle of S, row after row.
        covariance: Vec<f64>,
    },
    /// Normal, columns independent, with shared variances.
    NormalColumns {
        /// m_k.
        means: Vec<Vec<f64>>,
        /// v.
        variances: Vec<f64>,
    },
    /// Counts of draws with these chances.
    Multinomial {
        /// p_k; each adds up to 1.
        chances: Vec<Vec<f64>>,
        /// The mean of the sums of the rows of each class.
        lengths: Vec<f64>,
    },
    /// Columns that are on with these chances.
    Bernoulli {
        /// p_k.
        chances: Vec<Vec<f64>>,
    },
}

impl Density {
    /// The density, unless it is too large to be kept or not finite.
    pub(crate) fn kept(priors: Vec<f64>, family: Family) -> Option<Density> {
        let density = Density { priors, family };
        let small = density.numbers() <= MOST_NUMBERS;
        (small && density.all().all(|x| x.is_finite())).then_some(density)
    }

    /// Every number.
    fn all(&self) -> impl Iterator<Item = &f64> {
        let (table, line): (&[Vec<f64>], &[f64]) = match &self.family {
            Family::Normal { means, covariance } => (means, covariance),
            Family::NormalColumns { means, variances } => (means, variances),
            Family::Multinomial { chances, lengths } => (chances, lengths),
            Family::Bernoulli { chances } => (chances, &[]),
        };
        self.priors.iter().chain(table.iter().flatten()).chain(line)
    }

    fn numbers(&self) -> usize {
        self.all().count()
    }

    /// The name of the family in files and reports.
    pub fn name(&self) -> &'static str {
        match &self.family {
            Family::Normal { .. } => "normal",
            Family::NormalColumns { .. } => "normal-columns",
            Family::Multinomial { .. } => "multinomial",
            Family::Bernoulli { .. } => "bernoulli",
        }
    }

    /// The numbers that the learner had to find: the free parameters of the density.
    pub fn parameters(&self) -> u64 {
        let classes = self.priors.len() as u64;
        let width = |table: &[Vec<f64>]| table.first().map_or(0, Vec::len) as u64;
        let inside = match &self.family {
            Family::Normal { means, covariance } => {
                classes * width(means) + covariance.len() as u64
            }
            Family::NormalColumns { means, variances } => {
                classes * width(means) + variances.len() as u64
            }
            Family::Multinomial { chances, .. } => classes * width(chances).saturating_sub(1),
            Family::Bernoulli { chances } => classes * width(chances),
        };
        classes.saturating_sub(1) + inside
    }

    /// Whether the numbers are a density of so many classes and features; the words say what is not.
    pub(crate) fn check(&self, classes: usize, features: usize) -> std::result::Result<(), String> {
        let (table, line, wanted) = match &self.family {
            Family::Normal { means, covariance } => (means, Some(covariance), triangle(features)),
            Family::NormalColumns { means, variances } => (means, Some(variances), Some(features)),
            Family::Multinomial { chances, lengths } => (chances, Some(lengths), Some(classes)),
            Family::Bernoulli { chances } => (chances, None, None),
        };
        let fits = self.priors.len() == classes
            && table.len() == classes
            && table.iter().all(|row| row.len() == features)
            && line.is_none_or(|line| Some(line.len()) == wanted);
        if !fits {
            return Err("the density has other classes or features than the model".into());
        }
        if self.all().any(|x| !x.is_finite()) {
            return Err("a number of the density is not finite".into());
        }
        let chance = |x: &f64| (0.0..=1.0).contains(x);
        let shares =
            |row: &[f64]| row.iter().all(chance) && (row.iter().sum::<f64>() - 1.0).abs() < 1e-6;
        let sound = shares(&self.priors)
            && match &self.family {
                Family::Normal { covariance, .. } => is_covariance(covariance, features),
                Family::NormalColumns { variances, .. } => variances.iter().all(|v| *v >= 0.0),
                Family::Multinomial { chances, lengths } => {
                    chances.iter().all(|row| shares(row)) && lengths.iter().all(|l| *l >= 0.0)
                }
                Family::Bernoulli { chances } => chances.iter().flatten().all(chance),
            };
        match sound {
            true => Ok(()),
            false => Err("the numbers of the density are no chances or no variances".into()),
        }
    }
}

fn triangle(width: usize) -> Option<usize> {
    width.checked_mul(width.checked_add(1)?).map(|twice| twice / 2)
}

/// Variances of at least 0, and no covariance beyond what they allow.
fn is_covariance(upper: &[f64], width: usize) -> bool {
    let matrix = full(upper, width);
    let root = |j: usize| matrix[j * width + j].sqrt();
    let pair = |j: usize, k: usize| matrix[j * width + k].abs() <= root(j) * root(k) * (1.0 + 1e-9);
    (0..width).all(|j| matrix[j * width + j] >= 0.0)
        && (0..width).all(|j| (j + 1..width).all(|k| pair(j, k)))
}

/// The whole of a symmetric matrix from its upper triangle.
fn full(upper: &[f64], width: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; width * width];
    let mut values = upper.iter();
    for j in 0..width {
        for k in j..width {
            let value = values.next().copied().unwrap_or(0.0);
            matrix[j * width + k] = value;
            matrix[k * width + j] = value;
        }
    }
    matrix
}

/// The upper triangle of a symmetric matrix times a factor, row after row.
pub(crate) fn upper_triangle(matrix: &[f64], width: usize, factor: f64) -> Vec<f64> {
    let row = |j: usize| matrix[j * width + j..(j + 1) * width].iter().map(|x| x * factor + 0.0);
    (0..width).flat_map(row).collect()
}

/// Draws rows from the density of a model.
///
/// ```
/// use linsep::density::Sampler;
/// use linsep::learn::discriminant::Lda;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let rows = [[0., 1.], [1., 0.], [2., 2.], [7., 8.], [8., 7.], [9., 9.]];
/// let data = Dataset::from_rows(&rows, &["low", "low", "low", "high", "high", "high"])?;
/// let fit = Lda::default().fit(&Task::new(data), &Limits::default(), &mut ())?;
/// let mut sampler = Sampler::new(&fit.model, fit.density.as_ref().unwrap(), None, 0)?;
/// let (class, row) = sampler.draw();
/// assert_eq!((class < 2, row.iter().all(|(j, _)| *j < 2)), (true, true));
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct Sampler<'a> {
    density: &'a Density,
    stream: Stream,
    /// Sums of the priors.
    priors: Vec<f64>,
    /// S^½, for the normal family.
    root: Option<Factor>,
    /// Sums of the chances of each class, for the multinomial family.
    chances: Vec<Vec<f64>>,
    /// Draws in a row of each class.
    lengths: Vec<u64>,
    /// What off and on are written as.
    switch: [f64; 2],
    row: Vec<(u32, f64)>,
}

impl<'a> Sampler<'a> {
    /// A sampler with the given seed. `length` is how many draws a multinomial row has.
    pub fn new(
        model: &LinearModel,
        density: &'a Density,
        length: Option<u64>,
        seed: u64,
    ) -> Result<Sampler<'a>> {
        if model.input.basis.is_some() {
            return Err(Error::usage(
                "the model knows the density of basis functions of the columns, not of the columns; train without `basis` to draw rows",
            ));
        }
        density.check(model.classes.len(), model.n_features()).map_err(Error::usage)?;
        let mut sampler = Sampler {
            density,
            stream: Stream::new(seed, Purpose::Generate(10)),
            priors: running(&density.priors),
            root: None,
            chances: Vec::new(),
            lengths: Vec::new(),
            switch: switch(&model.input),
            row: Vec::new(),
        };
        match &density.family {
            Family::Normal { covariance, .. } => {
                let width = model.n_features();
                sampler.root = Some(Factor::new(&full(covariance, width), width));
            }
            Family::Multinomial { chances, lengths } => {
                sampler.chances = chances.iter().map(|row| running(row)).collect();
                let mean = |mean: &f64| mean.round().max(1.0) as u64;
                let each = lengths.iter().map(|l| length.unwrap_or_else(|| mean(l)));
                sampler.lengths = each.collect();
                if let Some(length) = sampler.lengths.iter().find(|l| **l == 0 || **l > LONGEST) {
                    return Err(Error::usage(format!(
                        "rows of {length} counts cannot be drawn; give a length from 1 to {LONGEST} with `length`"
                    )));
                }
            }
            _ => {}
        }
        if length.is_some() && sampler.lengths.is_empty() {
            let family = density.name();
            return Err(Error::usage(format!(
                "rows of the {family} density have no length; `length` is for multinomial-nb"
            )));
        }
        Ok(sampler)
    }

    /// The counts in a row of each class; empty for families without counts.
    pub fn lengths(&self) -> &[u64] {
        &self.lengths
    }

    /// The next row: its class and the entries that are not 0, columns rising.
    pub fn draw(&mut self) -> (u32, &[(u32, f64)]) {
        let class = pick(&self.priors, self.stream.unit());
        self.row.clear();
        match &self.density.family {
            Family::Normal { means, .. } => {
                let root = self.root.as_ref();
                let count = root.map_or(0, |root| root.taken.len());
                let normals: Vec<f64> = (0..count).map(|_| self.stream.normal()).collect();
                let spread = root.map_or_else(Vec::new, |root| root.root_times(&normals));
                let values = means[class].iter().zip(spread).map(|(mean, x)| mean + x);
                self.row.extend((0..).zip(values).filter(|(_, x)| *x != 0.0));
            }
            Family::NormalColumns { means, variances } => {
                for (j, (mean, variance)) in means[class].iter().zip(variances).enumerate() {
                    let value = mean + variance.sqrt() * self.stream.normal();
                    if value != 0.0 {
                        self.row.push((j as u32, value));
                    }
                }
            }
            Family::Multinomial { .. } => {
                let mut words: Vec<u32> = (0..self.lengths[class])
                    .map(|_| pick(&self.chances[class], self.stream.unit()) as u32)
                    .collect();
                words.sort_unstable();
                for word in words {
                    match self.row.last_mut() {
                        Some((last, count)) if *last == word => *count += 1.0,
                        _ => self.row.push((word, 1.0)),
                    }
                }
            }
            Family::Bernoulli { chances } => {
                for (j, chance) in chances[class].iter().enumerate() {
                    let on = self.stream.unit() < *chance;
                    let value = self.switch[usize::from(on)];
                    if value != 0.0 {
                        self.row.push((j as u32, value));
                    }
                }
            }
        }
        (class as u32, &self.row)
    }
}

/// What off and on are written as, so that the model reads them as such: 0 and 1 where it can be.
fn switch(input: &InputMap) -> [f64; 2] {
    let threshold = input.binarize.unwrap_or(0.0);
    let off = if threshold >= 0.0 { 0.0 } else { threshold };
    let on = if threshold < 1.0 { 1.0 } else { (threshold + 1.0).max(threshold.next_up()) };
    [off, on]
}

fn running(shares: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let add = |share: &f64| {
        sum += share;
        sum
    };
    shares.iter().map(add).collect()
}

/// The place at which a running sum passes `at` of its last value; a share of 0 is never picked.
fn pick(running: &[f64], at: f64) -> usize {
    let target = at * running.last().copied().unwrap_or(0.0);
    running.partition_point(|sum| *sum <= target).min(running.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_nothing_is_never_picked() {
        let sums = running(&[0.0, 0.25, 0.0, 0.75, 0.0]);
        let mut seen = [0; 5];
        for k in 0..1000 {
            seen[pick(&sums, f64::from(k) / 1000.0)] += 1;
        }
        assert_eq!(seen, [0, 250, 0, 750, 0]);
        assert_eq!(pick(&sums, 1.0f64.next_down()), 3);
    }

    #[test]
    fn on_and_off_are_on_their_sides_of_the_threshold() {
        for threshold in [0.0, 0.5, 1.0, 7.5, -0.5, -3.0, 1e300, -1e300] {
            let input = InputMap::plain(1).with_binarize(Some(threshold));
            let [off, on] = switch(&input);
            assert!(off <= threshold && on > threshold && on.is_finite(), "{threshold} {off} {on}");
        }
    }

    #[test]
    fn what_is_no_density_is_refused() {
        let normal = |covariance: &[f64], priors: &[f64]| Density {
            priors: priors.to_vec(),
            family: Family::Normal {
                means: vec![vec![0.0, 1.0]; 2],
                covariance: covariance.to_vec(),
            },
        };
        assert!(normal(&[1.0, 0.5, 2.0], &[0.5, 0.5]).check(2, 2).is_ok());
        assert_eq!(normal(&[1.0, 0.5, 2.0], &[0.5, 0.5]).parameters(), 8);
        for (covariance, priors) in [
            (&[1.0, 0.5][..], &[0.5, 0.5][..]),
            (&[1.0, 2.0, 1.0], &[0.5, 0.5]),
            (&[-1.0, 0.0, 1.0], &[0.5, 0.5]),
            (&[1.0, 0.5, 2.0], &[0.5, 0.6]),
            (&[1.0, 0.5, 2.0], &[1.5, -0.5]),
            (&[1.0, 0.5, f64::INFINITY], &[0.5, 0.5]),
            (&[1.0, 0.5, 2.0], &[1.0]),
        ] {
            assert!(normal(covariance, priors).check(2, 2).is_err(), "{covariance:?} {priors:?}");
        }
        assert!(normal(&[1.0, 0.5, 2.0], &[0.5, 0.5]).check(2, 3).is_err());
    }
}
