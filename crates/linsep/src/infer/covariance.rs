//! Covariances of estimates: the inverse of the information, or the sandwich around the rows' scores.

use super::likelihood::Likelihood;
use linsep_kernels::axpy_dense;

impl Likelihood<'_> {
    /// I⁻¹ (Σ u uᵀ) I⁻¹ with u the scores of the observations. A row of frequency f is f observations with the
    /// same score; other weights are part of it.
    pub(super) fn sandwich(&self, theta: &[f64], inverse: &[f64], frequencies: bool) -> Vec<f64> {
        let (order, width) = (self.order(), self.design.width);
        let mut meat = vec![0.0; order * order];
        let mut score = vec![0.0; order];
        let mut shares = vec![0.0; self.blocks() + 1];
        for i in 0..self.design.len() {
            let (line, weight, y) = (self.design.line(i), self.design.weight[i], self.design.y[i]);
            score.fill(0.0);
            if self.blocks() == 1 {
                let share = self.share(theta, i);
                axpy_dense(y * share.q - (1.0 - y) * share.p, line, &mut score);
            } else {
                self.shares(theta, line, y as usize, &mut shares);
                for (k, share) in shares[..self.blocks()].iter().enumerate() {
                    let hit = f64::from(u8::from(y as usize == k));
                    axpy_dense(hit - share, line, &mut score[k * width..][..width]);
                }
            }
            let times = if frequencies { weight } else { weight * weight };
            for j in 0..order {
                axpy_dense(times * score[j], &score, &mut meat[j * order..][..order]);
            }
        }
        product(&product(inverse, &meat, order), inverse, order)
    }
}

fn product(a: &[f64], b: &[f64], order: usize) -> Vec<f64> {
    let mut out = vec![0.0; order * order];
    for j in 0..order {
        for k in 0..order {
            axpy_dense(a[j * order + k], &b[k * order..][..order], &mut out[j * order..][..order]);
        }
    }
    out
}
