//! The registry: every learner by name, with its parameters. Command-line flags, help, tables in
//! the documentation and the conformance tests come from here.

use crate::data::scale::Scaling;
use crate::error::{Error, Result};
use crate::learn::Learner;
use crate::learn::bayes::{BernoulliBayes, MultinomialBayes, SharedVarianceBayes};
use crate::learn::discriminant::{Fisher, Lda, Priors, Threshold};
use crate::learn::least_squares::LeastSquares;
use crate::learn::multiclass::OneVsRest;
use crate::learn::perceptron::{Init, Order, Perceptron, Ties};
use crate::model::Plane;
use std::collections::BTreeMap;

/// Every learner.
pub const ALL: &[Recipe] = &[
    Recipe {
        name: "perceptron",
        summary: "single-sample perceptron: corrects at each mistake, stops after a pass without one",
        kind: Kind::Online,
        parameters: &[ETA, ORDER, INIT, TIES, SCALE, CLASS_WEIGHT, MULTICLASS],
        build: build_perceptron,
    },
    Recipe {
        name: "least-squares",
        summary: "least squares on coded classes by the pseudo-inverse, with an optional ridge",
        kind: Kind::Direct,
        parameters: &[L2, CLASS_WEIGHT],
        build: |settings| {
            Ok(Box::new(LeastSquares {
                l2: settings.at_least_zero(&L2)?,
                balanced: settings.choice(&CLASS_WEIGHT)? == "balanced",
            }))
        },
    },
    Recipe {
        name: "fisher",
        summary: "Fisher's discriminant: means far apart, little spread within the classes",
        kind: Kind::Direct,
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
        parameters: &[PRIORS, ALPHA, BINARIZE],
        build: |settings| {
            Ok(Box::new(BernoulliBayes {
                priors: settings.word(&PRIORS)?,
                alpha: settings.positive(&ALPHA)?,
                binarize: settings.finite(&BINARIZE)?,
            }))
        },
    },
];

/// A learner with its name and parameters.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recipe {
    /// The name, as in `--learner`.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// How it works.
    pub kind: Kind,
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
}

/// Something that can be set, as in `--eta 0.5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// The name of the flag.
    pub name: &'static str,
    /// What the value is called in help texts.
    pub value: &'static str,
    /// The value without the flag.
    pub default: &'static str,
    /// The words that are accepted; empty for a number or a file.
    pub words: &'static [&'static str],
    /// What it means.
    pub help: &'static str,
}

const ETA: Parameter = Parameter {
    name: "eta",
    value: "RATE",
    default: "1",
    words: &[],
    help: "Learning rate, above 0",
};
const ORDER: Parameter = Parameter {
    name: "order",
    value: "ORDER",
    default: "shuffle",
    words: Order::WORDS,
    help: "Order in which the rows are visited",
};
const INIT: Parameter = Parameter {
    name: "init",
    value: "zero|random|FILE",
    default: "zero",
    words: &[],
    help: "Start weights: zero, random, or the planes of a model file",
};
const TIES: Parameter = Parameter {
    name: "ties",
    value: "RULE",
    default: "strict",
    words: Ties::WORDS,
    help: "Which rows exactly on the plane are mistakes: strict (all), or the rule of a lecture",
};
const SCALE: Parameter = Parameter {
    name: "scale",
    value: "SCALE",
    default: "pow2",
    words: Scaling::WORDS,
    help: "Scaling of the columns while learning; the model speaks of raw features",
};
const CLASS_WEIGHT: Parameter = Parameter {
    name: "class-weight",
    value: "RULE",
    default: "none",
    words: &["none", "balanced"],
    help: "Weight classes equally however many rows they have",
};
const MULTICLASS: Parameter = Parameter {
    name: "multiclass",
    value: "SCHEME",
    default: "joint",
    words: &["joint", "ovr"],
    help: "K classes: one machine for all (joint) or one-versus-rest (ovr)",
};

const L2: Parameter = Parameter {
    name: "l2",
    value: "A",
    default: "0",
    words: &[],
    help: "Ridge: A times the squared length of the weights is added to the sum of squares",
};
const THRESHOLD: Parameter = Parameter {
    name: "threshold",
    value: "RULE",
    default: "midpoint",
    words: Threshold::WORDS,
    help: "Between the means, moved by the priors, or where the fewest training rows are wrong",
};
const SHRINKAGE: Parameter = Parameter {
    name: "shrinkage",
    value: "none|A|oas|ledoit-wolf",
    default: "none",
    words: &[],
    help: "Share of the mean variance, times the identity, in the covariance",
};
const PRIORS: Parameter = Parameter {
    name: "priors",
    value: "PRIORS",
    default: "data",
    words: Priors::WORDS,
    help: "How often each class is expected: as in the data, or all alike",
};
const ALPHA: Parameter = Parameter {
    name: "alpha",
    value: "A",
    default: "1",
    words: &[],
    help: "Added to every count, above 0",
};
const BINARIZE: Parameter = Parameter {
    name: "binarize",
    value: "T",
    default: "0",
    words: &[],
    help: "Values above T are on, all others off",
};
const VAR_SMOOTHING: Parameter = Parameter {
    name: "var-smoothing",
    value: "A",
    default: "1e-9",
    words: &[],
    help: "A times the largest variance of a column is added to every variance",
};

/// The values of parameters, by name, and what goes with every learner.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    values: BTreeMap<String, String>,
    /// The seed of everything random.
    pub seed: u64,
    /// The planes that `init` names a file for.
    pub start: Option<Vec<Plane>>,
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

    /// Whether a parameter was set.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    fn word<T: std::str::FromStr<Err = Error>>(&self, parameter: &Parameter) -> Result<T> {
        let text = self.get(parameter);
        text.parse().map_err(|error: Error| named(parameter, &error.to_string()))
    }

    fn positive(&self, parameter: &Parameter) -> Result<f64> {
        match self.get(parameter).parse::<f64>() {
            Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
            _ => {
                Err(named(parameter, &format!("\"{}\" is no number above 0", self.get(parameter))))
            }
        }
    }

    fn finite(&self, parameter: &Parameter) -> Result<f64> {
        match self.get(parameter).parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(named(parameter, &format!("\"{}\" is no number", self.get(parameter)))),
        }
    }

    fn at_least_zero(&self, parameter: &Parameter) -> Result<f64> {
        match self.finite(parameter)? {
            value if value >= 0.0 => Ok(value),
            value => Err(named(parameter, &format!("{value} is below 0"))),
        }
    }

    fn choice(&self, parameter: &Parameter) -> Result<&str> {
        let text = self.get(parameter);
        if parameter.words.contains(&text) {
            return Ok(text);
        }
        Err(named(parameter, &format!("\"{text}\" is none of {}", parameter.words.join(", "))))
    }
}

fn named(parameter: &Parameter, words: &str) -> Error {
    Error::usage(format!("--{}: {words}", parameter.name))
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
        for name in settings.values.keys() {
            if !self.parameters.iter().any(|parameter| parameter.name == name) {
                let names: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
                return Err(Error::usage(format!(
                    "learner {} has no setting \"{name}\"; it has: {}",
                    self.name,
                    names.join(", ")
                )));
            }
        }
        (self.build)(settings)
    }

    /// Bytes that the learner needs for each of so many features beside its planes: those that solve
    /// equations hold a matrix, its factors and the block that is being summed.
    pub fn bytes_per_feature(&self, features: u64) -> u64 {
        match self.name {
            "least-squares" | "fisher" | "lda" => 32 * features,
            _ => 0,
        }
    }

    /// Every parameter with its value in these settings.
    pub fn effective(&self, settings: &Settings) -> BTreeMap<String, String> {
        let pair = |p: &Parameter| (p.name.to_owned(), settings.get(p).to_owned());
        self.parameters.iter().map(pair).collect()
    }
}

fn build_perceptron(settings: &Settings) -> Result<Box<dyn Learner>> {
    let perceptron = Perceptron {
        eta: settings.positive(&ETA)?,
        order: settings.word(&ORDER)?,
        init: match (settings.get(&INIT), &settings.start) {
            ("zero", _) => Init::Zero,
            ("random", _) => Init::Random,
            (_, Some(planes)) => Init::Given(planes.clone()),
            (file, None) => {
                return Err(named(&INIT, &format!("the planes of \"{file}\" were not given")));
            }
        },
        ties: settings.word(&TIES)?,
        seed: settings.seed,
        scale: settings.word(&SCALE)?,
        balanced: settings.choice(&CLASS_WEIGHT)? == "balanced",
    };
    Ok(match settings.choice(&MULTICLASS)? {
        "ovr" if !matches!(perceptron.init, Init::Given(_)) => Box::new(OneVsRest(perceptron)),
        "ovr" => return Err(named(&MULTICLASS, "ovr cannot start from a file")),
        _ => Box::new(perceptron),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_accepted_and_wrong_values_named() {
        for recipe in ALL {
            assert!(recipe.build(&Settings::default()).is_ok(), "{}", recipe.name);
            for parameter in recipe.parameters {
                let mut settings = Settings::default();
                settings.set(parameter.name, "no such value");
                let message = recipe.build(&settings).err().unwrap().to_string();
                assert!(message.contains(parameter.name), "{message}");
            }
        }
        let mut settings = Settings::default();
        settings.set("gamma", "1");
        assert!(ALL[0].build(&settings).err().unwrap().to_string().contains("no setting"));
        assert!(Recipe::find("percepton").is_err());
    }
}
