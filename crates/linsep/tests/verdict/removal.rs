//! Rows without which a plane separates the others, against all sets of rows.

use crate::brute::{Kind, kind_of, signed};
use crate::coefficients::{draw, judge_of};
use crate::proofs::never;
use linsep::rng::{Purpose, Stream};
use linsep::verdict::Verdict;

#[test]
fn no_row_of_a_removal_can_stay_and_the_bound_holds() {
    let mut stream = Stream::new(91, Purpose::Generate(48));
    let (mut smallest, mut others, mut separable) = (0, 0, 0);
    for _ in 0..400 {
        let (rows, positive) = draw(&mut stream);
        let judge = judge_of(&rows, &positive, true);
        let decision = judge.class("p", &never).unwrap();
        let removal = judge.removal(&decision, &never).unwrap();
        let said = format!("{rows:?} {positive:?}: {removal:?}");
        let vectors: Vec<Vec<i128>> =
            rows.iter().zip(&positive).map(|(row, p)| signed(row, *p, true)).collect();
        let separable_without = |out: u32| {
            let left = (0..vectors.len()).filter(|i| out >> i & 1 == 0);
            let left: Vec<Vec<i128>> = left.map(|i| vectors[i].clone()).collect();
            left.is_empty() || kind_of(&left) == Kind::Separable
        };
        let out = removal.rows.iter().fold(0u32, |set, row| set | 1 << row);
        assert!(separable_without(out), "{said}");
        assert!(removal.rows.is_sorted(), "{said}");
        for row in &removal.rows {
            assert!(!separable_without(out & !(1 << row)), "{said}");
        }
        let least = (0u32..1 << rows.len())
            .filter(|set| separable_without(*set))
            .map(u32::count_ones)
            .min()
            .unwrap();
        assert!(removal.at_least <= u64::from(least), "{said} {least}");
        assert_eq!(removal.rows.is_empty(), decision.verdict == Verdict::Separable, "{said}");
        match (removal.rows.is_empty(), removal.is_smallest()) {
            (true, _) => separable += 1,
            (false, true) => {
                assert_eq!(removal.rows.len() as u32, least, "{said}");
                smallest += 1;
            }
            (false, false) => others += 1,
        }
    }
    assert!(smallest > 50 && others > 0 && separable > 50, "{smallest} {others} {separable}");
}
