//! The cheap try: dual coordinate descent towards the plane of the largest margin (Hsieh and others
//! 2008, without a limit on the multipliers).
//!
//! w = Σ α z with α ≥ 0 minimises ½|w|² − Σ α when every row has z·w ≥ 1. A visit of a row sets its
//! α to where z·w = 1, or to 0: α ← max(0, α + ω(1 − z·w)/|z|²), w follows. A full pass sees every
//! row; between full passes only the rows that are far from z·w = 1 are visited again and again,
//! which is where almost all of the work is. Columns are scaled by powers of two. Separable rows with
//! a fair margin, and text with more columns than rows, are settled in a few passes; otherwise the
//! rows with the largest α are those that matter.

use super::column_scan::ColumnScan;
use super::signed::Signed;
use linsep_data::matrix::{Row, Rows, with_rows};
use linsep_data::rng::{Purpose, Stream};

/// Steps a little longer than to z·w = 1 settle sooner.
const OVER: f64 = 1.4;

/// Rows with |1 − z·w| above this are visited again between full passes.
const FAR: f64 = 0.3;

/// The same while there are many of those: almost only rows on the wrong side.
const VERY_FAR: f64 = 0.9;

/// Columns whose largest magnitudes are no farther apart than this need no scaling.
const ALIKE: f64 = 1024.0;

/// The state of the descent, in raw coordinates: w holds S² Σ α z, so that x·w is the score.
pub(crate) struct Descent {
    pub(crate) weights: Vec<f64>,
    pub(crate) bias: f64,
    alpha: Vec<f64>,
    /// |1 − z·w| at the last visit; 0 where α = 0 is right.
    distance: Vec<f64>,
    /// |z|² in the scaled coordinates; 0 before the first visit.
    square: Vec<f64>,
    /// s² of each column, where the columns are of different size.
    scale: Option<Vec<f64>>,
    order: Vec<u32>,
    epoch: u64,
}

impl Descent {
    pub(crate) fn new(view: &Signed, scan: &ColumnScan) -> Descent {
        let used = || scan.largest.iter().copied().filter(|largest| *largest > 0.0);
        let (most, least) = (used().fold(0.0, f64::max), used().fold(f64::INFINITY, f64::min));
        let square = |&largest: &f64| match largest > 0.0 {
            true => 4f64.powi(-(largest.log2().round() as i32).clamp(-400, 400)),
            false => 1.0,
        };
        let scale =
            (most > ALIKE * least).then(|| scan.largest.iter().map(square).collect::<Vec<f64>>());
        Descent {
            weights: vec![0.0; scan.largest.len()],
            bias: 0.0,
            alpha: vec![0.0; view.len()],
            distance: vec![0.0; view.len()],
            square: vec![0.0; view.len()],
            scale,
            order: (0..view.len() as u32).collect(),
            epoch: 0,
        }
    }

    /// Visits every row once, in a random order; tells how many were on the wrong side.
    pub(crate) fn full_pass(&mut self, view: &Signed) -> u64 {
        let mut order = std::mem::take(&mut self.order);
        Stream::new(0, Purpose::Epoch(self.epoch)).shuffle(&mut order);
        self.epoch += 1;
        let wrong = self.visit(view, &order);
        self.order = order;
        wrong
    }

    /// Visits the rows that are far from where they should be until none of them is wrong, at most
    /// `visits` times in all; tells how many visits it took.
    pub(crate) fn settle(&mut self, view: &Signed, visits: u64) -> u64 {
        let mut used = 0;
        for pass in 0.. {
            let beyond = |limit: f64| {
                let far = |k: &u32| self.distance[*k as usize] > limit;
                self.order.iter().copied().filter(far).collect::<Vec<u32>>()
            };
            let mut far = beyond(FAR);
            if far.len() > self.order.len() / 8 {
                far = beyond(VERY_FAR);
            }
            if far.is_empty() || used + far.len() as u64 > visits {
                break;
            }
            used += far.len() as u64;
            let wrong = self.visit(view, &far);
            // A few passes in which nothing is wrong any more widen the margin.
            if wrong == 0 && pass > 3 {
                break;
            }
        }
        used
    }

    /// The rows with the largest multipliers, the largest first.
    pub(crate) fn heaviest(&self, most: usize) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.alpha.len()).filter(|&k| self.alpha[k] > 0.0).collect();
        rows.sort_by(|&a, &b| self.alpha[b].total_cmp(&self.alpha[a]).then(a.cmp(&b)));
        rows.truncate(most);
        rows
    }

    /// The rows and their multipliers.
    pub(crate) fn blend(&self) -> Vec<(usize, f64)> {
        let used = self.alpha.iter().copied().enumerate().filter(|(_, alpha)| *alpha > 0.0);
        used.collect()
    }

    fn visit(&mut self, view: &Signed, order: &[u32]) -> u64 {
        with_rows!(view.data.store(), rows => self.visit_rows(view, rows, order))
    }

    fn visit_rows<R: Rows>(&mut self, view: &Signed, rows: &R, order: &[u32]) -> u64 {
        let constant = if view.bias { 1.0 } else { 0.0 };
        let (scale, mut scratch, mut wrong) = (self.scale.as_deref(), Vec::new(), 0);
        for &k in order {
            let k = k as usize;
            let row = view.rows[k] as usize;
            let y = f64::from(view.signs[k]);
            let values = rows.row(row, &mut scratch);
            let margin = y * (values.dot(&self.weights) + self.bias);
            wrong += u64::from(margin <= 0.0);
            let old = self.alpha[k];
            // A row that is right by more than it need be may stay so: taking its weight back costs
            // as much as giving it and brings no plane nearer.
            if margin >= 1.0 && (old == 0.0 || margin <= 2.0) {
                self.distance[k] = 0.0;
                continue;
            }
            if self.square[k] == 0.0 {
                let mut square = constant;
                match scale {
                    None => values.for_each(|_, x| square += x * x),
                    Some(scale) => values.for_each(|j, x| square += x * x * scale[j as usize]),
                }
                self.square[k] = square.max(f64::MIN_POSITIVE);
            }
            let new = (old + OVER * (1.0 - margin) / self.square[k]).max(0.0);
            let step = y * (new - old);
            match scale {
                None => values.add_to(step, &mut self.weights),
                Some(scale) => values.add_scaled_to(step, scale, &mut self.weights),
            }
            self.bias += constant * step;
            self.alpha[k] = new;
            self.distance[k] = if new > 0.0 { (1.0 - margin).abs() } else { 0.0 };
        }
        wrong
    }
}
