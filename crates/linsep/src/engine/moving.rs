//! The planes of an online run, how a row scores on them and how it moves them.

use crate::engine::rate::Rate;
use crate::model::Plane;
use linsep_data::Dataset;
use linsep_data::matrix::{Bundle, Products, Row, Rows};
use linsep_data::scale::Scaler;
use serde::{Deserialize, Serialize};

/// The planes and everything needed to score a row and to correct them.
pub struct MovingPlanes<'a> {
    pub planes: &'a mut [Moving],
    pub late: &'a mut [Moving],
    /// Visits before this one.
    pub time: f64,
    /// The number of the next correction.
    pub k: u64,
    pub scaler: &'a Scaler,
    pub rates: &'a Rates,
    pub scratch: Vec<f64>,
    pub arrangement: &'a mut Arrangement,
    /// The last two planes that were corrected.
    pub moved: &'a mut [Moved; 2],
}

/// The weights of several planes once more, as scoring wants them, and room for the scores of a row. It
/// follows from the planes and the rows and is no part of a saved run.
#[derive(Clone, Debug)]
pub struct Arrangement {
    bundle: Option<Bundle>,
    products: Products,
}

impl Arrangement {
    pub fn of(planes: &[Moving], data: &Dataset) -> Arrangement {
        let bundle = Bundle::for_rows(data.store(), planes.iter().map(|plane| plane.v.as_slice()));
        Arrangement { bundle, products: Products::of(planes.len()) }
    }
}

/// A row that was added to a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moved {
    pub row: u32,
    pub plane: u32,
    pub step: f64,
}

impl MovingPlanes<'_> {
    pub fn n_planes(&self) -> usize {
        self.planes.len()
    }

    /// The score of a row on one plane.
    #[inline]
    pub fn score<R: Rows>(&self, rows: &R, row: usize, plane: usize) -> f64 {
        let plane = &self.planes[plane];
        rows.dot(row, &plane.v) + plane.b - self.scaler.shift(plane.c, row)
    }

    /// Calls `each` with the score of a row on every plane.
    #[inline]
    pub fn scores<R: Rows>(&mut self, rows: &R, row: usize, mut each: impl FnMut(usize, f64)) {
        let Arrangement { bundle, products } = &mut *self.arrangement;
        rows.dot_all(row, |k| &self.planes[k].v, bundle.as_ref(), products);
        for (k, (plane, dot)) in self.planes.iter().zip(&products.sums).enumerate() {
            each(k, dot + plane.b - self.scaler.shift(plane.c, row));
        }
    }

    /// How far a row is on its side of the one plane, and ±1 for the side.
    #[inline]
    pub fn margin<R: Rows>(&self, rows: &R, row: usize, is_positive: bool) -> (f64, f64) {
        let y = if is_positive { 1.0 } else { -1.0 };
        (y * (self.score(rows, row, 0) * self.scaler.row_scale(row)), y)
    }

    /// How far a row's own score is above that of the strongest other class, and that class.
    #[inline]
    pub fn lead<R: Rows>(&mut self, rows: &R, row: usize, class: usize) -> (f64, usize) {
        let mut own = f64::NAN;
        let (mut rival, mut strongest) = (usize::from(class == 0), f64::NEG_INFINITY);
        self.scores(rows, row, |k, score| {
            if k == class {
                own = score;
            } else if score > strongest {
                (rival, strongest) = (k, score);
            }
        });
        // A difference of two numbers is 0 just when they are equal.
        ((own - strongest) * self.scaler.row_scale(row), rival)
    }

    /// |z|² of a row in the coordinates of the run.
    pub fn square<R: Rows>(&mut self, rows: &R, row: usize) -> f64 {
        let values = rows.row(row, &mut self.scratch);
        let mut sum = 0.0;
        match &self.scaler.square {
            None => values.for_each(|_, x| sum += x * x),
            Some(square) => values.for_each(|j, x| sum += x * x * square[j as usize]),
        }
        let scale = self.scaler.row_scale(row);
        scale * scale * (sum + self.scaler.square_shift(row))
    }

    /// |w|² of the first plane, with its bias, in the coordinates of the run.
    pub fn length_squared(&self) -> f64 {
        let plane = &self.planes[0];
        let weights = plane.v.iter().enumerate();
        let square: f64 = weights.map(|(j, w)| (w / self.scaler.scale(j)).powi(2)).sum();
        square + plane.b * plane.b
    }

    /// The rate of the next step at a row.
    #[inline]
    pub fn rate_of(&self, row: usize) -> f64 {
        let factor = self.rates.factors.as_ref().map_or(1.0, |factors| factors[row]);
        self.rates.rate.at(self.k) * factor
    }

    /// Adds `step` (with the sign of the direction) times the row, at its rate, to one plane.
    pub fn correct<R: Rows>(&mut self, rows: &R, row: usize, plane: usize, step: f64) {
        let a = step * self.rate_of(row);
        *self.moved = [self.moved[1], Moved { row: row as u32, plane: plane as u32, step: a }];
        let step = self.scaler.bias_step(row);
        let (square, scratch) = (self.scaler.square.as_deref(), &mut self.scratch);
        let mut add = |plane: &mut Moving, a: f64| {
            rows.add_to(row, a, square, &mut plane.v, scratch);
            plane.pull(a, step);
        };
        add(&mut self.planes[plane], a);
        if let Some(late) = self.late.get_mut(plane) {
            add(late, a * self.time);
        }
        if let Some(bundle) = &mut self.arrangement.bundle {
            let v = &self.planes[plane].v;
            let values = rows.row(row, &mut self.scratch);
            values.for_each(|j, _| bundle.set(j, plane, v[j as usize]));
        }
    }

    /// Asks the memory for what the visits after the next ones need.
    #[inline]
    pub fn prefetch<R: Rows>(&self, rows: &R, ahead: &[u32], is_passed_over: impl Fn(u32) -> bool) {
        /// Visits that pass until it is known where a row stands, the row is there, and the weights of
        /// its columns are.
        const FARTHEST: usize = 16;
        const FAR: usize = 8;
        const NEAR: usize = 3;
        let row =
            |distance: usize| ahead.get(distance).copied().filter(|&row| !is_passed_over(row));
        if let Some(row) = row(FARTHEST) {
            rows.prefetch_place(row as usize);
        }
        if let Some(row) = row(FAR) {
            rows.prefetch(row as usize);
        }
        // The weights of one plane are near enough: asking for each of them took longer than waiting.
        if let (Some(row), Some(bundle)) = (row(NEAR), &self.arrangement.bundle) {
            bundle.prefetch(rows, row as usize);
        }
    }
}

impl Moving {
    pub fn new(v: Vec<f64>, c: f64, b: f64) -> Moving {
        Moving { v, c, b, pulled: 0.0 }
    }

    /// The plane in terms of raw features: u = v − c·m.
    pub fn raw(&self, scaler: &Scaler) -> Plane {
        let mut weights = self.v.clone();
        if let Some(centre) = &scaler.centre {
            weights.iter_mut().zip(&centre.direction).for_each(|(w, m)| *w -= self.c * m);
        }
        Plane { weights, bias: self.b }
    }

    /// Adds a times a row.
    pub fn add(&mut self, values: impl Row, a: f64, square: Option<&[f64]>, bias_step: f64) {
        match square {
            None => values.add_to(a, &mut self.v),
            Some(square) => values.add_scaled_to(a, square, &mut self.v),
        }
        self.pull(a, bias_step);
    }

    /// What a step does beside the weights.
    fn pull(&mut self, a: f64, bias_step: f64) {
        self.c += a;
        self.b += a * bias_step;
        self.pulled += a.abs();
    }
}

/// The step size of each row.
pub struct Rates {
    pub rate: Rate,
    /// Row weights, class weights and row scales multiplied, where any of them is not 1.
    pub factors: Option<Vec<f64>>,
}

/// A plane in motion: v, c and b of the module `scale`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moving {
    #[serde(with = "bits")]
    pub v: Vec<f64>,
    #[serde(with = "bits::one")]
    pub c: f64,
    #[serde(with = "bits::one")]
    pub b: f64,
    /// Σ |step|.
    #[serde(with = "bits::one")]
    pub pulled: f64,
}

/// Numbers are saved by their bits, so that a run that left their range can be saved too.
pub(super) mod bits {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(v: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(v.iter().map(|x| x.to_bits()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<f64>, D::Error> {
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
