//! Files: models and certificates written, read back, and refused when changed.

mod basis_refusals;
mod fitted_refusals;
mod golden;
mod model_file;
mod optimal_refusals;
mod reading_columns;
mod roundtrip;
mod stream_model;

#[path = "../support/files.rs"]
mod files;
#[path = "../support/optimal.rs"]
mod optimal;
#[path = "../support/mod.rs"]
mod support;
