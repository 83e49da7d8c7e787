//! Symmetric linear equations that may be singular: Cholesky with pivots, and the shortest answer.
//!
//! The matrix is brought to a diagonal of ones, D⁻¹AD⁻¹ with D the roots of its diagonal. The next
//! pivot is the largest diagonal element that is left; when it is at most (64 + 4d)·2^-52 the other
//! columns depend on those taken, up to rounding, and get the answer 0. The answer of least length
//! comes from it by taking away its part along the null vectors, in raw units. There is no inverse.
//!
//! Reference: Higham, Accuracy and Stability of Numerical Algorithms, 10.3.

pub(crate) mod symmetric;

use linsep_data::cancel;
use linsep_kernels as kernel;

/// A factorisation A = L Lᵀ of the columns that were taken.
pub(crate) struct Factor {
    width: usize,
    scales: Vec<f64>,
    /// The columns in the order in which they were taken.
    pub taken: Vec<usize>,
    /// Row j of L, by the column's own number; as many entries as columns were taken before it.
    lower: Vec<f64>,
    /// Unit vectors, orthogonal to each other, along which A is 0, in raw units.
    null: Vec<Vec<f64>>,
    /// The largest pivot divided by the smallest: at most the condition of the scaled matrix.
    pub condition: f64,
}

impl Factor {
    /// Factorises a symmetric matrix with no negative eigenvalue but for rounding.
    pub(crate) fn new(matrix: &[f64], width: usize) -> Factor {
        let scale = |j: usize| match matrix[j * width + j] {
            square if square > 0.0 => square.sqrt(),
            _ => 0.0,
        };
        let scales: Vec<f64> = (0..width).map(scale).collect();
        let mut left: Vec<usize> = (0..width).filter(|&j| scales[j] > 0.0).collect();
        let mut rest = vec![1f64; width];
        let mut lower = vec![0.0; width * width];
        let mut taken: Vec<usize> = Vec::new();
        let smallest = Factor::smallest_pivot(width);
        let mut condition = 1.0;
        while !left.is_empty() {
            cancel::check();
            let mut at = 0;
            for k in 1..left.len() {
                if rest[left[k]] > rest[left[at]] {
                    at = k;
                }
            }
            // What is not a number ends the work as well.
            if rest[left[at]].is_nan() || rest[left[at]] <= smallest {
                break;
            }
            // Those that are left keep their order, which decides between equal pivots.
            let pivot = left.remove(at);
            let step = taken.len();
            let root = rest[pivot].sqrt();
            condition = 1.0 / rest[pivot];
            let (scaled, pivot_row) = (scales[pivot], lower[pivot * width..][..step].to_vec());
            lower[pivot * width + step] = root;
            for &j in &left {
                let row = &mut lower[j * width..][..step + 1];
                let element = matrix[pivot * width + j] / scaled / scales[j];
                row[step] = (element - kernel::dot_f64(&pivot_row, &row[..step])) / root;
                rest[j] -= row[step] * row[step];
            }
            taken.push(pivot);
        }
        let mut factor = Factor { width, scales, taken, lower, null: Vec::new(), condition };
        factor.find_null(&left);
        factor
    }

    /// A pivot of at most this is taken for rounding.
    pub(crate) fn smallest_pivot(width: usize) -> f64 {
        (64 + 4 * width) as f64 * f64::EPSILON
    }

    /// Whether some columns depend on others.
    pub(crate) fn is_singular(&self) -> bool {
        self.taken.len() < self.width
    }

    /// The shortest answer of A w = rhs, up to rounding.
    pub(crate) fn answer(&self, rhs: &[f64]) -> Vec<f64> {
        let mut answer = self.solve(rhs);
        if self.is_singular() {
            self.shorten(&mut answer);
        }
        answer
    }

    /// An answer of A w = rhs, of which the columns that were not taken have no part.
    pub(crate) fn solve(&self, rhs: &[f64]) -> Vec<f64> {
        let mut answer = vec![0.0; self.width];
        let scaled = |j: usize| rhs[j] / self.scales[j];
        let mut middle = self.forward(scaled);
        self.backward(&mut middle);
        for (k, &j) in self.taken.iter().enumerate() {
            answer[j] = middle[k] / self.scales[j];
        }
        answer
    }

    /// Takes away what changes nothing: the answer of least length.
    pub(crate) fn shorten(&self, answer: &mut [f64]) {
        for _ in 0..2 {
            for vector in &self.null {
                let part = kernel::dot_f64(vector, answer);
                kernel::axpy_dense(-part, vector, answer);
            }
        }
    }

    /// Takes away the part of a vector along the directions in which A is 0.
    pub(crate) fn drop_null(&self, vector: &mut [f64]) {
        for (x, scale) in vector.iter_mut().zip(&self.scales) {
            if *scale == 0.0 {
                *x = 0.0;
            }
        }
        self.shorten(vector);
    }

    /// How much of a vector lies along the null vectors, as a share of its length.
    pub(crate) fn null_share(&self, vector: &[f64]) -> f64 {
        // In the coordinates of the scaled matrix, where lengths can be compared.
        let zero = (0..self.width).filter(|&j| self.scales[j] == 0.0 && vector[j] != 0.0).count();
        if zero > 0 {
            return 1.0;
        }
        let image = self.lower_times(&self.forward(|j| vector[j] / self.scales[j]));
        let (mut all, mut off) = (0.0, 0.0);
        for j in (0..self.width).filter(|&j| self.scales[j] > 0.0) {
            let x = vector[j] / self.scales[j];
            all += x * x;
            off += (x - image[j]) * (x - image[j]);
        }
        if all > 0.0 { (off / all).sqrt() } else { 0.0 }
    }

    /// The length of an answer in coordinates in which the diagonal of A is 1.
    pub(crate) fn length(&self, answer: &[f64]) -> f64 {
        let squares = answer.iter().zip(&self.scales).map(|(w, scale)| (w * scale) * (w * scale));
        squares.sum::<f64>().sqrt()
    }

    /// xᵀ A⁺ x of a vector in the range of A.
    pub(crate) fn leverage(&self, x: &[f64]) -> f64 {
        self.forward(|j| x[j] / self.scales[j]).iter().map(|y| y * y).sum()
    }

    /// ln |A| of the columns that were taken.
    pub(crate) fn log_determinant(&self) -> f64 {
        let root =
            |(k, &j): (usize, &usize)| (self.lower[j * self.width + k] * self.scales[j]).ln();
        2.0 * self.taken.iter().enumerate().map(root).sum::<f64>()
    }

    /// A^½ y: a vector whose outer product with itself is A on average where y is white noise, one number
    /// for each column that was taken.
    pub(crate) fn root_times(&self, y: &[f64]) -> Vec<f64> {
        self.lower_times(y).iter().zip(&self.scales).map(|(x, scale)| x * scale).collect()
    }

    fn forward(&self, rhs: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut y: Vec<f64> = Vec::with_capacity(self.taken.len());
        for (k, &j) in self.taken.iter().enumerate() {
            let row = &self.lower[j * self.width..][..k + 1];
            y.push((rhs(j) - kernel::dot_f64(&y, row)) / row[k]);
        }
        y
    }

    fn backward(&self, y: &mut [f64]) {
        for (k, &j) in self.taken.iter().enumerate().rev() {
            let row = &self.lower[j * self.width..][..k + 1];
            let value = y[k] / row[k];
            y[k] = value;
            kernel::axpy_dense(-value, &row[..k], &mut y[..k]);
        }
    }

    /// L y for all columns.
    fn lower_times(&self, y: &[f64]) -> Vec<f64> {
        let row = |j: usize| &self.lower[j * self.width..][..y.len()];
        (0..self.width).map(|j| kernel::dot_f64(y, row(j))).collect()
    }

    /// The null vectors: one for each column that was left, and that is not 0 altogether.
    fn find_null(&mut self, left: &[usize]) {
        let steps = self.taken.len();
        for &j in left {
            let mut part: Vec<f64> = self.lower[j * self.width..][..steps].to_vec();
            self.backward(&mut part);
            let mut vector = vec![0.0; self.width];
            for (k, &taken) in self.taken.iter().enumerate() {
                vector[taken] = -part[k] / self.scales[taken];
            }
            vector[j] = 1.0 / self.scales[j];
            let before = length(&vector);
            for _ in 0..2 {
                for other in &self.null {
                    let along = kernel::dot_f64(other, &vector);
                    kernel::axpy_dense(-along, other, &mut vector);
                }
            }
            let size = length(&vector);
            if size > 1e-12 * before {
                vector.iter_mut().for_each(|x| *x /= size);
                self.null.push(vector);
            }
        }
    }
}

fn length(vector: &[f64]) -> f64 {
    kernel::dot_f64(vector, vector).sqrt()
}

/// Adds h (x, 1)(x, 1)ᵀ below the diagonal.
pub(crate) fn add_square(
    h: f64,
    columns: &[u32],
    entries: &[f64],
    matrix: &mut [f64],
    order: usize,
) {
    let dense = columns.len() + 1 == order;
    let last = &mut matrix[(order - 1) * order..];
    for (&column, x) in columns.iter().zip(entries) {
        last[column as usize] += h * x;
    }
    last[order - 1] += h;
    // Rows of ones are common, and nothing has to be multiplied for them.
    if !dense && entries.iter().all(|x| *x == 1.0) {
        for (k, &column) in columns.iter().enumerate() {
            let line = &mut matrix[column as usize * order..][..column as usize + 1];
            columns[..k + 1].iter().for_each(|other| line[*other as usize] += h);
        }
        return;
    }
    for (k, (&column, x)) in columns.iter().zip(entries).enumerate() {
        let a = h * x;
        if a == 0.0 {
            continue;
        }
        let line = &mut matrix[column as usize * order..][..column as usize + 1];
        if dense {
            kernel::axpy_dense(a, &entries[..k + 1], line);
        } else {
            for (&other, y) in columns[..k + 1].iter().zip(entries) {
                line[other as usize] += a * y;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_system_is_solved() {
        let matrix = [4.0, 2.0, 0.0, 2.0, 5.0, 1.0, 0.0, 1.0, 9.0];
        let factor = Factor::new(&matrix, 3);
        let answer = factor.solve(&[8.0, 15.0, 29.0]);
        for (found, expected) in answer.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-14, "{answer:?}");
        }
        assert!(!factor.is_singular());
        assert!((factor.leverage(&[8.0, 15.0, 29.0]) - 125.0).abs() < 1e-12);
    }

    #[test]
    fn of_many_answers_the_shortest_is_found() {
        // Columns a, 2a and 0: the answers of w₁ + 2 w₂ = 5 with the shortest (1, 2, 0).
        let matrix = [1.0, 2.0, 0.0, 2.0, 4.0, 0.0, 0.0, 0.0, 0.0];
        let factor = Factor::new(&matrix, 3);
        let mut answer = factor.solve(&[5.0, 10.0, 0.0]);
        factor.shorten(&mut answer);
        assert!(factor.is_singular());
        assert!((answer[0] - 1.0).abs() < 1e-15 && (answer[1] - 2.0).abs() < 1e-15, "{answer:?}");
        assert_eq!(answer[2], 0.0);
        assert!(factor.null_share(&[1.0, 2.0, 0.0]) < 1e-15);
        assert!(factor.null_share(&[2.0, -1.0, 0.0]) > 0.9);
    }
}
