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
//! and with a floor φ ≤ λ for all eigenvalues λ of M, |ρ|²/(τ² + φ) is enough. Where there is a ridge or
//! shrinkage, Λ is such a floor for the columns; the constant is orthogonal to the centred ones and has
//! norm 1. The means are off by 2^-98 of X_j/√Σf, which moves no eigenvalue by more than 2^-98 d X_j over the
//! norm of the column; that is far below 2^-60 unless columns are nearly constant, and only a φ well above
//! counts.
//!
//! A poor z can only make the bound larger. Steps of conjugate gradients improve z until the bound
//! suffices; nothing is factorised. The sum z·g + z·ρ bounds from below as well, so weights that are
//! too far off are refused as soon as it says so.
//!
//! **Rounding, quickly.** Let p be the score of a row less its target, and p + η what binary64 makes of
//! it. The error of g is then Bᵀη, and |Bᵀη| in the norm of M⁻¹ is at most |η| since BᵀB ≤ M: errors of
//! scores count as what they are, whatever the condition of M. With X_j = (Σ f x_j²)^½ the triangle
//! inequality gives |η| ≤ γ_{d+16} (|base| (Σ f)^½ + Σ_j |w_j| X_j), so no row needs a bound of its own.
//! Only an error δ of the sums over columns is divided by τ. With |Σ f p x_j| ≤ |p| X_j it is below
//! 2^-60 |p| X_j in the sums of [`super::sweep`], and γ_{n} |p| X_j in the plain sums in which images
//! (M + τ²)z are computed: those are as small as g, so that relative errors of 1e-10 do no harm. All of
//! this is one pass over the rows for all planes, and one more for each step.
//!
//! **Rounding, carefully.** Where columns are nearly constant, X_j is large next to the norm of the
//! centred column, and these bounds say nothing. Then everything runs in [`Double`], with relative errors
//! of 2^-100 for each operation, so that for fewer than 2^40 values what they add to |g| and |ρ| is below
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

use super::approach::{Image, Residual, Search, Standing, UNIT, dot, vector_length};
use super::columns::{FINE_LOSS, Fine, Rough};
use super::fitted::Fitted;
use super::sweep::{BLOCK, Exact, Harvest, LONG_LOSS, Line, Rider, Short, ride, sweep};
use super::{Checked, Checker};
use crate::double::Double;
use crate::fitted::{ClassWeight, Equations, Offset, Planes};

/// A column whose centred norm is this share of its norm is nearly constant.
const NEARLY_CONSTANT: f64 = 1e-4;
impl Checker<'_> {
    pub(super) fn stationary(&self, planes: &Planes, equations: &Equations) -> Checked<String> {
        let fitted = Fitted::new(planes, self)?;
        let frame = Frame::new(self, &fitted, equations)?;
        let mut open: Vec<usize> = (0..fitted.planes.len()).collect();
        let mut reach = 1.0;
        if let Some((system, residuals)) = System::quick(&frame) {
            reach = frame.reach(&residuals);
            open = system.judge(residuals, reach, |vectors| system.images(vectors))?;
        }
        if !open.is_empty() {
            let system = System::careful(&frame);
            let residual = |plane: &usize| system.careful_residual(*plane);
            let residuals: Vec<Residual> = open.iter().map(residual).collect();
            reach = frame.reach(&residuals).max(reach);
            open = system.judge(residuals, reach, |vectors| system.careful_images(vectors))?;
        }
        match open.is_empty() {
            true => Ok("the weights solve the equations: on the rows, the scores are within 1e-6 of their norm of the exact answer's".into()),
            false => Err(FAR.into()),
        }
    }
}

const FAR: &str =
    "the weights do not solve the equations, or the columns are too nearly dependent to tell";

/// γ_k: what k roundings do to a sum.
fn gamma(k: f64) -> f64 {
    k * UNIT / (1.0 - k * UNIT)
}

/// What the claim and the weights of the classes say of the equations.
struct Frame<'a> {
    checker: &'a Checker<'a>,
    fitted: &'a Fitted<'a>,
    equations: &'a Equations,
    /// The factor of a row of each class, beside its weight.
    factors: Vec<f64>,
    /// Σ of all factors.
    total: f64,
    priors: Vec<f64>,
    shrinkage: f64,
}

impl<'a> Frame<'a> {
    fn new(
        checker: &'a Checker<'a>,
        fitted: &'a Fitted<'a>,
        equations: &'a Equations,
    ) -> Checked<Frame<'a>> {
        let weights = &fitted.class_weights;
        let all: f64 = weights.iter().sum();
        let (factors, priors, shrinkage) = match *equations {
            Equations::LeastSquares { l2, class_weight } => {
                if !(l2.is_finite() && l2 >= 0.0) {
                    return Err("l2 is below 0".into());
                }
                let factor = |w: &f64| match class_weight {
                    ClassWeight::None => 1.0,
                    ClassWeight::Balanced => all / (weights.len() as f64 * w),
                };
                (weights.iter().map(factor).collect(), Vec::new(), 0.0)
            }
            Equations::Discriminant { shrinkage, priors, .. } => {
                if !(0.0..=1.0).contains(&shrinkage) {
                    return Err("the shrinkage is not between 0 and 1".into());
                }
                let priors = fitted.priors(weights, priors);
                let factors: Vec<f64> = priors.iter().zip(weights).map(|(p, w)| p / w).collect();
                (factors, priors, shrinkage)
            }
        };
        let total: f64 = factors.iter().zip(weights).map(|(f, w)| f * w).sum();
        Ok(Frame { checker, fitted, equations, factors, total, priors, shrinkage })
    }

    fn has_constant(&self) -> bool {
        matches!(self.equations, Equations::LeastSquares { .. })
    }

    /// By how much a change within the classes may be a larger change of the scores.
    fn reach(&self, residuals: &[Residual]) -> f64 {
        match self.has_constant() {
            true => 1.0,
            false => 1.0 + 1.5 * residuals.iter().map(|r| r.within).fold(0.0, f64::max),
        }
    }

    /// What is added to w·x of a row of each class before it goes into the equations, and then to get
    /// its score.
    fn base(&self, plane: usize, class: usize) -> (f64, f64) {
        let bias = self.fitted.planes[plane].1;
        let target = match self.fitted.planes.len() {
            1 => 2.0 * class as f64 - 1.0,
            _ => f64::from(u8::from(class == plane)),
        };
        if self.has_constant() { (bias - target, target) } else { (0.0, bias) }
    }
}

/// The equations of a claim.
struct System<'a> {
    frame: &'a Frame<'a>,
    /// The centre of the rows of each class.
    centres: Vec<Vec<Double>>,
    /// Means of classes and their blend; what a discriminant is made of.
    means: Vec<Vec<Double>>,
    /// Λ in raw weights, and the share of BᵀB.
    ridge: f64,
    keep: f64,
    scales: Vec<f64>,
    /// The norms X_j of the columns as they are, and those of all together divided by the scales.
    sizes: Vec<f64>,
    size: f64,
    /// No eigenvalue of M is smaller, as far as that is known.
    floor: f64,
}

impl<'a> System<'a> {
    /// From one pass over the rows, if its rounding can be borne.
    fn quick(frame: &'a Frame<'a>) -> Option<(System<'a>, Vec<Residual>)> {
        let (checker, fitted) = (frame.checker, frame.fitted);
        let width = checker.width();
        let n_classes = frame.factors.len();
        let rider = |plane: usize| Rider {
            weights: &fitted.planes[plane].0,
            bases: (0..n_classes).map(|class| frame.base(plane, class).0).collect(),
            lifts: (0..n_classes).map(|class| frame.base(plane, class).1).collect(),
        };
        let riders: Vec<Rider<'_>> = (0..fitted.planes.len()).map(rider).collect();
        let factors = &frame.factors;
        let (harvests, (sums, squares)) = match frame.has_constant() {
            true => {
                let rough = || Rough::new(factors, width);
                let (harvests, rough) =
                    ride::<Exact, Rough>(checker, fitted, factors, &riders, rough);
                (harvests, rough.lists())
            }
            false => {
                let fine = || Fine::new(n_classes, width);
                let (harvests, fine) = ride::<Exact, Fine>(checker, fitted, factors, &riders, fine);
                (harvests, fine.lists())
            }
        };
        let mut system = System::new(frame, sums, squares);
        let spreads = system.scales.iter().zip(&system.sizes);
        if !system.size.is_finite() || spreads.clone().any(|(s, x)| *s < NEARLY_CONSTANT * x) {
            return None;
        }
        system.floor = system.least_eigenvalue();
        let system = system;
        let residual = |(plane, harvest): (usize, Harvest)| {
            let weights = &fitted.planes[plane].0;
            let length = harvest.square.sqrt();
            let bases = (0..n_classes).map(|class| frame.base(plane, class).0);
            let scores_off = system.scores_off(weights, bases);
            let mut sums_off = 1.1 * LONG_LOSS * (length + scores_off) * system.size;
            if !frame.has_constant() {
                // The means of the two sides; that of a class is off by 1/√prior of its share of X_j.
                let rarest = frame.priors.iter().copied().fold(1.0, f64::min);
                sums_off += 4.0 * FINE_LOSS * system.size / rarest.sqrt();
            }
            system.finish(plane, harvest, scores_off, sums_off)
        };
        let residuals = harvests.into_iter().enumerate().map(residual).collect();
        Some((system, residuals))
    }

    /// In numbers of twice the length.
    fn careful(frame: &'a Frame<'a>) -> System<'a> {
        let sums = |value: &(dyn Fn(f64) -> Double + Sync)| {
            let classes = frame.fitted.column_sums(frame.checker, value);
            if !frame.has_constant() {
                return classes;
            }
            let column = |j: usize| {
                let terms = classes.iter().zip(&frame.factors);
                terms.fold(Double::ZERO, |sum, (list, f)| sum.plus(list[j].times(*f)))
            };
            vec![(0..frame.checker.width()).map(column).collect()]
        };
        System::new(frame, sums(&Double::of), sums(&|x| Double::product(x, x)))
    }

    /// From sums and squares of each class, or of all rows by their factors for least squares.
    fn new(frame: &'a Frame<'a>, sums: Vec<Vec<Double>>, squares: Vec<Vec<Double>>) -> System<'a> {
        let n_classes = frame.factors.len();
        let width = frame.checker.width();
        let (weights, factors) = match frame.has_constant() {
            true => (vec![frame.total], vec![1.0]),
            false => (frame.fitted.class_weights.clone(), frame.factors.clone()),
        };
        let groups = 0..weights.len();
        let mut means: Vec<Vec<Double>> = sums
            .iter()
            .zip(&weights)
            .map(|(sum, w)| sum.iter().map(|s| s.over(Double::of(*w))).collect())
            .collect();
        // The blend of the means, each by its share of all factors.
        let blend: Vec<Double> = (0..width)
            .map(|j| {
                let term = |g: usize| sums[g][j].times(factors[g]);
                let sum = groups.clone().fold(Double::ZERO, |sum, g| sum.plus(term(g)));
                sum.over(Double::of(frame.total))
            })
            .collect();
        // Σ f (x − mean)², by Σ f x² − 2 mean Σ f x + mean² Σ f.
        let spread = |j: usize| {
            let group = |g: usize| {
                let mean = means[g][j];
                let cross = mean.times_double(sums[g][j]).times(-2.0);
                let square = mean.times_double(mean).times(weights[g]);
                squares[g][j].plus(cross).plus(square).times(factors[g])
            };
            groups.clone().fold(Double::ZERO, |sum, g| sum.plus(group(g))).value().max(0.0)
        };
        let spreads: Vec<f64> = (0..width).map(spread).collect();
        let share = frame.shrinkage;
        let (ridge, keep) = match *frame.equations {
            Equations::LeastSquares { l2, .. } => (l2, 1.0),
            _ => (share * spreads.iter().sum::<f64>() / width.max(1) as f64, 1.0 - share),
        };
        let scale = |spread: &f64| match keep * spread + ridge {
            square if square > 0.0 => square.sqrt(),
            _ => 1.0,
        };
        let scales: Vec<f64> = spreads.iter().map(scale).collect();
        let square = |j: usize| groups.clone().map(|g| factors[g] * squares[g][j].value()).sum();
        let sizes: Vec<f64> = (0..width).map(|j| f64::sqrt(square(j))).collect();
        let shares = sizes.iter().zip(&scales).map(|(x, s)| (x / s) * (x / s));
        let size = shares.sum::<f64>().sqrt();
        let centres = match frame.has_constant() {
            true => vec![blend.clone(); n_classes],
            false => means.clone(),
        };
        means.push(blend);
        System { frame, centres, means, ridge, keep, scales, sizes, size, floor: 0.0 }
    }

    /// No eigenvalue of M is smaller: what Λ gives every column, if no column is nearly constant.
    fn least_eigenvalue(&self) -> f64 {
        /// Below this rounding may be what it is.
        const LEAST: f64 = 1e-12;
        let ridge = |scale: &f64| self.ridge / (scale * scale);
        let least = self.scales.iter().map(ridge).fold(1.0, f64::min);
        if least >= LEAST { 0.99 * least } else { 0.0 }
    }

    /// A bound of the errors of w·x + base in binary64, all rows together.
    fn scores_off(&self, weights: &[f64], bases: impl Iterator<Item = f64>) -> f64 {
        let base = bases.map(f64::abs).fold(0.0, f64::max) * self.frame.total.sqrt();
        let sum: f64 = weights.iter().zip(&self.sizes).map(|(w, x)| w.abs() * x).sum();
        1.01 * gamma(weights.len() as f64 + 16.0) * (base + sum)
    }

    /// g of a plane from its sums over the rows.
    fn finish(&self, plane: usize, harvest: Harvest, scores_off: f64, sums_off: f64) -> Residual {
        let weights = &self.frame.fitted.planes[plane].0;
        let mut within = 0.0;
        let mut right = Vec::new();
        if !self.frame.has_constant() {
            // Before anything is rounded: both sides are large next to their difference.
            let (own, other) = self.pair(plane);
            right = own.iter().zip(other).map(|(own, other)| own.minus(*other)).collect();
            // Σ f p² about the means of the classes, with what rounding may have taken from it.
            let shares = self.frame.factors.iter().zip(&self.frame.fitted.class_weights);
            let means = harvest.classes.iter().zip(shares);
            let between: f64 = means.map(|(sum, (f, w))| sum.value().powi(2) / (f * w)).sum();
            let square = (harvest.square - between).max(0.0) + 1e-9 * harvest.square;
            within = (self.keep * square + self.ridge * dot(weights, weights)).sqrt();
        }
        let g = self.coordinates(&harvest, weights, &right);
        Residual { plane, g, scores_off, sums_off, norm: harvest.scores.sqrt(), within }
    }

    /// Finds out which planes are near their exact answers; refuses those that are not, and returns
    /// those about which rounding does not let anything be said.
    fn judge(
        &self,
        residuals: Vec<Residual>,
        reach: f64,
        images: impl Fn(&[(&[f64], f64)]) -> Vec<Image>,
    ) -> Checked<Vec<usize>> {
        let search = |residual: Residual| {
            let size = self.theta(residual.plane);
            let moved = self.bias_error(residual.plane);
            Search::new(residual, (size, moved, self.frame.total), reach, self.floor)
        };
        let mut searches: Vec<Search> = residuals.into_iter().map(search).collect();
        let mut open = Vec::new();
        for step in 1..=4 * self.scales.len() + 100 {
            let mut left = Vec::new();
            for search in searches {
                match search.standing() {
                    Standing::Near => {}
                    Standing::Far => return Err(FAR.into()),
                    Standing::Hopeless => open.push(search.plane),
                    Standing::Unknown => left.push(search),
                }
            }
            searches = left;
            if searches.is_empty() {
                return Ok(open);
            }
            // The running remainder drifts, so it is computed anew now and then.
            let anew = step % 50 == 0;
            let asked = |s: &'_ Search| if anew { s.z.clone() } else { s.direction.clone() };
            let vectors: Vec<(Vec<f64>, f64)> =
                searches.iter().map(|search| (asked(search), search.tau)).collect();
            let vectors: Vec<(&[f64], f64)> =
                vectors.iter().map(|(v, tau)| (&v[..], *tau)).collect();
            for (search, image) in searches.iter_mut().zip(images(&vectors)) {
                if anew { search.restart(&image) } else { search.step(&image) }
            }
        }
        open.extend(searches.iter().map(|search| search.plane));
        Ok(open)
    }

    /// (M + τ²) v for each v and τ, in plain sums.
    fn images(&self, vectors: &[(&[f64], f64)]) -> Vec<Image> {
        let frame = self.frame;
        let raws: Vec<Vec<f64>> = vectors.iter().map(|(v, _)| self.raw(v)).collect();
        let rider = |k: usize| {
            let constant = self.constant(vectors[k].0);
            let base = |centre: &Vec<Double>| constant - inner(&raws[k], centre).value();
            let bases: Vec<f64> = self.centres.iter().map(base).collect();
            Rider { weights: &raws[k], lifts: vec![0.0; bases.len()], bases }
        };
        let riders: Vec<Rider<'_>> = (0..raws.len()).map(rider).collect();
        let (harvests, ()) =
            ride::<Short, ()>(frame.checker, frame.fitted, &frame.factors, &riders, || ());
        let additions = (BLOCK + frame.checker.rows.len() / BLOCK) as f64 + 8.0;
        let columns = vectors.first().map_or(0, |(v, _)| v.len()) as f64;
        let image = |(k, harvest): (usize, Harvest)| {
            let (v, tau) = vectors[k];
            let scores_off = self.scores_off(&raws[k], riders[k].bases.iter().copied());
            let length = harvest.square.sqrt() + scores_off;
            let sums_off = 1.1 * gamma(additions) * length * self.size;
            // The trace bounds every eigenvalue of M.
            let error = (1.1 * columns).sqrt() * scores_off
                + sums_off
                + 4.0 * columns * UNIT * vector_length(v);
            self.image(v, tau, &raws[k], &harvest, error)
        };
        harvests.into_iter().enumerate().map(image).collect()
    }

    /// The same in numbers of twice the length.
    fn careful_images(&self, vectors: &[(&[f64], f64)]) -> Vec<Image> {
        let image = |&(v, tau): &(&[f64], f64)| {
            let raw = self.raw(v);
            let constant = Double::of(self.constant(v));
            let base = |centre: &Vec<Double>| constant.minus(inner(&raw, centre));
            let bases: Vec<Double> = self.centres.iter().map(base).collect();
            let harvest = self.pass(&raw, &bases, &vec![0.0; bases.len()]);
            self.image(v, tau, &raw, &harvest, f64::EPSILON * vector_length(v))
        };
        vectors.iter().map(image).collect()
    }

    fn image(&self, v: &[f64], tau: f64, raw: &[f64], harvest: &Harvest, error: f64) -> Image {
        let mut values = self.coordinates(harvest, raw, &[]);
        values.iter_mut().zip(v).for_each(|(image, v)| *image += tau * tau * v);
        Image { values, error }
    }

    /// Raw weights of coordinates, and what they say of the constant.
    fn raw(&self, v: &[f64]) -> Vec<f64> {
        let columns = &v[usize::from(self.frame.has_constant())..];
        columns.iter().zip(&self.scales).map(|(v, s)| v / s).collect()
    }

    fn constant(&self, v: &[f64]) -> f64 {
        if self.frame.has_constant() { v[0] / self.frame.total.sqrt() } else { 0.0 }
    }

    /// g = Mθ − r of a plane in numbers of twice the length.
    fn careful_residual(&self, plane: usize) -> Residual {
        let (weights, bias) = &self.frame.fitted.planes[plane];
        let n_classes = self.frame.factors.len();
        let base = |class: usize| match self.frame.has_constant() {
            true => Double::of(*bias).minus(Double::of(self.frame.base(plane, class).1)),
            false => Double::ZERO.minus(inner(weights, &self.centres[class])),
        };
        let bases: Vec<Double> = (0..n_classes).map(base).collect();
        let lift = |class: usize| match self.frame.has_constant() {
            true => self.frame.base(plane, class).1,
            false => bias - bases[class].value(),
        };
        let lifts: Vec<f64> = (0..n_classes).map(lift).collect();
        self.finish(plane, self.pass(weights, &bases, &lifts), 0.0, 0.0)
    }

    /// The two means whose difference a plane of a discriminant is made of.
    fn pair(&self, plane: usize) -> (&[Double], &[Double]) {
        match self.frame.fitted.planes.len() {
            1 => (&self.means[1], &self.means[0]),
            _ => (&self.means[plane], &self.means[self.frame.factors.len()]),
        }
    }

    fn bias_error(&self, plane: usize) -> f64 {
        let Equations::Discriminant { bias: offset, .. } = *self.frame.equations else {
            return 0.0;
        };
        let (weights, bias) = &self.frame.fitted.planes[plane];
        let (own, other) = self.pair(plane);
        let middle = inner(weights, own).plus(inner(weights, other)).times(-0.5);
        let priors = &self.frame.priors;
        let prior = match self.frame.fitted.planes.len() {
            1 => priors[1].ln() - priors[0].ln(),
            _ => priors[plane].ln(),
        };
        match offset {
            Offset::Free => 0.0,
            Offset::Midpoint => middle.minus(Double::of(*bias)).value().abs(),
            Offset::Prior => middle.plus(Double::of(prior)).minus(Double::of(*bias)).value().abs(),
        }
    }

    /// |θ| of a plane.
    fn theta(&self, plane: usize) -> f64 {
        let (weights, bias) = &self.frame.fitted.planes[plane];
        let mut theta: Vec<f64> = weights.iter().zip(&self.scales).map(|(w, s)| w * s).collect();
        if self.frame.has_constant() {
            let middle = inner(weights, &self.centres[0]).plus(Double::of(*bias)).value();
            theta.push(middle * self.frame.total.sqrt());
        }
        vector_length(&theta)
    }

    /// Sums over the rows in the coordinates θ, with Λ, less the right side if there is one.
    fn coordinates(&self, harvest: &Harvest, raw: &[f64], right: &[Double]) -> Vec<f64> {
        let mut out = Vec::with_capacity(raw.len() + 1);
        let all = harvest.classes.iter().fold(Double::ZERO, |sum, c| sum.plus(*c));
        // One centre for all classes takes one product.
        let parts = match self.frame.has_constant() {
            true => {
                out.push(all.value() / self.frame.total.sqrt());
                &[all][..]
            }
            false => &harvest.classes[..],
        };
        for (j, column) in harvest.columns.iter().enumerate() {
            let mut sum = *column;
            for (part, centre) in parts.iter().zip(&self.centres) {
                sum = sum.minus(centre[j].times_double(*part));
            }
            let mut sum = sum.times(self.keep).plus(Double::product(self.ridge, raw[j]));
            if let Some(right) = right.get(j) {
                sum = sum.minus(*right);
            }
            out.push(sum.value() / self.scales[j]);
        }
        out
    }

    /// p = u·x + base of the row's class in numbers of twice the length; Σ f p x and the rest.
    fn pass(&self, u: &[f64], bases: &[Double], lifts: &[f64]) -> Harvest {
        let frame = self.frame;
        let start = || Harvest {
            columns: vec![Double::ZERO; u.len()],
            classes: vec![Double::ZERO; bases.len()],
            square: 0.0,
            scores: 0.0,
        };
        let visit = |sums: &mut Harvest, line: &Line<'_>| {
            let mut p = bases[line.class];
            line.for_each(|j, x| p = p.plus(Double::product(u[j], x)));
            let factor = line.weight * frame.factors[line.class];
            let score = p.value() + lifts[line.class];
            sums.square += factor * p.value() * p.value();
            sums.scores += factor * score * score;
            let q = p.times(factor);
            sums.classes[line.class] = sums.classes[line.class].plus(q);
            line.for_each(|j, x| sums.columns[j] = sums.columns[j].plus(q.times(x)));
        };
        let mut all = start();
        let merge = |next: Harvest| {
            let add = |mine: &mut [Double], theirs: &[Double]| {
                mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine = mine.plus(*theirs));
            };
            add(&mut all.columns, &next.columns);
            add(&mut all.classes, &next.classes);
            all.square += next.square;
            all.scores += next.scores;
        };
        sweep(frame.checker, frame.fitted, (2 * u.len(), BLOCK), start, visit, merge);
        all
    }
}

fn inner(weights: &[f64], vector: &[Double]) -> Double {
    weights.iter().zip(vector).fold(Double::ZERO, |sum, (w, v)| sum.plus(v.times(*w)))
}
