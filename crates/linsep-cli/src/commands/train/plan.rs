//! What the flags of `train` ask for, checked before any work.

use crate::args::learner_parameters;
use crate::context::Context;
use crate::exit::Failure;
use crate::input;
use clap::ArgMatches;
use linsep::model_file::ModelFile;
use linsep::recipe::{Recipe, Settings};
use linsep::{Error, Learner, Limits};
use std::path::{Path, PathBuf};

/// Everything that the flags ask for, checked before any work.
pub(super) struct Plan {
    pub(super) inputs: Vec<PathBuf>,
    pub(super) recipe: &'static Recipe,
    pub(super) settings: Settings,
    pub(super) learner: Box<dyn Learner>,
    pub(super) limits: Limits,
    pub(super) epochs_given: bool,
    pub(super) test: Option<TestOn>,
    pub(super) folds: Option<usize>,
    pub(super) model: PathBuf,
    pub(super) dry_run: bool,
}

pub(super) enum TestOn {
    File(PathBuf),
    Share(f64),
}

impl Plan {
    pub(super) fn new(matches: &ArgMatches, context: &Context) -> Result<Plan, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let recipe = Recipe::find(text("learner").unwrap_or("perceptron"))?;
        let mut settings = Settings::default();
        settings.seed = context.seed;
        for parameter in learner_parameters() {
            if let Some(value) = text(parameter.name) {
                settings.set(parameter.name, value);
            }
        }
        if let Some(file) = text("init").filter(|init| !matches!(*init, "zero" | "random")) {
            settings.start =
                Some(ModelFile::load(Path::new(file), context.max_memory)?.model.planes);
        }
        if let Some(file) = text("eta").and_then(|eta| eta.strip_prefix("table:")) {
            settings.rates = Some(rates(Path::new(file))?);
        }
        let whole = |name: &str| text(name).map(|n| input::whole(name, n)).transpose();
        let mut limits = Limits { updates: whole("updates")?, ..Limits::default() };
        if let Some(epochs) = whole("epochs")? {
            limits.epochs = Some(epochs);
        } else if limits.updates.is_some() || context.time_limited {
            limits.epochs = None;
        }
        let test = match text("test") {
            None => None,
            Some(share) if share.parse::<f64>().is_ok() => {
                Some(TestOn::Share(share.parse().unwrap_or(0.0)))
            }
            Some(file) => {
                // Better to miss the file now than after the work.
                std::fs::metadata(file).map_err(|e| Error::io("read", Path::new(file), e))?;
                Some(TestOn::File(file.into()))
            }
        };
        let inputs = input::paths(matches);
        let model = match matches.get_one::<PathBuf>("output-file") {
            Some(path) if path.as_os_str() == "-" => {
                return Err(Error::usage("a model is a file; -o needs a name, not -").into());
            }
            Some(path) => path.clone(),
            None => default_model_path(&inputs),
        };
        Ok(Plan {
            learner: recipe.build(&settings)?,
            recipe,
            settings,
            limits,
            epochs_given: text("epochs").is_some(),
            test,
            folds: whole("cv")?.map(|folds| folds as usize),
            model,
            dry_run: matches.get_flag("dry-run"),
            inputs,
        })
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
    PathBuf::from(format!("{}.linsep", stem(inputs, "model")))
}

/// `flowers` for `data/flowers.csv.gz`, or another name where there is none.
pub(in crate::commands) fn stem(inputs: &[PathBuf], otherwise: &str) -> String {
    let name = inputs.first().and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
    let name = name.unwrap_or_default();
    let stem = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let stem: String = stem.chars().filter(|c| !matches!(c, '*' | '?' | '[' | ']')).collect();
    if stem.is_empty() || stem == "-" { otherwise.to_owned() } else { stem }
}
