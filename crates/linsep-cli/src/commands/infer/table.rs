//! The summary as people read it: a table of coefficients, and how well the model fits.

use crate::commands::data_lines::DataLines;
use crate::context::Context;
use crate::output::{Facts, aligned, counted};
use crate::spelling::spelled;
use linsep::data::terms::Terms;
use linsep::infer::report::name;
use linsep::infer::{
    Inference, InferenceSummary, Inferred, InterceptCorrection, LikelihoodRatio, StandardErrors,
    Standing, WeightsAs,
};
use linsep::{Dataset, escaped, printable};

/// What is said of a summary.
pub(super) struct Report<'a> {
    pub(super) summary: &'a InferenceSummary,
    pub(super) data: &'a Dataset,
    pub(super) inference: &'a Inference,
    pub(super) context: &'a Context,
    /// The formula, if there is one.
    pub(super) terms: Option<&'a Terms>,
}

impl Report<'_> {
    pub(super) fn text(
        &self,
        lines: &DataLines,
        residuals: Option<String>,
        proof: Option<(&str, String)>,
    ) -> String {
        let mut facts = Facts::default();
        lines.add_to(&mut facts);
        facts.add("model", self.model());
        if let Some(terms) = self.terms {
            let powers = if terms.has_powers() { " (powers are raw)" } else { "" };
            facts.add("terms", format!("{}{powers}", printable(terms.text().as_bytes(), 200)));
        }
        facts.add("fit", self.fit());
        let mut text = facts.text(self.context);
        text.push_str(&self.table());
        let mut facts = Facts::default();
        self.add_fit(&mut facts);
        if let Some(path) = residuals {
            facts.add("residuals", path);
        }
        if let Some((name, words)) = proof {
            facts.add(name, words);
        }
        text + &facts.text(self.context)
    }

    fn model(&self) -> String {
        let classes = &self.summary.classes;
        match &classes[..] {
            [no, yes] => format!("logistic, log-odds of {yes} against {no}"),
            _ => format!(
                "multinomial logistic, log-odds of each class against {}",
                self.summary.reference
            ),
        }
    }

    fn fit(&self) -> String {
        let summary = self.summary;
        let steps = counted(summary.steps as u64, "step");
        if summary.firth {
            let correction = match self.inference.correction {
                InterceptCorrection::None => String::new(),
                other => format!(", intercept by {}", other.word().to_uppercase()),
            };
            return format!("Firth's penalised likelihood (Jeffreys' prior){correction}, {steps}");
        }
        let Some(separation) = &summary.separation else {
            return format!("maximum likelihood, {steps}");
        };
        let count = |standing: &Standing| {
            summary.coefficients.iter().filter(|one| one.standing == *standing).count()
        };
        let infinite = count(&Standing::PlusInfinity) + count(&Standing::MinusInfinity);
        let open = count(&Standing::Undetermined);
        let what = match separation.complete {
            true => "a plane separates the classes",
            false => "a plane separates some rows of the classes and touches the others",
        };
        let mut words = format!(
            "no maximum-likelihood fit exists: {what}; {} because of {}",
            counted(infinite as u64, "infinite coefficient"),
            counted(separation.rows, "row"),
        );
        if open > 0 {
            words.push_str(&format!(", {open} that may go either way"));
        }
        words.push_str(match separation.complete {
            true => "\nthe rest is the limit of the likelihood; --penalty firth has finite estimates",
            false => "\nthe finite coefficients are those of the other rows, the limit of every way to the maximum; --penalty firth has finite estimates",
        });
        words
    }

    fn table(&self) -> String {
        let summary = self.summary;
        let percent = readable_percent(summary.confidence);
        let several = summary.classes.len() > 2;
        let interval = match self.inference.profile
            && self.inference.correction != InterceptCorrection::Flic
        {
            true => format!("{percent} % profile"),
            false => format!("{percent} % Wald"),
        };
        let head = [
            if several { "class" } else { "" },
            "coefficient",
            "estimate",
            match self.inference.se {
                StandardErrors::Robust => "robust s. e.",
                _ => "std. error",
            },
            "z",
            "p",
            if summary.coefficients.iter().any(|one| one.test.is_some()) { "p (LR)" } else { "" },
            &interval,
            "odds ratio",
        ];
        let mut rows = vec![head.map(str::to_owned)];
        rows.extend(summary.coefficients.iter().map(|one| self.row(one)));
        let lines = match self.context.plain {
            true => rows
                .iter()
                .map(|row| {
                    let cells: Vec<&str> = row
                        .iter()
                        .zip(&rows[0])
                        .filter(|(_, head)| !head.is_empty())
                        .map(|(cell, _)| cell.as_str())
                        .collect();
                    cells.join("\t")
                })
                .collect(),
            false => aligned(&rows, |column| column >= 2),
        };
        let mut text = lines.join("\n");
        text.push('\n');
        text
    }

    fn row(&self, one: &Inferred) -> [String; 9] {
        let class = one.class.as_deref().map_or_else(String::new, escaped);
        let label = printable(name(one.column, self.data.input()).as_bytes(), 40);
        let none = || "-".to_owned();
        if let Standing::Aliased(aliased) = &one.standing {
            let why = match &aliased.sum[..] {
                [] => "a sum of other columns".to_owned(),
                sum => format!("= {}", self.sum(sum)),
            };
            let empty = String::new;
            return [class, label, "NA".into(), empty(), empty(), empty(), empty(), why, empty()];
        }
        let ends = match one.profile {
            Some(ends) => Some(ends.map(|end| end.value)),
            None => one.wald(self.summary.confidence),
        };
        let estimate = match one.standing {
            Standing::Undetermined => "±inf".to_owned(),
            _ => shown(one.estimate),
        };
        [
            class,
            label,
            estimate,
            one.standard_error.map_or_else(none, shown),
            one.z().map_or_else(none, |z| format!("{z:.3}")),
            one.p().map_or_else(none, probability),
            one.test.as_ref().map_or_else(none, |test| probability(test.p)),
            ends.map_or_else(none, |[lower, upper]| {
                format!("[{}, {}]", shown(lower), shown(upper))
            }),
            match one.standing {
                Standing::Undetermined => none(),
                _ => shown(one.estimate.exp()),
            },
        ]
    }

    /// `1 - a - 2 b`.
    fn sum(&self, sum: &[(Option<u32>, f64)]) -> String {
        let mut text = String::new();
        for (k, (column, factor)) in sum.iter().enumerate() {
            let size = factor.abs();
            let sign = match (k, *factor < 0.0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            let term = match column {
                None => format!("{size}"),
                Some(_) if size == 1.0 => name(*column, self.data.input()),
                Some(_) => format!("{size} {}", name(*column, self.data.input())),
            };
            text.push_str(sign);
            text.push_str(&term);
        }
        printable(text.as_bytes(), 60)
    }

    fn add_fit(&self, facts: &mut Facts) {
        let summary = self.summary;
        let intercepts = (summary.classes.len() - 1) * usize::from(self.inference.bias);
        let columns = summary.rank - intercepts.min(summary.rank);
        let left = summary.residual_freedom();
        let deviance = |deviance: f64, left: f64| {
            format!("deviance {} on {left} {} of freedom", shown(deviance), degrees(left))
        };
        facts.add("null", deviance(summary.null_deviance, left + columns as f64));
        facts.add("residual", deviance(summary.deviance, left));
        facts.add(
            "criteria",
            format!(
                "AIC {}, BIC {}, log-likelihood {}, {} observations",
                shown(summary.aic()),
                shown(summary.bic()),
                shown(summary.log_likelihood),
                summary.observations
            ),
        );
        facts.add("model test", test(&summary.whole));
        for (column, found) in &summary.columns {
            let column = printable(name(*column, self.data.input()).as_bytes(), 40);
            facts.add("column", format!("{column}: {}", test(found)));
        }
        if let Some(words) = self.brackets() {
            facts.add("profile", words);
        }
        if self.inference.weights_as == WeightsAs::Analytic {
            facts.add("weights", "analytic: divided by their mean");
        }
        summary.notes.iter().for_each(|note| facts.add("note", spelled(note)));
    }

    /// How wide the brackets around profile ends are.
    fn brackets(&self) -> Option<String> {
        let ends =
            self.summary.coefficients.iter().flat_map(|one| one.profile.into_iter().flatten());
        let ends: Vec<_> = ends.filter(|end| !end.value.is_infinite()).collect();
        if ends.is_empty() {
            return None;
        }
        let lost = ends.iter().filter(|end| !end.found).count();
        let widest = ends.iter().filter(|end| end.found).map(|end| end.width).fold(0.0, f64::max);
        let mut words = format!(
            "{} solved, each to a bracket at most {widest:.1e} wide whose ends were tried",
            counted((ends.len() - lost) as u64, "end")
        );
        if lost > 0 {
            words.push_str(&format!("; {lost} not found"));
        }
        Some(words)
    }
}

fn test(found: &LikelihoodRatio) -> String {
    format!(
        "likelihood ratio {} on {} {} of freedom, p = {}",
        shown(found.statistic),
        found.freedom,
        degrees(found.freedom as f64),
        probability(found.p)
    )
}

fn degrees(freedom: f64) -> &'static str {
    if freedom == 1.0 { "degree" } else { "degrees" }
}

/// A number with five digits.
fn shown(x: f64) -> String {
    if x.is_infinite() {
        return if x > 0.0 { "+inf".into() } else { "-inf".into() };
    }
    if x.is_nan() {
        return "-".into();
    }
    let size = x.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{x:.3e}");
    }
    let before = if size < 1.0 { 0 } else { size.log10().floor() as usize + 1 };
    format!("{x:.*}", 5usize.saturating_sub(before).clamp(1, 4))
}

fn probability(p: f64) -> String {
    match p {
        _ if p >= 1e-4 => format!("{p:.4}"),
        _ if p > 0.0 => format!("{p:.1e}"),
        _ => "< 1e-300".into(),
    }
}

fn readable_percent(confidence: f64) -> String {
    let text = format!("{:.4}", 100.0 * confidence);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
