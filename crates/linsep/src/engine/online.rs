//! One pass over rows, again and again: the engine of the perceptron family.
//!
//! The engine owns the order of the rows, the epochs, the [`StopRule`] and the planes; an [`UpdateRule`]
//! says what happens at a row. Rules are types whose visits are compiled once for each storage; the run
//! itself is compiled once and calls them for many rows at a time.

use super::moving::{Arrangement, Moved, Moving, MovingPlanes, Rates, bits};
use super::pass::{Pass, Passed, Rule, Standing, Survey};
use super::skipping::{Pace, Situation, Skips};
use super::stopping::StopRule;
use crate::claim::separating::{Planes, certificate_of, claim_of};
use crate::model::{LinearModel, Link, Plane};
use crate::run::{Budget, Certificate, Claim, Status, Task};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use linsep_data::matrix::Rows;
use linsep_data::read::words;
use linsep_data::rng::{Purpose, Stream};
use linsep_data::scale::{Scaler, Scaling};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

mod blocks;
mod saving;
mod training;

words! {
    /// The order in which an epoch visits the rows.
    Order: "order" {
        /// As they stand in the file.
        Cyclic = "cyclic",
        /// In a new random order each epoch.
        Shuffle = "shuffle",
        /// In a new random order of blocks of neighbouring rows, and of the rows in a block: faster than
        /// `shuffle` where the data is larger than the cache.
        Blocks = "blocks",
        /// Drawn with replacement. A clean epoch is confirmed by a pass in the order of the file.
        Random = "random",
        /// From the smallest margin to the largest, as they are at the start of the epoch.
        WorstFirst = "worst-first",
    }
}

/// What happens when a row is visited.
pub trait UpdateRule: Send + Sync + 'static {
    /// Whether some rows may be passed over: those above [`Judge::rests_above`]. Without it no loop that
    /// passes over rows is compiled.
    const RESTS: bool = true;

    /// What the rule says of rows by their margins.
    fn judge(&self) -> &dyn Judge;

    /// Corrects the planes if the row asks for it and tells what it was.
    fn visit<R: Rows>(
        &self,
        moving: &mut MovingPlanes<'_>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> Visit;
}

/// What a rule says of a row by its margin alone.
pub trait Judge {
    /// The margin above which every row is right, whatever else is to be said of it.
    fn rests_above(&self) -> Option<f64> {
        None
    }

    /// Whether a row belongs to the error set: by itself unless it is strictly on its side, written so
    /// that a margin that is not a number is wrong.
    fn is_wrong(&self, row: Standing) -> bool {
        let right = row.margin > 0.0;
        !right
    }

    /// The part of a row of margin m in the criterion that the rule goes down; `square` gives |z|², or
    /// twice that where two planes move.
    fn loss(&self, m: f64, square: &mut dyn FnMut() -> f64) -> f64;
}

/// What a visit came to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// The row asked for nothing.
    Right,
    /// The planes were corrected, but the row was on its side.
    Improved,
    /// The planes were corrected because of a mistake.
    Corrected,
}

/// What a run needs besides its rule.
pub struct Setup {
    pub task: Task,
    /// The rows that take part.
    pub rows: Vec<u32>,
    pub scaling: Scaling,
    pub scaler: Scaler,
    pub rates: Rates,
    pub start: Vec<Plane>,
    pub order: Order,
    pub until: StopRule,
    pub seed: u64,
    /// Whether the average of the planes over all visits is kept too.
    pub average: bool,
}

/// A run of the engine.
pub struct Online {
    pub(crate) task: Task,
    rule: Box<dyn Rule>,
    /// Which planes it moves.
    pub(crate) which: Planes,
    scaling: Scaling,
    pub(crate) scaler: Scaler,
    rates: Rates,
    pub(crate) rows: Vec<u32>,
    order: Order,
    until: StopRule,
    seed: u64,
    /// The rows of this epoch in the order of their visits.
    visiting: Vec<u32>,
    start: Vec<Plane>,
    /// The length of the longest row in the coordinates of the run, once it was asked for.
    longest: OnceLock<f64>,
    arrangement: Arrangement,
    /// Rows that need no evaluation for the time being, and when to find out. Both change nothing but
    /// time and are no part of a saved run.
    skips: Option<Skips>,
    pace: Pace,
    now: Now,
}

/// Everything that changes during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Now {
    /// What run this belongs to: rows, order, seed and stop rule.
    run: (u64, String, u64, String),
    /// Rows in an epoch.
    rows: u64,
    /// What was done on other data before.
    earlier: Earlier,
    epoch: u64,
    cursor: u64,
    updates: u64,
    mistakes: u64,
    /// Whether this epoch corrected rows that were on their side.
    improved: bool,
    /// Visits since the last mistake.
    unbroken: u64,
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
    /// m of the module `scale`, where columns are centred: without it nobody else could tell what the
    /// planes mean.
    #[serde(with = "bits")]
    centre: Vec<f64>,
}

/// Counters of the steps that a run made on other data before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Earlier {
    visits: u64,
    updates: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Ended {
    No,
    /// By the stop rule.
    Clean,
    Diverged,
}

impl Online {
    pub fn new(rule: impl UpdateRule, setup: Setup, which: Planes) -> Result<Online> {
        setup.scaler.check()?;
        let moving = |v: Vec<f64>, b: f64| Moving::new(v, 0.0, b);
        let planes = setup.start.iter().map(|p| moving(p.weights.clone(), p.bias)).collect();
        let late = setup.start.iter().filter(|_| setup.average);
        let late = late.map(|p| moving(vec![0.0; p.weights.len()], 0.0)).collect();
        let Setup { task, rows, scaling, scaler, rates, start, order, until, seed, .. } = setup;
        let now = Now {
            run: (fingerprint(&task.data, &rows), order.word().to_owned(), seed, until.to_string()),
            rows: rows.len() as u64,
            earlier: Earlier::default(),
            epoch: 0,
            cursor: 0,
            updates: 0,
            mistakes: 0,
            improved: false,
            unbroken: 0,
            last_mistakes: None,
            confirming: false,
            ended: Ended::No,
            planes,
            late,
            line_up: Vec::new(),
            moved: Default::default(),
            centre: scaler.centre.as_ref().map_or_else(Vec::new, |c| c.direction.clone()),
        };
        let (visiting, longest) = (Vec::new(), OnceLock::new());
        let arrangement = Arrangement::of(&now.planes, &task.data);
        let mut run = Online {
            task,
            rule: Box::new(rule),
            which,
            scaling,
            scaler,
            rates,
            rows,
            order,
            until,
            seed,
            visiting,
            start,
            longest,
            arrangement,
            skips: None,
            pace: Pace::default(),
            now,
        };
        run.line_up();
        Ok(run)
    }

    fn go_on(&mut self, budget: Budget) -> Status {
        let Budget { mut visits, mut updates } = budget;
        while visits > 0 && updates > 0 && self.now.ended == Ended::No {
            let step = match self.until {
                // A window may be full within an epoch.
                StopRule::CleanWindow => {
                    visits.min(self.now.rows.saturating_sub(self.now.unbroken))
                }
                _ => visits,
            };
            let Passed { visited, corrected, mistakes, unbroken, evaluated } =
                self.go_on_within_epoch(step, updates);
            self.pace.count(evaluated);
            visits -= visited;
            updates -= corrected;
            self.now.cursor += visited;
            self.now.updates += corrected;
            self.now.mistakes += mistakes;
            self.now.improved |= corrected > mistakes;
            self.now.unbroken = if mistakes > 0 { unbroken } else { self.now.unbroken + unbroken };
            if self.now.cursor as usize == self.visiting.len() {
                self.end_epoch();
            }
            if self.until == StopRule::CleanWindow && self.now.unbroken >= self.now.rows {
                self.now.ended = if self.is_finite() { Ended::Clean } else { Ended::Diverged };
            }
        }
        match self.now.ended {
            Ended::No => Status::Running,
            Ended::Clean => Status::Finished,
            Ended::Diverged => Status::Diverged,
        }
    }

    fn go_on_within_epoch(&mut self, visits: u64, updates: u64) -> Passed {
        let left = &self.visiting[self.now.cursor as usize..];
        let visiting = &left[..left.len().min(usize::try_from(visits).unwrap_or(usize::MAX))];
        let job = Pass { data: &self.task.data, visiting, updates };
        let moving = self.now.moving(&self.scaler, &self.rates, &mut self.arrangement);
        self.rule.pass(moving, job, self.skips.as_mut())
    }

    fn end_epoch(&mut self) {
        let met = self.stop_rule_is_met();
        self.now.improved = false;
        if !self.is_finite() {
            self.now.ended = Ended::Diverged;
        } else if met || self.rows.is_empty() {
            self.now.ended = Ended::Clean;
        }
        self.now.last_mistakes = Some(self.now.mistakes);
        self.now.epoch += 1;
        self.now.cursor = 0;
        self.now.mistakes = 0;
        self.line_up();
        if self.now.ended == Ended::No {
            self.renew_skips();
        }
    }

    /// Decides which rows of the next epoch need no evaluation.
    fn renew_skips(&mut self) {
        let resting = self.rule.judge().rests_above();
        let (Some(resting), None) = (resting, &self.scaler.centre) else { return };
        let mistakes = self.now.last_mistakes.unwrap_or(u64::MAX / 32);
        let (epoch, rows) = (self.now.epoch, self.rows.len());
        let Some(renew) = self.pace.after(epoch, rows, mistakes, self.skips.as_ref()) else {
            return;
        };
        self.skips = renew.then(|| {
            let margins = self.survey().margins();
            let (data, scaler, rows) = (&*self.task.data, &self.scaler, &self.rows[..]);
            let now = Situation { data, scaler, rows, planes: &self.now.planes, resting };
            self.pace.snapshot(&now, &margins)
        });
    }

    /// Visits so far that needed an evaluation of their row.
    #[cfg(test)]
    pub fn evaluations(&self) -> u64 {
        self.pace.all
    }

    /// The rows and planes as they are now.
    fn survey(&mut self) -> Survey<'_> {
        Survey {
            data: &self.task.data,
            rows: &self.rows,
            moving: self.now.moving(&self.scaler, &self.rates, &mut self.arrangement),
            planes: self.which,
            judge: self.rule.judge(),
        }
    }

    /// What the stop rule says at the end of an epoch.
    fn stop_rule_is_met(&mut self) -> bool {
        match self.until {
            StopRule::CleanEpoch => {
                // Planes that moved during the epoch are checked once more.
                let clean =
                    self.now.mistakes == 0 && (!self.now.improved || self.survey().all_right());
                let confirmed = self.order != Order::Random || self.now.confirming;
                self.now.confirming = clean;
                clean && confirmed
            }
            StopRule::Empty => self.survey().all_right(),
            StopRule::Below(bound) => self.survey().criterion() < bound,
            StopRule::CleanWindow | StopRule::Limit => false,
        }
    }

    fn is_finite(&self) -> bool {
        self.now.planes.iter().all(|plane| {
            plane.b.is_finite() && plane.c.is_finite() && plane.v.iter().all(|v| v.is_finite())
        })
    }

    /// Puts the rows into the order of this epoch, which follows from seed, epoch and planes.
    fn line_up(&mut self) {
        let mut stream =
            Stream::new(self.seed, Purpose::Epoch(self.now.earlier.visits + self.now.epoch));
        let rows = &self.rows;
        match self.order {
            Order::Shuffle => {
                self.visiting.clone_from(rows);
                stream.shuffle(&mut self.visiting);
            }
            Order::Blocks => self.visiting = blocks::shuffled(rows, &mut stream),
            Order::Random if !self.now.confirming => {
                let draw = |_| rows[stream.below(rows.len() as u64) as usize];
                self.visiting = (0..rows.len()).map(draw).collect();
            }
            Order::WorstFirst => {
                let margins = self.survey().margins();
                let rows = &self.rows;
                let mut order: Vec<usize> = (0..rows.len()).collect();
                // A margin of −0 is one of 0.
                order.sort_by(|&a, &b| (margins[a] + 0.0).total_cmp(&(margins[b] + 0.0)));
                self.visiting = order.into_iter().map(|k| rows[k]).collect();
                self.now.line_up.clone_from(&self.visiting);
            }
            Order::Cyclic | Order::Random => self.visiting.clone_from(rows),
        }
    }

    /// Whether the run ended by its stop rule.
    pub fn is_clean(&self) -> bool {
        self.now.ended == Ended::Clean
    }

    /// The first plane in terms of raw features, without the rest of the model.
    pub fn plane(&self) -> Plane {
        self.now.planes[0].raw(&self.scaler)
    }

    /// All planes in terms of raw features.
    fn planes(&self) -> Vec<Plane> {
        self.now.planes.iter().map(|plane| plane.raw(&self.scaler)).collect()
    }

    /// The claim that the planes separate; not checked.
    pub fn claim(&self) -> Claim {
        claim_of(&self.task.data, self.which, &self.planes())
    }

    /// What is proved of other planes in the place of its own.
    pub fn certificate_of(&self, planes: &[Plane]) -> Certificate {
        certificate_of(&self.task, self.which, planes)
    }

    /// The model with its planes averaged over all visits.
    pub fn averaged_model(&self) -> LinearModel {
        self.model_of(self.averaged_planes())
    }

    fn model_of(&self, planes: Vec<Plane>) -> LinearModel {
        let rule = match self.which {
            Planes::One(_) => crate::model::Rule::Sign,
            Planes::Joint => crate::model::Rule::ArgMax,
        };
        LinearModel::of(&self.task.data, planes, rule, Link::None)
    }

    /// The planes averaged over all visits: a step at visit t is part of the planes after it, so
    /// the average over T visits is w − Σ (t − 1) · step / T.
    fn averaged_planes(&self) -> Vec<Plane> {
        let visits = (self.now.earlier.visits + self.now.visits()).max(1) as f64;
        let average = |(plane, late): (&Moving, &Moving)| {
            let mut plane = plane.clone();
            plane.v.iter_mut().zip(&late.v).for_each(|(v, late)| *v -= late / visits);
            plane.c -= late.c / visits;
            plane.b -= late.b / visits;
            plane.raw(&self.scaler)
        };
        self.now.planes.iter().zip(&self.now.late).map(average).collect()
    }
}

impl Now {
    fn moving<'a>(
        &'a mut self,
        scaler: &'a Scaler,
        rates: &'a Rates,
        arrangement: &'a mut Arrangement,
    ) -> MovingPlanes<'a> {
        MovingPlanes {
            time: (self.earlier.visits + self.visits()) as f64,
            k: self.earlier.updates + self.updates + 1,
            planes: &mut self.planes,
            late: &mut self.late,
            scaler,
            rates,
            scratch: Vec::new(),
            arrangement,
            moved: &mut self.moved,
        }
    }

    /// Whether the counters can be those of a run: below 2^53, where they are still exact.
    fn counts(&self) -> bool {
        let Earlier { visits, updates } = self.earlier;
        let all = [visits, updates, self.epoch, self.rows, self.updates, self.visits()];
        all.iter().all(|count| is_count(*count))
            && self.mistakes <= self.cursor
            && self.unbroken <= self.visits()
    }

    /// Visits of the rows at hand.
    fn visits(&self) -> u64 {
        self.epoch.saturating_mul(self.rows).saturating_add(self.cursor)
    }
}

/// Whether a number from a file can be a counter: none that is counted up gets so far.
pub fn is_count(number: u64) -> bool {
    number < 1 << 53
}

/// Tells lists of rows, and of weights of rows, apart.
pub fn fingerprint(data: &Dataset, rows: &[u32]) -> u64 {
    let mix = |h: u64, part: u64| (h ^ part).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
    let list = rows.iter().fold(rows.len() as u64 + 0x9e37, |h, row| mix(h, u64::from(*row)));
    match data.weights() {
        None => list,
        Some(weights) => rows.iter().fold(list, |h, row| mix(h, weights[*row as usize].to_bits())),
    }
}
