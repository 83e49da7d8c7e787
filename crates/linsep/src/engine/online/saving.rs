//! Runs that are saved, go on where they were, or go on with other data.

use super::{Arrangement, Earlier, Moving, Now, Online, Order, Pace};
use crate::run::State;
use crate::run::ability::CarriesOn;
use linsep_data::error::{Error, Result};

impl Online {
    pub(super) fn go_back_to(&mut self, state: &State) -> Result<()> {
        let now: Now = state.decode()?;
        let fits = now.run == self.now.run
            && now.rows == self.now.rows
            && now.planes.len() == self.now.planes.len()
            && now.late.len() == self.now.late.len()
            && now.planes.iter().zip(&self.now.planes).all(|(a, b)| a.v.len() == b.v.len())
            && now.late.iter().zip(&self.now.late).all(|(a, b)| a.v.len() == b.v.len())
            && now.centre.len() == self.now.centre.len()
            && now.cursor <= self.rows.len() as u64
            && now.counts();
        if !fits {
            return Err(Error::usage("the saved state belongs to a run on other data"));
        }
        let line_up_fits = now.line_up.is_empty()
            || (self.order == Order::WorstFirst && same_rows(&now.line_up, &self.rows));
        if !line_up_fits {
            return Err(Error::usage("the saved state belongs to a run on other data"));
        }
        self.now = now;
        self.forget();
        match self.now.line_up.is_empty() {
            true => self.line_up(),
            false => self.visiting.clone_from(&self.now.line_up),
        }
        Ok(())
    }

    /// Drops what follows from the planes that were.
    fn forget(&mut self) {
        self.arrangement = Arrangement::of(&self.now.planes, &self.task.data);
        (self.skips, self.pace) = (None, Pace::default());
    }
}

impl CarriesOn for Online {
    /// Steps on other data count for rates, averages and orders; columns that were not there yet have the
    /// weight 0.
    fn carry_on(&mut self, state: &State) -> Result<()> {
        let before: Now = state.decode()?;
        let width = self.task.data.n_features();
        let moving = || before.planes.iter().chain(&before.late);
        let fits = before.planes.len() == self.now.planes.len()
            && before.late.len() == self.now.late.len()
            && before.counts()
            && moving().all(|plane| plane.v.len() <= width)
            && (before.centre.is_empty() || moving().all(|p| p.v.len() == before.centre.len()));
        if !fits {
            return Err(Error::usage("the saved state belongs to planes of other data"));
        }
        let raw = |plane: &Moving| {
            let mut v = plane.v.clone();
            v.iter_mut().zip(&before.centre).for_each(|(v, m)| *v -= plane.c * m);
            v.resize(width, 0.0);
            Moving { v, c: 0.0, b: plane.b, pulled: 0.0 }
        };
        self.now.earlier = Earlier {
            visits: before.earlier.visits + before.visits(),
            updates: before.earlier.updates + before.updates,
        };
        self.now.planes = before.planes.iter().map(raw).collect();
        self.now.late = before.late.iter().map(raw).collect();
        self.forget();
        self.line_up();
        Ok(())
    }
}

/// Whether two lists hold the same rows in whatever order.
fn same_rows(a: &[u32], b: &[u32]) -> bool {
    let sorted = |rows: &[u32]| {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        rows
    };
    sorted(a) == sorted(b)
}
