//! Means and scatter of the classes in two rounds: numbers near the values of each column, which the first
//! block knows, then sums of what is left.

use super::{Coordinator, Worker, foreign, merge, partial};
use crate::engine::direct::{Spec, Statistics as Sums, Want};
use crate::rounds::{Rounds, Wire, decode, encode};
use crate::run::Task;
use linsep_data::Dataset;
use linsep_data::error::Result;
use std::sync::Arc;

/// The statistics that least squares and discriminants are made of.
pub struct Statistics {
    data: Arc<Dataset>,
    rows: Vec<u32>,
}

impl Statistics {
    /// For the rows of a task, each with its weight.
    pub fn new(task: &Task) -> Result<Statistics> {
        Ok(Statistics { data: Arc::clone(&task.data), rows: task.active_rows()? })
    }

    fn spec(&self, shift: Vec<f64>) -> Spec<'_> {
        let factors = vec![1.0; self.data.n_classes()];
        Spec { data: &self.data, rows: &self.rows, factors, shift, want: Want::Scatter }
    }
}

/// The first round has no shift yet.
type Shift = Option<Vec<f64>>;

impl Worker for Statistics {
    fn blocks(&self) -> usize {
        self.spec(vec![0.0; self.data.n_features()]).blocks()
    }

    fn partial(&self, block: usize, broadcast: &[u8]) -> Result<Vec<u8>> {
        match decode::<Shift>(broadcast)? {
            Some(shift) if shift.len() != self.data.n_features() => Err(foreign()),
            Some(shift) => partial(&self.spec(shift), block, &[]),
            None => {
                let first = (block == 0).then(|| Spec::shift_near(&self.data, &self.rows));
                Ok(encode(&first))
            }
        }
    }

    fn merge(&self, all: &[u8], next: &[u8]) -> Result<Vec<u8>> {
        let is_first = |bytes: &[u8]| decode::<Shift>(bytes).is_ok();
        match is_first(all) && is_first(next) {
            true => Ok(encode(&decode::<Shift>(all)?.or(decode::<Shift>(next)?))),
            false => merge(&self.spec(vec![0.0; self.data.n_features()]), all, next),
        }
    }
}

/// What the two rounds came to.
#[derive(Default)]
pub struct Collected {
    shift: Shift,
    sums: Option<Sums>,
}

impl Collected {
    /// Nothing yet.
    pub fn new() -> Collected {
        Collected::default()
    }

    /// The mean of each class, and Σ (x − mean)(x − mean)ᵀ within the classes, row after row.
    pub fn means_and_scatter(self) -> Option<(Vec<Vec<f64>>, Vec<f64>)> {
        let moments = self.sums?.finish(&self.shift?);
        let means = (0..moments.weights.len()).map(|class| moments.mean(class)).collect();
        Some((means, moments.scatter(true, 1)))
    }
}

impl Coordinator for Collected {
    fn broadcast(&self) -> Vec<u8> {
        encode(&self.shift)
    }

    fn step(&mut self, merged: &[u8]) -> Result<bool> {
        if self.shift.is_none() {
            self.shift = decode(merged)?;
            return Ok(self.shift.is_some());
        }
        self.sums = Some(Sums::read(&mut &merged[..])?);
        Ok(false)
    }
}
