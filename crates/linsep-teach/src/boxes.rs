//! The algorithm boxes of the lectures, by name: which learner with which settings each of them is,
//! and what is wrong with two of them.
//!
//! A box is a preset, no learner of its own. It fixes what it says (ties, order, start, rate, when to
//! stop) and leaves open what it does not; rows are taken as they are, without scaling, and the
//! verdict is not asked. All boxes are about two classes.
//!
//! Boxes 001 and 003 do not do what their lectures say of them. They are mended unless they are asked
//! for as they are printed, and then [`AsPrinted`] runs their loops:
//!
//! * 001 begins with w = 0 and goes on `while E_p(w) > 0`, but E_p(0) = 0, so the loop never starts.
//! * 003 goes on `while error < ε`, which is the test for the end, and leaves its pass with `break`
//!   at the first row that is right, so the rows behind it are never seen.
//!
//! Items of the lectures: 52 to 54, 59 and 60.

use linsep::engine::batch::Batch;
use linsep::engine::perceptron::{Init, Online, Order, Perceptron, Planes};
use linsep::learn::descent::BATCH_PERCEPTRON;
use linsep::learn::perceptron;
use linsep::loss::Criterion;
use linsep::model::{LinearModel, Plane};
use linsep::run::ability::Traces;
use linsep::run::update::{Beginning, Update};
use linsep::run::{
    Budget, Certificate, Learner, Progress, Remark, SavedPlane, State, Status, Task, Training,
};
use linsep_data::error::{Error, Result};
use linsep_data::scale::Scaler;
use serde::{Deserialize, Serialize};

mod recipe;

/// A box of a lecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AlgorithmBox {
    /// The name, as in `box`: the number of the lecture, and which of its boxes.
    pub name: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// The box, line by line.
    pub text: &'static str,
    /// The learner that it is, by its name in the registry.
    pub learner: &'static str,
    /// The settings that it fixes.
    pub fixed: &'static [(&'static str, &'static str)],
    /// The settings that it leaves open, and what they are unless they are given.
    pub open: &'static [(&'static str, &'static str)],
    /// When it stops: `empty` no row is wrong, `clean-epoch` a pass made no correction,
    /// `clean-window` none of the last N visits did, `below:E` the criterion is below E.
    pub stop: &'static str,
    /// What is wrong with it and how it is mended.
    pub mended: &'static [&'static str],
    /// The loop as it is printed, where it differs from the mended one.
    pub printed: Option<Printed>,
}

/// The loops of two boxes as they are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// `while E_p(w) > 0`, asked before every row.
    WhilePositive,
    /// `while error < ε`, asked before every pass, and a pass ends at the first row that is right.
    WhileBelow,
}

const TWO_CLASSES: [(&str, &str); 4] =
    [("verdict", "off"), ("scale", "none"), ("class-weight", "none"), ("multiclass", "joint")];
const BATCH: [(&str, &str); 2] = [("scale", "none"), ("class-weight", "none")];

/// Every box, in the order of the lectures.
pub const ALL: &[AlgorithmBox] = &[
    AlgorithmBox {
        name: "000-batch",
        title: "batch perceptron",
        text: "1  initialise a(0)\n\
               2  D(k) = the rows that a(k) puts on the wrong side: y (a·z) <= 0\n\
               3  a(k+1) = a(k) + eta * sum of y z over D(k)\n\
               4  repeat from 2 until D(k) is empty",
        learner: BATCH_PERCEPTRON,
        fixed: &BATCH,
        open: &[("eta", "1")],
        stop: "empty",
        mended: &[],
        printed: None,
    },
    AlgorithmBox {
        name: "000-single",
        title: "single-sample perceptron",
        text: "1  initialise a(0)\n\
               2  at a row that is wrong, y (a·z) <= 0: a(k+1) = a(k) + eta y z\n\
               3  repeat 2, row after row, until every row is right",
        learner: perceptron::NAME,
        fixed: &with(("ties", "000"), ("order", "cyclic")),
        open: &[("eta", "1"), ("init", "zero")],
        stop: "empty",
        mended: &[],
        printed: None,
    },
    AlgorithmBox {
        name: "001",
        title: "perceptron learning rule",
        text: "1  procedure (X, T, eta)\n\
               2    w <- 0\n\
               3    while E_p(X, w) > 0 do\n\
               4      choose x(n) in X\n\
               5      y = sgn(w·x(n)), where sgn(0) = +1\n\
               6      if t(n) != y then\n\
               7        w(t+1) <- w(t+1) + x(n) t(n)\n\
               8    return w",
        learner: perceptron::NAME,
        fixed: &with(("ties", "001"), ("init", "zero")),
        open: &[("eta", "1"), ("order", "cyclic")],
        stop: "empty",
        mended: &[
            "the loop goes on while a row is wrong; E_p > 0 does not hold at w = 0, where it starts",
            "the step uses the rate eta, which the box takes and forgets, and starts from w(t)",
        ],
        printed: Some(Printed::WhilePositive),
    },
    AlgorithmBox {
        name: "002",
        title: "perceptron learning algorithm",
        text: "1  initialise w = 0\n\
               2  while true do\n\
               3    m = 0\n\
               4    for (x, y) in D do\n\
               5      if y (w·x) <= 0 then w <- w + y x, m <- m + 1\n\
               6    if m = 0 then break",
        learner: perceptron::NAME,
        fixed: &[
            ("ties", "002"),
            ("order", "cyclic"),
            ("init", "zero"),
            ("eta", "1"),
            TWO_CLASSES[0],
            TWO_CLASSES[1],
            TWO_CLASSES[2],
            TWO_CLASSES[3],
        ],
        open: &[],
        stop: "clean-epoch",
        mended: &[],
        printed: None,
    },
    AlgorithmBox {
        name: "003",
        title: "perceptron, in pseudocode",
        text: "1  initialise w at random\n\
               2  while the error < epsilon do\n\
               3    for each training point x(i)\n\
               4      compute the activation function\n\
               5      if y(x(i)) = t(i) then break\n\
               6      else update the weight: w <- w + eta x(i) t(i)",
        learner: perceptron::NAME,
        fixed: &with(("ties", "003"), ("order", "cyclic")),
        open: &[("eta", "1"), ("init", "random")],
        stop: "empty",
        mended: &[
            "the loop goes on until no row is wrong; \"while error < epsilon\" is the test for its end",
            "a row that is right is passed over; \"break\" would leave the pass and the rows behind it",
        ],
        printed: Some(Printed::WhileBelow),
    },
    AlgorithmBox {
        name: "004-batch",
        title: "perceptron learning by gradient descent, all rows at a time",
        text: "1  w(i+1) = w(i) + eta(i) * sum over n of [g(z x) <= 0] z x, with eta(i) >= 0\n\
               2  stop when the sum is 0: no row is wrong",
        learner: BATCH_PERCEPTRON,
        fixed: &BATCH,
        open: &[("eta", "1")],
        stop: "empty",
        mended: &[],
        printed: None,
    },
    AlgorithmBox {
        name: "004-sequential",
        title: "perceptron learning by gradient descent, row after row",
        text: "1  w(i+1) = w(i) + eta(i) [g(z x) <= 0] z x, with eta(i) >= 0\n\
               2  stop when no row of the last N iterations was wrong",
        learner: perceptron::NAME,
        fixed: &[("ties", "004"), TWO_CLASSES[0], TWO_CLASSES[1], TWO_CLASSES[2], TWO_CLASSES[3]],
        open: &[("eta", "1"), ("order", "cyclic"), ("init", "zero")],
        stop: "clean-window",
        mended: &[],
        printed: None,
    },
];

/// Two settings and those of every box with one plane.
const fn with(
    a: (&'static str, &'static str),
    b: (&'static str, &'static str),
) -> [(&'static str, &'static str); 6] {
    let [c, d, e, f] = TWO_CLASSES;
    [a, b, c, d, e, f]
}

impl AlgorithmBox {
    /// The box of this name.
    pub fn find(name: &str) -> Result<&'static AlgorithmBox> {
        ALL.iter().find(|one| one.name == name).ok_or_else(|| {
            let names: Vec<&str> = ALL.iter().map(|one| one.name).collect();
            Error::usage(format!("no box \"{name}\"; there are: {}", names.join(", ")))
        })
    }
}

/// A learner for two classes only.
pub(crate) struct TwoClasses(pub(crate) &'static str, pub(crate) Box<dyn Learner>);

impl Learner for TwoClasses {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        match task.data.n_classes() {
            0..=2 => self.1.start(task),
            classes => Err(Error::usage(format!(
                "box {} is about two classes, the data has {classes}; \
                 `positive=CLASS` makes the others one",
                self.0
            ))),
        }
    }
}

/// A box with its errors: the perceptron in a loop that is wrong.
///
/// ```
/// use linsep_teach::boxes::{AsPrinted, Printed};
/// use linsep::learn::perceptron::Perceptron;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let and = Task::new(Dataset::from_rows(&rows, &["0", "0", "0", "1"])?);
/// let box_001 = AsPrinted::new(Perceptron::default(), Printed::WhilePositive, 0.0);
/// let fit = box_001.fit(&and, &Limits::default(), &mut ())?;
/// assert_eq!(fit.progress.updates, 0);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AsPrinted {
    /// The perceptron inside the loop, without scaling and in the order of the file for 003.
    pub run: Perceptron,
    /// The loop.
    pub printed: Printed,
    /// ε of box 003.
    pub epsilon: f64,
}

impl AsPrinted {
    /// A loop around a perceptron.
    pub fn new(run: Perceptron, printed: Printed, epsilon: f64) -> AsPrinted {
        AsPrinted { run, printed, epsilon }
    }
}

impl Learner for AsPrinted {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        let mut settings = self.run.clone();
        if self.printed == Printed::WhileBelow {
            settings.order = Order::Cyclic;
        }
        let run = settings.launch(task, Planes::One(1), false)?;
        let first = run.model().planes;
        let (rows, now) = (task.active_rows()?, Now::default());
        let mut this = Loop {
            task: task.clone(),
            rows,
            settings,
            printed: self.printed,
            epsilon: self.epsilon,
            run,
            first,
            error: 0.0,
            now,
            last: None,
        };
        this.error = this.measure();
        Ok(Box::new(this))
    }
}

struct Loop {
    task: Task,
    rows: Vec<u32>,
    settings: Perceptron,
    printed: Printed,
    epsilon: f64,
    /// The perceptron; a new one in each pass of box 003, which may end early.
    run: Online,
    /// The planes from which it started.
    first: Vec<Plane>,
    /// E_p of the planes as they are.
    error: f64,
    now: Now,
    /// The last update of the passes before.
    last: Option<Update>,
}

/// What happened before the present pass.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Now {
    passes: u64,
    visits: u64,
    updates: u64,
    last_mistakes: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedBox {
    now: Now,
    first: Vec<SavedPlane>,
    run: Vec<u8>,
}

impl Loop {
    /// E_p: minus the margins of the rows that are wrong, added up.
    fn measure(&self) -> f64 {
        let batch = Batch {
            data: &self.task.data,
            rows: &self.rows,
            positive: 1,
            scaler: &Scaler::default(),
            weights: None,
            threads: self.task.threads,
        };
        let planes = self.run.model().planes;
        planes.first().map_or(0.0, |plane| batch.sums(&Criterion::Perceptron, plane).value)
    }

    /// Whether the test at the head of the loop lets it go on; true inside a pass of box 003.
    fn goes_on(&self) -> bool {
        match self.printed {
            Printed::WhilePositive => self.error > 0.0,
            Printed::WhileBelow => self.run.progress().visits > 0 || self.error < self.epsilon,
        }
    }

    /// Leaves the pass: the next one begins at the first row with the planes as they are.
    fn next_pass(&mut self) -> Result<()> {
        let Progress { visits, updates, .. } = self.run.progress();
        self.last = self.last_updates().pop();
        self.now.passes += 1;
        self.now.visits += visits;
        self.now.updates += updates;
        self.now.last_mistakes = Some(updates);
        self.launch(self.run.model().planes)
    }

    fn launch(&mut self, first: Vec<Plane>) -> Result<()> {
        self.first.clone_from(&first);
        let mut settings = self.settings.clone();
        settings.init = Init::Given(first);
        self.run = settings.launch(&self.task, Planes::One(1), false)?;
        Ok(())
    }
}

impl Training for Loop {
    fn advance(&mut self, budget: Budget) -> Status {
        let Budget { mut visits, mut updates, .. } = budget;
        loop {
            if !self.goes_on() {
                return Status::Finished;
            }
            if visits == 0 || updates == 0 {
                return Status::Running;
            }
            let before = self.run.progress();
            let status = self.run.advance(Budget::new(1, updates));
            if status == Status::Diverged {
                return status;
            }
            let after = self.run.progress();
            visits -= 1;
            let corrected = after.updates > before.updates;
            if corrected {
                updates -= 1;
                self.error = self.measure();
            }
            let leaves = !corrected || after.epochs > before.epochs;
            if self.printed == Printed::WhileBelow && leaves && self.next_pass().is_err() {
                return Status::Diverged;
            }
        }
    }

    /// A pass of box 003 may end at any row, and limits are looked at after each of them.
    fn epoch_rows(&self) -> u64 {
        match self.printed {
            Printed::WhilePositive => self.run.epoch_rows(),
            Printed::WhileBelow => 1,
        }
    }

    fn progress(&self) -> Progress {
        let inner = self.run.progress();
        match self.printed {
            Printed::WhilePositive => inner,
            Printed::WhileBelow => inner
                .with_epochs(self.now.passes)
                .with_visits(self.now.visits + inner.visits)
                .with_updates(self.now.updates + inner.updates)
                .with_last_mistakes(self.now.last_mistakes),
        }
    }

    fn model(&self) -> LinearModel {
        self.run.model()
    }

    fn certificate(&self) -> Certificate {
        linsep::engine::perceptron::certificate_of(&self.task, Planes::One(1), &self.model().planes)
    }

    fn remarks(&self) -> Vec<Remark> {
        let Progress { visits, updates, .. } = self.progress();
        let (error, epsilon) = (self.error, self.epsilon);
        let words = match self.printed {
            Printed::WhilePositive if visits == 0 => {
                format!(
                    "never started: E_p = {error} at the start, and the test asks for more than 0"
                )
            }
            Printed::WhilePositive => format!("E_p = {error} at the end"),
            Printed::WhileBelow if visits == 0 => format!(
                "never started: the error is {error:.4} at the start, and the test asks for less than {epsilon}"
            ),
            Printed::WhileBelow if !self.goes_on() => {
                format!("ended with the error {error:.4}, because it is not below {epsilon}")
            }
            Printed::WhileBelow => {
                format!(
                    "no end: the error is {error:.4}, and a pass ends at the first row that is right"
                )
            }
        };
        let data =
            [("error", error.into()), ("visits", visits.into()), ("updates", updates.into())];
        vec![Remark::new("loop", words, data)]
    }

    fn save(&self) -> State {
        State::encode(&SavedBox {
            now: self.now.clone(),
            first: self.first.iter().map(SavedPlane::of).collect(),
            run: self.run.save().as_bytes().to_vec(),
        })
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let saved: SavedBox = state.decode()?;
        let first = SavedPlane::all(&saved.first, &self.first)?;
        self.launch(first)?;
        self.run.restore(&State::from_bytes(saved.run))?;
        (self.now, self.last) = (saved.now, None);
        self.error = self.measure();
        Ok(())
    }

    linsep::training_has!(traces);
    linsep::training_lacks!(
        carries_on,
        warm_starts,
        bounds_margin,
        bounds_objective,
        generates,
        seeks
    );
}

impl Traces for Loop {
    fn beginnings(&self) -> Vec<Beginning> {
        let updates = self.progress().updates;
        let mut beginnings = self.run.traces().map_or_else(Vec::new, |run| run.beginnings());
        beginnings.iter_mut().for_each(|beginning| beginning.updates = updates);
        beginnings
    }

    fn last_updates(&self) -> Vec<Update> {
        let numbered = |mut update: Update| {
            if self.printed == Printed::WhileBelow {
                update.number += self.now.updates;
                update.epoch = self.now.passes + 1;
            }
            update
        };
        let inner = self.run.traces().map_or_else(Vec::new, |run| run.last_updates());
        self.last.iter().cloned().chain(inner.into_iter().map(numbered)).collect()
    }
}
