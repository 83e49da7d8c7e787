//! Ranks modulo a prime. A minor that is not 0 modulo p is not 0, so the rank of a whole matrix is
//! at least its rank modulo p: a lower bound that is a proof.

use dashu_int::IBig;

/// The prime 2^61 − 1.
pub(crate) const P: u64 = 2_305_843_009_213_693_951;

/// A lower bound of the rank of a matrix of whole numbers, given by its rows.
pub(crate) fn rank_at_least(rows: &[Vec<IBig>]) -> usize {
    let prime = IBig::from(P);
    let mut matrix: Vec<Vec<u64>> =
        rows.iter().map(|row| row.iter().map(|x| residue(x, &prime)).collect()).collect();
    let width = matrix.first().map_or(0, Vec::len);
    let mut rank = 0;
    for column in 0..width {
        let Some(pivot) = (rank..matrix.len()).find(|&r| matrix[r][column] != 0) else { continue };
        matrix.swap(rank, pivot);
        let inverse = power(matrix[rank][column], P - 2);
        let (above, below) = matrix.split_at_mut(rank + 1);
        let pivot_row = &above[rank];
        for row in below {
            let factor = multiply(row[column], inverse);
            if factor != 0 {
                for (x, y) in row[column..].iter_mut().zip(&pivot_row[column..]) {
                    let product = multiply(factor, *y);
                    *x = if *x >= product { *x - product } else { *x + P - product };
                }
            }
        }
        rank += 1;
    }
    rank
}

/// A whole number modulo the prime.
pub(crate) fn residue(x: &IBig, prime: &IBig) -> u64 {
    let r = x % prime;
    let r = if r < IBig::ZERO { r + prime } else { r };
    u64::try_from(r).unwrap_or(0)
}

pub(crate) fn multiply(a: u64, b: u64) -> u64 {
    // 2^61 is 1 modulo the prime.
    let product = u128::from(a) * u128::from(b);
    let sum = (product as u64 & P) + (product >> 61) as u64;
    if sum >= P { sum - P } else { sum }
}

pub(crate) fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base);
        }
        base = multiply(base, base);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_small_matrices() {
        let rank = |rows: &[&[i64]]| {
            let rows: Vec<Vec<IBig>> =
                rows.iter().map(|row| row.iter().map(|&x| IBig::from(x)).collect()).collect();
            rank_at_least(&rows)
        };
        assert_eq!(rank(&[&[1, 2], &[2, 4]]), 1);
        assert_eq!(rank(&[&[1, 2], &[3, 4]]), 2);
        assert_eq!(rank(&[&[0, 0], &[0, -5]]), 1);
        assert_eq!(rank(&[]), 0);
    }
}
