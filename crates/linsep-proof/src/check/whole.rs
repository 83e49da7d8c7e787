//! Sums over the rows in whole numbers: what the exact answer of a fitted model is made of.
//!
//! Column j holds c_j X_j with whole numbers X_j and c_j = 2^a 5^b, and weights are whole numbers times a
//! power of 2. A first pass over the rows finds these powers and how long the numbers are, so that data
//! which would take too long is left alone before anything is summed.

use super::fitted::Fitted;
use super::normal::{MOST_WORK, elimination_work};
use super::{Checked, Checker};
use crate::exact::{Scaled, power_of_five};
use dashu_int::IBig;
use dashu_int::ops::{BitTest, UnsignedAbs};

/// c of a column: 2^two 5^five.
pub(super) struct Unit {
    pub(super) two: i32,
    pub(super) five: i32,
}

impl Unit {
    /// c · w.
    pub(super) fn times(&self, w: f64) -> Scaled {
        let w = Scaled::binary64(w);
        Scaled { two: w.two + self.two, five: w.five + self.five, ..w }
    }

    pub(super) fn power(&self, exponent: i32) -> Scaled {
        Scaled { m: IBig::ONE, two: exponent * self.two, five: exponent * self.five }
    }

    /// X of a value x = c X.
    fn whole(&self, x: &Scaled) -> IBig {
        (&x.m * power_of_five((x.five - self.five) as usize)) << (x.two - self.two) as usize
    }
}

/// Sums of the rows in whole numbers.
pub(super) struct Sums {
    pub(super) units: Vec<Unit>,
    /// Row weights are whole numbers times 2^this.
    pub(super) weight_two: i32,
    /// W, s and the upper triangle of G of each class.
    pub(super) weights: Vec<IBig>,
    pub(super) sums: Vec<Vec<IBig>>,
    pub(super) squares: Vec<Vec<Vec<IBig>>>,
}

/// How large the numbers are.
struct Plan {
    units: Vec<Unit>,
    weight_two: i32,
    /// Bits of the largest value, of the largest weight and of the number of rows.
    bits: f64,
    weight_bits: f64,
    row_bits: f64,
}

impl Sums {
    /// None if it takes too much work.
    pub(super) fn new(checker: &Checker<'_>, fitted: &Fitted<'_>) -> Checked<Option<Sums>> {
        let (width, classes) = (checker.width(), fitted.n_classes);
        let (n, d) = (checker.rows.len() as f64, width as f64 + 1.0);
        if n * d * d / 2.0 > MOST_WORK || classes as f64 * d * d > (1 << 20) as f64 {
            return Ok(None);
        }
        let plan = Plan::new(checker, fitted)?;
        let small = plan.bits + plan.weight_bits <= 62.0
            && 2.0 * plan.bits + plan.weight_bits + plan.row_bits <= 125.0;
        let words = plan.bits / 64.0 + 1.0;
        let each = if small { 1.0 } else { 30.0 + words * words };
        // Fractions of the weights of classes have a common denominator as long as all of them.
        let k = classes as f64;
        let fractions = k * d * d * (1.0 + k * (plan.weight_bits + plan.row_bits) / 64.0);
        let work =
            n * d * d / 2.0 * each + fractions + elimination_work(width + 1, 2.0 * plan.bits);
        if work.is_nan() || work > MOST_WORK {
            return Ok(None);
        }
        let mut sums = match small {
            true => plan.add_small(checker, fitted)?,
            false => plan.add_large(checker, fitted)?,
        };
        sums.units = plan.units;
        Ok(Some(sums))
    }
}

impl Plan {
    fn new(checker: &Checker<'_>, fitted: &Fitted<'_>) -> Checked<Plan> {
        // The smallest powers of each column, and the logarithm of its largest value.
        let mut columns = vec![(i32::MAX, i32::MAX, f64::NEG_INFINITY); checker.width()];
        let (mut low, mut high, mut rows) = (i32::MAX, f64::NEG_INFINITY, 0.0);
        let top =
            |x: &Scaled| bits(&x.m) as f64 + f64::from(x.two) + f64::from(x.five) * 5f64.log2();
        for row in (0..checker.rows.len()).filter(|row| fitted.class(*row).is_some()) {
            for (j, x) in checker.values(row)?.iter().filter(|(_, x)| x.m != IBig::ZERO) {
                let (two, five, most) = &mut columns[*j as usize];
                (*two, *five, *most) = (x.two.min(*two), x.five.min(*five), most.max(top(x)));
            }
            let weight = Scaled::binary64(checker.rows.weight(row));
            (low, high, rows) = (low.min(weight.two), high.max(top(&weight)), rows + 1.0);
        }
        let span = |&(two, five, most): &(i32, i32, f64)| match two == i32::MAX {
            true => 0.0,
            false => most - f64::from(two) - f64::from(five) * 5f64.log2() + 1.0,
        };
        let unit = |&(two, five, _): &(i32, i32, f64)| match two == i32::MAX {
            true => Unit { two: 0, five: 0 },
            false => Unit { two, five },
        };
        Ok(Plan {
            bits: columns.iter().map(span).fold(1.0, f64::max),
            units: columns.iter().map(unit).collect(),
            weight_bits: (high - f64::from(low) + 1.0).max(1.0),
            weight_two: low,
            row_bits: f64::max(rows, 2.0).log2() + 1.0,
        })
    }

    /// Calls `each` with the class, the weight and the values of every row that takes part.
    fn for_rows(
        &self,
        checker: &Checker<'_>,
        fitted: &Fitted<'_>,
        mut each: impl FnMut(usize, IBig, Vec<(usize, IBig)>),
    ) -> Checked<()> {
        for row in 0..checker.rows.len() {
            let Some(class) = fitted.class(row) else { continue };
            let weight = Scaled::binary64(checker.rows.weight(row));
            let weight = weight.m << (weight.two - self.weight_two) as usize;
            let values = checker.values(row)?;
            let values = values.iter().filter(|(_, x)| x.m != IBig::ZERO);
            let whole = |(j, x): &(u32, Scaled)| (*j as usize, self.units[*j as usize].whole(x));
            each(class, weight, values.map(whole).collect());
        }
        Ok(())
    }

    fn add_large(&self, checker: &Checker<'_>, fitted: &Fitted<'_>) -> Checked<Sums> {
        let (width, classes) = (self.units.len(), fitted.n_classes);
        let triangle = || (0..width).map(|j| vec![IBig::ZERO; width - j]).collect::<Vec<_>>();
        let mut weights = vec![IBig::ZERO; classes];
        let mut sums = vec![vec![IBig::ZERO; width]; classes];
        let mut squares: Vec<Vec<Vec<IBig>>> = (0..classes).map(|_| triangle()).collect();
        self.for_rows(checker, fitted, |class, weight, values| {
            for (at, (j, x)) in values.iter().enumerate() {
                let first = x * &weight;
                let row = &mut squares[class][*j];
                values[at..].iter().for_each(|(k, y)| row[k - j] += &first * y);
                sums[class][*j] += first;
            }
            weights[class] += weight;
        })?;
        Ok(Sums { units: Vec::new(), weight_two: self.weight_two, weights, sums, squares })
    }

    /// The same where words are long enough.
    fn add_small(&self, checker: &Checker<'_>, fitted: &Fitted<'_>) -> Checked<Sums> {
        let (width, classes) = (self.units.len(), fitted.n_classes);
        let triangle = || (0..width).map(|j| vec![0i128; width - j]).collect::<Vec<_>>();
        let mut weights = vec![0i128; classes];
        let mut sums = vec![vec![0i128; width]; classes];
        let mut squares: Vec<Vec<Vec<i128>>> = (0..classes).map(|_| triangle()).collect();
        // They fit, by the bits that were counted.
        let short = |x: &IBig| i64::try_from(x).map_err(|_| "a value is too large".to_owned());
        let mut result = Ok(());
        self.for_rows(checker, fitted, |class, weight, values| {
            let mut add = || -> Checked<()> {
                let weight = short(&weight)?;
                let pair = |(j, x): &(usize, IBig)| Ok((*j, short(x)?));
                let values = values.iter().map(pair).collect::<Checked<Vec<(usize, i64)>>>()?;
                for (at, &(j, x)) in values.iter().enumerate() {
                    let first = i128::from(x * weight);
                    let row = &mut squares[class][j];
                    values[at..].iter().for_each(|(k, y)| row[k - j] += first * i128::from(*y));
                    sums[class][j] += first;
                }
                weights[class] += i128::from(weight);
                Ok(())
            };
            if result.is_ok() {
                result = add();
            }
        })?;
        result?;
        let long = |list: Vec<i128>| list.into_iter().map(IBig::from).collect::<Vec<IBig>>();
        Ok(Sums {
            units: Vec::new(),
            weight_two: self.weight_two,
            weights: long(weights),
            sums: sums.into_iter().map(long).collect(),
            squares: squares
                .into_iter()
                .map(|square| square.into_iter().map(long).collect())
                .collect(),
        })
    }
}

/// Numbers as whole ones times one power of 2 and of 5.
pub(super) fn common(numbers: &[Scaled]) -> (Vec<IBig>, i32, i32) {
    let used = || numbers.iter().filter(|x| x.m != IBig::ZERO);
    let two = used().map(|x| x.two).min().unwrap_or(0);
    let five = used().map(|x| x.five).min().unwrap_or(0);
    let whole = |x: &Scaled| match x.m == IBig::ZERO {
        true => IBig::ZERO,
        false => (&x.m * power_of_five((x.five - five) as usize)) << (x.two - two) as usize,
    };
    (numbers.iter().map(whole).collect(), two, five)
}

pub(super) fn inner(numbers: &[Scaled], whole: &[IBig]) -> Scaled {
    let (numbers, two, five) = common(numbers);
    let m = numbers.iter().zip(whole).fold(IBig::ZERO, |sum, (a, b)| sum + a * b);
    Scaled { m, two, five }
}

pub(super) fn bits(x: &IBig) -> usize {
    x.clone().unsigned_abs().bit_len()
}
