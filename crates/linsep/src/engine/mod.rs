//! The ways to learn that learners share. Each engine owns its loop over the data; what a learner
//! adds is a rule.

pub(crate) mod batch;
mod compact;
pub(crate) mod coordinates;
pub(crate) mod crammer_singer;
pub(crate) mod curvature;
pub(crate) mod dense;
pub(crate) mod direct;
pub(crate) mod dual;
mod gram;
pub(crate) mod ground;
pub(crate) mod joint;
pub(crate) mod machine;
pub(crate) mod newton;
pub(crate) mod objective;
pub(crate) mod online;
mod pass;
pub(crate) mod planes;
mod rough;
mod skipping;
pub(crate) mod softmax;
pub(crate) mod stopping;
pub(crate) mod sweep;
pub(crate) mod tilt;
