//! Schemes for K classes, ballots and abstaining with settings that mean nothing.

use super::Room;

#[test]
fn margins_that_are_no_distances_are_refused() {
    let room = Room::with_model();
    for value in ["margin=nan", "margin=inf", "margin=0", "margin=-1", "margin=", "margin", "0.5"] {
        let line = format!("predict two.linsep two.csv -o out.csv --abstain={value}");
        let run = room.run(&line).exits(2);
        run.says(&["error[E0201]: --abstain: ", value, "margin=X with a number X above 0"]);
        assert!(!room.exists("out.csv"), "{value}");
    }
    // The flag may stand anywhere: a value is joined to it by =.
    room.run("predict --abstain two.linsep two.csv").exits(0);
    room.run("predict two.linsep two.csv --abstain=margin=1 --abstain").exits(2);
}

#[test]
fn a_class_called_like_no_class_stands_in_the_way_of_abstaining() {
    let room = Room::holding("odd.csv", "x,label\n1,q\n2,q\n8,?x\n9,?x\n");
    room.run("train odd.csv").exits(0);
    room.run("predict odd.linsep odd.csv --abstain").exits(0);
    let mut file = linsep::file::ModelFile::load(&room.path("odd.linsep"), None).expect("a model");
    file.model.classes[0] = "?".to_owned();
    file.save(&room.path("odd.linsep")).expect("a file");
    room.run("predict odd.linsep odd.csv").exits(0);
    let run = room.run("predict odd.linsep odd.csv --abstain").exits(2);
    run.says(&["error[E0201]: --abstain: a class of this model is called \"?\""]);
}

#[test]
fn machines_cannot_start_from_a_file() {
    let room = Room::with_model();
    for scheme in ["ovr", "ovr-k-1", "ovo"] {
        let line = format!("train two.csv --multiclass {scheme} --init two.linsep -o out.linsep");
        let words = format!("error[E0201]: --multiclass: {scheme} cannot start from a file");
        room.run(&line).exits(2).says(&[&words]);
        assert!(!room.exists("out.linsep"));
    }
    room.write("three.csv", "x,label\n1,a\n2,b\n3,c\n");
    let run = room.run("train three.csv --learner voted --init two.linsep").exits(2);
    run.says(&["error[E0201]: the start needs 1 plane(s) of 1 weights"]);
}

#[test]
fn schemes_that_there_are_not_are_refused() {
    let room = Room::with_model();
    let run = room.run("train two.csv --multiclass all -o out.linsep").exits(2);
    run.says(&["possible values: joint, ovr, ovr-k-1, ovo"]);
    let run = room.run("train two.csv --learner voted --multiclass joint -o out.linsep").exits(2);
    run.says(&["error[E0201]: voted does not learn", "learners that can: perceptron, "]);
    let run = room.run("train two.csv --learner lda --multiclass ovo -o out.linsep").exits(2);
    run.says(&["error[E0201]: lda has no one-versus-one; learners that can: perceptron, "]);
    for most in ["0", "-1", "x", "1.5", "99999999999"] {
        let line = format!("train two.csv --learner voted --most={most} -o out.linsep");
        room.run(&line).exits(2).says(&["error[E0201]: --most: ", "whole number from 1 on"]);
    }
    assert!(!room.exists("out.linsep"));
}

#[test]
fn one_versus_one_of_very_many_classes_is_refused_before_any_work() {
    let rows: String = (0..300).map(|i| format!("{i},c{i}\n")).collect();
    let room = Room::holding("many.csv", format!("x,label\n{rows}"));
    let run = room.run("train many.csv --label label --multiclass ovo").exits(2);
    run.says(&[
        "error[E0201]: one-versus-one of 300 classes would need 44850 planes",
        "256 classes",
    ]);
    assert_eq!(room.names(), ["many.csv"]);
}

#[test]
fn ballots_that_do_not_fit_the_memory_limit_are_refused() {
    let room = Room::holding("wide.svm", "a 1:1 90000:1\nb 2:1 80000:1\n");
    let line = "train wide.svm --learner voted --max-memory 100MiB";
    room.run(line).exits(6).says(&["error[E0602]", "90000 features"]);
    room.run(&format!("{line} --most 10")).exits(0);
}

#[test]
fn ballots_have_no_pair_boundaries() {
    let room = Room::with_model();
    room.run("train two.csv --learner voted -o v.linsep").exits(0);
    room.run("show v.linsep --pairs")
        .exits(2)
        .says(&["error[E0201]: --pairs: ballots decide here"]);
}
