//! `linsep geometry MODEL [DATA]`: the planes of a model as shapes in space, and data around them.

mod around;
mod export;

use super::equation;
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::output::{Facts, counted, print, print_json};
pub(super) use around::place;

use around::Around;
use clap::ArgMatches;
use linsep::{Error, LinearModel, Plane, Rule, printable};
use linsep_teach::geometry::{Line, Shape, boundary};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Features up to which a plane is written out in a report.
const SHOWN_FEATURES: usize = 8;

/// Pair boundaries that are listed in a report.
const SHOWN_PAIRS: usize = 15;

/// Classes, and work on pair boundaries, beyond which a class has to be chosen.
const MOST_CLASSES: usize = 4096;
const MOST_WORK: u64 = 4_000_000_000;

/// Numbers of pair boundaries beyond which JSON leaves them out.
const MOST_NUMBERS: usize = 2_000_000;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    let Some(path) = &input::subject(matches) else { return Ok(ExitCode::from(2)) };
    let model = super::load_model(path, context)?.with_plane_for_each_class()?;
    let view = View::new(&model, matches)?;
    let inputs = input::paths(matches);
    let closest = match matches.get_one::<String>("closest") {
        None => 1,
        Some(text) => match input::whole("closest", text)? {
            count @ 1..=1000 => count as usize,
            _ => return Err(Error::usage("--closest: give a number from 1 to 1000").into()),
        },
    };
    let around = match inputs.is_empty() {
        true => {
            for flag in ["distances", "reflected"] {
                if matches.get_one::<Output>(flag).is_some() {
                    return Err(
                        Error::usage(format!("--{flag} needs DATA behind the model")).into()
                    );
                }
            }
            if matches.get_one::<String>("closest").is_some() {
                return Err(Error::usage("--closest needs DATA behind the model").into());
            }
            None
        }
        false => Some(around::measure(&view, &inputs, closest, matches, context)?),
    };
    if context.json {
        print_json(&as_json(&view, around.as_ref()))?;
    } else {
        print(&as_text(&view, around.as_ref(), context))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is looked at: one plane, or all regions where the highest score wins.
struct View<'a> {
    model: &'a LinearModel,
    /// The plane that is looked at alone, by its number.
    one: Option<usize>,
}

impl<'a> View<'a> {
    fn new(model: &'a LinearModel, matches: &ArgMatches) -> Result<View<'a>, Failure> {
        if model.rule == Rule::Sign {
            let class = matches.get_one::<String>("class");
            let positive = &model.classes[1];
            return match class.map(|class| linsep::data::read::normal_label(class)) {
                Some(class) if class != *positive => Err(Error::usage(format!(
                    "--class: the plane of this model is that of \"{positive}\", not of \"{class}\""
                ))
                .into()),
                _ => Ok(View { model, one: Some(0) }),
            };
        }
        let Some(class) = matches.get_one::<String>("class") else {
            let work = (model.planes.len() as u64).pow(2) * (model.input.width() as u64).max(1);
            if model.planes.len() > MOST_CLASSES || work > MOST_WORK {
                return Err(Error::usage(format!(
                    "the boundaries of all pairs of {} classes are too many here; choose one with --class",
                    model.planes.len()
                ))
                .into());
            }
            return Ok(View { model, one: None });
        };
        let one = position(model, "class", class)?;
        Ok(View { model, one: Some(one) })
    }

    /// The planes to describe: number and class.
    fn planes(&self) -> Vec<(usize, String)> {
        let classes = self.model.score_names();
        let all = (0..self.model.planes.len()).filter(|k| self.one.is_none_or(|one| one == *k));
        all.map(|k| (k, classes.get(k).cloned().unwrap_or_default())).collect()
    }

    /// Every pair of classes with their boundary, or only those of the chosen class.
    fn pairs(&self) -> Vec<(usize, usize)> {
        if self.model.rule == Rule::Sign {
            return Vec::new();
        }
        let count = self.model.planes.len();
        let all = (0..count).flat_map(|k| (k + 1..count).map(move |j| (k, j)));
        all.filter(|(k, j)| self.one.is_none_or(|one| one == *k || one == *j)).collect()
    }
}

/// The number of a class of a model.
pub(super) fn position(model: &LinearModel, flag: &str, class: &str) -> Result<usize, Failure> {
    let class = linsep::data::read::normal_label(class);
    let found = model.classes.iter().position(|name| *name == class);
    found.ok_or_else(|| {
        let shown: Vec<&str> = model.classes.iter().take(20).map(String::as_str).collect();
        let more = if model.classes.len() > 20 { ", …" } else { "" };
        Error::usage(format!(
            "--{flag}: the model has no class \"{class}\"; its classes are {}{more}",
            shown.join(", ")
        ))
        .into()
    })
}

fn as_text(view: &View<'_>, around: Option<&Around>, context: &Context) -> String {
    let model = view.model;
    let names = equation::printable_names(&model.input.feature_names());
    let mut text = String::new();
    if let Some(threshold) = model.input.binarize {
        let mut facts = Facts::default();
        facts.add(
            "values",
            format!("above {threshold} count as 1, all others as 0; lengths are in that space"),
        );
        text.push_str(&facts.text(context));
        text.push('\n');
    }
    for (k, class) in view.planes() {
        let mut facts = Facts::default();
        facts.add("plane", format!("score of {}", printable(class.as_bytes(), 40)));
        describe(&mut facts, &model.planes[k], &names);
        text.push_str(&facts.text(context));
        text.push('\n');
    }
    let pairs = view.pairs();
    if !pairs.is_empty() {
        let mut facts = Facts::default();
        for (k, j) in pairs.iter().take(SHOWN_PAIRS) {
            let title = format!(
                "{} | {}",
                printable(model.classes[*k].as_bytes(), 20),
                printable(model.classes[*j].as_bytes(), 20)
            );
            facts.add(&title, pair(&boundary(&model.planes[*k], &model.planes[*j]), &names));
        }
        text.push_str("boundaries of pairs, where the scores are equal; the first leads on the positive side\n");
        text.push_str(&facts.text(context));
        if pairs.len() > SHOWN_PAIRS {
            let more = counted((pairs.len() - SHOWN_PAIRS) as u64, "pair");
            text.push_str(&format!("and {more} more; --class shows those of one class\n"));
        }
        text.push('\n');
    }
    if let Some(around) = around {
        text.push_str(&around.text(view, context));
        text.push('\n');
    }
    // Every part ends with an empty line; the last one need not.
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn describe(facts: &mut Facts, plane: &Plane, names: &[String]) {
    let few = plane.weights.len() <= SHOWN_FEATURES;
    if few {
        facts.add("equation", format!("{} = 0", equation::score(plane, names)));
    }
    let Some(shape) = Shape::of(plane) else {
        facts.add(
            "normal",
            format!("none: every weight is 0 and every row has the score {}", plane.bias),
        );
        return;
    };
    if few {
        facts.add("normal", format!("w = ({})", list(&plane.weights)));
        facts.add("unit", format!("w/|w| = ({})", list(&shape.unit)));
    }
    facts.add("length", format!("|w| = {}", shape.norm));
    facts.add(
        "offset",
        format!("-b/|w| = {}, the distance of the plane from the origin along w", shape.offset),
    );
    if few {
        let angles: Vec<String> = names
            .iter()
            .zip(shape.axis_angles())
            .map(|(name, angle)| format!("{name} {angle:.4}"))
            .collect();
        facts.add("angles", format!("of w with the axes, in degrees: {}", angles.join(", ")));
    }
    if let Some(line) = equation::line(plane, names) {
        facts.add("line", line);
    }
    let dimensions = plane.weights.len() + 1;
    let vector = match few {
        true => format!(" = ({}, {})", plane.bias, list(&plane.weights)),
        false => String::new(),
    };
    facts.add(
        "augmented",
        format!("a = (b, w){vector}; with z = (1, x) it is a.z = 0, through the origin of {dimensions} dimensions"),
    );
}

fn pair(plane: &Plane, names: &[String]) -> String {
    let Some(shape) = Shape::of(plane) else {
        return "none: the weights are the same".to_owned();
    };
    let mut text = match (equation::line(plane, names), plane.weights.len() <= SHOWN_FEATURES) {
        (Some(line), _) => line,
        (None, true) => format!("{} = 0", equation::score(plane, names)),
        (None, false) => String::new(),
    };
    if !text.is_empty() {
        text.push_str("; ");
    }
    text.push_str(&format!("|w| = {}, offset {}", shape.norm, shape.offset));
    text
}

fn list(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

fn plane_json(plane: &Plane) -> Value {
    let shape = Shape::of(plane);
    let line = Line::of(plane).map(|line| match line {
        Line::Sloped { slope, intercept } => json!({ "slope": slope, "intercept": intercept }),
        Line::Upright { at } => json!({ "upright": at }),
    });
    json!({
        "weights": plane.weights,
        "bias": plane.bias,
        "norm": shape.as_ref().map(|shape| shape.norm),
        "unit": shape.as_ref().map(|shape| shape.unit.clone()),
        "offset": shape.as_ref().map(|shape| shape.offset),
        "axis_angles": shape.as_ref().map(Shape::axis_angles),
        "line": line,
    })
}

fn as_json(view: &View<'_>, around: Option<&Around>) -> Value {
    let model = view.model;
    let planes = view.planes().into_iter().map(|(k, class)| {
        let mut value = plane_json(&model.planes[k]);
        value["class"] = class.into();
        value
    });
    let pairs = view.pairs();
    let small = pairs.len().saturating_mul(model.input.width()) <= MOST_NUMBERS;
    let pair = |(k, j): (usize, usize)| {
        let mut value = plane_json(&boundary(&model.planes[k], &model.planes[j]));
        value["classes"] = json!([model.classes[k], model.classes[j]]);
        value
    };
    json!({
        "schema": "linsep.result/1",
        "command": "geometry",
        "features": model.input.feature_names(),
        "binarize": model.input.binarize,
        "planes": planes.collect::<Vec<_>>(),
        "boundaries": small.then(|| pairs.into_iter().map(pair).collect::<Vec<_>>()),
        "data": around.map(|around| around.json(view)),
    })
}
