//! Rounds over bytes, for workers in other processes or on other machines.
//!
//! A [`Worker`] answers for blocks of rows: `partial(block, broadcast) → bytes` and `merge(bytes, bytes) →
//! bytes`. A [`Coordinator`] asks: `broadcast() → bytes` and `step(bytes)`. Whoever moves the bytes decides
//! where blocks are worked on; as long as answers are merged in the order of the blocks, the result has
//! the bits of one process. Workers and coordinator must hold the same table, read in the
//! same way, but for blocks that are tables of their own.
//!
//! * [`Statistics`]: means and scatter of the classes, in two rounds.
//! * [`NewtonStep`], driven by [`GramNewton`]: a smooth loss with an l2 penalty, a round for each step.
//! * [`Sums`] and [`SmoothLoss`]: the same for blocks that are tables of their own, on a cluster.
//! * [`SoftmaxLoss`]: softmax regression of more classes, the same way.
//! * [`WideLoss`]: both without second derivatives, for many columns.
//! * [`epochs_on`]: epochs of the perceptron on a block, whose planes are averaged.
//! * [`Proof`]: what the checker shows of planes, each of its passes a round.
//! * [`Violators`], driven by [`ActiveRows`]: the float side of a verdict, a round for each plane.
//!
//! ```
//! use linsep::worker::{ActiveRows, Coordinator, Violators, Worker};
//! use linsep::{Dataset, Task};
//!
//! let data = Dataset::from_rows(&[[1.0], [2.0], [-1.0]], &["b", "b", "a"])?;
//! let task = Task::new(data);
//! let worker = Violators::new(&task, 1)?;
//! let mut asks = ActiveRows::new(&task, 1)?;
//! loop {
//!     let broadcast = asks.broadcast();
//!     let mut all = worker.partial(0, &broadcast)?;
//!     for block in 1..worker.blocks() {
//!         all = worker.merge(&all, &worker.partial(block, &broadcast)?)?;
//!     }
//!     if !asks.step(&all)? {
//!         break;
//!     }
//! }
//! assert!(asks.plane().is_some());
//! # Ok::<(), linsep::Error>(())
//! ```

mod apart;
mod descent;
mod lbfgs;
mod mixing;
mod newton;
mod proving;
mod second;
mod softmax;
mod statistics;
mod verdict;
mod wide;

pub use apart::{ClosedLearner, SmoothDriver, SmoothLoss, Sums};
pub use mixing::epochs_on;
pub use newton::{GramNewton, NewtonStep};
pub use proving::Proof;
pub use softmax::{MOST_WEIGHTS, SoftmaxDriver, SoftmaxLoss};
pub use statistics::{Collected, Statistics};
pub use verdict::{ActiveRows, Violators};
pub use wide::{WideDriver, WideLoss};

use crate::rounds::{Rounds, decode, encode};
use crate::run::Task;
use linsep_data::error::{Error, Result};

/// Answers for blocks of rows.
pub trait Worker: Sync {
    /// How many blocks there are in all.
    fn blocks(&self) -> usize;

    /// What a block answers to a broadcast.
    fn partial(&self, block: usize, broadcast: &[u8]) -> Result<Vec<u8>>;

    /// The answer of some blocks and of those that follow them.
    fn merge(&self, all: &[u8], next: &[u8]) -> Result<Vec<u8>>;
}

/// Asks, and takes what the blocks answered.
pub trait Coordinator {
    /// What the next round asks.
    fn broadcast(&self) -> Vec<u8>;

    /// Takes the merged answers. Whether there is another round.
    fn step(&mut self, merged: &[u8]) -> Result<bool>;
}

/// A block of rounds as bytes; a block that does not exist is an error.
fn partial<R: Rounds>(work: &R, block: usize, broadcast: &[u8]) -> Result<Vec<u8>> {
    if block >= work.blocks() {
        return Err(Error::usage(format!("there is no block {block} of {}", work.blocks())));
    }
    let broadcast = decode(broadcast)?;
    if !work.accepts(&broadcast) {
        return Err(foreign());
    }
    let local = work.open(&broadcast);
    let mut all = work.empty();
    work.merge(&mut all, work.partial(block, &local));
    Ok(encode(&all))
}

fn merge<R: Rounds>(work: &R, all: &[u8], next: &[u8]) -> Result<Vec<u8>> {
    let (mut all, next): (R::Partial, R::Partial) = (decode(all)?, decode(next)?);
    if !work.fits(&all) || !work.fits(&next) {
        return Err(foreign());
    }
    work.merge(&mut all, next);
    Ok(encode(&all))
}

/// Refuses a class that the data does not have.
fn require_class(task: &Task, positive: u32) -> Result<()> {
    match task.data.n_classes() {
        classes if (positive as usize) < classes => Ok(()),
        classes => Err(Error::usage(format!(
            "there is no class number {positive}: the data has {classes}, counted from 0"
        ))),
    }
}

/// A message of other rounds or of other data.
fn foreign() -> Error {
    Error::usage("the message does not belong to these rounds")
}
