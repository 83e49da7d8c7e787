//! The verdict for programs.

use super::{Asked, Timed};
use crate::commands::margin;
use crate::context::Context;
use linsep::Dataset;
use linsep::verdict::{Coefficients, Decision, Judge, Method, Verdict, scheme_of};
use serde_json::{Value, json};

/// Numbers up to which the ranks of all questions together are looked for.
const RANK_NUMBERS: usize = 50_000_000;

/// Coefficients that are named at most.
const NAMED: usize = 1000;

/// The object that `--json` prints.
pub(super) fn object(
    asked: &Asked,
    judge: &Judge,
    digest: &str,
    [read, decide, coefficients]: [f64; 3],
    context: &Context,
) -> Value {
    let claims: Vec<Value> =
        asked.all.iter().map(|timed| claim(timed, asked, judge, context)).collect();
    let prove: f64 = asked.all.iter().map(|timed| timed.decision.proving).sum();
    let by = if judge.by == Method::Search { "search" } else { "cycling" };
    json!({
        "schema": "linsep.result/1",
        "command": "separable",
        "by": by,
        "verdict": asked.verdict().word(),
        "claims": claims,
        "seconds": { "read": read, "decide": (decide - prove).max(0.0), "prove": prove, "coefficients": coefficients },
        "digest": digest,
        "basis": judge.data.input().basis.as_ref().map(|basis| basis.claimed()),
    })
}

fn claim(timed: &Timed, asked: &Asked, judge: &Judge, context: &Context) -> Value {
    let Timed { decision, seconds, margins, .. } = timed;
    let (positive, negative) = match &decision.problem {
        Some(problem) => (problem.positive.clone(), problem.negative.clone()),
        None => (Vec::new(), Vec::new()),
    };
    let mut claim = json!({
        "scheme": scheme_of(decision).word(),
        "positive": positive,
        "negative": negative,
        "verdict": decision.verdict.word(),
        "witness_rows": decision.witness_rows(),
        "margin": margin::proved_interval(judge, decision),
        "logistic": logistic(timed, judge),
        "rank": rank(decision, asked, judge, context),
        "limit": decision.limit.map(|limit| limit.words()),
        "cycling": cycling(decision),
        "passes": decision.passes,
        "seconds": seconds,
    });
    if let Some(removal) = &timed.removal {
        claim["removal"] = json!({
            "rows": removal.rows,
            "at_least": removal.at_least,
            "smallest": removal.is_smallest(),
        });
    }
    if let Some(margins) = margins {
        margins.add_to(&mut claim);
    }
    claim
}

/// `null` where the kind of the rows is not known.
fn logistic(timed: &Timed, judge: &Judge) -> Value {
    let found = timed.coefficients.as_ref();
    let Some(meaning) = judge.logistic(&timed.decision) else {
        // All classes at once: the coefficients are differences against the reference.
        return found.map_or(Value::Null, |found| {
            json!({
                "exists": timed.decision.verdict == Verdict::Overlapping,
                "reference": found.reference,
                "coefficients": coefficients(found, &judge.data),
            })
        });
    };
    let named = &meaning.infinite[..meaning.infinite.len().min(NAMED)];
    json!({
        "exists": meaning.exists,
        "unique": meaning.unique,
        "infinite": names(&judge.data, named),
        "infinite_count": meaning.infinite.len(),
        "rows": meaning.rows,
        "row_count": meaning.row_count,
        "coefficients": found.map(|found| coefficients(found, &judge.data)),
    })
}

/// Every coefficient with what becomes of it.
fn coefficients(found: &Coefficients, data: &Dataset) -> Vec<Value> {
    let columns: Vec<Option<u32>> = found.list.iter().map(|(_, column, _)| *column).collect();
    let named = names(data, &columns).into_iter().zip(&found.list);
    named
        .map(|(name, (class, _, estimate))| match class {
            None => json!({ "name": name, "estimate": estimate.word() }),
            Some(class) => json!({ "class": class, "name": name, "estimate": estimate.word() }),
        })
        .collect()
}

/// `null` where there is too much data to look for it.
fn rank(decision: &Decision, asked: &Asked, judge: &Judge, context: &Context) -> Value {
    let numbers = judge.data.n_rows().saturating_mul(judge.data.n_features() + 1);
    if asked.several() && numbers.saturating_mul(asked.all.len()) > RANK_NUMBERS {
        return Value::Null;
    }
    match judge.rank(decision, &|| context.stopped()) {
        None => Value::Null,
        Some(rank) => json!({
            "rank": rank.rank,
            "dimension": rank.dimension,
            "dependent": rank.dependent.map(|columns| names(&judge.data, &columns)),
        }),
    }
}

/// `null` unless the perceptron was asked.
fn cycling(decision: &Decision) -> Value {
    match &decision.cycle {
        None => Value::Null,
        Some(cycle) => json!({
            "scale": cycle.scale,
            "epochs": cycle.epochs,
            "updates": cycle.corrections,
            "length": cycle.length,
            "updates_of_cycle": cycle.corrections_of_cycle,
        }),
    }
}

/// Columns by their names.
fn names(data: &Dataset, columns: &[Option<u32>]) -> Vec<String> {
    let input = data.input();
    // Finding one name in a list of columns takes a walk over it; of plain numbers it does not.
    let all = if input.columns.is_empty() { Vec::new() } else { input.feature_names() };
    let name = |column: &Option<u32>| match column {
        Some(column) => {
            let known = all.get(*column as usize).cloned();
            known.unwrap_or_else(|| input.feature_name(*column as usize))
        }
        None => "(bias)".into(),
    };
    columns.iter().map(name).collect()
}
