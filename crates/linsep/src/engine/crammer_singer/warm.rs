//! A descent that begins at given shares.
//!
//! Shares do not depend on C: with costs that are all `factor` times as large and the same shares, the
//! planes are `factor` times as long, which is where most of the multipliers stay.

use super::{CrammerSinger, Descent, Layout, SavedCrammerSinger};
use crate::engine::joint::Joint;
use linsep_data::matrix::panel::Real;

impl CrammerSinger {
    /// Begins at the shares of another run on the same rows; false if they are not of this problem.
    pub(crate) fn warm_start(&mut self, joint: &Joint, saved: &SavedCrammerSinger) -> bool {
        let work = match &self.work {
            Layout::Single(_) => Descent::at(joint, saved).map(Layout::Single),
            Layout::Double(_) => Descent::at(joint, saved).map(Layout::Double),
        };
        let Some(work) = work else { return false };
        self.work = work;
        true
    }
}

impl<T: Real> Descent<T> {
    /// A descent that has moved nothing yet, at saved shares.
    fn at(joint: &Joint, saved: &SavedCrammerSinger) -> Option<Descent<T>> {
        let mut next = Descent::<T>::new(joint, &joint.squares().0);
        let fits =
            saved.shares.len() == next.shares.len() && saved.centres.len() == next.centres.len();
        let numbers = |bits: &[u64]| bits.iter().map(|x| T::of(f64::from_bits(*x))).collect();
        fits.then(|| {
            next.shares = numbers(&saved.shares);
            next.centres = numbers(&saved.centres);
            next.follow_shares(joint);
            next
        })
    }

    /// Makes the lines those of the shares.
    pub(super) fn follow_shares(&mut self, joint: &Joint) {
        let stride = joint.stride();
        let sums = self.sums(joint);
        let ones = self.ones.value();
        let pairs = self.lines.chunks_mut(stride).zip(sums.numbers.chunks(stride));
        for (j, (line, sums)) in pairs.enumerate() {
            let unit = match j < joint.width() {
                true => 1.0 / joint.penalty.curvature(j).sqrt(),
                false => ones,
            };
            line.iter_mut().zip(sums).for_each(|(u, g)| *u = T::of(g * unit));
        }
    }
}
