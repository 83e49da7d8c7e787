//! One prediction taken apart: contributions, the lead, and the smallest changes that would flip it.
//!
//! A score is w·x + b, so w_j x_j is what feature j contributes. With two classes the score itself is
//! explained; where the highest score wins, the lead of the predicted class p over a rival q, which is
//! the score (w_p − w_q)·x + (b_p − b_q) of their boundary.
//!
//! The nearest point across the boundary is x − (s/‖w‖²) w, at the distance s/‖w‖. Along one feature the
//! boundary is met at x_j − s/w_j; with several rivals at the first of their boundaries in either
//! direction. Values that count only as on or off can only be switched, so for them the switches that
//! change the prediction are listed. Everything here is computed in binary64.

use crate::geometry::{Shape, boundary};
use linsep::model::{LinearModel, Plane, Rule};
use linsep_data::error::{Error, Result};
use linsep_data::sort::sort_by;

/// What a feature adds to a score.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contribution {
    /// The feature.
    pub feature: u32,
    /// x_j.
    pub value: f64,
    /// w_j.
    pub weight: f64,
    /// w_j x_j.
    pub product: f64,
}

/// A change of one feature that changes the prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Flip {
    /// The feature.
    pub feature: u32,
    /// Its value now.
    pub from: f64,
    /// The value at which the boundary is met; beyond it the prediction is another one.
    pub to: f64,
    /// The class on the other side.
    pub class: u32,
}

/// The nearest point of the boundary.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Nearest {
    /// How far it is.
    pub distance: f64,
    /// The class on the other side.
    pub class: u32,
    /// (feature, value there) for each feature that has to change, the largest change first.
    pub values: Vec<(u32, f64)>,
}

/// A prediction taken apart.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The class predicted.
    pub predicted: u32,
    /// The class that it is compared with.
    pub rival: u32,
    /// The plane whose score is explained.
    pub plane: Plane,
    /// That score: of two classes the model's own, else the lead of the predicted class over the rival.
    pub score: f64,
    /// Its parts but the bias, the largest magnitude first; features of value 0 contribute nothing.
    pub contributions: Vec<Contribution>,
    /// The nearest point of the boundary; `None` where there is none or where values are switches.
    pub nearest: Option<Nearest>,
    /// Changes of one feature, the smallest first; a feature that cannot flip it is left out.
    pub flips: Vec<Flip>,
}

impl Explanation {
    /// Explains the prediction for a row, given by its entries that are not 0 and by the scores that the
    /// model gives it. `rival` asks why it is not that class; else the closest other class is taken.
    pub fn of(
        model: &LinearModel,
        row: &[(u32, f64)],
        scores: &[f64],
        rival: Option<u32>,
    ) -> Result<Explanation> {
        let predicted = model.class_of(scores);
        if rival == Some(predicted) {
            return Err(Error::usage(format!(
                "the prediction is \"{}\"; ask why it is not another class",
                model.classes[predicted as usize]
            )));
        }
        let heights = walls(model, scores, predicted).filter_map(|(rival, plane, lead)| {
            Shape::of(&plane).map(|shape| (lead / shape.norm, rival))
        });
        let closest = heights.min_by(|a, b| a.0.total_cmp(&b.0));
        let rival = rival.or(closest.map(|(_, class)| class)).unwrap_or_else(|| {
            (0..model.classes.len() as u32).find(|c| *c != predicted).unwrap_or(0)
        });
        let (plane, score) = match model.rule {
            Rule::Sign => (model.planes[0].clone(), scores[0]),
            _ => {
                let (own, other) = (predicted as usize, rival as usize);
                let lead = scores[own] - scores[other];
                (boundary(&model.planes[own], &model.planes[other]), lead)
            }
        };
        let mut contributions: Vec<Contribution> = row
            .iter()
            .map(|&(feature, value)| {
                let weight = plane.weights[feature as usize];
                Contribution { feature, value, weight, product: weight * value }
            })
            .filter(|part| part.product != 0.0)
            .collect();
        sort_by(&mut contributions, |a, b| {
            b.product.abs().total_cmp(&a.product.abs()).then(a.feature.cmp(&b.feature))
        });
        let mut values = vec![0.0; model.input.width()];
        row.iter().for_each(|&(j, x)| values[j as usize] = x);
        let switches = model.input.binarize.is_some();
        // A change of one column changes all basis functions of it, so no single one can be moved.
        let curved = model.input.basis.is_some();
        let mut flips = match switches {
            _ if curved => Vec::new(),
            true => switched(model, &values, scores, predicted),
            false => moved(model, &values, scores, predicted),
        };
        sort_by(&mut flips, |a, b| {
            let size = |flip: &Flip| (flip.to - flip.from).abs();
            size(a).total_cmp(&size(b)).then(a.feature.cmp(&b.feature))
        });
        let nearest = match closest {
            Some((distance, class)) if !switches && !curved => {
                Some(nearest(model, &values, scores, distance, class))
            }
            _ => None,
        };
        Ok(Explanation { predicted, rival, plane, score, contributions, nearest, flips })
    }
}

/// The planes that the predicted class has to its rivals: (rival, plane, score), positive now.
fn walls<'a>(
    model: &'a LinearModel,
    scores: &'a [f64],
    predicted: u32,
) -> impl Iterator<Item = (u32, Plane, f64)> + 'a {
    let own = predicted as usize;
    let zero = Plane::new(vec![0.0; model.input.width()], 0.0);
    let count = model.classes.len() as u32;
    (0..count).filter(move |rival| *rival != predicted).map(move |rival| {
        let other = rival as usize;
        match (&model.rule, own) {
            (Rule::Sign, 1) => (rival, model.planes[0].clone(), scores[0]),
            (Rule::Sign, _) => (rival, boundary(&zero, &model.planes[0]), 0.0 - scores[0]),
            _ => {
                let lead = scores[own] - scores[other];
                (rival, boundary(&model.planes[own], &model.planes[other]), lead)
            }
        }
    })
}

/// For each feature the nearest value at which the predicted class loses its lead over some other.
fn moved(model: &LinearModel, values: &[f64], scores: &[f64], predicted: u32) -> Vec<Flip> {
    let mut best: Vec<Option<(f64, u32)>> = vec![None; values.len()];
    for (rival, plane, lead) in walls(model, scores, predicted) {
        for (best, weight) in best.iter_mut().zip(&plane.weights) {
            let step = 0.0 - lead / weight;
            if step.is_finite()
                && best.is_none_or(|(known, _): (f64, u32)| step.abs() < known.abs())
            {
                *best = Some((step, rival));
            }
        }
    }
    let flips = best.into_iter().enumerate().filter_map(|(j, best)| {
        let (step, class) = best?;
        Some(Flip { feature: j as u32, from: values[j], to: values[j] + step, class })
    });
    flips.collect()
}

/// The features that change the prediction when they are switched.
fn switched(model: &LinearModel, values: &[f64], scores: &[f64], predicted: u32) -> Vec<Flip> {
    let mut changed = scores.to_vec();
    let mut flips = Vec::new();
    for (j, &from) in values.iter().enumerate() {
        let to = 1.0 - from;
        for ((new, score), plane) in changed.iter_mut().zip(scores).zip(&model.planes) {
            *new = score + (to - from) * plane.weights[j];
        }
        let class = model.class_of(&changed);
        if class != predicted {
            flips.push(Flip { feature: j as u32, from, to, class });
        }
    }
    flips
}

fn nearest(
    model: &LinearModel,
    values: &[f64],
    scores: &[f64],
    distance: f64,
    class: u32,
) -> Nearest {
    let predicted = model.class_of(scores);
    let wall = walls(model, scores, predicted).find(|(rival, ..)| *rival == class);
    let unit = wall.and_then(|(_, plane, _)| Shape::of(&plane)).map_or(Vec::new(), |s| s.unit);
    let mut moves: Vec<(u32, f64)> = (0..).zip(unit).filter(|(_, u)| *u != 0.0).collect();
    sort_by(&mut moves, |a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    let values = moves.into_iter().map(|(j, u)| (j, values[j as usize] - distance * u)).collect();
    Nearest { distance, class, values }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_data::input::InputMap;

    fn model(planes: &[(&[f64], f64)], binarize: Option<f64>) -> LinearModel {
        let count = planes.len().max(2);
        let planes: Vec<Plane> = planes.iter().map(|(w, b)| Plane::new(w.to_vec(), *b)).collect();
        let rule = if planes.len() == 1 { Rule::Sign } else { Rule::ArgMax };
        let mut input = InputMap::plain(planes[0].weights.len());
        input.binarize = binarize;
        LinearModel::new(planes, rule, (0..count).map(|c| c.to_string()).collect(), input)
    }

    fn explain(model: &LinearModel, row: &[f64], rival: Option<u32>) -> Explanation {
        let entries: Vec<(u32, f64)> =
            (0..).zip(row.iter().copied()).filter(|(_, x)| *x != 0.0).collect();
        Explanation::of(model, &entries, &model.scores(row).unwrap(), rival).unwrap()
    }

    #[test]
    fn a_prediction_of_two_classes_is_taken_apart() {
        let model = model(&[(&[3.0, 4.0], -5.0)], None);
        let found = explain(&model, &[1.0, 2.0], None);
        assert_eq!((found.predicted, found.rival, found.score), (1, 0, 6.0));
        let parts: Vec<(u32, f64)> =
            found.contributions.iter().map(|c| (c.feature, c.product)).collect();
        assert_eq!(parts, [(1, 8.0), (0, 3.0)]);
        let nearest = found.nearest.unwrap();
        assert_eq!((nearest.distance, nearest.class), (1.2, 0));
        for ((j, at), (wanted, value)) in nearest.values.iter().zip([(1, 1.04), (0, 0.28)]) {
            assert!(*j == wanted && (at - value).abs() < 1e-15, "{j} {at}");
        }
        let flips: Vec<(u32, f64)> = found.flips.iter().map(|f| (f.feature, f.to)).collect();
        assert_eq!(flips, [(1, 0.5), (0, -1.0)]);
    }

    #[test]
    fn every_flip_is_where_the_prediction_changes() {
        let model = model(&[(&[1.0, 0.5], 0.0), (&[-0.5, 1.0], 0.25), (&[0.0, -1.5], 0.5)], None);
        for row in [[1.0, 0.3], [-2.0, 1.0], [0.1, -3.0]] {
            let found = explain(&model, &row, None);
            assert_eq!(found.flips.len(), 2);
            for flip in &found.flips {
                let at = |share: f64| {
                    let mut moved = row;
                    moved[flip.feature as usize] += share * (flip.to - flip.from);
                    model.class_of(&model.scores(&moved).unwrap())
                };
                assert_eq!((at(0.999), at(1.001)), (found.predicted, flip.class));
                let back = [0.25, 0.5, 0.75, 0.99].map(|share| at(-share));
                assert_eq!(back, [found.predicted; 4], "the other direction is not shorter");
            }
        }
    }

    #[test]
    fn a_question_about_a_class_compares_with_it() {
        let model = model(&[(&[1.0, 0.5], 0.0), (&[-0.5, 1.0], 0.25), (&[0.0, -1.5], 0.5)], None);
        let found = explain(&model, &[1.0, 0.3], Some(2));
        assert_eq!((found.predicted, found.rival), (0, 2));
        assert!((found.score - 1.1).abs() < 1e-15);
        let scores = model.scores(&[1.0, 0.3]).unwrap();
        assert!(Explanation::of(&model, &[(0, 1.0), (1, 0.3)], &scores, Some(0)).is_err());
    }

    #[test]
    fn values_that_are_on_or_off_are_switched() {
        let model = model(&[(&[2.0, -1.0, 5.0], -1.0)], Some(0.0));
        let found = explain(&model, &[1.0, 0.0, 0.0], None);
        assert!(found.nearest.is_none());
        let flips: Vec<(u32, f64)> = found.flips.iter().map(|f| (f.feature, f.to)).collect();
        assert_eq!(flips, [(0, 0.0)], "switching 1 leaves a score of 0, which is still positive");
    }
}
