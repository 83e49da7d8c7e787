//! A run that the page steps through: forwards by the library's own `Training`, backwards by what was kept.
//!
//! Going on, every update is followed and written down as `train` writes its trace. Small planes are kept
//! for every update. Large ones are rebuilt: every so many updates the run is saved, and a second run of the
//! same learner is set back to the state before the wanted update and goes on from there, which gives the
//! same bits as the first time.

use crate::answer::Wrong;
use crate::limits;
use crate::sets::{DataSpec, Loaded};
use crate::verdict;
use linsep::data::basis::BasisSpec;
use linsep::data::cancel;
use linsep::recipe::{Kind, Recipe, Settings};
use linsep::{
    Budget, Dataset, Learner, Limits, LinearModel, Plane, State, Status, Stop, Task, Training,
};
use linsep_teach::trace::{Follower, Header, Line, Summary, margin_of_run};
use linsep_teach::two_weights::TwoWeights;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// The learner without a bias, which the registry does not have.
pub(crate) const TWO_WEIGHTS: &str = "two-weights";

/// What the page asks for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunSpec {
    pub(crate) data: DataSpec,
    pub(crate) learner: String,
    #[serde(default)]
    pub(crate) settings: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) seed: u64,
    /// Planes to start with: bias first.
    #[serde(default)]
    pub(crate) start: Option<Vec<Vec<f64>>>,
    #[serde(default)]
    pub(crate) basis: Option<String>,
    #[serde(default)]
    pub(crate) epochs: Option<u64>,
    /// Whether the user chooses each row.
    #[serde(default)]
    pub(crate) choose: bool,
}

/// How far to go.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Goal {
    Update,
    Mistake,
    Epoch,
    End,
}

/// One run.
pub(crate) struct Run {
    pub(crate) loaded: Loaded,
    /// The rows with their basis functions.
    pub(crate) data: Arc<Dataset>,
    pub(crate) spec: RunSpec,
    pub(crate) shown: Vec<u32>,
    /// The rule by which planes become classes.
    pub(crate) template: LinearModel,
    learner: Box<dyn Learner>,
    training: Box<dyn Training>,
    viewer: Option<Box<dyn Training>>,
    follower: Option<Follower>,
    pub(crate) header: Option<Header>,
    trace: Vec<u8>,
    pub(crate) lines: Vec<Line>,
    /// Numbers of the planes of every update, the start first, where they are few.
    kept: Vec<f64>,
    width: usize,
    saved: Vec<(u64, State)>,
    limits: Limits,
    pub(crate) ended: Option<Stop>,
    full: Option<&'static str>,
    epochs: Vec<Value>,
    /// What [`Run::target`] found.
    target: Option<Option<Vec<f64>>>,
}

impl Run {
    /// Starts a run without doing any work yet.
    pub(crate) fn open(spec: RunSpec, loaded: Loaded, max: Option<u64>) -> Result<Run, Wrong> {
        loaded.data.require_two_classes()?;
        let data = match &spec.basis {
            None => Arc::clone(&loaded.data),
            Some(basis) => {
                let basis: BasisSpec = basis.parse()?;
                Arc::new(Dataset::clone(&loaded.data).with_basis(&basis, None, spec.seed, max)?)
            }
        };
        let (learner, recipe, settings) = learner_of(&spec, &data)?;
        let task = Task::new(Arc::clone(&data));
        let training = learner.start(&task)?;
        let mut run = Run {
            template: training.model(),
            width: 0,
            shown: sample(data.n_rows(), spec.seed),
            limits: limits_of(&spec, recipe, &data),
            loaded,
            data,
            spec,
            learner,
            training,
            viewer: None,
            follower: None,
            header: None,
            trace: Vec::new(),
            lines: Vec::new(),
            kept: Vec::new(),
            saved: Vec::new(),
            ended: None,
            full: None,
            epochs: Vec::new(),
            target: None,
        };
        run.template.rule = run.template.rule.on_scores().clone();
        if let (true, Some(recipe)) = (run.training.traces().is_some(), recipe) {
            run.begin_trace(recipe, &settings)?;
        }
        let planes = run.planes_now();
        let numbers: usize = planes.iter().map(|plane| plane.weights.len() + 1).sum();
        run.width = if numbers <= limits::KEPT_WIDTH { numbers } else { 0 };
        run.keep(&planes);
        run.saved.push((0, run.training.save()));
        Ok(run)
    }

    fn begin_trace(&mut self, recipe: &Recipe, settings: &Settings) -> linsep::Result<()> {
        let mut follower = Follower::new(&self.data, recipe.name);
        follower.parameters = recipe.effective(settings);
        follower.seed = settings.seed;
        follower.positive.clone_from(&self.loaded.positive);
        let data = &self.data;
        let gamma = |start: &_| margin_of_run(data, start, false, 1, &|| false);
        let header = follower.begin(self.training.as_ref(), &gamma)?;
        push_line(&mut self.trace, &header);
        (self.follower, self.header) = (Some(follower), Some(header));
        Ok(())
    }

    /// The number of the last update.
    pub(crate) fn last(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Goes on until the goal, the end, a limit, or the end of the time that a request has.
    pub(crate) fn advance(&mut self, goal: Goal, count: u64) -> Result<Value, Wrong> {
        if self.spec.choose {
            return Err(Wrong::usage("in this order you choose the rows"));
        }
        let clock = Instant::now();
        let (before, epoch) = (self.last(), self.training.progress().epochs);
        let count = count.clamp(1, limits::UPDATES);
        let mut more = true;
        while more && self.ended.is_none() && self.full.is_none() {
            let mistake = self.step()?;
            let made = self.last() - before;
            let epochs = self.training.progress().epochs - epoch;
            more = match goal {
                Goal::Update => made < count,
                Goal::Mistake => !mistake,
                Goal::Epoch => epochs < count,
                Goal::End => true,
            };
            if clock.elapsed() >= limits::SLICE {
                break;
            }
        }
        let more = more && self.ended.is_none() && self.full.is_none();
        Ok(json!({ "before": before, "more": more, "summary": self.summary() }))
    }

    /// One slice of work; whether it was an update at a mistake.
    fn step(&mut self) -> linsep::Result<bool> {
        let now = self.training.progress();
        if self.limits.epochs.is_some_and(|epochs| now.epochs >= epochs) {
            self.ended = Some(Stop::Epochs);
            return Ok(false);
        }
        let epoch = self.training.epoch_rows().max(1);
        let several = self.header.as_ref().is_some_and(|header| header.machines.len() > 1);
        let budget = match self.follower.is_some() || self.spec.learner == TWO_WEIGHTS {
            true if several => Budget::new(1, 1),
            true => Budget::new(epoch - now.visits % epoch, 1),
            // Runs that are no sums of rows show an epoch at a time.
            false => Budget::visits(epoch - now.visits % epoch),
        };
        let training = self.training.as_mut();
        let status = cancel::catch(|| training.advance(budget)).unwrap_or(Status::Finished);
        let mistake = self.follow()?;
        self.ended = match status {
            Status::Running => None,
            Status::Finished => Some(Stop::Finished),
            Status::Diverged => Some(Stop::Diverged),
        };
        self.note_epoch(now.epochs);
        Ok(mistake)
    }

    /// Writes down what the last slice did.
    fn follow(&mut self) -> linsep::Result<bool> {
        let before = self.last();
        let mut mistake = false;
        match &mut self.follower {
            Some(follower) if follower.is_behind(self.training.as_ref()) => {
                for line in follower.follow(self.training.as_ref())? {
                    mistake |= line.margin_before.is_none_or(|margin| margin <= 0.0);
                    push_line(&mut self.trace, &line);
                    self.lines.push(line);
                }
            }
            Some(_) => {}
            None => {
                let progress = self.training.progress();
                if self.spec.learner != TWO_WEIGHTS || progress.updates > before {
                    let mut line = Line::default();
                    (line.k, line.epoch) = (before + 1, progress.epochs.max(1));
                    if self.spec.learner == TWO_WEIGHTS {
                        let rows = self.training.epoch_rows().max(1);
                        line.epoch = (progress.visits - 1) / rows + 1;
                        line.row =
                            self.is_single().then_some(((progress.visits - 1) % rows) as u32);
                    }
                    line.norm = Some(norm_of(&self.training.model().planes));
                    line.mistakes = progress.last_mistakes.unwrap_or(0);
                    self.lines.push(line);
                    mistake = true;
                }
            }
        }
        // Several binary classifiers may have moved in one visit: the planes between are those after it.
        for _ in before..self.last() {
            let planes = self.planes_now();
            self.keep(&planes);
        }
        let last = self.last();
        if last > before && last / limits::STRIDE != before / limits::STRIDE {
            self.saved.push((last, self.training.save()));
        }
        self.full = match () {
            () if last >= limits::UPDATES => Some("updates"),
            () if self.trace.len() >= limits::TRACE => Some("trace"),
            () if self.kept.len() >= limits::NUMBERS => Some("planes"),
            () => None,
        };
        Ok(mistake)
    }

    fn is_single(&self) -> bool {
        self.spec.settings.get("batch").is_none_or(|batch| batch == "off")
    }

    fn note_epoch(&mut self, before: u64) {
        let now = self.training.progress();
        if now.epochs > before || self.ended.is_some() {
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
        let (learner, recipe, settings) = learner_of(&spec, &self.data)?;
        let task = Task::new(Arc::clone(&self.data)).with_rows(Some(Arc::from([row])));
        let mut training = learner.start(&task)?;
        let recipe = recipe.ok_or_else(|| Wrong::usage("this learner has an order of its own"))?;
        let mut follower = Follower::new(&self.data, recipe.name);
        follower.parameters = recipe.effective(&settings);
        follower.begin(training.as_ref(), &|_| None)?;
        training.advance(Budget::new(1, 1));
        for mut line in follower.follow(training.as_ref())? {
            line.k = self.last() + 1;
            self.lines.push(line);
            let planes = follower.planes();
            self.keep(&planes);
        }
        if self.last() >= limits::UPDATES {
            self.full = Some("updates");
        }
        Ok(json!({ "before": before, "more": false, "summary": self.summary() }))
    }

    /// The planes that move, as they are: those of the walk, not of an average.
    fn planes_now(&self) -> Vec<Plane> {
        match &self.follower {
            Some(follower) => follower.planes(),
            None => self.training.model().planes,
        }
    }

    fn keep(&mut self, planes: &[Plane]) {
        if self.width == 0 {
            return;
        }
        let from = self.kept.len();
        for plane in planes {
            self.kept.push(plane.bias);
            self.kept.extend_from_slice(&plane.weights);
        }
        // A run whose planes are not ready yet has fewer or more of them.
        self.kept.resize(from + self.width, 0.0);
    }

    /// The planes after update `k`.
    pub(crate) fn planes_at(&mut self, k: u64) -> linsep::Result<Vec<Plane>> {
        if self.width > 0 {
            let each = self.data.n_features() + 1;
            let from = k as usize * self.width;
            let numbers = &self.kept[from..from + self.width];
            return Ok(numbers.chunks(each).map(|n| Plane::new(n[1..].to_vec(), n[0])).collect());
        }
        let run = self.set_back(k)?;
        Ok(match run.traces() {
            Some(traces) => {
                let beginnings = traces.beginnings();
                let planes = beginnings.iter().flat_map(|one| &one.planes);
                let shifted =
                    beginnings.iter().any(|one| one.planes.iter().any(|p| p.shift != 0.0));
                match shifted {
                    true => run.model().planes,
                    false => planes.map(|p| Plane::new(p.weights.clone(), p.bias)).collect(),
                }
            }
            None => run.model().planes,
        })
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
            None => self.learner.start(&Task::new(Arc::clone(&self.data)))?,
        };
        let at = self.saved.partition_point(|(saved, _)| *saved <= k).saturating_sub(1);
        let (from, state) = &self.saved[at];
        let viewer = self.viewer.insert(fresh);
        viewer.restore(state)?;
        let traced = self.follower.is_some() || self.spec.learner == TWO_WEIGHTS;
        let epoch = viewer.epoch_rows().max(1);
        let mut slices = *from;
        loop {
            let now = viewer.progress();
            let done = if traced { now.updates } else { slices };
            if done >= k {
                break;
            }
            let visits = epoch - now.visits % epoch;
            let budget = match traced {
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
    pub(crate) fn trace(&self) -> Result<Vec<u8>, Wrong> {
        let Some(follower) = &self.follower else {
            return Err(Wrong::usage(
                "the updates of this learner are not sums of rows, so there is nothing to trace",
            ));
        };
        if self.spec.choose {
            return Err(Wrong::usage("rows that you chose make no trace that could be replayed"));
        }
        let remarks = self.training.remarks().into_iter();
        let of_model = remarks.filter(|_| self.ended.is_some()).find(|one| one.name == "weights");
        let mut bytes = self.trace.clone();
        bytes.extend(follower.last_line(of_model.map(|remark| remark.words)).into_bytes());
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// αâ of the proof by distance, bias first: the widest plane (b, w) of length 1, times α. Found once, for
    /// few rows only.
    pub(crate) fn target(&mut self) -> Option<Vec<f64>> {
        if self.target.is_none() {
            let scaled = self.header.as_ref().is_none_or(|header| header.scaling != "none");
            let few = self.data.n_rows() <= 1000 && self.data.n_features() <= 8;
            self.target = Some(if few && !scaled { verdict::target(&self.data) } else { None });
        }
        self.target.clone().flatten()
    }

    /// Where the run stands.
    pub(crate) fn summary(&self) -> Value {
        let progress = self.training.progress();
        let found = self.follower.as_ref().map(Follower::summary);
        let bound = |summary: &Summary| json!({ "r2": summary.r2, "gamma": summary.gamma, "bound": summary.bound });
        let shortfall = self.training.seeks().and_then(|run| run.shortfall());
        let refusal = self.training.seeks().and_then(|run| run.refusal());
        json!({
            "last": self.last(),
            "visits": progress.visits,
            "epochs": progress.epochs,
            "ended": self.ended.map(Stop::word),
            "full": self.full,
            "traced": self.follower.is_some() && !self.spec.choose,
            "bound": found.as_ref().map(bound),
            "perEpoch": self.epochs,
            "shortfall": shortfall.or(refusal.map(|error| error.to_string())),
        })
    }
}

fn push_line(trace: &mut Vec<u8>, value: &impl serde::Serialize) {
    // Writing to memory does not fail, and every line has a JSON form.
    let _ = serde_json::to_writer(&mut *trace, value);
    trace.push(b'\n');
}

fn norm_of(planes: &[Plane]) -> f64 {
    let square =
        |plane: &Plane| plane.bias.powi(2) + plane.weights.iter().map(|w| w * w).sum::<f64>();
    planes.iter().map(square).sum::<f64>().sqrt()
}

/// A learner with its entry in the registry, if it has one, and its settings.
type Chosen = (Box<dyn Learner>, Option<&'static Recipe>, Settings);

/// The learner that was asked for.
fn learner_of(spec: &RunSpec, data: &Dataset) -> Result<Chosen, Wrong> {
    let mut settings = Settings::default();
    settings.seed = spec.seed;
    if spec.learner == TWO_WEIGHTS {
        return Ok((Box::new(two_weights(spec)?), None, settings));
    }
    let recipe = Recipe::find(&spec.learner)?;
    for (name, value) in &spec.settings {
        if value.starts_with("table:")
            || (name == "init" && !matches!(&value[..], "zero" | "random"))
        {
            return Err(Wrong::usage(format!("`{name}`: the lab reads no files")));
        }
        settings.set(name, value);
    }
    if let Some(start) = &spec.start {
        let wide = data.n_features() + 1;
        if start.len() > 64 || start.iter().any(|plane| plane.len() != wide) {
            return Err(Wrong::usage(format!(
                "`start` needs planes of {wide} numbers, bias first"
            )));
        }
        if start.iter().flatten().any(|x| !x.is_finite()) {
            return Err(Wrong::usage("`start` has a number that is not finite"));
        }
        settings.set("init", "page");
        settings.start =
            Some(start.iter().map(|plane| Plane::new(plane[1..].to_vec(), plane[0])).collect());
    }
    Ok((recipe.build(&settings)?, Some(recipe), settings))
}

fn two_weights(spec: &RunSpec) -> Result<TwoWeights, Wrong> {
    let mut learner = TwoWeights::default();
    for (name, value) in &spec.settings {
        match name.as_str() {
            "batch" if value == "off" => {}
            "batch" => learner.batch = Some(value.parse()?),
            "eta" if value == "auto" => {}
            "eta" => {
                let rate = value.parse().map_err(|_| Wrong::usage("`eta` is no number"))?;
                learner.rate = Some(rate);
            }
            _ => return Err(Wrong::usage(format!("{TWO_WEIGHTS} has no setting \"{name}\""))),
        }
    }
    if let Some(start) = &spec.start {
        let two = match &start[..] {
            [plane] if plane.iter().all(|x| x.is_finite()) => match plane[..] {
                // One feature: bias and weight. Two features: the bias is 0.
                [b, w] => Some([b, w]),
                [_, u, v] => Some([u, v]),
                _ => None,
            },
            _ => None,
        };
        learner.start =
            two.ok_or_else(|| Wrong::usage("`start` needs one plane of two weights"))?;
    }
    Ok(learner)
}

/// The limits that `train` has.
fn limits_of(spec: &RunSpec, recipe: Option<&Recipe>, data: &Dataset) -> Limits {
    let default = match recipe.map(|recipe| recipe.kind) {
        Some(Kind::Optimising) => {
            let values = data.nonzeros() + data.n_rows() as u64;
            (2_000_000_000 / values.max(1)).clamp(1000, 100_000)
        }
        _ => 100,
    };
    Limits::default().with_epochs(Some(spec.epochs.unwrap_or(default).min(10_000_000)))
}

/// The rows that are drawn: all, or a sample that the seed decides.
fn sample(rows: usize, seed: u64) -> Vec<u32> {
    if rows <= limits::SHOWN {
        return (0..rows as u32).collect();
    }
    // A permutation of 64 bits (splitmix) orders the rows; the first of them are taken.
    let place = |row: u32| {
        let mut z = (u64::from(row) ^ seed.rotate_left(32)).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mut all: Vec<(u64, u32)> = (0..rows as u32).map(|row| (place(row), row)).collect();
    all.select_nth_unstable(limits::SHOWN);
    let mut shown: Vec<u32> = all[..limits::SHOWN].iter().map(|(_, row)| *row).collect();
    shown.sort_unstable();
    shown
}
