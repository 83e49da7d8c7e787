//! How far a row is from the place where its class would change.
//!
//! For one plane this is the distance |w·x + b| / |w|. The pair boundary of two classes of an argmax
//! is (w_k − w_j)·x + (b_k − b_j) = 0, and the region of a class ends where the first of its boundaries
//! is met, so the distance is the least of (s_c − s_j) / |w_c − w_j| over the other classes j. With
//! K − 1 machines the last class has the score 0 and no weights. With votes it is the least distance
//! from the planes of the duels of the class, negative on the wrong side of one: up to there nothing
//! changes. Distances are those of the features as the model sees them. Ballots have no distances; for
//! them the scores themselves are compared, which are shares of votes.
//!
//! References: Bishop 4.1.1, 4.1.2; Duda, Hart, Stork 5.2.

use super::rule::{Rule, duel_place, duels};
use super::{Decision, LinearModel, Plane};
use linsep_data::error::{Error, Result};

/// Distances are kept for at most this many classes.
const MOST_CLASSES: usize = 2048;

/// Measures the leads of rows.
#[derive(Clone, Debug)]
pub struct Leads<'a> {
    model: &'a LinearModel,
    /// What the difference of two scores is divided by, for each pair in the order of [`duels`].
    lengths: Vec<f64>,
}

impl LinearModel {
    /// What is needed to measure how far rows are from the boundaries of their classes.
    pub fn leads(&self) -> Result<Leads<'_>> {
        if let Some(Decision::Costs(_)) = self.decision {
            return Err(Error::usage(
                "the classes of this model are decided by costs, so there are no distances to boundaries",
            ));
        }
        let classes = self.classes.len();
        if classes > MOST_CLASSES {
            return Err(Error::usage(format!(
                "distances from boundaries are measured for at most {MOST_CLASSES} classes, \
                 the model has {classes}"
            )));
        }
        let between = |pair| self.boundary(pair).map_or(1.0, |plane| length(&plane));
        Ok(Leads { model: self, lengths: duels(classes).map(between).collect() })
    }

    /// The plane on which two classes i < j have the same score, positive on the side of j; for votes
    /// the plane of their duel. The last of K − 1 machines counts as a plane of zeros. `None` where
    /// ballots decide. Differences of weights are rounded to binary64.
    pub fn boundary(&self, (i, j): (usize, usize)) -> Option<Plane> {
        match self.rule {
            Rule::Sign => self.planes.first().cloned().map(|mut plane| {
                plane.bias -= self.cut();
                plane
            }),
            Rule::Vote => self.planes.get(duel_place(self.classes.len(), (i, j))).cloned(),
            Rule::Ballot(_) => None,
            Rule::ArgMax | Rule::Rest | Rule::RestLast => {
                let mut plane = match self.planes.get(j) {
                    Some(plane) => plane.clone(),
                    None => Plane { weights: vec![0.0; self.input.width()], bias: 0.0 },
                };
                let other = self.planes.get(i)?;
                plane.weights.iter_mut().zip(&other.weights).for_each(|(a, b)| *a -= b);
                plane.bias -= other.bias;
                Some(plane)
            }
        }
    }
}

impl Leads<'_> {
    /// The lead of a row with these scores. It is below 0 only where a class wins although it lost a
    /// duel.
    pub fn of(&self, scores: &[f64]) -> f64 {
        let (classes, winner) = (self.model.classes.len(), self.model.class_of(scores) as usize);
        let rivals = (0..classes).filter(|&rival| rival != winner);
        let score = |class: usize| scores.get(class).copied().unwrap_or(0.0);
        let lead = |rival: usize| {
            let pair = duel_place(classes, (winner.min(rival), winner.max(rival)));
            let gap = match self.model.rule.on_scores() {
                Rule::Sign | Rule::Ballot(_) => (scores[0] - self.model.cut()).abs(),
                Rule::Vote if winner > rival => scores[pair],
                Rule::Vote => -scores[pair],
                Rule::ArgMax | Rule::Rest | Rule::RestLast => score(winner) - score(rival),
            };
            // Without a length nothing ever closes a gap, or opens one.
            if gap == 0.0 { 0.0 } else { gap / self.lengths[pair] }
        };
        rivals.map(lead).fold(f64::INFINITY, f64::min)
    }
}

/// |w|, without leaving the range of binary64 on the way.
fn length(plane: &Plane) -> f64 {
    let largest = plane.weights.iter().fold(0.0f64, |largest, w| largest.max(w.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let squares: f64 = plane.weights.iter().map(|w| (w / largest).powi(2)).sum();
    largest * squares.sqrt()
}
