//! The same metrics as scikit-learn, and the same intervals and tests of AUC as pROC, on recorded predictions with ties.
//! `testdata/peers/make_metrics.py` and `make_auc.R` made the fixtures; they say how.

use crate::proofs::repository;
use linsep::metrics::{Metric, Predictions, Resampling};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect()
}

/// The rows of a case; of two classes `other` takes the place of the scores.
fn rows(case: &Value, weighted: bool, other: bool) -> Predictions {
    let p: Vec<Vec<f64>> = case["probabilities"].as_array().unwrap().iter().map(numbers).collect();
    let (truth, weights) = (numbers(&case["truth"]), numbers(&case["weights"]));
    let k = p[0].len();
    let names: Vec<String> = (0..k).map(|class| class.to_string()).collect();
    let mut found = Predictions::new(&names);
    for (row, p) in p.iter().enumerate() {
        let top = (0..k).fold(0, |best, class| if p[class] > p[best] { class } else { best });
        let predicted = if k == 2 { usize::from(p[1] >= 0.5) } else { top };
        let score = if other { case["other"][row].as_f64().unwrap() } else { p[1] };
        let scores = if k == 2 { vec![score] } else { p.clone() };
        let weight = if weighted { weights[row] } else { 1.0 };
        found.add(truth[row] as u32, predicted as u32, &scores, p, weight);
    }
    found
}

fn cases() -> Vec<Value> {
    let path = repository("testdata/peers/metrics.json");
    let fixture: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    fixture["cases"].as_array().unwrap().clone()
}

#[test]
fn metrics_agree_with_those_of_scikit_learn() {
    let mut count = 0;
    for case in cases() {
        for (key, weighted) in [("plain", false), ("weighted", true)] {
            let rows = rows(&case, weighted, false);
            for (name, value) in case[key].as_object().unwrap() {
                let found = rows.value(name.parse::<Metric>().unwrap()).unwrap();
                let value = value.as_f64().unwrap();
                assert!((found - value).abs() < 1e-12, "{key} {name}: {found} {value}");
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn areas_intervals_and_tests_agree_with_those_of_proc() {
    let cases = cases();
    let text = std::fs::read_to_string(repository("testdata/peers/auc.tsv")).unwrap();
    let lines: Vec<&str> = text.lines().skip(2).collect();
    assert!(lines.len() >= 2);
    for line in lines {
        let numbers: Vec<f64> = line.split('\t').map(|word| word.parse().unwrap()).collect();
        let [case, auc, low, high, other, p] = numbers[..] else { panic!("{line}") };
        let case = &cases[case as usize];
        let [a, b] = [false, true].map(|other| rows(case, false, other));
        let (metric, how) = ("auc".parse().unwrap(), Resampling::new(100, 0));
        let found = a.measure(metric, Some(how));
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(found.value.unwrap(), auc);
        near(found.interval.unwrap()[0], low);
        near(found.interval.unwrap()[1], high);
        near(b.value(metric).unwrap(), other);
        let (found, test) = a.against(&b, metric, how).unwrap();
        assert!(test == "delong" && (found - p).abs() < 1e-12, "{found} {p}");
    }
}
