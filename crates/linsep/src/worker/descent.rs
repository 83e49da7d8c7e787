//! Steps of a descent whose objective somebody else computes: along a direction, half as far where the objective
//! does not fall, until a direction promises next to nothing.

use crate::model::Plane;

/// Halvings of a step before the run ends.
const MOST_HALVINGS: u32 = 40;

/// Where a run is.
pub(super) struct Descent {
    /// The best planes so far.
    pub(super) planes: Vec<Plane>,
    /// The planes that the next round asks about.
    pub(super) candidate: Vec<Plane>,
    direction: Option<Vec<Plane>>,
    pub(super) primal: f64,
    halvings: u32,
    pub(super) rounds: u64,
    wanted: f64,
}

impl Descent {
    /// From planes of zeros, until a step promises less than the share `wanted` of the objective.
    pub(super) fn new(count: usize, width: usize, wanted: f64) -> Descent {
        let planes = vec![Plane { weights: vec![0.0; width], bias: 0.0 }; count];
        Descent {
            candidate: planes.clone(),
            planes,
            direction: None,
            primal: f64::INFINITY,
            halvings: 0,
            rounds: 0,
            wanted,
        }
    }

    /// Begins at other planes; rounds go on counting.
    pub(super) fn begin(&mut self, planes: Vec<Plane>) {
        self.candidate = planes.clone();
        (self.planes, self.direction) = (planes, None);
        (self.primal, self.halvings) = (f64::INFINITY, 0);
    }

    fn try_along(&mut self, direction: &[Plane]) {
        let length = 0.5f64.powi(self.halvings as i32);
        self.candidate = self.planes.clone();
        for (plane, direction) in self.candidate.iter_mut().zip(direction) {
            plane.bias += length * direction.bias;
            let pairs = plane.weights.iter_mut().zip(&direction.weights);
            pairs.for_each(|(w, d)| *w += length * d);
        }
    }

    /// Takes the objective at the candidate. `next` is asked where it fell: for a direction and how far the objective
    /// is likely to fall along it. Whether there is another round.
    pub(super) fn take(
        &mut self,
        primal: f64,
        next: impl FnOnce(&[Plane]) -> (Vec<Plane>, f64),
    ) -> bool {
        self.rounds += 1;
        let fell = primal < self.primal;
        if let Some(direction) = self.direction.take_if(|_| !fell) {
            self.halvings += 1;
            self.try_along(&direction);
            self.direction = Some(direction);
            return self.halvings < MOST_HALVINGS;
        }
        self.planes = self.candidate.clone();
        self.primal = primal;
        let (direction, falls) = next(&self.planes);
        self.halvings = 0;
        self.try_along(&direction);
        self.direction = Some(direction);
        // As a share of the objective.
        falls / primal > self.wanted
    }
}
