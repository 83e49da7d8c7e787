//! What rows count by their class, beside their own weights.

use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use linsep_data::read::normal_label;

/// What rows count by their class, beside their own weights.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum ClassWeights {
    /// All alike.
    #[default]
    None,
    /// n / (K · rows of the class) for each row.
    Balanced,
    /// These, by class, wherever a row of the class takes part; 1 for a class that is not named.
    Given(Vec<(String, f64)>),
}

impl From<bool> for ClassWeights {
    /// Balanced, or all alike.
    fn from(balanced: bool) -> ClassWeights {
        if balanced { ClassWeights::Balanced } else { ClassWeights::None }
    }
}

/// Numbers beyond this, or below its inverse, leave nothing to learn of the other classes.
const MOST: f64 = 1e9;

impl std::str::FromStr for ClassWeights {
    type Err = Error;

    fn from_str(text: &str) -> Result<ClassWeights> {
        match text {
            "none" => return Ok(ClassWeights::None),
            "balanced" => return Ok(ClassWeights::Balanced),
            _ => {}
        }
        by_class(text, "none, balanced", "a=2,b=1").map(ClassWeights::Given)
    }
}

/// Numbers above 0 by class, such as `a=2,b=1`; `words` are what else could stand there.
pub(crate) fn by_class(text: &str, words: &str, example: &str) -> Result<Vec<(String, f64)>> {
    let mut given: Vec<(String, f64)> = Vec::new();
    for part in text.split(',') {
        let Some((name, number)) = part.rsplit_once('=') else {
            return Err(Error::usage(format!(
                "\"{part}\" is neither {words} nor CLASS=NUMBER such as {example}"
            )));
        };
        let number = number.trim().parse::<f64>().ok();
        let Some(number) = number.filter(|x| (1.0 / MOST..=MOST).contains(x)) else {
            return Err(Error::usage(format!(
                "\"{part}\": a number above 0 is needed, from {:e} to {MOST:e}; to leave a class out, leave its rows out",
                1.0 / MOST
            )));
        };
        let name = normal_label(name);
        if given.iter().any(|(known, _)| *known == name) {
            return Err(Error::usage(format!("the class \"{name}\" has two numbers")));
        }
        given.push((name, number));
    }
    Ok(given)
}

impl ClassWeights {
    /// Refuses weights of classes that the data does not have.
    pub fn check(&self, data: &Dataset) -> Result<()> {
        let ClassWeights::Given(given) = self else { return Ok(()) };
        match given.iter().find(|(name, _)| !data.classes().contains(name)) {
            None => Ok(()),
            Some((name, _)) => Err(Error::usage(format!(
                "`class-weight`: there is no class \"{name}\"; the classes are {}",
                data.classes().join(", ")
            ))),
        }
    }

    /// Whether no row counts more than another.
    pub(crate) fn is_none(&self) -> bool {
        *self == ClassWeights::None
    }

    /// What is said of a class with these labels in the file.
    pub(crate) fn of(&self, label: &str, class: &str) -> f64 {
        let ClassWeights::Given(given) = self else { return 1.0 };
        let named = |wanted: &str| given.iter().find(|(name, _)| name == wanted);
        named(label).or_else(|| named(class)).map_or(1.0, |(_, weight)| *weight)
    }
}
