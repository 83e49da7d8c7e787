//! What a logistic regression says of its coefficients: estimates, standard errors, tests and intervals.
//!
//! Problem: y is one of K classes with the odds ln(p_k/p_K) = x·β_k (the last class, or the one that is asked
//! for, is the reference; of two classes ln(p/(1 − p)) = x·β + offset for the second). [`Inference`] finds the
//! β of the largest likelihood, or of the largest likelihood with Jeffreys' prior (Firth), and from its expected
//! information I:
//!
//! ```text
//! standard error   √(I⁻¹)_jj, or of the sandwich I⁻¹ (Σ u uᵀ) I⁻¹ of the rows' scores u
//! Wald             z = β/se, p = P(|Z| > |z|), β ± z_α se
//! likelihood ratio 2(l − l₀), χ² with the degrees that the smaller model lacks
//! profile          every b with 2(l − PL(b)) ≤ the quantile of χ²₁
//! ```
//!
//! **Where no fit exists** (the classes are separated, or nearly), the exact verdict says which coefficients
//! go to which infinity, and which rows push them ([`crate::verdict`]). Along the way there the likelihood goes to
//! that of the rows that are left, so the finite coefficients, their errors, tests and intervals are those of a
//! fit to these rows. An infinite coefficient has one finite end: the b at which the likelihood, with everything
//! else free to go where it wants, is low enough. Columns that are sums of others are known exactly and have no number.
//!
//! Nothing here is proved but the verdict, and with Firth's prior what the claim `modified-score` says:
//! numbers are those of binary64, profile ends come with the bracket that was tried.
//!
//! References: McCullagh and Nelder, Generalized Linear Models, 1989; White, Maximum likelihood estimation of
//! misspecified models, 1982; Heinze and Schemper, A solution to the problem of separation in logistic
//! regression, 2002; Puhr, Heinze, Nold, Lusa, Geroldinger, Firth's logistic regression with rare events, 2017.

mod climb;
mod corrections;
mod covariance;
mod design;
mod existing;
mod fit;
mod likelihood;
mod lines;
mod profile;
mod proved;
pub mod report;
mod residuals;
mod separated;
mod summary;
pub mod tails;

pub use profile::ProfileEnd;
pub use residuals::Residual;
pub use summary::{Aliased, InferenceSummary, Inferred, LikelihoodRatio, Separation, Standing};

use crate::run::Task;
use design::Plan;
use linsep_data::cancel;
use linsep_data::error::{Code, Error, Result};

linsep_data::read::words! {
    /// How standard errors are found.
    StandardErrors: "se" {
        /// From the expected information: right if the model is.
        Expected = "expected",
        /// From the sandwich of the rows' scores: right even if the variance is not that of the model.
        Robust = "robust",
    }
}

linsep_data::read::words! {
    /// What row weights are.
    WeightsAs: "weights-as" {
        /// How many rows each one stands for.
        Frequency = "frequency",
        /// Relative precisions: their sum counts as the number of rows.
        Analytic = "analytic",
    }
}

linsep_data::read::words! {
    /// What is done to the intercept, which Firth's prior draws towards even odds.
    InterceptCorrection: "correction" {
        /// Nothing.
        None = "none",
        /// The intercept of the largest likelihood beside Firth's other coefficients: mean predictions are then those of the data.
        Flic = "flic",
        /// The largest likelihood on data that the prior has added to, with a column that marks what was added.
        Flac = "flac",
    }
}

/// A logistic regression whose coefficients are to be judged.
///
/// ```
/// use linsep::infer::Inference;
/// use linsep::{Dataset, Task};
/// let x = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]];
/// let data = Dataset::from_rows(&x, &["no", "no", "yes", "no", "yes", "yes"])?;
/// let summary = Inference::default().of(&Task::new(data), &|| false)?;
/// let slope = &summary.coefficients[1];
/// assert!((slope.estimate - 1.2140).abs() < 1e-4);
/// assert!(slope.profile.unwrap()[0].value < slope.estimate);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inference {
    /// With Jeffreys' prior, which keeps every coefficient finite.
    pub firth: bool,
    /// What becomes of the intercept of Firth's fit.
    pub correction: InterceptCorrection,
    /// Which standard errors.
    pub se: StandardErrors,
    /// How sure intervals are.
    pub confidence: f64,
    /// Whether profile intervals and likelihood-ratio tests of each coefficient are wanted.
    pub profile: bool,
    /// Whether residuals of each observation are wanted.
    pub residuals: bool,
    /// What row weights are.
    pub weights_as: WeightsAs,
    /// Whether there is a bias.
    pub bias: bool,
    /// Added to the score of each row (two classes).
    pub offset: Option<Vec<f64>>,
    /// A number for each row: neighbours with the same number are the successes and failures of one group of
    /// trials, their weights the counts (two classes).
    pub groups: Option<Vec<u32>>,
    /// The class that the others are compared with, the first by default (more than two classes).
    pub reference: Option<String>,
}

impl Default for Inference {
    fn default() -> Self {
        Inference {
            firth: false,
            correction: InterceptCorrection::None,
            se: StandardErrors::Expected,
            confidence: 0.95,
            profile: true,
            residuals: false,
            weights_as: WeightsAs::Frequency,
            bias: true,
            offset: None,
            groups: None,
            reference: None,
        }
    }
}

linsep_proof::setters! {
    Inference {
        with_firth => firth: bool,
        with_correction => correction: InterceptCorrection,
        with_se => se: StandardErrors,
        with_confidence => confidence: f64,
        with_profile => profile: bool,
        with_residuals => residuals: bool,
        with_weights_as => weights_as: WeightsAs,
        with_bias => bias: bool,
        with_offset => offset: Option<Vec<f64>>,
        with_groups => groups: Option<Vec<u32>>,
        with_reference => reference: Option<String>,
    }
}

/// More coefficients than this make matrices that are not worth it.
const MOST_COEFFICIENTS: usize = 4096;

impl Inference {
    /// Fits the model to the rows of a task and says what is known of its coefficients. `stop` ends the search for the
    /// verdict.
    pub fn of(&self, task: &Task, stop: &dyn Fn() -> bool) -> Result<InferenceSummary> {
        let work = || fit::summary(self, task, stop);
        cancel::catch(work).unwrap_or(Err(Error::Interrupted))
    }

    /// Refuses settings that contradict each other or the data.
    fn check(&self, task: &Task) -> Result<()> {
        let classes = task.data.n_classes();
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return Err(Error::usage(format!(
                "`confidence={}`: a number between 0 and 1 is needed, such as 0.95",
                self.confidence
            )));
        }
        if task.rows.is_some() {
            return Err(Error::usage("inference is about all rows of the data"));
        }
        let needs_two = [
            (self.offset.is_some(), "`offset`"),
            (self.groups.is_some(), "counts of successes and failures"),
            (self.residuals, "residuals"),
            (self.correction == InterceptCorrection::Flac, "`correction=flac`"),
        ];
        if let Some((_, what)) = needs_two.iter().find(|(asked, _)| *asked && classes > 2) {
            return Err(Error::usage(format!(
                "{what}: this is for two classes, and there are {classes}; choose one with `positive`"
            )));
        }
        if self.correction != InterceptCorrection::None && !(self.firth && self.bias) {
            return Err(Error::usage(format!(
                "`correction={}` is for the intercept of `penalty=firth`",
                self.correction.word()
            )));
        }
        if self.se == StandardErrors::Robust && self.firth {
            return Err(Error::usage(
                "`se=robust`: the sandwich is for maximum likelihood; use `penalty=none` or `se=expected`",
            ));
        }
        let coefficients = (classes - 1).saturating_mul(task.data.n_features() + 1);
        if coefficients > MOST_COEFFICIENTS {
            return Err(Error::Limit {
                code: Code::LIMIT,
                message: format!(
                    "{coefficients} coefficients are more than the {MOST_COEFFICIENTS} that inference takes; leave columns out with `drop`"
                ),
            });
        }
        design::require_offset(task, self.offset.as_deref())
    }

    /// Where each class stands among the classes of the fit: the reference last.
    fn places(&self, task: &Task) -> Result<Vec<usize>> {
        let classes = task.data.classes();
        if classes.len() == 2 {
            if self.reference.as_ref().is_some_and(|reference| *reference != classes[0]) {
                return Err(Error::usage(
                    "`reference`: of two classes the odds are those of the positive one; choose it with `positive`",
                ));
            }
            return Ok(vec![0, 1]);
        }
        let at = match &self.reference {
            None => 0,
            Some(name) => classes.iter().position(|class| class == name).ok_or_else(|| {
                Error::usage(format!(
                    "`reference={name}`: there is no such class; the classes are {}",
                    classes.join(", ")
                ))
            })?,
        };
        let place = |k: usize| match k.cmp(&at) {
            std::cmp::Ordering::Less => k,
            std::cmp::Ordering::Equal => classes.len() - 1,
            std::cmp::Ordering::Greater => k - 1,
        };
        Ok((0..classes.len()).map(place).collect())
    }

    fn plan<'a>(&'a self, task: &'a Task, rows: &[u32]) -> Result<Plan<'a>> {
        let factor = match self.weights_as {
            WeightsAs::Frequency => {
                design::require_counts(task, rows)?;
                1.0
            }
            WeightsAs::Analytic => {
                let total: f64 = rows.iter().map(|&row| task.data.weight(row as usize)).sum();
                rows.len() as f64 / total
            }
        };
        Ok(Plan {
            task,
            bias: self.bias,
            offset: self.offset.as_deref(),
            groups: self.groups.as_deref(),
            factor,
            places: self.places(task)?,
        })
    }
}
