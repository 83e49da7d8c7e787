//! `linsep export MODEL --to TARGET`: the model for another program, which predicts the same.
//!
//! The file is written last: only after everything that was asked for has been checked.

use super::train::plan::stem;
use super::verify::title;
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::kinds::FileKind;
use crate::output::{Facts, counted, note, print, print_json};
use clap::ArgMatches;
use linsep::data::cancel;
use linsep::data::read::Missing;
use linsep::export::{Exported, Target, export, round_to_single};
use linsep::file::ModelFile;
use linsep::proof::{Certificate, CertificateFile, Claim};
use linsep::{Code, Dataset, Error, LinearModel, Place, Problem};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    crate::context::end_at_once();
    let Some(path) = &input::subject(matches) else { return Ok(ExitCode::from(2)) };
    let word = matches.get_one::<String>("target").map_or("", String::as_str);
    let target: Target = word.parse()?;
    let output = place(path, target, matches, context)?;
    let source = Source::load(path, context)?;
    let bytes = export(source.model(), target)?;
    let checked = check(&source, &bytes, target, matches, context)?;
    let certificate = matches.get_one::<Output>("cert");
    match (certificate, &checked.certificate) {
        (Some(to), Some(proved)) => {
            to.check(FileKind::Certificate, matches)?;
            to.write(|out| out.write_all(proved.to_json().as_bytes()))?;
        }
        (Some(_), None) => {
            let words = match target {
                Target::OnnxF32 => "--cert: nothing is proved of this model",
                _ => {
                    "--cert is for --to onnx-f32; elsewhere the planes stay what they are, and linsep verify checks the model itself"
                }
            };
            return Err(Error::usage(words).into());
        }
        _ => {}
    }
    let Some(output) = output else {
        let mut out = crate::output::stdout();
        out.write_all(&bytes).and_then(|()| out.flush())?;
        return Ok(ExitCode::SUCCESS);
    };
    output.write(|out| out.write_all(&bytes))?;
    let model = source.model();
    if context.json {
        print_json(&json!({
            "schema": "linsep.result/1",
            "command": "export",
            "model": path.display().to_string(),
            "to": target.word(),
            "output": output.display().to_string(),
            "bytes": bytes.len(),
            "features": features(model),
            "classes": model.classes,
            "scores": model.score_names(),
            "checked_rows": checked.rows,
            "certificate": checked.claims(),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut facts = Facts::default();
    let size = counted(bytes.len() as u64, "byte");
    facts.add("export", format!("{} ({}, {size})", output.display(), target.word()));
    facts.add("input", inputs(model));
    match checked.rows {
        Some(rows) => facts.add("checked", format!("{} keep their class", counted(rows, "row"))),
        None => note(context, "no row was predicted with it; --check DATA does that"),
    }
    for claim in checked.certificate.iter().flat_map(|certificate| &certificate.claims) {
        facts.add("true", in_words(claim));
    }
    if let Some(to) = certificate {
        facts.add("certificate", to.display().to_string());
    }
    print(&facts.text(context))?;
    Ok(ExitCode::SUCCESS)
}

/// What is true of rounded planes, or of the data whatever the planes are.
fn in_words(claim: &Claim) -> String {
    let title = title(claim);
    match claim {
        Claim::Optimal { optimality, .. } => {
            format!("{title}: the planes in float32 are {}", optimality.distance())
        }
        Claim::Separable { .. }
        | Claim::JointSeparable { .. }
        | Claim::Mistakes { .. }
        | Claim::Stationary { .. }
        | Claim::Counts { .. } => format!("{title}, by the planes in float32"),
        _ => title,
    }
}

/// Where the file goes; `None` is standard output.
fn place(
    model: &Path,
    target: Target,
    matches: &ArgMatches,
    context: &Context,
) -> Result<Option<Output>, Failure> {
    let output = match matches.get_one::<Output>("output-file") {
        Some(output) if output.is_stdout() && context.json => {
            let words = "--json needs -o FILE: the export itself goes to standard output";
            return Err(Error::usage(words).into());
        }
        Some(output) if output.is_stdout() => return Ok(None),
        Some(output) => output.clone(),
        None => {
            let mut name = stem(&[model.to_path_buf()], "model");
            name.push(".");
            name.push(target.extension());
            context.files.output("the export", PathBuf::from(name))?
        }
    };
    let kind = match target {
        Target::Json | Target::Liblinear => FileKind::Foreign,
        _ => FileKind::Export,
    };
    output.check(kind, matches)?;
    Ok(Some(output))
}

/// What is exported: a model of linsep with what is proved of it, or a model of another program.
enum Source {
    Own(Box<ModelFile>),
    Foreign(Box<LinearModel>),
}

impl Source {
    fn load(path: &Path, context: &Context) -> Result<Source, Failure> {
        match FileKind::of(path) {
            Some(FileKind::Foreign) => {
                super::load_model(path, context).map(|model| Source::Foreign(Box::new(model)))
            }
            _ => Ok(Source::Own(Box::new(ModelFile::load(path, context.max_memory)?))),
        }
    }

    fn model(&self) -> &LinearModel {
        match self {
            Source::Own(file) => &file.model,
            Source::Foreign(model) => model,
        }
    }

    /// The file, if something is proved of its model.
    fn proved(&self) -> Option<&ModelFile> {
        let proves = |file: &&ModelFile| {
            Certificate::new(file.certificate.claims.clone()).proves_something()
        };
        match self {
            Source::Own(file) => Some(&**file).filter(proves),
            Source::Foreign(_) => None,
        }
    }
}

/// What was checked before the file was written.
#[derive(Default)]
struct Checked {
    rows: Option<u64>,
    /// What is proved of rounded planes.
    certificate: Option<CertificateFile>,
}

impl Checked {
    fn claims(&self) -> Option<Vec<Value>> {
        let name = |claim: &Claim| json!({ "claim": claim.name(), "about": title(claim) });
        self.certificate.as_ref().map(|file| file.claims.iter().map(name).collect())
    }
}

/// Predicts the rows of the data with what was written, and asks the checker about rounded planes.
fn check(
    source: &Source,
    bytes: &[u8],
    target: Target,
    matches: &ArgMatches,
    context: &Context,
) -> Result<Checked, Failure> {
    let paths = input::paths(matches);
    let model = source.model();
    if paths.is_empty() {
        if target == Target::OnnxF32 {
            let words = "--to onnx-f32 rounds the planes, so it needs --check DATA: the rows have to keep their classes, and what is proved has to hold of the rounded planes";
            return Err(Error::usage(words).into());
        }
        return Ok(Checked::default());
    }
    let exported = Exported::read(bytes, target, model)?;
    let mut options = input::options(matches, context)?;
    let mut tally = Tally::default();
    // Claims are about the whole data with its labels.
    if let Some(file) = source.proved().filter(|_| target == Target::OnnxF32) {
        if model.input.drop_missing {
            options.missing = Missing::DropRow;
        }
        let rows = input::source_of(&paths, &options);
        let read = cancel::catch(|| rows.read(Some(&model.input)));
        let data: Dataset = read.unwrap_or(Err(Error::Interrupted))?.data;
        let rounded = round_to_single(model)?;
        let certificate = Some(rounded.certificate(file, &data, context.threads)?);
        exported.check(model, data.store(), |row, kept| tally.count(kept, || data.place_of(row)));
        return Ok(Checked { rows: Some(tally.finish(target)?), certificate });
    }
    let rows = input::source_of(&paths, &options);
    rows.blocks(&model.input, false, |_, chunk| {
        exported.check(model, chunk.store(), |row, kept| tally.count(kept, || chunk.place(row)));
        Ok(())
    })?;
    Ok(Checked { rows: Some(tally.finish(target)?), certificate: None })
}

/// Rows, and those that would get another class.
#[derive(Default)]
struct Tally {
    rows: u64,
    lost: u64,
    first: Option<Place>,
}

impl Tally {
    fn count(&mut self, kept: bool, place: impl FnOnce() -> Place) {
        self.rows += 1;
        if !kept {
            self.lost += 1;
            self.first.get_or_insert_with(place);
        }
    }

    /// The number of rows, all of which keep their class.
    fn finish(self, target: Target) -> Result<u64, Failure> {
        let Some(place) = self.first else { return Ok(self.rows) };
        let why = match target {
            Target::OnnxF32 => "may get another class in float32",
            Target::Liblinear => "get another class where LIBLINEAR adds",
            _ => "get another class from what was written",
        };
        let (lost, rows) = (self.lost, counted(self.rows, "row"));
        let words = format!("{lost} of {rows} {why}; this is the first of them");
        let help = "export to onnx or c, which give the same bits";
        Err(Error::from(Problem::new(Code::EXPORT, words, place).help(help)).into())
    }
}

/// The names of what the export takes.
fn features(model: &LinearModel) -> Vec<String> {
    let mut names = model.input.feature_names();
    names.truncate(model.n_features());
    names
}

fn inputs(model: &LinearModel) -> String {
    const SHOWN: usize = 8;
    let names = features(model);
    let mut shown: Vec<String> =
        names.iter().take(SHOWN).map(|name| linsep::printable(name.as_bytes(), 30)).collect();
    if names.len() > SHOWN {
        shown.push("…".to_owned());
    }
    format!("{}: {}", counted(names.len() as u64, "number"), shown.join(", "))
}
