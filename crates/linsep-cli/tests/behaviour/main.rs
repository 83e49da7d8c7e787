//! What the program does when all is well: streams, exit codes, JSON, every input flag, prediction,
//! and the promise that one table gives one digest and one model in every format.

#[path = "../common/mod.rs"]
mod common;

mod compare;
mod margin;
mod plot;
mod predict;
mod reading;
mod same_table;
mod separable;
mod settings;
mod streams;
mod training;
