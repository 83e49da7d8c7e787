//! The plane of the largest geometric margin, step by step, for a learner: first whether a plane separates
//! at all, then the shortest way between the two hulls in floats, then the same in whole numbers.
//!
//! Steps follow from counts alone, never from a clock, so the same rows give the same plane everywhere.
//! Where whole numbers reach a limit, what is left is the best plane at hand and how far it can be from
//! the largest margin.

use super::bounds;
use super::hull::{Hull, Nearest, Shape, Walk};
use super::margin::{Corral, Found, Margin, Step, is_small};
use super::search::{Answer, Effort, Search};
use super::signed::Signed;
use super::{Interval, Limit};
use crate::claim::planes::{float_plane, problem_of};
use crate::model::Plane;
use crate::run::Task;
use linsep_proof::Claim;
use std::sync::Arc;

/// How many steps of a corral of so many rows are one step here: its work grows with the square.
fn steps_at_once(rows: usize) -> usize {
    (4096 / (rows * rows).max(1)).clamp(1, 64)
}

/// What the search came to.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// No plane separates the rows: the proof.
    Inseparable(Box<Claim>),
    /// Not decided, and why; or decided by a plane that binary64 cannot hold.
    Open(&'static str),
    /// A plane that separates.
    Plane(Box<Widest>),
}

/// The best plane that was found.
#[derive(Clone, Debug)]
pub(crate) struct Widest {
    pub(crate) plane: Plane,
    /// That this plane separates the rows.
    pub(crate) separable: Claim,
    /// The exact margin, where it was found.
    pub(crate) margin: Option<Margin>,
    /// How far the plane stays from every row, and how far any plane can stay; floats rounded outward.
    pub(crate) distance: Interval,
    /// Why this is not the plane of the largest margin, where it is not.
    pub(crate) shortfall: Option<&'static str>,
}

const NOT_FOUND: &str = "the search for the largest margin ended at its limit";
const NOT_HELD: &str = "rounded to binary64 the plane of the largest margin does not separate";

/// The search on its way.
pub(crate) struct Quest {
    threads: usize,
    stage: Stage,
}

// One of them at a time; a box would save nothing.
#[allow(clippy::large_enum_variant)]
enum Stage {
    Deciding(Search),
    Walking { decided: Decided, hull: Arc<Hull>, walk: Box<Walk> },
    Settling { decided: Decided, corral: Box<Corral>, start: Nearest },
    Ended(End),
}

/// A plane that separates, and the rows that it does so with.
struct Decided {
    view: Arc<Signed>,
    claim: Claim,
    /// `None` where binary64 does not hold it.
    plane: Option<Plane>,
    blend: Vec<(usize, f64)>,
}

impl Quest {
    /// The widest plane between a class and all others, on the rows of a task. `None` if one side has no
    /// rows.
    pub(crate) fn new(task: &Task, positive: u32) -> Option<Quest> {
        let data = &task.data;
        let problem = problem_of(data, &data.classes()[positive as usize], None);
        let view = Signed::on(Arc::clone(data), problem, true, task.rows.as_deref());
        let both = view.signs.contains(&1) && view.signs.contains(&-1);
        let reading = data.reading_field();
        let stage = Stage::Deciding(Search::new(view, reading, false));
        both.then_some(Quest { threads: task.threads, stage })
    }

    /// What it came to, if it has ended.
    pub(crate) fn end(&self) -> Option<&End> {
        match &self.stage {
            Stage::Ended(end) => Some(end),
            _ => None,
        }
    }

    /// A plane that separates, with its claim, while a wider one is looked for.
    pub(crate) fn so_far(&self) -> Option<(&Plane, &Claim)> {
        match &self.stage {
            Stage::Walking { decided, .. } | Stage::Settling { decided, .. } => {
                Some((decided.plane.as_ref()?, &decided.claim))
            }
            Stage::Ended(End::Plane(widest)) => Some((&widest.plane, &widest.separable)),
            _ => None,
        }
    }

    /// One step.
    pub(crate) fn step(&mut self) {
        let nothing = Stage::Ended(End::Open(NOT_FOUND));
        self.stage = match std::mem::replace(&mut self.stage, nothing) {
            Stage::Deciding(search) => self.decide(search),
            Stage::Walking { decided, hull, walk } => self.walk(decided, hull, walk),
            Stage::Settling { decided, corral, start } => self.settle(decided, corral, start),
            ended => ended,
        };
    }

    fn decide(&self, mut search: Search) -> Stage {
        let effort = Effort { threads: self.threads, stop: &|| false, clock: || 0.0 };
        let claim = match search.round(&effort) {
            None => return Stage::Deciding(search),
            Some(Answer::Open) => return Stage::Ended(End::Open(Limit::Search.words())),
            Some(Answer::Proved(claim)) => claim,
        };
        let Claim::Separable { .. } = claim else {
            return Stage::Ended(End::Inseparable(Box::new(claim)));
        };
        let view = Arc::new(search.view);
        let plane = bounds::plane_of(&view, &claim);
        let plane = plane.map(|(weights, bias)| Plane { weights, bias });
        let decided = Decided { view: Arc::clone(&view), claim, plane, blend: search.blend };
        let hull = match is_small(&view) {
            true => Hull::new(view, Shape::Geometric, self.threads),
            false => None,
        };
        let Some(hull) = hull.map(Arc::new) else { return self.without_margin(decided, None) };
        let seeds: Vec<usize> = decided.blend.iter().map(|(k, _)| *k).collect();
        let walk = Box::new(Walk::new(&hull, &seeds));
        Stage::Walking { decided, hull, walk }
    }

    fn walk(&self, decided: Decided, hull: Arc<Hull>, mut walk: Box<Walk>) -> Stage {
        if !walk.step(&hull, self.threads) {
            return Stage::Walking { decided, hull, walk };
        }
        let (start, again) = (walk.nearest(&hull), walk.nearest(&hull));
        match Corral::new(hull, again) {
            Some(corral) => Stage::Settling { decided, corral: Box::new(corral), start },
            None => self.without_margin(decided, Some(start)),
        }
    }

    fn settle(&self, decided: Decided, mut corral: Box<Corral>, start: Nearest) -> Stage {
        for _ in 0..steps_at_once(corral.len()) {
            match corral.step(self.threads) {
                Step::More => {}
                Step::Found(found) => return self.with_margin(decided, found, start),
                Step::Lost => return self.without_margin(decided, Some(start)),
            }
        }
        Stage::Settling { decided, corral, start }
    }

    /// The end with an exact margin. Its plane is rational; the model's is the nearest of binary64.
    fn with_margin(&self, decided: Decided, found: Found, start: Nearest) -> Stage {
        let margin = found.margin;
        let upper = margin.gamma.upper;
        let own = found.plane.and_then(|plane| self.checked(&decided.view, plane));
        match own {
            Some((plane, separable, lower)) => {
                let (margin, distance) = (Some(margin), Interval { lower, upper });
                let widest = Widest { plane, separable, margin, distance, shortfall: None };
                Stage::Ended(End::Plane(Box::new(widest)))
            }
            None => match self.best_of_others(&decided, Some(&start)) {
                None => Stage::Ended(End::Open(NOT_HELD)),
                Some((plane, separable, lower)) => {
                    let (margin, distance) = (Some(margin), Interval { lower, upper });
                    let shortfall = Some(NOT_HELD);
                    let widest = Widest { plane, separable, margin, distance, shortfall };
                    Stage::Ended(End::Plane(Box::new(widest)))
                }
            },
        }
    }

    /// The end where whole numbers came to a limit.
    fn without_margin(&self, decided: Decided, start: Option<Nearest>) -> Stage {
        let Some((plane, separable, lower)) = self.best_of_others(&decided, start.as_ref()) else {
            return Stage::Ended(End::Open(NOT_HELD));
        };
        let blends = start.as_ref().map(|start| &start.support).into_iter().chain([&decided.blend]);
        let upper = blends.filter_map(|blend| bounds::half_way(&decided.view, blend));
        let distance = Interval { lower, upper: upper.reduce(f64::min) };
        let shortfall = Some(NOT_FOUND);
        let widest = Widest { plane, separable, margin: None, distance, shortfall };
        Stage::Ended(End::Plane(Box::new(widest)))
    }

    /// Of the planes that floats found the one that stays farthest from every row.
    fn best_of_others(
        &self,
        decided: &Decided,
        start: Option<&Nearest>,
    ) -> Option<(Plane, Claim, Option<f64>)> {
        let planes = [start.and_then(between), decided.plane.clone()].into_iter().flatten();
        let checked = planes.filter_map(|plane| self.checked(&decided.view, plane));
        checked.reduce(|a, b| if b.2 > a.2 { b } else { a })
    }

    /// The plane with the claim that it separates, if the checker accepts it, and its distance from the
    /// nearest row, rounded down.
    fn checked(&self, view: &Signed, plane: Plane) -> Option<(Plane, Claim, Option<f64>)> {
        let exact = float_plane(&plane.weights, Some(plane.bias));
        let claim = Claim::Separable { problem: view.problem.clone(), plane: exact.into() };
        let holds = view.holds(&claim, &view.data.reading_field(), self.threads);
        let distance = bounds::distance(view, &plane, self.threads);
        holds.then_some((plane, claim, distance))
    }
}

/// The plane half the way between two hulls, with scores near 1 and −1 on the support.
fn between(nearest: &Nearest) -> Option<Plane> {
    let [above, below] = nearest.levels;
    let factor = 2.0 / (above + below);
    let weights: Vec<f64> = nearest.weights.iter().map(|w| w * factor + 0.0).collect();
    let bias = (nearest.bias - (above - below) / 2.0) * factor + 0.0;
    let finite = bias.is_finite() && weights.iter().all(|w| w.is_finite());
    finite.then_some(Plane { weights, bias })
}
