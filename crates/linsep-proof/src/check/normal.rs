//! The equations of a fitted model in whole numbers.
//!
//! With f = multiplier · weight / divisor of the rows of a class, W, s and G the sums of [`Sums`] and C the lowest
//! common multiple of all W,
//!
//! ```text
//! least squares   divisor · H = Σ_c multiplier (W, s; s, G)
//! discriminant    divisor · C · N = Σ_c multiplier (C G − (C/W) s sᵀ)
//! ```
//!
//! and the ridge, which is diagonal in w = u/c, is divided by c² on the way to u. All numbers are whole ones times
//! powers of 2 and 5, so that one power of each makes the equations whole.

use super::plus;
use super::whole::{Sums, Unit, bits};
use crate::elimination::{Elimination, entry};
use crate::exact::{Scaled, power_of_five};
use crate::fitted::{ClassWeight, Equations, Priors};
use dashu_int::IBig;
use dashu_int::ops::Gcd;

/// Products of words of 64 bits that are worth an exact answer: about a second.
pub(super) const MOST_WORK: f64 = 4e8;

/// (lead · plain + ridge) u = right for each right side.
pub(super) struct Normal {
    /// divisor · H, or divisor · C · N, as an upper triangle.
    pub(super) plain: Vec<Vec<IBig>>,
    lead: Scaled,
    ridge: Vec<Scaled>,
    rights: Vec<Vec<IBig>>,
    /// Means of the classes and of all rows times `whole`, of a discriminant.
    pub(super) means: Vec<Vec<IBig>>,
    pub(super) whole: IBig,
}

impl Normal {
    /// With the factors of the classes, for as many planes as there are.
    pub(super) fn new(
        sums: &Sums,
        multipliers: &[IBig],
        divisor: &IBig,
        equations: &Equations,
        planes: usize,
    ) -> Normal {
        match *equations {
            Equations::LeastSquares { l2, .. } => {
                let l2 = Scaled::binary64(l2).times(divisor);
                Normal::least_squares(sums, multipliers, &l2, planes)
            }
            Equations::Discriminant { shrinkage, .. } => {
                let mut normal = Normal::within(sums, multipliers, divisor, planes);
                if shrinkage != 0.0 {
                    normal.shrink(sums, &Scaled::binary64(shrinkage));
                }
                normal
            }
        }
    }

    fn least_squares(sums: &Sums, multipliers: &[IBig], l2: &Scaled, planes: usize) -> Normal {
        let width = sums.units.len();
        // Σ f of a class, or Σ f X_j.
        let of_class = |class: usize, j: Option<usize>| {
            let value = j.map_or(&sums.weights[class], |j| &sums.sums[class][j]);
            &multipliers[class] * value
        };
        let constant_and_columns = || [None].into_iter().chain((0..width).map(Some));
        // One plane has the targets −1 and +1.
        let right = |plane: usize| {
            let target = |j: Option<usize>| match planes {
                1 => of_class(1, j) - of_class(0, j),
                _ => of_class(plane, j),
            };
            constant_and_columns().map(target).collect()
        };
        let all = |j: Option<usize>| (0..multipliers.len()).map(|class| of_class(class, j)).sum();
        let mut plain = vec![constant_and_columns().map(all).collect::<Vec<IBig>>()];
        plain.extend(gram(sums, multipliers));
        let part = |unit: &Unit| Scaled {
            m: l2.m.clone(),
            two: l2.two - 2 * unit.two - sums.weight_two,
            five: -2 * unit.five,
        };
        let free = [Scaled::whole(0)].into_iter();
        Normal {
            plain,
            lead: Scaled::whole(1),
            ridge: free.chain(sums.units.iter().map(part)).collect(),
            rights: (0..planes).map(right).collect(),
            means: Vec::new(),
            whole: IBig::ONE,
        }
    }

    fn within(sums: &Sums, multipliers: &[IBig], divisor: &IBig, planes: usize) -> Normal {
        let width = sums.units.len();
        let common = sums.weights.iter().fold(IBig::ONE, |all, w| lowest(&all, w));
        let share = |(f, w): (&IBig, &IBig)| f * (&common / w);
        let shares: Vec<IBig> = multipliers.iter().zip(&sums.weights).map(share).collect();
        let mut plain = gram(sums, multipliers);
        for (j, row) in plain.iter_mut().enumerate() {
            for (k, element) in (j..width).zip(row) {
                let classes = shares.iter().zip(&sums.sums);
                let between = classes.fold(IBig::ZERO, |sum, (f, s)| sum + f * &s[j] * &s[k]);
                *element = &*element * &common - between;
            }
        }
        let whole = divisor * &common;
        let mean = |(sum, weight): (&Vec<IBig>, &IBig)| {
            let factor = &whole / weight;
            sum.iter().map(|s| s * &factor).collect()
        };
        let mut means: Vec<Vec<IBig>> = sums.sums.iter().zip(&sums.weights).map(mean).collect();
        let blend = |j: usize| {
            let classes = multipliers.iter().zip(&sums.sums);
            classes.fold(IBig::ZERO, |sum, (f, s)| sum + f * &s[j]) * &common
        };
        means.push((0..width).map(blend).collect());
        let minus = |a: &[IBig], b: &[IBig]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        let rights = match planes {
            1 => vec![minus(&means[1], &means[0])],
            _ => (0..planes).map(|k| minus(&means[k], &means[planes])).collect(),
        };
        let ridge = vec![Scaled::whole(0); width];
        Normal { plain, lead: Scaled::whole(1), ridge, rights, means, whole }
    }

    /// (1 − a) N + a (tr / d) I, all times the number d of columns.
    fn shrink(&mut self, sums: &Sums, share: &Scaled) {
        let columns = IBig::from(sums.units.len().max(1));
        self.lead = plus(&Scaled::whole(1), &share.times(&IBig::from(-1))).times(&columns);
        let raw = |(unit, row): (&Unit, &Vec<IBig>)| unit.power(2).times(&row[0]);
        let squares = sums.units.iter().zip(&self.plain).map(raw);
        let trace = squares.fold(Scaled::whole(0), |sum, x| plus(&sum, &x));
        let all = share.product(&trace);
        self.ridge = sums.units.iter().map(|unit| unit.power(-2).product(&all)).collect();
        self.rights.iter_mut().flatten().for_each(|right| *right *= &columns);
    }

    /// Solves them; none if it takes too much work.
    pub(super) fn eliminate(&self) -> Option<Elimination> {
        let used = || self.ridge.iter().filter(|x| x.m != IBig::ZERO).chain([&self.lead]);
        let two = used().map(|x| x.two).min().unwrap_or(0).min(0);
        let five = used().map(|x| x.five).min().unwrap_or(0).min(0);
        let whole = |x: &Scaled| match x.m == IBig::ZERO {
            true => IBig::ZERO,
            false => (&x.m * power_of_five((x.five - five) as usize)) << (x.two - two) as usize,
        };
        let (lead, one) = (whole(&self.lead), whole(&Scaled::whole(1)));
        let size = self.plain.iter().flatten().map(bits).max().unwrap_or(0) + bits(&lead);
        let diagonal: Vec<IBig> = self.ridge.iter().map(whole).collect();
        let size = diagonal.iter().map(bits).max().unwrap_or(0).max(size);
        if elimination_work(self.plain.len(), size as f64) > MOST_WORK {
            return None;
        }
        let mut rows: Vec<Vec<IBig>> =
            self.plain.iter().map(|row| row.iter().map(|x| x * &lead).collect()).collect();
        rows.iter_mut().zip(diagonal).for_each(|(row, ridge)| row[0] += ridge);
        let right = |right: &Vec<IBig>| right.iter().map(|x| x * &one).collect();
        Some(Elimination::new(rows, self.rights.iter().map(right).collect()))
    }
}

/// Σ multiplier G over the classes, as an upper triangle.
fn gram(sums: &Sums, multipliers: &[IBig]) -> Vec<Vec<IBig>> {
    let width = sums.units.len();
    let element = |j: usize, k: usize| {
        let classes = multipliers.iter().zip(&sums.squares);
        classes.fold(IBig::ZERO, |sum, (f, squares)| sum + f * entry(squares, j, k))
    };
    (0..width).map(|j| (j..width).map(|k| element(j, k)).collect()).collect()
}

/// What multiplies the weights of the rows of each class in f, and what divides it.
pub(super) fn factors(equations: &Equations, weights: &[IBig]) -> (Vec<IBig>, IBig) {
    let total: IBig = weights.iter().sum();
    let alike = || {
        let common = weights.iter().fold(IBig::ONE, |all, w| lowest(&all, w));
        let shares: Vec<IBig> = weights.iter().map(|w| &common / w).collect();
        (shares, common * IBig::from(weights.len()))
    };
    match equations {
        Equations::LeastSquares { class_weight: ClassWeight::None, .. } => {
            (vec![IBig::ONE; weights.len()], IBig::ONE)
        }
        Equations::LeastSquares { class_weight: ClassWeight::Balanced, .. } => {
            let (shares, divisor) = alike();
            (shares.into_iter().map(|share| share * &total).collect(), divisor)
        }
        Equations::Discriminant { priors: Priors::Data, .. } => {
            (vec![IBig::ONE; weights.len()], total)
        }
        Equations::Discriminant { priors: Priors::Uniform, .. } => alike(),
        Equations::LeastSquares { class_weight: ClassWeight::Given(given), .. } => whole(given),
        Equations::Discriminant { priors: Priors::Given(given), .. } => {
            let (shares, common) = alike();
            let (given, _) = whole(given);
            // Each class counts as its prior says, whatever its rows weigh.
            let divisor = common / IBig::from(weights.len()) * given.iter().sum::<IBig>();
            (shares.into_iter().zip(given).map(|(share, prior)| share * prior).collect(), divisor)
        }
    }
}

/// Binary64 numbers as whole numbers over one divisor.
fn whole(numbers: &[f64]) -> (Vec<IBig>, IBig) {
    let exact: Vec<Scaled> = numbers.iter().map(|x| Scaled::binary64(*x)).collect();
    let two = exact.iter().map(|x| x.two).min().unwrap_or(0).min(0);
    let whole = exact.into_iter().map(|x| x.m << (x.two - two) as usize).collect();
    (whole, IBig::ONE << (-two) as usize)
}

/// Products of words that an elimination takes, for elements of so many bits: minors grow to as many
/// bits for each column.
pub(super) fn elimination_work(columns: usize, bits: f64) -> f64 {
    let columns = columns as f64;
    let words = columns * bits / 64.0 / 2.0 + 1.0;
    columns.powi(3) / 2.0 * (8.0 + words * words)
}

/// The lowest common multiple of positive numbers.
fn lowest(a: &IBig, b: &IBig) -> IBig {
    a / IBig::from(a.gcd(b)) * b
}
