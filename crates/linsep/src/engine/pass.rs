//! What an online run does with rows and planes: visits and margins. The hot loop stands here.
//! It asks the memory for rows some visits before they are needed, because in a random order nobody
//! else can know which will be next.
//!
//! Only the visits are compiled for each rule and storage: a run calls them through [`Rule`], once for all
//! rows of a slice of work. Everything else that a run has to know of rows follows from their margins.

use super::moving::MovingPlanes;
use super::online::{Judge, UpdateRule, Visit};
use super::skipping::{EveryRow, RowFilter, Skips};
use crate::claim::separating::Planes;
use linsep_data::Dataset;
use linsep_data::matrix::{Rows, with_rows};

/// A rule as a run sees it: one call for many visits.
pub(super) trait Rule: Send + Sync {
    /// What the rule says of rows by their margins.
    fn judge(&self) -> &dyn Judge;

    /// Visits rows until they or the updates run out. Those that `skips` knows to be right are passed over.
    fn pass(&self, moving: MovingPlanes<'_>, job: Pass<'_>, skips: Option<&mut Skips>) -> Passed;
}

/// Rows to be visited.
pub(super) struct Pass<'a> {
    pub(super) data: &'a Dataset,
    pub(super) visiting: &'a [u32],
    /// The most updates.
    pub(super) updates: u64,
}

/// What a pass over some rows came to.
pub(super) struct Passed {
    pub(super) visited: u64,
    pub(super) corrected: u64,
    /// Corrections because of a mistake.
    pub(super) mistakes: u64,
    /// Visits after the last mistake, or all of them.
    pub(super) unbroken: u64,
    /// Visits that needed an evaluation of the row.
    pub(super) evaluated: u64,
}

impl<U: UpdateRule> Rule for U {
    fn judge(&self) -> &dyn Judge {
        UpdateRule::judge(self)
    }

    fn pass(&self, moving: MovingPlanes<'_>, job: Pass<'_>, skips: Option<&mut Skips>) -> Passed {
        with_rows!(job.data.store(), rows => match skips {
            Some(skips) if U::RESTS => visit_all(self, moving, rows, job, skips),
            _ => visit_all(self, moving, rows, job, EveryRow),
        })
    }
}

/// The hot loop.
fn visit_all<U: UpdateRule, R: Rows>(
    rule: &U,
    mut moving: MovingPlanes<'_>,
    rows: &R,
    job: Pass<'_>,
    mut filter: impl RowFilter,
) -> Passed {
    let (targets, visiting) = (job.data.targets(), job.visiting);
    let (mut corrected, mut mistakes, mut broken, mut skipped) = (0, 0, 0, 0);
    let mut visits = 0;
    for (visited, &row) in visiting.iter().enumerate() {
        let passes = |row: u32| filter.passes(row as usize, targets[row as usize]);
        moving.prefetch(rows, &visiting[visited..], passes);
        visits = visited as u64 + 1;
        let row = row as usize;
        if filter.passes(row, targets[row]) {
            skipped += 1;
            moving.time += 1.0;
            continue;
        }
        let visit = rule.visit(&mut moving, rows, row, targets[row]);
        if visit != Visit::Right {
            filter.follow(rows, moving.planes, moving.scaler.square.as_deref(), moving.moved);
            corrected += 1;
            if visit == Visit::Corrected {
                mistakes += 1;
                broken = visits;
            }
            moving.k += 1;
            if corrected == job.updates {
                break;
            }
        }
        moving.time += 1.0;
    }
    let (unbroken, evaluated) = (visits - broken, visits - skipped);
    Passed { visited: visits, corrected, mistakes, unbroken, evaluated }
}

/// How a row stands to the planes.
#[derive(Clone, Copy)]
pub struct Standing {
    /// How far the row is on the right side.
    pub margin: f64,
    /// Whether a margin of 0 is right in prediction: of one plane the positive class has it, of several the
    /// earlier class.
    pub tie_is_right: bool,
}

/// What is done with a row: its number, how it stands, what gives |z|²; false ends the survey.
type Take<'a> = dyn FnMut(usize, Standing, &mut dyn FnMut() -> f64) -> bool + 'a;

/// Rows that are measured against planes at rest.
pub(super) struct Survey<'a> {
    pub(super) data: &'a Dataset,
    pub(super) rows: &'a [u32],
    pub(super) moving: MovingPlanes<'a>,
    pub(super) planes: Planes,
    pub(super) judge: &'a dyn Judge,
}

impl Survey<'_> {
    /// The margins of the rows.
    pub(super) fn margins(self) -> Vec<f64> {
        let mut margins = Vec::with_capacity(self.rows.len());
        self.each(&mut |_, row, _| {
            margins.push(row.margin);
            true
        });
        margins
    }

    /// Whether no row is wrong; the first that is ends the survey.
    pub(super) fn all_right(self) -> bool {
        let (judge, mut right) = (self.judge, true);
        self.each(&mut |_, row, _| {
            right = !judge.is_wrong(row);
            right
        });
        right
    }

    /// Σ weight · loss over the rows, one after the other.
    pub(super) fn criterion(self) -> f64 {
        let (data, judge, mut sum) = (self.data, self.judge, 0.0);
        self.each(&mut |at, row, square| {
            sum += data.weight(at) * judge.loss(row.margin, square);
            true
        });
        sum
    }

    /// Calls `take` with each row until it has seen enough; |z|² is twice that of the row where two planes
    /// move.
    fn each(self, take: &mut Take<'_>) {
        let Survey { data, rows, mut moving, planes, .. } = self;
        with_rows!(data.store(), store => for &row in rows {
            let (row, class) = (row as usize, data.class_of(row as usize));
            let (margin, tie_is_right, both) = match planes {
                Planes::One(positive) => {
                    let is_positive = class == positive;
                    (moving.margin(store, row, is_positive).0, is_positive, 1.0)
                }
                Planes::Joint => {
                    let (margin, rival) = moving.lead(store, row, class as usize);
                    (margin, (class as usize) < rival, 2.0)
                }
            };
            let standing = Standing { margin, tie_is_right };
            if !take(row, standing, &mut || both * moving.square(store, row)) {
                return;
            }
        });
    }
}
