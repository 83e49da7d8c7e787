//! The parameters of all learners: name, default and meaning, each in one place.

use super::Parameter;
use crate::engine::perceptron::{Order, Ties};
use crate::engine::response::Aggressive;
use crate::learn::descent::Pace;
use crate::learn::discriminant::Threshold;
use crate::learn::least_squares::LeftOut;
use crate::learn::optimising::Solver;
use crate::learn::svm::HingeLoss;
use linsep_data::scale::Scaling;

pub(super) const VERDICT: Parameter = Parameter {
    name: "verdict",
    value: "on|off",
    default: "on",
    words: &["on", "off"],
    help: "Ask between epochs whether planes can separate the classes (off: the plain perceptron)",
};
pub(super) const ETA: Parameter = Parameter {
    name: "eta",
    value: "RATE",
    default: "1",
    words: &[],
    help: "Learning rate: a number, 1/k, C/(C+k), step:HIGH,LOW,K or table:FILE",
};
pub(super) const LMS_ETA: Parameter = Parameter {
    default: "auto",
    help: "Learning rate as for the perceptron, or auto: half of what the rows keep stable",
    ..ETA
};
pub(super) const AUTO_ETA: Parameter = Parameter {
    default: "auto",
    help: "Learning rate as for the perceptron, or auto: from the criterion and the data",
    ..ETA
};
pub(super) const CRITERION: Parameter = Parameter {
    name: "criterion",
    value: "J",
    default: "jp",
    words: &["jp", "jd", "jn", "mse", "hinge", "squared-hinge", "logistic"],
    help: "What is made small; jn, the number of mistakes, is searched",
};
#[doc(hidden)]
pub const BELOW: Parameter = Parameter {
    name: "below",
    value: "E",
    default: "none",
    words: &[],
    help: "End when the criterion is below E",
};
pub(super) const PACE: Parameter = Parameter {
    name: "pace",
    value: "batch|row",
    default: "batch",
    words: Pace::WORDS,
    help: "A step for all rows together, or one for each row",
};
pub(super) const LOWER: Parameter = Parameter {
    name: "lower",
    value: "W|COLUMN=W,..",
    default: "none",
    words: &[],
    help: "No weight is smaller: one bound for all, or COLUMN=W for some (the bias is free)",
};
pub(super) const UPPER: Parameter = Parameter {
    name: "upper",
    value: "W|COLUMN=W,..",
    default: "none",
    words: &[],
    help: "No weight is larger: one bound for all, or COLUMN=W for some (the bias is free)",
};
pub(super) const HALF_ETA: Parameter =
    Parameter { default: "0.9", value: "RATE", help: "Learning rate between 0 and 1", ..ETA };
pub(super) const STEP_REST: Parameter = Parameter { default: "0.000001", ..REST };
pub(super) const DESCENT_SCALE: Parameter =
    Parameter { words: &["none", "pow2", "maxabs"], ..SCALE };
pub(super) const MARGIN: Parameter = Parameter {
    name: "b",
    value: "B",
    default: "1",
    words: &[],
    help: "The margin that every row is to have",
};
pub(super) const RHO: Parameter = Parameter {
    name: "rho",
    value: "R",
    default: "1",
    words: &[],
    help: "How far to go: 1 onto the margin, below 1 less, up to 2 more",
};
pub(super) const AGGRESSIVE: Parameter = Parameter {
    name: "rule",
    value: "RULE",
    default: "pa1",
    words: Aggressive::WORDS,
    help: "pa all the way, pa1 at most C, pa2 softened by 1/(2C)",
};
pub(super) const C: Parameter = Parameter {
    name: "c",
    value: "C",
    default: "1",
    words: &[],
    help: "How aggressive a step may be, above 0",
};
pub(super) const COST: Parameter = Parameter {
    help: "What the losses count beside the penalty, above 0: least is C times the losses plus the penalty; auto for the best by cross-validation",
    ..C
};
pub(super) const GAP: Parameter = Parameter {
    name: "gap",
    value: "G",
    default: "0.001",
    words: &[],
    help: "End when the objective is proved to be at most this share above the optimum",
};
pub(super) const PENALTY: Parameter = Parameter {
    name: "penalty",
    value: "KIND",
    default: "l2",
    words: &["l2", "l1", "elastic-net", "none"],
    help: "What weights cost: half their squares, their magnitudes (most become 0), both, or nothing",
};
pub(super) const L1_RATIO: Parameter = Parameter {
    name: "l1-ratio",
    value: "R",
    default: "0.5",
    words: &[],
    help: "Share of the magnitudes in an elastic net, from 0 to 1; 1 - R is that of the squares",
};
pub(super) const INTERCEPT: Parameter = Parameter {
    name: "intercept",
    value: "BIAS",
    default: "free",
    words: &["free", "penalised", "none"],
    help: "The bias: free of the penalty, penalised as a weight, or none",
};
pub(super) const SOLVER: Parameter = Parameter {
    name: "solver",
    value: "SOLVER",
    default: "auto",
    words: Solver::WORDS,
    help: "Who does the work; auto goes by the shape of the data and says why",
};
pub(super) const HINGE: Parameter = Parameter {
    name: "loss",
    value: "LOSS",
    default: "squared-hinge",
    words: HingeLoss::WORDS,
    help: "What a lack of margin costs",
};
pub(super) const PENALTY_SCALE: Parameter = Parameter {
    default: "none",
    words: &["none", "pow2", "maxabs", "standard"],
    help: "Scale in which weights are penalised; the model speaks of raw features",
    ..SCALE
};
pub(super) const SOFTMAX: Parameter = Parameter {
    default: "softmax",
    words: &["softmax", "ovr", "ovr-k-1"],
    help: "K classes: one model of all classes (softmax), or one-versus-rest (ovr; ovr-k-1 without a binary classifier for the last class)",
    ..MULTICLASS
};
pub(super) const RESTS: Parameter = Parameter {
    default: "ovr",
    words: &["ovr", "crammer-singer", "ovr-k-1"],
    help: "K classes: one-versus-rest (ovr; ovr-k-1 without a binary classifier for the last class), or one loss for all classes (crammer-singer)",
    ..MULTICLASS
};
pub(super) const NORMALISED: Parameter = Parameter {
    name: "normalised",
    value: "on|off",
    default: "off",
    words: &["on", "off"],
    help: "Divide each step by the squared length of its row",
};
pub(super) const REST: Parameter = Parameter {
    name: "rest",
    value: "SHARE",
    default: "0.0001",
    words: &[],
    help: "End when an epoch moves the weights by no more than this share of their length",
};
pub(super) const ORDER: Parameter = Parameter {
    name: "order",
    value: "ORDER",
    default: "shuffle",
    words: Order::WORDS,
    help: "Order in which the rows are visited",
};
#[doc(hidden)]
pub const STOP: Parameter = Parameter {
    name: "stop",
    value: "RULE",
    default: "clean-epoch",
    words: &[],
    help: "When a run ends: clean-epoch, empty, clean-window, below:EPS, or limit (only limits)",
};
pub(super) const INIT: Parameter = Parameter {
    name: "init",
    value: "zero|random|FILE",
    default: "zero",
    words: &[],
    help: "Start weights: zero, random, or the planes of a model file",
};
#[doc(hidden)]
pub const TIES: Parameter = Parameter {
    name: "ties",
    value: "RULE",
    default: "strict",
    words: Ties::WORDS,
    help: "Which rows exactly on the plane are mistakes: strict (all), or the rule of a lecture",
};
pub(super) const SCALE: Parameter = Parameter {
    name: "scale",
    value: "SCALE",
    default: "pow2",
    words: Scaling::WORDS,
    help: "Scaling of the columns while learning; the model speaks of raw features",
};
pub(super) const LMS_SCALE: Parameter = Parameter { default: "standard", ..SCALE };
pub(super) const CLASS_WEIGHT: Parameter = Parameter {
    name: "class-weight",
    value: "none|balanced|A=2,B=1",
    default: "none",
    words: &[],
    help: "Weight classes equally however many rows they have (balanced), or rows by their class: yes=5,no=1 (1 where a class is not named)",
};
pub(super) const MULTICLASS: Parameter = Parameter {
    name: "multiclass",
    value: "SCHEME",
    default: "joint",
    words: &["joint", "ovr", "ovr-k-1", "ovo"],
    help: "K classes: all classes at once (joint), one-versus-rest (ovr; ovr-k-1 without a binary classifier for the last class), one-versus-one (ovo)",
};
pub(super) const MACHINES: Parameter =
    Parameter { default: "ovr", words: &["ovr", "ovr-k-1", "ovo"], ..MULTICLASS };
pub(super) const MOST: Parameter = Parameter {
    name: "most",
    value: "N",
    default: "500",
    words: &[],
    help: "At most N planes vote for a binary classifier, those with the most votes",
};
pub(super) const L2: Parameter = Parameter {
    name: "l2",
    value: "A",
    default: "0",
    words: &[],
    help: "Ridge: A times the squared length of the weights is added to the sum of squares",
};
pub(super) const LEFT_OUT: Parameter = Parameter {
    name: "left-out",
    value: "WHEN",
    default: "auto",
    words: LeftOut::WORDS,
    help: "Leave-one-out errors: each row by a plane learned without it; auto while it is quick",
};
pub(super) const THRESHOLD: Parameter = Parameter {
    name: "threshold",
    value: "RULE",
    default: "midpoint",
    words: Threshold::WORDS,
    help: "Between the means, moved by the priors, or where the fewest training rows are wrong",
};
pub(super) const SHRINKAGE: Parameter = Parameter {
    name: "shrinkage",
    value: "none|A|oas|ledoit-wolf",
    default: "none",
    words: &[],
    help: "Share of the mean variance, times the identity, in the covariance",
};
pub(super) const PRIORS: Parameter = Parameter {
    name: "priors",
    value: "data|uniform|A=0.7,B=0.3",
    default: "data",
    words: &[],
    help: "How often each class is expected: as in the data, all alike (uniform), or as often as this: yes=0.1,no=0.9",
};
pub(super) const ALPHA: Parameter = Parameter {
    name: "alpha",
    value: "A",
    default: "1",
    words: &[],
    help: "Added to every count, above 0",
};
pub(super) const BINARIZE: Parameter = Parameter {
    name: "binarize",
    value: "T",
    default: "0",
    words: &[],
    help: "Values above T are on, all others off",
};
pub(super) const VAR_SMOOTHING: Parameter = Parameter {
    name: "var-smoothing",
    value: "A",
    default: "1e-9",
    words: &[],
    help: "A times the largest variance of a column is added to every variance",
};
