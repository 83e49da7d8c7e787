//! Learning with two weights in all, for pictures of weight space.
//!
//! The rows are z = (1, x) with one feature, so that the weights are (b, w), or z = (x₁, x₂) with two
//! features and no bias. A row of the positive class asks for w·z > 0, one of the negative class for
//! w·z < 0; with the reflected rows z ← yz both ask for w·z > 0.
//!
//! ```text
//! single    at each row with w·z ≤ 0:           w += η z
//! batch     after each pass over all rows:      w −= η ∇J(w)
//! ```
//!
//! With one feature the single-sample run is that of `linsep::learn::perceptron::Perceptron` in cyclic order
//! on columns as they are, to the last bit; tests say so. What is here beside it is the run without a
//! bias, and the steps of any criterion.
//!
//! Reference: Duda, Hart, Stork, Pattern Classification, 5.4 and 5.5.

use linsep::loss::Criterion;
use linsep::model::{LinearModel, Plane, Rule};
use linsep::run::{Budget, Certificate, Learner, Progress, Remark, State, Status, Task, Training};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The settings of a run with two weights.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TwoWeights {
    /// Row by row, or a step down the slope of a criterion after each pass.
    pub batch: Option<Criterion>,
    /// The learning rate; chosen when `None`: 1 for single rows, else from criterion and rows.
    pub rate: Option<f64>,
    /// The weights at the start.
    pub start: [f64; 2],
}

linsep_proof::setters! {
    TwoWeights {
        with_batch => batch: Option<Criterion>,
        with_rate => rate: Option<f64>,
        with_start => start: [f64; 2],
    }
}

impl Default for TwoWeights {
    fn default() -> Self {
        TwoWeights { batch: None, rate: None, start: [0.0; 2] }
    }
}

impl Learner for TwoWeights {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        let rows = task.active_rows()?;
        let reflected = Reflected::new(&task.data)?;
        let z: Vec<[f64; 2]> = rows.iter().map(|row| reflected.z[*row as usize]).collect();
        if self.rate.is_some_and(|rate| !rate.is_finite() || rate <= 0.0) {
            return Err(Error::usage("the learning rate is no number above 0"));
        }
        let rate = self.rate.unwrap_or_else(|| self.batch.map_or(1.0, |j| natural_rate(j, &z)));
        Ok(Box::new(TwoWeightRun {
            batch: self.batch,
            rate,
            model: LinearModel::new(
                vec![Plane::new(vec![0.0; task.data.n_features()], 0.0)],
                Rule::Sign,
                task.data.classes().to_vec(),
                task.data.input().clone(),
            ),
            has_bias: reflected.has_bias,
            now: Now { w: self.start, ended: z.is_empty(), ..Now::default() },
            z,
        }))
    }
}

/// The rows of a two-class problem with two weights, reflected: all of them ask for w·z > 0.
pub(crate) struct Reflected {
    pub(crate) z: Vec<[f64; 2]>,
    pub(crate) has_bias: bool,
}

impl Reflected {
    pub(crate) fn new(data: &Dataset) -> Result<Reflected> {
        data.require_two_classes()?;
        let has_bias = match (data.n_classes(), data.n_features()) {
            (2, 1) => true,
            (2, 2) => false,
            (2, features) => {
                return Err(Error::usage(format!(
                    "two weights are those of one feature with a bias or of two features without one; \
                     there are {features} features, choose with `features`"
                )));
            }
            (classes, _) => {
                return Err(Error::usage(format!(
                    "two weights are those of two classes and there are {classes}; choose one with \
                     `positive=CLASS`"
                )));
            }
        };
        let reflected = |row: usize| {
            let x = data.row(row);
            let y = if data.class_of(row) == 1 { 1.0 } else { -1.0 };
            if has_bias { [y, y * x[0]] } else { [y * x[0], y * x[1]] }
        };
        Ok(Reflected { z: (0..data.n_rows()).map(reflected).collect(), has_bias })
    }
}

/// J and its gradient at w. `jd` is not defined at 0; there it has the slope of `jp`.
pub(crate) fn criterion_at(criterion: Criterion, z: &[[f64; 2]], w: [f64; 2]) -> (f64, [f64; 2]) {
    let mut sums = Sums::default();
    z.iter().for_each(|z| sums.add(criterion, *z, w));
    sums.finish(criterion, w)
}

/// A rate in the units of the rows: the inverse of the curvature where there is one.
fn natural_rate(criterion: Criterion, z: &[[f64; 2]]) -> f64 {
    let (mut a, mut b, mut c) = (0.0, 0.0, 0.0);
    for [x, y] in z {
        (a, b, c) = (a + x * x, b + x * y, c + y * y);
    }
    let largest = (a + c) / 2.0 + ((a - c) / 2.0).hypot(b);
    let rate = match criterion.curvature() {
        Some(curvature) => 1.0 / (curvature * largest),
        None if criterion == Criterion::Hinge => 2.0 / (a + c),
        None => 1.0 / z.len().max(1) as f64,
    };
    if rate.is_finite() && rate > 0.0 { rate } else { 1.0 }
}

/// What a pass adds up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sums {
    value: f64,
    slope: [f64; 2],
    mistakes: u64,
}

impl Sums {
    fn add(&mut self, criterion: Criterion, z: [f64; 2], w: [f64; 2]) {
        let m = dot(z, w);
        self.value += criterion.value(m);
        let slope = criterion.slope(m);
        self.slope = [self.slope[0] + slope * z[0], self.slope[1] + slope * z[1]];
        self.mistakes += u64::from(m <= 0.0);
    }

    fn finish(&self, criterion: Criterion, w: [f64; 2]) -> (f64, [f64; 2]) {
        let length = w[0].hypot(w[1]);
        if criterion != Criterion::Distance || length == 0.0 {
            let undefined = criterion == Criterion::Distance;
            return (if undefined { f64::NAN } else { self.value }, self.slope);
        }
        let part = |k: usize| self.slope[k] / length - self.value * w[k] / length.powi(3);
        (self.value / length, [part(0), part(1)])
    }
}

fn dot(z: [f64; 2], w: [f64; 2]) -> f64 {
    z[0] * w[0] + z[1] * w[1]
}

struct TwoWeightRun {
    batch: Option<Criterion>,
    rate: f64,
    model: LinearModel,
    has_bias: bool,
    z: Vec<[f64; 2]>,
    now: Now,
}

/// Everything that changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Now {
    w: [f64; 2],
    cursor: u64,
    epochs: u64,
    updates: u64,
    mistakes: u64,
    last_mistakes: Option<u64>,
    sums: Sums,
    ended: bool,
}

impl TwoWeightRun {
    fn visit(&mut self) -> bool {
        let z = self.z[self.now.cursor as usize];
        let before = self.now.updates;
        match self.batch {
            None if dot(z, self.now.w) <= 0.0 => {
                self.now.mistakes += 1;
                self.step([-z[0], -z[1]], self.rate);
            }
            None => {}
            Some(criterion) => self.now.sums.add(criterion, z, self.now.w),
        }
        self.now.cursor += 1;
        if self.now.cursor == self.z.len() as u64 {
            self.end_pass();
        }
        self.now.updates > before
    }

    fn step(&mut self, slope: [f64; 2], rate: f64) {
        self.now.w = [self.now.w[0] - rate * slope[0], self.now.w[1] - rate * slope[1]];
        self.now.updates += 1;
    }

    fn end_pass(&mut self) {
        if let Some(criterion) = self.batch {
            let (_, slope) = self.now.sums.finish(criterion, self.now.w);
            self.now.mistakes = self.now.sums.mistakes;
            let clean = self.now.mistakes == 0 && !criterion.is_differentiable();
            let fading = if criterion == Criterion::Hinge {
                1.0 / ((self.now.updates + 1) as f64).sqrt()
            } else {
                1.0
            };
            let rate = self.rate * fading;
            let length = self.now.w[0].hypot(self.now.w[1]);
            let at_rest = rate * slope[0].hypot(slope[1]) <= 1e-9 * length.max(f64::MIN_POSITIVE);
            self.now.ended = at_rest || (clean && criterion != Criterion::Hinge);
            if !self.now.ended {
                self.step(slope, rate);
            }
            self.now.sums = Sums::default();
        } else {
            self.now.ended = self.now.mistakes == 0;
        }
        self.now.last_mistakes = Some(self.now.mistakes);
        (self.now.mistakes, self.now.cursor) = (0, 0);
        self.now.epochs += 1;
    }
}

impl Training for TwoWeightRun {
    fn advance(&mut self, budget: Budget) -> Status {
        let mut updates = budget.updates;
        for _ in 0..budget.visits {
            if self.now.ended || updates == 0 {
                break;
            }
            updates -= u64::from(self.visit());
        }
        match self.now.w.iter().all(|w| w.is_finite()) {
            _ if self.now.ended => Status::Finished,
            true => Status::Running,
            false => Status::Diverged,
        }
    }

    fn epoch_rows(&self) -> u64 {
        self.z.len() as u64
    }

    fn progress(&self) -> Progress {
        let Now { epochs, updates, last_mistakes, cursor, .. } = self.now;
        let visits = epochs * self.z.len() as u64 + cursor;
        Progress::default()
            .with_epochs(epochs)
            .with_visits(visits)
            .with_updates(updates)
            .with_last_mistakes(last_mistakes)
    }

    fn model(&self) -> LinearModel {
        let mut model = self.model.clone();
        let [first, second] = self.now.w;
        model.planes[0] = match self.has_bias {
            true => Plane::new(vec![second], first),
            false => Plane::new(vec![first, second], 0.0),
        };
        model
    }

    fn certificate(&self) -> Certificate {
        Certificate::unproved("a run for a picture proves nothing")
    }

    fn remarks(&self) -> Vec<Remark> {
        Vec::new()
    }

    fn save(&self) -> State {
        State::encode(&self.now)
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let now: Now = state.decode()?;
        if now.cursor >= (self.z.len() as u64).max(1) {
            return Err(Error::usage("the saved state belongs to a run on other data"));
        }
        self.now = now;
        Ok(())
    }

    linsep::training_lacks!(
        traces,
        carries_on,
        warm_starts,
        bounds_margin,
        bounds_objective,
        generates,
        seeks
    );
}

/// A run as a picture shows it: the weights at the start and after each update, and whether it ended
/// by its own rule.
pub(crate) struct Path {
    pub(crate) points: Vec<[f64; 2]>,
    pub(crate) ended: bool,
}

/// Runs for at most so many updates.
pub(crate) fn path(settings: &TwoWeights, task: &Task, updates: u64) -> Result<Path> {
    let mut training = settings.start(task)?;
    let bias = task.data.n_features() == 1;
    let (points, ended) = followed(training.as_mut(), updates, |plane| match bias {
        true => [plane.bias, plane.weights[0]],
        false => [plane.weights[0], plane.weights[1]],
    });
    Ok(Path { points, ended })
}

/// The weights of a run at its start and after each of at most so many updates, and whether it ended by its
/// own rule.
pub(crate) fn followed<const N: usize>(
    training: &mut dyn Training,
    updates: u64,
    weights: impl Fn(Plane) -> [f64; N],
) -> (Vec<[f64; N]>, bool) {
    let here = |training: &dyn Training| weights(training.model().planes.swap_remove(0));
    let mut points = vec![here(training)];
    let mut stop = linsep::Stop::Updates;
    while stop == linsep::Stop::Updates && (points.len() as u64) <= updates {
        let limits =
            linsep::Limits::default().with_epochs(None).with_updates(Some(points.len() as u64));
        stop = linsep::drive(training, &limits, &mut ());
        if training.progress().updates == points.len() as u64 {
            points.push(here(training));
        }
    }
    points.retain(|point| point.iter().all(|w| w.is_finite()));
    (points, stop == linsep::Stop::Finished)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep::engine::perceptron::{Order, Perceptron};
    use linsep::run::{Limits, drive};
    use linsep_data::scale::Scaling;

    fn line() -> Task {
        let rows = [[0.5], [2.25], [-1.0], [4.0], [1.5], [3.0]];
        Task::new(Dataset::from_rows(&rows, &["a", "b", "a", "b", "a", "b"]).unwrap())
    }

    #[test]
    fn with_one_feature_it_is_the_perceptron() {
        let mut perceptron = Perceptron::default();
        (perceptron.order, perceptron.scale) = (Order::Cyclic, Scaling::None);
        for updates in 0..40 {
            let limits = Limits::default().with_epochs(None).with_updates(Some(updates));
            let own = TwoWeights::default().fit(&line(), &limits, &mut ()).unwrap();
            let its = perceptron.fit(&line(), &limits, &mut ()).unwrap();
            assert_eq!(own.model.planes, its.model.planes);
            assert_eq!((own.stop, own.progress), (its.stop, its.progress));
        }
    }

    #[test]
    fn with_one_feature_its_batch_is_the_descent() {
        use linsep::engine::rate::Rate;
        use linsep::learn::descent::Descent;
        for criterion in [Criterion::Perceptron, Criterion::Squared, Criterion::Logistic] {
            let mut descent = Descent::on(criterion);
            (descent.scale, descent.rate) = (Scaling::None, Some("0.01".parse::<Rate>().unwrap()));
            let own =
                TwoWeights { batch: Some(criterion), rate: Some(0.01), ..TwoWeights::default() };
            let limits = Limits::default().with_epochs(Some(7));
            let own = own.fit(&line(), &limits, &mut ()).unwrap().model.planes.remove(0);
            let its = descent.fit(&line(), &limits, &mut ()).unwrap().model.planes.remove(0);
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
            assert!(
                near(own.bias, its.bias) && near(own.weights[0], its.weights[0]),
                "{criterion:?}"
            );
        }
    }

    #[test]
    fn gradients_are_those_of_the_values() {
        let z = Reflected::new(&line().data).unwrap().z;
        for criterion in Criterion::ALL {
            for w in [[0.3, -0.7], [-1.1, 0.4], [2.0, 0.1]] {
                let (_, slope) = criterion_at(criterion, &z, w);
                for k in 0..2 {
                    let mut moved = [w, w];
                    (moved[0][k], moved[1][k]) = (w[k] + 1e-6, w[k] - 1e-6);
                    let [up, down] = moved.map(|w| criterion_at(criterion, &z, w).0);
                    assert!(((up - down) / 2e-6 - slope[k]).abs() < 1e-4, "{criterion:?} {w:?}");
                }
            }
        }
    }

    #[test]
    fn a_saved_run_goes_on_as_if_nothing_had_happened() {
        let settings = TwoWeights { batch: Some(Criterion::Distance), ..TwoWeights::default() };
        let mut whole = settings.start(&line()).unwrap();
        drive(whole.as_mut(), &Limits::default().with_epochs(Some(9)), &mut ());
        let mut first = settings.start(&line()).unwrap();
        first.advance(Budget::visits(23));
        let mut second = settings.start(&line()).unwrap();
        second.restore(&first.save()).unwrap();
        drive(second.as_mut(), &Limits::default().with_epochs(Some(9)), &mut ());
        assert_eq!(whole.model(), second.model());
    }
}
