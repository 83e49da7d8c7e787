//! Tiny problems with known answers, each solvable one with its unsolvable twin, for every learner.
//! The problems are in `testdata/cases`: rows with their labels, and which schemes of K classes can
//! solve them.

use crate::support::{epochs, variants_of};
use linsep::proof::check_claim;
use linsep::{Dataset, Stop, Task};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The learners that promise to find a separating plane wherever there is one, and never to claim
/// one where there is none.
const SEPARATORS: &[&str] = &["perceptron"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cases")
}

struct Problem {
    name: String,
    schemes: Vec<String>,
    solvable: Task,
    twin: Task,
}

fn problems() -> Vec<Problem> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| problem(path)).collect()
}

fn problem(path: &Path) -> Problem {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let task = |part: &str| {
        let part = &value[part];
        assert!(part["about"].as_str().is_some_and(|words| words.len() > 10), "{name}");
        let rows: Vec<(Vec<f64>, String)> =
            serde_json::from_value(part["rows"].clone()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (rows, labels): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        Task::new(Dataset::from_rows(&rows, &labels).unwrap())
    };
    let schemes = serde_json::from_value(value["schemes"].clone()).unwrap();
    Problem { solvable: task("solvable"), twin: task("twin"), name, schemes }
}

#[test]
fn there_is_a_problem_of_every_kind_and_twins_are_alike() {
    let problems = problems();
    let names: Vec<&str> = problems.iter().map(|problem| problem.name.as_str()).collect();
    for wanted in
        ["and", "or", "xor", "two_points", "collinear", "duplicates", "touching", "three_classes"]
    {
        assert!(names.contains(&wanted), "{wanted} is missing");
    }
    for Problem { name, solvable, twin, .. } in &problems {
        let size = |task: &Task| (task.data.n_features(), task.data.classes().to_vec());
        assert_eq!(size(solvable), size(twin), "{name}");
    }
    for name in SEPARATORS {
        assert!(linsep::recipe::Recipe::find(name).is_ok(), "no learner {name}");
    }
}

#[test]
fn separators_solve_what_can_be_solved() {
    for problem in problems() {
        let data = &problem.solvable.data;
        for variant in variants_of(&["order", "scale", "multiclass", "ties", "verdict"]) {
            let scheme = variant.value("multiclass").unwrap_or("joint");
            if !SEPARATORS.contains(&variant.recipe.name)
                || !problem.schemes.iter().any(|able| able == scheme)
            {
                continue;
            }
            let words = format!("{}: {}", problem.name, variant.words());
            let found = variant.learner().fit(&problem.solvable, &epochs(3000), &mut ()).unwrap();
            assert_eq!(found.stop, Stop::Finished, "{words}");
            if variant.is("verdict", &["off"]) {
                assert_eq!(found.progress.last_mistakes, Some(0), "{words}");
            } else if variant.is("ties", &["strict", "000", "002", "004"]) {
                let claims = &found.certificate.claims;
                assert!(claims.iter().all(|claim| claim.name() == "separable"), "{words}");
            }
            assert_eq!(found.model.evaluate(data, None, 1).errors, 0, "{words}");
            for row in 0..data.n_rows() {
                assert_eq!(
                    found.model.predict(&data.row(row)).unwrap(),
                    data.label_text(row),
                    "{words}"
                );
            }
        }
    }
}

/// With rules that call every row on the plane a mistake; the others accept some touching twins.
#[test]
fn plain_separators_never_finish_on_the_twins() {
    for problem in problems() {
        for variant in variants_of(&["order", "scale", "multiclass", "verdict"]) {
            let plain = variant.is("verdict", &["off"]);
            if !SEPARATORS.contains(&variant.recipe.name) || !plain {
                continue;
            }
            let words = format!("{}: {}", problem.name, variant.words());
            let found = variant.learner().fit(&problem.twin, &epochs(300), &mut ()).unwrap();
            assert_eq!(found.stop, Stop::Epochs, "{words}");
            assert!(found.progress.updates >= 150, "{words}");
            assert!(found.progress.last_mistakes > Some(0), "{words}");
        }
    }
}

#[test]
fn separators_that_ask_prove_that_the_twins_cannot_be_solved() {
    for problem in problems() {
        for variant in variants_of(&["order", "scale", "multiclass", "verdict", "ties"]) {
            if !SEPARATORS.contains(&variant.recipe.name) || variant.is("verdict", &["off"]) {
                continue;
            }
            let words = format!("{}: {}", problem.name, variant.words());
            let found = variant.learner().fit(&problem.twin, &epochs(300), &mut ()).unwrap();
            assert_eq!(found.stop, Stop::Finished, "{words}");
            assert_eq!(found.progress.epochs, 10, "{words}");
            let data = &problem.twin.data;
            let refuted = found.certificate.claims.iter().filter(|c| c.name() == "inseparable");
            assert!(refuted.clone().count() > 0, "{words}");
            for claim in &found.certificate.claims {
                assert!(check_claim(claim, data.as_ref(), &data.reading_field(), true, 1).holds());
            }
        }
    }
}

#[test]
fn a_scheme_that_cannot_solve_a_problem_does_not_claim_to() {
    let mut seen = 0;
    for problem in problems() {
        for variant in variants_of(&["order", "scale", "multiclass", "verdict"]) {
            let scheme = variant.value("multiclass").unwrap_or("joint");
            let able = problem.schemes.iter().any(|able| able == scheme);
            if SEPARATORS.contains(&variant.recipe.name) && !able {
                seen += 1;
                let found =
                    variant.learner().fit(&problem.solvable, &epochs(300), &mut ()).unwrap();
                let refuted = found.certificate.claims.iter().any(|c| c.name() == "inseparable");
                let stop = if refuted { Stop::Finished } else { Stop::Epochs };
                assert_eq!(found.stop, stop, "{}", variant.words());
                assert_eq!(refuted, !variant.is("verdict", &["off"]), "{}", variant.words());
            }
        }
    }
    assert!(seen > 0, "no problem tells the schemes apart");
}

#[test]
fn every_learner_runs_on_every_problem_without_a_fault() {
    for problem in problems() {
        for variant in variants_of(&["order", "scale", "multiclass", "class-weight", "init"]) {
            for task in [&problem.solvable, &problem.twin] {
                if !variant.accepts(task) {
                    continue;
                }
                let found = variant.learner().fit(task, &epochs(20), &mut ()).unwrap();
                let words = format!("{}: {}", problem.name, variant.words());
                assert_ne!(found.stop, Stop::Diverged, "{words}");
                let numbers = found.model.planes.iter().flat_map(|p| p.weights.iter());
                assert!(numbers.copied().all(f64::is_finite), "{words}");
            }
        }
    }
}
