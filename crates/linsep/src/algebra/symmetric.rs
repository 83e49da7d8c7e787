//! The axes of small symmetric matrices, by rotations of Jacobi.
//!
//! Reference: Golub and Van Loan, Matrix Computations, 8.5.

/// The eigenvalues of a symmetric matrix, the largest first, each with its vector of length 1.
#[must_use]
pub fn symmetric_axes(mut a: Vec<f64>, d: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    const MOST_SWEEPS: usize = 60;
    let mut v: Vec<Vec<f64>> =
        (0..d).map(|k| (0..d).map(|j| f64::from(j == k)).collect()).collect();
    let size = a.iter().map(|x| x * x).sum::<f64>();
    for _ in 0..MOST_SWEEPS {
        let off: f64 = (0..d)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| a[i * d + j].powi(2))
            .sum();
        if off <= 1e-30 * size || !off.is_finite() {
            break;
        }
        for i in 1..d {
            for j in 0..i {
                let x = a[i * d + j];
                if x == 0.0 {
                    continue;
                }
                let theta = (a[i * d + i] - a[j * d + j]) / (2.0 * x);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..d {
                    let (p, q) = (a[k * d + j], a[k * d + i]);
                    (a[k * d + j], a[k * d + i]) = (c * p - s * q, s * p + c * q);
                }
                for k in 0..d {
                    let (p, q) = (a[j * d + k], a[i * d + k]);
                    (a[j * d + k], a[i * d + k]) = (c * p - s * q, s * p + c * q);
                }
                // i is above j.
                let (below, above) = v.split_at_mut(i);
                for (p, q) in below[j].iter_mut().zip(&mut above[0]) {
                    (*p, *q) = (c * *p - s * *q, s * *p + c * *q);
                }
            }
        }
    }
    let order = linsep_data::sort::places(d, &mut |i, j| a[j * d + j].total_cmp(&a[i * d + i]));
    (order.iter().map(|&k| a[k * d + k]).collect(), order.iter().map(|&k| v[k].clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_find_the_axes_of_a_symmetric_matrix() {
        let a = vec![4.0, 1.0, -2.0, 1.0, 2.0, 0.0, -2.0, 0.0, 3.0];
        let (sizes, axes) = symmetric_axes(a.clone(), 3);
        assert!(sizes.windows(2).all(|pair| pair[0] >= pair[1]));
        for (size, axis) in sizes.iter().zip(&axes) {
            for i in 0..3 {
                let product: f64 = (0..3).map(|j| a[3 * i + j] * axis[j]).sum();
                assert!((product - size * axis[i]).abs() < 1e-12);
            }
        }
    }
}
