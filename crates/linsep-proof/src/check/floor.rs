//! A lower bound of the eigenvalues of M, from some of the rows.
//!
//! In the coordinates of the module `stationary` the rows of B are y = f^½ (1/√Σf, (x − c)/s). The sum of
//! y yᵀ over some rows is at most BᵀB, so its least eigenvalue, with Λ, is a lower bound; a few rows for each
//! column are enough.
//!
//! **Rounding.** The sum M̃ over m rows is off by at most γ_{m+24} of the product of the norms of two columns in each
//! element, so by γ_{m+24} tr M̃ as a matrix. If the Cholesky factorisation of M̃ − c runs to its end
//! in binary64, all eigenvalues of M̃ are above c − 2 γ_{d+2} tr M̃ (Rump, Verification of positive
//! definiteness, BIT 46, 2006). Values that differ from the stored ones by a share o, and centres by a
//! rounding, change the columns of B by at most (o + 4u) X_j/s_j, and no singular value by more than the
//! norm of that.

use super::approach::UNIT;
use super::elsewhere::{Reader, Sums};
use super::fitted::Fitted;
use super::stationary::gamma;
use super::{Checked, Checker};
use crate::double::Double;

/// More columns than this are not worth a matrix.
const MOST_COLUMNS: usize = 512;

/// The coordinates in which M is meant.
pub(super) struct Coordinates<'a> {
    /// The factor of a row of each class.
    pub(super) factors: &'a [f64],
    /// Σ f if there is a constant column, else 0.
    pub(super) constant: f64,
    pub(super) centres: &'a [Vec<Double>],
    pub(super) scales: &'a [f64],
    pub(super) sizes: &'a [f64],
    pub(super) keep: f64,
    pub(super) ridge: f64,
    /// How far a stored value may be from the one that it stands for, as a share of it.
    pub(super) off: f64,
}

/// A number that no eigenvalue of M is below, on the columns that are not 0 altogether; 0 if none is shown.
pub(super) fn floor(
    checker: &Checker<'_>,
    fitted: &Fitted<'_>,
    coordinates: &Coordinates<'_>,
) -> Checked<f64> {
    let used: Vec<usize> =
        (0..coordinates.sizes.len()).filter(|&j| coordinates.sizes[j] > 0.0).collect();
    let has_constant = usize::from(coordinates.constant > 0.0);
    let order = used.len() + has_constant;
    if order == 0 || order > MOST_COLUMNS || hides_values(checker, fitted, coordinates.sizes)? {
        return Ok(0.0);
    }
    let pack =
        |(matrix, rows): (Vec<f64>, u64)| Sums::default().plain(matrix).plain(vec![rows as f64]);
    let unpack =
        |reader: &mut Reader| Some((reader.plain(order * order)?, reader.plain(1)?[0] as u64));
    let compute = || Ok(sum(checker, fitted, coordinates, &used));
    let (mut matrix, rows) = checker.pass(compute, pack, unpack)?;
    for (at, &j) in used.iter().enumerate() {
        let place = at + has_constant;
        matrix[place * order + place] +=
            coordinates.ridge / (coordinates.scales[j] * coordinates.scales[j]);
    }
    checker.noted(|| shown(&matrix, order, rows, coordinates, &used))
}

/// The least eigenvalue that a sum over some rows shows, with Λ.
fn shown(
    matrix: &[f64],
    order: usize,
    rows: u64,
    coordinates: &Coordinates<'_>,
    used: &[usize],
) -> f64 {
    let trace: f64 = (0..order).map(|j| matrix[j * order + j]).sum();
    let d = order as f64;
    let lost = 1.1 * gamma(rows as f64 + 24.0) * trace + 4.0 * gamma(d + 2.0) * (trace + d);
    let largest = |share: f64, j: &usize| share.max(coordinates.sizes[*j] / coordinates.scales[*j]);
    let moved = 1.1 * (coordinates.off + 4.0 * UNIT) * used.iter().fold(1.0, largest) * d.sqrt();
    // 2^-k, the least k that runs to its end.
    let runs = |k: i32| is_positive(matrix, order, 2f64.powi(-k));
    let (mut low, mut high) = (0, 40);
    if !runs(high) {
        return 0.0;
    }
    while high - low > 1 {
        let middle = (low + high) / 2;
        if runs(middle) { high = middle } else { low = middle }
    }
    let shown = 2f64.powi(-high) - lost;
    let root = shown.max(0.0).sqrt() - moved;
    if root > 0.0 { 0.99 * root * root } else { 0.0 }
}

/// Whether a column whose squares are 0 has values, which are too small for squares.
fn hides_values(checker: &Checker<'_>, fitted: &Fitted<'_>, sizes: &[f64]) -> Checked<bool> {
    if sizes.iter().all(|size| *size > 0.0) {
        return Ok(false);
    }
    let compute = || {
        let mut found = false;
        for row in (0..checker.rows_at_hand()).filter(|row| fitted.class(*row).is_some()) {
            checker.floats(row, &mut |j, x| found |= x != 0.0 && sizes[j as usize] == 0.0);
        }
        Ok(found)
    };
    let pack = |found: bool| Sums::default().plain(vec![f64::from(u8::from(found))]);
    checker.pass(compute, pack, |reader| Some(reader.plain(1)?[0] > 0.0))
}

/// The sum of y yᵀ over some rows, its lower triangle, and how many rows these are.
fn sum(
    checker: &Checker<'_>,
    fitted: &Fitted<'_>,
    coordinates: &Coordinates<'_>,
    used: &[usize],
) -> (Vec<f64>, u64) {
    let has_constant = usize::from(coordinates.constant > 0.0);
    let order = used.len() + has_constant;
    let mut matrix = vec![0.0; order * order];
    let step = (checker.n_rows() / (4 * order as u64 + 1024)).max(1);
    let mut values = vec![0.0; coordinates.scales.len()];
    let mut y = vec![0.0; order];
    let mut rows = 0;
    for row in (0..checker.rows_at_hand()).step_by(step as usize) {
        let Some(class) = fitted.class(row) else { continue };
        values.fill(0.0);
        checker.floats(row, &mut |j, x| values[j as usize] = x);
        let root =
            (coordinates.keep * coordinates.factors[class] * checker.rows.weight(row)).sqrt();
        if has_constant == 1 {
            y[0] = root / coordinates.constant.sqrt();
        }
        for (y, &j) in y[has_constant..].iter_mut().zip(used) {
            *y = root
                * ((values[j] - coordinates.centres[class][j].value()) / coordinates.scales[j]);
        }
        for (j, first) in y.iter().enumerate() {
            let line = &mut matrix[j * order..][..j + 1];
            line.iter_mut().zip(&y).for_each(|(sum, second)| *sum += first * second);
        }
        rows += 1;
    }
    (matrix, rows)
}

/// Whether the Cholesky factorisation of a matrix less a multiple of the identity runs to its end.
fn is_positive(matrix: &[f64], order: usize, less: f64) -> bool {
    let mut lower = matrix.to_vec();
    for j in 0..order {
        let (above, below) = lower.split_at_mut(j * order);
        let line = &mut below[..order];
        line[j] -= less;
        for k in 0..j {
            let other = &above[k * order..][..k + 1];
            let sum: f64 = line[..k].iter().zip(other).map(|(a, b)| a * b).sum();
            line[k] = (line[k] - sum) / other[k];
        }
        let sum: f64 = line[..j].iter().map(|a| a * a).sum();
        let square = line[j] - sum;
        if square.is_nan() || square <= 0.0 {
            return false;
        }
        line[j] = square.sqrt();
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::{
        Claim, ClassWeight, Equations, FloatPlane, Planes, Question, Reading, ReadingField, Rows,
        Scheme, check_claim,
    };

    /// A column, and one of numbers whose squares are 0 in binary64 with the sign of the class.
    struct Small;

    impl Rows for Small {
        fn len(&self) -> u64 {
            12
        }

        fn width(&self) -> usize {
            2
        }

        fn label(&self, row: u64) -> &str {
            if row.is_multiple_of(3) { "up" } else { "down" }
        }

        fn for_each(&self, row: u64, each: &mut dyn FnMut(u32, f64)) {
            each(0, (row * row % 7) as f64);
            each(1, if row.is_multiple_of(3) { 1e-200 } else { -1e-200 });
        }

        fn takes_part(&self, _: u64) -> bool {
            true
        }
    }

    #[test]
    fn a_column_too_small_for_squares_is_not_left_out() {
        let holds = |weights: [f64; 2], bias: f64| {
            let sides = (vec!["up".into()], vec!["down".into()]);
            let problem = Question::new(Scheme::Binary, sides.0, sides.1);
            let plane =
                FloatPlane::default().with_weights(Some(weights.into())).with_bias(Some(bias));
            let equations = Equations::LeastSquares { l2: 0.0, class_weight: ClassWeight::None };
            let claim = Claim::Stationary { planes: Planes::Two { problem, plane }, equations };
            let reading = ReadingField::new(Reading::Binary64, Vec::new());
            check_claim(&claim, &Small, &reading, true, 1).holds()
        };
        assert!(holds([0.0, 1e200], 0.0));
        // The answer of the first column alone: Σ x = 23, Σ x² = 67, Σ t = −4, Σ t x = −9.
        let slope = (-9.0 * 12.0 + 4.0 * 23.0) / (67.0 * 12.0 - 23.0 * 23.0);
        assert!(!holds([slope, 0.0], (-4.0 - slope * 23.0) / 12.0));
    }
}
