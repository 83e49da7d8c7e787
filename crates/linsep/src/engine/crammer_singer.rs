//! Crammer and Singer's machine by dual descent: each visit makes all shares of one row the best they
//! can be.
//!
//! With x̃ = Λ^{-½}x, u_k = Λ^{½}w_k = Σ c (δ_k − p_k) x̃ kept up to date and A = |x̃|², the best shares
//! of a row, the others staying as they are, are a projection onto the simplex:
//!
//! ```text
//! p ← Π(p + G/(cA)),   G_k = s_k + 1 − δ_k,   Π(v)_k = max(0, v_k − τ), τ such that Σ = 1
//! ```
//!
//! τ is the root of a falling convex function of pieces of lines, found by Newton's method from below.
//!
//! Rows whose shares did not move rest: twice as many epochs each time, up to a bound, so that time
//! goes to the rows that still move. Every row is looked at when the gap is measured.
//!
//! Descent runs in binary32, where it is about twice as fast. Its gap is that of the planes in motion, later of
//! their mean since the last look, in sums of binary32; these are the planes of the run where no smaller gap is
//! asked for than such sums show, else those which the shares make in binary64. Binary64 takes over once
//! binary32 would stand in the way, or the gap has ceased to fall. In any case the checker measures anew.
//!
//! A penalised bias is a column of ones. Free ones are the same with their centres moved to where they
//! stand after every epoch (the method of multipliers for Σ c (δ − p) = 0).
//!
//! References: Keerthi, Sundararajan, Chang, Hsieh, Lin, A sequential dual method for large scale
//! multi-class linear SVMs, 2008; Crammer, Singer, 2001.

use super::compact::Compact;
use super::joint::{Joint, Lines, Measured, Mixing, merge};
use crate::objective::{Gap, Intercept};
use linsep_data::cancel;
use linsep_data::matrix::panel::{Decoder, PanelRows, Real, Scratch};
use linsep_data::matrix::with_rows;
use linsep_data::parallel::parallel_map;
use linsep_data::rng::{Purpose, Stream};
use std::borrow::Cow;

mod row;
mod warm;

use row::{project, violation};

/// A gap that binary32 reaches.
const SINGLE: f64 = 1e-4;
/// The part of a gap that is aimed at in the sums of binary32, for what they do not see.
const SEEN: f64 = 0.95;
/// Looks without a smaller gap after which a descent is stuck: the gap of planes in motion goes up and down.
const PATIENCE: u32 = 8;
/// From this epoch on planes are averaged: by then an epoch costs more than a sum of planes.
const AVERAGED: u64 = 32;
/// The most epochs that a row rests: 2 to this power.
const LONGEST: u8 = 4;

/// A run of Crammer and Singer's machine.
pub struct CrammerSinger {
    pub gap: Gap,
    pub epochs: u64,
    work: Layout,
    /// The planes whose gap was measured, and after which epoch.
    measured: Option<(u64, Lines)>,
    next_look: u64,
    /// The smallest relative gap that was seen, and how many looks ago.
    least: (f64, u32),
    /// Σ c δ x where biases are free.
    class_sums: Option<Lines>,
    seed: u64,
}

enum Layout {
    Single(Descent<f32>),
    Double(Descent<f64>),
}

/// Runs `$body` with the descent in its own precision.
macro_rules! with_work {
    ($work:expr, $descent:ident => $body:expr) => {
        match $work {
            Layout::Single($descent) => $body,
            Layout::Double($descent) => $body,
        }
    };
}

/// What can be saved of a run: numbers by the bits of their binary64.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedCrammerSinger {
    single: bool,
    shares: Vec<u64>,
    lines: Vec<u64>,
    centres: Vec<u64>,
    due: Vec<u64>,
    rests: Vec<u8>,
    gap: [u64; 2],
    epochs: u64,
    next_look: u64,
    least: (u64, u32),
    /// The sum of the planes after each epoch since the last look, and how many these are.
    sum: Vec<u64>,
    summed: u32,
    /// The planes that were measured after the last epoch.
    looked: Option<Vec<u64>>,
}

impl CrammerSinger {
    pub fn new(joint: &Joint, seed: u64) -> CrammerSinger {
        let (squares, is_calm) = joint.squares();
        let work = match is_calm {
            true => Layout::Single(Descent::new(joint, &squares)),
            false => Layout::Double(Descent::new(joint, &squares)),
        };
        CrammerSinger {
            gap: Gap::NONE,
            epochs: 0,
            work,
            measured: None,
            next_look: 2,
            least: (f64::INFINITY, 0),
            class_sums: (joint.intercept == Intercept::Free).then(|| joint.class_sums()),
            seed,
        }
    }

    /// As many epochs as make up one visit for each row, and a look at the gap where one is due, which ends
    /// the step.
    pub fn step(&mut self, joint: &Joint, wanted: f64) {
        let mut visits = 0;
        while visits < joint.len() {
            let (epoch, seed) = (self.epochs, self.seed);
            let (visited, moved) =
                with_work!(&mut self.work, descent => descent.epoch(joint, epoch, seed));
            self.epochs += 1;
            visits += visited;
            let settled = moved == 0;
            if self.epochs >= self.next_look || settled {
                return self.see(joint, wanted, settled);
            }
        }
    }

    /// Looks at the gap and decides how to go on.
    fn see(&mut self, joint: &Joint, wanted: f64, settled: bool) {
        // The gap of the planes in motion is known to a small part of what binary32 reaches. Only what is to be
        // nearer than that, or cannot be so measured, is worth a look in binary64.
        match with_work!(&self.work, descent => descent.cheap_gap(joint)) {
            Some(gap) if gap.relative() > wanted.max(SINGLE) => self.gap = gap,
            Some(gap) if gap.reaches(SEEN * wanted) && wanted > SINGLE => {
                let lines = with_work!(&self.work, descent => descent.moving_lines(joint));
                (self.gap, self.measured) = (gap, Some((self.epochs, lines)));
            }
            _ => {
                let look = self.look(joint);
                (self.gap, self.measured) = (look.0, Some((self.epochs, look.1)));
            }
        }
        with_work!(&mut self.work, descent => descent.forget());
        let gap = self.gap.relative();
        if self.gap.reaches(wanted) {
            return;
        }
        // A look costs half an epoch, and an epoch seldom makes a gap four times smaller.
        let least = ((gap / wanted).ln() / 4f64.ln()).min(4.0) as u64;
        self.next_look = self.epochs + (self.epochs / 4).max(least).clamp(1, 16);
        if settled {
            with_work!(&mut self.work, descent => descent.wake());
        }
        self.least = match gap < 0.98 * self.least.0 {
            true => (gap, 0),
            false => (self.least.0, self.least.1 + 1),
        };
        let stuck = settled || self.least.1 >= PATIENCE;
        if let Layout::Single(descent) = &self.work
            && (gap < SINGLE || (stuck && gap < 0.05))
        {
            self.work = Layout::Double(descent.doubled(joint));
        }
    }

    /// The planes that the shares make, and their gap.
    fn look(&self, joint: &Joint) -> (Gap, Lines) {
        with_work!(&self.work, descent => descent.look(joint, self.class_sums.as_ref()))
    }

    /// The planes as they are now.
    pub fn lines(&self, joint: &Joint) -> Lines {
        match &self.measured {
            Some((epoch, lines)) if *epoch == self.epochs => lines.clone(),
            _ => self.look(joint).1,
        }
    }

    /// The planes with a gap of their own.
    pub fn measured(&self, joint: &Joint) -> Measured {
        let (gap, lines) = match &self.measured {
            Some((epoch, lines)) if *epoch == self.epochs => (self.gap, lines.clone()),
            _ => self.look(joint),
        };
        let mut shares = Vec::with_capacity(joint.len() * joint.classes);
        let mut line = vec![0.0; joint.stride()];
        for i in 0..joint.len() {
            with_work!(&self.work, descent => descent.row_shares(joint, i, &mut line));
            shares.extend_from_slice(&line[..joint.classes]);
        }
        Measured { lines, gap, shares }
    }

    /// A gap is a sum over all numbers of the planes, so that none of them breaks unseen.
    pub fn is_finite(&self) -> bool {
        !self.gap.primal.is_nan()
    }

    pub fn save(&self) -> SavedCrammerSinger {
        let mut saved = with_work!(&self.work, descent => descent.save());
        saved.gap = [self.gap.primal.to_bits(), self.gap.dual.to_bits()];
        saved.epochs = self.epochs;
        saved.next_look = self.next_look;
        saved.least = (self.least.0.to_bits(), self.least.1);
        let now = self.measured.as_ref().filter(|(epoch, _)| *epoch == self.epochs);
        let bits = |lines: &Lines| lines.numbers.iter().map(|x| x.to_bits()).collect();
        saved.looked = now.map(|(_, lines)| bits(lines));
        saved
    }

    /// Goes back to a saved state; false if it does not belong to this objective.
    pub fn restore(&mut self, joint: &Joint, saved: &SavedCrammerSinger) -> bool {
        let (squares, _) = joint.squares();
        let work = match saved.single {
            true => Descent::restored(joint, &squares, saved).map(Layout::Single),
            false => Descent::restored(joint, &squares, saved).map(Layout::Double),
        };
        let Some(work) = work else { return false };
        let size = joint.zero().numbers.len();
        if saved.looked.as_ref().is_some_and(|bits| bits.len() != size) {
            return false;
        }
        self.work = work;
        let [primal, dual] = saved.gap.map(f64::from_bits);
        self.gap = Gap { primal, dual };
        self.epochs = saved.epochs;
        self.next_look = saved.next_look;
        self.least = (f64::from_bits(saved.least.0), saved.least.1);
        // The planes of a look follow from the shares, and only those of this moment are asked for.
        self.measured = saved.looked.as_ref().map(|bits| {
            let numbers = bits.iter().map(|x| f64::from_bits(*x)).collect();
            (saved.epochs, Lines { numbers, stride: joint.zero().stride })
        });
        true
    }
}

/// A descent in one precision.
struct Descent<T> {
    /// p of each position, in lines as long as those of the planes.
    shares: Vec<T>,
    /// u, then the line of the bias column.
    lines: Vec<T>,
    /// The sum of u after each epoch since the last look, once it is asked for, and of how many.
    sum: Vec<T>,
    summed: u32,
    /// Where free biases are pulled to.
    centres: Vec<T>,
    /// What the bias column holds: its square is ρ.
    ones: T,
    /// A of each position.
    squares: Vec<T>,
    /// The epoch in which a position is visited next, and how long it rested before.
    due: Vec<u64>,
    rests: Vec<u8>,
    rows: Compact<T>,
}

impl<T: Real> Descent<T> {
    fn new(joint: &Joint, squares: &[f64]) -> Descent<T> {
        let stride = joint.stride();
        let mut shares = vec![T::ZERO; joint.len() * stride];
        for (i, own) in joint.own.iter().enumerate() {
            shares[i * stride + *own as usize] = T::ONE;
        }
        let rho = rho(joint, squares);
        Descent {
            shares,
            lines: vec![T::ZERO; (joint.width() + 1) * stride],
            sum: Vec::new(),
            summed: 0,
            centres: vec![T::ZERO; stride],
            ones: T::of(rho.sqrt()),
            squares: squares.iter().map(|square| T::of(square + rho)).collect(),
            due: vec![0; joint.len()],
            rests: vec![0; joint.len()],
            rows: Compact::new(joint, &units(joint)),
        }
    }

    /// The same shares in binary64.
    fn doubled(&self, joint: &Joint) -> Descent<f64> {
        let mut next = Descent::<f64>::new(joint, &joint.squares().0);
        let stride = joint.stride();
        for i in 0..joint.len() {
            self.row_shares(joint, i, &mut next.shares[i * stride..][..stride]);
        }
        next.follow_shares(joint);
        next.centres = self.centres.iter().map(|centre| centre.value()).collect();
        next
    }

    /// Everything is visited in the next epoch.
    fn wake(&mut self) {
        self.due.fill(0);
        self.rests.fill(0);
    }

    /// Visits every position that is due, in a new order; how many they were, and how many moved.
    fn epoch(&mut self, joint: &Joint, epoch: u64, seed: u64) -> (usize, u64) {
        let mut order: Vec<u32> =
            (0..).zip(&self.due).filter(|(_, due)| **due <= epoch).map(|(i, _)| i).collect();
        Stream::new(seed, Purpose::Epoch(epoch)).shuffle(&mut order);
        let stride = joint.stride();
        if joint.intercept == Intercept::Free && epoch > 0 {
            let start = self.lines.len() - stride;
            for (centre, u) in self.centres.iter_mut().zip(&self.lines[start..]) {
                *centre += self.ones * *u;
            }
        }
        let moved = with_rows!(joint.data.store(), rows => {
            let decoder = rows.decoder::<T>(&units(joint));
            self.visit_all(joint, rows, &decoder, &order, epoch)
        });
        if epoch >= AVERAGED && joint.intercept != Intercept::Free && size_of::<T>() == 4 {
            self.remember();
        }
        (order.len(), moved)
    }

    /// Adds the planes to their sum.
    fn remember(&mut self) {
        self.sum.resize(self.lines.len(), T::ZERO);
        self.sum.iter_mut().zip(&self.lines).for_each(|(sum, u)| *sum += *u);
        self.summed += 1;
    }

    fn forget(&mut self) {
        self.sum.fill(T::ZERO);
        self.summed = 0;
    }

    /// The mean of the planes since the last look, or those of now. The loss is convex, and a mean of planes that
    /// go to and fro about the best ones is nearer to them than each of these.
    fn mean(&self) -> Cow<'_, [T]> {
        if self.summed == 0 {
            return Cow::Borrowed(&self.lines);
        }
        let each = T::ONE / T::of(f64::from(self.summed));
        Cow::Owned(self.sum.iter().map(|sum| *sum * each).collect())
    }

    fn visit_all<R: PanelRows>(
        &mut self,
        joint: &Joint,
        rows: &R,
        decoder: &Decoder<T>,
        order: &[u32],
        epoch: u64,
    ) -> u64 {
        let stride = joint.stride();
        let (bias_start, mut scratch) = (self.lines.len() - stride, Scratch::new());
        let (mut scores, mut aims) = (vec![T::ZERO; stride], vec![T::ZERO; stride]);
        let (mut moved, lowest) = (0, T::of(f64::NEG_INFINITY));
        for &i in order {
            cancel::check();
            let i = i as usize;
            let own = joint.own[i] as usize;
            let (columns, values) = match self.rows.row(i) {
                Some(row) => row,
                None => rows.decode(joint.rows[i] as usize, decoder, &mut scratch),
            };
            let biases = self.centres.iter().zip(&self.lines[bias_start..]);
            for (score, (centre, u)) in scores.iter_mut().zip(biases) {
                *score = *centre + self.ones * *u + T::ONE;
            }
            T::add_scores(columns, values, &self.lines, &mut scores);
            // The scores are G now.
            scores[own] = scores[own] - T::ONE;
            scores[joint.classes..].fill(lowest);
            let shares = &mut self.shares[i * stride..][..stride];
            if violation(&scores, shares) <= T::FINE {
                let rest = self.rests[i];
                self.due[i] = epoch + (1 << rest);
                self.rests[i] = (rest + 1).min(LONGEST);
                continue;
            }
            moved += 1;
            self.rests[i] = 0;
            self.due[i] = epoch + 1;
            let cost = T::of(joint.costs[i]);
            let strength = cost * self.squares[i];
            project(&scores, shares, strength, &mut aims);
            for ((slope, share), aim) in scores.iter_mut().zip(shares).zip(&aims) {
                *slope = cost * (*share - *aim);
                *share = *aim;
            }
            T::add_row(columns, values, &scores, &mut self.lines);
            for (u, factor) in self.lines[bias_start..].iter_mut().zip(&scores) {
                *u += self.ones * *factor;
            }
        }
        moved
    }

    /// The shares of a position as they are claimed: the own one is what is left of 1.
    fn row_shares(&self, joint: &Joint, i: usize, shares: &mut [f64]) {
        let stride = joint.stride();
        let own = joint.own[i] as usize;
        let mut sum = 0.0;
        for (k, share) in self.shares[i * stride..][..stride].iter().enumerate() {
            shares[k] = if k == own { 0.0 } else { share.share() };
            sum += shares[k];
        }
        if sum > 1.0 {
            shares.iter_mut().for_each(|share| *share /= sum);
            sum = 1.0;
        }
        shares[own] = 1.0 - sum;
    }

    /// g and d of the shares.
    fn sums(&self, joint: &Joint) -> Lines {
        let stride = joint.stride();
        let parts = joint.pass(
            |_| (joint.zero(), vec![0.0; stride]),
            |(sums, factors), i, columns, values| {
                self.row_shares(joint, i, factors);
                let own = joint.own[i] as usize;
                if factors[own] < 1.0 {
                    let cost = joint.costs[i];
                    factors.iter_mut().for_each(|p| *p *= -cost);
                    factors[own] += cost;
                    sums.add_row(columns, values, factors);
                }
            },
        );
        merge(joint.zero(), parts.into_iter().map(|(sums, _)| sums))
    }

    fn look(&self, joint: &Joint, class_sums: Option<&Lines>) -> (Gap, Lines) {
        let sums = self.sums(joint);
        let psi = |i: usize, mixing: &Mixing| {
            let mut shares = vec![0.0; joint.stride()];
            self.row_shares(joint, i, &mut shares);
            let own = joint.own[i] as usize;
            (1.0 - mixing.theta) * (1.0 - shares[own]) + mixing.theta * (1.0 - mixing.q[own])
        };
        let dual = joint.bound(&sums, class_sums, psi);
        let mut lines = sums;
        let width = joint.width();
        for (j, line) in lines.numbers.chunks_exact_mut(lines.stride).enumerate() {
            if j < width || joint.intercept == Intercept::Penalised {
                let curvature = joint.curvature(j);
                line.iter_mut().for_each(|w| *w /= curvature);
            }
        }
        match joint.intercept {
            Intercept::Penalised => {}
            Intercept::None => lines.biases_mut().fill(0.0),
            Intercept::Free => self.biases(&self.lines, lines.biases_mut()),
        }
        let primal = joint.primal(&lines);
        if self.summed > 0 {
            let mean = self.moving_lines(joint);
            let of_mean = joint.primal(&mean);
            if of_mean < primal {
                return (Gap { primal: of_mean, dual }, mean);
            }
        }
        (Gap { primal, dual }, lines)
    }

    /// The mean of the planes in motion.
    fn moving_lines(&self, joint: &Joint) -> Lines {
        let (stride, mean) = (joint.stride(), self.mean());
        let mut numbers = Vec::with_capacity(mean.len());
        for (j, line) in mean[..joint.width() * stride].chunks_exact(stride).enumerate() {
            let unit = 1.0 / joint.penalty.curvature(j).sqrt();
            // 0 for a −0.
            numbers.extend(line.iter().map(|u| u.value() * unit + 0.0));
        }
        numbers.resize(mean.len(), 0.0);
        let mut lines = Lines { numbers, stride };
        if joint.intercept != Intercept::None {
            self.biases(&mean, lines.biases_mut());
        }
        lines
    }

    /// The gap in the sums that binary32 gives: what the mean of the planes in motion costs, less the bound of the
    /// shares.
    fn cheap_gap(&self, joint: &Joint) -> Option<Gap> {
        if size_of::<T>() > 4 || joint.intercept == Intercept::Free {
            return None;
        }
        const BLOCK: usize = 1024;
        let stride = joint.stride();
        let mean = self.mean();
        let bias = &mean[mean.len() - stride..];
        let parts = with_rows!(joint.data.store(), rows => {
            let decoder = rows.decoder::<T>(&units(joint));
            parallel_map(joint.len().div_ceil(BLOCK), joint.threads, |block| {
                let (mut scratch, mut scores) = (Scratch::new(), vec![T::ZERO; stride]);
                let (mut losses, mut psi) = (0.0, 0.0);
                for i in block * BLOCK..((block + 1) * BLOCK).min(joint.len()) {
                    let own = joint.own[i] as usize;
                    let (columns, values) = match self.rows.row(i) {
                        Some(row) => row,
                        None => rows.decode(joint.rows[i] as usize, &decoder, &mut scratch),
                    };
                    let start = scores.iter_mut().zip(bias);
                    start.for_each(|(score, u)| *score = self.ones * *u + T::ONE);
                    T::add_scores(columns, values, &mean, &mut scores);
                    scores[own] = scores[own] - T::ONE;
                    let most = scores[..joint.classes]
                        .iter()
                        .fold(scores[own], |most, score| if *score > most { *score } else { most });
                    losses += joint.costs[i] * (most - scores[own]).value();
                    psi += joint.costs[i] * (1.0 - self.shares[i * stride + own].value());
                }
                (losses, psi)
            })
        });
        let half = |lines: &[T]| 0.5 * lines.iter().map(|u| u.value() * u.value()).sum::<f64>();
        let (losses, psi) =
            parts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        Some(Gap { primal: half(&mean) + losses, dual: psi - half(&self.lines) })
    }

    fn biases(&self, lines: &[T], biases: &mut [f64]) {
        let start = lines.len() - biases.len();
        let pairs = self.centres.iter().zip(&lines[start..]);
        for (bias, (centre, u)) in biases.iter_mut().zip(pairs) {
            *bias = centre.value() + self.ones.value() * u.value();
        }
    }

    fn save(&self) -> SavedCrammerSinger {
        let bits = |v: &[T]| v.iter().map(|x| x.value().to_bits()).collect();
        SavedCrammerSinger {
            single: size_of::<T>() == 4,
            shares: bits(&self.shares),
            lines: bits(&self.lines),
            sum: bits(&self.sum),
            summed: self.summed,
            centres: bits(&self.centres),
            due: self.due.clone(),
            rests: self.rests.clone(),
            gap: [0; 2],
            epochs: 0,
            next_look: 0,
            least: (0, 0),
            looked: None,
        }
    }

    fn restored(joint: &Joint, squares: &[f64], saved: &SavedCrammerSinger) -> Option<Descent<T>> {
        let mut next = Descent::new(joint, squares);
        let fits = saved.shares.len() == next.shares.len()
            && saved.lines.len() == next.lines.len()
            && saved.centres.len() == next.centres.len()
            && (saved.sum.len() == next.lines.len() || (saved.sum.is_empty() && saved.summed == 0))
            && saved.due.len() == next.due.len()
            && saved.rests.len() == next.rests.len()
            && saved.rests.iter().all(|rest| *rest <= LONGEST);
        if !fits {
            return None;
        }
        let numbers = |v: &[u64]| v.iter().map(|x| T::of(f64::from_bits(*x))).collect();
        next.shares = numbers(&saved.shares);
        next.lines = numbers(&saved.lines);
        next.sum = numbers(&saved.sum);
        next.summed = saved.summed;
        next.centres = numbers(&saved.centres);
        next.due.clone_from(&saved.due);
        next.rests.clone_from(&saved.rests);
        Some(next)
    }
}

/// Λ^{-½} of each column.
fn units(joint: &Joint) -> Vec<f64> {
    (0..joint.width()).map(|j| 1.0 / joint.penalty.curvature(j).sqrt()).collect()
}

/// How strongly biases follow Σ c (δ − p).
fn rho(joint: &Joint, squares: &[f64]) -> f64 {
    match joint.intercept {
        Intercept::None => 0.0,
        Intercept::Penalised => 1.0 / joint.penalty.l2,
        Intercept::Free => {
            let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
            if mean.is_finite() && mean > 0.0 { mean } else { 1.0 }
        }
    }
}
