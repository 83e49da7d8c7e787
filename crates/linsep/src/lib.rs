//! linsep: linear classification with proof.
//!
//! The flow is `data → learn → model → proof → report`:
//!
//! ```
//! use linsep::learn::perceptron::Perceptron;
//! use linsep::{Dataset, Learner, Limits, Task};
//!
//! let rows = [[2.0, 1.0], [3.0, 4.0], [-1.0, -2.0], [-3.0, 0.5]];
//! let data = Dataset::from_rows(&rows, &["warm", "warm", "cold", "cold"])?;
//! let fit = Perceptron::default().fit(&Task::new(data), &Limits::default(), &mut ())?;
//! assert_eq!(fit.model.predict(&[2.5, 2.0]), "warm");
//! # Ok::<(), linsep::Error>(())
//! ```
//!
//! Reading starts at [`data`], then [`learn`]; `ARCHITECTURE.md` in the repository walks through
//! the rooms. The library never prints, never reads the clock and starts no thread that was not
//! asked for; the number of threads never changes a bit of a result.

mod error;

pub mod checkpoint;
pub(crate) mod container;
pub mod data;
pub mod density;
pub(crate) mod engine;
pub mod explain;
pub mod foreign;
pub mod geometry;
pub mod learn;
pub mod loss;
pub mod model;
pub mod model_file;
pub mod neuron;
pub mod plot;
pub mod recipe;
pub mod report;
pub mod trace;
pub mod verdict;

pub mod atomic;
pub(crate) mod parallel;
pub mod rng;

pub use linsep_proof as proof;

pub use data::{Dataset, DatasetBuilder};
pub use error::{Code, DataError, Error, Excerpt, Place, Problem, Result, printable};
pub use learn::{
    BinaryLearner, Budget, Certificate, Claim, Fit, Learner, Limits, Observer, Progress, Remark,
    State, Status, Stop, Task, Training, drive,
};
pub use model::{Ballot, Leads, LinearModel, Link, Plane, Rule};
