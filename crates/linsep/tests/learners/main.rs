//! Learners: laws, agreement with peers, pausing, proofs of optimality.

mod abilities;
mod ability_table;
mod axes;
mod basis;
mod cases;
mod conformance;
mod custom_loss;
mod deciding;
mod descent;
mod direct;
mod discrete;
mod examples;
mod family;
mod flips;
mod hard_margin;
mod k_class_optimal;
mod large;
mod layouts;
mod metrics;
mod near_dependent;
mod neighbours;
mod objectives;
mod online;
mod pausing;
mod peers;
mod penalties;
mod platt;
mod reductions;
mod romma;
mod rounds;
mod sampling;
mod task_rows;

#[path = "../support/brute.rs"]
mod brute;
mod bulk;
#[path = "../support/files.rs"]
mod files;
#[path = "../support/proofs.rs"]
mod proofs;
#[path = "../support/mod.rs"]
mod support;
