//! The Ho-Kashyap procedure (1965): least squares whose targets give way.
//!
//! Problem: rows z = y(1, x); find a plane a with z·a > 0 for all of them, or the proof that there is
//! none. Idea: least squares towards positive targets b, Z a = b, and let the targets grow wherever
//! the plane overshoots them, never shrink:
//!
//! ```text
//! a = Z⁺ b,   e = Z a − b,   b += 2 η max(e, 0),   0 < η < 1,   b = 1 at first
//! ```
//!
//! On separable rows the run ends with Z a > 0. On others e comes to be nowhere positive, but not 0;
//! because a solves least squares, Zᵀ e = 0, and so λ = −e ≥ 0 proves that no plane separates
//! (Gordan). In floats that is a proposal: the rows with e < 0 go to the exact method, and what it
//! makes of them has passed the checker. Where columns depend on each other the plane of least length
//! is taken. Every step solves with the same factors, and scaling changes nothing.
//!
//! K classes by one-versus-rest.
//!
//! Reference: Duda, Hart, Stork, Pattern Classification, 5.9.

use crate::algebra::Factor;
use crate::claim::planes::problem_of;
use crate::engine::batch::margins;
use crate::engine::closed_form::{Equations, Right, class_factors, require_matrix};
use crate::engine::direct::{Moments, Spec, Want};
use crate::engine::online::{fingerprint, is_count};
use crate::engine::perceptron::{Planes, certificate_of};
use crate::model::{LinearModel, Link, Plane, Rule};
use crate::run::{
    BinaryLearner, Budget, Certificate, ClassWeights, Learner, Progress, Remark, SavedPlane, State,
    Status, Task, Training,
};
use crate::verdict::disjoint::conflict;
use linsep_data::error::{Error, Result};
use linsep_proof::{Claim, Weighted};
use serde::{Deserialize, Serialize};

/// The settings of the procedure.
///
/// ```
/// use linsep::learn::ho_kashyap::HoKashyap;
/// use linsep::{Claim, Dataset, Learner, Limits, Task};
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let xor = Task::new(Dataset::from_rows(&rows, &["0", "1", "1", "0"])?);
/// let fit = HoKashyap::default().fit(&xor, &Limits::default(), &mut ())?;
/// assert!(matches!(fit.certificate.claims[0], Claim::Inseparable { .. }));
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HoKashyap {
    /// η between 0 and 1.
    pub rate: f64,
    /// What rows count by their class.
    pub class_weights: ClassWeights,
}

linsep_proof::setters! {
    HoKashyap {
        with_rate => rate: f64,
        with_class_weights => class_weights: ClassWeights,
    }
}

impl Default for HoKashyap {
    fn default() -> Self {
        HoKashyap { rate: 0.9, class_weights: ClassWeights::None }
    }
}

impl Learner for HoKashyap {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        crate::run::reduction::OneVsRest(self.clone()).start(task)
    }
}

impl BinaryLearner for HoKashyap {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        if !(self.rate > 0.0 && self.rate < 1.0) {
            let words = format!("the rate is {}, it must be above 0 and below 1", self.rate);
            return Err(Error::usage(words));
        }
        require_matrix(task, "ho-kashyap")?;
        let rows = task.active_rows()?;
        let now = Now {
            rows: fingerprint(&task.data, &rows),
            targets: vec![1f64.to_bits(); rows.len()],
            plane: SavedPlane::of(&Plane { weights: vec![0.0; task.data.n_features()], bias: 0.0 }),
            epoch: 0,
            visits: 0,
            mistakes: None,
            ask_below: FIRST_ASKED,
            ended: Ended::No,
        };
        let factors = class_factors(&task.data, &rows, &self.class_weights);
        let (settings, task) = (self.clone(), task.clone());
        Ok(Box::new(HoKashyapRun {
            settings,
            task,
            positive,
            rows,
            factors,
            solver: None,
            conflict: None,
            now,
        }))
    }
}

/// The share of Σ e² that its positive part may have when a refutation is asked for; a hundredth of
/// it after each time that none was found.
const FIRST_ASKED: f64 = 1e-3;

struct HoKashyapRun {
    settings: HoKashyap,
    task: Task,
    positive: u32,
    rows: Vec<u32>,
    /// The factor of each class beside the weights of rows.
    factors: Vec<f64>,
    /// Made at the first step, the same for all.
    solver: Option<(Moments, Factor)>,
    conflict: Option<Vec<Weighted>>,
    now: Now,
}

/// Everything that changes.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Now {
    /// Tells lists of rows apart.
    rows: u64,
    /// b, by its bits.
    targets: Vec<u64>,
    plane: SavedPlane,
    epoch: u64,
    /// Visits within the epoch: the step is made at its end.
    visits: u64,
    mistakes: Option<u64>,
    ask_below: f64,
    ended: Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Ended {
    No,
    Separated,
    Refuted,
    Diverged,
}

impl HoKashyapRun {
    fn plane(&self) -> Plane {
        self.now.plane.plane()
    }

    /// Solves for the targets as they are, looks at the errors, moves the targets.
    fn step(&mut self) {
        let mut targets: Vec<f64> = self.now.targets.iter().map(|b| f64::from_bits(*b)).collect();
        let plane = self.solve(&targets);
        let margins = self.margins(&plane);
        self.now.epoch += 1;
        self.now.plane = SavedPlane::of(&plane);
        let mistakes = margins.iter().filter(|m| m.is_nan() || **m <= 0.0).count() as u64;
        self.now.mistakes = Some(mistakes);
        if !plane.bias.is_finite() || plane.weights.iter().any(|w| !w.is_finite()) {
            self.now.ended = Ended::Diverged;
        } else if mistakes == 0 {
            self.now.ended = Ended::Separated;
        }
        if self.now.ended != Ended::No {
            return;
        }
        let errors: Vec<f64> = margins.iter().zip(&targets).map(|(m, b)| m - b).collect();
        let positive: f64 = errors.iter().map(|e| e.max(0.0).powi(2)).sum();
        let all: f64 = errors.iter().map(|e| e * e).sum();
        if positive <= self.now.ask_below * all {
            self.conflict = self.refute(&errors);
            self.now.ask_below *= 1e-2;
            if self.conflict.is_some() {
                self.now.ended = Ended::Refuted;
                return;
            }
        }
        for (b, e) in targets.iter_mut().zip(&errors) {
            *b += 2.0 * self.settings.rate * e.max(0.0);
        }
        self.now.targets = targets.iter().map(|b| b.to_bits()).collect();
    }

    /// The rows with e < 0, as far as they count, are the ones to prove it with.
    fn refute(&self, errors: &[f64]) -> Option<Vec<Weighted>> {
        let most = errors.iter().fold(0.0, |most: f64, e| most.max(-e));
        let counts = |(_, e): &(&u32, &f64)| **e < -1e-9 * most;
        let rows: Vec<u32> =
            self.rows.iter().zip(errors).filter(counts).map(|(row, _)| *row).collect();
        conflict(&self.task, self.positive, &rows)
    }

    /// The plane with the least Σ f (z·a − b)².
    fn solve(&mut self, targets: &[f64]) -> Plane {
        let (data, threads) = (self.task.data.clone(), self.task.threads);
        let spec = Spec::new(&data, &self.rows, self.factors.clone(), Want::Scatter);
        let width = data.n_features();
        let (moments, factor) = self.solver.get_or_insert_with(|| {
            let moments = spec.collect(threads).finish(&spec.shift);
            let factor = Factor::new(&moments.scatter(false, threads), width);
            (moments, factor)
        });
        let equations =
            Equations { spec: &spec, moments, factor, within: false, keep: 1.0, ridge: 0.0 };
        let positive = self.positive as usize;
        // Σ f t (x − μ) and Σ f t with t = ±b.
        let sums = |places: std::ops::Range<usize>| {
            let (mut sum, mut total) = (vec![0.0; width], 0.0);
            spec.for_rows(places, |place, f, class, values| {
                let t = if class == positive { f * targets[place] } else { -f * targets[place] };
                total += t;
                for ((s, y), offset) in sum.iter_mut().zip(values).zip(equations.centre(class)) {
                    *s += t * (y - offset);
                }
            });
            (sum, total)
        };
        let (mut rhs, mut total) = (vec![0.0; width], 0.0);
        for (sum, part) in spec.by_blocks(threads, sums) {
            rhs.iter_mut().zip(&sum).for_each(|(rhs, sum)| *rhs += sum);
            total += part;
        }
        let weights =
            equations.solve(&[Right { rhs, targets: None }], threads).pop().unwrap_or_default();
        let mean = moments.mean_of_all();
        let middle: f64 = weights.iter().zip(&mean).map(|(w, m)| w * m).sum();
        // A negative zero would tell one storage from the other.
        let weights = weights.into_iter().map(|w| w + 0.0).collect();
        Plane { weights, bias: total / moments.total - middle + 0.0 }
    }

    /// z·a of every row.
    fn margins(&self, plane: &Plane) -> Vec<f64> {
        margins(&self.task.data, &self.rows, self.positive, plane, self.task.threads)
    }
}

impl Training for HoKashyapRun {
    fn advance(&mut self, budget: Budget) -> Status {
        let Budget { mut visits, mut updates } = budget;
        let epoch = self.rows.len() as u64;
        while visits > 0 && updates > 0 && self.now.ended == Ended::No {
            let step = visits.min(epoch - self.now.visits);
            visits -= step;
            self.now.visits += step;
            if self.now.visits == epoch {
                self.now.visits = 0;
                self.step();
                updates -= 1;
            }
        }
        match self.now.ended {
            Ended::No => Status::Running,
            Ended::Diverged => Status::Diverged,
            Ended::Separated | Ended::Refuted => Status::Finished,
        }
    }

    fn epoch_rows(&self) -> u64 {
        self.rows.len() as u64
    }

    fn progress(&self) -> Progress {
        Progress {
            epochs: self.now.epoch,
            visits: self.now.epoch * self.epoch_rows() + self.now.visits,
            updates: self.now.epoch,
            last_mistakes: self.now.mistakes,
            objective: None,
            gap: None,
        }
    }

    fn model(&self) -> LinearModel {
        LinearModel::of(&self.task.data, vec![self.plane()], Rule::Sign, Link::None)
    }

    fn certificate(&self) -> Certificate {
        let data = &self.task.data;
        if let Some(witness) = &self.conflict {
            let problem = problem_of(data, &data.classes()[self.positive as usize], None);
            let witness = witness.clone();
            return Certificate::new(vec![Claim::Inseparable { problem, witness }]);
        }
        certificate_of(&self.task, Planes::One(self.positive), &[self.plane()])
    }

    fn remarks(&self) -> Vec<Remark> {
        Vec::new()
    }

    fn save(&self) -> State {
        State::encode(&self.now)
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let now: Now = state.decode()?;
        let planes = SavedPlane::all(std::slice::from_ref(&now.plane), &[self.plane()])?;
        let fits = now.rows == self.now.rows
            && now.targets.len() == self.rows.len()
            && now.visits < self.rows.len().max(1) as u64
            && is_count(now.epoch)
            && planes.len() == 1;
        if !fits {
            return Err(Error::usage("the saved state belongs to a run on other data"));
        }
        self.conflict = None;
        self.now = now;
        if self.now.ended == Ended::Refuted {
            // The refutation follows from the targets and the plane.
            let margins = self.margins(&self.plane());
            let targets = self.now.targets.iter().map(|b| f64::from_bits(*b));
            let errors: Vec<f64> = margins.iter().zip(targets).map(|(m, b)| m - b).collect();
            self.conflict = self.refute(&errors);
        }
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
