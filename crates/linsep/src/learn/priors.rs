//! How often each class is expected, for learners that describe how rows of a class come about.
//!
//! Numbers p_k are taken in proportion: π_k = p_k/Σp. A row of class k counts π_k/n_k in sums over all classes, with n_k
//! the weight of the rows of the class.

use crate::engine::closed_form::class_factors;
use crate::run::ClassWeights;
use crate::run::class_weights::by_class;
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};

/// How often each class is expected.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Priors {
    /// As often as in the data.
    #[default]
    Data,
    /// All alike.
    Uniform,
    /// As often as this, by class; they add up to 1.
    Given(Vec<(String, f64)>),
}

impl std::str::FromStr for Priors {
    type Err = Error;

    fn from_str(text: &str) -> Result<Priors> {
        match text {
            "data" => Ok(Priors::Data),
            "uniform" => Ok(Priors::Uniform),
            _ => by_class(text, "data, uniform", "a=0.7,b=0.3").map(Priors::Given),
        }
    }
}

impl Priors {
    /// Refuses priors of other classes than those of the data, or that do not add up to 1.
    pub(crate) fn check(&self, data: &Dataset) -> Result<()> {
        let Priors::Given(given) = self else { return Ok(()) };
        let classes = data.classes();
        let list = || classes.join(", ");
        if let Some((name, _)) = given.iter().find(|(name, _)| !classes.contains(name)) {
            return Err(Error::usage(format!(
                "`priors`: there is no class \"{name}\"; the classes are {}",
                list()
            )));
        }
        if let Some(name) =
            classes.iter().find(|class| given.iter().all(|(name, _)| name != *class))
        {
            return Err(Error::usage(format!(
                "`priors`: the class \"{name}\" has none; the classes are {}",
                list()
            )));
        }
        let sum: f64 = given.iter().map(|(_, prior)| prior).sum();
        match (sum - 1.0).abs() <= 1e-6 {
            true => Ok(()),
            false => Err(Error::usage(format!("`priors`: they add up to {sum} and not to 1"))),
        }
    }

    /// As a claim states them, with numbers in the order of the classes.
    pub(crate) fn claimed(&self, classes: &[String]) -> linsep_proof::Priors {
        match self {
            Priors::Data => linsep_proof::Priors::Data,
            Priors::Uniform => linsep_proof::Priors::Uniform,
            Priors::Given(given) => {
                let of = |class: &String| given.iter().find(|(name, _)| name == class);
                let number = |class: &String| of(class).map_or(f64::NAN, |(_, prior)| *prior);
                linsep_proof::Priors::Given(classes.iter().map(number).collect())
            }
        }
    }
}

/// The priors of classes with these weights.
pub(crate) fn priors_of(priors: &linsep_proof::Priors, weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    match priors {
        linsep_proof::Priors::Given(given) => {
            let sum: f64 = given.iter().sum();
            given.iter().map(|prior| prior / sum).collect()
        }
        linsep_proof::Priors::Uniform => vec![1.0 / weights.len() as f64; weights.len()],
        _ => weights.iter().map(|weight| weight / total).collect(),
    }
}

/// What a row of each class counts, so that classes count as the priors say.
pub(crate) fn prior_factors(
    data: &Dataset,
    rows: &[u32],
    priors: &linsep_proof::Priors,
) -> Vec<f64> {
    let balanced = class_factors(data, rows, &ClassWeights::Balanced);
    match priors {
        linsep_proof::Priors::Given(_) => {
            // Balanced classes weigh total / K each.
            let shares = priors_of(priors, &balanced);
            let count = balanced.len() as f64;
            balanced.iter().zip(shares).map(|(factor, prior)| factor * (prior * count)).collect()
        }
        linsep_proof::Priors::Uniform => balanced,
        _ => vec![1.0; data.n_classes()],
    }
}
