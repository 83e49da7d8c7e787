//! What is done with learners and with what they have learned: cross-validation, paths of C, repeated
//! runs, calibration, predictions that no better solution changes, support vectors, streams.

pub mod flips;
pub mod neighbours;
pub mod path;
pub mod platt;
pub mod runs;
pub mod stream;
pub mod support;
pub mod validate;
