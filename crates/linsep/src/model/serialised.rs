//! `Serialize` and `Deserialize` of models by their public content: planes, rule, link, classes, input map,
//! and what decides instead of the rule, if something does.
//!
//! Both refuse a model whose parts do not fit together or whose numbers are not finite: what was read can
//! be used like a model that was fitted. It carries no certificate; [`crate::file`] keeps model and
//! certificate together.

use super::parts::check_model;
use super::{Decision, LinearModel, Link, Plane, Rule};
use linsep_data::input::InputMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use std::borrow::Cow;

/// The public content under its names.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content<'a> {
    classes: Cow<'a, [String]>,
    rule: Cow<'a, Rule>,
    link: Cow<'a, Link>,
    input: Cow<'a, InputMap>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decision: Option<Cow<'a, Decision>>,
    planes: Vec<PlaneContent<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaneContent<'a> {
    weights: Cow<'a, [f64]>,
    bias: f64,
}

impl Serialize for LinearModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        check_model(self).map_err(ser::Error::custom)?;
        fn content(plane: &Plane) -> PlaneContent<'_> {
            PlaneContent { weights: Cow::Borrowed(&plane.weights), bias: plane.bias }
        }
        Content {
            classes: Cow::Borrowed(&self.classes),
            rule: Cow::Borrowed(&self.rule),
            link: Cow::Borrowed(&self.link),
            input: Cow::Borrowed(&self.input),
            decision: self.decision.as_ref().map(Cow::Borrowed),
            planes: self.planes.iter().map(content).collect(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LinearModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LinearModel, D::Error> {
        let Content { classes, rule, link, input, decision, planes } =
            Content::deserialize(deserializer)?;
        let plane = |plane: PlaneContent<'_>| Plane::new(plane.weights.into_owned(), plane.bias);
        let model = LinearModel {
            planes: planes.into_iter().map(plane).collect(),
            rule: rule.into_owned(),
            link: link.into_owned(),
            classes: classes.into_owned(),
            input: input.into_owned(),
            decision: decision.map(Cow::into_owned),
        };
        check_model(&model).map_err(de::Error::custom)?;
        Ok(model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Sigmoid;

    fn model() -> LinearModel {
        let plane = |b: f64| Plane::new(vec![1.5, -b, 0.1], b);
        let classes = ["a", "b", "c"].map(String::from).to_vec();
        let planes = vec![plane(0.25), plane(-1e300), plane(5e-324)];
        let link = Link::Sigmoids(vec![Sigmoid::new(1.0, 0.5); 3]);
        LinearModel::new(planes, Rule::Rest, classes, InputMap::plain(3)).with_link(link)
    }

    #[test]
    fn a_model_comes_back_with_all_its_bits() {
        let text = serde_json::to_string(&model()).unwrap();
        assert_eq!(serde_json::from_str::<LinearModel>(&text).unwrap(), model());
    }

    /// Every part that does not fit is refused, when it is written and when it is read.
    #[test]
    fn what_does_not_fit_is_refused_both_ways() {
        let text = serde_json::to_string(&model()).unwrap();
        let refused = |from: &str, to: &str, word: &str| {
            assert!(text.contains(from), "{from}");
            let error = serde_json::from_str::<LinearModel>(&text.replacen(from, to, 1));
            let words = error.unwrap_err().to_string();
            assert!(words.contains(word), "{words}");
        };
        refused("[1.5,", "[", "plane 0 has 2 weights for 3 features");
        refused("\"features\":3", "\"features\":18446744073709551615", "weights for");
        refused("[\"a\",", "[", "two classes need one");
        refused("[\"a\",", "[\"b\",", "one stands twice");
        refused("\"bias\":0.25", "\"bias\":1e999", "out of range");
        refused("\"bias\":0.25", "\"bias\":0.25,\"more\":1", "unknown field");
        refused("\"slope\":1.0", "\"slope\":null", "invalid type");

        let mut wide = model();
        wide.planes[1].weights.push(1.0);
        let mut few = model();
        few.planes.pop();
        let mut infinite = model();
        infinite.planes[2].bias = f64::NAN;
        let steep = model().with_link(Link::Sigmoids(vec![Sigmoid::new(f64::INFINITY, 0.0); 3]));
        for (model, word) in
            [(wide, "plane 1"), (few, "2 planes"), (infinite, "plane 2"), (steep, "link")]
        {
            let words = serde_json::to_string(&model).unwrap_err().to_string();
            assert!(words.contains(word), "{words}");
        }
    }
}
