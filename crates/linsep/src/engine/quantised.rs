//! Rows in one byte a value, for products with second derivatives.
//!
//! A step of Newton's method need not be exact: what it lacks the next one makes up for, and gradients and
//! gaps are computed from the true values. So the many products H p of a step may use values that are
//! rounded to 256 levels of their column, x ≈ (code − zero) · unit, at an eighth of the bytes and in
//! binary32. H of rounded values is as positive as that of true ones, so every step still goes downhill.
//!
//! Values on a grid of 256 levels, such as pixels and flags, lose nothing. Where rounding hides what
//! tells columns apart, steps get short, and [`crate::engine::newton`] goes back to the true values.

use crate::model::Plane;
use crate::objective::Objective;
use linsep_data::buffer::{Buffer, Pool};
use linsep_data::matrix::Layout;
use linsep_data::parallel::parallel_map;
use linsep_kernels::prefetch;
use linsep_kernels::quantised::{add_bytes, dot_bytes};
use linsep_proof::Entries;
use std::ops::Range;
use std::sync::Arc;

/// All rows of an objective, by positions; signs and costs are no part of it.
pub(crate) struct QuantisedRows {
    pieces: Vec<(Range<usize>, Buffer<u8>)>,
    /// Bytes from one row to the next.
    stride: usize,
    /// The width of a level in each column.
    units: Vec<f64>,
    /// The code of 0.
    zero: u8,
}

/// Bytes are worth a copy from this many values on.
const LEAST_VALUES: usize = 1 << 20;
/// Bytes of a row are worth reading for one value in so many.
const MOST_ZEROS: u64 = 12;
/// Bytes that a copy may have.
const MOST_BYTES: usize = 1 << 31;

impl QuantisedRows {
    /// The rows of an objective, if bytes serve them; one copy for all objectives on the same rows.
    pub(crate) fn of(objective: &Objective) -> Option<Arc<QuantisedRows>> {
        const RANGE: Range<f64> = 1e-10..1e10;
        let store = objective.store();
        let width = objective.width();
        let held = objective.len().checked_mul(stride(width))?;
        let full = store.nonzeros() * MOST_ZEROS >= store.rows() as u64 * width as u64;
        if !full || !(LEAST_VALUES..MOST_BYTES).contains(&held) {
            return None;
        }
        let largest = store.largest_by_column()?;
        let in_range = |x: &f64| *x == 0.0 || RANGE.contains(x);
        if !largest.iter().all(in_range) || !objective.costs.iter().all(in_range) {
            return None;
        }
        let make = || QuantisedRows::new(objective, &largest);
        Some(objective.data.layouts().shared(objective.layout_key(), make))
    }

    /// A copy of the rows, given the largest magnitude in each column.
    fn new(objective: &Objective, largest: &[f64]) -> QuantisedRows {
        let (store, stride) = (objective.store(), stride(objective.width()));
        let (zero, levels) = if store.has_negative() { (128, 127.0) } else { (0, 255.0) };
        let units: Vec<f64> = largest.iter().map(|most| most / levels).collect();
        let inverses: Vec<f64> =
            units.iter().map(|unit| if *unit > 0.0 { 1.0 / unit } else { 0.0 }).collect();
        // Cut off, this is the nearest level.
        let middle = f64::from(zero) + 0.5;
        let ranges = objective.pieces();
        let code = |value: f64, inverse: f64| (value * inverse + middle) as u8;
        let pool = Pool::new(objective.len() as u64 * stride as u64);
        let pieces = parallel_map(ranges.len(), objective.threads, |piece| {
            let range = ranges[piece].clone();
            let mut codes = vec![zero; range.len() * stride];
            let mut scratch = Vec::new();
            for (i, line) in range.clone().zip(codes.chunks_exact_mut(stride)) {
                match store.entries(objective.rows[i] as usize, &mut scratch) {
                    Entries::Dense(values) => {
                        let values = values.iter().zip(&inverses);
                        line.iter_mut().zip(values).for_each(|(c, (x, inv))| *c = code(*x, *inv));
                    }
                    Entries::Sparse(columns, values) => {
                        for (&column, value) in columns.iter().zip(values) {
                            line[column as usize] = code(*value, inverses[column as usize]);
                        }
                    }
                }
            }
            (range, pool.keep(codes))
        });
        QuantisedRows { pieces, stride, units, zero }
    }

    /// Σ h (x·p + b)(x, 1), with h of each position and b of the plane.
    pub(crate) fn product(&self, p: &Plane, curvatures: &[f64], threads: usize) -> Plane {
        let mut folded = vec![0f32; self.stride];
        for (w, (p, unit)) in folded.iter_mut().zip(p.weights.iter().zip(&self.units)) {
            *w = (p * unit) as f32;
        }
        let zero = f32::from(self.zero);
        let shift = p.bias as f32 - zero * folded.iter().sum::<f32>();
        let parts = parallel_map(self.pieces.len(), threads, |piece| {
            let (range, codes) = &self.pieces[piece];
            let row = |i: usize| &codes[(i - range.start) * self.stride..][..self.stride];
            let mut sums = Sums::new(self.stride);
            let mut take = |four: [usize; 4], held: usize| {
                let rows = four.map(row);
                let mut a = dot_bytes(rows, &folded);
                for (k, a) in a.iter_mut().enumerate() {
                    let h = if k < held { curvatures[four[k]] as f32 } else { 0.0 };
                    *a = h * (*a + shift);
                }
                sums.add(a, rows);
            };
            // Rows beyond the margin of a squared hinge have no curvature. Four rows are asked for while the
            // four before them are in hand.
            let (mut four, mut held) = ([range.start; 4], 0);
            let mut asked = None;
            for i in range.clone().filter(|&i| curvatures[i] != 0.0) {
                four[held] = i;
                held += 1;
                if held == 4 {
                    four.iter().for_each(|&i| prefetch(row(i)));
                    if let Some(before) = asked.replace(four) {
                        take(before, 4);
                    }
                    held = 0;
                }
            }
            if let Some(before) = asked {
                take(before, 4);
            }
            if held > 0 {
                take(four, held);
            }
            sums.total()
        });
        let mut image = Plane { weights: vec![0.0; p.weights.len()], bias: 0.0 };
        for (sum, total) in parts {
            image.bias += total;
            for (w, x) in image.weights.iter_mut().zip(&sum) {
                *w += x - f64::from(zero) * total;
            }
        }
        image.weights.iter_mut().zip(&self.units).for_each(|(w, unit)| *w *= unit);
        image
    }
}

/// Bytes from one row of so many columns to the next.
fn stride(width: usize) -> usize {
    width.next_multiple_of(8)
}

impl Layout for QuantisedRows {
    const NAME: &'static str = "quantised rows";

    fn bytes(&self) -> u64 {
        let codes: usize = self.pieces.iter().map(|(_, codes)| codes.len()).sum();
        let pieces = self.pieces.capacity() * size_of::<(Range<usize>, Buffer<u8>)>();
        (codes + pieces + size_of::<f64>() * self.units.capacity()) as u64
    }
}

/// Σ a · row, in binary32 for a few rows and in binary64 beyond: a sum of many rows in binary32 would
/// hide the directions in which they differ little.
struct Sums {
    near: Vec<f32>,
    far: Vec<f64>,
    total: f64,
    held: usize,
}

impl Sums {
    /// Calls after which the near sums are moved.
    const FEW: usize = 64;

    fn new(width: usize) -> Sums {
        Sums { near: vec![0.0; width], far: vec![0.0; width], total: 0.0, held: 0 }
    }

    fn add(&mut self, a: [f32; 4], rows: [&[u8]; 4]) {
        add_bytes(a, rows, &mut self.near);
        self.total += a.iter().map(|a| f64::from(*a)).sum::<f64>();
        self.held += 1;
        if self.held == Sums::FEW {
            self.move_far();
        }
    }

    fn move_far(&mut self) {
        for (far, near) in self.far.iter_mut().zip(&mut self.near) {
            *far += f64::from(*near);
            *near = 0.0;
        }
        self.held = 0;
    }

    fn total(mut self) -> (Vec<f64>, f64) {
        self.move_far();
        (self.far, self.total)
    }
}
