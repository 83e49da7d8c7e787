//! K classes by two-class learners: the same data seen several times, never copied.
//!
//! | scheme | machines | each learns | class |
//! |---|---|---|---|
//! | [`OneVsRest`] | K | one class against all others | the highest score |
//! | [`OneVsRestLast`] | K − 1 | the same, but for the last class | the last class where no machine claims a row |
//! | [`OneVsOne`] | K(K − 1)/2 | two classes, on their rows alone | the most duels won |
//!
//! The machines know nothing of each other, so they may contradict each other;
//! [`crate::model::rule`] says when, and which class such a row gets. With two classes every scheme is
//! one plane. Each machine carries its own claim.
//!
//! An epoch is one pass of every machine over its own rows. Machines with fewer rows wait for the one
//! with the most, so that a limit on epochs means the same to all.
//!
//! Reference: Bishop 4.1.2.

use crate::claim::planes::{float_plane, problem_of};
use crate::model::rule::duels;
use crate::model::{Ballot, LinearModel, Link, Plane, Rule};
use crate::run::ability::{BoundsObjective, CarriesOn, Seeks, Traces, WarmStarts};
use crate::run::update::{Beginning, Update};
use crate::run::{
    BinaryLearner, Budget, Certificate, Learner, Progress, Remark, Solves, State, Status, Task,
    Training,
};
use linsep_data::cancel;
use linsep_data::error::{Error, Result};
use linsep_data::parallel::parallel_map;
use linsep_proof::{Claim, Question, check_claim};
use std::sync::{Arc, Mutex};

/// One-versus-rest: for each class a plane that separates it from all others; the highest score
/// wins. With two classes there is one plane.
///
/// ```
/// use linsep::run::reduction::OneVsRest;
/// use linsep::learn::perceptron::Perceptron;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let rows = [[0.0, 3.0], [1.0, 3.0], [3.0, 0.0], [3.0, 1.0], [-3.0, -3.0], [-3.0, -2.0]];
/// let data = Dataset::from_rows(&rows, &["a", "a", "b", "b", "c", "c"])?;
/// let machines = OneVsRest(Perceptron::default());
/// let fit = machines.fit(&Task::new(data), &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.predict(&[0.0, 4.0])?, "a");
/// assert!(!fit.model.is_ambiguous(&fit.model.scores(&[0.0, 4.0])?));
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct OneVsRest<L>(pub L);

impl<L: BinaryLearner> Learner for OneVsRest<L> {
    fn solves(&self, task: &Task) -> Result<Solves> {
        self.0.solves_binary(task)
    }

    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        against_the_rest(&self.0, task, Rule::Rest)
    }
}

/// One-versus-rest with K − 1 machines: rows that none of them claims are of the last class.
pub struct OneVsRestLast<L>(pub L);

impl<L: BinaryLearner> Learner for OneVsRestLast<L> {
    fn solves(&self, task: &Task) -> Result<Solves> {
        self.0.solves_binary(task)
    }

    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        against_the_rest(&self.0, task, Rule::RestLast)
    }
}

/// One-versus-one: a plane for each pair of classes, learned from their rows; the most duels won win.
///
/// ```
/// use linsep::run::reduction::OneVsOne;
/// use linsep::learn::perceptron::Perceptron;
/// use linsep::{Dataset, Learner, Limits, Task};
/// // On a line the middle class is not separable from the rest, but every pair is.
/// let rows = [[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]];
/// let data = Dataset::from_rows(&rows, &["low", "low", "middle", "middle", "top", "top"])?;
/// let duels = OneVsOne(Perceptron::default());
/// let fit = duels.fit(&Task::new(data), &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.planes.len(), 3);
/// assert_eq!(fit.model.predict(&[4.5])?, "middle");
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct OneVsOne<L>(pub L);

/// One-versus-one takes at most this many classes, which make 32,640 planes.
const MOST_CLASSES: usize = 256;

impl<L: BinaryLearner> Learner for OneVsOne<L> {
    fn solves(&self, task: &Task) -> Result<Solves> {
        self.0.solves_binary(task)
    }

    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        each_against_each(&self.0, task)
    }
}

fn each_against_each(learner: &dyn BinaryLearner, task: &Task) -> Result<Box<dyn Training>> {
    let classes = task.data.n_classes();
    if classes <= 2 {
        return against_the_rest(learner, task, Rule::Rest);
    }
    if classes > MOST_CLASSES {
        let planes = Rule::Vote.n_scores(classes);
        return Err(Error::usage(format!(
            "one-versus-one of {classes} classes would need {planes} planes; it takes at most \
             {MOST_CLASSES} classes, `multiclass=ovr` takes more"
        )));
    }
    let by_class = rows_by_class(task)?;
    let children: Result<Vec<Box<dyn Training>>> = duels(classes)
        .map(|(i, j)| {
            let rows = Some(merged(&by_class[i], &by_class[j]));
            cancel::check();
            let run = learner.start_binary(&Task { rows, ..task.clone() }, j as u32)?;
            let task = task.clone();
            Ok(Box::new(Duel { run, task, pair: (i, j) }) as Box<dyn Training>)
        })
        .collect();
    Ok(Box::new(Many::new(children?, Rule::Vote, task.threads)))
}

fn against_the_rest(
    learner: &dyn BinaryLearner,
    task: &Task,
    rule: Rule,
) -> Result<Box<dyn Training>> {
    task.data.require_two_classes()?;
    let classes = task.data.n_classes();
    if classes == 2 {
        return learner.start_binary(task, 1);
    }
    let machines = 0..rule.n_scores(classes) as u32;
    let start = |class| {
        // Thousands of classes take thousands of passes to begin.
        cancel::check();
        learner.start_binary(task, class)
    };
    let children: Result<Vec<_>> = machines.map(start).collect();
    Ok(Box::new(Many::new(children?, rule, task.threads)))
}

/// The rows that take part, each with its place in their order, class by class.
fn rows_by_class(task: &Task) -> Result<Vec<Vec<(u32, u32)>>> {
    let mut by_class = vec![Vec::new(); task.data.n_classes()];
    for (place, row) in (0..).zip(task.active_rows()?) {
        by_class[task.data.class_of(row as usize) as usize].push((place, row));
    }
    Ok(by_class)
}

/// The rows of two classes in their order.
fn merged(a: &[(u32, u32)], b: &[(u32, u32)]) -> Arc<[u32]> {
    let mut rows: Vec<(u32, u32)> = a.iter().chain(b).copied().collect();
    rows.sort_unstable();
    rows.into_iter().map(|(_, row)| row).collect()
}

/// A run on the rows of two classes. What is proved of it is proved of the pair.
struct Duel {
    run: Box<dyn Training>,
    /// All classes.
    task: Task,
    /// The class of negative scores, and that of positive ones.
    pair: (usize, usize),
}

impl Duel {
    fn problem(&self) -> Question {
        let (data, names) = (self.task.data.as_ref(), self.task.data.classes());
        let (negative, positive) = self.pair;
        problem_of(data, &names[positive], Some(&names[negative]))
    }
}

impl Training for Duel {
    /// The run takes its class to stand against all others, as it does on its rows. What it proved of
    /// them is claimed of the pair and checked on all rows of both classes.
    fn certificate(&self) -> Certificate {
        let (data, problem) = (self.task.data.as_ref(), self.problem());
        let found = self.claims_on_rows();
        let margin = found.iter().find_map(|claim| match claim {
            Claim::GeometricMargin { support, gamma2, .. } => {
                let (problem, support) = (problem.clone(), support.clone());
                Some(Claim::GeometricMargin { problem, support, gamma2: gamma2.clone() })
            }
            _ => None,
        });
        let witness = found.iter().find_map(|claim| match claim {
            Claim::Inseparable { witness, .. } => Some(witness.clone()),
            _ => None,
        });
        let model = self.run.model();
        let claim = match (witness, model.deciding_plane()) {
            (Some(witness), _) => Some(Claim::Inseparable { problem, witness }),
            (None, Some(plane)) => {
                let plane = float_plane(&plane.weights, Some(plane.bias));
                Some(Claim::Separable { problem, plane: plane.into() })
            }
            (None, None) => None,
        };
        let holds = |claim: &Claim| {
            check_claim(claim, data, &data.reading_field(), true, self.task.threads).holds()
        };
        let mut claims: Vec<Claim> = [margin, claim].into_iter().flatten().filter(holds).collect();
        let reason = || {
            found.iter().find_map(|claim| match claim {
                Claim::Unproved { reason } => Some(reason.clone()),
                _ => None,
            })
        };
        if claims.is_empty() {
            return Certificate::unproved(reason().unwrap_or_else(|| {
                "some row of the pair is not strictly on its side of the plane".to_owned()
            }));
        }
        claims.extend(self.shortfall().map(|reason| Claim::Unproved { reason }));
        Certificate::new(claims)
    }

    crate::training_has!(seeks);
    crate::training_forwards!(run: advance, epoch_rows, progress, model, remarks, save, restore);
    crate::training_forwards!(run: carries_on, warm_starts, bounds_margin);
    // A trace and a bound of the objective speak of one class against all others.
    crate::training_lacks!(traces, bounds_objective, generates);
}

impl Seeks for Duel {
    fn refusal(&self) -> Option<Error> {
        match self.run.seeks()?.refusal()? {
            Error::Inseparable { claim, .. } => match *claim {
                Claim::Inseparable { witness, .. } => {
                    let problem = self.problem();
                    Some(Error::inseparable(Claim::Inseparable { problem, witness }))
                }
                claim => Some(Error::inseparable(claim)),
            },
            other => Some(other),
        }
    }

    fn shortfall(&self) -> Option<String> {
        self.run.seeks()?.shortfall()
    }

    fn claims_on_rows(&self) -> Vec<Claim> {
        match self.run.seeks() {
            Some(run) => run.claims_on_rows(),
            None => self.run.certificate().claims,
        }
    }
}

/// Runs side by side, each a machine of one model. Every run sees the same budget, so the result does
/// not depend on the number of threads.
struct Many {
    children: Vec<Box<dyn Training>>,
    rule: Rule,
    threads: usize,
    /// Rows of the machine that has the most.
    epoch: u64,
    /// Visits of that machine, or what they would be if it still ran.
    visits: u64,
    /// Whether every machine ended by its own rule.
    done: bool,
}

impl Many {
    fn new(children: Vec<Box<dyn Training>>, rule: Rule, threads: usize) -> Many {
        let epoch = children.iter().map(|child| child.epoch_rows()).max().unwrap_or(0).max(1);
        Many { children, rule, threads, epoch, visits: 0, done: false }
    }

    /// The visits that a machine of so many rows has made when the largest has made `visits`.
    fn share(&self, visits: u64, rows: u64) -> u64 {
        (visits / self.epoch) * rows + (visits % self.epoch).min(rows)
    }

    /// The least visits of the largest machine at which this one had made its own.
    fn whole(&self, child: &dyn Training) -> u64 {
        let (visits, rows) = (child.progress().visits, child.epoch_rows().max(1));
        match visits.checked_sub(1) {
            None => 0,
            Some(before) => (before / rows) * self.epoch + before % rows + 1,
        }
    }
}

impl Many {
    /// Gives every child its part of a state: all of them or none, so that a state that is wrong in one
    /// leaves no trace in the others. Returns what is left, the part of its own.
    fn for_each_child(
        &mut self,
        state: &State,
        give: impl Fn(&mut dyn Training, &State) -> Result<()>,
    ) -> Result<State> {
        let mut states: Vec<State> = state.decode()?;
        if states.len() != self.children.len() + 1 {
            return Err(Error::usage("the saved state belongs to a run on other data"));
        }
        let own = states.remove(0);
        own.decode::<(u64, bool)>()?;
        let before: Vec<State> = self.children.iter().map(|child| child.save()).collect();
        let mut pairs = self.children.iter_mut().zip(&states);
        let result = pairs.try_for_each(|(child, state)| give(child.as_mut(), state));
        if result.is_err() {
            for (child, state) in self.children.iter_mut().zip(&before) {
                child.restore(state)?;
            }
        }
        result.map(|()| own)
    }
}

impl Training for Many {
    fn advance(&mut self, budget: Budget) -> Status {
        if self.done {
            return Status::Finished;
        }
        let target = self.visits.saturating_add(budget.visits);
        let goals: Vec<u64> =
            self.children.iter().map(|child| self.share(target, child.epoch_rows())).collect();
        let to_go = |child: &dyn Training, k: usize| {
            let visits = goals[k].saturating_sub(child.progress().visits);
            Budget { visits, ..budget }
        };
        let statuses: Vec<Status> = if budget.updates == u64::MAX {
            let children: Vec<_> = self.children.iter_mut().map(Mutex::new).collect();
            // Threads are not worth a single visit.
            let threads = if budget.visits == 1 { 1 } else { self.threads };
            parallel_map(children.len(), threads, |k| match children[k].lock() {
                // A pair without rows has nothing to learn.
                Ok(child) if child.epoch_rows() == 0 => Status::Finished,
                Ok(mut child) => {
                    let budget = to_go(child.as_ref(), k);
                    child.advance(budget)
                }
                Err(_) => Status::Diverged,
            })
        } else {
            // A limit on all updates together is used up plane after plane.
            let mut left = budget.updates;
            let mut advance = |(k, child): (usize, &mut Box<dyn Training>)| {
                if child.epoch_rows() == 0 {
                    return Status::Finished;
                }
                let before = child.progress().updates;
                let budget = Budget { updates: left, ..to_go(child.as_ref(), k) };
                let status = child.advance(budget);
                left -= child.progress().updates - before;
                status
            };
            self.children.iter_mut().enumerate().map(&mut advance).collect()
        };
        if statuses.contains(&Status::Diverged) {
            self.visits = target;
            return Status::Diverged;
        }
        if !statuses.contains(&Status::Running) {
            self.done = true;
            let whole = self.children.iter().map(|child| self.whole(child.as_ref()));
            self.visits = whole.max().unwrap_or(0).max(self.visits);
            return Status::Finished;
        }
        // Where the updates were used up, the machines behind catch up next time.
        let goals = statuses.iter().zip(&goals);
        let arrived = self.children.iter().zip(goals).all(|(child, (status, goal))| {
            *status != Status::Running || child.progress().visits >= *goal
        });
        if arrived {
            self.visits = target;
        }
        Status::Running
    }

    fn epoch_rows(&self) -> u64 {
        self.epoch
    }

    fn progress(&self) -> Progress {
        let each = || self.children.iter().map(|child| child.progress());
        Progress {
            epochs: match self.done {
                true => each().map(|p| p.epochs).max().unwrap_or(0),
                false => self.visits / self.epoch,
            },
            visits: self.visits,
            updates: each().map(|p| p.updates).sum(),
            last_mistakes: each().try_fold(0u64, |sum, p| {
                p.last_mistakes.map(|mistakes| sum.saturating_add(mistakes))
            }),
            objective: each().try_fold(0.0, |sum, p| Some(sum + p.objective?)),
            gap: each().try_fold(0.0, |most: f64, p| Some(most.max(p.gap?))),
        }
    }

    fn model(&self) -> LinearModel {
        let (mut planes, mut ballots) = (Vec::new(), Vec::new());
        for child in &self.children {
            let model = child.model();
            planes.extend(model.planes);
            if let Rule::Ballot(Ballot { votes, .. }) = model.rule {
                ballots.extend(votes);
            }
        }
        let rule = match ballots.is_empty() {
            true => self.rule.clone(),
            false => Rule::Ballot(Ballot::new(ballots, self.rule.clone())),
        };
        // Each machine has odds of its own; together they are no probabilities.
        LinearModel { planes, rule, link: Link::None, ..self.children[0].model() }
    }

    /// What all machines say.
    fn remarks(&self) -> Vec<Remark> {
        let common = || {
            let mut all = self.children[0].remarks();
            for child in &self.children[1..] {
                // A remark may take a pass over all rows.
                cancel::check();
                let others = child.remarks();
                all.retain(|remark| others.contains(remark));
            }
            all
        };
        cancel::catch(common).unwrap_or_default()
    }

    fn certificate(&self) -> Certificate {
        Certificate::new(
            self.children.iter().flat_map(|child| child.certificate().claims).collect(),
        )
    }

    fn save(&self) -> State {
        let own = State::encode(&(self.visits, self.done));
        let children = self.children.iter().map(|child| child.save());
        let states: Vec<State> = std::iter::once(own).chain(children).collect();
        State::encode(&states)
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let (visits, done) = self
            .for_each_child(state, |child, state| child.restore(state))?
            .decode::<(u64, bool)>()?;
        (self.visits, self.done) = (visits, done);
        Ok(())
    }

    // What every binary classifier can, all of them can.
    fn traces(&self) -> Option<&dyn Traces> {
        self.children.iter().all(|child| child.traces().is_some()).then_some(self)
    }

    fn carries_on(&mut self) -> Option<&mut dyn CarriesOn> {
        self.children.iter_mut().all(|child| child.carries_on().is_some()).then_some(self)
    }

    fn warm_starts(&mut self) -> Option<&mut dyn WarmStarts> {
        self.children.iter_mut().all(|child| child.warm_starts().is_some()).then_some(self)
    }

    fn bounds_objective(&self) -> Option<&dyn BoundsObjective> {
        self.children.iter().all(|child| child.bounds_objective().is_some()).then_some(self)
    }

    crate::training_has!(seeks);
    // A bound for one of them is none for the model.
    crate::training_lacks!(bounds_margin, generates);
}

impl Traces for Many {
    fn beginnings(&self) -> Vec<Beginning> {
        let each = self.children.iter().filter_map(|child| child.traces());
        each.flat_map(|child| child.beginnings()).collect()
    }

    fn last_updates(&self) -> Vec<Update> {
        let mut all = Vec::new();
        let each = self.children.iter().filter_map(|child| child.traces());
        for (machine, child) in each.enumerate() {
            let own = child.last_updates().into_iter();
            all.extend(own.map(|update| Update { machine, ..update }));
        }
        all
    }
}

impl CarriesOn for Many {
    fn carry_on(&mut self, state: &State) -> Result<()> {
        self.for_each_child(state, |child, state| match child.carries_on() {
            Some(child) => child.carry_on(state),
            None => Err(cannot("go on with other data")),
        })?;
        Ok(())
    }
}

impl WarmStarts for Many {
    fn warm_start(&mut self, state: &State, factor: f64) -> bool {
        let warm = self.for_each_child(state, |child, state| {
            match child.warm_starts().is_some_and(|child| child.warm_start(state, factor)) {
                true => Ok(()),
                false => Err(Error::usage("the state is that of another solver")),
            }
        });
        warm.is_ok()
    }
}

impl BoundsObjective for Many {
    fn certificate_of(&self, planes: &[Plane]) -> Certificate {
        let each: Vec<_> =
            self.children.iter().filter_map(|child| child.bounds_objective()).collect();
        if each.len() != planes.len() {
            return Certificate::unproved("the planes are not those of this problem");
        }
        let each = each.into_iter().zip(planes);
        let each = each.map(|(child, plane)| child.certificate_of(std::slice::from_ref(plane)));
        Certificate::new(each.flat_map(|certificate| certificate.claims).collect())
    }

    fn gap(&self) -> Option<f64> {
        let mut gaps = self.children.iter().map(|child| child.bounds_objective()?.gap());
        gaps.try_fold(0.0, |most: f64, gap| Some(most.max(gap?)))
    }
}

impl Seeks for Many {
    fn refusal(&self) -> Option<Error> {
        self.children.iter().find_map(|child| child.seeks()?.refusal())
    }

    fn shortfall(&self) -> Option<String> {
        self.children.iter().find_map(|child| child.seeks()?.shortfall())
    }

    fn claims_on_rows(&self) -> Vec<Claim> {
        self.certificate().claims
    }
}

/// Never met through an accessor, which asks every child first.
fn cannot(what: &str) -> Error {
    Error::usage(format!("some binary classifier of this run cannot {what}"))
}
