//! `train --resume FILE`: goes on with the run of a checkpoint or of a model.
//!
//! Learner, parameters and seed are those of the file; a flag that says otherwise is refused. On the
//! data of the file it is the same run, bit for bit, and limits count from its beginning. A model may
//! also go on with other data: its planes are the start, rates and orders count on, and limits count
//! from there.

use super::plan::Plan;
use crate::args::learner_parameters;
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Resumed;
use crate::input;
use crate::spelling::spelled;
use clap::ArgMatches;
use linsep::data::input::InputMap;
use linsep::data::read::{ReadOptions, ReadResult, ReadingChoice};
use linsep::file::checkpoint::{Checkpoint, Earlier, SavedLimits, SavedRun};
use linsep::file::{DataIdentity, ModelFile};
use linsep::proof::{Reading, ReadingField};
use linsep::recipe::{Ability, Recipe, Settings};
use linsep::{Code, Dataset, Error, Task, Training};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a checkpoint or a model says about its run.
pub(super) struct Resume {
    pub(super) path: PathBuf,
    pub(super) limits: Option<SavedLimits>,
    pub(super) seed: u64,
    pub(super) classes: Vec<String>,
    pub(super) input: InputMap,
    pub(super) run: SavedRun,
    learner: String,
    parameters: BTreeMap<String, String>,
    data: DataIdentity,
    reading: ReadingField,
    /// What the run did on its data, where that is known to the file.
    done: Earlier,
}

impl Resume {
    /// The file of `--resume`, if there is one. Flags that contradict it are refused.
    pub(super) fn of(matches: &ArgMatches, context: &Context) -> Result<Option<Resume>, Failure> {
        let Some(Resumed(path)) = matches.get_one::<Resumed>("resume") else { return Ok(None) };
        let resume = Resume::load(path, context)?;
        // A run goes on in its place: a checkpoint as a checkpoint, a model as a model.
        let outputs: &[&str] = match resume.is_checkpoint() {
            true => &["--checkpoint", "the checkpoint"],
            false => &["--output-file", "the model"],
        };
        context.files.continued(path, outputs)?;
        resume.refuse_contradictions(matches)?;
        Ok(Some(resume))
    }

    fn load(path: &Path, context: &Context) -> Result<Resume, Failure> {
        let failed = |e| Error::io("read", path, e);
        let limit = context.max_memory.unwrap_or(u64::MAX);
        let needed = std::fs::metadata(path).map_err(failed)?.len();
        if needed > limit {
            let purpose = "the file to resume from".to_owned();
            return Err(Error::Memory { purpose, needed, limit }.into());
        }
        let bytes = std::fs::read(path).map_err(failed)?;
        if Checkpoint::is_one(&bytes) {
            let file = Checkpoint::from_bytes(&bytes, path)?;
            return Ok(Resume {
                path: path.to_path_buf(),
                limits: Some(file.limits),
                seed: file.seed,
                classes: file.classes,
                input: file.input,
                run: file.run,
                learner: file.learner,
                parameters: file.parameters,
                data: file.data,
                reading: file.reading,
                done: Earlier::default(),
            });
        }
        let file = ModelFile::from_bytes(&bytes, path, limit)?;
        let Some(run) = file.run else {
            let mut words = format!("--resume: {} holds no run to go on with; ", path.display());
            let recipe = Recipe::find(&file.learner).ok();
            if let Some(recipe) = recipe.filter(|recipe| !recipe.has(Ability::CarryOn)) {
                words += &format!("{}; ", recipe.cannot(Ability::CarryOn));
            }
            words += "--init starts another run from the planes of a model";
            return Err(Error::usage(words).into());
        };
        let done = Earlier::default()
            .with_epochs(file.epochs)
            .with_visits(run.visits)
            .with_updates(file.updates);
        Ok(Resume {
            path: path.to_path_buf(),
            limits: None,
            seed: file.seed,
            classes: file.model.classes,
            input: file.model.input,
            run,
            learner: file.learner,
            parameters: file.parameters,
            data: file.data,
            reading: file.certificate.reading,
            done,
        })
    }

    /// Whether the file is a checkpoint, which belongs to its data alone.
    pub(super) fn is_checkpoint(&self) -> bool {
        self.limits.is_some()
    }

    fn refuse_contradictions(&self, matches: &ArgMatches) -> Result<(), Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let refuse = |flag: &str, found: &str| {
            let words = format!(
                "--{flag} contradicts {}, which has {found}; leave it out",
                self.path.display()
            );
            Err(Failure::from(Error::usage(words)))
        };
        if text("learner").is_some_and(|learner| learner != self.learner) {
            return refuse("learner", &self.learner);
        }
        if text("seed").is_some_and(|seed| seed.parse() != Ok(self.seed)) {
            return refuse("seed", &self.seed.to_string());
        }
        for parameter in learner_parameters() {
            let Some(given) = text(parameter.name) else { continue };
            match self.parameters.get(parameter.name) {
                Some(saved) if saved == given => {}
                Some(saved) => return refuse(parameter.name, saved),
                None => return refuse(parameter.name, "no such setting"),
            }
        }
        const SETTLED: [&str; 14] = [
            "basis",
            "terms",
            "reference",
            "box",
            "label",
            "positive",
            "features",
            "drop",
            "keep",
            "weight",
            "categorical",
            "unknown-level",
            "reading",
            "classes",
        ];
        if let Some(flag) = SETTLED.iter().find(|flag| text(flag).is_some()) {
            return refuse(flag, "columns and classes of its own");
        }
        if text("missing").is_some_and(|word| word != "drop-row") {
            return refuse("missing", "values of its own for gaps");
        }
        if matches.get_flag("missing-indicator") {
            return refuse("missing-indicator", "columns and classes of its own");
        }
        if text("runs").is_some() {
            return refuse("runs", "one run");
        }
        Ok(())
    }

    /// The learner of the file with its settings; those that are as usual are left out.
    pub(super) fn recipe(&self) -> Result<(&'static Recipe, Settings), Failure> {
        let recipe = Recipe::find(&self.learner).map_err(|error| self.wrong(&error))?;
        let mut settings = recipe.settings_of(&self.parameters, self.seed);
        settings.rates = self.run.rates.clone();
        settings.start = self.run.start_planes();
        Ok((recipe, settings))
    }

    /// What is wrong with the file, in the words of an error about its content.
    pub(super) fn wrong(&self, error: &Error) -> Failure {
        let reason = spelled(&format!("the run cannot be gone on with: {error}"));
        Error::Model { code: Code::MODEL_CONTENT, path: self.path.clone(), reason }.into()
    }

    /// How the file wants its columns to be read.
    pub(super) fn options(&self, options: ReadOptions) -> ReadOptions {
        let mut options = options;
        options.reading = match self.reading.default {
            Reading::Decimal => ReadingChoice::Decimal,
            Reading::Binary64 => ReadingChoice::Binary64,
        };
        options
    }

    /// Reads data with the columns and classes of the file.
    pub(super) fn read(
        &self,
        inputs: &[PathBuf],
        options: ReadOptions,
    ) -> Result<ReadResult, Failure> {
        let source = input::source_of(inputs, &self.options(options));
        let mut result = source.read(Some(&self.input))?;
        result.data = result.data.with_classes(&self.classes, self.input.rest)?;
        Ok(result)
    }

    /// Whether this is the data that the run has learned from so far. A checkpoint accepts no other.
    pub(super) fn is_same(&self, data: &Dataset, threads: usize) -> Result<bool, Failure> {
        // The file may have an older version of the digest.
        let version = self.data.digest;
        let mut found = DataIdentity::new(data.digest_of(version, threads), data.n_rows() as u64);
        found.digest = version;
        if found == self.data {
            return Ok(!self.run.stream);
        }
        if !self.is_checkpoint() {
            return Ok(false);
        }
        let name = |data: &DataIdentity| {
            format!("{} rows, sha256 {}", data.rows, data.sha256.get(..12).unwrap_or(&data.sha256))
        };
        let reason = format!(
            "the checkpoint belongs to other data ({}) than this ({})",
            name(&self.data),
            name(&found)
        );
        Err(Error::Model { code: Code::MODEL_CONTENT, path: self.path.clone(), reason }.into())
    }

    /// A training that goes on where the file left off.
    pub(super) fn begin(
        &self,
        plan: &Plan,
        task: &Task,
        same: bool,
    ) -> Result<Box<dyn Training>, Failure> {
        let mut training = plan.learner.start(task)?;
        let state = &self.run.state;
        let taken = match (same, training.carries_on()) {
            (true, _) => training.restore(state),
            (false, Some(run)) => run.carry_on(state),
            (false, None) => Err(plan.recipe.cannot(Ability::CarryOn)),
        };
        taken.map_err(|error| self.wrong(&error))?;
        Ok(training)
    }

    /// What was done on other data before, once the run goes on.
    pub(super) fn earlier(&self, same: bool) -> Earlier {
        let Earlier { epochs, visits, updates, .. } = self.run.earlier;
        match same {
            true => self.run.earlier,
            false => Earlier::default()
                .with_epochs(epochs.saturating_add(self.done.epochs))
                .with_visits(visits.saturating_add(self.done.visits))
                .with_updates(updates.saturating_add(self.done.updates)),
        }
    }

    /// The share of the rows to set aside: that of the same run, or what the flag asks for.
    pub(super) fn held_out(&self, same: bool, asked: Option<f64>) -> Result<Option<f64>, Failure> {
        match (same, asked) {
            (false, asked) => Ok(asked),
            (true, None) => Ok(self.run.held_out),
            (true, Some(_)) if asked == self.run.held_out => Ok(asked),
            (true, Some(_)) => {
                let words = match self.run.held_out {
                    Some(share) => format!("which set {share} of these rows aside"),
                    None => "which learned from all of these rows".to_owned(),
                };
                let path = self.path.display();
                Err(Error::usage(format!("--test contradicts {path}, {words}")).into())
            }
        }
    }
}

/// The number behind `--runs`.
pub(super) fn runs(text: &str) -> Result<usize, Failure> {
    match input::whole("runs", text)? {
        runs @ 1..=1000 => Ok(runs as usize),
        runs => Err(Error::usage(format!("--runs: {runs} is not between 1 and 1000")).into()),
    }
}
