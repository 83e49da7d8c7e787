//! Discriminant axes agree with `lda` of MASS, as recorded in testdata/statistics/recorded.json.

use linsep::density::Axes;
use linsep::learn::discriminant::Lda;
use linsep::{Dataset, Learner, Limits, Task};
use serde_json::Value;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/statistics")
}

#[track_caller]
fn near(found: f64, right: &Value, share: f64, about: &str) {
    let right = right.as_f64().unwrap();
    let off = (found - right).abs() / right.abs();
    assert!(off <= share, "{about}: {found:?} is not {right:?} ({off:e})");
}

fn recorded() -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder().join("recorded.json")).unwrap()).unwrap()
}

/// A table of the examples; its label is the column `label`, or the last one.
fn example(file: &str) -> Dataset {
    let path = folder().join("../../examples").join(file);
    let mut options = linsep::data::read::ReadOptions::default();
    options.label = Some(if file == "iris.csv" { "species" } else { "label" }.parse().unwrap());
    linsep::data::read::read(&[path], &options).unwrap().data
}

#[test]
fn discriminant_axes_agree_with_lda_of_mass() {
    for (name, entry) in recorded()["lda"].as_object().unwrap() {
        let data = example(entry["file"].as_str().unwrap());
        let fit =
            Lda::default().fit(&Task::new(data.clone()), &Limits::default(), &mut ()).unwrap();
        let axes =
            Axes::of(&fit.model, fit.density.as_ref().unwrap(), data.n_rows() as u64).unwrap();
        assert!(axes.off < 1e-9, "{name}: {}", axes.off);
        let rows = [("first_row", 0), ("last_row", data.n_rows() - 1)];
        let mut scorer = fit.model.scorer(&data);
        let at = rows.map(|(key, row)| (key, axes.at(scorer.row(row))));
        for (i, direction) in axes.directions.iter().enumerate() {
            near(axes.shares[i], &entry["proportion_of_trace"][i], 1e-9, name);
            let theirs = &entry["scaling"][i];
            let sign = (direction[0] * theirs[0].as_f64().unwrap()).signum();
            for (j, weight) in direction.iter().enumerate() {
                near(sign * weight, &theirs[j], 1e-7, &format!("{name}, LD{}, column {j}", i + 1));
            }
            for (key, place) in &at {
                near(sign * place[i], &entry[*key][i], 1e-7, &format!("{name}, {key}"));
            }
        }
        assert_eq!(axes.directions.len(), entry["scaling"].as_array().unwrap().len());
        // Planes over the axes decide as the model does.
        let flat = axes.planes();
        for row in 0..data.n_rows() {
            let scores = scorer.row(row).to_vec();
            let place = axes.at(&scores);
            let over: Vec<f64> = flat
                .iter()
                .map(|(w, b)| b + w.iter().zip(&place).map(|(w, x)| w * x).sum::<f64>())
                .collect();
            assert_eq!(fit.model.class_of(&over), fit.model.class_of(&scores), "{name}, row {row}");
        }
    }
}

#[test]
fn axes_without_a_unit_or_a_density_are_refused() {
    let fit = |rows: &[[f64; 2]], labels: &[&str]| {
        let data = Dataset::from_rows(rows, labels).unwrap();
        Lda::default().fit(&Task::new(data), &Limits::default(), &mut ()).unwrap()
    };
    // Each class is a point in the direction in which the means differ.
    let points = fit(&[[1., 0.], [1., 1.], [2., 0.], [2., 1.]], &["u", "u", "v", "v"]);
    let why = Axes::of(&points.model, points.density.as_ref().unwrap(), 4).unwrap_err().to_string();
    assert!(why.contains("is 0 in a direction in which means differ"), "{why}");
    let alike = fit(&[[0., 0.], [2., 1.], [0., 1.], [2., 0.]], &["u", "u", "v", "v"]);
    let why = Axes::of(&alike.model, alike.density.as_ref().unwrap(), 4).unwrap_err().to_string();
    assert!(why.contains("all alike"), "{why}");
    // Of another model's density nothing fits.
    let iris = example("iris.csv");
    let three = Lda::default().fit(&Task::new(iris), &Limits::default(), &mut ()).unwrap();
    assert!(Axes::of(&three.model, points.density.as_ref().unwrap(), 150).is_err());
}
