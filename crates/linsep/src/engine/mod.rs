//! The ways to learn that learners share. Each engine owns its loop over the data; what a learner
//! adds is a rule.

pub(crate) mod batch;
pub(crate) mod dense;
pub(crate) mod direct;
pub(crate) mod machine;
pub(crate) mod online;
mod pass;
mod skipping;
pub(crate) mod stopping;
