//! The same answers as scikit-learn, on the data sets of `examples/`. `testdata/peers/make.py` made
//! the fixtures; it says how. Scores of all rows are compared, by their norm, because weights of
//! dependent columns may differ where scores do not.

use crate::proofs::{example, repository};
use linsep::recipe::{Recipe, Settings};
use linsep::{Dataset, Limits, LinearModel, Plane, Task};
use serde_json::Value;

/// The scores of every row. Of several planes only differences count: what all scores of a row have in
/// common changes neither the class nor the probabilities, and peers choose it differently.
fn scores(model: &LinearModel, data: &Dataset, centred: bool) -> Vec<f64> {
    let mut all = Vec::new();
    for row in 0..data.n_rows() {
        let mut scores = model.scores(&data.row(row)).unwrap();
        if centred && scores.len() > 1 {
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            scores.iter_mut().for_each(|score| *score -= mean);
        }
        all.extend(scores);
    }
    all
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|x| x * x).sum::<f64>().sqrt()
}

#[test]
fn scores_agree_with_the_peers_to_nine_digits() {
    let mut count = 0;
    for name in ["iris", "wine", "breast_cancer", "digits", "spambase", "letter"] {
        let path = repository("testdata/peers").join(format!("{name}.json"));
        let fixture: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let data = example(fixture["data"].as_str().unwrap());
        let task = Task::new(data.clone());
        for case in fixture["cases"].as_array().unwrap() {
            let recipe = Recipe::find(case["learner"].as_str().unwrap()).unwrap();
            let mut settings = Settings::default();
            for (key, value) in case["settings"].as_object().unwrap() {
                settings.set(key, value.as_str().unwrap());
            }
            let fit = recipe.build(&settings).unwrap();
            let fit = fit.fit(&task, &Limits::default(), &mut ()).unwrap();
            assert!(fit.certificate.proves_something(), "{name} {case}");
            let plane = |value: &Value| {
                Plane::new(
                    serde_json::from_value(value["weights"].clone()).unwrap(),
                    value["bias"].as_f64().unwrap(),
                )
            };
            let planes = case["planes"].as_array().unwrap().iter().map(plane).collect();
            let peer = fit.model.clone().with_planes(planes);
            let centred = recipe.name != "least-squares";
            let ours = scores(&fit.model, &data, centred);
            let theirs = scores(&peer, &data, centred);
            let far = norm(ours.iter().zip(&theirs).map(|(a, b)| a - b)) / norm(theirs.into_iter());
            let words = format!("{name} {} {}: {far:e}", recipe.name, case["settings"]);
            assert!(far < 1e-9, "{words}");
            count += 1;
        }
    }
    assert!(count >= 36, "{count} cases");
}
