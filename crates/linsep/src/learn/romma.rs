//! ROMMA, the relaxed online maximum margin algorithm (Li and Long 2002).
//!
//! Problem: the shortest w with y w·z ≥ 1 for all rows seen so far is the plane of largest margin, but it
//! takes all those rows. Idea: the constraints of the past are relaxed to the one half-space
//! {u : w·u ≥ |w|²}, which holds every solution of them. A row on the wrong side, with m = y w·z ≤ 0 and
//! z = (1, x), leads to the shortest w that meets both:
//!
//! ```text
//! w ← c w + d y z     c = (|z|²|w|² − m)/(|z|²|w|² − m²)     d = |w|²(1 − m)/(|z|²|w|² − m²)
//! ```
//!
//! and the first row to w = y z/|z|². The row then has the margin 1.
//!
//! Proved: if the rows can be separated with margin γ and |z| ≤ R, at most (R/γ)² updates happen, and |w|
//! never falls and never exceeds 1/γ. A run ends with a pass without mistakes; its claim `separable` is
//! checked exactly. Where |w| grows beyond all bounds no plane separates, and the run begins anew with
//! the row at hand.
//!
//! An update scales the plane, so it is no sum of rows: it cannot be traced, and bounds no margin. A row
//! that is visited twice in a row asks for nothing the second time, so weights above 0 change nothing.
//!
//! Reference: Li, Long, The relaxed online maximum margin algorithm, 2002.

use crate::engine::moving::MovingPlanes;
use crate::engine::online::{Judge, Online, Order, UpdateRule, Visit};
use crate::engine::perceptron::{Perceptron, Planes};
use crate::engine::resting::Resting;
use crate::engine::stopping::StopRule;
use crate::run::reduction::OneVsRest;
use crate::run::{BinaryLearner, Learner, Task, Training};
use linsep_data::error::{Error, Result};
use linsep_data::matrix::Rows;
use linsep_data::rng::Purpose;
use linsep_data::scale::Scaling;

/// The settings of ROMMA.
///
/// ```
/// use linsep::learn::romma::Romma;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let and = Dataset::from_rows(&[[0., 0.], [0., 1.], [1., 0.], [1., 1.]], &["0", "0", "0", "1"])?;
/// let fit = Romma::default().fit(&Task::new(and), &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.predict(&[1., 1.])?, "1");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Romma {
    /// The order of the rows.
    pub order: Order,
    /// When a run ends by itself.
    pub stop: StopRule,
    /// Scaling of the columns during learning, without moving them; the model speaks of raw features.
    pub scale: Scaling,
    /// The seed of orders.
    pub seed: u64,
}

impl Default for Romma {
    fn default() -> Self {
        let Perceptron { order, stop, scale, seed, .. } = Perceptron::default();
        Romma { order, stop, scale, seed }
    }
}

impl Learner for Romma {
    /// One plane for two classes, one-versus-rest for more.
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        OneVsRest(self.clone()).start(task)
    }
}

impl BinaryLearner for Romma {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        if matches!(self.scale, Scaling::Standard | Scaling::Unit) {
            let words = "scale: lengths of planes are compared, so columns are neither moved nor rows scaled; it takes none, pow2 or maxabs";
            return Err(Error::usage(words));
        }
        let Romma { order, stop, scale, seed } = self.clone();
        let run = Perceptron { order, stop, scale, seed, ..Perceptron::default() };
        let mut setup = run.setup(task, 1, |_| Purpose::Start(u64::from(positive)))?;
        setup.rates.factors = None;
        let run = Online::new(Relaxed { positive }, setup, Planes::One(positive))?;
        Ok(Box::new(Resting::new(run, None).untraced()))
    }
}

/// |w|² beyond which no plane separates with a margin that numbers can tell from 0.
const LONGEST: f64 = 1e100;
/// The least sin² of the angle between plane and row at which both constraints can be met.
const FLAT: f64 = 1e-12;

/// The rule of one plane.
struct Relaxed {
    positive: u32,
}

impl Relaxed {
    /// c and d for a row of margin m, with |z|² and |w|².
    fn factors(m: f64, row: f64, plane: f64) -> (f64, f64) {
        let spread = row * plane - m * m;
        let meets = spread > FLAT * row * plane && plane < LONGEST;
        match meets {
            true => ((row * plane - m) / spread, plane * (1.0 - m) / spread),
            // The first row, or one that no plane so far agrees with.
            false => (0.0, 1.0 / row),
        }
    }
}

impl UpdateRule for Relaxed {
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
        let length = moving.length_squared();
        let (c, d) = Relaxed::factors(m, moving.square(rows, row), length);
        // Never −0, which would tell dense from sparse rows.
        let plane = &mut moving.planes[0];
        plane.v.iter_mut().for_each(|w| *w = *w * c + 0.0);
        plane.b = plane.b * c + 0.0;
        moving.correct(rows, row, 0, y * d);
        Visit::Corrected
    }
}

impl Judge for Relaxed {
    /// J_p.
    fn loss(&self, m: f64, _: &mut dyn FnMut() -> f64) -> f64 {
        (-m).max(0.0)
    }
}
