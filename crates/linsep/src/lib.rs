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
//! assert_eq!(fit.model.predict(&[2.5, 2.0])?, "warm");
//! # Ok::<(), linsep::Error>(())
//! ```
//!
//! Reading starts at [`data`], then [`learn`]; `ARCHITECTURE.md` in the repository walks through
//! the rooms. The library never prints, never reads the clock and starts no thread that was not
//! asked for; the number of threads never changes a bit of a result.

pub mod density;
pub mod export;
pub mod file;
pub mod infer;
pub mod learn;
pub mod loss;
pub mod metrics;
pub mod model;
pub mod recipe;
pub mod rounds;
pub mod run;
pub mod select;
pub mod verdict;
pub mod verify;
pub mod worker;

// What the crate `linsep-teach` builds on. Not part of the documented interface.
#[doc(hidden)]
pub mod claim;
#[doc(hidden)]
pub mod engine;
#[doc(hidden)]
pub mod objective;

mod algebra;

pub use linsep_data as data;
pub use linsep_proof as proof;

pub use linsep_data::{
    Code, DataError, Dataset, DatasetBuilder, Error, Excerpt, Features, Place, Problem, Result,
    atomic, escaped, printable, rng,
};
pub use model::{Ballot, Leads, LinearModel, Link, Plane, Rule};
pub use run::ability;
pub use run::{
    BinaryLearner, Budget, Certificate, Claim, Datum, Fit, Learner, Limits, Observer, Progress,
    Remark, State, Status, Stop, Task, Training, drive,
};

/// The examples of the README are run with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
