//! What floats and whole numbers found, written as claims: rows with multipliers in lowest terms,
//! planes of binary64 or of whole numbers.

use super::signed::{Signed, WholeRows};
use dashu_int::{IBig, UBig};
use linsep_proof::{ExactNumber, ExactPlane, Weighted};

pub(crate) fn gcd(a: IBig, b: IBig) -> IBig {
    let (mut a, mut b) = (a, b);
    while b != IBig::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    if a < IBig::ZERO { -a } else { a }
}

/// Rows of a question with their multipliers in lowest terms, as a certificate lists them.
pub(crate) fn weighted(view: &Signed, lambda: &[(usize, IBig)]) -> Vec<Weighted> {
    let divisor = lambda.iter().fold(IBig::ZERO, |g, (_, l)| gcd(g, l.clone()));
    let origin = view.data.origin();
    let several = origin.files().count() > 1;
    let entry = |(k, l): &(usize, IBig)| {
        let row = u64::from(view.rows[*k]);
        let file = origin.file(row).filter(|_| several).map(str::to_owned);
        Weighted::new(row, (l / &divisor).to_string()).with_line(origin.line(row)).with_file(file)
    };
    let mut witness: Vec<Weighted> = lambda.iter().map(entry).collect();
    witness.sort_by_key(|entry| entry.row);
    witness
}

/// The raw plane of whole coordinates: w_j · 2^-two · 5^-five, times one factor that makes it whole.
pub(crate) fn raw_whole(whole: &WholeRows, w: &[IBig]) -> (Vec<(u32, IBig)>, IBig) {
    let two = whole.scale.iter().map(|(two, _)| *two).max().unwrap_or(0).max(0);
    let five = whole.scale.iter().map(|(_, five)| *five).max().unwrap_or(0).max(0);
    let lift = |w: &IBig, t: i32, f: i32| {
        (w * IBig::from(UBig::from(5u8).pow((five - f) as usize))) << (two - t) as usize
    };
    let shift = usize::from(whole.bias);
    let bias = if whole.bias { lift(&w[0], 0, 0) } else { IBig::ZERO };
    let weights = whole.columns.iter().zip(&w[shift..]).zip(&whole.scale);
    let weights = weights.map(|((column, w), (t, f))| (*column, lift(w, *t, *f)));
    (weights.filter(|(_, w)| *w != IBig::ZERO).collect(), bias)
}

pub(crate) fn exact_plane(whole: &WholeRows, w: &[IBig]) -> ExactPlane {
    let (weights, bias) = raw_whole(whole, w);
    let number = |x: &IBig| ExactNumber::Ratio(x.to_string());
    ExactPlane::default()
        .with_sparse(Some(weights.iter().map(|(j, w)| (*j, number(w))).collect()))
        .with_bias(whole.bias.then(|| number(&bias)))
}

/// The plane in binary64, scaled so that the largest number is near 1.
pub(crate) fn rounded(whole: &WholeRows, w: &[IBig], width: usize) -> (Vec<f64>, f64) {
    let (weights, bias) = raw_whole(whole, w);
    let bits = |x: &IBig| {
        let magnitude: UBig =
            if *x < IBig::ZERO { (-x.clone()).try_into() } else { x.clone().try_into() }
                .unwrap_or(UBig::ZERO);
        dashu_int::ops::BitTest::bit_len(&magnitude)
    };
    let largest = weights.iter().map(|(_, w)| bits(w)).chain([bits(&bias)]).max().unwrap_or(0);
    let down = largest.saturating_sub(900);
    let float = |x: &IBig| (x >> down).to_f64().value() * 2f64.powi(-((largest - down) as i32));
    let mut dense = vec![0.0; width];
    weights.iter().for_each(|(j, w)| dense[*j as usize] = float(w));
    (dense, float(&bias))
}

/// The weights of all columns and the bias of a plane of binary64 numbers.
pub(crate) fn binary64(plane: &ExactPlane, width: usize) -> Option<(Vec<f64>, f64)> {
    let number = |x: &ExactNumber| match x {
        ExactNumber::Binary64(x) => Some(*x),
        ExactNumber::Ratio(_) => None,
    };
    let bias = plane.bias.as_ref().map_or(Some(0.0), number)?;
    let mut weights = vec![0.0; width];
    let dense = plane.weights.iter().flatten().enumerate();
    let sparse = plane.sparse.iter().flatten().map(|(j, w)| (*j as usize, w));
    for (j, weight) in dense.chain(sparse) {
        *weights.get_mut(j)? = number(weight)?;
    }
    Some((weights, bias))
}
