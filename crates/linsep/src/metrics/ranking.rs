//! Curves over all thresholds of a score, with their areas.
//!
//! Rows in falling order of their scores; rows of the same score change sides together. With TP and FP the weight of
//! the rows above a threshold, P and N that of all:
//!
//! ```text
//! ROC                points (FP/N, TP/P); its area by trapezoids, which is the share of pairs (+, −) in order, ties half
//! precision-recall   points (TP/P, TP/(TP + FP)); average precision = Σ (TP − TP′)/P · TP/(TP + FP)
//! ```
//!
//! The interval of the area is DeLong's. A row's placement is the share of the rows of the other side that it is in
//! order with; with V and V′ the placements of both sides, var(area) = var(V)/P + var(V′)/N. The same of the
//! differences of placements tests two scores of the same rows.
//!
//! References: DeLong, DeLong, Clarke-Pearson 1988; Sun and Xu 2014; Davis and Goadrich 2006.

use super::ratio;
use linsep_data::sort::places;
use serde::Serialize;

/// A point of a curve, and the least score that counts as positive there; infinite where none does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CurvePoint {
    /// Rows of at least this score count as positive.
    pub threshold: f64,
    /// False positive rate, or recall.
    pub x: f64,
    /// True positive rate, or precision.
    pub y: f64,
}

/// Rows in falling order of a score, those of one side positive.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    scores: Vec<f64>,
    positive: Vec<bool>,
    /// Places of rows by falling scores.
    order: Vec<u32>,
}

/// The weight of the rows from one threshold up.
#[derive(Clone, Copy, Default)]
struct Above {
    score: f64,
    positive: f64,
    negative: f64,
}

impl Ranking {
    pub(super) fn new(scores: Vec<f64>, positive: Vec<bool>) -> Ranking {
        let order = places(scores.len(), &mut |a, b| {
            // A zero is a zero, whatever its sign.
            let (a, b) = (scores[a] + 0.0, scores[b] + 0.0);
            b.total_cmp(&a)
        });
        Ranking { scores, positive, order: order.into_iter().map(|row| row as u32).collect() }
    }

    /// Calls `each` with what stands above each threshold, and returns the sums of all.
    fn walk(&self, weight: &dyn Fn(usize) -> f64, each: &mut dyn FnMut(Above)) -> Above {
        let mut above = Above::default();
        let mut at = 0;
        while at < self.order.len() {
            above.score = self.scores[self.order[at] as usize];
            while let Some(&row) = self.order.get(at)
                && self.scores[row as usize] == above.score
            {
                let row = row as usize;
                match self.positive[row] {
                    true => above.positive += weight(row),
                    false => above.negative += weight(row),
                }
                at += 1;
            }
            each(above);
        }
        above
    }

    /// The area under the ROC curve and the average precision, where both sides have rows.
    pub(super) fn areas(&self, weight: &dyn Fn(usize) -> f64) -> Option<(f64, f64)> {
        let (mut area, mut precision, mut before) = (0.0, 0.0, Above::default());
        let all = self.walk(weight, &mut |above| {
            area += (above.negative - before.negative) * (above.positive + before.positive) / 2.0;
            let found = above.positive - before.positive;
            if found > 0.0 {
                precision += found * above.positive / (above.positive + above.negative);
            }
            before = above;
        });
        Some((ratio(area, all.positive * all.negative)?, ratio(precision, all.positive)?))
    }

    /// The corners of the ROC curve, from (0, 0) to (1, 1), if both sides have rows. Points on straight pieces are
    /// left out.
    pub(super) fn roc(&self, weight: &dyn Fn(usize) -> f64) -> Option<Vec<CurvePoint>> {
        let mut found = vec![Above { score: f64::INFINITY, ..Above::default() }];
        let all = self.walk(weight, &mut |above| {
            if let [.., a, b] = found[..] {
                let (dx, dy) = (b.negative - a.negative, b.positive - a.positive);
                if dx * (above.positive - b.positive) == dy * (above.negative - b.negative) {
                    found.pop();
                }
            }
            found.push(above);
        });
        let both = all.positive > 0.0 && all.negative > 0.0;
        let point = |above: &Above| CurvePoint {
            threshold: above.score,
            x: above.negative / all.negative,
            y: above.positive / all.positive,
        };
        both.then(|| found.iter().map(point).collect())
    }

    /// The points of the precision-recall curve by rising recall, if there are positive rows.
    pub(super) fn precision_recall(
        &self,
        weight: &dyn Fn(usize) -> f64,
    ) -> Option<Vec<CurvePoint>> {
        let mut found: Vec<Above> = Vec::new();
        let all = self.walk(weight, &mut |above| {
            if above.positive + above.negative > 0.0 {
                found.push(above);
            }
        });
        let point = |above: &Above| CurvePoint {
            threshold: above.score,
            x: above.positive / all.positive,
            y: above.positive / (above.positive + above.negative),
        };
        (all.positive > 0.0).then(|| found.iter().map(point).collect())
    }

    /// For each row its placement: the share of the other side that it is in order with, ties half.
    pub(super) fn placements(&self, weight: &dyn Fn(usize) -> f64) -> Option<Vec<f64>> {
        let mut groups: Vec<Above> = vec![Above::default()];
        let all = self.walk(weight, &mut |above| groups.push(above));
        ratio(1.0, all.positive * all.negative)?;
        let mut placed = vec![0.0; self.scores.len()];
        let mut at = 0;
        for pair in groups.windows(2) {
            let (before, above) = (pair[0], pair[1]);
            // A positive row wins against the negative ones below it, a negative one against those above it.
            let wins = all.negative - (above.negative + before.negative) / 2.0;
            let losses = (above.positive + before.positive) / 2.0;
            while let Some(&row) = self.order.get(at)
                && self.scores[row as usize] == above.score
            {
                let row = row as usize;
                placed[row] = match self.positive[row] {
                    true => wins / all.negative,
                    false => losses / all.positive,
                };
                at += 1;
            }
        }
        Some(placed)
    }

    /// The mean and the variance of the mean of one number for each row, the positive and the negative rows apart;
    /// the means are equal if the numbers are placements. Rows count by whole weights.
    pub(super) fn delong(
        &self,
        placed: &dyn Fn(usize) -> f64,
        weight: &dyn Fn(usize) -> f64,
    ) -> Option<(f64, f64)> {
        let side = |positive: bool| {
            let rows =
                || (0..self.positive.len()).filter(move |row| self.positive[*row] == positive);
            let total: f64 = rows().map(weight).sum();
            let mean = ratio(rows().map(|row| weight(row) * placed(row)).sum(), total)?;
            let squares: f64 = rows().map(|row| weight(row) * (placed(row) - mean).powi(2)).sum();
            Some((mean, ratio(squares, (total - 1.0) * total)?))
        };
        let ((mean, one), (_, other)) = (side(true)?, side(false)?);
        Some((mean, one + other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_and_areas_by_hand() {
        // Scores 3 2 2 1 0 of + + − − +.
        let rows =
            Ranking::new(vec![0.0, 2.0, 3.0, 1.0, 2.0], vec![true, false, true, false, true]);
        let one = |_: usize| 1.0;
        let (area, precision) = rows.areas(&one).unwrap();
        // Pairs: 3 beats both; 2 ties one and beats one; 0 beats none.
        assert_eq!(area, 3.5 / 6.0);
        assert!((precision - (1.0 + 2.0 / 3.0 + 3.0 / 5.0) / 3.0).abs() < 1e-15);
        let roc: Vec<[f64; 2]> = rows.roc(&one).unwrap().iter().map(|p| [p.x, p.y]).collect();
        let third = 1.0 / 3.0;
        assert_eq!(roc, [[0.0, 0.0], [0.0, third], [0.5, 2.0 / 3.0], [1.0, 2.0 / 3.0], [1.0, 1.0]]);
        let pr = rows.precision_recall(&one).unwrap();
        assert_eq!((pr.len(), pr[0].y, pr[3].x), (4, 1.0, 1.0));
        let placed = rows.placements(&one).unwrap();
        assert_eq!(placed, [0.0, 0.5, 1.0, 2.0 / 3.0, 0.75]);
        let (mean, variance) = rows.delong(&|row| placed[row], &one).unwrap();
        assert!((mean - area).abs() < 1e-15);
        let spread =
            |x: [f64; 3], m: f64| x.iter().map(|x| (x - m).powi(2)).sum::<f64>() / 2.0 / 3.0;
        let negatives = (0.5f64 - 2.0 / 3.0).powi(2) / 2.0 / 2.0;
        assert!((variance - spread([0.0, 1.0, 0.75], area) - negatives).abs() < 1e-15);
    }

    #[test]
    fn one_side_alone_has_no_curve_and_ties_are_one_point() {
        let alone = Ranking::new(vec![1.0, 2.0], vec![true, true]);
        assert!(alone.areas(&|_| 1.0).is_none() && alone.roc(&|_| 1.0).is_none());
        assert!(alone.placements(&|_| 1.0).is_none());
        let tied = Ranking::new(vec![0.0, -0.0, 0.0], vec![true, false, false]);
        let roc = tied.roc(&|_| 1.0).unwrap();
        assert_eq!((roc.len(), tied.areas(&|_| 1.0)), (2, Some((0.5, 1.0 / 3.0))));
        assert!(Ranking::new(vec![], vec![]).areas(&|_| 1.0).is_none());
    }

    #[test]
    fn whole_weights_are_repeated_rows() {
        let (scores, sides) = ([0.5, 0.25, 0.25, 0.75, 0.1], [true, true, false, false, true]);
        let weights = [2.0, 1.0, 3.0, 1.0, 2.0];
        let one = Ranking::new(scores.to_vec(), sides.to_vec());
        let repeat = |row: usize| std::iter::repeat_n(row, weights[row] as usize);
        let rows: Vec<usize> = (0..5).flat_map(repeat).collect();
        let all = Ranking::new(
            rows.iter().map(|row| scores[*row]).collect(),
            rows.iter().map(|row| sides[*row]).collect(),
        );
        let weight = |row: usize| weights[row];
        let (a, b) = (one.areas(&weight).unwrap(), all.areas(&|_| 1.0).unwrap());
        assert!((a.0 - b.0).abs() < 1e-15 && (a.1 - b.1).abs() < 1e-15);
        assert_eq!(one.roc(&weight), all.roc(&|_| 1.0));
        let placed = [one.placements(&weight).unwrap(), all.placements(&|_| 1.0).unwrap()];
        let one = one.delong(&|row| placed[0][row], &weight).unwrap();
        let all = all.delong(&|row| placed[1][row], &|_| 1.0).unwrap();
        assert!((one.0 - all.0).abs() < 1e-15 && (one.1 - all.1).abs() < 1e-15);
    }
}
