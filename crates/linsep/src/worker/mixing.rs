//! Perceptrons of blocks that are averaged: iterative parameter mixing.
//!
//! Each block begins a round at the planes of all, goes some epochs over its rows, and answers where it came to and
//! how many updates it made, n. The next planes are Σ n w / Σ n, over the blocks in their order. Where planes separate the
//! classes, Σ n is 0 after finitely many rounds, whatever the shares are (the bound of one perceptron, (R/γ)², holds for
//! the updates of all blocks together, each times its share). What separates is then shown by the exact checker.
//!
//! The planes depend on how rows are cut into blocks, and on nothing else.
//!
//! Reference: McDonald, Hall, Mann, Distributed training strategies for the structured perceptron, 2010.

use crate::engine::perceptron::{Init, Order, Perceptron};
use crate::model::Plane;
use crate::run::{Learner, Limits, Task, drive};
use linsep_data::Dataset;
use linsep_data::error::Result;
use linsep_data::scale::Scaling;
use std::sync::Arc;

/// Planes after at most so many epochs of the perceptron on the rows of a block, and the updates that it took: 0 where
/// the planes were right.
pub fn epochs_on(
    block: &Arc<Dataset>,
    planes: Vec<Plane>,
    epochs: u64,
) -> Result<(Vec<Plane>, u64)> {
    // One scale for all blocks: averages of planes in different scales have no bound.
    let learner = Perceptron::default()
        .with_order(Order::Cyclic)
        .with_scale(Scaling::None)
        .with_init(Init::Given(planes));
    let mut run = learner.start(&Task::new(Arc::clone(block)))?;
    drive(run.as_mut(), &Limits::default().with_epochs(Some(epochs)), &mut ());
    Ok((run.model().planes, run.progress().updates))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(rows: std::ops::Range<usize>) -> Arc<Dataset> {
        let row = |i: usize| [(i * 37 % 101) as f64 - 50.0, (i * 53 % 89) as f64 - 44.0];
        let right = |x: &[f64; 2]| x[0] + 2.0 * x[1] > 0.5;
        let values: Vec<[f64; 2]> = rows.map(row).collect();
        let labels: Vec<&str> = values.iter().map(|x| if right(x) { "b" } else { "a" }).collect();
        let data = Dataset::from_rows(&values, &labels).unwrap();
        Arc::new(data.with_classes(&["a".into(), "b".into()], false).unwrap())
    }

    #[test]
    fn the_average_of_blocks_separates_after_some_rounds() {
        let blocks: Vec<_> = (0..5).map(|k| block(60 * k..60 * (k + 1))).collect();
        let mut plane = Plane { weights: vec![0.0; 2], bias: 0.0 };
        for round in 0.. {
            assert!(round < 500);
            let found: Vec<_> =
                blocks.iter().map(|b| epochs_on(b, vec![plane.clone()], 3).unwrap()).collect();
            let total: u64 = found.iter().map(|(_, updates)| updates).sum();
            if total == 0 {
                break;
            }
            let mean = |of: &dyn Fn(&Plane) -> f64| {
                let sum = |(planes, n): &(Vec<Plane>, u64)| *n as f64 * of(&planes[0]);
                found.iter().map(sum).sum::<f64>() / total as f64
            };
            let weights = (0..2).map(|j| mean(&|p| p.weights[j])).collect();
            plane = Plane { weights, bias: mean(&|p| p.bias) };
        }
        // Planes that are right stay as they are.
        let (again, updates) = epochs_on(&blocks[0], vec![plane.clone()], 3).unwrap();
        assert_eq!((again, updates), (vec![plane], 0));
        assert!(epochs_on(&blocks[0], vec![Plane { weights: vec![], bias: 0.0 }], 1).is_err());
    }
}
