//! What a table of counts says of all classes together, where accuracy alone misleads.
//!
//! With n_tp the weight of the rows of class t that were given class p, t_c and p_c the sums of its lines and
//! columns, h_c = n_cc and s the weight of all rows:
//!
//! ```text
//! balanced accuracy  mean of h_c / t_c over the classes with rows
//! MCC                (s Σ h_c − Σ p_c t_c) / √((s² − Σ p_c²)(s² − Σ t_c²))
//! kappa              (a − e)/(1 − e),   a = Σ h_c / s,  e = Σ p_c t_c / s²
//! macro              means over the classes that occur, in the data or among the predictions
//! weighted           the same, each class as often as it occurs in the data
//! micro              of all rows together: for one class a row all three are the accuracy
//! ```
//!
//! In the means a class that was never predicted has precision 0, and one without rows recall 0, as scikit-learn
//! has it. What divides by zero altogether is absent: MCC where all rows are of one class or were given one,
//! kappa where chance alone agrees on every row.
//!
//! References: Matthews 1975; Gorodkin 2004, Comparing two K-category assignments; Cohen 1960.

use super::ratio;
use serde::Serialize;

/// Measures of all classes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Averages {
    /// The mean of the recalls of the classes that have rows.
    pub balanced_accuracy: Option<f64>,
    /// Matthews' correlation coefficient, of K classes in Gorodkin's form.
    pub mcc: Option<f64>,
    /// Cohen's kappa.
    pub kappa: Option<f64>,
    /// Means over the classes that occur.
    #[serde(rename = "macro_average")]
    pub over_classes: Average,
    /// The same of all rows together.
    #[serde(rename = "micro_average")]
    pub micro: Average,
    /// Means over the classes, by their rows.
    #[serde(rename = "weighted_average")]
    pub weighted: Average,
}

/// Precision, recall and F1 of several classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Average {
    /// Of what was predicted, the share that is.
    pub precision: Option<f64>,
    /// Of what is, the share that was predicted.
    pub recall: Option<f64>,
    /// The harmonic mean of precision and recall, class by class.
    pub f1: Option<f64>,
}

/// The sums of the table class by class.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    pub(super) truth: Vec<f64>,
    pub(super) predicted: Vec<f64>,
    pub(super) hits: Vec<f64>,
}

impl Sums {
    pub(super) fn new(classes: usize) -> Sums {
        let none = vec![0.0; classes];
        Sums { truth: none.clone(), predicted: none.clone(), hits: none }
    }

    pub(super) fn add(&mut self, truth: usize, predicted: usize, weight: f64) {
        self.truth[truth] += weight;
        self.predicted[predicted] += weight;
        self.hits[truth] += if truth == predicted { weight } else { 0.0 };
    }

    pub(super) fn averages(&self) -> Averages {
        let Sums { truth, predicted, hits } = self;
        let classes = || 0..truth.len();
        let (all, right) = (truth.iter().sum::<f64>(), hits.iter().sum::<f64>());
        let or_zero = |part: f64, whole: f64| ratio(part, whole).unwrap_or(0.0);
        let precision = |c: usize| or_zero(hits[c], predicted[c]);
        let recall = |c: usize| or_zero(hits[c], truth[c]);
        let f1 = |c: usize| or_zero(2.0 * hits[c], truth[c] + predicted[c]);
        let mean = |of: &dyn Fn(usize) -> f64, weight: &dyn Fn(usize) -> f64| {
            let sum: f64 = classes().map(|c| of(c) * weight(c)).sum();
            ratio(sum, classes().map(weight).sum())
        };
        let three = |weight: &dyn Fn(usize) -> f64| Average {
            precision: mean(&precision, weight),
            recall: mean(&recall, weight),
            f1: mean(&f1, weight),
        };
        let occurs = |c: usize| f64::from(u8::from(truth[c] > 0.0 || predicted[c] > 0.0));
        let has_rows = |c: usize| f64::from(u8::from(truth[c] > 0.0));
        let accuracy = ratio(right, all);
        let chance: f64 = classes().map(|c| predicted[c] * truth[c]).sum();
        let others = |sums: &[f64]| all * all - sums.iter().map(|x| x * x).sum::<f64>();
        let spread = (others(predicted) * others(truth)).max(0.0).sqrt();
        Averages {
            balanced_accuracy: mean(&recall, &has_rows),
            mcc: ratio(all * right - chance, spread),
            kappa: ratio(all * right - chance, all * all - chance),
            over_classes: three(&occurs),
            micro: Average { precision: accuracy, recall: accuracy, f1: accuracy },
            weighted: three(&|c| truth[c]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(classes: usize, counts: &[(usize, usize, f64)]) -> Averages {
        let mut sums = Sums::new(classes);
        counts.iter().for_each(|(t, p, n)| sums.add(*t, *p, *n));
        sums.averages()
    }

    #[test]
    fn measures_by_hand() {
        // 90 of 100 negatives and 4 of 10 positives are right.
        let found = of(2, &[(0, 0, 90.0), (0, 1, 10.0), (1, 0, 6.0), (1, 1, 4.0)]);
        assert_eq!(found.balanced_accuracy, Some(0.65));
        let mcc = (4.0 * 90.0 - 10.0 * 6.0) / (14.0f64 * 10.0 * 100.0 * 96.0).sqrt();
        assert!((found.mcc.unwrap() - mcc).abs() < 1e-15);
        let chance = (100.0 * 96.0 + 10.0 * 14.0) / (110.0 * 110.0);
        let kappa = (94.0 / 110.0 - chance) / (1.0 - chance);
        assert!((found.kappa.unwrap() - kappa).abs() < 1e-15);
        assert_eq!(found.micro.f1, Some(94.0 / 110.0));
        let precision = [90.0 / 96.0, 4.0 / 14.0];
        let near = |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 1e-15, "{a:?} {b}");
        near(found.over_classes.precision, (precision[0] + precision[1]) / 2.0);
        near(found.weighted.precision, (100.0 * precision[0] + 10.0 * precision[1]) / 110.0);
        near(found.weighted.recall, 94.0 / 110.0);
    }

    #[test]
    fn what_divides_by_zero_is_absent_and_empty_classes_are_left_out() {
        assert_eq!(of(3, &[]), Averages::default());
        // All rows are of one class, and all were given it: chance agrees.
        let one = of(2, &[(0, 0, 5.0)]);
        assert_eq!((one.balanced_accuracy, one.mcc, one.kappa), (Some(1.0), None, None));
        assert_eq!(one.over_classes.f1, Some(1.0));
        // A class without rows that was predicted counts 0 in the macro mean; one that never occurs does not.
        let odd = of(3, &[(0, 0, 3.0), (0, 1, 1.0)]);
        assert_eq!(odd.balanced_accuracy, Some(0.75));
        assert_eq!(odd.over_classes.precision, Some(0.5));
        assert_eq!((odd.mcc, odd.kappa), (None, Some(0.0)));
    }
}
