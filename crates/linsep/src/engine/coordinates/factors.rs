//! Factors of a positive matrix from which coordinates can be taken out.
//!
//! A = UᵀU with U upper triangular. Without coordinate k the rows above k lose an element, and those below
//! take up the row of k: UᵀU + x xᵀ, by rotations. That costs as much as a product with A, where new
//! factors cost a product for each coordinate.

use linsep_kernels as kernel;

/// U, row by row from the diagonal on.
pub(super) struct Factors {
    rows: Vec<Vec<f64>>,
}

impl Factors {
    /// Of a matrix, row by row, unless it is not positive.
    pub(super) fn new(matrix: &[f64], order: usize) -> Option<Factors> {
        let from_diagonal = |j: usize| matrix[j * order + j..(j + 1) * order].to_vec();
        let mut rows: Vec<Vec<f64>> = (0..order).map(from_diagonal).collect();
        for j in 0..order {
            let (done, below) = rows.split_at_mut(j + 1);
            let row = &mut done[j];
            if row[0].is_nan() || row[0] <= 0.0 {
                return None;
            }
            let root = row[0].sqrt();
            row.iter_mut().for_each(|u| *u /= root);
            for (i, other) in below.iter_mut().enumerate() {
                let tail = &row[i + 1..];
                if tail[0] != 0.0 {
                    kernel::axpy_dense(-tail[0], tail, other);
                }
            }
        }
        Some(Factors { rows })
    }

    /// Takes a coordinate out; those after it move up.
    pub(super) fn remove(&mut self, k: usize) {
        for (j, row) in self.rows[..k].iter_mut().enumerate() {
            row.remove(k - j);
        }
        let taken = self.rows.remove(k);
        let mut x = &mut taken.into_boxed_slice()[1..];
        for row in &mut self.rows[k..] {
            let (first, rest) = x.split_at_mut(1);
            let root = row[0].hypot(first[0]);
            let (cosine, sine) = (row[0] / root, first[0] / root);
            row[0] = root;
            for (u, x) in row[1..].iter_mut().zip(rest.iter_mut()) {
                (*u, *x) = (cosine * *u + sine * *x, cosine * *x - sine * *u);
            }
            x = rest;
        }
    }

    /// The v with A v = b.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut v = b.to_vec();
        for (j, row) in self.rows.iter().enumerate() {
            let (head, tail) = v[j..].split_at_mut(1);
            head[0] /= row[0];
            kernel::axpy_dense(-head[0], &row[1..], tail);
        }
        for (j, row) in self.rows.iter().enumerate().rev() {
            v[j] = (v[j] - kernel::dot_f64(&row[1..], &v[j + 1..])) / row[0];
        }
        v
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_coordinate_the_factors_are_those_of_the_smaller_matrix() {
        let order = 9;
        let element = |j: usize, k: usize| {
            let far = (j as f64 - k as f64).abs();
            (-0.3 * far).exp() + if j == k { 0.1 * j as f64 } else { 0.0 }
        };
        let matrix = |kept: &[usize]| -> Vec<f64> {
            kept.iter().flat_map(|&j| kept.iter().map(move |&k| element(j, k))).collect()
        };
        let mut kept: Vec<usize> = (0..order).collect();
        let mut factors = Factors::new(&matrix(&kept), order).unwrap();
        for k in [4, 0, 6] {
            kept.remove(k);
            factors.remove(k);
            let b: Vec<f64> = kept.iter().map(|&j| (j as f64).cos()).collect();
            let v = factors.solve(&b);
            for (row, b) in matrix(&kept).chunks(kept.len()).zip(&b) {
                assert!((kernel::dot_f64(row, &v) - b).abs() < 1e-12, "{v:?}");
            }
        }
        assert!(Factors::new(&[1.0, 2.0, 2.0, 1.0], 2).is_none());
    }
}
