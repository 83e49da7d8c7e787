//! The commands, one file each.

mod axes;
mod certify;
mod compare;
mod convert;
mod costs;
mod criterion;
mod data_lines;
mod equation;
mod evaluate;
mod explain;
mod export;
mod forced;
mod gate;
mod generate;
mod geometry;
mod help;
mod infer;
mod inspect;
#[cfg(feature = "lab")]
mod lab;
mod margin;
mod plot;
mod predict;
mod replay;
mod rows_made;
mod rules;
mod sample;
mod sentences;
mod separable;
mod show;
mod train;
mod verify;

use crate::context::Context;
use crate::exit::Failure;
use crate::input;
use crate::kinds::FileKind;
use crate::output::{counted, note};
use clap::ArgMatches;
use linsep::data::read::ReadResult;
use linsep::data::{cancel, memory};
use linsep::file::ModelFile;
use linsep::model::StreamModel;
use linsep::model::foreign::ForeignModel;
use linsep::{Dataset, Error, LinearModel};
use std::path::Path;
use std::process::ExitCode;

/// Runs a command.
pub(crate) fn run(
    name: &str,
    matches: &ArgMatches,
    context: &Context,
) -> Result<ExitCode, Failure> {
    context.files.note(matches)?;
    match name {
        // These have something to say or to save however they are stopped.
        "separable" => cancel::shield(|| separable::run(matches, context)),
        "infer" => infer::run(matches, context),
        "forced" => cancel::shield(|| forced::run(matches, context)),
        "verify" => verify::run(matches, context),
        "certify" => certify::run(matches, context),
        "train" => cancel::shield(|| train::run(matches, context)),
        "predict" => predict::run(matches, context),
        "evaluate" => evaluate::run(matches, context),
        "show" => show::run(matches, context),
        "geometry" => geometry::run(matches, context),
        "explain" => explain::run(matches, context),
        "criterion" => criterion::run(matches, context),
        "sample" => sample::run(matches, context),
        "gate" => gate::run(matches, context),
        "plot" => plot::run(matches, context),
        "compare" => compare::run(matches, context),
        "inspect" => inspect::run(matches, context),
        "convert" => convert::run(matches, context),
        "export" => export::run(matches, context),
        "generate" => generate::run(matches, context),
        "replay" => replay::run(matches, context),
        #[cfg(feature = "lab")]
        "lab" => lab::run(matches, context),
        "completions" => help::completions(matches),
        "man" => help::man(matches),
        _ => help::run(matches),
    }
}

/// The model of a file, of linsep or of another program.
fn load_model(path: &Path, context: &Context) -> Result<LinearModel, Failure> {
    match FileKind::of(path) {
        Some(FileKind::Foreign) => Ok(ForeignModel::load(path, context.max_memory)?.to_model()),
        _ => Ok(ModelFile::load_model(path, context.max_memory)?),
    }
}

/// The same for a model that only scores.
fn load_stream_model(path: &Path, context: &Context) -> Result<StreamModel, Failure> {
    match FileKind::of(path) {
        Some(FileKind::Foreign) => load_model(path, context).map(StreamModel::from),
        _ => Ok(ModelFile::load_stream_model(path, context.max_memory)?),
    }
}

/// Reads the data of a command and keeps rejected rows apart if asked to.
fn read_data(matches: &ArgMatches, context: &Context) -> Result<ReadResult, Failure> {
    let source = input::source(matches, context)?;
    let result = cancel::catch(|| source.read(None)).unwrap_or(Err(Error::Interrupted))?;
    tell_about(&result, matches, context)?;
    Ok(result)
}

/// Says what happened while data was read, and keeps rejected rows apart if asked to.
fn tell_about(result: &ReadResult, matches: &ArgMatches, context: &Context) -> Result<(), Failure> {
    if let Some(path) = input::rejects(matches).filter(|_| result.choices.bad_rows > 0) {
        path.write(|out| out.write_all(&result.rejects))?;
        note(
            context,
            &format!("{} went to {}", counted(result.choices.bad_rows, "bad row"), path.display()),
        );
    } else if result.choices.bad_rows > 0 {
        note(context, &format!("{} skipped", counted(result.choices.bad_rows, "bad row")));
    }
    if result.choices.dropped_rows > 0 {
        note(
            context,
            &format!(
                "{} left out because of missing values",
                counted(result.choices.dropped_rows, "row")
            ),
        );
    }
    result.choices.columns.iter().for_each(|column| note(context, &column.words));
    if result.choices.decimal_comma {
        note(context, "numbers have decimal commas (decide with `decimal`)");
    }
    if result.choices.query_ids {
        note(context, "qid: entries were skipped");
    }
    if result.choices.outside > 0 {
        let words = format!("{} entries outside the model were left out", result.choices.outside);
        note(context, &words);
    }
    if context.verbose {
        result.choices.notes().iter().for_each(|line| note(context, line));
    }
    Ok(())
}

/// Refuses work that needs too much memory for each feature: a wild column number in the data shows
/// here and not in an allocation.
fn check_width(data: &Dataset, bytes_per_feature: u64, context: &Context) -> Result<(), Failure> {
    let needed = (data.n_features() as u64).saturating_mul(bytes_per_feature);
    let purpose = format!("work on {} features", data.n_features());
    match context.max_memory {
        Some(limit) if needed > limit => Err(Error::Memory { purpose, needed, limit }.into()),
        _ => Ok(memory::ask(&purpose, needed)?),
    }
}

/// A JSON number, or null where there is none.
fn json_number(value: f64) -> serde_json::Value {
    serde_json::Number::from_f64(value).map_or(serde_json::Value::Null, serde_json::Value::Number)
}
