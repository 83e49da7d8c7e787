//! A random order that memory likes: rows that stand together are visited together.
//!
//! A random order of all rows goes to a new place in memory for every row, which costs several times what
//! the arithmetic does once the rows do not fit into the cache. Here blocks of neighbouring rows come in
//! a random order, and so do the rows of each block.

use linsep_data::rng::Stream;

/// Rows of a block: few enough for the cache of a core, enough to mix.
pub(super) const ROWS: usize = 256;

/// The rows in a random order, block by block.
pub(super) fn shuffled(rows: &[u32], stream: &mut Stream) -> Vec<u32> {
    let mut blocks: Vec<&[u32]> = rows.chunks(ROWS).collect();
    stream.shuffle(&mut blocks);
    let mut order = Vec::with_capacity(rows.len());
    for block in blocks {
        let start = order.len();
        order.extend_from_slice(block);
        stream.shuffle(&mut order[start..]);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_data::rng::Purpose;

    #[test]
    fn every_row_comes_once_and_with_its_neighbours() {
        for count in [0, 1, 255, 256, 257, 3000] {
            let rows: Vec<u32> = (0..count).map(|row| 3 * row).collect();
            let order = shuffled(&rows, &mut Stream::new(1, Purpose::Epoch(4)));
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, rows);
            // The block of each visit, without repetitions: as many as there are blocks.
            let mut blocks: Vec<u32> = order.iter().map(|row| row / 3 / ROWS as u32).collect();
            blocks.dedup();
            assert_eq!(blocks.len(), rows.len().div_ceil(ROWS));
            let other = shuffled(&rows, &mut Stream::new(1, Purpose::Epoch(5)));
            assert_eq!(order == other, count < 2, "another epoch, another order");
        }
        let rows: Vec<u32> = (0..3000).collect();
        let order = shuffled(&rows, &mut Stream::new(1, Purpose::Epoch(4)));
        assert!(!order[..ROWS].is_sorted() && order[0] / ROWS as u32 != 0);
    }
}
