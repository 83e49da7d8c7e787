//! Rows that cannot ask for anything are passed over without being evaluated.
//!
//! Problem: late in a long run almost every row is far on its side and stays there, and yet every visit
//! fetches the row and multiplies it out.
//!
//! Idea: at some point all margins are taken, with the planes w_s of that moment. Later the margin of a
//! row z is at least margin_s − |z| |w − w_s|, so with m = (margin_s − θ) / |z|, where θ is the margin from
//! which on the rule rests, and r = |w − w_s| the row is right while m > r. The run goes the same way to
//! the last bit; only evaluations are saved.
//!
//! What is proved: the margin that the rule would *compute* is above θ. A score of D terms in binary64 is
//! off by at most γ_{D+4} |z| |w|, then and now, so a row is passed over iff
//!
//! ```text
//! m > r (1 + 10⁻⁹) + 4 γ_{D+4} (|w_s| + |w|)        |w| ≤ |w_s| + r
//! ```
//!
//! where the factor leaves room for what the lengths themselves are rounded by. A row of K classes
//! moves by the planes of its class and of a rival: r is then the sum of the distance of its own plane and
//! of the largest other one, and the last term counts twice. All lengths are those of the coordinates of
//! the run, (1, S x) and (b, S⁻¹ v).
//!
//! r is measured anew after each correction if rows are dense. If they are sparse it follows from
//! r'² = r² + 2 a z·(w' − w_s) − a² |z|², with what that may be off by added to it.
//!
//! When: the first time after [`FIRST`] epochs, so that the margins of all rows cost a small part of what
//! was spent before; again when too many rows have to be evaluated; and after a longer and longer
//! pause where it saved nothing.

use super::moving::{Moved, Moving};
use linsep_data::Dataset;
use linsep_data::matrix::{Row, Rows};
use linsep_data::scale::Scaler;

/// Epochs before the first attempt.
const FIRST: u64 = 8;

/// Rows below this number are not worth it.
const FEWEST: usize = 256;

/// What is known about rows that need no evaluation.
pub(super) struct Skips {
    /// m of each row of the data.
    room: Vec<f64>,
    /// The planes at the snapshot.
    planes: Vec<(Vec<f64>, f64)>,
    /// |w_s| of the longest of them.
    length: f64,
    /// r² of each plane, with what it may be off by.
    distances: Vec<(f64, f64)>,
    /// What m has to exceed, for each class, or once for all.
    needed: Vec<f64>,
    /// γ_{D+4}.
    gamma: f64,
}

/// When to take a snapshot.
#[derive(Default)]
pub(super) struct Pace {
    /// |z| of each row of the data, rounded up, once it was needed.
    lengths: Vec<f64>,
    /// Epochs to wait for after an attempt that saved nothing.
    pause: u64,
    /// The epoch of the next attempt.
    next: u64,
    /// Visits of this epoch that needed an evaluation.
    evaluated: u64,
    /// The same since the run began.
    #[cfg(test)]
    pub(super) all: u64,
}

/// Which rows of a pass are evaluated, as a type.
pub(super) trait RowFilter {
    /// Whether a row is right without being evaluated.
    fn passes(&self, row: usize, class: u32) -> bool;

    /// Takes note of corrections, the last of which are `moved`.
    fn follow<R: Rows>(
        &mut self,
        rows: &R,
        planes: &[Moving],
        square: Option<&[f64]>,
        moved: &[Moved; 2],
    );
}

/// Every row is evaluated.
pub(super) struct EveryRow;

impl RowFilter for EveryRow {
    #[inline(always)]
    fn passes(&self, _: usize, _: u32) -> bool {
        false
    }

    #[inline(always)]
    fn follow<R: Rows>(&mut self, _: &R, _: &[Moving], _: Option<&[f64]>, _: &[Moved; 2]) {}
}

impl RowFilter for &mut Skips {
    #[inline(always)]
    fn passes(&self, row: usize, class: u32) -> bool {
        let class = (class as usize).min(self.needed.len() - 1);
        self.room[row] > self.needed[class]
    }

    fn follow<R: Rows>(
        &mut self,
        rows: &R,
        planes: &[Moving],
        square: Option<&[f64]>,
        moved: &[Moved; 2],
    ) {
        // A correction of several planes moves two of them.
        let moved = if planes.len() > 1 { &moved[..] } else { &moved[1..] };
        for moved in moved {
            let plane = moved.plane as usize;
            self.distances[plane] = match R::IS_DENSE {
                true => (self.measured(&planes[plane], plane, square), 0.0),
                false => self.moved_by(rows, &planes[plane], *moved, square),
            };
        }
        self.renew();
    }
}

impl Skips {
    /// |w − w_s|² of a plane.
    fn measured(&self, now: &Moving, plane: usize, square: Option<&[f64]>) -> f64 {
        let (v, b) = &self.planes[plane];
        (now.b - b).powi(2) + length_squared(now.v.iter().zip(v).map(|(v, w)| v - w), square)
    }

    /// |w − w_s|² of a plane after it was moved by a sparse row, and what it may be off by.
    fn moved_by<R: Rows>(
        &self,
        rows: &R,
        now: &Moving,
        moved: Moved,
        square: Option<&[f64]>,
    ) -> (f64, f64) {
        let (plane, a) = (moved.plane as usize, moved.step);
        let (v, b) = &self.planes[plane];
        let (before, off) = self.distances[plane];
        let along = now.b - b;
        let (mut along, mut sizes, mut z2) = (along, along.abs(), 1.0);
        rows.row(moved.row as usize, &mut Vec::new()).for_each(|j, x| {
            let j = j as usize;
            let part = x * (now.v[j] - v[j]);
            along += part;
            sizes += part.abs();
            z2 += x * x * square.map_or(1.0, |square| square[j]);
        });
        let after = before + 2.0 * a * along - a * a * z2;
        let sums = a.abs() * sizes + a * a * z2 + before + off;
        // The weights were rounded too when the row was added.
        let r = upper(before, off) + a.abs() * z2.sqrt();
        let weights = self.gamma * (self.length + r);
        (after, off + 16.0 * self.gamma * sums + 4.0 * weights * (r + weights))
    }

    /// What m has to exceed from now on.
    fn renew(&mut self) {
        let r: Vec<f64> = self.distances.iter().map(|(r2, off)| upper(*r2, *off)).collect();
        let longest = r.iter().copied().fold(0.0, f64::max);
        let rounding = 4.0 * self.gamma * (2.0 * self.length + longest);
        let [r] = r[..] else {
            // The largest two, so that each class knows the largest other one.
            let first = r.iter().position(|r| *r == longest).unwrap_or(0);
            let others = r.iter().enumerate().filter(|(k, _)| *k != first);
            let second = others.map(|(_, r)| *r).fold(0.0, f64::max);
            let other = |class: usize| if class == first { second } else { longest };
            let needed =
                |(class, r): (usize, &f64)| (r + other(class)) * (1.0 + 1e-9) + 2.0 * rounding;
            self.needed = r.iter().enumerate().map(needed).collect();
            return;
        };
        self.needed = vec![r * (1.0 + 1e-9) + rounding];
    }
}

/// r, rounded up.
fn upper(r2: f64, off: f64) -> f64 {
    (r2.max(0.0) + off).sqrt() * (1.0 + 1e-12)
}

/// |S⁻¹ v|².
fn length_squared(v: impl Iterator<Item = f64>, square: Option<&[f64]>) -> f64 {
    match square {
        None => v.map(|v| v * v).sum(),
        Some(square) => v.zip(square).map(|(v, square)| v * v / square).sum(),
    }
}

/// What a run has to say about its rows and planes for a snapshot.
pub(super) struct Situation<'a> {
    pub(super) data: &'a Dataset,
    pub(super) scaler: &'a Scaler,
    pub(super) rows: &'a [u32],
    pub(super) planes: &'a [Moving],
    /// Above this margin the rule rests.
    pub(super) resting: f64,
}

impl Pace {
    /// Takes note of visits that needed an evaluation.
    pub(super) fn count(&mut self, evaluated: u64) {
        self.evaluated += evaluated;
        #[cfg(test)]
        {
            self.all += evaluated;
        }
    }

    /// What is to be done after an epoch: `Some(true)` to take a new snapshot, `Some(false)` to go on
    /// without one, `None` to leave everything as it is.
    pub(super) fn after(
        &mut self,
        epoch: u64,
        rows: usize,
        mistakes: u64,
        skips: Option<&Skips>,
    ) -> Option<bool> {
        let (evaluated, rows_there) = (std::mem::take(&mut self.evaluated), rows as u64);
        if rows < FEWEST {
            return None;
        }
        match skips {
            // Planes that are often corrected go too far.
            None => (epoch >= self.next.max(FIRST) && 16 * mistakes <= rows_there).then_some(true),
            Some(_) if 10 * evaluated <= 3 * rows_there => None,
            Some(_) if 10 * evaluated <= 7 * rows_there => Some(true),
            Some(_) => {
                self.pause = (2 * self.pause).clamp(4, 256);
                self.next = epoch + self.pause;
                Some(false)
            }
        }
    }

    /// The rows and planes as they are now, with the margins of the rows.
    pub(super) fn snapshot(&mut self, now: &Situation<'_>, margins: &[f64]) -> Skips {
        let Situation { data, scaler, rows, planes, resting } = *now;
        let gamma = (data.n_features() as f64 + 16.0) * f64::EPSILON;
        if self.lengths.is_empty() {
            let length = |row| scaler.square_of(data, row).sqrt() * (1.0 + 1e-12 + gamma);
            self.lengths = (0..data.n_rows()).map(length).collect();
        }
        let mut room = vec![f64::NEG_INFINITY; data.n_rows()];
        for (&row, margin) in rows.iter().zip(margins) {
            room[row as usize] = (margin - resting) / self.lengths[row as usize];
        }
        let square = scaler.square.as_deref();
        let length = |plane: &Moving| {
            (plane.b.powi(2) + length_squared(plane.v.iter().copied(), square)).sqrt()
        };
        let length = planes.iter().map(length).fold(0.0, f64::max) * (1.0 + 1e-9);
        let mut skips = Skips {
            room,
            planes: planes.iter().map(|plane| (plane.v.clone(), plane.b)).collect(),
            length,
            distances: vec![(0.0, 0.0); planes.len()],
            needed: Vec::new(),
            gamma,
        };
        skips.renew();
        skips
    }
}
