//! The quadratic that stands for the losses in one step, and descent over its coordinates.
//!
//! ```text
//! q(d) = −g·d + ½ dᵀHd + r(w + d),   H = Σ h x xᵀ
//! ```
//!
//! One coordinate at a time is best in closed form: with κ = H_jj + l2 s², z = κ w − ∂q the answer is
//! soft(z, l1 s)/κ within its limits. Coordinates that rest at 0 are left out of most sweeps. H comes
//! as a matrix ([`Matrix`]) or as the columns it is made of ([`Weighed`]); where it is a matrix, the
//! weights that are not at a kink are now and then solved for together (steps on their face, each as far as
//! the next kink), which does in one go what sweeps over columns that depend on each other would take
//! thousands for.
//!
//! A free bias is not a coordinate: the best one for every d is known, and putting it in makes a row x
//! one of x − mean, with the mean weighed by h.

use super::columns::Columns;
use super::factors::Factors;
use linsep_kernels as kernel;

/// l2 s²/2 w² + l1 s |w| between limits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) ridge: f64,
    pub(super) kink: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Term {
    /// The weight at which ½ κ w² − z w + kink |w| is least.
    #[inline]
    fn best(&self, curvature: f64, z: f64) -> f64 {
        let over = (z.abs() - self.kink).max(0.0).copysign(z);
        (over / curvature).max(self.least).min(self.most)
    }

    /// How far the slope of the smooth part is from one at which a weight may rest.
    pub(super) fn violation(&self, weight: f64, slope: f64) -> f64 {
        self.asks(weight, slope).max(0.0)
    }

    /// The same, and below 0 by how much a weight rests safely.
    pub(super) fn asks(&self, weight: f64, slope: f64) -> f64 {
        let slope = slope + self.ridge * weight;
        let right = if weight >= 0.0 { slope + self.kink } else { slope - self.kink };
        let left = if weight > 0.0 { slope + self.kink } else { slope - self.kink };
        let up = if weight < self.most { -right } else { f64::NEG_INFINITY };
        let down = if weight > self.least { left } else { f64::NEG_INFINITY };
        up.max(down)
    }

    /// The weight that a column without any say has.
    pub(super) fn rest(&self) -> f64 {
        0f64.max(self.least).min(self.most)
    }

    /// How many times a step fits between a weight and the kink or limit that it leads to, and where that is.
    fn wall(&self, weight: f64, step: f64) -> (f64, f64) {
        let limit = if step > 0.0 { self.most } else { self.least };
        let meets_kink = self.kink > 0.0 && weight * step < 0.0;
        let wall = match meets_kink && (limit - weight).abs() > weight.abs() {
            true => 0.0,
            false => limit,
        };
        let times = if step == 0.0 { f64::INFINITY } else { (wall - weight) / step };
        (times, wall)
    }

    pub(super) fn value(&self, weight: f64) -> f64 {
        0.5 * self.ridge * weight * weight + self.kink * weight.abs()
    }
}

/// −g·d + ½ dᵀHd at some d.
pub(super) trait Quadratic {
    /// H_kk.
    fn curvature(&self, k: usize) -> f64;
    /// The derivative along a coordinate.
    fn slope(&self, k: usize) -> f64;
    /// d_k += by.
    fn shift(&mut self, k: usize, by: f64);
    /// H on some coordinates, where it is at hand.
    fn face(&self, coordinates: &[usize]) -> Option<Vec<f64>>;
}

/// Brings the weights near the least of q; tells by how much q fell at least.
pub(super) fn descend<Q: Quadratic>(
    model: &mut Q,
    terms: &[Term],
    weights: &mut [f64],
    precision: f64,
    most_sweeps: usize,
) -> f64 {
    let all: Vec<usize> = (0..terms.len()).collect();
    let (mut fell, mut sweeps) = (0.0, 0);
    loop {
        let by = sweep(model, terms, weights, &all);
        fell += by;
        sweeps += 1;
        if by <= precision * fell || sweeps >= most_sweeps {
            return fell;
        }
        let active: Vec<usize> = all.iter().copied().filter(|&k| weights[k] != 0.0).collect();
        for round in 1.. {
            let by = sweep(model, terms, weights, &active);
            fell += by;
            sweeps += 1;
            if by <= 0.3 * precision * fell || sweeps >= most_sweeps {
                break;
            }
            if round % SWEEPS_TO_A_FACE == 0 {
                fell += step_on_face(model, terms, weights, &active);
            }
        }
    }
}

/// Sweeps after which the weights that move are solved for together.
const SWEEPS_TO_A_FACE: usize = 6;

fn sweep<Q: Quadratic>(
    model: &mut Q,
    terms: &[Term],
    weights: &mut [f64],
    coordinates: &[usize],
) -> f64 {
    let mut fell = 0.0;
    for &k in coordinates {
        let (term, weight) = (&terms[k], weights[k]);
        let curvature = model.curvature(k) + term.ridge;
        let next = match curvature > 0.0 {
            true => {
                let slope = model.slope(k) + term.ridge * weight;
                term.best(curvature, curvature * weight - slope)
            }
            // Nothing but the kink has a say.
            false if term.kink > 0.0 => term.rest(),
            false => weight,
        };
        let by = next - weight;
        if by != 0.0 {
            fell += match curvature > 0.0 {
                true => 0.5 * curvature * by * by,
                false => term.value(weight) - term.value(next),
            };
            weights[k] = next;
            model.shift(k, by);
        }
    }
    fell
}

/// Solves for the weights between their kinks together, goes there or as far as the first of them comes to its
/// kink or limit, where it stays, and goes on with the others; tells by how much q fell.
///
/// On the way no weight crosses a kink, so q is a quadratic that falls all along it. Where columns depend on
/// each other q falls without end, but for the kinks; the smallest ridge makes that a long step like others.
fn step_on_face<Q: Quadratic>(
    model: &mut Q,
    terms: &[Term],
    weights: &mut [f64],
    active: &[usize],
) -> f64 {
    const RIDGE: f64 = 1e-10;
    let mut fell = 0.0;
    let inside = |k: usize, w: f64| w != 0.0 && terms[k].least < w && w < terms[k].most;
    let mut face: Vec<usize> = active.iter().copied().filter(|&k| inside(k, weights[k])).collect();
    let mut factors = None;
    while face.len() >= 2 {
        let Some(mut matrix) = model.face(&face) else { return fell };
        let order = face.len();
        let mut down = Vec::with_capacity(order);
        for (i, &k) in face.iter().enumerate() {
            let diagonal = &mut matrix[i * order + i];
            *diagonal += terms[k].ridge + RIDGE * *diagonal;
            let slope = model.slope(k) + terms[k].ridge * weights[k];
            down.push(-(slope + terms[k].kink.copysign(weights[k])));
        }
        let Some(mut known) = factors.take().or_else(|| Factors::new(&matrix, order)) else {
            return fell;
        };
        let step = known.solve(&down);
        if step.iter().any(|by| !by.is_finite()) {
            return fell;
        }
        let walls = face.iter().zip(&step).map(|(&k, by)| terms[k].wall(weights[k], *by));
        let walls: Vec<(f64, f64)> = walls.collect();
        let first = walls.iter().fold(1.0, |length: f64, (at, _)| length.min(*at));
        // As far as the first kink, or all the way where that is better, each weight to its own kink at most:
        // that saves the factors for each of them.
        let change = |length: f64| {
            let by = |(by, (at, _)): (&f64, &(f64, f64))| length.min(*at) * by;
            let by: Vec<f64> = step.iter().zip(&walls).map(by).collect();
            let rows = by.iter().zip(&down).zip(matrix.chunks(order));
            rows.map(|((b, down), row)| b * (0.5 * kernel::dot_f64(row, &by) - down)).sum::<f64>()
        };
        let (mut length, mut least) = (first, change(first));
        if first < 1.0 && change(1.0) <= least {
            (length, least) = (1.0, change(1.0));
        }
        if least.is_nan() || least >= 0.0 {
            return fell;
        }
        fell -= least;
        for ((&k, by), (at, wall)) in face.iter().zip(&step).zip(walls) {
            let next = if at <= length { wall } else { weights[k] + length * by };
            model.shift(k, next - weights[k]);
            weights[k] = next;
        }
        let outside = |place: &usize| !inside(face[*place], weights[face[*place]]);
        (0..order).rev().filter(outside).for_each(|place| known.remove(place));
        face.retain(|&k| inside(k, weights[k]));
        if face.len() == order {
            return fell;
        }
        factors = Some(known);
    }
    fell
}

/// H as a matrix.
pub(super) struct Matrix {
    order: usize,
    matrix: Vec<f64>,
    slopes: Vec<f64>,
}

impl Matrix {
    /// From H with the bias last, row by row, and g. A free bias is put in; tells how to find it.
    pub(super) fn new(
        matrix: Vec<f64>,
        negative_gradient: &[f64],
        bias: Bias,
    ) -> (Matrix, FreeBias) {
        let order = negative_gradient.len();
        let last = order - 1;
        let slopes: Vec<f64> = negative_gradient.iter().map(|g| -g).collect();
        let mut model = Matrix { order, matrix, slopes };
        let mut free = FreeBias { negative_gradient: 0.0, total: 0.0, means: Vec::new() };
        match bias {
            Bias::Coordinate => return (model, free),
            Bias::None => {}
            Bias::Free => {
                let total = model.matrix[last * order + last];
                let sums = model.matrix[last * order..][..last].to_vec();
                free = FreeBias {
                    negative_gradient: negative_gradient[last],
                    total,
                    means: Vec::new(),
                };
                if total > 0.0 {
                    free.means = sums.iter().map(|sum| sum / total).collect();
                    for j in 0..last {
                        let own = model.matrix[j * order + j];
                        kernel::axpy_dense(
                            -free.means[j],
                            &sums,
                            &mut model.matrix[j * order..][..last],
                        );
                        model.slopes[j] += free.means[j] * negative_gradient[last];
                        settle(&mut model.matrix[j * order + j], own);
                    }
                }
            }
        }
        // The bias takes no part any more.
        for j in 0..order {
            model.matrix[last * order + j] = 0.0;
            model.matrix[j * order + last] = 0.0;
        }
        (model, free)
    }
}

/// A curvature that is all rounding is none.
fn settle(curvature: &mut f64, before: f64) {
    if *curvature <= 1e-12 * before {
        *curvature = 0.0;
    }
}

/// What the bias is to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bias {
    /// Its last coordinate.
    Coordinate,
    /// Put in.
    Free,
    None,
}

/// How the best free bias follows from d.
pub(super) struct FreeBias {
    negative_gradient: f64,
    total: f64,
    means: Vec<f64>,
}

impl FreeBias {
    /// The step of the bias that goes with steps of the other coordinates.
    pub(super) fn step(&self, by: impl Iterator<Item = f64>) -> f64 {
        if self.total <= 0.0 {
            return 0.0;
        }
        let moved: f64 = self.means.iter().zip(by).map(|(mean, by)| mean * by).sum();
        self.negative_gradient / self.total - moved
    }
}

impl Quadratic for Matrix {
    #[inline]
    fn curvature(&self, k: usize) -> f64 {
        self.matrix[k * self.order + k]
    }

    #[inline]
    fn slope(&self, k: usize) -> f64 {
        self.slopes[k]
    }

    #[inline]
    fn shift(&mut self, k: usize, by: f64) {
        kernel::axpy_dense(by, &self.matrix[k * self.order..][..self.order], &mut self.slopes);
    }

    fn face(&self, coordinates: &[usize]) -> Option<Vec<f64>> {
        let mut matrix = Vec::with_capacity(coordinates.len() * coordinates.len());
        for &j in coordinates {
            let row = &self.matrix[j * self.order..][..self.order];
            matrix.extend(coordinates.iter().map(|&k| row[k]));
        }
        Some(matrix)
    }
}

/// H as the columns it is made of.
pub(super) struct Weighed<'a> {
    columns: &'a Columns,
    /// h (x·d) and h of every row.
    rows: Vec<[f64; 2]>,
    curvatures: Vec<f64>,
    slopes: Vec<f64>,
    /// Σ h x of every column over Σ h.
    means: Vec<f64>,
    /// Σ h (x·d).
    moved: f64,
    bias: Bias,
}

impl<'a> Weighed<'a> {
    /// With h and y α of every row.
    pub(super) fn new(
        columns: &'a Columns,
        curvatures: &[f64],
        negative_gradients: &[f64],
        bias: Bias,
        threads: usize,
    ) -> (Weighed<'a>, FreeBias) {
        let sums = columns.sums(curvatures, negative_gradients, threads);
        let total: f64 = curvatures.iter().sum();
        let negative_gradient: f64 = negative_gradients.iter().sum();
        let put_in = bias == Bias::Free && total > 0.0;
        let count = columns.len() + usize::from(bias == Bias::Coordinate);
        let mut model = Weighed {
            columns,
            rows: curvatures.iter().map(|h| [0.0, *h]).collect(),
            curvatures: Vec::with_capacity(count),
            slopes: Vec::with_capacity(count),
            means: Vec::with_capacity(columns.len()),
            moved: 0.0,
            bias,
        };
        for [g, first, second] in sums {
            let mean = if put_in { first / total } else { 0.0 };
            let mut curvature = second - mean * first;
            settle(&mut curvature, second);
            model.curvatures.push(curvature);
            model.slopes.push(mean * negative_gradient - g);
            model.means.push(mean);
        }
        if bias == Bias::Coordinate {
            model.curvatures.push(total);
            model.slopes.push(-negative_gradient);
        }
        let (total, means) = if put_in { (total, model.means.clone()) } else { (0.0, Vec::new()) };
        (model, FreeBias { negative_gradient, total, means })
    }
}

impl Quadratic for Weighed<'_> {
    #[inline]
    fn curvature(&self, k: usize) -> f64 {
        self.curvatures[k]
    }

    #[inline]
    fn slope(&self, k: usize) -> f64 {
        if k == self.columns.len() {
            return self.slopes[k] + self.moved;
        }
        let (rows, values) = self.columns.column(k);
        let (fours, rest) = rows.as_chunks::<4>();
        let (values, last) = values.split_at(4 * fours.len());
        // Four sums, so that an addition need not wait for the one before.
        let mut sums = [0.0; 4];
        for (four, values) in fours.iter().zip(values.as_chunks::<4>().0) {
            for lane in 0..4 {
                sums[lane] += self.rows[four[lane] as usize][0] * values[lane];
            }
        }
        for (lane, (&i, x)) in rest.iter().zip(last).enumerate() {
            sums[lane] += self.rows[i as usize][0] * x;
        }
        let sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
        self.slopes[k] + (sum - self.means[k] * self.moved)
    }

    #[inline]
    fn shift(&mut self, k: usize, by: f64) {
        if k == self.columns.len() {
            for [moved, h] in &mut self.rows {
                *moved += by * *h;
                self.moved += by * *h;
            }
            return;
        }
        let (rows, values) = self.columns.column(k);
        let mut all = 0.0;
        for (&i, x) in rows.iter().zip(values) {
            let [moved, h] = &mut self.rows[i as usize];
            let more = by * x * *h;
            *moved += more;
            all += more;
        }
        if self.bias != Bias::None {
            self.moved += all;
        }
    }

    fn face(&self, _: &[usize]) -> Option<Vec<f64>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_depend_on_each_other_are_solved_for_in_few_sweeps() {
        // Two groups of three columns, one of each in a row: both add up to 1, so H is singular, and along
        // that direction only the kinks decide.
        let order = 7;
        let mut matrix = vec![0.0; order * order];
        let mut negative_gradient = vec![0.0; order];
        for i in 0..60usize {
            let (columns, h) = ([i % 3, 3 + i / 7 % 3], 1.0 + (i % 5) as f64);
            for j in columns {
                negative_gradient[j] += 10.0 * ((i * i % 11) as f64 - 4.5);
                columns.iter().for_each(|k| matrix[j * order + k] += h);
            }
        }
        let (mut model, _) = Matrix::new(matrix, &negative_gradient, Bias::None);
        let (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
        let terms = [Term { ridge: 0.0, kink: 1.0, least, most }; 6];
        let mut weights = vec![0.0; 6];
        descend(&mut model, &terms, &mut weights, 1e-12, 60);
        for (k, term) in terms.iter().enumerate() {
            let violation = term.violation(weights[k], model.slope(k));
            assert!(violation < 1e-6, "{k}: {violation} at {weights:?}");
        }
    }
}
