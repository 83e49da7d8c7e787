//! Hostile input for every reader, and answers of linsep against independent ones.
//!
//! A target takes any bytes and returns; a panic is a finding. Three ways to run them:
//!
//! - the tests of this crate give each target a few thousand mutated inputs, the same ones every time;
//! - `cargo run --release -p linsep-fuzz -- all 600` goes on for as many seconds with new ones;
//! - `fuzz/guided/run TARGET SECONDS` lets libFuzzer find its way by coverage.

mod differential;
mod mutate;
mod readers;

pub use mutate::Mutator;

/// Something that takes bytes.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Takes any bytes; panics are findings.
    pub run: fn(&[u8]),
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "csv", run: readers::csv, seeds: readers::tables },
    Target { name: "svmlight", run: readers::svmlight, seeds: readers::sparse },
    Target { name: "packed", run: readers::packed, seeds: readers::packings },
    Target { name: "columnar", run: readers::columnar, seeds: readers::columns },
    Target { name: "model", run: readers::model, seeds: readers::models },
    Target { name: "certificate", run: readers::certificate, seeds: readers::certificates },
    Target { name: "checkpoint", run: readers::checkpoint, seeds: readers::checkpoints },
    Target { name: "trace", run: readers::trace, seeds: readers::traces },
    Target { name: "foreign", run: readers::foreign, seeds: readers::foreign_models },
    Target { name: "expressions", run: readers::expressions, seeds: readers::words },
    Target { name: "verdict", run: differential::verdict, seeds: differential::seeds },
    Target { name: "checker", run: differential::checker, seeds: differential::seeds },
];
