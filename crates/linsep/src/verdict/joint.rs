//! All classes at once: one plane for each class, and every row scores highest on its own.
//!
//! One-versus-rest planes that separate also separate jointly; a pair of classes that no plane
//! separates refutes the joint question with the same rows. In between, Kesler's construction makes
//! one question of it: a row x of class c and another class k become a vector with (1, x) in the
//! block of c and −(1, x) in the block of k.

use super::exactly::{Exactly, decide as decide_exactly};
use super::signed::Signed;
use super::stacked::Stacked;
use super::{Decision, Judge, Limit, Verdict};
use crate::engine::perceptron::Perceptron;
use crate::model::Plane;
use crate::run::{Budget, Learner, Status, Task};
use dashu_int::IBig;
use linsep_data::Dataset;
use linsep_proof::{
    Against, Claim, ClassPlane, ExactNumber, Question, Scheme, Weighted, check_claim,
};
use std::sync::Arc;

/// Passes of the K-class perceptron before Kesler's vectors are searched, and before the exact method is asked.
const FEW_EPOCHS: u64 = 50;
const EPOCHS: u64 = 2000;

/// Up to this many numbers the exact method takes on all classes at once.
const MAX_EXACT: usize = 4000;

pub(crate) fn decide(judge: &Judge, pairs: &[Decision], stop: &dyn Fn() -> bool) -> Decision {
    let mut passes = 0;
    let mut exact = 0;
    let mut proving = 0.0;
    let mut checked = |claim: &Claim| {
        let started = (judge.clock)();
        let data = judge.data.as_ref();
        let holds = check_claim(claim, data, &judge.reading(), judge.bias, judge.threads).holds();
        proving += (judge.clock)() - started;
        holds
    };
    let stacked = judge.joint_kind.then(|| Stacked::new(judge, true)).flatten();
    let told = stacked.and_then(|stacked| stacked.decide(stop)).filter(|(_, claim)| checked(claim));
    let (stacked, claim) = match told {
        Some((decision, claim)) => {
            (passes, exact) = (decision.passes, decision.exact_decisions);
            (Some(Box::new(decision)), Some(claim))
        }
        None => {
            let claim = from_pairs(judge, pairs)
                .or_else(|| by_perceptron(judge, FEW_EPOCHS, stop, &mut passes))
                .or_else(|| by_search(judge, stop, &mut passes, &mut exact))
                .or_else(|| by_perceptron(judge, EPOCHS, stop, &mut passes))
                .or_else(|| exactly(judge, stop, &mut exact));
            (None, claim.filter(&mut checked))
        }
    };
    let mut limit = None;
    let (verdict, claim) = match claim {
        Some(claim @ Claim::JointSeparable { .. }) => (Verdict::Separable, claim),
        Some(claim @ Claim::JointTouching { .. }) => (Verdict::Touching, claim),
        Some(claim @ Claim::JointOverlapping { .. }) => (Verdict::Overlapping, claim),
        Some(claim) => (Verdict::Inseparable, claim),
        None => {
            let reached = if stop() { Limit::Stopped } else { Limit::Search };
            limit = Some(reached);
            (Verdict::Undecided, Claim::Unproved { reason: reached.words().to_owned() })
        }
    };
    Decision {
        problem: None,
        verdict,
        claim,
        refutation: Vec::new(),
        blend: Vec::new(),
        escape: None,
        face: Vec::new(),
        stacked,
        limit,
        cycle: None,
        passes,
        exact_decisions: exact,
        proving,
    }
}

/// A pair that no plane separates: its rows, each against the other class.
fn from_pairs(judge: &Judge, pairs: &[Decision]) -> Option<Claim> {
    for decision in pairs {
        let problem = decision.problem.as_ref()?;
        if problem.positive.len() != 1 || problem.negative.len() != 1 {
            continue;
        }
        let witness = &decision.refutation;
        if witness.is_empty() {
            continue;
        }
        return Some(against_each_other(&judge.data, problem, witness));
    }
    None
}

/// The rows that refute a pair of classes, each against the other class: they refute all classes.
pub(crate) fn against_each_other(data: &Dataset, pair: &Question, witness: &[Weighted]) -> Claim {
    let (a, b) = (&pair.positive[0], &pair.negative[0]);
    let entry = |entry: &Weighted| {
        Against::new(
            entry.row,
            if data.label_text(entry.row as usize) == *a { b.clone() } else { a.clone() },
            entry.lambda.clone(),
        )
        .with_line(entry.line)
        .with_file(entry.file.clone())
    };
    Claim::JointInseparable { witness: witness.iter().map(entry).collect() }
}

/// The search of two classes on Kesler's vectors.
fn by_search(
    judge: &Judge,
    stop: &dyn Fn() -> bool,
    passes: &mut u64,
    exact: &mut u64,
) -> Option<Claim> {
    let (decision, claim) = Stacked::new(judge, false)?.decide(stop)?;
    *passes += decision.passes;
    *exact += decision.exact_decisions;
    Some(claim)
}

fn by_perceptron(
    judge: &Judge,
    epochs: u64,
    stop: &dyn Fn() -> bool,
    passes: &mut u64,
) -> Option<Claim> {
    if !judge.bias || judge.data.label_names() != judge.data.classes() {
        return None;
    }
    let task = Task { threads: 1, ..Task::new(Arc::clone(&judge.data)) };
    let mut run = Perceptron::default().start(&task).ok()?;
    for _ in 0..epochs {
        *passes += 1;
        match run.advance(Budget::visits(run.epoch_rows())) {
            Status::Finished => {
                let mut planes = run.model().planes;
                if planes.len() == 1 {
                    // Two classes have one plane: its score for the second, nothing for the first.
                    let nothing = Plane { weights: vec![0.0; judge.data.n_features()], bias: 0.0 };
                    planes.insert(0, nothing);
                }
                let claim = crate::claim::separating::jointly_separable(&judge.data, &planes);
                let holds = check_claim(
                    &claim,
                    judge.data.as_ref(),
                    &judge.reading(),
                    judge.bias,
                    judge.threads,
                )
                .holds();
                return holds.then_some(claim);
            }
            Status::Running if !stop() => {}
            _ => return None,
        }
    }
    None
}

/// The exact method on Kesler's vectors, rows joining as they are needed.
fn exactly(judge: &Judge, stop: &dyn Fn() -> bool, exact: &mut u64) -> Option<Claim> {
    let data = judge.data.as_ref();
    let names = data.label_names();
    let problem = Question::new(Scheme::Rest, names.to_vec(), Vec::new());
    let view = Signed::new(Arc::clone(&judge.data), problem, judge.bias);
    let dimension = view.dimension();
    if (names.len() - 1) * dimension > MAX_EXACT / 10 || view.len() * names.len() > 1_000_000 {
        return None;
    }
    let all: Vec<usize> = (0..view.len()).collect();
    let whole = view.whole_rows(&all);
    let width = whole.rows.first()?.len();
    // Gauge: the plane of the last class is 0.
    let blocks = names.len() - 1;
    let vector = |k: usize, against: usize| {
        let own = data.label_id(view.rows[k] as usize) as usize;
        let mut v = vec![IBig::ZERO; blocks * width];
        for (j, x) in whole.rows[k].iter().enumerate() {
            if own < blocks {
                v[own * width + j] = x.clone();
            }
            if against < blocks {
                v[against * width + j] = -x.clone();
            }
        }
        v
    };
    let candidates: Vec<(usize, usize)> = (0..view.len())
        .flat_map(|k| (0..names.len()).map(move |against| (k, against)))
        .filter(|(k, against)| data.label_id(view.rows[*k] as usize) as usize != *against)
        .collect();
    let several = data.origin().files().count() > 1;
    let batch = 2 * blocks * width + 8;
    let step = (candidates.len() / batch).max(1);
    let mut active: Vec<usize> = (0..candidates.len()).step_by(step).collect();
    let mut is_active = vec![false; candidates.len()];
    active.iter().for_each(|&c| is_active[c] = true);
    loop {
        *exact += 1;
        let rows: Vec<Vec<IBig>> =
            active.iter().map(|&c| vector(candidates[c].0, candidates[c].1)).collect();
        match decide_exactly(&rows, stop)? {
            Exactly::Balanced(lambda) => {
                let witness = lambda.into_iter().map(|(j, l)| {
                    let (k, against) = candidates[active[j]];
                    let row = u64::from(view.rows[k]);
                    Against::new(row, names[against].clone(), l.to_string())
                        .with_line(data.origin().line(row))
                        .with_file(
                            several.then(|| data.origin().file(row).map(str::to_owned)).flatten(),
                        )
                });
                return Some(Claim::JointInseparable { witness: witness.collect() });
            }
            Exactly::Separated(w) => {
                let score = |v: &[IBig]| v.iter().zip(&w).fold(IBig::ZERO, |s, (x, w)| s + x * w);
                let wrong = (0..candidates.len()).filter(|&c| {
                    !is_active[c] && score(&vector(candidates[c].0, candidates[c].1)) <= IBig::ZERO
                });
                let wrong: Vec<usize> = wrong.take(batch).collect();
                if wrong.is_empty() {
                    let plane = |k: usize| {
                        let zero = vec![IBig::ZERO; width];
                        let block =
                            if k < blocks { &w[k * width..(k + 1) * width] } else { &zero[..] };
                        let exact = super::proposal::exact_plane(&whole, block);
                        ClassPlane::new(names[k].clone()).with_sparse(exact.sparse).with_bias(
                            exact.bias.or(judge.bias.then(|| ExactNumber::Ratio("0".into()))),
                        )
                    };
                    return Some(Claim::JointSeparable {
                        planes: (0..names.len()).map(plane).collect(),
                    });
                }
                for c in wrong {
                    is_active[c] = true;
                    active.push(c);
                }
            }
        }
    }
}
