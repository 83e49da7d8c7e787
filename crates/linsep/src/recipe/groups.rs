//! What learners of one kind can do, each kind once; an entry of the registry names its kind and adds
//! or takes away what is its own.

use super::abilities::Ability::*;
use super::abilities::{Abilities, Only};
use super::parameters::*;
use linsep_proof::Loss;

/// The perceptron family: planes in motion, each a sum of rows.
pub(super) const FAMILY: Abilities = Abilities {
    only: &[
        Only::of_many(Trace, MULTICLASS.name, &["joint", "ovr", "ovr-k-1"]),
        Only::of_many(MarginBound, MULTICLASS.name, &["joint"]),
    ],
    claims: &["separable"],
    ..Abilities::NONE
}
.and(&[Joint, Ovr, OvrK1, Ovo, RowWeights, ClassWeights])
.and(&[CarryOn, Trace, MarginBound, CountMistakes]);

/// Those of them that need a row only while they visit it.
pub(super) const STREAMED: Abilities = FAMILY.and(&[Stream]);

/// The same where rows on their side are corrected and counted, too.
pub(super) const TO_A_MARGIN: Abilities = STREAMED.without(&[CountMistakes]);

/// The perceptron that takes turns with the verdict.
pub(super) const DECIDING: Abilities = Abilities { claims: DECIDES, ..STREAMED };

/// A vote of all planes, which are those of one binary classifier.
pub(super) const VOTED: Abilities = Abilities {
    only: &[
        Only::of_many(Trace, MACHINES.name, &["ovr", "ovr-k-1"]),
        Only::of_many(MarginBound, MACHINES.name, &[]),
    ],
    ..FAMILY
}
.without(&[Joint]);

/// A step for all rows together.
pub(super) const BATCH: Abilities = Abilities { claims: &["separable"], ..Abilities::NONE }.and(&[
    Ovr,
    RowWeights,
    ClassWeights,
    CarryOn,
    Trace,
    CountMistakes,
]);

/// Least mean squares row by row: every visit is a step, so none is a mistake.
pub(super) const ADALINE: Abilities = BATCH.and(&[Stream]).without(&[CountMistakes]);

/// Descent on a criterion. A step on `jd` scales the plane and bounds cut it off, so it is no sum of rows.
pub(super) const DESCENT: Abilities = Abilities {
    only: &[
        Only::with(CarryOn, CRITERION.name, DESCENDED),
        Only::with(Trace, CRITERION.name, ADDED_UP),
        Only::with(Trace, LOWER.name, &["none"]),
        Only::with(Trace, UPPER.name, &["none"]),
        Only::with(Probabilities, CRITERION.name, &["logistic"]),
        Only::of_many(Probabilities, CRITERION.name, &[]),
        Only::with(BoxConstraints, CRITERION.name, DESCENDED),
        Only::with(CountMistakes, CRITERION.name, DESCENDED),
        Only::with(CountMistakes, PACE.name, &["batch"]),
    ],
    claims: &["separable", "mistakes"],
    ..BATCH
}
.and(&[BoxConstraints, Probabilities]);

/// Targets that give way.
pub(super) const HO_KASHYAP: Abilities =
    Abilities { claims: DECIDES, matrix: true, ..Abilities::NONE }.and(&[
        Ovr,
        RowWeights,
        ClassWeights,
        CountMistakes,
    ]);

/// Equations between the columns, solved once.
pub(super) const EQUATIONS: Abilities =
    Abilities { claims: &["stationary"], matrix: true, ..Abilities::NONE }
        .and(&[Joint, RowWeights]);

/// Normal densities with a covariance.
pub(super) const DENSITIES: Abilities = EQUATIONS.and(&[Probabilities, Sample]);

/// Densities of independent columns, made of counts and sums.
pub(super) const COUNTS: Abilities = Abilities { claims: &["counts"], matrix: false, ..DENSITIES };

/// An objective that is made small, with a bound from below.
const OBJECTIVE: Abilities = Abilities { claims: &["optimal"], ..Abilities::NONE }
    .and(&[Joint, Ovr, OvrK1, RowWeights, ClassWeights, BoxConstraints])
    .and(&[WarmStart, Flips, Certify]);

/// Logistic regression.
pub(super) const LOGISTIC: Abilities = Abilities {
    only: &[
        Only::of_many(BoxConstraints, SOFTMAX.name, &["ovr", "ovr-k-1"]),
        Only::of_many(Probabilities, SOFTMAX.name, &["softmax"]),
        Only::with(Flips, PENALTY.name, BOUNDED),
        Only::of_many(Flips, SOFTMAX.name, &["ovr"]),
    ],
    losses: &[Loss::Logistic, Loss::Softmax],
    ..OBJECTIVE
}
.and(&[Probabilities]);

/// Support vector machines.
pub(super) const SVM: Abilities = Abilities {
    only: &[
        Only::of_many(BoxConstraints, RESTS.name, &["ovr", "ovr-k-1"]),
        Only::of_many(Calibrate, RESTS.name, &["ovr"]),
        Only::with(Support, PENALTY.name, BOUNDED),
        Only::of_many(Support, RESTS.name, &["ovr", "ovr-k-1"]),
        Only::with(Flips, PENALTY.name, BOUNDED),
        Only::of_many(Flips, RESTS.name, &["ovr"]),
    ],
    losses: &[Loss::Hinge, Loss::SquaredHinge, Loss::CrammerSinger],
    ..OBJECTIVE
}
.and(&[Calibrate, Support]);

/// The largest margin.
pub(super) const HARD_MARGIN: Abilities =
    Abilities { claims: &["separable", "geometric-margin"], ..Abilities::NONE }
        .and(&[Ovr, OvrK1, Ovo, RowWeights, Support]);

/// Claims of learners that separate or prove that nothing does.
const DECIDES: &[&str] = &["separable", "inseparable"];
/// Criteria of `descent` that are descended, not searched.
const DESCENDED: &[&str] = &["jp", "jd", "mse", "hinge", "squared-hinge", "logistic"];
/// Those of them whose steps add up rows.
const ADDED_UP: &[&str] = &["jp", "mse", "hinge", "squared-hinge", "logistic"];
/// Penalties with which the objective has a bound from below.
const BOUNDED: &[&str] = &["l2", "l1", "elastic-net"];
