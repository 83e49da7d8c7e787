//! Few mistakes by search: J_N, the criterion without a slope.
//!
//! Problem: the plane with the fewest rows on the wrong side or on itself. J_N is flat between steps,
//! so there is nothing to descend, and to find its least value is hard in general. Idea: the pocket
//! algorithm gives a first plane, the verdict another one, which separates the rows that are left when
//! conflicts are taken out. From the better one on, one weight at a time (the bias is one) is moved to
//! the place where, all others fixed, the fewest rows are wrong; when that is over, the same along the
//! steps that a perceptron would take for the wrong rows, for all and for each. Along a direction a + t d
//! J_N changes only where a row changes its side, at t = −(z·a)/(z·d), so a sort of these places finds
//! the best of all t. A move is made only if fewer rows are wrong, so the search ends: when none of
//! these directions leads to fewer, or when it is proved that no plane makes fewer mistakes.
//!
//! Proved: `mistakes`. The checker counts the mistakes of the plane in exact arithmetic, and conflicts
//! that have no row in common prove how many every plane makes at least. Where the two numbers are the
//! same, no plane is better.
//!
//! Row weights count in the search; the claim is about rows. K classes by one-versus-rest.
//!
//! Reference: Duda, Hart, Stork, 5.4.

use crate::claim::planes::{float_plane, problem_of};
use crate::engine::batch::margins;
use crate::engine::online::is_count;
use crate::engine::perceptron::{Perceptron, Planes, certificate_of};
use crate::learn::pocket::Pocket;
use crate::model::{LinearModel, Plane};
use crate::run::{
    BinaryLearner, Budget, Certificate, Learner, Progress, Remark, SavedPlane, State, Status, Task,
    Training,
};
use crate::verdict::disjoint::disjoint_conflicts;
use linsep_data::error::{Error, Result};
use linsep_data::scale::Scaler;
use linsep_proof::{Claim, Finding, Weighted, check_claim};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// The search for few mistakes: a pocket run, then moves of single weights.
///
/// ```
/// use linsep::learn::descent::search::FewMistakes;
/// use linsep::{Claim, Dataset, Learner, Limits, Task};
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let xor = Task::new(Dataset::from_rows(&rows, &["0", "1", "1", "0"])?);
/// let fit = FewMistakes::default().fit(&xor, &Limits::default(), &mut ())?;
/// // One mistake, and no plane makes fewer.
/// let Claim::Mistakes { mistakes, conflicts, .. } = &fit.certificate.claims[0] else { panic!() };
/// assert_eq!((*mistakes, conflicts.len()), (1, 1));
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FewMistakes {
    /// The perceptron whose pocket is the start.
    pub run: Perceptron,
    /// Its epochs.
    pub pocket_epochs: u64,
}

linsep_proof::setters! {
    FewMistakes {
        with_run => run: Perceptron,
        with_pocket_epochs => pocket_epochs: u64,
    }
}

impl Default for FewMistakes {
    fn default() -> Self {
        FewMistakes { run: Perceptron::default(), pocket_epochs: 4 }
    }
}

impl Learner for FewMistakes {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        crate::run::reduction::OneVsRest(self.clone()).start(task)
    }
}

impl BinaryLearner for FewMistakes {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        let rows = task.active_rows()?;
        let weights =
            crate::engine::row_weights::row_weights(&task.data, &rows, &self.run.class_weights);
        let weights = rows.iter().map(|&row| weights.as_ref().map_or(1.0, |w| w[row as usize]));
        let weights: Vec<f64> = weights.collect();
        let pocket = Pocket(self.run.clone()).start_binary(task, positive)?;
        let scaler = Scaler::new(self.run.scale, &task.data, &rows);
        let (pocket_epochs, task) = (self.pocket_epochs, task.clone());
        let conflicts = OnceLock::new();
        Ok(Box::new(SearchRun {
            task,
            positive,
            rows,
            weights,
            scaler,
            pocket,
            pocket_epochs,
            moves: None,
            conflicts,
        }))
    }
}

struct SearchRun {
    task: Task,
    positive: u32,
    rows: Vec<u32>,
    /// The weight of each of the rows.
    weights: Vec<f64>,
    scaler: Scaler,
    pocket: Box<dyn Training>,
    pocket_epochs: u64,
    /// `None` while the pocket is being filled.
    moves: Option<Moves>,
    /// Conflicts, and a plane for the rows that are in none. They depend on the rows alone.
    conflicts: OnceLock<(Vec<Vec<Weighted>>, Option<Plane>)>,
}

/// The second half: moves of single weights.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Moves {
    plane: SavedPlane,
    /// Rows that are wrong.
    mistakes: u64,
    /// Passes over the rows, one for each direction looked at, and visits within one.
    passes: u64,
    visits: u64,
    /// Moves made.
    made: u64,
    /// Directions looked at since the last move.
    idle: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedSearch {
    pocket: State,
    moves: Option<Moves>,
}

impl SearchRun {
    fn plane(&self) -> Plane {
        match &self.moves {
            Some(moves) => moves.plane.plane(),
            None => self.pocket.model().planes.swap_remove(0),
        }
    }

    fn margins(&self, plane: &Plane) -> Vec<f64> {
        margins(&self.task.data, &self.rows, self.positive, plane, self.task.threads)
    }

    /// Directions in all: the weights, the bias, all wrong rows together, and some of them.
    fn directions(&self) -> u64 {
        self.task.data.n_features() as u64 + 2 + WRONG_ROWS
    }

    /// Whether no plane makes fewer mistakes, or every direction was looked along in vain.
    fn is_over(&self) -> bool {
        let least = || self.conflicts().0.len() as u64;
        let over = |moves: &Moves| {
            moves.mistakes == 0 || moves.idle >= self.directions() || moves.mistakes <= least()
        };
        self.moves.as_ref().is_some_and(over)
    }

    /// The direction to look along: single weights, the bias first, then the step towards all wrong rows
    /// and the steps towards single ones, those next to the plane first. `None` where there are not so
    /// many.
    fn direction(&self, number: u64, margins: &[f64]) -> Option<Plane> {
        let data = &self.task.data;
        let mut direction = Plane { weights: vec![0.0; data.n_features()], bias: 0.0 };
        let number = number as usize;
        let Some(place) = number.checked_sub(data.n_features() + 1) else {
            match number {
                0 => direction.bias = 1.0,
                j => direction.weights[j - 1] = 1.0,
            }
            return Some(direction);
        };
        let mut wrong: Vec<usize> = (0..margins.len()).filter(|&k| is_wrong(margins[k])).collect();
        wrong.sort_by(|&a, &b| margins[b].total_cmp(&margins[a]).then(a.cmp(&b)));
        let steps = match place.checked_sub(1) {
            None => &wrong[..],
            Some(place) => wrong.get(place..place + 1)?,
        };
        for &k in steps {
            let row = self.rows[k] as usize;
            let y = if data.class_of(row) == self.positive { 1.0 } else { -1.0 };
            direction.bias += y;
            data.for_each(row, |j, x| {
                let scale = self.scaler.scale(j as usize);
                direction.weights[j as usize] += y * scale * scale * x;
            });
        }
        Some(direction)
    }

    fn begin_moves(&mut self) {
        let mut plane = self.pocket.model().planes.swap_remove(0);
        if let (_, Some(other)) = self.conflicts()
            && self.cost(&self.margins(other)) < self.cost(&self.margins(&plane))
        {
            plane = other.clone();
        }
        let mistakes = self.margins(&plane).iter().filter(|m| is_wrong(**m)).count() as u64;
        let plane = SavedPlane::of(&plane);
        self.moves = Some(Moves { plane, mistakes, passes: 0, visits: 0, made: 0, idle: 0 });
    }

    /// Looks along the next direction.
    fn look(&mut self) {
        let Some(moves) = &self.moves else { return };
        let mut plane = moves.plane.plane();
        let before = self.margins(&plane);
        let mut better = None;
        if let Some(direction) = self.direction(moves.passes % self.directions(), &before) {
            let step = self.best_step(&direction, &before);
            let pairs = plane.weights.iter_mut().zip(&direction.weights);
            pairs.for_each(|(w, d)| *w += step * d);
            plane.bias += step * direction.bias;
            // Rounding may have taken back what the sort promised, so it is counted again.
            let after = self.margins(&plane);
            if step != 0.0 && self.cost(&after) < self.cost(&before) {
                better = Some(after.iter().filter(|m| is_wrong(**m)).count() as u64);
            }
        }
        let Some(moves) = &mut self.moves else { return };
        moves.passes += 1;
        moves.idle += 1;
        if let Some(mistakes) = better {
            moves.plane = SavedPlane::of(&plane);
            moves.mistakes = mistakes;
            moves.made += 1;
            moves.idle = 0;
        }
    }

    /// Σ ω over the rows that are wrong.
    fn cost(&self, margins: &[f64]) -> f64 {
        let wrong = margins.iter().zip(&self.weights).filter(|(m, _)| is_wrong(**m));
        wrong.map(|(_, weight)| weight).sum()
    }

    /// How far to go along a direction so that the fewest rows are wrong; 0 if the plane stands best.
    fn best_step(&self, direction: &Plane, margins: &[f64]) -> f64 {
        // (where the row changes its side, its weight if it is then right, minus it if it is wrong).
        let slopes = self.margins(direction);
        let mut places: Vec<(f64, f64)> = Vec::new();
        for ((&slope, &m), &weight) in slopes.iter().zip(margins).zip(&self.weights) {
            let place = -m / slope;
            if slope != 0.0 && place.is_finite() {
                places.push((place, weight.copysign(slope)));
            }
        }
        places.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        best_gap(&places)
    }
}

/// Wrong rows towards which a step is tried.
const WRONG_ROWS: u64 = 16;

/// A number inside the best gap between places: going right past (place, ω) makes rows of weight ω
/// right if ω > 0 and wrong if ω < 0. Of equally good gaps the one next to 0. A place that falls
/// into the best gap of 0 itself gives 0.
fn best_gap(places: &[(f64, f64)]) -> f64 {
    let mut gain = 0.0;
    let (mut best, mut best_gain) = (0.0, f64::NEG_INFINITY);
    let mut offer = |gain: f64, low: Option<f64>, high: Option<f64>| {
        let inside = match (low, high) {
            (None, None) => 0.0,
            (None, Some(high)) if 0.0 < high => 0.0,
            (Some(low), None) if low < 0.0 => 0.0,
            (Some(low), Some(high)) if low < 0.0 && 0.0 < high => 0.0,
            (None, Some(high)) => high - high.abs().max(1.0),
            (Some(low), None) => low + low.abs().max(1.0),
            (Some(low), Some(high)) => low + (high - low) / 2.0,
        };
        let closer = gain == best_gain && f64::abs(inside) < f64::abs(best);
        if gain > best_gain || closer {
            (best, best_gain) = (inside, gain);
        }
    };
    offer(gain, None, places.first().map(|(place, _)| *place));
    let mut k = 0;
    while k < places.len() {
        let place = places[k].0;
        while k < places.len() && places[k].0 == place {
            gain += places[k].1;
            k += 1;
        }
        offer(gain, Some(place), places.get(k).map(|(next, _)| *next));
    }
    best
}

/// On the wrong side, on the plane, or not a number.
fn is_wrong(m: f64) -> bool {
    let right = m > 0.0;
    !right
}

impl Training for SearchRun {
    fn advance(&mut self, budget: Budget) -> Status {
        let Budget { mut visits, mut updates } = budget;
        let epoch = self.rows.len().max(1) as u64;
        while visits > 0 && updates > 0 && !self.is_over() {
            if self.moves.is_none() {
                let before = self.pocket.progress();
                let left = (self.pocket_epochs * epoch).saturating_sub(before.visits);
                let step = Budget { visits: visits.min(left), updates };
                let status = if left > 0 { self.pocket.advance(step) } else { Status::Finished };
                let after = self.pocket.progress();
                visits -= after.visits - before.visits;
                updates = updates.saturating_sub(after.updates - before.updates);
                match status {
                    Status::Diverged => return Status::Diverged,
                    Status::Finished => self.begin_moves(),
                    Status::Running => {}
                }
                continue;
            }
            let Some(moves) = &mut self.moves else { continue };
            let step = visits.min(epoch - moves.visits);
            visits -= step;
            moves.visits += step;
            if moves.visits == epoch {
                moves.visits = 0;
                let made = moves.made;
                self.look();
                let now = self.moves.as_ref().map_or(made, |moves| moves.made);
                updates -= now - made;
            }
        }
        if self.is_over() { Status::Finished } else { Status::Running }
    }

    fn epoch_rows(&self) -> u64 {
        self.rows.len() as u64
    }

    fn progress(&self) -> Progress {
        let pocket = self.pocket.progress();
        match &self.moves {
            None => pocket,
            Some(moves) => Progress {
                epochs: pocket.epochs + moves.passes,
                visits: pocket.visits + moves.passes * self.epoch_rows() + moves.visits,
                updates: pocket.updates + moves.made,
                last_mistakes: Some(moves.mistakes),
                ..pocket
            },
        }
    }

    fn model(&self) -> LinearModel {
        LinearModel { planes: vec![self.plane()], ..self.pocket.model() }
    }

    fn certificate(&self) -> Certificate {
        let (data, plane) = (self.task.data.as_ref(), self.plane());
        let separable =
            certificate_of(&self.task, Planes::One(self.positive), std::slice::from_ref(&plane));
        if separable.proves_something() {
            return separable;
        }
        let all = Task { rows: None, ..self.task.clone() };
        let Ok(rows) = all.active_rows() else { return separable };
        let wrong = margins(data, &rows, self.positive, &plane, self.task.threads);
        let claim = Claim::Mistakes {
            problem: problem_of(data, &data.classes()[self.positive as usize], None),
            plane: float_plane(&plane.weights, Some(plane.bias)).into(),
            mistakes: wrong.iter().filter(|m| is_wrong(**m)).count() as u64,
            conflicts: self.conflicts().0.clone(),
        };
        match check_claim(&claim, data, &data.reading_field(), true, self.task.threads) {
            Finding::Holds(_) => Certificate::new(vec![claim]),
            Finding::Nothing(words) | Finding::Fails(words) => {
                Certificate::unproved(format!("the checker does not confirm it: {words}"))
            }
        }
    }

    fn remarks(&self) -> Vec<Remark> {
        let Some(moves) = &self.moves else { return Vec::new() };
        let least = if moves.mistakes == 0 { 0 } else { self.conflicts().0.len() as u64 };
        let optimal = if moves.mistakes == least { "; no plane makes fewer" } else { "" };
        let words = format!(
            "{} of {} rows by this plane, at least {least} by any{optimal}",
            moves.mistakes,
            self.rows.len()
        );
        let data = [("rows", moves.mistakes.into()), ("at_least", least.into())];
        vec![Remark::new("mistakes", words, data)]
    }

    fn save(&self) -> State {
        let pocket = self.pocket.save();
        State::encode(&SavedSearch { pocket, moves: self.moves.clone() })
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let saved: SavedSearch = state.decode()?;
        if let Some(moves) = &saved.moves {
            SavedPlane::all(std::slice::from_ref(&moves.plane), &[self.plane()])?;
            let counts = [moves.passes, moves.made, moves.idle, moves.mistakes];
            if moves.visits >= self.rows.len().max(1) as u64 || !counts.into_iter().all(is_count) {
                return Err(Error::usage("the saved state belongs to a run on other data"));
            }
        }
        self.pocket.restore(&saved.pocket)?;
        self.moves = saved.moves;
        Ok(())
    }

    crate::training_lacks!(
        traces,
        carries_on,
        warm_starts,
        bounds_margin,
        bounds_objective,
        generates,
        seeks
    );
}

impl SearchRun {
    fn conflicts(&self) -> &(Vec<Vec<Weighted>>, Option<Plane>) {
        let find = || disjoint_conflicts(&self.task, self.positive, &self.rows);
        self.conflicts.get_or_init(find)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against every gap tried out.
    #[test]
    fn the_best_gap_makes_the_fewest_wrong() {
        let places = [(-2.0, 1.0), (-1.0, -1.0), (0.5, 1.0), (0.5, 2.0), (3.0, -4.0), (4.0, 1.0)];
        let wrong = |t: f64| -> f64 {
            let is_wrong = |(place, weight): &&(f64, f64)| {
                if *weight > 0.0 { t <= *place } else { t >= *place }
            };
            places.iter().filter(is_wrong).map(|(_, weight)| weight.abs()).sum()
        };
        let step = best_gap(&places);
        for t in [-3.0, -1.5, 0.0, 0.2, 1.0, 3.5, 5.0] {
            assert!(wrong(step) <= wrong(t), "{t}");
        }
        assert_eq!(step, 1.75);
        assert_eq!(best_gap(&[]), 0.0);
        assert_eq!(best_gap(&[(-1.0, 1.0)]), 0.0);
        assert!(best_gap(&[(1.0, 1.0)]) > 1.0 && best_gap(&[(-1.0, -1.0)]) < -1.0);
    }
}
