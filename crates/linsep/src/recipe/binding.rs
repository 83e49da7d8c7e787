//! A claim beside a model is about what the model's own parameters say: the objective that they name, with
//! its factors, class weights, limits and scale, or the equations and counts.

use super::{Recipe, Settings};
use crate::run::{Solves, Task};
use linsep_proof::{Claim, Planes, Scheme};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Recipe {
    /// The settings of a model that was written with these parameters; those that are as usual are left out.
    pub fn settings_of(&self, parameters: &BTreeMap<String, String>, seed: u64) -> Settings {
        let mut settings = Settings { seed, ..Settings::default() };
        for (name, value) in parameters {
            let usual = self.parameters.iter().find(|p| p.name == name).map(|p| p.default);
            if usual != Some(value.as_str()) {
                settings.set(name, value);
            }
        }
        settings
    }

    /// Holds a claim against the settings of the model that it stands beside, on the data of the task. The
    /// words say what differs.
    pub fn check_claim(
        &self,
        settings: &Settings,
        claim: &Claim,
        task: &Task,
    ) -> Result<(), String> {
        if !matches!(claim, Claim::Optimal { .. } | Claim::Stationary { .. } | Claim::Counts { .. })
        {
            return Ok(());
        }
        let solves = || -> linsep_data::error::Result<Solves> {
            self.build(settings)?.solves(&of_pair(claim, task)?)
        };
        solves().map_err(|error| error.to_string())?.check(claim)
    }
}

/// The rows that a claim is about: those of a pair, or all.
fn of_pair(claim: &Claim, task: &Task) -> linsep_data::error::Result<Task> {
    let problem = match claim {
        Claim::Optimal { planes: Planes::Two { problem, .. }, .. }
        | Claim::Stationary { planes: Planes::Two { problem, .. }, .. }
        | Claim::Counts { planes: Planes::Two { problem, .. }, .. }
            if problem.scheme == Scheme::Pair =>
        {
            problem
        }
        _ => return Ok(task.clone()),
    };
    let data = &task.data;
    let sides = || problem.positive.iter().chain(&problem.negative);
    let takes_part = |row: &u32| {
        let class = &data.classes()[data.class_of(*row as usize) as usize];
        sides().any(|name| name == class)
    };
    let rows: Arc<[u32]> = task.active_rows()?.into_iter().filter(takes_part).collect();
    Ok(task.clone().with_rows(Some(rows)))
}
