//! Coordinates in which the search for a plane is well conditioned: centred, scaled and decorrelated
//! columns. They only steer the search; whatever it finds is checked on the raw numbers.
//!
//! With μ and σ the means and spreads of all rows and L Lᵀ the correlation matrix of a sample, a row
//! (1, x) becomes p = (1, L⁻¹ S (x − μ)), S = diag(1/σ), and a plane q in these coordinates is the
//! raw plane w = S L⁻ᵀ q, b = q₀ − μ·w.

use super::column_scan::ColumnScan;
use super::signed::Signed;
use linsep_kernels::dot_f64;

/// Beyond this many columns their correlation costs more than it brings.
const MAX_CORRELATED: usize = 1000;

/// The change of coordinates.
pub(crate) struct Precondition {
    mean: Vec<f64>,
    scale: Vec<f64>,
    /// Rows of the lower triangle L; none stands for the identity.
    factor: Vec<Vec<f64>>,
    bias: bool,
}

impl Precondition {
    /// From the measures of all columns and a closer look at a sample of the rows.
    pub(crate) fn new(view: &Signed, scan: &ColumnScan) -> Precondition {
        let width = view.data.n_features();
        // Without a bias the columns cannot be centred. A column without spread says nothing.
        let mean = if view.bias { scan.mean.clone() } else { vec![0.0; width] };
        let spread = if view.bias { &scan.spread } else { &scan.length };
        let reciprocal = |&s: &f64| if s > 0.0 && (1.0 / s).is_finite() { 1.0 / s } else { 0.0 };
        let scale = spread.iter().map(reciprocal).collect();
        let mut this = Precondition { mean, scale, factor: Vec::new(), bias: view.bias };
        if width > MAX_CORRELATED {
            return this;
        }
        let wanted = (20 * view.dimension()).max(1000);
        let step = (view.len() / wanted).max(1);
        let mut matrix = vec![vec![0.0; width]; width];
        let (mut scratch, mut row) = (Vec::new(), vec![0.0; width]);
        let mut count = 0.0f64;
        for k in (0..view.len()).step_by(step) {
            this.standardise(view, k, &mut scratch, &mut row);
            for (i, line) in matrix.iter_mut().enumerate() {
                if row[i] != 0.0 {
                    line[..=i].iter_mut().zip(&row).for_each(|(m, x)| *m += row[i] * x);
                }
            }
            count += 1.0;
        }
        for (i, line) in matrix.iter_mut().enumerate() {
            line.iter_mut().for_each(|m| *m /= count);
            // A column that the sample does not show varies elsewhere: it stands alone.
            line[i] = if line[i] > 0.0 { line[i] * (1.0 + 1e-9) + 1e-9 } else { 1.0 };
        }
        this.factor = cholesky(matrix);
        this
    }

    /// The number of coordinates.
    pub(crate) fn dimension(&self) -> usize {
        self.mean.len() + usize::from(self.bias)
    }

    /// The k-th row in the new coordinates, with its sign and length 1.
    pub(crate) fn point(&self, view: &Signed, k: usize, scratch: &mut Vec<f64>) -> Vec<f64> {
        let mut point = self.transformed(view, k, scratch);
        let length = length(&point);
        let factor = f64::from(view.signs[k]) / length;
        point.iter_mut().for_each(|x| *x *= factor);
        point
    }

    /// The length of the k-th row in the new coordinates.
    pub(crate) fn length(&self, view: &Signed, k: usize, scratch: &mut Vec<f64>) -> f64 {
        length(&self.transformed(view, k, scratch))
    }

    fn transformed(&self, view: &Signed, k: usize, scratch: &mut Vec<f64>) -> Vec<f64> {
        let shift = usize::from(self.bias);
        let mut row = vec![0.0; self.mean.len()];
        self.standardise(view, k, scratch, &mut row);
        for i in 0..self.factor.len() {
            let (done, rest) = row.split_at_mut(i);
            let sum = dot_f64(&self.factor[i][..i], done);
            rest[0] = (rest[0] - sum) / self.factor[i][i];
        }
        let mut point = vec![1.0; self.dimension()];
        point[shift..].copy_from_slice(&row);
        point
    }

    /// The raw plane (w, b) of a plane in these coordinates.
    pub(crate) fn raw_plane(&self, q: &[f64]) -> (Vec<f64>, f64) {
        let shift = usize::from(self.bias);
        let mut w = q[shift..].to_vec();
        for i in (0..self.factor.len()).rev() {
            w[i] /= self.factor[i][i];
            let value = w[i];
            w[..i].iter_mut().zip(&self.factor[i]).for_each(|(w, l)| *w -= value * l);
        }
        w.iter_mut().zip(&self.scale).for_each(|(w, s)| *w *= s);
        let offset: f64 = w.iter().zip(&self.mean).map(|(w, mean)| w * mean).sum();
        (w, if self.bias { q[0] - offset } else { 0.0 })
    }

    /// S (x − μ).
    fn standardise(&self, view: &Signed, k: usize, scratch: &mut Vec<f64>, row: &mut [f64]) {
        row.iter_mut().zip(&self.mean).for_each(|(x, mean)| *x = -mean);
        view.for_each(k, scratch, |j, x| row[j as usize] = x - self.mean[j as usize]);
        row.iter_mut().zip(&self.scale).for_each(|(x, scale)| *x *= scale);
    }
}

fn length(point: &[f64]) -> f64 {
    let length = point.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 { length } else { 1.0 }
}

/// L of a symmetric matrix given by its lower triangle; pivots that vanish become small ones.
pub(super) fn cholesky(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for i in 0..matrix.len() {
        let (done, rest) = matrix.split_at_mut(i);
        let line = &mut rest[0];
        for j in 0..i {
            let sum = dot_f64(&line[..j], &done[j][..j]);
            line[j] = (line[j] - sum) / done[j][j];
        }
        let sum: f64 = line[..i].iter().map(|x| x * x).sum();
        let pivot = line[i] - sum;
        line[i] = pivot.max(1e-9).sqrt();
    }
    matrix
}
