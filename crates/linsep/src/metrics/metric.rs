//! Metrics by name: what is asked for, ranked by and bounded.

use linsep_data::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// A measure of predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// The share of rows given the right class.
    Accuracy,
    /// The mean of the recalls of the classes.
    BalancedAccuracy,
    /// Matthews' correlation coefficient.
    Mcc,
    /// Cohen's kappa.
    Kappa,
    /// Of what was predicted, the share that is.
    Precision(Averaging),
    /// Of what is, the share that was predicted.
    Recall(Averaging),
    /// The harmonic mean of precision and recall.
    F1(Averaging),
    /// Area under the ROC curve.
    Auc(Averaging),
    /// Area under the precision-recall curve, without interpolation.
    AveragePrecision(Averaging),
    /// Mean of −ln of the probability of the true class.
    LogLoss,
    /// Mean square of the distance between probabilities and what is.
    Brier,
    /// Mean distance between probability and frequency, over bins.
    CalibrationError,
    /// The share of rows whose class is among the k that score highest.
    Top(usize),
}

/// How numbers of several classes become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Averaging {
    /// That of the second of two classes.
    Positive,
    /// The mean over the classes.
    Macro,
    /// The mean over the classes by their rows.
    Weighted,
}

use Averaging::{Macro, Positive, Weighted};

/// Names and what they mean; the first of a metric is its own.
const NAMES: &[(&str, Metric)] = &[
    ("accuracy", Metric::Accuracy),
    ("balanced-accuracy", Metric::BalancedAccuracy),
    ("mcc", Metric::Mcc),
    ("kappa", Metric::Kappa),
    ("precision", Metric::Precision(Positive)),
    ("recall", Metric::Recall(Positive)),
    ("f1", Metric::F1(Positive)),
    ("precision-macro", Metric::Precision(Macro)),
    ("recall-macro", Metric::Recall(Macro)),
    ("f1-macro", Metric::F1(Macro)),
    ("precision-weighted", Metric::Precision(Weighted)),
    ("recall-weighted", Metric::Recall(Weighted)),
    ("f1-weighted", Metric::F1(Weighted)),
    ("auc", Metric::Auc(Macro)),
    ("auc-weighted", Metric::Auc(Weighted)),
    ("average-precision", Metric::AveragePrecision(Macro)),
    ("average-precision-weighted", Metric::AveragePrecision(Weighted)),
    ("log-loss", Metric::LogLoss),
    ("brier", Metric::Brier),
    ("calibration-error", Metric::CalibrationError),
    ("acc", Metric::Accuracy),
    ("logloss", Metric::LogLoss),
    ("brier-score", Metric::Brier),
    ("ece", Metric::CalibrationError),
    ("roc-auc", Metric::Auc(Macro)),
    ("roc-auc-ovr", Metric::Auc(Macro)),
    ("roc-auc-ovr-weighted", Metric::Auc(Weighted)),
    ("ap", Metric::AveragePrecision(Macro)),
    ("matthews-corrcoef", Metric::Mcc),
    ("cohen-kappa", Metric::Kappa),
    ("precision-micro", Metric::Accuracy),
    ("recall-micro", Metric::Accuracy),
    ("f1-micro", Metric::Accuracy),
    ("top-k-accuracy", Metric::Top(2)),
];

/// How many of [`NAMES`] are the metrics' own.
const OWN: usize = 20;

impl Metric {
    /// Every metric but the top of more than two, in the order of their names in messages.
    pub fn all() -> impl Iterator<Item = Metric> {
        NAMES[..OWN].iter().map(|(_, metric)| *metric).chain([Metric::Top(2)])
    }

    /// The names for help and messages.
    pub fn words() -> String {
        let names: Vec<&str> = NAMES[..OWN].iter().map(|(name, _)| *name).collect();
        format!("{}, top-2, top-3 and so on", names.join(", "))
    }

    /// Whether a smaller number is the better one.
    pub fn is_loss(self) -> bool {
        matches!(self, Metric::LogLoss | Metric::Brier | Metric::CalibrationError)
    }

    /// Whether it needs probabilities.
    pub fn needs_probabilities(self) -> bool {
        self.is_loss()
    }

    /// Whether it needs scores or probabilities of every row, not only classes.
    pub fn needs_scores(self) -> bool {
        use Metric::{Auc, AveragePrecision, Top};
        self.is_loss() || matches!(self, Auc(_) | AveragePrecision(_) | Top(_))
    }

    /// Whether `a` is better than `b`.
    pub fn is_better(self, a: f64, b: f64) -> bool {
        if self.is_loss() { a < b } else { a > b }
    }

    /// The values that it can have.
    pub fn range(self) -> [f64; 2] {
        match self {
            Metric::Mcc | Metric::Kappa => [-1.0, 1.0],
            Metric::LogLoss => [0.0, f64::INFINITY],
            Metric::Brier => [0.0, 2.0],
            _ => [0.0, 1.0],
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Metric::Top(k) => write!(f, "top-{k}"),
            // A recall of the positive class and the like: every metric has a name of its own.
            metric => match NAMES.iter().find(|(_, named)| named == metric) {
                Some((name, _)) => f.write_str(name),
                None => write!(f, "{metric:?}"),
            },
        }
    }
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Metric> {
        let name = text.trim().to_ascii_lowercase().replace('_', "-");
        if let Some((_, metric)) = NAMES.iter().find(|(known, _)| *known == name) {
            return Ok(*metric);
        }
        if let Some(k) = name.strip_prefix("top-").and_then(|k| k.parse::<usize>().ok())
            && k > 0
        {
            return Ok(Metric::Top(k));
        }
        if let Some(loss) = name.strip_prefix("neg-")
            && let Ok(metric) = loss.parse::<Metric>()
        {
            return Err(Error::usage(format!(
                "\"{text}\": losses have no minus sign here; say {metric}, of which less is better"
            )));
        }
        Err(Error::usage(format!("\"{text}\" is no metric; there are {}", Metric::words())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_other_spellings_known() {
        for metric in Metric::all() {
            assert_eq!(metric.to_string().parse::<Metric>().unwrap(), metric);
        }
        assert_eq!("balanced_accuracy".parse::<Metric>().unwrap(), Metric::BalancedAccuracy);
        assert_eq!("ROC_AUC".parse::<Metric>().unwrap(), Metric::Auc(Macro));
        assert_eq!("top-5".parse::<Metric>().unwrap(), Metric::Top(5));
        for wrong in ["", "top-0", "top-x", "rmse", "f2"] {
            let words = wrong.parse::<Metric>().unwrap_err().to_string();
            assert!(words.contains("balanced-accuracy"), "{words}");
        }
        assert!("neg_log_loss".parse::<Metric>().unwrap_err().to_string().contains("say log-loss"));
    }
}
