//! Naive Bayes classifiers that are linear: columns are independent within a class.
//!
//! The log-odds of Bayes' rule are sums over the columns, so each class has a plane. With N_kj the sum
//! of column j over the rows of class k, W_k their weight and π_k the prior:
//!
//! ```text
//! multinomial  w_kj = ln (N_kj + α)/(N_k + α d),                 b_k = ln π_k
//! bernoulli    N_kj rows above the threshold, p = (N_kj + α)/(W_k + 2α),
//!              w_kj = ln p/(1 − p),                              b_k = ln π_k + Σ_j ln(1 − p_kj)
//! gaussian     one variance v_j for all classes,
//!              w_kj = (m_kj − μ_j)/v_j,                          b_k = ln π_k − ½ Σ_j w_kj (m_kj + μ_j)
//! ```
//!
//! Two classes make one plane, the second minus the first. Posteriors are the logistic function or the
//! softmax of the scores. The Gaussian one is linear because the classes share the variances;
//! μ = Σ π_k m_k only takes out what all classes have in common.
//!
//! Proved: `counts`. The checker counts again and makes the weights of its own counts.
//!
//! Reference: McCallum and Nigam 1998; Bishop, Pattern Recognition and Machine Learning, 4.2.

use crate::density::{Density, Family, MOST_NUMBERS};
use crate::engine::closed_form::{
    ClosedForm, ClosedRun, Proof, Solution, class_factors, require_every_class,
};
use crate::engine::direct::{Moments, Spec, Want};
use crate::learn::priors::{Priors, priors_of};
use crate::model::{Link, Plane};
use crate::run::{ClassWeights, Learner, Solves, Task, Training};
use linsep_data::Dataset;
use linsep_data::error::{Code, Error, Place, Problem, Result};
use linsep_data::parallel::parallel_map;
use linsep_proof::Priors as Claimed;
use linsep_proof::{Claim, Statistics};

/// The settings of multinomial naive Bayes, for counts such as those of words.
///
/// ```
/// use linsep::learn::bayes::MultinomialBayes;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let data = Dataset::from_rows(&[[2., 0.], [3., 1.], [0., 4.], [1., 2.]], &["a", "a", "b", "b"])?;
/// let fit = MultinomialBayes::default().fit(&Task::new(data), &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.predict(&[1., 5.])?, "b");
/// assert_eq!(fit.certificate.claims[0].name(), "counts");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MultinomialBayes {
    /// α, added to every count; above 0.
    pub alpha: f64,
    /// How often each class is expected.
    pub priors: Priors,
}

linsep_proof::setters! {
    MultinomialBayes {
        with_alpha => alpha: f64,
        with_priors => priors: Priors,
    }
}

/// The settings of Bernoulli naive Bayes: each value is on or off.
///
/// ```
/// use linsep::learn::bayes::BernoulliBayes;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let data = Dataset::from_rows(&[[1., 0.], [1., 1.], [0., 1.], [0., 1.]], &["a", "a", "b", "b"])?;
/// let fit = BernoulliBayes::default().fit(&Task::new(data), &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.predict(&[9., 0.])?, "a");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BernoulliBayes {
    /// α, added to every count; above 0.
    pub alpha: f64,
    /// A value above this is on.
    pub binarize: f64,
    /// How often each class is expected.
    pub priors: Priors,
}

linsep_proof::setters! {
    BernoulliBayes {
        with_alpha => alpha: f64,
        with_binarize => binarize: f64,
        with_priors => priors: Priors,
    }
}

/// The settings of Gaussian naive Bayes with shared variances.
///
/// ```
/// use linsep::learn::bayes::SharedVarianceBayes;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let data = Dataset::from_rows(&[[-2.], [-1.], [1.], [2.]], &["no", "no", "yes", "yes"])?;
/// let model = SharedVarianceBayes::default().fit(&Task::new(data), &Limits::default(), &mut ())?.model;
/// assert_eq!(model.predict(&[0.3])?, "yes");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SharedVarianceBayes {
    /// The share of the largest variance that is added to every variance, so that none is 0.
    pub smoothing: f64,
    /// How often each class is expected.
    pub priors: Priors,
}

linsep_proof::setters! {
    SharedVarianceBayes {
        with_smoothing => smoothing: f64,
        with_priors => priors: Priors,
    }
}

impl Default for MultinomialBayes {
    fn default() -> Self {
        MultinomialBayes { alpha: 1.0, priors: Priors::Data }
    }
}

impl Default for BernoulliBayes {
    fn default() -> Self {
        BernoulliBayes { alpha: 1.0, binarize: 0.0, priors: Priors::Data }
    }
}

impl Default for SharedVarianceBayes {
    fn default() -> Self {
        SharedVarianceBayes { smoothing: 1e-9, priors: Priors::Data }
    }
}

fn check(task: &Task, alpha: f64) -> Result<()> {
    if !alpha.is_finite() || alpha <= 0.0 {
        return Err(Error::usage(format!("alpha {alpha} is not above 0")));
    }
    task.data.require_two_classes()?;
    require_every_class(task)
}

impl Learner for MultinomialBayes {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        check(task, self.alpha)?;
        self.priors.check(&task.data)?;
        refuse_negative(task)?;
        Ok(Box::new(ClosedRun::new(Box::new(self.clone()), task)?))
    }

    fn solves(&self, task: &Task) -> Result<Solves> {
        Ok(Solves::Statistics(self.claimed(task.data.classes())))
    }
}

impl MultinomialBayes {
    /// The planes that the weights of the classes and their sums give.
    pub(crate) fn planes_of_sums(&self, weights: &[f64], sums: Vec<Vec<f64>>) -> Vec<Plane> {
        let logs = Logs::new(self.alpha);
        let biases = log_priors(weights, &self.priors.claimed(&[]));
        let class =
            |(sums, bias): (Vec<f64>, f64)| Plane { bias, ..self.class_of_sums(&logs, sums).0 };
        planes(sums.into_iter().zip(biases).map(class).collect())
    }

    /// The plane of a class without its prior, and the sum of its counts. Weights take the places of the sums:
    /// with many classes and columns memory takes longer than the rest.
    fn class_of_sums(&self, logs: &Logs, mut weights: Vec<f64>) -> (Plane, f64) {
        let whole = whole_total(&weights);
        let total = whole.unwrap_or_else(|| weights.iter().sum());
        let all = (total + self.alpha * weights.len() as f64).ln();
        match whole {
            Some(_) => replace(&mut weights, |sum| logs.of_whole(sum) - all),
            None => replace(&mut weights, |sum| logs.of(sum) - all),
        }
        (Plane { weights, bias: 0.0 }, total)
    }

    pub(crate) fn claimed(&self, classes: &[String]) -> Statistics {
        Statistics::Multinomial { alpha: self.alpha, priors: self.priors.claimed(classes) }
    }
}

impl Learner for BernoulliBayes {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        check(task, self.alpha)?;
        self.priors.check(&task.data)?;
        if !self.binarize.is_finite() {
            return Err(Error::usage("the threshold is not a finite number"));
        }
        Ok(Box::new(ClosedRun::new(Box::new(self.clone()), task)?))
    }

    fn solves(&self, task: &Task) -> Result<Solves> {
        Ok(Solves::Statistics(self.claimed(task.data.classes())))
    }
}

impl BernoulliBayes {
    /// The planes that the weights of the classes and the weights of their values unlike 0 give.
    pub(crate) fn planes_of_counts(&self, weights: &[f64], counts: &[Vec<f64>]) -> Vec<Plane> {
        planes(self.of_counts(weights, counts, &self.priors.claimed(&[])))
    }

    /// The plane of each class.
    fn of_counts(&self, weights: &[f64], counts: &[Vec<f64>], priors: &Claimed) -> Vec<Plane> {
        let zero_is_on = self.binarize < 0.0;
        let class = |(class, bias): (usize, f64)| {
            let total = weights[class];
            let all = (total + 2.0 * self.alpha).ln();
            let mut plane = Plane { weights: Vec::with_capacity(counts[class].len()), bias };
            for &unlike_zero in &counts[class] {
                let on = if zero_is_on { total - unlike_zero } else { unlike_zero };
                let off = (total - on + self.alpha).ln();
                plane.weights.push((on + self.alpha).ln() - off);
                plane.bias += off - all;
            }
            plane
        };
        log_priors(weights, priors).into_iter().enumerate().map(class).collect()
    }

    pub(crate) fn claimed(&self, classes: &[String]) -> Statistics {
        Statistics::Bernoulli {
            alpha: self.alpha,
            binarize: self.binarize,
            priors: self.priors.claimed(classes),
        }
    }
}

impl Learner for SharedVarianceBayes {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        if !self.smoothing.is_finite() || self.smoothing < 0.0 {
            return Err(Error::usage(format!("the smoothing {} is below 0", self.smoothing)));
        }
        check(task, 1.0)?;
        self.priors.check(&task.data)?;
        Ok(Box::new(ClosedRun::new(Box::new(self.clone()), task)?))
    }

    fn solves(&self, task: &Task) -> Result<Solves> {
        Ok(Solves::Statistics(self.claimed(task.data.classes())))
    }
}

impl SharedVarianceBayes {
    /// The planes that moments with squares give.
    pub(crate) fn planes_of_moments(&self, moments: &Moments) -> Vec<Plane> {
        planes(self.of_moments(moments, &self.priors.claimed(&[])).0)
    }

    /// The planes of the classes and the variances of the columns.
    fn of_moments(&self, moments: &Moments, priors: &Claimed) -> (Vec<Plane>, Vec<f64>) {
        let (width, classes) = (moments.shift.len(), moments.weights.len());
        let biases = log_priors(&moments.weights, priors);
        let priors = priors_of(priors, &moments.weights);
        let largest = moments.spread_of_all().into_iter().fold(0.0, f64::max) / moments.total;
        let spreads: Vec<Vec<f64>> = (0..classes).map(|class| moments.spread(class)).collect();
        let variance = |j: usize| {
            let class = |k: usize| priors[k] * spreads[k][j] / moments.weights[k];
            (0..classes).map(class).sum::<f64>() + self.smoothing * largest
        };
        let variances: Vec<f64> = (0..width).map(variance).collect();
        let blend = |j: usize| (0..classes).map(|k| priors[k] * moments.offsets[k][j]).sum();
        let middle: Vec<f64> = (0..variances.len()).map(blend).collect();
        let class = |(class, mut bias): (usize, f64)| {
            let mut weights = Vec::with_capacity(variances.len());
            for (j, &variance) in variances.iter().enumerate() {
                let offset = moments.offsets[class][j];
                let weight = if variance > 0.0 { (offset - middle[j]) / variance } else { 0.0 };
                bias -= 0.5 * weight * (offset + middle[j] + 2.0 * moments.shift[j]);
                weights.push(weight);
            }
            Plane { weights, bias }
        };
        (biases.into_iter().enumerate().map(class).collect(), variances)
    }

    pub(crate) fn claimed(&self, classes: &[String]) -> Statistics {
        Statistics::Gaussian { smoothing: self.smoothing, priors: self.priors.claimed(classes) }
    }
}

fn refuse_negative(task: &Task) -> Result<()> {
    let data = &task.data;
    if !data.store().has_negative() {
        return Ok(());
    }
    for row in task.active_rows()? {
        let mut found = None;
        data.for_each(row as usize, |j, x| {
            if x < 0.0 && found.is_none() {
                found = Some((j, x));
            }
        });
        if let Some((column, value)) = found {
            let (row, origin) = (u64::from(row), data.origin());
            let place = Place::default()
                .with_file(origin.file(row).map(str::to_owned))
                .with_line(origin.line(row))
                .with_row(Some(row))
                .with_field(Some((
                    u64::from(column) + 1,
                    Some(data.input().feature_name(column as usize)),
                )));
            return Err(Problem::new(Code::NEGATIVE_COUNT, Code::NEGATIVE_COUNT.title(), place)
                .value(value.to_string().as_bytes())
                .help("use `learner=shared-variance-nb` or lda for measurements, or leave the column out with `drop`")
                .into());
        }
    }
    Ok(())
}

/// ln π_k.
fn log_priors(weights: &[f64], priors: &Claimed) -> Vec<f64> {
    priors_of(priors, weights).into_iter().map(f64::ln).collect()
}

/// ln (n + α): most of the sums of counts are small whole numbers, whose logarithms are kept.
struct Logs {
    alpha: f64,
    small: Vec<f64>,
}

impl Logs {
    fn new(alpha: f64) -> Logs {
        Logs { alpha, small: (0..1024).map(|n| (f64::from(n) + alpha).ln()).collect() }
    }

    #[inline]
    fn of(&self, sum: f64) -> f64 {
        match self.small.get(sum as usize) {
            Some(log) if (sum as usize) as f64 == sum => *log,
            _ => (sum + self.alpha).ln(),
        }
    }

    /// Of a whole number below 2^52: what it adds to 2^52 are the last bits of the sum.
    #[inline]
    fn of_whole(&self, sum: f64) -> f64 {
        match self.small.get(((sum + WHOLE).to_bits() - WHOLE.to_bits()) as usize) {
            Some(log) => *log,
            None => (sum + self.alpha).ln(),
        }
    }
}

/// From here to 2^53 there are only whole numbers.
const WHOLE: f64 = (1u64 << 52) as f64;

/// Puts `weight` of each sum into its place.
fn replace(sums: &mut [f64], weight: impl Fn(f64) -> f64) {
    let none = weight(0.0);
    let each = |sums: &mut [f64]| sums.iter_mut().for_each(|sum| *sum = weight(*sum));
    let (blocks, rest) = sums.as_chunks_mut::<8>();
    for block in blocks {
        // Most columns have no count in a class.
        match block.iter().fold(true, |empty, sum| empty & (*sum == 0.0)) {
            true => block.fill(none),
            false => each(block),
        }
    }
    each(rest);
}

/// Σ of numbers from 0 on, from the first to the last, if all of them are whole and it is below 2^52. Then it is
/// exact in any order, so it is added in lanes, none of which waits for the one before.
fn whole_total(sums: &[f64]) -> Option<f64> {
    let (blocks, rest) = sums.as_chunks::<8>();
    let lost = |x: &f64| (((x + WHOLE) - WHOLE) - x).to_bits();
    let (mut lanes, mut all_lost) = ([0.0; 8], [0; 8]);
    for block in blocks {
        lanes.iter_mut().zip(block).for_each(|(lane, sum)| *lane += sum);
        all_lost.iter_mut().zip(block).for_each(|(all, sum)| *all |= lost(sum));
    }
    let sum: f64 = lanes.iter().chain(rest).sum();
    let all_lost = rest.iter().map(lost).chain(all_lost).fold(0, |all, lost| all | lost);
    (all_lost == 0 && sum < WHOLE).then_some(sum)
}

/// exp of each. Few counts make few weights, so those of the last ones are kept.
fn exponentials(weights: &[f64]) -> Vec<f64> {
    /// Spreads numbers over the places: 2^64 over the golden ratio.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut kept = [(0.0, 1.0); 256];
    let exp = |w: &f64| {
        let kept = &mut kept[(w.to_bits().wrapping_mul(SPREAD) >> 56) as usize];
        if kept.0 != *w {
            *kept = (*w, w.exp());
        }
        kept.1
    };
    weights.iter().map(exp).collect()
}

/// The planes of a model from those of its classes.
fn planes(classes: Vec<Plane>) -> Vec<Plane> {
    match &classes[..] {
        [zero, one] => {
            let weights = one.weights.iter().zip(&zero.weights).map(|(a, b)| a - b).collect();
            vec![Plane { weights, bias: one.bias - zero.bias }]
        }
        _ => classes,
    }
}

fn solution(classes: Vec<Plane>, statistics: Statistics, density: Option<Density>) -> Solution {
    let claim = move |planes| Claim::Counts { planes, statistics: statistics.clone() };
    let (planes, proof) = (planes(classes), Proof::Claim(Box::new(claim)));
    Solution { planes, proof, remarks: Vec::new(), density }
}

/// The density of classes with these weights; the family is only made where it is small.
fn density(
    weights: &[f64],
    priors: &Claimed,
    features: usize,
    family: impl FnOnce() -> Family,
) -> Option<Density> {
    let small = weights.len().saturating_mul(features) <= MOST_NUMBERS;
    let priors = log_priors(weights, priors).into_iter().map(f64::exp).collect();
    if small { Density::kept(priors, family()) } else { None }
}

impl ClosedForm for MultinomialBayes {
    fn solve(&self, data: &Dataset, rows: &[u32], threads: usize) -> Solution {
        let spec =
            Spec::new(data, rows, class_factors(data, rows, &ClassWeights::None), Want::Sums);
        let logs = Logs::new(self.alpha);
        let class = |class_weight: f64, sums: Vec<f64>| {
            let (plane, total) = self.class_of_sums(&logs, sums);
            (plane, (class_weight, total / class_weight))
        };
        let classes = spec.map_classes(threads, class).into_iter();
        let (mut classes, sizes): (Vec<Plane>, Vec<(f64, f64)>) = classes.unzip();
        let (class_weights, lengths): (Vec<f64>, Vec<f64>) = sizes.into_iter().unzip();
        let priors = self.priors.claimed(data.classes());
        let biases = log_priors(&class_weights, &priors);
        classes.iter_mut().zip(biases).for_each(|(plane, bias)| plane.bias = bias);
        let density = density(&class_weights, &priors, data.n_features(), || {
            let chances = |class: usize| exponentials(&classes[class].weights);
            Family::Multinomial { chances: parallel_map(classes.len(), threads, chances), lengths }
        });
        solution(classes, self.claimed(data.classes()), density)
    }

    fn link(&self) -> Link {
        Link::Softmax
    }

    fn is_generative(&self) -> bool {
        true
    }

    fn is_quick(&self) -> bool {
        true
    }
}

impl ClosedForm for BernoulliBayes {
    fn solve(&self, data: &Dataset, rows: &[u32], threads: usize) -> Solution {
        let spec =
            Spec::new(data, rows, class_factors(data, rows, &ClassWeights::None), Want::Sums);
        let (width, classes) = (data.n_features(), data.n_classes());
        // Only values that are not 0 are seen: of those, the ones that are not like 0 are counted.
        let zero_is_on = self.binarize < 0.0;
        let block = |places: std::ops::Range<usize>| {
            let mut weights = vec![0.0; classes];
            let mut counts = vec![vec![0.0; width]; classes];
            let mut scratch = Vec::new();
            for &row in &rows[places] {
                let class = data.class_of(row as usize) as usize;
                let weight = data.weight(row as usize);
                weights[class] += weight;
                data.store().for_each(row as usize, &mut scratch, |j, x| {
                    if (x > self.binarize) != zero_is_on {
                        counts[class][j as usize] += weight;
                    }
                });
            }
            (weights, counts)
        };
        let mut weights = vec![0.0; classes];
        let mut counts = vec![vec![0.0; width]; classes];
        for (part_weights, part_counts) in spec.by_blocks(threads, block) {
            weights.iter_mut().zip(part_weights).for_each(|(mine, theirs)| *mine += theirs);
            let all = counts.iter_mut().flatten().zip(part_counts.into_iter().flatten());
            all.for_each(|(mine, theirs)| *mine += theirs);
        }
        let priors = self.priors.claimed(data.classes());
        let planes = self.of_counts(&weights, &counts, &priors);
        let density = density(&weights, &priors, width, || {
            let chance = |class: usize, unlike_zero: f64| {
                let on = if zero_is_on { weights[class] - unlike_zero } else { unlike_zero };
                (on + self.alpha) / (weights[class] + 2.0 * self.alpha)
            };
            let row = |k: usize| counts[k].iter().map(|count| chance(k, *count)).collect();
            Family::Bernoulli { chances: (0..classes).map(row).collect() }
        });
        solution(planes, self.claimed(data.classes()), density)
    }

    fn link(&self) -> Link {
        Link::Softmax
    }

    fn binarize(&self) -> Option<f64> {
        Some(self.binarize)
    }

    fn is_generative(&self) -> bool {
        true
    }
}

impl ClosedForm for SharedVarianceBayes {
    fn solve(&self, data: &Dataset, rows: &[u32], threads: usize) -> Solution {
        let spec =
            Spec::new(data, rows, class_factors(data, rows, &ClassWeights::None), Want::Squares);
        let moments = spec.collect(threads).finish(&spec.shift);
        let classes = data.n_classes();
        let priors = self.priors.claimed(data.classes());
        let (planes, variances) = self.of_moments(&moments, &priors);
        let density = density(&moments.weights, &priors, data.n_features(), || {
            let means = (0..classes).map(|class| moments.mean(class)).collect();
            Family::NormalColumns { means, variances }
        });
        solution(planes, self.claimed(data.classes()), density)
    }

    fn link(&self) -> Link {
        Link::Softmax
    }

    fn is_generative(&self) -> bool {
        true
    }
}
