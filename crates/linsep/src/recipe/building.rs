//! From settings to learners: what several entries of the registry have in common.

use super::parameters::*;
use super::{Parameter, Settings, named};
use crate::engine::perceptron::{Init, Perceptron};
use crate::learn::descent::Descent;
use crate::learn::descent::search::FewMistakes;
use crate::run::reduction::{OneVsOne, OneVsRest, OneVsRestLast};
use crate::run::{BinaryLearner, ClassWeights, Learner, Solves, Task, Training};
use linsep_data::error::Result;

/// Order, start, seed, class weights: what every online learner has.
pub(super) fn start(settings: &Settings) -> Result<Perceptron> {
    Ok(Perceptron {
        order: settings.word(&ORDER)?,
        init: match (settings.get(&INIT), &settings.start) {
            ("zero", _) => Init::Zero,
            ("random", _) => Init::Random,
            (_, Some(planes)) => Init::Given(planes.clone()),
            (file, None) => {
                return Err(named(&INIT, &format!("the planes of \"{file}\" were not given")));
            }
        },
        seed: settings.seed,
        class_weights: settings.word(&CLASS_WEIGHT)?,
        ..Perceptron::default()
    })
}

/// The same with rate and scale, as the perceptron family has them.
#[doc(hidden)]
pub fn family(settings: &Settings) -> Result<Perceptron> {
    let (rate, scale) = (settings.rate(&ETA)?, settings.word(&SCALE)?);
    Ok(Perceptron { rate, scale, ..start(settings)? })
}

/// The same with a stop rule.
pub(super) fn stopping(settings: &Settings) -> Result<Perceptron> {
    Ok(Perceptron { stop: settings.word(&STOP)?, ..family(settings)? })
}

/// A descent with its scale and class weights.
pub(super) fn descend(settings: &Settings, mut descent: Descent) -> Result<Box<dyn Learner>> {
    settings.choice(&DESCENT_SCALE)?;
    descent.scale = settings.word(&DESCENT_SCALE)?;
    descent.class_weights = settings.word(&CLASS_WEIGHT)?;
    Ok(Box::new(descent))
}

/// The search for few mistakes, which takes no rate and no bounds.
pub(super) fn search(settings: &Settings, descent: Descent) -> Result<Box<dyn Learner>> {
    for parameter in [&AUTO_ETA, &BELOW, &LOWER, &UPPER] {
        if settings.get(parameter) != parameter.default {
            return Err(named(parameter, "the number of mistakes is searched, not descended"));
        }
    }
    settings.choice(&DESCENT_SCALE)?;
    let run = Perceptron {
        order: descent.order,
        seed: descent.seed,
        scale: settings.word(&DESCENT_SCALE)?,
        class_weights: settings.word(&CLASS_WEIGHT)?,
        ..Perceptron::default()
    };
    Ok(Box::new(FewMistakes { run, ..FewMistakes::default() }))
}

/// A learner under the scheme for K classes that the settings ask for.
pub(super) fn schemes(
    settings: &Settings,
    learner: impl Learner + BinaryLearner + 'static,
) -> Result<Box<dyn Learner>> {
    let given = !matches!(settings.get(&INIT), "zero" | "random");
    match settings.choice(&MULTICLASS)? {
        "joint" => Ok(Box::new(learner)),
        scheme if given => Err(named(&MULTICLASS, &format!("{scheme} cannot start from a file"))),
        _ => machines(settings, &MULTICLASS, learner),
    }
}

/// A learner of one plane under a scheme of separate machines.
pub(super) fn machines(
    settings: &Settings,
    scheme: &Parameter,
    learner: impl BinaryLearner + 'static,
) -> Result<Box<dyn Learner>> {
    Ok(match settings.choice(scheme)? {
        "ovo" => Box::new(OneVsOne(learner)),
        "ovr-k-1" => Box::new(OneVsRestLast(learner)),
        _ => Box::new(OneVsRest(learner)),
    })
}

/// A learner whose class weights have to be of classes that there are.
pub(super) struct Weighted {
    pub(super) learner: Box<dyn Learner>,
    pub(super) class_weights: ClassWeights,
}

impl Learner for Weighted {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        self.class_weights.check(&task.data)?;
        self.learner.start(task)
    }

    fn solves(&self, task: &Task) -> Result<Solves> {
        self.learner.solves(task)
    }
}
