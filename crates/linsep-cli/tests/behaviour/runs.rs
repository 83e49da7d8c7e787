//! `train --runs N`: many solutions of one problem, and what they disagree on.

use crate::common::{Room, TWO};

#[test]
fn the_first_run_is_the_one_without_the_flag_and_its_model_is_written() {
    let room = Room::with_examples();
    room.run("train examples/wine.csv -o plain.linsep").exits(0);
    let result = room.run("train examples/wine.csv --runs 6 --json -o m.linsep").exits(0).json();
    assert_eq!(room.bytes("m.linsep"), room.bytes("plain.linsep"));
    let spread = &result["spread"];
    let runs = spread["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 6);
    assert_eq!(spread["model"], 0);
    assert_eq!((&runs[0]["seed"], &runs[0]["init"]), (&0.into(), &"zero".into()));
    assert_eq!(runs[0]["updates"], result["updates"]);
    assert_eq!(runs[0]["training_errors"], result["training"]["errors"]);
    // Every other one can be made again by itself.
    for run in &runs[1..] {
        let line = format!(
            "train examples/wine.csv --seed {} --init {} --json -o again.linsep",
            run["seed"],
            run["init"].as_str().unwrap_or("")
        );
        let again = room.run(&line).exits(0).json();
        assert_eq!((&again["updates"], &again["epochs"]), (&run["updates"], &run["epochs"]));
        assert_eq!(again["training"]["errors"], run["training_errors"]);
    }
    assert_eq!(spread["distinct"], 6);
    let angle = |name: &str| spread["angles"][name].as_f64().expect("an angle");
    assert!(0.0 < angle("least") && angle("least") <= angle("mean"));
    assert!(angle("mean") <= angle("most") && angle("most") <= 180.0);
}

#[test]
fn threads_change_nothing_in_the_spread() {
    let room = Room::with_examples();
    let spread = |threads: u32| {
        let line = format!(
            "train examples/heart_scale.svm --learner pocket --epochs 8 --runs 7 --test 0.3 --cv 3 --json \
             --threads {threads} -o m.linsep"
        );
        room.run(&line).exits(5).json()["spread"].clone()
    };
    let one = spread(1);
    assert_eq!(one, spread(2));
    assert_eq!(one, spread(5));
    for run in one["runs"].as_array().expect("a list") {
        assert!(run["test_errors"].is_u64() && run["cv_errors"].is_u64(), "{run}");
    }
}

/// What is listed as disputed is what predictions of the models say.
#[test]
fn disputed_rows_are_those_that_the_models_predict_differently() {
    let room = Room::with_examples();
    let line = "train examples/iris.csv --learner averaged --epochs 2 --runs 4 --json -o m.linsep";
    let spread = room.run(line).exits(5).json()["spread"].clone();
    let predictions: Vec<Vec<String>> = spread["runs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|run| {
            let (seed, init) = (&run["seed"], run["init"].as_str().unwrap_or(""));
            let flags = format!("--learner averaged --epochs 2 --seed {seed} --init {init}");
            room.run(&format!("train examples/iris.csv {flags} -o one.linsep")).exits(5);
            let out = room.run("predict one.linsep examples/iris.csv").exits(0).out;
            out.lines().skip(1).map(str::to_owned).collect()
        })
        .collect();
    let disputed: Vec<u64> = (0..150)
        .filter(|&row| predictions.iter().any(|p| p[row as usize] != predictions[0][row as usize]))
        .collect();
    assert!(!disputed.is_empty(), "four runs of two epochs agree on every row");
    let listed = spread["disputed_rows"].as_array().expect("a list");
    let rows: Vec<u64> = listed.iter().filter_map(|row| row["row"].as_u64()).collect();
    assert_eq!(rows, disputed);
    assert_eq!(spread["disputed"].as_u64(), Some(disputed.len() as u64));
    for row in listed {
        assert_eq!(row["line"].as_u64(), row["row"].as_u64().map(|row| row + 2), "after a header");
        let votes = row["predictions"].as_object().expect("votes by class");
        assert!(votes.len() > 1 && votes.values().filter_map(|v| v.as_u64()).sum::<u64>() == 4);
    }
}

/// The margin of a run is the smallest distance of a row, here computed from the written planes.
#[test]
fn margins_are_those_of_the_planes() {
    let room = Room::holding("two.csv", TWO);
    let spread = room.run("train two.csv --runs 3 --json").exits(0).json()["spread"].clone();
    let plane = room.run("show two.linsep --json").exits(0).json()["planes"][0].clone();
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let (w, v, b) =
        (number(&plane["weights"][0]), number(&plane["weights"][1]), number(&plane["bias"]));
    let rows =
        [(1., 2., -1.), (2., 1., -1.), (1., 1., -1.), (4., 5., 1.), (5., 4., 1.), (5., 5., 1.)];
    let margin = rows.map(|(x, z, y)| y * (w * x + v * z + b) / w.hypot(v));
    let least = margin.into_iter().fold(f64::INFINITY, f64::min);
    let found = number(&spread["runs"][0]["margin"]);
    assert!((found - least).abs() < 1e-12, "{found} {least}");
}

#[test]
fn a_learner_without_chance_gives_one_plane() {
    let room = Room::with_examples();
    for flags in ["--learner fisher", "--learner batch-perceptron", "--order cyclic --init zero"] {
        let run =
            room.run(&format!("train examples/wine.csv {flags} --runs 3 -o m.linsep")).exits(0);
        assert!(
            run.fact("planes").starts_with("1 of 3 distinct, normals 0.00 to 0.00"),
            "{}",
            run.out
        );
        assert_eq!(run.fact("disputed"), "0 of 178 rows");
    }
    let run = room.run("train examples/wine.csv --runs 1 -o m.linsep").exits(0);
    assert_eq!(run.fact("planes"), "1 of 1 distinct");
}

/// Machines that vote have no margins to compare, and their rows are disputed by what they predict.
#[test]
fn many_runs_of_every_scheme_are_compared() {
    let room = Room::with_examples();
    for flags in [
        "--multiclass ovr-k-1",
        "--multiclass ovo",
        "--multiclass ovr",
        "--learner voted",
        "--learner voted --most 1",
    ] {
        let run = room.run(&format!(
            "train examples/iris.csv --runs 3 --epochs 5 {flags} --json -o m.linsep"
        ));
        let errors = run.json()["spread"]["runs"].clone();
        let total: u64 = errors
            .as_array()
            .expect("runs")
            .iter()
            .filter_map(|r| r["training_errors"].as_u64())
            .sum();
        let disputed = run.json()["spread"]["disputed"].as_u64().expect("a count");
        assert!(disputed <= total, "{flags}: {disputed} of {total}");
    }
}
