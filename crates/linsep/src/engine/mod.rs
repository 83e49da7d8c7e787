//! The ways to learn that learners share. Each engine owns its loop over the data; what a learner
//! adds is a rule.

pub mod batch;
pub mod certified;
pub mod closed_form;
pub mod compact;
pub mod coordinates;
pub mod crammer_singer;
pub mod curvature;
pub mod direct;
pub mod dual;
pub mod gram;
pub mod joint;
pub(crate) mod moves;
pub mod moving;
pub mod newton;
pub mod online;
pub mod pass;
pub mod perceptron;
pub mod permuted;
pub mod planes;
pub mod quantised;
pub mod rate;
pub mod response;
pub mod resting;
pub mod row_weights;
pub mod settled;
pub mod skipping;
pub mod softmax;
pub mod stopping;
pub mod sweep;
