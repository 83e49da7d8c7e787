//! Fractions, and what the tests compute with them.

use dashu_int::IBig;
use dashu_int::ops::{Abs, Gcd};
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A fraction in lowest terms, its denominator above 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Q {
    above: IBig,
    below: IBig,
}

impl Q {
    pub(crate) fn new(above: IBig, below: IBig) -> Q {
        assert!(below != IBig::ZERO, "a division by 0");
        let sign = if below < IBig::ZERO { IBig::from(-1) } else { IBig::ONE };
        let common: IBig = (&above).gcd(&below).into();
        Q { above: above / &common * &sign, below: below / common * sign }
    }

    pub(crate) fn whole(number: i64) -> Q {
        Q::new(number.into(), IBig::ONE)
    }

    /// What a decimal number says, with a power of ten or a slash if it has one.
    #[track_caller]
    pub(crate) fn parse(text: &str) -> Q {
        let text = text.replace(',', "");
        if let Some((above, below)) = text.split_once('/') {
            return &Q::parse(above) / &Q::parse(below);
        }
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or_else(|_| panic!("{text} is no number"));
        let places = mantissa.split_once('.').map_or(0, |(_, places)| places.len() as i32);
        let digits: IBig =
            mantissa.replace('.', "").parse().unwrap_or_else(|_| panic!("{text} is no number"));
        &Q::new(digits, IBig::ONE) * &ten(exponent - places)
    }

    /// A binary64 as it is.
    pub(crate) fn binary64(value: f64) -> Q {
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i32;
        let fraction = (bits & ((1 << 52) - 1)) as i64;
        let (m, e) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        let m = IBig::from(if value < 0.0 { -m } else { m });
        match e >= 0 {
            true => Q::new(m << e as usize, IBig::ONE),
            false => Q::new(m, IBig::ONE << -e as usize),
        }
    }

    /// One unit of the last digit of a number as it was printed.
    pub(crate) fn unit(text: &str) -> Q {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let places = mantissa.split_once('.').map_or(0, |(_, places)| places.len() as i32);
        ten(exponent.parse::<i32>().expect("a power") - places)
    }

    pub(crate) fn zero() -> Q {
        Q::whole(0)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.above == IBig::ZERO
    }

    pub(crate) fn square(&self) -> Q {
        self * self
    }

    pub(crate) fn floor(&self) -> IBig {
        let quotient = &self.above / &self.below;
        match &quotient * &self.below > self.above {
            true => quotient - IBig::ONE,
            false => quotient,
        }
    }

    pub(crate) fn abs(&self) -> Q {
        Q { above: (&self.above).abs(), below: self.below.clone() }
    }
}

/// The binary64 that a number with all its digits names: the program prints as many as that takes.
#[track_caller]
pub(crate) fn named(text: &str) -> Q {
    Q::binary64(text.parse().unwrap_or_else(|_| panic!("{text} is no number")))
}

fn ten(power: i32) -> Q {
    let size = IBig::from(10).pow(power.unsigned_abs() as usize);
    if power < 0 { Q::new(IBig::ONE, size) } else { Q::new(size, IBig::ONE) }
}

impl PartialOrd for Q {
    fn partial_cmp(&self, other: &Q) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Q {
    fn cmp(&self, other: &Q) -> Ordering {
        (&self.above * &other.below).cmp(&(&other.above * &self.below))
    }
}

impl Add for &Q {
    type Output = Q;
    fn add(self, other: &Q) -> Q {
        let above = &self.above * &other.below + &other.above * &self.below;
        Q::new(above, &self.below * &other.below)
    }
}

impl Sub for &Q {
    type Output = Q;
    fn sub(self, other: &Q) -> Q {
        self + &-other
    }
}

impl Neg for &Q {
    type Output = Q;
    fn neg(self) -> Q {
        Q { above: -&self.above, below: self.below.clone() }
    }
}

impl Mul for &Q {
    type Output = Q;
    fn mul(self, other: &Q) -> Q {
        Q::new(&self.above * &other.above, &self.below * &other.below)
    }
}

impl Div for &Q {
    type Output = Q;
    fn div(self, other: &Q) -> Q {
        Q::new(&self.above * &other.below, &self.below * &other.above)
    }
}

pub(crate) fn dot(a: &[Q], b: &[Q]) -> Q {
    a.iter().zip(b).fold(Q::zero(), |sum, (x, y)| &sum + &(x * y))
}

/// Brings the rows to echelon form; the number of rows that are not 0 in the first `columns`.
fn reduce(rows: &mut [Vec<Q>], columns: usize) -> usize {
    let mut rank = 0;
    for column in 0..columns {
        let Some(pivot) = (rank..rows.len()).find(|&row| !rows[row][column].is_zero()) else {
            continue;
        };
        rows.swap(rank, pivot);
        let lead = rows[rank][column].clone();
        rows[rank].iter_mut().for_each(|value| *value = &*value / &lead);
        let first = rows[rank].clone();
        for row in (0..rows.len()).filter(|&row| row != rank) {
            let factor = rows[row][column].clone();
            for (value, lead) in rows[row].iter_mut().zip(&first) {
                *value = &*value - &(&factor * lead);
            }
        }
        rank += 1;
    }
    rank
}

/// The rank of a matrix.
pub(crate) fn rank(mut rows: Vec<Vec<Q>>) -> usize {
    let columns = rows.first().map_or(0, Vec::len);
    reduce(&mut rows, columns)
}

/// The solution of A x = b where there is one and only one; the last number of a row is its b.
fn solve(mut rows: Vec<Vec<Q>>) -> Option<Vec<Q>> {
    let unknowns = rows.len();
    let full = reduce(&mut rows, unknowns) == unknowns;
    full.then(|| rows.into_iter().map(|row| row[unknowns].clone()).collect())
}

/// The square of the length of the shortest combination Σ λ z with λ ≥ 0 whose λ add up to 1 in each group.
///
/// The shortest point is that of some rows whose equations have one solution. So all sets of rows are tried, and
/// what has no negative λ is a point of the hull; the shortest of these is the answer.
pub(crate) fn shortest(points: &[Vec<Q>], groups: &[usize]) -> Q {
    let count = groups.iter().max().map_or(0, |group| group + 1);
    let mut best: Option<Q> = None;
    for set in 1u32..1 << points.len() {
        let chosen: Vec<usize> = (0..points.len()).filter(|k| set >> k & 1 == 1).collect();
        let mut rows = Vec::new();
        for &k in &chosen {
            let products = chosen.iter().map(|&j| dot(&points[k], &points[j]));
            let marks = (0..count).map(|group| Q::whole(i64::from(groups[k] == group)));
            rows.push(products.chain(marks).chain([Q::zero()]).collect::<Vec<Q>>());
        }
        for group in 0..count {
            let marks = chosen.iter().map(|&k| Q::whole(i64::from(groups[k] == group)));
            let end = (0..count).map(|_| Q::zero()).chain([Q::whole(1)]);
            rows.push(marks.chain(end).collect());
        }
        let Some(found) = solve(rows) else { continue };
        let shares = &found[..chosen.len()];
        if shares.iter().any(|share| *share < Q::zero()) {
            continue;
        }
        let width = points[0].len();
        let point: Vec<Q> = (0..width)
            .map(|j| {
                let parts = chosen.iter().zip(shares);
                parts.fold(Q::zero(), |sum, (&k, share)| &sum + &(share * &points[k][j]))
            })
            .collect();
        let length = dot(&point, &point);
        if best.as_ref().is_none_or(|best| length < *best) {
            best = Some(length);
        }
    }
    best.expect("a single row is a set")
}

#[test]
fn fractions_are_what_they_should_be() {
    assert_eq!(Q::parse("0.25"), Q::parse("1/4"));
    assert_eq!(Q::parse("-2.5e-1"), Q::parse("-1/4"));
    assert_eq!(Q::binary64(0.25), Q::parse("0.25"));
    assert!(Q::binary64(0.1) > Q::parse("0.1"));
    assert_eq!(Q::unit("2.8e-11"), Q::parse("1e-12"));
    assert_eq!(Q::parse("-7/2").floor(), IBig::from(-4));
    let point = |x: &str, y: &str| vec![Q::parse(x), Q::parse(y)];
    assert_eq!(shortest(&[point("1", "1"), point("1", "-1")], &[0, 0]), Q::whole(1));
    // Between (1, 0) and (-3, 4) the line through both is at 1/√2 from 0.
    assert_eq!(shortest(&[point("1", "0"), point("-3", "4")], &[0, 0]), Q::parse("1/2"));
    assert_eq!(rank(vec![point("1", "2"), point("0.5", "1")]), 1);
}
