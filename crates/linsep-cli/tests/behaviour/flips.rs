//! `train --flips`: which predictions no better solution can change.

use crate::common::Room;

#[test]
fn nearly_all_rows_of_real_data_are_final() {
    let room = Room::with_examples();
    for (data, rows) in
        [("heart_scale.svm", 270), ("breast_cancer.csv", 569), ("spambase.csv.gz", 4601)]
    {
        let line =
            format!("train examples/{data} --learner logistic --flips f.csv -o m.linsep --json");
        let report = room.run(&line).exits(0).json();
        let flips = &report["flips"];
        assert_eq!(flips["rows"], rows, "{data}");
        assert_eq!(flips["informative"], true);
        let final_rows = flips["final"].as_u64().expect("a number");
        assert!(final_rows * 100 >= rows * 98, "{data}: {flips}");
        let table = room.read("f.csv");
        let mut lines = table.lines();
        assert_eq!(lines.next(), Some("row,file,line,label,prediction,final,by"));
        assert_eq!(lines.clone().count() as u64, rows);
        let settled =
            lines.filter(|line| line.ends_with(",true,dual") || line.ends_with(",true,ball"));
        assert_eq!(settled.count() as u64, final_rows);
        // The model of the smallest gap is the one that is written, with its proof.
        assert!(flips["gap"].as_f64().expect("a gap") <= 1e-3);
        room.run(&format!("verify m.linsep examples/{data}")).exits(0);
    }
}

#[test]
fn the_table_can_be_objects_and_the_report_says_how_many() {
    let room = Room::with_examples();
    let run = room
        .run("train examples/heart_scale.svm --learner svm --flips f.ndjson -o m.linsep")
        .exits(0);
    assert!(run.fact("final").contains("of 270 predictions"), "{}", run.out);
    let table = room.read("f.ndjson");
    let first: serde_json::Value =
        serde_json::from_str(table.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["row"], 0);
    assert_eq!(first["line"], 1);
    assert_eq!(first["final"], true);
}

#[test]
fn bounds_that_say_little_are_called_so() {
    let room = Room::with_examples();
    // Ten epochs of dual coordinates are far from the best.
    let run = room
        .run("train examples/sonar.csv --learner svm --loss hinge --epochs 10 --gap 0.9 --flips f.csv -o m.linsep")
        .exits(0);
    assert!(run.fact("final").starts_with("not informative: "), "{}", run.out);
}
