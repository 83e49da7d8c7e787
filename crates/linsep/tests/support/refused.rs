//! Altered claims that must be refused, counted by kind, and what floats say of them.
#![allow(dead_code)] // Each test file uses its own part of this one.

use crate::claims::{dense, for_planes, for_witness};
use crate::proven::{Proven, by_judge, by_reading, hand_made};
use linsep::proof::{Claim, ExactNumber, Finding, Question, Rows};
use std::collections::{BTreeMap, BTreeSet};

/// Everything proven, from every source.
pub(crate) fn everything() -> Vec<Proven> {
    let mut all = by_judge();
    all.extend(by_reading());
    all.extend(hand_made());
    all.retain(|case| case.kind() != "unproved");
    all
}

/// How often each kind of claim was refused: claims of others, and of the judge.
#[derive(Default)]
pub(crate) struct Tally(BTreeMap<&'static str, [usize; 2]>);

impl Tally {
    /// Takes an altered case, which must be refused.
    pub(crate) fn refused(&mut self, case: &Proven, what: &str) {
        let finding = case.check();
        let claim = case.claim();
        assert!(
            matches!(finding, Finding::Fails(_)),
            "{}, {what}: {finding:?} {claim:?}",
            case.name
        );
        self.0.entry(case.kind()).or_default()[usize::from(case.by_judge)] += 1;
    }

    /// Every one of these kinds was refused at least once, whoever made the claim.
    pub(crate) fn covers_any(&self, kinds: &[&'static str]) {
        let found: BTreeSet<&str> = self.0.keys().copied().collect();
        assert_eq!(found, kinds.iter().copied().collect());
    }

    /// Every one of these kinds was refused at least once made by hand, and made by the judge.
    pub(crate) fn covers(&self, kinds: &[&'static str]) {
        self.covers_any(kinds);
        for (kind, [others, judge]) in &self.0 {
            assert!(*others > 0, "no {kind} claim made by hand");
            assert!(*judge > 0, "no {kind} claim of the judge");
        }
    }
}

pub(crate) const PLANES: [&str; 3] = ["separable", "touching", "joint separable"];
pub(crate) const WITNESSES: [&str; 7] = [
    "inseparable",
    "touching",
    "overlapping",
    "margin",
    "geometric-margin",
    "bracket",
    "joint inseparable",
];

pub(crate) fn all_kinds() -> Vec<&'static str> {
    let mut kinds: Vec<&str> = PLANES.iter().chain(&WITNESSES).copied().collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// The rows that carry a claim: those of its witness, or all that take part.
pub(crate) fn carrying_rows(case: &Proven) -> Vec<usize> {
    let mut rows = Vec::new();
    for_witness(&mut case.claim().clone(), |w| rows.extend(w.iter().map(|e| e.row as usize)));
    if let Claim::JointInseparable { witness } = case.claim() {
        rows.extend(witness.iter().map(|entry| entry.row as usize));
        rows.dedup();
    }
    if rows.is_empty() {
        let sides = |row: &usize| case.claim().problem().is_none_or(|p| sign(p, case, *row) != 0.0);
        rows = (0..case.table.rows.len()).filter(sides).collect();
        rows.retain(|&row| case.table.takes_part(row as u64));
    }
    rows
}

pub(crate) fn sign(problem: &Question, case: &Proven, row: usize) -> f64 {
    let label = &case.table.labels[row];
    let among = |labels: &[String]| f64::from(labels.contains(label));
    among(&problem.positive) - among(&problem.negative)
}

pub(crate) fn float(number: &ExactNumber) -> f64 {
    match number {
        ExactNumber::Binary64(x) => *x,
        ExactNumber::Ratio(text) => {
            let (p, q) = text.split_once('/').unwrap_or((text, "1"));
            p.parse::<f64>().unwrap() / q.parse::<f64>().unwrap()
        }
    }
}

/// The weights of the planes, by class, as floats.
pub(crate) fn weights(case: &Proven) -> Vec<(Option<String>, Vec<f64>)> {
    let mut planes = Vec::new();
    let width = case.table.width();
    for_planes(&mut case.claim().clone(), |class, plane| {
        let numbers = dense(plane, width).iter().map(float).collect();
        planes.push((class.map(str::to_owned), numbers));
    });
    planes
}

/// The squared length of a bracket's blend in proportion to its bound; more than 1 refutes it.
pub(crate) fn excess(case: &Proven) -> f64 {
    let Claim::Bracket { problem, weights, bound } = case.claim() else { panic!() };
    let mut sum = vec![0.0; case.table.width() + 1];
    let mut total = 0.0;
    for entry in weights {
        let row = entry.row as usize;
        let lambda: f64 = entry.lambda.parse().unwrap();
        let signed = lambda * sign(problem, case, row);
        total += lambda;
        sum[0] += if case.file.bias { signed } else { 0.0 };
        sum[1..].iter_mut().zip(&case.table.rows[row]).for_each(|(s, x)| *s += signed * x);
    }
    let square: f64 = sum.iter().map(|x| x * x).sum();
    square / (total * total) / float(&ExactNumber::Ratio(bound.clone()))
}

/// Whether floats see a row clearly on the wrong side of the altered planes.
pub(crate) fn clearly_wrong(case: &Proven) -> bool {
    let planes = scores_of(case);
    (0..case.table.rows.len()).filter(|&row| case.table.takes_part(row as u64)).any(|row| {
        let values = &case.table.rows[row];
        let sum = |k: usize| planes[k].1(values);
        match case.claim().problem() {
            Some(problem) => sign(problem, case, row) * sum(0).0 < -1e-6 * sum(0).1,
            None => {
                let own = |k: &usize| planes[*k].0.as_deref() == Some(&case.table.labels[row]);
                let mine = (0..planes.len()).find(own).map_or((0.0, 0.0), sum);
                let mut others = (0..planes.len()).filter(|k| !own(k)).map(sum);
                others.any(|(score, size)| mine.0 - score < -1e-6 * (mine.1 + size))
            }
        }
    })
}

/// Gives the score of a row and the sum of the sizes of its terms.
type Score = Box<dyn Fn(&[f64]) -> (f64, f64)>;

fn scores_of(case: &Proven) -> Vec<(Option<String>, Score)> {
    let mut planes: Vec<(Option<String>, Score)> = Vec::new();
    let width = case.table.width();
    for_planes(&mut case.claim().clone(), |class, plane| {
        let weights: Vec<f64> = dense(plane, width).iter().map(float).collect();
        let bias = plane.bias.as_ref().map_or(0.0, float);
        let score = move |row: &[f64]| {
            let terms = || row.iter().zip(&weights).map(|(x, w)| x * w).chain([bias]);
            (terms().sum(), terms().map(f64::abs).sum())
        };
        planes.push((class.map(str::to_owned), Box::new(score)));
    });
    planes
}
