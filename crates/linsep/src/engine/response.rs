//! What a row asks for when it is visited: the rules of the perceptron family.
//!
//! With m = y(w·x + b) the margin of the row (for K classes: its own score less the strongest
//! other) and q = |z|² the squared length of its augmented row z = (1, x) (twice that for K classes,
//! where two planes move), a response is the step a in w += η a y z:
//!
//! | rule | when | a | what is proved of it |
//! |---|---|---|---|
//! | fixed increment | m ≤ 0 | 1 | at most R²/γ² corrections from 0 (Novikoff 1962) |
//! | margin | m ≤ b | 1 | at most (R² + 2b/η)/γ² corrections from 0; ends with every m > b |
//! | relaxation | m < b | ρ(b − m)/q, 0 < ρ < 2 | no step leads away from {m ≥ b} (Agmon, Motzkin 1954) |
//! | passive-aggressive | ℓ = 1 − m > 0 | ℓ/q; min(C, ℓ/q); ℓ/(q + 1/2C) | Σ ℓ² ≤ R²u² for any u with every m ≥ 1 |
//! | LMS | always | 1 − m | steepest descent on the squared error, row by row (Widrow, Hoff 1960) |
//! | normalised LMS | always | (1 − m)/q | the same, of any length of row |
//!
//! Fixed increment and margin end with a pass in which no row asks for anything; relaxation and
//! passive-aggressive steps approach their margin for ever and end when no row is wrong any more; LMS
//! never ends by itself.
//!
//! References: Duda, Hart, Stork 5.5 to 5.8; Crammer and others 2006.

use super::online::Judge;
use super::pass::Standing;
use linsep_data::error::{Error, Result};
use linsep_data::read::words;

/// A rule of the family.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Response {
    /// Step 1 at every mistake.
    #[default]
    Fixed,
    /// Step 1 at every row whose margin is at most b.
    Margin {
        /// b, at least 0.
        b: f64,
    },
    /// To the plane m = b, or ρ times as far.
    Relaxation {
        /// ρ between 0 and 2.
        rho: f64,
        /// b above 0.
        b: f64,
    },
    /// To m = 1, as far as C allows.
    PassiveAggressive {
        /// Which of the three rules.
        variant: Aggressive,
        /// C above 0; the first rule does not use it.
        c: f64,
    },
    /// The step of steepest descent on (1 − m)².
    Lms {
        /// Divided by the length of the row.
        normalised: bool,
    },
}

words! {
    /// The passive-aggressive rules.
    Aggressive: "passive-aggressive rule" {
        /// All the way.
        Pa = "pa",
        /// At most C.
        Pa1 = "pa1",
        /// Softened by 1/(2C).
        Pa2 = "pa2",
    }
}

/// One rule as a type, so that its step is compiled into the loop over the rows.
pub(crate) trait Respond: Judge + Send + Sync + 'static {
    /// Whether rows above [`Judge::rests_above`] may be passed over.
    const RESTS: bool = true;

    /// The step for a row of margin m, if it asks for one. `tie_is_right` says whether m = 0 is no
    /// mistake; `square` gives q.
    fn respond(&self, m: f64, tie_is_right: bool, square: impl FnOnce() -> f64) -> Option<f64>;

    /// Whether a row that asked for a step stands in the way of the end. Rules that go on towards a
    /// margin for ever end when no row is wrong any more.
    #[inline(always)]
    fn is_mistake(&self, m: f64) -> bool {
        let right = m > 0.0;
        !right
    }
}

/// Step 1 at every row whose margin is at most `b`; fixed increment for 0. Written so that a margin that is
/// not a number is a mistake. Unless it is `strict` a tie can be right.
pub(crate) struct Fixed {
    pub(crate) b: f64,
    pub(crate) strict: bool,
}

impl Respond for Fixed {
    #[inline(always)]
    fn respond(&self, m: f64, tie_is_right: bool, _: impl FnOnce() -> f64) -> Option<f64> {
        let right = m > self.b || (!self.strict && tie_is_right && m == 0.0);
        (!right).then_some(1.0)
    }

    #[inline(always)]
    fn is_mistake(&self, _: f64) -> bool {
        true
    }
}

impl Judge for Fixed {
    fn rests_above(&self) -> Option<f64> {
        Some(self.b)
    }

    fn is_wrong(&self, row: Standing) -> bool {
        self.respond(row.margin, row.tie_is_right, || 1.0).is_some()
    }

    /// J_p with the margin: Σ (b − m) over m ≤ b.
    fn loss(&self, m: f64, _: &mut dyn FnMut() -> f64) -> f64 {
        if m > self.b { 0.0 } else { self.b - m }
    }
}

pub(crate) struct Relaxing {
    pub(crate) rho: f64,
    pub(crate) b: f64,
}

impl Respond for Relaxing {
    #[inline(always)]
    fn respond(&self, m: f64, _: bool, square: impl FnOnce() -> f64) -> Option<f64> {
        let right = m >= self.b;
        (!right).then(|| self.rho * (self.b - m) / square())
    }
}

impl Judge for Relaxing {
    fn rests_above(&self) -> Option<f64> {
        Some(self.b)
    }

    /// J_r: half of (b − m)²/q over m < b.
    fn loss(&self, m: f64, square: &mut dyn FnMut() -> f64) -> f64 {
        if m >= self.b { 0.0 } else { 0.5 * (self.b - m) * (self.b - m) / square() }
    }
}

pub(crate) struct Aggressively {
    pub(crate) variant: Aggressive,
    pub(crate) c: f64,
}

impl Respond for Aggressively {
    #[inline(always)]
    fn respond(&self, m: f64, _: bool, square: impl FnOnce() -> f64) -> Option<f64> {
        let right = m >= 1.0;
        (!right).then(|| match self.variant {
            Aggressive::Pa => (1.0 - m) / square(),
            Aggressive::Pa1 => ((1.0 - m) / square()).min(self.c),
            Aggressive::Pa2 => (1.0 - m) / (square() + 0.5 / self.c),
        })
    }
}

impl Judge for Aggressively {
    fn rests_above(&self) -> Option<f64> {
        Some(1.0)
    }

    /// The hinge loss.
    fn loss(&self, m: f64, _: &mut dyn FnMut() -> f64) -> f64 {
        if m >= 1.0 { 0.0 } else { 1.0 - m }
    }
}

pub(crate) struct LeastMeanSquares {
    pub(crate) normalised: bool,
}

impl Respond for LeastMeanSquares {
    const RESTS: bool = false;

    #[inline(always)]
    fn respond(&self, m: f64, _: bool, square: impl FnOnce() -> f64) -> Option<f64> {
        let error = 1.0 - m;
        (error != 0.0).then(|| if self.normalised { error / square() } else { error })
    }

    /// Every step counts: the end is another rule's business.
    #[inline(always)]
    fn is_mistake(&self, _: f64) -> bool {
        true
    }
}

impl Judge for LeastMeanSquares {
    fn is_wrong(&self, _: Standing) -> bool {
        true
    }

    /// Half of the squared error.
    fn loss(&self, m: f64, _: &mut dyn FnMut() -> f64) -> f64 {
        0.5 * (1.0 - m) * (1.0 - m)
    }
}
