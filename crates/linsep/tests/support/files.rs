//! Files for tests of models: what the rows of some files are to a model.
#![allow(dead_code, unused_imports)] // Each test file uses its own part of this one.

#[path = "../../../linsep-data/tests/support/files.rs"]
mod data_files;

pub(crate) use data_files::*;
use linsep::data::input::InputMap;
use linsep::data::read::{Choices, ReadOptions, stream};
use linsep::{LinearModel, Link, Plane, Result, Rule};

/// A model whose scores are the features themselves.
pub(crate) fn mirror(map: &InputMap) -> LinearModel {
    let unit = |j: usize| {
        let mut weights = vec![0.0; map.features];
        weights[j] = 1.0;
        Plane::new(weights, 0.0)
    };
    LinearModel::new(
        (0..map.features).map(unit).collect(),
        Rule::ArgMax,
        (0..map.features).map(|j| format!("c{j}")).collect(),
        map.clone(),
    )
}

/// What the rows of some files are to a model with this map: features and labels.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) labels: Vec<Option<String>>,
    pub(crate) choices: Choices,
}

pub(crate) fn through(
    files: &Files,
    map: &InputMap,
    need_label: bool,
    set: impl FnOnce(&mut ReadOptions),
) -> Result<Seen> {
    let model = mirror(map);
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    let choices = stream(&files.paths, &options(set), map, need_label, |_, chunk| {
        model.score_chunk(&chunk, |row, scores| {
            rows.push(scores.to_vec());
            labels.push(chunk.label(row).map(str::to_owned));
        });
        Ok(())
    })?;
    Ok(Seen { rows, labels, choices })
}
