//! What an online run does with rows and planes: visits, margins, losses. The hot loop stands here.
//! It asks the memory for rows some visits before they are needed, because in a random order nobody
//! else can know which will be next.

use super::moving::{Arrangement, Centring, Moved, Moving, MovingPlanes, NotCentred, Rates};
use super::online::{UpdateRule, Visit};
use super::skipping::RowFilter;
use linsep_data::Dataset;
use linsep_data::matrix::{Rows, with_rows};
use linsep_data::scale::Scaler;

/// Work that needs the planes and the rows as concrete types.
pub(super) trait Job<U> {
    type Out;
    fn run<R: Rows, C: Centring>(
        self,
        rule: &U,
        machine: MovingPlanes<'_, C>,
        rows: &R,
    ) -> Self::Out;
}

/// Planes that a job may move, and where the run is.
pub(super) struct Moves<'a> {
    pub(super) planes: &'a mut [Moving],
    pub(super) late: &'a mut [Moving],
    pub(super) arrangement: &'a mut Arrangement,
    /// The last two planes that were corrected.
    pub(super) moved: &'a mut [Moved; 2],
    /// Visits so far.
    pub(super) time: f64,
    /// The number of the next correction.
    pub(super) k: u64,
}

/// Runs a job: the one place where the engine branches on storage and centring.
pub(super) fn work<U, J: Job<U>>(
    data: &Dataset,
    rule: &U,
    scaler: &Scaler,
    rates: &Rates,
    moves: Moves<'_>,
    job: J,
) -> J::Out {
    let (square, row_scale) = (scaler.square.as_deref(), scaler.row_factor.as_deref());
    let Moves { planes, late, arrangement, moved, time, k } = moves;
    let scratch = Vec::new();
    with_rows!(data.store(), rows => match &scaler.centre {
        None => {
            let centring = NotCentred;
            let machine = MovingPlanes {
                planes, late, time, k, square, row_scale, rates, centring, scratch, arrangement, moved,
            };
            job.run(rule, machine, rows)
        }
        Some(centring) => {
            let machine = MovingPlanes {
                planes, late, time, k, square, row_scale, rates, centring, scratch, arrangement, moved,
            };
            job.run(rule, machine, rows)
        }
    })
}

/// The hot loop: visits rows until they or the updates run out.
pub(super) struct Pass<'a, L> {
    pub(super) targets: &'a [u32],
    pub(super) visiting: &'a [u32],
    pub(super) updates: u64,
    pub(super) look: L,
}

/// What a pass over some rows came to.
pub(super) struct Passed {
    pub(super) visited: u64,
    pub(super) corrected: u64,
    /// Corrections because of a mistake.
    pub(super) mistakes: u64,
    /// Visits after the last mistake, or all of them.
    pub(super) unbroken: u64,
    /// Visits that needed a look at the row.
    pub(super) looked: u64,
}

impl<U: UpdateRule, L: RowFilter> Job<U> for Pass<'_, L> {
    type Out = Passed;

    fn run<R: Rows, C: Centring>(
        mut self,
        rule: &U,
        mut machine: MovingPlanes<'_, C>,
        rows: &R,
    ) -> Passed {
        let (mut corrected, mut mistakes, mut broken, mut skipped) = (0, 0, 0, 0);
        let mut visits = 0;
        for (visited, &row) in self.visiting.iter().enumerate() {
            let passes = |row: u32| self.look.passes(row as usize, self.targets[row as usize]);
            machine.prefetch(rows, &self.visiting[visited..], passes);
            visits = visited as u64 + 1;
            let row = row as usize;
            if self.look.passes(row, self.targets[row]) {
                skipped += 1;
                machine.time += 1.0;
                continue;
            }
            let visit = rule.visit(&mut machine, rows, row, self.targets[row]);
            if visit != Visit::Right {
                self.look.follow(rows, machine.planes, machine.square, machine.moved);
                corrected += 1;
                if visit == Visit::Corrected {
                    mistakes += 1;
                    broken = visits;
                }
                machine.k += 1;
                if corrected == self.updates {
                    break;
                }
            }
            machine.time += 1.0;
        }
        let (unbroken, looked) = (visits - broken, visits - skipped);
        Passed { visited: visits, corrected, mistakes, unbroken, looked }
    }
}

/// Whether no row is wrong; the first that is ends the look.
pub(super) struct AllRight<'a> {
    pub(super) targets: &'a [u32],
    pub(super) rows: &'a [u32],
}

impl<U: UpdateRule> Job<U> for AllRight<'_> {
    type Out = bool;

    fn run<R: Rows, C: Centring>(
        self,
        rule: &U,
        mut machine: MovingPlanes<'_, C>,
        rows: &R,
    ) -> bool {
        let mut wrong = |&row: &u32| {
            rule.is_wrong(&mut machine, rows, row as usize, self.targets[row as usize])
        };
        !self.rows.iter().any(&mut wrong)
    }
}

/// Σ weight · loss over rows, one after the other.
pub(super) struct Losses<'a> {
    pub(super) data: &'a Dataset,
    pub(super) rows: &'a [u32],
}

impl<U: UpdateRule> Job<U> for Losses<'_> {
    type Out = f64;

    fn run<R: Rows, C: Centring>(
        self,
        rule: &U,
        mut machine: MovingPlanes<'_, C>,
        rows: &R,
    ) -> f64 {
        let mut sum = 0.0;
        for &row in self.rows {
            let row = row as usize;
            let loss = rule.loss(&mut machine, rows, row, self.data.class_of(row));
            sum += self.data.weight(row) * loss;
        }
        sum
    }
}

/// The margins of rows, one after the other.
pub(super) struct Margins<'a> {
    pub(super) targets: &'a [u32],
    pub(super) rows: &'a [u32],
}

impl<U: UpdateRule> Job<U> for Margins<'_> {
    type Out = Vec<f64>;

    fn run<R: Rows, C: Centring>(
        self,
        rule: &U,
        mut machine: MovingPlanes<'_, C>,
        rows: &R,
    ) -> Vec<f64> {
        let mut margin =
            |&row: &u32| rule.margin(&mut machine, rows, row as usize, self.targets[row as usize]);
        self.rows.iter().map(&mut margin).collect()
    }
}
