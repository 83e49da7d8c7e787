//! Traces: every update of a run, one line each, and the way back from the lines to the weights.
//!
//! Problem: a run is a sequence of weight vectors, which is far too much to keep. Idea: each of them
//! is w = w₀ + Σ step · row, so start, row numbers and steps are enough, and whoever has the data
//! rebuilds every vector to the last bit by making the same additions in the same order.
//!
//! A trace is a text file of JSON objects, one in each line. The first is the [`Header`], every
//! other one an update ([`Line`]):
//!
//! | field | meaning |
//! |---|---|
//! | `k`, `epoch` | number of the update and of the pass over the rows, both from 1 |
//! | `row`, `line`, `file` | the row from 0, the line in its file from 1, and the file where there are several |
//! | `machine` | which of several machines side by side made it (one-versus-rest) |
//! | `step` | what the row was multiplied with before it was added, its sign included |
//! | `plane`, `rival` | K classes: the plane that got the row and the one that lost it |
//! | `rows`, `steps` | batch learners: all rows that were added; w += step · Σ stepsᵢ · rowᵢ |
//! | `margin_before`, `margin_after` | y(w·x + b) around the update; for a batch of the sum of its rows |
//! | `angle_before`, `angle_after` | radians between (b, w) and y(1, x); none at w = 0 |
//! | `norm` | the length of (b, w) after the update |
//! | `mistakes` | rows that its machine added because they were wrong or on the plane, so far |
//! | `bound_upper`, `bound_lower` | the two curves of the convergence proof |
//! | `criteria` | criteria over all rows after the update, where they were asked for |
//!
//! All measures are taken in the coordinates of the run: scaled columns, and for K classes the long
//! vector of all planes against Kesler's row (z at its class, −z at its rival). They are binary64
//! numbers and no claims.
//!
//! The curves (lecture 002, and `docs/theory/theorems.md`, section 7): an update that adds t·z', with
//! z' the reflected row and m its margin, changes |w|² by 2tm + t²|z'|², and w·ŵ by at least tγ, so
//!
//! ```text
//! Σ t γ − |w₀|  ≤  |w|  ≤  √(|w₀|² + Σ (t² R² + 2 max(0, t m)))
//! ```
//!
//! For the fixed increment from 0 this is kγ ≤ |w| ≤ √k R. The lower one is there where γ is known
//! and no step went backwards.
//!
//! References: Novikoff 1962; Duda, Hart, Stork 5.5.2.

mod follower;
mod gamma;
mod replay;
mod replica;
mod tracer;

pub use follower::Follower;
pub use gamma::{Gamma, margin_of_run};
pub use replay::{Replay, Step};
pub use replica::Measures;
pub use tracer::{FindGamma, Summary, Tracer, traceable};

use linsep::run::update::StartPlane;
use linsep_data::input::InputMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The format that this version writes.
pub const FORMAT: &str = "linsep.trace/1";

/// The first line: everything that a replay needs besides the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// The learner's name.
    pub learner: String,
    /// Its parameters, defaults included.
    pub parameters: BTreeMap<String, String>,
    /// The algorithm box that was run, if it was one.
    #[serde(rename = "box", default, skip_serializing_if = "Option::is_none")]
    pub algorithm_box: Option<String>,
    /// The seed of everything random.
    pub seed: u64,
    /// The SHA-256 that names the data.
    pub digest: String,
    /// Rows of the data.
    pub rows: u64,
    /// Features of the data.
    pub features: u64,
    /// The classes, in the order of their numbers.
    pub classes: Vec<String>,
    /// The class that was chosen as positive, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positive: Option<String>,
    /// Scaling during the run.
    pub scaling: String,
    /// Whether an update adds many rows at a time.
    pub batch: bool,
    /// The machines of the run, each with its own planes.
    pub machines: Vec<MachineHeader>,
    /// The planes at the start, machine after machine.
    pub start: Vec<StartPlane>,
    /// R²: the square of the longest row in the coordinates of the run (of Kesler's rows, for K
    /// classes at once).
    pub r2: f64,
    /// The largest margin of the rows in the coordinates of the run, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gamma: Option<Gamma>,
    /// The criteria that every line has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<String>,
    /// How columns became features.
    pub input: InputMap,
}

/// One machine of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct MachineHeader {
    /// The class of its plane against the others; absent for one plane for each class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positive: Option<u32>,
    /// How many planes it has.
    pub planes: u64,
    /// Updates that it had made before the trace begins.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub before: u64,
    /// Rows that take no part, rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<u32>,
}

fn is_zero(x: &u64) -> bool {
    *x == 0
}

/// The last line: the number of the last update. Without it something was cut off.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct End {
    pub(crate) updates: u64,
    /// Where the weights of the model come from, if not from the last update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
}

/// One update. See the table of the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[allow(missing_docs)]
pub struct Line {
    pub k: u64,
    pub epoch: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rival: Option<u32>,
    pub step: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<f64>>,
    pub margin_before: Option<f64>,
    pub margin_after: Option<f64>,
    pub angle_before: Option<f64>,
    pub angle_after: Option<f64>,
    pub norm: Option<f64>,
    pub mistakes: u64,
    pub bound_upper: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_lower: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<BTreeMap<String, Option<f64>>>,
}
