//! What it takes to go on with a run, as models and checkpoints hold it.

use crate::file::container::{Builder, Container};
use crate::model::Plane;
use crate::run::State;
use serde::{Deserialize, Serialize};

/// What it takes to go on with a run, beside its learner and its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SavedRun {
    /// Visits of the rows of its data.
    pub visits: u64,
    /// What was done before on other data.
    #[serde(default, skip_serializing_if = "Earlier::is_nothing")]
    pub earlier: Earlier,
    /// The share of the rows that was set aside for testing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<f64>,
    /// Whether each row was seen once, part by part, so that the state is not one of the whole data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
    /// The rates, where a table of them was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<Vec<f64>>,
    /// The start, where planes were given: weights and bias of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<(Vec<f64>, f64)>>,
    /// The state, as [`crate::Training::save`] gives it.
    pub state: State,
}

linsep_proof::setters! {
    SavedRun {
        with_visits => visits: u64,
        with_earlier => earlier: Earlier,
        with_held_out => held_out: Option<f64>,
        with_stream => stream: bool,
        with_rates => rates: Option<Vec<f64>>,
        with_start => start: Option<Vec<(Vec<f64>, f64)>>,
        with_state => state: State,
    }
}

/// Counters of what a run did on other data before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Earlier {
    /// Full passes.
    pub epochs: u64,
    /// Visits of a row.
    pub visits: u64,
    /// Corrections of the weights.
    pub updates: u64,
}

linsep_proof::setters! {
    Earlier {
        with_epochs => epochs: u64,
        with_visits => visits: u64,
        with_updates => updates: u64,
    }
}

impl Earlier {
    /// Whether there was nothing.
    pub fn is_nothing(&self) -> bool {
        *self == Earlier::default()
    }
}

impl SavedRun {
    /// A run in this state that had no other data before.
    pub fn new(visits: u64, state: State) -> SavedRun {
        let (earlier, held_out, stream) = (Earlier::default(), None, false);
        SavedRun { visits, earlier, held_out, stream, rates: None, start: None, state }
    }

    /// The planes that were given as the start.
    pub fn start_planes(&self) -> Option<Vec<Plane>> {
        let plane =
            |(weights, bias): &(Vec<f64>, f64)| Plane { weights: weights.clone(), bias: *bias };
        self.start.as_ref().map(|planes| planes.iter().map(plane).collect())
    }

    /// Keeps the planes that were given as the start.
    pub fn keep_start(&mut self, planes: Option<&[Plane]>) {
        let pair = |plane: &Plane| (plane.weights.clone(), plane.bias);
        self.start = planes.map(|planes| planes.iter().map(pair).collect());
    }
}

/// The short part of a saved run, which stands in the metadata of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunFields {
    visits: u64,
    #[serde(default, skip_serializing_if = "Earlier::is_nothing")]
    earlier: Earlier,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_out: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

impl SavedRun {
    /// Adds the tensors of the run to a file with these planes: `state`, and where they were given `rates`,
    /// `start_weights` and `start_bias`.
    pub(crate) fn write(&self, parts: &mut Builder, planes: &[Plane]) -> RunFields {
        parts.bytes("state", self.state.beside(planes));
        if let Some(rates) = &self.rates {
            parts.floats("rates", &[rates.len()], rates.iter());
        }
        if let Some(planes) = &self.start {
            let width = planes.first().map_or(0, |(weights, _)| weights.len());
            let weights = planes.iter().flat_map(|(weights, _)| weights);
            parts.floats("start_weights", &[planes.len(), width], weights);
            parts.floats("start_bias", &[planes.len()], planes.iter().map(|(_, bias)| bias));
        }
        let SavedRun { visits, earlier, held_out, stream, .. } = *self;
        RunFields { visits, earlier, held_out, stream }
    }

    /// The run of a file with these planes.
    pub(crate) fn read(
        fields: RunFields,
        parts: &mut Container<'_>,
        planes: &[Plane],
    ) -> Result<SavedRun, String> {
        let state = parts.bytes("state")?.ok_or("there is no tensor \"state\"")?;
        let state = State::from_beside(state, planes)?;
        let rates = match parts.floats("rates")? {
            Some(rates) if rates.shape.len() != 1 => return Err("the rates are not a list".into()),
            rates => rates.map(|rates| rates.numbers().collect::<Vec<f64>>()),
        };
        let start = match (parts.floats("start_weights")?, parts.floats("start_bias")?) {
            (None, None) => None,
            (Some(weights), Some(bias)) => {
                let ([count], [planes, width]) = (&bias.shape[..], &weights.shape[..]) else {
                    return Err("the planes of the start have another shape".into());
                };
                if count != planes {
                    return Err("the planes of the start are not as many as their biases".into());
                }
                let mut numbers = weights.numbers();
                let plane = |bias| (numbers.by_ref().take(*width).collect::<Vec<f64>>(), bias);
                Some(bias.numbers().map(plane).collect::<Vec<_>>())
            }
            _ => return Err("the planes of the start need weights and biases".into()),
        };
        let lists = start.iter().flatten().map(|(weights, _)| weights).chain(&rates);
        let biases = start.iter().flatten().map(|(_, bias)| bias);
        if !lists.flatten().chain(biases).chain(&fields.held_out).all(|x| x.is_finite()) {
            return Err("a number of the run is not finite".into());
        }
        let RunFields { visits, earlier, held_out, stream } = fields;
        Ok(SavedRun { visits, earlier, held_out, stream, rates, start, state })
    }
}
