//! Sparse rows laid out for sweeps: the order of memory is the order of visits.
//!
//! Dual coordinate descent waits for memory: rows in random order miss the cache at every row, and the
//! weights of a million columns at every entry. So the rows are copied once, in a random order, and are
//! visited in short runs of neighbours from then on; columns are numbered anew, those of most entries
//! first, which puts most of what is looked up into a small part of the weights; values are binary32.

use crate::loss::Loss;
use crate::objective::{Intercept, Objective};
use linsep_data::buffer::{Buffer, Pool};
use linsep_data::matrix::panel::{Decoder, PanelRows, Scratch};
use linsep_data::matrix::{CodeRows, Layout, Rows, with_rows};
use linsep_data::parallel::parallel_map;
use linsep_data::rng::{Purpose, Stream};
use std::sync::Arc;

/// An objective by places: its rows, and what it adds to them.
pub struct PermutedObjective {
    rows: Arc<PermutedRows>,
    pub(crate) costs: Vec<f32>,
    /// xᵀx/l2 + ρ of each place.
    pub(crate) squares: Vec<f32>,
    pub(crate) loss: Loss,
    pub(crate) intercept: Intercept,
    pub(crate) l2: f64,
    pub(crate) seed: u64,
}

/// Rows by places in a random order: one copy for all objectives on the same rows.
struct PermutedRows {
    chunks: Vec<Chunk>,
    /// The position in the objective of each place.
    positions: Vec<u32>,
    /// The column of each new number.
    columns: Vec<u32>,
    /// Rows in a chunk: 2 to this power.
    power: u32,
}

/// Rows one after the other.
struct Chunk {
    starts: Vec<u32>,
    columns: Buffer<u32>,
    values: Buffer<f32>,
    /// xᵀx of each row.
    squares: Vec<f64>,
}

/// The power of two of rows in a chunk: as many as make the lists of one some megabytes long, which large
/// pages hold, but no more than leaves pieces of work for several threads.
fn chunk_power(objective: &Objective) -> u32 {
    const ENTRIES: u64 = 1 << 20;
    const PIECES: u64 = 16;
    let entries = objective.store().nonzeros();
    let mean = entries / objective.store().rows().max(1) as u64;
    (ENTRIES.min(entries / PIECES) / mean.max(1)).max(1).ilog2().clamp(6, 16)
}

impl PermutedObjective {
    /// Whether binary32 has the range for an objective.
    pub fn serves(objective: &Objective) -> bool {
        const RANGE: std::ops::Range<f64> = 1e-8..1e8;
        objective.penalty.l1 == 0.0
            && objective.penalty.scale.is_none()
            && objective.penalty.limits.is_none()
            && objective.intercept != Intercept::Free
            && RANGE.contains(&objective.penalty.l2)
            && objective.costs.iter().all(|cost| RANGE.contains(cost))
            && objective.store().largest() < 1e10
            && objective.store().nonzeros() < u64::from(u32::MAX)
    }

    /// An objective with its rows in the order of a seed.
    pub fn new(objective: &Objective, seed: u64) -> PermutedObjective {
        let make = || PermutedRows::new(objective, seed);
        let rows = objective.data.layouts().shared(objective.layout_key().seed(seed), make);
        let rho = if objective.intercept == Intercept::None { 0.0 } else { 1.0 };
        let l2 = objective.penalty.l2;
        PermutedObjective {
            costs: rows.positions.iter().map(|&i| objective.costs[i as usize] as f32).collect(),
            squares: rows.squares().map(|square| ((square + rho) / l2) as f32).collect(),
            rows,
            loss: objective.loss,
            intercept: objective.intercept,
            l2,
            seed,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.positions.len()
    }

    pub(crate) fn width(&self) -> usize {
        self.rows.columns.len()
    }

    /// The position in the objective of each place.
    pub(crate) fn positions(&self) -> &[u32] {
        &self.rows.positions
    }

    /// The column of each new number.
    pub(crate) fn columns(&self) -> &[u32] {
        &self.rows.columns
    }

    /// The new numbers of the columns and the values at a place.
    #[inline]
    pub(crate) fn row(&self, place: usize) -> (&[u32], &[f32]) {
        let chunk = &self.rows.chunks[place >> self.rows.power];
        let at = place & ((1 << self.rows.power) - 1);
        let range = chunk.starts[at] as usize..chunk.starts[at + 1] as usize;
        (&chunk.columns[range.clone()], &chunk.values[range])
    }
}

impl PermutedRows {
    /// Copies the rows of an objective.
    fn new(objective: &Objective, seed: u64) -> PermutedRows {
        let power = chunk_power(objective);
        let (numbers, columns) = by_frequency(objective);
        let mut positions: Vec<u32> = (0..objective.len() as u32).collect();
        Stream::new(seed, Purpose::Start(0)).shuffle(&mut positions);
        let places: Vec<&[u32]> = positions.chunks(1 << power).collect();
        // A column and a value of each entry.
        let pool = Pool::new(8 * objective.store().nonzeros());
        let decoder = with_rows!(objective.store(), rows => {
            rows.decoder::<f32>(&vec![1.0; objective.width()])
        });
        let chunk = |k: usize| Chunk::new(objective, places[k], &numbers, &decoder, &pool);
        let chunks = parallel_map(places.len(), objective.threads, chunk);
        PermutedRows { chunks, positions, columns, power }
    }

    /// xᵀx of each place.
    fn squares(&self) -> impl Iterator<Item = f64> {
        self.chunks.iter().flat_map(|chunk| chunk.squares.iter().copied())
    }
}

impl Layout for PermutedRows {
    const NAME: &'static str = "permuted rows";

    fn bytes(&self) -> u64 {
        let numbers = self.positions.capacity() + self.columns.capacity();
        let chunks: usize = self.chunks.iter().map(Chunk::bytes).sum();
        (size_of::<u32>() * numbers + size_of::<Chunk>() * self.chunks.capacity() + chunks) as u64
    }
}

impl Chunk {
    fn new(
        objective: &Objective,
        places: &[u32],
        numbers: &[u32],
        decoder: &Decoder<f32>,
        pool: &Pool,
    ) -> Chunk {
        let mean = objective.store().nonzeros() as usize / objective.store().rows().max(1);
        let about = places.len() * (mean + mean / 8 + 1);
        let (mut starts, mut squares) = (vec![0], Vec::with_capacity(places.len()));
        let (mut all_columns, mut all_values) =
            (Vec::with_capacity(about), Vec::with_capacity(about));
        let mut scratch = Scratch::new();
        let row = |position: &u32| objective.rows[*position as usize] as usize;
        with_rows!(objective.store(), rows => for (at, position) in places.iter().enumerate() {
            places.get(at + 16).into_iter().for_each(|next| rows.prefetch_place(row(next)));
            places.get(at + 8).into_iter().for_each(|next| rows.prefetch(row(next)));
            let (columns, values) = rows.decode(row(position), decoder, &mut scratch);
            all_columns.extend(columns.iter().map(|j| numbers[*j as usize]));
            all_values.extend_from_slice(values);
            starts.push(all_columns.len() as u32);
            squares.push(square(values));
        });
        Chunk { starts, columns: pool.keep(all_columns), values: pool.keep(all_values), squares }
    }

    fn bytes(&self) -> usize {
        let entries = self.starts.capacity() + self.columns.len() + self.values.len();
        size_of::<u32>() * entries + size_of::<f64>() * self.squares.capacity()
    }
}

/// xᵀx, in four sums that do not wait for each other.
#[inline]
fn square(values: &[f32]) -> f64 {
    let term = |x: f32| f64::from(x) * f64::from(x);
    let mut sums = [0.0; 4];
    let (fours, rest) = values.as_chunks::<4>();
    for four in fours {
        for lane in 0..4 {
            sums[lane] += term(four[lane]);
        }
    }
    rest.iter().for_each(|x| sums[0] += term(*x));
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// New numbers of the columns, those of most entries first, and the columns in that order. Columns
/// whose counts are within a factor of two stay in their order; of many rows a part is counted.
fn by_frequency(objective: &Objective) -> (Vec<u32>, Vec<u32>) {
    /// Entries that are counted, about.
    const ENOUGH: u64 = 1 << 18;
    let mut counts = vec![0; objective.width()];
    let every = (objective.store().nonzeros() / ENOUGH).clamp(1, 64) as usize;
    with_rows!(objective.store(), rows => for &row in objective.rows.iter().step_by(every) {
        rows.count(row as usize, &mut counts);
    });
    // As many places for each power of two as it has columns.
    let mut next = [0; 33];
    counts.iter().for_each(|count| next[count.leading_zeros() as usize] += 1);
    let mut before = 0;
    for next in &mut next {
        before += std::mem::replace(next, before);
    }
    let (mut numbers, mut order) = (Vec::with_capacity(counts.len()), vec![0; counts.len()]);
    for (column, count) in (0..).zip(&counts) {
        let number = &mut next[count.leading_zeros() as usize];
        numbers.push(*number);
        order[*number as usize] = column;
        *number += 1;
    }
    (numbers, order)
}
