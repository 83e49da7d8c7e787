//! Whole multipliers of a float support: given vectors of whole numbers of which floats say that a
//! positive combination is 0, find it in whole numbers.
//!
//! Elimination modulo a prime p shows which vectors depend on which. If exactly one combination is
//! 0, it is the solution of a square system B x = c, found by p-adic lifting (Dixon 1982): with
//! C = B⁻¹ mod p, the digits of x are x_k = C r_k mod p and r_{k+1} = (r_k − B x_k)/p is whole and
//! stays short. A rational with small numerator and denominator is read off the digits by the
//! Euclidean algorithm and multiplied back; only an exact sum of 0 is accepted, so stopping early is
//! sound.

use dashu_int::{IBig, UBig};
use linsep_data::cancel;

/// 2^61 − 1.
const P: u64 = (1 << 61) - 1;

/// What the vectors say about their combinations.
#[derive(Debug)]
pub(crate) enum Combination {
    /// The one combination that is 0, up to a factor: whole, not all 0, signs mixed or not.
    One(Vec<IBig>),
    /// There is none.
    None,
    /// There are several.
    Many,
}

/// Finds λ with Σ λ_i rows_i = 0.
pub(crate) fn combination(rows: &[Vec<IBig>]) -> Combination {
    let pivots = eliminate(rows);
    match rows.len() - pivots.len() {
        0 => Combination::None,
        1 => solve(rows, &pivots).map_or(Combination::Many, Combination::One),
        _ => Combination::Many,
    }
}

/// Independent vectors (unknowns of the system) and coordinates (its equations), as pairs.
pub(crate) fn eliminate(rows: &[Vec<IBig>]) -> Vec<(usize, usize)> {
    let mut matrix: Vec<Vec<u64>> =
        rows.iter().map(|row| row.iter().map(residue).collect()).collect();
    let width = matrix.first().map_or(0, Vec::len);
    let mut used = vec![false; width];
    let mut pivots = Vec::new();
    for vector in 0..matrix.len() {
        cancel::check();
        let Some(at) = (0..width).find(|&j| !used[j] && matrix[vector][j] != 0) else { continue };
        used[at] = true;
        pivots.push((vector, at));
        let inverse = power(matrix[vector][at], P - 2);
        let (head, tail) = matrix.split_at_mut(vector + 1);
        let pivot = &head[vector];
        for row in tail {
            let factor = multiply(row[at], inverse);
            if factor != 0 {
                let minus = P - factor;
                row.iter_mut().zip(pivot).for_each(|(x, y)| {
                    *x = reduce(u128::from(minus) * u128::from(*y) + u128::from(*x))
                });
            }
        }
    }
    pivots
}

fn solve(rows: &[Vec<IBig>], pivots: &[(usize, usize)]) -> Option<Vec<IBig>> {
    let free = (0..rows.len()).find(|row| !pivots.iter().any(|(r, _)| r == row))?;
    if pivots.is_empty() {
        // A single row of zeros balances alone.
        return Some(vec![IBig::ONE]);
    }
    // Equation e (a coordinate): Σ_u rows[u][e] x_u = −rows[free][e].
    let b = pivots.iter().map(|(_, e)| pivots.iter().map(|(u, _)| &rows[*u][*e]).collect());
    let c: Vec<IBig> = pivots.iter().map(|(_, e)| -rows[free][*e].clone()).collect();
    let mut lambda = vec![IBig::ZERO; rows.len()];
    System::new(b.collect())?.solve(c, |numerators, denominator| {
        lambda[free] = denominator.clone();
        pivots.iter().zip(numerators).for_each(|((u, _), n)| lambda[*u] = n.clone());
        sums_to_zero(rows, &lambda)
    })?;
    Some(lambda)
}

/// Vectors orthogonal to some rows, one for each of the given coordinates that elimination left over: with
/// a positive number there and the rest in the coordinates of the pivots, which belong to independent rows
/// that span all of them. `None` if `stop` said so or a system has no solution within its bounds.
pub(crate) fn null_vectors(
    rows: &[Vec<IBig>],
    pivots: &[(usize, usize)],
    free: &[usize],
    stop: &dyn Fn() -> bool,
) -> Option<Vec<Vec<IBig>>> {
    let width = rows.first().map_or(0, Vec::len);
    // Equation r (a row): Σ_u rows[r][u] x_u = −rows[r][free].
    let b = pivots.iter().map(|(r, _)| pivots.iter().map(|(_, u)| &rows[*r][*u]).collect());
    let system = System::new(b.collect())?;
    let mut found = Vec::new();
    for &at in free {
        if stop() {
            return None;
        }
        let c: Vec<IBig> = pivots.iter().map(|(r, _)| -rows[*r][at].clone()).collect();
        let mut vector = vec![IBig::ZERO; width];
        system.solve(c, |numerators, denominator| {
            vector[at] = denominator.clone();
            pivots.iter().zip(numerators).for_each(|((_, u), n)| vector[*u] = n.clone());
            let orthogonal = |row: &Vec<IBig>| {
                let used = row.iter().zip(&vector).filter(|(x, _)| **x != IBig::ZERO);
                used.fold(IBig::ZERO, |sum, (x, y)| sum + x * y) == IBig::ZERO
            };
            pivots.iter().all(|(r, _)| orthogonal(&rows[*r]))
        })?;
        found.push(vector);
    }
    Some(found)
}

/// Whether Σ λ_i rows_i = 0, exactly.
pub(crate) fn sums_to_zero(rows: &[Vec<IBig>], lambda: &[IBig]) -> bool {
    let width = rows.first().map_or(0, Vec::len);
    (0..width).all(|j| {
        let sum = rows.iter().zip(lambda).fold(IBig::ZERO, |sum, (row, l)| sum + &row[j] * l);
        sum == IBig::ZERO
    })
}

/// A square matrix that is regular modulo p, ready to solve many systems.
struct System<'a> {
    b: Vec<Vec<&'a IBig>>,
    /// The same matrix in machine words, where the sums below fit 127 bits.
    small: Option<Vec<Vec<i128>>>,
    inverse: Vec<Vec<u64>>,
    bits: usize,
}

impl<'a> System<'a> {
    fn new(b: Vec<Vec<&'a IBig>>) -> Option<System<'a>> {
        let inverse = invert(&b)?;
        let bits = b.iter().flatten().map(|x| bit_length(x)).max().unwrap_or(1);
        let fits = bits + 61 + b.len().max(1).ilog2() as usize + 2 < 126;
        let whole = |x: &&IBig| i128::try_from(*x).unwrap_or(0);
        let small = fits.then(|| b.iter().map(|row| row.iter().map(whole).collect()).collect());
        Some(System { b, small, inverse, bits })
    }

    /// Solves B x = c. `accepts` is asked of numerators over one denominator, until it says yes or there
    /// can be no more to ask.
    fn solve(&self, c: Vec<IBig>, mut accepts: impl FnMut(&[IBig], &IBig) -> bool) -> Option<()> {
        let size = self.b.len().max(1);
        let bits = c.iter().map(bit_length).fold(self.bits, usize::max);
        let hadamard = size * (bits + 1 + size.ilog2() as usize / 2 + 1) + bits + 2;
        let most = (2 * hadamard + 4).div_ceil(60) + 1;
        let mut lift = Lift {
            system: self,
            rest: c,
            x: vec![IBig::ZERO; self.b.len()],
            modulus: IBig::ONE,
            steps: 0,
        };
        let mut target = 4;
        loop {
            let steps = target.min(most);
            while lift.steps < steps {
                cancel::check();
                lift.step();
            }
            if let Some((numerators, denominator)) = lift.rational()
                && accepts(&numerators, &denominator)
            {
                return Some(());
            }
            if steps == most {
                return None;
            }
            target *= 2;
        }
    }
}

/// The digits of one solution.
struct Lift<'a> {
    system: &'a System<'a>,
    rest: Vec<IBig>,
    /// x modulo p^steps.
    x: Vec<IBig>,
    modulus: IBig,
    steps: usize,
}

impl Lift<'_> {
    fn step(&mut self) {
        let residues: Vec<u64> = self.rest.iter().map(residue).collect();
        let System { b, small, inverse, .. } = self.system;
        let digits: Vec<u64> = inverse
            .iter()
            .map(|row| {
                let products =
                    row.iter().zip(&residues).map(|(a, b)| u128::from(*a) * u128::from(*b));
                reduce(products.fold(0u128, |sum, product| sum + u128::from(reduce(product))))
            })
            .collect();
        let prime = IBig::from(P);
        for (e, rest) in self.rest.iter_mut().enumerate() {
            let product = match small {
                Some(small) => {
                    let terms = small[e].iter().zip(&digits).map(|(b, d)| b * i128::from(*d));
                    IBig::from(terms.sum::<i128>())
                }
                None => {
                    let terms = b[e].iter().zip(&digits);
                    terms.fold(IBig::ZERO, |sum, (&b, d)| sum + b * IBig::from(*d))
                }
            };
            *rest = (&*rest - product) / &prime;
        }
        for (x, digit) in self.x.iter_mut().zip(digits) {
            *x += &self.modulus * IBig::from(digit);
        }
        self.modulus *= prime;
        self.steps += 1;
    }

    /// The solution as whole numerators over one denominator, if the digits are enough.
    fn rational(&self) -> Option<(Vec<IBig>, IBig)> {
        let mut denominator = IBig::ONE;
        let limit = IBig::ONE << (bit_length(&self.modulus) / 2).saturating_sub(1);
        for x in &self.x {
            let scaled = symmetric(&(x * &denominator), &self.modulus);
            if abs(&scaled) > limit {
                let (_, d) = reconstruct(&scaled, &self.modulus, &limit)?;
                denominator *= d;
            }
        }
        let numerators = self.x.iter().map(|x| symmetric(&(x * &denominator), &self.modulus));
        Some((numerators.collect(), denominator))
    }
}

/// n/d with n ≡ x d modulo m and both at most `limit`.
fn reconstruct(x: &IBig, m: &IBig, limit: &IBig) -> Option<(IBig, IBig)> {
    let (mut r0, mut r1) = (m.clone(), if *x < IBig::ZERO { x + m } else { x.clone() });
    let (mut t0, mut t1) = (IBig::ZERO, IBig::ONE);
    while r1 > *limit {
        let q = &r0 / &r1;
        (r0, r1) = (r1.clone(), r0 - &q * r1);
        (t0, t1) = (t1.clone(), t0 - q * t1);
    }
    if t1 == IBig::ZERO || abs(&t1) > *limit {
        return None;
    }
    Some(if t1 < IBig::ZERO { (-r1, -t1) } else { (r1, t1) })
}

/// The residue of least magnitude.
fn symmetric(x: &IBig, m: &IBig) -> IBig {
    let r = x % m;
    let r = if r < IBig::ZERO { r + m } else { r };
    if (&r << 1) > *m { r - m } else { r }
}

fn abs(x: &IBig) -> IBig {
    if *x < IBig::ZERO { -x.clone() } else { x.clone() }
}

fn bit_length(x: &IBig) -> usize {
    let magnitude: UBig = abs(x).try_into().unwrap_or(UBig::ZERO);
    dashu_int::ops::BitTest::bit_len(&magnitude)
}

/// B⁻¹ modulo p by Gauss and Jordan.
fn invert(b: &[Vec<&IBig>]) -> Option<Vec<Vec<u64>>> {
    let n = b.len();
    let mut matrix: Vec<Vec<u64>> = b
        .iter()
        .enumerate()
        .map(|(i, row)| {
            let unit = (0..n).map(|j| u64::from(i == j));
            row.iter().map(|&x| residue(x)).chain(unit).collect()
        })
        .collect();
    for column in 0..n {
        cancel::check();
        let pivot = (column..n).find(|&r| matrix[r][column] != 0)?;
        matrix.swap(column, pivot);
        let inverse = power(matrix[column][column], P - 2);
        matrix[column].iter_mut().for_each(|x| *x = multiply(*x, inverse));
        let pivot_row = matrix[column].clone();
        for (r, row) in matrix.iter_mut().enumerate() {
            if r != column && row[column] != 0 {
                let minus = P - row[column];
                row[column..].iter_mut().zip(&pivot_row[column..]).for_each(|(x, y)| {
                    *x = reduce(u128::from(minus) * u128::from(*y) + u128::from(*x))
                });
            }
        }
    }
    Some(matrix.into_iter().map(|row| row[n..].to_vec()).collect())
}

fn residue(x: &IBig) -> u64 {
    if let Ok(small) = i64::try_from(x) {
        return small.rem_euclid(P as i64) as u64;
    }
    let prime = IBig::from(P);
    let r = x % &prime;
    u64::try_from(if r < IBig::ZERO { r + prime } else { r }).unwrap_or(0)
}

/// x mod 2^61 − 1.
#[inline(always)]
fn reduce(x: u128) -> u64 {
    let folded = (x & u128::from(P)) + (x >> 61);
    let folded = ((folded as u64) & P) + (folded >> 61) as u64;
    if folded >= P { folded - P } else { folded }
}

#[inline(always)]
fn multiply(a: u64, b: u64) -> u64 {
    reduce(u128::from(a) * u128::from(b))
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base);
        }
        base = multiply(base, base);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_data::rng::{Purpose, Stream};

    fn whole(rows: &[&[i64]]) -> Vec<Vec<IBig>> {
        rows.iter().map(|row| row.iter().map(|&x| IBig::from(x)).collect()).collect()
    }

    #[test]
    fn small_combinations_are_found() {
        let Combination::One(lambda) = combination(&whole(&[&[1, 0], &[0, 1], &[-2, -3]])) else {
            panic!()
        };
        let ratio = |i: usize| (&lambda[i] / &lambda[2], &lambda[i] % &lambda[2]);
        assert_eq!(ratio(0), (IBig::from(2), IBig::ZERO));
        assert_eq!(ratio(1), (IBig::from(3), IBig::ZERO));
        assert!(matches!(combination(&whole(&[&[1, 0], &[0, 1]])), Combination::None));
        assert!(matches!(combination(&whole(&[&[1, 0], &[2, 0], &[3, 0]])), Combination::Many));
    }

    #[test]
    fn large_systems_of_large_numbers_are_solved_exactly() {
        let mut stream = Stream::new(3, Purpose::Generate(0));
        for (size, bits) in [(5, 20), (20, 40), (30, 53), (12, 200)] {
            let mut draw = || {
                let words = (0..bits / 50 + 1)
                    .fold(IBig::ZERO, |x, _| (x << 50) + IBig::from(stream.bits() >> 14));
                (words >> (bits % 50)) * IBig::from(if stream.bits() & 1 == 0 { 1 } else { -1 })
            };
            let rows: Vec<Vec<IBig>> =
                (0..=size).map(|_| (0..size).map(|_| draw()).collect()).collect();
            let Combination::One(lambda) = combination(&rows) else { panic!("{size} {bits}") };
            assert!(sums_to_zero(&rows, &lambda) && lambda.iter().any(|l| *l != IBig::ZERO));
        }
    }

    #[test]
    fn reduction_is_the_remainder() {
        for x in [
            0u128,
            1,
            u128::from(P),
            u128::from(P) + 5,
            u128::from(P) * u128::from(P),
            (1 << 125) + 12345,
        ] {
            assert_eq!(u128::from(reduce(x)), x % u128::from(P));
        }
    }
}
