//! Certificates of linear classification: what is claimed about a data set or a model, and the
//! evidence that a stranger can check with whole numbers alone.
//!
//! This crate depends on no other crate of the workspace, so the compiler, not a convention, keeps
//! the checker independent of the solvers whose work it checks. Reading order: [`Certificate`] and
//! [`Claim`] (what is claimed), [`Rows`] (what the checker needs of the data), [`check`] (how each
//! claim is checked).
//!
//! With z = +(1, x) for rows of the positive classes and −(1, x) for rows of the negative ones, the
//! claims rest on Gordan's and Stiemke's theorems: exactly one of "some w has z·w > 0 for all rows"
//! and "some λ ≥ 0, not all 0, has Σ λ z = 0" is true. Either side is a short list of numbers that
//! anybody can multiply out.
//!
//! ```
//! use linsep_proof::{Certificate, Claim};
//! let nothing = Certificate::unproved("the run ended at its epoch limit");
//! assert!(nothing.claims.iter().all(|c| matches!(c, Claim::Unproved { .. })));
//! ```

#[macro_use]
mod setters;

mod basis;
pub mod check;
mod claim;
mod coefficients;
pub mod digest;
mod double;
mod elimination;
mod exact;
mod file;
mod fitted;
#[doc(hidden)]
pub mod form;
mod optimal;
mod parts;
mod rank;
mod rows;
mod threads;
mod wide;
mod wire;

pub use basis::{Basis, MOST_DEGREE, MOST_TERMS};
pub use check::elsewhere;
pub use check::{
    ExactAnswer, Finding, check_claim, check_file, columns_are_independent, exact_answer,
    measure_modified_score, measure_optimal, percent_above,
};
pub use claim::{
    Against, Certificate, Claim, ClassPlane, ExactNumber, ExactPlane, Question, Scheme, Weighted,
};
pub use coefficients::{
    Coefficient, Estimate, Estimates, ForcedLabel, ForcedSide, Multiple, SparseVector,
};
pub use file::{
    AnyOrder, CertificateFile, DataIdentity, FORMAT, FORMAT_2, FileError, InputField, ReadingField,
};
pub use fitted::{ClassWeight, Equations, FloatPlane, Offset, Planes, Priors, Statistics};
pub use optimal::{
    BiasInterval, DualPoint, Intercept, Loss, ModifiedScore, Objective, Optimality, VACUOUS,
    WeightLimit,
};
pub use rows::{Decimals, Entries, Reading, RowBuffer, Rows};
#[doc(hidden)]
pub use threads::threads_at_checks;

/// The examples of the README are run with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
