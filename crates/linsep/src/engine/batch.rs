//! One pass over all rows, then one step: the engine of batch learning.
//!
//! A pass adds up Σ ω f(m) and Σ ω f'(m) y z over blocks of rows, several blocks at a time on as many
//! threads as there are, and adds the sums of the blocks in their order: threads change no bit.

use crate::loss::{Criterion, MarginLoss};
use crate::model::Plane;
use linsep_data::Dataset;
use linsep_data::matrix::{Row, Rows, with_rows};
use linsep_data::parallel::parallel_map;
use linsep_data::scale::Scaler;

/// The rows of one two-class problem and how they count.
pub struct Batch<'a> {
    pub data: &'a Dataset,
    pub rows: &'a [u32],
    pub positive: u32,
    pub scaler: &'a Scaler,
    /// The weight of each row of the data, where not all are 1.
    pub weights: Option<&'a [f64]>,
    pub threads: usize,
}

/// What a pass adds up to.
#[derive(Clone, Debug)]
pub struct Sums {
    /// Σ ω f(m).
    pub value: f64,
    /// Rows with m ≤ 0.
    pub mistakes: u64,
    /// Σ ω f'(m) y x and Σ ω f'(m) y, in raw coordinates.
    pub gradient: Plane,
}

/// Rows in a block, and blocks whose sums are held at a time.
const BLOCK: usize = 4096;
const TOGETHER: usize = 8;

/// Rows between two calls of a loss: few, so that they are still in the cache when gradients are added.
const AT_A_TIME: usize = 64;

impl Batch<'_> {
    /// The sums of a loss at a plane.
    pub fn sums(&self, loss: &dyn MarginLoss, plane: &Plane) -> Sums {
        let blocks: Vec<&[u32]> = self.rows.chunks(BLOCK).collect();
        let mut total = Sums::zero(plane.weights.len());
        for group in blocks.chunks(TOGETHER) {
            let parts = parallel_map(
                group.len(),
                self.threads,
                |k| with_rows!(self.data.store(), rows => self.block_of(rows, loss, plane, group[k])),
            );
            parts.iter().for_each(|part| total.add(part));
        }
        total
    }

    /// The value of a criterion at a plane; that of J_d is divided by the length of the plane.
    pub fn value(&self, criterion: Criterion, plane: &Plane) -> f64 {
        let value = self.sums(&Flat(&criterion), plane).value;
        let length = self.length(plane);
        if criterion == Criterion::Distance && length > 0.0 { value / length } else { value }
    }

    /// The rows with a gradient at a plane, each with the multiple of it that Σ ω f'(m) y z has.
    pub fn gradients(&self, loss: &dyn MarginLoss, plane: &Plane) -> Vec<(u32, f64)> {
        let mut gradients = Vec::new();
        let mut keep = |terms: RowTerms| {
            if terms.gradient != 0.0 {
                gradients.push((terms.row, terms.gradient));
            }
        };
        with_rows!(self.data.store(), rows => self.each_row(rows, loss, plane, self.rows, &mut keep));
        gradients
    }

    /// What each of the rows adds, in their order. Loss and slope are found for some rows at a time, so
    /// that the loss is not looked up at a row.
    #[inline]
    fn each_row<R: Rows>(
        &self,
        rows: &R,
        loss: &dyn MarginLoss,
        plane: &Plane,
        which: &[u32],
        mut take: impl FnMut(RowTerms),
    ) {
        let mut margins = [0.0; AT_A_TIME];
        let mut terms = [(0.0, 0.0); AT_A_TIME];
        for some in which.chunks(AT_A_TIME) {
            let (margins, terms) = (&mut margins[..some.len()], &mut terms[..some.len()]);
            for (margin, &row) in margins.iter_mut().zip(some) {
                let (y, scale) = self.side_and_scale(row as usize);
                let score = rows.dot(row as usize, &plane.weights) + plane.bias;
                *margin = y * score * scale;
            }
            loss.evaluate(margins, terms);
            for ((&row, &margin), &(value, slope)) in some.iter().zip(&*margins).zip(&*terms) {
                let (y, scale) = self.side_and_scale(row as usize);
                let weight = self.weights.map_or(1.0, |weights| weights[row as usize]);
                let gradient = weight * slope * y * scale;
                take(RowTerms { row, margin, value: weight * value, gradient });
            }
        }
    }

    /// ±1 and the factor of the row.
    #[inline]
    fn side_and_scale(&self, row: usize) -> (f64, f64) {
        let y = if self.data.class_of(row) == self.positive { 1.0 } else { -1.0 };
        (y, self.scaler.row_scale(row))
    }

    fn block_of<R: Rows>(
        &self,
        rows: &R,
        loss: &dyn MarginLoss,
        plane: &Plane,
        block: &[u32],
    ) -> Sums {
        let mut sums = Sums::zero(plane.weights.len());
        let mut scratch = Vec::new();
        self.each_row(rows, loss, plane, block, |terms| {
            sums.value += terms.value;
            // Written so that a margin that is not a number counts as a mistake.
            let right = terms.margin > 0.0;
            sums.mistakes += u64::from(!right);
            if terms.gradient != 0.0 {
                sums.gradient.gradient(rows, terms.row, terms.gradient, &mut scratch);
            }
        });
        sums
    }

    /// The largest eigenvalue of Σ ω z zᵀ in the coordinates of the run, by a few steps of the power
    /// method: an estimate from below.
    pub fn largest_eigenvalue(&self) -> f64 {
        let width = self.data.n_features();
        let mut direction = Plane { weights: vec![0.0; width], bias: 1.0 };
        let mut value = 0.0;
        for _ in 0..12 {
            // The slope m of ½ m² makes the sum Σ ω (z·d) z: the matrix times the direction.
            let mut next = self.sums(&HalfSquare, &direction).gradient;
            for (j, w) in next.weights.iter_mut().enumerate() {
                *w *= self.scaler.scale(j) * self.scaler.scale(j);
            }
            let length = self.length(&next);
            value = length;
            if length == 0.0 || !length.is_finite() {
                return value;
            }
            next.weights.iter_mut().for_each(|w| *w /= length);
            next.bias /= length;
            direction = next;
        }
        value
    }

    /// The length of a gradient in the coordinates of the run.
    pub fn slope_length(&self, gradient: &Plane) -> f64 {
        let weights = gradient.weights.iter().enumerate();
        let square: f64 = weights.map(|(j, g)| (g * self.scaler.scale(j)).powi(2)).sum();
        (square + gradient.bias * gradient.bias).sqrt()
    }

    /// The length of a plane in the coordinates of the run.
    pub fn length(&self, plane: &Plane) -> f64 {
        let weights = plane.weights.iter().enumerate();
        let square: f64 = weights.map(|(j, w)| (w / self.scaler.scale(j)).powi(2)).sum();
        (square + plane.bias * plane.bias).sqrt()
    }
}

/// y(w·x + b) of every row.
pub fn margins(
    data: &Dataset,
    rows: &[u32],
    positive: u32,
    plane: &Plane,
    threads: usize,
) -> Vec<f64> {
    let blocks: Vec<&[u32]> = rows.chunks(BLOCK).collect();
    let block = |k: usize| -> Vec<f64> {
        with_rows!(data.store(), store => {
            let margin = |&row: &u32| {
                let score = store.dot(row as usize, &plane.weights) + plane.bias;
                if data.class_of(row as usize) == positive { score } else { -score }
            };
            blocks[k].iter().map(margin).collect()
        })
    };
    parallel_map(blocks.len(), threads, block).concat()
}

/// ½ m².
struct HalfSquare;

impl MarginLoss for HalfSquare {
    fn value(&self, m: f64) -> f64 {
        0.5 * m * m
    }

    fn slope(&self, m: f64) -> f64 {
        m
    }
}

/// A loss whose value alone is asked for: without a slope no gradient is added up.
struct Flat<'a>(&'a dyn MarginLoss);

impl MarginLoss for Flat<'_> {
    fn value(&self, m: f64) -> f64 {
        self.0.value(m)
    }

    fn slope(&self, _: f64) -> f64 {
        0.0
    }

    fn evaluate(&self, margins: &[f64], terms: &mut [(f64, f64)]) {
        self.0.evaluate(margins, terms);
        terms.iter_mut().for_each(|(_, slope)| *slope = 0.0);
    }
}

/// What a row is at a plane: ω f(m) and ω f'(m) y.
struct RowTerms {
    row: u32,
    margin: f64,
    value: f64,
    gradient: f64,
}

impl Plane {
    /// Adds a times a row (1, x).
    fn gradient<R: Rows>(&mut self, rows: &R, row: u32, a: f64, scratch: &mut Vec<f64>) {
        rows.row(row as usize, scratch).add_to(a, &mut self.weights);
        self.bias += a;
    }

    fn add(&mut self, other: &Plane) {
        self.weights.iter_mut().zip(&other.weights).for_each(|(a, b)| *a += b);
        self.bias += other.bias;
    }

    /// A step down a slope given in raw coordinates: w ← w − η S² g.
    pub fn descend(&mut self, rate: f64, scaler: &Scaler, gradient: &Plane) {
        for (j, (w, g)) in self.weights.iter_mut().zip(&gradient.weights).enumerate() {
            let s = scaler.scale(j);
            *w -= rate * s * s * g;
        }
        self.bias -= rate * gradient.bias;
    }
}

/// Σ gradient · (1, x) over some rows in the order in which a pass adds them up: block by block of all
/// `rows`, which rise.
pub fn sum_of_gradients(data: &Dataset, rows: &[u32], gradients: &[(u32, f64)]) -> Plane {
    let zero = || Plane { weights: vec![0.0; data.n_features()], bias: 0.0 };
    let block = |row: u32| rows.partition_point(|other| *other < row) / BLOCK;
    let (mut total, mut scratch) = (zero(), Vec::new());
    for gradients in gradients.chunk_by(|a, b| block(a.0) == block(b.0)) {
        let mut sum = zero();
        for &(row, gradient) in gradients {
            with_rows!(data.store(), rows => sum.gradient(rows, row, gradient, &mut scratch));
        }
        total.add(&sum);
    }
    total
}

impl Sums {
    fn zero(width: usize) -> Sums {
        Sums { value: 0.0, mistakes: 0, gradient: Plane { weights: vec![0.0; width], bias: 0.0 } }
    }

    fn add(&mut self, other: &Sums) {
        self.value += other.value;
        self.mistakes += other.mistakes;
        self.gradient.add(&other.gradient);
    }
}
