//! A summary for programs: one JSON object. What is infinite is the text `+inf` or `-inf`, what does not exist
//! is null.

use super::profile::ProfileEnd;
use super::residuals::Residual;
use super::summary::{InferenceSummary, Inferred, LikelihoodRatio, Standing};
use linsep_data::input::InputMap;
use serde_json::{Value, json};

impl InferenceSummary {
    /// The residuals with their names.
    pub fn residuals_json(&self) -> String {
        let rows = self.residuals.iter().map(|one| (one.row, one.values()));
        json!({ "names": Residual::NAMES, "rows": rows.collect::<Vec<(u32, [f64; 7])>>() })
            .to_string()
    }

    /// Everything but the residuals.
    pub fn to_json(&self, input: &InputMap) -> String {
        let coefficients: Vec<Value> =
            self.coefficients.iter().map(|one| self.coefficient_json(one, input)).collect();
        let columns: Vec<Value> = self
            .columns
            .iter()
            .map(
                |(column, test)| json!({ "column": name(*column, input), "test": test_json(test) }),
            )
            .collect();
        let chosen = self.coefficients.iter().filter(|one| one.standard_error.is_some()).count();
        let covariance: Vec<&[f64]> = self.covariance.chunks(chosen.max(1)).collect();
        json!({
            "classes": self.classes,
            "reference": self.reference,
            "penalty": if self.firth { "firth" } else { "none" },
            "confidence": self.confidence,
            "coefficients": coefficients,
            "columns": columns,
            "covariance": covariance,
            "log_likelihood": self.log_likelihood,
            "penalised_log_likelihood": self.penalised_log_likelihood,
            "null_log_likelihood": self.null_log_likelihood,
            "deviance": self.deviance,
            "null_deviance": self.null_deviance,
            "aic": self.aic(),
            "bic": self.bic(),
            "rank": self.rank,
            "observations": self.observations,
            "residual_df": self.residual_freedom(),
            "likelihood_ratio": test_json(&self.whole),
            "separation": self.separation.as_ref().map(|found| json!({
                "kind": if found.complete { "separable" } else { "touching" },
                "rows": found.rows,
            })),
            "notes": self.notes,
            "steps": self.steps,
        })
        .to_string()
    }

    fn coefficient_json(&self, one: &Inferred, input: &InputMap) -> Value {
        let odds = one.estimate.exp();
        let interval = one.wald(self.confidence);
        json!({
            "class": one.class,
            "column": name(one.column, input),
            "standing": one.standing.word(),
            "estimate": number(one.estimate),
            "standard_error": one.standard_error,
            "z": one.z(),
            "p": one.p(),
            "wald": interval,
            "profile": one.profile.map(|ends| ends.map(|end| end_json(&end))),
            "likelihood_ratio": one.test.as_ref().map(test_json),
            "odds_ratio": number(odds),
            "sum": match &one.standing {
                Standing::Aliased(aliased) => json!(aliased.sum.iter().map(|(column, factor)| {
                    json!({ "column": name(*column, input), "factor": factor })
                }).collect::<Vec<Value>>()),
                _ => Value::Null,
            },
        })
    }
}

impl Residual {
    /// The numbers in the order of [`Residual::NAMES`].
    pub fn values(&self) -> [f64; 7] {
        let Residual { weight, response, fitted, deviance, pearson, leverage, cook, .. } = *self;
        [weight, response, fitted, deviance, pearson, leverage, cook]
    }

    /// What a table of residuals has beside the row.
    pub const NAMES: [&'static str; 7] =
        ["weight", "response", "fitted", "deviance", "pearson", "leverage", "cook"];
}

/// The name of a column; that of the bias in brackets.
pub fn name(column: Option<u32>, input: &InputMap) -> String {
    column.map_or_else(|| "(bias)".to_owned(), |column| input.feature_name(column as usize))
}

fn number(x: f64) -> Value {
    match x {
        _ if x == f64::INFINITY => "+inf".into(),
        _ if x == f64::NEG_INFINITY => "-inf".into(),
        _ => serde_json::Number::from_f64(x).map_or(Value::Null, Value::Number),
    }
}

fn end_json(end: &ProfileEnd) -> Value {
    json!({ "value": number(end.value), "width": number(end.width), "found": end.found })
}

fn test_json(test: &LikelihoodRatio) -> Value {
    json!({ "statistic": test.statistic, "df": test.freedom, "p": test.p })
}
