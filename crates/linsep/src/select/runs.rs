//! Many runs of one learner: how much of a solution is chance.
//!
//! Problem: rows that a plane separates are separated by many; which of them a perceptron finds depends
//! on its start and on the order of the rows, and so do the answers to new rows. Idea: run it often, from
//! other seeds, and say what the models have in common and where they part.
//!
//! Angles are those between the normals w of two models (without the bias); with several planes the
//! normals of a model are laid end to end after their mean is taken away, which no score difference
//! sees. The margin of a model is its smallest distance y(w·x + b)/|w| of a row, below 0 where a row is
//! wrong; with several planes that to the nearest pair boundary, (s_c − s_k)/|w_c − w_k|.

use super::fit_until;
use crate::model::{LinearModel, Rule, Scorer};
use crate::run::{Fit, Learner, Limits, Task};
use linsep_data::error::Result;
use linsep_data::parallel::parallel_map;
use std::collections::BTreeSet;

/// Runs learners side by side, each to its end; results in order, whatever the number of threads.
/// `stop` is asked between slices of work and ends everything when it says true.
pub fn repeat(
    learners: &[Box<dyn Learner>],
    task: &Task,
    limits: &Limits,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Fit>> {
    let one = |k: usize| -> Result<Fit> {
        let task = Task { threads: 1, ..task.clone() };
        fit_until(learners[k].as_ref(), &task, limits, stop)
    };
    parallel_map(learners.len(), task.threads, one).into_iter().collect()
}

/// What several models of one data set have in common and where they part.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Spread {
    /// Models whose planes differ in some bit.
    pub distinct: usize,
    /// Smallest, mean and largest angle between the normals of two models, in degrees; `None` where
    /// fewer than two models have normals.
    pub angles: Option<[f64; 3]>,
    /// The margin of each model.
    pub margins: Vec<f64>,
    /// Rows to which the models do not all give the same class.
    pub disputed: Vec<Disputed>,
    /// How many rows there are.
    pub rows: usize,
}

/// A row to which models give different classes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disputed {
    /// The row.
    pub row: u32,
    /// How many models give it each class.
    pub votes: Vec<u32>,
}

impl Spread {
    /// Compares models on the rows of a task.
    pub fn of(models: &[LinearModel], task: &Task) -> Spread {
        let data = &task.data;
        let rows: Vec<u32> = match &task.rows {
            Some(rows) => rows.to_vec(),
            None => (0..data.n_rows() as u32).collect(),
        };
        let blocks: Vec<&[u32]> = rows.chunks(4096).collect();
        // Where planes vote there is no boundary to measure from.
        let planes = models.iter().map(|model| model.clone().with_plane_for_each_class());
        let planes: Vec<LinearModel> = planes.collect::<Result<_>>().unwrap_or_default();
        let evaluation = |k: usize| look_at(models, &planes, task, blocks[k]);
        let parts = parallel_map(blocks.len(), task.threads, evaluation);
        let mut margins = vec![f64::INFINITY; planes.len()];
        let mut disputed = Vec::new();
        for part in parts {
            margins.iter_mut().zip(&part.0).for_each(|(all, part)| *all = all.min(*part));
            disputed.extend(part.1);
        }
        let distinct: BTreeSet<Vec<u64>> = models.iter().map(bits).collect();
        let angles = angles(&planes);
        Spread { distinct: distinct.len(), angles, margins, disputed, rows: rows.len() }
    }
}

fn bits(model: &LinearModel) -> Vec<u64> {
    let planes = model.planes.iter();
    planes.flat_map(|p| p.weights.iter().chain([&p.bias])).map(|x| x.to_bits()).collect()
}

/// The smallest margin of each model on some rows, and the rows that are disputed.
fn look_at<'a>(
    models: &'a [LinearModel],
    planes: &'a [LinearModel],
    task: &'a Task,
    rows: &[u32],
) -> (Vec<f64>, Vec<Disputed>) {
    let data = &task.data;
    let mut margins = vec![f64::INFINITY; planes.len()];
    let mut disputed = Vec::new();
    let lengths: Vec<Vec<f64>> = planes.iter().map(pair_lengths).collect();
    let scorers = |models: &'a [LinearModel]| -> Vec<Scorer<'a>> {
        models.iter().map(|model| model.scorer(data)).collect()
    };
    let (mut voters, mut leaders) = (scorers(models), scorers(planes));
    for &row in rows {
        let class = data.class_of(row as usize) as usize;
        let mut votes = vec![0; data.n_classes()];
        for voter in &mut voters {
            votes[voter.class(row as usize) as usize] += 1;
        }
        for (k, leader) in leaders.iter_mut().enumerate() {
            let scores = leader.row(row as usize);
            margins[k] = margins[k].min(margin(&planes[k], &lengths[k], scores, class));
        }
        if votes.iter().filter(|votes| **votes > 0).count() > 1 {
            disputed.push(Disputed { row, votes });
        }
    }
    (margins, disputed)
}

/// |w| for one plane; |w_c − w_k| for every pair, row after row, for several.
fn pair_lengths(model: &LinearModel) -> Vec<f64> {
    let length = |w: &mut dyn Iterator<Item = f64>| w.map(|x| x * x).sum::<f64>().sqrt();
    if model.rule == Rule::Sign {
        return vec![length(&mut model.planes[0].weights.iter().copied())];
    }
    let planes = &model.planes;
    let pairs = planes.iter().flat_map(|a| planes.iter().map(move |b| (a, b)));
    pairs.map(|(a, b)| length(&mut a.weights.iter().zip(&b.weights).map(|(x, y)| x - y))).collect()
}

fn margin(model: &LinearModel, lengths: &[f64], scores: &[f64], class: usize) -> f64 {
    // A plane without a normal has no distance: 0, or below it where it is wrong.
    let share = |score: f64, length: f64| match length > 0.0 {
        true => score / length,
        false => score.min(0.0),
    };
    if model.rule == Rule::Sign {
        return share(if class == 1 { scores[0] } else { -scores[0] }, lengths[0]);
    }
    let others = (0..scores.len()).filter(|&k| k != class);
    others
        .map(|k| share(scores[class] - scores[k], lengths[class * scores.len() + k]))
        .fold(f64::INFINITY, f64::min)
}

/// Smallest, mean and largest angle between the normals of two models.
fn angles(models: &[LinearModel]) -> Option<[f64; 3]> {
    let normals: Vec<Vec<f64>> = models.iter().filter_map(normal).collect();
    let (mut least, mut sum, mut most, mut count) = (f64::INFINITY, 0.0, 0.0f64, 0u32);
    for (i, a) in normals.iter().enumerate() {
        for b in &normals[i + 1..] {
            // Half the angle from the lengths of sum and difference: exact to the last digits for
            // small angles too, where the cosine is flat.
            let part = |sign: f64| -> f64 {
                let square = |(x, y): (&f64, &f64)| (x + sign * y) * (x + sign * y);
                a.iter().zip(b).map(square).sum::<f64>().sqrt()
            };
            let angle = (2.0 * part(-1.0).atan2(part(1.0))).to_degrees();
            least = least.min(angle);
            most = most.max(angle);
            sum += angle;
            count += 1;
        }
    }
    (count > 0).then(|| [least, sum / f64::from(count), most])
}

/// The normals of a model as one vector of length 1; `None` where all are 0.
fn normal(model: &LinearModel) -> Option<Vec<f64>> {
    let planes = &model.planes;
    let width = planes.first()?.weights.len();
    let several = planes.len() > 1;
    let mut all = Vec::with_capacity(planes.len() * width);
    for j in 0..width {
        let mean = match several {
            true => planes.iter().map(|p| p.weights[j]).sum::<f64>() / planes.len() as f64,
            false => 0.0,
        };
        all.extend(planes.iter().map(|plane| plane.weights[j] - mean));
    }
    let length = all.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length == 0.0 || !length.is_finite() {
        return None;
    }
    all.iter_mut().for_each(|x| *x /= length);
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Link, Plane};
    use linsep_data::Dataset;
    use linsep_data::input::InputMap;

    fn model(weights: [f64; 2], bias: f64) -> LinearModel {
        LinearModel {
            planes: vec![Plane { weights: weights.to_vec(), bias }],
            rule: Rule::Sign,
            link: Link::None,
            classes: vec!["a".into(), "b".into()],
            input: InputMap::plain(2),
            decision: None,
        }
    }

    #[test]
    fn angles_margins_and_disputed_rows_are_those_of_the_planes() {
        let rows = [[-2.0, 0.0], [3.0, 0.0], [1.0, -1.0]];
        let task = Task::new(Dataset::from_rows(&rows, &["a", "b", "b"]).unwrap());
        let models = [model([2.0, 0.0], 0.0), model([0.0, 3.0], 0.5), model([1.0, 1.0], -0.5)];
        let spread = Spread::of(&models, &task);
        assert_eq!(spread.distinct, 3);
        let [least, mean, most] = spread.angles.unwrap();
        assert!((least - 45.0).abs() < 1e-12 && (most - 90.0).abs() < 1e-12);
        assert!((mean - 60.0).abs() < 1e-12);
        assert_eq!(spread.margins[0], 1.0);
        assert_eq!(spread.margins[1], -2.5 / 3.0);
        let disputed: Vec<u32> = spread.disputed.iter().map(|row| row.row).collect();
        assert_eq!(disputed, [0, 2]);
        assert_eq!(spread.disputed[1].votes, [2, 1]);
        let same = Spread::of(&[models[0].clone(), models[0].clone()], &task);
        assert_eq!((same.distinct, same.angles), (1, Some([0.0; 3])));
        assert!(same.disputed.is_empty());
    }
}
