//! Optimisers with settings that mean nothing, data at the edge of what they can do, and limits.

use super::Room;
use linsep::file::ModelFile;

/// Rows of two classes that overlap.
const MIXED: &str = "x,u,label\n1,2,a\n2,1,b\n3,5,a\n4,3,b\n5,4,a\n6,7,b\n2,2,a\n7,1,b\n";

/// No number of a model that was written is anything but finite.
#[track_caller]
fn all_finite(room: &Room, name: &str) {
    let file = ModelFile::load(&room.path(name), None).expect("a model");
    for plane in &file.model.planes {
        assert!(plane.bias.is_finite() && plane.weights.iter().all(|w| w.is_finite()), "{plane:?}");
    }
}

#[test]
fn parameters_without_a_meaning_are_refused_before_any_work() {
    let room = Room::holding("mixed.csv", MIXED);
    for learner in ["logistic", "svm"] {
        for flag in ["--c", "--gap"] {
            for value in ["0", "-1", "nan", "inf", "-inf", "x", ""] {
                let line =
                    format!("train mixed.csv --learner {learner} {flag}={value} -o out.linsep");
                let run = room.run(&line).exits(2);
                run.says(&[&format!("error[E0201]: {flag}: "), "is no number above 0"]);
            }
        }
        for (flags, words) in [
            (
                "--penalty elastic-net --l1-ratio=-0.5",
                "--l1-ratio: \"-0.5\" is no number of at least 0",
            ),
            ("--penalty elastic-net --l1-ratio=1.5", "--l1-ratio: 1.5 is no share from 0 to 1"),
            ("--penalty elastic-net --l1-ratio=nan", "--l1-ratio: \"nan\" is no number"),
            ("--penalty l1 --l1-ratio=0.5", "only --penalty elastic-net mixes"),
            ("--penalty l1 --solver newton", "the penalty has corners; use coordinates or auto"),
            ("--penalty none --solver dual", "without a penalty there is only newton"),
            ("--lower 0 --solver dual", "weights with limits are for coordinates"),
            ("--lower 1 --upper 0", "no weight of x lies between 1 and 0"),
            ("--lower nan", "--lower: "),
            ("--lower z=1", "no column \"z\""),
            ("--penalty none --lower 0", "the weight of x has no limit on one side"),
        ] {
            let line = format!("train mixed.csv --learner {learner} {flags} -o out.linsep");
            let run = room.run(&line);
            assert!(run.code == 2 || run.code == 3, "{line}: {}", run.code);
            run.says(&[words]);
        }
    }
    let line = "train mixed.csv --learner svm --loss hinge --penalty l1 -o out.linsep";
    room.run(line).exits(2).says(&["needs a smooth loss; use --loss squared-hinge"]);
    assert_eq!(room.names(), ["mixed.csv"]);
}

#[test]
fn a_limit_before_the_gap_ends_with_5_the_gap_and_a_run_that_goes_on() {
    for (learner, flags) in [
        ("logistic", ""),
        ("logistic", "--penalty l1"),
        ("logistic", "--solver dual"),
        ("svm", ""),
        ("svm", "--loss hinge"),
        ("svm", "--penalty elastic-net"),
    ] {
        let room = Room::holding("mixed.csv", MIXED);
        let line = format!("train mixed.csv --learner {learner} {flags} --gap 1e-9");
        let run = room.run(&format!("{line} --epochs 1")).exits(5);
        run.says(&["--epochs was reached at a relative gap of ", "the model is in mixed.linsep"]);
        all_finite(&room, "mixed.linsep");
        let run = room.run("train --resume mixed.linsep mixed.csv --epochs 100000 -o on.linsep");
        run.exits(0);
        room.run(&format!("{line} --epochs 100000 -o whole.linsep")).exits(0);
        let planes = |name: &str| ModelFile::load(&room.path(name), None).unwrap().model.planes;
        assert_eq!(planes("on.linsep"), planes("whole.linsep"), "{learner} {flags}");
    }
}

#[test]
fn checkpoints_of_optimisers_go_on_with_the_same_bits() {
    let room = Room::holding("mixed.csv", MIXED);
    let line = "train mixed.csv --learner logistic --penalty l1 --gap 1e-9";
    room.run(&format!("{line} --epochs 2 --checkpoint run.checkpoint")).exits(5);
    assert!(room.exists("run.checkpoint"));
    room.run("train --resume run.checkpoint mixed.csv --epochs 1000 -o on.linsep").exits(0);
    room.run(&format!("{line} -o whole.linsep")).exits(0);
    let planes = |name: &str| ModelFile::load(&room.path(name), None).unwrap().model.planes;
    assert_eq!(planes("on.linsep"), planes("whole.linsep"));
}

#[test]
fn a_class_that_a_fold_would_leave_out_is_refused_by_name() {
    let room = Room::holding("rare.csv", "x,label\n1,a\n2,a\n3,b\n4,b\n9,c\n2.5,a\n3.5,b\n");
    for flags in ["logistic", "svm", "svm --loss hinge", "logistic --penalty l1"] {
        let run = room.run(&format!("train rare.csv --learner {flags} --cv 2")).exits(3);
        run.says(&["error[E0131]", "class \"c\" has one row", "use fewer folds"]);
    }
    assert_eq!(room.names(), ["rare.csv"]);
}

#[test]
fn weights_of_rows_that_are_all_zero_are_refused() {
    let room = Room::holding("none.csv", "x,w,label\n1,0,a\n2,0,b\n3,0,a\n");
    for learner in ["logistic", "svm"] {
        let run = room.run(&format!("train none.csv --weight w --learner {learner} -o out.linsep"));
        assert!(run.code == 2 || run.code == 3, "{}", run.code);
        assert!(run.err.contains("weight"), "{}", run.err);
    }
    assert_eq!(room.names(), ["none.csv"]);
}

#[test]
fn one_class_with_weights_has_a_plane_that_says_so() {
    let room = Room::holding("one.csv", "x,w,label\n1,1,a\n2,0,b\n3,1,a\n");
    for flags in ["logistic", "svm", "svm --loss hinge", "logistic --penalty l1"] {
        let run = room.run(&format!("train one.csv --weight w --learner {flags}"));
        assert!(run.code == 0, "{} {}", run.code, run.err);
        assert!(run.out.contains("all rows that count are of one class"), "{}", run.out);
        all_finite(&room, "one.linsep");
    }
}

#[test]
fn numbers_whose_squares_leave_binary64_are_refused() {
    let room =
        Room::holding("huge.csv", "x,u,label\n1e300,2,a\n2e300,1,b\n3e300,5,a\n-1e300,3,b\n");
    for learner in ["logistic", "svm", "svm --loss hinge", "logistic --penalty l1"] {
        for scale in ["none", "maxabs", "standard"] {
            let line = format!("train huge.csv --learner {learner} --scale {scale} -o out.linsep");
            let run = room.run(&line);
            assert!(run.code == 2 || run.code == 3, "{line}: {} {}", run.code, run.err);
            assert!(run.err.contains("--drop") || run.err.contains("--scale"), "{}", run.err);
        }
        // Without the column all is well.
        let line = format!("train huge.csv --learner {learner} --drop x -o fine.linsep");
        room.run(&line).exits(0);
        all_finite(&room, "fine.linsep");
    }
    assert_eq!(room.names(), ["fine.linsep", "huge.csv"]);
}

#[test]
fn very_large_and_very_small_costs_end_without_a_number_that_is_none() {
    let room = Room::holding("mixed.csv", MIXED);
    for flags in ["logistic", "svm", "svm --loss hinge", "logistic --penalty l1"] {
        for c in ["1e-300", "1e-12", "1e12", "1e100", "1e300"] {
            let run = room.run(&format!("train mixed.csv --learner {flags} --c {c} --epochs 50"));
            assert!([0, 2, 5].contains(&run.code), "{flags} {c}: {} {}", run.code, run.err);
            if run.code != 2 {
                all_finite(&room, "mixed.linsep");
            }
        }
    }
}

#[test]
fn constant_columns_take_no_weight_that_matters() {
    let rows: String = MIXED.lines().skip(1).map(|line| format!("7,0,{line}\n")).collect();
    let room = Room::holding("flat.csv", format!("k,z,x,u,label\n{rows}"));
    for flags in ["logistic", "svm", "svm --loss hinge", "logistic --penalty l1"] {
        room.run(&format!("train flat.csv --learner {flags}")).exits(0);
        all_finite(&room, "flat.linsep");
        let file = ModelFile::load(&room.path("flat.linsep"), None).expect("a model");
        assert_eq!(file.model.planes[0].weights[1], 0.0, "a column of zeros has the weight 0");
    }
}

#[test]
fn more_classes_than_rows_per_class_are_learned() {
    let rows: String = (0..6).map(|k| format!("{k},{},c{k}\n", k * k)).collect();
    let room = Room::holding("many.csv", format!("x,u,label\n{rows}"));
    for flags in ["logistic", "svm", "logistic --penalty l1"] {
        room.run(&format!("train many.csv --learner {flags}")).exits(0);
        all_finite(&room, "many.linsep");
    }
}

#[test]
fn a_penalty_that_leaves_no_weight_says_so() {
    let room = Room::holding("mixed.csv", MIXED);
    for learner in ["logistic", "svm"] {
        let run = room.run(&format!("train mixed.csv --learner {learner} --penalty l1 --c 1e-6"));
        assert!(run.code == 0 && run.out.contains("the penalty leaves no weight"), "{}", run.out);
        let file = ModelFile::load(&room.path("mixed.linsep"), None).expect("a model");
        assert!(file.model.planes[0].weights.iter().all(|w| *w == 0.0));
    }
}

#[test]
fn without_a_penalty_separable_rows_are_refused_with_the_reason() {
    let room = Room::holding("apart.csv", "x,label\n1,a\n2,a\n8,b\n9,b\n");
    let run = room.run("train apart.csv --learner logistic --penalty none").exits(2);
    run.says(&["--penalty none: no optimum exists, because a plane separates", "--penalty l2"]);
    assert_eq!(room.names(), ["apart.csv"]);
    room.write("mixed.csv", MIXED);
    let run = room.run("train mixed.csv --learner logistic --penalty none").exits(0);
    assert!(run.out.contains("estimated gap"), "{}", run.out);
    all_finite(&room, "mixed.linsep");
}
