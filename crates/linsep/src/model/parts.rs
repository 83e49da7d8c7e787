//! Whether the parts of a model fit together and its numbers are finite.

use super::{LinearModel, Link, Plane, Rule};
use linsep_data::input::InputMap;

/// Refuses a model whose parts do not fit together or whose numbers are not finite.
pub(crate) fn check_model(model: &LinearModel) -> Result<(), String> {
    let wanted = check_parts(&model.classes, &model.rule, &model.link, &model.input)?;
    if model.planes.len() != wanted {
        let found = model.planes.len();
        return Err(format!("there are {found} planes where the rule needs {wanted}"));
    }
    if let Some(decision) = &model.decision {
        decision.check(model.classes.len(), &model.rule, &model.link)?;
    }
    let width = model.input.width();
    for (place, plane) in model.planes.iter().enumerate() {
        if plane.weights.len() != width {
            let found = plane.weights.len();
            return Err(format!("plane {place} has {found} weights for {width} features"));
        }
        if !is_finite(plane) {
            return Err(format!("plane {place} has a number that is not finite"));
        }
    }
    match link_is_finite(&model.link) {
        true => Ok(()),
        false => Err("the link has a number that is not finite".into()),
    }
}

/// The number of planes that a model with these parts has, if they fit together.
pub(crate) fn check_parts(
    classes: &[String],
    rule: &Rule,
    link: &Link,
    input: &InputMap,
) -> Result<usize, String> {
    input.check()?;
    let planes = rule.check(classes.len())?;
    let mut sorted: Vec<&String> = classes.iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() != classes.len() || sorted.len() < 2 {
        return Err("the classes are fewer than two, or one stands twice".into());
    }
    match link {
        Link::Sigmoid { .. } if *rule != Rule::Sign => {
            Err("a sigmoid link is for the one plane of two classes".into())
        }
        Link::Sigmoids(each) if *rule != Rule::Rest || each.len() != classes.len() => {
            Err("a link of sigmoids needs one for each class, and a binary classifier for each"
                .into())
        }
        _ => Ok(planes),
    }
}

/// Whether all numbers of a plane are finite.
pub(crate) fn is_finite(plane: &Plane) -> bool {
    plane.bias.is_finite() && plane.weights.iter().all(|w| w.is_finite())
}

/// Whether all numbers of a link are finite.
pub(crate) fn link_is_finite(link: &Link) -> bool {
    match link {
        Link::Sigmoid { slope, offset } => slope.is_finite() && offset.is_finite(),
        Link::Sigmoids(each) => each.iter().all(|s| s.slope.is_finite() && s.offset.is_finite()),
        _ => true,
    }
}
