//! Version 2 of the model file: which tensors there are, and what they have to be.

use super::{FORMAT, ModelFile, check_memory, refusal, subjects, subjects::resolve};
use crate::file::checkpoint::{RunFields, SavedRun};
use crate::file::container::{Builder, Container, Refused, Tensor};
use crate::model::parts::{check_parts, is_finite, link_is_finite};
use crate::model::{Ballot, LinearModel, Link, Plane, Rule};
use crate::run::Stop;
use linsep_data::error::{Code, Error, Result};
use linsep_data::input::InputMap;
use linsep_proof::{DataIdentity, form};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The metadata: everything that is short.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    format: String,
    learner: String,
    parameters: BTreeMap<String, String>,
    seed: u64,
    stop: String,
    epochs: u64,
    updates: u64,
    data: DataIdentity,
    /// The rule on scores; with votes it is that of a ballot.
    rule: Rule,
    link: Link,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<RunFields>,
}

/// The content of a file.
pub(super) fn write(file: &ModelFile) -> Refused<Vec<u8>> {
    let model = &file.model;
    if !model.planes.iter().all(is_finite) || !link_is_finite(&model.link) {
        return Err("a weight is not finite, so the model is not written".into());
    }
    let mut parts = Builder::default();
    write_planes(&mut parts, &model.planes)?;
    if let Rule::Ballot(Ballot { votes, .. }) = &model.rule {
        parts.integers("votes", votes.iter().flatten().copied());
        parts.integers("ballots", starts(votes.iter().map(Vec::len)));
    }
    parts.json("classes", &model.classes);
    parts.json("input", &model.input);
    parts.bytes("certificate", subjects::refer(model, &file.certificate).into_bytes());
    if let Some(density) = &file.density {
        parts.json("density", density);
    }
    let run = file.run.as_ref().map(|run| run.write(&mut parts, &model.planes));
    let metadata = Metadata {
        format: FORMAT.to_owned(),
        learner: file.learner.clone(),
        parameters: file.parameters.clone(),
        seed: file.seed,
        stop: file.stop.word().to_owned(),
        epochs: file.epochs,
        updates: file.updates,
        data: file.data.clone(),
        rule: model.rule.on_scores().clone(),
        link: model.link.clone(),
        run,
    };
    parts.seal(&metadata).ok_or_else(|| "the parameters are too long for the header".to_owned())
}

/// Reads and checks the content of a file.
pub(super) fn read(bytes: &[u8], path: &Path, max_memory: u64) -> Result<ModelFile> {
    let (mut parts, metadata, model) = open(bytes, path, max_memory)?;
    let invalid = |reason| syntax(path, reason);
    let contradicts = |reason| refusal(path, reason);
    let certificate = needed(parts.bytes("certificate"), "certificate").map_err(invalid)?;
    let certificate = resolve(&model, certificate).map_err(contradicts)?;
    let density = parts.json("density").map_err(invalid)?;
    let run = metadata.run.map(|fields| SavedRun::read(fields, &mut parts, &model.planes));
    let run = run.transpose();
    let run = run.map_err(contradicts)?;
    parts.finish().map_err(invalid)?;
    let stop = Stop::parse(&metadata.stop)
        .ok_or_else(|| contradicts("the stop reason is unknown".to_owned()))?;
    let file = ModelFile {
        model,
        certificate,
        learner: metadata.learner,
        parameters: metadata.parameters,
        seed: metadata.seed,
        stop,
        epochs: metadata.epochs,
        updates: metadata.updates,
        data: metadata.data,
        density,
        run,
    };
    file.check().map_err(contradicts)?;
    Ok(file)
}

/// Reads the model alone.
pub(super) fn read_model(bytes: &[u8], path: &Path, max_memory: u64) -> Result<LinearModel> {
    open(bytes, path, max_memory).map(|(_, _, model)| model)
}

fn syntax(path: &Path, reason: String) -> Error {
    let reason = format!("the file is not a valid model: {reason}");
    Error::Model { code: Code::MODEL_SYNTAX, path: path.to_path_buf(), reason }
}

/// What has to be there.
fn needed<T>(found: Refused<Option<T>>, name: &str) -> Refused<T> {
    found?.ok_or_else(|| format!("there is no tensor \"{name}\""))
}

/// The metadata, the model, and the tensors that are left.
fn open<'a>(
    bytes: &'a [u8],
    path: &Path,
    max_memory: u64,
) -> Result<(Container<'a>, Metadata, LinearModel)> {
    let mut parts = Container::open(bytes, FORMAT, path)?;
    let invalid = |reason| syntax(path, reason);
    let contradicts = |reason| refusal(path, reason);
    let metadata: Metadata = form::strict(parts.metadata.as_bytes()).map_err(invalid)?;
    let classes: Vec<String> = needed(parts.json("classes"), "classes").map_err(invalid)?;
    let input: InputMap = needed(parts.json("input"), "input").map_err(invalid)?;
    let (rule, link) = (metadata.rule.clone(), metadata.link.clone());
    let rule = match (parts.integers("votes"), parts.integers("ballots")) {
        (Ok(None), Ok(None)) => rule,
        (Ok(Some(votes)), Ok(Some(starts))) => {
            Rule::Ballot(Ballot::new(ballots(&votes, &starts).map_err(contradicts)?, rule))
        }
        (votes, ballots) => {
            let words = "votes need ballots, and ballots votes".to_owned();
            return Err(invalid(votes.err().or(ballots.err()).unwrap_or(words)));
        }
    };
    if matches!(metadata.rule, Rule::Ballot(_)) {
        return Err(contradicts("a ballot stands in tensors, not in the metadata".into()));
    }
    let count = check_parts(&classes, &rule, &link, &input).map_err(contradicts)?;
    check_memory(count, input.width(), max_memory)?;
    let planes = read_planes(&mut parts, count, input.width());
    let planes = planes.map_err(|(code, reason)| match code {
        Code::MODEL_SYNTAX => invalid(reason),
        _ => contradicts(reason),
    })?;
    Ok((parts, metadata, LinearModel { planes, rule, link, classes, input }))
}

/// Where each of several lists begins when they stand behind each other, and where the last one ends.
fn starts(lengths: impl Iterator<Item = usize>) -> impl Iterator<Item = u64> {
    let ends = lengths.scan(0, |end, length| {
        *end += length as u64;
        Some(*end)
    });
    std::iter::once(0).chain(ends)
}

/// The lists that begin at these places of a list of so many, and end with it.
fn ranges(starts: &[usize], total: usize) -> Refused<Vec<std::ops::Range<usize>>> {
    let whole = starts.first() == Some(&0) && starts.last() == Some(&total);
    match whole && starts.is_sorted() {
        true => Ok(starts.windows(2).map(|pair| pair[0]..pair[1]).collect()),
        false => Err("the starts of lists do not rise from 0 to the end".into()),
    }
}

fn ballots(votes: &[usize], starts: &[usize]) -> Refused<Vec<Vec<u64>>> {
    let list =
        |range: std::ops::Range<usize>| votes[range].iter().map(|&votes| votes as u64).collect();
    Ok(ranges(starts, votes.len())?.into_iter().map(list).collect())
}

fn write_planes(parts: &mut Builder, planes: &[Plane]) -> Refused<()> {
    let width = planes.first().map_or(0, |plane| plane.weights.len());
    if planes.iter().any(|plane| plane.weights.len() != width) {
        return Err("the planes have different numbers of weights".into());
    }
    // A weight of -0 is a bit pattern of its own and kept.
    let there = |plane: &Plane| plane.weights.iter().filter(|w| w.to_bits() != 0).count();
    let total: usize = planes.iter().map(there).sum();
    if 16 * total + 8 * (planes.len() + 1) < 8 * planes.len() * width {
        let entries = || {
            let each = planes.iter().flat_map(|plane| plane.weights.iter().enumerate());
            each.filter(|(_, w)| w.to_bits() != 0)
        };
        parts.integers("indptr", starts(planes.iter().map(there)));
        parts.integers("indices", entries().map(|(j, _)| j as u64));
        parts.floats("values", &[total], entries().map(|(_, w)| w));
    } else {
        let weights = planes.iter().flat_map(|plane| &plane.weights);
        parts.floats("weights", &[planes.len(), width], weights);
    }
    parts.floats("bias", &[planes.len()], planes.iter().map(|plane| &plane.bias));
    Ok(())
}

/// So many planes of so many weights.
fn read_planes(
    parts: &mut Container<'_>,
    count: usize,
    width: usize,
) -> std::result::Result<Vec<Plane>, (Code, String)> {
    let invalid = |reason| (Code::MODEL_SYNTAX, reason);
    let contradicts = |reason| (Code::MODEL_CONTENT, reason);
    let bias = needed(parts.floats("bias"), "bias").map_err(invalid)?;
    if bias.shape != [count] {
        let words = format!("the rule needs {count} planes, and there are {:?} biases", bias.shape);
        return Err(contradicts(words));
    }
    let dense = parts.floats("weights").map_err(invalid)?;
    let values = parts.floats("values").map_err(invalid)?;
    let indices = parts.integers("indices").map_err(invalid)?;
    let indptr = parts.integers("indptr").map_err(invalid)?;
    let weights = match (dense, values, indices, indptr) {
        (Some(dense), None, None, None) => dense_weights(&dense, count, width),
        (None, Some(values), Some(indices), Some(indptr)) => {
            sparse_weights(&values, &indices, &indptr, (count, width))
        }
        _ => {
            let words = "planes need either \"weights\" or \"indptr\", \"indices\" and \"values\"";
            return Err(invalid(words.into()));
        }
    };
    let plane = |(weights, bias)| Plane { weights, bias };
    let planes: Vec<Plane> =
        weights.map_err(contradicts)?.into_iter().zip(bias.numbers()).map(plane).collect();
    match planes.iter().all(is_finite) {
        true => Ok(planes),
        false => Err(contradicts("a weight is not finite".into())),
    }
}

fn dense_weights(tensor: &Tensor<'_>, count: usize, width: usize) -> Refused<Vec<Vec<f64>>> {
    if tensor.shape != [count, width] {
        let shape = &tensor.shape;
        return Err(format!(
            "the weights are of shape {shape:?}; {count} planes of {width} features are needed"
        ));
    }
    let mut numbers = tensor.numbers();
    Ok((0..count).map(|_| numbers.by_ref().take(width).collect()).collect())
}

fn sparse_weights(
    values: &Tensor<'_>,
    indices: &[usize],
    indptr: &[usize],
    (count, width): (usize, usize),
) -> Refused<Vec<Vec<f64>>> {
    if indptr.len() != count + 1 || values.shape != [indices.len()] {
        return Err("the sparse weights have lists of lengths that do not fit together".into());
    }
    // A short file may stand for many weights. Where there is no room for them, this says so.
    let total = count.checked_mul(width).filter(|_| width <= u32::MAX as usize);
    let room = total.is_some_and(|total| Vec::<f64>::new().try_reserve_exact(total).is_ok());
    if !room {
        return Err(format!("there is no room for {count} planes of {width} weights"));
    }
    let mut values = values.numbers();
    let plane = |range: std::ops::Range<usize>| {
        let columns = &indices[range];
        let rising = columns.is_sorted_by(|a, b| a < b);
        if !rising || columns.last().is_some_and(|&last| last >= width) {
            return Err("the sparse weights of a plane are out of order or out of range".to_owned());
        }
        let mut weights = vec![0.0; width];
        columns.iter().zip(values.by_ref()).for_each(|(&j, w)| weights[j] = w);
        Ok(weights)
    };
    ranges(indptr, indices.len())?.into_iter().map(plane).collect()
}
