//! One pass over a stream: every row is seen once, in order, and forgotten.
//!
//! Problem: data that does not fit into memory, or that never ends. Idea: online learners need a row
//! only while they visit it, so the rows come in parts; each part is a run of one epoch in the order of
//! the file that carries on from the one before.
//!
//! Law: the planes and counters are those of one epoch in the order of the file, without scaling that
//! needs all rows, over all rows at once, bit for bit (`tests/learners/online.rs`). Nothing is proved: the rows
//! are gone. The classes have to be known before the first row is learned from: they are given, or they
//! are those of the first part.

use crate::model::LinearModel;
use crate::run::{Fit, Learner, Limits, Observer, Progress, State, Stop, Task, Training, drive};
use linsep_data::error::{Code, Error, Problem, Result};
use linsep_data::{Dataset, DatasetBuilder, Reading};
use linsep_proof::Certificate;
use linsep_proof::digest::Digester;
use std::ops::ControlFlow;

/// A pass over rows that come part by part.
///
/// ```
/// use linsep::learn::perceptron::{Order, Perceptron};
/// use linsep::select::stream::OnePass;
/// use linsep::{Dataset, Stop};
/// let mut learner = Perceptron::default();
/// learner.order = Order::Cyclic;
/// learner.scale = linsep::data::scale::Scaling::None;
/// let mut pass = OnePass::new(Box::new(learner), None, 1);
/// pass.expect_classes(&["cold".into(), "warm".into()])?;
/// for (row, label) in [([-2.0], "cold"), ([3.0], "warm"), ([-1.0], "cold")] {
///     pass.feed(Dataset::from_rows(&[row], &[label])?, &mut ())?;
/// }
/// let passed = pass.finish(Stop::Epochs)?;
/// assert_eq!(passed.fit.progress.visits, 3);
/// assert_eq!(passed.fit.model.predict(&[5.0])?, "warm");
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct OnePass {
    learner: Box<dyn Learner>,
    threads: usize,
    classes: Option<(Vec<String>, bool)>,
    positive: Option<String>,
    state: Option<State>,
    model: Option<LinearModel>,
    reading: Option<Reading>,
    progress: Progress,
    digester: Digester,
}

/// What a pass came to.
#[non_exhaustive]
pub struct Passed {
    /// Model, counters and the reason for the end; the certificate says that nothing is proved.
    pub fit: Fit,
    /// The state of the run, for `carry_on` of another one.
    pub state: State,
    /// How exact proofs would understand the numbers.
    pub reading: Reading,
    /// Rows, those of weight 0 among them, and their digest.
    pub data: (u64, String),
}

impl OnePass {
    /// A pass of a learner whose order is that of the file and that measures nothing beforehand.
    /// `positive` makes one class the positive one, as in [`linsep_data::read::ReadOptions`].
    pub fn new(learner: Box<dyn Learner>, positive: Option<String>, threads: usize) -> OnePass {
        OnePass {
            learner,
            threads,
            classes: None,
            positive,
            state: None,
            model: None,
            reading: None,
            progress: Progress::default(),
            digester: Digester::default(),
        }
    }

    /// Says beforehand which classes there are.
    pub fn expect_classes(&mut self, names: &[String]) -> Result<()> {
        let empty = Dataset::of_labels(names)?;
        self.settle_classes(&empty)
    }

    /// Goes on from a run on other data with these classes; with `rest` the first stands for all labels
    /// that are not the second.
    pub fn carry_on(&mut self, state: State, classes: &[String], rest: bool) {
        self.state = Some(state);
        self.classes = Some((classes.to_vec(), rest));
    }

    fn settle_classes(&mut self, data: &Dataset) -> Result<()> {
        let data = match &self.positive {
            Some(positive) => data.clone().with_positive(positive)?,
            None => data.clone(),
        };
        data.require_two_classes()?;
        self.classes = Some((data.classes().to_vec(), data.input().rest));
        Ok(())
    }

    /// Learns from the rows of the next part. Breaks off where the observer does.
    pub fn feed(&mut self, part: Dataset, watch: &mut dyn Observer) -> Result<ControlFlow<Stop>> {
        if self.classes.is_none() {
            self.settle_classes(&part).map_err(name_the_classes)?;
        }
        let (classes, rest) = self.classes.clone().unwrap_or_default();
        let mut part = part.with_classes(&classes, rest).map_err(name_the_classes)?;
        self.digester.add(&part);
        let width = self.model.as_ref().map_or(0, LinearModel::n_features);
        part.widen_to(width);
        let reading = part.reading().clone();
        self.reading = Some(match self.reading.take() {
            None => reading,
            Some(before) => before.joined_with(&reading),
        });
        let task = Task { threads: self.threads, ..Task::new(part) };
        let mut training = self.learner.start(&task)?;
        if let Some(state) = &self.state {
            carry_on(training.as_mut(), state)?;
        }
        let mut broken = None;
        let limits = Limits { epochs: Some(1), updates: None };
        let before = self.progress;
        let mut pass_on = |now: &dyn Training| {
            let flow = watch.on_step(now);
            if let ControlFlow::Break(stop) = flow {
                broken = Some(stop);
            }
            flow
        };
        let stop = drive(training.as_mut(), &limits, &mut pass_on);
        let now = training.progress();
        let mistakes = now.last_mistakes.unwrap_or(0) + before.last_mistakes.unwrap_or(0);
        self.progress = Progress {
            epochs: 0,
            visits: before.visits + now.visits,
            updates: before.updates + now.updates,
            last_mistakes: Some(mistakes),
            objective: None,
            gap: None,
        };
        self.state = Some(training.save());
        self.model = Some(training.model());
        Ok(match (stop, broken) {
            (Stop::Diverged, _) => ControlFlow::Break(Stop::Diverged),
            (_, Some(stop)) => ControlFlow::Break(stop),
            _ => ControlFlow::Continue(()),
        })
    }

    /// The model of all rows so far.
    pub fn finish(mut self, stop: Stop) -> Result<Passed> {
        let (Some(state), Some(model)) = (self.state, self.model) else {
            return Err(Error::usage("there was no row to learn from"));
        };
        // Where the parts were cut is nobody's business: a run without rows carries on from the last.
        let nothing = DatasetBuilder::new(model.n_features()).finish()?;
        let nothing = nothing.with_classes(&model.classes, model.input.rest)?;
        let mut after = self.learner.start(&Task::new(nothing))?;
        carry_on(after.as_mut(), &state)?;
        let state = after.save();
        self.progress.epochs = u64::from(stop == Stop::Epochs);
        let certificate =
            Certificate::unproved("every row was seen once and is gone, so nothing was checked");
        let (progress, remarks, density) = (self.progress, Vec::new(), None);
        let fit = Fit { model, certificate, stop, progress, remarks, density, shortfall: None };
        let reading = self.reading.unwrap_or(Reading::new(false, Vec::new()));
        Ok(Passed { fit, state, reading, data: self.digester.finish() })
    }
}

fn carry_on(training: &mut dyn Training, state: &State) -> Result<()> {
    match training.carries_on() {
        Some(run) => run.carry_on(state),
        None => Err(Error::usage("the learner of a stream has to go on with other data")),
    }
}

/// In a stream a class that comes late is a matter of saying so.
fn name_the_classes(error: Error) -> Error {
    match error {
        Error::Data(mut data) => {
            for problem in &mut data.problems {
                if [Code::UNKNOWN_CLASS, Code::ONE_CLASS].contains(&problem.code) {
                    say_how(problem);
                }
            }
            Error::Data(data)
        }
        other => other,
    }
}

fn say_how(problem: &mut Problem) {
    problem.help = Some(
        "a stream learns from the first row on, so name every class that may come with `classes`"
            .into(),
    );
}
