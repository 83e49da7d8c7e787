//! K classes by two-class learners: the same data seen K times, never copied.

use super::{
    BinaryLearner, Budget, Certificate, Learner, Progress, Remark, State, Status, Task, Training,
};
use crate::error::{Error, Result};
use crate::model::{LinearModel, Rule};
use crate::parallel::parallel_map;
use std::sync::Mutex;

/// One-versus-rest: for each class a plane that separates it from all others; the highest score
/// wins. With two classes there is one plane.
pub struct OneVsRest<L>(pub L);

impl<L: BinaryLearner> Learner for OneVsRest<L> {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        task.data.require_two_classes()?;
        if task.data.n_classes() == 2 {
            return self.0.start_binary(task, 1);
        }
        let classes = 0..task.data.n_classes() as u32;
        let children: Result<Vec<_>> =
            classes.map(|class| self.0.start_binary(task, class)).collect();
        Ok(Box::new(Many { children: children?, rule: Rule::ArgMax, threads: task.threads }))
    }
}

/// Runs side by side, each a plane of one model. Every run sees the same budget, so the result does
/// not depend on the number of threads.
struct Many {
    children: Vec<Box<dyn Training>>,
    rule: Rule,
    threads: usize,
}

impl Many {
    /// Gives every child its part of a state: all of them or none, so that a state that is wrong in one
    /// leaves no trace in the others.
    fn for_each_child(
        &mut self,
        state: &State,
        give: impl Fn(&mut dyn Training, &State) -> Result<()>,
    ) -> Result<()> {
        let states: Vec<State> = state.decode()?;
        if states.len() != self.children.len() {
            return Err(Error::usage("the saved state belongs to a run on other data"));
        }
        let before: Vec<State> = self.children.iter().map(|child| child.save()).collect();
        let mut pairs = self.children.iter_mut().zip(&states);
        let result = pairs.try_for_each(|(child, state)| give(child.as_mut(), state));
        if result.is_err() {
            for (child, state) in self.children.iter_mut().zip(&before) {
                child.restore(state)?;
            }
        }
        result
    }
}

impl Training for Many {
    fn advance(&mut self, budget: Budget) -> Status {
        // A limit on updates may have left some behind; they catch up, so that where it stood is forgotten.
        let front = self.progress().visits;
        let budget_of = |child: &dyn Training, updates: u64| Budget {
            visits: budget.visits.saturating_add(front - child.progress().visits),
            updates,
        };
        let statuses: Vec<Status> = if budget.updates == u64::MAX {
            let children: Vec<_> = self.children.iter_mut().map(Mutex::new).collect();
            parallel_map(children.len(), self.threads, |k| match children[k].lock() {
                Ok(mut child) => {
                    let budget = budget_of(child.as_ref(), u64::MAX);
                    child.advance(budget)
                }
                Err(_) => Status::Diverged,
            })
        } else {
            // A limit on all updates together is used up plane after plane.
            let mut left = budget.updates;
            let mut advance = |child: &mut Box<dyn Training>| {
                let before = child.progress().updates;
                let budget = budget_of(child.as_ref(), left);
                let status = child.advance(budget);
                left -= child.progress().updates - before;
                status
            };
            self.children.iter_mut().map(&mut advance).collect()
        };
        if statuses.contains(&Status::Diverged) {
            Status::Diverged
        } else if statuses.contains(&Status::Running) {
            Status::Running
        } else {
            Status::Finished
        }
    }

    fn epoch_rows(&self) -> u64 {
        self.children.iter().map(|child| child.epoch_rows()).max().unwrap_or(0)
    }

    fn progress(&self) -> Progress {
        let each = || self.children.iter().map(|child| child.progress());
        Progress {
            epochs: each().map(|p| p.epochs).max().unwrap_or(0),
            visits: each().map(|p| p.visits).max().unwrap_or(0),
            updates: each().map(|p| p.updates).sum(),
            last_mistakes: each().map(|p| p.last_mistakes).sum(),
        }
    }

    fn model(&self) -> LinearModel {
        let planes = self.children.iter().flat_map(|child| child.model().planes).collect();
        LinearModel { planes, rule: self.rule, ..self.children[0].model() }
    }

    /// Those of the first plane: the others differ only in their signs.
    fn remarks(&self) -> Vec<Remark> {
        self.children[0].remarks()
    }

    fn certificate(&self) -> Certificate {
        Certificate {
            claims: self.children.iter().flat_map(|child| child.certificate().claims).collect(),
        }
    }

    fn save(&self) -> State {
        let states: Vec<State> = self.children.iter().map(|child| child.save()).collect();
        State::encode(&states)
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.for_each_child(state, |child, state| child.restore(state))
    }

    fn carry_on(&mut self, state: &State) -> Result<()> {
        self.for_each_child(state, |child, state| child.carry_on(state))
    }
}
