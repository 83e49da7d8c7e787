//! The equations of a `stationary` claim: residuals of planes and images of directions, from the rows.
//!
//! The module `stationary` has the bounds that this computes.

use super::Checked;
use super::approach::{Image, Residual, Search, Standing, UNIT, dot, vector_length};
use super::columns::{FINE_LOSS, Fine, Rough};
use super::elsewhere::{Reader, Sums};
use super::floor::{Coordinates, floor};
use super::stationary::{FAR, Frame, gamma};
use super::sweep::{BLOCK, Exact, Harvest, Kind, LONG_LOSS, Line, Rider, Short, ride, sweep};
use crate::double::Double;
use crate::fitted::{Equations, Offset};

/// A column whose centred norm is this share of its norm is nearly constant.
const NEARLY_CONSTANT: f64 = 1e-4;

/// What planes bring home, with sums and squares of columns.
type Ridden = (Vec<Harvest>, (Vec<Vec<Double>>, Vec<Vec<Double>>));

/// The equations of a claim.
pub(super) struct System<'a> {
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
    pub(super) floor: f64,
}

impl<'a> System<'a> {
    /// From one pass over the rows with sums of some kind, if its rounding can be borne.
    pub(super) fn quick<K: Kind>(
        frame: &'a Frame<'a>,
    ) -> Checked<Option<(System<'a>, Vec<Residual>)>> {
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
        let compute = || {
            Ok(match frame.has_constant() {
                true => {
                    let rough = || Rough::new(factors, width);
                    let (harvests, rough) =
                        ride::<K, Rough>(checker, fitted, factors, &riders, rough);
                    (harvests, rough.lists())
                }
                false => {
                    let is_shrunk = frame.shrinkage != 0.0;
                    let fine = || Fine::new(n_classes, width, is_shrunk);
                    let (harvests, fine) = ride::<K, Fine>(checker, fitted, factors, &riders, fine);
                    (harvests, fine.lists())
                }
            })
        };
        let pack = |(harvests, (sums, squares)): Ridden| {
            let all = Harvest::pack_all(harvests);
            sums.into_iter().chain(squares).fold(all, Sums::long)
        };
        let groups = if frame.has_constant() { 1 } else { n_classes };
        let unpack = |reader: &mut Reader| {
            let harvests = Harvest::unpack_all::<K>(reader, riders.len(), width, n_classes)?;
            let mut lists = || (0..groups).map(|_| reader.long(width)).collect::<Option<Vec<_>>>();
            Some((harvests, (lists()?, lists()?)))
        };
        let (harvests, (sums, squares)) = checker.pass(compute, pack, unpack)?;
        let system = System::new(frame, sums, squares);
        let spreads = system.scales.iter().zip(&system.sizes);
        if !system.size.is_finite() || spreads.clone().any(|(s, x)| *s < NEARLY_CONSTANT * x) {
            return Ok(None);
        }
        let residual = |(plane, harvest): (usize, Harvest)| {
            let weights = &fitted.planes[plane].0;
            let length = harvest.square.sqrt();
            let bases = (0..n_classes).map(|class| frame.base(plane, class).0);
            let scores_off = system.scores_off(weights, bases);
            let mut sums_off = 1.1 * harvest.loss * (length + scores_off) * system.size;
            // What rounded values move, scores and sums.
            let off = frame.reading();
            let mut reading =
                (off * system.length(weights), 1.1 * off * (length + scores_off) * system.size);
            if !frame.has_constant() {
                // The means of the two sides; that of a class is off by 1/√prior of its share of X_j.
                let rarest = frame.priors.iter().copied().fold(1.0, f64::min).sqrt();
                sums_off += 4.0 * FINE_LOSS * system.size / rarest;
                reading = (3.0 * reading.0 / rarest, reading.1 + 4.0 * off * system.size / rarest);
            }
            Residual { reading, ..system.finish(plane, harvest, scores_off, sums_off) }
        };
        let residuals = harvests.into_iter().enumerate().map(residual).collect();
        Ok(Some((system, residuals)))
    }

    /// In numbers of twice the length.
    pub(super) fn careful(frame: &'a Frame<'a>) -> Checked<System<'a>> {
        let sums = |value: &(dyn Fn(f64) -> Double + Sync)| -> Checked<Vec<Vec<Double>>> {
            let classes = frame.fitted.column_sums(frame.checker, value)?;
            if !frame.has_constant() {
                return Ok(classes);
            }
            let column = |j: usize| {
                let terms = classes.iter().zip(&frame.factors);
                terms.fold(Double::ZERO, |sum, (list, f)| sum.plus(list[j].times(*f)))
            };
            Ok(vec![(0..frame.checker.width()).map(column).collect()])
        };
        Ok(System::new(frame, sums(&Double::of)?, sums(&|x| Double::product(x, x))?))
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

    /// No eigenvalue of M is smaller: what Λ gives every column, if no column is nearly constant, or else
    /// what the rows show.
    pub(super) fn least_eigenvalue(&self) -> Checked<f64> {
        /// Below this rounding may be what it is.
        const LEAST: f64 = 1e-12;
        let ridge = |scale: &f64| self.ridge / (scale * scale);
        let least = self.scales.iter().map(ridge).fold(1.0, f64::min);
        if least >= LEAST {
            return Ok(0.99 * least);
        }
        let frame = self.frame;
        let coordinates = Coordinates {
            factors: &frame.factors,
            constant: if frame.has_constant() { frame.total } else { 0.0 },
            centres: &self.centres,
            scales: &self.scales,
            sizes: &self.sizes,
            keep: self.keep,
            ridge: self.ridge,
            off: frame.reading(),
        };
        floor(frame.checker, frame.fitted, &coordinates)
    }

    /// Σ_j |w_j| X_j.
    fn length(&self, weights: &[f64]) -> f64 {
        weights.iter().zip(&self.sizes).map(|(w, x)| w.abs() * x).sum()
    }

    /// A bound of the errors of w·x + base in binary64, all rows together.
    fn scores_off(&self, weights: &[f64], bases: impl Iterator<Item = f64>) -> f64 {
        let base = bases.map(f64::abs).fold(0.0, f64::max) * self.frame.total.sqrt();
        1.01 * gamma(weights.len() as f64 + 16.0) * (base + self.length(weights))
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
        let reading = (0.0, 0.0);
        Residual { plane, g, scores_off, sums_off, reading, norm: harvest.scores.sqrt(), within }
    }

    /// Whether all planes are near their exact answers; refuses if one is not.
    pub(super) fn are_near(&self, frame: &Frame<'_>, residuals: Vec<Residual>) -> Checked<bool> {
        let reach = frame.reach(&residuals);
        Ok(self.judge(residuals, reach, |vectors| self.images(vectors))?.is_empty())
    }

    /// Finds out which planes are near their exact answers; refuses those that are not, and returns
    /// those about which rounding does not let anything be said.
    pub(super) fn judge(
        &self,
        residuals: Vec<Residual>,
        reach: f64,
        images: impl Fn(&[(&[f64], f64)]) -> Checked<Vec<Image>>,
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
            for (search, image) in searches.iter_mut().zip(images(&vectors)?) {
                if anew { search.restart(&image) } else { search.step(&image) }
            }
        }
        open.extend(searches.iter().map(|search| search.plane));
        Ok(open)
    }

    /// (M + τ²) v for each v and τ, in plain sums.
    pub(super) fn images(&self, vectors: &[(&[f64], f64)]) -> Checked<Vec<Image>> {
        let frame = self.frame;
        let raws: Vec<Vec<f64>> = vectors.iter().map(|(v, _)| self.raw(v)).collect();
        let rider = |k: usize| {
            let constant = self.constant(vectors[k].0);
            let base = |centre: &Vec<Double>| constant - inner(&raws[k], centre).value();
            let bases: Vec<f64> = self.centres.iter().map(base).collect();
            Rider { weights: &raws[k], lifts: vec![0.0; bases.len()], bases }
        };
        let riders: Vec<Rider<'_>> = (0..raws.len()).map(rider).collect();
        let compute =
            || Ok(ride::<Short, ()>(frame.checker, frame.fitted, &frame.factors, &riders, || ()).0);
        let (width, n_classes) = (frame.checker.width(), frame.factors.len());
        let unpack = |reader: &mut Reader| {
            Harvest::unpack_all::<Short>(reader, riders.len(), width, n_classes)
        };
        let harvests = frame.checker.pass(compute, Harvest::pack_all, unpack)?;
        let columns = vectors.first().map_or(0, |(v, _)| v.len()) as f64;
        let image = |(k, harvest): (usize, Harvest)| {
            let (v, tau) = vectors[k];
            let scores_off = self.scores_off(&raws[k], riders[k].bases.iter().copied());
            let length = harvest.square.sqrt() + scores_off;
            let sums_off = 1.1 * harvest.loss * length * self.size;
            // The trace bounds every eigenvalue of M.
            let error = (1.1 * columns).sqrt() * scores_off
                + sums_off
                + 4.0 * columns * UNIT * vector_length(v);
            self.image(v, tau, &raws[k], &harvest, error)
        };
        Ok(harvests.into_iter().enumerate().map(image).collect())
    }

    /// The same in numbers of twice the length.
    pub(super) fn careful_images(&self, vectors: &[(&[f64], f64)]) -> Checked<Vec<Image>> {
        let image = |&(v, tau): &(&[f64], f64)| {
            let raw = self.raw(v);
            let constant = Double::of(self.constant(v));
            let base = |centre: &Vec<Double>| constant.minus(inner(&raw, centre));
            let bases: Vec<Double> = self.centres.iter().map(base).collect();
            let harvest = self.pass(&raw, &bases, &vec![0.0; bases.len()])?;
            Ok(self.image(v, tau, &raw, &harvest, f64::EPSILON * vector_length(v)))
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
    pub(super) fn careful_residual(&self, plane: usize) -> Checked<Residual> {
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
        Ok(self.finish(plane, self.pass(weights, &bases, &lifts)?, 0.0, 0.0))
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
    fn pass(&self, u: &[f64], bases: &[Double], lifts: &[f64]) -> Checked<Harvest> {
        let compute = || Ok(self.pass_at_hand(u, bases, lifts));
        let pack = |harvest| Harvest::pack_all(vec![harvest]);
        let unpack = |reader: &mut Reader| {
            Harvest::unpack_all::<Exact>(reader, 1, u.len(), bases.len())?.pop()
        };
        self.frame.checker.pass(compute, pack, unpack)
    }

    fn pass_at_hand(&self, u: &[f64], bases: &[Double], lifts: &[f64]) -> Harvest {
        let frame = self.frame;
        let start = || Harvest {
            columns: vec![Double::ZERO; u.len()],
            classes: vec![Double::ZERO; bases.len()],
            square: 0.0,
            scores: 0.0,
            loss: LONG_LOSS,
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
