//! One machine of a run, rebuilt from its updates with the additions of the engine, and measured.

use linsep::engine::batch::sum_of_gradients;
use linsep::engine::moving::Moving;
use linsep::loss::Criterion;
use linsep::model::Plane;
use linsep::run::update::{Beginning, Move, Update};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use linsep_data::matrix::{Rows, with_rows};
use linsep_data::scale::Scaler;
use std::sync::Arc;

/// What an update did, in the coordinates of the run. A measure that is no number is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Measures {
    /// The margin of the row before the update.
    pub margin_before: Option<f64>,
    /// And after it.
    pub margin_after: Option<f64>,
    /// The angle between (b, w) and the reflected row before the update, in radians.
    pub angle_before: Option<f64>,
    /// And after it.
    pub angle_after: Option<f64>,
    /// |(b, w)| after the update.
    pub norm: Option<f64>,
    /// Rows that were added because they were wrong, so far.
    pub mistakes: u64,
    /// What |(b, w)| cannot exceed.
    pub bound_upper: Option<f64>,
    /// What |(b, w)| must have reached, if γ is known.
    pub bound_lower: Option<f64>,
}

/// A machine that makes the updates of another one.
pub(super) struct Replica {
    data: Arc<Dataset>,
    scaler: Scaler,
    rows: Vec<u32>,
    positive: Option<u32>,
    planes: Vec<Moving>,
    /// R².
    pub(super) r2: f64,
    /// A lower bound on γ, where it is known.
    gamma: Option<f64>,
    start_norm: f64,
    norm: f64,
    /// |w₀|² + Σ (t² R² + 2 max(0, t m)).
    most2: f64,
    /// Σ t, until a step goes backwards.
    pulled: Option<f64>,
    mistakes: u64,
    /// The last t, and whether the bound of the fixed increment speaks of the run so far: from 0,
    /// with equal steps, at mistakes only.
    step: Option<f64>,
    pub(super) is_fixed_increment: bool,
}

impl Replica {
    /// A machine as it stands at the beginning. The planes must fit the data.
    pub(super) fn new(
        data: Arc<Dataset>,
        beginning: &Beginning,
        gamma: Option<f64>,
    ) -> Result<Replica> {
        let scaler = Scaler::new(beginning.scaling, &data, &beginning.rows);
        scaler.check()?;
        if beginning.batch && (scaler.centre.is_some() || scaler.row_factor.is_some()) {
            return Err(Error::usage("a batch learner neither centres columns nor scales rows"));
        }
        let planes: Vec<Moving> = beginning
            .planes
            .iter()
            .map(|plane| Moving::new(plane.weights.clone(), plane.shift, plane.bias))
            .collect();
        let both = if beginning.positive.is_some() { 1.0 } else { 2.0 };
        let square = |&row: &u32| both * scaler.square_of(&data, row as usize);
        let r2 = beginning.rows.iter().map(square).fold(0.0, f64::max);
        let mut replica = Replica {
            data,
            scaler,
            rows: beginning.rows.clone(),
            positive: beginning.positive,
            planes,
            r2,
            gamma,
            start_norm: 0.0,
            norm: 0.0,
            most2: 0.0,
            pulled: Some(0.0),
            mistakes: 0,
            step: None,
            is_fixed_increment: false,
        };
        replica.norm = replica.length();
        replica.start_norm = replica.norm;
        replica.most2 = replica.norm * replica.norm;
        replica.is_fixed_increment = replica.norm == 0.0 && !beginning.batch;
        Ok(replica)
    }

    /// Makes an update and measures it.
    pub(super) fn apply(&mut self, update: &Update) -> Measures {
        let before = self.norm;
        // t, |z'|, the margin on both sides.
        let (gradient, length, reach, margins) = match (update.rate, update.moves.as_slice()) {
            (None, [step]) => self.add_row(*step),
            (rate, moves) => self.add_rows(rate.unwrap_or(1.0), moves),
        };
        self.norm = self.length();
        self.most2 += gradient * gradient * reach * reach + 2.0 * (gradient * margins[0]).max(0.0);
        self.pulled = self
            .pulled
            .filter(|_| gradient >= 0.0)
            .map(|sum| sum + gradient * reach / self.r2.sqrt());
        self.is_fixed_increment &=
            margins[0] <= 0.0 && self.step.is_none_or(|step| step == gradient);
        self.step = Some(gradient);
        // A margin of −0 is one of 0.
        let finite = |x: f64| x.is_finite().then_some(x + 0.0);
        let angle = |margin: f64, norm: f64| {
            let cosine = margin / (norm * length);
            finite(cosine).map(|cosine| cosine.clamp(-1.0, 1.0).acos())
        };
        let lower = |gamma: f64| self.pulled.map(|sum| sum * gamma - self.start_norm);
        Measures {
            margin_before: finite(margins[0]),
            margin_after: finite(margins[1]),
            angle_before: angle(margins[0], before),
            angle_after: angle(margins[1], self.norm),
            norm: finite(self.norm),
            mistakes: self.mistakes,
            bound_upper: finite(self.most2.sqrt()),
            bound_lower: self.gamma.and_then(lower).and_then(finite),
        }
    }

    /// Adds one row: t, |z'|, the longest that z' can be, and the margins.
    fn add_row(&mut self, step: Move) -> (f64, f64, f64, [f64; 2]) {
        let row = step.row as usize;
        let before = self.margin(step);
        let (data, square) = (&self.data, self.scaler.square.as_deref());
        let bias_step = self.scaler.bias_step(row);
        let mut scratch = Vec::new();
        with_rows!(data.store(), rows => {
            let values = rows.row(row, &mut scratch);
            self.planes[step.plane as usize].add(values, step.step, square, bias_step);
            if let Some(rival) = step.rival {
                self.planes[rival as usize].add(values, -step.step, square, bias_step);
            }
        });
        let right = before > 0.0;
        self.mistakes += u64::from(!right);
        let both = if step.rival.is_some() { 2.0 } else { 1.0 };
        let length = (both * self.scaler.square_of(&self.data, row)).sqrt();
        let gradient = step.step * self.sign(row) / self.scaler.row_scale(row);
        (gradient, length, self.r2.sqrt(), [before, self.margin(step)])
    }

    /// Adds the sum of some rows; the sum takes the place of the row.
    fn add_rows(&mut self, rate: f64, moves: &[Move]) -> (f64, f64, f64, [f64; 2]) {
        let gradients: Vec<(u32, f64)> = moves.iter().map(|step| (step.row, -step.step)).collect();
        let (mut reach, mut backwards) = (0.0, false);
        for step in moves {
            let right = self.margin(*step) > 0.0;
            self.mistakes += u64::from(!right);
            let gradient = step.step * self.sign(step.row as usize);
            backwards |= gradient < 0.0;
            reach += gradient.abs();
        }
        let slope = sum_of_gradients(&self.data, &self.rows, &gradients);
        let mut plane = self.planes[0].raw(&self.scaler);
        let before = -product(&plane, &slope);
        plane.descend(rate, &self.scaler, &slope);
        let after = -product(&plane, &slope);
        let parts = slope.weights.iter().enumerate();
        let square: f64 = parts.map(|(j, g)| (g * self.scaler.scale(j)).powi(2)).sum();
        let length = (square + slope.bias * slope.bias).sqrt();
        self.planes[0] = Moving::new(plane.weights, 0.0, plane.bias);
        if backwards {
            self.pulled = None;
        }
        (rate, length, reach * self.r2.sqrt(), [before, after])
    }

    /// The planes in terms of raw features.
    pub(super) fn planes(&self) -> Vec<Plane> {
        self.planes.iter().map(|plane| plane.raw(&self.scaler)).collect()
    }

    /// The margins of all rows that take part: for K classes over the strongest rival.
    pub(super) fn margins(&self) -> Vec<(u32, f64)> {
        let margin = |&row: &u32| {
            let own = match self.positive {
                Some(_) => 0,
                None => self.data.class_of(row as usize),
            };
            let step = |rival| Move::new(row, own, rival, 0.0);
            let rivals = (0..self.planes.len() as u32).filter(|&k| k != own);
            let margin = match self.positive {
                Some(_) => self.margin(step(None)),
                None => rivals.map(|k| self.margin(step(Some(k)))).fold(f64::INFINITY, f64::min),
            };
            (row, margin)
        };
        self.rows.iter().map(margin).collect()
    }

    /// Criteria over all rows that take part, rows counting by their weight.
    pub(super) fn criteria(&self, criteria: &[Criterion]) -> Vec<f64> {
        if criteria.is_empty() {
            return Vec::new();
        }
        let margins = self.margins();
        let sum = |criterion: &Criterion| {
            let value =
                |&(row, m): &(u32, f64)| self.data.weight(row as usize) * criterion.value(m);
            let sum: f64 = margins.iter().map(value).sum();
            match criterion {
                Criterion::Distance if self.norm > 0.0 => sum / self.norm,
                _ => sum,
            }
        };
        criteria.iter().map(sum).collect()
    }

    /// Whether an update speaks of rows and planes that the machine has.
    pub(super) fn accepts(&self, step: Move) -> std::result::Result<(), String> {
        let Move { row, plane, rival, .. } = step;
        if self.rows.binary_search(&row).is_err() {
            return Err(format!("row {row} takes no part in the run"));
        }
        let class = self.data.class_of(row as usize);
        match (self.positive, rival) {
            (Some(_), None) => Ok(()),
            (None, Some(rival)) if rival as usize >= self.planes.len() || rival == plane => {
                Err(format!("rival {rival} is no other class"))
            }
            (None, Some(_)) if plane != class => {
                Err(format!("row {row} is of class {class}, not {plane}"))
            }
            (None, Some(_)) => Ok(()),
            (Some(_), Some(_)) => Err("there is a rival where one plane moves".into()),
            (None, None) => Err("there is no rival where two planes move".into()),
        }
    }

    fn margin(&self, step: Move) -> f64 {
        let row = step.row as usize;
        let score = |plane: u32| {
            let plane = &self.planes[plane as usize];
            let dot = with_rows!(self.data.store(), rows => rows.dot(row, &plane.v));
            let shift = self.scaler.shift(plane.c, row);
            dot + plane.b - shift
        };
        let scale = self.scaler.row_scale(row);
        match step.rival {
            None => self.sign(row) * (score(step.plane) * scale),
            Some(rival) => (score(step.plane) - score(rival)) * scale,
        }
    }

    /// y: always 1 for Kesler's rows.
    fn sign(&self, row: usize) -> f64 {
        match self.positive {
            Some(positive) if self.data.class_of(row) != positive => -1.0,
            _ => 1.0,
        }
    }

    /// |(b, w)| in the coordinates of the run: w_j/s_j, and the bias there, b + μ·w.
    fn length(&self) -> f64 {
        let mut sum = 0.0;
        for plane in &self.planes {
            let raw = plane.raw(&self.scaler);
            let mut bias = raw.bias;
            for (j, w) in raw.weights.iter().enumerate() {
                let s = self.scaler.scale(j);
                sum += (w / s).powi(2);
                if let Some(centre) = &self.scaler.centre {
                    bias += centre.direction[j] / (s * s) * w;
                }
            }
            sum += bias * bias;
        }
        sum.sqrt()
    }
}

fn product(a: &Plane, b: &Plane) -> f64 {
    let terms = a.weights.iter().zip(&b.weights).map(|(a, b)| a * b);
    terms.sum::<f64>() + a.bias * b.bias
}
