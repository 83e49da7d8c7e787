//! Boxes, criteria, neurons, pictures and traces.

mod boxes;
mod criteria;
mod directions;
mod neuron;
mod plot;
mod trace;

#[path = "../../../linsep/tests/support/mod.rs"]
mod support;
mod xml;
