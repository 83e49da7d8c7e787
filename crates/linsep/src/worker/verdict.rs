//! The float side of a verdict in rounds: each asks which rows are on the wrong side of a plane, and the
//! worst of them join the active rows. A plane without wrong rows, or active rows that balance, goes to the
//! exact check.

use super::{Coordinator, Worker, merge, partial, require_class};
use crate::claim::planes::problem_of;
use crate::model::Plane;
use crate::rounds::{Rounds, decode, encode};
use crate::run::Task;
use crate::verdict::Signed;
use crate::verdict::active::ActiveSet;
use crate::verdict::violators::{Violators as Blocks, Wrong};
use linsep_data::error::{Error, Result};

fn question(task: &Task, positive: u32) -> Result<Signed> {
    require_class(task, positive)?;
    task.active_rows()?;
    let class = &task.data.classes()[positive as usize];
    let problem = problem_of(&task.data, class, None);
    let view = Signed::on(task.data.clone(), problem, true, task.rows.as_deref());
    match view.signs.contains(&1) && view.signs.contains(&-1) {
        true => Ok(view),
        false => Err(Error::usage("the rows of the task are all on one side of the question")),
    }
}

/// The blocks of a question of two classes.
pub struct Violators(Signed);

impl Violators {
    /// `positive` against the other classes, on the rows of a task.
    pub fn new(task: &Task, positive: u32) -> Result<Violators> {
        question(task, positive).map(Violators)
    }

    fn work(&self) -> Blocks<'_> {
        let most = ActiveSet::most_joining(&self.0);
        Blocks { view: &self.0, rows: 0..self.0.len(), most }
    }
}

impl Worker for Violators {
    fn blocks(&self) -> usize {
        self.work().blocks()
    }

    fn partial(&self, block: usize, broadcast: &[u8]) -> Result<Vec<u8>> {
        partial(&self.work(), block, broadcast)
    }

    fn merge(&self, all: &[u8], next: &[u8]) -> Result<Vec<u8>> {
        merge(&self.work(), all, next)
    }
}

/// The active rows of a question, and the plane or the balance that they come to.
pub struct ActiveRows {
    view: Signed,
    set: ActiveSet,
    plane: Option<Plane>,
    ended: bool,
    balance: Vec<usize>,
    rounds: u64,
}

impl ActiveRows {
    /// `positive` against the other classes, on the rows of a task.
    pub fn new(task: &Task, positive: u32) -> Result<ActiveRows> {
        let view = question(task, positive)?;
        let set = ActiveSet::on_sample(&view);
        let mut this =
            ActiveRows { view, set, plane: None, ended: false, balance: Vec::new(), rounds: 0 };
        this.settle();
        Ok(this)
    }

    /// The plane that no row is on the wrong side of, as far as floats can tell.
    pub fn plane(&self) -> Option<&Plane> {
        self.plane.as_ref().filter(|_| self.ended)
    }

    /// The rows that balance, as far as floats can tell: no plane separates them.
    pub fn balance(&self) -> Vec<u32> {
        self.balance.iter().map(|&k| self.view.rows[k]).collect()
    }

    /// Rounds so far.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    fn settle(&mut self) {
        match self.set.settle() {
            Ok(plane) => self.plane = Some(plane),
            Err(support) => (self.plane, self.balance) = (None, support),
        }
    }
}

impl Coordinator for ActiveRows {
    fn broadcast(&self) -> Vec<u8> {
        let nothing = || Plane { weights: vec![0.0; self.view.data.n_features()], bias: 0.0 };
        encode(&self.plane.clone().unwrap_or_else(nothing))
    }

    fn step(&mut self, merged: &[u8]) -> Result<bool> {
        self.rounds += 1;
        if self.plane.is_none() {
            return Ok(false);
        }
        let wrong: Wrong = decode(merged)?;
        let rows = wrong.worst.iter().map(|(k, _)| *k as usize);
        let inside = rows.filter(|&k| k < self.view.len()).collect();
        if wrong.count == 0 || !self.set.take(&self.view, inside) {
            self.ended = wrong.count == 0;
            return Ok(false);
        }
        self.settle();
        Ok(self.plane.is_some())
    }
}
