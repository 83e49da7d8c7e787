//! The hard margin: the plane that stays farthest from every row, exactly.
//!
//! Problem: for rows that some plane separates, the least |w|² with y(w·x + b) ≥ 1 for every row; then
//! γ = 1/|w| is the distance of the nearest rows, and no plane has a larger one. It is what a support
//! vector machine tends to as C grows without end.
//!
//! Idea: the plane stands half the way between the hulls of the two sides, so the shortest way between
//! them is looked for: in floats, then in whole numbers from where floats have come
//! (`docs/theory/theorems.md`, section 5). γ² is rational, and so are w and b; the model's plane is the
//! exact one, each number rounded to binary64, with the scores 1 and −1 on the rows that hold it.
//!
//! Proved: `geometric-margin`, the exact γ² with the rows that hold it and their multipliers, and
//! `separable` of the model's own plane. Rows that no plane separates have no such plane: the run ends
//! with the error [`Error::Inseparable`], which has the proof. Where whole numbers come to a limit the model
//! has the best plane that was found, and says between which numbers the largest margin lies.
//!
//! The weights of rows do not matter, but for 0. K classes by [`crate::run::reduction`].
//!
//! Reference: Boser, Guyon, Vapnik, A training algorithm for optimal margin classifiers, 1992; Bishop 7.1.

use crate::engine::online::fingerprint;
use crate::model::{LinearModel, Link, Plane, Rule};
use crate::run::ability::Seeks;
use crate::run::{
    BinaryLearner, Budget, Certificate, HELD_OUT, Learner, Progress, Remark, State, Status, Task,
    Training,
};
use crate::verdict::widest::{End, Quest, Widest};
use linsep_data::error::{Code, Error, Place, Result};
use linsep_proof::{Claim, check_claim};
use serde::{Deserialize, Serialize};

/// The hard margin. It has no settings.
///
/// ```
/// use linsep::learn::hard_margin::HardMargin;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let data = Dataset::from_rows(&[[0.0, 0.0], [0.0, 1.0], [3.0, 4.0]], &["a", "a", "b"])?;
/// let fit = HardMargin.fit(&Task::new(data), &Limits::default(), &mut ())?;
/// // The nearest rows are (0, 1) and (3, 4); the plane stands in the middle, scores are -1 and 1.
/// assert_eq!(fit.model.planes[0].weights, [1.0 / 3.0, 1.0 / 3.0]);
/// assert_eq!(fit.certificate.claims[0].name(), "geometric-margin");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct HardMargin;

impl Learner for HardMargin {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        crate::run::reduction::OneVsRest(*self).start(task)
    }
}

impl BinaryLearner for HardMargin {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        let rows = task.active_rows()?;
        if let Some(words) = task.data.unprovable() {
            return Err(Error::usage(format!(
                "a largest margin is proved, and {words}; products such as x1*x2 or poly:2 have exact values"
            )));
        }
        let Some(quest) = Quest::new(task, positive) else {
            let class = &task.data.classes()[positive as usize];
            let words = format!("rows of class \"{class}\" and rows of others are needed");
            return Err(Error::data(Code::FOLD, words, Place::default()));
        };
        let fingerprint = fingerprint(&task.data, &rows);
        let (task, rows) = (task.clone(), rows.len() as u64);
        Ok(Box::new(MarginRun { task, positive, rows, fingerprint, quest, visits: 0, steps: 0 }))
    }
}

struct MarginRun {
    task: Task,
    positive: u32,
    /// Rows that take part.
    rows: u64,
    fingerprint: u64,
    quest: Quest,
    /// The last visit of the only epoch lasts until the quest has ended.
    visits: u64,
    /// Steps of the quest; a restored run repeats them.
    steps: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedMargin {
    rows: u64,
    features: usize,
    classes: usize,
    positive: u32,
    visits: u64,
    steps: u64,
}

impl MarginRun {
    fn widest(&self) -> Option<&Widest> {
        match self.quest.end() {
            Some(End::Plane(widest)) => Some(widest),
            _ => None,
        }
    }

    fn step(&mut self) {
        self.quest.step();
        self.steps += 1;
        if self.quest.end().is_some() {
            self.visits = self.rows;
        }
    }
}

impl Training for MarginRun {
    /// Each step of the quest counts as a visit against the budget, so that a driver can look in between,
    /// but the run has made its last visit only when the quest has ended.
    fn advance(&mut self, budget: Budget) -> Status {
        let first = budget.visits.min((self.rows - 1).saturating_sub(self.visits));
        self.visits += first;
        let mut left = budget.visits - first;
        while left > 0 && self.quest.end().is_none() {
            self.step();
            left -= 1;
        }
        match self.quest.end() {
            Some(_) => Status::Finished,
            None => Status::Running,
        }
    }

    fn epoch_rows(&self) -> u64 {
        self.rows
    }

    fn progress(&self) -> Progress {
        Progress {
            epochs: self.visits / self.rows,
            visits: self.visits,
            updates: 0,
            last_mistakes: self.widest().map(|_| 0),
            objective: None,
            gap: None,
        }
    }

    fn model(&self) -> LinearModel {
        let data = &self.task.data;
        let zero = || Plane { weights: vec![0.0; data.n_features()], bias: 0.0 };
        let plane = self.quest.so_far().map_or_else(zero, |(plane, _)| plane.clone());
        LinearModel::of(data, vec![plane], Rule::Sign, Link::None)
    }

    fn certificate(&self) -> Certificate {
        let mut claims = self.claims_on_rows();
        // Of all rows the checker has seen everything when it was found.
        if self.task.rows.is_none() {
            return Certificate::new(claims);
        }
        let data = self.task.data.as_ref();
        let holds = |claim: &Claim| {
            check_claim(claim, data, &data.reading_field(), true, self.task.threads).holds()
        };
        claims.retain(|claim| matches!(claim, Claim::Unproved { .. }) || holds(claim));
        match Certificate::new(claims) {
            some if some.proves_something() => some,
            _ => Certificate::unproved(HELD_OUT),
        }
    }

    fn save(&self) -> State {
        State::encode(&SavedMargin {
            rows: self.fingerprint,
            features: self.task.data.n_features(),
            classes: self.task.data.n_classes(),
            positive: self.positive,
            visits: self.visits,
            steps: self.steps,
        })
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let saved: SavedMargin = state.decode()?;
        let data = &self.task.data;
        let own = (self.fingerprint, data.n_features(), data.n_classes(), self.positive);
        let fits = (saved.rows, saved.features, saved.classes, saved.positive) == own
            && saved.visits <= self.rows
            && (saved.steps == 0 || saved.visits + 1 >= self.rows);
        let foreign = || Error::usage("the saved state belongs to a run on other data");
        let quest = Quest::new(&self.task, self.positive).filter(|_| fits).ok_or_else(foreign)?;
        let before = (std::mem::replace(&mut self.quest, quest), self.visits, self.steps);
        (self.visits, self.steps) = (saved.visits.min(self.rows - 1), 0);
        // The steps are the same whenever they are made.
        while self.steps < saved.steps && self.quest.end().is_none() {
            self.step();
        }
        if (self.visits, self.steps) != (saved.visits, saved.steps) {
            (self.quest, self.visits, self.steps) = before;
            return Err(foreign());
        }
        Ok(())
    }

    fn remarks(&self) -> Vec<Remark> {
        let Some(widest) = self.widest() else { return Vec::new() };
        let (lower, upper) = (widest.distance.lower, widest.distance.upper);
        let Some(own) = lower else { return Vec::new() };
        let words = match upper {
            Some(upper) => format!(
                "the model's plane stays at least {own} from every row; no plane stays farther than {upper}"
            ),
            None => format!("the model's plane stays at least {own} from every row"),
        };
        let gamma2 = widest.margin.as_ref().map(|margin| margin.gamma2.to_string());
        let distance = [("lower", lower.into()), ("upper", upper.into())];
        let data = [("gamma2", gamma2.into()), ("distance", distance.into())];
        vec![Remark::new("distance", words, data)]
    }

    crate::training_has!(seeks);
    crate::training_lacks!(
        traces,
        carries_on,
        warm_starts,
        bounds_margin,
        bounds_objective,
        generates
    );
}

impl Seeks for MarginRun {
    fn claims_on_rows(&self) -> Vec<Claim> {
        let unproved = |reason: &str| Claim::Unproved { reason: reason.to_owned() };
        let Some((_, separable)) = self.quest.so_far() else {
            return vec![unproved("the run ended before a plane was found that separates")];
        };
        let Some(widest) = self.widest() else {
            let open = unproved("the run ended before the largest margin was found");
            return vec![separable.clone(), open];
        };
        let margin = widest.margin.iter().map(|margin| margin.claim.clone());
        let open = self.shortfall().map(|reason| Claim::Unproved { reason });
        margin.chain([separable.clone()]).chain(open).collect()
    }

    fn refusal(&self) -> Option<Error> {
        match self.quest.end()? {
            End::Inseparable(claim) => Some(Error::inseparable(claim.as_ref().clone())),
            End::Open(reason) => {
                let words = "there is no plane to give";
                let message = format!("{reason}, so {words}; svm learns in any case");
                Some(Error::Limit { code: Code::LIMIT, message })
            }
            End::Plane(_) => None,
        }
    }

    fn shortfall(&self) -> Option<String> {
        let widest = self.widest()?;
        let reason = widest.shortfall?;
        let bound = |bound: Option<f64>| bound.map_or_else(|| "?".to_owned(), |x| x.to_string());
        let (lower, upper) = (bound(widest.distance.lower), bound(widest.distance.upper));
        Some(format!(
            "{reason}: this plane stays at least {lower} from every row, and none stays farther than {upper}"
        ))
    }
}
