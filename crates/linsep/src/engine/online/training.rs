//! An online run as a [`Training`].

use super::{Earlier, Moving, Online};
use crate::claim::separating::Planes;
use crate::engine::stopping::StopRule;
use crate::model::LinearModel;
use crate::run::ability::{BoundsMargin, Traces};
use crate::run::update::{Beginning, Move, StartPlane, Update};
use crate::run::{Budget, Certificate, Progress, Remark, State, Status, Training};
use linsep_data::error::Result;
use linsep_proof::{Finding, check_claim};

impl Training for Online {
    fn advance(&mut self, budget: Budget) -> Status {
        self.go_on(budget)
    }

    fn epoch_rows(&self) -> u64 {
        self.rows.len() as u64
    }

    fn progress(&self) -> Progress {
        Progress {
            epochs: self.now.epoch,
            visits: self.now.visits(),
            updates: self.now.updates,
            last_mistakes: self.now.last_mistakes,
            objective: None,
            gap: None,
        }
    }

    fn model(&self) -> LinearModel {
        self.model_of(self.planes())
    }

    fn certificate(&self) -> Certificate {
        if !self.is_clean() && self.until == StopRule::CleanEpoch {
            return Certificate::unproved("the run ended before a pass without mistakes");
        }
        // A clean pass is a proposal; the checker has the last word.
        let data = self.task.data.as_ref();
        let claim = self.claim();
        match check_claim(&claim, data, &data.reading_field(), true, 1) {
            Finding::Holds(_) => Certificate::new(vec![claim]),
            _ if self.until != StopRule::CleanEpoch => {
                Certificate::unproved("some row is not strictly on its side of the planes")
            }
            _ if self.epoch_rows() < data.n_rows() as u64 => Certificate::unproved(
                "the last pass over the training rows made no mistake; no claim for held-out rows",
            ),
            _ => Certificate::unproved(
                "the last pass made no mistake, but in exact arithmetic some row is not strictly on its side: it lies on the plane, or rounding hid it",
            ),
        }
    }

    fn save(&self) -> State {
        State::encode(&self.now)
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.go_back_to(state)
    }

    /// By which rule it ended, where that is not the usual one.
    fn remarks(&self) -> Vec<Remark> {
        let rule = self.until;
        if rule == StopRule::CleanEpoch || !self.is_clean() {
            return Vec::new();
        }
        vec![Remark::new("stop", rule.words(), [("rule", rule.to_string().into())])]
    }

    crate::training_has!(traces, carries_on, bounds_margin);
    crate::training_lacks!(warm_starts, bounds_objective, generates, seeks);
}

impl Traces for Online {
    fn beginnings(&self) -> Vec<Beginning> {
        let plane =
            |plane: &Moving| StartPlane { weights: plane.v.clone(), bias: plane.b, shift: plane.c };
        vec![Beginning {
            positive: match self.which {
                Planes::One(positive) => Some(positive),
                Planes::Joint => None,
            },
            planes: self.now.planes.iter().map(plane).collect(),
            scaling: self.scaling,
            rows: self.rows.clone(),
            batch: false,
            updates: self.now.updates,
        }]
    }

    fn last_updates(&self) -> Vec<Update> {
        let number = self.now.updates;
        if number == 0 {
            return Vec::new();
        }
        let [first, last] = self.now.moved;
        // A correction of several planes moves two of them: its own, then the rival.
        let (moved, rival) = match self.now.planes.len() {
            1 => (last, None),
            _ => (first, Some(last.plane)),
        };
        let step = Move { row: moved.row, plane: moved.plane, rival, step: moved.step };
        // At the start of an epoch the last visit belongs to the one before.
        let epoch = self.now.epoch + u64::from(self.now.cursor > 0);
        vec![Update { machine: 0, number, epoch, rate: None, moves: vec![step] }]
    }
}

impl BoundsMargin for Online {
    /// An upper bound on the margin of any planes of unit length, in the coordinates of the run:
    /// |w − w₀| / Σ step, because (w − w₀) / Σ step is a blend of the (Kesler) rows. Rounded up:
    /// k steps of at most Σ step · R each lose no more than k·ε(|w₀| + 2R Σ step). `None` before
    /// the first correction, after steps on other data, and where rows or columns are shifted or scaled
    /// one by one.
    fn margin_ceiling(&self) -> Option<f64> {
        let shifted = self.scaler.centre.is_some() || self.scaler.row_factor.is_some();
        if shifted || self.now.earlier != Earlier::default() {
            return None;
        }
        let several = self.now.planes.len() > 1;
        // Each correction of several planes moves two of them.
        let halves = if several { 2.0 } else { 1.0 };
        let pulled: f64 = self.now.planes.iter().map(|plane| plane.pulled).sum::<f64>() / halves;
        let (mut moved, mut from) = (0.0, 0.0);
        for (plane, start) in self.now.planes.iter().zip(&self.start) {
            let length = |x: f64, j: usize| (x / self.scaler.scale(j)).powi(2);
            moved += (plane.b - start.bias).powi(2);
            from += start.bias.powi(2);
            for (j, (v, v0)) in plane.v.iter().zip(&start.weights).enumerate() {
                moved += length(v - v0, j);
                from += length(*v0, j);
            }
        }
        let longest = self.longest.get_or_init(|| self.longest_row()) * halves.sqrt();
        let (updates, terms) = (self.now.updates as f64, (self.start.len() * 8) as f64);
        let lost = 2.0 * updates * f64::EPSILON * (from.sqrt() + 2.0 * longest * pulled);
        let roundings = 1.0 + (terms + self.task.data.n_features() as f64 + updates) * f64::EPSILON;
        let ceiling = (moved.sqrt() * roundings + lost) / pulled * roundings;
        ceiling.is_finite().then_some(ceiling)
    }
}

impl Online {
    /// The length of the longest row (1, x) in the coordinates of the run.
    fn longest_row(&self) -> f64 {
        let square = |&row: &u32| self.scaler.square_of(&self.task.data, row as usize);
        self.rows.iter().map(square).fold(0.0, f64::max).sqrt()
    }
}
