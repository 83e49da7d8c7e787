//! The registry: every learner by name, with its parameters. Command-line flags, help, tables in
//! the documentation and the conformance tests come from here.

use crate::engine::perceptron::Perceptron;
use crate::engine::response::Response;
use crate::learn::adaline::Adaline;
use crate::learn::averaged::Averaged;
use crate::learn::bayes::{BernoulliBayes, MultinomialBayes, SharedVarianceBayes};
use crate::learn::descent::{self, Descent};
use crate::learn::discriminant::{self, Fisher, Lda};
use crate::learn::hard_margin::HardMargin;
use crate::learn::ho_kashyap::HoKashyap;
use crate::learn::least_squares::LeastSquares;
use crate::learn::perceptron::{self, Deciding};
use crate::learn::pocket::Pocket;
use crate::learn::romma::Romma;
use crate::learn::voted::Voted;
use crate::loss::Criterion;
use crate::model::Plane;
use crate::run::Learner;
use crate::run::reduction::OneVsRest;
use linsep_data::error::{Error, Result};
use std::collections::BTreeMap;

mod abilities;
mod binding;
mod building;
mod groups;
mod limits;
mod optimisers;
#[doc(hidden)]
pub mod parameters;
mod settings;
mod streaming;

use Ability::ClassWeights;
pub use abilities::{Abilities, Ability, Only};
#[doc(hidden)]
pub use building::family;
use building::{Weighted, descend, machines, schemes, search, start, stopping};
pub use limits::LEAST_EPOCHS;
use parameters::*;

/// The learner that is taken where none is named.
pub const DEFAULT: &Recipe = &ALL[0];

/// Every learner.
pub const ALL: &[Recipe] = &[
    Recipe {
        name: perceptron::NAME,
        summary: "single-sample perceptron that knows when to stop: separates, or proves that no plane does",
        kind: Kind::Online,
        assumes: "nothing; it separates the rows or proves that no plane does",
        abilities: groups::DECIDING,
        parameters: &[VERDICT, ETA, ORDER, STOP, INIT, TIES, SCALE, CLASS_WEIGHT, MULTICLASS],
        build: |settings| {
            let perceptron = Perceptron { ties: settings.word(&TIES)?, ..stopping(settings)? };
            match settings.choice(&VERDICT)? {
                "on" => schemes(settings, Deciding(perceptron)),
                _ => schemes(settings, perceptron),
            }
        },
    },
    Recipe {
        name: descent::BATCH_PERCEPTRON,
        summary: "each epoch adds all rows on the wrong side; ends with an empty error set",
        kind: Kind::Online,
        assumes: "that a plane separates the rows, or nearly so",
        abilities: groups::BATCH,
        parameters: &[ETA, DESCENT_SCALE, CLASS_WEIGHT],
        build: |settings| {
            let mut descent = Descent::on(Criterion::Perceptron);
            descent.rate = Some(settings.rate(&ETA)?);
            descend(settings, descent)
        },
    },
    Recipe {
        name: "descent",
        summary: "gradient descent on a criterion of the lectures, all rows at a time or row by row",
        kind: Kind::Online,
        assumes: "what its criterion says; by default that a plane separates the rows",
        abilities: groups::DESCENT,
        parameters: &[
            CRITERION,
            PACE,
            ORDER,
            AUTO_ETA,
            BELOW,
            STEP_REST,
            LOWER,
            UPPER,
            DESCENT_SCALE,
            CLASS_WEIGHT,
        ],
        build: |settings| {
            let mut descent = Descent::on(settings.word(&CRITERION)?);
            descent.pace = settings.word(&PACE)?;
            descent.order = settings.word(&ORDER)?;
            descent.seed = settings.seed;
            if settings.get(&AUTO_ETA) != "auto" {
                descent.rate = Some(settings.rate(&AUTO_ETA)?);
            }
            settings.choice(&CRITERION)?;
            descent.below = settings.optional(&BELOW)?;
            descent.rest = settings.number(&STEP_REST, 0.0)?;
            descent.lower = settings.word(&LOWER)?;
            descent.upper = settings.word(&UPPER)?;
            if descent.loss.criterion() == Some(Criterion::Mistakes) {
                return search(settings, descent);
            }
            descend(settings, descent)
        },
    },
    Recipe {
        name: "margin-perceptron",
        summary: "perceptron that corrects every row closer than b to the plane or behind it",
        kind: Kind::Online,
        assumes: "that a plane separates the rows, or nearly so",
        abilities: groups::TO_A_MARGIN,
        parameters: &[MARGIN, ETA, ORDER, STOP, INIT, SCALE, CLASS_WEIGHT, MULTICLASS],
        build: |settings| {
            let response = Response::Margin { b: settings.number(&MARGIN, 0.0)? };
            schemes(settings, Perceptron { response, ..stopping(settings)? })
        },
    },
    Recipe {
        name: "relaxation",
        summary: "moves the plane onto the margin b of each row that is closer (Agmon, Motzkin)",
        kind: Kind::Online,
        assumes: "that a plane separates the rows, or nearly so",
        abilities: groups::STREAMED,
        parameters: &[MARGIN, RHO, ETA, ORDER, STOP, INIT, SCALE, CLASS_WEIGHT, MULTICLASS],
        build: |settings| {
            let (rho, b) = (settings.positive(&RHO)?, settings.positive(&MARGIN)?);
            if rho >= 2.0 {
                return Err(named(&RHO, &format!("{rho} is not below 2")));
            }
            let response = Response::Relaxation { rho, b };
            schemes(settings, Perceptron { response, ..stopping(settings)? })
        },
    },
    Recipe {
        name: "passive-aggressive",
        summary: "the smallest step that gives each row a margin of 1, as far as C allows",
        kind: Kind::Online,
        assumes: "that a plane separates the rows, or nearly so",
        abilities: groups::STREAMED,
        parameters: &[AGGRESSIVE, C, ETA, ORDER, STOP, INIT, SCALE, CLASS_WEIGHT, MULTICLASS],
        build: |settings| {
            let (variant, c) = (settings.word(&AGGRESSIVE)?, settings.positive(&C)?);
            let response = Response::PassiveAggressive { variant, c };
            schemes(settings, Perceptron { response, ..stopping(settings)? })
        },
    },
    Recipe {
        name: "romma",
        summary: "the shortest plane that keeps what it has learned and gives a wrong row the margin 1",
        kind: Kind::Online,
        assumes: "that a plane separates the rows, or nearly so",
        abilities: Abilities { only: &[], ..groups::STREAMED }.without(&[
            Ability::Joint,
            Ability::ClassWeights,
            Ability::Trace,
            Ability::MarginBound,
        ]),
        parameters: &[ORDER, STOP, DESCENT_SCALE, MACHINES],
        build: |settings| {
            let mut romma = Romma { order: settings.word(&ORDER)?, ..Romma::default() };
            romma.stop = settings.word(&STOP)?;
            settings.choice(&DESCENT_SCALE)?;
            romma.scale = settings.word(&DESCENT_SCALE)?;
            romma.seed = settings.seed;
            machines(settings, &MACHINES, romma)
        },
    },
    Recipe {
        name: "averaged",
        summary: "perceptron whose weights are the average over all visits",
        kind: Kind::Online,
        assumes: "that a plane separates the rows, or nearly so",
        abilities: groups::STREAMED,
        parameters: &[ETA, ORDER, STOP, INIT, SCALE, CLASS_WEIGHT, MULTICLASS],
        build: |settings| schemes(settings, Averaged(stopping(settings)?)),
    },
    Recipe {
        name: "voted",
        summary: "perceptron all of whose planes vote, each as often as it survived a visit",
        kind: Kind::Online,
        assumes: "that a plane separates the rows, or nearly so",
        abilities: groups::VOTED,
        parameters: &[MOST, ETA, ORDER, INIT, SCALE, CLASS_WEIGHT, MACHINES],
        build: |settings| {
            let mut voted = Voted { run: family(settings)?, ..Voted::default() };
            voted.most = settings.count(&MOST)?;
            machines(settings, &MACHINES, voted)
        },
    },
    Recipe {
        name: "pocket",
        summary: "perceptron that keeps the planes with the fewest mistakes it met (ratchet)",
        kind: Kind::Online,
        assumes: "that a plane separates the rows, or nearly so",
        abilities: groups::FAMILY,
        parameters: &[ETA, ORDER, INIT, SCALE, CLASS_WEIGHT, MULTICLASS],
        build: |settings| schemes(settings, Pocket(family(settings)?)),
    },
    Recipe {
        name: "adaline",
        summary: "least mean squares, row by row: a step towards the target at every visit",
        kind: Kind::Online,
        assumes: "targets near ±1 with equal spread; far rows pull, right ones too",
        abilities: groups::ADALINE,
        parameters: &[LMS_ETA, NORMALISED, REST, ORDER, INIT, LMS_SCALE, CLASS_WEIGHT],
        build: |settings| {
            let adaline = Adaline {
                run: Perceptron { scale: settings.word(&LMS_SCALE)?, ..start(settings)? },
                rate: match settings.get(&LMS_ETA) {
                    "auto" => None,
                    _ => Some(settings.rate(&LMS_ETA)?),
                },
                normalised: settings.choice(&NORMALISED)? == "on",
                rest: settings.number(&REST, 0.0)?,
            };
            Ok(Box::new(OneVsRest(adaline)))
        },
    },
    Recipe {
        name: "batch-adaline",
        summary: "least mean squares, all rows at a time: each epoch a step down the squared error",
        kind: Kind::Online,
        assumes: "targets near ±1 with equal spread; far rows pull, right ones too",
        abilities: groups::BATCH,
        parameters: &[LMS_ETA, STEP_REST, DESCENT_SCALE, CLASS_WEIGHT],
        build: |settings| {
            let mut descent = Descent::lms();
            if settings.get(&LMS_ETA) != "auto" {
                descent.rate = Some(settings.rate(&LMS_ETA)?);
            }
            descent.rest = settings.number(&STEP_REST, 0.0)?;
            descend(settings, descent)
        },
    },
    Recipe {
        name: "ho-kashyap",
        summary: "least squares whose targets give way: separates, or proves that no plane does",
        kind: Kind::Online,
        assumes: "nothing; it separates the rows or proves that no plane does",
        abilities: groups::HO_KASHYAP,
        parameters: &[HALF_ETA, CLASS_WEIGHT],
        build: |settings| {
            let rate = settings.positive(&HALF_ETA)?;
            if rate >= 1.0 {
                return Err(named(&HALF_ETA, &format!("{rate} is not below 1")));
            }
            let class_weights = settings.word(&CLASS_WEIGHT)?;
            Ok(Box::new(HoKashyap { rate, class_weights }))
        },
    },
    Recipe {
        name: "least-squares",
        summary: "least squares on coded classes by the pseudo-inverse, with an optional ridge",
        kind: Kind::Direct,
        assumes: "targets near ±1 with equal spread; far rows pull, right ones too",
        abilities: groups::EQUATIONS.and(&[ClassWeights]),
        parameters: &[L2, CLASS_WEIGHT, LEFT_OUT],
        build: |settings| {
            Ok(Box::new(LeastSquares {
                l2: settings.at_least_zero(&L2)?,
                class_weights: settings.word(&CLASS_WEIGHT)?,
                left_out: settings.word(&LEFT_OUT)?,
            }))
        },
    },
    Recipe {
        name: discriminant::FISHER,
        summary: "Fisher's discriminant: means far apart, little spread within the classes",
        kind: Kind::Direct,
        assumes: "classes of the same spread; no form of the densities",
        abilities: groups::EQUATIONS,
        parameters: &[THRESHOLD, SHRINKAGE],
        build: |settings| {
            Ok(Box::new(Fisher {
                threshold: settings.word(&THRESHOLD)?,
                shrinkage: settings.word(&SHRINKAGE)?,
            }))
        },
    },
    Recipe {
        name: "lda",
        summary: "normal densities with one covariance, with posteriors",
        kind: Kind::Direct,
        assumes: "normal classes with one covariance",
        abilities: groups::DENSITIES,
        parameters: &[PRIORS, SHRINKAGE],
        build: |settings| {
            Ok(Box::new(Lda {
                priors: settings.word(&PRIORS)?,
                shrinkage: settings.word(&SHRINKAGE)?,
            }))
        },
    },
    Recipe {
        name: "shared-variance-nb",
        summary: "naive Bayes of normal columns whose variances the classes share",
        kind: Kind::Direct,
        assumes: "independent normal columns with variances that the classes share",
        abilities: groups::COUNTS,
        parameters: &[PRIORS, VAR_SMOOTHING],
        build: |settings| {
            Ok(Box::new(SharedVarianceBayes {
                priors: settings.word(&PRIORS)?,
                smoothing: settings.at_least_zero(&VAR_SMOOTHING)?,
            }))
        },
    },
    Recipe {
        name: "multinomial-nb",
        summary: "naive Bayes of counts, such as those of words",
        kind: Kind::Direct,
        assumes: "counts that are drawn independently of each other",
        abilities: groups::COUNTS,
        parameters: &[PRIORS, ALPHA],
        build: |settings| {
            Ok(Box::new(MultinomialBayes {
                priors: settings.word(&PRIORS)?,
                alpha: settings.positive(&ALPHA)?,
            }))
        },
    },
    Recipe {
        name: "bernoulli-nb",
        summary: "naive Bayes of values that are on or off",
        kind: Kind::Direct,
        assumes: "independent columns that are on or off",
        abilities: groups::COUNTS,
        parameters: &[PRIORS, ALPHA, BINARIZE],
        build: |settings| {
            Ok(Box::new(BernoulliBayes {
                priors: settings.word(&PRIORS)?,
                alpha: settings.positive(&ALPHA)?,
                binarize: settings.finite(&BINARIZE)?,
            }))
        },
    },
    Recipe {
        name: "logistic",
        summary: "logistic regression, with proof of how near the best it is",
        kind: Kind::Optimising,
        assumes: "that the logarithm of the odds is linear in the columns",
        abilities: groups::LOGISTIC,
        parameters: &[
            COST,
            GAP,
            PENALTY,
            L1_RATIO,
            INTERCEPT,
            LOWER,
            UPPER,
            SOLVER,
            PENALTY_SCALE,
            CLASS_WEIGHT,
            SOFTMAX,
        ],
        build: optimisers::logistic,
    },
    Recipe {
        name: "svm",
        summary: "linear support vector machine, with proof of how near the best it is",
        kind: Kind::Optimising,
        assumes: "that few rows lie within the margin or on the wrong side of a plane",
        abilities: groups::SVM,
        parameters: &[
            HINGE,
            COST,
            GAP,
            PENALTY,
            L1_RATIO,
            INTERCEPT,
            LOWER,
            UPPER,
            SOLVER,
            PENALTY_SCALE,
            CLASS_WEIGHT,
            RESTS,
        ],
        build: optimisers::svm,
    },
    Recipe {
        name: "hard-margin",
        summary: "the plane that stays farthest from every row, exactly, with the rows that hold it",
        kind: Kind::Direct,
        assumes: "nothing; it finds the widest plane or refuses rows that none separates",
        abilities: groups::HARD_MARGIN,
        parameters: &[MACHINES],
        build: |settings| machines(settings, &MACHINES, HardMargin),
    },
];

/// A learner with its name and parameters.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recipe {
    /// The name, as in `learner`.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// How it works.
    pub kind: Kind,
    /// What it takes for granted of the data.
    pub assumes: &'static str,
    /// What it can do.
    pub abilities: Abilities,
    /// What can be set.
    pub parameters: &'static [Parameter],
    build: fn(&Settings) -> Result<Box<dyn Learner>>,
}

/// How a learner works. Some laws hold for one kind only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// It visits rows and corrects weights, and may be ended early.
    Online,
    /// It looks at all rows once and solves; the order of the rows does not matter.
    Direct,
    /// It goes over the rows until a certified gap is small enough.
    Optimising,
}

/// Something that can be set, as in `eta=0.5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// The name.
    pub name: &'static str,
    /// What the value is called in help texts.
    pub value: &'static str,
    /// The value that it has unless it is set.
    pub default: &'static str,
    /// The words that are accepted; empty for a number or a file.
    pub words: &'static [&'static str],
    /// What it means.
    pub help: &'static str,
}

/// The values of parameters, by name, and what goes with every learner.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Settings {
    values: BTreeMap<String, String>,
    /// The seed of everything random.
    pub seed: u64,
    /// The planes that `init` names a file for.
    pub start: Option<Vec<Plane>>,
    /// The rates that `eta` names a file for.
    pub rates: Option<Vec<f64>>,
}

impl Settings {
    /// Sets a parameter.
    pub fn set(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), value.to_owned());
    }

    /// The value of a parameter, or its default.
    pub fn get(&self, parameter: &Parameter) -> &str {
        self.values.get(parameter.name).map_or(parameter.default, String::as_str)
    }

    /// The value that a parameter was set to.
    pub fn given(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Back to the default.
    pub fn unset(&mut self, name: &str) {
        self.values.remove(name);
    }

    /// Whether a parameter was set.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }
}

#[doc(hidden)]
pub fn named(parameter: &Parameter, words: &str) -> Error {
    Error::usage(format!("`{}`: {words}", parameter.name))
}

impl Recipe {
    /// The recipe of this name.
    pub fn find(name: &str) -> Result<&'static Recipe> {
        ALL.iter().find(|recipe| recipe.name == name).ok_or_else(|| {
            let names: Vec<&str> = ALL.iter().map(|recipe| recipe.name).collect();
            Error::usage(format!("no learner \"{name}\"; there are: {}", names.join(", ")))
        })
    }

    /// The learner with these settings. A setting that the learner does not have is refused.
    pub fn build(&self, settings: &Settings) -> Result<Box<dyn Learner>> {
        let scheme = settings.values.get(MULTICLASS.name).and_then(|word| Ability::of_scheme(word));
        if let Some(scheme) = scheme.filter(|scheme| !self.has(*scheme)) {
            return Err(self.cannot(scheme));
        }
        for name in settings.values.keys() {
            if !self.parameters.iter().any(|parameter| parameter.name == name) {
                if let Some(ability) = Ability::of_setting(name) {
                    return Err(self.cannot(ability));
                }
                if name == ALPHA.name {
                    return Err(self.no_smoothing());
                }
                let names: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
                return Err(Error::usage(format!(
                    "learner {} has no setting \"{name}\"; it has: {}",
                    self.name,
                    names.join(", ")
                )));
            }
        }
        let learner = (self.build)(settings)?;
        match settings.values.get(CLASS_WEIGHT.name) {
            Some(_) => {
                Ok(Box::new(Weighted { learner, class_weights: settings.word(&CLASS_WEIGHT)? }))
            }
            None => Ok(learner),
        }
    }

    /// Other programs call a penalty alpha; here it is the smoothing of counts.
    fn no_smoothing(&self) -> Error {
        let with = |wanted: &Parameter| {
            let has = |recipe: &&Recipe| recipe.parameters.iter().any(|p| p.help == wanted.help);
            ALL.iter().filter(has).map(|recipe| recipe.name).collect::<Vec<_>>().join(" and ")
        };
        Error::usage(format!(
            "learner {} has no `alpha`, which is the smoothing of {}; a penalty on weights is set by `l2` of {}, or by `c` of {} (the smaller, the stronger)",
            self.name,
            with(&ALPHA),
            with(&L2),
            with(&COST)
        ))
    }

    /// How many planes a model of so many classes has, at most.
    pub fn most_planes(&self, settings: &Settings, classes: u64) -> u64 {
        let has = |wanted: &Parameter| self.parameters.iter().any(|p| p.name == wanted.name);
        let machines = match settings.get(&MULTICLASS) {
            _ if classes <= 2 => 1,
            "ovo" if has(&MULTICLASS) => classes.saturating_mul(classes - 1) / 2,
            _ => classes,
        };
        let each = if has(&MOST) { settings.count(&MOST).unwrap_or(1) } else { 1 };
        machines.saturating_mul(each as u64)
    }

    /// Every parameter with its value in these settings.
    pub fn effective(&self, settings: &Settings) -> BTreeMap<String, String> {
        let pair = |p: &Parameter| (p.name.to_owned(), settings.get(p).to_owned());
        self.parameters.iter().map(pair).collect()
    }
}

#[cfg(test)]
mod tests;
