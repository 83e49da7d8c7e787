//! What is written down of a run: a line for every update, the trace, and what it takes to go back.
//!
//! Small planes are kept for every update. Large ones are rebuilt: every so often the run is saved, and a
//! second run of the same learner is set back to the state before the wanted update and goes on from there,
//! which gives the same bits as the first time.

use crate::limits;
use crate::spec::{RunSpec, TWO_WEIGHTS};
use linsep::recipe::{Recipe, Settings};
use linsep::{Budget, Dataset, Plane, State, Training};
use linsep_teach::trace::{Follower, Header, Line, margin_of_run};
use std::sync::Arc;

/// The log of one run.
pub(crate) struct Log {
    pub(crate) follower: Option<Follower>,
    pub(crate) header: Option<Header>,
    /// The trace as `train` writes it, without its last line.
    pub(crate) trace: Vec<u8>,
    pub(crate) lines: Vec<Line>,
    /// Numbers of the planes of every update, the start first, where they are few.
    kept: Vec<f64>,
    /// Numbers of one update; 0 where they are not kept.
    width: usize,
    /// Saved states with the number of updates, rising.
    saved: Vec<(u64, State)>,
    /// Visits at the last of them.
    saved_at: u64,
    /// Why nothing more is written down.
    pub(crate) full: Option<&'static str>,
    /// Whether the one learner that is not in the registry makes the updates, and row by row.
    two_weights: Option<bool>,
}

impl Log {
    /// An empty log of a run that has not begun.
    pub(crate) fn begin(
        run: &dyn Training,
        data: &Arc<Dataset>,
        spec: &RunSpec,
        positive: Option<&str>,
        recipe: Option<(&Recipe, &Settings)>,
    ) -> linsep::Result<Log> {
        let single = spec.settings.get("batch").is_none_or(|batch| batch == "off");
        let mut log = Log {
            follower: None,
            header: None,
            trace: Vec::new(),
            lines: Vec::new(),
            kept: Vec::new(),
            width: 0,
            saved: Vec::new(),
            saved_at: 0,
            full: None,
            two_weights: (spec.learner == TWO_WEIGHTS).then_some(single),
        };
        if let (true, Some((recipe, settings))) = (run.traces().is_some(), recipe) {
            let mut follower = Follower::new(data, recipe.name);
            follower.parameters = recipe.effective(settings);
            follower.seed = settings.seed;
            follower.positive = positive.map(str::to_owned);
            let gamma = |start: &_| margin_of_run(data, start, false, 1, &|| false);
            let header = follower.begin(run, &gamma)?;
            push_line(&mut log.trace, &header);
            (log.follower, log.header) = (Some(follower), Some(header));
        }
        let planes = log.planes_of(run);
        let numbers: usize = planes.iter().map(|plane| plane.weights.len() + 1).sum();
        log.width = if numbers <= limits::KEPT_WIDTH { numbers } else { 0 };
        log.keep(&planes);
        log.saved.push((0, run.save()));
        Ok(log)
    }

    /// The number of the last update that is written down.
    pub(crate) fn known(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Whether updates are those that the run counts, not passes over the rows.
    pub(crate) fn counts_updates(&self) -> bool {
        self.follower.is_some() || self.two_weights.is_some()
    }

    /// The most that may be done between two looks at a run, so that no update is missed.
    pub(crate) fn pace(&self, run: &dyn Training) -> Budget {
        let epoch = run.epoch_rows().max(1);
        let visits = epoch - run.progress().visits % epoch;
        let several = self.header.as_ref().is_some_and(|header| header.machines.len() > 1);
        match self.counts_updates() {
            true if several => Budget::new(1, 1),
            true => Budget::new(visits, 1),
            // Runs that are no sums of rows show an epoch at a time.
            false => Budget::visits(visits),
        }
    }

    /// Writes down what the last slice of a run did; whether that was an update at a mistake.
    pub(crate) fn follow(&mut self, run: &dyn Training) -> linsep::Result<bool> {
        let before = self.known();
        let mut mistake = false;
        match &mut self.follower {
            Some(follower) if follower.is_behind(run) => {
                for line in follower.follow(run)? {
                    mistake |= line.margin_before.is_none_or(|margin| margin <= 0.0);
                    push_line(&mut self.trace, &line);
                    self.lines.push(line);
                }
            }
            Some(_) => {}
            None => {
                let progress = run.progress();
                if self.two_weights.is_none() || progress.updates > before {
                    let mut line = Line::default();
                    (line.k, line.epoch) = (before + 1, progress.epochs.max(1));
                    if let Some(single) = self.two_weights {
                        let rows = run.epoch_rows().max(1);
                        line.epoch = (progress.visits - 1) / rows + 1;
                        line.row = single.then_some(((progress.visits - 1) % rows) as u32);
                    }
                    line.norm = Some(norm_of(&run.model().planes));
                    line.mistakes = progress.last_mistakes.unwrap_or(0);
                    self.lines.push(line);
                    mistake = true;
                }
            }
        }
        // Several binary classifiers may have moved in one visit: the planes between are those after it.
        for _ in before..self.known() {
            let planes = self.planes_of(run);
            self.keep(&planes);
        }
        self.save(run, before);
        self.full = match () {
            () if self.known() >= limits::UPDATES => Some("updates"),
            () if self.trace.len() >= limits::TRACE => Some("trace"),
            () if self.kept.len() >= limits::NUMBERS => Some("planes"),
            () => None,
        };
        Ok(mistake)
    }

    /// Saves the run after so many updates, and after so many visits where updates are rare.
    fn save(&mut self, run: &dyn Training, before: u64) {
        let (last, visits) = (self.known(), run.progress().visits);
        if last == before {
            return;
        }
        let many = last / limits::STRIDE != before / limits::STRIDE;
        if many || visits - self.saved_at >= limits::STRIDE_VISITS {
            self.saved.push((last, run.save()));
            self.saved_at = visits;
        }
    }

    /// The last saved state that is not beyond update `k`.
    pub(crate) fn saved_before(&self, k: u64) -> (u64, &State) {
        let at = self.saved.partition_point(|(saved, _)| *saved <= k).saturating_sub(1);
        let (from, state) = &self.saved[at];
        (*from, state)
    }

    /// A row of the user's choice was visited.
    pub(crate) fn chosen(&mut self, mut line: Line, planes: &[Plane]) {
        line.k = self.known() + 1;
        self.lines.push(line);
        self.keep(planes);
        if self.known() >= limits::UPDATES {
            self.full = Some("updates");
        }
    }

    /// The planes that move, as they are: those of the walk, not of an average.
    fn planes_of(&self, run: &dyn Training) -> Vec<Plane> {
        match &self.follower {
            Some(follower) => follower.planes(),
            None => run.model().planes,
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

    /// The planes after update `k`, where they were kept; `each` are the numbers of a plane.
    pub(crate) fn kept_at(&self, k: u64, each: usize) -> Option<Vec<Plane>> {
        if self.width == 0 || k > self.known() {
            return None;
        }
        let from = k as usize * self.width;
        let numbers = &self.kept[from..from + self.width];
        Some(numbers.chunks(each).map(|n| Plane::new(n[1..].to_vec(), n[0])).collect())
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
