//! The area under the ROC curve: the share of pairs (+, -) whose + has the higher score, ties count half.

use super::ratio;

/// Counts twice the pairs won, in integers.
pub(super) fn auc([negative, positive]: &mut [Vec<f64>; 2]) -> Option<f64> {
    negative.sort_unstable_by(f64::total_cmp);
    positive.sort_unstable_by(f64::total_cmp);
    let (mut below, mut up_to, mut wins) = (0, 0, 0u128);
    for &score in positive.iter() {
        below += negative[below..].iter().take_while(|&&other| other < score).count();
        up_to += negative[up_to..].iter().take_while(|&&other| other <= score).count();
        wins += (below + up_to) as u128;
    }
    let pairs = negative.len() as u128 * positive.len() as u128;
    (pairs > 0).then(|| wins as f64 / (2 * pairs) as f64)
}

/// The same where each row counts by its weight.
pub(super) fn auc_by_weight(scores: &[Vec<f64>; 2], weights: &[Vec<f64>; 2]) -> Option<f64> {
    let sorted = |side: usize| {
        let mut rows: Vec<(f64, f64)> =
            scores[side].iter().copied().zip(weights[side].iter().copied()).collect();
        rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        rows
    };
    let [negative, positive] = [0, 1].map(sorted);
    let (mut below, mut up_to) = ((0, 0.0), (0, 0.0));
    let mut wins = 0.0;
    for (score, weight) in &positive {
        while negative.get(below.0).is_some_and(|(other, _)| other < score) {
            below = (below.0 + 1, below.1 + negative[below.0].1);
        }
        while negative.get(up_to.0).is_some_and(|(other, _)| other <= score) {
            up_to = (up_to.0 + 1, up_to.1 + negative[up_to.0].1);
        }
        wins += weight * (below.1 + up_to.1);
    }
    let sum = |rows: &[(f64, f64)]| rows.iter().map(|(_, weight)| weight).sum::<f64>();
    ratio(wins, 2.0 * sum(&negative) * sum(&positive))
}
