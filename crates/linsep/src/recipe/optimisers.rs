//! The learners that make an objective small, out of settings.

use super::parameters::*;
use super::{Settings, machines, named};
use crate::error::Result;
use crate::learn::Learner;
use crate::learn::logistic::{Intercept, Logistic};
use crate::learn::multiclass::OneVsRestLast;
use crate::learn::svm::Svm;

pub(super) fn logistic(settings: &Settings) -> Result<Box<dyn Learner>> {
    let mut logistic = Logistic::default();
    logistic.c = settings.positive(&COST)?;
    logistic.gap = settings.positive(&GAP)?;
    (logistic.l1, logistic.l2) = penalty(settings)?;
    logistic.intercept = intercept(settings)?;
    logistic.lower = settings.word(&LOWER)?;
    logistic.upper = settings.word(&UPPER)?;
    logistic.solver = settings.word(&SOLVER)?;
    settings.choice(&PENALTY_SCALE)?;
    logistic.scale = settings.word(&PENALTY_SCALE)?;
    logistic.balanced = settings.choice(&CLASS_WEIGHT)? == "balanced";
    logistic.seed = settings.seed;
    machines(settings, &RESTS, logistic)
}

pub(super) fn svm(settings: &Settings) -> Result<Box<dyn Learner>> {
    let mut svm = Svm::default();
    svm.loss = settings.word(&HINGE)?;
    svm.c = settings.positive(&COST)?;
    svm.gap = settings.positive(&GAP)?;
    (svm.l1, svm.l2) = penalty(settings)?;
    svm.intercept = intercept(settings)?;
    svm.lower = settings.word(&LOWER)?;
    svm.upper = settings.word(&UPPER)?;
    svm.solver = settings.word(&SOLVER)?;
    settings.choice(&PENALTY_SCALE)?;
    svm.scale = settings.word(&PENALTY_SCALE)?;
    svm.balanced = settings.choice(&CLASS_WEIGHT)? == "balanced";
    svm.seed = settings.seed;
    match settings.choice(&RESTS)? {
        "ovr-k-1" => Ok(Box::new(OneVsRestLast(svm))),
        _ => Ok(Box::new(svm)),
    }
}

/// l1 and l2.
fn penalty(settings: &Settings) -> Result<(f64, f64)> {
    let kind = settings.choice(&PENALTY)?;
    let ratio = settings.number(&L1_RATIO, 0.0)?;
    if ratio > 1.0 {
        return Err(named(&L1_RATIO, &format!("{ratio} is no share from 0 to 1")));
    }
    if settings.has(L1_RATIO.name) && kind != "elastic-net" {
        return Err(named(&L1_RATIO, "only --penalty elastic-net mixes two penalties"));
    }
    Ok(match kind {
        "l1" => (1.0, 0.0),
        "elastic-net" => (ratio, 1.0 - ratio),
        "none" => (0.0, 0.0),
        _ => (0.0, 1.0),
    })
}

/// What becomes of the bias.
fn intercept(settings: &Settings) -> Result<Intercept> {
    Ok(match settings.choice(&INTERCEPT)? {
        "penalised" => Intercept::Penalised,
        "none" => Intercept::None,
        _ => Intercept::Free,
    })
}
