//! The perceptron that notices when it goes round: separable or not by nothing but corrections.
//!
//! The rows z = ±(1, x) of a question are made whole by one common scale s, the same for every column
//! and for the constant, so that the run is the textbook's run with everything s times as large. The
//! rule is the textbook's too: go over the rows in the order of the file from w = 0, and add z where
//! w·z ≤ 0. All weights are whole numbers, so two of them are equal or they are not.
//!
//! A pass without a correction is a strict plane. If the weights at the end of a pass are those of the
//! end of an earlier pass, the corrections in between add up to 0:
//!
//! ```text
//! w = w + Σ c_i z_i,   c_i = corrections by row i,   so   Σ c_i z_i = 0
//! ```
//!
//! and by Gordan's theorem no strict plane exists: the perceptron itself has refuted separability.
//! One of the two must come, because the weights of every run stay bounded (Block and Levin, Proc.
//! AMS 26, 1970) and a bounded set holds finitely many whole vectors; but it may come late. Earlier
//! weights are not kept. Brent's method (BIT 20, 1980) holds one of them, replaced after 1, 2, 4, 8, …
//! passes, and the counts c begin anew with each: that finds the length of the cycle exactly.
//!
//! Proved is what the checker accepts: the plane, or at most D + 1 rows with whole weights that the
//! exact simplex method picks from those with c_i > 0.

use super::exactly::{Exactly, decide as decide_exactly};
use super::proposal::weighted;
use super::search::Effort;
use super::signed::{Exact, Signed};
use super::{Decision, Judge, Limit, Verdict};
use crate::claim::planes::float_plane;
use dashu_int::IBig;
use linsep_proof::{Claim, ExactNumber, ExactPlane, check_claim};

/// Passes that a run may make unless it is told otherwise.
pub(crate) const DEFAULT_EPOCHS: u64 = 1_000_000;

/// Beyond this many numbers the whole rows take too much memory.
const MOST_NUMBERS: usize = 20_000_000;

/// What a run of the integer perceptron did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cycle {
    /// What the rows and the constant were multiplied by, all alike.
    pub scale: u64,
    /// Passes over the rows, the last one included.
    pub epochs: u64,
    /// Corrections in all of them.
    pub corrections: u64,
    /// Passes from a weight vector back to itself, where the run came back.
    pub length: Option<u64>,
    /// Corrections on the way back: with their signs these rows add up to 0.
    pub corrections_of_cycle: u64,
}

/// Decides a question; what the checker does not accept stays undecided.
pub(crate) fn decide(judge: &Judge, view: &Signed, epochs: u64, effort: &Effort<'_>) -> Decision {
    let outcome = run(view, epochs, effort);
    let problem = view.problem.clone();
    let proposal = match outcome.end {
        End::Clean(weights, bias) => {
            let plane = integer_plane(&weights, view.bias.then_some(bias));
            Ok((Verdict::Separable, Claim::Separable { problem, plane }))
        }
        End::Balance(lambda) => {
            let witness = weighted(view, &lambda);
            Ok((Verdict::Inseparable, Claim::Inseparable { problem, witness }))
        }
        End::Open(limit) => Err(limit),
    };
    let started = (effort.clock)();
    let proposal = proposal.and_then(|(verdict, claim)| {
        let reading = judge.reading();
        match check_claim(&claim, view.data.as_ref(), &reading, view.bias, effort.threads).holds() {
            true => Ok((verdict, claim)),
            false => Err(Limit::Search),
        }
    });
    let proving = (effort.clock)() - started;
    let limit = proposal.as_ref().err().copied();
    let (verdict, claim) =
        proposal.unwrap_or_else(|limit| judge.undecided(view, &outcome.blend, limit));
    let refutation = match &claim {
        Claim::Inseparable { witness, .. } => witness.clone(),
        _ => Vec::new(),
    };
    Decision {
        problem: Some(view.problem.clone()),
        verdict,
        claim,
        refutation,
        blend: outcome.blend,
        escape: None,
        face: Vec::new(),
        stacked: None,
        limit,
        cycle: Some(outcome.cycle),
        passes: outcome.cycle.epochs + u64::from(verdict == Verdict::Separable),
        exact_decisions: u64::from(outcome.cycle.length.is_some()),
        proving,
    }
}

/// In binary64 where that holds all of the whole numbers, else in digits.
fn integer_plane(weights: &[i64], bias: Option<i64>) -> ExactPlane {
    const EXACT: u64 = 1 << 53;
    if weights.iter().chain(&bias).all(|x| x.unsigned_abs() <= EXACT) {
        let weights: Vec<f64> = weights.iter().map(|&x| x as f64).collect();
        return float_plane(&weights, bias.map(|x| x as f64)).into();
    }
    let number = |x: &i64| ExactNumber::Ratio(x.to_string());
    let weights = Some(weights.iter().map(number).collect());
    ExactPlane::default().with_weights(weights).with_bias(bias.as_ref().map(number))
}

/// The end of a run.
enum End {
    /// A pass without a correction: weights of the columns, and the bias.
    Clean(Vec<i64>, i64),
    /// Rows with whole weights that add up to 0.
    Balance(Vec<(usize, IBig)>),
    /// A limit was reached.
    Open(Limit),
}

/// What came of a run.
struct Outcome {
    end: End,
    cycle: Cycle,
    /// (row, corrections) since the weights that were kept last: a blend that bounds the margin.
    blend: Vec<(usize, f64)>,
}

/// Goes over the rows until the question is decided or a limit is reached.
fn run(view: &Signed, epochs: u64, effort: &Effort<'_>) -> Outcome {
    let nothing =
        Cycle { scale: 1, epochs: 0, corrections: 0, length: None, corrections_of_cycle: 0 };
    let mut run = match CyclingRun::new(view) {
        Ok(run) => run,
        Err(limit) => return Outcome { end: End::Open(limit), cycle: nothing, blend: Vec::new() },
    };
    let mut cycle = Cycle { scale: run.scale, ..nothing };
    let end = run.until_decided(epochs, effort, &mut cycle);
    let counts = run.counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let blend = counts.map(|(k, &count)| (k, count as f64)).collect();
    let end = match end {
        Ok(false) => {
            let shift = usize::from(view.bias);
            let bias = if view.bias { run.w[0] } else { 0 };
            End::Clean(run.w[shift..].to_vec(), bias)
        }
        Ok(true) => run.balance(effort).map_or(End::Open(Limit::Stopped), End::Balance),
        Err(limit) => End::Open(limit),
    };
    Outcome { end, cycle, blend }
}

/// The state of a run.
struct CyclingRun {
    /// The signed whole rows, one behind the other.
    rows: Vec<i64>,
    width: usize,
    scale: u64,
    w: Vec<i64>,
    /// The weights that the run would come back to.
    kept: Vec<i64>,
    /// Corrections by each row since then.
    counts: Vec<u64>,
    /// The largest number in the rows.
    largest: i64,
}

impl CyclingRun {
    fn new(view: &Signed) -> Result<CyclingRun, Limit> {
        let width = view.dimension();
        let numbers = view.len().checked_mul(width).filter(|numbers| *numbers <= MOST_NUMBERS);
        let numbers = numbers.ok_or(Limit::TooLarge)?;
        let (mut two, mut five, mut scratch) = (0, 0, Vec::new());
        for k in 0..view.len() {
            view.for_each_exact(k, &mut scratch, |_, exact| {
                two = exact.two.min(two);
                five = exact.five.min(five);
            });
        }
        let whole = |exact: Exact| -> Option<i64> {
            let twos = 1i64.checked_shl((exact.two - two).try_into().ok()?)?;
            let fives = 5i64.checked_pow((exact.five - five).try_into().ok()?)?;
            i64::try_from(&exact.m).ok()?.checked_mul(twos.checked_mul(fives).filter(|x| *x > 0)?)
        };
        let scale = whole(Exact { m: IBig::ONE, two: 0, five: 0 }).ok_or(Limit::Overflow)?;
        let mut rows = vec![0; numbers];
        let shift = usize::from(view.bias);
        let mut fits = true;
        for (k, row) in rows.chunks_exact_mut(width).enumerate() {
            let sign = i64::from(view.signs[k]);
            if view.bias {
                row[0] = sign * scale;
            }
            view.for_each_exact(k, &mut scratch, |column, exact| {
                match whole(exact).filter(|x| *x > i64::MIN) {
                    Some(x) => row[column as usize + shift] = sign * x,
                    None => fits = false,
                }
            });
        }
        if !fits {
            return Err(Limit::Overflow);
        }
        let largest = rows.iter().map(|x| x.abs()).max().unwrap_or(0);
        let (w, kept, counts) = (vec![0; width], vec![0; width], vec![0; view.len()]);
        let scale = scale.unsigned_abs();
        Ok(CyclingRun { rows, width, scale, w, kept, counts, largest })
    }

    /// True when the weights came back, false after a clean pass.
    fn until_decided(
        &mut self,
        epochs: u64,
        effort: &Effort<'_>,
        cycle: &mut Cycle,
    ) -> Result<bool, Limit> {
        let (mut patience, mut since) = (1u64, 0u64);
        while cycle.epochs < epochs {
            if (effort.stop)() {
                return Err(Limit::Stopped);
            }
            cycle.epochs += 1;
            since += 1;
            let corrections = self.epoch()?;
            cycle.corrections += corrections;
            if corrections == 0 {
                return Ok(false);
            }
            if self.w == self.kept {
                cycle.length = Some(since);
                cycle.corrections_of_cycle = self.counts.iter().sum();
                return Ok(true);
            }
            if since == patience && cycle.epochs < epochs {
                self.kept.clone_from(&self.w);
                self.counts.fill(0);
                (patience, since) = (patience.saturating_mul(2), 0);
            }
        }
        Err(Limit::Epochs)
    }

    /// One pass; gives the number of corrections.
    fn epoch(&mut self) -> Result<u64, Limit> {
        let reach = self.w.iter().map(|x| x.abs()).max().unwrap_or(0);
        // While no sum of products can leave 64 bits in this pass, they are enough.
        let count = i64::try_from(self.counts.len()).unwrap_or(i64::MAX);
        let growth = self.largest.checked_mul(count).and_then(|x| x.checked_add(reach));
        let size = growth.and_then(|x| x.checked_mul(self.largest));
        let narrow = size.and_then(|x| x.checked_mul(self.width as i64)).is_some();
        let mut corrections = 0;
        for (row, count) in self.rows.chunks_exact(self.width).zip(&mut self.counts) {
            let wrong = match narrow {
                true => row.iter().zip(&self.w).map(|(x, w)| x * w).sum::<i64>() <= 0,
                false => wide_product(row, &self.w).ok_or(Limit::Overflow)? <= 0,
            };
            if wrong {
                for (w, x) in self.w.iter_mut().zip(row) {
                    *w = w.checked_add(*x).filter(|w| *w > i64::MIN).ok_or(Limit::Overflow)?;
                }
                *count += 1;
                corrections += 1;
            }
        }
        Ok(corrections)
    }

    /// A few of the rows that were corrected on the way back, with weights that add up to 0 too.
    fn balance(&self, effort: &Effort<'_>) -> Option<Vec<(usize, IBig)>> {
        let used: Vec<usize> = (0..self.counts.len()).filter(|&k| self.counts[k] > 0).collect();
        let whole = |&k: &usize| {
            let row = &self.rows[k * self.width..(k + 1) * self.width];
            row.iter().map(|&x| IBig::from(x)).collect::<Vec<IBig>>()
        };
        let rows: Vec<Vec<IBig>> = used.iter().map(whole).collect();
        match decide_exactly(&rows, effort.stop)? {
            Exactly::Balanced(lambda) => {
                Some(lambda.into_iter().map(|(j, l)| (used[j], l)).collect())
            }
            Exactly::Separated(_) => None,
        }
    }
}

fn wide_product(row: &[i64], w: &[i64]) -> Option<i128> {
    let products = row.iter().zip(w).map(|(x, w)| i128::from(*x) * i128::from(*w));
    products.into_iter().try_fold(0i128, |sum, product| sum.checked_add(product))
}
