//! Criteria over weight space: the height of a criterion at every cell of a grid of weights.

use crate::answer::{Wrong, number};
use crate::pattern::Grid;
use crate::run::Run;
use crate::spec::TWO_WEIGHTS;
use linsep::loss::Criterion;
use serde_json::{Value, json};

/// J over a grid of two weights. Three weights are cut at the given bias.
pub(crate) fn surface(run: &Run, criterion: &str, grid: Grid, bias: f64) -> Result<Value, Wrong> {
    let criterion: Criterion = criterion.parse()?;
    let data = &run.data;
    if data.n_classes() != 2 || data.n_features() > 2 {
        return Err(Wrong::Missing("criteria are drawn over two weights, or over two and a bias"));
    }
    let one = data.n_features() == 1;
    let held = if one || run.spec.learner == TWO_WEIGHTS { 0.0 } else { bias };
    let rows: Vec<([f64; 2], f64)> = run
        .shown
        .iter()
        .map(|row| {
            let x = data.row(*row as usize);
            let y = if data.class_of(*row as usize) == 1 { 1.0 } else { -1.0 };
            // One feature: the weights are (w, b).
            let z = if one { [y * x[0], y] } else { [y * x[0], y * x[1]] };
            (z, y * held)
        })
        .collect();
    let height = |[u, v]: [f64; 2]| {
        let of = |(z, c): &([f64; 2], f64)| criterion.value(z[0] * u + z[1] * v + c);
        let sum: f64 = rows.iter().map(of).sum();
        match criterion {
            // Distances are those from the plane: ‖w‖ is without the bias, of two weights it is all there is.
            Criterion::Distance => sum / if one { u.abs() } else { u.hypot(v) },
            _ => sum,
        }
    };
    let mut values = Vec::with_capacity(grid.cells * grid.cells);
    for j in 0..grid.cells {
        for i in 0..grid.cells {
            values.push(number(height(grid.at(i, j))));
        }
    }
    let card = criterion.card();
    Ok(json!({
        "criterion": criterion.word(),
        "meaning": criterion.meaning(),
        "convex": card.convex,
        "minimum": card.minimum,
        "x": grid.x,
        "y": grid.y,
        "cells": grid.cells,
        // Of very many rows the drawn ones stand for all.
        "rows": rows.len(),
        "bias": (!one && run.spec.learner != TWO_WEIGHTS).then_some(bias),
        "atZero": number(height([0.0, 0.0])),
        "values": values,
    }))
}
