//! Least squares, ridge and linear discriminants: the weights solve the equations that the data makes.
//!
//! **What is bounded.** In coordinates θ in which every column has norm 1, the equations are Mθ = r
//! with M = BᵀB + Λ: the rows of B are the centred rows, times the root of their factor f, and Λ ≥ 0
//! is diagonal (ridge or shrinkage). With θ* an exact answer and g = Mθ − r the residual,
//! e = M^½(θ − θ*) has |e|² = gᵀM⁻¹g, and |B(θ − θ*)| ≤ |e|: the change of the scores.
//!
//! **Dependent columns.** M may be singular. Let τ be small, and call a direction of M small if its
//! eigenvalue is below τ². Along the others Σ g²/λ ≤ 2 Σ g²/(λ + τ²) ≤ 2 gᵀ(M + τ²)⁻¹g, and along the
//! small ones the scores are at most τ|θ|. So the scores of θ are within
//!
//! ```text
//! √2 (gᵀ(M + τ²)⁻¹g)^½ + τ|θ|
//! ```
//!
//! of those of the exact answer without the small directions; τ is at most 1e-8, so for columns that
//! are not dependent to eight digits it is the exact answer itself. The data within a relative τ of this
//! data has an answer with exactly these scores: a backward error.
//!
//! **How it is computed without a solver.** For any z and ρ = g − (M + τ²)z,
//!
//! ```text
//! gᵀ(M + τ²)⁻¹g = z·g + z·ρ + ρᵀ(M + τ²)⁻¹ρ ≤ z·g + z·ρ + |ρ|²/τ²
//! ```
//!
//! A poor z can only make the bound larger. Steps of conjugate gradients improve z until the bound
//! suffices; nothing is factorised. Passes over the data run in [`Double`], with relative errors of
//! 2^-100 for each operation, so that for fewer than 2^40 values what they add to |g| and |ρ| is below
//! 2^-55 of them and is covered by a factor of 1.001 and a term of 2^-52 |g|/τ.
//!
//! The bound must be at most `SCORE_SHARE` of the norm of the scores (plus `SCORE_FLOOR` for each row).
//! B holds the rows of a discriminant about the means of their classes. The means themselves move by
//! (θ − θ*)·(m_c − μ) = (θ − θ*)ᵀM θ*_c, at most |e| times the length |M^½ θ_c| of another answer, so
//! the bound is multiplied by 1 + 1.5 max_c |M^½ θ_c|: one for the rows about their means, one for the
//! mean of a row's class and half of one for the mean in the bias.
//!
//! The bias of a discriminant is computed from its formula; the difference counts as a change of all
//! scores.

use super::fitted::{Fitted, SCORE_FLOOR, SCORE_SHARE};
use super::{Checked, Checker};
use crate::double::Double;
use crate::fitted::{ClassWeight, Equations, Offset, Planes};

/// Directions whose singular value is below this are treated as dependent.
const DEPENDENT: f64 = 1e-8;

impl Checker<'_> {
    pub(super) fn stationary(&self, planes: &Planes, equations: &Equations) -> Checked<String> {
        let fitted = Fitted::new(planes, self)?;
        let system = System::new(self, &fitted, equations)?;
        let count = fitted.planes.len();
        let workers = self.threads.clamp(1, count);
        let found: Vec<Checked<()>> = std::thread::scope(|scope| {
            let system = &system;
            let share = |worker: usize| (worker..count).step_by(workers);
            let run = move |worker| share(worker).map(|k| system.near(k)).collect::<Vec<_>>();
            let handles: Vec<_> = (1..workers).map(|w| scope.spawn(move || run(w))).collect();
            let mut found = run(0);
            for handle in handles {
                found.extend(handle.join().unwrap_or_else(|_| vec![Err("a thread broke".into())]));
            }
            found
        });
        found.into_iter().collect::<Checked<()>>()?;
        Ok("the weights solve the equations: on the rows, the scores are within 1e-6 of their norm of the exact answer's".into())
    }
}

/// The equations of a claim.
struct System<'a> {
    checker: &'a Checker<'a>,
    fitted: &'a Fitted,
    equations: &'a Equations,
    /// The factor of a row of each class, beside its weight.
    factors: Vec<f64>,
    /// Σ of all factors.
    total: f64,
    /// The centre of the rows of each class.
    centres: Vec<Vec<Double>>,
    /// Means of classes and their blend; what a discriminant is made of.
    means: Vec<Vec<Double>>,
    priors: Vec<f64>,
    /// Λ in raw weights, and the share of BᵀB.
    ridge: f64,
    keep: f64,
    scales: Vec<f64>,
    /// By how much a change within the classes may be a larger change of the scores.
    reach: f64,
}

/// Sums of one pass over the rows.
struct Pass {
    columns: Vec<Double>,
    classes: Vec<Double>,
    /// What is to be taken away: the right side of the equations.
    right: Vec<Double>,
}

impl<'a> System<'a> {
    fn new(
        checker: &'a Checker<'a>,
        fitted: &'a Fitted,
        equations: &'a Equations,
    ) -> Checked<System<'a>> {
        let weights = fitted.class_weights(checker);
        let sums = fitted.column_sums(checker, Double::of);
        let squares = fitted.column_sums(checker, |x| Double::product(x, x));
        let n_classes = weights.len();
        let width = checker.width();
        let all: f64 = weights.iter().sum();
        let means: Vec<Vec<Double>> = sums
            .iter()
            .zip(&weights)
            .map(|(sum, w)| sum.iter().map(|s| s.over(Double::of(*w))).collect())
            .collect();
        let (factors, priors, share) = match *equations {
            Equations::LeastSquares { l2, class_weight } => {
                if !(l2.is_finite() && l2 >= 0.0) {
                    return Err("l2 is below 0".into());
                }
                let factor = |w: &f64| match class_weight {
                    ClassWeight::None => 1.0,
                    ClassWeight::Balanced => all / (n_classes as f64 * w),
                };
                (weights.iter().map(factor).collect(), Vec::new(), 0.0)
            }
            Equations::Discriminant { shrinkage, priors, .. } => {
                if !(0.0..=1.0).contains(&shrinkage) {
                    return Err("the shrinkage is not between 0 and 1".into());
                }
                let priors = fitted.priors(&weights, priors);
                let factors: Vec<f64> = priors.iter().zip(&weights).map(|(p, w)| p / w).collect();
                (factors, priors, shrinkage)
            }
        };
        let total: f64 = factors.iter().zip(&weights).map(|(f, w)| f * w).sum();
        // The blend of the class means, each by its share of all factors.
        let blend: Vec<Double> = (0..width)
            .map(|j| {
                let term = |c: usize| sums[c][j].times(factors[c]);
                let sum = (0..n_classes).fold(Double::ZERO, |sum, c| sum.plus(term(c)));
                sum.over(Double::of(total))
            })
            .collect();
        let least_squares = matches!(equations, Equations::LeastSquares { .. });
        let centres = match least_squares {
            true => vec![blend.clone(); n_classes],
            false => means.clone(),
        };
        // Σ f (x − centre)², by Σ f x² − 2 centre Σ f x + centre² Σ f.
        let spread = |j: usize| {
            let class = |c: usize| {
                let centre = centres[c][j];
                let cross = centre.times_double(sums[c][j]).times(-2.0);
                let square = centre.times_double(centre).times(weights[c]);
                squares[c][j].plus(cross).plus(square).times(factors[c])
            };
            (0..n_classes).fold(Double::ZERO, |sum, c| sum.plus(class(c))).value().max(0.0)
        };
        let spreads: Vec<f64> = (0..width).map(spread).collect();
        let (ridge, keep) = match *equations {
            Equations::LeastSquares { l2, .. } => (l2, 1.0),
            _ => (share * spreads.iter().sum::<f64>() / width.max(1) as f64, 1.0 - share),
        };
        let scale = |spread: &f64| match keep * spread + ridge {
            square if square > 0.0 => square.sqrt(),
            _ => 1.0,
        };
        let scales = spreads.iter().map(scale).collect();
        let mut means = means;
        means.push(blend);
        let mut system = System {
            checker,
            fitted,
            equations,
            factors,
            total,
            centres,
            means,
            priors,
            ridge,
            keep,
            scales,
            reach: 1.0,
        };
        if !least_squares {
            let lengths = fitted.planes.iter().map(|(weights, _)| system.length_within(weights));
            system.reach = 1.0 + 1.5 * lengths.fold(0.0, f64::max);
        }
        Ok(system)
    }

    /// |M^½ θ| of a discriminant.
    fn length_within(&self, weights: &[f64]) -> f64 {
        let centre = |centre: &Vec<Double>| inner(weights, centre);
        let centres: Vec<Double> = self.centres.iter().map(centre).collect();
        let mut sum = self.ridge * dot(weights, weights);
        self.fitted.for_rows(self.checker, |row, class, weight| {
            let mut p = Double::ZERO.minus(centres[class]);
            self.checker.floats(row, &mut |column, x| {
                p = p.plus(Double::product(weights[column as usize], x));
            });
            sum += self.keep * weight * self.factors[class] * p.value() * p.value();
        });
        sum.sqrt()
    }

    fn has_constant(&self) -> bool {
        matches!(self.equations, Equations::LeastSquares { .. })
    }

    /// Refuses a plane unless its scores are proved to be near the exact answer's.
    fn near(&self, plane: usize) -> Checked<()> {
        let (weights, bias) = &self.fitted.planes[plane];
        let norm = self.score_norm(weights, *bias);
        let limit = SCORE_SHARE * norm + SCORE_FLOOR * self.total.sqrt();
        let residual = self.residual(plane);
        let theta = self.theta(weights, *bias);
        let size = length(&theta);
        let tau =
            if size > 0.0 { DEPENDENT.min(0.4 * limit / size / self.reach) } else { DEPENDENT };
        let fixed = tau * size + f64::EPSILON * length(&residual) / tau;
        let moved = self.bias_error(plane) * self.total.sqrt();
        let within = |square: f64| {
            let change = (2.0 * square.max(0.0)).sqrt() + fixed;
            let bound = 1.001 * (self.reach * change + moved);
            bound <= limit
        };
        match self.gradients(&residual, tau, within) {
            true => Ok(()),
            false => Err("the weights do not solve the equations, or the columns are too nearly dependent to tell".into()),
        }
    }

    /// Conjugate gradients on (M + τ²)z = g until the bound of gᵀ(M + τ²)⁻¹g is accepted. Steps may be
    /// rough, so they run in binary64; what is accepted is computed in full.
    fn gradients(&self, g: &[f64], tau: f64, within: impl Fn(f64) -> bool) -> bool {
        let accepted = |z: &[f64], rest: &[f64]| {
            let square = length(rest) / tau;
            within(dot(z, g) + dot(z, rest).abs() + square * square)
        };
        let mut z = vec![0.0; g.len()];
        let mut rest = g.to_vec();
        if accepted(&z, &rest) {
            return true;
        }
        let mut direction = rest.clone();
        for step in 1..=4 * g.len() + 100 {
            let image = self.rough(&direction, tau);
            let before = dot(&rest, &rest);
            let far = before / dot(&direction, &image);
            if !far.is_finite() {
                return false;
            }
            add(&mut z, far, &direction);
            add(&mut rest, -far, &image);
            let seems_right = accepted(&z, &rest);
            if seems_right || step % 50 == 0 {
                // The running remainder drifts; only the true one counts.
                let image = self.apply(&z, tau);
                rest = g.iter().zip(&image).map(|(g, image)| g - image).collect();
                if accepted(&z, &rest) {
                    return true;
                }
                direction.clone_from(&rest);
                continue;
            }
            let turn = dot(&rest, &rest) / before;
            for (d, r) in direction.iter_mut().zip(&rest) {
                *d = r + turn * *d;
            }
        }
        false
    }

    /// (M + τ²) z but for rounding.
    fn rough(&self, z: &[f64], tau: f64) -> Vec<f64> {
        let shift = usize::from(self.has_constant());
        let raw: Vec<f64> = z[shift..].iter().zip(&self.scales).map(|(z, s)| z / s).collect();
        let constant = if shift == 1 { z[0] / self.total.sqrt() } else { 0.0 };
        let base = |centre: &Vec<Double>| constant - inner(&raw, centre).value();
        let bases: Vec<f64> = self.centres.iter().map(base).collect();
        let mut columns = vec![0.0; raw.len()];
        let mut classes = vec![0.0; bases.len()];
        let mut entries = Vec::new();
        self.fitted.for_rows(self.checker, |row, class, weight| {
            entries.clear();
            let mut p = bases[class];
            self.checker.floats(row, &mut |column, x| {
                p += raw[column as usize] * x;
                entries.push((column, x));
            });
            p *= weight * self.factors[class];
            classes[class] += p;
            entries.iter().for_each(|(column, x)| columns[*column as usize] += p * x);
        });
        let pass = Pass {
            columns: columns.into_iter().map(Double::of).collect(),
            classes: classes.into_iter().map(Double::of).collect(),
            right: vec![Double::ZERO; raw.len()],
        };
        let mut image = self.coordinates(&pass, &raw);
        image.iter_mut().zip(z).for_each(|(image, z)| *image += tau * tau * z);
        image
    }

    /// (M + τ²) z.
    fn apply(&self, z: &[f64], tau: f64) -> Vec<f64> {
        let shift = usize::from(self.has_constant());
        let raw: Vec<f64> = z[shift..].iter().zip(&self.scales).map(|(z, s)| z / s).collect();
        let constant = if shift == 1 { z[0] / self.total.sqrt() } else { 0.0 };
        let base = |class: usize| Double::of(constant).minus(inner(&raw, &self.centres[class]));
        let bases: Vec<Double> = (0..self.factors.len()).map(base).collect();
        let pass = self.pass(&raw, &bases);
        let mut image = self.coordinates(&pass, &raw);
        image.iter_mut().zip(z).for_each(|(image, z)| *image += tau * tau * z);
        image
    }

    /// g = Mθ − r of a plane.
    fn residual(&self, plane: usize) -> Vec<f64> {
        let (weights, bias) = &self.fitted.planes[plane];
        let n_classes = self.factors.len();
        match self.has_constant() {
            true => {
                let target = |class: usize| match self.fitted.planes.len() {
                    1 => 2.0 * class as f64 - 1.0,
                    _ => f64::from(u8::from(class == plane)),
                };
                let base = |class: usize| Double::of(*bias).minus(Double::of(target(class)));
                let bases: Vec<Double> = (0..n_classes).map(base).collect();
                self.coordinates(&self.pass(weights, &bases), weights)
            }
            false => {
                let base = |class: usize| Double::ZERO.minus(inner(weights, &self.centres[class]));
                let bases: Vec<Double> = (0..n_classes).map(base).collect();
                let mut pass = self.pass(weights, &bases);
                // Before anything is rounded: both sides are large next to their difference.
                let (own, other) = self.pair(plane);
                for (j, right) in pass.right.iter_mut().enumerate() {
                    *right = own[j].minus(other[j]);
                }
                self.coordinates(&pass, weights)
            }
        }
    }

    /// The two means whose difference a plane of a discriminant is made of.
    fn pair(&self, plane: usize) -> (&[Double], &[Double]) {
        match self.fitted.planes.len() {
            1 => (&self.means[1], &self.means[0]),
            _ => (&self.means[plane], &self.means[self.factors.len()]),
        }
    }

    fn bias_error(&self, plane: usize) -> f64 {
        let Equations::Discriminant { bias: offset, .. } = *self.equations else { return 0.0 };
        let (weights, bias) = &self.fitted.planes[plane];
        let (own, other) = self.pair(plane);
        let middle = inner(weights, own).plus(inner(weights, other)).times(-0.5);
        let prior = match self.fitted.planes.len() {
            1 => self.priors[1].ln() - self.priors[0].ln(),
            _ => self.priors[plane].ln(),
        };
        match offset {
            Offset::Free => 0.0,
            Offset::Midpoint => middle.minus(Double::of(*bias)).value().abs(),
            Offset::Prior => middle.plus(Double::of(prior)).minus(Double::of(*bias)).value().abs(),
        }
    }

    /// θ of a plane.
    fn theta(&self, weights: &[f64], bias: f64) -> Vec<f64> {
        let mut theta = Vec::with_capacity(weights.len() + 1);
        if self.has_constant() {
            let middle = inner(weights, &self.centres[0]).plus(Double::of(bias)).value();
            theta.push(middle * self.total.sqrt());
        }
        theta.extend(weights.iter().zip(&self.scales).map(|(w, s)| w * s));
        theta
    }

    /// Sums of a pass in the coordinates θ, with Λ.
    fn coordinates(&self, pass: &Pass, raw: &[f64]) -> Vec<f64> {
        let mut out = Vec::with_capacity(raw.len() + 1);
        if self.has_constant() {
            let sum = pass.classes.iter().fold(Double::ZERO, |sum, c| sum.plus(*c));
            out.push(sum.value() / self.total.sqrt());
        }
        for (j, column) in pass.columns.iter().enumerate() {
            let mut sum = *column;
            for (class, centre) in pass.classes.iter().zip(&self.centres) {
                sum = sum.minus(centre[j].times_double(*class));
            }
            let sum = sum.times(self.keep).plus(Double::product(self.ridge, raw[j]));
            out.push(sum.minus(pass.right[j]).value() / self.scales[j]);
        }
        out
    }

    /// p = u·x + base of the row's class; Σ f p x for each column and Σ f p for each class.
    fn pass(&self, u: &[f64], bases: &[Double]) -> Pass {
        let mut columns = vec![Double::ZERO; u.len()];
        let mut classes = vec![Double::ZERO; bases.len()];
        self.fitted.for_rows(self.checker, |row, class, weight| {
            let mut p = bases[class];
            self.checker.floats(row, &mut |column, x| {
                p = p.plus(Double::product(u[column as usize], x));
            });
            let p = p.times(weight * self.factors[class]);
            classes[class] = classes[class].plus(p);
            self.checker.floats(row, &mut |column, x| {
                let sum = &mut columns[column as usize];
                *sum = sum.plus(p.times(x));
            });
        });
        Pass { columns, classes, right: vec![Double::ZERO; u.len()] }
    }

    fn score_norm(&self, weights: &[f64], bias: f64) -> f64 {
        let mut sum = 0.0;
        self.fitted.for_rows(self.checker, |row, class, weight| {
            let mut score = bias;
            self.checker.floats(row, &mut |column, x| score += weights[column as usize] * x);
            sum += weight * self.factors[class] * score * score;
        });
        sum.sqrt()
    }
}

fn inner(weights: &[f64], vector: &[Double]) -> Double {
    weights.iter().zip(vector).fold(Double::ZERO, |sum, (w, v)| sum.plus(v.times(*w)))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn length(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
}
