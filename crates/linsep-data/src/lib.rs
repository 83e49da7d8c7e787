//! Data: rows, classes, names, weights, where they came from and how they were read.
//!
//! [`Dataset`] is a labelled table. It is made from files ([`read`]), row by row ([`DatasetBuilder`]) or
//! at random ([`generate`]); it is written by [`write`]. Values are held in the narrowest encoding that
//! loses none of them, so memory and time follow from the values alone, not from where they came from.
//! Nothing here knows of learners.

pub mod atomic;
pub mod basis;
pub mod error;
pub mod generate;
pub mod input;
pub mod inspect;
pub mod read;
pub mod scale;
pub mod split;
pub mod write;

mod digest;
mod origin;
mod table;

// What the learners of the crate `linsep` build on. Not part of the documented interface.
#[doc(hidden)]
pub mod matrix;
#[doc(hidden)]
pub mod parallel;
#[doc(hidden)]
pub mod rng;

pub use error::{Code, DataError, Error, Excerpt, Place, Problem, Result, printable};
pub use matrix::Kind as Encoding;
pub use origin::Origin;
pub(crate) use table::MergedLabels;
pub use table::{Dataset, DatasetBuilder, Reading};
