//! Smooth losses of many columns, on blocks that are tables of their own: L-BFGS, a round for each step.
//!
//! The second derivatives of thousands of columns are too many to travel. A block answers a few numbers for each
//! column, with h = c loss″(m) and x̂ = (x, 1),
//!
//! ```text
//! Σ c loss(m)      Σ α y x̂ of either side      Σ h x̂²
//! ```
//!
//! and the next plane is w − t B g, where B is made of the last changes s of the plane and y of the gradient and begins
//! with the inverse of the diagonal. t = 1 is tried first; where the objective does not fall enough, t goes to where the
//! slopes at both ends say that it is least. For softmax the sums are those of each class, Σ c (δ − p) x̂, and the diagonal
//! is Σ c p (1 − p) x̂².
//!
//! With multipliers α = −c loss′(m) and no bias, P(w) − D(α) = |g|²/(2 l2) exactly: the terms of the losses cancel by
//! Fenchel's equality. A free bias adds about |b g_b|. So a run rests when these are a small share of P; the bound
//! itself is measured by the round of Σ ψ, and proved by the checker.
//!
//! A run may begin with planes that blocks have learned alone and that were averaged: near enough to spare the first steps.
//!
//! References: Nocedal, Wright, Numerical Optimization, 7.2; Zhang, Duchi, Wainwright, Communication-efficient
//! algorithms for statistical optimization, 2013.

use super::apart::SmoothLoss;
use super::foreign;
use super::lbfgs::Lbfgs;
use super::softmax::SoftmaxLoss;
use crate::model::Plane;
use crate::objective::evaluate::{Beside, Evaluate, Evaluated};
use crate::objective::{Intercept, Objective, Sides, add};
use crate::rounds::{self, Rounds, Wire, decode, encode};
use crate::run::Task;
use linsep_data::Dataset;
use linsep_data::error::Result;
use linsep_data::matrix::CodeRows;
use std::sync::Arc;

/// A smooth loss whose second derivatives stay where the rows are.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WideLoss {
    /// Two classes, or one against the rest.
    One(SmoothLoss),
    /// All classes at once.
    Joint(SoftmaxLoss),
}

/// What rows answer.
struct Slopes {
    loss: f64,
    /// Σ α y x̂ of the positive and the negative rows, or Σ c (δ − p) x̂ of each class.
    sums: Vec<Plane>,
    /// The diagonal of the second derivatives of each plane.
    diagonals: Vec<Plane>,
}

impl WideLoss {
    /// What a block answers at planes: one, or one for each class.
    pub fn partial(&self, block: &Arc<Dataset>, planes: &[Plane]) -> Result<Vec<u8>> {
        let found = match (self, planes) {
            (WideLoss::One(loss), [plane]) => slopes_of(loss, block, plane)?,
            (WideLoss::Joint(loss), _) => slopes_of_classes(loss, block, planes)?,
            _ => return Err(foreign()),
        };
        Ok(encode(&found))
    }

    /// The answers of some blocks and of those that follow them.
    pub fn merge(all: &[u8], next: &[u8]) -> Result<Vec<u8>> {
        let (mut all, next): (Slopes, Slopes) = (decode(all)?, decode(next)?);
        let width = next.sums.first().map_or(0, |sum| sum.weights.len());
        let shape = (next.sums.len(), next.diagonals.len(), width);
        if !all.is_of(shape) || !next.is_of(shape) {
            return Err(foreign());
        }
        all.loss += next.loss;
        all.sums.iter_mut().zip(&next.sums).for_each(|(all, part)| add(part, all));
        all.diagonals.iter_mut().zip(&next.diagonals).for_each(|(all, part)| add(part, all));
        Ok(encode(&all))
    }

    /// Whoever asks, until the gap is likely to be below this share of the objective.
    pub fn driver(&self, classes: usize, width: usize, wanted: f64) -> WideDriver {
        let (planes, penalty, intercept) = match self {
            WideLoss::One(loss) => (1, loss.penalty(), loss.intercept()),
            WideLoss::Joint(loss) => (classes, loss.penalty(), loss.intercept()),
        };
        let is_joint = matches!(self, WideLoss::Joint(_));
        let course = Lbfgs::new((planes, width), penalty, intercept, wanted);
        WideDriver { course, is_joint, sides: None }
    }
}

/// A run on rows that are elsewhere.
pub struct WideDriver {
    course: Lbfgs,
    is_joint: bool,
    /// The sums of the two sides at the plane.
    sides: Option<Sides>,
}

impl WideDriver {
    /// Begins at these planes in place of zeros.
    pub fn begin(&mut self, planes: &[Plane]) -> Result<()> {
        let Lbfgs { shape: (count, width), penalty, intercept, wanted, .. } = &self.course;
        if planes.len() != *count || planes.iter().any(|plane| plane.weights.len() != *width) {
            return Err(foreign());
        }
        let mut course = Lbfgs::new((*count, *width), penalty.clone(), *intercept, *wanted);
        course.rounds = self.course.rounds;
        course.candidate = flat(planes);
        if course.intercept == Intercept::None {
            course
                .candidate
                .iter_mut()
                .skip(*width)
                .step_by(width + 1)
                .for_each(|bias| *bias = 0.0);
        }
        (self.course, self.sides) = (course, None);
        Ok(())
    }

    /// The planes that the next round asks about.
    pub fn candidate(&self) -> Vec<Plane> {
        self.course.planes_of(&self.course.candidate)
    }

    /// Takes the merged answers. Whether there is another round.
    pub fn step(&mut self, merged: &[u8]) -> Result<bool> {
        let found: Slopes = decode(merged)?;
        let (planes, width) = self.course.shape;
        if !found.is_of((if self.is_joint { planes } else { 2 }, planes, width)) {
            return Err(foreign());
        }
        let Slopes { loss, mut sums, diagonals } = found;
        let (sides, sums) = match self.is_joint {
            true => (None, sums),
            false => {
                let negative = sums.pop().ok_or_else(foreign)?;
                let positive = sums.pop().ok_or_else(foreign)?;
                let sides = Sides { positive, negative };
                let total = vec![sides.total()];
                (Some(sides), total)
            }
        };
        let before = self.course.accepted;
        let more = self.course.take(loss, &sums, flat(&diagonals));
        if self.course.accepted > before {
            self.sides = sides;
        }
        Ok(more)
    }

    /// The best planes so far.
    pub fn planes(&self) -> Vec<Plane> {
        self.course.planes_of(&self.course.point)
    }

    /// The objective at the planes.
    pub fn objective(&self) -> f64 {
        self.course.primal
    }

    /// What the gap is likely to be, as a share of the objective.
    pub fn likely_gap(&self) -> f64 {
        self.course.likely_gap()
    }

    /// Rounds so far.
    pub fn rounds(&self) -> u64 {
        self.course.rounds
    }

    /// The factors of the sides for the round of Σ ψ of one plane.
    pub fn factors(&self) -> [f64; 2] {
        self.sides.as_ref().map_or([1.0, 1.0], |sides| sides.balance(self.course.intercept))
    }

    /// The lower bound of the optimum, with Σ ψ of all blocks.
    pub fn bound(&self, psi: f64) -> f64 {
        let Lbfgs { penalty, intercept, .. } = &self.course;
        let cost = |sides: &Sides| penalty.conjugate(&sides.sum(self.factors()), *intercept);
        psi - self.sides.as_ref().map_or(0.0, cost)
    }
}

fn flat(planes: &[Plane]) -> Vec<f64> {
    planes.iter().flat_map(|plane| plane.weights.iter().chain([&plane.bias])).copied().collect()
}

impl Slopes {
    fn is_of(&self, (sums, diagonals, width): (usize, usize, usize)) -> bool {
        let all = self.sums.iter().chain(&self.diagonals);
        let counts = (self.sums.len(), self.diagonals.len());
        counts == (sums, diagonals) && all.clone().all(|plane| plane.weights.len() == width)
    }
}

impl Wire for Slopes {
    fn write(&self, out: &mut Vec<u8>) {
        self.loss.write(out);
        self.sums.write(out);
        self.diagonals.write(out);
    }

    fn read(bytes: &mut &[u8]) -> Result<Slopes> {
        let (loss, sums, diagonals) = (f64::read(bytes)?, Vec::read(bytes)?, Vec::read(bytes)?);
        Ok(Slopes { loss, sums, diagonals })
    }
}

fn slopes_of(loss: &SmoothLoss, block: &Arc<Dataset>, plane: &Plane) -> Result<Slopes> {
    let objective = loss.objective(&Task::new(Arc::clone(block)))?;
    let work = Evaluate::<Diagonal>::new(&objective);
    if !work.accepts(plane) {
        return Err(foreign());
    }
    let Evaluated { loss, sides, beside } = rounds::collect(&work, plane, 1, 1);
    let sides = objective.unfolded(sides);
    Ok(Slopes { loss, sums: vec![sides.positive, sides.negative], diagonals: vec![beside.sums] })
}

/// Σ h x̂².
struct Diagonal {
    sums: Plane,
    /// The row in hand, so that no row asks for memory.
    columns: Vec<u32>,
    entries: Vec<f64>,
}

impl Diagonal {
    fn of(sums: Plane) -> Diagonal {
        Diagonal { sums, columns: Vec::new(), entries: Vec::new() }
    }
}

impl Beside for Diagonal {
    fn empty(objective: &Objective, _: usize) -> Diagonal {
        Diagonal::of(objective.zero())
    }

    #[inline]
    fn see<R: CodeRows>(
        &mut self,
        objective: &Objective,
        rows: &R,
        place: usize,
        margin: f64,
        _: f64,
    ) {
        let h = objective.costs[place] * objective.loss.curvature(margin);
        if h != 0.0 {
            let Diagonal { sums, columns, entries } = self;
            rows.entries(objective.rows[place] as usize, columns, entries);
            sums.bias += h;
            for (column, entry) in columns.iter().zip(entries.iter()) {
                sums.weights[*column as usize] += h * entry * entry;
            }
        }
    }

    fn merge(&mut self, next: Diagonal) {
        add(&next.sums, &mut self.sums);
    }

    fn fits(&self, objective: &Objective) -> bool {
        self.sums.weights.len() == objective.width()
    }
}

impl Wire for Diagonal {
    fn write(&self, out: &mut Vec<u8>) {
        self.sums.write(out);
    }

    fn read(bytes: &mut &[u8]) -> Result<Diagonal> {
        Plane::read(bytes).map(Diagonal::of)
    }
}

fn slopes_of_classes(loss: &SoftmaxLoss, block: &Dataset, planes: &[Plane]) -> Result<Slopes> {
    let (classes, width) = (block.n_classes(), block.n_features());
    if planes.len() != classes || planes.iter().any(|plane| plane.weights.len() != width) {
        return Err(foreign());
    }
    let zero = Plane { weights: vec![0.0; width], bias: 0.0 };
    let mut found =
        Slopes { loss: 0.0, sums: vec![zero.clone(); classes], diagonals: vec![zero; classes] };
    let (mut entries, mut shares) = (Vec::<(usize, f64)>::new(), vec![0.0; classes]);
    for place in 0..block.n_rows() {
        let cost = loss.c() * block.weight(place);
        if cost == 0.0 {
            continue;
        }
        entries.clear();
        block.for_each(place, |j, x| {
            if x != 0.0 {
                entries.push((j as usize, x));
            }
        });
        for (share, plane) in shares.iter_mut().zip(planes) {
            *share = entries.iter().fold(plane.bias, |sum, (j, x)| sum + x * plane.weights[*j]);
        }
        let own = block.class_of(place) as usize;
        found.loss += cost * SoftmaxLoss::shares(&mut shares, own);
        for (k, share) in shares.iter().enumerate() {
            let q = cost * (f64::from(u8::from(k == own)) - share);
            let h = cost * share * (1.0 - share);
            let (sum, diagonal) = (&mut found.sums[k], &mut found.diagonals[k]);
            sum.bias += q;
            diagonal.bias += h;
            for (j, x) in &entries {
                sum.weights[*j] += q * x;
                diagonal.weights[*j] += h * x * x;
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Overlapping classes of many columns, few of which have a value in a row, in blocks of so many rows.
    fn blocks(size: usize, classes: usize, width: usize) -> Vec<Arc<Dataset>> {
        let names: Vec<String> = (0..classes).map(|k| format!("class {k}")).collect();
        let row = |i: usize| {
            let mut values = vec![0.0; width];
            for k in 0..5 {
                let place = (i * (37 + 11 * k) + i * i * 13 / 7 + k * k) % width;
                values[place] = 1.0 + ((i + k) % 3) as f64;
            }
            values
        };
        let label = |i: usize| {
            names[((i * (37 + 11)) % width * classes / width + i % 7 / 6) % classes].as_str()
        };
        let make = |rows: std::ops::Range<usize>| {
            let values: Vec<Vec<f64>> = rows.clone().map(row).collect();
            let labels: Vec<&str> = rows.map(label).collect();
            let data = Dataset::from_rows(&values, &labels).unwrap();
            Arc::new(data.with_classes(&names, false).unwrap())
        };
        (0..600 / size).map(|k| make(k * size..(k + 1) * size)).collect()
    }

    fn run(loss: &WideLoss, blocks: &[Arc<Dataset>], mut driver: WideDriver) -> WideDriver {
        loop {
            let planes = driver.candidate();
            let parts: Vec<Vec<u8>> =
                blocks.iter().map(|block| loss.partial(block, &planes).unwrap()).collect();
            let merge = |all: Vec<u8>, next: &Vec<u8>| WideLoss::merge(&all, next).unwrap();
            if !driver.step(&parts[1..].iter().fold(parts[0].clone(), merge)).unwrap() {
                return driver;
            }
            assert!(driver.rounds() < 400, "{} {}", driver.objective(), driver.likely_gap());
        }
    }

    #[test]
    fn steps_without_second_derivatives_end_where_newton_does() {
        for intercept in [Intercept::Free, Intercept::None] {
            for smooth in
                [SmoothLoss::logistic(0.5, intercept), SmoothLoss::squared_hinge(0.5, intercept)]
            {
                let (blocks, width) = (blocks(100, 2, 60), 60);
                let loss = WideLoss::One(smooth.clone());
                let found = run(&loss, &blocks, loss.driver(2, width, 1e-10));
                let mut newton = smooth.driver(width, 1e-13);
                loop {
                    let part = |block| smooth.partial(block, newton.candidate()).unwrap();
                    let parts: Vec<Vec<u8>> = blocks.iter().map(part).collect();
                    let merge = |all: Vec<u8>, next: &Vec<u8>| smooth.merge(&all, next).unwrap();
                    if !newton.step(&parts[1..].iter().fold(parts[0].clone(), merge)).unwrap() {
                        break;
                    }
                }
                let share = (found.objective() - newton.objective()) / newton.objective();
                assert!((-1e-11..1e-9).contains(&share), "{smooth:?}: {share}");
                let plane = &found.planes()[0];
                let psi =
                    blocks.iter().map(|b| smooth.dual_part(b, plane, found.factors()).unwrap());
                let bound = found.bound(psi.sum());
                let gap = (found.objective() - bound) / bound;
                assert!((-1e-12..1e-8).contains(&gap), "{smooth:?}: {gap}");
                // Near the optimum a run is over soon.
                let mut again = loss.driver(2, width, 1e-10);
                again.begin(&found.planes()).unwrap();
                assert!(run(&loss, &blocks, again).rounds() <= 2);
            }
        }
    }

    #[test]
    fn all_classes_at_once_end_where_newton_does() {
        let (blocks, width) = (blocks(100, 3, 30), 30);
        let softmax = SoftmaxLoss::new(0.25, Intercept::Free);
        let loss = WideLoss::Joint(softmax.clone());
        let found = run(&loss, &blocks, loss.driver(3, width, 1e-10));
        let mut newton = softmax.driver(3, width, 1e-13).unwrap();
        loop {
            let part = |block: &Arc<Dataset>| softmax.partial(block, newton.candidate()).unwrap();
            let parts: Vec<Vec<u8>> = blocks.iter().map(part).collect();
            let merge = |all: Vec<u8>, next: &Vec<u8>| softmax.merge(&all, next).unwrap();
            if !newton.step(&parts[1..].iter().fold(parts[0].clone(), merge)).unwrap() {
                break;
            }
        }
        let share = (found.objective() - newton.objective()) / newton.objective();
        assert!((-1e-11..1e-9).contains(&share), "{share}");
    }

    #[test]
    fn messages_of_others_are_refused() {
        let blocks = blocks(300, 2, 12);
        let loss = WideLoss::One(SmoothLoss::logistic(1.0, Intercept::Free));
        let mut driver = loss.driver(2, 12, 1e-6);
        let answer = loss.partial(&blocks[0], &driver.candidate()).unwrap();
        assert!(driver.step(&answer[..answer.len() - 1]).is_err());
        assert!(WideLoss::merge(&answer, &answer[8..]).is_err());
        assert!(loss.partial(&blocks[0], &[]).is_err());
        let narrow = Plane { weights: vec![0.0; 3], bias: 0.0 };
        assert!(loss.partial(&blocks[0], std::slice::from_ref(&narrow)).is_err());
        assert!(driver.begin(&[narrow]).is_err());
        let other = WideLoss::Joint(SoftmaxLoss::new(1.0, Intercept::Free));
        assert!(other.driver(2, 12, 1e-6).step(&answer).is_err());
    }
}
