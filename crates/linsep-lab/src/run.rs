//! A run that the page steps through: forwards by the library's own `Training`, backwards by its log.
//!
//! Step by step every update is followed and written down as `train` writes its trace. To the end the run goes
//! as fast as `train` does and nothing is written down: when the page then asks for what was before, a second
//! run of the same learner (the scribe) makes the same updates again from where the log ends.

use crate::answer::Wrong;
use crate::limits;
use crate::log::Log;
use crate::sample::sample;
use crate::sets::Loaded;
use crate::spec::{Goal, MODEL, RunSpec, learner_of, limits_of};
use crate::spread::Spread;
use crate::verdict;
use linsep::data::basis::BasisSpec;
use linsep::data::cancel;
use linsep::{
    Budget, Dataset, Learner, Limits, LinearModel, Plane, State, Status, Stop, Task, Training,
};
use linsep_teach::trace::{Follower, Summary};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// One run.
pub(crate) struct Run {
    pub(crate) loaded: Loaded,
    /// The rows with their basis functions.
    pub(crate) data: Arc<Dataset>,
    pub(crate) spec: RunSpec,
    pub(crate) shown: Vec<u32>,
    /// Rows that are always drawn, sorted: those that the verdict rests on.
    pub(crate) notable: Vec<u32>,
    /// The rule by which planes become classes.
    pub(crate) template: LinearModel,
    pub(crate) log: Log,
    pub(crate) threads: usize,
    learner: Box<dyn Learner>,
    /// The run itself, which may be ahead of the log, and how many updates it has made.
    training: Box<dyn Training>,
    made: u64,
    /// Where the log ends while the run is ahead of it.
    left_at: Option<State>,
    scribe: Option<Box<dyn Training>>,
    viewer: Option<Box<dyn Training>>,
    limits: Limits,
    pub(crate) ended: Option<Stop>,
    epochs: Vec<Value>,
    /// What [`Run::target`] found.
    target: Option<Option<Vec<f64>>>,
    spread: OnceLock<Spread>,
}

/// Visits between two looks at the clock on the way to the end, as `linsep::drive` has them.
const RACE: u64 = 1 << 14;

/// Epochs that a summary tells of, at most; more are evenly thinned out.
const EPOCHS: usize = 2_000;

/// A run that came to its end within this time and with so few updates is written down in the same request.
const AT_ONCE: Duration = Duration::from_millis(50);
const AT_ONCE_UPDATES: u64 = 5_000;

impl Run {
    /// Starts a run without doing any work yet.
    pub(crate) fn open(
        spec: RunSpec,
        loaded: Loaded,
        max: Option<u64>,
        threads: usize,
    ) -> Result<Run, Wrong> {
        loaded.data.require_two_classes()?;
        let data = match &spec.basis {
            None => Arc::clone(&loaded.data),
            Some(basis) => {
                let basis: BasisSpec = basis.parse()?;
                Arc::new(Dataset::clone(&loaded.data).with_basis(&basis, None, spec.seed, max)?)
            }
        };
        let (learner, recipe, settings) = learner_of(&spec, &loaded, &data)?;
        let training = learner.start(&Task::new(Arc::clone(&data)).with_threads(threads))?;
        let mut template = training.model();
        template.rule = template.rule.on_scores().clone();
        let named = recipe.map(|recipe| (recipe, &settings));
        let positive = loaded.positive.as_deref();
        Ok(Run {
            log: Log::begin(training.as_ref(), &data, &spec, positive, named)?,
            template,
            shown: sample(data.n_rows(), spec.seed),
            notable: Vec::new(),
            limits: limits_of(&spec, recipe, &data),
            // A model that was learned elsewhere has nothing to learn.
            ended: (spec.learner == MODEL).then_some(Stop::Finished),
            loaded,
            data,
            spec,
            threads,
            learner,
            training,
            made: 0,
            left_at: None,
            scribe: None,
            viewer: None,
            epochs: Vec::new(),
            target: None,
            spread: OnceLock::new(),
        })
    }

    /// The number of the last update.
    pub(crate) fn last(&self) -> u64 {
        self.made
    }

    /// Goes on until the goal, the end, a limit, or the end of the time that a request has.
    pub(crate) fn advance(&mut self, goal: Goal, count: u64) -> Result<Value, Wrong> {
        if self.spec.choose {
            return Err(Wrong::usage("in this order you choose the rows"));
        }
        let clock = Instant::now();
        let before = self.last();
        let more = match goal {
            Goal::End => {
                self.race(&clock)?;
                let ended = self.ended.is_some();
                if ended && self.made - self.log.known() <= AT_ONCE_UPDATES {
                    self.catch_up(u64::MAX, &|| clock.elapsed() >= AT_ONCE)?;
                }
                !ended
            }
            _ => self.walk(goal, count.clamp(1, limits::UPDATES), &clock)?,
        };
        Ok(json!({ "before": before, "more": more, "summary": self.summary() }))
    }

    /// Update by update; whether there is more to do.
    fn walk(&mut self, goal: Goal, count: u64, clock: &Instant) -> linsep::Result<bool> {
        let late = || clock.elapsed() >= limits::SLICE || cancel::is_requested();
        self.catch_up(u64::MAX, &late)?;
        if self.is_ahead() && self.log.full.is_none() {
            return Ok(true);
        }
        let (before, epoch) = (self.last(), self.training.progress().epochs);
        let mut more = true;
        while more && self.ended.is_none() && self.log.full.is_none() {
            let mistake = self.step()?;
            let made = self.last() - before;
            let epochs = self.training.progress().epochs - epoch;
            more = match goal {
                Goal::Update => made < count,
                Goal::Mistake => !mistake,
                Goal::Epoch => epochs < count,
                Goal::End => true,
            };
            if late() {
                break;
            }
        }
        Ok(more && self.ended.is_none() && self.log.full.is_none())
    }

    /// One slice of work that is written down; whether it was an update at a mistake.
    fn step(&mut self) -> linsep::Result<bool> {
        if self.is_at_limit() {
            return Ok(false);
        }
        let epochs = self.training.progress().epochs;
        let budget = self.log.pace(self.training.as_ref());
        let status = self.training.advance(budget);
        let mistake = self.log.follow(self.training.as_ref())?;
        self.made = self.log.known();
        self.note(status, epochs);
        Ok(mistake)
    }

    /// To the end as `train` goes there, without a look at single updates.
    fn race(&mut self, clock: &Instant) -> linsep::Result<()> {
        let counts_updates = self.log.counts_updates();
        while self.ended.is_none() && !self.is_at_limit() {
            if self.left_at.is_none() && !self.is_ahead() {
                self.left_at = Some(self.training.save());
            }
            let now = self.training.progress();
            let epoch = self.training.epoch_rows().max(1);
            let visits = epoch - now.visits % epoch;
            let status = self.training.advance(match counts_updates {
                true => Budget::visits(visits.min(RACE)),
                false => Budget::visits(visits),
            });
            self.made = match counts_updates {
                true => self.training.progress().updates,
                false => self.made + 1,
            };
            self.note(status, now.epochs);
            if clock.elapsed() >= limits::SLICE || cancel::is_requested() {
                break;
            }
        }
        Ok(())
    }

    fn is_at_limit(&mut self) -> bool {
        let epochs = self.training.progress().epochs;
        let over = self.limits.epochs.is_some_and(|limit| epochs >= limit);
        if over {
            self.ended = Some(Stop::Epochs);
        }
        over
    }

    /// Notes an end, and the end of an epoch.
    fn note(&mut self, status: Status, epochs: u64) {
        self.ended = match status {
            Status::Running => None,
            Status::Finished => Some(Stop::Finished),
            Status::Diverged => Some(Stop::Diverged),
        };
        let now = self.training.progress();
        if now.epochs > epochs || self.ended.is_some() {
            let ceiling = self.training.bounds_margin().and_then(|run| run.margin_ceiling());
            self.epochs.push(json!({
                "epoch": now.epochs,
                "k": self.last(),
                "mistakes": now.last_mistakes,
                "objective": now.objective,
                "gap": now.gap,
                "ceiling": ceiling,
            }));
        }
    }

    fn is_ahead(&self) -> bool {
        self.made > self.log.known()
    }

    /// Writes down what the run did on its way to the end, up to update `k`, a limit of the log, or `late`.
    fn catch_up(&mut self, k: u64, late: &dyn Fn() -> bool) -> linsep::Result<()> {
        let wanted = k.min(self.made);
        if self.log.known() < wanted && self.scribe.is_none() {
            let mut scribe = self.start_again()?;
            if let Some(state) = &self.left_at {
                scribe.restore(state)?;
            }
            self.scribe = Some(scribe);
        }
        if let Some(scribe) = &mut self.scribe {
            while self.log.known() < wanted && self.log.full.is_none() && !late() {
                let budget = self.log.pace(scribe.as_ref());
                scribe.advance(budget);
                self.log.follow(scribe.as_ref())?;
            }
        }
        if !self.is_ahead() {
            (self.scribe, self.left_at) = (None, None);
        }
        Ok(())
    }

    /// Makes sure that update `k` is written down, however long that takes.
    pub(crate) fn know(&mut self, k: u64) -> Result<(), Wrong> {
        self.catch_up(k, &|| cancel::is_requested())?;
        match k <= self.log.known() {
            true => Ok(()),
            false if k > self.made => Err(Wrong::Missing("the run has not made this update yet")),
            false => Err(Wrong::Missing(
                "the lab keeps no more updates of this run than it has; the last one is there, too",
            )),
        }
    }

    fn start_again(&self) -> linsep::Result<Box<dyn Training>> {
        self.learner.start(&Task::new(Arc::clone(&self.data)).with_threads(self.threads))
    }

    /// Visits one row of the user's choice.
    pub(crate) fn choose(&mut self, row: u32) -> Result<Value, Wrong> {
        if !self.spec.choose {
            return Err(Wrong::usage("the rows of this run are chosen by its order"));
        }
        if row as usize >= self.data.n_rows() {
            return Err(Wrong::Missing("there is no such row"));
        }
        let before = self.last();
        let mut spec = self.spec.clone();
        let flat = |plane: &Plane| [&[plane.bias], &plane.weights[..]].concat();
        spec.start = Some(self.planes_at(before)?.iter().map(flat).collect());
        let (learner, recipe, settings) = learner_of(&spec, &self.loaded, &self.data)?;
        let task = Task::new(Arc::clone(&self.data)).with_rows(Some(Arc::from([row])));
        let mut training = learner.start(&task)?;
        let recipe = recipe.ok_or_else(|| Wrong::usage("this learner has an order of its own"))?;
        let mut follower = Follower::new(&self.data, recipe.name);
        follower.parameters = recipe.effective(&settings);
        follower.begin(training.as_ref(), &|_| None)?;
        training.advance(Budget::new(1, 1));
        for line in follower.follow(training.as_ref())? {
            self.log.chosen(line, &follower.planes());
        }
        self.made = self.log.known();
        Ok(json!({ "before": before, "more": false, "summary": self.summary() }))
    }

    /// The planes after update `k`.
    pub(crate) fn planes_at(&mut self, k: u64) -> linsep::Result<Vec<Plane>> {
        let each = self.data.n_features() + 1;
        if let Some(planes) = self.log.kept_at(k, each) {
            return Ok(planes);
        }
        match k == self.made && self.is_ahead() {
            true => Ok(walking_planes(self.training.as_ref())),
            false => Ok(walking_planes(self.set_back(k)?)),
        }
    }

    /// The model that the learner would give after update `k`: an average, a pocket, or the walk itself.
    pub(crate) fn model_at(&mut self, k: u64) -> linsep::Result<LinearModel> {
        if k == self.last() && !self.spec.choose {
            return Ok(self.training.model());
        }
        if self.spec.choose {
            let planes = self.planes_at(k)?;
            return Ok(self.walking(planes));
        }
        Ok(self.set_back(k)?.model())
    }

    /// Planes of the walk with the rule of the run.
    pub(crate) fn walking(&self, planes: Vec<Plane>) -> LinearModel {
        let mut model = self.template.clone();
        model.planes = planes;
        model
    }

    /// A second run of the same learner, set back to update `k`.
    fn set_back(&mut self, k: u64) -> linsep::Result<&dyn Training> {
        let fresh = match self.viewer.take() {
            Some(viewer) => viewer,
            None => self.start_again()?,
        };
        let (from, state) = self.log.saved_before(k);
        let viewer = self.viewer.insert(fresh);
        viewer.restore(state)?;
        let epoch = viewer.epoch_rows().max(1);
        let mut slices = from;
        loop {
            let now = viewer.progress();
            let done = if self.log.counts_updates() { now.updates } else { slices };
            if done >= k {
                break;
            }
            let visits = epoch - now.visits % epoch;
            let budget = match self.log.counts_updates() {
                true if self.template.planes.len() == 1 => Budget::new(visits, k - done),
                true => Budget::new(1, 1),
                false => Budget::visits(visits),
            };
            slices += 1;
            if viewer.advance(budget) != Status::Running {
                break;
            }
        }
        Ok(&**viewer)
    }

    /// The trace so far, as `train` writes it.
    pub(crate) fn trace(&mut self) -> Result<Vec<u8>, Wrong> {
        if self.spec.choose {
            return Err(Wrong::usage("rows that you chose make no trace that could be replayed"));
        }
        if self.log.follower.is_none() {
            return Err(Wrong::usage(
                "the updates of this learner are not sums of rows, so there is nothing to trace",
            ));
        }
        if self.know(self.made).is_err() {
            return Err(Wrong::usage(format!(
                "the run has made {} updates and the lab keeps {}; `linsep train` with a `trace` writes them all",
                self.made,
                self.log.known()
            )));
        }
        let remarks = self.training.remarks().into_iter();
        let of_model = remarks.filter(|_| self.ended.is_some()).find(|one| one.name == "weights");
        let mut bytes = self.log.trace.clone();
        if let Some(follower) = &self.log.follower {
            bytes.extend(follower.last_line(of_model.map(|remark| remark.words)).into_bytes());
            bytes.push(b'\n');
        }
        Ok(bytes)
    }

    /// αâ of the proof by distance, bias first: the widest plane (b, w) of length 1, times α. Found once, for
    /// few rows only.
    pub(crate) fn target(&mut self) -> Option<Vec<f64>> {
        if self.target.is_none() {
            let scaled = self.log.header.as_ref().is_none_or(|header| header.scaling != "none");
            let few = self.data.n_rows() <= 1000 && self.data.n_features() <= 8;
            self.target = Some(if few && !scaled { verdict::target(&self.data) } else { None });
        }
        self.target.clone().flatten()
    }

    /// Mean and covariance of the rows, found once.
    pub(crate) fn spread(&self) -> &Spread {
        self.spread.get_or_init(|| Spread::of(&self.loaded.data, &self.shown))
    }

    /// The share of two features in the variance of all.
    pub(crate) fn share_of(&self, i: usize, j: usize) -> f64 {
        let spread = self.spread();
        (spread.of_feature(i) + spread.of_feature(j)) / spread.total()
    }

    /// Where the run stands.
    pub(crate) fn summary(&self) -> Value {
        let progress = self.training.progress();
        let found = self.log.follower.as_ref().map(Follower::summary);
        let bound = |summary: &Summary| json!({ "r2": summary.r2, "gamma": summary.gamma, "bound": summary.bound });
        let shortfall = self.training.seeks().and_then(|run| run.shortfall());
        let refusal = self.training.seeks().and_then(|run| run.refusal());
        let thin = self.epochs.len().div_ceil(EPOCHS).max(1);
        json!({
            "last": self.last(),
            "known": self.log.known(),
            "visits": progress.visits,
            "epochs": progress.epochs,
            "ended": self.ended.map(Stop::word),
            "full": self.log.full,
            "traced": self.log.follower.is_some() && !self.spec.choose,
            "bound": found.as_ref().map(bound),
            "perEpoch": self.epochs.iter().step_by(thin).collect::<Vec<_>>(),
            "shortfall": shortfall.or(refusal.map(|error| error.to_string())),
        })
    }
}

/// The planes that move, as they are: those of the walk, not of an average.
fn walking_planes(run: &dyn Training) -> Vec<Plane> {
    let Some(traces) = run.traces() else { return run.model().planes };
    let beginnings = traces.beginnings();
    let shifted = beginnings.iter().any(|one| one.planes.iter().any(|p| p.shift != 0.0));
    if shifted {
        return run.model().planes;
    }
    let planes = beginnings.iter().flat_map(|one| &one.planes);
    planes.map(|plane| Plane::new(plane.weights.clone(), plane.bias)).collect()
}
