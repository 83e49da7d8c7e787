//! Floats propose, exact arithmetic disposes: one two-class question from the cheap tries to the
//! last resort.
//!
//! 1. A few perceptron passes: a clean pass proposes its plane.
//! 2. Equal rows on both sides: two rows that cancel.
//! 3. Rounds of an active set: the point of least length in the hull of its rows, in preconditioned
//!    coordinates. Length 0 proposes a short list of rows that balance; otherwise the plane is tried
//!    on all rows (one pass), and the rows it gets wrong join.
//! 4. The exact simplex method on the rows that matter, with rows joining in the same way.
//!
//! Nothing leaves this file that the exact checker has not accepted.

use super::conflict::equal_pairs;
use super::lift::{Combination, combination};
use super::min_norm::MinNorm;
use super::precondition::Precondition;
use super::signed::{Signed, WholeRows};
use super::simplex::{Exactly, decide};
use crate::data::scale::Scaling;
use crate::learn::perceptron::Perceptron;
use crate::learn::{BinaryLearner, Budget, Status, Task};
use dashu_int::{IBig, UBig};
use linsep_proof::{Claim, ExactNumber, ExactPlane, ReadingField, Weighted, check_claim};
use std::cmp::Ordering;
use std::sync::Arc;

/// Up to this many dimensions the active set works with dense points.
const MAX_DENSE: usize = 2000;

/// Up to this many numbers it does so in any dimension.
const FEW_NUMBERS: usize = 10_000_000;

/// Up to this many dimensions the exact simplex method is tried.
const MAX_EXACT: usize = 600;

/// What a search may use.
pub(crate) struct Effort<'a> {
    pub(crate) threads: usize,
    /// Asked now and then; true ends the search undecided.
    pub(crate) stop: &'a dyn Fn() -> bool,
}

/// The end of a search.
pub(crate) enum Answer {
    /// A proved claim: separable or inseparable.
    Proved(Claim),
    /// Nothing was proved within the limits; the weights bound the margin.
    Open {
        /// (row of the question, weight) of the shortest blend of rows found.
        blend: Vec<(usize, f64)>,
    },
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// Passes over all rows of the question.
    pub(crate) passes: u64,
    /// Rounds of the active set.
    pub(crate) rounds: u64,
    /// Decisions by the exact simplex method.
    pub(crate) exact: u64,
}

pub(crate) struct Search<'a, 'b> {
    view: &'b Signed<'a>,
    shared: &'b Arc<crate::data::Dataset>,
    reading: ReadingField,
    effort: &'b Effort<'b>,
    pub(crate) work: Work,
}

impl<'a, 'b> Search<'a, 'b> {
    pub(crate) fn new(
        view: &'b Signed<'a>,
        shared: &'b Arc<crate::data::Dataset>,
        reading: ReadingField,
        effort: &'b Effort<'b>,
    ) -> Self {
        Search { view, shared, reading, effort, work: Work::default() }
    }

    pub(crate) fn run(&mut self) -> Answer {
        if let Some(claim) = self.by_perceptron() {
            return Answer::Proved(claim);
        }
        if let Some(claim) = self.by_equal_rows() {
            return Answer::Proved(claim);
        }
        let mut blend = Vec::new();
        let mut seeds = Vec::new();
        let numbers = self.view.len().saturating_mul(self.view.dimension());
        if self.view.dimension() <= MAX_DENSE || numbers <= FEW_NUMBERS {
            match self.by_active_set() {
                Ok(claim) => return Answer::Proved(claim),
                Err(open) => (blend, seeds) = (open.blend, open.seeds),
            }
        }
        if self.view.dimension() <= MAX_EXACT
            && !(self.effort.stop)()
            && let Some(claim) = self.exactly(seeds)
        {
            return Answer::Proved(claim);
        }
        Answer::Open { blend }
    }

    /// Accepts a claim only if the checker does.
    fn proved(&mut self, claim: Claim) -> Option<Claim> {
        if matches!(claim, Claim::Separable { .. }) {
            self.work.passes += 1;
        }
        let finding =
            check_claim(&claim, self.view.data, &self.reading, self.view.bias, self.effort.threads);
        finding.holds().then_some(claim)
    }

    fn propose_plane(&mut self, weights: &[f64], bias: f64) -> Option<Claim> {
        if weights.iter().any(|w| !w.is_finite()) || !bias.is_finite() {
            return None;
        }
        let plane = float_plane(weights, self.view.bias.then_some(bias));
        self.proved(Claim::Separable { problem: self.view.problem.clone(), plane })
    }

    fn propose_witness(&mut self, lambda: Vec<(usize, IBig)>) -> Option<Claim> {
        let witness = weighted(self.view, &lambda);
        self.proved(Claim::Inseparable { problem: self.view.problem.clone(), witness })
    }

    fn by_perceptron(&mut self) -> Option<Claim> {
        if !self.view.bias || self.view.problem.positive.len() != 1 {
            return None;
        }
        let data = self.view.data;
        let positive =
            data.classes().iter().position(|class| *class == self.view.problem.positive[0])? as u32;
        let rows: Arc<[u32]> = Arc::from(&self.view.rows[..]);
        let task = Task { data: Arc::clone(self.shared), rows: Some(rows), threads: 1 };
        let learner = Perceptron { scale: Scaling::Pow2, ..Perceptron::default() };
        let mut run = learner.start_binary(&task, positive).ok()?;
        // Many columns make the rounds below dear and the passes likely to succeed.
        let epochs = if self.view.dimension() > MAX_DENSE { 100 } else { 4 };
        for _ in 0..epochs {
            self.work.passes += 1;
            match run.advance(Budget::visits(run.epoch_rows())) {
                Status::Finished => {
                    let plane = run.model().planes.remove(0);
                    return self.propose_plane(&plane.weights, plane.bias);
                }
                Status::Running if !(self.effort.stop)() => {}
                _ => return None,
            }
        }
        None
    }

    fn by_equal_rows(&mut self) -> Option<Claim> {
        self.work.passes += 1;
        let &(a, b) = equal_pairs(self.view).first()?;
        self.propose_witness(vec![(a, IBig::ONE), (b, IBig::ONE)])
    }

    fn by_active_set(&mut self) -> Result<Claim, Open> {
        let view = self.view;
        let precondition = Precondition::new(view);
        self.work.passes += 2;
        let dimension = precondition.dimension();
        let mut search = MinNorm::new(dimension);
        let mut active: Vec<usize> = Vec::new();
        let mut is_active = vec![false; view.len()];
        let mut scratch = Vec::new();
        let mut join = |k: usize, active: &mut Vec<usize>, search: &mut MinNorm| {
            if !is_active[k] {
                is_active[k] = true;
                active.push(k);
                search.push(&precondition.point(view, k, &mut scratch));
            }
        };
        let batch = 4 * dimension;
        let step = (view.len() / batch).max(1);
        (0..view.len()).step_by(step).for_each(|k| join(k, &mut active, &mut search));
        let mut open = Open { blend: Vec::new(), seeds: Vec::new() };
        for _ in 0..200 {
            self.work.rounds += 1;
            search.run(200 * dimension + 1000);
            let support: Vec<(usize, f64)> =
                search.support().map(|(j, l)| (active[j], l)).collect();
            open.blend = support.clone();
            if search.square() < 1e-16 {
                let chosen: Vec<usize> = support.iter().map(|(k, _)| *k).collect();
                if let Some(claim) = self.by_support(&chosen) {
                    return Ok(claim);
                }
                open.seeds = near(&active, &search, &chosen, 4 * dimension);
                return Err(open);
            }
            if (self.effort.stop)() {
                return Err(open);
            }
            let (weights, bias) = precondition.raw_plane(&search.x);
            self.work.passes += 1;
            let margins = view.margins(&weights, bias, self.effort.threads);
            let mut wrong: Vec<usize> = (0..view.len())
                .filter(|&k| margins[k].partial_cmp(&0.0) != Some(Ordering::Greater))
                .collect();
            if wrong.is_empty()
                && let Some(claim) = self.propose_plane(&weights, bias)
            {
                return Ok(claim);
            }
            let before = active.len();
            let by_margin = |a: &usize, b: &usize| margins[*a].total_cmp(&margins[*b]);
            if wrong.len() > batch {
                wrong.select_nth_unstable_by(batch, by_margin);
                wrong.truncate(batch);
                wrong.sort_unstable_by(by_margin);
            }
            wrong.iter().for_each(|&k| join(k, &mut active, &mut search));
            if active.len() == before {
                // Floats cannot tell the rest apart: the rows next to the plane go to the exact method.
                let mut order: Vec<usize> = (0..view.len()).collect();
                order.sort_unstable_by(by_margin);
                order.truncate(4 * dimension);
                open.seeds = order;
                return Err(open);
            }
        }
        Err(open)
    }

    /// Whole multipliers for a support that floats found.
    fn by_support(&mut self, chosen: &[usize]) -> Option<Claim> {
        let whole = self.view.whole_rows(chosen);
        let Combination::One(lambda) = combination(&whole.rows) else { return None };
        let lambda = if lambda.iter().any(|l| *l < IBig::ZERO) {
            lambda.into_iter().map(|l| -l).collect()
        } else {
            lambda
        };
        if lambda.iter().any(|l| *l < IBig::ZERO) {
            return None;
        }
        let used = chosen.iter().copied().zip(lambda).filter(|(_, l)| *l > IBig::ZERO);
        self.propose_witness(used.collect())
    }

    /// The last resort: the exact simplex method on a growing set of rows.
    fn exactly(&mut self, seeds: Vec<usize>) -> Option<Claim> {
        let view = self.view;
        let batch = 2 * view.dimension() + 2;
        let mut active: Vec<usize> = seeds;
        if active.is_empty() {
            let step = (view.len() / batch).max(1);
            active = (0..view.len()).step_by(step).collect();
        }
        let mut is_active = vec![false; view.len()];
        active.iter().for_each(|&k| is_active[k] = true);
        loop {
            self.work.exact += 1;
            let whole = view.whole_rows(&active);
            match decide(&whole.rows, self.effort.stop)? {
                Exactly::Balanced(lambda) => {
                    return self.propose_witness(
                        lambda.into_iter().map(|(j, l)| (active[j], l)).collect(),
                    );
                }
                Exactly::Separated(w) => {
                    let (weights, bias) = rounded(&whole, &w, view.data.n_features());
                    if let Some(claim) = self.propose_plane(&weights, bias) {
                        return Some(claim);
                    }
                    let plane = exact_plane(&whole, &w);
                    let problem = view.problem.clone();
                    if let Some(claim) = self.proved(Claim::Separable { problem, plane }) {
                        return Some(claim);
                    }
                    self.work.passes += 1;
                    let margins = view.margins(&weights, bias, self.effort.threads);
                    let mut order: Vec<usize> =
                        (0..view.len()).filter(|&k| !is_active[k]).collect();
                    order.sort_unstable_by(|a, b| margins[*a].total_cmp(&margins[*b]));
                    if order.is_empty() {
                        return None;
                    }
                    for &k in order.iter().take(batch) {
                        is_active[k] = true;
                        active.push(k);
                    }
                }
            }
        }
    }
}

/// What the rounds leave behind when they do not decide.
struct Open {
    blend: Vec<(usize, f64)>,
    seeds: Vec<usize>,
}

/// The support and the active rows closest to the plane, for the exact method.
fn near(active: &[usize], search: &MinNorm, support: &[usize], most: usize) -> Vec<usize> {
    let mut seeds = support.to_vec();
    let mut order: Vec<usize> =
        (0..active.len()).filter(|&j| !support.contains(&active[j])).collect();
    order.sort_by(|&a, &b| search.height(a).total_cmp(&search.height(b)));
    seeds.extend(order.into_iter().take(most.saturating_sub(support.len())).map(|j| active[j]));
    seeds
}

pub(crate) fn gcd(a: IBig, b: IBig) -> IBig {
    let (mut a, mut b) = (a, b);
    while b != IBig::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    if a < IBig::ZERO { -a } else { a }
}

/// Rows of a question with their multipliers in lowest terms, as a certificate lists them.
pub(crate) fn weighted(view: &Signed<'_>, lambda: &[(usize, IBig)]) -> Vec<Weighted> {
    let divisor = lambda.iter().fold(IBig::ZERO, |g, (_, l)| gcd(g, l.clone()));
    let origin = view.data.origin();
    let several = origin.files().count() > 1;
    let entry = |(k, l): &(usize, IBig)| {
        let row = u64::from(view.rows[*k]);
        let file = origin.file(row).filter(|_| several).map(str::to_owned);
        Weighted { row, line: origin.line(row), file, lambda: (l / &divisor).to_string() }
    };
    let mut witness: Vec<Weighted> = lambda.iter().map(entry).collect();
    witness.sort_by_key(|entry| entry.row);
    witness
}

/// A plane of binary64 numbers, sparse where that is shorter.
pub(crate) fn float_plane(weights: &[f64], bias: Option<f64>) -> ExactPlane {
    let used = weights.iter().filter(|w| **w != 0.0).count();
    let bias = bias.map(ExactNumber::Binary64);
    if weights.len() > 64 && 2 * used < weights.len() {
        let pairs = weights.iter().enumerate().filter(|(_, w)| **w != 0.0);
        let pairs = pairs.map(|(j, &w)| (j as u32, ExactNumber::Binary64(w))).collect();
        return ExactPlane { weights: None, sparse: Some(pairs), bias };
    }
    let weights = weights.iter().map(|&w| ExactNumber::Binary64(w)).collect();
    ExactPlane { weights: Some(weights), sparse: None, bias }
}

/// The raw plane of whole coordinates: w_j · 2^-two · 5^-five, times one factor that makes it whole.
pub(crate) fn raw_whole(whole: &WholeRows, w: &[IBig]) -> (Vec<(u32, IBig)>, IBig) {
    let two = whole.scale.iter().map(|(two, _)| *two).max().unwrap_or(0).max(0);
    let five = whole.scale.iter().map(|(_, five)| *five).max().unwrap_or(0).max(0);
    let lift = |w: &IBig, t: i32, f: i32| {
        (w * IBig::from(UBig::from(5u8).pow((five - f) as usize))) << (two - t) as usize
    };
    let shift = usize::from(whole.bias);
    let bias = if whole.bias { lift(&w[0], 0, 0) } else { IBig::ZERO };
    let weights = whole.columns.iter().zip(&w[shift..]).zip(&whole.scale);
    let weights = weights.map(|((column, w), (t, f))| (*column, lift(w, *t, *f)));
    (weights.filter(|(_, w)| *w != IBig::ZERO).collect(), bias)
}

pub(crate) fn exact_plane(whole: &WholeRows, w: &[IBig]) -> ExactPlane {
    let (weights, bias) = raw_whole(whole, w);
    let number = |x: &IBig| ExactNumber::Ratio(x.to_string());
    ExactPlane {
        weights: None,
        sparse: Some(weights.iter().map(|(j, w)| (*j, number(w))).collect()),
        bias: whole.bias.then(|| number(&bias)),
    }
}

/// The plane in binary64, scaled so that the largest number is near 1.
fn rounded(whole: &WholeRows, w: &[IBig], width: usize) -> (Vec<f64>, f64) {
    let (weights, bias) = raw_whole(whole, w);
    let bits = |x: &IBig| {
        let magnitude: UBig =
            if *x < IBig::ZERO { (-x.clone()).try_into() } else { x.clone().try_into() }
                .unwrap_or(UBig::ZERO);
        dashu_int::ops::BitTest::bit_len(&magnitude)
    };
    let largest = weights.iter().map(|(_, w)| bits(w)).chain([bits(&bias)]).max().unwrap_or(0);
    let down = largest.saturating_sub(900);
    let float = |x: &IBig| (x >> down).to_f64().value() * 2f64.powi(-((largest - down) as i32));
    let mut dense = vec![0.0; width];
    weights.iter().for_each(|(j, w)| dense[*j as usize] = float(w));
    (dense, float(&bias))
}
