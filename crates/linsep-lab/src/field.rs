//! Pattern space between the rows: classes, scores and basis functions at places where no row is.
//!
//! Places are read as rows of a file are, so basis functions and scaling are those of the run.

use crate::answer::{Wrong, number};
use crate::pattern::Grid;
use crate::run::Run;
use linsep::data::input::{InputMap, SourceColumn};
use linsep::data::read::{ReadOptions, RowSource};
use linsep::{Dataset, LinearModel};
use serde_json::{Value, json};

/// Steps of a walk between two places.
const STEPS: usize = 200;

/// The class of every cell of a grid of two features, row by row from the bottom, and whether several or no
/// binary classifiers claim it. One digit for each cell, letters for what is ambiguous.
pub(crate) fn regions(run: &mut Run, k: u64, grid: Grid) -> Result<Value, Wrong> {
    let model = model_at(run, k)?;
    let data = placed(run, grid.places())?;
    Ok(Value::String(classes_of(&model, &data)))
}

/// The same along the segment between two places, both ends included.
pub(crate) fn walk(run: &mut Run, k: u64, from: [f64; 2], to: [f64; 2]) -> Result<Value, Wrong> {
    if from.iter().chain(&to).any(|x| !x.is_finite()) {
        return Err(Wrong::usage("a walk goes between two finite places"));
    }
    let model = model_at(run, k)?;
    let at = |step: usize| {
        let share = step as f64 / STEPS as f64;
        [0, 1].map(|j| (1.0 - share) * from[j] + share * to[j])
    };
    let data = placed(run, (0..=STEPS).map(at))?;
    Ok(Value::String(classes_of(&model, &data)))
}

/// The score of the one plane of two classes at every cell, of which the page draws the line 0.
pub(crate) fn scores(run: &mut Run, k: u64, grid: Grid) -> Result<Value, Wrong> {
    let model = model_at(run, k)?;
    if model.planes.len() != 1 {
        return Err(Wrong::Missing("a boundary is the line 0 of one plane"));
    }
    let data = placed(run, grid.places())?;
    let mut scorer = model.scorer(&data);
    let values = (0..data.n_rows()).map(|row| number(scorer.row(row)[0]));
    Ok(Value::Array(values.collect()))
}

/// Two features lifted by the basis functions: over every place the height is what the functions beyond the
/// two features add, as the plane weighs them, so that the boundary is cut out by a plane.
///
/// One function is taken as it is; several are added with their weights over the largest of these.
pub(crate) fn lift(run: &mut Run, k: u64, grid: Grid) -> Result<Value, Wrong> {
    let model = model_at(run, k)?;
    let [plane] = &model.planes[..] else {
        return Err(Wrong::Missing("the lift is that of one plane"));
    };
    let Some((flat, beyond)) = plane.weights.split_at_checked(2).filter(|(_, b)| !b.is_empty())
    else {
        return Err(Wrong::Missing("the lift is that of basis functions of two features"));
    };
    let largest = beyond.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
    let (shares, slope): (Vec<f64>, f64) = match (beyond, largest > 0.0) {
        ([w], _) => (vec![1.0], *w),
        (_, true) => (beyond.iter().map(|w| w / largest).collect(), largest),
        (_, false) => (vec![1.0; beyond.len()], 0.0),
    };
    let height =
        |row: &[f64]| number(row[2..].iter().zip(&shares).map(|(x, share)| x * share).sum::<f64>());
    let sheet = placed(run, grid.places())?;
    let flattened = [plane.bias, flat[0], flat[1], slope].map(number);
    Ok(json!({
        "functions": beyond.len(),
        "plane": flattened,
        "heights": run.shown.iter().map(|row| height(&run.data.row(*row as usize))).collect::<Vec<_>>(),
        "sheet": (0..sheet.n_rows()).map(|row| height(&sheet.row(row))).collect::<Vec<_>>(),
        "cells": grid.cells,
        "x": grid.x,
        "y": grid.y,
    }))
}

fn model_at(run: &mut Run, k: u64) -> Result<LinearModel, Wrong> {
    if run.loaded.data.n_features() != 2 || k > run.last() || run.data.n_classes() > 10 {
        return Err(Wrong::Missing("regions are those of two features and at most ten classes"));
    }
    let planes = run.planes_at(k)?;
    Ok(run.walking(planes))
}

/// Places of two features as rows, with the basis functions of the run. Features of a file may be made of
/// other columns, so places are no rows of that file: they have two columns of their own.
fn placed(run: &Run, places: impl Iterator<Item = [f64; 2]>) -> Result<Dataset, Wrong> {
    let mut text = String::from("x1,x2,label\n");
    for [x, y] in places {
        text.push_str(&format!("{x},{y},a\n"));
    }
    let names = ["x1".to_owned(), "x2".to_owned()];
    let label = SourceColumn::new(Some("label".to_owned()), 2);
    let map = InputMap::numeric(Some(&names), 2)
        .with_label(Some(label))
        .with_source_columns(Some(3))
        .with_basis(run.data.input().basis.clone());
    let mut options = ReadOptions::default();
    options.header = Some(true);
    let source = RowSource::reader(text.as_bytes(), "places", &options);
    Ok(source.read(Some(&map))?.data)
}

fn classes_of(model: &LinearModel, data: &Dataset) -> String {
    let mut scorer = model.scorer(data);
    let letter = |row: usize| {
        let scores = scorer.row(row);
        let class = model.class_of(scores) as u8;
        char::from(if model.is_ambiguous(scores) { b'a' + class } else { b'0' + class })
    };
    (0..data.n_rows()).map(letter).collect()
}
