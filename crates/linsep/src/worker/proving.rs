//! What is proved of planes that rounds have found: the checker's passes, each a round
//! ([`linsep_proof::elsewhere`]).
//!
//! The claims are those of the learner on one machine: `optimal` with its gap for smooth losses, `stationary` for
//! least squares and discriminants, `counts` for naive Bayes. What the checker does not confirm is no claim.

use super::apart::ClosedLearner;
use crate::claim::planes::{class_planes, float_plane};
use crate::model::Plane;
use crate::run::Claim;
use linsep_data::error::{Error, Result};
use linsep_proof::elsewhere::{Driver, Step};
use linsep_proof::{
    BiasInterval, DualPoint, Equations, Finding, Intercept, Optimality, Planes, Question, Reading,
    ReadingField, Rows, Scheme, Statistics,
};

/// A claim on its way through the passes that it needs.
pub struct Proof {
    driver: Driver,
    claim: Claim,
    end: Option<Finding>,
}

impl Proof {
    /// How near the optimum planes are that rounds have found with about this gap.
    pub fn optimal(
        objective: linsep_proof::Objective,
        classes: &[String],
        planes: &[Plane],
        (primal, bound): (f64, f64),
    ) -> Result<Proof> {
        Proof::near(objective, claimed(classes, planes), width_of(planes)?, (primal, bound))
    }

    /// The same of the plane of one class against all others.
    pub fn optimal_against_rest(
        objective: linsep_proof::Objective,
        classes: &[String],
        positive: usize,
        plane: &Plane,
        near: (f64, f64),
    ) -> Result<Proof> {
        let Some(own) = classes.get(positive) else {
            return Err(Error::usage(format!("there is no class number {positive}")));
        };
        let others = classes.iter().filter(|class| *class != own).cloned().collect();
        let scheme = if classes.len() == 2 { Scheme::Binary } else { Scheme::Rest };
        let problem = Question::new(scheme, vec![own.clone()], others);
        let plane_of_claim = float_plane(&plane.weights, Some(plane.bias));
        let planes = Planes::Two { problem, plane: plane_of_claim };
        Proof::near(objective, planes, plane.weights.len(), near)
    }

    fn near(
        objective: linsep_proof::Objective,
        planes: Planes,
        width: usize,
        (primal, bound): (f64, f64),
    ) -> Result<Proof> {
        let gap = if bound > 0.0 { ((primal - bound) / bound).max(0.0) } else { 1.0 };
        let has_interval =
            matches!(planes, Planes::Two { .. }) && objective.intercept == Intercept::Free;
        // The share at which a search for the best one begins, see `objective::intercept`.
        let tilt = gap.sqrt().clamp(1e-6, 0.1);
        let interval = has_interval.then(|| BiasInterval::new(0.0, 0.0, [tilt; 2]));
        let optimality = Optimality::new(objective, DualPoint::default(), primal, bound, gap)
            .with_bias(interval);
        if ![primal, bound, gap].iter().all(|number| number.is_finite()) {
            return Err(Error::usage("the gap of the planes is not known"));
        }
        let claim = Claim::Optimal { planes: planes.clone(), optimality: optimality.clone() };
        let driver = Driver::measure(planes, optimality, width, binary64());
        Ok(Proof { driver, claim, end: None })
    }

    /// That planes are what sums over the rows make them.
    pub fn closed(learner: &ClosedLearner, classes: &[String], planes: &[Plane]) -> Result<Proof> {
        let width = width_of(planes)?;
        let planes = claimed(classes, planes);
        let claim = match learner.solved() {
            Solved::Equations(equations) => Claim::Stationary { planes, equations },
            Solved::Statistics(statistics) => Claim::Counts { planes, statistics },
        };
        Ok(Proof::of(claim, width, binary64(), true))
    }

    /// Checks a claim about rows of so many columns.
    pub fn of(claim: Claim, width: usize, reading: ReadingField, bias: bool) -> Proof {
        let driver = Driver::check(claim.clone(), width, reading, bias);
        Proof { driver, claim, end: None }
    }

    /// What the next round asks, or that there is none.
    pub fn step(&mut self) -> Option<Vec<u8>> {
        if self.end.is_some() {
            return None;
        }
        match self.driver.step() {
            Step::Ask(ask) => return Some(ask),
            Step::Found(finding) => self.end = Some(finding),
            Step::Measured(optimality) => {
                if let Claim::Optimal { optimality: old, .. } = &mut self.claim {
                    *old = *optimality;
                }
                self.end = Some(Finding::Holds(String::new()));
            }
            _ => self.end = Some(Finding::Fails("the checker is of another version".into())),
        }
        None
    }

    /// Takes the merged answers of a round.
    pub fn take(&mut self, merged: &[u8]) -> Result<()> {
        self.driver.take(merged).map_err(Error::usage)
    }

    /// The claim, or why there is none.
    pub fn claim(self) -> Claim {
        match self.end {
            Some(Finding::Holds(_)) => self.claim,
            Some(Finding::Fails(reason) | Finding::Nothing(reason)) => Claim::Unproved { reason },
            None => Claim::Unproved { reason: "the check was not finished".into() },
        }
    }

    /// What was found of the claim, once there is no round any more.
    pub fn finding(&self) -> Option<&Finding> {
        self.end.as_ref()
    }

    /// What a block answers.
    pub fn partial(block: &dyn Rows, ask: &[u8]) -> Result<Vec<u8>> {
        linsep_proof::elsewhere::answer(ask, block, 1).map_err(Error::usage)
    }

    /// The answers of some blocks and of those that follow them.
    pub fn merge(all: &[u8], next: &[u8]) -> Result<Vec<u8>> {
        linsep_proof::elsewhere::merge(all, next).map_err(Error::usage)
    }
}

/// What the planes of a learner of sums solve.
pub(super) enum Solved {
    Equations(Equations),
    Statistics(Statistics),
}

fn claimed(classes: &[String], planes: &[Plane]) -> Planes {
    match (classes, planes) {
        ([negative, positive], [plane]) => {
            let sides = (vec![positive.clone()], vec![negative.clone()]);
            let problem = Question::new(Scheme::Binary, sides.0, sides.1);
            Planes::Two { problem, plane: float_plane(&plane.weights, Some(plane.bias)) }
        }
        _ => Planes::Each(class_planes(classes, planes)),
    }
}

fn width_of(planes: &[Plane]) -> Result<usize> {
    let first = planes.first().ok_or_else(|| Error::usage("there are no planes"))?;
    Ok(first.weights.len())
}

fn binary64() -> ReadingField {
    ReadingField::new(Reading::Binary64, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::bayes::{BernoulliBayes, MultinomialBayes, SharedVarianceBayes};
    use crate::learn::discriminant::{Fisher, Lda, Shrinkage};
    use crate::learn::least_squares::LeastSquares;
    use crate::worker::{SmoothLoss, SoftmaxLoss};
    use linsep_data::Dataset;
    use linsep_proof::check_claim;
    use std::sync::Arc;

    /// K classes that overlap, whole numbers in half of the columns, in blocks of so many rows.
    fn blocks(size: usize, classes: usize) -> (Arc<Dataset>, Vec<Arc<Dataset>>) {
        let row = |i: usize| {
            let x = (i * 37 % 101) as f64 / 16.0;
            [x, (i * 53 % 89) as f64 / 7.0, (i * 7 % 13) as f64]
        };
        let names: Vec<String> = (0..classes).map(|k| format!("class {k}")).collect();
        let label = |i: usize| names[((i * 29 + i / 7) % 5 + i * 37 % 101 / 51) % classes].as_str();
        let make = |rows: std::ops::Range<usize>| {
            let values: Vec<[f64; 3]> = rows.clone().map(row).collect();
            let labels: Vec<&str> = rows.map(label).collect();
            let data = Dataset::from_rows(&values, &labels).unwrap();
            Arc::new(data.with_classes(&names, false).unwrap())
        };
        let count = 420 / size;
        (make(0..420), (0..count).map(|k| make(k * size..(k + 1) * size)).collect())
    }

    fn run(mut proof: Proof, blocks: &[Arc<Dataset>]) -> (Proof, usize) {
        let mut rounds = 0;
        while let Some(ask) = proof.step() {
            let parts: Vec<Vec<u8>> =
                blocks.iter().map(|b| Proof::partial(b.as_ref(), &ask).unwrap()).collect();
            let merge = |all: Vec<u8>, next: &Vec<u8>| Proof::merge(&all, next).unwrap();
            proof.take(&parts[1..].iter().fold(parts[0].clone(), merge)).unwrap();
            rounds += 1;
        }
        (proof, rounds)
    }

    fn holds_on_one_machine(claim: &Claim, data: &Dataset) -> bool {
        check_claim(claim, data, &binary64(), true, 1).holds()
    }

    fn check_in_blocks(claim: &Claim, blocks: &[Arc<Dataset>]) -> bool {
        let (proof, _) = run(Proof::of(claim.clone(), 3, binary64(), true), blocks);
        proof.finding().unwrap().holds()
    }

    fn smooth(loss: &SmoothLoss, blocks: &[Arc<Dataset>]) -> (Plane, f64) {
        let mut driver = loss.driver(3, 1e-13);
        loop {
            let part = |block| loss.partial(block, driver.candidate()).unwrap();
            let parts: Vec<Vec<u8>> = blocks.iter().map(part).collect();
            let merge = |all: Vec<u8>, next: &Vec<u8>| loss.merge(&all, next).unwrap();
            if !driver.step(&parts[1..].iter().fold(parts[0].clone(), merge)).unwrap() {
                return (driver.plane().clone(), driver.objective());
            }
        }
    }

    #[test]
    fn optima_are_proved_on_blocks_and_confirmed_on_one_machine() {
        let (whole, _) = blocks(60, 2);
        for (loss, name) in [
            (SmoothLoss::logistic(0.5, Intercept::Free), "logistic"),
            (SmoothLoss::squared_hinge(0.5, Intercept::Free), "squared hinge"),
            (SmoothLoss::logistic(0.5, Intercept::None), "without a bias"),
        ] {
            for size in [30, 60, 140, 420] {
                let (_, blocks) = blocks(size, 2);
                let (plane, primal) = smooth(&loss, &blocks);
                let bound = primal * (1.0 - 1e-9);
                let planes = [plane];
                let proof =
                    Proof::optimal(loss.claimed(), whole.classes(), &planes, (primal, bound));
                let (proof, rounds) = run(proof.unwrap(), &blocks);
                assert!(rounds <= 3, "{name}: {rounds} rounds");
                let claim = proof.claim();
                let Claim::Optimal { planes, optimality } = &claim else {
                    panic!("{name}, {size}: {claim:?}")
                };
                assert!(optimality.gap < 1e-8, "{name}: {}", optimality.gap);
                assert!(holds_on_one_machine(&claim, &whole), "{name}, {size}");
                assert!(check_in_blocks(&claim, &blocks), "{name}, {size}");
                // Numbers that are a little too good are refused in both ways.
                let gap = optimality.primal - optimality.bound;
                for (primal, bound) in [(-gap, 0.0), (0.0, gap)] {
                    let mut better = optimality.clone();
                    better.primal += primal;
                    better.bound += bound;
                    let claim = Claim::Optimal { planes: planes.clone(), optimality: better };
                    assert!(!holds_on_one_machine(&claim, &whole), "{name}");
                    assert!(!check_in_blocks(&claim, &blocks), "{name}");
                }
                // Another objective has other sums.
                let mut other = optimality.clone();
                other.objective.c = 0.6;
                let claim = Claim::Optimal { planes: planes.clone(), optimality: other };
                assert!(!check_in_blocks(&claim, &blocks), "{name}");
            }
        }
    }

    #[test]
    fn planes_of_all_classes_at_once_and_of_each_against_the_rest_are_proved() {
        let (whole, blocks) = blocks(60, 3);
        for intercept in [Intercept::Free, Intercept::None, Intercept::Penalised] {
            let loss = SoftmaxLoss::new(0.25, intercept);
            let mut driver = loss.driver(3, 3, 1e-13).unwrap();
            loop {
                let part = |block: &Arc<Dataset>| loss.partial(block, driver.candidate()).unwrap();
                let parts: Vec<Vec<u8>> = blocks.iter().map(part).collect();
                let merge = |all: Vec<u8>, next: &Vec<u8>| loss.merge(&all, next).unwrap();
                if !driver.step(&parts[1..].iter().fold(parts[0].clone(), merge)).unwrap() {
                    break;
                }
            }
            assert!(driver.rounds() < 12, "{} rounds", driver.rounds());
            assert!(driver.step(&[1, 2]).is_err());
            let near = (driver.objective(), driver.objective() * (1.0 - 1e-9));
            let proof = Proof::optimal(loss.claimed(), whole.classes(), driver.planes(), near);
            let (proof, rounds) = run(proof.unwrap(), &blocks);
            assert!(rounds <= 3, "{rounds} rounds");
            let claim = proof.claim();
            let Claim::Optimal { planes, optimality } = &claim else { panic!("{claim:?}") };
            assert!(optimality.gap < 1e-8, "{intercept:?}: {}", optimality.gap);
            assert!(holds_on_one_machine(&claim, &whole) && check_in_blocks(&claim, &blocks));
            let mut better = optimality.clone();
            better.bound += optimality.primal - optimality.bound;
            let claim = Claim::Optimal { planes: planes.clone(), optimality: better };
            assert!(!holds_on_one_machine(&claim, &whole) && !check_in_blocks(&claim, &blocks));
        }
        for positive in 0..3 {
            let loss = SmoothLoss::squared_hinge(0.25, Intercept::Free).against_rest(positive);
            let (plane, primal) = smooth(&loss, &blocks);
            let near = (primal, primal * (1.0 - 1e-9));
            let (classes, positive) = (whole.classes(), positive as usize);
            let proof =
                Proof::optimal_against_rest(loss.claimed(), classes, positive, &plane, near);
            let claim = run(proof.unwrap(), &blocks).0.claim();
            assert!(matches!(claim, Claim::Optimal { .. }), "{claim:?}");
            assert!(holds_on_one_machine(&claim, &whole));
        }
    }

    fn closed() -> Vec<ClosedLearner> {
        let shrunk = Lda::default().with_shrinkage(Shrinkage::Share(0.125));
        vec![
            ClosedLearner::LeastSquares(LeastSquares::default()),
            ClosedLearner::LeastSquares(LeastSquares::default().with_l2(0.5)),
            ClosedLearner::Fisher(Fisher::default()),
            ClosedLearner::Lda(Lda::default()),
            ClosedLearner::Lda(shrunk),
            ClosedLearner::SharedVariance(SharedVarianceBayes::default()),
            ClosedLearner::Multinomial(MultinomialBayes::default()),
            ClosedLearner::Bernoulli(BernoulliBayes::default().with_binarize(4.5)),
            ClosedLearner::Bernoulli(BernoulliBayes::default().with_binarize(-1.0)),
        ]
    }

    #[test]
    fn equations_and_counts_are_proved_on_blocks_and_confirmed_on_one_machine() {
        for classes in [2, 3] {
            let (whole, blocks) = blocks(60, classes);
            for learner in closed() {
                let sums = learner.sums();
                let shift = sums.shift(&blocks[0]);
                let parts: Vec<Vec<u8>> =
                    blocks.iter().map(|block| sums.partial(block, &shift).unwrap()).collect();
                let merge = |all: Vec<u8>, next: &Vec<u8>| sums.merge(&all, next).unwrap();
                let all = parts[1..].iter().fold(parts[0].clone(), merge);
                let planes = learner.planes(&shift, &all).unwrap();
                let proof = Proof::closed(&learner, whole.classes(), &planes).unwrap();
                let (proof, rounds) = run(proof, &blocks);
                assert!(rounds < 20, "{learner:?}: {rounds} rounds");
                let words = format!("{learner:?}: {:?}", proof.finding());
                let claim = proof.claim();
                assert!(!matches!(claim, Claim::Unproved { .. }), "{words}");
                assert!(holds_on_one_machine(&claim, &whole), "{words}");
                // A weight that is off by a millionth is refused.
                for k in 0..planes.len() {
                    let mut other = planes.clone();
                    other[k].weights[0] *= 1.0 + 1e-5;
                    other[k].weights[0] += 1e-5;
                    let proof = Proof::closed(&learner, whole.classes(), &other).unwrap();
                    let (proof, _) = run(proof, &blocks);
                    assert!(!proof.finding().unwrap().holds(), "{words}");
                }
            }
        }
    }

    #[test]
    fn who_has_which_block_changes_no_bit_and_foreign_bytes_are_refused() {
        let (whole, blocks) = blocks(30, 2);
        let loss = SmoothLoss::logistic(2.0, Intercept::Free);
        let (plane, primal) = smooth(&loss, &blocks);
        let start = || {
            let planes = [plane.clone()];
            let near = (primal, primal * (1.0 - 1e-9));
            Proof::optimal(loss.claimed(), whole.classes(), &planes, near).unwrap()
        };
        // The same tree of sums, whoever adds which of them.
        let (proof, _) = run(start(), &blocks);
        let (again, _) = run(start(), &blocks);
        assert_eq!(proof.claim(), again.claim());
        let mut proof = start();
        let ask = proof.step().unwrap();
        let answer = Proof::partial(blocks[0].as_ref(), &ask).unwrap();
        for end in 0..ask.len() {
            assert!(Proof::partial(blocks[0].as_ref(), &ask[..end]).is_err());
        }
        for end in [0, 1, 5, answer.len() - 1] {
            assert!(Proof::merge(&answer, &answer[..end]).is_err(), "{end}");
        }
        assert!(proof.take(&[7]).is_err());
        // A block of other columns, and one with a class that the claim does not know.
        let other = Dataset::from_rows(&[[1.0], [2.0]], &["class 0", "class 1"]).unwrap();
        assert!(Proof::partial(&other, &ask).is_err());
        let third = Dataset::from_rows(&[[1.0; 3], [2.0; 3]], &["class 0", "class 9"]).unwrap();
        let refused = Proof::partial(&third, &ask).unwrap();
        proof.take(&Proof::merge(&answer, &refused).unwrap()).unwrap();
        assert!(proof.step().is_none());
        assert!(format!("{:?}", proof.finding()).contains("class 9"));
    }
}
