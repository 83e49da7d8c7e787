//! Discriminant axes of a model: `show --axes`, `predict --output axes` and `plot --view axes`.

use crate::exit::Failure;
use crate::output::{aligned, counted, grouped};
use linsep::density::{Axes, Density, MOST_NUMBERS};
use linsep::file::ModelFile;
use linsep::learn::discriminant::LDA;
use linsep::model::LinearModel;
use linsep::recipe::{Ability, Recipe};
use linsep::{Dataset, DatasetBuilder, Error, Plane, printable};
use serde_json::json;

/// The axes of a model, or why there are none.
pub(super) fn of_file(file: &ModelFile) -> Result<Axes, Error> {
    match &file.density {
        Some(density) => Axes::of(&file.model, density, file.data.rows),
        None => Err(none(&file.learner)),
    }
}

/// The axes of a model that was just trained.
pub(super) fn of_fit(
    model: &LinearModel,
    density: Option<&Density>,
    learner: &str,
    rows: u64,
) -> Result<Axes, Error> {
    Axes::of(model, density.ok_or_else(|| none(learner))?, rows)
}

fn none(learner: &str) -> Error {
    let has = Recipe::find(learner).is_ok_and(|recipe| recipe.has(Ability::Sample));
    Error::usage(match has {
        true => format!(
            "this model of {learner} was written without its density, by an older version or because it has more than {MOST_NUMBERS} numbers; train again, with fewer columns if need be"
        ),
        false => format!(
            "a model of {learner} has no covariance within the classes, so it has no discriminant axes; {LDA} has"
        ),
    })
}

/// Models of other programs have planes alone.
pub(super) fn foreign() -> Error {
    Error::usage(format!(
        "models of other programs have no covariance within the classes, so no discriminant axes; {LDA} has"
    ))
}

pub(super) fn as_json(model: &LinearModel, axes: &Axes) -> serde_json::Value {
    json!({
        "names": axes.names(),
        "features": model.input.feature_names(),
        "proportion_of_trace": axes.shares,
        "scaling": axes.directions,
        "offsets": axes.offsets,
        "means": axes.means,
        "off_identity": axes.off,
        "proved": false,
    })
}

pub(super) fn as_text(model: &LinearModel, axes: &Axes, top: usize) -> String {
    let count = axes.directions.len();
    let mut text = format!(
        "\n{}, not proved: covariance within the classes (divisor rows − classes) is the identity to {:.1e}\n",
        counted(count as u64, "discriminant axis").replace("axiss", "axes"),
        axes.off
    );
    let line = |name: &str, cells: &dyn Fn(usize) -> String| -> Vec<String> {
        std::iter::once(name.to_owned()).chain((0..count).map(cells)).collect()
    };
    let mut table = vec![
        line("", &|i| axes.names()[i].clone()),
        line("proportion of trace", &|i| format!("{:.6}", axes.shares[i])),
    ];
    for (class, means) in model.classes.iter().zip(&axes.means) {
        let name = format!("mean of {}", printable(class.as_bytes(), 30));
        table.push(line(&name, &|i| number(means[i])));
    }
    table.push(line("(offset)", &|i| number(axes.offsets[i])));
    // Features in their order: the table of `lda` in R.
    let names = model.input.feature_names();
    for (j, name) in names.iter().enumerate().take(top) {
        let name = printable(name.as_bytes(), 40);
        table.push(line(&name, &|i| number(axes.directions[i][j])));
    }
    for line in aligned(&table, |column| column > 0) {
        text.push_str("  ");
        text.push_str(&line);
        text.push('\n');
    }
    if let more @ 1.. = names.len().saturating_sub(top) {
        text.push_str(&format!(
            "  ({} more; --top shows them, --json has all)\n",
            grouped(more as u64)
        ));
    }
    text
}

fn number(x: f64) -> String {
    match x.abs() {
        0.0 => "0".to_owned(),
        size if (1e-4..1e6).contains(&size) => format!("{x:.6}"),
        _ => format!("{x:.5e}"),
    }
}

/// The rows on the axes as a table of its own, and the model over its columns. Costs have no planes.
pub(super) fn projected(
    data: &Dataset,
    model: &LinearModel,
    axes: &Axes,
) -> Result<(Dataset, LinearModel), Failure> {
    let names = axes.names().into_iter().zip(&axes.shares);
    let names: Vec<String> =
        names.map(|(name, share)| format!("{name} ({:.1} % of trace)", 100.0 * share)).collect();
    let mut builder = DatasetBuilder::new(names.len());
    builder.names(names);
    let mut scorer = model.scorer(data);
    for row in 0..data.n_rows() {
        let at = axes.at(scorer.row(row));
        builder.dense_row(&at, &data.classes()[data.class_of(row) as usize])?;
    }
    let table = builder.finish()?;
    let planes = axes.planes().into_iter().map(|(weights, bias)| Plane::new(weights, bias));
    let input = table.input().clone();
    let flat = LinearModel::new(planes.collect(), model.rule.clone(), model.classes.clone(), input);
    Ok((table, flat))
}
