//! From a trace and its data back to every weight vector.
//!
//! The reader is strict: a line that is no update, a number out of order, a row or plane that the
//! run does not have, and a measure that the rebuilt planes do not give are all refused with file and
//! line. Only the start, the rows and the steps are used; everything else is checked.

use super::replica::{Measures, Replica};
use super::{End, FORMAT, Header, Line, MachineHeader};
use linsep::engine::perceptron::{Planes, certificate_of};
use linsep::loss::Criterion;
use linsep::model::{LinearModel, Plane, Rule};
use linsep::run::update::{Beginning, Move, Update};
use linsep::run::{Certificate, Task};
use linsep_data::Dataset;
use linsep_data::error::{Code, Error, Result, printable};
use linsep_data::scale::Scaling;
use linsep_proof::digest::Version;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A trace that is being read.
///
/// ```
/// use linsep::engine::perceptron::Perceptron;
/// use linsep_teach::trace::{Replay, Tracer};
/// use linsep::{Dataset, Learner, Limits, Task};
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let task = Task::new(Dataset::from_rows(&rows, &["0", "1", "1", "1"])?);
/// let (mut file, mut nobody) = (Vec::new(), ());
/// let mut tracer = Tracer::new(&task.data, "perceptron", &mut file, &mut nobody);
/// let fit = Perceptron::default().fit(&task, &Limits::default(), &mut tracer)?;
/// tracer.finish()?;
/// let mut replay = Replay::open("trace".as_ref(), &file[..], None)?;
/// replay.on(task.data, 1)?;
/// while let Some(step) = replay.next_step(true)? {
///     assert_eq!(step.line.k, replay.k());
/// }
/// assert_eq!(replay.planes(), fit.model.planes);
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct Replay<R> {
    /// The first line.
    pub header: Header,
    source: Source<R>,
    data: Option<Arc<Dataset>>,
    machines: Vec<Replica>,
    criteria: Vec<Criterion>,
    k: u64,
    epoch: u64,
    ended: bool,
}

/// An update that was read, made and checked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The line of the trace.
    pub line: Line,
    /// Which machine of the run made it.
    pub machine: usize,
}

/// Lines of text with their numbers.
struct Source<R> {
    path: PathBuf,
    reader: R,
    number: u64,
    most: u64,
}

/// A longer line of a trace is damage.
const LONGEST: u64 = 1 << 28;

impl<R: BufRead> Replay<R> {
    /// Reads the header of a trace that is called `path` in messages. `max_memory` bounds a line.
    pub fn open(path: &Path, reader: R, max_memory: Option<u64>) -> Result<Replay<R>> {
        let most = max_memory.unwrap_or(LONGEST).min(LONGEST);
        let mut source = Source { path: path.to_path_buf(), reader, number: 0, most };
        let Some(text) = source.next()? else {
            return Err(source.refuse("the file is empty, the first line must be the header"));
        };
        let format = serde_json::from_slice::<Format>(&text).map(|head| head.format);
        match format.as_deref() {
            Ok(FORMAT) => {}
            Ok(other) => {
                let other = printable(other.as_bytes(), 40);
                return Err(source.refuse(&format!("the format is \"{other}\", not {FORMAT}")));
            }
            Err(error) => {
                return Err(source.refuse(&format!("this is no trace of linsep: {error}")));
            }
        }
        let header: Header = serde_json::from_slice(&text)
            .map_err(|error| source.refuse(&format!("the header cannot be used: {error}")))?;
        header.input.check().map_err(|words| source.refuse(&words))?;
        let criteria: Result<Vec<Criterion>> =
            header.criteria.iter().map(|word| word.parse()).collect();
        let criteria = criteria.map_err(|error| source.refuse(&error.to_string()))?;
        let k = header.machines.iter().map(|machine| machine.before).fold(0, u64::saturating_add);
        let machines = Vec::new();
        Ok(Replay { header, source, data: None, machines, criteria, k, epoch: 0, ended: false })
    }

    /// Takes the data that the trace is of; other data is refused.
    pub fn on(&mut self, data: Arc<Dataset>, threads: usize) -> Result<()> {
        let digest = data.digest(threads);
        let is_named = |digest: &str| digest == self.header.digest;
        // Traces of version 0.1 name their data by the first version of the digest.
        if !is_named(&digest) && !is_named(&data.digest_of(Version::One, threads)) {
            let short = |digest: &str| printable(digest.as_bytes(), 12);
            return Err(self.source.refuse(&format!(
                "the trace is of other data: its digest begins with {}, that of the data with {}",
                short(&self.header.digest),
                short(&digest)
            )));
        }
        let fits = self.header.rows == data.n_rows() as u64
            && self.header.features == data.n_features() as u64
            && self.header.classes == data.classes();
        if !fits {
            return Err(self.source.refuse(
                "rows, features or classes are not those of the data, although its digest is",
            ));
        }
        for beginning in self.beginnings(&data)? {
            let gamma = self.header.gamma.map(|gamma| gamma.lower);
            self.machines.push(Replica::new(Arc::clone(&data), &beginning, gamma)?);
        }
        let r2 = self.machines.iter().map(|machine| machine.r2).fold(0.0, f64::max);
        if r2.to_bits() != self.header.r2.to_bits() {
            let words = format!("r2 is {}, the rows give {r2}", self.header.r2);
            return Err(self.source.refuse(&words));
        }
        self.data = Some(data);
        Ok(())
    }

    /// The machines as they stand at the start, if the header makes sense on this data.
    fn beginnings(&self, data: &Dataset) -> Result<Vec<Beginning>> {
        let Header { machines, start, batch, .. } = &self.header;
        let refuse = |words: &str| Err(self.source.refuse(words));
        let scaling: Scaling = self
            .header
            .scaling
            .parse()
            .map_err(|error: Error| self.source.refuse(&error.to_string()))?;
        let planes = machines.iter().map(|machine| machine.planes).fold(0, u64::saturating_add);
        // One for each pair of classes is the most that there can be.
        if machines.len() > 1 + data.n_classes().saturating_mul(data.n_classes()) {
            return refuse("there are more machines than pairs of classes");
        }
        if machines.is_empty() || planes != start.len() as u64 {
            return refuse("the number of start planes is not that of the machines");
        }
        let finite = |x: &f64| x.is_finite();
        if start.iter().any(|plane| plane.weights.len() != data.n_features()) {
            return refuse("a start plane has not as many weights as the data has features");
        }
        if start
            .iter()
            .any(|plane| !plane.weights.iter().chain([&plane.bias, &plane.shift]).all(finite))
        {
            return refuse("a start plane has a number that is not finite");
        }
        let mut beginnings = Vec::new();
        let mut at = 0;
        for MachineHeader { positive, planes, before, left_out } in machines {
            let classes = data.n_classes() as u64;
            let (class, count) = match positive {
                Some(class) => (u64::from(*class), 1),
                None => (0, classes),
            };
            if class >= classes || *planes != count || (*batch && positive.is_none()) {
                return refuse("a machine has not the planes that its classes need");
            }
            let rises = left_out.is_sorted_by(|a, b| a < b);
            if !rises || left_out.last().is_some_and(|row| *row as usize >= data.n_rows()) {
                return refuse("left_out does not hold rising rows of the data");
            }
            let takes_part = |row: &u32| left_out.binary_search(row).is_err();
            let end = at + count as usize;
            let rows = (0..data.n_rows() as u32).filter(takes_part).collect();
            let planes = start[at..end].to_vec();
            beginnings.push(Beginning::new(*positive, planes, scaling, rows, *batch, *before));
            at = end;
        }
        Ok(beginnings)
    }

    /// Reads and makes the next update. Margins, length and mistakes have to be those that were
    /// written, to the last bit; with `check` also angles, bounds and criteria, up to rounding.
    pub fn next_step(&mut self, check: bool) -> Result<Option<Step>> {
        if self.machines.is_empty() {
            return Err(Error::usage("a replay needs its data first"));
        }
        if self.ended {
            return Ok(None);
        }
        let Some(text) = self.source.next()? else {
            return Err(self.source.refuse("the trace has no last line, so something was cut off"));
        };
        if let Ok(End { updates, .. }) = serde_json::from_slice(&text) {
            return self.end(updates);
        }
        let line: Line = serde_json::from_slice(&text)
            .map_err(|error| self.source.refuse(&format!("this is no update: {error}")))?;
        let update = self.understood(&line).map_err(|words| self.source.refuse(&words))?;
        let replica = &mut self.machines[update.machine];
        let measures = replica.apply(&update);
        let same = compare(&line, &measures, check);
        same.map_err(|words| self.source.refuse(&words))?;
        if check && !self.criteria.is_empty() {
            let values = replica.criteria(&self.criteria);
            for (criterion, value) in self.criteria.iter().zip(values) {
                let written = line.criteria.as_ref().and_then(|all| all.get(criterion.word()));
                near(criterion.word(), written.copied().flatten(), Some(value))
                    .map_err(|words| self.source.refuse(&words))?;
            }
        }
        (self.k, self.epoch) = (line.k, line.epoch);
        Ok(Some(Step { line, machine: update.machine }))
    }

    /// The last line: so many updates, and nothing behind it.
    fn end(&mut self, updates: u64) -> Result<Option<Step>> {
        if updates != self.k {
            let words = format!("the last update was to be {updates}, it is {}", self.k);
            return Err(self.source.refuse(&words));
        }
        if self.source.next()?.is_some() {
            return Err(self.source.refuse("there is a line behind the last one"));
        }
        self.ended = true;
        Ok(None)
    }

    /// What a line says, if it can be made on this data.
    fn understood(&self, line: &Line) -> std::result::Result<Update, String> {
        if line.k != self.k + 1 {
            return Err(format!("k is {}, after {} comes {}", line.k, self.k, self.k + 1));
        }
        if line.epoch < self.epoch.max(1) {
            return Err(format!("epoch {} comes after epoch {}", line.epoch, self.epoch));
        }
        let machine = match (line.machine, self.machines.len()) {
            (None, 1) => 0,
            (Some(machine), several) if several > 1 && (machine as usize) < several => {
                machine as usize
            }
            _ => return Err(format!("the run has {} machine(s)", self.machines.len())),
        };
        let plane = match self.machines.len() {
            1 => line.plane,
            _ => None,
        };
        let step = |row, step| Move::new(row, plane.unwrap_or(0), line.rival, step);
        let (rate, moves) = match (line.row, &line.rows, &line.steps) {
            (Some(row), None, None) if !self.header.batch => (None, vec![step(row, line.step)]),
            (None, Some(rows), Some(steps)) if self.header.batch => {
                if rows.len() != steps.len() || !rows.is_sorted_by(|a, b| a < b) {
                    return Err("rows do not rise, or there are not as many steps".into());
                }
                let moves = rows.iter().zip(steps).map(|(&row, &a)| step(row, a));
                (Some(line.step), moves.collect())
            }
            _ => return Err("the update names neither one row nor the rows of a batch".into()),
        };
        if !moves.iter().map(|one| one.step).chain([line.step]).all(f64::is_finite) {
            return Err("a step is no finite number".into());
        }
        moves.iter().try_for_each(|one| self.machines[machine].accepts(*one))?;
        let origin = self.data.as_ref().map(|data| data.origin());
        let place = line.row.and_then(|row| origin?.line(u64::from(row)));
        if line.line.is_some() && line.line != place {
            return Err(match (place, line.line) {
                (Some(place), Some(line)) => format!("line is {line}, the row stands in {place}"),
                _ => "line is given, but the rows of this data stand in no file".into(),
            });
        }
        Ok(Update::new(machine, line.k, line.epoch, rate, moves))
    }

    /// The number of the last update that was made.
    pub fn k(&self) -> u64 {
        self.k
    }

    /// The planes as they are now, in terms of raw features.
    pub fn planes(&self) -> Vec<Plane> {
        self.machines.iter().flat_map(Replica::planes).collect()
    }

    /// The margins of the rows of one machine as they are now.
    pub fn margins(&self, machine: usize) -> Vec<(u32, f64)> {
        self.machines.get(machine).map(Replica::margins).unwrap_or_default()
    }

    /// What is proved of the planes as they are now.
    pub fn certificate(&self) -> Certificate {
        let Some(data) = &self.data else { return Certificate::unproved("there is no data yet") };
        let task = Task::new(Arc::clone(data));
        let of = |(machine, replica): (&MachineHeader, &Replica)| {
            let rule = machine.positive.map_or(Planes::Joint, Planes::One);
            certificate_of(&task, rule, &replica.planes()).claims
        };
        let machines = self.header.machines.iter().zip(&self.machines);
        Certificate::new(machines.flat_map(of).collect())
    }

    /// The planes as a model.
    pub fn model(&self) -> LinearModel {
        let planes = self.planes();
        let rule = match (&self.header.machines[..], self.header.classes.len()) {
            ([MachineHeader { positive: Some(_), .. }], _) => Rule::Sign,
            ([_], _) => Rule::ArgMax,
            (machines, classes) if machines.len() < classes => Rule::RestLast,
            _ => Rule::Rest,
        };
        LinearModel::new(planes, rule, self.header.classes.clone(), self.header.input.clone())
    }
}

/// Just the format, whatever else there is.
#[derive(serde::Deserialize)]
struct Format {
    format: String,
}

impl<R: BufRead> Source<R> {
    /// The next line without its end. A last line without an end was cut off.
    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let mut text = Vec::new();
        let limit = self.most.saturating_add(1);
        let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut text);
        read.map_err(|error| Error::io("read", &self.path, error))?;
        if text.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        match text.pop() {
            Some(b'\n') => Ok(Some(text)),
            _ if text.len() as u64 >= self.most => Err(self.refuse("the line is too long")),
            _ => Err(self.refuse("the line has no end: the trace was cut off here")),
        }
    }

    fn refuse(&self, reason: &str) -> Error {
        let place = format!("{}:{}", self.path.display(), self.number.max(1));
        Error::Model { code: Code::TRACE, path: place.into(), reason: reason.to_owned() }
    }
}

/// Whether the measures of a line are those of the rebuilt planes.
fn compare(line: &Line, now: &Measures, check: bool) -> std::result::Result<(), String> {
    for (name, written, found) in [
        ("margin_before", line.margin_before, now.margin_before),
        ("margin_after", line.margin_after, now.margin_after),
        ("norm", line.norm, now.norm),
    ] {
        if written.map(f64::to_bits) != found.map(f64::to_bits) {
            return Err(differs(name, written, found));
        }
    }
    if line.mistakes != now.mistakes {
        return Err(format!("mistakes is {}, the rows give {}", line.mistakes, now.mistakes));
    }
    if !check {
        return Ok(());
    }
    near("angle_before", line.angle_before, now.angle_before)?;
    near("angle_after", line.angle_after, now.angle_after)?;
    near("bound_upper", line.bound_upper, now.bound_upper)?;
    near("bound_lower", line.bound_lower, now.bound_lower)
}

/// Equal up to what another library of functions may round differently.
fn near(name: &str, written: Option<f64>, found: Option<f64>) -> std::result::Result<(), String> {
    let found = found.filter(|x| x.is_finite());
    let fits = match (written, found) {
        (None, None) => true,
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs())),
        _ => false,
    };
    if fits { Ok(()) } else { Err(differs(name, written, found)) }
}

fn differs(name: &str, written: Option<f64>, found: Option<f64>) -> String {
    let word = |x: Option<f64>| x.map_or("nothing".to_owned(), |x| x.to_string());
    format!("{name} is {}, the rows give {}", word(written), word(found))
}
