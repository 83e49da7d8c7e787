//! What the flags of `train` ask for, checked before any work.

use super::auto_cost;
use super::calibration;
use super::checkpoint::{Checkpoints, Every};
use super::flips;
use super::resume::{self, Resume};
use super::row_table::RowTable;
use super::stream;
use super::support;
use super::threshold;
use super::trace::{self, Chosen, TraceTo};
use super::tune;
use crate::args::learner_parameters;
use crate::commands::rules;
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::kinds::FileKind;
use clap::ArgMatches;
use linsep::file::ModelFile;
use linsep::recipe::{self, Kind, Recipe, Settings};
use linsep::{Error, Learner, Limits, LinearModel};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Everything that the flags ask for, checked before any work.
pub(super) struct Plan {
    pub(super) inputs: Vec<PathBuf>,
    pub(super) basis: Option<input::Expansion>,
    pub(super) recipe: &'static Recipe,
    pub(super) settings: Settings,
    pub(super) learner: Box<dyn Learner>,
    pub(super) limits: Limits,
    pub(super) epochs_given: bool,
    pub(super) test: Option<TestOn>,
    pub(super) folds: Option<usize>,
    pub(super) model: Output,
    pub(super) dry_run: bool,
    pub(super) algorithm_box: Option<Chosen>,
    pub(super) trace: Option<TraceTo>,
    /// The run to go on with.
    pub(super) resume: Option<Resume>,
    pub(super) checkpoints: Checkpoints,
    /// Every row once, in constant memory.
    pub(super) stream: bool,
    /// How often to run.
    pub(super) runs: Option<usize>,
    /// Where to write which rows are final.
    pub(super) flips: Option<RowTable>,
    /// Where to write the rows that hold the planes.
    pub(super) support: Option<RowTable>,
    /// Whether scores get probabilities by calibration.
    pub(super) platt: bool,
    /// A grid of settings to choose from.
    pub(super) tune: Option<tune::Asked>,
    /// What decides between the classes beside the planes.
    pub(super) threshold: Option<threshold::Asked>,
    /// Whether C is chosen by cross-validation.
    pub(super) auto_cost: bool,
}

pub(super) enum TestOn {
    File(PathBuf),
    Share(f64),
}

impl TestOn {
    /// What `--test` asks for: a number or a percentage is a share of the rows, everything else a file.
    pub(super) fn asked(matches: &ArgMatches) -> Option<TestOn> {
        let path = matches.get_one::<PathBuf>("test")?;
        let share = path.to_str().and_then(|text| match text.strip_suffix('%') {
            Some(percent) => percent.trim_end().parse().ok().map(|percent: f64| percent / 100.0),
            None => text.parse().ok(),
        });
        Some(share.map_or_else(|| TestOn::File(path.clone()), TestOn::Share))
    }
}

impl Plan {
    /// A default limit is one on work: of few rows many epochs are cheap.
    pub(super) fn settle_budget(&mut self, data: &linsep::Dataset) {
        if !self.epochs_given && self.limits.epochs == Some(recipe::LEAST_EPOCHS) {
            self.limits.epochs = self.recipe.default_limits(data).epochs;
        }
    }
}

impl Plan {
    pub(super) fn new(matches: &ArgMatches, context: &Context) -> Result<Plan, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let resume = Resume::of(matches, context)?;
        let (mut recipe, mut settings) = match &resume {
            Some(resume) => resume.recipe()?,
            None => settings(matches, context)?,
        };
        let algorithm_box = trace::chosen_box(matches, &mut settings)?;
        if let Some(chosen) = &algorithm_box {
            recipe = Recipe::find(chosen.algorithm_box.learner)?;
        }
        let stream = matches.get_flag("stream");
        if stream {
            stream::settle(matches, recipe, &mut settings, resume.as_ref())?;
        }
        let whole = |name: &str| text(name).map(|n| input::whole(name, n)).transpose();
        let mut limits = Limits::default().with_updates(whole("updates")?);
        if let Some(epochs) = whole("epochs")? {
            limits.epochs = Some(epochs);
        } else if limits.updates.is_some() || context.time_limited {
            limits.epochs = None;
        } else if recipe.kind == Kind::Optimising {
            limits.epochs = Some(recipe::LEAST_EPOCHS);
        }
        let mut epochs_given = text("epochs").is_some();
        if let Some(saved) = resume.as_ref().and_then(|resume| resume.limits) {
            // The limits of the same run stay unless others are asked for.
            if !epochs_given {
                (limits.epochs, epochs_given) = (saved.epochs, saved.given);
            }
            limits.updates = limits.updates.or(saved.updates);
        }
        let test = TestOn::asked(matches);
        if let Some(TestOn::File(file)) = &test {
            // Better to miss the file now than after the work.
            std::fs::metadata(file).map_err(|e| Error::io("read", file, e))?;
        }
        let inputs = input::paths(matches);
        let model = match matches.get_one::<Output>("output-file") {
            Some(output) if output.is_stdout() => {
                return Err(Error::usage("a model is a file; -o needs a name, not -").into());
            }
            Some(output) => output.clone(),
            None => {
                let path = match &resume {
                    Some(resume) => resumed_model_path(&resume.path),
                    None => default_model_path(&inputs),
                };
                context.files.output("the model", path)?
            }
        };
        model.check(FileKind::Model, matches)?;
        let checkpoints = checkpoints(matches, context, recipe, &model, resume.as_ref())?;
        let runs = text("runs").map(resume::runs).transpose()?;
        if runs.is_some() && checkpoints.to.is_some() {
            return Err(Error::usage("--runs makes runs that are not saved on their way").into());
        }
        let auto_cost = auto_cost::asked(matches, recipe, &mut settings)?;
        let tune = tune::asked(matches, recipe)?;
        if tune.is_some() && (auto_cost || resume.is_some() || algorithm_box.is_some() || stream) {
            let words = "--tune learns many times from the start; it is not for --c auto, --resume, --stream or --box";
            return Err(Error::usage(words).into());
        }
        let built = match &algorithm_box {
            Some(chosen) => chosen.algorithm_box.build(&settings, chosen.literal),
            None => recipe.build(&settings),
        };
        let learner = built.map_err(|error| match &resume {
            Some(resume) => resume.wrong(&error),
            None => error.into(),
        })?;
        Ok(Plan {
            learner,
            recipe,
            settings,
            limits,
            epochs_given,
            test,
            folds: whole("cv")?.map(|folds| folds as usize),
            trace: trace::asked(matches)?,
            model,
            dry_run: matches.get_flag("dry-run"),
            basis: input::basis(matches)?,
            algorithm_box,
            inputs,
            resume,
            checkpoints,
            stream,
            runs,
            flips: flips::asked(matches, recipe, runs)?,
            support: support::asked(matches, recipe)?,
            platt: calibration::asked(matches, recipe)?,
            threshold: threshold::asked(matches)?,
            tune,
            auto_cost,
        })
    }

    /// The learner with the settings that are not as usual, and its planes.
    pub(super) fn learner_in_words(&self, model: &LinearModel) -> String {
        let settings: Vec<String> = self
            .recipe
            .parameters
            .iter()
            .filter(|p| self.settings.has(p.name))
            .map(|p| format!("{} {}", p.name, self.settings.get(p)))
            .collect();
        let kind = rules::summary(model);
        let settings =
            if settings.is_empty() { String::new() } else { format!(" ({})", settings.join(", ")) };
        format!("{}{settings}, {kind}", self.recipe.name)
    }
}

/// The learner and the settings that the flags ask for.
fn settings(
    matches: &ArgMatches,
    context: &Context,
) -> Result<(&'static Recipe, Settings), Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let recipe = text("learner").map_or(Ok(recipe::DEFAULT), Recipe::find)?;
    let mut settings = Settings::default();
    settings.seed = context.seed;
    for parameter in learner_parameters() {
        let own = |value: &&str| parameter.name != "threshold" || threshold::is_setting(value);
        if let Some(value) = text(parameter.name).filter(own) {
            settings.set(parameter.name, value);
        }
    }
    if let Some(file) = text("init").filter(|init| !matches!(*init, "zero" | "random")) {
        context.files.read(Path::new(file))?;
        settings.start = Some(ModelFile::load_model(Path::new(file), context.max_memory)?.planes);
    }
    if let Some(file) = text("eta").and_then(|eta| eta.strip_prefix("table:")) {
        context.files.read(Path::new(file))?;
        settings.rates = Some(rates(Path::new(file))?);
    }
    Ok((recipe, settings))
}

/// How often and where the run is saved.
fn checkpoints(
    matches: &ArgMatches,
    context: &Context,
    recipe: &Recipe,
    model: &Output,
    resume: Option<&Resume>,
) -> Result<Checkpoints, Failure> {
    let every = matches.get_one::<String>("checkpoint-every").map(|text| Every::parse(text));
    let every = every.transpose()?;
    let asked = matches.get_one::<Output>("checkpoint").cloned();
    let resumed = resume.filter(|resume| resume.is_checkpoint()).map(|r| r.path.clone());
    let wanted = every.is_some() || asked.is_some() || resumed.is_some();
    if wanted && recipe.kind == Kind::Direct {
        let words = format!("{} solves in one go: there is no run to save", recipe.name);
        return Err(Error::usage(words).into());
    }
    let beside = || {
        let mut name = model.path().as_os_str().to_owned();
        name.push(".checkpoint");
        PathBuf::from(name)
    };
    let to = match asked {
        _ if !wanted => None,
        Some(output) => Some(output),
        None => Some(context.files.output("the checkpoint", resumed.unwrap_or_else(beside))?),
    };
    Ok(Checkpoints { every, to })
}

/// `m.linsep` for `m.linsep.checkpoint`, and for `m.linsep` itself: a model that goes on takes the place
/// of the one it was.
fn resumed_model_path(path: &Path) -> PathBuf {
    match path.extension().is_some_and(|extension| extension == "checkpoint") {
        true => path.with_extension(""),
        false => path.to_path_buf(),
    }
}

/// Learning rates in a text file, with space or line ends between them.
fn rates(path: &Path) -> Result<Vec<f64>, Failure> {
    const MOST: u64 = 1 << 26;
    let size = std::fs::metadata(path).map_err(|e| Error::io("read", path, e))?.len();
    if size > MOST {
        let words = format!("--eta: {} is larger than {MOST} bytes", path.display());
        return Err(Error::usage(words).into());
    }
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut rates = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for word in line.split_whitespace() {
            match word.parse::<f64>() {
                Ok(rate) if rate.is_finite() && rate >= 0.0 => rates.push(rate),
                _ => {
                    return Err(Error::usage(format!(
                        "--eta: {}:{}: \"{}\" is no rate of at least 0",
                        path.display(),
                        number + 1,
                        linsep::printable(word.as_bytes(), 30)
                    ))
                    .into());
                }
            }
        }
    }
    Ok(rates)
}

/// `flowers.linsep` in this folder for `data/flowers.csv.gz`.
fn default_model_path(inputs: &[PathBuf]) -> PathBuf {
    let mut name = stem(inputs, "model");
    name.push(".linsep");
    name.into()
}

/// `flowers` for `data/flowers.csv.gz`, or another name where there is none.
pub(in crate::commands) fn stem(inputs: &[PathBuf], otherwise: &str) -> OsString {
    let name = inputs.first().and_then(|path| path.file_name()).unwrap_or_default();
    let Some(text) = name.to_str() else {
        // No text, but a name all the same.
        let packed = Path::new(name).extension().is_some_and(|end| end == "gz" || end == "zst");
        let name = if packed { Path::new(name).with_extension("") } else { name.into() };
        return name.with_extension("").into();
    };
    let stem = text.strip_suffix(".gz").or(text.strip_suffix(".zst")).unwrap_or(text);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let stem: String = stem.chars().filter(|c| !matches!(c, '*' | '?' | '[' | ']')).collect();
    if stem.is_empty() || stem == "-" { otherwise.into() } else { stem.into() }
}
