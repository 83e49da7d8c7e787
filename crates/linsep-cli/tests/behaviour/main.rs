//! What the program does when all is well: streams, exit codes, JSON, every input flag, prediction,
//! and the promise that one table gives one digest and one model in every format.

#[path = "../common/mod.rs"]
mod common;

mod abilities;
mod axes;
mod basis;
mod certify;
mod class_weights;
#[cfg(feature = "arrow")]
mod columnar;
mod compare;
mod counting;
mod criterion;
mod either_order;
mod explain;
mod export;
mod first_contact;
mod flips;
mod gate;
mod geometry;
mod hard_margin;
mod help;
mod infer;
#[cfg(all(unix, feature = "lab"))]
mod lab;
mod limits;
mod margin;
mod memory;
mod metrics;
mod old_models;
mod one_pass;
mod optimal;
mod plot;
mod predict;
mod reading;
mod readings;
mod reductions;
mod resume;
mod runs;
mod same_table;
mod sample;
mod saved_first;
mod separable;
mod settings;
mod spilled;
mod stopping;
mod streams;
mod terms;
mod trace;
mod training;
