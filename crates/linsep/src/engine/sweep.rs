//! Dual coordinate descent for up to eight machines of one-versus-rest in one sweep over the rows.
//!
//! The machines share rows, costs and order and differ in their signs alone, so a visit computes the
//! scores of a row on all eight planes at once: the weights of a column stand side by side, one cache
//! line serves eight machines, and the row is read once. The step of each machine is that of
//! [`super::dual`]. A (row, machine) whose multiplier rests at a bound is left out of later visits
//! until the end; a row is left out when it is out for every machine.
//!
//! Weights and multipliers in motion are binary32, which is enough down to gaps of about 1e-5. What a
//! sweep hands over is computed anew in binary64 from its multipliers, rounded to a few digits: every
//! multiplier in its domain is a dual point, so short ones prove as much.

use super::objective::{Gap, Intercept, Loss};
use crate::data::store::{CodeRows, Store, with_rows};
use crate::model::Plane;
use crate::rng::{Purpose, Stream};
use std::sync::Arc;

/// Machines in one sweep.
pub(crate) const LANES: usize = 8;

type Lanes = [f32; LANES];

/// What all sweeps over the same rows share.
pub(crate) struct Ground {
    /// Where each row starts in the two lists behind it.
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
    /// The class of each position.
    classes: Vec<u32>,
    costs: Vec<f32>,
    squares: Vec<f32>,
    width: usize,
    pub(crate) loss: Loss,
    pub(crate) intercept: Intercept,
    l2: f64,
    seed: u64,
}

impl Ground {
    /// Copies the rows into one list of columns and binary32 values.
    pub(crate) fn new(
        store: &Store,
        rows: &[u32],
        (classes, costs): (Vec<u32>, &[f64]),
        (loss, intercept, l2): (Loss, Intercept, f64),
        seed: u64,
    ) -> Ground {
        let mut ground = Ground {
            starts: Vec::with_capacity(rows.len() + 1),
            columns: Vec::new(),
            values: Vec::new(),
            classes,
            costs: costs.iter().map(|c| *c as f32).collect(),
            squares: Vec::with_capacity(rows.len()),
            width: store.width(),
            loss,
            intercept,
            l2,
            seed,
        };
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let bias = if intercept == Intercept::None { 0.0 } else { 1.0 };
        with_rows!(store, stored => for &row in rows {
            stored.entries(row as usize, &mut columns, &mut values);
            ground.starts.push(ground.columns.len());
            ground.columns.extend_from_slice(&columns);
            ground.values.extend(values.iter().map(|v| *v as f32));
            let square: f64 = values.iter().map(|v| v * v).sum::<f64>() + bias;
            ground.squares.push((square / l2) as f32);
        });
        ground.starts.push(ground.columns.len());
        ground
    }

    fn len(&self) -> usize {
        self.classes.len()
    }

    fn row(&self, i: usize) -> (&[u32], &[f32]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }
}

/// A sweep: machines `first` to `first + count` in motion.
pub(crate) struct Sweep {
    ground: Arc<Ground>,
    first: usize,
    count: usize,
    weights: Vec<Lanes>,
    bias: Lanes,
    alpha: Vec<Lanes>,
    /// Which machines still visit a row, one bit each.
    active: Vec<u8>,
    order: Vec<u32>,
    bounds: [(f32, f32); LANES],
    pub(crate) gaps: [Gap; LANES],
    pub(crate) epochs: u64,
    next_look: u64,
}

/// The dual point of one machine, and its plane.
pub(crate) struct Found {
    pub(crate) plane: Plane,
    pub(crate) alpha: Vec<f64>,
}

/// What can be saved of a sweep.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saved {
    weights: Vec<u32>,
    alpha: Vec<u32>,
    bias: Vec<u32>,
    bounds: Vec<u32>,
    gaps: Vec<u64>,
    active: Vec<u8>,
    order: Vec<u32>,
    epochs: u64,
    next_look: u64,
}

impl Sweep {
    pub(crate) fn new(ground: &Arc<Ground>, first: usize, count: usize) -> Sweep {
        let all = ((1u16 << count) - 1) as u8;
        Sweep {
            first,
            count,
            weights: vec![[0.0; LANES]; ground.width],
            bias: [0.0; LANES],
            alpha: vec![[0.0; LANES]; ground.len()],
            active: vec![all; ground.len()],
            order: (0..ground.len() as u32).collect(),
            bounds: [(f32::INFINITY, f32::NEG_INFINITY); LANES],
            gaps: [Gap::NONE; LANES],
            epochs: 0,
            next_look: 3,
            ground: Arc::clone(ground),
        }
    }

    /// Whether every machine is near enough.
    pub(crate) fn is_done(&self, wanted: f64) -> bool {
        self.gaps[..self.count].iter().all(|gap| gap.relative() <= wanted)
    }

    /// One epoch, and a look at the gaps where one is due.
    pub(crate) fn step(&mut self, wanted: f64) {
        self.epoch();
        self.epochs += 1;
        if self.epochs < self.next_look {
            return;
        }
        self.next_look = self.epochs + (self.epochs / 4).clamp(1, 16);
        self.look();
        let waiting = |lane: usize| self.gaps[lane].relative() > wanted;
        let bits = (0..self.count).filter(|&lane| waiting(lane)).map(|lane| 1u8 << lane).sum();
        let near = self.gaps[..self.count].iter().all(|gap| gap.relative() < 30.0 * wanted);
        // Before the end is believed, everything is looked at again.
        if near {
            self.active.fill(bits);
            self.order = (0..self.ground.len() as u32).collect();
            self.bounds = [(f32::INFINITY, f32::NEG_INFINITY); LANES];
        } else {
            self.active.iter_mut().for_each(|active| *active &= bits);
            self.order.retain(|&i| self.active[i as usize] != 0);
        }
    }

    #[inline]
    fn scores(&self, i: usize) -> Lanes {
        let (columns, values) = self.ground.row(i);
        let mut sums = self.bias;
        for (&column, &value) in columns.iter().zip(values) {
            let weights = &self.weights[column as usize];
            for lane in 0..LANES {
                sums[lane] += value * weights[lane];
            }
        }
        sums
    }

    fn sign(&self, i: usize, lane: usize) -> f32 {
        if self.ground.classes[i] as usize == self.first + lane { 1.0 } else { -1.0 }
    }

    fn epoch(&mut self) {
        let mut stream = Stream::new(self.ground.seed, Purpose::Epoch(self.epochs));
        stream.shuffle(&mut self.order);
        let ground = Arc::clone(&self.ground);
        let squared = ground.loss == Loss::SquaredHinge;
        let rho = if ground.intercept == Intercept::None { 0.0 } else { (1.0 / ground.l2) as f32 };
        let inverse = (1.0 / ground.l2) as f32;
        let mut seen = [(f32::NEG_INFINITY, f32::INFINITY); LANES];
        let mut kept = 0;
        for at in 0..self.order.len() {
            let i = self.order[at] as usize;
            let (cost, visited) = (ground.costs[i], self.active[i]);
            let mut active = visited;
            let (soft, most) = if squared { (0.5 / cost, f32::INFINITY) } else { (0.0, cost) };
            let scores = self.scores(i);
            let mut steps = [0f32; LANES];
            let mut moved = false;
            for lane in (0..self.count).filter(|lane| visited & (1 << lane) != 0) {
                let (sign, alpha) = (self.sign(i, lane), self.alpha[i][lane]);
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
                if projected == 0.0 {
                    continue;
                }
                let square = ground.squares[i] + soft;
                let next =
                    if square > 0.0 { (alpha - slope / square).clamp(0.0, most) } else { most };
                if next != alpha {
                    self.alpha[i][lane] = next;
                    steps[lane] = (next - alpha) * sign;
                    moved = true;
                }
            }
            self.active[i] = active;
            if active != 0 {
                self.order[kept] = self.order[at];
                kept += 1;
            }
            if moved {
                let steps = steps.map(|step| step * inverse);
                let (columns, values) = ground.row(i);
                for (&column, &value) in columns.iter().zip(values) {
                    let weights = &mut self.weights[column as usize];
                    for lane in 0..LANES {
                        weights[lane] += value * steps[lane];
                    }
                }
                if rho > 0.0 {
                    self.bias.iter_mut().zip(&steps).for_each(|(bias, step)| *bias += step);
                }
            }
        }
        self.order.truncate(kept);
        self.bounds = seen.map(|(highest, lowest)| {
            let above = if highest <= 0.0 { f32::INFINITY } else { highest };
            let below = if lowest >= 0.0 { f32::NEG_INFINITY } else { lowest };
            (above, below)
        });
    }

    /// Measures the gaps, in the sums that binary32 gives.
    fn look(&mut self) {
        let ground = Arc::clone(&self.ground);
        let mut losses = [0f64; LANES];
        let mut psi = [0f64; LANES];
        for i in 0..ground.len() {
            let scores = self.scores(i);
            let cost = f64::from(ground.costs[i]);
            for lane in 0..self.count {
                let margin = f64::from(self.sign(i, lane) * scores[lane]);
                losses[lane] += cost * ground.loss.value(margin);
                let alpha = f64::from(self.alpha[i][lane]);
                psi[lane] += ground.loss.psi(alpha, cost);
            }
        }
        let mut squares = [0f64; LANES];
        for weights in self.weights.iter().chain([&self.bias]) {
            for lane in 0..LANES {
                squares[lane] += f64::from(weights[lane]) * f64::from(weights[lane]);
            }
        }
        for lane in 0..self.count {
            let penalty = 0.5 * ground.l2 * squares[lane];
            self.gaps[lane] = Gap { primal: losses[lane] + penalty, dual: psi[lane] - penalty };
        }
    }

    /// The multipliers of a machine with few digits, and their plane, also with few.
    pub(crate) fn found(&self, lane: usize, digits: i32) -> Found {
        let ground = &self.ground;
        let most = f64::from(self.alpha.iter().map(|alpha| alpha[lane]).fold(0.0, f32::max));
        let unit = unit(most, digits);
        let cap = |i: usize| match ground.loss {
            Loss::SquaredHinge => f64::INFINITY,
            _ => f64::from(ground.costs[i]),
        };
        let short = |i: usize| round(f64::from(self.alpha[i][lane]), unit).clamp(0.0, cap(i));
        let alpha: Vec<f64> = (0..ground.len()).map(short).collect();
        let mut plane = Plane { weights: vec![0.0; ground.width], bias: 0.0 };
        for (i, a) in alpha.iter().enumerate().filter(|(_, a)| **a > 0.0) {
            let a = a * f64::from(self.sign(i, lane)) / ground.l2;
            let (columns, values) = ground.row(i);
            for (&column, &value) in columns.iter().zip(values) {
                plane.weights[column as usize] += a * f64::from(value);
            }
            if ground.intercept != Intercept::None {
                plane.bias += a;
            }
        }
        shorten(&mut plane, digits);
        Found { plane, alpha }
    }

    pub(crate) fn save(&self) -> Saved {
        let flat = |lanes: &[Lanes]| lanes.iter().flatten().map(|x| x.to_bits()).collect();
        Saved {
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

    /// Goes back to a saved state; false if it does not belong to this sweep.
    pub(crate) fn restore(&mut self, saved: &Saved) -> bool {
        let rows = self.ground.len();
        let fits = saved.weights.len() == LANES * self.weights.len()
            && saved.alpha.len() == LANES * rows
            && saved.bias.len() == LANES
            && saved.bounds.len() == 2 * LANES
            && saved.gaps.len() == 2 * LANES
            && saved.active.len() == rows
            && saved.order.len() <= rows
            && saved.order.iter().all(|&i| (i as usize) < rows);
        if !fits {
            return false;
        }
        let lanes = |bits: &[u32]| -> Vec<Lanes> {
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
}

/// Rounds the weights of a plane to so many digits of the largest.
pub(crate) fn shorten(plane: &mut Plane, digits: i32) {
    let largest = plane.weights.iter().fold(plane.bias.abs(), |most, w| most.max(w.abs()));
    let unit = unit(largest, digits);
    plane.weights.iter_mut().for_each(|w| *w = round(*w, unit));
    plane.bias = round(plane.bias, unit);
}

/// The power of ten by which numbers up to `most` are multiplied before they are rounded.
pub(crate) fn unit(most: f64, digits: i32) -> f64 {
    match most > 0.0 && most.is_finite() {
        true => 10f64.powi((digits - 1 - most.log10().floor() as i32).clamp(-15, 15)),
        false => 1.0,
    }
}

/// The decimal with few digits next to a number.
pub(crate) fn round(x: f64, unit: f64) -> f64 {
    (x * unit).round() / unit
}
