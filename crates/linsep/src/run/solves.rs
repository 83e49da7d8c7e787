//! What the planes of a learner solve, as its claims state it: a claim beside a model is about the objective
//! that the model's own parameters name.

use linsep_proof::{Claim, Equations, Objective, Offset, Priors, Statistics};

/// What the planes of a learner solve on some rows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Solves {
    /// Nothing that a claim would state.
    Nothing,
    /// The least value of an objective.
    Objective(Objective),
    /// Linear equations.
    Equations(Equations),
    /// The equations of a discriminant, with a shrinkage that the data choose.
    Shrunk {
        /// How often each class is expected.
        priors: Priors,
        /// What the bias is.
        bias: Offset,
    },
    /// Counts or sums.
    Statistics(Statistics),
}

impl Solves {
    /// Refuses a claim about another objective, other equations or other statistics.
    pub fn check(&self, claim: &Claim) -> Result<(), String> {
        match (claim, self) {
            (Claim::Optimal { optimality, .. }, Solves::Objective(own)) => {
                differing(&optimality.objective, own)
            }
            (Claim::Stationary { equations, .. }, Solves::Equations(own)) => {
                same(equations, own, Equations::words)
            }
            (Claim::Stationary { equations, .. }, Solves::Shrunk { priors, bias }) => {
                let shrinkage = match equations {
                    Equations::Discriminant { shrinkage, .. } => *shrinkage,
                    _ => 0.0,
                };
                let (priors, bias) = (priors.clone(), *bias);
                let own = Equations::Discriminant { shrinkage, priors, bias };
                same(equations, &own, Equations::words)
            }
            (Claim::Counts { statistics, .. }, Solves::Statistics(own)) => {
                same(statistics, own, Statistics::words)
            }
            (Claim::Optimal { .. } | Claim::Stationary { .. } | Claim::Counts { .. }, _) => {
                let name = claim.name();
                Err(format!("the claim \"{name}\" is none that a model of these parameters makes"))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses settings of a claim that are not those of the parameters.
fn same<T: PartialEq>(claimed: &T, own: &T, words: impl Fn(&T) -> String) -> Result<(), String> {
    match claimed == own {
        true => Ok(()),
        false => Err(format!(
            "the claim is about {}, the parameters of the model say {}",
            words(claimed),
            words(own)
        )),
    }
}

/// The first part in which a claimed objective differs from that of the parameters.
fn differing(claimed: &Objective, own: &Objective) -> Result<(), String> {
    fn part<T: PartialEq + std::fmt::Debug>(name: &str, claimed: T, own: T) -> Result<(), String> {
        match claimed == own {
            true => Ok(()),
            false => Err(format!(
                "the claim is about an objective with {name} {claimed:?}, the parameters of the model say {own:?}"
            )),
        }
    }
    part("loss", claimed.loss, own.loss)?;
    part("c", claimed.c, own.c)?;
    part("l2", claimed.l2, own.l2)?;
    part("l1", claimed.l1, own.l1)?;
    part("intercept", claimed.intercept, own.intercept)?;
    part("class weights", &claimed.class_weights, &own.class_weights)?;
    part("limits", &claimed.limits, &own.limits)?;
    match claimed.scale == own.scale {
        true => Ok(()),
        false => Err("the claim penalises weights in another scale than the model does".into()),
    }
}
