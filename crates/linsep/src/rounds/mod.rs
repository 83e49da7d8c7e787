//! Work over blocks of rows, in rounds: what the threads of one machine and the workers of a cluster
//! share.
//!
//! ```text
//! broadcast ──> partial(block, broadcast)  on every block, wherever it is
//!                 └──> merge, in the order of the blocks ──> step ──> the next broadcast, or the end
//! ```
//!
//! [`Rounds`] is the workers' side. It says into how many blocks the rows are cut, which depends on the
//! data alone; what one block answers to a small broadcast; and how the answer of a block is added to that
//! of all blocks before it. `step`, which turns the merged answer into the next broadcast, belongs to the
//! engine that asks; [`crate::worker::Coordinator`] is its form over bytes. Answers are merged in the order of the blocks and never in another, so neither threads nor
//! workers change a bit. [`collect`] is the loop of the engines on one machine; [`Wire`] turns broadcasts
//! and answers into bytes for those who are elsewhere, and back, bit for bit.
//!
//! Statistics of rows, evaluations of objectives with their second derivatives, and rows on the wrong side
//! of a plane are rounds; [`crate::worker`] offers each of them over bytes.

mod wire;

pub use wire::{Wire, decode, encode};

use linsep_data::memory;
use linsep_data::parallel::parallel_map;

/// Blocks of rows that answer a broadcast.
pub trait Rounds: Sync {
    /// What every block has to know: small.
    type Broadcast: Wire;
    /// What a worker makes of a broadcast once for all its blocks.
    type Local: Sync;
    /// What a block answers.
    type Partial: Wire + Send;

    /// How many blocks there are, whoever works on them.
    fn blocks(&self) -> usize;

    /// Whether a broadcast is one of these rounds: its lists have the lengths that the data asks for.
    fn accepts(&self, broadcast: &Self::Broadcast) -> bool;

    /// Whether an answer is one of these rounds.
    fn fits(&self, partial: &Self::Partial) -> bool;

    /// The answer of no rows at all.
    fn empty(&self) -> Self::Partial;

    /// Takes a broadcast in.
    fn open(&self, broadcast: &Self::Broadcast) -> Self::Local;

    /// What the rows of a block answer.
    fn partial(&self, block: usize, local: &Self::Local) -> Self::Partial;

    /// Adds the answer of the next block to that of all blocks before it.
    fn merge(&self, all: &mut Self::Partial, next: Self::Partial);
}

/// How many answers with numbers for each row may wait to be merged: all, unless there is a limit on memory.
pub(crate) fn together(threads: usize) -> usize {
    if memory::limit().is_some() { threads.max(1) } else { usize::MAX }
}

/// One round on this machine: all blocks on some threads, at most `together` answers waiting to be merged.
/// Neither number changes a bit.
pub fn collect<R: Rounds>(
    work: &R,
    broadcast: &R::Broadcast,
    threads: usize,
    together: usize,
) -> R::Partial {
    let local = work.open(broadcast);
    let mut all = work.empty();
    let blocks = work.blocks();
    let together = together.max(threads).max(1);
    for first in (0..blocks).step_by(together) {
        let count = together.min(blocks - first);
        let parts = parallel_map(count, threads, |k| work.partial(first + k, &local));
        parts.into_iter().for_each(|part| work.merge(&mut all, part));
    }
    all
}
