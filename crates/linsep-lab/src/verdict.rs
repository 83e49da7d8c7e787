//! The verdict of the exact judge on the rows of a run, with what proves it.

use crate::answer::Wrong;
use crate::limits;
use linsep::data::cancel;
use linsep::verdict::{Decision, Interval, Judge, Verdict};
use linsep::{Claim, Dataset};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// Separable or not, with margin and bound or with the rows that prove it.
/// The rows that it rests on come sorted beside it.
pub(crate) fn of(data: &Arc<Dataset>) -> Result<(Value, Vec<u32>), Wrong> {
    let clock = Instant::now();
    let stop = || clock.elapsed() > limits::JUDGE || cancel::is_requested();
    let judge = Judge::new(Arc::clone(data));
    let classes = data.classes();
    if classes.len() == 2 {
        let decision = judge.class(&classes[1], &stop)?;
        let answer = binary(&judge, &decision, &stop);
        let rows = rows_of(&answer);
        return Ok((answer, rows));
    }
    let mut rests = Vec::new();
    for class in classes.iter().take(10) {
        let decision = judge.class(class, &stop)?;
        rests.push(json!({ "class": class, "verdict": decision.verdict.word() }));
    }
    let joint = judge.joint(&[], &stop)?;
    let answer = json!({
        "verdict": joint.verdict.word(),
        "classes": classes.len(),
        "rests": rests,
        "witness": witness(data, &joint),
    });
    let rows = rows_of(&answer);
    Ok((answer, rows))
}

/// The rows that hold the widest plane, and those that refute every plane.
fn rows_of(answer: &Value) -> Vec<u32> {
    let named = ["support", "witness"].into_iter().filter_map(|name| answer[name].as_array());
    let rows = named.flatten().filter_map(|one| one["row"].as_u64());
    let mut rows: Vec<u32> = rows.filter_map(|row| u32::try_from(row).ok()).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

fn binary(judge: &Judge, decision: &Decision, stop: &dyn Fn() -> bool) -> Value {
    let data = &judge.data;
    let mut answer = json!({
        "verdict": decision.verdict.word(),
        "classes": 2,
        "witness": witness(data, decision),
        "limit": decision.limit.map(|limit| limit.words()),
    });
    if decision.verdict == Verdict::Separable {
        let margin = judge.augmented_margin(decision, 1, stop);
        let bounds =
            margin.as_ref().and_then(|margin| judge.mistake_bounds(decision, margin, stop));
        let geometric = judge.geometric_margin(decision, stop);
        let gamma = margin.as_ref().map_or_else(|| judge.margin(decision), |margin| margin.gamma);
        answer["gamma"] = interval(&gamma);
        if let Some(geometric) = &geometric {
            answer["distance"] = interval(&geometric.gamma);
            let row = |one: &linsep::proof::Weighted| json!({ "row": one.row, "line": one.line });
            answer["support"] = geometric.support().iter().map(row).collect();
        }
        if let Some(bounds) = bounds {
            answer["radius"] = interval(&bounds.radius);
            answer["bound"] = json!(bounds.from_zero.bounds().upper);
            answer["most"] = json!(bounds.from_zero.floor());
            answer["alpha"] = interval(&bounds.alpha);
        }
    }
    if let Some(point) = judge.common_point(decision) {
        let mut place = vec!["0".to_owned(); data.n_features().min(64)];
        for (column, value) in point {
            if let Some(at) = place.get_mut(column as usize) {
                *at = value;
            }
        }
        answer["common"] = json!({
            "text": place,
            "at": place.iter().map(|text| decimal(text)).collect::<Vec<_>>(),
        });
    }
    answer
}

fn interval(interval: &Interval) -> Value {
    json!({ "lower": interval.lower, "upper": interval.upper })
}

/// A decimal or a fraction as the nearest number, for the picture.
fn decimal(text: &str) -> Option<f64> {
    match text.split_once('/') {
        None => text.parse().ok(),
        Some((above, below)) => Some(above.parse::<f64>().ok()? / below.parse::<f64>().ok()?),
    }
}

/// The rows that refute every plane, with their weights.
fn witness(data: &Dataset, decision: &Decision) -> Vec<Value> {
    let row = |row: u64, line: Option<u64>, lambda: &str| {
        let class = data.class_of(row as usize);
        json!({ "row": row, "line": line, "weight": lambda, "class": class })
    };
    match &decision.claim {
        Claim::Inseparable { witness, .. }
        | Claim::Touching { witness, .. }
        | Claim::Overlapping { witness, .. } => {
            witness.iter().map(|one| row(one.row, one.line, &one.lambda)).collect()
        }
        _ => Vec::new(),
    }
}

/// αâ, bias first: â of length 1 has the largest margin γ on the rows (1, x), and α = R²/γ.
pub(crate) fn target(data: &Arc<Dataset>) -> Option<Vec<f64>> {
    let clock = Instant::now();
    let stop = || clock.elapsed() > limits::JUDGE;
    let judge = Judge::new(Arc::clone(data));
    let [_, positive] = data.classes() else { return None };
    let decision = judge.class(positive, &stop).ok()?;
    let margin = judge.augmented_margin(&decision, 1, &stop)?;
    let bounds = judge.mistake_bounds(&decision, &margin, &stop)?;
    // The rows that hold the margin up, weighted, add up to a multiple of â.
    let mut sum = vec![0.0; data.n_features() + 1];
    for one in margin.support() {
        let y = if data.class_of(one.row as usize) == 1 { 1.0 } else { -1.0 };
        let share = y * one.lambda.parse::<f64>().ok()?;
        sum[0] += share;
        data.for_each(one.row as usize, |j, x| sum[j as usize + 1] += share * x);
    }
    let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
    let alpha = bounds.alpha.upper?;
    let finite = length > 0.0 && length.is_finite() && alpha.is_finite();
    finite.then(|| sum.into_iter().map(|x| alpha * x / length).collect())
}
