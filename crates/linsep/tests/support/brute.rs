//! Brute force in fractions of machine words: the kind of a few small whole vectors, straight from
//! the theorems and without a line of the library.
//!
//! A circuit is a set of vectors with exactly one linear relation, and that uses all of them. A sum
//! Σ λ z = 0 with λ ≥ 0 is a sum of circuits of positive λ. So no strict plane exists iff there is
//! such a circuit (Gordan), and no weak one iff every vector is in one (Stiemke).
#![allow(dead_code)] // Each test file uses its own part of this one.

/// What a set of vectors is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// z·w > 0 for all of them is possible.
    Separable,
    /// z·w ≥ 0 for all and > 0 for some, but no more.
    Touching,
    /// z·w ≥ 0 for all means z·w = 0 for all.
    Overlapping,
}

/// ±(1, x), or ±x without a bias.
pub(crate) fn signed(row: &[i64], positive: bool, bias: bool) -> Vec<i128> {
    let sign = if positive { 1 } else { -1 };
    let constant = bias.then_some(1);
    constant.into_iter().chain(row.iter().copied()).map(|x| sign * i128::from(x)).collect()
}

/// The vectors of Kesler's construction: (1, x) in the block of the row's class, −(1, x) in the block
/// of another, for every row and every other class.
pub(crate) fn kesler(
    rows: &[Vec<i64>],
    classes: &[usize],
    count: usize,
    bias: bool,
) -> Vec<Vec<i128>> {
    let mut vectors = Vec::new();
    for (row, &own) in rows.iter().zip(classes) {
        for other in (0..count).filter(|&other| other != own) {
            let block = |k: usize| match k {
                k if k == own => signed(row, true, bias),
                k if k == other => signed(row, false, bias),
                _ => vec![0; row.len() + usize::from(bias)],
            };
            vectors.push((0..count).flat_map(block).collect());
        }
    }
    vectors
}

/// The kind of a set of vectors, by all of its circuits.
pub(crate) fn kind_of(vectors: &[Vec<i128>]) -> Kind {
    let tied = tied(vectors);
    let union: Vec<Vec<i128>> =
        vectors.iter().zip(&tied).filter(|(_, b)| **b).map(|(v, _)| v.clone()).collect();
    let all = tied.iter().all(|b| *b);
    // What the tied vectors span is tied: two ways to say the same.
    assert_eq!(all, !union.is_empty() && rank_of(&union) == rank_of(vectors));
    match (union.is_empty(), all) {
        (true, _) => Kind::Separable,
        (false, true) => Kind::Overlapping,
        (false, false) => Kind::Touching,
    }
}

/// Which vectors are in a circuit of positive λ: those that every weak plane contains.
pub(crate) fn tied(vectors: &[Vec<i128>]) -> Vec<bool> {
    let rank = rank_of(vectors);
    let mut balanced = vec![false; vectors.len()];
    for set in 1u32..1 << vectors.len() {
        if set.count_ones() as usize > rank + 1 {
            continue;
        }
        let members: Vec<usize> = (0..vectors.len()).filter(|i| set >> i & 1 == 1).collect();
        if members.iter().all(|&i| balanced[i]) {
            continue;
        }
        let chosen: Vec<&[i128]> = members.iter().map(|&i| &vectors[i][..]).collect();
        if has_positive_circuit(&chosen) {
            members.iter().for_each(|&i| balanced[i] = true);
        }
    }
    balanced
}

/// Which coordinates are no combination of those before, in all vectors.
pub(crate) fn kept(vectors: &[Vec<i128>]) -> Vec<usize> {
    eliminate(&mut vectors.to_vec())
}

/// Whether some w with z·w ≥ 0 for all vectors has this sign in a coordinate.
pub(crate) fn goes(vectors: &[Vec<i128>], coordinate: usize, sign: i128) -> bool {
    let unit: Vec<i128> =
        (0..vectors[0].len()).map(|j| if j == coordinate { sign } else { 0 }).collect();
    allows(vectors, &unit)
}

/// Whether some w with z·w ≥ 0 for all vectors has p·w > 0. None has exactly if p is in a circuit of positive
/// λ with the vectors (Farkas).
pub(crate) fn allows(vectors: &[Vec<i128>], p: &[i128]) -> bool {
    let most = rank_of(vectors);
    !(0u32..1 << vectors.len()).any(|set| {
        let members = (0..vectors.len()).filter(|i| set >> i & 1 == 1);
        let chosen: Vec<&[i128]> = members.map(|i| &vectors[i][..]).chain([p]).collect();
        set.count_ones() as usize <= most && has_positive_circuit(&chosen)
    })
}

/// Whether the unit vector of a coordinate is a combination of the vectors.
pub(crate) fn spans_unit(vectors: &[Vec<i128>], coordinate: usize, width: usize) -> bool {
    let unit = (0..width).map(|j| i128::from(j == coordinate)).collect();
    let mut with = vectors.to_vec();
    with.push(unit);
    rank_of(&with) == rank_of(vectors)
}

/// Whether the one relation of the vectors has the same sign, not 0, on all of them.
fn has_positive_circuit(vectors: &[&[i128]]) -> bool {
    let width = vectors[0].len();
    // Columns are the vectors: eliminating finds the relation of the one free column.
    let mut matrix: Vec<Vec<i128>> =
        (0..width).map(|j| vectors.iter().map(|v| v[j]).collect()).collect();
    let pivots = eliminate(&mut matrix);
    if pivots.len() + 1 != vectors.len() {
        return false;
    }
    let Some(free) = (0..vectors.len()).find(|k| !pivots.contains(k)) else { return false };
    // Row r says: pivot · λ[pivots[r]] + cell · λ[free] = 0, and λ[free] = 1 makes all others positive
    // exactly when pivot and cell differ in sign.
    pivots.iter().zip(&matrix).all(|(&pivot, row)| row[pivot].signum() * row[free].signum() == -1)
}

/// The squared length p/q of the shortest point of the hull, in lowest terms: the least over all sets
/// of affinely independent points whose affine hull has its shortest point inside.
pub(crate) fn shortest_square(points: &[Vec<i128>]) -> (i128, i128) {
    let most = points[0].len() + 1;
    let mut best: Option<(i128, i128)> = None;
    for set in 1u32..1 << points.len() {
        if set.count_ones() as usize > most {
            continue;
        }
        let members = (0..points.len()).filter(|i| set >> i & 1 == 1);
        let chosen: Vec<&[i128]> = members.map(|i| &points[i][..]).collect();
        if let Some((p, q)) = affine_square(&chosen)
            && best.is_none_or(|(a, b)| p * b < a * q)
        {
            best = Some((p, q));
        }
    }
    best.unwrap()
}

/// |x|² of the shortest point of the affine hull if it lies inside: G λ = μ 1, λ > 0, μ / Σ λ.
fn affine_square(points: &[&[i128]]) -> Option<(i128, i128)> {
    let dot = |a: &[i128], b: &[i128]| a.iter().zip(b).map(|(x, y)| x * y).sum::<i128>();
    let mut matrix: Vec<Vec<i128>> =
        points.iter().map(|a| points.iter().map(|b| dot(a, b)).chain([-1]).collect()).collect();
    let pivots = eliminate(&mut matrix);
    if pivots.len() != points.len() {
        return None;
    }
    let free = (0..=points.len()).find(|k| !pivots.contains(k))?;
    let common = pivots.iter().zip(&matrix).fold(1, |lcm, (&pivot, row)| {
        let value = row[pivot].abs();
        lcm / gcd(lcm, value) * value
    });
    let mut solution = vec![common; points.len() + 1];
    for (&pivot, row) in pivots.iter().zip(&matrix) {
        solution[pivot] = -row[free] * (common / row[pivot]);
    }
    let (lambda, level) = solution.split_at(points.len());
    let total: i128 = lambda.iter().sum();
    let inside = lambda.iter().all(|l| l.signum() == total.signum()) && total != 0;
    let divisor = gcd(level[0].abs(), total.abs());
    inside.then(|| (level[0].abs() / divisor, total.abs() / divisor))
}

pub(crate) fn rank_of(vectors: &[Vec<i128>]) -> usize {
    eliminate(&mut vectors.to_vec()).len()
}

/// Gauss and Jordan without fractions, rows kept in lowest terms; gives the pivot columns.
fn eliminate(matrix: &mut [Vec<i128>]) -> Vec<usize> {
    let width = matrix.first().map_or(0, Vec::len);
    let mut pivots = Vec::new();
    for column in 0..width {
        let rank = pivots.len();
        let Some(found) = (rank..matrix.len()).find(|&r| matrix[r][column] != 0) else { continue };
        matrix.swap(rank, found);
        let pivot_row = matrix[rank].clone();
        for (r, row) in matrix.iter_mut().enumerate() {
            let factor = row[column];
            if r == rank || factor == 0 {
                continue;
            }
            for (x, y) in row.iter_mut().zip(&pivot_row) {
                *x = *x * pivot_row[column] - factor * y;
            }
            let divisor = row.iter().fold(0, |g, x| gcd(g, x.abs()));
            if divisor > 1 {
                row.iter_mut().for_each(|x| *x /= divisor);
            }
        }
        pivots.push(column);
    }
    pivots
}

pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
