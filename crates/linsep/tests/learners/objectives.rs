//! Forty random problems of every loss, penalty and shape: linsep's objective is within its certified
//! gap of the best that any peer finds, its bound is below everything that anybody reaches, and the
//! checker agrees. `testdata/peers/make_optimal.py` made the problems and asked the peers; the
//! objectives of all are computed here, by the formula.

use crate::proofs::repository;
use linsep::proof::{Claim, check_claim};
use linsep::recipe::{Recipe, Settings};
use linsep::{Dataset, DatasetBuilder, Limits, Task};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Case {
    loss: String,
    penalty: String,
    intercept: String,
    shape: String,
    c: f64,
    seed: u64,
    columns: usize,
    rows: Vec<Vec<(u32, f64)>>,
    labels: Vec<usize>,
    weights: Option<Vec<f64>>,
    peers: BTreeMap<String, Vec<PeerPlane>>,
}

#[derive(Clone, Deserialize)]
struct PeerPlane {
    weights: Vec<f64>,
    bias: f64,
}

impl Case {
    fn data(&self) -> Dataset {
        let mut builder = DatasetBuilder::new(self.columns);
        for (i, row) in self.rows.iter().enumerate() {
            builder.sparse_row(row, &self.labels[i].to_string()).unwrap();
            if let Some(weights) = &self.weights {
                builder.weight(weights[i]).unwrap();
            }
        }
        builder.finish().unwrap()
    }

    fn settings(&self) -> (&'static str, Settings) {
        let mut settings = Settings::default();
        let (learner, loss, scheme) = match self.loss.as_str() {
            "logistic" => ("logistic", None, None),
            "softmax" => ("logistic", None, Some("softmax")),
            "crammer-singer" => ("svm", None, Some("crammer-singer")),
            "ovr-squared-hinge" => ("svm", Some("squared-hinge"), Some("ovr")),
            "ovr-hinge" => ("svm", Some("hinge"), Some("ovr")),
            loss => ("svm", Some(loss), None),
        };
        settings.set("c", &self.c.to_string());
        settings.set("gap", "0.00001");
        settings.set("intercept", &self.intercept);
        settings.set("penalty", &self.penalty);
        loss.into_iter().for_each(|loss| settings.set("loss", loss));
        scheme.into_iter().for_each(|scheme| settings.set("multiclass", scheme));
        (learner, settings)
    }

    /// The objective of each machine: one for one-versus-rest of each class, else one in all.
    fn objectives(&self, planes: &[PeerPlane]) -> Vec<f64> {
        let (l1, l2) = match self.penalty.as_str() {
            "l1" => (1.0, 0.0),
            "elastic-net" => (0.5, 0.5),
            _ => (0.0, 1.0),
        };
        let penalty = |plane: &PeerPlane| {
            let one = |w: f64| 0.5 * l2 * w * w + l1 * w.abs();
            let bias = if self.intercept == "penalised" { one(plane.bias) } else { 0.0 };
            plane.weights.iter().map(|w| one(*w)).sum::<f64>() + bias
        };
        let score = |plane: &PeerPlane, i: usize| {
            self.rows[i].iter().map(|(j, x)| plane.weights[*j as usize] * x).sum::<f64>()
                + plane.bias
        };
        let cost = |i: usize| self.c * self.weights.as_ref().map_or(1.0, |weights| weights[i]);
        let count = self.rows.len();
        let two = |plane: &PeerPlane, class: usize| {
            let loss = |i: usize| {
                let m = if self.labels[i] == class { 1.0 } else { -1.0 } * score(plane, i);
                let lack = (1.0 - m).max(0.0);
                cost(i)
                    * match self.loss.as_str() {
                        "logistic" => (-m.abs()).exp().ln_1p() + (-m).max(0.0),
                        "hinge" | "ovr-hinge" => lack,
                        _ => lack * lack,
                    }
            };
            (0..count).map(loss).sum::<f64>() + penalty(plane)
        };
        if self.loss == "softmax" || self.loss == "crammer-singer" {
            let loss = |i: usize| {
                let scores: Vec<f64> = planes.iter().map(|plane| score(plane, i)).collect();
                let own = self.labels[i];
                let highest = scores.iter().copied().fold(f64::MIN, f64::max);
                cost(i)
                    * match self.loss.as_str() {
                        "softmax" => {
                            let sum: f64 = scores.iter().map(|s| (s - highest).exp()).sum();
                            highest + sum.ln() - scores[own]
                        }
                        _ => scores
                            .iter()
                            .enumerate()
                            .map(|(k, s)| s - scores[own] + if k == own { 0.0 } else { 1.0 })
                            .fold(f64::MIN, f64::max),
                    }
            };
            return vec![
                (0..count).map(loss).sum::<f64>() + planes.iter().map(penalty).sum::<f64>(),
            ];
        }
        match planes {
            [plane] => vec![two(plane, 1)],
            planes => planes.iter().enumerate().map(|(k, plane)| two(plane, k)).collect(),
        }
    }
}

#[test]
fn forty_problems_are_solved_as_well_as_by_any_peer() {
    let path = repository("testdata/peers").join("optimal.json");
    let cases: Vec<Case> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(cases.len(), 40);
    for case in &cases {
        let (learner, settings) = case.settings();
        let name = format!("{} {} {} {}", case.seed, case.shape, case.loss, case.penalty);
        let learner = Recipe::find(learner).unwrap().build(&settings).unwrap();
        let data = case.data();
        let limits = Limits::default().with_epochs(Some(20_000));
        let fit = learner.fit(&Task::new(data.clone()), &limits, &mut ()).unwrap();
        let own: Vec<PeerPlane> = fit
            .model
            .planes
            .iter()
            .map(|plane| PeerPlane { weights: plane.weights.clone(), bias: plane.bias })
            .collect();
        let ours = case.objectives(&own);
        let claims: Vec<_> = fit.certificate.claims.iter().collect();
        assert_eq!(claims.len(), ours.len(), "{name}: {claims:?}");
        for (machine, claim) in claims.iter().enumerate() {
            let Claim::Optimal { optimality, .. } = claim else { panic!("{name}: {claim:?}") };
            let found = check_claim(claim, &data, &data.reading_field(), true, 1);
            assert!(found.holds(), "{name}: {found:?}");
            assert!(optimality.gap <= 1.2e-5, "{name}: gap {}", optimality.gap);
            assert!(ours[machine] <= optimality.primal, "{name}: the primal is no upper bound");
            assert!(!case.peers.is_empty(), "{name}");
            for (peer, planes) in &case.peers {
                let theirs = case.objectives(planes)[machine];
                let words = format!("{name}: {peer} {theirs}, ours {}", ours[machine]);
                assert!(ours[machine] <= theirs * (1.0 + optimality.gap) + 1e-12, "{words}");
                assert!(optimality.bound <= theirs, "{words}, bound {}", optimality.bound);
            }
        }
    }
}
