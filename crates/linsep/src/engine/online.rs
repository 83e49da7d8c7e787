//! One pass over rows, again and again: the engine of the perceptron family.
//!
//! The engine owns the order of the rows, the epochs, the clean-pass rule and the planes; a
//! [`Rule`] says what happens at a row. Rules are types, compiled once for each storage; nothing
//! that is constant in a run is tested at a row.

use super::machine::{Centring, Machine, Moved, Moving, NotCentred, Rates};
use crate::data::Dataset;
use crate::data::read::words;
use crate::data::scale::{Scaler, Scaling};
use crate::data::store::{Rows, with_rows};
use crate::error::{Error, Result};
use crate::learn::update::{Beginning, Move, StartPlane, Update};
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
        /// From the smallest margin to the largest, as they are at the start of the epoch.
        WorstFirst = "worst-first",
    }
}

/// What happens when a row is visited.
pub(crate) trait Rule: Send + Sync {
    /// Corrects the planes if the row asks for it and tells what it was.
    fn visit<R: Rows, C: Centring>(
        &self,
        machine: &mut Machine<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> Visit;

    /// How far a row is on the right side.
    fn margin<R: Rows, C: Centring>(
        &self,
        machine: &mut Machine<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> f64;
}

/// What a visit came to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    /// The row asked for nothing.
    Right,
    /// The planes were corrected, but the row was on its side.
    Improved,
    /// The planes were corrected because of a mistake.
    Corrected,
}

/// What a run needs besides its rule.
pub(crate) struct Setup {
    pub(crate) data: Arc<Dataset>,
    /// The rows that take part.
    pub(crate) rows: Vec<u32>,
    pub(crate) scaling: Scaling,
    pub(crate) scaler: Scaler,
    pub(crate) rates: Rates,
    pub(crate) start: Vec<Plane>,
    pub(crate) order: Order,
    pub(crate) seed: u64,
    /// Whether the average of the planes over all visits is kept too.
    pub(crate) average: bool,
}

/// A run of the engine.
pub(crate) struct Online<U> {
    pub(crate) data: Arc<Dataset>,
    rule: U,
    scaling: Scaling,
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
    /// Rows in an epoch.
    rows: u64,
    epoch: u64,
    cursor: u64,
    updates: u64,
    mistakes: u64,
    /// Whether this epoch corrected rows that were on their side.
    improved: bool,
    last_mistakes: Option<u64>,
    /// This is the pass in the order of the file that confirms a clean random epoch.
    confirming: bool,
    ended: Ended,
    planes: Vec<Moving>,
    /// Σ (visits before) · step over all corrections, plane by plane; empty without an average.
    late: Vec<Moving>,
    /// The order of this epoch where it depends on the planes at its start.
    line_up: Vec<u32>,
    /// The last two planes that were corrected; no part of a saved run.
    #[serde(skip)]
    moved: [Moved; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Ended {
    No,
    Clean,
    Diverged,
}

impl<U: Rule> Online<U> {
    pub(crate) fn new(rule: U, setup: Setup) -> Result<Online<U>> {
        setup.scaler.check()?;
        let moving = |v: Vec<f64>, b: f64| Moving::new(v, 0.0, b);
        let planes = setup.start.iter().map(|p| moving(p.weights.clone(), p.bias));
        let late = setup.start.iter().filter(|_| setup.average);
        let late = late.map(|p| moving(vec![0.0; p.weights.len()], 0.0)).collect();
        let now = Now {
            run: (fingerprint(&setup.rows), setup.order.word().to_owned(), setup.seed),
            rows: setup.rows.len() as u64,
            epoch: 0,
            cursor: 0,
            updates: 0,
            mistakes: 0,
            improved: false,
            last_mistakes: None,
            confirming: false,
            ended: Ended::No,
            planes: planes.collect(),
            late,
            line_up: Vec::new(),
            moved: Default::default(),
        };
        let Setup { data, rows, scaling, scaler, rates, start, order, seed, .. } = setup;
        let mut run = Online {
            data,
            rule,
            scaling,
            scaler,
            rates,
            rows,
            order,
            seed,
            visiting: Vec::new(),
            start,
            longest: OnceLock::new(),
            now,
        };
        run.line_up();
        Ok(run)
    }

    /// See [`crate::learn::Training::advance`].
    pub(crate) fn advance(&mut self, budget: Budget) -> Status {
        let Budget { mut visits, mut updates } = budget;
        while visits > 0 && updates > 0 && self.now.ended == Ended::No {
            let (visited, corrected, mistakes) = self.advance_within_epoch(visits, updates);
            visits -= visited;
            updates -= corrected;
            self.now.cursor += visited;
            self.now.updates += corrected;
            self.now.mistakes += mistakes;
            self.now.improved |= corrected > mistakes;
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

    /// Rows visited, corrections made, and how many of these for a mistake.
    fn advance_within_epoch(&mut self, visits: u64, updates: u64) -> (u64, u64, u64) {
        let left = &self.visiting[self.now.cursor as usize..];
        let visiting = &left[..left.len().min(usize::try_from(visits).unwrap_or(usize::MAX))];
        let job = Pass { targets: self.data.targets(), visiting, updates };
        work(&self.data, &self.rule, &self.scaler, &self.rates, &mut self.now, job)
    }

    fn end_epoch(&mut self) {
        // Planes that moved during the epoch are looked at once more.
        let clean = self.now.mistakes == 0 && (!self.now.improved || self.every_row_is_right());
        self.now.improved = false;
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

    fn every_row_is_right(&mut self) -> bool {
        let job = Margins { targets: self.data.targets(), rows: &self.rows };
        let margins = work(&self.data, &self.rule, &self.scaler, &self.rates, &mut self.now, job);
        margins.iter().all(|margin| *margin > 0.0)
    }

    /// Puts the rows into the order of this epoch, which follows from seed, epoch and planes.
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
            Order::WorstFirst => {
                let job = Margins { targets: self.data.targets(), rows };
                let margins =
                    work(&self.data, &self.rule, &self.scaler, &self.rates, &mut self.now, job);
                let mut order: Vec<usize> = (0..rows.len()).collect();
                // A margin of −0 is one of 0.
                order.sort_by(|&a, &b| (margins[a] + 0.0).total_cmp(&(margins[b] + 0.0)));
                self.visiting = order.into_iter().map(|k| rows[k]).collect();
                self.now.line_up.clone_from(&self.visiting);
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
        self.now.planes.iter().map(|plane| plane.raw(&self.scaler)).collect()
    }

    /// See [`crate::learn::Training::beginnings`].
    pub(crate) fn beginning(&self, positive: Option<u32>) -> Beginning {
        let plane =
            |plane: &Moving| StartPlane { weights: plane.v.clone(), bias: plane.b, shift: plane.c };
        Beginning {
            positive,
            planes: self.now.planes.iter().map(plane).collect(),
            scaling: self.scaling,
            rows: self.rows.clone(),
            batch: false,
            updates: self.now.updates,
        }
    }

    /// The last update, if there was one.
    pub(crate) fn last_update(&self) -> Option<Update> {
        let [first, last] = self.now.moved;
        // A correction of several planes moves two of them: its own, then the rival.
        let (moved, rival) = match self.now.planes.len() {
            1 => (last, None),
            _ => (first, Some(last.plane)),
        };
        let step = Move { row: moved.row, plane: moved.plane, rival, step: moved.step };
        // At the start of an epoch the last visit belongs to the one before.
        let epoch = self.now.epoch + u64::from(self.now.cursor > 0);
        let number = self.now.updates;
        let update = Update { machine: 0, number, epoch, rate: None, moves: vec![step] };
        (number > 0).then_some(update)
    }

    /// The first of them.
    pub(crate) fn first_plane(&self) -> Plane {
        self.now.planes[0].raw(&self.scaler)
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
            plane.raw(&self.scaler)
        };
        self.now.planes.iter().zip(&self.now.late).map(average).collect()
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
        let square = |&row: &u32| self.scaler.square_of(&self.data, row as usize);
        self.rows.iter().map(square).fold(0.0, f64::max).sqrt()
    }

    pub(crate) fn save(&self) -> State {
        State::encode(&self.now)
    }

    pub(crate) fn restore(&mut self, state: &State) -> Result<()> {
        let now: Now = state.decode()?;
        let fits = now.run == self.now.run
            && now.rows == self.now.rows
            && now.planes.len() == self.now.planes.len()
            && now.late.len() == self.now.late.len()
            && now.planes.iter().zip(&self.now.planes).all(|(a, b)| a.v.len() == b.v.len())
            && now.late.iter().zip(&self.now.late).all(|(a, b)| a.v.len() == b.v.len())
            && now.cursor <= self.rows.len() as u64;
        if !fits {
            return Err(Error::usage("the saved state belongs to a run on other data"));
        }
        let line_up_fits = now.line_up.is_empty()
            || (self.order == Order::WorstFirst && same_rows(&now.line_up, &self.rows));
        if !line_up_fits {
            return Err(Error::usage("the saved state belongs to a run on other data"));
        }
        self.now = now;
        match self.now.line_up.is_empty() {
            true => self.line_up(),
            false => self.visiting.clone_from(&self.now.line_up),
        }
        Ok(())
    }
}

/// Tells lists of rows apart.
pub(crate) fn fingerprint(rows: &[u32]) -> u64 {
    let mix =
        |h: u64, row: &u32| (h ^ u64::from(*row)).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
    rows.iter().fold(rows.len() as u64 + 0x9e37, mix)
}

/// Whether two lists hold the same rows in whatever order.
fn same_rows(a: &[u32], b: &[u32]) -> bool {
    let sorted = |rows: &[u32]| {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        rows
    };
    sorted(a) == sorted(b)
}

/// Work that needs the planes and the rows as concrete types.
trait Job<U> {
    type Out;
    fn run<R: Rows, C: Centring>(self, rule: &U, machine: Machine<'_, C>, rows: &R) -> Self::Out;
}

/// Runs a job: the one place where the engine branches on storage and centring.
fn work<U, J: Job<U>>(
    data: &Dataset,
    rule: &U,
    scaler: &Scaler,
    rates: &Rates,
    now: &mut Now,
    job: J,
) -> J::Out {
    let (square, row_scale) = (scaler.square.as_deref(), scaler.row_factor.as_deref());
    let time = (now.epoch * now.rows + now.cursor) as f64;
    let (planes, late, k) = (&mut now.planes[..], &mut now.late[..], now.updates + 1);
    let (scratch, moved) = (Vec::new(), &mut now.moved);
    with_rows!(data.store, rows => match &scaler.centre {
        None => {
            let centring = NotCentred;
            let machine = Machine {
                planes, late, time, k, square, row_scale, rates, centring, scratch, moved,
            };
            job.run(rule, machine, rows)
        }
        Some(centring) => {
            let machine = Machine {
                planes, late, time, k, square, row_scale, rates, centring, scratch, moved,
            };
            job.run(rule, machine, rows)
        }
    })
}

/// The hot loop: visits rows until they or the updates run out.
struct Pass<'a> {
    targets: &'a [u32],
    visiting: &'a [u32],
    updates: u64,
}

impl<U: Rule> Job<U> for Pass<'_> {
    /// Rows visited, corrections made, and how many of these for a mistake.
    type Out = (u64, u64, u64);

    fn run<R: Rows, C: Centring>(
        self,
        rule: &U,
        mut machine: Machine<'_, C>,
        rows: &R,
    ) -> (u64, u64, u64) {
        let (mut corrected, mut mistakes) = (0, 0);
        for (visited, &row) in self.visiting.iter().enumerate() {
            let row = row as usize;
            let visit = rule.visit(&mut machine, rows, row, self.targets[row]);
            if visit != Visit::Right {
                corrected += 1;
                mistakes += u64::from(visit == Visit::Corrected);
                machine.k += 1;
                if corrected == self.updates {
                    return (visited as u64 + 1, corrected, mistakes);
                }
            }
            machine.time += 1.0;
        }
        (self.visiting.len() as u64, corrected, mistakes)
    }
}

/// The margins of rows, one after the other.
struct Margins<'a> {
    targets: &'a [u32],
    rows: &'a [u32],
}

impl<U: Rule> Job<U> for Margins<'_> {
    type Out = Vec<f64>;

    fn run<R: Rows, C: Centring>(
        self,
        rule: &U,
        mut machine: Machine<'_, C>,
        rows: &R,
    ) -> Vec<f64> {
        let mut margin =
            |&row: &u32| rule.margin(&mut machine, rows, row as usize, self.targets[row as usize]);
        self.rows.iter().map(&mut margin).collect()
    }
}
