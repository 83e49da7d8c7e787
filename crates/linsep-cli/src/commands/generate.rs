//! `linsep generate KIND`: synthetic data in constant memory.

use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::input::whole;
use crate::output::{note, print_json, stdout};
use clap::ArgMatches;
use linsep::Error;
use linsep::data::generate::{GenerateSpec, Generator, Kind, Values};
use linsep::data::write::{OutputFormat, Packer, Packing, RowWriter};
use std::io::{self, Write};
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    let mut generator = Generator::new(&spec(matches, context)?)?;
    let target = matches.get_one::<Output>("output-file").filter(|output| !output.is_stdout());
    let natural =
        if generator.is_sparse() { OutputFormat::Svmlight } else { OutputFormat::Table(b',') };
    let asked = matches.get_one::<String>("format");
    let (format, packing) = match target {
        Some(output) => {
            super::convert::target(asked, output.path()).or_else(|error| match asked {
                None if output.path().extension().is_none() => Ok((natural, Packing::Plain)),
                _ => Err(error),
            })?
        }
        None => match asked.map(String::as_str) {
            Some("csv") => (OutputFormat::Table(b','), Packing::Plain),
            Some("tsv") => (OutputFormat::Table(b'\t'), Packing::Plain),
            Some(_) => (OutputFormat::Svmlight, Packing::Plain),
            None => (natural, Packing::Plain),
        },
    };
    if context.json && target.is_none() {
        return Err(
            Error::usage("--json needs -o FILE: the data itself goes to standard output").into()
        );
    }
    if matches.get_flag("dry-run") {
        note(
            context,
            &format!(
                "{} rows of {} features; nothing was written (--dry-run)",
                generator.rows(),
                generator.features()
            ),
        );
        return Ok(ExitCode::SUCCESS);
    }
    let stop = || context.stopped();
    let written = match target {
        None => write_rows(&mut generator, format, &mut stdout(), &stop).map_err(Failure::from),
        Some(output) => output
            .write(|out| {
                let mut out = Packer::new(out, packing)?;
                write_rows(&mut generator, format, &mut out, &stop)?;
                out.finish()
            })
            .map_err(Failure::from),
    };
    if context.stopped() {
        return Err(Error::Interrupted.into());
    }
    written?;
    if let (true, Some(output)) = (context.json, target) {
        print_json(&serde_json::json!({
            "schema": "linsep.result/1",
            "command": "generate",
            "rows": generator.rows(),
            "features": generator.features(),
            "output": output.display().to_string(),
        }))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn spec(matches: &ArgMatches, context: &Context) -> Result<GenerateSpec, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let number = |name: &str| text(name).map(|n| whole(name, n)).transpose();
    let real = |name: &str| {
        text(name)
            .map(|x| {
                x.parse::<f64>()
                    .map_err(|_| Error::usage(format!("--{name}: \"{x}\" is no number")))
            })
            .transpose()
    };
    let kind =
        text("kind").and_then(Kind::parse).ok_or_else(|| Error::usage("no such kind of data"))?;
    let mut spec = GenerateSpec::new(kind);
    spec.rows = number("rows")?;
    spec.features = number("features")?.map(|n| n as usize);
    spec.classes = number("classes")?.map(|n| n as usize);
    spec.margin = real("margin")?;
    spec.noise = real("noise")?.unwrap_or(0.0);
    spec.nonzeros = number("nonzeros")?.map(|n| n as usize);
    spec.seed = context.seed;
    Ok(spec)
}

fn write_rows(
    generator: &mut Generator,
    format: OutputFormat,
    out: &mut dyn Write,
    stop: &dyn Fn() -> bool,
) -> io::Result<()> {
    let mut writer = match format {
        OutputFormat::Table(delimiter) => {
            let names: Vec<String> =
                (0..generator.features()).map(|j| generator.feature_name(j)).collect();
            RowWriter::table(out, delimiter, "label", &names, None)?
        }
        _ => RowWriter::svmlight(out),
    };
    let mut entries = Vec::new();
    while let Some(row) = generator.next_row() {
        entries.clear();
        match row.values {
            Values::Sparse(values) => entries.extend_from_slice(values),
            Values::Dense(values) => {
                let used = values.iter().enumerate().filter(|(_, value)| **value != 0.0);
                entries.extend(used.map(|(j, &value)| (j as u32, value)));
            }
        }
        writer.row(row.label, &entries, None)?;
        if stop() {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
    }
    writer.flush()
}
