//! What `certify` and the flags about proofs of nearness refuse.

use super::Room;

const GOOD: &str = r#"{"weights": [1, 1], "bias": -6, "classes": ["x", "y"]}"#;

#[test]
fn foreign_models_that_cannot_be_used_are_refused_with_their_place() {
    let room = Room::with_model();
    room.write("good.json", GOOD);
    room.run("certify good.json two.csv --learner logistic").exits(0);
    let head = "solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 2\nbias -1\n";
    for (text, says) in [
        (String::new(), "the file ends before its weights"),
        ("hello\n".into(), "line 1: \"hello\" is no part of a LIBLINEAR model"),
        ("solver_type L2R_L2LOSS_SVR\n".into(), "line 1: solver_type L2R_L2LOSS_SVR is none of"),
        (head.replace("nr_feature 2", "nr_feature -2"), "line 4: nr_feature is \"-2\""),
        (format!("{head}w\n1\n"), "after 1 of 2 weights"),
        (format!("{head}w\n1\nNaN\n"), "line 8: \"NaN\" is no weight"),
        (format!("{head}w\n1\n2\n3\n"), "line 9: more weights than the 2"),
        (format!("{head}w\n1 1\n2 1\n"), "line 7: more than 1 weights"),
        (format!("{head}w\n1\n2\n"), "class x of the data is none of its classes"),
        (head.replace("bias -1", "bias 5") + "w\n1\n2\n3\n", "train it with -B 1"),
        ("{".into(), "line 1 column 1"),
        (r#"{"weights": [1, 2], "bias": 1}"#.into(), "missing field `classes`"),
        (r#"{"weights": [1], "classes": ["x", "y"]}"#.into(), "1 weights, the data has 2 features"),
        (r#"{"weights": [1, 2], "classes": ["x", "z"]}"#.into(), "class y of the data"),
        (r#"{"weights": [1, 2], "classes": ["x", "y", "z"]}"#.into(), "1 planes for 3 classes"),
        (
            r#"{"weights": [1, 2], "bias": [1, 2], "classes": ["x", "y"]}"#.into(),
            "2 numbers for 1 planes",
        ),
    ] {
        room.write("m", &text);
        let run = room.run("certify m two.csv --learner logistic --cert c.json").exits(4);
        run.says(&["error[E0406]: m: ", says]);
        assert!(!room.exists("c.json"), "{text}");
    }
    room.write("m", [0xff, 0xfe, 0x00]);
    room.run("certify m two.csv --learner svm").exits(4).says(&["line 1: these bytes are no text"]);
    room.run("certify two.linsep two.csv --learner svm").exits(4).says(&["linsep verify"]);
    room.run("certify nope two.csv").exits(6);
    room.run("certify good.json two.csv").exits(2).says(&["--learner logistic or svm"]);
    room.run("certify good.json two.csv --learner logistic --c 0").exits(2).says(&["--c"]);
    room.run("certify good.json two.csv --learner logistic --cert two.csv").exits(2);
    // The bias of a model without one is not that of the objective.
    room.run("certify good.json two.csv --learner logistic --intercept none")
        .exits(5)
        .says(&["nothing could be proved"]);
}

#[test]
fn flips_are_refused_where_nothing_bounds_the_best_model() {
    let room = Room::with_model();
    let before = room.names();
    for (line, says) in [
        ("train two.csv --flips f.csv", "--flips: perceptron does not say"),
        ("train two.csv --learner lda --flips f.csv", "--flips: lda does not say"),
        ("train two.csv --learner logistic --flips f.svm", "end its name in .csv"),
        ("train two.csv --learner logistic --flips -", "- is none"),
        ("train two.csv --learner logistic --flips two.csv", "two.csv"),
        ("train two.csv --learner logistic --flips f.csv --test 0.3", "test on a file"),
        ("train two.csv --learner logistic --flips f.csv --runs 3", "--runs"),
    ] {
        room.run(&format!("{line} -o out.linsep")).exits(2).says(&[says]);
        assert_eq!(room.names(), before, "{line}");
    }
}

#[test]
fn flags_about_proofs_are_refused_where_they_make_no_sense() {
    let room = Room::with_model();
    room.write("three.csv", "a,label\n1,x\n2,x\n3,y\n4,y\n5,z\n6,z\n");
    let before = room.names();
    for (line, says) in [
        ("train two.csv --learner logistic --support s.csv", "learners that can: svm, hard-margin"),
        ("train two.csv --learner svm --support s.txt", "end its name in .csv"),
        ("train two.csv --learner logistic --probabilities platt", "learners that can: svm"),
        ("train two.csv --learner logistic --c automatic", "--c"),
        ("train two.csv --learner passive-aggressive --c auto", "learners that can: logistic, svm"),
        ("train two.csv --learner svm --c auto --cv 1", "1 folds"),
    ] {
        room.run(&format!("{line} -o out.linsep")).exits(2).says(&[says]);
        assert_eq!(room.names(), before, "{line}");
    }
    for scheme in ["crammer-singer", "ovr-k-1"] {
        let line = "train three.csv --learner svm --probabilities platt --cv 2 -o out.linsep";
        room.run(&format!("{line} --multiclass {scheme}"))
            .exits(2)
            .says(&["--probabilities platt: ", "--multiclass ovr"]);
        assert_eq!(room.names(), before, "{scheme}");
    }
    // A class with one row cannot be held out.
    room.write("one.csv", "a,label\n1,x\n2,x\n3,x\n4,y\n");
    room.run("train one.csv --learner svm --c auto --cv 2 -o out.linsep")
        .exits(3)
        .says(&["one row"]);
}
