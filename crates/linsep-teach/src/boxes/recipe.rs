//! The algorithm boxes of the lectures as settings of learners.

use crate::boxes::{AlgorithmBox, AsPrinted, Printed, TwoClasses};
use linsep::recipe::{Recipe, Settings, family, named, parameters};
use linsep::run::Learner;
use linsep_data::error::{Error, Result};

/// ε of box 003 unless it is given.
const EPSILON: &str = "0.001";

impl AlgorithmBox {
    /// Puts the settings of the box where they are not given; those that contradict it are refused.
    pub fn settle(&self, settings: &mut Settings, literal: bool) -> Result<()> {
        let printed = self.printed.filter(|_| literal);
        // The printed box 001 takes a rate and never uses it.
        let forgets_rate = printed == Some(Printed::WhilePositive);
        let rate = [("eta", "1")];
        let fixed = self.fixed.iter().chain(rate.iter().filter(|_| forgets_rate));
        for (name, value) in fixed {
            match settings.given(name) {
                Some(given) if given != *value => {
                    return Err(Error::usage(format!(
                        "`{name}={given}` contradicts `box={}`, which has {name} {value}",
                        self.name
                    )));
                }
                _ => settings.set(name, value),
            }
        }
        let epsilon = [("below", EPSILON)];
        let takes_epsilon = printed == Some(Printed::WhileBelow);
        for (name, value) in self.open.iter().chain(epsilon.iter().filter(|_| takes_epsilon)) {
            if !settings.has(name) {
                settings.set(name, value);
            }
        }
        self.stop_rule(settings)
    }

    /// The settings that make the learner stop as the box does.
    fn stop_rule(&self, settings: &mut Settings) -> Result<()> {
        let recipe = Recipe::find(self.learner)?;
        if !recipe.parameters.contains(&parameters::STOP) {
            // A batch ends with an empty error set by itself.
            return Ok(());
        }
        let rule = self.stop;
        match settings.given(parameters::STOP.name) {
            Some(given) if given != rule => Err(Error::usage(format!(
                "`stop={given}` contradicts `box={}`, which stops by {}",
                self.name, self.stop
            ))),
            None if rule != parameters::STOP.default => {
                settings.set(parameters::STOP.name, rule);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The learner of the box, with settings that were settled; `literal` leaves its errors in.
    pub fn build(&self, settings: &Settings, literal: bool) -> Result<Box<dyn Learner>> {
        let learner: Box<dyn Learner> = match self.printed.filter(|_| literal) {
            None => Recipe::find(self.learner)?.build(settings)?,
            Some(printed) => {
                let mut settings = settings.clone();
                let epsilon = settings.optional(&parameters::BELOW)?.unwrap_or(0.0);
                settings.unset("below");
                Recipe::find(self.learner)?.build(&settings)?;
                if epsilon < 0.0 {
                    return Err(named(&parameters::BELOW, &format!("{epsilon} is below 0")));
                }
                let mut run = family(&settings)?;
                run.ties = settings.word(&parameters::TIES)?;
                Box::new(AsPrinted::new(run, printed, epsilon))
            }
        };
        Ok(Box::new(TwoClasses(self.name, learner)))
    }
}
