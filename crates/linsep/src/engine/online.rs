//! One pass over rows, again and again: the engine of the perceptron family.
//!
//! The engine owns the order of the rows, the epochs, the clean-pass rule and the planes; a
//! [`Rule`] says what happens at a row. Rules are types, compiled once for each storage; nothing
//! that is constant in a run is tested at a row.

use crate::data::Dataset;
use crate::data::read::words;
use crate::data::scale::{Centre, Scaler};
use crate::data::store::{Row, Rows, with_rows};
use crate::error::{Error, Result};
use crate::learn::{Budget, Progress, State, Status};
use crate::model::Plane;
use crate::rng::{Purpose, Stream};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

words! {
    /// The order in which an epoch visits the rows.
    Order: "order" {
        /// As they stand in the file.
        Cyclic = "cyclic",
        /// In a new random order each epoch.
        Shuffle = "shuffle",
        /// Drawn with replacement. A clean epoch is confirmed by a pass in the order of the file.
        Random = "random",
    }
}

/// What happens when a row is visited.
pub(crate) trait Rule: Send + Sync {
    /// Corrects the planes if the row asks for it and tells whether it did.
    fn visit<R: Rows, C: Centring>(
        &self,
        machine: &mut Machine<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> bool;
}

/// What a run needs besides its rule.
pub(crate) struct Setup {
    pub(crate) data: Arc<Dataset>,
    /// The rows that take part.
    pub(crate) rows: Vec<u32>,
    pub(crate) scaler: Scaler,
    pub(crate) rates: Rates,
    pub(crate) start: Vec<Plane>,
    pub(crate) order: Order,
    pub(crate) seed: u64,
    /// Whether the average of the planes over all visits is kept too.
    pub(crate) average: bool,
}

/// The step size of each row.
pub(crate) struct Rates {
    pub(crate) eta: f64,
    /// Row weights, class weights and row scales multiplied, where any of them is not 1.
    pub(crate) factors: Option<Vec<f64>>,
}

/// A run of the engine.
pub(crate) struct Online<U> {
    pub(crate) data: Arc<Dataset>,
    rule: U,
    scaler: Scaler,
    rates: Rates,
    rows: Vec<u32>,
    order: Order,
    seed: u64,
    /// The rows of this epoch in the order of their visits.
    visiting: Vec<u32>,
    start: Vec<Plane>,
    /// The length of the longest row in the coordinates of the run, once it was asked for.
    longest: OnceLock<f64>,
    now: Now,
}

/// Everything that changes during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Now {
    /// What run this belongs to: rows, order and seed.
    run: (u64, String, u64),
    epoch: u64,
    cursor: u64,
    updates: u64,
    mistakes: u64,
    last_mistakes: Option<u64>,
    /// This is the pass in the order of the file that confirms a clean random epoch.
    confirming: bool,
    ended: Ended,
    planes: Vec<Moving>,
    /// Σ (visits before) · step over all corrections, plane by plane; empty without an average.
    late: Vec<Moving>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Ended {
    No,
    Clean,
    Diverged,
}

/// A plane in motion: v, c and b of the module `scale`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Moving {
    #[serde(with = "bits")]
    v: Vec<f64>,
    #[serde(with = "bits::one")]
    c: f64,
    #[serde(with = "bits::one")]
    b: f64,
    /// Σ |step|.
    #[serde(with = "bits::one")]
    pulled: f64,
}

/// Numbers are saved by their bits, so that a run that left their range can be saved too.
mod bits {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(v: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(v.iter().map(|x| x.to_bits()))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<u64>::deserialize(d)?.into_iter().map(f64::from_bits).collect())
    }

    pub(super) mod one {
        use super::*;

        pub(in super::super) fn serialize<S: Serializer>(x: &f64, s: S) -> Result<S::Ok, S::Error> {
            x.to_bits().serialize(s)
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
            d: D,
        ) -> Result<f64, D::Error> {
            u64::deserialize(d).map(f64::from_bits)
        }
    }
}

impl<U: Rule> Online<U> {
    pub(crate) fn new(rule: U, setup: Setup) -> Result<Online<U>> {
        setup.scaler.check()?;
        let moving = |v: Vec<f64>, b: f64| Moving { v, c: 0.0, b, pulled: 0.0 };
        let planes = setup.start.iter().map(|p| moving(p.weights.clone(), p.bias));
        let late = setup.start.iter().filter(|_| setup.average);
        let late = late.map(|p| moving(vec![0.0; p.weights.len()], 0.0)).collect();
        let now = Now {
            run: (fingerprint(&setup.rows), setup.order.word().to_owned(), setup.seed),
            epoch: 0,
            cursor: 0,
            updates: 0,
            mistakes: 0,
            last_mistakes: None,
            confirming: false,
            ended: Ended::No,
            planes: planes.collect(),
            late,
        };
        let Setup { data, rows, scaler, rates, start, order, seed, .. } = setup;
        let (visiting, longest) = (Vec::new(), OnceLock::new());
        let mut run =
            Online { data, rule, scaler, rates, rows, order, seed, visiting, start, longest, now };
        run.line_up();
        Ok(run)
    }

    /// See [`crate::learn::Training::advance`].
    pub(crate) fn advance(&mut self, budget: Budget) -> Status {
        let Budget { mut visits, mut updates } = budget;
        while visits > 0 && updates > 0 && self.now.ended == Ended::No {
            let (visited, corrected) = self.advance_within_epoch(visits, updates);
            visits -= visited;
            updates -= corrected;
            self.now.cursor += visited;
            self.now.updates += corrected;
            self.now.mistakes += corrected;
            if self.now.cursor as usize == self.visiting.len() {
                self.end_epoch();
            }
        }
        match self.now.ended {
            Ended::No => Status::Running,
            Ended::Clean => Status::Finished,
            Ended::Diverged => Status::Diverged,
        }
    }

    /// Rows visited and corrections made.
    fn advance_within_epoch(&mut self, visits: u64, updates: u64) -> (u64, u64) {
        let left = &self.visiting[self.now.cursor as usize..];
        let visiting = &left[..left.len().min(usize::try_from(visits).unwrap_or(usize::MAX))];
        let targets = self.data.targets();
        let (square, rates, rule) = (self.scaler.square.as_deref(), &self.rates, &self.rule);
        let (planes, late) = (&mut self.now.planes[..], &mut self.now.late[..]);
        let time = (self.now.epoch * self.rows.len() as u64 + self.now.cursor) as f64;
        let scratch = Vec::new();
        with_rows!(self.data.store, rows => match &self.scaler.centre {
            None => {
                let machine = Machine { planes, late, time, square, rates, centring: NotCentred, scratch };
                pass(rule, machine, rows, targets, visiting, updates)
            }
            Some(centre) => {
                let machine = Machine { planes, late, time, square, rates, centring: centre, scratch };
                pass(rule, machine, rows, targets, visiting, updates)
            }
        })
    }

    fn end_epoch(&mut self) {
        let clean = self.now.mistakes == 0;
        let finite = self.now.planes.iter().all(|plane| {
            plane.b.is_finite() && plane.c.is_finite() && plane.v.iter().all(|v| v.is_finite())
        });
        if !finite {
            self.now.ended = Ended::Diverged;
        } else if clean && (self.order != Order::Random || self.now.confirming) {
            self.now.ended = Ended::Clean;
        }
        self.now.confirming = clean;
        self.now.last_mistakes = Some(self.now.mistakes);
        self.now.epoch += 1;
        self.now.cursor = 0;
        self.now.mistakes = 0;
        self.line_up();
    }

    /// Puts the rows into the order of this epoch, which follows from seed and epoch alone.
    fn line_up(&mut self) {
        let mut stream = Stream::new(self.seed, Purpose::Epoch(self.now.epoch));
        let rows = &self.rows;
        match self.order {
            Order::Shuffle => {
                self.visiting.clone_from(rows);
                stream.shuffle(&mut self.visiting);
            }
            Order::Random if !self.now.confirming => {
                let draw = |_| rows[stream.below(rows.len() as u64) as usize];
                self.visiting = (0..rows.len()).map(draw).collect();
            }
            Order::Cyclic | Order::Random => self.visiting.clone_from(rows),
        }
    }

    pub(crate) fn epoch_rows(&self) -> u64 {
        self.rows.len() as u64
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress {
            epochs: self.now.epoch,
            visits: self.now.epoch * self.epoch_rows() + self.now.cursor,
            updates: self.now.updates,
            last_mistakes: self.now.last_mistakes,
        }
    }

    /// Whether the last full pass was clean.
    pub(crate) fn is_clean(&self) -> bool {
        self.now.ended == Ended::Clean
    }

    /// The planes in terms of raw features.
    pub(crate) fn planes(&self) -> Vec<Plane> {
        self.now.planes.iter().map(|plane| self.raw(plane)).collect()
    }

    /// The planes averaged over all visits: a step at visit t is part of the planes after it, so
    /// the average over T visits is w − Σ (t − 1) · step / T.
    pub(crate) fn averaged_planes(&self) -> Vec<Plane> {
        let visits = self.progress().visits.max(1) as f64;
        let average = |(plane, late): (&Moving, &Moving)| {
            let mut plane = plane.clone();
            plane.v.iter_mut().zip(&late.v).for_each(|(v, late)| *v -= late / visits);
            plane.c -= late.c / visits;
            plane.b -= late.b / visits;
            self.raw(&plane)
        };
        self.now.planes.iter().zip(&self.now.late).map(average).collect()
    }

    /// u = v − c·m.
    fn raw(&self, plane: &Moving) -> Plane {
        let mut weights = plane.v.clone();
        if let Some(centre) = &self.scaler.centre {
            weights.iter_mut().zip(&centre.direction).for_each(|(w, m)| *w -= plane.c * m);
        }
        Plane { weights, bias: plane.b }
    }

    /// An upper bound on the margin of any planes of unit length, in the coordinates of the run:
    /// |w − w₀| / Σ step, because (w − w₀) / Σ step is a blend of the (Kesler) rows. Rounded up:
    /// k steps of at most Σ step · R each lose no more than k·ε(|w₀| + 2R Σ step). `None` before
    /// the first correction and where rows or columns are shifted or scaled one by one.
    pub(crate) fn margin_ceiling(&self) -> Option<f64> {
        if self.scaler.centre.is_some() || self.scaler.row_factor.is_some() {
            return None;
        }
        let several = self.now.planes.len() > 1;
        // Each correction of several planes moves two of them.
        let halves = if several { 2.0 } else { 1.0 };
        let pulled: f64 = self.now.planes.iter().map(|plane| plane.pulled).sum::<f64>() / halves;
        let (mut moved, mut from) = (0.0, 0.0);
        for (plane, start) in self.now.planes.iter().zip(&self.start) {
            let length = |x: f64, j: usize| (x / self.scaler.scale(j)).powi(2);
            moved += (plane.b - start.bias).powi(2);
            from += start.bias.powi(2);
            for (j, (v, v0)) in plane.v.iter().zip(&start.weights).enumerate() {
                moved += length(v - v0, j);
                from += length(*v0, j);
            }
        }
        let longest = self.longest.get_or_init(|| self.longest_row()) * halves.sqrt();
        let (updates, terms) = (self.now.updates as f64, (self.start.len() * 8) as f64);
        let lost = 2.0 * updates * f64::EPSILON * (from.sqrt() + 2.0 * longest * pulled);
        let roundings = 1.0 + (terms + self.data.n_features() as f64 + updates) * f64::EPSILON;
        let ceiling = (moved.sqrt() * roundings + lost) / pulled * roundings;
        ceiling.is_finite().then_some(ceiling)
    }

    /// The length of the longest row (1, x) in the coordinates of the run.
    fn longest_row(&self) -> f64 {
        let mut scratch = Vec::new();
        let square = |&row: &u32| {
            let mut square = 1.0;
            self.data.store.for_each(row as usize, &mut scratch, |j, x| {
                square += (x * self.scaler.scale(j as usize)).powi(2)
            });
            square
        };
        self.rows.iter().map(square).fold(0.0, f64::max).sqrt()
    }

    pub(crate) fn save(&self) -> State {
        State::encode(&self.now)
    }

    pub(crate) fn restore(&mut self, state: &State) -> Result<()> {
        let now: Now = state.decode()?;
        let fits = now.run == self.now.run
            && now.planes.len() == self.now.planes.len()
            && now.late.len() == self.now.late.len()
            && now.planes.iter().zip(&self.now.planes).all(|(a, b)| a.v.len() == b.v.len())
            && now.late.iter().zip(&self.now.late).all(|(a, b)| a.v.len() == b.v.len())
            && now.cursor <= self.rows.len() as u64;
        if !fits {
            return Err(Error::usage("the saved state belongs to a run on other data"));
        }
        self.now = now;
        self.line_up();
        Ok(())
    }
}

/// Tells lists of rows apart.
fn fingerprint(rows: &[u32]) -> u64 {
    let mix =
        |h: u64, row: &u32| (h ^ u64::from(*row)).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
    rows.iter().fold(rows.len() as u64 + 0x9e37, mix)
}

/// The hot loop: visits rows until they or the updates run out.
fn pass<U: Rule, R: Rows, C: Centring>(
    rule: &U,
    mut machine: Machine<'_, C>,
    rows: &R,
    targets: &[u32],
    visiting: &[u32],
    updates: u64,
) -> (u64, u64) {
    let mut corrected = 0;
    for (visited, &row) in visiting.iter().enumerate() {
        let row = row as usize;
        if rule.visit(&mut machine, rows, row, targets[row]) {
            corrected += 1;
            if corrected == updates {
                return (visited as u64 + 1, corrected);
            }
        }
        machine.time += 1.0;
    }
    (visiting.len() as u64, corrected)
}

/// The planes and everything needed to score a row and to correct them.
pub(crate) struct Machine<'a, C> {
    planes: &'a mut [Moving],
    late: &'a mut [Moving],
    /// Visits before this one.
    time: f64,
    square: Option<&'a [f64]>,
    rates: &'a Rates,
    centring: C,
    scratch: Vec<f64>,
}

impl<C: Centring> Machine<'_, C> {
    pub(crate) fn n_planes(&self) -> usize {
        self.planes.len()
    }

    /// The score of a row on one plane.
    #[inline]
    pub(crate) fn score<R: Rows>(&self, rows: &R, row: usize, plane: usize) -> f64 {
        let plane = &self.planes[plane];
        rows.dot(row, &plane.v) + plane.b - self.centring.shift(plane.c, row)
    }

    /// Calls `each` with the score of a row on every plane.
    #[inline]
    pub(crate) fn scores<R: Rows>(
        &mut self,
        rows: &R,
        row: usize,
        mut each: impl FnMut(usize, f64),
    ) {
        let values = rows.row(row, &mut self.scratch);
        for (k, plane) in self.planes.iter().enumerate() {
            each(k, values.dot(&plane.v) + plane.b - self.centring.shift(plane.c, row));
        }
    }

    /// Adds `direction` (+1 or −1) times the row, at its rate, to one plane.
    pub(crate) fn correct<R: Rows>(&mut self, rows: &R, row: usize, plane: usize, direction: f64) {
        let factor = self.rates.factors.as_ref().map_or(1.0, |factors| factors[row]);
        let a = direction * (self.rates.eta * factor);
        let step = self.centring.bias_step(row);
        let values = rows.row(row, &mut self.scratch);
        self.planes[plane].add(values, a, self.square, step);
        if let Some(late) = self.late.get_mut(plane) {
            late.add(values, a * self.time, self.square, step);
        }
    }
}

impl Moving {
    /// Adds a times a row.
    fn add(&mut self, values: impl Row, a: f64, square: Option<&[f64]>, bias_step: f64) {
        match square {
            None => values.add_to(a, &mut self.v),
            Some(square) => values.add_scaled_to(a, square, &mut self.v),
        }
        self.c += a;
        self.b += a * bias_step;
        self.pulled += a.abs();
    }
}

/// Centred columns or not, as a type.
pub(crate) trait Centring: Copy {
    /// c·q.
    fn shift(self, c: f64, row: usize) -> f64;
    /// 1 − q + μ·m.
    fn bias_step(self, row: usize) -> f64;
}

/// Columns as they are.
#[derive(Clone, Copy)]
pub(crate) struct NotCentred;

impl Centring for NotCentred {
    #[inline]
    fn shift(self, _: f64, _: usize) -> f64 {
        0.0
    }

    #[inline]
    fn bias_step(self, _: usize) -> f64 {
        1.0
    }
}

impl Centring for &Centre {
    #[inline]
    fn shift(self, c: f64, row: usize) -> f64 {
        c * self.offsets[row]
    }

    #[inline]
    fn bias_step(self, row: usize) -> f64 {
        1.0 - self.offsets[row] + self.constant
    }
}
