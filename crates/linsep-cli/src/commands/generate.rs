//! `linsep generate KIND`: synthetic data in constant memory.

use super::rows_made::Target;
use crate::context::Context;
use crate::exit::Failure;
use crate::input::whole;
use crate::output::{note, print_json};
use clap::ArgMatches;
use linsep::Error;
use linsep::data::generate::{GenerateSpec, Generator, Kind, Values};
use linsep::data::write::OutputFormat;
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    let mut generator = Generator::new(&spec(matches, context)?)?;
    let natural =
        if generator.is_sparse() { OutputFormat::Svmlight } else { OutputFormat::Table(b',') };
    let target = Target::of(matches, context, natural)?;
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
    let named = if target.has_names() { generator.features() } else { 0 };
    let names: Vec<String> = (0..named).map(|j| generator.feature_name(j)).collect();
    let mut entries = Vec::new();
    target.write(context, "label", &names, &mut |writer| {
        let Some(row) = generator.next_row() else { return Ok(false) };
        entries.clear();
        match row.values {
            Values::Sparse(values) => entries.extend_from_slice(values),
            Values::Dense(values) => {
                let used = values.iter().enumerate().filter(|(_, value)| **value != 0.0);
                entries.extend(used.map(|(j, &value)| (j as u32, value)));
            }
        }
        writer.row(row.label, &entries, None)?;
        Ok(true)
    })?;
    if let (true, Some(output)) = (context.json, target.output) {
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
