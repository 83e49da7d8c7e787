//! Naive Bayes: the statistics are counted again and the weights made of them.
//!
//! With ω the weight of a row, W_k = Σ ω over class k, N_kj = Σ ω x_j, π_k the prior:
//!
//! ```text
//! multinomial  w_kj = ln (N_kj + α) − ln (Σ_j N_kj + α d)           b_k = ln π_k
//! bernoulli    N_kj = Σ ω [x_j > T];  w_kj = ln (N_kj + α) − ln (W_k − N_kj + α)
//!              b_k = ln π_k + Σ_j (ln (W_k − N_kj + α) − ln (W_k + 2α))
//! gaussian     m_kj = N_kj / W_k,  v_j = Σ_k π_k Σ ω (x_j − m_kj)² / W_k + ε,  μ_j = Σ_k π_k m_kj
//!              w_kj = (m_kj − μ_j) / v_j,  b_k = ln π_k − ½ Σ_j w_kj (m_kj + μ_j)
//! ```
//!
//! ε is the stated share of the largest variance of a column over all rows. Two classes make one
//! plane, the second minus the first. Sums have twice the length of binary64 (whole numbers below
//! 2^106 are exact; below 2^53 plain sums are exact as well), logarithms and the rest are rounded. A
//! weight may differ by 1e-10 of the terms it is made of, which is more than any order of summation of a
//! million rows costs, and the scores of all rows together by `SCORE_SHARE` of their norm.
//!
//! With X_j = (Σ ω x_j²)^½, a change of the weights by Δ moves the scores by at most
//! |Δ_b| W^½ + Σ |Δ_j| X_j, and their norm is at least that of their mean, W^½ |w·x̄ + b|. Where that is
//! enough no row needs to be scored.

use super::class_counts::MOST;
use super::elsewhere::{Reader, Sums};
use super::fitted::{Fitted, SCORE_FLOOR, SCORE_SHARE};
use super::sweep::{Line, sweep, sweep_by_class};
use super::{Checked, Checker};
use crate::double::Double;
use crate::fitted::{Planes, Statistics};
use crate::threads::side_by_side;

const WEIGHT_SHARE: f64 = 1e-10;

/// The plane that a class should have, and the size of the terms that each number is made of.
struct Expected {
    weights: Vec<(f64, f64)>,
    bias: (f64, f64),
}

impl Checker<'_> {
    pub(super) fn counts(&self, planes: &Planes, statistics: &Statistics) -> Checked<String> {
        let fitted = Fitted::new(planes, self)?;
        let plain = |x: f64| x;
        let priors = match statistics {
            Statistics::Multinomial { priors, .. }
            | Statistics::Bernoulli { priors, .. }
            | Statistics::Gaussian { priors, .. } => priors,
        };
        priors.check(fitted.n_classes)?;
        let checked = match statistics {
            Statistics::Multinomial { alpha, priors } => {
                let alpha = *alpha;
                positive(alpha)?;
                if self.surely_multinomial(&fitted, alpha, priors) {
                    return Ok(self.counts_sentence(statistics));
                }
                let tally = Tally::new(self, &fitted, plain)?;
                if let Some(row) = &tally.negative {
                    return Err(format!("{row} has a value below 0, which is no count"));
                }
                let class = multinomial(&fitted, &tally, self.width(), alpha, priors);
                self.compare(&fitted, &tally, &class, &plain)
            }
            Statistics::Bernoulli { alpha, priors, binarize } => {
                let (alpha, binarize) = (*alpha, *binarize);
                positive(alpha)?;
                let on = move |x: f64| f64::from(u8::from(x > binarize));
                let tally = Tally::new(self, &fitted, on)?;
                let class = bernoulli(&fitted, &tally, on(0.0), alpha, priors);
                self.compare(&fitted, &tally, &class, &on)
            }
            Statistics::Gaussian { smoothing, priors } => {
                let smoothing = *smoothing;
                if !(smoothing.is_finite() && smoothing >= 0.0) {
                    return Err("the smoothing is below 0".into());
                }
                let tally = Tally::new(self, &fitted, plain)?;
                let classes = self.gaussian(&fitted, &tally, smoothing, priors)?;
                let class = |k: usize| Expected {
                    weights: classes[k].weights.clone(),
                    bias: classes[k].bias,
                };
                self.compare(&fitted, &tally, &class, &plain)
            }
        };
        checked.map(|()| self.counts_sentence(statistics))
    }

    /// What was shown of the counts, with their settings.
    fn counts_sentence(&self, statistics: &Statistics) -> String {
        let settings = statistics.words() + self.row_weights();
        format!("the statistics were counted again and make these weights ({settings})")
    }

    /// Every plane against what the classes make of it.
    fn compare(
        &self,
        fitted: &Fitted<'_>,
        tally: &Tally,
        class: &(dyn Fn(usize) -> Expected + Sync),
        on: &(dyn Fn(f64) -> f64 + Sync),
    ) -> Checked<()> {
        let minus = |a: &(f64, f64), b: &(f64, f64)| (a.0 - b.0, a.1 + b.1);
        let plane = |k: u64| {
            let expected = match fitted.planes.len() {
                1 => {
                    let (one, zero) = (class(1), class(0));
                    let weights = one.weights.iter().zip(&zero.weights);
                    Expected {
                        weights: weights.map(|(a, b)| minus(a, b)).collect(),
                        bias: minus(&one.bias, &zero.bias),
                    }
                }
                _ => class(k as usize),
            };
            self.agrees(fitted, tally, k as usize, &expected, on)
        };
        let planes = 0..fitted.planes.len() as u64;
        // Passes of several planes have an order where the rows are elsewhere.
        let threads = if self.in_one_place().is_ok() { self.threads } else { 1 };
        side_by_side(threads, planes, &plane).into_iter().collect()
    }

    fn agrees(
        &self,
        fitted: &Fitted<'_>,
        tally: &Tally,
        plane: usize,
        expected: &Expected,
        on: &(dyn Fn(f64) -> f64 + Sync),
    ) -> Checked<()> {
        let (weights, bias) = &fitted.planes[plane];
        let compared = Compared::new(weights, expected, tally);
        if !compared.near {
            let pairs = weights.iter().zip(&expected.weights);
            let column = pairs.take_while(|(w, e)| near(**w, **e)).count();
            return Err(format!("the weight of column {column} is not what the counts make it"));
        }
        if !near(*bias, expected.bias) {
            return Err("the bias is not what the counts make it".into());
        }
        let zero = on(0.0);
        let offset = |w: &dyn Fn(usize) -> f64| match zero == 0.0 {
            true => 0.0,
            false => zero * (0..weights.len()).map(w).sum::<f64>(),
        };
        let moved = |j: usize| weights[j] - expected.weights[j].0;
        let base = bias + offset(&|j| weights[j]);
        let base_moved = bias - expected.bias.0 + offset(&moved);
        let root = fitted.class_weights.iter().sum::<f64>().sqrt();
        let Compared { change, mean, size, .. } = compared;
        let (mean, size) = (base + mean, base.abs() + size);
        // What rounding may have added to the mean, and half of the limit for the rest of it.
        let limit = SCORE_SHARE * (mean.abs() - 1e-11 * size) * root;
        if change + base_moved.abs() * root <= 0.5 * limit {
            return Ok(());
        }
        self.scores_agree(fitted, weights, (base, base_moved), &moved, on)
    }

    fn gaussian(
        &self,
        fitted: &Fitted<'_>,
        tally: &Tally,
        smoothing: f64,
        priors: &crate::fitted::Priors,
    ) -> Checked<Vec<Expected>> {
        let class_weights = &fitted.class_weights;
        let priors = fitted.priors(class_weights, priors);
        let squares = fitted.column_sums(self, |x| Double::product(x, x))?;
        let total = class_weights.iter().fold(Double::ZERO, |sum, w| sum.plus(Double::of(*w)));
        // Σ ω (x − m)² / W, from sums that are long enough to stand the cancellation.
        let variance = |sum: Double, square: Double, weight: Double| {
            let mean = sum.over(weight);
            square.minus(mean.times_double(sum)).over(weight).value().max(0.0)
        };
        let all = |of: &dyn Fn(usize) -> Double| {
            (0..class_weights.len()).fold(Double::ZERO, |sum, k| sum.plus(of(k)))
        };
        let width = self.width();
        let largest = (0..width)
            .map(|j| variance(all(&|k| tally.sum(k, j)), all(&|k| squares[k][j]), total))
            .fold(0.0, f64::max);
        let mut planes: Vec<Expected> = (priors.iter())
            .map(|p| Expected { weights: Vec::new(), bias: (p.ln(), p.ln().abs() + 1.0) })
            .collect();
        // Column by column, over lists that the classes have.
        #[allow(clippy::needless_range_loop)]
        for j in 0..width {
            let mut pooled = smoothing * largest;
            let mut mean = Double::ZERO;
            let mut means = Vec::new();
            for (k, prior) in priors.iter().enumerate() {
                let weight = Double::of(class_weights[k]);
                pooled += prior * variance(tally.sum(k, j), squares[k][j], weight);
                means.push(tally.sum(k, j).over(weight));
                mean = mean.plus(means[k].times(*prior));
            }
            for (plane, m) in planes.iter_mut().zip(&means) {
                let difference = m.minus(mean).value();
                let size = m.value().abs() + mean.value().abs();
                let weight = if pooled > 0.0 { difference / pooled } else { 0.0 };
                let error = if pooled > 0.0 { size / pooled } else { 0.0 };
                plane.weights.push((weight, 10.0 * weight.abs() + 0.01 * error));
                plane.bias.0 -= 0.5 * weight * m.plus(mean).value();
                plane.bias.1 += (10.0 * weight.abs() + 0.01 * error) * size;
            }
        }
        Ok(planes)
    }

    /// The scores of a plane and of the plane it should be, over all rows.
    fn scores_agree(
        &self,
        fitted: &Fitted<'_>,
        weights: &[f64],
        (base, base_moved): (f64, f64),
        moved: &dyn Fn(usize) -> f64,
        on: &dyn Fn(f64) -> f64,
    ) -> Checked<()> {
        let zero = on(0.0);
        let compute = || {
            let (mut norm, mut change, mut count) = (0.0, 0.0, 0.0);
            fitted.for_rows(self, |row, _, weight| {
                let (mut score, mut difference) = (base, base_moved);
                self.floats(row, &mut |column, x| {
                    let value = on(x) - zero;
                    score += weights[column as usize] * value;
                    difference += moved(column as usize) * value;
                });
                norm += weight * score * score;
                change += weight * difference * difference;
                count += weight;
            });
            Ok([norm, change, count])
        };
        let pack = |sums: [f64; 3]| Sums::default().plain(sums.to_vec());
        let unpack = |reader: &mut Reader| reader.plain(3)?.try_into().ok();
        let [norm, change, count] = self.pass(compute, pack, unpack)?;
        match change.sqrt() <= SCORE_SHARE * norm.sqrt() + SCORE_FLOOR * count.sqrt() {
            true => Ok(()),
            false => Err("the scores are not those that the counts make".into()),
        }
    }
}

/// Whether a number is what it should be. Written so that what is not a number is refused.
fn near(found: f64, (value, size): (f64, f64)) -> bool {
    (found - value).abs() <= WEIGHT_SHARE * (size + f64::MIN_POSITIVE)
}

/// The weights of a plane beside those that it should have.
struct Compared {
    /// Whether every weight is near.
    near: bool,
    /// Σ |Δ_j| X_j.
    change: f64,
    /// Σ w_j x̄_j, and Σ |w_j x̄_j|.
    mean: f64,
    size: f64,
}

impl Compared {
    /// Sums in lanes, so that no addition waits for the one before.
    fn new(weights: &[f64], expected: &Expected, tally: &Tally) -> Compared {
        const LANES: usize = 8;
        let (mut near_so_far, mut lanes) = (true, [[0.0; 3]; LANES]);
        let columns =
            weights.iter().zip(&expected.weights).zip(tally.sizes.iter().zip(&tally.means));
        for (j, ((w, e), (size, mean))) in columns.enumerate() {
            near_so_far &= near(*w, *e);
            let [change, all, sizes] = &mut lanes[j % LANES];
            *change += (w - e.0).abs() * size;
            *all += w * mean;
            *sizes += (w * mean).abs();
        }
        let [change, mean, size] =
            [0, 1, 2].map(|sum| lanes.iter().map(|lane| lane[sum]).sum::<f64>());
        Compared { near: near_so_far, change, mean, size }
    }
}

/// The plane of a class by the multinomial model.
fn multinomial<'a>(
    fitted: &Fitted<'_>,
    tally: &'a Tally,
    width: usize,
    alpha: f64,
    priors: &crate::fitted::Priors,
) -> impl Fn(usize) -> Expected + Sync + 'a {
    let priors = fitted.priors(&fitted.class_weights, priors);
    let logs = Logs::new(alpha);
    move |class: usize| {
        let all = tally.total(class).plus(Double::product(alpha, width as f64)).value().ln();
        let weight = |sum: Double| {
            let own = logs.of(sum);
            (own - all, own.abs() + all.abs() + 1.0)
        };
        let prior = priors[class].ln();
        // Most columns have no count in a class.
        let none = weight(Double::ZERO);
        let weights = match tally.long.get(class) {
            Some(sums) => sums.iter().map(|sum| weight(*sum)).collect(),
            None => {
                let own = |sum: &f64| if *sum == 0.0 { none } else { weight(Double::of(*sum)) };
                tally.whole[class].iter().map(own).collect()
            }
        };
        Expected { weights, bias: (prior, prior.abs() + 1.0) }
    }
}

/// The plane of a class by the Bernoulli model.
fn bernoulli<'a>(
    fitted: &'a Fitted<'a>,
    tally: &'a Tally,
    zero: f64,
    alpha: f64,
    priors: &crate::fitted::Priors,
) -> impl Fn(usize) -> Expected + Sync + 'a {
    let priors = fitted.priors(&fitted.class_weights, priors);
    let logs = Logs::new(alpha);
    move |class: usize| {
        let total = Double::of(fitted.class_weights[class]);
        let all = total.plus(Double::of(2.0 * alpha)).value().ln();
        let prior = priors[class].ln();
        let mut bias = (prior, prior.abs() + 1.0);
        // Values that are 0 are on too where the threshold is below 0; only the others are seen.
        let weight = |j: usize| {
            let count = tally.sum(class, j).plus(total.times(zero));
            let (own, other) = (logs.of(count), logs.of(total.minus(count)));
            bias.0 += other - all;
            bias.1 += other.abs() + all.abs();
            (own - other, own.abs() + other.abs() + 1.0)
        };
        let weights = (0..tally.sizes.len()).map(weight).collect();
        Expected { weights, bias }
    }
}

/// ln (n + α), looked up for small whole n.
pub(super) struct Logs {
    alpha: f64,
    small: Vec<f64>,
}

impl Logs {
    pub(super) fn new(alpha: f64) -> Logs {
        Logs { alpha, small: (0..1024).map(|n| (f64::from(n) + alpha).ln()).collect() }
    }

    fn of(&self, sum: Double) -> f64 {
        let (high, low) = sum.parts();
        match self.small.get(high as usize) {
            Some(log) if low == 0.0 && (high as usize) as f64 == high => *log,
            _ => self.anew(sum),
        }
    }

    /// Of a whole number below 2^53.
    #[inline]
    pub(super) fn of_whole(&self, count: u64) -> f64 {
        match self.small.get(count as usize) {
            Some(log) => *log,
            None => self.anew(Double::of(count as f64)),
        }
    }

    fn anew(&self, sum: Double) -> f64 {
        sum.plus(Double::of(self.alpha)).value().ln()
    }
}

/// What is counted in one pass, of value(x) less value(0).
struct Tally {
    /// Σ of each class and column: plain, or long where plain sums are not exact.
    whole: Vec<Vec<f64>>,
    long: Vec<Vec<Double>>,
    /// X_j, and the mean of column j.
    sizes: Vec<f64>,
    means: Vec<f64>,
    /// A row with a value below 0, in words.
    negative: Option<String>,
}

/// What is counted of a block of rows.
struct Part {
    sums: Vec<Vec<f64>>,
    squares: Vec<f64>,
    size: f64,
    whole: bool,
    negative: bool,
}

impl Tally {
    fn new(
        checker: &Checker<'_>,
        fitted: &Fitted<'_>,
        on: impl Fn(f64) -> f64 + Sync,
    ) -> Checked<Tally> {
        let zero = on(0.0);
        let (width, n_classes) = (checker.width(), fitted.n_classes);
        let compute = || Ok(Part::new(checker, fitted, &on));
        let all =
            checker.pass(compute, Part::pack, |reader| Part::unpack(reader, n_classes, width))?;
        let total: f64 = fitted.class_weights.iter().sum();
        let mut means = vec![0.0; width];
        for sums in &all.sums {
            means.iter_mut().zip(sums).for_each(|(mean, sum)| *mean += sum);
        }
        means.iter_mut().for_each(|mean| *mean /= total);
        let negative = || {
            if checker.in_one_place().is_err() {
                return Some("a row".to_owned());
            }
            let below = |row: &u64| {
                let mut below = false;
                checker.floats(*row, &mut |_, x| below |= x < 0.0);
                below && fitted.class(*row).is_some()
            };
            (0..checker.rows.len()).rev().find(below).map(|row| format!("row {row}"))
        };
        let long = match all.whole && all.size < MOST {
            true => Vec::new(),
            false => fitted.column_sums(checker, |x| Double::of(on(x) - zero))?,
        };
        Ok(Tally {
            means,
            whole: all.sums,
            long,
            sizes: all.squares.iter().map(|square| square.sqrt()).collect(),
            negative: if all.negative { negative() } else { None },
        })
    }

    /// Σ of a class over all columns. Plain sums are exact, in whatever order they are added.
    fn total(&self, class: usize) -> Double {
        let Some(sums) = self.long.get(class) else {
            let (blocks, rest) = self.whole[class].as_chunks::<8>();
            let mut lanes = [0.0; 8];
            for block in blocks {
                lanes.iter_mut().zip(block).for_each(|(lane, sum)| *lane += sum);
            }
            return Double::of(lanes.iter().chain(rest).sum());
        };
        sums.iter().copied().fold(Double::ZERO, Double::plus)
    }

    fn sum(&self, class: usize, column: usize) -> Double {
        match self.long.get(class) {
            Some(sums) => sums[column],
            None => Double::of(self.whole[class][column]),
        }
    }
}

impl Part {
    fn new(checker: &Checker<'_>, fitted: &Fitted<'_>, on: &(impl Fn(f64) -> f64 + Sync)) -> Part {
        let zero = on(0.0);
        let (width, n_classes) = (checker.width(), fitted.n_classes);
        let start = || Part {
            // Made when the first row of a class comes.
            sums: vec![Vec::new(); n_classes],
            squares: vec![0.0; width],
            size: 0.0,
            whole: true,
            negative: false,
        };
        let visit = |part: &mut Part, line: &Line<'_>| {
            let (sums, squares) = (&mut part.sums[line.class], &mut part.squares);
            if sums.is_empty() {
                *sums = vec![0.0; width];
            }
            let weight = line.weight;
            line.for_each(|j, x| {
                let value = on(x) - zero;
                let term = weight * value;
                sums[j] += term;
                squares[j] += term * value;
                part.size += term.abs();
                // A product of two numbers that are not whole may be, after rounding.
                part.whole &= is_whole(value);
                part.negative |= x < 0.0;
            });
            part.whole &= is_whole(weight);
        };
        let mut all: Option<Part> = None;
        let merge = |next: Part| {
            let Some(all) = &mut all else {
                all = Some(next);
                return;
            };
            for (mine, theirs) in all.sums.iter_mut().zip(next.sums) {
                match mine.is_empty() {
                    true => *mine = theirs,
                    false => mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs),
                }
            }
            let squares = all.squares.iter_mut().zip(&next.squares);
            squares.for_each(|(mine, theirs)| *mine += theirs);
            all.size += next.size;
            all.whole &= next.whole;
            all.negative |= next.negative;
        };
        let size = (n_classes + 1) * width;
        match fitted.block(checker) == checker.rows.len() {
            true => sweep_by_class(checker, fitted, start, visit, merge),
            false => sweep(checker, fitted, (size, fitted.block(checker)), start, visit, merge),
        }
        let mut all = all.unwrap_or_else(start);
        all.sums.iter_mut().for_each(|sums| sums.resize(width, 0.0));
        all
    }

    fn pack(self) -> Sums {
        let flag = |flag: bool| f64::from(u8::from(flag));
        let Part { sums, squares, size, whole, negative } = self;
        let rest = vec![size, flag(!whole), flag(negative)];
        sums.into_iter().fold(Sums::default().plain(squares).plain(rest), Sums::plain)
    }

    fn unpack(reader: &mut Reader, n_classes: usize, width: usize) -> Option<Part> {
        let (squares, rest) = (reader.plain(width)?, reader.plain(3)?);
        let sums = (0..n_classes).map(|_| reader.plain(width)).collect::<Option<_>>()?;
        let (size, whole, negative) = (rest[0], rest[1] == 0.0, rest[2] > 0.0);
        Some(Part { sums, squares, size, whole, negative })
    }
}

/// Whether a number is whole and small enough for sums of it to be.
fn is_whole(x: f64) -> bool {
    (x as i64) as f64 == x
}

fn positive(alpha: f64) -> Checked<()> {
    match alpha.is_finite() && alpha > 0.0 {
        true => Ok(()),
        false => Err("alpha is not above 0".into()),
    }
}
