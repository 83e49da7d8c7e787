//! Verdicts: separable or not, margins, refusals of false claims.

mod answers;
mod coefficients;
mod coefficients_refused;
mod cycling;
mod exhaustive;
mod forced;
mod hard;
mod joint;
mod joint_kind;
mod laws;
mod logistic;
mod margin;
mod refusals;
mod refusals_data;
mod removal;
mod shapes;
mod theorems;

#[path = "../support/brute.rs"]
mod brute;
#[path = "../support/claims.rs"]
mod claims;
#[path = "../support/files.rs"]
mod files;
#[path = "../support/proofs.rs"]
mod proofs;
#[path = "../support/proven.rs"]
mod proven;
#[path = "../support/refused.rs"]
mod refused;
