//! The pocket algorithm with ratchet (Gallant 1990): the best plane met on the way.
//!
//! Problem: fewest mistakes on rows that no plane separates, which is hard in general. Idea: let the
//! perceptron run, and keep in the pocket the planes that went longest without a mistake. The
//! ratchet: a longer run only earns a count over all rows, and the planes go into the pocket only if
//! they truly make fewer mistakes, each row counted by its weight. The pocket never gets worse, and with random
//! orders it holds the best planes with a probability that goes to 1.
//!
//! It ends with an empty error set, or at a limit.

use crate::engine::online::is_count;
use crate::engine::perceptron::{Online, Perceptron, Planes};
use crate::engine::row_weights::row_weights;
use crate::model::{LinearModel, Plane};
use crate::run::ability::CarriesOn;
use crate::run::{
    BinaryLearner, Budget, Certificate, Learner, Remark, SavedPlane, State, Status, Task, Training,
};
use linsep_data::error::{Error, Result};
use linsep_data::matrix::{Rows, with_rows};
use serde::{Deserialize, Serialize};

/// A perceptron that keeps the best planes it met.
///
/// ```
/// use linsep::learn::perceptron::Perceptron;
/// use linsep::learn::pocket::Pocket;
/// use linsep::{Dataset, Learner, Limits, Task};
/// // One row stands on the wrong side: no plane makes fewer than one mistake.
/// let rows = [[-3.0], [-2.0], [-1.0], [1.0], [2.0], [3.0], [-2.5]];
/// let data = Dataset::from_rows(&rows, &["a", "a", "a", "b", "b", "b", "b"])?;
/// let task = Task::new(data.clone());
/// let fit = Pocket(Perceptron::default()).fit(&task, &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.evaluate(&data, None, 1).errors, 1);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Pocket(pub Perceptron);

impl Learner for Pocket {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        self.launch(task, Planes::of(task))
    }
}

impl BinaryLearner for Pocket {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        self.launch(task, Planes::One(positive))
    }
}

impl Pocket {
    fn launch(&self, task: &Task, planes: Planes) -> Result<Box<dyn Training>> {
        let run = self.0.launch(task, planes, false)?;
        let best = run.model().planes;
        let weights = row_weights(&task.data, &run.rows, &self.0.class_weights);
        let pocket =
            Pocketed { errors: f64::INFINITY, longest: 0, since: 0, counted: false, held: true };
        let mut this = PocketRun { run, weights, best, pocket };
        this.pocket.errors = this.count(&this.best);
        Ok(Box::new(this))
    }
}

struct PocketRun {
    run: Online,
    /// What the rows of the data count, if not 1.
    weights: Option<Vec<f64>>,
    /// What is in the pocket.
    best: Vec<Plane>,
    pocket: Pocketed,
}

/// What is known of the pocket and of the planes in motion.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pocketed {
    /// Mistakes of the planes in the pocket, by weight.
    errors: f64,
    /// Visits that they went without one.
    longest: u64,
    /// Visits when the planes in motion were corrected last.
    since: u64,
    /// Whether the mistakes of the planes in motion were counted.
    counted: bool,
    /// Whether the planes in motion are those in the pocket.
    held: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedPocket {
    run: State,
    best: Vec<SavedPlane>,
    pocket: Pocketed,
}

impl PocketRun {
    /// Mistakes of some planes on the rows of the task, by weight.
    fn count(&self, planes: &[Plane]) -> f64 {
        let Task { data, threads, .. } = &self.run.task;
        let rows = self.run.rows.iter().map(|row| *row as usize);
        let cost = |row: usize| self.weights.as_ref().map_or(1.0, |weights| weights[row]);
        let Planes::One(positive) = self.run.which else {
            let model = LinearModel { planes: planes.to_vec(), ..self.run.model() };
            if self.weights.is_none() {
                return model.evaluate(data, Some(&self.run.rows), *threads).errors as f64;
            }
            let mut scorer = model.scorer(data);
            return rows.filter(|row| scorer.class(*row) != data.class_of(*row)).map(cost).sum();
        };
        let Plane { weights, bias } = &planes[0];
        let wrong = |row: &usize| {
            let score = with_rows!(data.store(), rows => rows.dot(*row, weights)) + bias;
            (score >= 0.0) != (data.class_of(*row) == positive)
        };
        rows.filter(wrong).map(cost).sum()
    }

    /// Counts the mistakes of the planes in motion and keeps the planes if they are fewer.
    fn weigh(&mut self) {
        let planes = self.run.model().planes;
        let errors = self.count(&planes);
        self.pocket.counted = true;
        if errors < self.pocket.errors {
            self.best = planes;
            self.pocket.errors = errors;
            self.pocket.held = true;
        }
    }
}

impl Training for PocketRun {
    fn advance(&mut self, budget: Budget) -> Status {
        let Budget { mut visits, mut updates } = budget;
        loop {
            if self.pocket.errors == 0.0 {
                return Status::Finished;
            }
            if visits == 0 || updates == 0 {
                return Status::Running;
            }
            let before = self.run.progress();
            let unbroken = before.visits - self.pocket.since;
            // As far as it takes to be better than the pocket, or to the next correction.
            let step = match self.pocket.counted {
                true => visits,
                false => visits.min(self.pocket.longest + 1 - unbroken),
            };
            let status = self.run.advance(Budget { visits: step, updates: 1 });
            let after = self.run.progress();
            let corrected = after.updates > before.updates;
            let unbroken = after.visits - u64::from(corrected) - self.pocket.since;
            if self.pocket.held {
                self.pocket.longest = self.pocket.longest.max(unbroken);
            }
            if corrected {
                self.pocket =
                    Pocketed { since: after.visits, counted: false, held: false, ..self.pocket };
            } else if !self.pocket.counted
                && (unbroken > self.pocket.longest || self.run.is_clean())
            {
                self.weigh();
                if self.pocket.held {
                    self.pocket.longest = unbroken;
                }
            }
            match status {
                Status::Running => {}
                ended => return ended,
            }
            visits -= after.visits - before.visits;
            updates -= u64::from(corrected);
        }
    }

    fn model(&self) -> LinearModel {
        LinearModel { planes: self.best.clone(), ..self.run.model() }
    }

    fn certificate(&self) -> Certificate {
        self.run.certificate_of(&self.best)
    }

    fn remarks(&self) -> Vec<Remark> {
        Vec::new()
    }

    fn save(&self) -> State {
        let run = self.run.save();
        State::encode(&SavedPocket {
            run,
            best: self.best.iter().map(SavedPlane::of).collect(),
            pocket: self.pocket,
        })
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let saved: SavedPocket = state.decode()?;
        let best = SavedPlane::all(&saved.best, &self.best)?;
        let before = self.run.save();
        self.run.restore(&saved.run)?;
        let Pocketed { longest, since, counted, .. } = saved.pocket;
        let unbroken = self.run.progress().visits.checked_sub(since);
        let is_cost = saved.pocket.errors >= 0.0;
        let is_run =
            |unbroken: u64| is_cost && is_count(longest) && (counted || unbroken <= longest);
        if !unbroken.is_some_and(is_run) {
            self.run.restore(&before)?;
            return Err(Error::usage("the saved state belongs to no run of the pocket"));
        }
        self.best = best;
        self.pocket = saved.pocket;
        Ok(())
    }

    crate::training_has!(carries_on);
    crate::training_forwards!(run: epoch_rows, progress, traces, bounds_margin);
    crate::training_lacks!(warm_starts, bounds_objective, generates, seeks);
}

impl CarriesOn for PocketRun {
    /// The planes in the pocket and those in motion are both counted on the rows at hand.
    fn carry_on(&mut self, state: &State) -> Result<()> {
        let saved: SavedPocket = state.decode()?;
        let best = SavedPlane::widened(&saved.best, &self.best)?;
        self.run.carry_on(&saved.run)?;
        let errors = self.count(&best);
        self.best = best;
        self.pocket = Pocketed { errors, longest: 0, since: 0, counted: false, held: false };
        self.weigh();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Limits;
    use linsep_data::door::{ArrayOptions, DenseArray, Labels};
    use linsep_data::{Dataset, Features};

    #[test]
    fn the_pocket_counts_rows_by_their_weight() {
        // Rows in the same place: one of them is wrong with any plane.
        for (weights, best) in [([1.0, 5.0, 1.0], "b"), ([1.0, 1.0, 5.0], "a")] {
            let rows = DenseArray::row_major(&[0.0, 1.0, 1.0], 3, 1);
            let rows = Features::from_array(rows, &ArrayOptions::default()).unwrap();
            let labels = Labels::text(&["a", "b", "a"]).unwrap();
            let data = Dataset::new(rows, labels, Some((&weights[..]).into())).unwrap();
            let task = Task::new(data.clone());
            let limits = Limits::default().with_epochs(Some(200));
            let fit = Pocket(Perceptron::default()).fit(&task, &limits, &mut ()).unwrap();
            let class = fit.model.scorer(&data).class(1) as usize;
            assert_eq!(fit.model.classes[class], best, "{weights:?}");
        }
    }
}
