//! One machine for K classes: softmax regression, and the machine of Crammer and Singer.
//!
//! Problem: with scores s_k = w_k·x + b_k, row costs c and v_k = scale · w_k,
//!
//! ```text
//! least  Σ c ln Σ_k exp(s_k − s_own)         + l2/2 Σ_k |v_k|²      (softmax)
//! least  Σ c max_k (s_k − s_own + [k ≠ own]) + l2/2 Σ_k |v_k|²      (Crammer, Singer)
//! ```
//!
//! The planes are learned together, so they cannot contradict each other: the highest score wins. The
//! shares of softmax, exp(s_k)/Σ exp(s), are probabilities.
//!
//! With two classes the planes would be ±w/2 of one plane w: softmax is logistic regression then, and
//! Crammer and Singer's machine the plain hinge, both with l2/2 instead of l2 to be the same objective.
//! Logistic regression keeps its l2 for two classes, as everybody does; the hinge takes l2/2.
//!
//! Softmax may do without a penalty where its maximum-likelihood fit exists, which is asked first.
//!
//! Proved: `optimal`, see [`crate::learn::optimising`].
//!
//! References: Bishop 4.3.4; Crammer, Singer, On the algorithmic implementation of multiclass
//! kernel-based vector machines, 2001.

use crate::claim::planes::float_plane;
use crate::engine::certified::{Certified, Evidence, Optimiser, foreign};
use crate::engine::crammer_singer::{self, CrammerSinger};
use crate::engine::joint::{Joint, JointLoss, Lines, Measured};
use crate::engine::moves::moves;
use crate::engine::softmax::Softmax;
use crate::learn::optimising::{ConvexProblem, Solver, Terms};
use crate::model::{LinearModel, Link, Plane, Rule};
use crate::objective::{Gap, Intercept};
use crate::run::{Remark, State, Task, Training};
use crate::verdict::existence::{Existence, ambiguity, softmax_optimum};
use linsep_data::error::Error;
use linsep_data::sort::sort_by_key;
use linsep_proof::{DualPoint, Planes};
use serde::{Deserialize, Serialize};

/// Columns up to which a smoothed hinge is better minimised by Newton's method: its matrices have as many
/// rows as all planes have weights, while dual descent takes thousands of epochs on few columns.
const FEW_COLUMNS: usize = 1024;

/// Rows for each column from which on that holds for more than [`VERY_FEW`] columns. On a fifth of mnist, 15 rows
/// for a column, dual descent takes a third of the time of Newton's method; on all of it, 76, 12.9 s to 15.4.
const TALL: usize = 96;

/// On so few columns a step of Newton's method costs next to nothing.
const VERY_FEW: usize = 128;

/// A warm start begins with so many times the temperature at which the run before has ended.
const WARMER: f64 = 16.0;

/// Starts a machine for all classes of a task.
pub(crate) fn start(
    problem: ConvexProblem,
    loss: JointLoss,
    task: &Task,
) -> Result<Box<dyn Training>, Error> {
    let name = match loss {
        JointLoss::Softmax => "softmax",
        JointLoss::CrammerSinger => "crammer-singer",
    };
    // Softmax may do without a penalty; Crammer and Singer's machine has no smooth minimum then.
    let least = if loss == JointLoss::Softmax { 0.0 } else { f64::MIN_POSITIVE };
    let takes_l2 = problem.settings.l2 >= least;
    if problem.settings.l1 != 0.0 || !takes_l2 {
        return Err(Error::usage(format!(
            "`multiclass={name}` takes an l2 penalty alone; `multiclass=ovr` takes others"
        )));
    }
    if problem.settings.has_limits() || problem.settings.solver == Solver::Coordinates {
        return Err(Error::usage(format!(
            "`multiclass={name}` takes no limits of weights and no coordinates; `multiclass=ovr` does"
        )));
    }
    if loss == JointLoss::Softmax && problem.settings.solver == Solver::Dual {
        return Err(Error::usage(
            "`solver=dual`: softmax regression is solved by Newton's method; leave it to auto or use `multiclass=ovr`",
        ));
    }
    let Terms { rows, costs, penalty } = problem.terms(task)?;
    let data = &task.data;
    let joint = Joint {
        data: std::sync::Arc::clone(data),
        own: rows.iter().map(|row| data.class_of(*row as usize)).collect(),
        rows,
        costs,
        classes: data.n_classes(),
        loss,
        penalty,
        intercept: problem.settings.intercept,
        threads: task.threads,
    };
    let has_bias = joint.intercept != Intercept::None;
    let (rows, columns) = (joint.len(), joint.width());
    let each = if columns <= VERY_FEW { 8 } else { TALL };
    let tall = columns <= rows / each && columns <= FEW_COLUMNS;
    let (newton, why) = match (loss, problem.settings.solver) {
        (_, Solver::Newton) => (true, "as asked".to_owned()),
        (_, Solver::Dual) => (false, "as asked".to_owned()),
        (JointLoss::Softmax, _) => (true, "on all planes at once".to_owned()),
        (_, _) if tall => (true, format!("few columns ({columns}) for {rows} rows")),
        (_, _) => (false, format!("{columns} columns for {rows} rows")),
    };
    let (work, why) = match newton {
        true => {
            let run = Softmax::new(joint.zero(), problem.settings.gap);
            (KClassSolver::Newton(run), format!("Newton's method: {why}"))
        }
        false => {
            let run = CrammerSinger::new(&joint, problem.settings.seed);
            (KClassSolver::Dual(run), format!("dual descent on all shares of a row: {why}"))
        }
    };
    let doubt = match joint.is_unpenalised().then(|| softmax_optimum(task, has_bias)) {
        None | Some(Existence::Exists) => None,
        Some(Existence::Unknown(words)) => Some(words),
        Some(Existence::Missing(words)) => {
            return Err(Error::usage(format!(
                "`penalty=none`: no optimum exists, {words}; use `penalty=l2`, or Firth's likelihood (see linsep infer)"
            )));
        }
    };
    let run = KClassRun { problem, task: task.clone(), joint, work, why, doubt };
    Ok(Box::new(Certified::new(run)))
}

/// Who does the work.
enum KClassSolver {
    Newton(Softmax),
    Dual(CrammerSinger),
}

struct KClassRun {
    problem: ConvexProblem,
    task: Task,
    joint: Joint,
    work: KClassSolver,
    why: String,
    doubt: Option<String>,
}

impl KClassRun {
    fn lines(&self) -> Lines {
        match &self.work {
            KClassSolver::Newton(run) => run.lines.clone(),
            KClassSolver::Dual(run) => run.lines(&self.joint),
        }
    }

    /// The shares that the planes do not tell: those of rows whose greatest score is not the only class
    /// with a share, or not clearly the greatest. Softmax has none; without a penalty it has the moves that correct
    /// its shares.
    fn dual_point(&self, measured: &Measured) -> Result<DualPoint, &'static str> {
        let joint = &self.joint;
        if joint.is_unpenalised() {
            let moves = moves(joint, &measured.shares)?;
            return Ok(DualPoint::default().with_moves(moves));
        }
        if joint.loss == JointLoss::Softmax {
            return Ok(DualPoint::default());
        }
        let lines = &measured.lines;
        let parts = joint.light_pass(
            |_| (Vec::new(), vec![0.0; lines.stride]),
            |(told, scores), i, columns, values| {
                lines.scores(columns, values, scores);
                let own = joint.own[i] as usize;
                let shares = &measured.shares[i * joint.classes..][..joint.classes];
                let others = (0..).zip(shares).filter(|(k, p)| *k != own as u32 && **p > 0.0);
                let others: Vec<(u32, f64)> = others.map(|(k, p)| (k, *p)).collect();
                let whole = match others[..] {
                    [] => Some(own),
                    [(class, 1.0)] => Some(class as usize),
                    _ => None,
                };
                if whole.is_none_or(|class| !is_clear(&scores[..joint.classes], own, class)) {
                    told.push((u64::from(joint.rows[i]), others));
                }
            },
        );
        let mut shares: Vec<_> = parts.into_iter().flat_map(|(told, _)| told).collect();
        sort_by_key(&mut shares, |(row, _)| *row);
        Ok(DualPoint::default().with_shares(shares))
    }
}

/// Whether the greatest of s_k + [k ≠ own] is that of a class, by more than rounding can do.
fn is_clear(scores: &[f64], own: usize, class: usize) -> bool {
    let lifted = |k: usize| scores[k] + f64::from(u8::from(k != own));
    let size = scores.iter().fold(1f64, |most, score| most.max(score.abs()));
    let mut others = (0..scores.len()).filter(|k| *k != class);
    others.all(|k| lifted(class) - lifted(k) > 1e-6 * size)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum SavedKClass {
    Newton(SavedNewton),
    Dual(crammer_singer::SavedCrammerSinger),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedNewton {
    lines: Vec<u64>,
    gap: [u64; 2],
    steps: u64,
    exhausted: bool,
    temperature: u64,
    /// Where the preconditioner was made, at which temperature, and whether it still serves.
    made: Option<(Vec<u64>, u64, bool)>,
}

impl Optimiser for KClassRun {
    fn task(&self) -> &Task {
        &self.task
    }

    fn rows(&self) -> usize {
        self.joint.len()
    }

    fn wanted(&self) -> f64 {
        self.problem.settings.gap
    }

    /// With many classes some shares are small, and little may be left to correct: one more step.
    fn aim(&self) -> f64 {
        const CLOSER: f64 = 1e-3;
        let aim = self.problem.settings.aim();
        if self.joint.is_unpenalised() { CLOSER * aim } else { aim }
    }

    fn estimates(&self) -> bool {
        self.joint.is_unpenalised()
    }

    fn doubt(&self) -> Option<&str> {
        self.doubt.as_deref()
    }

    fn ambiguity(&self) -> Option<Remark> {
        let has_bias = self.joint.intercept != Intercept::None;
        self.joint.is_unpenalised().then(|| ambiguity(&self.task, has_bias)).flatten()
    }

    fn step(&mut self) {
        let aim = self.aim();
        match &mut self.work {
            KClassSolver::Newton(run) => run.step(&self.joint, aim),
            KClassSolver::Dual(run) => run.step(&self.joint, aim),
        }
    }

    fn gap(&self) -> Gap {
        match &self.work {
            KClassSolver::Newton(run) => run.gap,
            KClassSolver::Dual(run) => run.gap,
        }
    }

    fn is_exhausted(&self) -> bool {
        matches!(&self.work, KClassSolver::Newton(run) if run.exhausted)
    }

    fn is_finite(&self) -> bool {
        match &self.work {
            KClassSolver::Newton(run) => run.lines.numbers.iter().all(|w| w.is_finite()),
            KClassSolver::Dual(run) => run.is_finite(),
        }
    }

    fn model(&self) -> LinearModel {
        let link = match self.joint.loss {
            JointLoss::Softmax => Link::Softmax,
            JointLoss::CrammerSinger => Link::None,
        };
        let planes = self.joint.planes(&self.lines());
        LinearModel::of(&self.task.data, planes, Rule::ArgMax, link)
    }

    fn primal_of(&self, planes: &[Plane]) -> Option<f64> {
        let mut lines = self.joint.zero();
        let fits = |plane: &Plane| plane.weights.len() == self.joint.width();
        if planes.len() != self.joint.classes || !planes.iter().all(fits) {
            return None;
        }
        let stride = lines.stride;
        for (class, plane) in planes.iter().enumerate() {
            let numbers = plane.weights.iter().chain([&plane.bias]);
            let places = lines.numbers[class..].iter_mut().step_by(stride);
            places.zip(numbers).for_each(|(place, number)| *place = *number);
        }
        Some(self.joint.primal(&lines))
    }

    fn evidence(&self) -> Result<Evidence, &'static str> {
        let (joint, data) = (&self.joint, self.task.data.as_ref());
        let loss = match joint.loss {
            JointLoss::Softmax => linsep_proof::Loss::Softmax,
            JointLoss::CrammerSinger => linsep_proof::Loss::CrammerSinger,
        };
        let measured = match &self.work {
            KClassSolver::Newton(run) => run.measured(joint),
            KClassSolver::Dual(run) => run.measured(joint),
        };
        let planes = joint.planes(&measured.lines);
        let planes = data.classes().iter().zip(&planes).map(|(class, plane)| {
            let plane = float_plane(&plane.weights, Some(plane.bias));
            plane.with_class(Some(class.clone()))
        });
        Ok(Evidence {
            planes: Planes::Each(planes.collect()),
            objective: self.problem.claimed(loss, data, &joint.rows, &joint.penalty),
            dual: self.dual_point(&measured)?,
            gap: measured.gap,
        })
    }

    fn save(&self) -> State {
        let bits = |lines: &Lines| lines.numbers.iter().map(|x| x.to_bits()).collect();
        let saved = match &self.work {
            KClassSolver::Dual(run) => SavedKClass::Dual(run.save()),
            KClassSolver::Newton(run) => SavedKClass::Newton(SavedNewton {
                lines: bits(&run.lines),
                gap: [run.gap.primal.to_bits(), run.gap.dual.to_bits()],
                steps: run.steps,
                exhausted: run.exhausted,
                temperature: run.temperature.to_bits(),
                made: run.preconditioner().map(|(at, mu, good)| (bits(at), mu.to_bits(), good)),
            }),
        };
        State::encode(&saved)
    }

    fn restore(&mut self, state: &State) -> Result<(), Error> {
        let joint = &self.joint;
        let lines = |bits: &[u64]| -> Result<Lines, Error> {
            let mut lines = joint.zero();
            if bits.len() != lines.numbers.len() {
                return Err(foreign());
            }
            lines.numbers = bits.iter().map(|x| f64::from_bits(*x)).collect();
            Ok(lines)
        };
        match (&mut self.work, state.decode()?) {
            (KClassSolver::Dual(run), SavedKClass::Dual(saved)) => {
                if !run.restore(joint, &saved) {
                    return Err(foreign());
                }
            }
            (KClassSolver::Newton(run), SavedKClass::Newton(saved)) => {
                let mut next = Softmax::new(lines(&saved.lines)?, self.problem.settings.gap);
                if let Some((at, mu, good)) = &saved.made {
                    next.precondition(joint, lines(at)?, f64::from_bits(*mu), *good);
                }
                next.temperature = f64::from_bits(saved.temperature);
                let [primal, dual] = saved.gap.map(f64::from_bits);
                next.gap = Gap { primal, dual };
                next.steps = saved.steps;
                next.exhausted = saved.exhausted;
                *run = next;
            }
            _ => return Err(foreign()),
        }
        Ok(())
    }

    /// Planes are near those of a nearby C; the shares of a dual descent do not depend on C at all.
    fn warm_start(&mut self, state: &State, _: f64) -> bool {
        let joint = &self.joint;
        match (&mut self.work, state.decode()) {
            (KClassSolver::Dual(run), Ok(SavedKClass::Dual(saved))) => {
                run.warm_start(joint, &saved)
            }
            (KClassSolver::Newton(run), Ok(SavedKClass::Newton(saved))) => {
                let mut lines = joint.zero();
                let fits = saved.lines.len() == lines.numbers.len();
                if fits {
                    lines.numbers = saved.lines.iter().map(|x| f64::from_bits(*x)).collect();
                    *run = Softmax::new(lines, self.problem.settings.gap);
                    // Not from the start, where the planes would be led away.
                    run.temperature = (WARMER * f64::from_bits(saved.temperature)).min(1.0);
                }
                fits
            }
            _ => false,
        }
    }

    fn solver(&self) -> &str {
        &self.why
    }
}
