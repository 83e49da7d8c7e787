//! Fisher's discriminant axes of rows with few coordinates.
//!
//! With the scatter S_w within the classes and S_b between them, the axes are the a with
//!
//! ```text
//! S_b a = λ S_w a,    a·S_w a = 1
//! ```
//!
//! the largest λ first. S_w = V D Vᵀ is made round by D^(−½) Vᵀ, then S_b is turned to its own axes.

use linsep::density::symmetric_axes;

/// Sums over rows of few coordinates, by class.
pub(super) struct Spread {
    width: usize,
    counts: Vec<f64>,
    sums: Vec<Vec<f64>>,
    squares: Vec<f64>,
}

impl Spread {
    pub(super) fn new(width: usize, classes: usize) -> Spread {
        Spread {
            width,
            counts: vec![0.0; classes],
            sums: vec![vec![0.0; width]; classes],
            squares: vec![0.0; width * width],
        }
    }

    pub(super) fn add(&mut self, class: usize, row: &[f64]) {
        self.counts[class] += 1.0;
        for (i, x) in row.iter().enumerate() {
            self.sums[class][i] += x;
            for (j, y) in row.iter().enumerate().take(i + 1) {
                self.squares[i * self.width + j] += x * y;
            }
        }
    }

    /// S_w and S_b, each divided by the number of rows.
    fn scatters(&self) -> [Vec<f64>; 2] {
        let d = self.width;
        let rows = self.counts.iter().sum::<f64>().max(1.0);
        let mean = |k: usize| self.sums.iter().map(|sum| sum[k]).sum::<f64>() / rows;
        let means: Vec<f64> = (0..d).map(mean).collect();
        let (mut within, mut between) = (vec![0.0; d * d], vec![0.0; d * d]);
        for i in 0..d {
            for j in 0..=i {
                let classes = || self.sums.iter().zip(&self.counts).filter(|(_, n)| **n > 0.0);
                let of_means: f64 = classes().map(|(s, n)| s[i] * s[j] / n).sum();
                let w = (self.squares[i * d + j] - of_means) / rows;
                let b = of_means / rows - means[i] * means[j];
                for at in [i * d + j, j * d + i] {
                    (within[at], between[at]) = (w, b);
                }
            }
        }
        [within, between]
    }
}

/// Directions of coordinates, the most telling first.
pub(super) struct Canonical {
    pub(super) directions: Vec<Vec<f64>>,
    /// What the first two hold of the sum of all λ.
    pub(super) share: f64,
    /// Whether a unit on every axis is one standard deviation within the classes.
    pub(super) has_units: bool,
}

/// All discriminant axes.
pub(super) fn canonical(spread: &Spread) -> Canonical {
    let d = spread.width;
    let [within, between] = spread.scatters();
    let total: f64 = (0..d).map(|k| within[k * d + k] + between[k * d + k]).sum();
    // A direction in which no class spreads has no unit; it is given a small one.
    let floor = (1e-9 * total / d.max(1) as f64).max(f64::MIN_POSITIVE);
    let (sizes, turns) = symmetric_axes(within, d);
    let has_units = sizes.iter().all(|size| *size > floor);
    let round: Vec<Vec<f64>> = turns
        .iter()
        .zip(&sizes)
        .map(|(turn, size)| turn.iter().map(|t| t / size.max(floor).sqrt()).collect())
        .collect();
    let product = |a: &[f64], b: &[f64]| -> f64 {
        (0..d).map(|i| (0..d).map(|j| a[i] * between[i * d + j] * b[j]).sum::<f64>()).sum()
    };
    let mut turned = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            turned[i * d + j] = product(&round[i], &round[j]);
        }
    }
    let (sizes, axes) = symmetric_axes(turned, d);
    let direction = |axis: &Vec<f64>| -> Vec<f64> {
        (0..d).map(|k| axis.iter().zip(&round).map(|(a, r)| a * r[k]).sum()).collect()
    };
    let sum: f64 = sizes.iter().map(|size| size.max(0.0)).sum();
    let shown: f64 = sizes.iter().take(2).map(|size| size.max(0.0)).sum();
    Canonical {
        directions: axes.iter().map(direction).collect(),
        share: if sum > 0.0 { shown / sum } else { 1.0 },
        has_units,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_axis_parts_the_classes_and_units_are_deviations() {
        // Both classes spread along (1, 1); they differ along (1, 0).
        let mut spread = Spread::new(2, 2);
        let mut rows = Vec::new();
        for k in -10..=10 {
            for e in [-0.3, 0.3] {
                for class in 0..2 {
                    let t = f64::from(k);
                    let row = [t + e + 2.0 * class as f64, t - e];
                    spread.add(class, &row);
                    rows.push((class, row));
                }
            }
        }
        let found = canonical(&spread);
        assert!(found.has_units && found.share > 0.999_999);
        let a = &found.directions[0];
        assert!(a[0] * a[1] < 0.0, "it looks across the direction in which both spread: {a:?}");
        for axis in &found.directions {
            let at = |row: &[f64; 2]| axis[0] * row[0] + axis[1] * row[1];
            let variance: f64 = (0..2)
                .map(|class| {
                    let of = || rows.iter().filter(move |(c, _)| *c == class).map(|(_, r)| at(r));
                    let n = of().count() as f64;
                    let mean = of().sum::<f64>() / n;
                    of().map(|x| (x - mean).powi(2)).sum::<f64>()
                })
                .sum::<f64>()
                / rows.len() as f64;
            assert!((variance - 1.0).abs() < 1e-9, "{variance}");
        }
    }
}
