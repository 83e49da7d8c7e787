//! The learners that make an objective small, out of settings.

use super::building::machines;
use super::parameters::*;
use super::{Settings, named};
use crate::learn::logistic::{Intercept, Logistic};
use crate::learn::optimising::ConvexSettings;
use crate::learn::svm::{CrammerSinger, Svm};
use crate::run::Learner;
use crate::run::reduction::OneVsRestLast;
use linsep_data::error::Result;

pub(super) fn logistic(settings: &Settings) -> Result<Box<dyn Learner>> {
    let logistic = Logistic { settings: common(settings)? };
    match settings.choice(&SOFTMAX)? {
        _ if scheme(settings) == "softmax" => Ok(Box::new(logistic)),
        _ => machines(settings, &SOFTMAX, logistic),
    }
}

/// What both learners have in common.
fn common(settings: &Settings) -> Result<ConvexSettings> {
    let (c, gap) = (settings.positive(&COST)?, settings.positive(&GAP)?);
    let (l1, l2) = penalty(settings)?;
    settings.choice(&PENALTY_SCALE)?;
    Ok(ConvexSettings {
        c,
        l2,
        l1,
        intercept: intercept(settings)?,
        lower: settings.word(&LOWER)?,
        upper: settings.word(&UPPER)?,
        scale: settings.word(&PENALTY_SCALE)?,
        class_weights: settings.word(&CLASS_WEIGHT)?,
        gap,
        solver: settings.word(&SOLVER)?,
        seed: settings.seed,
    })
}

/// The scheme for K classes of logistic regression: what softmax cannot have, one-versus-rest can,
/// unless softmax is asked for.
pub(super) fn scheme(settings: &Settings) -> &str {
    let is_plain = common(settings).is_ok_and(|settings| Logistic { settings }.is_plain());
    match settings.get(&SOFTMAX) {
        "softmax" if !settings.has(SOFTMAX.name) && !is_plain => "ovr",
        word => word,
    }
}

pub(super) fn svm(settings: &Settings) -> Result<Box<dyn Learner>> {
    let loss = settings.word(&HINGE)?;
    let svm = Svm { loss, settings: common(settings)? };
    match settings.choice(&RESTS)? {
        "crammer-singer" => Ok(Box::new(CrammerSinger(svm))),
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
        return Err(named(&L1_RATIO, "only `penalty=elastic-net` mixes two penalties"));
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
