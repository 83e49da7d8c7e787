//! What the page asks for, and the learner that it means.

use crate::answer::Wrong;
use crate::sets::{DataSpec, Loaded};
use crate::still::Still;
use linsep::recipe::{Kind, Recipe, Settings};
use linsep::{Dataset, Learner, Limits, Plane};
use linsep_teach::two_weights::TwoWeights;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The learner without a bias, which the registry does not have.
pub(crate) const TWO_WEIGHTS: &str = "two-weights";

/// The model that was named at the start, drawn as it is.
pub(crate) const MODEL: &str = "model";

/// What the page asks for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunSpec {
    pub(crate) data: DataSpec,
    pub(crate) learner: String,
    #[serde(default)]
    pub(crate) settings: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) seed: u64,
    /// Planes to start with: bias first.
    #[serde(default)]
    pub(crate) start: Option<Vec<Vec<f64>>>,
    #[serde(default)]
    pub(crate) basis: Option<String>,
    #[serde(default)]
    pub(crate) epochs: Option<u64>,
    /// Whether the user chooses each row.
    #[serde(default)]
    pub(crate) choose: bool,
}

/// How far to go.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Goal {
    Update,
    Mistake,
    Epoch,
    End,
}

/// A learner with its entry in the registry, if it has one, and its settings.
pub(crate) type Chosen = (Box<dyn Learner>, Option<&'static Recipe>, Settings);

/// The learner that was asked for.
pub(crate) fn learner_of(spec: &RunSpec, loaded: &Loaded, data: &Dataset) -> Result<Chosen, Wrong> {
    let mut settings = Settings::default();
    settings.seed = spec.seed;
    if spec.learner == TWO_WEIGHTS {
        return Ok((Box::new(two_weights(spec)?), None, settings));
    }
    if spec.learner == MODEL {
        let Some(model) = &loaded.model else {
            return Err(Wrong::Missing("no model was named at the start"));
        };
        if spec.basis.is_some() || spec.start.is_some() || !spec.settings.is_empty() || spec.choose
        {
            return Err(Wrong::usage("a model is drawn as it is, without settings"));
        }
        return Ok((Box::new(Still::new(model.clone())), None, settings));
    }
    let recipe = Recipe::find(&spec.learner)?;
    for (name, value) in &spec.settings {
        if value.starts_with("table:")
            || (name == "init" && !matches!(&value[..], "zero" | "random"))
        {
            return Err(Wrong::usage(format!("`{name}`: the lab reads no files")));
        }
        settings.set(name, value);
    }
    if let Some(start) = &spec.start {
        let wide = data.n_features() + 1;
        if start.len() > 64 || start.iter().any(|plane| plane.len() != wide) {
            return Err(Wrong::usage(format!(
                "`start` needs planes of {wide} numbers, bias first"
            )));
        }
        if start.iter().flatten().any(|x| !x.is_finite()) {
            return Err(Wrong::usage("`start` has a number that is not finite"));
        }
        settings.set("init", "page");
        settings.start =
            Some(start.iter().map(|plane| Plane::new(plane[1..].to_vec(), plane[0])).collect());
    }
    Ok((recipe.build(&settings)?, Some(recipe), settings))
}

fn two_weights(spec: &RunSpec) -> Result<TwoWeights, Wrong> {
    let mut learner = TwoWeights::default();
    for (name, value) in &spec.settings {
        match name.as_str() {
            "batch" if value == "off" => {}
            "batch" => learner.batch = Some(value.parse()?),
            "eta" if value == "auto" => {}
            "eta" => {
                let rate = value.parse().map_err(|_| Wrong::usage("`eta` is no number"))?;
                learner.rate = Some(rate);
            }
            _ => return Err(Wrong::usage(format!("{TWO_WEIGHTS} has no setting \"{name}\""))),
        }
    }
    if let Some(start) = &spec.start {
        let two = match &start[..] {
            [plane] if plane.iter().all(|x| x.is_finite()) => match plane[..] {
                // One feature: bias and weight. Two features: the bias is 0.
                [b, w] => Some([b, w]),
                [_, u, v] => Some([u, v]),
                _ => None,
            },
            _ => None,
        };
        learner.start =
            two.ok_or_else(|| Wrong::usage("`start` needs one plane of two weights"))?;
    }
    Ok(learner)
}

/// The limits that `train` has.
pub(crate) fn limits_of(spec: &RunSpec, recipe: Option<&Recipe>, data: &Dataset) -> Limits {
    let default = match recipe.map(|recipe| recipe.kind) {
        Some(Kind::Optimising) => {
            let values = data.nonzeros() + data.n_rows() as u64;
            (2_000_000_000 / values.max(1)).clamp(1000, 100_000)
        }
        _ => 100,
    };
    Limits::default().with_epochs(Some(spec.epochs.unwrap_or(default).min(10_000_000)))
}
