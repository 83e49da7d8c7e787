//! What a run tells of itself so that others can follow it: where it stands, and what its last
//! update added.
//!
//! The planes of the perceptron family are sums of rows: w = w₀ + Σ step · row. Start and steps are
//! therefore all there is to know of a run, and the crate `linsep-teach` writes nothing else that a replay
//! relies on. Nobody watching costs nothing: a run only answers when it is asked.

use crate::model::Plane;
use linsep_data::scale::Scaling;

/// Where one machine of a run stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Beginning {
    /// The class of the plane, against all others; `None` for one plane for each class.
    pub positive: Option<u32>,
    /// The planes as they are.
    pub planes: Vec<StartPlane>,
    /// Scaling of the columns or rows during the run.
    pub scaling: Scaling,
    /// The rows that take part.
    pub rows: Vec<u32>,
    /// Whether an update adds many rows at a time.
    pub batch: bool,
    /// Updates that were made before.
    pub updates: u64,
}

impl Beginning {
    /// A binary classifier or the planes of all classes before their next update.
    pub fn new(
        positive: Option<u32>,
        planes: Vec<StartPlane>,
        scaling: Scaling,
        rows: Vec<u32>,
        batch: bool,
        updates: u64,
    ) -> Beginning {
        Beginning { positive, planes, scaling, rows, batch, updates }
    }
}

/// A plane in motion: the raw weights are `weights` − `shift` · m, with m the scaled means of the
/// columns. Only runs with centred columns have a shift, and none of them at its start.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StartPlane {
    /// The weights.
    pub weights: Vec<f64>,
    /// The bias.
    pub bias: f64,
    /// How far the centre of the columns has moved the plane.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shift: f64,
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

impl StartPlane {
    /// A plane without a shift.
    pub fn of(plane: &Plane) -> StartPlane {
        StartPlane { weights: plane.weights.clone(), bias: plane.bias, shift: 0.0 }
    }
}

/// One update of one machine.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Update {
    /// Which machine, of several side by side.
    pub machine: usize,
    /// Its number within the machine, from 1.
    pub number: u64,
    /// The epoch it belongs to, from 1.
    pub epoch: u64,
    /// What the sum of the rows was multiplied with, if it was a sum of many.
    pub rate: Option<f64>,
    /// The rows that were added.
    pub moves: Vec<Move>,
}

impl Update {
    /// An update of the binary classifier `machine`.
    pub fn new(
        machine: usize,
        number: u64,
        epoch: u64,
        rate: Option<f64>,
        moves: Vec<Move>,
    ) -> Update {
        Update { machine, number, epoch, rate, moves }
    }
}

/// A row that was added.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Move {
    /// The row.
    pub row: u32,
    /// The plane that it was added to, as a position among those of the machine.
    pub plane: u32,
    /// The plane that it was subtracted from, where two move.
    pub rival: Option<u32>,
    /// How many times it was added.
    pub step: f64,
}

impl Move {
    /// `step` times a row, added to `plane` and subtracted from its rival.
    pub fn new(row: u32, plane: u32, rival: Option<u32>, step: f64) -> Move {
        Move { row, plane, rival, step }
    }
}
