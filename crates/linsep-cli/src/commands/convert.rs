//! `linsep convert DATA OUT`: the same table in another format. A model is written in the newest version of
//! its format.

use super::{check_width, read_data};
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::kinds::FileKind;
use crate::output::{counted, note, print, print_json, stdout};
use clap::ArgMatches;
use clap::parser::ValueSource;
use linsep::Error;
use linsep::data::write::{OutputFormat, Packer, Packing, losses, refuse_losses, write};
use linsep::file::ModelFile;
use serde_json::json;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    let Some(to) = matches.get_one::<Output>("to") else { return Ok(ExitCode::from(2)) };
    if let [from] = &input::paths(matches)[..]
        && is_model(from)?
    {
        return upgrade(from, to, matches, context);
    }
    let (format, packing) = target(matches.get_one::<String>("to-format"), to.path())?;
    let read = read_data(matches, context)?;
    check_width(&read.data, 64, context)?;
    let lost = losses(&read.data, format);
    if !matches.get_flag("allow-lossy") {
        refuse_losses(&lost)?;
    }
    lost.iter().for_each(|loss| note(context, loss));
    if format == OutputFormat::Svmlight && read.data.input().has_names() {
        note(context, "svmlight has no column names; they are dropped");
    }
    if matches.get_flag("dry-run") {
        note(context, "nothing was written (--dry-run)");
        return Ok(ExitCode::SUCCESS);
    }
    if to.is_stdout() {
        let mut out = Packer::new(stdout(), packing)?;
        write(&read.data, format, &mut out)?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    to.write(|out| {
        let mut out = Packer::new(out, packing)?;
        write(&read.data, format, &mut out)?;
        out.finish()
    })?;
    let rows = read.data.n_rows() as u64;
    if context.json {
        print_json(&json!({
            "schema": "linsep.result/1",
            "command": "convert",
            "rows": rows,
            "features": read.data.n_features(),
            "digest": read.data.digest(context.threads),
            "output": to.display().to_string(),
        }))?;
    } else {
        print(&format!("{}  {}\n", to.display(), counted(rows, "row")))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a file says of itself that it is a model. Pipes are not asked: what is read is gone.
fn is_model(path: &Path) -> Result<bool, Error> {
    if !path.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(200).read_to_end(&mut start));
    // A model that cannot be read is not to be taken for a table.
    read.map_err(|error| Error::io("read", path, error))?;
    Ok(ModelFile::is_one(&start))
}

/// Writes a model as this version does.
fn upgrade(
    from: &Path,
    to: &Output,
    matches: &ArgMatches,
    context: &Context,
) -> Result<ExitCode, Failure> {
    let flags = input::flags();
    let flags = flags.iter().map(|flag| flag.get_id().as_str()).chain(["to-format"]);
    let given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    if let Some(flag) = flags.into_iter().find(given) {
        let words = format!("--{flag} is for data; {} is a model", from.display());
        return Err(Error::usage(words).into());
    }
    let file = ModelFile::load(from, context.max_memory)?;
    if matches.get_flag("dry-run") {
        note(context, "nothing was written (--dry-run)");
        return Ok(ExitCode::SUCCESS);
    }
    to.check(FileKind::Model, matches)?;
    file.save(to.path())?;
    if context.json {
        print_json(&json!({
            "schema": "linsep.result/1",
            "command": "convert",
            "format": linsep::file::FORMAT,
            "output": to.display().to_string(),
        }))?;
    } else {
        print(&format!("{}  {}\n", to.display(), linsep::file::FORMAT))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The format and packing to write: asked for, or by the name of the file.
pub(super) fn target(asked: Option<&String>, to: &Path) -> Result<(OutputFormat, Packing), Error> {
    let (by_name, packing) = OutputFormat::of_path(to);
    match asked.map(|word| named(word)).or(by_name) {
        Some(format) => Ok((format, packing)),
        None => Err(Error::usage(format!(
            "the name {} does not tell the format; end it in .csv, .tsv, .svm, .parquet or .arrow, or say which format",
            to.display()
        ))),
    }
}

/// The format that a word stands for.
pub(super) fn named(word: &str) -> OutputFormat {
    match word {
        "tsv" => OutputFormat::Table(b'\t'),
        "svmlight" => OutputFormat::Svmlight,
        "parquet" => OutputFormat::Parquet,
        "arrow" => OutputFormat::Arrow,
        _ => OutputFormat::Table(b','),
    }
}
