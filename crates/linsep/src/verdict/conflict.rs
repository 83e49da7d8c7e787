//! Equal rows on both sides: pairs of rows that cancel, the shortest proofs there are.

use super::signed::Signed;

/// One pair (positive row, negative row) for each group of equal rows that has both signs, in the
/// order of their first rows.
pub(crate) fn equal_pairs(view: &Signed<'_>) -> Vec<(usize, usize)> {
    let mut scratch = Vec::new();
    let mut hashes: Vec<(u64, u32)> = (0..view.len())
        .map(|k| {
            let mut hash = 0u64;
            view.for_each(k, &mut scratch, |j, x| hash = hash.wrapping_add(spread(j, x)));
            (hash, k as u32)
        })
        .collect();
    hashes.sort_unstable();
    let mut pairs = Vec::new();
    for same in hashes.chunk_by(|a, b| a.0 == b.0) {
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

fn entries(view: &Signed<'_>, k: usize) -> Vec<(u32, f64)> {
    let mut entries = Vec::new();
    view.for_each(k, &mut Vec::new(), |j, x| entries.push((j, x)));
    entries
}

fn spread(column: u32, value: f64) -> u64 {
    let z = (u64::from(column) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ value.to_bits().rotate_left(29);
    let z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z ^ (z >> 32)
}
