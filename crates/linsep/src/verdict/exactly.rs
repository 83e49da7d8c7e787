//! The exact decision on a few rows of whole numbers.

use super::lift::{Combination, combination};
use super::{simplex, stretch, wide};
use dashu_int::ops::BitTest;
use dashu_int::{IBig, UBig};

/// What the rows allow.
#[derive(Debug)]
pub(crate) enum Exactly {
    /// Σ λ z = 0: (row, λ > 0), at most one more than the dimension.
    Balanced(Vec<(usize, IBig)>),
    /// z·w > 0 for every row.
    Separated(Vec<IBig>),
}

/// Up to this many numbers the simplex method is done at once.
const FEW_NUMBERS: usize = 100;

/// Decides, whatever the numbers are: floats propose, in exact coordinates or with wide exponents, and where
/// they fail the simplex method in whole numbers ends every doubt. `None` if `stop` said so.
pub(crate) fn decide(rows: &[Vec<IBig>], stop: &dyn Fn() -> bool) -> Option<Exactly> {
    let numbers = rows.len() * rows.first().map_or(0, Vec::len);
    let proposed = match numbers > FEW_NUMBERS {
        true if wide::is_wild(rows) => wide::decide(rows, stop),
        true => stretch::decide(rows, stop),
        false => None,
    };
    proposed.or_else(|| simplex::decide(rows, stop))
}

/// The positive multipliers with which the rows of a support add up to 0.
pub(crate) fn balance(rows: &[Vec<IBig>], support: &[usize]) -> Option<Vec<(usize, IBig)>> {
    let chosen: Vec<Vec<IBig>> = support.iter().map(|&j| rows[j].clone()).collect();
    let Combination::One(mut lambda) = combination(&chosen) else { return None };
    if lambda.iter().any(|l| *l < IBig::ZERO) {
        lambda.iter_mut().for_each(|l| *l = -&*l);
    }
    let used = support.iter().copied().zip(lambda).filter(|(_, l)| *l != IBig::ZERO);
    let used: Vec<(usize, IBig)> = used.collect();
    used.iter().all(|(_, l)| *l > IBig::ZERO).then_some(used)
}

/// Whether a plane has every row on its positive side.
pub(crate) fn separates(w: &[IBig], rows: &[Vec<IBig>]) -> bool {
    let height = |row: &Vec<IBig>| row.iter().zip(w).map(|(x, w)| x * w).sum::<IBig>();
    rows.iter().all(|row| height(row) > IBig::ZERO)
}

/// The length of a number in bits.
pub(crate) fn bits(x: &IBig) -> i64 {
    let magnitude: UBig =
        if *x < IBig::ZERO { -x } else { x.clone() }.try_into().unwrap_or(UBig::ZERO);
    magnitude.bit_len() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_data::rng::{Purpose, Stream};

    #[test]
    fn floats_with_wide_exponents_agree_with_whole_numbers() {
        let mut stream = Stream::new(9, Purpose::Generate(0));
        let (mut separated, mut balanced, mut open) = (0, 0, 0);
        for case in 0..200 {
            let (count, width) = (3 + stream.below(12) as usize, 2 + stream.below(4) as usize);
            let mut number = || {
                let m = (stream.bits() >> 11) as i64 - (1 << 52);
                IBig::from(m) << stream.below(2000) as usize
            };
            let rows: Vec<Vec<IBig>> =
                (0..count).map(|_| (0..width).map(|_| number()).collect()).collect();
            let truth = simplex::decide(&rows, &|| false).expect("nobody stops it");
            match (wide::decide(&rows, &|| false), truth) {
                (Some(Exactly::Separated(_)), Exactly::Separated(_)) => separated += 1,
                (Some(Exactly::Balanced(_)), Exactly::Balanced(_)) => balanced += 1,
                (None, _) => open += 1,
                (Some(_), _) => panic!("case {case}"),
            }
        }
        assert!(separated > 20 && balanced > 100 && open < 5, "{separated} {balanced} {open}");
    }
}
