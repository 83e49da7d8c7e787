//! Equal rows on both sides: pairs of rows that cancel, the shortest proofs there are.

use super::signed::Signed;

/// One pair (positive row, negative row) for each group of equal rows that has both signs, in the
/// order of their first rows.
pub(crate) fn equal_pairs(view: &Signed) -> Vec<(usize, usize)> {
    let mut scratch = Vec::new();
    let hash = |k: usize| (row_hash(view, k, &mut scratch), k as u32);
    let hashes = (0..view.len()).map(hash).collect();
    pairs_of(view, hashes)
}

/// The sum of the hashes of the entries of a row.
pub(crate) fn row_hash(view: &Signed, k: usize, scratch: &mut Vec<f64>) -> u64 {
    let mut hash = 0u64;
    view.for_each(k, scratch, |j, x| hash = hash.wrapping_add(entry_hash(j, x)));
    hash
}

/// The pairs among rows given by (sum of the hashes of their entries, row).
pub(crate) fn pairs_of(view: &Signed, mut hashes: Vec<(u64, u32)>) -> Vec<(usize, usize)> {
    hashes.sort_unstable();
    let mut pairs = Vec::new();
    for same in hashes.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
        let first = |sign: i8| same.iter().find(|(_, k)| view.signs[*k as usize] == sign);
        if let (Some(&(_, a)), Some(&(_, b))) = (first(1), first(-1)) {
            let (a, b) = (a as usize, b as usize);
            // Equal hashes only suggest.
            if entries(view, a) == entries(view, b) {
                pairs.push((a, b));
            }
        }
    }
    pairs.sort_unstable_by_key(|&(a, b)| a.min(b));
    pairs
}

fn entries(view: &Signed, k: usize) -> Vec<(u32, f64)> {
    let mut entries = Vec::new();
    view.for_each(k, &mut Vec::new(), |j, x| entries.push((j, x)));
    entries
}

/// The hash of one entry; a row's is the sum, so that the order of columns does not matter.
#[inline]
pub(crate) fn entry_hash(column: u32, value: f64) -> u64 {
    let z = (u64::from(column) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ value.to_bits().rotate_left(29);
    let z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z ^ (z >> 32)
}
