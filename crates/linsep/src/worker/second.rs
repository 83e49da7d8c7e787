//! Σ h x̂ x̂ᵀ beside an evaluation: what a step of Newton's method asks of the rows.

use crate::algebra::add_square;
use crate::engine::curvature::{MOST_ZEROS, Tiles};
use crate::objective::Objective;
use crate::objective::evaluate::Beside;
use crate::rounds::Wire;
use linsep_data::error::Result;
use linsep_data::matrix::CodeRows;

/// Σ h (x, 1)(x, 1)ᵀ below the diagonal, with h = c loss″(m).
pub(super) struct Curvature {
    pub(super) below: Vec<f64>,
    /// The row in hand, so that no row asks for memory.
    columns: Vec<u32>,
    entries: Vec<f64>,
    /// Sums that are not in `below` yet, of rows with few zeros.
    tiles: Option<Tiles>,
}

impl Curvature {
    /// Where nobody asked for them.
    pub(super) fn unasked() -> Curvature {
        Curvature::of(Vec::new())
    }

    fn of(below: Vec<f64>) -> Curvature {
        Curvature { below, columns: Vec::new(), entries: Vec::new(), tiles: None }
    }

    /// Brings the sums of the tiles to where the others are.
    fn settle(&mut self) {
        if let Some(tiles) = self.tiles.take() {
            tiles.put_below(&mut self.below);
        }
    }
}

impl Beside for Curvature {
    fn empty(objective: &Objective, _: usize) -> Curvature {
        let order = objective.width() + 1;
        Curvature::of(vec![0.0; order * order])
    }

    fn of_rows(objective: &Objective, rows: usize) -> Curvature {
        let (order, store) = (objective.width() + 1, objective.store());
        let is_full = store.held_values() * MOST_ZEROS >= store.rows() as u64 * order as u64;
        let tiles = is_full.then(|| Tiles::new(order));
        Curvature { tiles, ..Curvature::empty(objective, rows) }
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
            let Curvature { below, columns, entries, tiles } = self;
            rows.entries(objective.rows[place] as usize, columns, entries);
            match tiles {
                Some(tiles) => tiles.add(h, columns, entries),
                None => add_square(h, columns, entries, below, objective.width() + 1),
            }
        }
    }

    fn merge(&mut self, mut next: Curvature) {
        self.settle();
        next.settle();
        self.below.iter_mut().zip(&next.below).for_each(|(all, part)| *all += part);
    }

    fn fits(&self, objective: &Objective) -> bool {
        self.below.len() == (objective.width() + 1).pow(2)
    }
}

/// Nothing: of rounds that take the second derivatives of an earlier one.
pub(super) struct Bare;

impl Beside for Bare {
    fn empty(_: &Objective, _: usize) -> Bare {
        Bare
    }

    #[inline]
    fn see<R: CodeRows>(&mut self, _: &Objective, _: &R, _: usize, _: f64, _: f64) {}

    fn merge(&mut self, _: Bare) {}

    fn fits(&self, _: &Objective) -> bool {
        true
    }
}

impl Wire for Bare {
    fn write(&self, _: &mut Vec<u8>) {}

    fn read(_: &mut &[u8]) -> Result<Bare> {
        Ok(Bare)
    }
}

impl Wire for Curvature {
    fn write(&self, out: &mut Vec<u8>) {
        debug_assert!(self.tiles.is_none(), "what is written was merged before");
        self.below.write(out);
    }

    fn read(bytes: &mut &[u8]) -> Result<Curvature> {
        Vec::read(bytes).map(Curvature::of)
    }
}
