//! What is known of the coefficients of a logistic regression, as plain data.

use super::profile::ProfileEnd;
use super::residuals::Residual;
use super::tails;

/// Coefficients, how well they are known, and how well the model fits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InferenceSummary {
    /// The classes of the data.
    pub classes: Vec<String>,
    /// The class that the others are compared with.
    pub reference: String,
    /// Whether Jeffreys' prior took part.
    pub firth: bool,
    /// Whether the fit is not that of the rows as they are: an offset, groups, analytic weights, or a corrected intercept.
    pub is_corrected: bool,
    /// How sure intervals are.
    pub confidence: f64,
    /// The bias first, then the columns; of several classes one class after the other.
    pub coefficients: Vec<Inferred>,
    /// Of several classes, a test of each column in all classes at once: column and test.
    pub columns: Vec<(Option<u32>, LikelihoodRatio)>,
    /// Covariance of the coefficients with a standard error, in their order, row after row.
    pub covariance: Vec<f64>,
    /// ln of the likelihood at the estimates; its least upper bound where there is no largest value.
    pub log_likelihood: f64,
    /// The same with Jeffreys' prior.
    pub penalised_log_likelihood: Option<f64>,
    /// That of the model without columns.
    pub null_log_likelihood: f64,
    /// 2(saturated model − model).
    pub deviance: f64,
    /// The same for the model without columns.
    pub null_deviance: f64,
    /// Coefficients that are not aliased.
    pub rank: usize,
    /// Observations: rows, or the sum of their frequencies; groups, if counts were given.
    pub observations: f64,
    /// The model against the one without columns.
    pub whole: LikelihoodRatio,
    /// Where no maximum-likelihood fit exists: why.
    pub separation: Option<Separation>,
    /// What else there is to say: whether the fit is not known to exist, too few observations.
    pub notes: Vec<String>,
    /// Steps of Newton's method.
    pub steps: usize,
    /// Residuals of each observation, if they were asked for.
    pub residuals: Vec<Residual>,
}

impl InferenceSummary {
    /// 2 · rank − 2 · log-likelihood.
    pub fn aic(&self) -> f64 {
        2.0 * self.rank as f64 - 2.0 * self.log_likelihood
    }

    /// ln(observations) · rank − 2 · log-likelihood.
    pub fn bic(&self) -> f64 {
        self.observations.ln() * self.rank as f64 - 2.0 * self.log_likelihood
    }

    /// What the saturated model has more of: a coefficient for each class but the reference at each observation.
    pub fn residual_freedom(&self) -> f64 {
        self.observations * (self.classes.len() - 1) as f64 - self.rank as f64
    }
}

/// One coefficient.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inferred {
    /// The class, where there are more than two.
    pub class: Option<String>,
    /// The column; `None` is the bias.
    pub column: Option<u32>,
    /// What becomes of it.
    pub standing: Standing,
    /// The estimate; infinite where it has no finite one, not a number where it has none.
    pub estimate: f64,
    /// Its standard error, where it is finite.
    pub standard_error: Option<f64>,
    /// The profile-likelihood interval, if it was asked for.
    pub profile: Option<[ProfileEnd; 2]>,
    /// The test that it is 0, if it was asked for.
    pub test: Option<LikelihoodRatio>,
}

impl Inferred {
    /// estimate / standard error.
    pub fn z(&self) -> Option<f64> {
        self.standard_error.filter(|se| *se > 0.0).map(|se| self.estimate / se)
    }

    /// P(|Z| > |z|).
    pub fn p(&self) -> Option<f64> {
        self.z().map(tails::two_sided)
    }

    /// The Wald interval.
    pub fn wald(&self, confidence: f64) -> Option<[f64; 2]> {
        let reach = tails::normal_bound(1.0 - confidence) * self.standard_error?;
        Some([self.estimate - reach, self.estimate + reach])
    }
}

/// What becomes of a coefficient.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// It has one finite estimate.
    Finite,
    /// The likelihood grows as it grows without end.
    PlusInfinity,
    /// The likelihood grows as it falls without end.
    MinusInfinity,
    /// It may go to either infinity: that depends on the path.
    Undetermined,
    /// Its column is a sum of others and says nothing of its own.
    Aliased(Aliased),
}

impl Standing {
    /// The word in reports and files.
    pub fn word(&self) -> &'static str {
        match self {
            Standing::Finite => "finite",
            Standing::PlusInfinity => "+inf",
            Standing::MinusInfinity => "-inf",
            Standing::Undetermined => "undetermined",
            Standing::Aliased(_) => "aliased",
        }
    }
}

/// The sum of other columns that a column is: (column, factor), `None` being the bias. Empty where it was not found.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Aliased {
    /// The columns with their factors.
    pub sum: Vec<(Option<u32>, f64)>,
}

/// A likelihood-ratio test.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LikelihoodRatio {
    /// 2(l − l₀).
    pub statistic: f64,
    /// Degrees of freedom.
    pub freedom: usize,
    /// P(χ² > statistic).
    pub p: f64,
}

impl LikelihoodRatio {
    pub(super) fn of(high: f64, low: f64, freedom: usize) -> LikelihoodRatio {
        let statistic = (2.0 * (high - low)).max(0.0);
        LikelihoodRatio { statistic, freedom, p: tails::chi_square_above(statistic, freedom) }
    }
}

/// Why no maximum-likelihood fit exists.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Separation {
    /// Whether a plane separates all rows (complete separation), not only some (quasi-complete).
    pub complete: bool,
    /// How many rows push coefficients away.
    pub rows: u64,
}
