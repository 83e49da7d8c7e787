//! `linsep generate KIND`: synthetic data in constant memory.

use super::rows_made::Target;
use crate::context::Context;
use crate::exit::Failure;
use crate::input::whole;
use crate::output::{note, print_json};
use clap::ArgMatches;
use linsep::Error;
use linsep::data::generate::{GenerateSpec, Generator, Kind, RowBlock};
use linsep::data::write::OutputFormat;
use std::process::ExitCode;
use std::sync::mpsc::{channel, sync_channel};

/// Blocks of rows that wait to be written, at most.
const BLOCKS: usize = 4;

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
    let (rows, features) = (generator.rows(), generator.features());
    let labels: Vec<String> = generator.labels().to_vec();
    // One thread makes rows, this one writes them; blocks go back to be filled again.
    std::thread::scope(|scope| {
        let (made, blocks) = sync_channel::<RowBlock>(BLOCKS);
        let (used, again) = channel::<RowBlock>();
        scope.spawn(move || {
            let mut block = RowBlock::default();
            while generator.next_block(&mut block) && made.send(block).is_ok() {
                block = again.try_recv().unwrap_or_default();
            }
        });
        // Moved here, so that leaving ends the other thread.
        let blocks = blocks;
        target.write(context, "label", &names, &mut |writer| {
            let Ok(block) = blocks.recv() else { return Ok(false) };
            for (class, entries) in block.rows() {
                writer.row(&labels[class as usize], entries, None)?;
            }
            // Whoever makes rows may have ended.
            let _ = used.send(block);
            Ok(true)
        })
    })?;
    if let (true, Some(output)) = (context.json, target.output) {
        print_json(&serde_json::json!({
            "schema": "linsep.result/1",
            "command": "generate",
            "rows": rows,
            "features": features,
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
