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
//! A [`MarginLoss`] is a loss of the caller's own, for [`crate::learn::descent`].
//!
//! References: Duda, Hart, Stork 5.4 to 5.8; Bishop 4.1.7 and 7.1.2.

use linsep_data::error::{Error, Result};
use linsep_data::read::words;
use std::fmt;
use std::sync::Arc;

/// A loss f of the margin m = y(w·x + b) of a row, y = ±1. What is minimised is the sum of f(m) over the
/// rows, each with its weight.
///
/// Required: `value` and `slope` are finite for every finite m and depend on m alone. A run that meets a
/// NaN or an infinity ends as diverged. That `slope` is the derivative of `value` is not checked; at a kink
/// it is a subgradient.
///
/// ```
/// use linsep::learn::descent::Descent;
/// use linsep::loss::MarginLoss;
/// use linsep::{Dataset, Learner, Limits, Task};
/// use std::sync::Arc;
/// struct Exponential;
/// impl MarginLoss for Exponential {
///     fn value(&self, m: f64) -> f64 {
///         (-m).exp()
///     }
///     fn slope(&self, m: f64) -> f64 {
///         -(-m).exp()
///     }
/// }
/// let data = Dataset::from_rows(&[[0.], [1.], [2.], [3.]], &["low", "up", "low", "up"])?;
/// let learner = Descent::on_loss(Arc::new(Exponential));
/// let fit = learner.fit(&Task::new(data), &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.predict(&[9.])?, "up");
/// # Ok::<(), linsep::Error>(())
/// ```
pub trait MarginLoss: Send + Sync {
    /// f(m).
    fn value(&self, m: f64) -> f64;

    /// f'(m), or a subgradient.
    fn slope(&self, m: f64) -> f64;

    /// A finite bound above 0 of f'', if there is one: the slopes at two margins differ by no more than it
    /// times the difference of the margins. The rate of a descent follows from it; without it steps shrink
    /// like 1/√k.
    fn curvature_bound(&self) -> Option<f64> {
        None
    }

    /// Whether f is convex, so that a gradient of 0 is a minimum.
    fn is_convex(&self) -> bool {
        false
    }

    /// (f(m), f'(m)) of many margins into as many places: one call for a block of rows.
    #[doc(hidden)]
    fn evaluate(&self, margins: &[f64], terms: &mut [(f64, f64)]) {
        for (term, &m) in terms.iter_mut().zip(margins) {
            *term = (self.value(m), self.slope(m));
        }
    }
}

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
            Criterion::Squared => "squared distances of the scores from +1 and -1, added up",
            Criterion::Hinge => "what the margins lack of 1",
            Criterion::SquaredHinge => "the same, squared",
            Criterion::Logistic => "minus the log-likelihood of the logistic model",
        }
    }
}

/// Before the division by ‖w‖ where there is one.
impl MarginLoss for Criterion {
    fn value(&self, m: f64) -> f64 {
        Criterion::value(*self, m)
    }

    fn slope(&self, m: f64) -> f64 {
        Criterion::slope(*self, m)
    }

    fn curvature_bound(&self) -> Option<f64> {
        self.curvature()
    }

    fn is_convex(&self) -> bool {
        Criterion::is_convex(*self)
    }

    /// The criterion is looked up once for a block, and each has its own loop.
    fn evaluate(&self, margins: &[f64], terms: &mut [(f64, f64)]) {
        const fn at(criterion: Criterion) -> usize {
            criterion as usize
        }
        match self {
            Criterion::Mistakes => Fixed::<{ at(Criterion::Mistakes) }>.evaluate(margins, terms),
            Criterion::Distance => Fixed::<{ at(Criterion::Distance) }>.evaluate(margins, terms),
            Criterion::Perceptron => {
                Fixed::<{ at(Criterion::Perceptron) }>.evaluate(margins, terms)
            }
            Criterion::Squared => Fixed::<{ at(Criterion::Squared) }>.evaluate(margins, terms),
            Criterion::Hinge => Fixed::<{ at(Criterion::Hinge) }>.evaluate(margins, terms),
            Criterion::SquaredHinge => {
                Fixed::<{ at(Criterion::SquaredHinge) }>.evaluate(margins, terms)
            }
            Criterion::Logistic => Fixed::<{ at(Criterion::Logistic) }>.evaluate(margins, terms),
        }
    }
}

/// The criterion at this place of `Criterion::ALL`, as a type.
struct Fixed<const J: usize>;

impl<const J: usize> MarginLoss for Fixed<J> {
    #[inline]
    fn value(&self, m: f64) -> f64 {
        Criterion::ALL[J].value(m)
    }

    #[inline]
    fn slope(&self, m: f64) -> f64 {
        Criterion::ALL[J].slope(m)
    }
}

/// What a descent minimises.
#[derive(Clone)]
#[non_exhaustive]
pub enum RowLoss {
    /// A criterion of the table.
    Criterion(Criterion),
    /// A loss of the caller's own.
    Custom(Arc<dyn MarginLoss>),
}

impl RowLoss {
    /// The criterion, if it is one.
    pub fn criterion(&self) -> Option<Criterion> {
        match self {
            RowLoss::Criterion(criterion) => Some(*criterion),
            RowLoss::Custom(_) => None,
        }
    }

    /// Whether it is this criterion.
    pub(crate) fn is(&self, criterion: Criterion) -> bool {
        self.criterion() == Some(criterion)
    }

    fn inner(&self) -> &dyn MarginLoss {
        match self {
            RowLoss::Criterion(criterion) => criterion,
            RowLoss::Custom(loss) => loss.as_ref(),
        }
    }
}

impl fmt::Debug for RowLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.criterion().map_or("custom loss", Criterion::word))
    }
}

impl MarginLoss for RowLoss {
    fn value(&self, m: f64) -> f64 {
        self.inner().value(m)
    }

    fn slope(&self, m: f64) -> f64 {
        self.inner().slope(m)
    }

    fn curvature_bound(&self) -> Option<f64> {
        self.inner().curvature_bound()
    }

    fn is_convex(&self) -> bool {
        self.inner().is_convex()
    }

    /// A custom value that is not finite makes the slope one too, so that the weights show it.
    fn evaluate(&self, margins: &[f64], terms: &mut [(f64, f64)]) {
        self.inner().evaluate(margins, terms);
        if let RowLoss::Custom(_) = self {
            for (_, slope) in terms.iter_mut().filter(|(value, _)| !value.is_finite()) {
                *slope = f64::NAN;
            }
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
    use proptest::prelude::*;

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
    fn a_block_of_margins_has_the_terms_of_each() {
        let margins: Vec<f64> = (-40..40).map(|k| f64::from(k) / 7.0).collect();
        for (place, criterion) in Criterion::ALL.into_iter().enumerate() {
            assert_eq!(criterion as usize, place);
            let mut terms = vec![(0.0, 0.0); margins.len()];
            criterion.evaluate(&margins, &mut terms);
            for (term, &m) in terms.iter().zip(&margins) {
                assert_eq!(*term, (criterion.value(m), criterion.slope(m)), "{criterion:?} at {m}");
            }
        }
    }

    const LOSSES: [Loss; 3] = [Loss::Logistic, Loss::Hinge, Loss::SquaredHinge];

    /// A margin that is away from the kink at 1 by more than the differences below reach.
    fn smooth_margin() -> impl Strategy<Value = f64> {
        (-30.0..30.0).prop_filter("a kink", |m: &f64| (m - 1.0).abs() > 1e-3)
    }

    proptest! {
        /// −f' and f'' are differences of f and of −f'.
        #[test]
        fn gradients_and_curvatures_are_differences(m in smooth_margin()) {
            let h = 1e-5;
            for loss in LOSSES {
                let slope = (loss.value(m + h) - loss.value(m - h)) / (2.0 * h);
                let gradient = loss.negative_gradient(m);
                prop_assert!((slope + gradient).abs() < 1e-8 * (1.0 + gradient), "{loss:?}");
                let bend = loss.negative_gradient(m - h) - loss.negative_gradient(m + h);
                let curvature = loss.curvature(m);
                prop_assert!((bend / (2.0 * h) - curvature).abs() < 1e-8, "{loss:?}");
            }
        }

        /// Fenchel-Young: c f(m) + α m ≥ ψ(α) for every multiplier α that is allowed, with equality at
        /// α = −c f'(m).
        #[test]
        fn conjugates_bound_losses_and_touch_them(
            m in -30.0..30.0f64,
            share in 0.0..=1.0f64,
            cost in 1e-3..1e3f64,
        ) {
            for loss in LOSSES {
                // The squared hinge takes every α from 0 on, the others none above the cost.
                let most = if loss == Loss::SquaredHinge { 70.0 * cost } else { cost };
                let excess = |alpha: f64| {
                    cost * loss.value(m) + alpha * m - loss.conjugate_term(alpha, cost)
                };
                let rounding = 1e-11 * cost * (1.0 + m * m);
                prop_assert!(excess(share * most) >= -rounding, "{loss:?}");
                let touching = excess(cost * loss.negative_gradient(m));
                prop_assert!(touching.abs() <= rounding, "{loss:?}: {touching}");
            }
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
