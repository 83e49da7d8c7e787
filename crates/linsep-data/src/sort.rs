//! Sorting where its time does not matter, compiled once for all types.
//!
//! Every call of `slice::sort_by` is compiled anew for its type and its comparison, about 6 kB each. Here
//! places are sorted instead of items, by a comparison behind a pointer; only the comparison itself and the
//! moves to the final places have code of their own. Lists that are long and sorted often keep the sorts of
//! the standard library.

use std::cmp::Ordering;

/// Sorts like `slice::sort_by`: equal items keep their order.
pub fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let mut order = places(items.len(), &mut |a, b| compare(&items[a], &items[b]));
    for start in 0..items.len() {
        // Round the cycle of places that begins here; each place is done once.
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut order[at], at);
            if from == at || from == start {
                break;
            }
            items.swap(at, from);
            at = from;
        }
    }
}

/// Sorts like `slice::sort_by_key`: equal items keep their order.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// The places of numbers from the largest absolute value to the smallest, equal ones in their order.
pub fn largest_first(numbers: &[f64]) -> Vec<usize> {
    places(numbers.len(), &mut |a, b| numbers[b].abs().total_cmp(&numbers[a].abs()))
}

/// The places 0..count in order; equal ones rise.
pub fn places(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn items_are_where_the_standard_library_puts_them() {
        let mut stream = Stream::new(4, Purpose::Generate(1));
        for count in (0..40).chain([300, 2000]) {
            let mut item = |k| (stream.below(9) as f64, k);
            let mut items: Vec<(f64, usize)> = (0..count).map(&mut item).collect();
            let mut expected = items.clone();
            expected.sort_by(|a, b| b.0.total_cmp(&a.0));
            sort_by(&mut items, |a, b| b.0.total_cmp(&a.0));
            assert_eq!(items, expected);
            expected.sort_by_key(|item| item.1 % 3);
            sort_by_key(&mut items, |item| item.1 % 3);
            assert_eq!(items, expected);
        }
    }

    #[test]
    fn the_largest_come_first_whatever_their_sign() {
        assert_eq!(largest_first(&[1.0, -3.0, 0.0, 3.0, 2.0]), [1, 3, 4, 0, 2]);
    }
}
