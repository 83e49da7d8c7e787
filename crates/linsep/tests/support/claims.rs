//! Claims carried over from one table to another that differs in the order of its rows or columns, in
//! the scale of its columns or in the side that is called positive.
#![allow(dead_code)] // Each test file uses its own part of this one.

use dashu_int::{IBig, UBig};
use linsep::proof::{Against, Claim, ClassPlane, ExactNumber, ExactPlane, Question, Weighted};

/// The same claim with every row renumbered and without places. Rows that become one row have the sum
/// of their weights.
pub(crate) fn with_rows(claim: &Claim, new_row: impl Fn(u64) -> u64) -> Claim {
    let mut claim = claim.clone();
    for_witness(&mut claim, |witness| {
        let mut sums: Vec<(u64, IBig)> = Vec::new();
        for entry in witness.iter() {
            let (row, lambda) = (new_row(entry.row), entry.lambda.parse::<IBig>().unwrap());
            match sums.iter_mut().find(|(known, _)| *known == row) {
                Some((_, sum)) => *sum += lambda,
                None => sums.push((row, lambda)),
            }
        }
        let plain = |(row, lambda): (u64, IBig)| {
            let lambda = lambda.to_string();
            Weighted::new(row, lambda)
        };
        *witness = sums.into_iter().map(plain).collect();
    });
    if let Claim::JointInseparable { witness }
    | Claim::JointTouching { witness, .. }
    | Claim::JointOverlapping { witness, .. } = &mut claim
    {
        let mut sums: Vec<(u64, String, IBig)> = Vec::new();
        for entry in witness.iter() {
            let (row, lambda) = (new_row(entry.row), entry.lambda.parse::<IBig>().unwrap());
            match sums.iter_mut().find(|(known, k, _)| *known == row && *k == entry.against) {
                Some((_, _, sum)) => *sum += lambda,
                None => sums.push((row, entry.against.clone(), lambda)),
            }
        }
        let plain = |(row, against, lambda): (u64, String, IBig)| {
            let lambda = lambda.to_string();
            Against::new(row, against, lambda)
        };
        *witness = sums.into_iter().map(plain).collect();
    }
    claim
}

/// The same claim without files and lines.
pub(crate) fn without_places(claim: &Claim) -> Claim {
    with_rows(claim, |row| row)
}

/// Every list of weighted rows that the claim has.
pub(crate) fn for_witness(claim: &mut Claim, mut change: impl FnMut(&mut Vec<Weighted>)) {
    match claim {
        Claim::Inseparable { witness, .. }
        | Claim::Touching { witness, .. }
        | Claim::Overlapping { witness, .. } => change(witness),
        Claim::Margin { support, .. } | Claim::GeometricMargin { support, .. } => change(support),
        Claim::Bracket { weights, .. } => change(weights),
        _ => (),
    }
}

/// Every plane of the claim, with its class where it has one.
pub(crate) fn for_planes(claim: &mut Claim, mut change: impl FnMut(Option<&str>, &mut ExactPlane)) {
    match claim {
        Claim::Separable { plane, .. } | Claim::Touching { plane, .. } => change(None, plane),
        Claim::JointSeparable { planes } => {
            for plane in planes {
                let ClassPlane { class, weights, sparse, bias, .. } = plane;
                let mut exact = ExactPlane::default()
                    .with_weights(weights.take())
                    .with_sparse(sparse.take())
                    .with_bias(bias.take());
                change(Some(class), &mut exact);
                (*weights, *sparse, *bias) = (exact.weights, exact.sparse, exact.bias);
            }
        }
        _ => (),
    }
}

/// One weight for each column.
pub(crate) fn dense(plane: &ExactPlane, width: usize) -> Vec<ExactNumber> {
    if let Some(weights) = &plane.weights {
        assert_eq!(weights.len(), width);
        return weights.clone();
    }
    let mut weights = vec![ExactNumber::Ratio("0".into()); width];
    for (column, weight) in plane.sparse.as_ref().unwrap() {
        weights[*column as usize] = weight.clone();
    }
    weights
}

/// The claim for a table whose column j was column `old[j]` of the claim's table.
pub(crate) fn with_columns(claim: &Claim, old: &[usize], bias: bool) -> Claim {
    let mut claim = claim.clone();
    for_planes(&mut claim, |_, plane| {
        let weights = dense(plane, old.len());
        plane.weights = Some(old.iter().map(|&j| weights[j].clone()).collect());
        plane.sparse = None;
    });
    if let Claim::Overlapping { null, .. } = &mut claim {
        let shift = usize::from(bias);
        for vector in null {
            let moved = old.iter().map(|&j| vector[j + shift].clone());
            *vector = vector[..shift].iter().cloned().chain(moved).collect();
        }
    }
    claim
}

/// The claim for the table whose column j, times 2^powers[j], is that of the claim's table.
pub(crate) fn with_scale(claim: &Claim, powers: &[i32], bias: bool) -> Claim {
    let mut claim = claim.clone();
    // One factor for everything keeps whole numbers whole.
    let lift = powers.iter().fold(0, |most, p| most.max(-p));
    for_planes(&mut claim, |_, plane| {
        let weights = dense(plane, powers.len());
        let scaled = weights.iter().zip(powers).map(|(w, p)| times_power(w, p + lift));
        plane.weights = Some(scaled.collect());
        plane.sparse = None;
        plane.bias = plane.bias.as_ref().map(|bias| times_power(bias, lift));
    });
    if let Claim::Overlapping { null, .. } = &mut claim {
        for vector in null {
            let constant = bias.then_some(&lift).copied();
            let all = constant.into_iter().chain(powers.iter().map(|p| p + lift));
            let scaled = vector.iter().zip(all);
            *vector = scaled
                .map(|(x, p)| (x.parse::<IBig>().unwrap() << p as usize).to_string())
                .collect();
        }
    }
    claim
}

/// The claim with the classes of its two sides exchanged.
pub(crate) fn with_names_exchanged(claim: &Claim) -> Claim {
    let mut claim = claim.clone();
    let exchange = |problem: &mut Question| {
        std::mem::swap(&mut problem.positive, &mut problem.negative);
    };
    match &mut claim {
        Claim::Separable { problem, .. }
        | Claim::Inseparable { problem, .. }
        | Claim::Touching { problem, .. }
        | Claim::Overlapping { problem, .. } => exchange(problem),
        other => panic!("no sides in {other:?}"),
    }
    claim
}

/// The claim with every plane turned around.
pub(crate) fn with_planes_negated(claim: &Claim) -> Claim {
    let mut claim = claim.clone();
    for_planes(&mut claim, |_, plane| {
        plane.weights.iter_mut().flatten().for_each(|w| *w = negative(w));
        plane.sparse.iter_mut().flatten().for_each(|(_, w)| *w = negative(w));
        plane.bias = plane.bias.as_ref().map(negative);
    });
    claim
}

/// −x.
pub(crate) fn negative(number: &ExactNumber) -> ExactNumber {
    match number {
        ExactNumber::Binary64(x) => ExactNumber::Binary64(-x),
        ExactNumber::Ratio(text) => ExactNumber::Ratio(match text.strip_prefix('-') {
            Some(rest) => rest.to_owned(),
            None => format!("-{text}"),
        }),
    }
}

fn times_power(number: &ExactNumber, power: i32) -> ExactNumber {
    assert!(power >= 0);
    match number {
        ExactNumber::Binary64(x) => ExactNumber::Binary64(x * 2f64.powi(power)),
        ExactNumber::Ratio(text) => {
            let (p, q) = text.split_once('/').unwrap_or((text, "1"));
            let p = p.parse::<IBig>().unwrap() << power as usize;
            assert!(q.parse::<UBig>().unwrap() > UBig::ZERO);
            ExactNumber::Ratio(if q == "1" { p.to_string() } else { format!("{p}/{q}") })
        }
    }
}
