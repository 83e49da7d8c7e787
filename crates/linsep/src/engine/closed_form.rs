//! Runs of learners that need no steps: one look at the rows, one solve.
//!
//! A [`ClosedForm`] says how planes come out of the rows and what is claimed about them; [`ClosedRun`] makes
//! a [`Training`] of it. Visits are counted like those of every other run, and the whole work is done
//! at the last one, so a run can be paused before it and saved after it. A saved state holds the
//! planes; restoring a finished run solves again and refuses a state with other planes.
//!
//! New memory is filled with zeros by the system before it is ours, which takes longer than naive Bayes to count
//! text. So a [quick](ClosedForm::is_quick) learner has its planes handed out with the model, and whoever asks the run
//! once more waits for the same bits to be found again.

use crate::algebra::Factor;
use crate::claim::planes::{class_plane, float_plane, problem_of};
use crate::density::Density;
use crate::engine::direct::{Moments, Spec};
use crate::engine::planes::Planes;
use crate::model::{LinearModel, Link, Plane, Rule};
use crate::run::ability::Generates;
use crate::run::{
    Budget, Certificate, ClassWeights, HELD_OUT, Progress, Remark, State, Status, Task, Training,
};
use linsep_data::Dataset;
use linsep_data::cancel;
use linsep_data::error::{Code, Error, Place, Result};
use linsep_data::parallel::{parallel_chunks, parallel_map};
use linsep_kernels::{axpy_dense, dot_f64};
use linsep_proof::{Claim, Finding, Planes as ClaimedPlanes, check_claim};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, Ref, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};

/// More columns than this make a matrix that is not worth it.
const MOST_COLUMNS: usize = 16_384;

/// Planes of more numbers than this in all are copied and tested side by side.
const MANY_WEIGHTS: usize = 1 << 17;

/// A step of refinement that is this small, next to the answer, is the last one.
const SMALL_STEP: f64 = 1e-10;

/// Up to this condition of the matrix, estimated in the coordinates in which its diagonal is 1, the first answer is
/// expected to be as near as a refined one: sums over blocks of rows err by about 1e-14 of themselves, and a
/// thousand times that is below [`SMALL_STEP`]. The checker measures whether it is near enough.
const WELL_CONDITIONED: f64 = 1e3;

/// Values over which one more pass takes no time that anybody would notice.
const FEW_VALUES: usize = 1 << 22;

/// How planes come out of rows in one go.
pub(crate) trait ClosedForm: Send {
    /// Solves for the planes: one for two classes, else one for each class.
    fn solve(&self, data: &Dataset, rows: &[u32], threads: usize) -> Solution;

    /// How scores become probabilities.
    fn link(&self) -> Link;

    /// Whether it finds how rows come about.
    fn is_generative(&self) -> bool;

    /// Whether it takes no longer to solve again than to copy the planes: a run then hands them out instead of a
    /// copy.
    fn is_quick(&self) -> bool {
        false
    }

    /// The threshold above which a value counts as 1, if values are not taken as they are.
    fn binarize(&self) -> Option<f64> {
        None
    }
}

/// What a solve gave.
#[derive(Default)]
pub(crate) struct Solution {
    pub(crate) planes: Vec<Plane>,
    /// What can be claimed about the planes, or why nothing.
    pub(crate) proof: Proof,
    pub(crate) remarks: Vec<Remark>,
    /// How rows come about, of generative learners.
    pub(crate) density: Option<Density>,
}

/// A claim to be checked, made of the planes.
pub(crate) enum Proof {
    Claim(Box<dyn Fn(ClaimedPlanes) -> Claim + Send>),
    Nothing(String),
}

impl Default for Proof {
    fn default() -> Self {
        Proof::Nothing("the run ended before it was solved".into())
    }
}

/// A run that is solved at its last visit.
pub(crate) struct ClosedRun {
    learner: Box<dyn ClosedForm>,
    task: Task,
    rows: Vec<u32>,
    visits: u64,
    solution: RefCell<Solution>,
    /// Whether a model that was made of the run has its planes.
    handed_out: Cell<bool>,
    /// Whether the planes of the solution are.
    is_finite: bool,
}

impl ClosedRun {
    /// A run on the rows of a task.
    pub(crate) fn new(learner: Box<dyn ClosedForm>, task: &Task) -> Result<ClosedRun> {
        let rows = task.active_rows()?;
        if rows.is_empty() {
            return Err(Error::data(Code::BAD_WEIGHT, "no row has a weight", Place::default()));
        }
        let task = task.clone();
        let (solution, handed_out) = (RefCell::default(), Cell::new(false));
        Ok(ClosedRun { learner, task, rows, visits: 0, solution, handed_out, is_finite: true })
    }

    /// The planes: zeros before the run is solved, which are made when somebody asks.
    fn planes(&self) -> Vec<Plane> {
        if self.is_done() {
            let solution = self.solved();
            let planes = &solution.planes;
            let threads = threads_for(planes, self.task.threads);
            return parallel_map(planes.len(), threads, |k| planes[k].clone());
        }
        let count = if self.task.data.n_classes() == 2 { 1 } else { self.task.data.n_classes() };
        let width = self.task.data.n_features();
        (0..count).map(|_| Plane { weights: vec![0.0; width], bias: 0.0 }).collect()
    }

    fn is_done(&self) -> bool {
        self.visits == self.rows.len() as u64
    }

    fn solve(&mut self) {
        let (solution, is_finite) = self.found();
        (self.solution, self.is_finite) = (RefCell::new(solution), is_finite);
        self.handed_out.set(false);
    }

    /// The solution, with planes again where they were handed out.
    fn solved(&self) -> Ref<'_, Solution> {
        if self.handed_out.get() {
            self.solution.replace(self.found().0);
            self.handed_out.set(false);
        }
        self.solution.borrow()
    }

    /// What the rows give, and whether all of it is finite.
    fn found(&self) -> (Solution, bool) {
        let mut solution = self.learner.solve(&self.task.data, &self.rows, self.task.threads);
        let planes = &mut solution.planes;
        let (threads, is_finite) = (threads_for(planes, self.task.threads), AtomicBool::new(true));
        let work = |(): &mut (), _: usize, planes: &mut [Plane]| {
            for plane in planes {
                let mut all = true;
                for w in plane.weights.iter_mut().chain([&mut plane.bias]) {
                    // A negative zero would tell one storage from the other.
                    *w += 0.0;
                    all &= w.is_finite();
                }
                is_finite.fetch_and(all, Ordering::Relaxed);
            }
        };
        parallel_chunks(planes, 1, threads, || (), work);
        (solution, is_finite.into_inner())
    }

    fn status(&self) -> Status {
        match self.is_done() {
            false => Status::Running,
            true if self.is_finite => Status::Finished,
            true => Status::Diverged,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedClosedRun {
    rows: usize,
    features: usize,
    classes: usize,
    visits: u64,
    /// Bits of the weights and the bias of each plane of a solved run.
    planes: Vec<Vec<u64>>,
}

impl ClosedRun {
    fn bits(&self) -> Vec<Vec<u64>> {
        let bits = |plane: &Plane| {
            plane.weights.iter().chain([&plane.bias]).map(|x| x.to_bits()).collect()
        };
        match self.is_done() {
            true => self.solved().planes.iter().map(bits).collect(),
            false => Vec::new(),
        }
    }
}

impl Training for ClosedRun {
    fn advance(&mut self, budget: Budget) -> Status {
        if !self.is_done() {
            self.visits += budget.visits.min(self.rows.len() as u64 - self.visits);
            if self.is_done() {
                self.solve();
            }
        }
        self.status()
    }

    fn epoch_rows(&self) -> u64 {
        self.rows.len() as u64
    }

    fn progress(&self) -> Progress {
        Progress {
            epochs: u64::from(self.is_done()),
            visits: self.visits,
            updates: 0,
            last_mistakes: None,
            objective: None,
            gap: None,
        }
    }

    fn model(&self) -> LinearModel {
        let planes = match self.is_done() && self.learner.is_quick() {
            true => {
                drop(self.solved());
                self.handed_out.set(true);
                std::mem::take(&mut self.solution.borrow_mut().planes)
            }
            false => self.planes(),
        };
        let rule = if planes.len() == 1 { Rule::Sign } else { Rule::ArgMax };
        let mut model = LinearModel::of(&self.task.data, planes, rule, self.learner.link());
        model.input.binarize = self.learner.binarize();
        model
    }

    fn certificate(&self) -> Certificate {
        let data = self.task.data.as_ref();
        let solution = self.solved();
        let claim = match &solution.proof {
            Proof::Nothing(reason) => return Certificate::unproved(reason.clone()),
            Proof::Claim(claim) => claim(planes_of(data, &solution.planes, self.task.threads)),
        };
        let all = (0..data.n_rows()).filter(|&row| data.weight(row) > 0.0).count();
        if self.rows.len() < all {
            return Certificate::unproved(HELD_OUT);
        }
        match check_claim(&claim, data, &data.reading_field(), true, self.task.threads) {
            Finding::Holds(_) => Certificate::new(vec![claim]),
            Finding::Nothing(words) | Finding::Fails(words) => {
                Certificate::unproved(format!("the checker does not confirm it: {words}"))
            }
        }
    }

    fn save(&self) -> State {
        let data = &self.task.data;
        State::encode(&SavedClosedRun {
            rows: self.rows.len(),
            features: data.n_features(),
            classes: data.n_classes(),
            visits: self.visits,
            planes: self.bits(),
        })
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let saved: SavedClosedRun = state.decode()?;
        let foreign = || Error::usage("the saved state belongs to a run on other data");
        let data = &self.task.data;
        let size = (self.rows.len(), data.n_features(), data.n_classes());
        if (saved.rows, saved.features, saved.classes) != size || saved.visits > size.0 as u64 {
            return Err(foreign());
        }
        let before = (self.visits, self.solution.take(), self.handed_out.take(), self.is_finite);
        self.visits = saved.visits;
        match self.is_done() {
            true => self.solve(),
            false => self.solution = RefCell::default(),
        }
        if self.bits() != saved.planes {
            let (visits, solution, handed_out, is_finite) = before;
            (self.visits, self.is_finite) = (visits, is_finite);
            (self.solution, self.handed_out) = (RefCell::new(solution), Cell::new(handed_out));
            return Err(foreign());
        }
        Ok(())
    }

    fn remarks(&self) -> Vec<Remark> {
        self.solution.borrow().remarks.clone()
    }

    fn generates(&self) -> Option<&dyn Generates> {
        self.learner.is_generative().then_some(self)
    }

    crate::training_lacks!(traces, carries_on, warm_starts, bounds_margin, bounds_objective, seeks);
}

impl Generates for ClosedRun {
    fn density(&self) -> Option<Density> {
        self.solution.borrow().density.clone()
    }
}

/// The planes as a claim states them.
pub(crate) fn planes_of(data: &Dataset, planes: &[Plane], threads: usize) -> ClaimedPlanes {
    if let [plane] = planes {
        let problem = problem_of(data, &data.classes()[1], None);
        let plane = float_plane(&plane.weights, Some(plane.bias));
        return ClaimedPlanes::Two { problem, plane };
    }
    let class = |k: usize| class_plane(&data.classes()[k], &planes[k]);
    ClaimedPlanes::Each(parallel_map(planes.len(), threads_for(planes, threads), class))
}

/// A thread takes longer to start than small planes to copy.
fn threads_for(planes: &[Plane], threads: usize) -> usize {
    let numbers: usize = planes.iter().map(|plane| plane.weights.len()).sum();
    if numbers > MANY_WEIGHTS { threads } else { 1 }
}

/// total / (classes · weight) for each class, or what is given, or 1.
pub(crate) fn class_factors(
    data: &Dataset,
    rows: &[u32],
    class_weights: &ClassWeights,
) -> Vec<f64> {
    if *class_weights != ClassWeights::Balanced {
        return data.classes().iter().map(|class| class_weights.of(class, class)).collect();
    }
    let mut weights = vec![0.0; data.n_classes()];
    for &row in rows {
        weights[data.class_of(row as usize) as usize] += data.weight(row as usize);
    }
    let total: f64 = weights.iter().sum();
    let count = weights.len() as f64;
    let factor = |weight: &f64| if *weight > 0.0 { total / (count * weight) } else { 1.0 };
    weights.iter().map(factor).collect()
}

/// Refuses data with so many columns that columns × columns numbers are out of proportion.
pub(crate) fn require_matrix(task: &Task, learner: &str) -> Result<()> {
    let width = task.data.n_features();
    if width <= MOST_COLUMNS {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{learner} holds a matrix of columns x columns, and {width} columns are more than its limit of {MOST_COLUMNS}; leave columns out with `features` or use another learner"
    )))
}

/// Refuses rows among which a class does not occur.
pub(crate) fn require_every_class(task: &Task) -> Result<()> {
    let rows = task.active_rows()?;
    let mut seen = vec![false; task.data.n_classes()];
    rows.iter().for_each(|&row| seen[task.data.class_of(row as usize) as usize] = true);
    match seen.iter().position(|seen| !seen) {
        None => Ok(()),
        Some(class) => {
            let name = &task.data.classes()[class];
            let words = format!("no row of class \"{name}\" takes part");
            Err(Error::data(Code::FOLD, words, Place::default()))
        }
    }
}

/// Answers of A w = rhs with A = keep · scatter + ridge · identity, the scatter about the means of the
/// classes or of all rows. The first answers come from the factors; one or two passes over the rows take
/// out what rounding in the matrix has cost, since rhs − A w computed from the rows is as good as the
/// rows. Many rows of well-conditioned columns do without.
pub(crate) struct Equations<'a> {
    pub(crate) spec: &'a Spec<'a>,
    pub(crate) moments: &'a Moments,
    pub(crate) factor: &'a Factor,
    pub(crate) within: bool,
    pub(crate) keep: f64,
    pub(crate) ridge: f64,
}

/// The right side of the equations of one plane.
pub(crate) struct Right {
    pub(crate) rhs: Vec<f64>,
    /// If the right side is Σ f t (x − centre), the target t of each class: rows then give the rest of
    /// the equations without the difference of two large numbers.
    pub(crate) targets: Option<Vec<f64>>,
}

impl Equations<'_> {
    pub(crate) fn solve(&self, rights: &[Right], threads: usize) -> Vec<Vec<f64>> {
        let mut answers: Vec<Vec<f64>> =
            rights.iter().map(|right| self.factor.solve(&right.rhs)).collect();
        for _ in 0..self.passes() {
            let rests = self.rests(&answers, rights, threads);
            let mut small = true;
            for (answer, rest) in answers.iter_mut().zip(&rests) {
                let step = self.factor.solve(rest);
                small &= self.factor.length(&step) <= SMALL_STEP * self.factor.length(answer);
                answer.iter_mut().zip(&step).for_each(|(w, step)| *w += step);
            }
            // What is left is to this step as the step was to the answer: below what can be held.
            if small {
                break;
            }
        }
        if self.factor.is_singular() {
            answers.iter_mut().for_each(|answer| self.factor.shorten(answer));
        }
        answers
    }

    /// The most passes of refinement.
    fn passes(&self) -> usize {
        let is_long = self.spec.rows.len() * self.moments.shift.len() > FEW_VALUES;
        let is_calm = !self.factor.is_singular() && self.factor.condition <= WELL_CONDITIONED;
        if is_long && is_calm { 0 } else { 2 }
    }

    /// rhs − A w for each w, from the rows: Σ f q (y − offset) with q = t − keep (w·y − w·offset).
    fn rests(&self, answers: &[Vec<f64>], rights: &[Right], threads: usize) -> Vec<Vec<f64>> {
        let classes = self.moments.weights.len();
        let lists: Vec<&[f64]> = answers.iter().map(Vec::as_slice).collect();
        let planes = Planes::new(&lists, self.moments.shift.len());
        let base = |class: usize, (answer, right): (&Vec<f64>, &Right)| {
            let target = right.targets.as_ref().map_or(0.0, |targets| targets[class]);
            target + self.keep * dot_f64(self.centre(class), answer)
        };
        let of_class = |class: usize| -> Vec<f64> {
            cancel::check();
            answers.iter().zip(rights).map(|pair| base(class, pair)).collect()
        };
        let bases: Vec<Vec<f64>> = (0..classes).map(of_class).collect();
        let block = |places: std::ops::Range<usize>| {
            let mut sums = planes.sums();
            let mut shares = vec![vec![0.0; answers.len()]; classes];
            self.spec.add_rows(&planes, &mut sums, places, |visit| {
                cancel::check();
                let shares = shares[visit.class].iter_mut().zip(&bases[visit.class]);
                for (q, (share, base)) in visit.scores.iter_mut().zip(shares) {
                    *q = visit.factor * (base - self.keep * *q);
                    *share += *q;
                }
            });
            (sums, shares)
        };
        let mut sums = planes.sums();
        let mut shares = vec![vec![0.0; answers.len()]; classes];
        for (part_sums, part_shares) in self.spec.by_blocks(threads, block) {
            sums.merge(&part_sums);
            let pairs = shares.iter_mut().flatten().zip(part_shares.iter().flatten());
            pairs.for_each(|(mine, theirs)| *mine += theirs);
        }
        let mut rests = sums.apart();
        for (plane, rest) in rests.iter_mut().enumerate() {
            for (class, shares) in shares.iter().enumerate() {
                axpy_dense(-shares[plane], self.centre(class), rest);
            }
            axpy_dense(-self.ridge, &answers[plane], rest);
            if rights[plane].targets.is_none() {
                axpy_dense(1.0, &rights[plane].rhs, rest);
            }
        }
        rests
    }

    /// The centre of the rows of a class, less the shift.
    pub(crate) fn centre(&self, class: usize) -> &[f64] {
        if self.within { &self.moments.offsets[class] } else { &self.moments.offset }
    }
}

#[cfg(test)]
mod tests {
    use crate::learn::bayes::MultinomialBayes;
    use crate::{Budget, Learner, Status, Task};
    use linsep_data::Dataset;

    #[test]
    fn planes_that_were_handed_out_are_found_again() {
        let rows = [[2., 0.], [3., 1.], [0., 4.], [1., 2.], [5., 5.]];
        let data = Dataset::from_rows(&rows, &["a", "a", "b", "b", "c"]).unwrap();
        let mut run = MultinomialBayes::default().start(&Task::new(data)).unwrap();
        assert_eq!(run.advance(Budget::UNBOUNDED), Status::Finished);
        let (saved, model, claims) = (run.save(), run.model(), run.certificate().claims);
        assert_eq!(model.planes.len(), 3);
        assert_eq!(run.model().planes, model.planes);
        assert_eq!(run.model().planes, model.planes);
        assert_eq!(run.certificate().claims, claims);
        run.model();
        assert_eq!(run.save(), saved);
        run.model();
        run.restore(&saved).unwrap();
        assert_eq!(run.model().planes, model.planes);
    }
}
