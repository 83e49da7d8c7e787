//! Moves of share that correct the sums of a dual point of all classes to 0, where there is no penalty.
//!
//! A move takes share from the greatest class of a row and gives it to another one: it is a vector with z and −z in
//! the blocks of the two planes, as a row is one of two classes ([`crate::objective::correction`]). Moves between
//! large shares come first, as those can change by much before one of them is below 0.

use super::joint::Joint;
use crate::objective::Intercept;
use crate::objective::correction::{DEPENDENT, Scaled, independent};

/// Moves beyond this number take too long to be chosen and checked.
const MOST_MOVES: usize = 1200;
const TOO_MANY: &str =
    "without a penalty nothing is proved beyond 1,200 coefficients of all classes";

/// Candidates that are kept, those of the largest shares: far more than are needed.
const MOST_CANDIDATES: usize = 1 << 20;

/// (row, plane, plane) of moves of share from the second plane to the first, rising; or why there are not enough.
pub(crate) fn moves(joint: &Joint, shares: &[f64]) -> Result<Vec<(u64, u32, u32)>, &'static str> {
    let free = joint.intercept == Intercept::Free;
    let scaled = Scaled::new(&joint.data, &joint.rows, free);
    let (size, last) = (scaled.size(), joint.classes - 1);
    if size * last > MOST_MOVES {
        return Err(TOO_MANY);
    }
    let mut candidates: Vec<Candidate> = Vec::new();
    let by_share =
        |a: &Candidate, b: &Candidate| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2)));
    for (i, shares) in (0u32..).zip(shares.chunks_exact(joint.classes)) {
        let greatest = (0..joint.classes).fold(0, |g, k| if shares[k] > shares[g] { k } else { g });
        let others = (0..joint.classes).filter(|k| *k != greatest && shares[*k] > 0.0);
        let cost = joint.costs[i as usize];
        candidates.extend(others.map(|k| (cost * shares[k], i, k as u32, greatest as u32)));
        if candidates.len() > 2 * MOST_CANDIDATES {
            candidates.select_nth_unstable_by(MOST_CANDIDATES, by_share);
            candidates.truncate(MOST_CANDIDATES);
        }
    }
    candidates.sort_unstable_by(by_share);
    let vector = |(_, i, to, from): &Candidate| {
        let z = scaled.row(joint.rows[*i as usize]);
        let mut vector = vec![0.0; size * last];
        for (plane, sign) in [(*to as usize, -1.0), (*from as usize, 1.0)] {
            if plane < last {
                let block = &mut vector[plane * size..][..size];
                block.iter_mut().zip(&z).for_each(|(x, z)| *x = sign * z);
            }
        }
        vector
    };
    let chosen = independent(size * last, &candidates, vector).ok_or(DEPENDENT)?;
    let mut moves: Vec<(u64, u32, u32)> = chosen
        .into_iter()
        .map(|(_, i, to, from)| (u64::from(joint.rows[i as usize]), to, from))
        .collect();
    moves.sort_unstable();
    Ok(moves)
}

/// The share that a move can take, the position of its row, and the planes to and from which it goes.
type Candidate = (f64, u32, u32, u32);
