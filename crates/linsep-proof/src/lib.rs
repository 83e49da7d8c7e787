//! Certificates of linear classification: what is claimed about a model or a data set, and the
//! evidence that a stranger can check.
//!
//! This crate depends on no other crate of the workspace, so the compiler, not a convention, keeps
//! the checker independent of the solvers whose work it checks.
//!
//! Format `linsep.certificate/1` is one JSON object with a list of claims. At this stage one kind of
//! claim exists: [`Claim::Unproved`], the explicit statement that nothing was proved and why.
//!
//! ```
//! use linsep_proof::{Certificate, Claim};
//! let nothing = Certificate::unproved("the run ended at its epoch limit");
//! assert!(nothing.claims.iter().all(|c| matches!(c, Claim::Unproved { .. })));
//! ```

use serde::{Deserialize, Serialize};

/// What was proved, as a list of claims that can each be checked alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The claims, in the order in which a report prints them.
    pub claims: Vec<Claim>,
}

/// One statement with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "claim", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Claim {
    /// Nothing is proved; the reason says why.
    Unproved {
        /// Why there is no proof, in words for the user.
        reason: String,
    },
}

impl Certificate {
    /// A certificate that honestly proves nothing.
    pub fn unproved(reason: impl Into<String>) -> Self {
        Certificate { claims: vec![Claim::Unproved { reason: reason.into() }] }
    }

    /// Whether at least one claim carries a proof.
    pub fn proves_something(&self) -> bool {
        self.claims.iter().any(|claim| !matches!(claim, Claim::Unproved { .. }))
    }
}

impl Claim {
    /// The name of the claim as it stands in a file.
    pub fn name(&self) -> &'static str {
        match self {
            Claim::Unproved { .. } => "unproved",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_form_is_stable_and_strict() {
        let certificate = Certificate::unproved("no pass was clean");
        let text = serde_json::to_string(&certificate).unwrap();
        assert_eq!(text, r#"{"claims":[{"claim":"unproved","reason":"no pass was clean"}]}"#);
        assert_eq!(serde_json::from_str::<Certificate>(&text).unwrap(), certificate);
        assert!(!certificate.proves_something());
        for bad in [
            r#"{"claims":[{"claim":"unproved","reason":"x","extra":1}]}"#,
            r#"{"claims":[{"claim":"separable"}]}"#,
            r#"{"claims":[],"more":0}"#,
        ] {
            assert!(serde_json::from_str::<Certificate>(bad).is_err(), "{bad} was accepted");
        }
    }
}
