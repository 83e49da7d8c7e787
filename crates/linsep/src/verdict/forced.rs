//! What all separating planes say of points that are not among the rows.
//!
//! Every plane with z·w > 0 for all rows has the point p on the positive side exactly if no such plane is left
//! when p joins the negative rows. Then rows and −p balance, Σ μ z = k p with μ ≥ 0 and k > 0, and that sum is
//! the proof. So a point is two questions of the kind that a verdict answers: the rows with the point on the
//! one side, and with it on the other. If both are separable, the two planes differ on the point.

use super::signed::exact_value;
use super::stacked::features_like;
use super::{Decision, Judge, Verdict};
use linsep_data::Dataset;
use linsep_data::door::Labels;
use linsep_data::error::{Error, Result};
use linsep_proof::{
    Claim, ExactNumber, ExactPlane, ForcedLabel, ForcedSide, Multiple, Question, SparseVector,
    check_claim,
};

/// What separating planes say of a point, with its proof.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Forced {
    /// Whether they agree, and on which side.
    pub side: ForcedSide,
    /// The proof, accepted by the checker.
    pub claim: Claim,
}

/// The answers for some points; `None` where a search ended before it knew, or the point is on every plane.
pub(crate) fn of(
    judge: &Judge,
    decision: &Decision,
    points: &[Vec<(u32, f64)>],
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Option<Forced>>> {
    let problem = decision.problem.as_ref().filter(|_| decision.verdict == Verdict::Separable);
    let Some(problem) = problem else {
        return Err(Error::usage("no plane is known to separate the rows, so none can be asked"));
    };
    if judge.data.input().basis.is_some() {
        return Err(Error::usage(
            "points are asked of planes in the columns, without basis functions",
        ));
    }
    let question = Asked { judge, problem, sides: [&problem.positive[0], &problem.negative[0]] };
    let extended = question.extended(points)?;
    let answer = |k: usize| -> Result<Option<Forced>> {
        // Even to put a question takes a pass over all rows.
        if stop() {
            return Ok(None);
        }
        let mut decisions = Vec::new();
        for side in 0..2 {
            decisions.push(question.with_point(&extended, points.len(), k, side, stop)?);
        }
        let Some(forced) = question.label(&extended, k, &decisions) else { return Ok(None) };
        let side = forced.side;
        let claim = Claim::Forced { problem: problem.clone(), forced };
        let data = judge.data.as_ref();
        let finding = check_claim(&claim, data, &judge.reading(), judge.bias, judge.threads);
        Ok(finding.holds().then_some(Forced { side, claim }))
    };
    (0..points.len()).map(answer).collect()
}

struct Asked<'a> {
    judge: &'a Judge,
    problem: &'a Question,
    /// A class of each side.
    sides: [&'a String; 2],
}

impl Asked<'_> {
    /// The rows and then the points, all on the positive side.
    fn extended(&self, points: &[Vec<(u32, f64)>]) -> Result<Dataset> {
        let data = self.judge.data.as_ref();
        let (mut offsets, mut indices, mut values) = (vec![0u64], Vec::new(), Vec::new());
        let mut push = |j: u32, x: f64| {
            indices.push(u64::from(j));
            values.push(x);
        };
        let mut end = 0;
        for row in 0..data.n_rows() {
            data.for_each(row, |j, x| {
                push(j, x);
                end += 1;
            });
            offsets.push(end);
        }
        for point in points {
            for &(j, x) in point.iter().filter(|(_, x)| *x != 0.0) {
                push(j, x);
                end += 1;
            }
            offsets.push(end);
        }
        let exceptions = data.reading().binary64.iter().copied();
        let arrays = (&offsets[..], &indices[..], &values[..]);
        let threads = self.judge.threads;
        let features = features_like(data, arrays, data.n_features(), exceptions, threads);
        let Some(features) = features else {
            return Err(Error::usage(
                "a point has a number of more than 15 digits in a column of short decimals",
            ));
        };
        let names = (0..data.n_rows()).map(|row| data.label_text(row));
        let names: Vec<&str> = names.chain(points.iter().map(|_| self.sides[0].as_str())).collect();
        Dataset::new(features, Labels::text(&names)?, None)
    }

    /// The decision with the k-th point on a side.
    fn with_point(
        &self,
        extended: &Dataset,
        points: usize,
        k: usize,
        side: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<Decision> {
        let data = self.judge.data.as_ref();
        let rows = data.n_rows();
        let mut weights: Vec<f64> = (0..rows).map(|row| data.weight(row)).collect();
        weights.extend((0..points).map(|other| f64::from(u8::from(other == k))));
        let mut names: Vec<&str> = (0..rows).map(|row| data.label_text(row)).collect();
        names.extend((0..points).map(|_| self.sides[side].as_str()));
        let features = extended.features().clone();
        let with = Dataset::new(features, Labels::text(&names)?, Some((&weights[..]).into()))?;
        let judge = Judge {
            bias: self.judge.bias,
            kind: false,
            threads: self.judge.threads,
            clock: self.judge.clock,
            ..Judge::new(with)
        };
        judge.decide(self.problem.clone(), stop)
    }

    /// What both decisions together say.
    fn label(&self, extended: &Dataset, k: usize, decisions: &[Decision]) -> Option<ForcedLabel> {
        let rows = self.judge.data.n_rows();
        let plane = |decision: &Decision| match &decision.claim {
            Claim::Separable { plane, .. } => Some(plane.clone()),
            _ => None,
        };
        let sum = |decision: &Decision| match &decision.claim {
            Claim::Inseparable { witness, .. } => {
                let rows = witness.iter().filter(|entry| entry.row < rows as u64);
                Some(rows.map(|entry| Multiple::new(entry.row, entry.lambda.clone())).collect())
            }
            _ => None,
        };
        let point = self.point(extended, rows + k);
        let planes: [Option<ExactPlane>; 2] = [plane(&decisions[0]), plane(&decisions[1])];
        Some(match planes {
            [Some(first), Some(second)] => {
                ForcedLabel::new(point, ForcedSide::Either, vec![first, second])
            }
            [Some(plane), None] => ForcedLabel::new(point, ForcedSide::Positive, vec![plane])
                .with_combination(sum(&decisions[1])?),
            [None, Some(plane)] => ForcedLabel::new(point, ForcedSide::Negative, vec![plane])
                .with_combination(sum(&decisions[0])?),
            [None, None] => return None,
        })
    }

    /// The exact values of a row, as the reading of the data understands them.
    fn point(&self, extended: &Dataset, row: usize) -> SparseVector {
        let mut point = Vec::new();
        extended.for_each(row, |column, value| {
            let number = match exact_value(&self.judge.data, column, value) {
                // A binary64 stands for itself.
                exact if exact.five == 0 => ExactNumber::Binary64(value),
                exact => ExactNumber::Ratio(exact.fraction()),
            };
            point.push((column, number));
        });
        point
    }
}
