//! Numbers by class: `--class-weight yes=5,no=1` and `--priors yes=0.1,no=0.9`.

use crate::common::Room;

/// Two columns, three classes, and what a row of each counts.
fn table() -> (String, String) {
    let (mut plain, mut weighted) = ("a,b,y\n".to_owned(), "a,b,w,y\n".to_owned());
    for i in 0..60u32 {
        let (a, b) = (i * i % 17, i * 7 % 13);
        let class = ["p", "q", "r"][((a + b) / 8 % 3) as usize];
        let weight = [2.0, 0.5, 4.0][((a + b) / 8 % 3) as usize];
        plain.push_str(&format!("{a},{b},{class}\n"));
        weighted.push_str(&format!("{a},{b},{weight},{class}\n"));
    }
    (plain, weighted)
}

#[test]
fn numbers_by_class_are_row_weights_and_are_proved() {
    let room = Room::new();
    let (plain, weighted) = table();
    room.write("plain.csv", &plain);
    room.write("weighted.csv", &weighted);
    let planes = |model: &str| room.run(&format!("show {model} --json")).json()["planes"].clone();
    for learner in [
        "pocket --epochs 3",
        "least-squares",
        "logistic --gap 1e-9",
        "logistic --multiclass ovr --gap 1e-9",
        "svm --multiclass crammer-singer",
    ] {
        let line =
            format!("train plain.csv --learner {learner} --class-weight p=2,q=0.5,r=4 -o a.linsep");
        room.run(&line);
        let line = format!("train weighted.csv --weight w --learner {learner} -o b.linsep");
        room.run(&line);
        assert_eq!(planes("a.linsep"), planes("b.linsep"), "{learner}");
        if !learner.starts_with("pocket") {
            let check = room.run("verify a.linsep plain.csv").exits(0);
            assert!(check.out.contains("true "), "{}", check.out);
        }
    }
}

#[test]
fn priors_move_the_biases_and_are_proved() {
    let room = Room::new();
    room.write("plain.csv", &table().0);
    for learner in ["lda", "shared-variance-nb", "multinomial-nb", "bernoulli-nb"] {
        let line =
            format!("train plain.csv --learner {learner} --priors p=0.2,q=0.7,r=0.1 -o a.linsep");
        room.run(&line).exits(0);
        room.run("verify a.linsep plain.csv").exits(0);
        let shown = room.run("show a.linsep --json").json();
        let priors = &shown["density"]["numbers"]["priors"];
        for (k, wanted) in [0.2, 0.7, 0.1].into_iter().enumerate() {
            assert!((priors[k].as_f64().unwrap() - wanted).abs() < 1e-12, "{learner}: {priors}");
        }
    }
}

#[test]
fn wrong_numbers_by_class_are_told() {
    let room = Room::new();
    room.write("plain.csv", &table().0);
    for (flags, words) in [
        ("--class-weight s=2", "there is no class \"s\"; the classes are p, q, r"),
        ("--class-weight p=0", "a number above 0 is needed"),
        ("--class-weight p=nan", "a number above 0 is needed"),
        ("--class-weight p=1,p=2", "the class \"p\" has two numbers"),
        ("--class-weight heavy", "is neither none, balanced nor CLASS=NUMBER such as a=2,b=1"),
        ("--learner lda --class-weight p=2", "lda does not weight classes"),
        ("--learner lda --priors p=0.5,q=0.5", "the class \"r\" has none"),
        ("--learner lda --priors p=0.5,q=0.5,s=0", "a number above 0 is needed"),
        ("--learner lda --priors p=0.5,q=0.4,r=0.3", "they add up to 1.2 and not to 1"),
        ("--learner multinomial-nb --priors 0.5,0.5", "such as a=0.7,b=0.3"),
    ] {
        let run = room.run(&format!("train plain.csv {flags}")).exits(2);
        assert!(run.err.contains(words), "{flags}: {}", run.err);
    }
}

#[test]
fn certify_takes_the_class_weights_of_other_programs() {
    let room = Room::new();
    let rows = table().0.replace(",r\n", ",q\n");
    room.write("two.csv", &rows);
    room.write("w.json", r#"{"weights": [0.1, -0.2], "bias": 0.25, "classes": ["p", "q"]}"#);
    let run = room.run("certify w.json two.csv --learner logistic --class-weight q=3").exits(0);
    assert!(run.out.contains("class weights p = 1, q = 3"), "{}", run.out);
    let run = room.run("certify w.json two.csv --learner logistic --class-weight s=3").exits(2);
    assert!(run.err.contains("there is no class \"s\""), "{}", run.err);
    // LIBLINEAR of several classes means another objective.
    room.write(
        "three.model",
        "solver_type L2R_LR\nnr_class 3\nlabel 1 2 3\nnr_feature 2\nbias 1\nw\n0 0 0\n0 0 0\n0 0 0\n",
    );
    let numbers = table().0.replace(",p\n", ",1\n").replace(",q\n", ",2\n").replace(",r\n", ",3\n");
    room.write("three.csv", &numbers);
    let run = room.run("certify three.model three.csv --class-weight 1=3").exits(2);
    assert!(
        run.err.contains("LIBLINEAR weighs the rows of each classifier's own class"),
        "{}",
        run.err
    );
}
