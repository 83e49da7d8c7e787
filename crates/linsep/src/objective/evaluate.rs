//! Rounds that evaluate an objective at a plane: the losses of the rows, the sums of their multipliers, and
//! something beside them.
//!
//! A block answers, with margins m and α = −c loss′(m),
//!
//! ```text
//! Σ c loss(m)      Σ α y x of either side
//! ```
//!
//! Beside that the engines on one machine keep every margin ([`Kept`]), which they need in the next pass;
//! workers elsewhere add up second derivatives ([`crate::worker`]), so that one round is a step of Newton's
//! method.

use super::{LossSum, Objective, add};
use crate::model::Plane;
use crate::rounds::{Rounds, Wire};
use linsep_data::buffer::Buffer;
use linsep_data::error::Result;
use linsep_data::matrix::{CodeRows, Rows, with_rows};
use std::marker::PhantomData;

/// Rows between one that is asked for and the one in hand.
const AHEAD: usize = 6;

/// An objective to evaluate, with `B` beside it.
pub struct Evaluate<'a, B> {
    objective: &'a Objective,
    beside: PhantomData<fn() -> B>,
}

impl<'a, B: Beside> Evaluate<'a, B> {
    pub fn new(objective: &'a Objective) -> Evaluate<'a, B> {
        Evaluate { objective, beside: PhantomData }
    }

    fn with_room(&self, rows: usize) -> Evaluated<B> {
        let objective = self.objective;
        let sides = [objective.zero(), objective.zero()];
        Evaluated { loss: 0.0, sides, beside: B::empty(objective, rows) }
    }
}

/// What some rows answer. Sums are of codes; [`Objective::unfolded`] makes sums of rows of them.
pub struct Evaluated<B> {
    pub loss: f64,
    pub sides: [Plane; 2],
    pub beside: B,
}

/// What is collected beside losses and sums.
pub trait Beside: Wire + Send {
    /// Of no rows, with room for so many.
    fn empty(objective: &Objective, rows: usize) -> Self;
    /// The same for rows that are about to be seen, and merged afterwards.
    fn of_rows(objective: &Objective, rows: usize) -> Self {
        Self::empty(objective, rows)
    }
    /// Takes in the row at a place, with its margin and its multiplier.
    fn see<R: CodeRows>(
        &mut self,
        objective: &Objective,
        rows: &R,
        place: usize,
        margin: f64,
        alpha: f64,
    );
    /// Adds what the next rows gave.
    fn merge(&mut self, next: Self);
    /// Whether this is of an objective.
    fn fits(&self, objective: &Objective) -> bool;
}

impl<B: Beside> Rounds for Evaluate<'_, B> {
    type Broadcast = Plane;
    /// The weights folded into those of the codes, and the bias.
    type Local = (Vec<f64>, f64);
    type Partial = Evaluated<B>;

    fn blocks(&self) -> usize {
        self.objective.pieces().len()
    }

    fn accepts(&self, plane: &Plane) -> bool {
        plane.weights.len() == self.objective.width()
    }

    fn fits(&self, found: &Evaluated<B>) -> bool {
        found.sides.iter().all(|side| side.weights.len() == self.objective.width())
            && found.beside.fits(self.objective)
    }

    fn empty(&self) -> Evaluated<B> {
        self.with_room(self.objective.len())
    }

    fn open(&self, plane: &Plane) -> (Vec<f64>, f64) {
        let folded = with_rows!(self.objective.store(), rows => rows.fold(&plane.weights));
        (folded, if self.objective.has_bias() { plane.bias } else { 0.0 })
    }

    fn partial(&self, block: usize, (folded, bias): &(Vec<f64>, f64)) -> Evaluated<B> {
        let objective = self.objective;
        let places = objective.pieces().swap_remove(block);
        let beside = B::of_rows(objective, places.len());
        let mut found =
            Evaluated { loss: 0.0, sides: [objective.zero(), objective.zero()], beside };
        let mut losses = LossSum::new(objective.loss);
        with_rows!(objective.store(), rows => for place in places {
            let row = objective.rows[place] as usize;
            // Rows of a sample are too far apart for the processor to see where the next one is.
            if let Some(ahead) = objective.rows.get(place + AHEAD).map(|row| *row as usize)
                && ahead != row + AHEAD
            {
                rows.prefetch(ahead);
            }
            let (sign, cost) = (objective.signs[place], objective.costs[place]);
            let margin = sign * (rows.code_dot(row, folded) + bias);
            let alpha = cost * losses.add(margin, cost);
            if alpha != 0.0 {
                let a = sign * alpha;
                let side = &mut found.sides[usize::from(a < 0.0)];
                side.bias += a;
                rows.code_add(row, a, &mut side.weights);
            }
            found.beside.see(objective, rows, place, margin, alpha);
        });
        found.loss = losses.total();
        found
    }

    fn merge(&self, all: &mut Evaluated<B>, next: Evaluated<B>) {
        all.loss += next.loss;
        all.sides.iter_mut().zip(&next.sides).for_each(|(all, part)| add(part, all));
        all.beside.merge(next.beside);
    }
}

impl<B: Beside> Wire for Evaluated<B> {
    fn write(&self, out: &mut Vec<u8>) {
        self.loss.write(out);
        self.sides.iter().for_each(|side| side.write(out));
        self.beside.write(out);
    }

    fn read(bytes: &mut &[u8]) -> Result<Evaluated<B>> {
        Ok(Evaluated {
            loss: f64::read(bytes)?,
            sides: [Plane::read(bytes)?, Plane::read(bytes)?],
            beside: B::read(bytes)?,
        })
    }
}

/// Margins and multipliers of all rows.
pub struct Kept {
    pub margins: Buffer<f64>,
    pub alpha: Buffer<f64>,
}

impl Beside for Kept {
    fn empty(_: &Objective, rows: usize) -> Kept {
        Kept { margins: Buffer::with_capacity(rows), alpha: Buffer::with_capacity(rows) }
    }

    #[inline]
    fn see<R: CodeRows>(&mut self, _: &Objective, _: &R, _: usize, margin: f64, alpha: f64) {
        self.margins.push(margin);
        self.alpha.push(alpha);
    }

    fn merge(&mut self, next: Kept) {
        self.margins.extend_from_slice(&next.margins);
        self.alpha.extend_from_slice(&next.alpha);
    }

    fn fits(&self, objective: &Objective) -> bool {
        self.margins.len() == self.alpha.len() && self.margins.len() <= objective.len()
    }
}

impl Wire for Kept {
    fn write(&self, out: &mut Vec<u8>) {
        self.margins.to_vec().write(out);
        self.alpha.to_vec().write(out);
    }

    fn read(bytes: &mut &[u8]) -> Result<Kept> {
        Ok(Kept { margins: Vec::read(bytes)?.into(), alpha: Vec::read(bytes)?.into() })
    }
}
