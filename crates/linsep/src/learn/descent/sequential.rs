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

use crate::engine::moving::{Centring, MovingPlanes};
use crate::engine::online::{Setup, UpdateRule, Visit};
use crate::engine::perceptron::{Perceptron, PerceptronRun, run_of};
use crate::engine::rate::Rate;
use crate::learn::descent::Descent;
use crate::loss::{Criterion, RowLoss};
use crate::objective::box_constraints::Ranges;
use crate::run::Task;
use linsep_data::error::{Error, Result};
use linsep_data::matrix::{Row, Rows};
use linsep_data::rng::Purpose;
use linsep_data::scale::Scaler;

/// A run of the online engine that goes down a criterion.
pub(crate) fn launch(
    descent: &Descent,
    task: &Task,
    positive: u32,
    ranges: Option<Ranges>,
) -> Result<Box<dyn PerceptronRun>> {
    let perceptron = Perceptron {
        rate: Rate::default(),
        order: descent.order,
        seed: descent.seed,
        scale: descent.scale,
        balanced: descent.balanced,
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
    match ranges {
        None => with_bounds(criterion, Free, setup, positive),
        Some(ranges) => with_bounds(criterion, ranges, setup, positive),
    }
}

/// Half of what a row of the largest length keeps stable; falling for a slope that does not; else 1.
fn own_rate(criterion: Criterion, setup: &Setup) -> Rate {
    let square = |&row: &u32| setup.scaler.square_of(&setup.data, row as usize);
    let longest = setup.rows.iter().map(square).fold(f64::MIN_POSITIVE, f64::max);
    match (criterion.curvature(), criterion) {
        (Some(curvature), _) => Rate::Constant(1.0 / (curvature * longest)),
        (None, Criterion::Hinge) => Rate::Slowing(setup.rows.len().max(1) as f64),
        (None, _) => Rate::Constant(1.0),
    }
}

fn with_bounds(
    criterion: Criterion,
    bounds: impl Keep,
    setup: Setup,
    positive: u32,
) -> Result<Box<dyn PerceptronRun>> {
    match criterion {
        Criterion::Mistakes | Criterion::Perceptron => {
            run_of(Downhill::<PERCEPTRON, _> { positive, bounds }, setup, positive)
        }
        Criterion::Distance => {
            let scaler = Scaler { square: setup.scaler.square.clone(), ..Scaler::default() };
            run_of(Closer { positive, bounds, scaler }, setup, positive)
        }
        Criterion::Squared => run_of(Downhill::<SQUARED, _> { positive, bounds }, setup, positive),
        Criterion::Hinge => run_of(Downhill::<HINGE, _> { positive, bounds }, setup, positive),
        Criterion::SquaredHinge => {
            run_of(Downhill::<SQUARED_HINGE, _> { positive, bounds }, setup, positive)
        }
        Criterion::Logistic => {
            run_of(Downhill::<LOGISTIC, _> { positive, bounds }, setup, positive)
        }
    }
}

// Places in `Criterion::ALL`: constants, so that no criterion is looked up at a row.
const PERCEPTRON: usize = 2;
const SQUARED: usize = 3;
const HINGE: usize = 4;
const SQUARED_HINGE: usize = 5;
const LOGISTIC: usize = 6;

/// What keeps the weights that a step moved within their bounds, as a type.
trait Keep: Send + Sync + 'static {
    /// After a step that moved the weights of a row's columns.
    fn keep<R: Rows, C: Centring>(&self, machine: &mut MovingPlanes<'_, C>, rows: &R, row: usize);

    /// After a step that moved all weights.
    fn keep_all(&self, weights: &mut [f64]);
}

struct Free;

impl Keep for Free {
    #[inline]
    fn keep<R: Rows, C: Centring>(&self, _: &mut MovingPlanes<'_, C>, _: &R, _: usize) {}

    fn keep_all(&self, _: &mut [f64]) {}
}

impl Keep for Ranges {
    fn keep<R: Rows, C: Centring>(&self, machine: &mut MovingPlanes<'_, C>, rows: &R, row: usize) {
        let weights = &mut machine.planes[0].v;
        rows.row(row, &mut machine.scratch).for_each(|j, _| {
            let j = j as usize;
            weights[j] = self.nearest(j, weights[j]);
        });
    }

    fn keep_all(&self, weights: &mut [f64]) {
        self.bring_in(weights);
    }
}

/// The margin of a row on the one plane, and its sign.
fn margin_of<R: Rows, C: Centring>(
    machine: &MovingPlanes<'_, C>,
    rows: &R,
    row: usize,
    positive: bool,
) -> (f64, f64) {
    let y = if positive { 1.0 } else { -1.0 };
    (y * (machine.score(rows, row, 0) * machine.row_scale(row)), y)
}

/// Down the criterion at this place of the list.
struct Downhill<const J: usize, B> {
    positive: u32,
    bounds: B,
}

impl<const J: usize, B: Keep> UpdateRule for Downhill<J, B> {
    #[inline]
    fn visit<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> Visit {
        let (m, y) = margin_of(machine, rows, row, class == self.positive);
        let slope = Criterion::ALL[J].slope(m);
        if slope == 0.0 && !m.is_nan() {
            return Visit::Right;
        }
        machine.correct(rows, row, 0, -slope * y);
        self.bounds.keep(machine, rows, row);
        Visit::Corrected
    }

    fn margin<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> f64 {
        margin_of(machine, rows, row, class == self.positive).0
    }

    fn loss<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> f64 {
        Criterion::ALL[J].value(margin_of(machine, rows, row, class == self.positive).0)
    }
}

/// Down J_d.
struct Closer<B> {
    positive: u32,
    bounds: B,
    scaler: Scaler,
}

impl<B: Keep> UpdateRule for Closer<B> {
    fn visit<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> Visit {
        let (m, y) = margin_of(machine, rows, row, class == self.positive);
        if m > 0.0 {
            return Visit::Right;
        }
        let plane = &machine.planes[0];
        let weights = plane.v.iter().enumerate();
        let square: f64 = weights.map(|(j, w)| (w / self.scaler.scale(j)).powi(2)).sum();
        let length = (square + plane.b * plane.b).sqrt();
        // At 0 there is no distance, and the step is that of the perceptron.
        if length > 0.0 {
            let grown = 1.0 - machine.rate_of(row) * m / length.powi(3);
            let plane = &mut machine.planes[0];
            plane.v.iter_mut().for_each(|w| *w *= grown);
            plane.b *= grown;
        }
        let step = if length > 0.0 { y / length } else { y };
        machine.correct(rows, row, 0, step);
        self.bounds.keep_all(&mut machine.planes[0].v);
        Visit::Corrected
    }

    fn margin<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> f64 {
        margin_of(machine, rows, row, class == self.positive).0
    }

    fn loss<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> f64 {
        Criterion::Distance.value(margin_of(machine, rows, row, class == self.positive).0)
    }
}
