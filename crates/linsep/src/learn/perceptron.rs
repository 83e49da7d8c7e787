//! The perceptron that knows when to stop: the default learner.
//!
//! Problem: a perceptron ends when the classes can be separated, and never when they cannot; until
//! it ends, nobody can tell which is the case.
//!
//! Idea: four epochs of the perceptron, then turns: rounds of the verdict and epochs of the
//! perceptron, each side getting about as many visits of a row as the other. It ends
//!
//! * with the perceptron's planes, when an epoch was clean and the exact check confirms it;
//! * with the verdict's plane, when that one is found first (two classes);
//! * with the averaged planes of at least ten epochs, when it is proved that no planes separate.
//!
//! Each end comes with its certificate. Turns follow from counts of visits alone, never from a
//! clock, so the same data gives the same planes everywhere.
//!
//! References: Rosenblatt 1958; Freund and Schapire 1999 for the average; [`crate::verdict`].

pub use crate::engine::perceptron::{Init, Order, Perceptron, Ties};
pub use crate::engine::rate::Rate;
pub use crate::engine::response::{Aggressive, Response};
pub use crate::engine::stopping::StopRule;

use crate::engine::perceptron::{Online, Planes};
use crate::model::LinearModel;
use crate::run::ability::CarriesOn;
use crate::run::{
    BinaryLearner, Budget, Certificate, ClassWeights, Learner, Remark, State, Status, Task,
    Training,
};
use crate::verdict::inquiry::{Inquiry, Outcome, holds_on};
use linsep_data::error::Result;
use linsep_data::scale::Scaling;
use linsep_proof::{Claim, Finding, check_claim};
use serde::{Deserialize, Serialize};

/// The name of the learner.
pub const NAME: &str = "perceptron";

/// Epochs before the verdict is asked.
const EPOCHS_FIRST: u64 = 4;

/// Epochs of which the average is taken at least.
const EPOCHS_AVERAGED: u64 = 10;

/// A perceptron that asks between its epochs whether it can succeed.
///
/// ```
/// use linsep::learn::perceptron::{Deciding, Perceptron};
/// use linsep::{Claim, Dataset, Learner, Limits, Task};
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let xor = Task::new(Dataset::from_rows(&rows, &["0", "1", "1", "0"])?);
/// let fit = Deciding(Perceptron::default()).fit(&xor, &Limits::default(), &mut ())?;
/// assert!(matches!(fit.certificate.claims[0], Claim::Inseparable { .. }));
/// assert_eq!(fit.progress.epochs, 10);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Deciding(pub Perceptron);

linsep_proof::setters! {
    Perceptron {
        with_response => response: Response,
        with_rate => rate: Rate,
        with_order => order: Order,
        with_stop => stop: StopRule,
        with_init => init: Init,
        with_ties => ties: Ties,
        with_seed => seed: u64,
        with_scale => scale: Scaling,
        with_class_weights => class_weights: ClassWeights,
    }
}

impl Learner for Deciding {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        self.launch(task, Planes::of(task))
    }
}

impl BinaryLearner for Deciding {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        self.launch(task, Planes::One(positive))
    }
}

impl Deciding {
    fn launch(&self, task: &Task, planes: Planes) -> Result<Box<dyn Training>> {
        let run = self.0.launch(task, planes, true)?;
        let inquiry = inquiry_of(&run);
        Ok(Box::new(DecidingRun { run, inquiry, rounds: 0, outcome: None, end: None }))
    }
}

fn inquiry_of(run: &Online) -> Inquiry {
    match run.which {
        Planes::One(positive) => Inquiry::one(&run.task, positive),
        Planes::Joint => Inquiry::joint(&run.task),
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The perceptron's planes are right and checked.
    Clean,
    /// The verdict found a plane.
    Plane,
    /// No planes separate; the averaged ones are the answer.
    Average,
    /// The perceptron ended without a proof and the verdict has nothing to add.
    Unproved,
}

struct DecidingRun {
    run: Online,
    inquiry: Inquiry,
    /// Rounds of the inquiry so far; a restored run repeats them.
    rounds: u64,
    outcome: Option<Outcome>,
    end: Option<End>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    run: State,
    rounds: u64,
}

impl DecidingRun {
    /// At the start of an epoch: asks as long as it is the verdict's turn, and sees whether it is
    /// the end.
    fn take_turns(&mut self) {
        let clean = self.run.is_clean();
        let epoch = self.run.epoch_rows();
        while self.outcome.is_none() && self.end.is_none() {
            let visits = self.run.progress().visits;
            let turn = visits >= EPOCHS_FIRST * epoch
                && self.inquiry.visits <= visits - EPOCHS_FIRST * epoch;
            if !clean && !turn {
                break;
            }
            if clean && holds_on(&self.run.task, &self.run.claim()) {
                self.end = Some(End::Clean);
                return;
            }
            self.ask();
        }
        let averaged = self.run.progress().epochs >= EPOCHS_AVERAGED;
        self.end = match &self.outcome {
            Some(Outcome::Separable(..)) => Some(End::Plane),
            Some(Outcome::Inseparable(_)) if averaged || clean => Some(End::Average),
            Some(Outcome::Open) if clean => Some(End::Unproved),
            _ => self.end,
        };
    }

    fn ask(&mut self) {
        self.rounds += 1;
        self.outcome = self.inquiry.round();
    }

    /// At the start of an epoch, and wherever the perceptron has ended by its stop rule.
    fn is_at_a_turn(&self) -> bool {
        let at_start = self.run.progress().visits.is_multiple_of(self.run.epoch_rows().max(1));
        at_start || self.run.is_clean()
    }

    /// A claim about the rows of the task, as one about all rows of the data.
    fn about_all_rows(&self, claim: &Claim) -> Certificate {
        let Task { data, threads, .. } = &self.run.task;
        match check_claim(claim, data.as_ref(), &data.reading_field(), true, *threads) {
            Finding::Holds(_) => Certificate::new(vec![claim.clone()]),
            _ => {
                Certificate::unproved("the training rows are separated; no claim for held-out rows")
            }
        }
    }
}

impl Training for DecidingRun {
    fn advance(&mut self, budget: Budget) -> Status {
        let Budget { mut visits, mut updates } = budget;
        loop {
            if self.is_at_a_turn() {
                self.take_turns();
            }
            if self.end.is_some() {
                return Status::Finished;
            }
            if visits == 0 || updates == 0 {
                return Status::Running;
            }
            let before = self.run.progress();
            let epoch = self.run.epoch_rows().max(1);
            let to_end = epoch - before.visits % epoch;
            let status = self.run.advance(Budget { visits: visits.min(to_end), updates });
            if status == Status::Diverged {
                return Status::Diverged;
            }
            let after = self.run.progress();
            visits -= after.visits - before.visits;
            updates = updates.saturating_sub(after.updates - before.updates);
        }
    }

    fn model(&self) -> LinearModel {
        match (&self.end, &self.outcome) {
            (Some(End::Clean | End::Unproved), _) => self.run.model(),
            (Some(End::Plane), Some(Outcome::Separable(plane, _))) => {
                LinearModel { planes: vec![plane.clone()], ..self.run.model() }
            }
            _ => self.run.averaged_model(),
        }
    }

    fn certificate(&self) -> Certificate {
        match (&self.end, &self.outcome) {
            (Some(End::Clean | End::Unproved), _) => self.run.certificate(),
            (_, Some(Outcome::Separable(_, claim) | Outcome::Inseparable(claim))) => {
                self.about_all_rows(claim)
            }
            _ => {
                Certificate::unproved("the run ended before it was decided whether planes separate")
            }
        }
    }

    fn save(&self) -> State {
        State::encode(&Saved { run: self.run.save(), rounds: self.rounds })
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let saved: Saved = state.decode()?;
        self.run.restore(&saved.run)?;
        self.inquiry = inquiry_of(&self.run);
        (self.rounds, self.outcome, self.end) = (0, None, None);
        // The rounds are the same whenever they are made.
        while self.rounds < saved.rounds && self.outcome.is_none() {
            self.ask();
        }
        if self.is_at_a_turn() {
            self.take_turns();
        }
        Ok(())
    }

    fn remarks(&self) -> Vec<Remark> {
        match self.end {
            Some(End::Clean | End::Unproved) => self.run.remarks(),
            Some(End::Plane) => vec![Remark::new(
                "weights",
                "of the plane that the exact search found, not the perceptron's own (those: `verdict=off`)",
                "exact search",
            )],
            _ => vec![Remark::new(
                "weights",
                "averaged-perceptron weights (the last ones: `verdict=off`)",
                "average",
            )],
        }
    }

    crate::training_has!(carries_on);
    crate::training_forwards!(run: epoch_rows, progress, traces, bounds_margin);
    crate::training_lacks!(warm_starts, bounds_objective, generates, seeks);
}

impl CarriesOn for DecidingRun {
    /// The verdict is about the rows at hand and starts anew.
    fn carry_on(&mut self, state: &State) -> Result<()> {
        let saved: Saved = state.decode()?;
        self.run.carry_on(&saved.run)
    }
}
