//! The orthogonal complement of some whole vectors, exactly.

use super::lift::{eliminate, null_vectors};
use super::proposal::gcd;
use dashu_int::IBig;
use linsep_data::cancel;

/// Whole vectors, linearly independent, that span the complement of the given independent rows, one for
/// each coordinate that elimination leaves over. p-adic lifting solves for them, with one inverse for all;
/// where it cannot, exact elimination does.
pub(crate) fn orthogonal_complement(rows: &[Vec<IBig>], width: usize) -> Vec<Vec<IBig>> {
    let pivots = eliminate(rows);
    let free: Vec<usize> =
        (0..width).filter(|j| !pivots.iter().any(|(_, used)| used == j)).collect();
    let lifted = match rows.is_empty() || pivots.len() < rows.len() {
        true => None,
        false => null_vectors(rows, &pivots, &free, &|| false),
    };
    let vectors = lifted.unwrap_or_else(|| by_elimination(rows, width));
    let lowest = |vector: Vec<IBig>| {
        let divisor = vector.iter().fold(IBig::ZERO, |g, x| gcd(g, x.clone()));
        vector.into_iter().map(|x| x / &divisor).collect()
    };
    vectors.into_iter().map(lowest).collect()
}

/// Fraction-free elimination to the reduced form.
fn by_elimination(rows: &[Vec<IBig>], width: usize) -> Vec<Vec<IBig>> {
    let mut matrix: Vec<Vec<IBig>> = rows.to_vec();
    let mut pivots: Vec<usize> = Vec::new();
    let mut previous = IBig::ONE;
    for column in 0..width {
        let rank = pivots.len();
        if rank == matrix.len() {
            break;
        }
        let Some(pivot) = (rank..matrix.len()).find(|&r| matrix[r][column] != IBig::ZERO) else {
            continue;
        };
        matrix.swap(rank, pivot);
        let pivot_row = matrix[rank].clone();
        let p = &pivot_row[column];
        for (r, row) in matrix.iter_mut().enumerate().filter(|(r, _)| *r != rank) {
            cancel::check();
            let factor = row[column].clone();
            debug_assert!(r != rank);
            for (x, y) in row.iter_mut().zip(&pivot_row) {
                if factor != IBig::ZERO && *y != IBig::ZERO {
                    *x = (&*x * p - &factor * y) / &previous;
                } else if *x != IBig::ZERO {
                    *x = &*x * p / &previous;
                }
            }
        }
        previous = p.clone();
        pivots.push(column);
    }
    // Every pivot row now has `previous` in its own pivot column and 0 in the others.
    let free = (0..width).filter(|column| !pivots.contains(column));
    let vector = |column: usize| {
        let mut vector = vec![IBig::ZERO; width];
        vector[column] = previous.clone();
        for (rank, &pivot) in pivots.iter().enumerate() {
            vector[pivot] = -matrix[rank][column].clone();
        }
        vector
    };
    free.map(vector).collect()
}

/// The coordinate of each vector of such a complement in which no other vector has a part.
pub(crate) fn free_coordinates(complement: &[Vec<IBig>]) -> Vec<usize> {
    let width = complement.first().map_or(0, Vec::len);
    let used = |j: usize| complement.iter().filter(|n| n[j] != IBig::ZERO).count();
    let alone: Vec<bool> = (0..width).map(|j| used(j) == 1).collect();
    let free = |n: &Vec<IBig>| (0..width).rev().find(|&j| alone[j] && n[j] != IBig::ZERO);
    complement.iter().map(|n| free(n).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_data::rng::{Purpose, Stream};

    #[test]
    fn the_complement_is_orthogonal_and_complete() {
        let mut stream = Stream::new(4, Purpose::Generate(0));
        for _ in 0..200 {
            let width = 1 + stream.below(7) as usize;
            let count = stream.below(width as u64 + 1) as usize;
            let mut rows: Vec<Vec<IBig>> = (0..count)
                .map(|_| (0..width).map(|_| IBig::from(stream.below(5) as i64 - 2)).collect())
                .collect();
            let keep: Vec<usize> =
                super::super::lift::eliminate(&rows).into_iter().map(|(v, _)| v).collect();
            rows = keep.into_iter().map(|k| rows[k].clone()).collect();
            let complement = orthogonal_complement(&rows, width);
            assert_eq!(by_elimination(&rows, width).len(), complement.len());
            assert_eq!(complement.len(), width - rows.len());
            for n in &complement {
                for row in &rows {
                    let dot = row.iter().zip(n).fold(IBig::ZERO, |s, (x, y)| s + x * y);
                    assert_eq!(dot, IBig::ZERO);
                }
            }
            let free = free_coordinates(&complement);
            for (k, &j) in free.iter().enumerate() {
                let others =
                    complement.iter().enumerate().filter(|(o, n)| *o != k && n[j] != IBig::ZERO);
                assert_eq!(others.count(), 0);
                assert_ne!(complement[k][j], IBig::ZERO);
            }
        }
    }
}
