//! The ways to learn that learners share. Each engine owns its loop over the data; what a learner
//! adds is a rule.

pub mod batch;
mod compact;
pub mod coordinates;
pub mod crammer_singer;
pub mod curvature;
pub mod dense;
pub mod direct;
pub mod dual;
mod gram;
pub mod ground;
pub mod joint;
pub mod machine;
pub mod newton;
pub mod objective;
pub mod online;
mod pass;
pub mod planes;
mod rough;
mod skipping;
pub mod softmax;
pub mod stopping;
pub mod sweep;
pub mod tilt;
