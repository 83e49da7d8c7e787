//! Data: rows, classes, names, weights, where they came from and how they were read.
//!
//! [`Features`] are rows of numbers, a [`Dataset`] adds labels and weights. They are made from files
//! ([`read`]), from arrays ([`door`]), row by row ([`DatasetBuilder`]) or at random ([`generate`]); data sets
//! are written by [`mod@write`]. Values are held in the narrowest encoding that
//! loses none of them, so memory and time follow from the values alone, not from where they came from.
//! Nothing here knows of learners.

pub mod atomic;
pub mod cancel;
pub mod door;
pub mod error;
pub mod memory;
pub mod read;
pub mod write;

mod packing;
mod table;
mod words;

// What the learners of the crate `linsep` build on. Not part of the documented interface.
#[doc(hidden)]
pub mod buffer;
#[doc(hidden)]
pub mod guard;
#[doc(hidden)]
pub mod matrix;
#[doc(hidden)]
pub mod parallel;
#[doc(hidden)]
pub mod rng;
#[doc(hidden)]
pub mod sort;

pub use error::{Code, DataError, Error, Excerpt, Place, Problem, Result, escaped, printable};
pub use matrix::Kind as Encoding;
#[doc(hidden)]
pub use table::Held;
pub use table::{
    Dataset, DatasetBuilder, Features, Identifying, Origin, Reading, RowsView, basis, generate,
    input, inspect, scale, split, terms,
};
