//! The rows that are drawn: all of a small set; of a large one a sample that the seed decides, and beside it
//! the rows that must not be missed.

use crate::limits;

/// The sample: all rows where they can be drawn, otherwise a part, with room left for [`also`].
pub(crate) fn sample(rows: usize, seed: u64) -> Vec<u32> {
    if rows <= limits::SHOWN {
        return (0..rows as u32).collect();
    }
    first((0..rows as u32).collect(), limits::SHOWN - limits::ALSO, seed)
}

/// Rows beside the sample: of `notable` all that there is room for, then of `wrong`; and how many had none.
/// The sample and `notable` are sorted.
pub(crate) fn also(
    sample: &[u32],
    notable: &[u32],
    wrong: impl Iterator<Item = u32>,
    seed: u64,
) -> (Vec<u32>, usize) {
    let is_new = |row: &u32| sample.binary_search(row).is_err();
    let known: Vec<u32> = notable.iter().copied().filter(is_new).collect();
    let is_other = |row: &u32| is_new(row) && notable.binary_search(row).is_err();
    let wrong: Vec<u32> = wrong.filter(is_other).collect();
    let wanted = known.len() + wrong.len();
    let mut rows = first(known, limits::ALSO, seed);
    let room = limits::ALSO - rows.len();
    rows.extend(first(wrong, room, seed));
    let left = wanted - rows.len();
    rows.sort_unstable();
    (rows, left)
}

/// So many of the rows, sorted: those that a permutation of 64 bits (splitmix) puts first. Whether a row is
/// among them does not depend on where it stands.
fn first(rows: Vec<u32>, most: usize, seed: u64) -> Vec<u32> {
    if rows.len() <= most {
        return rows;
    }
    let place = |row: u32| {
        let mut z = (u64::from(row) ^ seed.rotate_left(32)).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mut all: Vec<(u64, u32)> = rows.into_iter().map(|row| (place(row), row)).collect();
    all.select_nth_unstable(most);
    let mut found: Vec<u32> = all[..most].iter().map(|(_, row)| *row).collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_sets_are_drawn_whole_and_large_ones_by_the_seed() {
        assert_eq!(sample(5_000, 1).len(), 5_000);
        let one = sample(100_000, 1);
        assert_eq!(one.len(), limits::SHOWN - limits::ALSO);
        assert!(one.is_sorted_by(|a, b| a < b));
        assert_eq!(one, sample(100_000, 1));
        assert_ne!(one, sample(100_000, 2));
        // Every tenth of the rows has its share.
        for tenth in 0..10 {
            let share = one.iter().filter(|row| **row / 10_000 == tenth).count();
            assert!((300..500).contains(&share), "{tenth}: {share}");
        }
    }

    #[test]
    fn notable_rows_come_first_and_what_has_no_room_is_counted() {
        let drawn = sample(100_000, 0);
        let inside = drawn[3];
        let outside: Vec<u32> =
            (0..100_000).filter(|row| drawn.binary_search(row).is_err()).take(5).collect();
        let (rows, left) =
            also(&drawn, &outside[..2], [inside, outside[4], outside[0]].into_iter(), 0);
        assert_eq!(rows, [outside[0], outside[1], outside[4]]);
        assert_eq!(left, 0);
        let (rows, left) = also(&drawn, &outside, 0..100_000, 0);
        assert_eq!(rows.len(), limits::ALSO);
        assert!(outside.iter().all(|row| rows.contains(row)));
        assert_eq!(left, 100_000 - limits::SHOWN);
    }
}
