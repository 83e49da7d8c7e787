//! `linsep sample MODEL`: labelled rows drawn from the density of a generative model, streamed.

use super::rows_made::Target;
use crate::context::Context;
use crate::exit::Failure;
use crate::input::whole;
use crate::output::{counted, note, print_json};
use clap::ArgMatches;
use linsep::data::write::{OutputFormat, unfit_label};
use linsep::density::{MOST_NUMBERS, Sampler};
use linsep::file::ModelFile;
use linsep::recipe::{Ability, Recipe};
use linsep::{Error, LinearModel};
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    let Some(path) = matches.get_one::<PathBuf>("model") else { return Ok(ExitCode::from(2)) };
    let text = |name: &str| matches.get_one::<String>(name);
    let rows = match text("rows") {
        None => 100,
        Some(text) => match whole("rows", text)? {
            0 => {
                return Err(
                    Error::usage("--rows: 0 rows are nothing to draw; give at least 1").into()
                );
            }
            rows => rows,
        },
    };
    let length = text("length").map(|length| whole("length", length)).transpose()?;
    let file = ModelFile::load(path, context.max_memory)?;
    let Some(density) = &file.density else { return Err(no_density(&file.learner).into()) };
    let mut sampler = Sampler::new(&file.model, density, length, context.seed)?;
    let target = Target::of(matches, context, OutputFormat::Table(b','))?;
    if let Some(words) = unfit_label(&file.model.classes, target.format) {
        return Err(Error::usage(format!("{words}; choose another --format")).into());
    }
    notes(&file.model, &sampler, context);
    if matches.get_flag("dry-run") {
        note(context, &format!("{}; nothing was written (--dry-run)", counted(rows, "row")));
        return Ok(ExitCode::SUCCESS);
    }
    let names = file.model.input.feature_names();
    let label = file.model.input.label.as_ref().and_then(|label| label.name.clone());
    let mut label = label.unwrap_or_else(|| "label".to_owned());
    while names.contains(&label) {
        label.insert(0, '_');
    }
    let mut left = rows;
    target.write(context, &label, &names, &mut |writer| {
        let more = left > 0;
        if more {
            let (class, entries) = sampler.draw();
            writer.row(&file.model.classes[class as usize], entries, None)?;
            left -= 1;
        }
        Ok(more)
    })?;
    if let (true, Some(output)) = (context.json, target.output) {
        print_json(&serde_json::json!({
            "schema": "linsep.result/1",
            "command": "sample",
            "rows": rows,
            "features": file.model.n_features(),
            "family": density.name(),
            "parameters": density.parameters(),
            "lengths": sampler.lengths(),
            "seed": context.seed,
            "output": output.display().to_string(),
        }))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Why there is nothing to draw from.
fn no_density(learner: &str) -> Error {
    match Recipe::find(learner) {
        Ok(recipe) if recipe.has(Ability::Sample) => Error::usage(format!(
            "this model of {learner} was written without its density, by an older version or because it has more than {MOST_NUMBERS} numbers; train again, with fewer columns if need be"
        )),
        Ok(recipe) => recipe.cannot(Ability::Sample),
        // A model of another program or of a learner that is gone.
        Err(_) => Error::usage(format!(
            "this model of {learner} does not know how its data came about; learners that can: {}",
            Ability::Sample.learners().join(", ")
        )),
    }
}

fn notes(model: &LinearModel, sampler: &Sampler<'_>, context: &Context) {
    if !sampler.lengths().is_empty() {
        let classes = model.classes.iter().zip(sampler.lengths());
        let words: Vec<String> = classes.take(12).map(|(c, l)| format!("{c} {l}")).collect();
        note(context, &format!("counts in a row: {}", words.join(", ")));
    }
    if model.input.columns.iter().any(|column| column.levels.is_some()) {
        note(
            context,
            "the model has text columns; their levels are drawn as features of their own, one column each",
        );
    }
}
