//! Descent on a criterion, one row at a time: w ← w − η ∇J of the row that is visited.
//!
//! With m the margin of the row and f the criterion of a row, the step is −η f'(m) y z. Summed over
//! all rows this is the gradient of J, so a run with small or falling rates goes where batch descent
//! goes, with a step at every row instead of one for each pass. For the perceptron criterion it is the
//! perceptron itself. J_d divides by ‖w‖: its gradient at a row on the wrong side,
//!
//! ```text
//! −y z/‖w‖ + m w/‖w‖³        (m ≤ 0)
//! ```
//!
//! has no part along w, so the step also lengthens w.

use crate::engine::moving::MovingPlanes;
use crate::engine::online::{Judge, Online, Setup, UpdateRule, Visit};
use crate::engine::perceptron::{Perceptron, Planes};
use crate::engine::rate::Rate;
use crate::learn::descent::Descent;
use crate::loss::{Criterion, RowLoss};
use crate::objective::box_constraints::Ranges;
use crate::run::Task;
use linsep_data::error::{Error, Result};
use linsep_data::matrix::{Row, Rows};
use linsep_data::rng::Purpose;

/// A run of the online engine that goes down a criterion.
pub(crate) fn launch(
    descent: &Descent,
    task: &Task,
    positive: u32,
    ranges: Option<Ranges>,
) -> Result<Online> {
    let perceptron = Perceptron {
        rate: Rate::default(),
        order: descent.order,
        seed: descent.seed,
        scale: descent.scale,
        class_weights: descent.class_weights.clone(),
        ..Perceptron::default()
    };
    let RowLoss::Criterion(criterion) = descent.loss else {
        let words = "`pace=row` takes a criterion; a custom loss is for `pace=batch`";
        return Err(Error::usage(words));
    };
    let mut setup = perceptron.setup(task, 1, |_| Purpose::Start(u64::from(positive)))?;
    setup.rates.rate = match &descent.rate {
        Some(rate) => rate.clone(),
        None => own_rate(criterion, &setup),
    };
    if let Some(ranges) = &ranges {
        ranges.bring_in(&mut setup.start[0].weights);
    }
    let planes = Planes::One(positive);
    match criterion {
        Criterion::Distance => Online::new(Closer { positive, ranges }, setup, planes),
        // Mistakes have no slope; the way to fewer of them is that of the perceptron.
        Criterion::Mistakes => {
            let criterion = Criterion::Perceptron;
            Online::new(Downhill { positive, criterion, ranges }, setup, planes)
        }
        _ => Online::new(Downhill { positive, criterion, ranges }, setup, planes),
    }
}

/// Half of what a row of the largest length keeps stable; falling for a slope that does not; else 1.
fn own_rate(criterion: Criterion, setup: &Setup) -> Rate {
    let square = |&row: &u32| setup.scaler.square_of(&setup.task.data, row as usize);
    let longest = setup.rows.iter().map(square).fold(f64::MIN_POSITIVE, f64::max);
    match (criterion.curvature(), criterion) {
        (Some(curvature), _) => Rate::Constant(1.0 / (curvature * longest)),
        (None, Criterion::Hinge) => Rate::Slowing(setup.rows.len().max(1) as f64),
        (None, _) => Rate::Constant(1.0),
    }
}

/// Down a criterion of margins.
struct Downhill {
    positive: u32,
    criterion: Criterion,
    ranges: Option<Ranges>,
}

impl UpdateRule for Downhill {
    const RESTS: bool = false;

    fn judge(&self) -> &dyn Judge {
        self
    }

    #[inline]
    fn visit<R: Rows>(
        &self,
        moving: &mut MovingPlanes<'_>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> Visit {
        let (m, y) = moving.margin(rows, row, class == self.positive);
        let slope = self.criterion.slope(m);
        if slope == 0.0 && !m.is_nan() {
            return Visit::Right;
        }
        moving.correct(rows, row, 0, -slope * y);
        if let Some(ranges) = &self.ranges {
            // The step moved the weights of the row's columns, and no others.
            let weights = &mut moving.planes[0].v;
            rows.row(row, &mut moving.scratch).for_each(|j, _| {
                let j = j as usize;
                weights[j] = ranges.nearest(j, weights[j]);
            });
        }
        Visit::Corrected
    }
}

impl Judge for Downhill {
    fn loss(&self, m: f64, _: &mut dyn FnMut() -> f64) -> f64 {
        self.criterion.value(m)
    }
}

/// Down J_d.
struct Closer {
    positive: u32,
    ranges: Option<Ranges>,
}

impl UpdateRule for Closer {
    const RESTS: bool = false;

    fn judge(&self) -> &dyn Judge {
        self
    }

    fn visit<R: Rows>(
        &self,
        moving: &mut MovingPlanes<'_>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> Visit {
        let (m, y) = moving.margin(rows, row, class == self.positive);
        if m > 0.0 {
            return Visit::Right;
        }
        let length = moving.length_squared().sqrt();
        // At 0 there is no distance, and the step is that of the perceptron.
        if length > 0.0 {
            let grown = 1.0 - moving.rate_of(row) * m / length.powi(3);
            let plane = &mut moving.planes[0];
            plane.v.iter_mut().for_each(|w| *w *= grown);
            plane.b *= grown;
        }
        let step = if length > 0.0 { y / length } else { y };
        moving.correct(rows, row, 0, step);
        if let Some(ranges) = &self.ranges {
            ranges.bring_in(&mut moving.planes[0].v);
        }
        Visit::Corrected
    }
}

impl Judge for Closer {
    fn loss(&self, m: f64, _: &mut dyn FnMut() -> f64) -> f64 {
        Criterion::Distance.value(m)
    }
}
