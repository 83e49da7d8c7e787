//! Blocks of rows that are tables of their own, wherever they are: a worker holds the rows of its blocks and
//! no others, and the driver holds none.
//!
//! All blocks have the same columns and the same list of classes. What a block answers is a sum of rows, never
//! of the codes in which a storage holds them, so blocks may be stored differently. [`Sums`] of one round are
//! what least squares, discriminants and naive Bayes are made of. [`SmoothLoss`] is a step of Newton's method
//! for each round; with Σ ψ of one more round, its multipliers bound the optimum from below
//! ([`crate::objective`]). Answers are merged in an order that the caller fixes, and then no bit depends on who
//! computed them.
//!
//! The bound and the gap are computed in binary64 and steer or describe a run. They are no proof: that is
//! what the checker computes from the rows.

use super::foreign;
use super::newton::Course;
use super::proving::Solved;
use super::second::{Bare, Curvature};
use crate::engine::direct::{Moments, Spec, Statistics, Want};
use crate::learn::bayes::{BernoulliBayes, MultinomialBayes, SharedVarianceBayes};
use crate::learn::discriminant::{Fisher, Lda, Priors};
use crate::learn::least_squares::LeastSquares;
use crate::learn::optimising::{ConvexProblem, ConvexSettings};
use crate::loss::Loss;
use crate::model::Plane;
use crate::objective::evaluate::{Beside, Evaluate, Evaluated};
use crate::objective::{Intercept, Objective, Penalty, add};
use crate::rounds::{self, Rounds, decode, encode};
use crate::run::Task;
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use std::sync::Arc;

/// What is collected of each block beside the weights and the sums of the classes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Sums {
    /// Nothing: multinomial naive Bayes.
    Plain,
    /// Nothing, of values that are 1 where they are above a threshold and 0 is not, or the other way round, and else
    /// 0: Bernoulli naive Bayes.
    Above(f64),
    /// Squares: naive Bayes with shared variances.
    Squares,
    /// The scatter matrix: least squares and discriminants.
    Scatter,
}

impl Sums {
    fn want(self) -> Want {
        match self {
            Sums::Plain | Sums::Above(_) => Want::Sums,
            Sums::Squares => Want::Squares,
            Sums::Scatter => Want::Scatter,
        }
    }

    /// Short numbers near the values of a block; those of the first one serve all.
    pub fn shift(self, block: &Dataset) -> Vec<f64> {
        let rows: Vec<u32> = (0..block.n_rows() as u32).collect();
        match self {
            Sums::Plain | Sums::Above(_) => vec![0.0; block.n_features()],
            _ => Spec::shift_near(block, &rows),
        }
    }

    /// The sums of a block, less the shift.
    pub fn partial(self, block: &Dataset, shift: &[f64]) -> Result<Vec<u8>> {
        if shift.len() != block.n_features() {
            return Err(foreign());
        }
        if let Sums::Above(threshold) = self {
            return Ok(encode(&counted(block, threshold)));
        }
        let rows: Vec<u32> = (0..block.n_rows() as u32).collect();
        let factors = vec![1.0; block.n_classes()];
        let spec =
            Spec { data: block, rows: &rows, factors, shift: shift.to_vec(), want: self.want() };
        Ok(encode(&spec.collect(1)))
    }

    /// The sums of some blocks and of those that follow them.
    pub fn merge(self, all: &[u8], next: &[u8]) -> Result<Vec<u8>> {
        let (mut all, next): (Statistics, Statistics) = (decode(all)?, decode(next)?);
        let (width, classes) = (all.sums.first().map_or(0, Vec::len), all.weights.len());
        if !self.are(&all, width, classes) || !self.are(&next, width, classes) {
            return Err(foreign());
        }
        all.merge(&next);
        Ok(encode(&all))
    }

    fn are(self, found: &Statistics, width: usize, classes: usize) -> bool {
        let squares = if self == Sums::Squares { classes } else { 0 };
        let scatter = if self == Sums::Scatter { width * (width + 1) / 2 } else { 0 };
        let mut lists = found.sums.iter().chain(&found.squares);
        found.weights.len() == classes
            && found.sums.len() == classes
            && found.squares.len() == squares
            && found.scatter.len() == scatter
            && lists.all(|list| list.len() == width)
    }

    fn finish(self, merged: &[u8], width: usize) -> Result<Statistics> {
        let merged: Statistics = decode(merged)?;
        let classes = merged.weights.len();
        if classes < 2 || !self.are(&merged, width, classes) {
            return Err(foreign());
        }
        match merged.weights.iter().position(|weight| *weight <= 0.0) {
            Some(class) => {
                Err(Error::usage(format!("class number {class} has no row with a weight")))
            }
            None => Ok(merged),
        }
    }
}

/// The weights of the values that are not like 0, by class and column.
fn counted(block: &Dataset, threshold: f64) -> Statistics {
    let zero_is_on = threshold < 0.0;
    let mut sums = vec![vec![0.0; block.n_features()]; block.n_classes()];
    let mut weights = vec![0.0; block.n_classes()];
    for row in 0..block.n_rows() {
        let (class, weight) = (block.class_of(row) as usize, block.weight(row));
        weights[class] += weight;
        block.for_each(row, |j, x| {
            if (x > threshold) != zero_is_on {
                sums[class][j as usize] += weight;
            }
        });
    }
    Statistics { weights, sums, squares: Vec::new(), scatter: Vec::new() }
}

/// What is made of sums.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ClosedLearner {
    /// Least squares on coded classes.
    LeastSquares(LeastSquares),
    /// Fisher's discriminant.
    Fisher(Fisher),
    /// Linear discriminant analysis; priors from the data.
    Lda(Lda),
    /// Gaussian naive Bayes with shared variances.
    SharedVariance(SharedVarianceBayes),
    /// Naive Bayes of counts.
    Multinomial(MultinomialBayes),
    /// Naive Bayes of values that are on or off.
    Bernoulli(BernoulliBayes),
}

impl ClosedLearner {
    /// The sums that it needs.
    pub fn sums(&self) -> Sums {
        match self {
            ClosedLearner::Multinomial(_) => Sums::Plain,
            ClosedLearner::Bernoulli(learner) => Sums::Above(learner.binarize),
            ClosedLearner::SharedVariance(_) => Sums::Squares,
            _ => Sums::Scatter,
        }
    }

    /// What its planes solve, as it is claimed.
    pub(super) fn solved(&self) -> Solved {
        match self {
            ClosedLearner::LeastSquares(learner) => Solved::Equations(learner.claimed(&[])),
            ClosedLearner::Fisher(learner) => Solved::Equations(learner.claimed_of_moments()),
            ClosedLearner::Lda(learner) => Solved::Equations(learner.claimed_of_moments()),
            ClosedLearner::SharedVariance(learner) => Solved::Statistics(learner.claimed(&[])),
            ClosedLearner::Multinomial(learner) => Solved::Statistics(learner.claimed(&[])),
            ClosedLearner::Bernoulli(learner) => Solved::Statistics(learner.claimed(&[])),
        }
    }

    fn has_given_priors(&self) -> bool {
        let priors = match self {
            ClosedLearner::Lda(learner) => &learner.priors,
            ClosedLearner::SharedVariance(learner) => &learner.priors,
            ClosedLearner::Multinomial(learner) => &learner.priors,
            ClosedLearner::Bernoulli(learner) => &learner.priors,
            _ => return false,
        };
        matches!(priors, Priors::Given(_))
    }

    /// The planes that the sums of all blocks give: one for two classes, else one for each.
    pub fn planes(&self, shift: &[f64], merged: &[u8]) -> Result<Vec<Plane>> {
        if self.has_given_priors() {
            return Err(Error::usage(
                "`priors`: blocks of rows give those of the data or uniform ones",
            ));
        }
        let merged = self.sums().finish(merged, shift.len())?;
        let moments = |merged: Statistics| -> Moments { merged.finish(shift) };
        match self {
            ClosedLearner::LeastSquares(learner) if learner.class_weights.is_none() => {
                Ok(learner.planes_of_moments(&moments(merged)))
            }
            ClosedLearner::Fisher(learner) => learner.planes_of_moments(&moments(merged)),
            ClosedLearner::Lda(learner) if learner.priors == Priors::Data => {
                learner.planes_of_moments(&moments(merged))
            }
            ClosedLearner::SharedVariance(learner) => {
                Ok(learner.planes_of_moments(&moments(merged)))
            }
            ClosedLearner::Multinomial(learner) => {
                Ok(learner.planes_of_sums(&merged.weights, merged.sums))
            }
            ClosedLearner::Bernoulli(learner) => {
                Ok(learner.planes_of_counts(&merged.weights, &merged.sums))
            }
            _ => Err(Error::usage("classes are weighted alike only where the rows are at hand")),
        }
    }
}

/// A smooth loss of two classes, the second positive, or of a class against all others, with the penalty ½ |w|².
#[derive(Clone, Debug)]
pub struct SmoothLoss {
    problem: ConvexProblem,
    intercept: Intercept,
    positive: u32,
}

impl SmoothLoss {
    /// C Σ ln(1 + exp(−m)).
    pub fn logistic(c: f64, intercept: Intercept) -> SmoothLoss {
        SmoothLoss::new(Loss::Logistic, c, intercept)
    }

    /// C Σ max(0, 1 − m)².
    pub fn squared_hinge(c: f64, intercept: Intercept) -> SmoothLoss {
        SmoothLoss::new(Loss::SquaredHinge, c, intercept)
    }

    fn new(loss: Loss, c: f64, intercept: Intercept) -> SmoothLoss {
        let settings = ConvexSettings::default().with_c(c).with_intercept(intercept);
        SmoothLoss { problem: ConvexProblem { loss, settings }, intercept, positive: 1 }
    }

    /// The same of another class against the rest.
    pub fn against_rest(mut self, positive: u32) -> SmoothLoss {
        self.positive = positive;
        self
    }

    /// The objective as it is claimed.
    pub fn claimed(&self) -> linsep_proof::Objective {
        let ConvexProblem { loss, settings } = &self.problem;
        linsep_proof::Objective::new(loss.in_claims(), settings.c)
            .with_l2(settings.l2)
            .with_intercept(self.intercept)
    }

    /// The objective on the rows of a task.
    pub(super) fn objective(&self, task: &Task) -> Result<Objective> {
        self.problem.objective(task, self.positive)
    }

    pub(super) fn penalty(&self) -> Penalty {
        Penalty { l1: 0.0, l2: self.problem.settings.l2, scale: None, limits: None }
    }

    pub(super) fn intercept(&self) -> Intercept {
        self.intercept
    }

    /// What a block answers at a plane: losses, sums of multipliers, second derivatives.
    pub fn partial(&self, block: &Arc<Dataset>, plane: &Plane) -> Result<Vec<u8>> {
        self.answer::<Curvature>(block, plane, |beside| beside)
    }

    /// The same without second derivatives, for a round that does without
    /// ([`wants_second`](SmoothDriver::wants_second)).
    pub fn slope(&self, block: &Arc<Dataset>, plane: &Plane) -> Result<Vec<u8>> {
        self.answer::<Bare>(block, plane, |_| Curvature::unasked())
    }

    fn answer<B: Beside>(
        &self,
        block: &Arc<Dataset>,
        plane: &Plane,
        beside_of: impl FnOnce(B) -> Curvature,
    ) -> Result<Vec<u8>> {
        let objective = self.objective(&Task::new(Arc::clone(block)))?;
        let work = Evaluate::<B>::new(&objective);
        if !work.accepts(plane) {
            return Err(foreign());
        }
        let Evaluated { loss, sides, beside } = rounds::collect(&work, plane, 1, 1);
        let sides = objective.unfolded(sides);
        let sides = [sides.positive, sides.negative];
        Ok(encode(&Evaluated { loss, sides, beside: beside_of(beside) }))
    }

    /// The answers of some blocks and of those that follow them.
    pub fn merge(&self, all: &[u8], next: &[u8]) -> Result<Vec<u8>> {
        let (mut all, next): (Answer, Answer) = (decode(all)?, decode(next)?);
        let width = all.sides[0].weights.len();
        let is_one_round = all.beside.below.len() == next.beside.below.len();
        if !is_of(&all, width) || !is_of(&next, width) || !is_one_round {
            return Err(foreign());
        }
        all.loss += next.loss;
        all.sides.iter_mut().zip(&next.sides).for_each(|(all, part)| add(part, all));
        all.beside.merge(next.beside);
        Ok(encode(&all))
    }

    /// Σ ψ of the multipliers that a block has at a plane, each side times its factor.
    pub fn dual_part(&self, block: &Arc<Dataset>, plane: &Plane, factors: [f64; 2]) -> Result<f64> {
        let objective = self.objective(&Task::new(Arc::clone(block)))?;
        if plane.weights.len() != objective.width() {
            return Err(foreign());
        }
        let margins = objective.margins(plane);
        let term = |i: usize| {
            let (cost, loss) = (objective.costs[i], objective.loss);
            let factor = factors[usize::from(objective.signs[i] < 0.0)];
            loss.conjugate_term(factor * cost * loss.negative_gradient(margins[i]), cost)
        };
        Ok(objective.total(term))
    }

    /// Whoever asks, until a step promises less than this share of the objective.
    pub fn driver(&self, width: usize, wanted: f64) -> SmoothDriver {
        SmoothDriver(Course::new(self.penalty(), self.intercept, width, wanted))
    }
}

type Answer = Evaluated<Curvature>;

fn is_of(answer: &Answer, width: usize) -> bool {
    answer.sides.iter().all(|side| side.weights.len() == width)
        && [0, (width + 1).pow(2)].contains(&answer.beside.below.len())
}

/// A run of Newton's method on rows that are elsewhere.
pub struct SmoothDriver(Course);

impl SmoothDriver {
    /// Begins at a plane in place of zeros.
    pub fn begin(&mut self, plane: Plane) -> Result<()> {
        if plane.weights.len() != self.0.plane().weights.len() {
            return Err(foreign());
        }
        self.0.begin(plane);
        Ok(())
    }

    /// Whether the next round asks for second derivatives ([`SmoothLoss::partial`]) or does with those that it has
    /// ([`SmoothLoss::slope`]).
    pub fn wants_second(&self) -> bool {
        self.0.wants_second()
    }

    /// What the gap is likely to be, as a share of the objective.
    pub fn likely_gap(&self) -> f64 {
        self.0.likely_gap()
    }

    /// The plane that the next round asks about.
    pub fn candidate(&self) -> &Plane {
        self.0.candidate()
    }

    /// Takes the merged answers. Whether there is another round.
    pub fn step(&mut self, merged: &[u8]) -> Result<bool> {
        let merged: Answer = decode(merged)?;
        let lacks_second = merged.beside.below.is_empty() && self.0.wants_second();
        if !is_of(&merged, self.0.plane().weights.len()) || lacks_second {
            return Err(foreign());
        }
        let Evaluated { loss, sides: [positive, negative], beside } = merged;
        let sides = crate::objective::Sides { positive, negative };
        Ok(self.0.take(loss, sides, &beside.below))
    }

    /// The best plane so far.
    pub fn plane(&self) -> &Plane {
        self.0.plane()
    }

    /// The objective at the plane.
    pub fn objective(&self) -> f64 {
        self.0.primal()
    }

    /// Rounds so far.
    pub fn rounds(&self) -> u64 {
        self.0.rounds()
    }

    /// The factors of the sides for the round of Σ ψ.
    pub fn factors(&self) -> [f64; 2] {
        self.0.factors()
    }

    /// The lower bound of the optimum, with Σ ψ of all blocks.
    pub fn bound(&self, psi: f64) -> f64 {
        self.0.dual(psi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::logistic::Logistic;
    use crate::{Learner, Limits};

    /// Two overlapping classes, in blocks of so many rows.
    fn blocks(size: usize) -> (Arc<Dataset>, Vec<Arc<Dataset>>) {
        let row = |i: usize| {
            let x = (i * 37 % 101) as f64 / 16.0;
            [x, (i * 53 % 89) as f64 / 8.0 - x]
        };
        let label = |i: usize| if (i * 29 + i / 7).is_multiple_of(3) { "a" } else { "b" };
        let make = |rows: std::ops::Range<usize>| {
            let values: Vec<[f64; 2]> = rows.clone().map(row).collect();
            let labels: Vec<&str> = rows.map(label).collect();
            Arc::new(Dataset::from_rows(&values, &labels).unwrap())
        };
        (make(0..300), (0..300 / size).map(|k| make(k * size..(k + 1) * size)).collect())
    }

    #[test]
    fn newton_on_blocks_ends_where_one_machine_does() {
        let (whole, blocks) = blocks(50);
        for (loss, name) in [
            (SmoothLoss::logistic(0.5, Intercept::Free), "logistic"),
            (SmoothLoss::squared_hinge(0.5, Intercept::Free), "squared hinge"),
        ] {
            let mut driver = loss.driver(2, 1e-12);
            loop {
                let part = |block| loss.partial(block, driver.candidate()).unwrap();
                let parts: Vec<Vec<u8>> = blocks.iter().map(part).collect();
                let merge = |all: Vec<u8>, next: &Vec<u8>| loss.merge(&all, next).unwrap();
                let all = parts[1..].iter().fold(parts[0].clone(), merge);
                if !driver.step(&all).unwrap() {
                    break;
                }
            }
            let factors = driver.factors();
            let psi = blocks.iter().map(|b| loss.dual_part(b, driver.plane(), factors).unwrap());
            let bound = driver.bound(psi.sum());
            let gap = (driver.objective() - bound) / bound;
            assert!((-1e-12..1e-8).contains(&gap), "{name}: {gap}");
            assert!(driver.rounds() < 12, "{name}");
            assert!(driver.step(&[1, 2, 3]).is_err());
        }
        let logistic = Logistic::default().with_c(0.5).with_gap(1e-10);
        let fit = logistic.fit(&Task::new(whole), &Limits::default(), &mut ()).unwrap();
        let loss = SmoothLoss::logistic(0.5, Intercept::Free);
        let mut driver = loss.driver(2, 1e-14);
        let (whole, _) = super::tests::blocks(300);
        while driver.step(&loss.partial(&whole, driver.candidate()).unwrap()).unwrap() {}
        let planes = driver.plane().weights.iter().zip(&fit.model.planes[0].weights);
        planes.for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{a} {b}"));
    }

    /// Runs to a likely gap, and says how many rounds took second derivatives.
    fn run(loss: &SmoothLoss, driver: &mut SmoothDriver, blocks: &[Arc<Dataset>]) -> u64 {
        let mut second = 0;
        while driver.likely_gap() > 1e-11 {
            let asks = driver.wants_second();
            second += u64::from(asks);
            let part = |block| match asks {
                true => loss.partial(block, driver.candidate()).unwrap(),
                false => loss.slope(block, driver.candidate()).unwrap(),
            };
            let parts: Vec<Vec<u8>> = blocks.iter().map(part).collect();
            let merge = |all: Vec<u8>, next: &Vec<u8>| loss.merge(&all, next).unwrap();
            driver.step(&parts[1..].iter().fold(parts[0].clone(), merge)).unwrap();
            assert!(driver.rounds() < 20);
        }
        second
    }

    #[test]
    fn a_run_near_its_end_keeps_the_second_derivatives_that_it_has() {
        let (_, blocks) = blocks(50);
        for intercept in [Intercept::Free, Intercept::None] {
            let loss = SmoothLoss::logistic(0.5, intercept);
            let mut driver = loss.driver(2, 1e-16);
            let second = run(&loss, &mut driver, &blocks);
            assert!(second < driver.rounds(), "{second} of {}", driver.rounds());
            // What the gap is likely to be is what the conjugates say.
            let factors = driver.factors();
            let psi = blocks.iter().map(|b| loss.dual_part(b, driver.plane(), factors).unwrap());
            let bound = driver.bound(psi.sum());
            assert!((driver.objective() - bound) / bound < 1e-10);
            // From a plane nearby it takes fewer of them, to the same optimum.
            let mut near = loss.driver(2, 1e-16);
            let mut plane = driver.plane().clone();
            plane.weights[0] += 1e-3;
            near.begin(plane).unwrap();
            assert!(run(&loss, &mut near, &blocks) == 1 && near.rounds() < driver.rounds());
            let planes = near.plane().weights.iter().zip(&driver.plane().weights);
            planes.for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{a} {b}"));
            assert!(near.begin(Plane::new(vec![0.0], 0.0)).is_err());
            // Blocks answer the same question, and second derivatives come first.
            let answers =
                [loss.partial(&blocks[0], driver.plane()), loss.slope(&blocks[1], driver.plane())];
            let [Ok(with), Ok(without)] = answers else { panic!("no answers") };
            assert!(loss.merge(&with, &without).is_err());
            assert!(loss.driver(2, 1e-16).step(&without).is_err());
        }
    }

    #[test]
    fn sums_of_blocks_give_the_planes_of_one_machine() {
        let (whole, blocks) = blocks(60);
        let fit = |learner: &dyn Learner| {
            learner.fit(&Task::new(Arc::clone(&whole)), &Limits::default(), &mut ()).unwrap().model
        };
        let cases: [(ClosedLearner, crate::LinearModel); 4] = [
            (ClosedLearner::LeastSquares(LeastSquares::default()), fit(&LeastSquares::default())),
            (ClosedLearner::Fisher(Fisher::default()), fit(&Fisher::default())),
            (ClosedLearner::Lda(Lda::default()), fit(&Lda::default())),
            (
                ClosedLearner::SharedVariance(SharedVarianceBayes::default()),
                fit(&SharedVarianceBayes::default()),
            ),
        ];
        for (learner, model) in cases {
            let sums = learner.sums();
            let shift = sums.shift(&blocks[0]);
            let parts: Vec<Vec<u8>> =
                blocks.iter().map(|block| sums.partial(block, &shift).unwrap()).collect();
            let merge = |all: Vec<u8>, next: &Vec<u8>| sums.merge(&all, next).unwrap();
            let all = parts[1..].iter().fold(parts[0].clone(), merge);
            let planes = learner.planes(&shift, &all).unwrap();
            let found = planes[0].weights.iter().chain([&planes[0].bias]);
            let wanted = model.planes[0].weights.iter().chain([&model.planes[0].bias]);
            for (a, b) in found.zip(wanted) {
                assert!((a - b).abs() <= 1e-10 * b.abs().max(1.0), "{learner:?}: {a} {b}");
            }
            assert!(learner.planes(&shift[1..], &all).is_err());
            assert!(sums.merge(&all, &all[8..]).is_err());
        }
    }
}
