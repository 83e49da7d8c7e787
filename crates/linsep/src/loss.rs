//! The criteria of the lectures: what a plane is judged by.
//!
//! With m = y(w·x + b) the margin of a row, y = ±1, each criterion is a sum over the rows:
//!
//! | word | value of a row | slope at m | convex | differentiable |
//! |---|---|---|---|---|
//! | `jn` | 1 if m ≤ 0 | 0 | no | no: flat with steps |
//! | `jd` | max(0, −m)/‖w‖: the distance of a mistake | −1/‖w‖ and a part along w | no | almost everywhere |
//! | `jp` | max(0, −m): the perceptron criterion | −1 if m ≤ 0 | yes | but where m = 0 |
//! | `mse` | (1 − m)² | −2(1 − m) | yes | yes |
//! | `hinge` | max(0, 1 − m) | −1 if m < 1 | yes | but where m = 1 |
//! | `squared-hinge` | max(0, 1 − m)² | −2 max(0, 1 − m) | yes | once |
//! | `logistic` | ln(1 + exp(−m)) | −1/(1 + exp(m)) | yes | yes |
//!
//! At a kink the slope is a subgradient: for `jp` that of the lectures, where a row on the plane is a
//! mistake. `jd` is `jp` divided by ‖w‖, so its slope is that of `jp` over ‖w‖, and its gradient has
//! the further part −J_p w/‖w‖³.
//!
//! References: Duda, Hart, Stork 5.4 to 5.8; Bishop 4.1.7 and 7.1.2.

use linsep_data::error::{Error, Result};
use linsep_data::read::words;

words! {
    /// A criterion, by its word.
    Criterion: "criterion" {
        /// The number of mistakes.
        Mistakes = "jn",
        /// The distances of the mistakes from the plane.
        Distance = "jd",
        /// The perceptron criterion.
        Perceptron = "jp",
        /// The squared error.
        Squared = "mse",
        /// The hinge.
        Hinge = "hinge",
        /// The squared hinge.
        SquaredHinge = "squared-hinge",
        /// The logistic loss.
        Logistic = "logistic",
    }
}

/// What holds of a criterion whatever the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Card {
    /// Whether it is a convex function of the plane.
    pub convex: bool,
    /// Where it has a gradient.
    pub differentiable: &'static str,
    /// Whether its values have a lower bound.
    pub bounded_below: bool,
    /// Whether a plane multiplied by a number above 0 has the same value.
    pub scale_invariant: bool,
    /// What its minimum is like.
    pub minimum: &'static str,
    /// The items of the lectures that speak of it.
    pub items: &'static str,
}

impl Criterion {
    /// Every criterion, in the order of the table.
    pub const ALL: [Criterion; 7] = [
        Criterion::Mistakes,
        Criterion::Distance,
        Criterion::Perceptron,
        Criterion::Squared,
        Criterion::Hinge,
        Criterion::SquaredHinge,
        Criterion::Logistic,
    ];

    /// What holds of the criterion whatever the data.
    pub fn card(self) -> Card {
        let (differentiable, minimum, items) = match self {
            Criterion::Mistakes => (
                "nowhere useful: flat with steps",
                "many planes share it; found by trying, not by slopes",
                "L44",
            ),
            Criterion::Distance => (
                "but where a row is on the plane",
                "0 on separable rows; else local ones too",
                "L45",
            ),
            Criterion::Perceptron => (
                "but where a row is on the plane",
                "0, also at weights of 0, so an empty error set ends a run and not the value",
                "L46",
            ),
            Criterion::Squared => {
                ("everywhere", "exists; unique if the columns (1, x) are independent", "L83, L84")
            }
            Criterion::Hinge => ("but where a margin is 1", "exists; need not be unique", "L10"),
            Criterion::SquaredHinge => ("everywhere, once", "exists; need not be unique", "L10"),
            Criterion::Logistic => (
                "everywhere",
                "none on separable or touching rows: the value falls for ever; else it exists",
                "L37",
            ),
        };
        Card {
            convex: self.is_convex(),
            differentiable,
            bounded_below: true,
            scale_invariant: matches!(self, Criterion::Mistakes | Criterion::Distance),
            minimum,
            items,
        }
    }

    /// What a row of this margin adds; for `jd` before the division by ‖w‖.
    #[inline]
    pub fn value(self, m: f64) -> f64 {
        match self {
            Criterion::Mistakes => f64::from(u8::from(m <= 0.0)),
            Criterion::Distance | Criterion::Perceptron => (-m).max(0.0),
            Criterion::Squared => (1.0 - m) * (1.0 - m),
            Criterion::Hinge => (1.0 - m).max(0.0),
            Criterion::SquaredHinge => (1.0 - m).max(0.0).powi(2),
            // ln(1 + e^-m) without overflow on either side.
            Criterion::Logistic => (-m.abs()).exp().ln_1p() + (-m).max(0.0),
        }
    }

    /// The (sub)derivative of the value; for `jd` before the division by ‖w‖.
    #[inline]
    pub fn slope(self, m: f64) -> f64 {
        match self {
            Criterion::Mistakes => 0.0,
            Criterion::Distance | Criterion::Perceptron if m <= 0.0 => -1.0,
            Criterion::Hinge if m < 1.0 => -1.0,
            Criterion::Distance | Criterion::Perceptron | Criterion::Hinge => 0.0,
            Criterion::Squared => -2.0 * (1.0 - m),
            Criterion::SquaredHinge => -2.0 * (1.0 - m).max(0.0),
            Criterion::Logistic => -1.0 / (1.0 + m.exp()),
        }
    }

    /// The largest curvature of the value, where there is one.
    pub fn curvature(self) -> Option<f64> {
        match self {
            Criterion::Squared | Criterion::SquaredHinge => Some(2.0),
            Criterion::Logistic => Some(0.25),
            _ => None,
        }
    }

    /// Whether the sum is a convex function of the plane.
    pub fn is_convex(self) -> bool {
        !matches!(self, Criterion::Mistakes | Criterion::Distance)
    }

    /// Whether the sum has a gradient everywhere.
    pub fn is_differentiable(self) -> bool {
        self.curvature().is_some()
    }

    /// What it measures, in words.
    pub fn meaning(self) -> &'static str {
        match self {
            Criterion::Mistakes => "rows on the wrong side or on the plane",
            Criterion::Distance => "their distances from the plane, added up",
            Criterion::Perceptron => "their scores on the wrong side, added up",
            Criterion::Squared => "squared distances of the scores from +1 and -1",
            Criterion::Hinge => "what the margins lack of 1",
            Criterion::SquaredHinge => "the same, squared",
            Criterion::Logistic => "minus the log-likelihood of the logistic model",
        }
    }
}

/// A convex loss of two classes that the optimisers make small: value, negative gradient, curvature and
/// what the conjugate gives the dual bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// ln(1 + exp(−m)).
    Logistic,
    /// max(0, 1 − m).
    Hinge,
    /// max(0, 1 − m)².
    SquaredHinge,
}

impl Loss {
    /// The loss at a margin.
    #[inline]
    pub fn value(self, m: f64) -> f64 {
        match self {
            Loss::Logistic => (-m.abs()).exp().ln_1p() + (-m).max(0.0),
            Loss::Hinge => (1.0 - m).max(0.0),
            Loss::SquaredHinge => {
                let lack = (1.0 - m).max(0.0);
                lack * lack
            }
        }
    }

    /// Minus the slope: the multiplier that a margin asks for, for the cost 1.
    #[inline]
    pub fn negative_gradient(self, m: f64) -> f64 {
        match self {
            Loss::Logistic => 1.0 / (1.0 + m.exp()),
            Loss::Hinge => f64::from(u8::from(m < 1.0)),
            Loss::SquaredHinge => 2.0 * (1.0 - m).max(0.0),
        }
    }

    /// The second derivative, or one of those at a kink.
    #[inline]
    pub fn curvature(self, m: f64) -> f64 {
        match self {
            Loss::Logistic => {
                let p = 1.0 / (1.0 + m.abs().exp());
                p * (1.0 - p)
            }
            Loss::Hinge => 0.0,
            Loss::SquaredHinge => 2.0 * f64::from(u8::from(m < 1.0)),
        }
    }

    /// ψ(α) of a row of cost c.
    #[inline]
    pub fn conjugate_term(self, alpha: f64, cost: f64) -> f64 {
        match self {
            Loss::Hinge => alpha,
            Loss::SquaredHinge => alpha - 0.25 * alpha * alpha / cost,
            Loss::Logistic => {
                let p = (alpha / cost).clamp(0.0, 1.0);
                let part = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
                let rest = if p < 1.0 { -(1.0 - p) * (-p).ln_1p() } else { 0.0 };
                cost * (part(p) + rest)
            }
        }
    }

    /// The same loss in claims.
    pub(crate) fn in_claims(self) -> linsep_proof::Loss {
        match self {
            Loss::Logistic => linsep_proof::Loss::Logistic,
            Loss::Hinge => linsep_proof::Loss::Hinge,
            Loss::SquaredHinge => linsep_proof::Loss::SquaredHinge,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against differences of the value, away from the kinks.
    #[test]
    fn slopes_are_those_of_the_values() {
        for criterion in Criterion::ALL {
            for m in [-30.0, -2.5, -0.3, 0.2, 0.9, 1.7, 40.0] {
                let h = 1e-6;
                let slope = (criterion.value(m + h) - criterion.value(m - h)) / (2.0 * h);
                assert!((slope - criterion.slope(m)).abs() < 1e-4, "{criterion:?} at {m}");
            }
            assert_eq!(criterion.word().parse::<Criterion>().unwrap(), criterion);
        }
    }

    #[test]
    fn convex_ones_lie_below_their_chords_and_the_others_somewhere_do_not() {
        for criterion in Criterion::ALL.into_iter().filter(|c| *c != Criterion::Distance) {
            let mut below = true;
            for a in -20..20 {
                for b in a..20 {
                    let (a, b) = (f64::from(a) / 5.0, f64::from(b) / 5.0);
                    let chord = (criterion.value(a) + criterion.value(b)) / 2.0;
                    below &= criterion.value((a + b) / 2.0) <= chord + 1e-12;
                }
            }
            assert_eq!(below, criterion.is_convex(), "{criterion:?}");
        }
    }

    #[test]
    fn the_logistic_loss_does_not_overflow() {
        assert_eq!(Criterion::Logistic.value(1e4), 0.0);
        assert_eq!(Criterion::Logistic.value(-1e4), 1e4);
        assert_eq!(Criterion::Logistic.slope(1e4), 0.0);
        assert_eq!(Criterion::Logistic.slope(-1e4), -1.0);
    }
}
