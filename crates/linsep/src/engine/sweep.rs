//! Dual coordinate descent in binary32, for up to sixteen machines of one-versus-rest in one sweep.
//!
//! The machines share rows, costs and order and differ in their signs alone, so a visit computes the
//! scores of a row on all planes at once: the weights of a column stand side by side, one cache line
//! serves sixteen machines, and the row is read once. The step of each machine is that of
//! [`super::dual`]. A (row, machine) whose multiplier rests at a bound is left out of later visits
//! until the end; a row is left out when it is out for every machine.
//!
//! Weights and multipliers in motion are binary32, which is enough down to gaps of about 1e-5. What a
//! sweep hands over is computed anew in binary64 from its multipliers, rounded to a few digits: every
//! multiplier in its domain is a dual point, so short ones prove as much.

use super::dual::logistic_step;
use crate::engine::permuted::PermutedObjective;
use crate::loss::Loss;
use crate::model::Plane;
use crate::objective::{Gap, Intercept};
use linsep_data::cancel;
use linsep_data::matrix::profile::power_of_ten;
use linsep_data::parallel::parallel_map;
use linsep_data::rng::{Purpose, Stream};
use linsep_kernels::lanes::Lanes;
use linsep_kernels::prefetch_at;
use std::sync::Arc;

/// Gaps below this need weights of binary64.
pub const LEAST_GAP: f64 = 3e-5;
/// Neighbours that are visited together.
const RUN: usize = 16;
/// Visits that pass until the weights of a row are there.
const AHEAD: usize = 2;
/// From this margin on a row has no multiplier, whatever binary32 and few digits do to its score.
const TOLD: f32 = 1.001;
/// How near the step of a logistic multiplier is taken to the best one: Newton's method squares this once more,
/// which is what binary32 keeps.
const STEP_TOLERANCE: f64 = 1e-3;
/// Places that are looked at together.
const LOOK: usize = 1 << 11;
/// The share of its cost at which the multiplier of a logistic row begins: the slope of the entropy is infinite
/// at 0, and what so small a share adds to the weights is far below what binary32 keeps of them.
const LOGISTIC_START: f32 = 1e-12;

/// A sweep over the machines of consecutive classes.
pub struct Sweep<const LANES: usize> {
    permuted: Arc<PermutedObjective>,
    /// The number of the positive machine at each place, if there is one here.
    own: Vec<u8>,
    count: usize,
    weights: Vec<[f32; LANES]>,
    bias: [f32; LANES],
    alpha: Vec<[f32; LANES]>,
    /// Which machines still visit a place, one bit each.
    active: Vec<u16>,
    /// Places that are visited, rising.
    order: Vec<u32>,
    bounds: [(f32, f32); LANES],
    gaps: [Gap; LANES],
    epochs: u64,
    next_look: u64,
}

/// The dual point of one machine, and its plane.
pub struct Found {
    pub plane: Plane,
    /// By positions.
    pub alpha: Vec<f64>,
}

/// What can be saved of a sweep.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedSweep {
    weights: Vec<u32>,
    alpha: Vec<u32>,
    bias: Vec<u32>,
    bounds: Vec<u32>,
    gaps: Vec<u64>,
    active: Vec<u16>,
    order: Vec<u32>,
    epochs: u64,
    next_look: u64,
}

/// Sweeps of any number of lanes.
pub trait Classifiers: Send + Sync {
    /// One epoch, and a look at the gaps where one is due.
    fn step(&mut self, wanted: f64, threads: usize);
    /// How near each machine was when it was last looked at.
    fn gaps(&self) -> &[Gap];
    /// How near each machine is now.
    fn measured(&self, threads: usize) -> Vec<Gap>;
    /// The multipliers and the plane of every machine, with few digits.
    fn found(&self) -> Vec<Found>;
    /// The positions of each machine, rising, whose multiplier does not follow from a margin well
    /// beyond 1.
    fn listed(&self) -> Vec<Vec<u32>>;
    fn save(&self) -> SavedSweep;
    /// Goes back to a saved state; false if it does not belong to this sweep.
    fn restore(&mut self, saved: &SavedSweep) -> bool;
    /// Begins at the multipliers of another run on the same rows, times a factor; false if they are not
    /// of this sweep.
    fn warm_start(&mut self, saved: &SavedSweep, factor: f64) -> bool;

    /// Whether every machine is near enough.
    fn is_done(&self, wanted: f64) -> bool {
        self.gaps().iter().all(|gap| gap.reaches(wanted))
    }
}

/// Sweeps of `count` machines, alike in size and two at least where that keeps two cores busy; `own`
/// has the number of the positive machine of each position.
pub fn sweeps(
    permuted: &Arc<PermutedObjective>,
    own: &[u32],
    count: usize,
) -> Vec<Box<dyn Classifiers>> {
    const MOST: usize = 16;
    let parts = count.div_ceil(MOST).max(count.min(2));
    let start = |part: usize| part * count / parts;
    let sweep = |part: usize| -> Box<dyn Classifiers> {
        let (first, next) = (start(part), start(part + 1));
        let within = |&number: &u32| match (number as usize).checked_sub(first) {
            Some(lane) if lane < next - first => lane as u8,
            _ => u8::MAX,
        };
        let own: Vec<u8> = own.iter().map(within).collect();
        match next - first {
            1 => Box::new(Sweep::<1>::new(permuted, &own, 1)),
            count @ 2..=8 => Box::new(Sweep::<8>::new(permuted, &own, count)),
            count => Box::new(Sweep::<16>::new(permuted, &own, count)),
        }
    };
    (0..parts).map(sweep).collect()
}

impl<const LANES: usize> Sweep<LANES>
where
    [f32; LANES]: Lanes,
{
    /// A sweep of `count` machines; `own` has the number of the positive one of each position.
    pub fn new(permuted: &Arc<PermutedObjective>, own: &[u8], count: usize) -> Sweep<LANES> {
        let all = u16::MAX >> (16 - count);
        let start = |cost: &f32| match permuted.loss {
            Loss::Logistic => [LOGISTIC_START * cost; LANES],
            _ => [0.0; LANES],
        };
        Sweep {
            own: permuted.positions().iter().map(|&i| own[i as usize]).collect(),
            count,
            // Not zeros of the system, which are mapped by the first reading and copied by the first
            // writing of a page.
            weights: vec![[-0.0; LANES]; permuted.width()],
            bias: [0.0; LANES],
            alpha: permuted.costs.iter().map(start).collect(),
            active: vec![all; permuted.len()],
            order: (0..permuted.len() as u32).collect(),
            bounds: [(f32::INFINITY, f32::NEG_INFINITY); LANES],
            gaps: [Gap::NONE; LANES],
            epochs: 0,
            next_look: 3,
            permuted: Arc::clone(permuted),
        }
    }

    /// Begins at other multipliers, by positions.
    pub fn begin_at(&mut self, alpha: impl Fn(usize) -> f64) {
        let permuted = Arc::clone(&self.permuted);
        for (place, position) in permuted.positions().iter().enumerate() {
            self.alpha[place] = [alpha(*position as usize) as f32; LANES];
        }
        self.recompute();
    }

    /// Makes the weights those of the multipliers.
    fn recompute(&mut self) {
        self.weights.fill([-0.0; LANES]);
        self.bias = [0.0; LANES];
        let permuted = Arc::clone(&self.permuted);
        for place in 0..permuted.len() {
            let mut steps = self.alpha[place];
            (0..LANES).for_each(|lane| steps[lane] *= self.sign(place, lane));
            if steps.iter().any(|step| *step != 0.0) {
                self.add(place, steps);
            }
        }
    }

    #[inline]
    fn sign(&self, place: usize, lane: usize) -> f32 {
        if usize::from(self.own[place]) == lane { 1.0 } else { -1.0 }
    }

    #[inline]
    fn scores(&self, place: usize) -> [f32; LANES] {
        let (columns, values) = self.permuted.row(place);
        let mut sums = self.bias;
        Lanes::add_dot(columns, values, &self.weights, &mut sums);
        sums
    }

    /// Moves the planes by steps along the row at a place.
    #[inline]
    fn add(&mut self, place: usize, steps: [f32; LANES]) {
        let inverse = (1.0 / self.permuted.l2) as f32;
        let steps = steps.map(|step| step * inverse);
        let (columns, values) = self.permuted.row(place);
        Lanes::add_row(columns, values, steps, &mut self.weights);
        if self.permuted.intercept != Intercept::None {
            self.bias.iter_mut().zip(&steps).for_each(|(bias, step)| *bias += step);
        }
    }

    /// Visits every active place, in runs of neighbours that come in a new order, or the first of these
    /// where less than an epoch is missing.
    fn epoch(&mut self, wanted: f64) {
        let mut runs: Vec<u32> = (0..self.order.len().div_ceil(RUN) as u32).collect();
        Stream::new(self.permuted.seed, Purpose::Epoch(self.epochs)).shuffle(&mut runs);
        runs.truncate(runs.len().div_ceil(self.parts_of_epoch(wanted)));
        let mut seen = [(f32::NEG_INFINITY, f32::INFINITY); LANES];
        // Weights that no cache of a core holds are asked for some visits ahead.
        let far = size_of_val(&self.weights[..]) > 1 << 20;
        for run in runs {
            cancel::check();
            let start = run as usize * RUN;
            let end = (start + RUN).min(self.order.len());
            for at in start..end {
                if let Some(&place) = self.order[..end].get(at + AHEAD).filter(|_| far) {
                    prefetch_at(self.permuted.row(place as usize).0, &self.weights, 1);
                }
                self.visit(self.order[at] as usize, &mut seen);
            }
        }
        self.order.retain(|&place| self.active[place as usize] != 0);
        self.bounds = seen.map(|(highest, lowest)| {
            let above = if highest <= 0.0 { f32::INFINITY } else { highest };
            let below = if lowest >= 0.0 { f32::NEG_INFINITY } else { lowest };
            (above, below)
        });
    }

    /// Makes the multipliers of a row the best they can be, one machine at a time.
    #[inline]
    fn visit(&mut self, place: usize, seen: &mut [(f32, f32); LANES]) {
        let (cost, square) = (self.permuted.costs[place], self.permuted.squares[place]);
        let loss = self.permuted.loss;
        let (soft, most) = match loss {
            Loss::SquaredHinge => (0.5 / cost, f32::INFINITY),
            _ => (0.0, cost),
        };
        let scores = self.scores(place);
        let visited = self.active[place];
        let mut active = visited;
        let mut steps = [0f32; LANES];
        for lane in (0..self.count).filter(|lane| visited & (1 << lane) != 0) {
            let (sign, alpha) = (self.sign(place, lane), self.alpha[place][lane]);
            let next = if loss == Loss::Logistic {
                let margin = f64::from(sign * scores[lane]);
                let [alpha, cost, square] = [alpha, cost, square].map(f64::from);
                let next = logistic_step(alpha, cost, square, margin, STEP_TOLERANCE);
                // Within the open interval, so that its logarithm stays a number.
                (next as f32).clamp(1e-30, cost as f32 * (1.0 - 2.0 * f32::EPSILON))
            } else {
                let slope = sign * scores[lane] - 1.0 + soft * alpha;
                let (above, below) = self.bounds[lane];
                let projected = if alpha == 0.0 {
                    if slope > above {
                        active &= !(1 << lane);
                        continue;
                    }
                    slope.min(0.0)
                } else if alpha == most {
                    if slope < below {
                        active &= !(1 << lane);
                        continue;
                    }
                    slope.max(0.0)
                } else {
                    slope
                };
                let (highest, lowest) = seen[lane];
                seen[lane] = (highest.max(projected), lowest.min(projected));
                let square = square + soft;
                match projected == 0.0 {
                    true => alpha,
                    // A row of zeros: its multiplier is at the bound that its slope points to.
                    false if square == 0.0 => most,
                    false => (alpha - slope / square).clamp(0.0, most),
                }
            };
            self.alpha[place][lane] = next;
            steps[lane] = (next - alpha) * sign;
        }
        self.active[place] = active;
        if steps.iter().any(|step| *step != 0.0) {
            self.add(place, steps);
        }
    }

    /// The gaps as they are, in the sums that binary32 gives.
    fn look(&self, threads: usize) -> [Gap; LANES] {
        let permuted = &self.permuted;
        let part = |block: usize| {
            let (mut losses, mut psi) = ([0f64; LANES], [0f64; LANES]);
            for place in block * LOOK..((block + 1) * LOOK).min(permuted.len()) {
                let scores = self.scores(place);
                let cost = f64::from(permuted.costs[place]);
                for lane in 0..self.count {
                    let margin = f64::from(self.sign(place, lane) * scores[lane]);
                    losses[lane] += cost * permuted.loss.value(margin);
                    psi[lane] +=
                        permuted.loss.conjugate_term(f64::from(self.alpha[place][lane]), cost);
                }
            }
            (losses, psi)
        };
        let parts = parallel_map(permuted.len().div_ceil(LOOK), threads, part);
        let mut squares = [0f64; LANES];
        for weights in self.weights.iter().chain([&self.bias]) {
            for lane in 0..LANES {
                squares[lane] += f64::from(weights[lane]) * f64::from(weights[lane]);
            }
        }
        std::array::from_fn(|lane| {
            let penalty = 0.5 * permuted.l2 * squares[lane];
            let loss: f64 = parts.iter().map(|(losses, _)| losses[lane]).sum();
            let psi: f64 = parts.iter().map(|(_, psi)| psi[lane]).sum();
            Gap { primal: loss + penalty, dual: psi - penalty }
        })
    }

    /// Into how many parts an epoch is cut, of which one is visited. On text an epoch made a gap three to twelve
    /// times as small, so machines that are nearer to their end are likely to need a part of one only. The next
    /// look says whether that was enough; a part counts as an epoch.
    fn parts_of_epoch(&self, wanted: f64) -> usize {
        let farthest = self.gaps().iter().map(|gap| gap.relative() / wanted).fold(0.0, f64::max);
        match farthest {
            ..1.3 => 4,
            ..2.5 => 2,
            _ => 1,
        }
    }

    /// Epochs until a look may find a machine at its end, if an epoch makes a gap four times as small; on
    /// text it was three to twelve times. A look costs up to half an epoch.
    fn until_next_look(&self, wanted: f64) -> u64 {
        const BY_AN_EPOCH: f64 = 4.0;
        const MOST: f64 = 3.0;
        let left = self.gaps().iter().filter(|gap| !gap.reaches(wanted));
        let nearest = left.map(|gap| gap.relative() / wanted).fold(f64::INFINITY, f64::min);
        let least = nearest.log(BY_AN_EPOCH).clamp(1.0, MOST) as u64;
        least.max((self.epochs / 4).min(16))
    }

    /// The multipliers of a machine with few digits, by positions.
    pub fn multipliers(&self, lane: usize) -> Vec<f64> {
        let permuted = &self.permuted;
        let mut alpha = vec![0.0; permuted.len()];
        for (place, position) in permuted.positions().iter().enumerate() {
            let cap = match permuted.loss {
                Loss::SquaredHinge => f64::INFINITY,
                _ => f64::from(permuted.costs[place]),
            };
            alpha[*position as usize] = short(f64::from(self.alpha[place][lane])).clamp(0.0, cap);
        }
        alpha
    }
}

impl<const LANES: usize> Classifiers for Sweep<LANES>
where
    [f32; LANES]: Lanes,
{
    fn step(&mut self, wanted: f64, threads: usize) {
        self.epoch(wanted);

        self.epochs += 1;
        if self.epochs < self.next_look {
            return;
        }
        self.gaps = self.look(threads);
        self.next_look = self.epochs + self.until_next_look(wanted);

        let waiting = |lane: usize| !self.gaps[lane].reaches(wanted);
        let bits = (0..self.count).filter(|&lane| waiting(lane)).map(|lane| 1u16 << lane).sum();
        let near = self.gaps().iter().all(|gap| gap.relative() < 30.0 * wanted);
        // Before the end is believed, everything is looked at again.
        if near {
            self.active.fill(bits);
            self.order = (0..self.permuted.len() as u32).collect();
            self.bounds = [(f32::INFINITY, f32::NEG_INFINITY); LANES];
        } else {
            self.active.iter_mut().for_each(|active| *active &= bits);
            self.order.retain(|&place| self.active[place as usize] != 0);
        }
    }

    fn gaps(&self) -> &[Gap] {
        &self.gaps[..self.count]
    }

    fn measured(&self, threads: usize) -> Vec<Gap> {
        self.look(threads)[..self.count].to_vec()
    }

    fn found(&self) -> Vec<Found> {
        let permuted = &self.permuted;
        let mut found: Vec<Found> = (0..self.count)
            .map(|lane| Found {
                plane: Plane {
                    weights: vec![-0.0; permuted.width()],
                    bias: short(f64::from(self.bias[lane])),
                },
                alpha: self.multipliers(lane),
            })
            .collect();
        for (line, column) in self.weights.iter().zip(permuted.columns()) {
            for (found, weight) in found.iter_mut().zip(line) {
                // 0 for the −0 of a column that no row moved.
                found.plane.weights[*column as usize] = short(f64::from(*weight)) + 0.0;
            }
        }
        found
    }

    fn listed(&self) -> Vec<Vec<u32>> {
        let mut listed = vec![Vec::new(); self.count];
        for (place, position) in self.permuted.positions().iter().enumerate() {
            let scores = self.scores(place);
            for (lane, listed) in listed.iter_mut().enumerate() {
                let margin = self.sign(place, lane) * scores[lane];
                let is_implied = self.alpha[place][lane] == 0.0 && margin >= TOLD;
                if !is_implied {
                    listed.push(*position);
                }
            }
        }
        listed.iter_mut().for_each(|positions| positions.sort_unstable());
        listed
    }

    fn save(&self) -> SavedSweep {
        let flat = |lanes: &[[f32; LANES]]| lanes.iter().flatten().map(|x| x.to_bits()).collect();
        SavedSweep {
            weights: flat(&self.weights),
            alpha: flat(&self.alpha),
            bias: self.bias.map(f32::to_bits).to_vec(),
            bounds: self.bounds.iter().flat_map(|(a, b)| [a.to_bits(), b.to_bits()]).collect(),
            gaps: self.gaps.iter().flat_map(|g| [g.primal.to_bits(), g.dual.to_bits()]).collect(),
            active: self.active.clone(),
            order: self.order.clone(),
            epochs: self.epochs,
            next_look: self.next_look,
        }
    }

    fn restore(&mut self, saved: &SavedSweep) -> bool {
        let places = self.permuted.len();
        let fits = saved.weights.len() == LANES * self.weights.len()
            && saved.alpha.len() == LANES * places
            && saved.bias.len() == LANES
            && saved.bounds.len() == 2 * LANES
            && saved.gaps.len() == 2 * LANES
            && saved.active.len() == places
            && saved.order.len() <= places
            && saved.order.iter().all(|&place| (place as usize) < places);
        if !fits {
            return false;
        }
        let lanes = |bits: &[u32]| -> Vec<[f32; LANES]> {
            let (chunks, _) = bits.as_chunks::<LANES>();
            chunks.iter().map(|chunk| chunk.map(f32::from_bits)).collect()
        };
        self.weights = lanes(&saved.weights);
        self.alpha = lanes(&saved.alpha);
        for lane in 0..LANES {
            self.bias[lane] = f32::from_bits(saved.bias[lane]);
            let bound = |k: usize| f32::from_bits(saved.bounds[2 * lane + k]);
            self.bounds[lane] = (bound(0), bound(1));
            let number = |k: usize| f64::from_bits(saved.gaps[2 * lane + k]);
            self.gaps[lane] = Gap { primal: number(0), dual: number(1) };
        }
        self.active.clone_from(&saved.active);
        self.order.clone_from(&saved.order);
        self.epochs = saved.epochs;
        self.next_look = saved.next_look;
        true
    }

    fn warm_start(&mut self, saved: &SavedSweep, factor: f64) -> bool {
        let (chunks, rest) = saved.alpha.as_chunks::<LANES>();
        if chunks.len() != self.permuted.len() || !rest.is_empty() {
            return false;
        }
        let permuted = Arc::clone(&self.permuted);
        for ((alpha, saved), cost) in self.alpha.iter_mut().zip(chunks).zip(&permuted.costs) {
            let (least, most) = match permuted.loss {
                Loss::SquaredHinge => (0.0, f32::INFINITY),
                Loss::Hinge => (0.0, *cost),
                Loss::Logistic => (1e-30, cost * (1.0 - 2.0 * f32::EPSILON)),
            };
            let scaled = |bits: u32| (f64::from(f32::from_bits(bits)) * factor) as f32;
            *alpha = saved.map(|bits| scaled(bits).clamp(least, most));
        }
        self.recompute();
        true
    }
}

/// A number with few digits: within 2^-20 of it, so that a score is within 2^-20 of Σ |w x|, whatever the
/// sizes of the columns.
fn short(x: f64) -> f64 {
    /// 10^k up to which powers are exact.
    const MOST: i32 = 22;
    /// A sum with this has no digits after the point: far more than the numbers that are rounded here.
    const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;
    // x is at least 2^binary, and ten times so many digits are kept as 2^20 asks for. 1233/4096 is close enough
    // to log10 2 for the next whole number above any product up to MOST.
    let binary = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let decimal = ((20 - binary) * 1233 + 4095) >> 12;
    let rounded = match decimal {
        0..=MOST => {
            let unit = power_of_ten(decimal as u8);
            ((x * unit + WHOLE) - WHOLE) / unit
        }
        // Large numbers are as short as they are, and tiny ones rare.
        _ => x,
    };
    // Never −0.
    rounded + 0.0
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn short_numbers_are_near_and_short() {
        for k in -60..60 {
            for x in [1.0, 1.234_567_890_123, 9.999_999_99, -3.333_333_333_333] {
                let x = x * 2f64.powi(k);
                let near = short(x);
                assert!((near - x).abs() <= x.abs() / f64::from(1 << 20), "{x} {near}");
                if (-35..20).contains(&k) {
                    let digits = format!("{near:e}").split('e').next().map_or(0, str::len);
                    assert!(digits <= 11, "{near:e}");
                }
            }
        }
        for binary in -60..20 {
            let power = f64::from(20 - binary) * std::f64::consts::LOG10_2;
            assert_eq!(((20 - binary) * 1233 + 4095) >> 12, power.ceil() as i32, "2^{binary}");
        }
        assert_eq!(short(0.0).to_bits(), 0);
        assert_eq!(short(-0.0).to_bits(), 0);
    }
}
