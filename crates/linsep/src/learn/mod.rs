//! One learner in each file: its settings with their defaults, the problem that they state, and the engine
//! that solves it. [`crate::recipe`] lists them all by name.

pub mod adaline;
pub mod averaged;
pub mod bayes;
pub mod descent;
pub mod discriminant;
pub mod hard_margin;
pub mod ho_kashyap;
pub mod least_squares;
pub mod logistic;
pub mod optimising;
pub mod perceptron;
pub mod pocket;
mod priors;
mod ridge_bound;
pub mod romma;
pub mod svm;
pub mod voted;
