//! `compare`: the table, the JSON, the Markdown, and that only times differ between runs.

use crate::common::Room;

#[test]
fn every_learner_is_in_the_table_or_refused_with_the_reason() {
    let room = Room::with_examples();
    let run = room.run("compare examples/heart_scale.svm --no-time").exits(0).silent();
    let listed = |name: &str| run.out.lines().any(|line| line.starts_with(&format!("{name} ")));
    for recipe in linsep::recipe::ALL.iter().map(|recipe| recipe.name) {
        let refused = run.out.contains(&format!("  {recipe}: "));
        assert!(listed(recipe) != refused, "{recipe}\n{}", run.out);
    }
    assert!(listed("majority class") && listed("5 nearest neighbours"));
    assert!(run.out.contains("refused     multinomial-nb: "), "{}", run.out);
    assert!(run.out.contains("adjusted for") && run.out.contains("by Holm"), "{}", run.out);
}

#[test]
fn the_same_bytes_for_any_number_of_threads_and_the_same_errors_as_train() {
    let room = Room::with_examples();
    let line = "compare examples/iris.csv --no-time --json --learners lda,perceptron,least-squares";
    let run = room.run(&format!("{line} --threads 1")).exits(0).silent();
    assert_eq!(run.out, room.run(&format!("{line} --threads 6")).exits(0).out);
    let value = run.json();
    let entries = value["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 5);
    for entry in entries.iter().filter(|entry| entry["baseline"] == false) {
        let name = entry["learner"].as_str().expect("a name");
        let line = format!("train examples/iris.csv --cv 5 --learner {name} --json -o m.linsep");
        let trained = room.run(&line).exits(0).json();
        assert_eq!(entry["cv"], trained["cv"], "{name}");
        assert_eq!(entry["training_errors"], trained["training"]["errors"], "{name}");
        assert!(entry.get("fit_seconds").is_none());
    }
    let errors: Vec<u64> =
        entries.iter().map(|entry| entry["cv"]["errors"].as_u64().expect("errors")).collect();
    assert!(errors.is_sorted(), "{errors:?}");
    assert!(entries[0]["p"].is_null() && value["best"] == entries[0]["learner"]);
    for entry in &entries[1..] {
        let (p, adjusted) = (entry["p"].as_f64().unwrap(), entry["p_holm"].as_f64().unwrap());
        assert!((0.0..=1.0).contains(&p) && p <= adjusted && adjusted <= 1.0);
    }
    let majority = entries.iter().find(|e| e["learner"] == "majority class").expect("a baseline");
    assert_eq!(majority["cv"]["errors"], 100);
}

#[test]
fn the_table_as_markdown_and_plain() {
    let room = Room::with_examples();
    let line = "compare examples/iris.csv --learners lda --knn 3 --cv 3 --no-time";
    let run = room.run(&format!("{line} --export-markdown t.md --assumptions")).exits(0).silent();
    assert!(run.out.contains("lda: normal classes with one covariance"), "{}", run.out);
    let text = room.read("t.md");
    assert!(text.starts_with("# iris.csv\n"), "{text}");
    assert!(text.contains("| learner | accuracy | 95 % interval |"), "{text}");
    assert!(text.contains("| 3 nearest neighbours | "), "{text}");
    let plain = room.run(&format!("{line} --plain")).exits(0).out;
    assert!(plain.lines().any(|line| line.starts_with("lda\t9")), "{plain}");
    let without = room.run("compare examples/iris.csv --learners lda --knn 0 --no-time").exits(0);
    assert!(!without.out.contains("neighbours"), "{}", without.out);
    let timed = room.run("compare examples/iris.csv --learners lda --knn 0 --json").exits(0).json();
    assert!(timed["entries"][0]["fit_seconds"].as_f64().is_some_and(|s| s >= 0.0));
}

#[test]
fn weights_of_rows_count_in_every_column_and_in_the_test() {
    // Row by row the same table: weights on the left, rows that often on the right.
    let rows =
        [(0.0, 3, "a"), (1.0, 1, "a"), (2.0, 2, "b"), (1.5, 1, "b"), (3.0, 4, "b"), (2.5, 2, "a")];
    let mut weighted = "x,n,y\n".to_owned();
    rows.iter().for_each(|(x, n, y)| weighted.push_str(&format!("{x},{n},{y}\n")));
    let room = Room::holding("w.csv", &weighted);
    let line =
        "compare w.csv --weight n --cv 2 --knn 0 --learners lda,least-squares --no-time --json";
    let value = room.run(line).exits(0).json();
    for entry in value["entries"].as_array().expect("entries") {
        let name = entry["learner"].as_str().expect("a name");
        if entry["baseline"] == true {
            assert_eq!(entry["training_errors"], 6, "the weight of class a");
            continue;
        }
        let line = format!("train w.csv --weight n --cv 2 --learner {name} --json -o m.linsep");
        let trained = room.run(&line).exits(0).json();
        let errors = trained["training"]["weighted"]["errors"].as_f64();
        assert_eq!(entry["training_errors"].as_f64(), errors, "{name}");
        assert_eq!(entry["cv"], trained["cv"], "{name}");
    }
    // Weights that are no counts have no exact test.
    room.write("f.csv", weighted.replace(",3,", ",3.5,"));
    let line = "compare f.csv --weight n --cv 2 --knn 0 --learners lda --no-time --json";
    let value = room.run(line).exits(0).json();
    let entries = value["entries"].as_array().expect("entries");
    assert!(entries.iter().all(|entry| entry["p"].is_null()), "{value}");
    let run = room.run(&line.replace(" --json", "")).exits(0);
    assert_eq!(run.fact("p"), "none: weights that are not counts of rows have no exact test");
}
