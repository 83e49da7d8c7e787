//! A step of Newton's method on all planes: H V = −∇P by conjugate gradients.

use super::super::compact::Compact;
use super::super::curvature::{Inverse, Sampled};
use super::super::joint::{Joint, Lines};
use crate::model::Plane;
use crate::objective::Intercept;
use linsep_data::matrix::panel::{Aligned, Real};
use linsep_data::parallel::parallel_map;
use linsep_kernels::{axpy_dense, dot_f64};

/// Iterations of conjugate gradients in one step.
const MOST_ITERATIONS: usize = 200;
/// A row whose greatest share lacks no more than this of 1 has no curvature to speak of.
const DEAD: f64 = 1e-10;

/// The second derivative at some planes.
pub(super) struct Curved<'a> {
    joint: &'a Joint,
    shares: &'a [f64],
    mu: f64,
    /// The positions with a curvature to speak of.
    live: Vec<u32>,
}

impl<'a> Curved<'a> {
    pub(super) fn new(joint: &'a Joint, shares: &'a [f64], mu: f64) -> Curved<'a> {
        let lines = (0..).zip(shares.chunks_exact(joint.classes));
        let live = |(_, p): &(u32, &[f64])| p.iter().copied().fold(0.0, f64::max) < 1.0 - DEAD;
        let live = lines.filter(live).map(|(i, _)| i).collect();
        Curved { joint, shares, mu, live }
    }

    /// H V.
    pub(super) fn times<T: Real>(&self, direction: &Lines, at_hand: Option<&Compact<T>>) -> Lines {
        let joint = self.joint;
        let (classes, stride) = (joint.classes, direction.stride);
        let mut narrow = Aligned::<T>::zeros(direction.numbers.len());
        narrow.iter_mut().zip(&direction.numbers).for_each(|(narrow, v)| *narrow = T::of(*v));
        let last = joint.width() * stride;
        let parts = joint.pass_over(
            &self.live,
            at_hand,
            narrow.len(),
            |_| (Aligned::<T>::zeros(narrow.len()), vec![T::ZERO; stride]),
            |(sums, line), i, columns, values| {
                line.copy_from_slice(&narrow[last..]);
                T::add_scores(columns, values, &narrow, line);
                let shares = &self.shares[i * classes..][..classes];
                let pairs = line.iter().zip(shares);
                let mean: f64 = pairs.map(|(z, p)| z.value() * p).sum();
                let cost = joint.costs[i] / self.mu;
                for (z, p) in line.iter_mut().zip(shares) {
                    *z = T::of(cost * p * (z.value() - mean));
                }
                line[classes..].fill(T::ZERO);
                T::add_row(columns, values, line, sums);
                sums[last..].iter_mut().zip(line).for_each(|(sum, a)| *sum += *a);
            },
        );
        let mut image = joint.zero();
        for (part, _) in parts {
            image.numbers.iter_mut().zip(part.iter()).for_each(|(sum, part)| *sum += part.value());
        }
        if joint.intercept == Intercept::None {
            image.biases_mut().fill(0.0);
        }
        let pairs = image.numbers.chunks_exact_mut(stride);
        for (j, (image, v)) in pairs.zip(direction.numbers.chunks_exact(stride)).enumerate() {
            let curvature = joint.curvature(j);
            image.iter_mut().zip(v).for_each(|(h, v)| *h += curvature * v);
        }
        image
    }
}

/// Solves H V = residual up to a share of it; also gives the number of iterations.
pub(super) fn conjugate_gradients(
    joint: &Joint,
    mut residual: Lines,
    preconditioner: &Preconditioner,
    tolerance: f64,
    times: impl Fn(&Lines) -> Lines,
) -> (Lines, usize) {
    let inner = |a: &Lines, b: &Lines| dot_f64(&a.numbers, &b.numbers);
    let mut answer = joint.zero();
    let mut z = preconditioner.apply(joint, &residual);
    let mut direction = z.clone();
    let mut size = inner(&residual, &z);
    let enough = tolerance * tolerance * inner(&residual, &residual);
    let mut iterations = 0;
    while iterations < MOST_ITERATIONS && size > 0.0 {
        let image = times(&direction);
        let curvature = inner(&direction, &image);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let length = size / curvature;
        axpy_dense(length, &direction.numbers, &mut answer.numbers);
        axpy_dense(-length, &image.numbers, &mut residual.numbers);
        iterations += 1;
        if inner(&residual, &residual) <= enough {
            break;
        }
        z = preconditioner.apply(joint, &residual);
        let next = inner(&residual, &z);
        let turn = next / size;
        size = next;
        for (d, z) in direction.numbers.iter_mut().zip(&z.numbers) {
            *d = z + turn * *d;
        }
    }
    (answer, iterations)
}

/// Something close to the inverse of H: the same for every class.
pub(super) struct Preconditioner {
    pub(super) inverse: Inverse,
    pub(super) made_at: Lines,
    pub(super) temperature: f64,
    pub(super) still_good: bool,
}

impl Preconditioner {
    pub(super) fn new(
        joint: &Joint,
        shares: &[f64],
        temperature: f64,
        made_at: Lines,
    ) -> Preconditioner {
        let others = temperature * (joint.classes - 1) as f64;
        let curvature = |(shares, cost): (&[f64], &f64)| {
            cost * (1.0 - shares.iter().map(|p| p * p).sum::<f64>()).max(0.0) / others
        };
        let pairs = shares.chunks_exact(joint.classes).zip(&joint.costs);
        let curvatures: Vec<f64> = pairs.map(curvature).collect();
        let sampled = Sampled {
            store: joint.data.store(),
            rows: &joint.rows,
            curvatures: &curvatures,
            penalty: &joint.penalty,
            intercept: joint.intercept,
            threads: joint.threads,
        };
        let inverse = sampled.inverse().0;
        Preconditioner { inverse, made_at, temperature, still_good: true }
    }

    fn apply(&self, joint: &Joint, residual: &Lines) -> Lines {
        let mut answer = joint.zero();
        let planes = joint.planes(residual);
        let solve = |k: usize| self.inverse.apply(&planes[k]);
        let solved = parallel_map(joint.classes, joint.threads, solve);
        for (k, Plane { weights, bias }) in solved.into_iter().enumerate() {
            let places = answer.numbers.iter_mut().skip(k).step_by(residual.stride);
            places.zip(weights).for_each(|(to, w)| *to = w);
            answer.biases_mut()[k] = bias;
        }
        answer
    }
}
