//! The exact answer of the equations of a fitted model, in whole numbers, where the data is small enough.
//!
//! Column j of φ(x) is c_j X_j with whole numbers X_j and c_j = 2^a 5^b, values by their reading. With the
//! sums W, s = Σ ω X and G = Σ ω X Xᵀ of each class the equations of the module `stationary` are whole
//! numbers, in u_j = c_j w_j (and the bias):
//!
//! ```text
//! least squares   H = Σ f (1, X)(1, X)ᵀ,     (H + ridge) (b, u) = Σ f t (1, X)
//! discriminant    N = Σ f (X − m)(X − m)ᵀ,   ((1 − a) N + ridge) u = difference of means
//! ```
//!
//! [`Elimination`] solves them and finds their rank. With Δ the difference of a plane from the answer, the
//! scores of all rows differ by (Δᵀ H Δ)^½, or by (Δᵀ N Δ + Σ_c π_c (Δ·m_c + β)²)^½ with β the difference of
//! the biases: exact up to the last rounding. Where columns depend on each other, all answers have these
//! scores.

use super::fitted::{Fitted, SCORE_FLOOR, SCORE_SHARE};
use super::normal::{Normal, factors};
use super::whole::{Sums, Unit, bits, common, inner};
use super::{Checked, Checker, plus};
use crate::basis::Products;
use crate::elimination::Elimination;
use crate::exact::{Scaled, approximate};
use crate::file::ReadingField;
use crate::fitted::{Equations, Offset, Planes};
use crate::rows::Rows;
use dashu_int::IBig;

/// What the exact answer of equations says of planes that were found by other means.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExactAnswer {
    /// Columns that are independent of each other and of the constant; none if a ridge or shrinkage hides it.
    pub rank: Option<usize>,
    /// Whether there is an answer.
    pub has_answer: bool,
    /// How far the scores of the planes are from those of the answer: at most 1 as a claim `stationary` needs
    /// it. Infinite if that cannot be told.
    pub distance: f64,
    /// Weights and bias of each plane of the answer, rounded to binary64, the shortest weights if there are
    /// many answers; none if there is no answer, or no number for it. A bias of which nothing is claimed is 0.
    pub rounded: Option<Vec<(Vec<f64>, f64)>>,
    /// How far the scores of the rounded planes are.
    pub rounded_distance: f64,
}

/// Solves the equations of a fitted model in whole numbers; none if that takes too much work, or if the planes
/// do not fit the rows.
pub fn exact_answer(
    planes: &Planes,
    equations: &Equations,
    rows: &dyn Rows,
    reading: &ReadingField,
) -> Option<ExactAnswer> {
    let products = Products::new(rows.basis(), rows.width()).ok()?;
    let checker = Checker { rows, products, reading, bias: true, threads: 1, elsewhere: None };
    let fitted = Fitted::new(planes, &checker).ok()?;
    let answer = Answer::new(&checker, &fitted, equations).ok()??;
    let count = 0..fitted.planes.len();
    let far = |k: usize, weights: &[f64], bias: f64| {
        answer.distance(k, weights, bias).map_or(f64::INFINITY, |distance| distance.share())
    };
    let given = |k: usize| far(k, &fitted.planes[k].0, fitted.planes[k].1);
    let rounded: Option<Vec<(Vec<f64>, f64)>> = count.clone().map(|k| answer.rounded(k)).collect();
    let all_rounded = |planes: &Vec<(Vec<f64>, f64)>| {
        count.clone().map(|k| far(k, &planes[k].0, planes[k].1)).fold(0.0, f64::max)
    };
    Some(ExactAnswer {
        rank: answer.rank(),
        has_answer: count.clone().all(|k| answer.solved.answer(k).is_some()),
        distance: count.clone().map(given).fold(0.0, f64::max),
        rounded_distance: rounded.as_ref().map_or(f64::INFINITY, all_rounded),
        rounded,
    })
}

/// Columns that depend on others, of which the shortest answer is found.
const MOST_NULL: usize = 64;

/// The answer of the equations.
pub(super) struct Answer<'a> {
    equations: &'a Equations,
    planes: usize,
    sums: Sums,
    /// f is a class's multiplier times the row's weight, divided by `divisor`.
    multipliers: Vec<IBig>,
    divisor: IBig,
    /// H or N times the common factor of its fractions, as an upper triangle.
    plain: Vec<Vec<IBig>>,
    /// Means of the classes and of all rows times `whole`, of a discriminant.
    means: Vec<Vec<IBig>>,
    whole: IBig,
    /// ln of the priors.
    logs: Vec<f64>,
    solved: Elimination,
}

/// How far a plane is from the answer.
pub(super) struct Distance {
    /// The norm of the change of the scores, and what it may be.
    change: f64,
    limit: f64,
}

impl Distance {
    /// The change as a share of what it may be; infinite if it is not a number.
    fn share(&self) -> f64 {
        let share = 1.001 * self.change / self.limit;
        if share.is_nan() { f64::INFINITY } else { share }
    }

    pub(super) fn is_near(&self) -> bool {
        self.share() <= 1.0
    }
}

impl<'a> Answer<'a> {
    /// None if it takes too much work.
    pub(super) fn new(
        checker: &Checker<'_>,
        fitted: &Fitted<'_>,
        equations: &'a Equations,
    ) -> Checked<Option<Answer<'a>>> {
        let Some(sums) = Sums::new(checker, fitted)? else { return Ok(None) };
        let (multipliers, divisor) = factors(equations, &sums.weights);
        let planes = fitted.planes.len();
        let normal = Normal::new(&sums, &multipliers, &divisor, equations, planes);
        let Some(solved) = normal.eliminate() else { return Ok(None) };
        let Normal { plain, means, whole, .. } = normal;
        let log = |(f, w): (&IBig, &IBig)| approximate(&Scaled::whole(f * w), &divisor).ln();
        let logs = match equations {
            Equations::LeastSquares { .. } => Vec::new(),
            Equations::Discriminant { .. } => {
                multipliers.iter().zip(&sums.weights).map(log).collect()
            }
        };
        Ok(Some(Answer {
            equations,
            planes,
            sums,
            multipliers,
            divisor,
            plain,
            means,
            whole,
            logs,
            solved,
        }))
    }

    /// Columns that are independent of each other and of the constant; none if a ridge hides it.
    pub(super) fn rank(&self) -> Option<usize> {
        match *self.equations {
            Equations::LeastSquares { l2, .. } => (l2 == 0.0).then(|| self.solved.pivots.len() - 1),
            Equations::Discriminant { shrinkage, .. } => {
                (shrinkage == 0.0).then_some(self.solved.pivots.len())
            }
        }
    }

    /// How far the scores of a plane are from those of the answer; none if there is no answer.
    pub(super) fn distance(&self, plane: usize, weights: &[f64], bias: f64) -> Option<Distance> {
        let answer = self.solved.answer(plane)?;
        let u: Vec<Scaled> =
            weights.iter().zip(&self.sums.units).map(|(w, c)| c.times(*w)).collect();
        let bias = Scaled::binary64(bias);
        Some(match *self.equations {
            Equations::LeastSquares { .. } => {
                let theta: Vec<Scaled> = [bias].into_iter().chain(u).collect();
                let scale = |square: Scaled, divisor: &IBig| {
                    let two = square.two + self.sums.weight_two;
                    size(&Scaled { two, ..square }, &(divisor * &self.divisor)).sqrt()
                };
                let square = self.square_of(&self.off(&theta, &answer));
                let denominator = &self.solved.denominator;
                let total = scale(Scaled::whole(self.plain[0][0].clone()), &IBig::ONE);
                let norm = scale(self.square_of(&theta), &IBig::ONE);
                Distance {
                    change: scale(square, &(denominator * denominator)),
                    limit: SCORE_SHARE * norm + SCORE_FLOOR * total,
                }
            }
            Equations::Discriminant { bias: offset, .. } => {
                self.discriminant(plane, &u, &bias, &answer, offset)
            }
        })
    }

    fn discriminant(
        &self,
        plane: usize,
        u: &[Scaled],
        bias: &Scaled,
        answer: &[IBig],
        offset: Offset,
    ) -> Distance {
        let denominator = &self.solved.denominator;
        let off = self.off(u, answer);
        let fine = &self.whole * denominator;
        // The difference of the biases, times `fine`.
        let moved = match offset {
            // Nothing is claimed: the scores are compared about the mean of all rows.
            Offset::Free => inner(&off, &self.means[self.means.len() - 1]).times(&IBig::from(-1)),
            Offset::Midpoint | Offset::Prior => {
                let answer: Vec<Scaled> = answer.iter().map(|y| Scaled::whole(y.clone())).collect();
                let middle = self.middle(plane, &answer).times(&IBig::from(-1));
                let log = Scaled::binary64(-self.log(plane, offset));
                plus(&plus(bias, &log).times(&fine), &middle)
            }
        };
        // Σ π (d·m + b)² over the classes, with d and b times `by`, and the spread within the classes.
        let norm = |d: &[Scaled], b: &Scaled, by: &IBig| {
            let spread = size(&self.square_of(d), &(by * by * &self.whole));
            let class = |(class, mean): (usize, &Vec<IBig>)| {
                let score = plus(&inner(d, mean), b);
                let prior = &self.multipliers[class] * &self.sums.weights[class];
                let by = by * &self.whole;
                size(&score.product(&score).times(&prior), &(&by * &by * &self.divisor))
            };
            let classes = self.means.iter().take(self.sums.weights.len()).enumerate();
            (spread + classes.map(class).sum::<f64>()).sqrt()
        };
        // A logarithm is off by a unit or two in the last place.
        let rounding = 1e-15 * (1.0 + self.log(plane, offset).abs());
        Distance {
            change: norm(&off, &moved, denominator) + rounding,
            limit: SCORE_SHARE * norm(u, &bias.times(&self.whole), &IBig::ONE) + SCORE_FLOOR,
        }
    }

    /// −½ u·(sum of the two means) times `whole`.
    fn middle(&self, plane: usize, u: &[Scaled]) -> Scaled {
        let (own, other) = match self.planes {
            1 => (&self.means[1], &self.means[0]),
            _ => (&self.means[plane], &self.means[self.planes]),
        };
        let sum = plus(&inner(u, own), &inner(u, other)).times(&IBig::from(-1));
        Scaled { two: sum.two - 1, ..sum }
    }

    fn log(&self, plane: usize, offset: Offset) -> f64 {
        match (offset, self.planes) {
            (Offset::Prior, 1) => self.logs[1] - self.logs[0],
            (Offset::Prior, _) => self.logs[plane],
            _ => 0.0,
        }
    }

    /// The answer as the nearest binary64, and the best bias beside them: the shortest answer if there are
    /// many. None if there is no answer, or no number for it.
    pub(super) fn rounded(&self, plane: usize) -> Option<(Vec<f64>, f64)> {
        let (answer, denominator) = self.shortest(self.solved.answer(plane)?)?;
        let constant = answer.len() - self.sums.units.len();
        let weight = |(y, unit): (&IBig, &Unit)| {
            let number = Scaled { m: y.clone(), two: -unit.two, five: -unit.five };
            approximate(&number, &denominator)
        };
        let weights: Vec<f64> =
            answer[constant..].iter().zip(&self.sums.units).map(weight).collect();
        if weights.iter().any(|w| !w.is_finite()) {
            return None;
        }
        let u: Vec<Scaled> =
            weights.iter().zip(&self.sums.units).map(|(w, c)| c.times(*w)).collect();
        let bias = match *self.equations {
            Equations::LeastSquares { .. } => {
                let first = &self.plain[0];
                let target = match self.planes {
                    1 => self.count(1) - self.count(0),
                    _ => self.count(plane),
                };
                let scored = inner(&u, &first[1..]).times(&IBig::from(-1));
                approximate(&plus(&Scaled::whole(target), &scored), &first[0])
            }
            Equations::Discriminant { bias: Offset::Free, .. } => 0.0,
            Equations::Discriminant { bias: offset, .. } => {
                let log = Scaled::binary64(self.log(plane, offset)).times(&self.whole);
                approximate(&plus(&self.middle(plane, &u), &log), &self.whole)
            }
        };
        bias.is_finite().then_some((weights, bias))
    }

    /// Σ f of a class, times the divisor.
    fn count(&self, class: usize) -> IBig {
        &self.multipliers[class] * &self.sums.weights[class]
    }

    /// The answer with the shortest w, and its denominator.
    fn shortest(&self, answer: Vec<IBig>) -> Option<(Vec<IBig>, IBig)> {
        let denominator = self.solved.denominator.clone();
        let null = self.solved.null();
        if null.is_empty() {
            return Some((answer, denominator));
        }
        if null.len() > MOST_NULL {
            return None;
        }
        // w = u/c, squared, times a common factor that makes it whole.
        let squares: Vec<Scaled> = self.sums.units.iter().map(|c| c.power(-2)).collect();
        let (squares, ..) = common(&squares);
        let constant = answer.len() - squares.len();
        let along = |a: &[IBig], b: &[IBig]| {
            let columns = a[constant..].iter().zip(&b[constant..]).zip(&squares);
            columns.fold(IBig::ZERO, |sum, ((a, b), c)| sum + a * b * c)
        };
        let row = |k: usize| null[k..].iter().map(|other| along(&null[k], other)).collect();
        let right = null.iter().map(|vector| -along(vector, &answer)).collect();
        let solved = Elimination::new((0..null.len()).map(row).collect(), vec![right]);
        let steps = solved.answer(0)?;
        let mut shortest: Vec<IBig> = answer.iter().map(|y| y * &solved.denominator).collect();
        for (step, vector) in steps.iter().zip(&null) {
            shortest.iter_mut().zip(vector).for_each(|(y, n)| *y += step * n);
        }
        Some((shortest, denominator * solved.denominator))
    }

    /// A vector less the answer, times the denominator.
    fn off(&self, vector: &[Scaled], answer: &[IBig]) -> Vec<Scaled> {
        let minus = |(x, y): (&Scaled, &IBig)| {
            plus(&x.times(&self.solved.denominator), &Scaled::whole(-y.clone()))
        };
        vector.iter().zip(answer).map(minus).collect()
    }

    /// vᵀ P v with P the plain matrix.
    fn square_of(&self, vector: &[Scaled]) -> Scaled {
        let (v, two, five) = common(vector);
        let mut sum = IBig::ZERO;
        for (i, row) in self.plain.iter().enumerate() {
            let beside: IBig =
                row[1..].iter().zip(&v[i + 1..]).fold(IBig::ZERO, |sum, (a, v)| sum + a * v);
            sum += (&row[0] * &v[i] + (beside << 1)) * &v[i];
        }
        Scaled { m: sum, two: 2 * two, five: 2 * five }
    }
}

/// number/divisor, neither below 0; what is too small for binary64 is its smallest number.
fn size(number: &Scaled, divisor: &IBig) -> f64 {
    let five = f64::from(number.five) * 5f64.log2();
    let top = bits(&number.m) as f64 + f64::from(number.two) + five - bits(divisor) as f64;
    match number.m != IBig::ZERO && top < -800.0 {
        true => f64::MIN_POSITIVE,
        false => approximate(number, divisor),
    }
}
