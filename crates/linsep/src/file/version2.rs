//! Version 2 of the model file: which tensors there are, and what they have to be.

use super::{FORMAT, ModelFile, check_memory, refusal, subjects, subjects::resolve};
use crate::file::checkpoint::{RunFields, SavedRun};
use crate::file::container::{Builder, Container, Refused, Tensor};
use crate::model::parts::{check_parts, is_finite, link_is_finite};
use crate::model::{Ballot, Decision, LinearModel, Link, Plane, Rule, StreamModel};
use crate::run::Stop;
use linsep_data::error::{Code, Error, Result};
use linsep_data::input::InputMap;
use linsep_data::matrix::Bundle;
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
    decision: Option<Decision>,
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
        decision: model.decision.clone(),
        run,
    };
    parts.seal(&metadata).ok_or_else(|| "the parameters are too long for the header".to_owned())
}

/// Reads and checks the content of a file.
pub(super) fn read(bytes: &[u8], path: &Path, max_memory: u64) -> Result<ModelFile> {
    let (mut parts, metadata, model, ()) = open(bytes, path, max_memory, dense_planes)?;
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
    open(bytes, path, max_memory, dense_planes).map(|(_, _, model, ())| model)
}

/// Reads the model for scoring alone.
pub(super) fn read_stream_model(bytes: &[u8], path: &Path, max_memory: u64) -> Result<StreamModel> {
    let (_, _, model, bundle) = open(bytes, path, max_memory, bundled_planes)?;
    Ok(match bundle {
        Some(bundle) => StreamModel::bundled(model, bundle),
        None => model.into(),
    })
}

fn syntax(path: &Path, reason: String) -> Error {
    let reason = format!("the file is not a valid model: {reason}");
    Error::Model { code: Code::MODEL_SYNTAX, path: path.to_path_buf(), reason }
}

/// What has to be there.
fn needed<T>(found: Refused<Option<T>>, name: &str) -> Refused<T> {
    found?.ok_or_else(|| format!("there is no tensor \"{name}\""))
}

/// Planes and what else was made of their weights, or what is wrong with them.
type Planes<T> = std::result::Result<(Vec<Plane>, T), (Code, String)>;

/// The metadata, the model, what else `read` makes of its weights, and the tensors that are left.
fn open<'a, T>(
    bytes: &'a [u8],
    path: &Path,
    max_memory: u64,
    read: impl FnOnce(&mut Container<'a>, usize, &InputMap) -> Planes<T>,
) -> Result<(Container<'a>, Metadata, LinearModel, T)> {
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
    let planes = read(&mut parts, count, &input);
    let (planes, more) = planes.map_err(|(code, reason)| match code {
        Code::MODEL_SYNTAX => invalid(reason),
        _ => contradicts(reason),
    })?;
    let decision = metadata.decision.clone();
    if let Some(decision) = &decision {
        decision.check(classes.len(), &rule, &link).map_err(contradicts)?;
    }
    Ok((parts, metadata, LinearModel { planes, rule, link, classes, input, decision }, more))
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

/// So many planes with all their weights.
fn dense_planes(parts: &mut Container<'_>, count: usize, input: &InputMap) -> Planes<()> {
    let (weights, bias) = Weights::read(parts, (count, input.width()))?;
    weights.planes(&bias).map(|planes| (planes, ()))
}

/// Sparse planes as a bundle and their biases; others as they are.
fn bundled_planes(
    parts: &mut Container<'_>,
    count: usize,
    input: &InputMap,
) -> Planes<Option<Bundle>> {
    let (weights, bias) = Weights::read(parts, (count, input.width()))?;
    match &weights {
        // A single plane, and one that counts the features above a threshold, need weights in their places.
        Weights::Sparse(sparse) if count > 1 && input.binarize.is_none() => {
            if !sparse.values.numbers().chain(bias.numbers()).all(f64::is_finite) {
                return Err(not_finite());
            }
            let bundle = Bundle::of_entries(sparse.shape, |k| sparse.entries(k));
            let plane = |bias| Plane { weights: Vec::new(), bias };
            Ok((bias.numbers().map(plane).collect(), Some(bundle)))
        }
        _ => weights.planes(&bias).map(|planes| (planes, None)),
    }
}

fn not_finite() -> (Code, String) {
    (Code::MODEL_CONTENT, "a weight is not finite".into())
}

/// The weights of the planes as they stand in the file.
enum Weights<'a> {
    Dense(Tensor<'a>, (usize, usize)),
    Sparse(SparseWeights<'a>),
}

/// Lists of columns, rising and in range, with their weights.
struct SparseWeights<'a> {
    values: Tensor<'a>,
    indices: Vec<usize>,
    ranges: Vec<std::ops::Range<usize>>,
    shape: (usize, usize),
}

impl<'a> Weights<'a> {
    /// So many planes of so many weights, and the biases.
    fn read(
        parts: &mut Container<'a>,
        (count, width): (usize, usize),
    ) -> std::result::Result<(Weights<'a>, Tensor<'a>), (Code, String)> {
        let invalid = |reason| (Code::MODEL_SYNTAX, reason);
        let contradicts = |reason| (Code::MODEL_CONTENT, reason);
        let bias = needed(parts.floats("bias"), "bias").map_err(invalid)?;
        if bias.shape != [count] {
            let shape = &bias.shape;
            let words = format!("the rule needs {count} planes, and there are {shape:?} biases");
            return Err(contradicts(words));
        }
        let dense = parts.floats("weights").map_err(invalid)?;
        let values = parts.floats("values").map_err(invalid)?;
        let indices = parts.integers("indices").map_err(invalid)?;
        let indptr = parts.integers("indptr").map_err(invalid)?;
        let shape = (count, width);
        let weights = match (dense, values, indices, indptr) {
            (Some(dense), None, None, None) => match dense.shape == [count, width] {
                true => Ok(Weights::Dense(dense, shape)),
                false => Err(format!(
                    "the weights are of shape {:?}; {count} planes of {width} features are needed",
                    dense.shape
                )),
            },
            (None, Some(values), Some(indices), Some(indptr)) => {
                SparseWeights::new(values, indices, &indptr, shape).map(Weights::Sparse)
            }
            _ => {
                let words =
                    "planes need either \"weights\" or \"indptr\", \"indices\" and \"values\"";
                return Err(invalid(words.into()));
            }
        };
        weights.map(|weights| (weights, bias)).map_err(contradicts)
    }

    /// The planes with these biases.
    fn planes(&self, bias: &Tensor<'_>) -> std::result::Result<Vec<Plane>, (Code, String)> {
        let weights: Vec<Vec<f64>> = match self {
            Weights::Dense(tensor, (count, width)) => {
                let mut numbers = tensor.numbers();
                (0..*count).map(|_| numbers.by_ref().take(*width).collect()).collect()
            }
            Weights::Sparse(sparse) => {
                let plane = |k| {
                    let mut weights = vec![0.0; sparse.shape.1];
                    sparse.entries(k).for_each(|(j, w)| weights[j] = w);
                    weights
                };
                (0..sparse.shape.0).map(plane).collect()
            }
        };
        let plane = |(weights, bias)| Plane { weights, bias };
        let planes: Vec<Plane> = weights.into_iter().zip(bias.numbers()).map(plane).collect();
        match planes.iter().all(is_finite) {
            true => Ok(planes),
            false => Err(not_finite()),
        }
    }
}

impl<'a> SparseWeights<'a> {
    fn new(
        values: Tensor<'a>,
        indices: Vec<usize>,
        indptr: &[usize],
        (count, width): (usize, usize),
    ) -> Refused<SparseWeights<'a>> {
        if indptr.len() != count + 1 || values.shape != [indices.len()] {
            return Err("the sparse weights have lists of lengths that do not fit together".into());
        }
        // A short file may stand for many weights. Where there is no room for them, this says so.
        let total = count.checked_mul(width).filter(|_| width <= u32::MAX as usize);
        let room = total.is_some_and(|total| Vec::<f64>::new().try_reserve_exact(total).is_ok());
        if !room {
            return Err(format!("there is no room for {count} planes of {width} weights"));
        }
        let ranges = ranges(indptr, indices.len())?;
        for range in &ranges {
            let columns = &indices[range.clone()];
            let rising = columns.is_sorted_by(|a, b| a < b);
            if !rising || columns.last().is_some_and(|&last| last >= width) {
                let words = "the sparse weights of a plane are out of order or out of range";
                return Err(words.to_owned());
            }
        }
        Ok(SparseWeights { values, indices, ranges, shape: (count, width) })
    }

    /// The columns of a plane with their weights.
    fn entries(&self, k: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.ranges[k].clone();
        let values = self.values.numbers_in(range.clone());
        self.indices[range].iter().copied().zip(values)
    }
}
