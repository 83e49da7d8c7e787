//! Dual coordinate descent: each visit makes the multiplier of one row the best it can be.
//!
//! With w = Λ⁻¹ Σ α y x kept up to date, the derivative of −D along α_i is y(w·x + b) minus what ψ
//! gives, and its best step is in closed form for the hinges,
//!
//! ```text
//! α ← clip(α − (m − 1 + α/(2c))/(xᵀΛ⁻¹x + ρ + 1/(2c)), 0, c)      (hinge: no 1/(2c); squared: no upper bound)
//! ```
//!
//! and a few Newton steps for the logistic loss. Rows whose multiplier rests at a bound are left out
//! until the end (shrinking), and looked at again before the end is believed.
//!
//! The first epochs on large data run in binary32 on rows that are laid out for it
//! ([`super::sweep`]), until the gap is small enough or binary32 can do no more.
//!
//! A penalised bias is a column of ones (ρ = 1/l2). A free one is the same with its centre moved to
//! where it stands after every epoch (the method of multipliers for Σ y α = 0).
//!
//! References: Hsieh, Chang, Lin, Keerthi, Sundararajan, A dual coordinate descent method for
//! large-scale linear SVM, 2008; Yu, Huang, Lin, Dual coordinate descent methods for logistic
//! regression, 2011.

use super::sweep::{self, Classifiers, Found, LEAST_GAP, Sweep};
use crate::engine::permuted::PermutedObjective;
use crate::loss::Loss;
use crate::model::Plane;
use crate::objective::{Gap, Intercept, Objective, Sides};
use linsep_data::buffer::Buffer;
use linsep_data::cancel;
use linsep_data::matrix::{CodeRows, Rows, with_rows};
use linsep_data::rng::{Purpose, Stream};
use std::sync::{Arc, OnceLock};

/// A run of dual coordinate descent.
pub struct Dual {
    alpha: Buffer<f64>,
    pub gap: Gap,
    pub epochs: u64,
    moving: Moving,
    /// Where a free bias is pulled to.
    centre: f64,
    /// Positions that are visited.
    active: Vec<u32>,
    /// The largest and the least projected slope of the last epoch.
    bounds: (f64, f64),
    /// xᵀΛ⁻¹x + ρ of each position, once they are needed.
    squares: Buffer<f64>,
    seed: u64,
    next_look: u64,
    /// The first epochs, while they last.
    single: Option<Sweep<1>>,
    /// What they have found so far, once it is asked for.
    found: OnceLock<Found>,
}

/// Entries of the rows from which on a copy of them in binary32 pays.
const SWIFT_ENTRIES: u64 = 1 << 16;
/// Epochs in binary32 after which it is not believed to get any further.
const SINGLE_EPOCHS: u64 = 200;

/// What can be saved of a run.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedDual {
    alpha: Vec<u64>,
    weights: Vec<u64>,
    numbers: [u64; 6],
    active: Vec<u32>,
    epochs: u64,
    next_look: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "swift")]
    single: Option<sweep::SavedSweep>,
}

impl Dual {
    pub fn new(objective: &Objective, seed: u64) -> Dual {
        let start = |i: usize| match objective.loss {
            // The slope of the entropy is infinite at 0.
            Loss::Logistic => 1e-3 * objective.costs[i],
            _ => 0.0,
        };
        let alpha: Buffer<f64> = (0..objective.len()).map(start).collect();
        let large = objective.store().nonzeros() >= SWIFT_ENTRIES;
        let single = (large && PermutedObjective::serves(objective)).then(|| {
            let permuted = Arc::new(PermutedObjective::new(objective, seed));
            let own: Vec<u8> = objective.signs.iter().map(|y| u8::from(*y < 0.0)).collect();
            Sweep::new(&permuted, &own, 1)
        });
        let mut run = Dual {
            moving: match single {
                Some(_) => Moving::none(rho(objective)),
                None => Moving::new(objective, rho(objective)),
            },
            alpha,
            gap: Gap::NONE,
            epochs: 0,
            centre: 0.0,
            active: (0..objective.len() as u32).collect(),
            bounds: (f64::INFINITY, f64::NEG_INFINITY),
            squares: Buffer::new(),
            seed,
            next_look: 3,
            single,
            found: OnceLock::new(),
        };
        if objective.loss == Loss::Logistic && run.single.is_none() {
            run.recompute(objective);
        }
        run
    }

    /// The plane of the multipliers.
    pub fn plane(&self, objective: &Objective) -> Plane {
        match &self.single {
            Some(single) => self.found(single).plane.clone(),
            None => self.moving.plane(objective),
        }
    }

    /// The multipliers as they stand.
    pub fn multipliers(&self) -> &[f64] {
        match &self.single {
            Some(single) => &self.found(single).alpha,
            None => &self.alpha,
        }
    }

    fn found(&self, single: &Sweep<1>) -> &Found {
        self.found.get_or_init(|| {
            // A sweep of one lane has one machine.
            single.found().swap_remove(0)
        })
    }

    /// Begins at the multipliers of another run, times a factor.
    pub fn warm_start(&mut self, objective: &Objective, saved: &SavedDual, factor: f64) -> bool {
        if saved.alpha.len() != self.alpha.len() {
            return false;
        }
        for ((alpha, saved), cost) in self.alpha.iter_mut().zip(&saved.alpha).zip(&objective.costs)
        {
            let scaled = f64::from_bits(*saved) * factor;
            *alpha = match objective.loss {
                Loss::SquaredHinge => scaled,
                Loss::Hinge => scaled.min(*cost),
                // Within the open interval, where the entropy has a slope.
                Loss::Logistic => scaled.clamp(1e-12 * cost, (1.0 - 1e-12) * cost),
            };
        }
        self.centre = if objective.intercept == Intercept::Free {
            f64::from_bits(saved.numbers[0])
        } else {
            0.0
        };
        self.found = OnceLock::new();
        match &mut self.single {
            Some(single) => single.begin_at(|i| self.alpha[i]),
            None => self.recompute(objective),
        }
        true
    }

    /// Makes the plane that of the multipliers, without the rounding that updates leave in it.
    fn recompute(&mut self, objective: &Objective) {
        let plane = self.plane_of(objective, &objective.sides(&self.alpha));
        self.moving.set(objective, &plane);
    }

    /// One epoch, and a look at the gap where one is due.
    pub fn step(&mut self, objective: &Objective, wanted: f64) {
        if self.single.is_some() {
            return self.single_step(objective, wanted);
        }
        let everything = self.active.len() == objective.len();
        let spread = self.epoch(objective);
        self.epochs += 1;
        let settled = spread < 1e-12;
        if settled && !everything {
            self.unshrink(objective);
        }
        if self.epochs < self.next_look && !settled {
            return;
        }
        self.look(objective);
        let gap = self.gap.relative();
        if self.gap.reaches(wanted) {
            return;
        }
        // The gap falls by a factor an epoch; a look costs up to half an epoch.
        self.next_look = self.epochs + (self.epochs / 4).clamp(1, 16);
        if gap < 30.0 * wanted && self.active.len() < objective.len() / 2 {
            self.unshrink(objective);
        }
    }

    /// One epoch in binary32. If that is not near enough in the end, its multipliers are handed over.
    fn single_step(&mut self, objective: &Objective, wanted: f64) {
        let Some(single) = &mut self.single else { return };
        // Aims a little lower, for what binary32 does not see.
        let aim = (0.95 * wanted).max(LEAST_GAP);
        single.step(aim, objective.threads);
        self.found = OnceLock::new();
        self.epochs += 1;
        self.gap = single.gaps()[0];
        let lost = self.gap.primal.is_nan() || self.gap.dual.is_nan();
        let goes_on = self.epochs < SINGLE_EPOCHS && !single.is_done(aim);
        if !lost && (goes_on || self.gap.reaches(wanted)) {
            return;
        }
        if !lost {
            self.alpha = single.multipliers(0).into();
            if objective.loss == Loss::Logistic {
                // Within the open interval, where the entropy has a slope.
                let costs = self.alpha.iter_mut().zip(&objective.costs);
                costs.for_each(|(a, c)| *a = a.clamp(1e-12 * c, (1.0 - 1e-12) * c));
            }
        }
        self.leave_single_precision(objective);
        self.next_look = self.epochs + 1;
        self.recompute(objective);
        self.look(objective);
    }

    fn leave_single_precision(&mut self, objective: &Objective) {
        self.single = None;
        self.moving = Moving::new(objective, rho(objective));
    }

    /// The plane of multipliers whose sums are known.
    fn plane_of(&self, objective: &Objective, sides: &Sides) -> Plane {
        let mut plane = sides.total();
        for (j, w) in plane.weights.iter_mut().enumerate() {
            *w /= objective.penalty.curvature(j);
        }
        plane.bias = self.centre + self.moving.rho * plane.bias;
        plane
    }

    fn unshrink(&mut self, objective: &Objective) {
        self.active = (0..objective.len() as u32).collect();
        self.bounds = (f64::INFINITY, f64::NEG_INFINITY);
    }

    /// Measures the gap of the plane that the multipliers make.
    fn look(&mut self, objective: &Objective) {
        let plane = self.plane(objective);
        let margins = objective.margins(&plane);
        let primal = objective.primal(&plane, &margins);
        let dual = match objective.intercept {
            // Multipliers that do not balance are shrunk first, one side of them.
            Intercept::Free => objective.dual(&objective.sides(&self.alpha), &self.alpha),
            _ => {
                let psi =
                    |i: usize| objective.loss.conjugate_term(self.alpha[i], objective.costs[i]);
                objective.total(psi) - objective.penalty.value(&plane, objective.intercept)
            }
        };
        self.gap = Gap { primal, dual };
    }

    /// Visits every active row in a new order; the spread of the projected slopes.
    fn epoch(&mut self, objective: &Objective) -> f64 {
        if self.squares.is_empty() {
            self.squares = squares(objective, self.moving.rho);
        }
        let mut stream = Stream::new(self.seed, Purpose::Epoch(self.epochs));
        stream.shuffle(&mut self.active);
        if objective.intercept == Intercept::Free && self.epochs > 0 {
            let total: f64 = self.alpha.iter().zip(&objective.signs).map(|(a, y)| a * y).sum();
            let shift = self.moving.rho * total;
            self.moving.bias += shift;
            self.centre += shift;
        }
        with_rows!(objective.store(), rows => match objective.loss {
            Loss::Logistic => self.logistic_epoch(objective, rows),
            Loss::Hinge | Loss::SquaredHinge => self.hinge_epoch(objective, rows),
        })
    }

    fn hinge_epoch<R: CodeRows + Rows>(&mut self, objective: &Objective, rows: &R) -> f64 {
        let squared = objective.loss == Loss::SquaredHinge;
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        let (above, below) = self.bounds;
        let mut kept = 0;
        for at in 0..self.active.len() {
            cancel::check();
            self.prefetch(objective, rows, at);
            let i = self.active[at] as usize;
            let (cost, alpha) = (objective.costs[i], self.alpha[i]);
            let (soft, most) = if squared { (0.5 / cost, f64::INFINITY) } else { (0.0, cost) };
            let row = objective.rows[i] as usize;
            let slope = objective.signs[i] * self.moving.score(rows, row) - 1.0 + soft * alpha;
            let projected = if alpha == 0.0 {
                if slope > above {
                    continue;
                }
                slope.min(0.0)
            } else if alpha == most {
                if slope < below {
                    continue;
                }
                slope.max(0.0)
            } else {
                slope
            };
            self.active[kept] = self.active[at];
            kept += 1;
            highest = highest.max(projected);
            lowest = lowest.min(projected);
            if projected.abs() > 1e-14 {
                let square = self.squares[i] + soft;
                let next = match square > 0.0 {
                    true => (alpha - slope / square).clamp(0.0, most),
                    // A row of zeros: its multiplier is at the bound that its slope points to.
                    false => most,
                };
                if next != alpha {
                    self.alpha[i] = next;
                    self.moving.add(rows, row, (next - alpha) * objective.signs[i]);
                }
            }
        }
        self.active.truncate(kept);
        self.bounds = (
            if highest <= 0.0 { f64::INFINITY } else { highest },
            if lowest >= 0.0 { f64::NEG_INFINITY } else { lowest },
        );
        (highest - lowest).max(0.0)
    }

    fn logistic_epoch<R: CodeRows + Rows>(&mut self, objective: &Objective, rows: &R) -> f64 {
        let mut spread = 0f64;
        for at in 0..self.active.len() {
            self.prefetch(objective, rows, at);
            let i = self.active[at] as usize;
            let (cost, alpha, square) = (objective.costs[i], self.alpha[i], self.squares[i]);
            let row = objective.rows[i] as usize;
            let margin = objective.signs[i] * self.moving.score(rows, row);
            let next = logistic_step(alpha, cost, square, margin, 1e-9);
            spread = spread.max((next - alpha).abs() * square.max(1e-300) / cost.max(1.0));
            if next != alpha {
                self.alpha[i] = next;
                self.moving.add(rows, row, (next - alpha) * objective.signs[i]);
            }
        }
        spread
    }

    /// Asks the memory for what the visits after the next ones need.
    #[inline]
    fn prefetch<R: CodeRows + Rows>(&self, objective: &Objective, rows: &R, at: usize) {
        /// Visits that pass until it is known where a row stands, the row is there, and the weights of
        /// its columns are.
        const DISTANCES: [usize; 3] = [16, 8, 3];
        let [place, row, weights] = DISTANCES.map(|distance| {
            self.active.get(at + distance).map(|&i| objective.rows[i as usize] as usize)
        });
        place.into_iter().for_each(|row| rows.prefetch_place(row));
        row.into_iter().for_each(|row| rows.prefetch(row));
        weights.into_iter().for_each(|row| rows.prefetch_weights(row, &self.moving.folded, 1));
    }

    pub fn save(&self) -> SavedDual {
        let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect();
        let numbers = [
            self.moving.bias,
            self.centre,
            self.bounds.0,
            self.bounds.1,
            self.gap.primal,
            self.gap.dual,
        ];
        SavedDual {
            alpha: bits(self.multipliers()),
            weights: bits(&self.moving.folded),
            numbers: numbers.map(f64::to_bits),
            active: self.active.clone(),
            epochs: self.epochs,
            next_look: self.next_look,
            single: self.single.as_ref().map(|single| single.save()),
        }
    }

    /// Goes back to a saved state; false if it does not belong to this objective.
    pub fn restore(&mut self, objective: &Objective, saved: &SavedDual) -> bool {
        if self.single.is_some() && saved.single.is_none() {
            self.leave_single_precision(objective);
        }
        let count = self.alpha.len();
        if saved.alpha.len() != count
            || saved.weights.len() != self.moving.folded.len()
            || saved.active.len() > count
            || saved.active.iter().any(|&i| i as usize >= count)
        {
            return false;
        }
        let taken = match (&mut self.single, &saved.single) {
            (Some(single), Some(saved)) => single.restore(saved),
            (None, Some(_)) => false,
            (_, None) => true,
        };
        if !taken {
            return false;
        }
        self.found = OnceLock::new();
        let floats = |v: &[u64]| v.iter().map(|x| f64::from_bits(*x)).collect::<Vec<f64>>();
        let [bias, centre, high, low, primal, dual] = saved.numbers.map(f64::from_bits);
        self.alpha = floats(&saved.alpha).into();
        self.moving.folded = floats(&saved.weights);
        self.moving.bias = bias;
        self.centre = centre;
        self.bounds = (high, low);
        self.gap = Gap { primal, dual };
        self.active.clone_from(&saved.active);
        self.epochs = saved.epochs;
        self.next_look = saved.next_look;
        true
    }
}

/// xᵀΛ⁻¹x + ρ of each position.
fn squares(objective: &Objective, rho: f64) -> Buffer<f64> {
    let square = |&row: &u32| {
        let mut sum = rho;
        objective.store().for_each_entry(row as usize, &mut |j, x| {
            sum += x * x / objective.penalty.curvature(j as usize);
        });
        sum
    };
    objective.rows.iter().map(square).collect()
}

/// How strongly the bias follows Σ y α.
fn rho(objective: &Objective) -> f64 {
    match objective.intercept {
        Intercept::None => 0.0,
        Intercept::Penalised => 1.0 / objective.penalty.l2,
        Intercept::Free => 1.0,
    }
}

/// The multiplier between 0 and c at which square · (next − α) + m + ln(next/(c − next)) is 0.
pub(super) fn logistic_step(
    alpha: f64,
    cost: f64,
    square: f64,
    margin: f64,
    tolerance: f64,
) -> f64 {
    // In terms of z = ln(α/(c − α)) the root is simple: z + square (c σ(z) − α) + m = 0.
    let mut z = (alpha / (cost - alpha)).ln();
    let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
    for _ in 0..30 {
        let p = 1.0 / (1.0 + (-z).exp());
        let value = z + square * (cost * p - alpha) + margin;
        if value > 0.0 {
            most = most.min(z)
        } else {
            least = least.max(z)
        }
        let slope = 1.0 + square * cost * p * (1.0 - p);
        let mut next = z - value / slope;
        if !(next > least && next < most) {
            next = match (least.is_finite(), most.is_finite()) {
                (true, true) => 0.5 * (least + most),
                _ => next.clamp(least, most),
            };
        }
        let moved = (next - z).abs();
        z = next;
        if moved <= tolerance * (1.0 + z.abs()) {
            break;
        }
    }
    let next = cost / (1.0 + (-z).exp());
    // Within the open interval, so that its logarithm stays a number.
    next.clamp(1e-300_f64.max(cost * 1e-290), cost * (1.0 - f64::EPSILON))
}

/// The plane in motion, in terms of codes.
struct Moving {
    /// ŵ: codes · ŵ is the score.
    folded: Vec<f64>,
    /// How ŵ_j moves with a code: 1/(Λ_j 10^{2k_j}); one number where all are alike.
    steps: Steps,
    bias: f64,
    rho: f64,
}

enum Steps {
    Alike(f64),
    Each(Vec<f64>),
}

impl Moving {
    /// No plane yet.
    fn none(rho: f64) -> Moving {
        Moving { folded: Vec::new(), steps: Steps::Alike(0.0), bias: 0.0, rho }
    }

    fn new(objective: &Objective, rho: f64) -> Moving {
        let width = objective.width();
        let twice = with_rows!(objective.store(), rows => {
            rows.fold(&rows.fold(&vec![1.0; width]))
        });
        let step = |(j, t): (usize, &f64)| t / objective.penalty.curvature(j);
        let steps: Vec<f64> = twice.iter().enumerate().map(step).collect();
        let alike = steps.windows(2).all(|pair| pair[0] == pair[1]);
        let steps = match (alike, steps.first()) {
            (true, Some(first)) => Steps::Alike(*first),
            _ => Steps::Each(steps),
        };
        Moving { folded: vec![0.0; width], steps, bias: 0.0, rho }
    }

    #[inline]
    fn score<R: CodeRows>(&self, rows: &R, row: usize) -> f64 {
        rows.code_dot(row, &self.folded) + self.bias
    }

    #[inline]
    fn add<R: CodeRows>(&mut self, rows: &R, row: usize, a: f64) {
        match &self.steps {
            Steps::Alike(step) => rows.code_add(row, a * step, &mut self.folded),
            Steps::Each(steps) => rows.code_add_scaled(row, a, steps, &mut self.folded),
        }
        self.bias += self.rho * a;
    }

    fn set(&mut self, objective: &Objective, plane: &Plane) {
        self.folded = with_rows!(objective.store(), rows => rows.fold(&plane.weights));
        self.bias = plane.bias;
    }

    fn plane(&self, objective: &Objective) -> Plane {
        let unit = with_rows!(objective.store(), rows => {
            rows.fold(&vec![1.0; self.folded.len()])
        });
        let weights = self.folded.iter().zip(&unit).map(|(w, unit)| w / unit).collect();
        let bias = if objective.has_bias() { self.bias } else { 0.0 };
        Plane { weights, bias }
    }
}
