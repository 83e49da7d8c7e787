//! What shows and explains linear classifiers: pictures ([`plot`]), neurons and gates ([`neuron`]), the
//! algorithm boxes of the lectures ([`boxes`]), geometry of planes ([`geometry`]), one prediction taken
//! apart ([`explain`]), criteria at the planes of a model ([`measure`]) and the updates of a run, written
//! down and replayed ([`trace`]).
//!
//! Nothing here learns: everything is asked of the crate `linsep`.

pub mod boxes;
pub mod explain;
pub mod geometry;
pub mod measure;
pub mod neuron;
pub mod plot;
pub mod trace;
pub mod two_weights;
