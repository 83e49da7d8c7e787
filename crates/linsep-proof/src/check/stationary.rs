//! Least squares, ridge and linear discriminants: the weights solve the equations that the data makes.
//!
//! **What is bounded.** In coordinates θ in which every column has norm 1, the equations are Mθ = r
//! with M = BᵀB + Λ: the rows of B are the centred rows, times the root of their factor f, and Λ ≥ 0
//! is diagonal (ridge or shrinkage). With θ* an exact answer and g = Mθ − r the residual,
//! e = M^½(θ − θ*) has |e|² = gᵀM⁻¹g, and |B(θ − θ*)| ≤ |e|: the change of the scores.
//!
//! **The exact answer.** Where no eigenvalue of M is below some φ > 0, this bounds the distance from the exact
//! answer. A ridge or shrinkage gives such a φ; else [`super::floor`] looks for one. Values count as their
//! reading says: a stored value is off by a rounding, a product of the basis by a few, which moves scores by
//! that share of Σ_j |w_j| X_j and sums by that share of |p| X_j. Where there is no φ and the data is small,
//! [`super::answer`] solves the equations in whole numbers and compares.
//!
//! **Dependent columns.** On larger data M may be singular, or nearly. Let τ be small, and call a direction of M small if its
//! eigenvalue is below τ². Along the others Σ g²/λ ≤ 2 Σ g²/(λ + τ²) ≤ 2 gᵀ(M + τ²)⁻¹g, and along the
//! small ones the scores are at most τ|θ|. So the scores of θ are within
//!
//! ```text
//! √2 (gᵀ(M + τ²)⁻¹g)^½ + τ|θ|
//! ```
//!
//! of those of the exact answer without the small directions; τ is at most 1e-8. Of the exact answer itself
//! this says nothing, so only the residual is claimed then, in those words.
//!
//! **How it is computed without a solver.** For any z and ρ = g − (M + τ²)z,
//!
//! ```text
//! gᵀ(M + τ²)⁻¹g = z·g + z·ρ + ρᵀ(M + τ²)⁻¹ρ ≤ z·g + z·ρ + |ρ|²/τ²
//! ```
//!
//! and with a floor φ ≤ λ for all eigenvalues λ of M, |ρ|²/(τ² + φ) is enough. Where there is a ridge or
//! shrinkage, Λ is such a floor for the columns; the constant is orthogonal to the centred ones and has
//! norm 1. The means are off by 2^-98 of X_j/√Σf, which moves no eigenvalue by more than 2^-98 d X_j over the
//! norm of the column; that is far below 2^-60 unless columns are nearly constant, and only a φ well above
//! counts.
//!
//! A poor z can only make the bound larger. Steps of conjugate gradients improve z until the bound
//! suffices; nothing is factorised. The sum z·g + z·ρ bounds from below as well, so weights that are
//! too far off are refused as soon as it says so.
//!
//! **Rounding, quickly.** Let p be the score of a row less its target, and p + η what binary64 makes of
//! it. The error of g is then Bᵀη, and |Bᵀη| in the norm of M⁻¹ is at most |η| since BᵀB ≤ M: errors of
//! scores count as what they are, whatever the condition of M. With X_j = (Σ f x_j²)^½ the triangle
//! inequality gives |η| ≤ γ_{d+16} (|base| (Σ f)^½ + Σ_j |w_j| X_j), so no row needs a bound of its own.
//! Only an error δ of the sums over columns is divided by τ or by √φ. With |Σ f p x_j| ≤ |p| X_j it is below
//! γ_{72} |p| X_j in plain sums of [`super::sweep`] over dense rows, and 2^-60 |p| X_j in exact ones. Plain
//! sums come first where there is a φ, exact ones where those do not suffice; only exact ones refuse.
//! Images (M + τ²)z are computed in plain sums: they are as small as g, so that relative errors of 1e-10 do no
//! harm. All of this is one pass over the rows for all planes, and one more for each step.
//!
//! **Rounding, carefully.** Where columns are nearly constant, X_j is large next to the norm of the
//! centred column, and these bounds say nothing. Then everything runs in [`Double`], with relative errors
//! of 2^-100 for each operation, so that for fewer than 2^40 values what they add to |g| and |ρ| is below
//! 2^-55 of them and is covered by a factor of 1.001 and a term of 2^-52 |g|/τ.
//!
//! The bound must be at most `SCORE_SHARE` of the norm of the scores (plus `SCORE_FLOOR` for each row).
//! B holds the rows of a discriminant about the means of their classes. The means themselves move by
//! (θ − θ*)·(m_c − μ) = (θ − θ*)ᵀM θ*_c, at most |e| times the length |M^½ θ_c| of another answer, so
//! the bound is multiplied by 1 + 1.5 max_c |M^½ θ_c|: one for the rows about their means, one for the
//! mean of a row's class and half of one for the mean in the bias.
//!
//! The bias of a discriminant is computed from its formula; the difference counts as a change of all
//! scores.

use super::answer::Answer;
use super::approach::{Residual, UNIT};
use super::fitted::Fitted;
use super::sweep::{Exact, Short};
use super::system::System;
use super::{Checked, Checker};
use crate::fitted::{ClassWeight, Equations, Planes};
use std::borrow::Cow;

impl Checker<'_> {
    pub(super) fn stationary(&self, planes: &Planes, equations: &Equations) -> Checked<String> {
        let fitted = Fitted::new(planes, self)?;
        let frame = Frame::new(self, &fitted, equations)?;
        let shown = || Ok(self.stationary_sentence(equations, Shown::Scores));
        let mut exact = match self.in_one_place() {
            Ok(()) => match System::quick::<Short>(&frame)? {
                Some((mut system, residuals)) => {
                    system.floor = system.least_eigenvalue()?;
                    let is_definite = system.floor > 0.0;
                    if is_definite && system.are_near(&frame, residuals).is_ok_and(|near| near) {
                        return shown();
                    }
                    // What plain sums say against the weights may be their rounding.
                    System::quick::<Exact>(&frame)?
                }
                None => None,
            },
            // Rows that are elsewhere are not passed over twice.
            Err(_) => System::quick::<Exact>(&frame)?,
        };
        if let Some((system, residuals)) = &mut exact {
            system.floor = system.least_eigenvalue()?;
            if system.floor > 0.0 && system.are_near(&frame, residuals.clone())? {
                return shown();
            }
            system.floor = 0.0;
        }
        // Whole numbers are for small tables, which are in one place.
        let answer = match self.in_one_place() {
            Ok(()) => Answer::new(self, &fitted, equations)?,
            Err(_) => None,
        };
        if let Some(answer) = answer {
            let near = |(k, (weights, bias)): (usize, &(Cow<'_, [f64]>, f64))| {
                answer.distance(k, weights, *bias).is_some_and(|distance| distance.is_near())
            };
            return match fitted.planes.iter().enumerate().all(near) {
                true => shown(),
                false => Err("the weights do not solve the equations: the scores of the exact answer are others".into()),
            };
        }
        let mut open: Vec<usize> = (0..fitted.planes.len()).collect();
        let (mut reach, mut share) = (1.0, 0f64);
        if let Some((system, residuals)) = exact {
            reach = frame.reach(&residuals);
            share = residuals.iter().map(Residual::share).fold(share, f64::max);
            open = system.judge(residuals, reach, |vectors| system.images(vectors))?;
        }
        if !open.is_empty() {
            let system = System::careful(&frame)?;
            let residual = |plane: &usize| system.careful_residual(*plane);
            let residuals: Vec<Residual> = open.iter().map(residual).collect::<Checked<_>>()?;
            reach = frame.reach(&residuals).max(reach);
            share = residuals.iter().map(Residual::share).fold(share, f64::max);
            open = system.judge(residuals, reach, |vectors| system.careful_images(vectors))?;
        }
        match open.is_empty() {
            true => Ok(self.stationary_sentence(equations, Shown::Residual(share))),
            false => Err(FAR.into()),
        }
    }

    /// What was shown of the equations, with their settings.
    fn stationary_sentence(&self, equations: &Equations, shown: Shown) -> String {
        let settings = equations.words() + self.row_weights();
        match shown {
            Shown::Scores => format!(
                "the weights solve the equations: on the rows, the scores are within 1e-6 of their norm of the exact answer's ({settings})"
            ),
            Shown::Residual(share) => format!(
                "the residual of the equations is at most {} of the norm of the scores, in columns of norm 1; columns are nearly dependent, and the distance from the exact answer is not bounded ({settings})",
                above(share)
            ),
        }
    }
}

/// What was shown.
enum Shown {
    /// The scores are near those of the exact answer.
    Scores,
    /// The residual is at most this share of the norm of the scores.
    Residual(f64),
}

/// A number with two digits that is not below it.
fn above(x: f64) -> String {
    format!("{:.1e}", 1.05 * x)
}

pub(super) const FAR: &str =
    "the weights do not solve the equations, or the columns are too nearly dependent to tell";

/// γ_k: what k roundings do to a sum.
pub(super) fn gamma(k: f64) -> f64 {
    k * UNIT / (1.0 - k * UNIT)
}

/// What the claim and the weights of the classes say of the equations.
pub(super) struct Frame<'a> {
    pub(super) checker: &'a Checker<'a>,
    pub(super) fitted: &'a Fitted<'a>,
    pub(super) equations: &'a Equations,
    /// The factor of a row of each class, beside its weight.
    pub(super) factors: Vec<f64>,
    /// Σ of all factors.
    pub(super) total: f64,
    pub(super) priors: Vec<f64>,
    pub(super) shrinkage: f64,
}

impl<'a> Frame<'a> {
    fn new(
        checker: &'a Checker<'a>,
        fitted: &'a Fitted<'a>,
        equations: &'a Equations,
    ) -> Checked<Frame<'a>> {
        let weights = &fitted.class_weights;
        let all: f64 = weights.iter().sum();
        let (factors, priors, shrinkage) = match equations {
            Equations::LeastSquares { l2, class_weight } => {
                if !(l2.is_finite() && *l2 >= 0.0) {
                    return Err("l2 is below 0".into());
                }
                class_weight.check(weights.len())?;
                let factor = |(k, w): (usize, &f64)| match class_weight {
                    ClassWeight::None => 1.0,
                    ClassWeight::Balanced => all / (weights.len() as f64 * w),
                    ClassWeight::Given(given) => given[k],
                };
                (weights.iter().enumerate().map(factor).collect(), Vec::new(), 0.0)
            }
            Equations::Discriminant { shrinkage, priors, .. } => {
                let shrinkage = *shrinkage;
                priors.check(weights.len())?;
                if !(0.0..=1.0).contains(&shrinkage) {
                    return Err("the shrinkage is not between 0 and 1".into());
                }
                let priors = fitted.priors(weights, priors);
                let factors: Vec<f64> = priors.iter().zip(weights).map(|(p, w)| p / w).collect();
                (factors, priors, shrinkage)
            }
        };
        let total: f64 = factors.iter().zip(weights).map(|(f, w)| f * w).sum();
        Ok(Frame { checker, fitted, equations, factors, total, priors, shrinkage })
    }

    /// How far a stored value may be from the one that it stands for, as a share of it.
    pub(super) fn reading(&self) -> f64 {
        // The factors of classes are rounded too.
        gamma(self.checker.products.roundings() + 4.0)
    }

    pub(super) fn has_constant(&self) -> bool {
        matches!(self.equations, Equations::LeastSquares { .. })
    }

    /// By how much a change within the classes may be a larger change of the scores.
    pub(super) fn reach(&self, residuals: &[Residual]) -> f64 {
        match self.has_constant() {
            true => 1.0,
            false => 1.0 + 1.5 * residuals.iter().map(|r| r.within).fold(0.0, f64::max),
        }
    }

    /// What is added to w·x of a row of each class before it goes into the equations, and then to get
    /// its score.
    pub(super) fn base(&self, plane: usize, class: usize) -> (f64, f64) {
        let bias = self.fitted.planes[plane].1;
        let target = match self.fitted.planes.len() {
            1 => 2.0 * class as f64 - 1.0,
            _ => f64::from(u8::from(class == plane)),
        };
        if self.has_constant() { (bias - target, target) } else { (0.0, bias) }
    }
}
