//! Whoever advances a run one visit at a time learns from a follower what each visit did.

use super::replica::{Measures, Replica};
use super::tracer::traces;
use super::{End, FORMAT, Gamma, Header, Line, MachineHeader, Summary};
use linsep::loss::Criterion;
use linsep::model::Plane;
use linsep::run::Training;
use linsep::run::update::{Beginning, Update};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Follows a run and gives the lines of its trace, one by one.
///
/// ```
/// use linsep::engine::perceptron::Perceptron;
/// use linsep::{Budget, Dataset, Learner, Status, Task};
/// use linsep_teach::trace::Follower;
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let task = Task::new(Dataset::from_rows(&rows, &["0", "0", "0", "1"])?);
/// let mut run = Perceptron::default().start(&task)?;
/// let mut follower = Follower::new(&task.data, "perceptron");
/// assert_eq!(follower.begin(run.as_ref(), &|_| None)?.rows, 4);
/// while run.advance(Budget::visits(1)) == Status::Running {
///     follower.follow(run.as_ref())?;
/// }
/// assert_eq!(follower.k(), run.progress().updates);
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct Follower {
    /// Parameters of the learner, for the header.
    pub parameters: BTreeMap<String, String>,
    /// The seed, for the header.
    pub seed: u64,
    /// The algorithm box, for the header.
    pub algorithm_box: Option<String>,
    /// The class that was chosen as positive, for the header.
    pub positive: Option<String>,
    /// Threads that may be used. Never changes a bit of the trace.
    pub threads: usize,
    /// The criteria that every line is to have.
    pub criteria: Vec<Criterion>,
    learner: String,
    data: Arc<Dataset>,
    machines: Vec<Followed>,
    /// γ of the header.
    found: Option<Gamma>,
    several_files: bool,
    k: u64,
}

struct Followed {
    replica: Replica,
    /// The number of the last update that was seen.
    number: u64,
    /// The class of its plane, if there are several machines.
    plane: Option<u32>,
    made: u64,
}

impl Follower {
    /// A follower of one run of a learner on all or some rows of `data`.
    pub fn new(data: &Arc<Dataset>, learner: &str) -> Follower {
        Follower {
            parameters: BTreeMap::new(),
            seed: 0,
            algorithm_box: None,
            positive: None,
            threads: 1,
            criteria: Vec::new(),
            learner: learner.to_owned(),
            data: Arc::clone(data),
            machines: Vec::new(),
            found: None,
            several_files: data.origin().files().count() > 1,
            k: 0,
        }
    }

    /// Where the run stands before its first visit. `gamma` finds γ for the rows of a machine.
    pub fn begin(
        &mut self,
        run: &dyn Training,
        gamma: &dyn Fn(&Beginning) -> Option<Gamma>,
    ) -> Result<Header> {
        let beginnings = traces(run)?.beginnings();
        let Some(first) = beginnings.first() else {
            return Err(Error::usage("a run without planes cannot be traced"));
        };
        if beginnings.iter().any(|one| !one.rows.is_sorted_by(|a, b| a < b)) {
            return Err(Error::usage(
                "a trace needs the rows of the task in the order of the data",
            ));
        }
        if let [one] = &beginnings[..] {
            self.found = gamma(one);
        }
        self.k = beginnings.iter().map(|beginning| beginning.updates).sum();
        for beginning in &beginnings {
            let gamma = self.found.map(|gamma| gamma.lower);
            self.machines.push(Followed {
                replica: Replica::new(Arc::clone(&self.data), beginning, gamma)?,
                number: beginning.updates,
                plane: beginning.positive.filter(|_| beginnings.len() > 1),
                made: 0,
            });
        }
        if self.machines.iter().any(|machine| !machine.replica.r2.is_finite()) {
            return Err(Error::usage(
                "a row is too long for its square to be a number, so the run cannot be traced; scale the columns",
            ));
        }
        let machine = |beginning: &Beginning| MachineHeader {
            positive: beginning.positive,
            planes: beginning.planes.len() as u64,
            before: beginning.updates,
            left_out: left_out(&self.data, &beginning.rows),
        };
        Ok(Header {
            format: FORMAT.to_owned(),
            learner: self.learner.clone(),
            parameters: self.parameters.clone(),
            algorithm_box: self.algorithm_box.clone(),
            seed: self.seed,
            digest: self.data.digest(self.threads),
            rows: self.data.n_rows() as u64,
            features: self.data.n_features() as u64,
            classes: self.data.classes().to_vec(),
            positive: self.positive.clone(),
            scaling: first.scaling.word().to_owned(),
            batch: first.batch,
            machines: beginnings.iter().map(machine).collect(),
            start: beginnings.iter().flat_map(|one| one.planes.clone()).collect(),
            r2: self.r2(),
            gamma: self.found,
            criteria: self.criteria.iter().map(|criterion| criterion.word().to_owned()).collect(),
            input: self.data.input().clone(),
        })
    }

    /// Whether the run has made updates that were not followed yet; cheap.
    pub fn is_behind(&self, run: &dyn Training) -> bool {
        let seen: u64 = self.machines.iter().map(|machine| machine.number).sum();
        run.progress().updates != seen
    }

    /// The updates since the last call, of which each machine has made at most one.
    pub fn follow(&mut self, run: &dyn Training) -> Result<Vec<Line>> {
        let several = self.machines.len() > 1;
        let mut lines = Vec::new();
        for update in traces(run)?.last_updates() {
            let Some(machine) = self.machines.get_mut(update.machine) else { continue };
            if update.number <= machine.number {
                continue;
            }
            machine.number = update.number;
            machine.made += 1;
            self.k += 1;
            let measures = machine.replica.apply(&update);
            let values = machine.replica.criteria(&self.criteria);
            let words = self.criteria.iter().map(|criterion| criterion.word().to_owned());
            let values = values.into_iter().map(|value| value.is_finite().then_some(value));
            let criteria = (!self.criteria.is_empty()).then(|| words.zip(values).collect());
            let mut line = Line { k: self.k, criteria, ..line_of(&update, measures) };
            if several {
                line.machine = Some(update.machine as u32);
                line.plane = machine.plane.or(line.plane);
            }
            if let Some(row) = line.row.map(u64::from) {
                line.line = self.data.origin().line(row);
                let file = self.data.origin().file(row).filter(|_| self.several_files);
                line.file = file.map(str::to_owned);
            }
            lines.push(line);
        }
        Ok(lines)
    }

    /// The number of the last update.
    pub fn k(&self) -> u64 {
        self.k
    }

    /// R² of the rows in the coordinates of the run.
    pub fn r2(&self) -> f64 {
        self.machines.iter().map(|machine| machine.replica.r2).fold(0.0, f64::max)
    }

    /// The planes as they stand, in terms of raw features, machine after machine.
    pub fn planes(&self) -> Vec<Plane> {
        self.machines.iter().flat_map(|machine| machine.replica.planes()).collect()
    }

    /// The last line of the trace, without its line end. `model` says where the weights of the model come
    /// from, if not from the last update.
    pub fn last_line(&self, model: Option<String>) -> String {
        let line = serde_json::to_string(&End { updates: self.k, model });
        line.expect("a number and a text have JSON")
    }

    /// What was followed.
    pub fn summary(&self) -> Summary {
        let r2 = self.r2();
        let fixed = matches!(&self.machines[..], [one] if one.replica.is_fixed_increment);
        // Far more room than the few roundings need.
        let quotient = |gamma: Gamma| r2 / gamma.lower / gamma.lower * (1.0 + 1e-12);
        let bound = self.found.filter(|_| fixed).map(quotient);
        let updates = self.machines.iter().map(|machine| machine.made).sum();
        Summary { updates, r2, gamma: self.found, bound }
    }
}

/// The update and its measures as a line, still without what only the tracer knows.
fn line_of(update: &Update, measures: Measures) -> Line {
    let mut line = Line {
        epoch: update.epoch,
        step: update.rate.unwrap_or(1.0),
        margin_before: measures.margin_before,
        margin_after: measures.margin_after,
        angle_before: measures.angle_before,
        angle_after: measures.angle_after,
        norm: measures.norm,
        mistakes: measures.mistakes,
        bound_upper: measures.bound_upper,
        bound_lower: measures.bound_lower,
        ..Line::default()
    };
    match (update.rate, &update.moves[..]) {
        (None, [one]) => {
            (line.row, line.step, line.rival) = (Some(one.row), one.step, one.rival);
            line.plane = one.rival.map(|_| one.plane);
        }
        (_, moves) => {
            line.rows = Some(moves.iter().map(|one| one.row).collect());
            line.steps = Some(moves.iter().map(|one| one.step).collect());
        }
    }
    line
}

/// The rows that take no part.
fn left_out(data: &Dataset, rows: &[u32]) -> Vec<u32> {
    let absent = |row: &u32| rows.binary_search(row).is_err();
    match rows.len() == data.n_rows() {
        true => Vec::new(),
        false => (0..data.n_rows() as u32).filter(absent).collect(),
    }
}
