//! Passes over rows for several planes at once: w·x of every plane, and sums of rows by factors.
//!
//! The planes lie side by side, number l of column j at (j, l), in bundles of 4 or 12, so that a value
//! of a row meets all planes at once, the registers hold the sums, and values that are 0 cost nothing.
//! Each sum takes the columns in rising order; a term that is 0 changes no sum, so dense and sparse rows
//! give the same bits. A single plane uses the dot product of the rows, which has lanes of its own.

use super::direct::{Spec, two_sum};
use linsep_data::matrix::{Row, Rows, kernel, with_rows};
use std::ops::Range;

/// Planes side by side.
pub struct Planes {
    count: usize,
    bundles: Vec<Bundle>,
}

enum Bundle {
    One(Vec<f64>),
    Four(Vec<[f64; 4]>),
    Twelve(Vec<[f64; 12]>),
}

fn side_by_side<const L: usize>(planes: &[&[f64]], width: usize) -> Vec<[f64; L]> {
    let mut out = vec![[0.0; L]; width];
    for (l, plane) in planes.iter().enumerate() {
        out.iter_mut().zip(*plane).for_each(|(out, w)| out[l] = *w);
    }
    out
}

impl Planes {
    pub fn new(planes: &[&[f64]], width: usize) -> Planes {
        let bundle = |planes: &[&[f64]]| match planes {
            [plane] => Bundle::One(plane.to_vec()),
            _ if planes.len() <= 4 => Bundle::Four(side_by_side(planes, width)),
            _ => Bundle::Twelve(side_by_side(planes, width)),
        };
        Planes { count: planes.len(), bundles: planes.chunks(12).map(bundle).collect() }
    }

    /// w·y of every plane.
    fn dots(&self, row: &Loaded<'_>, out: &mut [f64]) {
        for (bundle, out) in self.bundles.iter().zip(out.chunks_mut(12)) {
            match bundle {
                Bundle::One(plane) => out[0] = row.dot(plane),
                Bundle::Four(planes) => {
                    let dots = kernel::dot_four_planes(row.columns, row.values, planes);
                    out.copy_from_slice(&dots[..out.len()]);
                }
                Bundle::Twelve(planes) => {
                    let dots = kernel::dot_twelve(row.columns, row.values, planes);
                    out.copy_from_slice(&dots[..out.len()]);
                }
            }
        }
    }

    /// Sums of as many rows of numbers, all 0.
    pub fn sums(&self) -> Sums {
        let zeros = |bundle: &Bundle| match bundle {
            Bundle::One(plane) => Bundle::One(vec![0.0; plane.len()]),
            Bundle::Four(planes) => Bundle::Four(vec![[0.0; 4]; planes.len()]),
            Bundle::Twelve(planes) => Bundle::Twelve(vec![[0.0; 12]; planes.len()]),
        };
        let zeros = || self.bundles.iter().map(zeros).collect();
        Sums { count: self.count, high: zeros(), low: zeros() }
    }
}

/// A sum of rows for each plane, with what its additions lose: rounding costs products only.
pub struct Sums {
    count: usize,
    high: Vec<Bundle>,
    low: Vec<Bundle>,
}

impl Sums {
    /// Adds a row, times a factor, to every sum.
    fn add(&mut self, row: &Loaded<'_>, factors: &[f64]) {
        fn fill<const L: usize>(factors: &[f64]) -> [f64; L] {
            let mut all = [0.0; L];
            all[..factors.len()].copy_from_slice(factors);
            all
        }
        let (columns, values) = (row.columns, row.values);
        let bundles = self.high.iter_mut().zip(&mut self.low);
        for (bundle, factors) in bundles.zip(factors.chunks(12)) {
            match bundle {
                (Bundle::One(high), Bundle::One(low)) => {
                    kernel::add_one(columns, values, factors[0], high, low);
                }
                (Bundle::Four(high), Bundle::Four(low)) => {
                    kernel::add_four(columns, values, fill(factors), high, low);
                }
                (Bundle::Twelve(high), Bundle::Twelve(low)) => {
                    kernel::add_twelve(columns, values, fill(factors), high, low);
                }
                _ => {}
            }
        }
    }

    /// Adds the sums of the rows that follow.
    pub fn merge(&mut self, next: &Sums) {
        let mine = self.high.iter_mut().zip(&mut self.low);
        for ((high, low), (next_high, next_low)) in mine.zip(next.high.iter().zip(&next.low)) {
            let mine = high.flat_mut().iter_mut().zip(low.flat_mut());
            let theirs = next_high.flat().iter().zip(next_low.flat());
            for ((high, low), (next_high, next_low)) in mine.zip(theirs) {
                let (sum, loss) = two_sum(*high, *next_high);
                (*high, *low) = (sum, *low + (loss + next_low));
            }
        }
    }

    /// The sums of each plane, rounded.
    pub fn apart(&self) -> Vec<Vec<f64>> {
        let mut all = Vec::with_capacity(self.count);
        for (high, low) in self.high.iter().zip(&self.low) {
            let lanes = high.lanes();
            let (high, low) = (high.flat(), low.flat());
            let plane = |l: usize| {
                let numbers = high.iter().zip(low).skip(l).step_by(lanes);
                numbers.map(|(high, low)| high + low).collect()
            };
            all.extend((0..lanes.min(self.count - all.len())).map(plane));
        }
        all
    }
}

impl Bundle {
    fn lanes(&self) -> usize {
        match self {
            Bundle::One(_) => 1,
            Bundle::Four(_) => 4,
            Bundle::Twelve(_) => 12,
        }
    }

    fn flat(&self) -> &[f64] {
        match self {
            Bundle::One(plane) => plane,
            Bundle::Four(planes) => planes.as_flattened(),
            Bundle::Twelve(planes) => planes.as_flattened(),
        }
    }

    fn flat_mut(&mut self) -> &mut [f64] {
        match self {
            Bundle::One(plane) => plane,
            Bundle::Four(planes) => planes.as_flattened_mut(),
            Bundle::Twelve(planes) => planes.as_flattened_mut(),
        }
    }
}

/// The values of a row that are not 0 with their columns, or all values without columns.
struct Loaded<'a> {
    columns: &'a [u32],
    values: &'a [f64],
}

impl Loaded<'_> {
    fn dot(&self, plane: &[f64]) -> f64 {
        match self.columns.is_empty() {
            true => kernel::dot_f64(self.values, plane),
            false => kernel::dot_sparse_f64(self.columns, self.values, plane),
        }
    }
}

/// A visit of a row: its weight, factor and class, and w·y of every plane, which may be changed to the
/// factors by which the row is added to the sums.
pub struct Visit<'a> {
    pub weight: f64,
    pub factor: f64,
    pub class: usize,
    pub scores: &'a mut [f64],
}

impl Spec<'_> {
    /// Visits rows y = x − shift with their scores.
    pub fn score_rows(
        &self,
        planes: &Planes,
        places: Range<usize>,
        mut each: impl FnMut(Visit<'_>),
    ) {
        self.load_rows(planes, places, |_, visit| each(visit));
    }

    /// Visits rows y = x − shift with their scores, and adds them to `sums` by the factors that these
    /// were changed to.
    pub fn add_rows(
        &self,
        planes: &Planes,
        sums: &mut Sums,
        places: Range<usize>,
        mut each: impl FnMut(&mut Visit<'_>),
    ) {
        self.load_rows(planes, places, |row, mut visit| {
            each(&mut visit);
            sums.add(row, visit.scores);
        });
    }

    fn load_rows(
        &self,
        planes: &Planes,
        places: Range<usize>,
        mut each: impl FnMut(&Loaded<'_>, Visit<'_>),
    ) {
        let shifted = self.shift.iter().any(|shift| *shift != 0.0);
        let mut scores = vec![0.0; planes.count];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for place in places {
            let row = self.rows[place] as usize;
            let class = self.data.class_of(row) as usize;
            if shifted {
                columns.clear();
                self.shifted(row, &mut values);
            } else {
                self.data.store().load(row, &mut columns, &mut values);
            }
            let loaded = Loaded { columns: &columns, values: &values };
            planes.dots(&loaded, &mut scores);
            let factor = self.factor(row, class);
            each(
                &loaded,
                Visit { weight: self.data.weight(row), factor, class, scores: &mut scores },
            );
        }
    }

    /// All values of a row less the shift.
    fn shifted(&self, row: usize, values: &mut Vec<f64>) {
        values.clear();
        values.extend(self.shift.iter().map(|shift| 0.0 - shift));
        let mut scratch = Vec::new();
        with_rows!(self.data.store(), rows => rows.row(row, &mut scratch).for_each(|j, x| {
            values[j as usize] = x - self.shift[j as usize];
        }));
    }
}
